"""UDP at a constant mean rate, without feedback: datagrams at regular or at random intervals."""

from enum import IntEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.schema import units
from netcarlo.schema.quantity import (
    Number,
    Packets,
    Payload,
    Probability,
    Quantity,
    Size,
    Time,
    Transfer,
    bounds,
)
from netcarlo.schema.record import Record
from netcarlo.transport.capabilities import Capabilities
from netcarlo.transport.classed import Classed

Offered = Annotated[Number, Quantity(units.RATE, 100.0, 1e10)]


class Datagrams(Record, Capabilities):
    """Datagrams at a constant bit rate; `rate` counts the payload.

    The first datagram is sent at a random time in the first interval. Two flows with equal intervals keep the
    offset between their datagrams for the whole run unless they have `jitter` or exponential `gaps`.
    """

    rate: Offered
    """Bit rate of the payload."""
    payload: Payload = 1470.0
    """Payload of a datagram."""
    header: Size = 28.0
    """Size of the headers of a datagram, added to its payload."""
    start: Time = 0.0
    """Start time of the source; the first datagram is sent at a random time in its interval."""
    stop: Time | None = None
    """End time of the source. Default: the end of the run."""
    bytes: Transfer | None = None
    """Amount of payload after which the source ends; the last datagram may be short. Default: no limit."""
    packets: Packets | None = None
    """Number of datagrams after which the source ends. Default: no limit."""
    jitter: Probability = 0.0
    """Maximum deviation of a gap between datagrams from its mean, as a share of the mean; uniformly
    distributed."""
    gaps: Literal["constant", "exponential"] = "constant"
    """Distribution of the gaps between datagrams: `constant`, or `exponential` for Poisson arrivals."""

    datagrams: ClassVar[bool] = True
    not_of_flows: ClassVar = {"ecn": "is not supported with udp; remove it"}

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        "start": (RowP.START, NS),
        "payload": (RowP.DATA, 1),
        "header": (RowP.HEADER, 1),
    }

    @property
    def title(self) -> str:
        """Name of its senders in text."""
        return "UDP"

    @property
    def kind(self) -> str:
        """See `Capabilities.kind`."""
        return "udp"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.bytes is not None and self.packets is not None:
            raise InputError("bytes and packets are both given; keep one")
        if self.stop is not None and bounds(self.stop)[0] <= bounds(self.start)[1]:
            raise InputError("stop can be at or before start; raise stop or lower start")
        if bounds(self.jitter)[1] > 0 and self.gaps == "exponential":
            raise InputError("jitter and gaps: exponential are both given; keep one")
        gap_s = 8 * bounds(self.payload)[1] / bounds(self.rate)[0]
        if bounds(self.jitter)[1] > 0 and gap_s >= 1:
            raise InputError("jitter needs gaps below 1 s; raise rate, lower payload, or remove it")
        return self


class Udp(Datagrams, Classed):
    """UDP as the transport of a scenario."""

    protocol: Literal["udp"]
    """UDP: datagrams at a constant bit rate."""
