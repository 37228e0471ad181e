"""Every field of a scenario, each changed to another valid value."""

import typing
from collections.abc import Iterator
from typing import Any, Literal

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.record import Record

RECORDS: dict[str, Any] = {
    "codel": {}, "pie": {}, "fq_codel": {}, "red": {}, "bursts": {"apart": 20, "length": 3},
    "ack_bursts": {"apart": 20, "length": 3}, "policer": {"rate": "500 kbit/s", "burst": "3 kB"},
    "cross_traffic": {"rate": "300 kbit/s"}, "jitter": {"uniform": ["0 ms", "5 ms"]},
    "ack_jitter": {"uniform": ["0 ms", "5 ms"]}, "trace": "time,rate\n0 s,300 kbit/s\n",
    "outages": {"up": "1 s", "down": "300 ms"},
    "receive_buffer": {"size": "6 kB"}, "send_buffer": {"size": "6 kB"}, "access": {"rate": "400 kbit/s"},
    "reach": {"sense": 1}, "ranges": {"decode": "20 m"}, "path_loss": {}, "wire": {"rate": "300 kbit/s"},
    "sender_delay": {"delay": "30 ms"}, "receiver": {"ack_time": "5 ms"}, "udp": {"rate": "200 kbit/s"},
    "class": "web", "late": "60 ms",
    "failures": [{"cables": "0", "outages": [{"start": "1 s", "duration": "1 s"}]}],
    "start": "700 ms", "congestion_control": "cubic", "area": {"width": "90 m", "height": "30 m"},
    "constants": {"a": 1}, "messages": {"size": "3 kB", "pause": "10 ms"}, "battery": "20 J",
}  # fmt: skip
"""Values of optional fields that are records."""


def changes(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Yield each field of every existing record, and the scenario with another value in it, if there is
    one."""
    for name, record, field in _places(scenario, ""):
        for value in _others(scenario, name, getattr(record, field), type(record).model_fields[field]):
            try:
                changed = scenario.with_values({name: value})
            except (InputError, KeyError, TypeError, ValueError):
                continue
            if changed != scenario:
                yield name, changed
                break


def _places(record: Any, at: str) -> Iterator[tuple[str, Record, str]]:
    if isinstance(record, list):
        for i, item in enumerate(record):
            yield from _places(item, f"{at}.{i}")
    elif isinstance(record, Record):
        for field in type(record).model_fields:
            name = f"{at}.{field}" if at else field
            yield name, record, field
            yield from _places(getattr(record, field), name)


def _others(scenario: Scenario, name: str, value: Any, info: Any) -> Iterator[Any]:
    """Yield values that the field may have."""
    field = name.rpartition(".")[2]
    if field in RECORDS:
        yield RECORDS[field]
    if isinstance(value, bool) or bool in typing.get_args(info.annotation) or info.annotation is bool:
        yield not value
    yield from _literals(info.annotation)
    quantity = fields.quantity(scenario, name)
    if quantity is not None:
        number = value if isinstance(value, int | float) and value not in (0, float("inf")) else None
        for factor in (3, 0.5, 20, 2, 0.9):
            scaled = number * factor if number else float(factor)
            yield quantity.show(float(int(scaled)) if quantity.whole else scaled)
        yield 0
        yield 1


def _literals(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) is Literal:
        yield from typing.get_args(annotation)
    else:
        for inside in typing.get_args(annotation):
            yield from _literals(inside)
