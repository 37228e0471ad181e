"""Transports of a scenario: TCP and SCTP with the defaults of ns-2, TCP of Linux, and UDP."""

import math
import os
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP, TcpP
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.senders import LINUX_FLUID, OWN
from netcarlo.schema import units, unsupported
from netcarlo.schema.quantity import (
    Constant,
    Count,
    Interval,
    Number,
    Packets,
    Payload,
    Quantity,
    Retries,
    Size,
    Time,
    Transfer,
    Window,
    bounds,
)
from netcarlo.transport.buffers import ReceiveBuffer, SendBuffer
from netcarlo.transport.capabilities import TCPS, Capabilities, NetworkKind
from netcarlo.transport.classed import Classed
from netcarlo.transport.congestion import (
    BUILT_IN,
    CONTROLS_OF_LINUX,
    HAVE_SLOW_START,
    ONLY_LINUX,
    STANDARD,
    default_constants,
)
from netcarlo.transport.messages import Messages

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


class Tcp(Retransmitting):
    """A one-way TCP of ns-2, or one of the probing TCPs based on it.

    The receive window follows from `receive_buffer` if that is given, else it is `window`. A `send_buffer`
    also limits the packets in flight. `clock_phase` is the phase of the sender's clock at time 0.
    """

    protocol: Annotated[
        Literal[(*TCPS, "vegas", "linux", "linux26")],  # type: ignore[valid-type]
        WithJsonSchema({"enum": [*TCPS, *BUILT_IN]}),
    ]
    """TCP variant. `bic`, `cubic` and `westwood` mean sack with that congestion control."""
    congestion_control: Literal[BUILT_IN] | Path | None = None  # type: ignore[valid-type]
    """Congestion control in place of the protocol's own: a name, or the path of your Python file."""
    constants: dict[str, Constant] = Field(default_factory=dict)
    """Values of the constants of your congestion control, by name, in place of the defaults in its file."""
    payload: Payload = 1460.0
    header: Size = 40.0
    ack: Size = 40.0
    sack_block: Size = 8.0
    handshake: Size = 40.0
    """Size of a SYN and of a SYN-ACK."""
    window: Window = 20.0
    """Receive window: maximum number of packets in flight. Ignored if `receive_buffer` is given."""
    receive_buffer: ReceiveBuffer | None = None
    """Socket buffer of the receiver in bytes; determines the receive window. Default: `window` applies."""
    send_buffer: SendBuffer | None = None
    """Socket buffer of the sender in bytes; limits the packets in flight. Default: no limit."""
    initial_window: Window = 2.0
    """Congestion window after the handshake."""
    initial_ssthresh: Packets | None = None
    """Initial slow start threshold. Default: the receive window."""
    tick: Interval = 0.01
    """Granularity of the sender's clock (RTT measurements and timers)."""
    clock_phase: Time | None = None
    """Phase of the sender's clock at time 0. Default: drawn for each replication."""
    min_rto: Interval = 0.2
    duplicate_acks: Count = 3.0
    """Number of duplicate acknowledgements that indicate a loss."""
    ack_every: Literal[1, 2] = 1
    ack_delay: Interval = 0.1

    rtt: ClassVar[str] = (
        "the latest measurement, in whole `tick` (default 10 ms, rounded down on a clock of random phase, at "
        "least 1): one packet at a time is timed, never a retransmission"
    )
    phases: ClassVar[int] = 1
    """Number of ticks from which `clock_phase` is drawn."""
    controls: ClassVar[tuple[str, ...]] = (STANDARD, *BUILT_IN)
    """Values of `congestion_control`."""
    not_applicable: ClassVar[tuple[str, ...]] = ()
    """Fields of a TCP that do not apply to this one."""
    marked: ClassVar[bool] = True
    reads_late: ClassVar[bool] = True

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        **Retransmitting.fills,
        "window": (RowP.WINDOW, 1),
        "handshake": (TcpP.HANDSHAKE, 1),
        "initial_window": (TcpP.INITIAL_WINDOW, 1),
        "tick": (TcpP.TICK, NS),
    }

    @model_validator(mode="wrap")
    @classmethod
    def _short(cls, data: Any, make: Any) -> Any:
        """Expand `cubic` to sack with that control, and drop the explicit name of the standard control.

        Fields that were not written are not marked as set, so that `short_form` can restore the short form.
        """
        if not isinstance(data, dict):
            return make(data)
        name, control = data.get("protocol"), data.get("congestion_control")
        if name not in BUILT_IN:
            own = ("congestion_control", STANDARD)
            return make({key: value for key, value in data.items() if (key, value) != own})
        if control not in (None, name):
            both = f"protocol = {name} and congestion_control = {control} are both given"
            raise InputError(f"{both}; keep one, or write protocol: sack with that congestion_control")
        record = make({**data, "protocol": "sack", "congestion_control": name})
        record.model_fields_set.discard("congestion_control")
        return record

    @field_validator("congestion_control")
    @classmethod
    def _is_file(cls, control: str | Path | None) -> str | Path | None:
        if isinstance(control, Path) and not os.path.isfile(control):
            if str(control) in ONLY_LINUX and cls.controls is not CONTROLS_OF_LINUX:
                raise InputError("is supported only with linux; write protocol: linux")
            names = ", ".join(cls.controls)
            if found := unsupported.known(control):
                raise InputError(f"is not supported: {found.what}; {found.remedy}. Supported: {names}")
            raise InputError(
                f"is not a file; write {names} or the path of a Python file relative to the scenario"
            )
        return control

    @model_validator(mode="after")
    def _receive_buffer_fits(self) -> Self:
        if self.receive_buffer is not None and "receive_buffer" not in self.not_applicable:
            packets = self.receive_buffer.largest_window() / bounds(self.payload)[0]
            if packets > CAPACITY:
                raise InputError(
                    f"receive_buffer can hold over {CAPACITY} packets, the maximum in flight; "
                    "lower its size or raise payload"
                )
        return self

    @model_validator(mode="after")
    def _constants_have_owner(self) -> Self:
        if self.congestion_control is not None and self.protocol == "vegas":
            raise InputError("congestion_control cannot replace that of vegas; write protocol: newreno")
        if not isinstance(self.congestion_control, Path):
            if self.constants:
                raise InputError("constants belong to a congestion_control file; name it or remove them")
            return self
        name, known = self.congestion_control.name, default_constants(self.congestion_control)
        for constant in self.constants:
            if constant not in known:
                raise InputError(f"constants.{constant} is not in {name}; {suggest(constant, known)}")
        return self

    @property
    def control(self) -> str:
        """See `Capabilities.control`."""
        return str(self.congestion_control or "")

    @property
    def own_control(self) -> Path | None:
        """See `Capabilities.own_control`."""
        return self.congestion_control if isinstance(self.congestion_control, Path) else None

    @property
    def kind(self) -> str:
        """See `Capabilities.kind`."""
        if not self.control:
            return str(self.protocol)
        return self.control if self.protocol == "sack" else f"{self.protocol} with {self.control}"

    @property
    def receiver_bytes(self) -> float | None:
        """See `Capabilities.receiver_bytes`."""
        return None if self.receive_buffer is None else self.receive_buffer.largest_window()

    def buffered(self, low: float, high: float) -> tuple[float, float] | None:
        """See `Capabilities.buffered`."""
        size = self.receiver_bytes
        return None if size is None else (size / low, size / low)

    def unknown_to_fluid(self, known: Sequence[str], model: str = "the fluid model") -> str:
        """See `Capabilities.unknown_to_fluid`."""
        text = "the fluid model does not support send_buffer" if self.send_buffer is not None else ""
        return super().unknown_to_fluid(known, model) or text

    def all_constants(self) -> dict[str, Number]:
        """Return the constants of the user's congestion control in the order of its file."""
        if not isinstance(self.congestion_control, Path):
            return {}
        return {**default_constants(self.congestion_control), **self.constants}


class Vegas(Tcp):
    """TCP Vegas of ns-2. It adds no header, sends no SYN, and counts its packets in the queue."""

    protocol: Literal["vegas"]
    """TCP Vegas."""
    header: Size = 0.0
    handshake: Size = 0.0
    alpha: Count = 1.0
    """Number of its packets in the queue below which the window grows."""
    beta: Count = 3.0
    """Number of its packets in the queue above which the window shrinks."""
    gamma: Count = 1.0
    """Number of its packets in the queue above which slow start ends."""

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        **Tcp.fills,
        "alpha": (TcpP.VEGAS_ALPHA, 1),
        "beta": (TcpP.VEGAS_BETA, 1),
        "gamma": (TcpP.VEGAS_GAMMA, 1),
    }

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.alpha)[1] > bounds(self.beta)[0]:
            raise InputError("alpha can be above beta; lower alpha or raise beta")
        return self


class Linux26(Tcp):
    """A TCP sender like that of Linux 2.6, with timestamps in every packet.

    It uses Reno unless another `congestion_control` is given. A packet is lost when one sent `duplicate_acks`
    or more packets later has been acknowledged.
    """

    absent: ClassVar = {"ecn": "ECN is not simulated with linux26; write protocol: newreno"}

    protocol: Literal["linux26"]
    """TCP sender like that of Linux 2.6."""
    rtt: ClassVar[str] = (
        "the latest measurement, from the timestamp that each ACK echoes, rounded to whole `tick` (1 ms); "
        "duplicate ACKs echo an old timestamp and measure longer"
    )
    window: Annotated[Number, Quantity(units.PACKETS, 1, 65536, whole=True)] = 20.0
    header: Size = 50.0
    tick: Interval = 0.001
    max_rto: Interval = 120.0
    duplicate_acks: Count = 4.0
    """Reordering threshold: a packet is lost when one sent this many or more packets later has been
    acknowledged."""


SLOW_STARTS = {
    "standard": SlowStart.STANDARD,
    "hystart": SlowStart.HYSTART,
    "hystart++": SlowStart.HYSTARTPP,
}
"""Ways in which slow start of `protocol: linux` can end, as users write them."""

OF_HOSTS = ("messages", "autotuning")
"""Fields about applications and receivers, which only some networks support."""


class Linux(Tcp):
    """TCP of the current Linux kernel: CUBIC, or another `congestion_control`; segments carry timestamps.

    `slow_start` selects how slow start ends before losses occur: CUBIC uses `hystart`, Reno `standard`.

    The application always has data to send, unless it sends `messages`. `idle_restart` then selects whether
    the window shrinks after a pause (tcp_slow_start_after_idle).

    With `autotuning` (tcp_moderate_rcvbuf) the receive window starts at 64 KiB and grows with the data that
    the application reads, up to `window`.

    `tick` is a jiffy. The initial slow start threshold is unlimited, and losses and windows follow the
    kernel, so `initial_ssthresh`, `duplicate_acks` and the buffers do not apply.
    """

    absent: ClassVar = {"ecn": "ECN is not simulated with linux; write protocol: newreno"}

    protocol: Literal["linux"]
    """TCP of the current Linux kernel."""
    rtt: ClassVar[str] = (
        "the smoothed RTT (`tcpi_rtt`, weight 1/8) in µs: each ACK measures the first packet it delivers "
        "that was sent only once, or else its timestamp"
    )
    congestion_control: Literal[CONTROLS_OF_LINUX] | Path = "cubic"  # type: ignore[valid-type]
    """Congestion control: CUBIC, Reno, BBR v1 or v3, or the path of your Python file."""
    window: Annotated[Number, Quantity(units.PACKETS, 1, 65536, whole=True)] = 4096.0
    payload: Payload = 1448.0
    header: Size = 52.0
    ack: Size = 52.0
    handshake: Size = 60.0
    initial_window: Window = 10.0
    tick: Annotated[Number, Quantity(units.TIME, 1e-4, 0.1)] = 0.004
    """Duration of a jiffy, the unit of the kernel's timers."""
    max_rto: Interval = 120.0
    initial_rto: Interval = 1.0
    ack_every: Literal[1, 2] = 2
    ack_delay: Interval = 0.04
    slow_start: Literal[tuple(SLOW_STARTS)] | None = None  # type: ignore[valid-type]
    """Algorithm that ends slow start before losses occur. Default: `hystart` with CUBIC, `standard` with
    Reno."""
    messages: Messages | None = None
    """Messages that the application writes with pauses between them. Default: it always has data to send."""
    idle_restart: bool = True
    """True if the window shrinks after a pause of the application (tcp_slow_start_after_idle)."""
    autotuning: bool = False
    """True if the receive window starts at 64 KiB and grows with the data that the application reads, up
    to `window` (tcp_moderate_rcvbuf)."""

    phases: ClassVar[int] = 1 << 15  # covers the coarse levels of the kernel's timer wheel
    controls: ClassVar[tuple[str, ...]] = CONTROLS_OF_LINUX
    marked: ClassVar[bool] = False
    reads_late: ClassVar[bool] = False
    own_association: ClassVar[str] = "linux"
    stamped: ClassVar[bool] = True
    queues_measured: ClassVar[bool] = True
    not_of_flows: ClassVar = {"ecn": "is not supported with linux; remove it, or write protocol: linux26"}
    not_applicable: ClassVar[tuple[str, ...]] = (
        "initial_ssthresh", "duplicate_acks", "send_buffer", "receive_buffer",
    )  # fmt: skip

    def supports(self, network: type[NetworkKind] | NetworkKind) -> str:
        """See `Capabilities.supports`; messages and autotuning go over few networks."""
        fields = [field for field in OF_HOSTS if self.given(field) and field not in network.of_hosts]
        where = "is supported only on paths with drop-tail queues; remove it"
        text = f"transport.{fields[0]} {where}" if fields else ""
        return super().supports(network) or text

    @property
    def kind(self) -> str:
        """See `Capabilities.kind`."""
        return f"linux_{self.control}" if self.own_control is None else OWN

    @property
    def only_packets(self) -> str:
        """See `Capabilities.only_packets`."""
        return "" if self.kind in LINUX_FLUID else self.control

    def unknown_to_fluid(self, known: Sequence[str], model: str = "the fluid model") -> str:
        """See `Capabilities.unknown_to_fluid`."""
        if "linux" in known and self.only_packets:
            names = ", ".join(sender.removeprefix("linux_") for sender in LINUX_FLUID)
            return f"{model} supports {names} of linux only, not {self.control}"
        field = next((field for field in OF_HOSTS if self.given(field)), "")
        text = f"{model} does not support {field}" if field else ""
        return super().unknown_to_fluid(known, model) or text

    def unknown_to_formula(self, known: Sequence[str]) -> str:
        """See `Capabilities.unknown_to_formula`."""
        return self.unknown_to_fluid(known, "the formula")

    @model_validator(mode="after")
    def _has_what_linux_has(self) -> Self:
        for name in self.not_applicable:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise InputError(f"{name} does not apply to linux; remove it, or write protocol: linux26")
        if self.slow_start is not None and self.congestion_control not in HAVE_SLOW_START:
            allowed = " or ".join(HAVE_SLOW_START)
            raise InputError(
                f"slow_start does not apply to {self.congestion_control}; remove it, or write "
                f"congestion_control: {allowed}"
            )
        return self

    @model_validator(mode="after")
    def _pauses_somehow(self) -> Self:
        finite = next((name for name in ("bytes", "packets") if getattr(self, name) is not None), "")
        if self.messages is not None and finite:
            raise InputError(f"{finite} and messages are both given; keep one")
        if self.idle_restart:
            return self
        if self.messages is None:
            raise InputError("idle_restart = false needs messages; add them, or remove it")
        if self.congestion_control not in HAVE_SLOW_START:
            allowed = " or ".join(HAVE_SLOW_START)
            raise InputError(
                f"idle_restart = false does not apply to {self.congestion_control}; remove it, or write "
                f"congestion_control: {allowed}"
            )
        return self


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

    @property
    def receiver_bytes(self) -> Number:
        """See `Capabilities.receiver_bytes`."""
        return self.receiver_window

    def buffered(self, low: float, high: float) -> tuple[float, float]:
        """See `Capabilities.buffered`; the header of a chunk takes room, too."""
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


def short_form(transport: Any) -> dict[str, Any]:
    """Return the fields that differ if a transport is written in its short form, None for those left out; see
    `Tcp`.

    Those of SCTP that have the defaults of its rules are left out, so that they follow other rules.
    """
    if isinstance(transport, Sctp):
        standard = Sctp.check({"protocol": "sctp", "rules": transport.rules})
        of_rules = RULES[transport.rules]
        return {name: None for name in of_rules if getattr(transport, name) == getattr(standard, name)}
    control = transport.control
    written = "congestion_control" in transport.model_fields_set
    if control in BUILT_IN and transport.protocol == "sack" and not written:
        return {"protocol": control, "congestion_control": None}
    return {}
