"""Outcomes of 802.11 networks and of their flows."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.senders import NAMES
from netcarlo.kernels.wireless.layout import Flow, FlowOut, NodeOut, Radio, WifiOut, WifiRows
from netcarlo.networks import completions
from netcarlo.networks.causes import Fields, Lost
from netcarlo.networks.outcome import LESS, MORE, NEITHER, SHARE, By, Column, Outcome, same
from netcarlo.networks.output import by_part, evaluated
from netcarlo.networks.wireless import edca_outcomes
from netcarlo.networks.wireless.output import WifiOutput, least, quantile_s
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors

RESOLUTION = "interpolated in a bin 12 to 25 % of it wide"
"""Accuracy of delay quantiles: the kernel counts delays in four bins per octave, from 8 us to 137 s."""


def _count(name: str, column: Column, **fields: Any) -> Outcome:
    return same(name, column, by=(By("flows", column),), **fields)


def _share(out: WifiOutput, columns: FlowOut) -> Floats:
    return np.asarray(out[columns] / divisors(out[FlowOut.SENT]))


def _loss_ratio(out: WifiOutput) -> Floats:
    sent = np.where(out.tcp, 0, out.table(FlowOut)[:, :, FlowOut.SENT]).sum(axis=1)
    return np.asarray(out[FlowOut.LOST] / divisors(sent))


def _mean_delay_s(out: WifiOutput) -> Floats:
    delay_us = out[FlowOut.DELAY_SUM]  # NEVER if not known
    return np.where(delay_us >= 0, delay_us / 1e6 / divisors(out[FlowOut.DELIVERED]), np.nan)


def _quantile_s(out: WifiOutput, share: float) -> Floats:
    return quantile_s(out.table(FlowOut), share)


def _fairness(out: WifiOutput) -> Floats:
    mine = np.where(out.counted(out.there & ~out.slots), out.goodput, 0.0)
    squares = out.counted(out.there & ~out.slots).sum(axis=1) * (mine**2).sum(axis=1)
    return np.asarray(mine.sum(axis=1) ** 2 / divisors(squares))


def _best_bps(out: WifiOutput) -> Floats:
    bits = out.table(FlowOut)[:, :, FlowOut.BEST] * out.flows[:, :, Flow.SIZE] * 8.0
    return np.asarray(bits.max(axis=1, initial=0.0) / (divisors(out.p[:, Radio.BIN]) / NS))


def _source_done_s(out: WifiOutput) -> Floats:
    return out.all_done(np.where(out.ends, out.table(FlowOut)[:, :, FlowOut.SOURCE_DONE], -1))


def _first_delivery_s(out: WifiOutput) -> Floats:
    times = out.table(FlowOut)[:, :, FlowOut.FIRST_RX]
    return least(times.astype(np.float64), out.there & (times >= 0)) / NS


def _last_delivery_s(out: WifiOutput) -> Floats:
    times = np.where(out.there, out.table(FlowOut)[:, :, FlowOut.LAST_RX], -1).max(axis=1, initial=-1)
    return np.where(times >= 0, times, np.nan) / NS


def _goodput_bps(out: WifiOutput, number: int) -> Floats:
    return out.mean(out.of_kind(number))


def _has_kind(out: WifiOutput, number: int) -> Bools:
    return np.asarray(out.of_kind(number).any(axis=1))


OUTCOMES = (
    Outcome(
        "loss_ratio", _loss_ratio, LESS, "share of the UDP packets sent that were lost by the end", SHARE,
        when=WifiOutput.has_udp,
    ),
    Outcome(
        "loss_source", partial(_share, columns=FlowOut.DROPS_SOURCE), LESS, "share of the data packets "
        "sent that the first queue dropped", SHARE,
    ),
    Outcome(
        "loss_relay", partial(_share, columns=FlowOut.DROPS_RELAY), LESS, "share of the data packets "
        "sent that the queues of relays dropped", SHARE,
        cause=Fields("chain", "tree", "area", "places", "nodes"),
    ),
    Outcome(
        "loss_retries", partial(_share, columns=FlowOut.RETRY_LOST), LESS, "share of the data packets "
        "sent that were dropped after too many attempts", SHARE,
        lost=Lost("after too many attempts"),
    ),
    Outcome(
        "loss_leg", partial(_share, columns=FlowOut.DROPS_LEG), LESS, "share of the data packets sent "
        "that a full wire or host dropped", SHARE,
        cause=Fields("wire", "sender_delay", "receiver"), lost=Lost("on wires and hosts"),
    ),
    Outcome(
        "mean_delay_s", _mean_delay_s, LESS, "mean time from first transmission to arrival, over distinct "
        "data packets", fluid=False,
    ),
    Outcome(
        "delay_p50_s", partial(_quantile_s, share=0.5), LESS,
        f"median time from first transmission to arrival, {RESOLUTION}", fluid=False,
    ),
    Outcome(
        "delay_p95_s", partial(_quantile_s, share=0.95), LESS,
        f"95 % quantile of the time from first transmission to arrival, {RESOLUTION}", fluid=False,
    ),
    Outcome(
        "delay_p99_s", partial(_quantile_s, share=0.99), LESS,
        f"99 % quantile of the time from first transmission to arrival, {RESOLUTION}", fluid=False,
    ),
    Outcome(
        "fairness", _fairness, MORE, "Jain's index of the goodputs of the flows: 1 if they are equal", SHARE,
    ),
    Outcome(
        "best_bps", _best_bps, MORE, "most payload of a flow that arrived in an interval of length "
        "best_interval", when=WifiOutput.has_intervals, fluid=False,
    ),
    Outcome(
        "source_done_s", _source_done_s, LESS, "from the start to the sending of the last packet of a "
        "finite transfer, warm-up included", when=WifiOutput.all_end, fluid=False,
    ),
    Outcome(
        "attempts", NodeOut.ATTEMPTS, NEITHER, "data frames (RTS where there is one) sent, all "
        "nodes",
    ),
    Outcome(
        "attempts_station", lambda out: out.table(NodeOut)[:, 0, NodeOut.ATTEMPTS], NEITHER,
        "data frames (RTS where there is one) sent by node 0",
    ),
    Outcome(
        "failed_attempt_ratio", lambda out: out[NodeOut.FAILED] / divisors(out[NodeOut.ATTEMPTS]), LESS,
        "share of the attempts without a response", SHARE,
    ),
    Outcome("retry_drops", NodeOut.RETRY_DROPS, LESS, "frames dropped after too many attempts"),
    Outcome(
        "collisions", NodeOut.COLLIDED, LESS, "data frames that another transmission destroyed at their "
        "receiver", fluid=False,
    ),
    Outcome(
        "noise_losses", NodeOut.NOISE, LESS, "data frames that noise destroyed", fluid=False,
        cause=Fields("frame_error"),
    ),
    Outcome(
        "air_data", lambda out: out[NodeOut.AIR_DATA] / out.time_ns, NEITHER, "share of the time that data "
        "frames take, summed over the nodes", label="airtime of data",
    ),
    Outcome(
        "air_failed", lambda out: out[NodeOut.AIR_FAILED] / out.time_ns, LESS, "share of the time that data "
        "frames without a response take, summed over the nodes", fluid=False,
        label="airtime of failed frames",
    ),
    Outcome(
        "air_control", lambda out: out[NodeOut.AIR_CONTROL] / out.time_ns, NEITHER,
        "share of the time that RTS, CTS and ACK take, summed over the nodes", fluid=False,
        label="airtime of control frames",
    ),
    Outcome(
        "mean_queue", lambda out: out.table(NodeOut)[:, :, NodeOut.QUEUE_SUM].max(axis=1) * 1e3 / out.time_ns,
        LESS, "mean length of the longest queue", fluid=False,
    ),
    Outcome(
        "upload_bps", lambda out: out.total(out.up), MORE, "goodput of all flows to the gateway, where "
        "flows are a list", label="uploads", when=lambda out: out.up.any(axis=1),
    ),
    Outcome(
        "download_bps", lambda out: out.total(out.down), MORE, "goodput of all flows from the gateway, "
        "where flows are a list", label="downloads", when=lambda out: out.down.any(axis=1),
    ),
    Outcome(
        "worst_upload_bps", lambda out: out.least(out.up), MORE, "goodput of the flow to the gateway that "
        "gets least, where flows are a list", label="goodput of the worst-off upload",
        when=lambda out: (out.up & ~out.slots).any(axis=1),
    ),
    Outcome(
        "worst_download_bps", lambda out: out.least(out.down), MORE, "goodput of the flow from the gateway "
        "that gets least, where flows are a list", label="goodput of the worst-off download",
        when=lambda out: (out.down & ~out.slots).any(axis=1),
    ),
    same(
        "goodput_bps", lambda out: np.nansum(out.goodput * out.part, axis=1),
        by=(By("flows", lambda out: np.where(out.there, out.goodput, np.nan)),),
    ),
    same("throughput_bps", lambda out: np.nansum(out.throughput * out.part, axis=1)),
    _count("delivered", FlowOut.DELIVERED),
    same("in_order", lambda out: out.arrived.sum(axis=1)),
    _count("received", FlowOut.RECEIVED),
    _count("sent", FlowOut.SENT),
    _count("retransmitted", FlowOut.RETRANSMITTED, fluid=False),
    _count("timeouts", FlowOut.TIMEOUTS, fluid=False),
    _count("fast_retransmits", FlowOut.FAST_RETRANSMITS, fluid=False),
    _count("cwnd_reductions", FlowOut.CWND_CUTS, fluid=False),
    _count("drops_queue", (FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY)),
    _count("ack_drops", FlowOut.ACKS_LOST, fluid=False),
    _count("in_flight", FlowOut.IN_FLIGHT, fluid=False),
    same("first_delivery_s", _first_delivery_s, fluid=False),
    same("last_delivery_s", _last_delivery_s, fluid=False),
    same(
        "completion_s", lambda out: out.all_done(out.table(FlowOut)[:, :, FlowOut.COMPLETED]),
        when=WifiOutput.all_finite,
    ),
    # Lists of flows.
    same("tcp_goodput_bps", lambda out: out.total(out.listed_tcp), when=WifiOutput.has_listed_tcp),
    same("worst_flow_bps", lambda out: out.least(out.listed_tcp), when=WifiOutput.has_lasting_tcp),
    same("mean_flow_bps", lambda out: out.mean(out.listed_tcp), when=WifiOutput.has_lasting_tcp),
    same("best_flow_bps", lambda out: out.most(out.listed_tcp), when=WifiOutput.has_lasting_tcp),
    *(
        same(f"{kind}_bps", partial(_goodput_bps, number=number), when=partial(_has_kind, number=number))
        for number, kind in NAMES.items()
    ),
    *completions.elsewhere(),
    # Outcomes of flows only.
    *edca_outcomes.OUTCOMES,
    same("drops_leg", None, by=(By("flows", FlowOut.DROPS_LEG),)),
    same("lost_retries", None, by=(By("flows", FlowOut.RETRY_LOST),)),
    same("in_flight_before", None, by=(By("flows", FlowOut.IN_FLIGHT_BEFORE),)),
)  # fmt: skip
"""Outcomes of 802.11 networks and of their flows."""


class Tables(NamedTuple):
    """Outcomes by flow and by node; zero for those that a network does not have."""

    flows: Ints  # [n, F, FlowOut.COLUMNS]
    nodes: Ints  # [n, N, NodeOut.COLUMNS or more]


def tables(
    integers: Ints, *, flows: int, classes: int = 0, arrivals: int = 0, node_columns: int = NodeOut.COLUMNS
) -> Tables:
    """Return the tables in the integers [n, ...] of a launch, or of `Outcomes`, for these numbers of flows,
    of classes with delays and with arrivals, and of columns of a node."""
    n, end = len(integers), WifiOut.COLUMNS + flows * FlowOut.COLUMNS
    behind = integers.shape[1] - classes * DelayOut.COLUMNS - arrivals * ClassOut.COLUMNS
    return Tables(
        integers[:, WifiOut.COLUMNS : end].reshape(n, flows, FlowOut.COLUMNS),
        integers[:, end:behind].reshape(n, -1, node_columns),
    )


def named(integers: Ints, rows: WifiRows) -> dict[str, Any]:
    """Return the outcomes of rows [n] by name, [n] each; `integers` are trimmed."""
    return evaluated(OUTCOMES, WifiOutput(rows, integers))


def by_flow(integers: Ints, rows: WifiRows) -> dict[str, Floats]:
    """Return the outcomes of the flows [n, F] by name; NaN for flows that a row does not have.

    For every flow `sent` + `in_flight_before` = `received` + `drops_queue` + `drops_leg` + `lost_retries` +
    `in_flight` (packets); fluid models do not have `in_flight`.
    """
    return by_part(OUTCOMES, "flows", WifiOutput(rows, integers))
