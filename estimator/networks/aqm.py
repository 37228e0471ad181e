"""Active queue management of links, as users write it: RED, CoDel, PIE, FQ-CoDel."""

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
"""Squares of so many nanoseconds fit a word."""
Burst = Annotated[Number, Quantity(units.TIME, 0.0, 60.0)]
Level = Annotated[Number, Quantity(units.PACKETS, 0, 65536)]
Exponent = Annotated[Number, Quantity(units.PLAIN, 0, 30, whole=True)]
Gain = Annotated[Number, Quantity(units.PLAIN, 1e-3, 10.0)]

LIMITS = {"codel": 1000, "pie": 1000, "fq_codel": 10240}
"""Packets that a queue holds, unless `queue` is given: RFC 8290 names one, the others are those of Linux."""

_GAIN = 2.0**48 / NS  # [1/s] to [2**-48 / ns]


class Red(Record):
    """Random early detection: packets are dropped, or marked, as the mean queue grows (Floyd, Jacobson 1993).

    From `least` to `most` the probability rises to `probability`, with `gentle` on to 1 at twice `most`.
    The mean follows the queue with 2**-`weight`; an idle queue counts as arrivals of size `packet`.
    With `mark` data packets of flows with `ecn` are marked instead of dropped.
    """

    least: Level = 5.0
    """Mean queue from which packets are dropped or marked."""
    most: Level = 15.0
    """Mean queue at which `probability` is reached."""
    probability: Probability = 0.1
    """Probability of a drop or mark at a mean queue of `most`."""
    weight: Exponent = 9.0
    """The mean follows the queue with 2<sup>-weight</sup>."""
    gentle: bool = True
    """From `most` on the probability rises on, to 1 at twice `most`; otherwise all is dropped there."""
    packet: Payload = 500.0
    """An idle queue counts as arrivals of packets of this size."""
    mark: bool = False
    """Marks data of flows with `ecn` instead of dropping it."""

    fills: ClassVar = {
        "least": (Link.RED_LEAST, 1),
        "most": (Link.RED_MOST, 1),
        "probability": (Link.RED_PROBABILITY, 2.0**16),
        "weight": (Link.RED_WEIGHT, 1),
    }

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.least)[1] >= bounds(self.most)[0]:
            raise InputError("least can be at or above most; lower least or raise most")
        return self


class CoDel(Record):
    """CoDel (RFC 8289): drops at the head when packets have waited for `target` throughout an `interval`.

    Not while `mtu` bytes or fewer wait.  With `mark` data of flows with `ecn` are marked instead of dropped.
    """

    target: Span = 0.005
    """It drops when packets have waited longer than this throughout an `interval`."""
    interval: Span = 0.1
    """For so long packets must have waited before the first is dropped."""
    mtu: Payload = 1500.0
    """It does not drop while so many bytes or fewer wait."""
    mark: bool = False
    """Marks data of flows with `ecn` instead of dropping it."""

    number: ClassVar = CODEL
    fills: ClassVar = {
        "target": (Link.AQM_TARGET, NS),
        "interval": (Link.AQM_INTERVAL, NS),
        "mtu": (Link.AQM_MTU, 1),
    }


class FqCoDel(CoDel):
    """FQ-CoDel (RFC 8290): CoDel in a queue for each flow, in turns of `quantum` bytes, new ones first."""

    quantum: Payload = 1514.0
    """Bytes of a flow's turn."""
    mark: bool = True
    """Marks data of flows with `ecn` instead of dropping it."""

    number: ClassVar = FQ_CODEL
    fills: ClassVar = {**CoDel.fills, "quantum": (Link.FQ_QUANTUM, 1)}


class Pie(Record):
    """PIE (RFC 8033): drops at the tail with a probability that brings the queue delay to `target`.

    Every `update` it grows by `alpha` times the delay above the target and `beta` times the growth of the
    delay [1/s].  A `burst` is let pass, and twice `mtu` bytes.  With `mark` data of flows with `ecn` are
    marked while the probability is below 0.1.
    """

    target: Span = 0.015
    """The queue delay that it steers to."""
    update: Span = 0.015
    """How often the probability of a drop is changed."""
    burst: Burst = 0.15
    """A burst so long is let pass."""
    alpha: Gain = 0.125
    """The probability grows by so much times the delay above the target [1/s]."""
    beta: Gain = 1.25
    """The probability grows by so much times the growth of the delay [1/s]."""
    mtu: Payload = 1500.0
    """It does not drop while twice so many bytes or fewer wait."""
    mark: bool = False
    """Marks data of flows with `ecn` instead of dropping it, while the probability is below 0.1."""

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
    """A queue that may be managed; `queue: codel` is short for `codel: {}`, and so on."""

    codel: CoDel | None = None
    """Queue management by CoDel; `queue: codel` is short for its defaults."""
    pie: Pie | None = None
    """Queue management by PIE; `queue: pie` is short for its defaults."""
    fq_codel: FqCoDel | None = None
    """A queue with CoDel for each flow; `queue: fq_codel` is short for its defaults."""

    words: ClassVar = {"queue": tuple(LIMITS)}

    @model_validator(mode="before")
    @classmethod
    def _write_out(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if isinstance(name := data.get("queue"), str) and name in LIMITS:
            data = {**data, name: data.get(name) or {}}
            del data["queue"]
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
        """The name of what manages the queue beside RED; or nothing."""
        return next((name for name in LIMITS if getattr(self, name) is not None), "")

    @property
    def decides(self) -> bool:
        """Whether it says how the queue is managed."""
        return bool(self.aqm) or getattr(self, "red", None) is not None


def fill(table: Ints, managed: Managed, name: str, draws: Draws) -> None:
    """Fill in how the queue of a link [n, Link.COLUMNS] is managed; `name` is the field of `managed`.

    Its `Link.BYTE_TIME` is there already.
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
    table[:, Link.RED_PACKET] = np.maximum(np.rint(packet * byte_time), 1)
    table[:, Link.RED_GENTLE] = int(red.gentle)
