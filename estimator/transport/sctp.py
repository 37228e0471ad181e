"""SCTP with the rules of ns-2 or of RFC 9260, over one path or two."""

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.schema.quantity import Count, Interval, Number, Payload, Retries, Size, Time, Transfer, bounds
from netcarlo.transport.base import CAPACITY, Retransmitting

RULES: dict[str, dict[str, Any]] = {
    "ns2-2.29": {
        "initial_cwnd": "2936 B",
        "ssthresh_floor": "2936 B",
        "probe_first": False,
        "sack_first": False,
        "duplicate_acks": 4,
    },
    "ns2-2.35": {
        "initial_cwnd": "4380 B",
        "ssthresh_floor": "5872 B",
        "probe_first": True,
        "sack_first": True,
        "duplicate_acks": 3,
    },
    "rfc9260": {
        "initial_rto": "1 s",
        "initial_cwnd": "4404 B",
        "ssthresh_floor": "5872 B",
        "probe_first": False,
        "sack_first": True,
        "duplicate_acks": 3,
    },
}
"""Defaults that differ between the rules; each can be given instead."""


class Sctp(Retransmitting):
    """SCTP over one path or two, as in a release of ns-2 or as in RFC 9260 (`rules`)."""

    protocol: Literal["sctp"]
    """SCTP, over one path or two."""
    rtt: ClassVar[str] = (
        "the latest measurement, exact: one chunk per path at a time is timed, never a retransmission, and "
        "heartbeats are; over two paths that of the current path, over shared links that of the first"
    )
    rules: Literal["ns2-2.29", "ns2-2.35", "rfc9260"] = "ns2-2.35"
    """Rules and defaults of a release of ns-2, or of RFC 9260."""
    payload: Payload = 1452.0
    chunk_header: Size = 16.0
    """Size of the header of a DATA chunk."""
    header: Size = 32.0
    ack: Size = 48.0
    sack_block: Size = 4.0
    receiver_window: Transfer = 65536.0
    """Receive buffer; a packet occupies its payload and chunk header."""
    initial_cwnd: Transfer
    """Initial congestion window of a path. Default: 4380 B with rules 2.35, 2936 B with 2.29, 4404 B with
    rfc9260."""
    initial_ssthresh: Transfer = 65536.0
    """Initial slow start threshold of a path."""
    ssthresh_floor: Transfer
    """Minimum slow start threshold, and minimum window of an idle path. Default: 5872 B, and 2936 B with
    rules 2.29."""
    probe_first: bool
    """True if a heartbeat is sent over every path before the first data. Default: true with rules 2.35.
    With rfc9260 the second path is probed while data are sent, and this is false."""
    sack_first: bool
    """True if the first DATA packet is acknowledged immediately. Default: true, and false with rules
    2.29."""
    duplicate_acks: Count
    """Number of reports of a missing chunk that indicate a loss. Default: 3, and 4 with rules 2.29."""
    max_burst: Count = 4.0
    """Maximum number of packets sent at once after an acknowledgement; with the rules of ns-2 only after a
    fast retransmit."""
    abc_limit: Count | None = None
    """Maximum growth of the congestion window per acknowledgement in slow start, in packets (L of RFC 9260,
    section 7.2.1). Only with rules rfc9260. Default: 1."""
    min_rto: Interval = 1.0
    ack_every: Literal[1, 2] = 2
    ack_delay: Interval = 0.2
    path_max_retrans: Retries = 5.0
    """Number of consecutive timeouts of a path above which it becomes inactive and new data use the other
    path. New data return to the first path when it is active again, unless `failback` is false (default:
    true)."""
    pf_max_retrans: Retries | None = None
    """Number of consecutive timeouts of a path above which it is potentially failed (RFC 7829): new data use
    the other path if that is active, and heartbeats probe this one after each timeout. 0 is a quick
    failover; values from `path_max_retrans` on have no effect. Only with rules rfc9260. Default: no such
    state."""
    cmt: bool | None = None
    """True if new data use both paths at once (concurrent multipath transfer, Iyengar, Amer and Stewart 2006)
    while both are active. Only with rules rfc9260. Default: false."""
    t3_restart: bool | None = None
    """False if the retransmission timer keeps running when a SACK without gap blocks acknowledges data, and
    its expiry affects only chunks older than the round-trip time, as in usrsctp 0.9.5. Only with rules
    rfc9260. Default: true (RFC 9260, section 6.3.2, rule R3)."""
    failback: bool = True
    """True if new data return from the second path to the first (primary) one as soon as a heartbeat or a
    SACK shows that the first is active again (RFC 9260, section 6.4). If false, new data stay on the
    second path until it fails, as in both releases of ns-2. No effect with one path."""
    heartbeat_interval: Time = 30.0
    """Interval between heartbeats on an idle path, in addition to its timeout."""

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        **Retransmitting.fills,
        "chunk_header": (RowP.CHUNK_HEADER, 1),
        "receiver_window": (SctpP.RWND, 1),
        "initial_cwnd": (SctpP.INITIAL_CWND, 1),
        "initial_ssthresh": (ReliableP.INITIAL_SSTHRESH, 1),
        "ssthresh_floor": (SctpP.SSTHRESH_FLOOR, 1),
        "probe_first": (SctpP.PROBE_FIRST, 1),
        "sack_first": (SctpP.SACK_FIRST, 1),
        "max_burst": (SctpP.MAX_BURST, 1),
        "path_max_retrans": (SctpP.PATH_MAX_RETRANS, 1),
        "failback": (SctpP.FAILBACK, 1),
        "heartbeat_interval": (SctpP.HEARTBEAT, NS),
    }

    implied: ClassVar = frozenset(RULES["ns2-2.35"])
    two_paths: ClassVar[bool] = True
    not_of_flows: ClassVar = {
        "ecn": "is not supported with sctp; remove it", "window": "is not supported with sctp; write "
        "transport.receiver_window"
    }  # fmt: skip

    @property
    def today(self) -> bool:
        """True with the rules of RFC 9260."""
        return self.rules == "rfc9260"

    @property
    def compared_as(self) -> str:
        """See `Capabilities.compared_as`."""
        return "sctp_rfc9260" if self.today else self.kind

    def unknown_to_fluid(self, known: Sequence[str], model: str = "the fluid model") -> str:
        """See `Capabilities.unknown_to_fluid`."""
        text = f"{model} supports the rules of ns-2 only, not rfc9260" if self.today else ""
        return super().unknown_to_fluid(known, model) or text

    def unknown_to_formula(self, known: Sequence[str]) -> str:
        """See `Capabilities.unknown_to_formula`."""
        text = "the formulae support the rules of ns-2 only, not rfc9260" if self.today else ""
        return super().unknown_to_formula(known) or text

    def short_form(self) -> dict[str, Any]:
        """See `Capabilities.short_form`: defaults of the rules are left out and follow other rules."""
        standard = type(self).check({"protocol": "sctp", "rules": self.rules})
        same = (name for name in RULES[self.rules] if getattr(self, name) == getattr(standard, name))
        return dict.fromkeys(same)

    @property
    def receiver_bytes(self) -> Number:
        """See `Capabilities.receiver_bytes`."""
        return self.receiver_window

    def buffered(self, low: float, high: float) -> tuple[float, float]:
        """See `Capabilities.buffered`; the header of a chunk occupies the buffer, too."""
        header, room = bounds(self.chunk_header), bounds(self.receiver_window)
        return room[0] // (high + header[1]), room[1] // (low + header[0])

    def refuses(self, payload: Number) -> str:
        """See `Capabilities.refuses`: a chunk has to fit into the receiver's window."""
        chunk = bounds(payload)[1] + bounds(self.chunk_header)[1]
        if chunk <= bounds(self.receiver_window)[0]:
            return ""
        return f"does not fit the receiver's window; raise transport.receiver_window to {chunk:.0f} B"

    @model_validator(mode="before")
    @classmethod
    def _follow_rules(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {**RULES.get(str(data.get("rules")), RULES["ns2-2.35"]), **data}
        return data

    @model_validator(mode="after")
    def _of_rules(self) -> Self:
        if self.today and self.probe_first:
            raise InputError("probe_first does not apply with rules: rfc9260; remove it")
        for field in ("abc_limit", "pf_max_retrans", "cmt", "t3_restart"):
            if not self.today and getattr(self, field) is not None:
                raise InputError(f"{field} applies only with rules: rfc9260; write these rules or remove it")
        return self

    @model_validator(mode="after")
    def _window_fits(self) -> Self:
        chunk = [p + h for p, h in zip(bounds(self.payload), bounds(self.chunk_header), strict=True)]
        low, high = bounds(self.receiver_window)
        if low < chunk[1]:
            raise InputError(f"receiver_window is smaller than a packet; expected {chunk[1]:.0f} B or more")
        if math.floor(high / chunk[0]) > CAPACITY:
            raise InputError(
                f"receiver_window holds over {CAPACITY} packets, the maximum in flight; expected "
                f"{CAPACITY * chunk[0]:.0f} B or less; lower it or raise payload"
            )
        return self


