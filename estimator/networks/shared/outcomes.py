"""What came of shared networks: their flows, their links, and both by name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import ENDLESS, NS, STATUS_NO_NUMBER, P
from netcarlo.kernels.senders import NAMES, UDP
from netcarlo.kernels.shared.layout import (
    MOST_HOPS,
    NOWHERE,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
)
from netcarlo.kernels.shared.packet import NUMBER_BITS
from netcarlo.networks.outcome import FRACTION, LESS, MORE, NEITHER, SHARE, Outcome
from netcarlo.networks.shared import completions
from netcarlo.numerics.arrays import Floats, Ints, divisors

OUTCOMES = (
    Outcome(
        "tcp_goodput_bps",
        MORE,
        "payload of the TCP flows over the time from warm-up to end",
        label="goodput of the TCP flows",
    ),
    Outcome(
        "acked_bps",
        MORE,
        "payload of the TCP flows acknowledged between warm-up and end",
        label="acknowledged TCP payload",
    ),
    Outcome(
        "worst_flow_bps",
        MORE,
        "goodput of the TCP flow that gets least",
        label="goodput of the worst-off flow",
    ),
    Outcome("mean_flow_bps", MORE, "mean goodput of the TCP flows", label="mean goodput of a flow"),
    Outcome(
        "best_flow_bps", MORE, "goodput of the TCP flow that gets most", label="goodput of the best-off flow"
    ),
    *(
        Outcome(f"{kind}_bps", MORE, f"mean goodput of the {of} flows", label=f"goodput of a {of} flow")
        for kind in NAMES.values()
        for of in [kind.replace("_", " ")]
    ),
    Outcome(
        "utilisation",
        MORE,
        "share of its rate that the busiest link carries, headers included",
        SHARE,
        label="utilisation of the busiest link",
        unit=FRACTION,
    ),
    Outcome(
        "drop_ratio",
        LESS,
        "share of the packets that reached the busiest link and that its queue dropped",
        SHARE,
        label="drops at the busiest link",
        unit=FRACTION,
    ),
    Outcome(
        "longest_wait_s",
        LESS,
        "longest time that a packet waited in a queue, until the end at most, if it was not dropped",
    ),
    Outcome(
        "transmissions",
        NEITHER,
        "packets that all links sent, acknowledgements included",
        label="packets on all links",
    ),
    Outcome("marked", NEITHER, "data packets that routers marked", label="marked packets"),
    Outcome(
        "completed_share",
        MORE,
        "share of the finite flows that arrived in full, warm-up included",
        SHARE,
        label="completed transfers",
        unit=FRACTION,
    ),
    Outcome(
        "completion_mean_s",
        LESS,
        "mean time from start to the arrival of the last missing packet, of the finite flows that arrived, "
        "warm-up included",
        label="mean completion time",
    ),
    Outcome(
        "completion_p95_s",
        LESS,
        "95 % quantile of the times of the finite flows that arrived, warm-up included",
        label="95 % quantile of completion times",
    ),
)
"""The outcomes that only shared networks have."""

MEANING = {outcome.name: outcome.meaning for outcome in OUTCOMES}

COUNTS = {
    "delivered": FlowOut.DELIVERED,
    "received": FlowOut.RECEIVED,
    "sent": FlowOut.SENT,
    "retransmitted": FlowOut.RETRANSMITTED,
    "timeouts": FlowOut.TIMEOUTS,
    "fast_retransmits": FlowOut.FAST_RETRANSMITS,
    "cwnd_reductions": FlowOut.CWND_CUTS,
    "drops_queue": FlowOut.DROPS_QUEUE,
    "drops_random": FlowOut.DROPS_RANDOM,
    "ack_drops": FlowOut.ACK_DROPS,
    "handshakes": FlowOut.HANDSHAKES,
    "in_flight": FlowOut.IN_FLIGHT,
    "marked": FlowOut.MARKED,
}

LOST = [FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM]
SETTLED = [FlowOut.RECEIVED, *LOST]
"""Columns that count data packets that are no longer in flight."""

OF_FLOW = (
    *("goodput_bps", "useful_bits", "acked_bps", "acked_bits", "completion_s", "base_rtt_s"),
    *("mean_cwnd_packets", "mean_rtt_s", "acked", "in_order", "in_flight_before", *COUNTS),
)
"""Names of what `by_flow` tells."""


class Tables(NamedTuple):
    """Outcomes by flow and by link; those that a row does not have are zero."""

    flows: Ints  # [n, F, FlowOut.COLUMNS]
    links: Ints  # [n, L, LinkOut.COLUMNS]


def tables(integers: Ints, rows: SharedRows) -> Tables:
    """The tables in the integers [n, ...] of a launch of `rows`, or of the `Outcomes` of a scenario.

    The rows of a scenario are `netcarlo.simulation.ensemble.build(scenario).rows`.
    """
    n, end = len(integers), SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS
    of_links = rows.links.shape[1] * LinkOut.COLUMNS
    return Tables(
        integers[:, SharedOut.COLUMNS : end].reshape(n, -1, FlowOut.COLUMNS),
        integers[:, end : end + of_links].reshape(n, -1, LinkOut.COLUMNS),
    )


def by_flow(integers: Ints, rows: SharedRows) -> dict[str, Ints | Floats]:
    """Outcomes of the flows [n, F] by name; NaN for flows that a row does not have, and for TCP's of UDP.

    All but `completion_s` count from the end of the warm-up on.  `in_flight_before` are the data packets in
    flight then, so that of every flow
    `sent` + `in_flight_before` = `received` + `drops_queue` + `drops_random` + `in_flight`.

    `goodput_bps` is new payload over the time from the start or the warm-up, whichever is later, to the end
    or to the arrival of the last missing packet.  It counts where the last link of the route passes it on
    or, if that is slower, the cable to the sink: of a packet at an edge of the window, the part inside.
    """
    p, flows, out = rows.parameters, rows.flows, tables(integers, rows).flows
    present = np.arange(flows.shape[1]) < p[:, Shared.FLOWS, None]
    tcp = present & (flows[:, :, Flow.KIND] != UDP)
    start, completed = flows[:, :, P.START], out[:, :, FlowOut.COMPLETED]
    begin = np.maximum(start, p[:, Shared.WARM_UP, None])
    slots = flows[:, :, Flow.CLASS] > 0  # of flows that come and go: only sums are of use
    done = present & ~slots & (completed >= 0)
    active_s = divisors(np.where(done, completed, p[:, P.END, None]) - begin) / NS
    bits = 8.0 * out[:, :, FlowOut.USEFUL]
    acked = 8.0 * flows[:, :, P.DATA] * out[:, :, FlowOut.ACKED]
    all_acked = out[:, :, FlowOut.FINISHED] >= p[:, Shared.WARM_UP, None]
    acked -= np.where(all_acked, 8.0 * flows[:, :, P.SHORT], 0.0)
    found: dict[str, Ints | Floats] = {
        "goodput_bps": np.where(present, bits / active_s, np.nan),
        "useful_bits": np.where(present, bits, 0.0),
        "acked_bps": np.where(tcp, acked / active_s, np.nan),
        "acked_bits": np.where(tcp, acked, 0.0),
        "completion_s": np.where(done, (completed - start) / NS, np.nan),
        "base_rtt_s": np.where(present, propagation_ns(rows) / NS, np.nan),
        "mean_cwnd_packets": out[:, :, FlowOut.CWND_SUM]
        / 1024.0
        / divisors(np.where(slots, 0, out[:, :, FlowOut.SAMPLES])),
        "mean_rtt_s": _long(out, FlowOut.RTT_SUM, FlowOut.RTT_SUM_HIGH)
        / NS
        / divisors(np.where(slots, 0, out[:, :, FlowOut.RTT_SAMPLES])),
        "acked": np.where(tcp, out[:, :, FlowOut.ACKED], np.nan),
        "in_order": np.where(tcp, out[:, :, FlowOut.IN_ORDER], np.nan),
        "in_flight_before": np.where(present, out[:, :, FlowOut.IN_FLIGHT_BEFORE], np.nan),
    }
    for name, column in COUNTS.items():
        found[name] = np.where(present, out[:, :, column], np.nan)
    return found


def by_link(integers: Ints, rows: SharedRows) -> dict[str, Ints | Floats]:
    """Return the outcomes of the links [n, L] by name; NaN for links that a row does not have.

    Outcomes count from the end of the warm-up. `drop_ratio` is `drops` over `arrivals`, without the packets
    that reached a managed queue during the warm-up and are dropped after it.
    """
    p, out = rows.parameters, tables(integers, rows).links
    present = np.arange(rows.links.shape[1]) < p[:, Shared.LINKS, None]
    window_ns = divisors(p[:, P.END] - p[:, Shared.WARM_UP])[:, None]
    drops = out[:, :, LinkOut.DROPS] - out[:, :, LinkOut.DROPS_BEFORE]
    found: dict[str, Ints | Floats] = {
        "utilisation": out[:, :, LinkOut.BUSY] / window_ns,
        "drop_ratio": drops / np.maximum(out[:, :, LinkOut.ARRIVALS], 1),
        "mean_queue": _long(out, LinkOut.QUEUE_SUM, LinkOut.QUEUE_SUM_HIGH) / window_ns,
        "longest_wait_s": out[:, :, LinkOut.WAIT_MOST] / NS,
        "arrivals": out[:, :, LinkOut.ARRIVALS].astype(np.float64),
        "drops": out[:, :, LinkOut.DROPS].astype(np.float64),
        "transmissions": out[:, :, LinkOut.SENT].astype(np.float64),
    }
    return {name: np.where(present, values, np.nan) for name, values in found.items()}


def named(integers: Ints, rows: SharedRows) -> dict[str, Ints | Floats]:
    """The outcomes of rows [n] by name, [n] each."""
    p, flows = rows.parameters, rows.flows
    if (many := np.flatnonzero(integers[:, SharedOut.STATUS] == STATUS_NO_NUMBER)).size:
        count = int(p[many[0], Shared.FLOWS])
        most = 1 << NUMBER_BITS - (count - 1).bit_length()
        raise InputError(
            f"duration is so long that a flow of row {many[0]} sends more than {most} packets; allowed is "
            f"what can be numbered where there are {count} flows; shorten it, or lower a count"
        )
    out = tables(integers, rows)
    flow, link = by_flow(integers, rows), by_link(integers, rows)
    present = np.arange(flows.shape[1]) < p[:, Shared.FLOWS, None]
    udp = present & (flows[:, :, Flow.KIND] == UDP)
    tcp = present & ~udp
    window_s = divisors(p[:, P.END] - p[:, Shared.WARM_UP]) / NS
    goodput = np.asarray(flow["goodput_bps"])
    lasting = flows[:, :, Flow.CLASS] == 0
    mine = np.where(tcp & lasting, goodput, np.nan)
    bits = np.asarray(flow["useful_bits"])
    total = {name: out.flows[:, :, column].sum(axis=1) for name, column in COUNTS.items()}
    arrived = np.where(udp, out.flows[:, :, FlowOut.RECEIVED], 0).sum(axis=1)
    settled = out.flows[:, :, SETTLED].sum(axis=2)
    busiest = np.nanargmax(np.asarray(link["utilisation"]), axis=1)
    each = np.arange(len(p))
    acked_bits = np.sum(flow["acked_bits"], axis=1) - 8.0 * completions.short(integers, rows)
    found: dict[str, Ints | Floats] = {
        **total,
        "goodput_bps": bits.sum(axis=1) / window_s,
        "tcp_goodput_bps": np.where(tcp.any(axis=1), np.where(tcp, bits, 0.0).sum(axis=1) / window_s, np.nan),
        "acked_bps": np.where(tcp.any(axis=1), acked_bits / window_s, np.nan),
        "acked": out.flows[:, :, FlowOut.ACKED].sum(axis=1),
        "in_order": out.flows[:, :, FlowOut.IN_ORDER].sum(axis=1),
        "fairness": np.nansum(mine, axis=1) ** 2
        / divisors((~np.isnan(mine)).sum(axis=1) * np.nansum(mine * mine, axis=1)),
        "loss_ratio": 1.0 - arrived / divisors(np.where(udp, settled, 0).sum(axis=1)),
        "worst_flow_bps": _over(np.nanmin, mine),
        "mean_flow_bps": _over(np.nanmean, mine),
        "best_flow_bps": _over(np.nanmax, mine),
        "mean_cwnd_packets": _over(np.nanmean, np.asarray(flow["mean_cwnd_packets"])),
        "mean_rtt_s": _over(np.nanmean, np.asarray(flow["mean_rtt_s"])),
        "utilisation": np.asarray(link["utilisation"])[each, busiest],
        "drop_ratio": np.asarray(link["drop_ratio"])[each, busiest],
        "mean_queue": _over(np.nanmax, np.asarray(link["mean_queue"])),
        "longest_wait_s": out.links[:, :, LinkOut.WAIT_MOST].max(axis=1) / NS,
        "transmissions": out.links[:, :, LinkOut.SENT].sum(axis=1),
    }
    for number, kind in NAMES.items():
        of_kind = present & lasting & (flows[:, :, Flow.KIND] == number)
        found[f"{kind}_bps"] = _over(np.nanmean, np.where(of_kind, goodput, np.nan))
    found |= _completion(np.asarray(flow["completion_s"]), present & (flows[:, :, P.LIMIT] < ENDLESS))
    return found | completions.named(integers, rows, bits.astype(np.float64))


def propagation_ns(rows: SharedRows) -> Ints:
    """Twice the propagation delay of each flow [n, F] without any time for bytes, access included."""
    route = rows.flows[:, :, Flow.ROUTE : Flow.ROUTE + MOST_HOPS]
    delay = rows.links[:, :, Link.DELAY]
    each = np.arange(len(delay))[:, None, None]
    links = np.where(route != NOWHERE, delay[each, np.maximum(route, 0)], 0).sum(axis=2)
    return np.asarray(2 * (links + rows.flows[:, :, [Flow.SOURCE_DELAY, Flow.SINK_DELAY]].sum(axis=2)))


def _long(out: Ints, low: int, high: int) -> Floats:
    """Sums of two words (`kernels.sums`)."""
    return out[:, :, low] + out[:, :, high] * 2.0**63


def _completion(times_s: Floats, finite: NDArray[np.bool_]) -> dict[str, Floats]:
    """Of the finite flows, given the times [n, F] that they took; NaN for those that did not arrive."""
    done = (finite & ~np.isnan(times_s)).sum(axis=1)
    all_done = finite.any(axis=1) & (done == finite.sum(axis=1))
    return {
        "completed_share": done / divisors(finite.sum(axis=1)),
        "completion_mean_s": _over(np.nanmean, times_s),
        "completion_p95_s": _over(lambda x, axis: np.nanquantile(x, 0.95, axis=axis), times_s),
        "completion_s": np.where(all_done, _over(np.nanmax, times_s), np.nan),
    }


def _over(function: object, values: Floats) -> Floats:
    """A statistic of the flows or links [n, k] that are not NaN; NaN where all are."""
    some = ~np.isnan(values).all(axis=1)
    found = np.full(len(values), np.nan)
    if some.any():
        found[some] = function(values[some], axis=1)  # type: ignore[operator]
    return found
