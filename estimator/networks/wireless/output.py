"""Output of the 802.11 engine, from which outcomes of flows and nodes are computed."""

from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.layout import ENDLESS, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.wireless.layout import (
    CATEGORIES,
    DELAY_BINS,
    DELAY_LOW,
    CategoryOut,
    Flow,
    FlowOut,
    Function,
    Link,
    NodeOut,
    Radio,
    WifiRows,
)
from netcarlo.networks.completions import ArrivalsOutput
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors


class WifiOutput(ArrivalsOutput):
    """Rows [n] of 802.11 networks and the engine's output for their F flows and N nodes."""

    parts = {FlowOut: "flows", NodeOut: "nodes", ClassOut: "arrivals"}
    rows: WifiRows

    def present(self, columns: type[IntEnum]) -> Bools:
        """Return the mask of the flows of a row [n, F]."""
        assert columns is FlowOut
        return self.there

    # Rows.

    @cached_property
    def flows(self) -> Ints:
        """Flows [n, F, len(Flow)]."""
        most = self.rows.most_flows
        return self.rows.network[:, : most * len(Flow)].reshape(len(self.p), most, len(Flow))

    @cached_property
    def there(self) -> Bools:
        """Mask of the flows of a row [n, F]."""
        return np.arange(self.rows.most_flows) < self.p[:, Radio.FLOWS, None]

    @cached_property
    def slots(self) -> Bools:
        """Mask of slots of arriving flows [n, F]; only their sums are meaningful."""
        return np.asarray(self.flows[:, :, Flow.CLASS] > 0)

    @property
    def tcp(self) -> Bools:
        """Mask of TCP and SCTP flows [n, F], including flows that a row does not have."""
        return np.asarray(self.flows[:, :, Flow.TCP] == 1)

    @property
    def time_ns(self) -> Floats:
        """Time from the end of the warm-up to the end of the run [n] [ns]."""
        return divisors(self.p[:, RowP.END] - self.p[:, Radio.WARM_UP])

    @property
    def window_s(self) -> Floats:
        """Time from the end of the warm-up to the end of the run [n] [s]."""
        return self.time_ns / NS

    @property
    def first_start(self) -> Ints:
        """Earliest start time of a flow [n] [ns]."""
        start = np.where(self.there, self.flows[:, :, Flow.START], self.p[:, RowP.END, None])
        return np.asarray(start.min(axis=1))

    @property
    def ends(self) -> Bools:
        """Mask of flows that are finite or have a stop time [n, F]."""
        stops = self.flows[:, :, Flow.STOP] < self.p[:, RowP.END, None]
        return (self.flows[:, :, Flow.LIMIT] < ENDLESS) | stops

    @cached_property
    def listed(self) -> Bools:
        """Mask of flows that belong to a list of flows [n, F]."""
        return self.there & (self.flows[:, :, Flow.ITEM] > 0)

    @property
    def listed_tcp(self) -> Bools:
        """Mask of TCP flows in a list of flows [n, F]."""
        return self.listed & self.tcp

    @cached_property
    def way(self) -> tuple[Ints, Ints]:
        """First and last node of the route of each flow [n, F]."""
        p, each = self.p, np.arange(len(self.p))[:, None]
        at = np.where(self.there, self.flows[:, :, Flow.FORTH_AT], 0)
        hops = np.where(self.there, self.flows[:, :, Flow.FORTH], 1)

        def node(hop: Ints, column: Link) -> Ints:
            link = self.rows.network[each, p[:, Radio.PATHS_AT, None] + at + hop]
            return np.asarray(self.rows.network[each, p[:, Radio.LINKS_AT, None] + link * len(Link) + column])

        return node(np.zeros_like(hops), Link.FROM), node(hops - 1, Link.TO)

    @property
    def up(self) -> Bools:
        """Mask of flows in a list that end at the gateway [n, F]."""
        return np.asarray(self.listed & (self.way[1] == self.p[:, Radio.NODES, None] - 1))

    @property
    def down(self) -> Bools:
        """Mask of flows in a list that start at the gateway [n, F]."""
        return np.asarray(self.listed & (self.way[0] == self.p[:, Radio.NODES, None] - 1))

    def of_kind(self, number: int) -> Bools:
        """Return the mask of flows in a list with this sender type [n, F], see `kernels.senders`."""
        if number == UDP:
            return self.listed & ~self.tcp
        return np.asarray(self.listed_tcp & ~self.slots & (self.flows[:, :, Flow.KIND] == number))

    # Flows [n, F].

    @cached_property
    def measured(self) -> tuple[Ints, Ints]:
        """Start and end of the measurement of each flow [ns].

        The measurement starts at the start of the flow or the end of the warm-up, whichever is later, and
        ends at the end of the run or at completion; its length is 0 for absent flows.
        """
        completed = self.table(FlowOut)[:, :, FlowOut.COMPLETED]
        begin = np.maximum(self.flows[:, :, Flow.START], self.p[:, Radio.WARM_UP, None])
        end = np.where((completed >= 0) & ~self.slots, completed, self.p[:, RowP.END, None])
        return begin, np.where(self.there, end, begin)

    @cached_property
    def active_s(self) -> Floats:
        """Duration of the measurement of each flow [s]; NaN for flows that are not measured."""
        begin, end = self.measured
        return divisors(end - begin) / NS

    @cached_property
    def part(self) -> Floats:
        """Share of the overall measurement time in which each flow is measured.

        Multiplied by their shares, rates of flows that are active one after the other add up correctly. The
        share is exactly 1 if all flows are measured for the same time.
        """
        begin, end = self.measured
        there, most = end > begin, np.iinfo(np.int64).max
        first = np.where(there, begin, most).min(axis=1, initial=most)
        last = np.where(there, end, 0).max(axis=1, initial=0)
        return np.asarray((end - begin) / divisors(last - first)[:, None])

    @cached_property
    def arrived(self) -> Ints:
        """Number of packets that arrived: of TCP in order, of UDP distinct ones."""
        out = self.table(FlowOut)
        return np.where(self.tcp, out[:, :, FlowOut.IN_ORDER], out[:, :, FlowOut.DELIVERED])

    @cached_property
    def short_bits(self) -> Floats:
        """Payload by which the last packet is short [bit]; 0 if it did not arrive after the warm-up.

        That of arriving flows is known by class; slots have parts of it in proportion to their packets.
        """
        counts = self.table(FlowOut)[:, :, FlowOut.COMPLETED] >= self.p[:, Radio.WARM_UP, None]
        found = np.where(counts, 8.0 * self.flows[:, :, Flow.SHORT], 0.0)
        if self.slots.any():
            short = self.table(ClassOut)[:, :, ClassOut.SHORT]
            for number in range(1, short.shape[1] + 1):
                packets = np.where(self.flows[:, :, Flow.CLASS] == number, self.arrived, 0)
                share = packets / divisors(packets.sum(axis=1))[:, None]
                found += np.nan_to_num(8.0 * short[:, number - 1, None] * share)
        return found

    @property
    def carried_bits(self) -> Floats:
        """Payload of arriving flows delivered after the warm-up [n] [bit]."""
        bits = self.arrived * self.flows[:, :, Flow.SIZE] * 8.0 - self.short_bits
        return np.asarray(np.where(self.slots, bits, 0.0).sum(axis=1))

    @cached_property
    def goodput(self) -> Floats:
        """Goodput [bit/s]; 0 for an absent flow, NaN for a flow that ended before the measurement."""
        bits = self.arrived * self.flows[:, :, Flow.SIZE] * 8.0 - self.short_bits
        return np.where(self.there, bits / self.active_s, 0.0)

    @property
    def throughput(self) -> Floats:
        """Throughput, headers included [bit/s]; 0 for an absent flow, NaN for a flow that is not measured."""
        size = self.flows[:, :, Flow.SIZE] + self.flows[:, :, Flow.HEADER]
        wire = self.table(FlowOut)[:, :, FlowOut.RECEIVED] * size * 8.0 - self.short_bits
        return np.where(self.there, wire / self.active_s, 0.0)

    def counted(self, where: Bools) -> Bools:
        """Return the mask of these flows that were measured."""
        return where & ~np.isnan(self.goodput)

    def total(self, where: Bools) -> Floats:
        """Return the total goodput of these flows [n]; NaN if there are none."""
        return _sum(self.goodput * self.part, self.counted(where))

    def least(self, where: Bools) -> Floats:
        """Return the minimum goodput of these flows [n], without slots; NaN if there are none."""
        return least(self.goodput, self.counted(where & ~self.slots))

    def most(self, where: Bools) -> Floats:
        """Return the maximum goodput of these flows [n], without slots; NaN if there are none."""
        return -least(-self.goodput, self.counted(where & ~self.slots))

    def mean(self, where: Bools) -> Floats:
        """Return the mean goodput of these flows [n], without slots; NaN if there are none."""
        counted = self.counted(where & ~self.slots)
        return _sum(self.goodput, counted) / divisors(counted.sum(axis=1))

    def all_done(self, times: Ints) -> Floats:
        """Return the time [n] from the first start to the last of the times [n, F]; NaN if one is missing."""
        done = (~self.there | (times >= 0)).all(axis=1)
        return np.where(done, (times.max(axis=1, initial=-1) - self.first_start) / NS, np.nan)

    @property
    def gateway(self) -> Ints:
        """Number of the gateway [n]."""
        return np.asarray(self.p[:, Radio.NODES] - 1)

    @cached_property
    def categories(self) -> Ints:
        """Outcomes of the access categories of the nodes [n, N, CATEGORIES, CategoryOut.COLUMNS], 0 without
        EDCA."""
        found = self.table(NodeOut)[:, :, NodeOut.COLUMNS :]
        if not self.has_edca().any():
            found = np.zeros((*found.shape[:2], CATEGORIES * CategoryOut.COLUMNS), np.int64)
        return found.reshape(*found.shape[:2], CATEGORIES, CategoryOut.COLUMNS)

    @cached_property
    def station(self) -> Ints:
        """Station of each flow [n, F]: its first node, or its last one if the first is the gateway."""
        first, last = self.way
        return np.where(first == self.gateway[:, None], last, first)

    @cached_property
    def station_air(self) -> Floats:
        """Share of the time that PPDUs with data from and to each node take [n, N]."""
        sent = self.table(NodeOut)[:, :, NodeOut.AIR_DATA]
        received = self.categories[:, :, :, CategoryOut.AIR_TO].sum(axis=2)
        return np.asarray((sent + received) / self.time_ns[:, None])

    # Conditions [n].

    def has_edca(self) -> Bools:
        """Return True where nodes use EDCA."""
        return np.asarray(self.p[:, Radio.FUNCTIONS] > 0)

    def has_category(self, category: int) -> Bools:
        """Return True where a node has an access category."""
        most = int(self.p[:, Radio.FUNCTIONS].max(initial=0))
        there = np.arange(most) < self.p[:, Radio.FUNCTIONS, None]
        at = self.p[:, Radio.FUNCTIONS_AT, None] + np.arange(most) * len(Function) + Function.CATEGORY
        row = np.arange(len(self.p))[:, None]
        return np.asarray((there & (self.rows.network[row, np.where(there, at, 0)] == category)).any(axis=1))

    def all_end(self) -> Bools:
        """Return True where all flows are finite or have a stop time."""
        return np.asarray((~self.there | self.ends).all(axis=1))

    def all_finite(self) -> Bools:
        """Return True where all flows are finite."""
        return np.asarray((~self.there | (self.flows[:, :, Flow.LIMIT] < ENDLESS)).all(axis=1))

    def has_udp(self) -> Bools:
        """Return True where there is a UDP flow."""
        return np.asarray((self.there & ~self.tcp).any(axis=1))

    def has_listed_tcp(self) -> Bools:
        """Return True where there is a TCP flow in a list of flows."""
        return np.asarray(self.listed_tcp.any(axis=1))

    def has_lasting_tcp(self) -> Bools:
        """Return True where there is a TCP flow in a list of flows that does not arrive and depart."""
        return np.asarray((self.listed_tcp & ~self.slots).any(axis=1))

    def has_arrivals(self) -> Bools:
        """Return True where there are arriving flows."""
        return self.p[:, Radio.ARRIVAL_CLASSES] > 0

    def has_intervals(self) -> Bools:
        """Return True where packets are counted by interval."""
        return self.p[:, Radio.BIN] > 0


def quantile_s(flows: Ints, share: float) -> Floats:
    """Return a quantile of the delays of flows [n, F, FlowOut.COLUMNS] together [n] [s].

    It is interpolated inside the bins of the histogram.
    """
    counts = flows[:, :, FlowOut.DELAYS : FlowOut.DELAYS + DELAY_BINS].sum(axis=1)
    edge = 2.0 ** (DELAY_LOW + np.arange(DELAY_BINS + 1) // 4) * (1 + np.arange(DELAY_BINS + 1) % 4 / 4)
    below = np.cumsum(counts, axis=1)
    n, rows = below[:, -1], np.arange(len(counts))
    wanted = share * n
    k = np.argmax(below >= wanted[:, None], axis=1)
    here = counts[rows, k]
    part = (wanted - (below[rows, k] - here)) / np.maximum(here, 1)
    return np.where(n > 0, (edge[k] + part * (edge[k + 1] - edge[k])) / NS, np.nan)


def least(values: Any, where: Bools) -> Floats:
    """Return the minimum of the values [n, F] selected by `where`; NaN if there are none."""
    found = np.where(where, values, np.inf).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(found), found, np.nan)


def _sum(values: Floats, where: Bools) -> Floats:
    """Return the sum of the values [n, F] selected by `where`; NaN if there are none."""
    return np.where(where.any(axis=1), np.where(where, values, 0.0).sum(axis=1), np.nan)
