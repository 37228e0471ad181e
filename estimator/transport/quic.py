"""QUIC as the transport of a scenario (RFC 9000, RFC 9002)."""

from enum import IntEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import MigrationP, QuicP, ReliableP, RowP
from netcarlo.kernels.quic.state import Control
from netcarlo.schema import units
from netcarlo.schema.quantity import Count, Interval, Number, Payload, Quantity, Size, Transfer, Window
from netcarlo.transport.base import Transport
from netcarlo.transport.spelling import spelt

CONTROLS = {"cubic": Control.CUBIC, "newreno": Control.NEWRENO}
"""Congestion controls of QUIC, the default first."""

FLIGHT, RESUMED_FLIGHT = "3000 B", "1200 B"
"""Default of `server_flight` with a certificate chain, and of a resumed session without one."""


class Quic(Transport):
    """QUIC: a connection with one stream, whose client sends the data.

    Packets are numbered once, and lost data are sent again in new packets. Loss detection, probe timeouts and
    persistent congestion are those of RFC 9002. Sizes are UDP payloads and headers with an AEAD tag.
    """

    absent: ClassVar = {"ecn": "ECN is not simulated with quic; write protocol: newreno"}

    protocol: Literal["quic"]
    """QUIC."""
    congestion_control: Literal[tuple(CONTROLS)] = "cubic"  # type: ignore[valid-type]
    """Congestion control: CUBIC (RFC 9438) or NewReno (RFC 9002, section 7)."""
    payload: Payload = 1165.0
    quic_header: Size = 35.0
    """Size of the QUIC header (11 B), the header of the STREAM frame (8 B) and the AEAD tag (16 B)."""
    header: Size = 28.0
    ack: Size = 64.0
    sack_block: Size = 3.0
    """Size of each range of an ACK frame besides the first."""
    window: Annotated[Number, Quantity(units.PACKETS, 1, 65536, whole=True)] = 4096.0
    """Flow control: maximum number of packets between the first unacknowledged one and the newest."""
    initial_window: Window = 10.0
    """Congestion window after the handshake."""
    initial_rtt: Interval = 0.333
    """Round-trip time that is assumed before the first measurement (kInitialRtt)."""
    server_flight: Transfer
    """Bytes that the server sends in the handshake. A flight of more than 3600 B, three times the client's
    first datagram, needs a second round trip (anti-amplification limit). Default: 3000 B, or 1200 B with
    `zero_rtt`, which needs no certificate."""
    zero_rtt: bool = False
    """True if data are sent with the first packet (0-RTT), before the handshake ends."""
    slow_start: Literal["standard", "hystart++"] = "standard"
    """Algorithm that ends slow start before losses occur: none, or HyStart++ (RFC 9406)."""
    pacing: Annotated[Number, Quantity(units.PLAIN, 0, 10)] = 1.25
    """Pacing rate as a multiple of congestion window / smoothed RTT; 0: packets are not paced."""
    burst: Count = 10.0
    """Maximum number of packets that pacing lets leave at once."""
    ack_every: Count = 2.0
    """Number of packets in order per ACK."""
    ack_delay: Interval = 0.025
    """Maximum delay of an ACK (max_ack_delay)."""
    max_pto: Interval = 60.0
    """Maximum probe timeout, including exponential back-off, which RFC 9002 does not limit."""
    migrate_after: Count = 2.0
    """Number of probe timeouts in a row after which the client validates the second of two `paths` and moves
    to it (RFC 9000, section 9, which leaves the number open). Two take three times the probe timeout;
    Chromium waits four times. No effect with one path."""

    rtt: ClassVar[str] = (
        "the latest sample, from the largest packet that an ACK acknowledges for the first time; it includes "
        "the delay of the ACK"
    )
    captured: ClassVar[bool] = False
    two_paths: ClassVar[bool] = True
    migrates: ClassVar[bool] = True
    implied: ClassVar = frozenset({"server_flight"})
    not_of_flows: ClassVar = {"ecn": "is not supported with quic; remove it"}

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        **Transport.fills,
        "quic_header": (RowP.CHUNK_HEADER, 1),
        "window": (RowP.WINDOW, 1),
        "initial_window": (QuicP.INITIAL_PACKETS, 1),
        "initial_rtt": (QuicP.INITIAL_RTT, NS),
        "server_flight": (QuicP.SERVER_FLIGHT, 1),
        "zero_rtt": (QuicP.ZERO_RTT, 1),
        "pacing": (QuicP.PACING, 1024),
        "burst": (QuicP.BURST, 1),
        "max_pto": (ReliableP.MAX_RTO, NS),
        "migrate_after": (MigrationP.MIGRATE_AFTER, 1),
    }

    @property
    def biased_as(self) -> str:
        """See `Capabilities.biased_as`."""
        return f"quic_{self.congestion_control}"

    @property
    def title(self) -> str:
        """See `Capabilities.title`."""
        return f"QUIC {spelt(self.congestion_control)}"

    @property
    def growth(self) -> str:
        """See `Capabilities.growth`."""
        return str(self.congestion_control)

    @model_validator(mode="before")
    @classmethod
    def _follow_resumption(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {"server_flight": RESUMED_FLIGHT if data.get("zero_rtt") is True else FLIGHT, **data}
        return data
