"""Sentences about the traces of a scenario, for its answer."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from netcarlo.networks.traces.trace import Trace, Traces


def sentences(record: Any, name: str = "") -> Iterator[str]:
    """Yield a sentence for each trace in the fields of a record, which is called `name`."""
    if isinstance(record, Trace):
        yield f"{name}: {'; '.join([record.summary(), *record.notes])}"
    elif isinstance(record, Traces):
        yield f"{name}: each replication draws one of {len(record.members)} traces"
        for i, one in enumerate(record.members):
            yield from sentences(one, f"{name}.choice.{i}")
    elif isinstance(record, BaseModel):
        for field in type(record).model_fields:
            yield from sentences(getattr(record, field), f"{name}.{field}".lstrip("."))
    elif isinstance(record, list | tuple):
        for i, one in enumerate(record):
            yield from sentences(one, f"{name}.{i}")
