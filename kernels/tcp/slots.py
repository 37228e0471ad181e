"""What a model fills in: a scheme of loss recovery and a congestion control, and what follows from them."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

from netcarlo.kernels.base.bind import UNFILLED, Namespace, Slots, stacked
from netcarlo.kernels.congestion import aimd, defaults
from netcarlo.kernels.tcp import (
    association,
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
    """A scheme of loss recovery, completed by what it takes from its bases."""
    modules = [scheme]
    while modules[0] is not recovery:
        modules.insert(0, modules[0].BASE)
    return stacked(scheme.__name__, *modules)


@dataclass(frozen=True, kw_only=True)
class TcpSlots(Slots):
    """Slots of a TCP of ns-2."""

    optional: ClassVar = frozenset({"inner"})

    association: Any = association
    """Functions that an engine calls."""
    variant: Any
    """Loss recovery (`recovery`)."""
    kind: Any
    """Functions that depend on the kind of flow: `one_kind`, or `heterogeneous`, which look up the kind."""
    clock: Any
    """Measurement of round trips: `rto` or `linux26`."""
    control: Any = UNFILLED
    """Congestion control; UNFILLED in a mixture, where `variant` and `kind` have it."""
    inner: Any = UNFILLED
    """Congestion control without what the loss recovery replaces in it (`new_probing`)."""
    first: Any = UNFILLED
    """Number of the first data packet; UNFILLED in a mixture."""
    sack: Any = UNFILLED
    """True if ACKs carry SACK blocks; UNFILLED in a mixture."""
    pauses: bool
    """True if the sender may pause and send probe segments."""
    loss_marks: bool
    """True if ACKs may carry marks of an error or of a broken route."""
    timestamps: bool
    """True if packets carry timestamps."""
    ack_words: int
    """Words of an ACK in the ring."""
    acks_are_implicit: bool
    """True if the number of the next expected packet is all that an ACK says: nothing overtakes, no SACK."""
    has_transmission_ids: Any = UNFILLED
    """True if packets carry the numbers of copies; UNFILLED without timestamps."""
    delays: bool
    """True if the engine asks for the delay of packets."""


def of_sender(
    scheme: ModuleType, control: ModuleType, *,
    in_order: bool = False, delays: bool = True, has_transmission_ids: bool = True,
) -> TcpSlots:  # fmt: skip
    """Return the slots of flows of one kind; `in_order` where no packet overtakes another."""
    control = stacked(control.__name__, aimd, defaults, control)
    inner = control
    if scheme is new_probing:
        control = stacked(control.__name__, control, _only(new_probing, "reduce"))
    variant = whole(scheme)
    return TcpSlots(
        variant=variant, control=control, inner=inner, kind=one_kind,
        clock=linux26 if variant.TIMESTAMPS else rto,
        first=variant.FIRST, sack=variant.SACK, pauses=variant.PAUSES,
        loss_marks=variant.LOSS_MARKS, timestamps=variant.TIMESTAMPS, ack_words=ack_words(variant),
        acks_are_implicit=in_order and not variant.SACK,
        has_transmission_ids=has_transmission_ids if variant.TIMESTAMPS else UNFILLED, delays=delays,
    )  # fmt: skip


def ack_words(variant: Any) -> int:
    """Return the words of an ACK in the ring with this scheme of loss recovery."""
    return (
        int(Ack.TIMESTAMP) + variant.TIMESTAMPS if variant.SACK or variant.LOSS_MARKS else int(Ack.SACK_BLOCK)
    )


def _only(module: ModuleType, *names: str) -> Namespace:
    space = Namespace(module.__name__)
    vars(space).update({name: vars(module)[name] for name in names})
    return space


def scratch_words(scheme: ModuleType, window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this scheme of recovery, see `state.scratch_words`."""
    words = state.scratch_words(window, ring)
    if scheme is linux26:
        words += scoreboard.scratch_words(ring) + transmissions.scratch_words(ring)
    return words
