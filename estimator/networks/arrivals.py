"""Arriving flows: flows that start and end during a run, as users write them and as columns of slots."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.arrivals import Source
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.layout import NS
from netcarlo.networks.flows import Flows
from netcarlo.networks.traffic import mean
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import points, units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import FileSize, Number, Quantity
from netcarlo.schema.record import Record

PerSecond = Annotated[Number, Quantity(units.FREQUENCY, 1e-4, 1e6)]
Think = Annotated[Number, Quantity(units.TIME, 1e-3, 3600.0)]

WORDS = ClassOut.COLUMNS + 2 * points.WORDS
"""Approximate number of words for the outcomes of a class and its distributions."""


class Arrivals(Record):
    """Arrival process of flows: `poisson` with this rate, or users who `think` between downloads.

    A Poisson arrival takes the first free slot, and is blocked if there is none. There are as many users as
    slots; each waits for a random think time, downloads a flow, and repeats this when all of it has arrived.
    """

    poisson: PerSecond | None = None
    """Rate of a Poisson process of arrivals; this or `think`."""
    think: Think | None = None
    """Think time of a user between two downloads; this or `poisson`."""

    @model_validator(mode="after")
    def _come_somehow(self) -> Self:
        if (self.poisson is None) == (self.think is None):
            found = "both missing" if self.poisson is None else "both given"
            example = "poisson: 20 /s" if self.poisson is None else "think: {exponential: {mean: 5 s}}"
            raise InputError(f"poisson and think are {found}; write one of them, such as {example}")
        return self


class ArrivingFlows(Flows):
    """Several flows, which may arrive and end during a run."""

    arrivals: Arrivals | None = None
    """Arrival process of flows. Default: all flows last from their start time to the end."""
    size: FileSize | None = None
    """Size of each arriving flow, usually random."""

    not_of_arrivals: ClassVar[Sequence[str]] = ("bytes", "packets", "udp")
    """Fields of a flow that cannot be combined with `arrivals`."""

    @property
    def offered_bps(self) -> float | None:
        """Mean payload rate of Poisson arrivals [bit/s]; None for other flows."""
        if self.arrivals is None or self.arrivals.poisson is None or self.size is None:
            return None
        return 8 * mean(self.size) * mean(self.arrivals.poisson)

    @model_validator(mode="after")
    def _come_with_sizes(self) -> Self:
        if self.arrivals is None and self.size is None:
            return self
        if self.arrivals is None:
            raise InputError("size needs arrivals; add arrivals, or write each.bytes")
        if self.size is None:
            raise InputError(
                "arrivals need a size; add one such as size: {lognormal: {median: 20 kB, sigma: 1.5}}"
            )
        for flow in self.each if isinstance(self.each, list) else [self.each]:
            for name in self.not_of_arrivals:
                if getattr(flow, name):
                    remedy = "write each.protocol" if name == "udp" else "remove it"
                    raise InputError(f"arrivals and each.{name} are both given; {remedy}")
        return self


Classes = list[tuple[str, ArrivingFlows]]
"""Items with arriving flows, by the full name of their field."""


def arriving(key: str, flows: Any) -> Classes:
    """Return the items of a list of flows of the network `key` that have arrivals."""
    several = [(f"{key}.flows.{g}", item) for g, item in enumerate(flows) if isinstance(item, ArrivingFlows)]
    return [(name, item) for name, item in several if item.arrivals is not None]


def files(flows: ArrivingFlows, duration: float) -> float:
    """Return the approximate maximum number of flows of a class that arrive in `duration` [s]."""
    assert flows.arrivals is not None
    if flows.arrivals.poisson is not None:
        return mean(flows.arrivals.poisson) * duration
    assert flows.arrivals.think is not None
    return mean(flows.count) * duration / mean(flows.arrivals.think)


def fill(
    flows: Ints, at: int, draws: Draws, classes: Classes, *, constants: Floats, places: Ints | None = None
) -> Floats:  # fmt: skip
    """Fill in the columns of sources [n, F, ...] from column `at` on, in slots with a class; returns the
    constants [n, C], behind those given.

    Slots of a class at different `places` [n, F] have Poisson sources of their own with equal rates.
    """
    every = {column: flows[:, :, at + column] for column in Source}
    begin = constants.shape[1]
    parts = [constants]
    for number, (name, item) in enumerate(classes, 1):
        slots = every[Source.CLASS] == number
        way = item.arrivals
        assert way is not None and item.size is not None
        gap = np.zeros(len(flows))
        of = [("size", item.size, 1.0)]
        if way.poisson is not None:
            first = _first_slots(slots, places)
            sources = np.where(first, _lengths(slots, first), 0)
            gap = first.sum(axis=1) * NS / draws.floats(f"{name}.arrivals.poisson", way.poisson)
        else:
            sources = slots.astype(np.int64)
            of.append(("arrivals.think", way.think, NS))  # type: ignore[arg-type]
        every[Source.SLOTS][slots] = sources[slots]
        every[Source.GAP][slots] = np.broadcast_to(np.rint(gap)[:, None], slots.shape)[slots]
        for (field, value, factor), column in zip(of, (Source.SIZES, Source.THINKS), strict=False):
            every[column][slots] = begin
            parts.append(points.points(f"{name}.{field}", value, factor, draws))
            begin += parts[-1].shape[1]
    return np.concatenate(parts, axis=1)


def _first_slots(slots: Any, places: Ints | None) -> Any:
    """Return the mask of the first slot of each source, of slots [n, F] at these places."""
    first = slots & (slots.cumsum(axis=1) == 1)
    if places is not None:
        first[:, 1:] |= slots[:, 1:] & (places[:, 1:] != places[:, :-1])
    return first


def _lengths(slots: Any, first: Any) -> Ints:
    """Return the number of slots from each first one [n, F] to the next, which are contiguous."""
    n, most = slots.shape
    ends = np.where(first | ~slots, np.arange(most), most)
    following = np.minimum.accumulate(np.concatenate([ends, np.full((n, 1), most)], axis=1)[:, ::-1], axis=1)
    return np.asarray(following[:, ::-1][:, 1:] - np.arange(most))
