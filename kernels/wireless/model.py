"""Models of 802.11 networks: of UDP flows and of flows of one other sender or of several."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from netcarlo.kernels import senders
from netcarlo.kernels.base import by_kind
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import UNFILLED, Slots, Step, bind, is_lockstep
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.base.observers import composed
from netcarlo.kernels.base.parameters import unique
from netcarlo.kernels.udp import endpoint as udp
from netcarlo.kernels.wireless import cost, engine, hosts, port
from netcarlo.kernels.wireless.dcf import access, exchange, node, queues
from netcarlo.kernels.wireless.edca import access as edca_access
from netcarlo.kernels.wireless.edca import exchange as edca_exchange
from netcarlo.kernels.wireless.edca import fates as edca_fates
from netcarlo.kernels.wireless.edca import node as edca_node
from netcarlo.kernels.wireless.edca import queues as edca_queues
from netcarlo.kernels.wireless.frame import TRANSMISSION_SHIFT
from netcarlo.kernels.wireless.observers import classes, delays, events, trace
from netcarlo.kernels.wireless.state import OWN_WORDS

OF_EACH: by_kind.Chosen = {
    "sizes": (hosts, ("size_of",)),
    "hosts": (hosts, ("prepare", "on_event", "arrive", "add_counters")),
}
"""Functions that are called by kind for all flows."""
OF_TWO_WAY: by_kind.Chosen = {"senders": (hosts, ("on_room", "data_waiting", "show"))}
"""Functions that are called by kind for all flows but datagrams."""
OF_ARRIVALS: by_kind.Chosen = {"hosts": (hosts, (*OF_EACH["hosts"][1], "restart", "reschedule"))}
"""Functions of `hosts` that are called by kind if flows arrive and depart."""
OF_EDCA: by_kind.Chosen = {"sources": (hosts, ("refill",))}
"""Functions that are called by kind for all flows over EDCA."""

EDCA: dict[str, Any] = {
    "access": edca_access, "exchange": edca_exchange, "node": edca_node, "queues": edca_queues,
    "sources": hosts, "fates": edca_fates,
}  # fmt: skip
"""Slots of the MAC of 802.11n, ac and ax."""


@dataclass(frozen=True, kw_only=True)
class WirelessSlots(Slots):
    """Slots of the 802.11 engine."""

    hosts: Any = hosts
    """Source and sink of a flow, by its kind if there are several associations."""
    senders: Any = hosts
    """Senders that are notified of events of the network, by kind likewise."""
    sizes: Any = hosts
    """Size of a packet, by kind likewise."""
    port: Any = port
    """Connection of the hosts with the network."""
    access: Any = access
    """Access of a node to the medium."""
    exchange: Any = exchange
    """Frame exchanges of a node."""
    node: Any = node
    """Events of a node."""
    queues: Any = queues
    """Queues of a node."""
    sources: Any = UNFILLED
    """Source of a flow that may be saturated, by its kind if there are several associations."""
    fates: Any = UNFILLED
    """Fates of packets in queues of FQ-CoDel."""
    one_way: bool
    """True if nothing is acknowledged or retransmitted."""
    own_transports: bool
    """True if flows have transports of their own, whose columns precede the association."""
    packet_shift: int
    """Number of the lowest bit of the number of a frame's packet."""
    observer: Any
    """Functions that record what happens (`observers.events`)."""
    arrivals: bool
    """True if flows arrive and depart."""
    delays: Any = UNFILLED
    """True if delays of classes of flows are measured, where there are outcomes of classes."""
    failing: bool
    """True if the gateway may go down."""


def _observers(address: Address, step: Step) -> tuple[ModuleType, ...]:
    """Return the observers of an address. Only CPUs write traces, so a device has no code for them."""
    wanted = {trace: not is_lockstep(step), delays: address.delays, classes: address.arrivals}
    return tuple(module for module, there in wanted.items() if there)


def model(address: Address, endpoint: Endpoint, others: Mapping[int, Endpoint]) -> Model:
    """Return the model of an address.

    Flows have the endpoint of `others` with the number of their kind, else the first one.
    """
    own = address.sender == "mixed"
    if not endpoint.one_way:
        others = {senders.UDP: udp.of(address), **others}
    each = endpoint, *others.values()

    def slots_of(one: Endpoint, observer: Any) -> WirelessSlots:
        return WirelessSlots(
            one_way=one.one_way, own_transports=own and not one.one_way,
            packet_shift=TRANSMISSION_SHIFT + max(other.transmission_bits for other in each),
            observer=observer, arrivals=address.arrivals, failing=address.varying,
            **(EDCA if address.edca else {}),
        )  # fmt: skip

    def make(step: Step) -> Any:
        observer, asked = composed(events, *_observers(address, step)), set[str]()
        filled = slots_of(endpoint, observer)
        if address.delays or address.arrivals:
            filled = replace(filled, delays=address.delays)
        if others:
            of = {number: (slots_of(one, observer), one.slots(step)) for number, one in others.items()}
            of[by_kind.REST] = filled, endpoint.slots(step)
            of_each = {
                **OF_EACH, **(OF_ARRIVALS if address.arrivals else {}), **(OF_EDCA if address.edca else {}),
            }  # fmt: skip
            found = by_kind.choose(step, of, of_each, hosts.kind_of, asked=asked)
            del of[senders.UDP]
            found = by_kind.choose(step, of, OF_TWO_WAY, hosts.kind_of, found=found, asked=asked)
            hosts_of, senders_of, sizes = found["hosts"], found["senders"], found["sizes"]
            filled = replace(filled, hosts=hosts_of, senders=senders_of, sizes=sizes)
            if address.edca:
                filled = replace(filled, sources=found["sources"])
        return bind(engine.simulate, step, filled, endpoint.slots(step), asked=asked)

    def words(window: Any, ring: Any) -> Any:
        found = functools.reduce(np.maximum, [one.words(window, ring) for one in each])
        return found + OWN_WORDS * own

    def scratch(rows: Any) -> tuple[int, int]:
        queued = (edca_queues if address.edca else queues).words(rows)
        return engine.scratch_words(rows, words, max(one.floats for one in each), queued)

    return Model(
        blocks=unique(*(one.blocks for one in each)),
        address=address, make=make, scratch=scratch, outcomes=engine.outcomes, dimensions=(2, 2, 3, 2, 2),
        cost=cost.cost,
    )  # fmt: skip
