"""Models of paths: one association, SCTP and QUIC over one or two paths, MPTCP over up to four, and UDP."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, Step, bind, is_lockstep
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.layout import MPTCP_PATHS, PATHS, Failover, Out, Subflows
from netcarlo.kernels.base.model import Model, failovers
from netcarlo.kernels.base.observers import composed
from netcarlo.kernels.base.parameters import Block, MobileP
from netcarlo.kernels.path import (
    cost,
    datagrams,
    engine,
    fast_path,
    linux_fast_path,
    reordering,
    state,
)
from netcarlo.kernels.path.migration import engine as migration
from netcarlo.kernels.path.mobility import access
from netcarlo.kernels.path.multihomed import engine as multihomed
from netcarlo.kernels.path.observers import delays, events, messages, queues
from netcarlo.kernels.path.subflows import engine as subflows
from netcarlo.kernels.path.subflows import state as subflows_state


@dataclass(frozen=True, kw_only=True)
class HopSlots(Slots):
    """Slots of the hops of a path."""

    hops_base: int
    """Word of scratch where the state of the hops begins."""
    hop_paths: int
    """Number of paths."""
    hop_lanes: int
    """Number of lanes: two for each path."""
    first_hop_specialised: bool = False
    """True if the first hop has its own code, with constant addresses."""
    arrival_before_departure: bool
    """True if a packet that departs at the time of an arrival is still in the queue."""
    varying: bool
    """True if hops may be time-varying."""
    flat_table: bool = False
    """True if the table of time-varying links is one-dimensional, as for shared links."""
    reorders: bool
    """True if jitter may reorder packets."""


@dataclass(frozen=True, kw_only=True)
class ObserverSlots(Slots):
    """Slots for what is measured."""

    optional: ClassVar = frozenset({"delay_state"})

    observer: Any
    """Functions that record what happens (`observers.events`)."""
    delay_state: int = int(state.Path.LATEST)
    """Word of scratch where the state of delays begins."""


@dataclass(frozen=True, kw_only=True)
class HostSlots(Slots):
    """Slots for the receiver's host."""

    mobile: bool
    """True if the last hop is the radio link of a mobile host."""
    access_base: int = state.ACCESS
    """Word of scratch where the state of packets that may overtake each other begins."""


@dataclass(frozen=True, kw_only=True)
class RouteSlots(HostSlots):
    """Slots of a path on which packets may overtake each other."""

    out_of_order: bool
    """True if packets may overtake each other, and wait in a queue ordered by time."""
    forwarding: Any
    """Module that forwards packets of that queue: `mobility.access` or `reordering`."""


@dataclass(frozen=True, kw_only=True)
class PathSlots(Slots):
    """Slots of the engine of one association over a path."""

    first: int
    """Number of the first data packet."""
    pauses: bool
    """True if the sender may pause and send probe segments."""
    typed_packets: bool
    """True if packets carry their type, and the receiver has timers of its own."""
    has_fast_path: bool
    """True if there is a fast path."""
    fast_path: Any
    """Module of the fast path, or None."""


def model(address: Address, endpoint: Endpoint, others: Mapping[int, Endpoint]) -> Model:
    """Return the model of an address with this endpoint."""
    if address.sender == "udp":
        return _datagrams(address, endpoint)
    if address.sender == "mptcp":
        return _subflows(address, endpoint)
    if address.migration:
        return _migrating(address, endpoint)
    two_paths = address.sender == "sctp" and not (address.mobile or address.reordering)
    return _multihomed(address, endpoint) if two_paths else _one(address, endpoint)


def _observers(address: Address) -> tuple[ModuleType, ...]:
    """Return the observers of an address, in the order of their outcomes."""
    wanted = {
        queues: address.sender == "linux" and not address.mobile, delays: address.delays,
        messages: address.messages,
    }  # fmt: skip
    return tuple(module for module, there in wanted.items() if there)


def _words(address: Address) -> int:
    """Return the words of scratch of the observers."""
    return sum(int(observer.WORDS) for observer in _observers(address))


def _columns(address: Address) -> int:
    """Return the number of columns of outcomes, without those of failovers."""
    return len(Out) + sum(int(observer.COLUMNS) for observer in _observers(address))


def _observed(address: Address, **others: Any) -> ObserverSlots:
    return ObserverSlots(observer=composed(events, *_observers(address)), **others)


def _hops(
    address: Address, base: int, *, specialised: bool = False, arrival_before_departure: bool = True,
    paths: int = PATHS,
) -> HopSlots:  # fmt: skip
    return HopSlots(
        hops_base=base, hop_paths=paths, hop_lanes=2 * paths, first_hop_specialised=specialised,
        arrival_before_departure=arrival_before_departure,
        varying=address.varying or address.reordering, reorders=address.reordering,
    )  # fmt: skip


def _route(address: Address) -> RouteSlots:
    forwarding = access if address.mobile else reordering
    out_of_order = address.mobile or address.reordering
    return RouteSlots(mobile=address.mobile, out_of_order=out_of_order, forwarding=forwarding)


def _blocks(address: Address, endpoint: Endpoint) -> tuple[Block, ...]:
    """Return the blocks of parameters of an endpoint and of the receiver's mobility."""
    return (*endpoint.blocks, MobileP) if address.mobile else endpoint.blocks


def _packets(window: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that estimates the cost of rows from the maximum packets in flight."""
    return lambda rows: cost.cost(rows, window(rows.parameters))


def _one(address: Address, endpoint: Endpoint) -> Model:
    """Return the model of one association over one path."""
    out_of_order = address.mobile or address.reordering
    base = state.ASSOCIATION + endpoint.state_words

    def make(step: Step) -> Any:
        fast = endpoint.has_fast_path and not (out_of_order or address.varying or is_lockstep(step))
        module = linux_fast_path if endpoint.typed_packets else fast_path
        specialised = is_lockstep(step) and not out_of_order
        hops = _hops(
            address, base, specialised=specialised,
            arrival_before_departure=endpoint.arrival_before_departure,
        )  # fmt: skip
        filled = PathSlots(
            first=endpoint.first, pauses=endpoint.pauses, typed_packets=endpoint.typed_packets,
            has_fast_path=fast, fast_path=module if fast else None,
        )  # fmt: skip
        inlined = endpoint.inlined + (endpoint.inlined_with_fast_path if fast else ())
        records = hops, _route(address), _observed(address), filled, endpoint.slots(step)
        return bind(engine.simulate, step, *records, inlined=inlined)

    def scratch(rows: Any) -> tuple[int, int]:
        words = engine.scratch_words(rows, endpoint.words, mobile=address.mobile, reorders=address.reordering)
        return words + _words(address), endpoint.floats

    # With reordering, the code addresses hops from many places, and no address is constant.
    hot_words = () if out_of_order else state.hot_words(endpoint.hot_words, endpoint.state_words)
    return Model(
        blocks=_blocks(address, endpoint),
        address=address, make=make, scratch=scratch, outcomes=lambda rows: _columns(address),
        window=endpoint.window, cost=_packets(endpoint.window), noalias=True, hot_words=hot_words,
    )  # fmt: skip


def _multihomed(address: Address, endpoint: Endpoint) -> Model:
    """Return the model of SCTP over one or two paths."""

    def make(step: Step) -> Any:
        observed = _observed(address, delay_state=multihomed.DELAY_STATE)
        return bind(multihomed.simulate, step, _hops(address, multihomed.HOPS), observed)

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = multihomed.scratch_words(rows)
        return words + _words(address), floats

    return Model(
        blocks=_blocks(address, endpoint),
        address=address, make=make, scratch=scratch,
        outcomes=lambda rows: _columns(address) + failovers(rows), window=endpoint.window,
        cost=_packets(endpoint.window), noalias=True,
    )  # fmt: skip


def _subflows(address: Address, endpoint: Endpoint) -> Model:
    """Return the model of MPTCP over up to four paths."""

    def make(step: Step) -> Any:
        observed = ObserverSlots(observer=events)
        hops = _hops(
            address, subflows_state.HOPS, arrival_before_departure=False, paths=MPTCP_PATHS
        )  # fmt: skip
        return bind(subflows.simulate, step, hops, observed, endpoint.slots(step))

    def scratch(rows: Any) -> tuple[int, int]:
        return subflows.scratch_words(rows, endpoint.words), endpoint.floats

    return Model(
        blocks=_blocks(address, endpoint),
        address=address, make=make, scratch=scratch,
        outcomes=lambda rows: _columns(address) + Subflows.COLUMNS + subflows.further_columns(rows),
        window=endpoint.window, cost=_packets(endpoint.window),
    )  # fmt: skip


def _migrating(address: Address, endpoint: Endpoint) -> Model:
    """Return the model of an association over two paths that uses one of them at a time."""

    def make(step: Step) -> Any:
        hops = _hops(
            address, migration.ASSOCIATION + endpoint.state_words,
            arrival_before_departure=endpoint.arrival_before_departure,
        )  # fmt: skip
        observed = ObserverSlots(observer=events)
        return bind(migration.simulate, step, hops, observed, HostSlots(mobile=False), endpoint.slots(step))

    def scratch(rows: Any) -> tuple[int, int]:
        return migration.scratch_words(rows, endpoint.words), endpoint.floats

    return Model(
        blocks=_blocks(address, endpoint),
        address=address, make=make, scratch=scratch,
        outcomes=lambda rows: _columns(address) + Failover.COLUMNS, window=endpoint.window,
        cost=_packets(endpoint.window),
    )  # fmt: skip


def _datagrams(address: Address, endpoint: Endpoint) -> Model:
    """Return the model of UDP over one path."""

    def make(step: Step) -> Any:
        hops = _hops(address, state.ASSOCIATION)
        return bind(datagrams.simulate, step, hops, _route(address), _observed(address))

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = datagrams.scratch_words(rows, mobile=address.mobile, reorders=address.reordering)
        return words + _words(address), floats

    return Model(
        blocks=_blocks(address, endpoint),
        address=address, make=make, scratch=scratch, outcomes=lambda rows: _columns(address),
        cost=_packets(lambda parameters: 1), noalias=True,
    )  # fmt: skip
