"""Active queue management of links, as users write it: RED, CoDel, PIE, FQ-CoDel."""

import re
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS
from netcarlo.kernels.shared.layout import (
    CODEL,
    DROP_TAIL,
    FQ_CODEL,
    NO_AQM,
    PIE,
    RED_DROPS,
    RED_MARKS,
    Link,
)
from netcarlo.numerics.arrays import Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number, Payload, Probability, Quantity, bounds
from netcarlo.schema.record import Record

Span = Annotated[Number, Quantity(units.TIME, 1e-6, 3.0)]
"""Time whose square in nanoseconds fits a 64-bit word."""
Burst = Annotated[Number, Quantity(units.TIME, 0.0, 60.0)]
Level = Annotated[Number, Quantity(units.PACKETS, 0, 65536)]
Exponent = Annotated[Number, Quantity(units.PLAIN, 0, 30, whole=True)]
Gain = Annotated[Number, Quantity(units.PLAIN, 1e-3, 10.0)]

LIMITS = {"codel": 1000, "pie": 1000, "fq_codel": 10240}
"""Default queue limits [packets]: RFC 8290 for FQ-CoDel, Linux for the others."""
FLUID = "codel", "fq_codel"
"""Algorithms other than RED that the fluid model of shared links has."""
_SPELLINGS = {name.replace("_", ""): name for name in LIMITS}

_GAIN = 2.0**48 / NS  # [1/s] to [2**-48 / ns]


class Red(Record):
    """Random early detection (RED): packets are dropped or marked as the mean queue grows (Floyd, Jacobson
    1993).

    From `least` to `most` the probability rises to `probability`; with `gentle` it then rises to 1 at twice
    `most`. The mean is an exponential average of the queue with weight 2**-`weight`; during idle time the
    queue is averaged as for arrivals of size `packet`. With `mark`, data packets of flows with `ecn` are
    marked instead of dropped.
    """

    least: Level = 5.0
    """Mean queue above which packets are dropped or marked."""
    most: Level = 15.0
    """Mean queue at which the probability reaches `probability`."""
    probability: Probability = 0.1
    """Probability of a drop or mark at a mean queue of `most`."""
    weight: Exponent = 9.0
    """Exponent of the weight of a sample in the mean queue: 2<sup>-weight</sup>."""
    gentle: bool = True
    """True if the probability rises further to 1 at twice `most`; otherwise all packets above `most` are
    dropped."""
    packet: Payload = 500.0
    """Packet size with which idle time is averaged."""
    mark: bool = False
    """True if data of flows with `ecn` are marked instead of dropped."""

    fills: ClassVar = {
        "least": (Link.RED_MIN_TH, 1),
        "most": (Link.RED_MAX_TH, 1),
        "probability": (Link.RED_MAX_P, 2.0**16),
        "weight": (Link.RED_WEIGHT, 1),
    }

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.least)[1] >= bounds(self.most)[0]:
            raise InputError("least can be at or above most; lower least or raise most")
        return self


class CoDel(Record):
    """CoDel (RFC 8289): drops at the head when packets have waited longer than `target` for an `interval`.

    It does not drop while at most `mtu` bytes wait. With `mark`, data of flows with `ecn` are marked instead
    of dropped.
    """

    target: Span = 0.005
    """Target queueing delay; packets are dropped if it is exceeded for a whole `interval`."""
    interval: Span = 0.1
    """Time for which the queueing delay must exceed `target` before the first drop."""
    mtu: Payload = 1500.0
    """Number of waiting bytes up to which nothing is dropped."""
    mark: bool = False
    """True if data of flows with `ecn` are marked instead of dropped."""

    number: ClassVar = CODEL
    fills: ClassVar = {
        "target": (Link.AQM_TARGET, NS),
        "interval": (Link.AQM_INTERVAL, NS),
        "mtu": (Link.AQM_MTU, 1),
    }


class FqCoDel(CoDel):
    """FQ-CoDel (RFC 8290): a CoDel queue per flow, served in rounds of `quantum` bytes, new flows first."""

    quantum: Payload = 1514.0
    """Number of bytes of a flow that are served in a round."""
    mark: bool = True
    """True if data of flows with `ecn` are marked instead of dropped."""

    number: ClassVar = FQ_CODEL
    fills: ClassVar = {**CoDel.fills, "quantum": (Link.FQ_QUANTUM, 1)}


class Pie(Record):
    """PIE (RFC 8033): drops at the tail with a probability that controls the queueing delay to `target`.

    In each `update` interval the probability changes by `alpha` times the deviation of the delay from the
    target, plus `beta` times the change of the delay [1/s]. A `burst` passes without drops, and so do packets
    while at most twice `mtu` bytes wait. With `mark`, data of flows with `ecn` are marked while the
    probability is below 0.1.
    """

    target: Span = 0.015
    """Target queueing delay."""
    update: Span = 0.015
    """Interval between updates of the drop probability."""
    burst: Burst = 0.15
    """Duration of a burst that passes without drops."""
    alpha: Gain = 0.125
    """Change of the probability per second of delay above the target [1/s]."""
    beta: Gain = 1.25
    """Change of the probability per second of growth of the delay [1/s]."""
    mtu: Payload = 1500.0
    """Half the number of waiting bytes up to which nothing is dropped."""
    mark: bool = False
    """True if data of flows with `ecn` are marked instead of dropped, while the probability is below 0.1."""

    number: ClassVar = PIE
    fills: ClassVar = {
        "target": (Link.AQM_TARGET, NS),
        "update": (Link.AQM_INTERVAL, NS),
        "burst": (Link.PIE_BURST, NS),
        "alpha": (Link.PIE_ALPHA, _GAIN),
        "beta": (Link.PIE_BETA, _GAIN),
        "mtu": (Link.AQM_MTU, 1),
    }


class Managed(Record):
    """A queue with optional active queue management; `queue: codel` is short for `codel: {}`, and so on."""

    codel: CoDel | None = None
    """CoDel queue management; `queue: codel` selects its defaults."""
    pie: Pie | None = None
    """PIE queue management; `queue: pie` selects its defaults."""
    fq_codel: FqCoDel | None = None
    """FQ-CoDel queue management; `queue: fq_codel` selects its defaults."""

    words: ClassVar = {"queue": tuple(LIMITS)}

    @model_validator(mode="before")
    @classmethod
    def _write_out(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if isinstance(name := data.get("queue"), str) and name in LIMITS:
            data = {**data, name: data.get(name) or {}}
            del data["queue"]
        elif isinstance(name, str) and (meant := re.sub(r"[\W_]", "", name.lower())) in _SPELLINGS:
            raise InputError(f"queue = '{name}' is unknown; did you mean '{_SPELLINGS[meant]}'?")
        given = [name for name in LIMITS if data.get(name) is not None]
        return {"queue": LIMITS[given[0]], **data} if given else data

    @model_validator(mode="after")
    def _is_managed_once(self) -> Self:
        given = [name for name in ("red", *LIMITS) if getattr(self, name, None) is not None]
        if len(given) > 1:
            raise InputError(f"{given[0]} and {given[1]} are both given; keep one")
        return self

    @property
    def aqm(self) -> str:
        """Name of the AQM algorithm other than RED; empty if there is none."""
        return next((name for name in LIMITS if getattr(self, name) is not None), "")

    @property
    def decides(self) -> bool:
        """True if it configures queue management."""
        return bool(self.aqm) or getattr(self, "red", None) is not None


def fill(table: Ints, managed: Managed, name: str, draws: Draws) -> None:
    """Fill in the queue management of a link [n, Link.COLUMNS]; `name` is the field of `managed`.

    The column `Link.BYTE_TIME` must be set.
    """
    table[:, Link.RED], table[:, Link.AQM] = DROP_TAIL, NO_AQM
    red = getattr(managed, "red", None)
    if red is not None:
        _red(table, red, f"{name}.red", draws)
    if managed.aqm:
        record = getattr(managed, managed.aqm)
        table[:, Link.AQM] = record.number
        table[:, Link.AQM_MARKS] = int(record.mark)
        draws.fill(table, record, f"{name}.{managed.aqm}")


def _red(table: Ints, red: Red, name: str, draws: Draws) -> None:
    byte_time = table[:, Link.BYTE_TIME] / 2**BYTE_TIME_BITS
    packet = draws.whole(f"{name}.packet", red.packet)
    table[:, Link.RED] = RED_MARKS if red.mark else RED_DROPS
    draws.fill(table, red, name)
    table[:, Link.RED_PACKET_TIME] = np.maximum(np.rint(packet * byte_time), 1)
    table[:, Link.RED_GENTLE] = int(red.gentle)
