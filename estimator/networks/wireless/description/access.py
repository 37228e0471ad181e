"""Medium access of an 802.11 network: timing, contention window, attempts, RTS and bursts."""

import math
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import Radio
from netcarlo.networks.radio import Frames, Slots, Times
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.description import standards
from netcarlo.networks.wireless.phy.tables import STANDARDS
from netcarlo.schema import units
from netcarlo.schema.quantity import Interval, Number, Quantity, Size, bounds
from netcarlo.schema.record import Record

PhyRate = Annotated[float, Quantity(units.RATE, 1e6, 54e6, random=False)]
Threshold = Annotated[Number, Quantity(units.SIZE, 0, 65535, whole=True, unlimited=True)]


class Access(Record):
    """Fields of medium access."""

    standard: Literal[("802.11a", "802.11b", "802.11g", *STANDARDS)] = "802.11g"  # type: ignore[valid-type]
    """Standard that defines timing and rates. Stations of 802.11n, ac, ax and be use EDCA and aggregation."""
    slot: Interval
    """Duration of a backoff slot. Default: that of the standard."""
    sifs: Interval
    """Short interframe space (SIFS). Default: that of the standard, and of the `band`."""
    eifs: Interval | None = None
    """Extended interframe space (EIFS) after a frame that could not be decoded. Default: SIFS, DIFS and an
    ACK at the lowest rate."""
    cw_min: Slots
    """Contention window of the first attempt [slots]. Default: that of the standard."""
    cw_max: Slots = 1023.0
    """Maximum contention window [slots]."""
    short_retry: Times = 7.0
    """Maximum number of attempts of a frame without RTS, and of an RTS."""
    long_retry: Times = 7.0
    """Maximum number of attempts of a frame after an RTS."""
    preamble: Literal["long", "short"] = "long"
    """Preamble of the rates 2, 5.5 and 11 Mbit/s."""
    protection: PhyRate | None = None
    """Rate of a CTS-to-self frame before OFDM frames. Default: no protection."""
    rts_threshold: Threshold = math.inf
    """Frame size above which an RTS is sent first."""
    burst: Times = 1.0
    """Number of data frames per channel access."""
    gateway_burst: Times | None = None
    """Number of data frames per channel access of the gateway. Default: `burst`."""
    mac_overhead: Size = 36.0
    """Size of LLC, MAC header and FCS. With 802.11n and later the default is 38 B."""
    queue: Frames = 50.0
    """Queue limit of each node. With 802.11n and later it applies to each access category, and the default is
    500 packets."""
    back_pressure: bool = False
    """True if a full queue pauses the TCP or SCTP sender on the same node instead of dropping packets."""

    fills: ClassVar = {
        "slot": (Radio.SLOT, NS),
        "sifs": (Radio.SIFS, NS),
        "cw_min": (Radio.CW_MIN, 1),
        "cw_max": (Radio.CW_MAX, 1),
        "short_retry": (Radio.SHORT_RETRY, 1),
        "long_retry": (Radio.LONG_RETRY, 1),
        "burst": (Radio.BURST, 1),
        "mac_overhead": (Radio.MAC_OVERHEAD, 1),
    }

    implied: ClassVar = frozenset(dot11.DEFAULTS["802.11g"])

    @model_validator(mode="before")
    @classmethod
    def _follow_standard(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {**standards.defaults(data), **data}
        return data

    @model_validator(mode="after")
    def _has_windows(self) -> Self:
        if bounds(self.cw_min)[1] > bounds(self.cw_max)[0]:
            raise InputError("cw_min can be above cw_max; lower cw_min or raise cw_max")
        return self

    @property
    def has_edca(self) -> bool:
        """True for 802.11n, ac, ax and be, whose stations use EDCA and aggregation."""
        return standards.is_new(self.standard)
