"""TCP flows of different kinds in one kernel: functions that ask for the kind of the flow.

The TCPs of ns-2 share an association and its state (`of_sender`); today's Linux has another one, so there all
that the engine asks of the ends of a flow is asked by kind (`of_ends`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import Binder, Namespace, Step, compiled_by, once
from netcarlo.kernels.congestion import aimd, bic, cubic, westwood
from netcarlo.kernels.shared import ends, hosts
from netcarlo.kernels.shared.layout import BIC, CUBIC, NEWRENO, RENO, SACK, TAHOE, VEGAS, WESTWOOD, Flow
from netcarlo.kernels.tcp import newreno, one, reno, rto, sack, slots, tahoe, vegas
from netcarlo.kernels.tcp.state import Tcp

PARTS: dict[int, tuple[ModuleType, ModuleType]] = {
    TAHOE: (tahoe, aimd),
    RENO: (reno, aimd),
    NEWRENO: (newreno, aimd),
    SACK: (sack, aimd),
    VEGAS: (vegas, aimd),
    BIC: (sack, bic),
    CUBIC: (sack, cubic),
    WESTWOOD: (sack, westwood),
}
"""Loss recovery and congestion control of each kind."""

OF_RECOVERY = "new_ack", "grow", "dup_ack", "old_ack", "timeout", "next_packet", "on_send"
OF_KIND = "heard", "reduce"


def of_sender(step: Step) -> dict[str, Any]:
    """The slots of `sender` and all below it, compiled by `step`; `p` are the columns of `Flow`."""
    ways, kinds, compiled = {}, {}, compiled_by(step)
    for number, (way, control) in PARTS.items():
        found = slots.of_sender(way, control)
        binder = Binder(step, found, compiled=compiled)
        ways[number] = binder.space(found["variant"], (*OF_RECOVERY, "prepare"))
        kinds[number] = binder.space(one, OF_KIND)
    variant, kind = Namespace("mixture"), Namespace("kinds")
    by_row = {"new_ack", "grow", "dup_ack", "old_ack", "timeout"}
    for name in OF_RECOVERY:
        parts = [(number, getattr(way, name)) for number, way in ways.items()]
        setattr(variant, name, _chain(step, parts, _by_row if name in by_row else _by_word))
    for name in OF_KIND:
        setattr(kind, name, _chain(step, [(n, getattr(part, name)) for n, part in kinds.items()], _by_flow))
    lay_out = _chain(step, [(number, way.prepare) for number, way in ways.items()], _by_word)
    variant.prepare = once(step, _prepare, lay_out)  # type: ignore[attr-defined]
    facts = Binder(step, compiled=compiled)
    kind.first_of, kind.sack_of = facts.function(first_of), facts.function(sack_of)  # type: ignore[attr-defined]
    return {"variant": variant, "kind": kind, "clock": rto, **slots.facts(slots.whole(sack)), "delays": False}


OF_HOSTS = "on_event", "next_event", "receive", "return_ack"
OF_ENDS = "size_of", "prepare", "sample", "count", "sequence_of", "show"

Asked = Mapping[str, tuple[ModuleType, Mapping[str, Callable[[int, Any, Any], Any]]]]
"""By the slot of an engine that they fill: functions of a module, and how each finds the kind of its flow."""


def of_ends(
    step: Step,
    others: Mapping[int, Mapping[str, Any]],
    rest: Mapping[str, Any],
    inlined: Collection[ModuleType] = (),
    *,
    asked: Asked | None = None,
) -> dict[str, Any]:
    """The slots `hosts` and `ends` of the engine where kinds have associations of their own.

    `others` are the slots of those by number, `rest` of all other kinds; what is `asked` by kind is that of
    shared links unless given.
    """
    compiled = compiled_by(step)
    all_slots = *others.items(), (-1, rest)
    kinds = [(number, Binder(step, found, inlined, compiled)) for number, found in all_slots]
    spaces = {}
    for slot, (module, functions) in (asked or OF_SHARED).items():
        spaces[slot] = Namespace(slot)
        for name, by in functions.items():
            each = [(number, binder.value(getattr(module, name), ())) for number, binder in kinds]
            setattr(spaces[slot], name, _chain(step, each, by))
    return spaces


COLUMN = int(Flow.KIND)
KIND = int(Tcp.KIND)


def first_of(p: Any) -> Any:
    """The first data packet."""
    return np.int64(0) if p[COLUMN] == VEGAS else np.int64(1)


def sack_of(p: Any) -> Any:
    """Whether ACKs carry SACK blocks."""
    return p[COLUMN] == SACK or p[COLUMN] >= BIC


def _prepare(lay_out: Any) -> Any:
    def prepare(m: Any, p: Any, free: Any) -> Any:
        m[KIND] = p[COLUMN]
        return lay_out(m, p, free)

    return prepare


def _by_flow(number: int, this: Any, rest: Any) -> Any:
    def choose(p: Any, *others: Any) -> Any:
        if p[COLUMN] == number:
            return this(p, *others)
        return rest(p, *others)

    return choose


def _by_block(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, b: Any, *others: Any) -> Any:
        if m[b + COLUMN] == number:
            return this(m, b, *others)
        return rest(m, b, *others)

    return choose


def _by_word(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, *others: Any) -> Any:
        if m[KIND] == number:
            return this(m, *others)
        return rest(m, *others)

    return choose


def _by_row(number: int, this: Any, rest: Any) -> Any:
    def choose(row: Any, *others: Any) -> Any:
        if row.m[KIND] == number:
            return this(row, *others)
        return rest(row, *others)

    return choose


def _chain(step: Step, functions: Sequence[tuple[int, Any]], by: Any) -> Any:
    # One function that calls that of the kind; the last one needs no question.
    *others, (_, chain) = functions
    for number, function in reversed(others):
        chain = once(step, by, number, function, chain)
    return chain


OF_SHARED: Asked = {
    "hosts": (hosts, dict.fromkeys(OF_HOSTS, _by_block)),
    "ends": (ends, dict.fromkeys(OF_ENDS, _by_block)),
}
