"""Models of ad hoc networks: of one association, and of a stream of datagrams."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netcarlo.kernels.adhoc import datagrams, delays, engine, flow
from netcarlo.kernels.adhoc.frames import TRANSMISSION_SHIFT
from netcarlo.kernels.base import one_flow
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, Step, bind
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.udp import sink


@dataclass(frozen=True, kw_only=True)
class AdhocSlots(Slots):
    """Slots of the engine of ad hoc networks."""

    hosts: Any
    """Hosts of the source and of the sink: of an association (`flow`) or of datagrams (`datagrams`)."""
    packet_shift: int
    """Number of the lowest bit of the number of a frame's packet."""
    delays: bool
    """True if delays of data are measured."""


def model(address: Address, endpoint: Endpoint, others: Mapping[int, Endpoint]) -> Model:
    """Return the model of an address with this endpoint."""
    udp = address.sender == "udp"

    def make(step: Step) -> Any:
        shift = TRANSMISSION_SHIFT + endpoint.transmission_bits
        filled = AdhocSlots(hosts=datagrams if udp else flow, packet_shift=shift, delays=address.delays)
        return bind(engine.simulate, step, filled, endpoint.slots(step))

    def words(window: Any, ring: Any) -> Any:
        return sink.scratch_words(ring) if udp else endpoint.words(window, ring)

    def scratch(rows: Any) -> tuple[int, int]:
        found, floats = engine.scratch_words(rows, words, endpoint.floats)
        return found + delays.WORDS * address.delays, floats

    return Model(
        address=address, make=make, scratch=scratch,
        outcomes=lambda rows: engine.outcomes(rows) + one_flow.WORDS * address.delays,
        dimensions=(2, 2, 3, 4, 2),
    )  # fmt: skip
