"""Output of the engine of shared links, from which outcomes of flows, links and classes are computed."""

from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.layout import ENDLESS, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import (
    NOWHERE,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedRows,
    classes,
    routes_of,
)
from netcarlo.networks.completions import ArrivalsOutput
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors


class SharedOutput(ArrivalsOutput):
    """Rows [n] of shared links and the engine's output for their F flows, L links and C classes."""

    parts = {FlowOut: "flows", LinkOut: "links"}
    rows: SharedRows

    def table(self, columns: type[IntEnum]) -> Ints:
        """Return these columns for all flows, links or classes of arriving flows [n, k, columns]."""
        if columns is not ClassOut:
            return super().table(columns)
        n, count = len(self.p), classes(self.rows)
        return self._tables["classes"][:, : count * ClassOut.COLUMNS].reshape(n, count, ClassOut.COLUMNS)

    def present(self, columns: type[IntEnum]) -> Bools:
        """Return which flows or links [n, k] a row has."""
        count, column = (self.flows, Shared.FLOWS) if columns is FlowOut else (self.rows.links, Shared.LINKS)
        return np.arange(count.shape[1]) < self.p[:, column, None]

    # Rows.

    @property
    def flows(self) -> Ints:
        """Flows [n, F, Flow.COLUMNS]."""
        return self.rows.flows

    @cached_property
    def there(self) -> Bools:
        """Mask of the flows of a row [n, F]."""
        return self.present(FlowOut)

    @cached_property
    def udp(self) -> Bools:
        """Mask of UDP flows [n, F]."""
        return np.asarray(self.there & (self.flows[:, :, Flow.KIND] == UDP))

    @cached_property
    def tcp(self) -> Bools:
        """Mask of TCP and SCTP flows [n, F]."""
        return self.there & ~self.udp

    @cached_property
    def slots(self) -> Bools:
        """Mask of slots of arriving flows [n, F]; only their sums are meaningful."""
        return self.flows[:, :, Flow.CLASS] > 0

    @property
    def lasting(self) -> Bools:
        """Mask of flows that are not slots of arriving flows [n, F]."""
        return self.there & ~self.slots

    @property
    def finite(self) -> Bools:
        """Mask of finite flows [n, F]."""
        return self.there & (self.flows[:, :, RowP.LIMIT] < ENDLESS)

    @property
    def window_ns(self) -> Floats:
        """Time from the end of the warm-up to the end of the run [n] [ns]."""
        return divisors(self.p[:, RowP.END] - self.p[:, Shared.WARM_UP])

    @property
    def window_s(self) -> Floats:
        """Time from the end of the warm-up to the end of the run [n] [s]."""
        return self.window_ns / NS

    def base_rtt_s(self) -> Floats:
        """Return the round-trip propagation delay of each flow, without queueing and transmission [n, F]
        [s]."""
        return np.where(self.there, propagation_ns(self.rows) / NS, np.nan)

    # Flows [n, F].

    @cached_property
    def done(self) -> Bools:
        """Mask of finite flows that have arrived completely."""
        return self.there & ~self.slots & (self.table(FlowOut)[:, :, FlowOut.COMPLETED] >= 0)

    @cached_property
    def active_s(self) -> Floats:
        """Time from the start or the end of the warm-up, whichever is later, to the end or to completion
        [s]."""
        begin = np.maximum(self.flows[:, :, RowP.START], self.p[:, Shared.WARM_UP, None])
        end = np.where(self.done, self.table(FlowOut)[:, :, FlowOut.COMPLETED], self.p[:, RowP.END, None])
        return divisors(end - begin) / NS

    @cached_property
    def useful_bits(self) -> Floats:
        """New payload [bit], 0 for flows that a row does not have."""
        return np.where(self.there, 8.0 * self.table(FlowOut)[:, :, FlowOut.USEFUL], 0.0)

    @property
    def carried_bits(self) -> Floats:
        """Payload of arriving flows delivered after the warm-up [n] [bit]."""
        return np.asarray(np.where(self.slots, self.useful_bits, 0.0).sum(axis=1))

    @cached_property
    def goodput_bps(self) -> Floats:
        """Goodput: new payload over the active time [bit/s].

        Payload counts when the last link of the route, or the receiver's cable if that is slower, has
        transmitted it; for a packet at an edge of the window, the part inside.
        """
        bits = 8.0 * self.table(FlowOut)[:, :, FlowOut.USEFUL]
        return np.where(self.there, bits / self.active_s, np.nan)

    @cached_property
    def lasting_bps(self) -> Floats:
        """Goodput of the TCP flows that are not slots of arriving flows [bit/s]; NaN for others."""
        return np.where(self.tcp & self.lasting, self.goodput_bps, np.nan)

    @cached_property
    def acked_payload_bits(self) -> Floats:
        """Acknowledged payload of each flow [bit]."""
        out = self.table(FlowOut)
        bits = 8.0 * self.flows[:, :, RowP.DATA] * out[:, :, FlowOut.ACKED]
        all_acked = out[:, :, FlowOut.FINISHED] >= self.p[:, Shared.WARM_UP, None]
        return np.asarray(bits - np.where(all_acked, 8.0 * self.flows[:, :, RowP.SHORT], 0.0))

    def acked_bits(self) -> Floats:
        """Return the acknowledged payload of TCP flows [bit]; 0 for others."""
        return np.where(self.tcp, self.acked_payload_bits, 0.0)

    def acked_bps(self) -> Floats:
        """Return the acknowledged payload of TCP flows over the active time [bit/s]; NaN for others."""
        return np.where(self.tcp, self.acked_payload_bits / self.active_s, np.nan)

    def of_tcp(self, column: FlowOut) -> Floats:
        """Return a column of the TCP flows; NaN for others."""
        return np.where(self.tcp, self.table(FlowOut)[:, :, column], np.nan)

    @cached_property
    def completion_s(self) -> Floats:
        """Time from the start to the arrival of the last missing packet [s]; NaN if not complete."""
        completed = self.table(FlowOut)[:, :, FlowOut.COMPLETED]
        return np.where(self.done, (completed - self.flows[:, :, RowP.START]) / NS, np.nan)

    @cached_property
    def mean_cwnd(self) -> Floats:
        """Mean congestion window [packets]; NaN without samples."""
        out = self.table(FlowOut)
        samples = divisors(np.where(self.slots, 0, out[:, :, FlowOut.SAMPLES]))
        return np.asarray(out[:, :, FlowOut.CWND_SUM] / 1024.0 / samples)

    @cached_property
    def mean_rtt_s(self) -> Floats:
        """Mean of the measured round-trip times [s]; NaN without samples."""
        out = self.table(FlowOut)
        samples = divisors(np.where(self.slots, 0, out[:, :, FlowOut.RTT_SAMPLES]))
        return np.asarray(_long(out, FlowOut.RTT_SUM, FlowOut.RTT_SUM_HIGH) / NS / samples)

    # Links [n, L]; NaN for those that a row does not have.

    @cached_property
    def utilisation(self) -> Floats:
        """Share of the time in which a link transmits."""
        return self.each(LinkOut.BUSY) / self.window_ns[:, None]

    @property
    def drop_ratio(self) -> Floats:
        """Drops over arrivals, without packets that reached a queue with AQM before the end of the
        warm-up."""
        drops = self.each(LinkOut.DROPS) - self.each(LinkOut.DROPS_BEFORE)
        return np.asarray(drops / np.maximum(self.each(LinkOut.ARRIVALS), 1))

    @property
    def mean_queue(self) -> Floats:
        """Mean number of waiting packets."""
        held = _long(self.table(LinkOut), LinkOut.QUEUE_SUM, LinkOut.QUEUE_SUM_HIGH)
        return np.where(self.present(LinkOut), held / self.window_ns[:, None], np.nan)

    def of_busiest(self, values: Floats) -> Floats:
        """Return the values [n] of the link with the highest utilisation."""
        return np.asarray(values[np.arange(len(values)), np.nanargmax(self.utilisation, axis=1)])

    # Conditions [n].

    def has_udp(self) -> Bools:
        """Return True where there is a UDP flow."""
        return np.asarray(self.udp.any(axis=1))

    def has_tcp(self) -> Bools:
        """Return True where there is a TCP flow."""
        return np.asarray(self.tcp.any(axis=1))

    def has_lasting_tcp(self) -> Bools:
        """Return True where there is a TCP flow that is not a slot of arriving flows."""
        return np.asarray((self.tcp & self.lasting).any(axis=1))

    def has_finite(self) -> Bools:
        """Return True where there is a finite flow."""
        return np.asarray(self.finite.any(axis=1))

    def has_arrivals(self) -> Bools:
        """Return True where there are arriving flows."""
        return self.p[:, Shared.CLASSES] > 0

    def transfers(self) -> Bools:
        """Return True where there are finite or arriving flows."""
        return self.has_finite() | self.has_arrivals()


def propagation_ns(rows: SharedRows) -> Ints:
    """Return twice the propagation delay of each flow [n, F], access cables included, without transmission
    times."""
    route = routes_of(rows.flows)
    delay = rows.links[:, :, Link.DELAY]
    each = np.arange(len(delay))[:, None, None]
    links = np.where(route != NOWHERE, delay[each, np.maximum(route, 0)], 0).sum(axis=2)
    return np.asarray(2 * (links + rows.flows[:, :, [Flow.SOURCE_DELAY, Flow.SINK_DELAY]].sum(axis=2)))


def over(function: Any, values: Floats) -> Floats:
    """Return a statistic of the values of flows or links [n, k] that are not NaN; NaN if all are."""
    some = ~np.isnan(values).all(axis=1)
    found = np.full(len(values), np.nan)
    if some.any():
        found[some] = function(values[some], axis=1)
    return found


def _long(out: Ints, low: int, high: int) -> Floats:
    """Return sums stored in two words (`kernels.base.sums`)."""
    return out[:, :, low] + out[:, :, high] * 2.0**63
