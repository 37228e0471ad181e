"""TCPs of ns-2 in one kernel: functions that are dispatched by the kind of the flow.

All kinds share an association and its state. The kind of a flow follows its columns of `P`; the association
keeps it in `Tcp.KIND`.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import Binder, Namespace, Step, compiled_by, once
from netcarlo.kernels.base.by_kind import chain
from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.senders import MIXABLE, Sender
from netcarlo.kernels.tcp import one_kind, rto, sack, slots
from netcarlo.kernels.tcp.slots import TcpSlots
from netcarlo.kernels.tcp.state import Tcp

_MIXED = [sender for sender in MIXABLE if sender.dialect == "ns2"]


def _parts(sender: Sender) -> tuple[ModuleType, ModuleType]:
    recovery, control = f"tcp.{sender.recovery}", f"congestion.{sender.control}"
    return import_module(f"netcarlo.kernels.{recovery}"), import_module(f"netcarlo.kernels.{control}")


PARTS = {sender.number: _parts(sender) for sender in _MIXED if sender.number is not None}
"""Loss recovery and congestion control of each kind."""

HANDSHAKES = sum(1 << sender.number for sender in _MIXED if sender.number and sender.handshake)
"""Bit n: a sender with number n begins with a handshake."""
SACKS = sum(1 << sender.number for sender in _MIXED if sender.number and sender.sack)
"""Bit n: ACKs to a sender with number n carry SACK blocks."""

LARGEST = sack
"""Scheme of loss recovery with the most scratch and the most words per ACK."""

OF_RECOVERY = "on_ack_in_recovery", "grow", "on_dup_ack", "on_old_ack", "on_timeout", "next_packet", "on_send"
OF_KIND = "on_ack", "reduce"

COLUMN = len(P)
"""Column with the kind of a flow."""
KIND = int(Tcp.KIND)


def of_senders(step: Step, *, delays: bool) -> TcpSlots:
    """Return the slots of all kinds together, compiled by `step`."""
    ways, kinds, compiled = {}, {}, compiled_by(step)
    for number, (way, control) in PARTS.items():
        found = slots.of_sender(way, control).filled()
        binder = Binder(step, found, compiled=compiled)
        ways[number] = binder.space(found["variant"], (*OF_RECOVERY, "prepare"))
        kinds[number] = binder.space(one_kind, OF_KIND)
    variant, kind = Namespace("mixture"), Namespace("kinds")
    by_row = {"on_ack_in_recovery", "grow", "on_dup_ack", "on_old_ack", "on_timeout"}
    for name in OF_RECOVERY:
        parts = [(number, getattr(way, name)) for number, way in ways.items()]
        setattr(variant, name, chain(step, parts, _kind_of_row if name in by_row else _kind_of_words))
    for name in OF_KIND:
        parts = [(number, getattr(part, name)) for number, part in kinds.items()]
        setattr(kind, name, chain(step, parts, _kind_of_flow))
    lay_out = chain(step, [(number, way.prepare) for number, way in ways.items()], _kind_of_words)
    variant.prepare = once(step, _prepare, lay_out)  # type: ignore[attr-defined]
    facts = Binder(step, compiled=compiled)
    kind.first_of, kind.sack_of = facts.function(first_of), facts.function(sack_of)  # type: ignore[attr-defined]
    scheme = slots.whole(LARGEST)
    return TcpSlots(
        association=slots.association_of(delays=delays), variant=variant, kind=kind, clock=rto,
        pauses=scheme.PAUSES, loss_marks=scheme.LOSS_MARKS, timestamps=scheme.TIMESTAMPS,
        ack_words=slots.ack_words(scheme), acks_are_implicit=False,
    )  # fmt: skip


def first_of(p: Any) -> Any:
    """Return the number of the first data packet."""
    return np.int64((HANDSHAKES >> p[COLUMN]) & 1)


def sack_of(p: Any) -> Any:
    """Return True if ACKs carry SACK blocks."""
    return (SACKS >> p[COLUMN]) & 1 == 1


def _prepare(lay_out: Any) -> Any:
    def prepare(m: Any, p: Any, free: Any) -> Any:
        m[KIND] = p[COLUMN]
        return lay_out(m, p, free)

    return prepare


def _kind_of_flow(p: Any, *others: Any) -> Any:
    """Return the kind of the flow with these parameters."""
    return p[COLUMN]


def _kind_of_words(m: Any, *others: Any) -> Any:
    """Return the kind of the association with these words."""
    return m[KIND]


def _kind_of_row(row: Any, *others: Any) -> Any:
    """Return the kind of the association with these arrays."""
    return row.m[KIND]
