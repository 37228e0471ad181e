"""Models of shared links: flows of one kind, and flows of several kinds."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcarlo.kernels.base import by_kind as kinds
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, Step, bind, is_lockstep
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.base.parameters import UdpP, unique
from netcarlo.kernels.shared import by_kind, cost, ends, engine, event_log, hosts
from netcarlo.kernels.shared.aqm import fates
from netcarlo.kernels.shared.layout import outcomes
from netcarlo.kernels.shared.state import scratch_words


@dataclass(frozen=True, kw_only=True)
class SharedSlots(Slots):
    """Slots of the engine of shared links."""

    hosts: Any = hosts
    """Events of the hosts of a flow, by its kind if there are several associations."""
    ends: Any = ends
    """Sizes, samples and counters of a flow, by its kind likewise."""
    pauses: bool
    """True if the sender may pause and send probe segments."""
    lookahead: bool
    """True if events that nothing can precede are processed early."""
    aqm: bool
    """True if links may have active queue management other than RED."""
    fates: Any = fates
    """Fates of packets under active queue management."""
    arrivals: bool
    """True if flows arrive and depart."""
    varying: bool
    """True if links may vary or fail."""
    flat_table: bool = True
    """True if numbers of a table stand pair after pair, as they do here."""
    reorders: bool = False
    """True if jitter may reorder packets, which it does not here."""
    delays: bool
    """True if delays of classes of flows are measured."""
    traced: bool
    """True if a trace is written."""


def model(address: Address, endpoint: Endpoint, others: Mapping[int, Endpoint]) -> Model:
    """Return the model of an address; a flow has the endpoint of `others` with the number of its kind, or
    else the first."""
    each = endpoint, *others.values()

    def make(step: Step) -> Any:
        events = address.aqm or address.arrivals or address.varying or address.traced
        lookahead = endpoint.lookahead and not (others or events)
        filled = SharedSlots(
            pauses=endpoint.pauses, lookahead=lookahead and not is_lockstep(step), aqm=address.aqm,
            arrivals=address.arrivals, varying=address.varying, delays=address.delays, traced=address.traced,
        )  # fmt: skip
        inlined = [module for one in each for module in one.inlined]
        records, asked = (filled, endpoint.slots(step)), set[str]()
        if others:
            of = {number: (filled, one.slots(step)) for number, one in others.items()}
            of[kinds.REST] = records
            chosen = kinds.choose(step, of, by_kind.CHOSEN, by_kind.kind_of, inlined=inlined, asked=asked)
            records = replace(filled, hosts=chosen["hosts"], ends=chosen["ends"]), records[1]
        return bind(engine.simulate, step, *records, inlined=inlined, asked=asked)

    def words(window: Any, ring: Any) -> Any:
        return functools.reduce(np.maximum, [one.words(window, ring) for one in each])

    def scratch(rows: Any) -> tuple[int, int]:
        found, floats = scratch_words(rows, words, max(one.floats for one in each))
        return (
            event_log.SCRATCH_FACTOR * found + event_log.SCRATCH_FACTOR if address.traced else found
        ), floats

    return Model(
        blocks=unique(*(one.blocks for one in each), (UdpP,)),
        address=address, make=make, scratch=scratch, outcomes=outcomes, dimensions=(2, 2, 3, 3, 2),
        cost=cost.cost,
    )  # fmt: skip
