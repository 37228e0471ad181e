"""Endpoints of the TCPs of ns-2, and of all of them in one kernel."""

import functools
from types import ModuleType

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.tcp import acks, association, mixture, sender, slots, state, timer
from netcarlo.kernels.tcp.copies import COPY_BITS

IN_ORDER = "path", "shared"
"""Networks in which packets of a flow do not overtake each other."""

INLINED = sender, acks, timer


def of(address: Address, scheme: ModuleType, control: ModuleType) -> Endpoint:
    """Return the endpoint with this scheme of loss recovery and this congestion control."""
    found = slots.of_sender(
        scheme, control, in_order=address.family in IN_ORDER, delays=_delays(address),
        copied=address.family != "path",
    )  # fmt: skip
    near = state.near(found.variant.NEAR, acks=bool(found.sack or found.marks))
    return Endpoint(
        slots=lambda step: found, words=functools.partial(slots.scratch_words, scheme),
        state_words=association.WORDS, floats=association.FLOATS, near=near, copy_bits=COPY_BITS,
        first=found.first, pauses=found.pauses, fast=not found.stamps, ahead=not found.stamps,
        inlined=INLINED,
    )  # fmt: skip


def mixed(address: Address) -> Endpoint:
    """Return the endpoint of flows of any kind that `mixture` knows."""
    scheme = mixture.LARGEST
    return Endpoint(
        slots=lambda step: mixture.of_senders(step, delays=_delays(address)),
        words=functools.partial(slots.scratch_words, scheme), state_words=association.WORDS,
        floats=association.FLOATS, copy_bits=COPY_BITS, ahead=True, inlined=INLINED,
    )  # fmt: skip


def _delays(address: Address) -> bool:
    # The 802.11 engine always asks for the delay of packets.
    return address.delays or address.family == "wireless"
