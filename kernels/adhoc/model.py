"""Models of ad hoc networks with one flow."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.adhoc import engine, hosts, port, size
from netcarlo.kernels.adhoc.frames import TRANSMISSION_SHIFT
from netcarlo.kernels.adhoc.observers import delays, events, trace
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, Step, bind, is_lockstep
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.base.observers import composed


@dataclass(frozen=True, kw_only=True)
class AdhocSlots(Slots):
    """Slots of the engine of ad hoc networks."""

    hosts: Any = hosts
    """Source and sink of the flow."""
    port: Any = port
    """Connection of the hosts with their nodes."""
    one_way: bool
    """True if nothing is acknowledged or retransmitted."""
    packet_shift: int
    """Number of the lowest bit of the number of a frame's packet."""
    observer: Any
    """Functions that record what happens (`observers.events`)."""


def _observers(address: Address, step: Step) -> tuple[ModuleType, ...]:
    """Return the observers of an address. Only CPUs write traces, so a device has no code for them."""
    wanted = {trace: not is_lockstep(step), delays: address.delays}
    return tuple(module for module, there in wanted.items() if there)


def model(address: Address, endpoint: Endpoint, others: Mapping[int, Endpoint]) -> Model:
    """Return the model of an address with this endpoint."""
    shift = TRANSMISSION_SHIFT + endpoint.transmission_bits

    def make(step: Step) -> Any:
        observer = composed(events, *_observers(address, step))
        filled = AdhocSlots(one_way=endpoint.one_way, packet_shift=shift, observer=observer)
        return bind(engine.simulate, step, filled, size.slots(address), endpoint.slots(step))

    def scratch(rows: Any) -> tuple[int, int]:
        found, floats = engine.scratch_words(rows, endpoint.words, endpoint.floats, size.slots(address))
        return found + delays.WORDS * address.delays, floats

    return Model(
        blocks=endpoint.blocks,
        address=address, make=make, scratch=scratch,
        outcomes=lambda rows: engine.outcomes(rows) + delays.COLUMNS * address.delays,
        dimensions=(2, 2, 3, 4, 2),
    )  # fmt: skip
