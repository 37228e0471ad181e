"""MPTCP of today's Linux: fields of its subflows and of the connection."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels import space
from netcarlo.kernels.base.parameters import MptcpP
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Payload, Quantity, Size
from netcarlo.transport.capabilities import Capabilities
from netcarlo.transport.classed import delay_field
from netcarlo.transport.congestion import COUPLED, HAVE_SLOW_START
from netcarlo.transport.linux import Linux

CONTROLS = (*(name for name in space.MPTCP if name != space.COUPLED), *COUPLED)
"""Congestion controls of MPTCP."""


class Mptcp(Linux):
    """MPTCP of the current Linux kernel over one to four `paths`: a subflow per path (RFC 8684).

    The first path carries the first subflow; the others join when the first data are acknowledged.
    `window` is the receive window that all share. The kernel's default scheduler assigns data to subflows. A
    path with `backup: true` is used only while no other subflow is active.
    """

    absent: ClassVar = {"ecn": "ECN is not simulated with mptcp; write protocol: newreno"}

    protocol: Literal["mptcp"]  # type: ignore[assignment]
    """MPTCP of the current Linux kernel."""
    rtt: ClassVar[str] = "the smoothed RTT of the first subflow, as for linux"
    congestion_control: Literal[CONTROLS] = "cubic"  # type: ignore[valid-type]
    """Congestion control: CUBIC, Reno or BBR v1 of each subflow by itself, or LIA, OLIA or BALIA, which
    couple the subflows."""
    payload: Payload = 1424.0
    header: Size = 76.0
    ack: Size = 64.0
    handshake: Size = 72.0
    stale_loss_cnt: Annotated[Number, Quantity(units.PLAIN, 0, 254, whole=True)] = 4.0
    """Number of periods of the connection's retransmission timer without an acknowledgement above which a
    subflow is stale: it gets no new data, and others get what it has not delivered
    (net.mptcp.stale_loss_cnt). 0: never."""

    per_mss: Annotated[Number, Quantity(units.SIZE, 256, 65536, whole=True)] = 4352.0
    """Memory that the kernel sets aside in a send buffer for each packet of the window. A kernel with headers
    of few kinds of links and tunnels has 2304 B; for that of a distribution 4352 B follow from its
    sources."""

    window_growth: Annotated[Number, Quantity(units.PACKETS, 0, 1e6, whole=True)] = 0.0
    """Number of data packets of each subflow during which the receive window still grows: the receiver
    acknowledges each of them at once. 0: the window has its full size from the start."""

    controls: ClassVar[tuple[str, ...]] = CONTROLS
    own_association: ClassVar[str] = ""
    queues_measured: ClassVar[bool] = False
    two_paths: ClassVar[bool] = True
    subflows: ClassVar[bool] = True
    not_applicable: ClassVar[tuple[str, ...]] = (
        *Linux.not_applicable, "messages", "idle_restart", "autotuning", "constants",
    )  # fmt: skip

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        **Linux.fills,
        "stale_loss_cnt": (MptcpP.STALE_LOSS_CNT, 1),
        "per_mss": (MptcpP.PER_MSS, 1),
        "window_growth": (MptcpP.WINDOW_GROWTH, 1),
    }

    @property
    def kind(self) -> str:
        """See `Capabilities.kind`."""
        return "mptcp"

    @property
    def control(self) -> str:
        """See `Capabilities.control`."""
        return space.COUPLED if self.congestion_control in COUPLED else super().control

    @property
    def compared_as(self) -> str:
        """See `Capabilities.compared_as`; coupled controls were not compared with a kernel."""
        return f"{self.kind} with {self.congestion_control}" if self.control == space.COUPLED else self.kind

    @property
    def biased_as(self) -> str:
        """See `Capabilities.biased_as`."""
        return f"mptcp_{self.congestion_control}"

    @property
    def only_packets(self) -> str:
        """See `Capabilities.only_packets`."""
        return self.congestion_control if self.control == space.COUPLED else ""

    def unknown_to_fluid(self, known: Sequence[str], model: str = "the fluid model") -> str:
        """See `Capabilities.unknown_to_fluid`; the fluid of coupled controls was measured and left out."""
        if "mptcp" in known and self.only_packets:
            return (
                f"{model} supports reno, cubic and bbr of mptcp only; with coupled controls such as "
                f"{self.only_packets} it would deliver 22 to 25 % more than packets in the median"
            )
        return Capabilities.unknown_to_fluid(self, known, model)

    def unknown_to_formula(self, known: Sequence[str]) -> str:
        """See `Capabilities.unknown_to_formula`."""
        return Capabilities.unknown_to_formula(self, known)

    @model_validator(mode="after")
    def _has_what_linux_has(self) -> Self:
        for name in self.not_applicable:
            if getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True):
                raise InputError(f"{name} does not apply to mptcp; remove it, or write protocol: linux")
        if field := delay_field(self):
            raise InputError(f"{field} does not apply to mptcp; remove it, or write protocol: linux")
        if self.slow_start is not None and self.congestion_control not in HAVE_SLOW_START:
            allowed = " or ".join(HAVE_SLOW_START)
            raise InputError(
                f"slow_start does not apply to {self.congestion_control}; remove it, or write "
                f"congestion_control: {allowed}"
            )
        return self
