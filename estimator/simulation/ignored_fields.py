"""Fields that fast models ignore. A result names those that a scenario changes from their default.

Each kind of network lists its own (`networks/*/ignored_fields.py`).
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from pydantic_core import PydanticUndefined

from netcarlo.scenario import Scenario
from netcarlo.schema.record import Record


def fields(scenario: Scenario) -> list[str]:
    """Return the names of the fields that differ from their default and that the fidelity ignores."""
    transport = scenario.transport
    endless = transport.given("bytes") is None and transport.given("packets") is None
    keys = [scenario.fidelity, f"{scenario.fidelity} {transport.protocol}"]
    keys += [f"{scenario.fidelity} endless"] if endless else []
    patterns = [one for key in keys for one in scenario.network.ignored_fields.get(key, ())]
    return [name for name in changed(scenario) if any(fnmatchcase(name, one) for one in patterns)]


def changed(record: Any, at: str = "") -> Iterator[str]:
    """Yield the dotted names of the fields of a record, at any depth, that differ from their default."""
    if isinstance(record, list):
        for i, item in enumerate(record):
            yield from changed(item, f"{at}.{i}")
    elif isinstance(record, Record):
        for field, info in type(record).model_fields.items():
            value, name = getattr(record, field), f"{at}.{field}" if at else field
            default = info.get_default(call_default_factory=True)
            if default is PydanticUndefined or value != default:
                yield name
                yield from changed(value, name)
