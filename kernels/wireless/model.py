"""Models of 802.11 networks: of flows of one transport, and of flows that have their own."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcarlo.kernels.base import by_kind as kinds
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import UNFILLED, Slots, Step, bind
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.wireless import by_kind, cost, ends, engine, host
from netcarlo.kernels.wireless.frame import TRANSMISSION_SHIFT
from netcarlo.kernels.wireless.state import OWN_WORDS


@dataclass(frozen=True, kw_only=True)
class WirelessSlots(Slots):
    """Slots of the 802.11 engine."""

    hosts: Any = host
    """Events of the hosts of a flow, by its kind if there are several associations."""
    ends: Any = ends
    """Sizes, samples and counters of a flow, by its kind likewise."""
    associated: bool
    """True if there may be flows with an association; False leaves out all code for them."""
    association: Any = UNFILLED
    """None without associations; else it is the endpoint's."""
    own_transports: bool
    """True if each flow has a transport of its own, whose columns stand before its association."""
    packet_shift: int
    """Number of the lowest bit of the number of a frame's packet."""
    gauged: bool
    """True if delays of classes of flows are measured."""
    failing: bool
    """True if the gateway may go down."""


def model(address: Address, endpoint: Endpoint, others: Mapping[int, Endpoint]) -> Model:
    """Return the model of an address whose flows have the endpoint of `others` with the number of their kind,
    else the first one."""
    own, each = address.sender == "mixed", (endpoint, *others.values())
    associated = address.sender != "udp"

    def make(step: Step) -> Any:
        filled = WirelessSlots(
            associated=associated, association=UNFILLED if associated else None, own_transports=own,
            packet_shift=TRANSMISSION_SHIFT + max(one.transmission_bits for one in each),
            gauged=address.delays, failing=address.varying,
        )  # fmt: skip
        records, asked = (filled, endpoint.slots(step)), set[str]()
        if others:
            of = {number: (filled, one.slots(step)) for number, one in others.items()}
            of[kinds.REST] = records
            chosen = kinds.choose(step, of, by_kind.CHOSEN, asked=asked)
            records = replace(filled, hosts=chosen["hosts"], ends=chosen["ends"]), records[1]
        return bind(engine.simulate, step, *records, asked=asked)

    def words(window: Any, ring: Any) -> Any:
        found = functools.reduce(np.maximum, [one.words(window, ring) for one in each])
        return found + OWN_WORDS * own

    def scratch(rows: Any) -> tuple[int, int]:
        return engine.scratch_words(rows, words, max(one.floats for one in each))

    return Model(
        address=address, make=make, scratch=scratch, outcomes=engine.outcomes, dimensions=(2, 2, 3, 2, 2),
        cost=cost.cost,
    )  # fmt: skip
