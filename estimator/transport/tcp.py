"""TCP senders of ns-2, the probing TCPs based on them, and TCP of Linux 2.6."""

import os
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.schema import units, unsupported
from netcarlo.schema.quantity import (
    Constant,
    Count,
    Interval,
    Number,
    Packets,
    Payload,
    Quantity,
    Size,
    Time,
    Window,
    bounds,
)
from netcarlo.transport.base import CAPACITY, Retransmitting
from netcarlo.transport.buffers import ReceiveBuffer, SendBuffer
from netcarlo.transport.capabilities import TCPS
from netcarlo.transport.congestion import BUILT_IN, CONTROLS_OF_LINUX, ONLY_LINUX, STANDARD, default_constants


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

    def short_form(self) -> dict[str, Any]:
        """See `Capabilities.short_form`: a congestion control of ns-2 is short for sack with that control."""
        if self.protocol != "sack" or self.control not in BUILT_IN:
            return {}
        written = "congestion_control" in self.model_fields_set
        return {} if written else {"protocol": self.control, "congestion_control": None}

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


