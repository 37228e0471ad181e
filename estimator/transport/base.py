"""Fields that transports share: size and start of a transfer, headers, acknowledgements, and timeouts."""

from enum import IntEnum
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.schema.quantity import Interval, Packets, Payload, Size, Time, Transfer, bounds
from netcarlo.transport.capabilities import Capabilities
from netcarlo.transport.classed import Classed

CAPACITY = 4096
"""Maximum number of packets in flight of one association."""


class Transport(Classed, Capabilities):
    """Fields of all transports; `fills` maps a field to a kernel parameter and a unit factor."""

    start: Time = 0.0
    """Start time of the sender."""
    bytes: Transfer | None = None
    """Size of the transfer; its last packet may be short. Default: endless, unless `packets` is given."""
    packets: Packets | None = None
    """Size of the transfer in packets. Default: endless, unless `bytes` is given."""
    payload: Payload
    """Payload of a data packet."""
    header: Size
    """Size of the headers of a data packet, added to its payload."""
    ack: Size
    """Size of an acknowledgement."""
    sack_block: Size
    """Size of each block in a selective acknowledgement."""
    ack_delay: Interval
    """Maximum delay of a delayed acknowledgement."""

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        "start": (RowP.START, NS),
        "payload": (RowP.DATA, 1),
        "header": (RowP.HEADER, 1),
        "ack": (ReliableP.ACK, 1),
        "sack_block": (ReliableP.SACK_BLOCK, 1),
        "ack_every": (ReliableP.ACK_EVERY, 1),
        "ack_delay": (ReliableP.ACK_DELAY, NS),
    }

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.bytes is not None and self.packets is not None:
            raise InputError("bytes and packets are both given; keep one")
        return self


class Retransmitting(Transport):
    """Fields of transports with a retransmission timeout (RFC 6298): TCP and SCTP."""

    min_rto: Interval
    """Minimum retransmission timeout."""
    max_rto: Interval = 60.0
    """Maximum retransmission timeout, including exponential back-off."""
    initial_rto: Interval = 3.0
    """Retransmission timeout before the first measurement of the round-trip time."""
    ack_every: Literal[1, 2]
    """Number of data packets per acknowledgement: 1, or 2 for delayed acknowledgements."""

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        **Transport.fills,
        "min_rto": (ReliableP.MIN_RTO, NS),
        "max_rto": (ReliableP.MAX_RTO, NS),
        "initial_rto": (ReliableP.INITIAL_RTO, NS),
        "duplicate_acks": (ReliableP.DUPACKS, 1),
    }

    @model_validator(mode="after")
    def _timeouts_fit(self) -> Self:
        if bounds(self.min_rto)[1] > bounds(self.max_rto)[0]:
            raise InputError("min_rto can be above max_rto; lower min_rto or raise max_rto")
        return self


