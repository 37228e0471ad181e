"""Endpoint of today's Linux: an association, stacked with what a network or an application adds to it."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from netcarlo.kernels import senders
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import UNFILLED, Slots, stacked
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import LinuxP, ReliableP, RowP, TcpP
from netcarlo.kernels.congestion import defaults
from netcarlo.kernels.linux import (
    association,
    autotuning,
    first_sent,
    messages,
    receiver,
    recovery,
    sack,
    sender,
    unordered_acks,
)
from netcarlo.kernels.linux.own import association as own_association
from netcarlo.kernels.linux.own import events
from netcarlo.kernels.linux.transmission_ids import STAMP_BITS


@dataclass(frozen=True, kw_only=True)
class LinuxSlots(Slots):
    """Slots of the modules of today's Linux."""

    optional: ClassVar = frozenset({"autotuning"})

    association: Any
    """Functions that an engine calls."""
    control: Any
    """Congestion control."""
    paced: bool
    """True if the congestion control sets a pacing rate, from samples of the delivery rate."""
    notifies_losses: bool
    """True if the congestion control is notified of lost packets."""
    adaptive_reordering: bool
    """True if RACK adapts its reordering window, for networks that reorder packets."""
    autotuning: bool
    """True if the receiver tunes its window (`autotuning`)."""
    own: Any = UNFILLED
    """Functions of the user's congestion control, if there is one."""
    base: Any = UNFILLED
    """Association in which the user's congestion control runs."""
    without_autotuning: Any = UNFILLED
    """Association below the one with autotuning."""
    below: Any = UNFILLED
    """Association below the one with messages."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint with the congestion control of an address, or with the user's `own`."""
    control: ModuleType = events
    if own is None:
        control = import_module(f"netcarlo.kernels.{senders.control_of('linux', address.control)}")
    paced, timestamps = hasattr(control, "init"), first_sent if _is_timed(address) else association
    words = timestamps.paced_scratch_words if paced else timestamps.scratch_words
    found: Any = stacked("timed", association, first_sent) if timestamps is first_sent else association
    base: Any = UNFILLED
    if own is not None:
        base, found = found, stacked("own", found, own_association)
    if address.family == "adhoc":
        found = stacked("unordered_acks", found, unordered_acks)
    inner: Any = UNFILLED
    if address.autotuning:
        inner, found = found, stacked("tuned", found, autotuning)
    below: Any = UNFILLED
    if address.messages:
        below, found = found, stacked("messages", found, messages)

    def all_words(window: Any, ring: Any) -> Any:
        more = autotuning.ENTRY_WORDS * ring if address.autotuning else 0
        more += messages.more_words(ring) if address.messages else 0
        return words(window, ring) + more

    filled = LinuxSlots(
        association=found, control=control, paced=paced, notifies_losses=hasattr(control, "on_loss"),
        adaptive_reordering=address.reordering or address.family == "adhoc", autotuning=address.autotuning,
        own=UNFILLED if own is None else stacked(own.__name__, defaults, own), base=base,
        without_autotuning=inner, below=below,
    )  # fmt: skip
    return Endpoint(
        blocks=(RowP, ReliableP, TcpP, LinuxP),
        slots=lambda step: filled, words=all_words, state_words=found.WORDS,
        floats=association.FLOATS if own is None else own_association.FLOATS, transmission_bits=STAMP_BITS,
        typed_packets=True, arrival_before_departure=False,
        has_fast_path=not (paced or address.autotuning), inlined=(sender, receiver),
        inlined_with_fast_path=(recovery, sack),
    )  # fmt: skip


def _is_timed(address: Address) -> bool:
    # The 802.11 engine always measures the delay of packets.
    return address.delays or address.family == "wireless"
