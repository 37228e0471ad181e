"""Outcomes of networks of shared links, of their flows and of their links."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS, STATUS_NO_NUMBER
from netcarlo.kernels.senders import NAMES
from netcarlo.kernels.shared import detours, packet
from netcarlo.kernels.shared.layout import Flow, FlowOut, LinkOut, Shared, SharedOut, SharedRows
from netcarlo.kernels.shared.state import Word
from netcarlo.networks import completions
from netcarlo.networks.causes import Fields, Lost, unexpected
from netcarlo.networks.outcome import LESS, MORE, NEITHER, SHARE, By, Outcome, same
from netcarlo.networks.output import by_part, evaluated
from netcarlo.networks.shared.output import SharedOutput, over
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors
from netcarlo.schema.readable import FRACTION

LOST = [FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM]
SETTLED = [FlowOut.RECEIVED, *LOST]
"""Columns that count data packets that are no longer in flight."""


def _count(name: str, column: FlowOut, **fields: Any) -> Outcome:
    return same(name, column, by=(By("flows", column),), **fields)


def _tcp_goodput_bps(out: SharedOutput) -> Floats:
    return np.asarray(np.where(out.tcp, out.useful_bits, 0.0).sum(axis=1) / out.window_s)


def _acked_bps(out: SharedOutput) -> Floats:
    bits = out.acked_bits().sum(axis=1) - 8.0 * completions.short(out)
    return np.asarray(bits / out.window_s)


def _kind(out: SharedOutput, number: int) -> Bools:
    return np.asarray(out.lasting & (out.flows[:, :, Flow.KIND] == number))


def _goodput_bps(out: SharedOutput, number: int) -> Floats:
    return over(np.nanmean, np.where(_kind(out, number), out.goodput_bps, np.nan))


def _has_kind(out: SharedOutput, number: int) -> Bools:
    return np.asarray(_kind(out, number).any(axis=1))


def _fairness(out: SharedOutput) -> Floats:
    mine = out.lasting_bps
    squares = (~np.isnan(mine)).sum(axis=1) * np.nansum(mine * mine, axis=1)
    return np.asarray(np.nansum(mine, axis=1) ** 2 / divisors(squares))


def _loss_ratio(out: SharedOutput) -> Floats:
    flows = out.table(FlowOut)
    arrived = np.where(out.udp, flows[:, :, FlowOut.RECEIVED], 0).sum(axis=1)
    settled = np.where(out.udp, flows[:, :, SETTLED].sum(axis=2), 0).sum(axis=1)
    return np.asarray(1.0 - arrived / divisors(settled))


def _p95(values: Floats, axis: int) -> Floats:
    return np.asarray(np.nanquantile(values, 0.95, axis=axis))


def _completion(out: SharedOutput, statistic: Any, of_classes: Outcome) -> Floats:
    if out.has_arrivals().any():
        assert callable(of_classes.column)
        return np.asarray(of_classes.column(out))
    return over(statistic, out.completion_s)


def _all_completed_s(out: SharedOutput) -> Floats:
    all_done = (out.done | ~out.finite).all(axis=1)
    return np.where(all_done, over(np.nanmax, out.completion_s), np.nan)


_STARTED = "warm-up included; of arriving flows, those that started after it"

OUTCOMES = (
    Outcome(
        "tcp_goodput_bps", _tcp_goodput_bps, MORE, "payload of the TCP flows over the time from warm-up to "
        "end", label="goodput of the TCP flows", when=SharedOutput.has_tcp,
    ),
    Outcome(
        "acked_bps", _acked_bps, MORE, "payload of the TCP flows acknowledged between warm-up and end",
        label="acknowledged TCP payload", when=SharedOutput.has_tcp,
        by=(By("flows", SharedOutput.acked_bps),),
    ),
    Outcome(
        "worst_flow_bps", lambda out: over(np.nanmin, out.lasting_bps), MORE,
        "lowest goodput of a TCP flow", label="goodput of the worst-off flow",
        when=SharedOutput.has_lasting_tcp,
    ),
    Outcome(
        "mean_flow_bps", lambda out: over(np.nanmean, out.lasting_bps), MORE, "mean goodput of the TCP flows",
        label="mean goodput of a flow", when=SharedOutput.has_lasting_tcp,
    ),
    Outcome(
        "best_flow_bps", lambda out: over(np.nanmax, out.lasting_bps), MORE,
        "highest goodput of a TCP flow", label="goodput of the best-off flow",
        when=SharedOutput.has_lasting_tcp,
    ),
    *(
        Outcome(
            f"{kind}_bps", partial(_goodput_bps, number=number), MORE, f"mean goodput of the {of} flows",
            label=f"goodput of a {of} flow", when=partial(_has_kind, number=number),
        )
        for number, kind in NAMES.items()
        for of in [kind.replace("_", " ")]
    ),
    Outcome(
        "utilisation", lambda out: out.of_busiest(out.utilisation), MORE, "share of its rate that the "
        "busiest link carries, headers included", SHARE, label="utilisation of the busiest link",
        unit=FRACTION, by=(By("links", lambda out: out.utilisation),),
    ),
    Outcome(
        "drop_ratio", lambda out: out.of_busiest(out.drop_ratio), LESS, "share of the packets that reached "
        "the busiest link and that its queue dropped", SHARE, label="drops at the busiest link",
        unit=FRACTION, by=(By("links", lambda out: out.drop_ratio),),
    ),
    Outcome(
        "longest_wait_s", lambda out: out.table(LinkOut)[:, :, LinkOut.WAIT_MAX].max(axis=1) / NS, LESS,
        "longest time that a packet waited in a queue, until the end at most, if it was not dropped",
        by=(By("links", lambda out: out.each(LinkOut.WAIT_MAX) / NS),),
    ),
    Outcome(
        "transmissions", LinkOut.SENT, NEITHER, "packets that all links sent, acknowledgements included",
        label="packets on all links", by=(By("links", LinkOut.SENT),),
    ),
    Outcome(
        "marked", FlowOut.MARKED, NEITHER, "data packets that routers marked", label="marked packets",
        by=(By("flows", FlowOut.MARKED),),
        cause=Fields("ecn"),
    ),
    Outcome(
        "completed_share", lambda out: (out.finite & out.done).sum(axis=1) / divisors(out.finite.sum(axis=1)),
        MORE, "share of the finite flows that arrived in full, warm-up included", SHARE,
        label="completed transfers", unit=FRACTION, when=SharedOutput.has_finite,
    ),
    Outcome(
        "completion_mean_s", partial(_completion, statistic=np.nanmean, of_classes=completions.MEAN), LESS,
        "mean time from start to the arrival of the last missing packet, of the finite flows that arrived, "
        f"{_STARTED}", label="mean completion time", when=SharedOutput.transfers, by=completions.MEAN.by,
    ),
    Outcome(
        "completion_p95_s", partial(_completion, statistic=_p95, of_classes=completions.P95), LESS,
        f"95 % quantile of the times of the finite flows that arrived, {_STARTED}",
        label="95 % quantile of completion times", when=SharedOutput.transfers, by=completions.P95.by,
    ),
    *completions.OUTCOMES,
    same(
        "goodput_bps", lambda out: out.useful_bits.sum(axis=1) / out.window_s,
        by=(By("flows", lambda out: out.goodput_bps),),
    ),
    _count("delivered", FlowOut.DELIVERED),
    _count("received", FlowOut.RECEIVED),
    _count("sent", FlowOut.SENT),
    _count("retransmitted", FlowOut.RETRANSMITTED),
    _count("timeouts", FlowOut.TIMEOUTS),
    _count("fast_retransmits", FlowOut.FAST_RETRANSMITS),
    _count("cwnd_reductions", FlowOut.CWND_CUTS),
    _count("drops_queue", FlowOut.DROPS_QUEUE),
    _count(
        "drops_random", FlowOut.DROPS_RANDOM,
        cause=Fields("loss", "trace", "policer", "red", "failures", "outages"),
        lost=Lost("at random", "failures", "on failed links"),
    ),
    _count("ack_drops", FlowOut.ACK_DROPS),
    _count("handshakes", FlowOut.HANDSHAKES, fluid=False, cause=unexpected),
    _count("in_flight", FlowOut.IN_FLIGHT),
    same("acked", FlowOut.ACKED, by=(By("flows", lambda out: out.of_tcp(FlowOut.ACKED)),)),
    same("in_order", FlowOut.IN_ORDER, by=(By("flows", lambda out: out.of_tcp(FlowOut.IN_ORDER)),)),
    same("fairness", _fairness, when=SharedOutput.has_lasting_tcp),
    same("loss_ratio", _loss_ratio, when=SharedOutput.has_udp),
    same(
        "mean_cwnd_packets", lambda out: over(np.nanmean, out.mean_cwnd), when=SharedOutput.has_lasting_tcp,
        by=(By("flows", lambda out: out.mean_cwnd),),
    ),
    same(
        "mean_rtt_s", lambda out: over(np.nanmean, out.mean_rtt_s), when=SharedOutput.has_lasting_tcp,
        by=(By("flows", lambda out: out.mean_rtt_s),),
    ),
    same(
        "completion_s", _all_completed_s, when=SharedOutput.has_finite,
        by=(By("flows", lambda out: out.completion_s),),
    ),
    same(
        "mean_queue", lambda out: over(np.nanmax, out.mean_queue),
        by=(By("links", lambda out: out.mean_queue),),
    ),
    # Outcomes of flows and links only.
    same("useful_bits", None, by=(By("flows", lambda out: out.useful_bits),)),
    same("acked_bits", None, by=(By("flows", SharedOutput.acked_bits),)),
    same("base_rtt_s", None, by=(By("flows", SharedOutput.base_rtt_s),)),
    same("in_flight_before", None, by=(By("flows", FlowOut.IN_FLIGHT_BEFORE),)),
    same("arrivals", None, by=(By("links", LinkOut.ARRIVALS),)),
    same("drops", None, by=(By("links", LinkOut.DROPS),)),
)  # fmt: skip
"""Outcomes of networks of shared links, and those of flows, links and classes of arriving flows."""

OF_FLOW = tuple(outcome.name for outcome in OUTCOMES if any(by.part == "flows" for by in outcome.by))
"""Names of the outcomes of a flow."""


class Tables(NamedTuple):
    """Outcomes by flow and by link; zero for those that a row does not have."""

    flows: Ints  # [n, F, FlowOut.COLUMNS]
    links: Ints  # [n, L, LinkOut.COLUMNS]


def tables(integers: Ints, rows: SharedRows) -> Tables:
    """Return the tables in the integers [n, ...] of a launch of `rows`, or in the `Outcomes` of a scenario.

    The rows of a scenario are `netcarlo.simulation.ensemble.build(scenario).rows`.
    """
    n, end = len(integers), SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS
    of_links = rows.links.shape[1] * LinkOut.COLUMNS
    return Tables(
        integers[:, SharedOut.COLUMNS : end].reshape(n, -1, FlowOut.COLUMNS),
        integers[:, end : end + of_links].reshape(n, -1, LinkOut.COLUMNS),
    )


def by_flow(integers: Ints, rows: SharedRows) -> dict[str, Ints | Floats]:
    """Return the outcomes of the flows [n, F] by name; NaN for flows that a row does not have, and TCP
    outcomes of UDP.

    All but `completion_s` count from the end of the warm-up. `in_flight_before` are the data packets in
    flight at that time, so that for every flow `sent` + `in_flight_before` = `received` + `drops_queue` +
    `drops_random` + `in_flight`.

    `goodput_bps` is new payload over the time from the start or the end of the warm-up, whichever is later,
    to the end or to the arrival of the last missing packet.
    """
    return by_part(OUTCOMES, "flows", SharedOutput(rows, integers))


def by_link(integers: Ints, rows: SharedRows) -> dict[str, Ints | Floats]:
    """Return the outcomes of the links [n, L] by name; NaN for links that a row does not have.

    Outcomes count from the end of the warm-up. `drop_ratio` is `drops` over `arrivals`, without packets that
    reached a queue with AQM during the warm-up and are dropped after it.
    """
    return by_part(OUTCOMES, "links", SharedOutput(rows, integers))


def named(integers: Ints, rows: SharedRows) -> dict[str, Any]:
    """Return the outcomes of rows [n] by name, [n] each."""
    p = rows.parameters
    if (many := np.flatnonzero(integers[:, SharedOut.STATUS] == STATUS_NO_NUMBER)).size:
        count, words = int(p[many[0], Shared.FLOWS]), np.zeros(Word.SIZE, np.int64)
        packet.divide(words, count, detours.longest(p[many[0]], rows.flows[many[0]]))
        most = 1 << int(packet.number_bits(words))
        raise InputError(
            f"duration is too long: a flow of row {many[0]} sends more than {most} packets, the maximum that "
            f"can be numbered with {count} flows; shorten it, or lower a count"
        )
    return evaluated(OUTCOMES, SharedOutput(rows, integers))
