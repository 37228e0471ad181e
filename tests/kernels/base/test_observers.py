"""Composition of observers: no-ops by default, each observer's events, and several observers of one event."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.bind import Namespace, bind, slot
from netcarlo.kernels.base.observers import composed
from netcarlo.kernels.runtime import compile as compilers

observer: Any = slot("observer")


def module(name: str, source: str) -> ModuleType:
    """Return a module with this source."""
    found = ModuleType(name)
    exec(source, vars(found))
    return found


EVENTS = module("events", """
def on_send(m, packet): pass
def on_drop(m, packet): pass
def report(m, out, at): return at
""")
SENT = module("sent", """
COLUMNS = 1
def on_send(m, packet): m[0] += 1
def report(m, out, at):
    out[at] = m[0]
    return at + 1
def not_an_event(): raise AssertionError
""")
LATEST = module("latest", """
def on_send(m, packet): m[1] = packet
def on_drop(m, packet): m[2] += packet
def report(m, out, at):
    out[at], out[at + 1] = m[1], m[2]
    return at + 2
""")


def engine(m: Any, out: Any) -> Any:
    """Send packets 3 and 4, drop packet 4, and report from column 1 on."""
    observer.on_send(m, 3)
    observer.on_send(m, 4)
    observer.on_drop(m, 4)
    return observer.report(m, out, 1)


@pytest.mark.parametrize(("observers", "reported", "columns"), [
    ((), 1, [0, 0, 0, 0]),
    ((SENT,), 2, [0, 2, 0, 0]),
    ((LATEST,), 3, [0, 4, 4, 0]),
    ((SENT, LATEST), 4, [0, 2, 4, 4]),
    ((LATEST, SENT), 4, [0, 4, 4, 2]),
])  # fmt: skip
def test_each_observer_records_its_events_and_reports_in_turn(
    observers: tuple[ModuleType, ...], reported: int, columns: list[int]
) -> None:
    out = np.zeros(4, np.int64)
    simulate = bind(engine, compilers.plain, {"observer": composed(EVENTS, *observers)})
    assert simulate(np.zeros(3, np.int64), out) == reported
    assert out.tolist() == columns


def test_only_events_are_taken_from_an_observer() -> None:
    found = composed(EVENTS, SENT)
    assert isinstance(found, Namespace)
    assert {name for name in vars(found) if not name.startswith("__")} == {"on_send", "on_drop", "report"}
    assert vars(EVENTS)["on_send"] is not found.on_send
