"""Flows that arrive and depart: sources, slots, and counters of classes."""

from bisect import bisect_right
from collections.abc import Iterator
from copy import copy
from fractions import Fraction
from itertools import count, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.arrivals import STREAM_ARRIVAL, STREAM_SIZE
from netcarlo.kernels.base.classes import SizeOut
from netcarlo.kernels.base.layout import FOREVER, NEVER, Out
from netcarlo.kernels.shared.layout import FlowOut
from tests.twins.random_numbers import Streams
from tests.twins.shared.clock import Phase
from tests.twins.shared.links import transmission_time

if TYPE_CHECKING:
    from tests.twins.shared.flows import Flow
    from tests.twins.shared.world import World


def edges(length: int) -> list[int]:
    """Return the smallest number in each bin of a histogram: 64 bins of one number, then 32 per octave."""
    found, first = list(range(64)), 64
    while len(found) < length:
        found += range(first, 2 * first, first // 32)
        first *= 2
    return found[:length]


EDGES_OF_TIMES = edges(SizeOut.SLOWDOWNS - SizeOut.TIMES)
EDGES_OF_SLOWDOWNS = edges(SizeOut.COLUMNS - SizeOut.SLOWDOWNS)


def value_at(word: int, points: list[tuple[int, int]]) -> int:
    """Return the inverse of a distribution function at `word` / 2**32.

    `points` are (probability * 2**32, value)."""
    (p, a), (q, b) = next((left, right) for left, right in pairwise(points) if left[0] <= word < right[0])
    share = Fraction(floor(Fraction(word - p, q - p) * 2**20), 2**20)
    return floor(a + (b - a) * share)


class Slot:
    """Slot: one of the flows of a row, which carries arriving flows one after the other."""

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        self.world, self.number, self.columns = world, number, columns
        self.flows: list[Flow] = [self._flow(START=FOREVER)]  # the first one never starts
        self.active_before = False
        self.class_: Class
        self.source: Source

    def _flow(self, **columns: int) -> "Flow":
        own = copy(self.columns)
        for name, value in columns.items():
            setattr(own, name, value)
        return self.world.flow(self.number, own)

    @property
    def _payload(self) -> int:
        """Payload of a whole packet [byte]."""
        return int(self.columns.DATA)

    def is_free(self) -> bool:
        flow = self.flows[-1]
        return len(self.flows) == 1 or (flow.finished != NEVER and not flow.under_way)

    @property
    def now(self) -> int:
        return self.world.agenda.now

    def begin(self, size: int, think: int) -> None:
        now = self.now
        self.flows[-1].close()
        packets = ceil(size / self._payload)
        flow = self._flow(START=now, LIMIT=packets, SHORT=packets * self._payload - size)
        self.flows.append(flow)
        arrive = flow.arrive

        def arrives(segment: Any) -> None:
            before = flow.outcomes.values[Out.COMPLETED]
            arrive(segment)
            if before == NEVER and flow.outcomes.values[Out.COMPLETED] != NEVER:
                self.class_.arrived(packets, size, began=now, now=self.now, ideal=self._ideal(packets, size))
                if self.columns.GAP == 0:
                    self.source.expect(think)

        self._let_arrive(flow, arrives)

    def _let_arrive(self, flow: Any, arrives: Any) -> None:
        """Replace the function that processes arriving data of a flow."""
        flow.arrive = arrives

    def _ideal(self, packets: int, size: int) -> int:
        """Return the completion time of a transfer without other flows [ns]."""
        return self.columns.LATENCY + (packets - 1) * self.columns.PACKET_TIME - self._saved(packets, size)

    def _saved(self, packets: int, size: int) -> int:
        """Return how much faster than a full packet the last packet of a single flow is transmitted [ns].

        Earlier packets of the flow have passed the links before the slowest one when the last packet is sent.
        """
        c = self.columns
        whole = c.DATA + c.HEADER
        last = size - (packets - 1) * c.DATA + c.HEADER
        way = [c.ACCESS, *(self.world.tables.links[number].BYTE_TIME for number in c.route), c.SINK]
        if packets > 1:
            way = way[way.index(max(way)) :]
        return sum(transmission_time(whole, each) - transmission_time(last, each) for each in way)

    def sample(self) -> None:
        self.flows[-1].sample()

    def warm_up_ends(self) -> None:
        """Start to count at the end of the warm-up."""
        self.active_before = self.is_active()
        for flow in self.flows:
            flow.warm_up_ends()

    def is_active(self) -> bool:
        """Return whether a flow is in progress."""
        return len(self.flows) > 1 and self.flows[-1].outcomes.values[Out.COMPLETED] == NEVER

    def values(self) -> list[int]:
        """Return the columns of `FlowOut`: sums, except the times, which are those of the last flow."""
        each = [flow.values() for flow in self.flows]
        last = FlowOut.COMPLETED, FlowOut.FINISHED
        return [each[-1][c] if c in last else sum(one[c] for one in each) for c in range(FlowOut.COLUMNS)]


class Source:
    """Source of flows that arrive at some slots."""

    def __init__(self, world: "World", slots: list[Slot]) -> None:
        self.world, self.slots, self.number = world, slots, slots[0].number
        self.columns = slots[0].columns
        self.gaps = self._gaps()
        self.numbers = count(1)
        wait = self._gap() if self.columns.GAP > 0 else self._draw(0)[1]
        self._plan(self.columns.START + wait)

    def _gaps(self) -> Iterator[int]:
        gaps = self.world.tables.gaps(STREAM_ARRIVAL + self.number, self.columns.PERIODS)
        assert gaps is not None
        return gaps

    @property
    def now(self) -> int:
        return self.world.agenda.now

    def expect(self, wait: int) -> None:
        self._plan(self.now + wait)

    def _plan(self, time: int) -> None:
        self.world.agenda.plan(time, Phase.ARRIVAL, self.number, self._comes)

    def _gap(self) -> int:
        return (next(self.gaps) + 1) * self.columns.GAP // 1024

    def _draw(self, k: int) -> tuple[int, int]:
        """Return the size of arrival k [byte], and the think time after it [ns]."""
        words = self._streams().block(STREAM_SIZE + self.number, k)
        size = value_at(words[0], self._points(self.columns.SIZES))
        think = 0 if self.columns.GAP > 0 else value_at(words[1], self._points(self.columns.THINKS))
        return max(size, 1), think

    def _streams(self) -> Streams:
        return self.world.tables.streams

    def _points(self, at: int) -> list[tuple[int, int]]:
        constants = self.world.tables.constants
        return [(constants[at + 1 + 2 * k], constants[at + 2 + 2 * k]) for k in range(constants[at])]

    def _comes(self) -> None:
        size, think = self._draw(next(self.numbers))
        free = [slot for slot in self.slots if slot.is_free()]
        self.slots[0].class_.came(size, self.now, blocked=not free)
        if self.columns.GAP > 0:
            self.expect(self._gap())
        elif not free:
            self.expect(think)
        if free:
            free[0].begin(size, think)


class Class:
    """Counters of a class."""

    source = Source

    def __init__(self, world: "World", slots: list[Slot]) -> None:
        self.world = world
        self.warm_up = world.warm_up
        self.slots = slots
        self.counts = dict.fromkeys(("came", "blocked", "completed", "packets", "offered"), 0)
        self.sizes: list[list[tuple[int, int]]] = [[], [], [], []]  # (time, ideal time) [ns] of flows
        for slot in slots:
            slot.class_ = self
        for slot in slots:
            if slot.columns.SLOTS > 0:
                behind = slots.index(slot)
                own = slots[behind : behind + slot.columns.SLOTS]
                source = self.source(world, own)
                for one in own:
                    one.source = source

    def came(self, size: int, now: int, *, blocked: bool) -> None:
        if now >= self.warm_up:
            self.counts["came"] += 1
            self.counts["blocked"] += blocked
            self.counts["offered"] += size

    def arrived(self, packets: int, size: int, *, began: int, now: int, ideal: int) -> None:
        if now >= self.warm_up:
            self.counts["completed"] += 1
            self.counts["packets"] += packets
        if began >= self.warm_up:
            kind = sum(size > limit for limit in (10**4, 10**5, 10**6))
            self.sizes[kind].append((now - began, ideal))

    def _short(self) -> int:
        """Return the sum of the bytes by which last packets of acknowledged flows are shorter than full
        ones.
        """
        flows = (flow for slot in self.slots for flow in slot.flows[1:])
        since = self.warm_up
        return sum(flow.columns.SHORT for flow in flows if flow.finished != NEVER and flow.finished >= since)

    def values(self) -> list[int]:
        """Return the columns of `ClassOut`."""
        active = sum(slot.is_active() for slot in self.slots)
        active_before = sum(slot.active_before for slot in self.slots)
        c = self.counts
        found = [c["came"], c["blocked"], c["completed"], active, c["packets"], c["offered"]]
        found += [active_before, self._short()]
        for flows in self.sizes:
            known = [(t, ideal) for t, ideal in flows if ideal > 0]
            found += [len(flows), sum(t for t, _ in flows), sum(t * 1024 // ideal for t, ideal in known)]
            found += histogram([t // 1024 for t, _ in flows], EDGES_OF_TIMES)
            found += histogram([t * 32 // ideal for t, ideal in known], EDGES_OF_SLOWDOWNS)
        return found


def histogram(values: list[int], edges: list[int]) -> list[int]:
    """Return the number of values in each bin, by the smallest number of the bin."""
    counts = [0] * len(edges)
    for value in values:
        counts[bisect_right(edges, value) - 1] += 1
    return counts


def classes_of(world: "World") -> list[Class]:
    """Return the classes of a row, with their slots in order."""
    slots = [flow for flow in world.flows if isinstance(flow, Slot)]
    most = max((slot.columns.CLASS for slot in slots), default=0)
    return [Class(world, [s for s in slots if k == s.columns.CLASS]) for k in range(1, most + 1)]
