"""Enhanced distributed channel access (EDCA) and aggregation of 802.11n, ac, ax and be."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import AIRTIME, FIFO, ROUND_ROBIN, Radio
from netcarlo.networks.aqm import Span
from netcarlo.networks.radio import Frames, Slots
from netcarlo.networks.wireless.phy.tables import BEHAVIOURS, CATEGORIES, tables
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Payload, Quantity, bounds
from netcarlo.schema.record import Record

Ampdu = Annotated[Number, Quantity(units.SIZE, 0, 15_523_200, whole=True)]
Amsdu = Annotated[Number, Quantity(units.SIZE, 0, 11_424, whole=True)]
Opportunity = Annotated[Number, Quantity(units.TIME, 0, 8.16e-3)]
Spaces = Annotated[Number, Quantity(units.PLAIN, 1, 15, whole=True)]

SCHEDULERS = {"fifo": FIFO, "round_robin": ROUND_ROBIN, "airtime": AIRTIME}

NOT_MODELLED = {"ofdma": "OFDMA", "mu_mimo": "MU-MIMO", "mlo": "multi-link operation"}
"""Features of 802.11ac, ax and be that are refused by name."""

AccessCategory = Literal[CATEGORIES]  # type: ignore[valid-type]
Behaviour = Literal[BEHAVIOURS]  # type: ignore[valid-type]


class Aggregation(Record):
    """Aggregation of packets: MSDUs in an A-MSDU, and MPDUs in an A-MPDU (IEEE 802.11-2020, 10.11, 10.12)."""

    ampdu: Ampdu | None = None
    """Maximum size of an A-MPDU; with 0 each PPDU has one MPDU. Default: the maximum of the standard."""
    amsdu: Amsdu = 0.0
    """Maximum size of an A-MSDU; with 0 each MPDU has one packet."""
    block_ack: Literal[64, 256, 1024] | None = None
    """Block Ack window: number of MPDUs from the first that is not acknowledged. Default: 64; 256 with
    802.11ax, 1024 with 802.11be."""


class Category(Record):
    """EDCA parameters of an access category. Defaults: IEEE 802.11-2020, Table 9-155."""

    aifsn: Spaces | None = None
    """Slots of the arbitration interframe space (AIFS) after the SIFS. Default: 2, 2, 3 and 7 for `voice`,
    `video`, `best_effort` and `background`."""
    cw_min: Slots | None = None
    """Contention window of the first attempt [slots]. Default: 3, 7, 15 and 15."""
    cw_max: Slots | None = None
    """Maximum contention window [slots]. Default: 7, 15, 1023 and 1023."""
    txop: Opportunity | None = None
    """Limit of a transmission opportunity (TXOP); with 0 it is one PPDU. Default: 2.08 ms, 4.096 ms, 2.528 ms
    and 2.528 ms."""
    ampdu: Ampdu | None = None
    """Maximum size of an A-MPDU of this category. Default: that of `aggregation`."""
    queue: Frames | None = None
    """Queue limit of this category. Default: `queue` of the network."""

    @model_validator(mode="after")
    def _has_windows(self) -> Self:
        given = self.cw_min is not None and self.cw_max is not None
        if given and bounds(self.cw_min)[1] > bounds(self.cw_max)[0]:  # type: ignore[arg-type]
            raise InputError("cw_min can be above cw_max; lower cw_min or raise cw_max")
        return self


class Edca(Record):
    """EDCA parameters of the access categories."""

    voice: Category = Category()
    """Parameters of voice (AC_VO)."""
    video: Category = Category()
    """Parameters of video (AC_VI)."""
    best_effort: Category = Category()
    """Parameters of best effort (AC_BE), the category of flows without `access`."""
    background: Category = Category()
    """Parameters of background (AC_BK)."""


class AirtimeLimits(Record):
    """Limits of the estimated airtime that leaves FQ-CoDel for the hardware (AQL of Linux)."""

    low: Span = 5e-3
    """Airtime up to which packets for a receiver are released."""
    high: Span = 12e-3
    """Airtime up to which they are released while the node has released less than `total`."""
    total: Span = 24e-3
    """Airtime of all receivers up to which `high` holds."""

    fills: ClassVar = {
        "low": (Radio.AQL_LOW, NS), "high": (Radio.AQL_HIGH, NS), "total": (Radio.AQL_TOTAL, NS),
    }  # fmt: skip


class FairQueues(Record):
    """FQ-CoDel for each receiver and access category, as in mac80211 of Linux: a CoDel queue for each flow.

    Receivers whose rate is below 6.7 Mbit/s times the number of stations are slow.
    """

    target: Span = 20e-3
    """Target queueing delay of CoDel."""
    interval: Span = 0.1
    """Time for which the queueing delay must exceed `target` before the first drop."""
    slow_target: Span = 50e-3
    """`target` of slow receivers."""
    slow_interval: Span = 0.3
    """`interval` of slow receivers."""
    quantum: Payload = 300.0
    """Number of bytes of a flow that are served in a round."""
    limit: Annotated[Number, Quantity(units.PACKETS, 1, 8192)] = 8192.0
    """Queue limit of an access category; with more, the longest queue loses half of its packets, at most
    32."""
    airtime: AirtimeLimits = AirtimeLimits()
    """Limits of the airtime that leaves the queues for the hardware."""
    nodes: Literal["gateway", "all"] = "gateway"
    """Nodes that have these queues."""

    fills: ClassVar = {"quantum": (Radio.FQ_QUANTUM, 1)}


class Aggregating(Record):
    """Fields of EDCA and aggregation."""

    if TYPE_CHECKING:
        standard: Any

    aggregation: Aggregation | None = None
    """Aggregation of packets (802.11n, ac, ax, be). Default: A-MPDUs of the maximum size, and no A-MSDUs."""
    edca: Edca | None = None
    """EDCA parameters of all nodes (802.11n, ac, ax, be). Default: those of the standard."""
    gateway_edca: Edca | None = None
    """EDCA parameters of the gateway that differ from `edca`. Default: none."""
    scheduler: Literal["fifo", "round_robin", "airtime"] | None = None
    """Choice of the receiver that a node serves next (802.11n, ac, ax, be): that of the oldest packet
    (`fifo`), each in turn (`round_robin`), or equal airtime as in Linux (`airtime`). Default: `fifo`."""
    fq_codel: FairQueues | None = None
    """FQ-CoDel in place of `queue` (802.11n, ac, ax, be); `fq_codel: {}` as access points of Linux. Default:
    none."""
    block_ack_request: bool | None = None
    """True if a BlockAckReq follows a BlockAck that is missing, instead of the data (802.11n, ac, ax, be).
    Default: true."""
    behaviour: Behaviour | None = None
    """Departures from the standard: none (`standard`), or those of ns-3 3.37 (`ns3`). Default: `standard`."""

    @model_validator(mode="before")
    @classmethod
    def _is_modelled(cls, data: Any) -> Any:
        names = [name for name in NOT_MODELLED if isinstance(data, dict) and name in data]
        if names:
            why = "is not modelled; remove it"
            raise InputError(*(f"{name} is not supported: {NOT_MODELLED[name]} {why}" for name in names))
        return data

    @property
    def most_ampdu(self) -> int:
        """Maximum size of an A-MPDU of the standard [byte]."""
        return int(tables()["standards"][self.standard]["psdu"])

    @property
    def block_ack_window(self) -> int:
        """Block Ack window [MPDUs]."""
        given = None if self.aggregation is None else self.aggregation.block_ack
        return int(given or tables()["standards"][self.standard]["window"])
