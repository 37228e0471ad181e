"""Arriving flows: flows that start and end during a run, as users write them and as columns of the engine."""

from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.senders import LINUX, VEGAS
from netcarlo.kernels.shared.layout import NOWHERE, Flow, Link, SharedRows, routes_of
from netcarlo.networks.traffic import mean
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import points, units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.record import Record

if TYPE_CHECKING:
    from netcarlo.networks.shared.description import Flows

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


def files(flows: "Flows", duration: float) -> float:
    """Return the approximate maximum number of flows of a class that arrive in `duration` [s]."""
    assert flows.arrivals is not None
    if flows.arrivals.poisson is not None:
        return mean(flows.arrivals.poisson) * duration
    assert flows.arrivals.think is not None
    return mean(flows.count) * duration / mean(flows.arrivals.think)


def fill(flows: Ints, draws: Draws, classes: "list[tuple[str, Flows]]") -> Floats:
    """Fill in the columns of the slots of classes [n, F, Flow.COLUMNS]; returns the constants [n, C]."""
    parts: list[Floats] = [np.zeros((len(flows), 0))]
    at = 0
    for number, (name, item) in enumerate(classes, 1):
        slots = flows[:, :, Flow.CLASS] == number
        way, name = item.arrivals, f"shared.{name}"
        assert way is not None and item.size is not None
        gap = np.zeros(len(flows), np.int64)
        first = slots & (slots.cumsum(axis=1) == 1)
        sources = np.where(first, slots.sum(axis=1)[:, None], 0)
        of = [("size", item.size, 1.0)]
        if way.poisson is not None:
            gap = np.rint(NS / draws.floats(f"{name}.arrivals.poisson", way.poisson)).astype(np.int64)
        else:
            sources = slots.astype(np.int64)
            of.append(("arrivals.think", way.think, NS))  # type: ignore[arg-type]
        for column, values in (Flow.SLOTS, sources), (Flow.GAP, np.broadcast_to(gap[:, None], slots.shape)):
            flows[:, :, column] = np.where(slots, values, flows[:, :, column])
        for (field, value, factor), column in zip(of, (Flow.SIZES, Flow.THINKS), strict=False):
            flows[:, :, column] = np.where(slots, at, flows[:, :, column])
            parts.append(points.points(f"{name}.{field}", value, factor, draws))
            at += parts[-1].shape[1]
        flows[slots, RowP.LIMIT] = np.int64(1) << 62
    return np.concatenate(parts, axis=1)


def fill_ideal_times(rows: SharedRows) -> None:
    """Fill in the time of an ideal transfer without competition and queueing, for the slots of classes.

    A handshake, if there is one, takes one round trip of its packets. The first data packet takes its one-way
    delay, and each further one its transmission time on the slowest link or cable of the route.
    """
    flows = rows.flows
    if not (flows[:, :, Flow.CLASS] > 0).any():
        return
    for k in range(flows.shape[1]):
        flow = flows[:, k]
        data = flow[:, RowP.DATA] + flow[:, RowP.HEADER]
        times, delay = _wire_times(rows, flow, data, (Flow.ACCESS, Flow.SINK))
        connects = (flow[:, TcpP.HANDSHAKE] > 0) & (flow[:, Flow.KIND] != VEGAS)
        reply = np.where(np.isin(flow[:, Flow.KIND], LINUX), flow[:, TcpP.HANDSHAKE], flow[:, ReliableP.ACK])
        forth, _ = _wire_times(rows, flow, flow[:, TcpP.HANDSHAKE], (Flow.ACCESS, Flow.SINK))
        ends = Flow.SINK_BACK, Flow.ACCESS_BACK
        back, delay_back = _wire_times(rows, flow, reply, ends, back=True)
        handshake = np.where(connects, forth.sum(axis=1) + delay + back.sum(axis=1) + delay_back, 0)
        slots = flow[:, Flow.CLASS] > 0
        flow[slots, Flow.LATENCY] = np.maximum(handshake + times.sum(axis=1) + delay, 1)[slots]
        flow[slots, Flow.PACKET_TIME] = times.max(axis=1)[slots]


def _wire_times(
    rows: SharedRows, flow: Ints, size: Ints, ends: tuple[int, int], *, back: bool = False
) -> tuple[Ints, Ints]:
    """Return the transmission times [n, H + 2] of a packet of `size` [n] on a route of up to H links, and its
    total delay [n].

    `ends` are the columns of the access cables of the two hosts; `back` selects the route of the
    acknowledgements.
    """
    route = routes_of(flow, back=back)
    each = np.arange(len(route))[:, None]
    links, there = rows.links[each, np.maximum(route, 0)], route != NOWHERE
    times = np.where(there, on_wire(size[:, None], links[:, :, Link.BYTE_TIME]), 0)
    cables: list[Any] = [on_wire(size, flow[:, column])[:, None] for column in ends]
    delay = np.where(there, links[:, :, Link.DELAY], 0).sum(axis=1)
    hosts = flow[:, Flow.SOURCE_DELAY] + flow[:, Flow.SINK_DELAY]
    return np.concatenate([times, *cables], axis=1), np.asarray(delay + hosts)
