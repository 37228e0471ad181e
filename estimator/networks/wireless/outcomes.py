"""What came of a wireless network: its flows, its nodes, and their sum by name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import ENDLESS, NS, P
from netcarlo.kernels.senders import NAMES, UDP
from netcarlo.kernels.wireless.layout import (
    DELAY_BINS,
    DELAY_LOW,
    Flow,
    FlowOut,
    Link,
    NodeOut,
    Radio,
    WifiOut,
    WifiRows,
    gauges,
)
from netcarlo.networks.outcome import LESS, MORE, NEITHER, SHARE, Outcome
from netcarlo.numerics.arrays import Floats, Ints, divisors

RESOLUTION = "interpolated in a bin 12 to 25 % of it wide"
"""Of quantiles of the delay, which the kernel counts in four bins an octave, from 8 us to 137 s."""

OUTCOMES = (
    Outcome("loss_ratio", LESS, "share of the UDP packets put out that were lost by the end", SHARE),
    Outcome("loss_source", LESS, "share of the data packets put out that the first queue dropped", SHARE),
    Outcome("loss_relay", LESS, "share of the data packets put out that the queues of relays dropped", SHARE),
    Outcome(
        "loss_retries",
        LESS,
        "share of the data packets put out that were given up after too many attempts",
        SHARE,
    ),
    Outcome("loss_leg", LESS, "share of the data packets put out that a full wire or host dropped", SHARE),
    Outcome(
        "mean_delay_s",
        LESS,
        "mean time from first being put out to arrival, over distinct data packets",
    ),
    Outcome("delay_p50_s", LESS, f"median time from first being put out to arrival, {RESOLUTION}"),
    Outcome(
        "delay_p95_s", LESS, f"95 % quantile of the time from first being put out to arrival, {RESOLUTION}"
    ),
    Outcome(
        "delay_p99_s", LESS, f"99 % quantile of the time from first being put out to arrival, {RESOLUTION}"
    ),
    Outcome("fairness", MORE, "Jain's index of the goodputs of the flows: 1 if they are equal", SHARE),
    Outcome("best_bps", MORE, "most payload of a flow that arrived in an interval of length best_interval"),
    Outcome(
        "source_done_s",
        LESS,
        "from the start to the sending of the last packet of a finite transfer, warm-up included",
    ),
    Outcome("attempts", NEITHER, "data frames (RTS where there is one) put on the air, all nodes"),
    Outcome("attempts_station", NEITHER, "data frames (RTS where there is one) put on the air by node 0"),
    Outcome("failed_attempt_ratio", LESS, "share of the attempts without an answer", SHARE),
    Outcome("retry_drops", LESS, "frames given up after too many attempts"),
    Outcome("collisions", LESS, "data frames that another transmission destroyed at their receiver"),
    Outcome("noise_losses", LESS, "data frames that noise destroyed"),
    Outcome("air_data", NEITHER, "share of the time that data frames take, summed over the nodes"),
    Outcome(
        "air_failed",
        LESS,
        "share of the time that data frames without an answer take, summed over the nodes",
    ),
    Outcome("air_control", NEITHER, "share of the time that RTS, CTS and ACK take, summed over the nodes"),
    Outcome("mean_queue", LESS, "mean length of the longest queue"),
    Outcome(
        "upload_bps", MORE, "goodput of all flows to the gateway, where flows are a list", label="uploads"
    ),
    Outcome(
        "download_bps",
        MORE,
        "goodput of all flows from the gateway, where flows are a list",
        label="downloads",
    ),
    Outcome(
        "worst_upload_bps",
        MORE,
        "goodput of the flow to the gateway that gets least, where flows are a list",
        label="goodput of the worst-off upload",
    ),
    Outcome(
        "worst_download_bps",
        MORE,
        "goodput of the flow from the gateway that gets least, where flows are a list",
        label="goodput of the worst-off download",
    ),
)
"""The outcomes that only wireless networks have."""

MEANING = {outcome.name: outcome.meaning for outcome in OUTCOMES}


COUNTS = {
    "delivered": [FlowOut.DELIVERED],
    "received": [FlowOut.RECEIVED],
    "sent": [FlowOut.SENT],
    "retransmitted": [FlowOut.RETRANSMITTED],
    "timeouts": [FlowOut.TIMEOUTS],
    "fast_retransmits": [FlowOut.FAST_RETRANSMITS],
    "cwnd_reductions": [FlowOut.CWND_CUTS],
    "drops_queue": [FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY],
    "drops_leg": [FlowOut.DROPS_LEG],
    "lost_retries": [FlowOut.RETRY_LOST],
    "ack_drops": [FlowOut.ACKS_LOST],
    "in_flight": [FlowOut.IN_FLIGHT],
    "in_flight_before": [FlowOut.IN_FLIGHT_BEFORE],
}
"""Counts of a flow by name, each the sum of some columns; from the end of the warm-up on."""


class Tables(NamedTuple):
    """Outcomes by flow and by node; those that a network does not have are zero."""

    flows: Ints  # [n, F, FlowOut.COLUMNS]
    nodes: Ints  # [n, N, NodeOut.COLUMNS]


def tables(integers: Ints, *, flows: int, classes: int = 0) -> Tables:
    """The tables in the integers [n, ...] of a launch, or of `Outcomes`, that has room for so many flows, and
    classes whose delays are measured."""
    n, end = len(integers), WifiOut.COLUMNS + flows * FlowOut.COLUMNS
    behind = integers.shape[1] - classes * DelayOut.COLUMNS
    return Tables(
        integers[:, WifiOut.COLUMNS : end].reshape(n, flows, FlowOut.COLUMNS),
        integers[:, end:behind].reshape(n, -1, NodeOut.COLUMNS),
    )


def named(integers: Ints, rows: WifiRows) -> dict[str, Ints | Floats]:
    """The outcomes of rows [n] by name, [n] each; `integers` are trimmed."""
    p, f_max = rows.parameters, rows.most_flows
    flows, nodes = tables(integers, flows=f_max, classes=gauges(rows))
    spec = rows.network[:, : f_max * len(Flow)].reshape(len(p), f_max, len(Flow))
    present = np.arange(f_max) < p[:, Radio.FLOWS, None]
    values = _transport(flows, spec, present, p)
    values |= _by_kind(flows, spec, present, rows)
    values |= _delays(flows)
    values |= _radio(nodes, p)
    return values


def _transport(flows: Ints, spec: Ints, present: NDArray[np.bool_], p: Ints) -> dict[str, Ints | Floats]:
    out = {column: flows[:, :, column] for column in FlowOut if column < FlowOut.DELAYS}
    total = {column: values.sum(axis=1) for column, values in out.items()}
    tcp, size = spec[:, :, Flow.TCP] == 1, spec[:, :, Flow.SIZE]
    active_s, part = _active_s(flows, spec, present, p), _part(_measured(flows, spec, present, p))
    arrived = np.where(tcp, out[FlowOut.IN_ORDER], out[FlowOut.DELIVERED])
    goodput = _goodput(flows, spec, present, p)
    wire = out[FlowOut.RECEIVED] * (size + spec[:, :, Flow.HEADER]) * 8.0 - _short_bits(flows, spec, p)
    sent_udp = np.where(tcp, 0, out[FlowOut.SENT]).sum(axis=1)
    sent = divisors(total[FlowOut.SENT])
    first = np.where(present, spec[:, :, Flow.START], p[:, P.END, None]).min(axis=1)
    finite = (spec[:, :, Flow.LIMIT] < ENDLESS) | (spec[:, :, Flow.STOP] < p[:, P.END, None])
    delay_us = total[FlowOut.DELAY_SUM]  # NEVER: not known
    interval_s = divisors(p[:, Radio.BIN]) / NS
    return {
        "goodput_bps": np.nansum(goodput * part, axis=1),
        "throughput_bps": np.nansum(np.where(present, wire / active_s, 0.0) * part, axis=1),
        "delivered": total[FlowOut.DELIVERED],
        "in_order": arrived.sum(axis=1),
        "received": total[FlowOut.RECEIVED],
        "sent": total[FlowOut.SENT],
        "retransmitted": total[FlowOut.RETRANSMITTED],
        "timeouts": total[FlowOut.TIMEOUTS],
        "fast_retransmits": total[FlowOut.FAST_RETRANSMITS],
        "cwnd_reductions": total[FlowOut.CWND_CUTS],
        "drops_queue": total[FlowOut.DROPS_SOURCE] + total[FlowOut.DROPS_RELAY],
        "ack_drops": total[FlowOut.ACKS_LOST],
        "in_flight": total[FlowOut.IN_FLIGHT],
        "first_delivery_s": _earliest(out[FlowOut.FIRST_RX], present) / NS,
        "last_delivery_s": _latest(out[FlowOut.LAST_RX], present) / NS,
        "completion_s": _all_done(out[FlowOut.COMPLETED], present, first),
        "source_done_s": _all_done(np.where(finite, out[FlowOut.SOURCE_DONE], -1), present, first),
        "loss_ratio": total[FlowOut.LOST] / divisors(sent_udp),
        "loss_source": total[FlowOut.DROPS_SOURCE] / sent,
        "loss_relay": total[FlowOut.DROPS_RELAY] / sent,
        "loss_retries": total[FlowOut.RETRY_LOST] / sent,
        "loss_leg": total[FlowOut.DROPS_LEG] / sent,
        "mean_delay_s": np.where(delay_us >= 0, delay_us / 1e6 / divisors(total[FlowOut.DELIVERED]), np.nan),
        "fairness": np.nansum(goodput, axis=1) ** 2
        / divisors((present & ~np.isnan(goodput)).sum(axis=1) * np.nansum(goodput**2, axis=1)),
        "best_bps": (out[FlowOut.BEST] * size * 8.0).max(axis=1, initial=0.0) / interval_s,
    }


def _measured(flows: Ints, spec: Ints, present: NDArray[np.bool_], p: Ints) -> tuple[Ints, Ints]:
    """From when until when each flow is measured [n, F] [ns].

    From its start or the warm-up, whichever is later, to the end or to completion; of no length where it is
    not there.
    """
    begin = np.maximum(spec[:, :, Flow.START], p[:, Radio.WARM_UP, None])
    completed = flows[:, :, FlowOut.COMPLETED] >= 0
    end = np.where(completed, flows[:, :, FlowOut.COMPLETED], p[:, P.END, None])
    return begin, np.where(present, end, begin)


def _active_s(flows: Ints, spec: Ints, present: NDArray[np.bool_], p: Ints) -> Floats:
    """Return the time for which each flow is measured [s], [n, F]; NaN for a flow that is not measured."""
    begin, end = _measured(flows, spec, present, p)
    return divisors(end - begin) / NS


def _part(measured: tuple[Ints, Ints]) -> Floats:
    """For how much of the time from the first begin to the last end of all flows each is measured [n, F].

    Rates add up if each is multiplied by its part: what flows carry one after the other is not more.  It is
    exactly 1 where all flows are measured equally long.
    """
    begin, end = measured
    there, most = end > begin, np.iinfo(np.int64).max
    first = np.where(there, begin, most).min(axis=1, initial=most)
    last = np.where(there, end, 0).max(axis=1, initial=0)
    return np.asarray((end - begin) / divisors(last - first)[:, None])


def by_flow(integers: Ints, rows: WifiRows) -> dict[str, Floats]:
    """Outcomes of the flows [n, F] by name; NaN for flows that a row does not have.

    Of every flow `sent` + `in_flight_before` = `received` + `drops_queue` + `drops_leg` + `lost_retries` +
    `in_flight` (packets; a fluid does not know what is in flight).
    """
    p, f_max = rows.parameters, rows.most_flows
    flows = tables(integers, flows=f_max, classes=gauges(rows)).flows
    spec = rows.network[:, : f_max * len(Flow)].reshape(len(p), f_max, len(Flow))
    present = np.arange(f_max) < p[:, Radio.FLOWS, None]
    found = {"goodput_bps": np.where(present, _goodput(flows, spec, present, p), np.nan)}
    for name, columns in COUNTS.items():
        found[name] = np.where(present, flows[:, :, columns].sum(axis=2), np.nan)
    return found


def _goodput(flows: Ints, spec: Ints, present: NDArray[np.bool_], p: Ints) -> Floats:
    """Return the goodput of each flow [bit/s], [n, F]; 0 for an absent flow, NaN for a flow that ended before
    the measurement."""
    tcp = spec[:, :, Flow.TCP] == 1
    arrived = np.where(tcp, flows[:, :, FlowOut.IN_ORDER], flows[:, :, FlowOut.DELIVERED])
    bits = arrived * spec[:, :, Flow.SIZE] * 8.0 - _short_bits(flows, spec, p)
    return np.where(present, bits / _active_s(flows, spec, present, p), 0.0)


def _short_bits(flows: Ints, spec: Ints, p: Ints) -> Floats:
    """Return the bits by which the last packet of each flow [n, F] falls short of a whole one; 0 if it did
    not arrive after the warm-up."""
    counts = flows[:, :, FlowOut.COMPLETED] >= p[:, Radio.WARM_UP, None]
    return np.where(counts, 8.0 * spec[:, :, Flow.SHORT], 0.0)


def _by_kind(flows: Ints, spec: Ints, present: NDArray[np.bool_], rows: WifiRows) -> dict[str, Floats]:
    """Goodput by direction and by transport, of lists of flows."""
    p, goodput = rows.parameters, _goodput(flows, spec, present, rows.parameters)
    part = _part(_measured(flows, spec, present, p))
    present = present & (spec[:, :, Flow.ITEM] > 0) & ~np.isnan(goodput)
    first, last = _ends(spec, present, rows)
    gateway = p[:, Radio.NODES, None] - 1
    up, down = present & (last == gateway), present & (first == gateway)
    tcp = present & (spec[:, :, Flow.TCP] == 1)
    found = {
        "upload_bps": _sum(goodput * part, up),
        "download_bps": _sum(goodput * part, down),
        "worst_upload_bps": _least(goodput, up),
        "worst_download_bps": _least(goodput, down),
        "tcp_goodput_bps": _sum(goodput * part, tcp),
        "worst_flow_bps": _least(goodput, tcp),
        "mean_flow_bps": _sum(goodput, tcp) / divisors(tcp.sum(axis=1)),
        "best_flow_bps": -_least(-goodput, tcp),
    }
    for number, name in NAMES.items():
        mine = tcp & (spec[:, :, Flow.KIND] == number) if number != UDP else present & ~tcp
        found[f"{name}_bps"] = _sum(goodput, mine) / divisors(mine.sum(axis=1))
    return found


def _ends(spec: Ints, present: NDArray[np.bool_], rows: WifiRows) -> tuple[Ints, Ints]:
    """The first and the last node of the way of each flow [n, F] that is there."""
    p, each = rows.parameters, np.arange(len(spec))[:, None]
    way = np.where(present, spec[:, :, Flow.FORTH_AT], 0)
    hops = np.where(present, spec[:, :, Flow.FORTH], 1)

    def node(hop: Ints, column: Link) -> Ints:
        link = rows.network[each, p[:, Radio.PATHS_AT, None] + way + hop]
        return np.asarray(rows.network[each, p[:, Radio.LINKS_AT, None] + link * len(Link) + column])

    return node(np.zeros_like(hops), Link.FROM), node(hops - 1, Link.TO)


def _radio(nodes: Ints, p: Ints) -> dict[str, Ints | Floats]:
    total = nodes.sum(axis=1)
    time = divisors(p[:, P.END] - p[:, Radio.WARM_UP])
    attempts = total[:, NodeOut.ATTEMPTS]
    return {
        "attempts": attempts,
        "attempts_station": nodes[:, 0, NodeOut.ATTEMPTS],
        "failed_attempt_ratio": total[:, NodeOut.FAILED] / divisors(attempts),
        "retry_drops": total[:, NodeOut.RETRY_DROPS],
        "collisions": total[:, NodeOut.COLLIDED],
        "noise_losses": total[:, NodeOut.NOISE],
        "air_data": total[:, NodeOut.AIR_DATA] / time,
        "air_failed": total[:, NodeOut.AIR_FAILED] / time,
        "air_control": total[:, NodeOut.AIR_CONTROL] / time,
        "mean_queue": nodes[:, :, NodeOut.QUEUE_SUM].max(axis=1) * 1e3 / time,
    }


def _delays(flows: Ints) -> dict[str, Ints | Floats]:
    """Quantiles of the delay, interpolated inside the bins of the histogram."""
    counts = flows[:, :, FlowOut.DELAYS : FlowOut.DELAYS + DELAY_BINS].sum(axis=1)
    edge = 2.0 ** (DELAY_LOW + np.arange(DELAY_BINS + 1) // 4) * (1 + np.arange(DELAY_BINS + 1) % 4 / 4)
    below = np.cumsum(counts, axis=1)
    n, found = below[:, -1], {}
    rows = np.arange(len(counts))
    for name, share in (("delay_p50_s", 0.5), ("delay_p95_s", 0.95), ("delay_p99_s", 0.99)):
        wanted = share * n
        k = np.argmax(below >= wanted[:, None], axis=1)
        here = counts[rows, k]
        part = (wanted - (below[rows, k] - here)) / np.maximum(here, 1)
        value = edge[k] + part * (edge[k + 1] - edge[k])
        found[name] = np.where(n > 0, value / NS, np.nan)
    return found


def _sum(values: Floats, where: NDArray[np.bool_]) -> Floats:
    """Of values [n, F] in these places; NaN where there are none."""
    return np.where(where.any(axis=1), np.where(where, values, 0.0).sum(axis=1), np.nan)


def _least(values: Floats, where: NDArray[np.bool_]) -> Floats:
    """The least of values [n, F] in these places; NaN where there are none."""
    found = np.where(where, values, np.inf).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(found), found, np.nan)


def _earliest(times: Ints, present: NDArray[np.bool_]) -> Floats:
    return _least(times.astype(np.float64), present & (times >= 0))


def _latest(times: Ints, present: NDArray[np.bool_]) -> Floats:
    found = np.where(present, times, -1).max(axis=1, initial=-1)
    return np.where(found >= 0, found, np.nan)


def _all_done(times: Ints, present: NDArray[np.bool_], first: Ints) -> Floats:
    """From the first start to the last of the times [n, F]; NaN where one did not happen."""
    done = (~present | (times >= 0)).all(axis=1)
    return np.where(done, (times.max(axis=1, initial=-1) - first) / NS, np.nan)
