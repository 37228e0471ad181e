"""TCP of the current Linux kernel."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.senders import LINUX_FLUID, LINUX_FLUID_ALONE, OWN
from netcarlo.schema import units
from netcarlo.schema.quantity import Interval, Number, Payload, Quantity, Size, Window
from netcarlo.transport.capabilities import NetworkKind
from netcarlo.transport.congestion import CONTROLS_OF_LINUX, HAVE_SLOW_START
from netcarlo.transport.messages import Messages
from netcarlo.transport.tcp import Tcp

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
        """See `Capabilities.supports`; only some networks support messages and autotuning."""
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
        if "linux" not in known:
            return super().unknown_to_fluid(known, model)
        supported = (*LINUX_FLUID, *(name for name in LINUX_FLUID_ALONE if name in known))
        if self.kind not in supported:
            names = ", ".join(sender.removeprefix("linux_") for sender in supported)
            return f"{model} supports {names} of linux only, not {self.control}"
        field = next((field for field in OF_HOSTS if self.given(field)), "")
        return f"{model} does not support {field}" if field else ""

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


