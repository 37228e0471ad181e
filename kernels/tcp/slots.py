"""Slots of a TCP of ns-2: loss recovery, congestion control, and the properties that follow from them."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

from netcarlo.kernels.base.bind import UNFILLED, Namespace, Slots, stacked
from netcarlo.kernels.congestion import aimd, defaults
from netcarlo.kernels.tcp import (
    association,
    first_sent,
    linux26,
    new_probing,
    one_kind,
    recovery,
    rto,
    scoreboard,
    state,
    transmissions,
)
from netcarlo.kernels.tcp.state import Ack


def whole(scheme: ModuleType) -> Namespace:
    """Return a loss recovery scheme with the functions that it inherits from its bases."""
    modules = [scheme]
    while modules[0] is not recovery:
        modules.insert(0, modules[0].BASE)
    return stacked(scheme.__name__, *modules)


@dataclass(frozen=True, kw_only=True)
class TcpSlots(Slots):
    """Slots of a TCP of ns-2."""

    optional: ClassVar = frozenset({"inner"})

    association: Any
    """Functions that an engine calls."""
    variant: Any
    """Loss recovery scheme (`recovery`)."""
    kind: Any
    """Functions that depend on the kind of flow: `one_kind`, or `heterogeneous`, which looks the kind up."""
    clock: Any
    """RTT measurement: `rto` or `linux26`."""
    control: Any = UNFILLED
    """Congestion control; UNFILLED for heterogeneous flows, where `variant` and `kind` contain it."""
    inner: Any = UNFILLED
    """Congestion control without the functions that loss recovery replaces (`new_probing`)."""
    first: Any = UNFILLED
    """Number of the first data packet; UNFILLED for heterogeneous flows."""
    sack: Any = UNFILLED
    """True if ACKs carry SACK blocks; UNFILLED for heterogeneous flows."""
    pauses: bool
    """True if the sender may pause and send probe segments."""
    loss_marks: bool
    """True if ACKs may carry a mark of a corrupted packet."""
    timestamps: bool
    """True if packets carry timestamps."""
    ack_words: int
    """Words of an ACK in the ring."""
    acks_are_implicit: bool
    """True if an ACK carries only the next expected packet: no reordering, no SACK."""
    has_transmission_ids: Any = UNFILLED
    """True if packets carry transmission ids; UNFILLED without timestamps."""


def of_sender(
    scheme: ModuleType, control: ModuleType, *,
    in_order: bool = False, delays: bool = True, has_transmission_ids: bool = True,
) -> TcpSlots:  # fmt: skip
    """Return the slots of flows of one kind.

    `in_order`: packets do not overtake each other. `delays`: the engine asks for the delay of packets.
    """
    control = stacked(control.__name__, aimd, defaults, control)
    inner = control
    if scheme is new_probing:
        control = stacked(control.__name__, control, _only(new_probing, "reduce"))
    variant = whole(scheme)
    return TcpSlots(
        association=association_of(delays=delays), variant=variant, control=control, inner=inner,
        kind=one_kind, clock=linux26 if variant.TIMESTAMPS else rto,
        first=variant.FIRST, sack=variant.SACK, pauses=variant.PAUSES,
        loss_marks=variant.LOSS_MARKS, timestamps=variant.TIMESTAMPS, ack_words=ack_words(variant),
        acks_are_implicit=in_order and not variant.SACK,
        has_transmission_ids=has_transmission_ids if variant.TIMESTAMPS else UNFILLED,
    )  # fmt: skip


def association_of(*, delays: bool) -> Any:
    """Return the functions of an association; with `delays` it knows when packets were first sent."""
    return stacked("timed", association, first_sent) if delays else association


def ack_words(variant: Any) -> int:
    """Return the words of an ACK in the ring with this loss recovery scheme."""
    return (
        int(Ack.TIMESTAMP) + variant.TIMESTAMPS if variant.SACK or variant.LOSS_MARKS else int(Ack.SACK_BLOCK)
    )


def _only(module: ModuleType, *names: str) -> Namespace:
    space = Namespace(module.__name__)
    vars(space).update({name: vars(module)[name] for name in names})
    return space


def scratch_words(scheme: ModuleType, window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association with this loss recovery (`state.scratch_words`)."""
    words = state.scratch_words(window, ring)
    if scheme is linux26:
        words += scoreboard.scratch_words(ring) + transmissions.scratch_words(ring)
    return words
