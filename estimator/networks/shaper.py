"""Shaper of a link, as users write it: the token bucket of `tbf` of Linux."""

from typing import Annotated, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number, Quantity, bounds
from netcarlo.schema.record import Record

BucketRate = Annotated[Number, Quantity(units.RATE, 100.0, 1e12)]
Bucket = Annotated[Number, Quantity(units.SIZE, 1.0, 1e9)]


class Shaper(Record):
    """Shaper of data: a packet leaves the queue of the link when a token bucket has its tokens.

    It is `tbf` of Linux. The queue of the shaper is that of the link. Bursts leave at the rate of the link,
    or at `peak_rate`.
    """

    rate: BucketRate
    """Rate at which tokens arrive."""
    burst: Bucket
    """Size of the token bucket. Packets that do not fit into it are dropped."""
    peak_rate: BucketRate | None = None
    """Highest rate of a burst. Default: that of the link."""
    mtu: Bucket = 1600.0
    """Size of the bucket of the peak rate: one packet with its framing, or more."""

    @model_validator(mode="after")
    def _is_a_burst(self) -> Self:
        if self.peak_rate is not None and bounds(self.peak_rate)[0] <= bounds(self.rate)[1]:
            raise InputError("peak_rate can be at or below rate; raise it, or remove it")
        if self.peak_rate is not None and bounds(self.mtu)[1] > bounds(self.burst)[0]:
            raise InputError("mtu can be above burst; raise burst, or lower mtu")
        return self


def columns(of: Shaper | None, name: str, draws: Draws) -> Ints:
    """Return byte time [as `Hop.BYTE_TIME`] and burst [ns] of a shaper, and those of its peak rate, for the
    rows [n, 4]."""
    found = np.zeros((len(draws.replications), 4), np.int64)
    if of is not None:
        found[:, :2] = _bucket(draws.floats(f"{name}.rate", of.rate), draws.floats(f"{name}.burst", of.burst))
        if of.peak_rate is not None:
            rate, mtu = draws.floats(f"{name}.peak_rate", of.peak_rate), draws.floats(f"{name}.mtu", of.mtu)
            found[:, 2:] = _bucket(rate, mtu)
    return found


def _bucket(rate: Floats, size: Floats) -> Ints:
    """Return byte time and burst [ns] of a bucket [n, 2], rounded as the cost of a packet in the kernels."""
    byte_time = np.rint(8e9 * 2**BYTE_TIME_BITS / rate)
    burst = np.floor(size * byte_time / 2**BYTE_TIME_BITS + 0.5)
    return np.stack([byte_time, burst], axis=1).astype(np.int64)
