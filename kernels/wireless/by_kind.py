"""Functions of the ends of flows that ask for the kind, where kinds have associations of their own.

`base.by_kind` makes them: `choose` calls `this` for flows of one kind, and `rest` for all others.
"""

from typing import Any

from netcarlo.kernels.base.by_kind import Chosen
from netcarlo.kernels.wireless import ends, host
from netcarlo.kernels.wireless.frame import FLOW_MASK
from netcarlo.kernels.wireless.layout import Flow
from netcarlo.kernels.wireless.state import FLOW_WORDS, Word

_KIND, _FLOWS, _WORDS, _MASK = int(Flow.KIND), int(Word.FLOWS), int(FLOW_WORDS), int(FLOW_MASK)


def _by_word(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, at: Any, *others: Any) -> Any:
        if m[at + _KIND] == number:
            return this(m, at, *others)
        return rest(m, at, *others)

    return choose


def _by_flow(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, flow: Any) -> Any:
        if m[m[_FLOWS] + flow * _WORDS + _KIND] == number:
            return this(m, flow)
        return rest(m, flow)

    return choose


def _by_event(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, f: Any, constants: Any, t: Any, flow: Any) -> Any:
        if m[m[_FLOWS] + flow * _WORDS + _KIND] == number:
            return this(m, f, constants, t, flow)
        return rest(m, f, constants, t, flow)

    return choose


def _by_frame(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, f: Any, constants: Any, t: Any, frame: Any, more: Any) -> Any:
        if m[m[_FLOWS] + (frame & _MASK) * _WORDS + _KIND] == number:
            return this(m, f, constants, t, frame, more)
        return rest(m, f, constants, t, frame, more)

    return choose


def _by_source(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, f: Any, t: Any, flow: Any, node: Any) -> Any:
        if m[m[_FLOWS] + flow * _WORDS + _KIND] == number:
            return this(m, f, t, flow, node)
        return rest(m, f, t, flow, node)

    return choose


OF_WORDS = "size_of", "prepare", "data_waiting", "add_counters", "overfull", "show"
CHOSEN: Chosen = {
    "hosts": (
        host,
        {"schedule": _by_flow, "on_event": _by_event, "arrive": _by_frame, "on_room": _by_source},
    ),
    "ends": (ends, dict.fromkeys(OF_WORDS, _by_word)),
}
"""Module and lookup of the flow of these functions, by the slot that they fill."""
