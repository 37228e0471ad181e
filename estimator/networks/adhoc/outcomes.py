"""Outcomes of ad hoc networks: of the flow, its routes, the links, and the energy of the nodes."""

from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import MOST_ATTEMPTS, Manet, ManetOut, ManetRows, NodeOut
from netcarlo.kernels.base.layout import NS, STATUS_NO_START
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.networks.adhoc.output import AdhocOutput, Power, energy_J, states_s, tables
from netcarlo.networks.causes import Fields, Given, Lost, notifications
from netcarlo.networks.outcome import (
    LESS,
    MORE,
    NEITHER,
    SHARE,
    YES_NO,
    Otherwise,
    Outcome,
    same,
)
from netcarlo.networks.output import Seconds, evaluated
from netcarlo.numerics.arrays import Floats, Ints, divisors
from netcarlo.schema.readable import FRACTION


def _goodput_bps(out: AdhocOutput) -> Floats:
    useful = np.where(out.p[:, UdpP.INTERVAL] > 0, out[ManetOut.DELIVERED], out[ManetOut.IN_ORDER])
    return np.asarray((useful * out.p[:, RowP.DATA] * 8.0 - out.short_bits) / out.active_s)


def _throughput_bps(out: AdhocOutput) -> Floats:
    wire = out[ManetOut.RECEIVED] * (out.p[:, RowP.DATA] + out.p[:, RowP.HEADER])
    return np.asarray((wire * 8.0 - out.short_bits) / out.active_s)


def _completion_s(out: AdhocOutput) -> Floats:
    return np.where(out.completed, out.active_s, np.nan)


def _transfer_bps(out: AdhocOutput) -> Floats:
    payload = out[ManetOut.ACKED] * out.p[:, RowP.DATA] - out.p[:, RowP.SHORT]
    return np.asarray(payload * 8.0 / out.transfer_s())


def _link_changes_per_pair_s(out: AdhocOutput) -> Floats:
    pairs = out.nodes * (out.nodes - 1) / 2
    return np.asarray(out[ManetOut.LINK_CHANGES] / pairs / out.time_us * 1e6)


def _joules_per_megabyte(out: AdhocOutput) -> Floats:
    short = np.where(out.completed, out.p[:, RowP.SHORT], 0)  # missing payload of the last packet
    megabytes = (out[ManetOut.DELIVERED] * out.p[:, RowP.DATA] - short) / 1e6
    return np.asarray(out.joules.sum(axis=1) / divisors(megabytes))


def _network_life_s(out: AdhocOutput) -> Floats:
    battery, most = divisors(out.p[:, Power.BATTERY]) / 1e6, out.joules.max(axis=1, initial=0.0)
    return np.asarray(battery / divisors(most) * out[ManetOut.ELAPSED] / NS)


def _searches(given: Given) -> bool:
    """Cause: a routing protocol that searches for routes (DSR)."""
    return bool(given.network.routing == "dsr")


OUTCOMES = (
    Outcome(
        "elapsed_s", lambda out: out[ManetOut.ELAPSED] / NS, NEITHER, "end of the run: at the end of the "
        "transfer or the duration",
    ),
    Outcome(
        "transfer_s", AdhocOutput.transfer_s, LESS, "from the start to the acknowledgement of the last "
        "packet of a finite transfer", label="transfer time", when=AdhocOutput.finite,
    ),
    Outcome(
        "transfer_bps", _transfer_bps, MORE, "payload of a finite transfer over transfer_s",
        when=AdhocOutput.finite,
    ),
    Outcome(
        "finished", lambda out: out.finished.astype(np.int64), MORE, "1 if a finite transfer was "
        "acknowledged in full, else 0", YES_NO, label="finished transfers", unit=FRACTION,
        when=AdhocOutput.finite, otherwise=Otherwise.COMPUTED,
    ),
    Outcome(
        "probes", ManetOut.PROBES, NEITHER, "probe segments sent",
        cause=notifications,
    ),
    Outcome(
        "probe_cycles", ManetOut.PROBE_CYCLES, NEITHER, "times that the sender stopped to probe, or was "
        "frozen",
        cause=notifications,
    ),
    Outcome(
        "probe_time_s", lambda out: out[ManetOut.PROBE_TIME] / NS, NEITHER,
        "time for which the sender probed or was frozen",
        cause=notifications,
    ),
    Outcome(
        "spared", ManetOut.SPARED, NEITHER, "losses after which the window was not reduced",
        cause=notifications,
    ),
    Outcome(
        "drops_route", ManetOut.DROPS_ROUTE, LESS, "data packets dropped on a broken link without another "
        "route",
        lost=Lost("on broken links"),
    ),
    Outcome(
        "drops_buffer", ManetOut.DROPS_BUFFER, LESS, "data packets dropped while waiting for a route",
        lost=Lost("waiting for a route"),
    ),
    Outcome(
        "mean_route_hops", lambda out: out[ManetOut.HOPS] / divisors(out[ManetOut.ARRIVED]), NEITHER,
        "mean number of hops of the data packets that reached the sink",
    ),
    Outcome(
        "breaks", ManetOut.BREAKS, LESS, "links that the MAC declared broken", label="broken links",
        fluid=False,
    ),
    Outcome(
        "false_breaks", ManetOut.FALSE_BREAKS, LESS,
        "links that the MAC declared broken although they existed",
        label="links declared broken in error",
        cause=_searches,
    ),
    Outcome(
        "discoveries", ManetOut.DISCOVERIES, LESS, "route requests originated", fluid=False,
        cause=_searches,
    ),
    Outcome(
        "routing_frames", ManetOut.ROUTING_FRAMES, LESS, "route requests, replies and errors sent",
        fluid=False,
        cause=_searches,
    ),
    Outcome(
        "route_errors", ManetOut.ROUTE_ERRORS, LESS, "route errors originated", fluid=False,
        cause=_searches,
    ),
    Outcome(
        "salvaged", ManetOut.SALVAGED, NEITHER, "packets sent on another route by the node that found the "
        "link broken", label="salvaged packets", fluid=False,
        cause=_searches,
    ),
    Outcome(
        "shortened", ManetOut.SHORTENED, NEITHER, "routes shortened because a later node heard the packet "
        "itself", fluid=False,
        cause=_searches,
    ),
    Outcome(
        "waited_s", lambda out: out[ManetOut.WAITED] / NS, LESS, "time during which the source had packets "
        "and no route",
    ),
    Outcome(
        "connected_share", lambda out: out[ManetOut.CONNECTED] / out.time_us, MORE,
        "share of the time with a path between source and sink", SHARE, label="time with a path",
        unit=FRACTION,
    ),
    Outcome(
        "split_share", lambda out: out[ManetOut.SPLIT] / out.time_us, LESS, "share of the time in which "
        "some node is out of reach of the source", SHARE, label="time in which some node is out of reach",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_1", lambda out: out[ManetOut.HOPS_1] / out.connected_us, NEITHER,
        "share of the connected time with a shortest path of 1 hop", SHARE, label="connected time with 1 hop",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_2", lambda out: out[ManetOut.HOPS_2] / out.connected_us, NEITHER,
        "share of the connected time with a shortest path of 2 hops", SHARE,
        label="connected time with 2 hops", unit=FRACTION,
    ),
    Outcome(
        "share_hops_3", lambda out: out[ManetOut.HOPS_3] / out.connected_us, NEITHER,
        "share of the connected time with a shortest path of 3 hops", SHARE,
        label="connected time with 3 hops", unit=FRACTION,
    ),
    Outcome(
        "share_hops_4", lambda out: out[ManetOut.HOPS_4] / out.connected_us, NEITHER,
        "share of the connected time with a shortest path of 4 hops", SHARE,
        label="connected time with 4 hops", unit=FRACTION,
    ),
    Outcome(
        "share_hops_5", lambda out: out[ManetOut.HOPS_5] / out.connected_us, NEITHER,
        "share of the connected time with a shortest path of 5 hops or more", SHARE,
        label="connected time with 5 hops or more", unit=FRACTION,
    ),
    Outcome(
        "mean_shortest_hops", lambda out: out[ManetOut.HOPS_SHORTEST] / out.connected_us, NEITHER,
        "mean hops of the shortest path over the connected time",
    ),
    Outcome(
        "mean_kept_hops", lambda out: out[ManetOut.HOPS_KEPT] / out.connected_us, NEITHER,
        "mean hops of a route that is kept until it breaks, over the connected time",
    ),
    Outcome(
        "breaks_per_connected_s", lambda out: out[ManetOut.KEPT_BREAKS] / out.connected_us * 1e6, LESS,
        "breaks per second of connected time of a route that is kept until it breaks",
        label="route breaks while connected", unit="1/s",
    ),
    Outcome(
        "mean_route_life_s", lambda out: out[ManetOut.KEPT_LIFE] / 1e6 / divisors(out[ManetOut.KEPT_BREAKS]),
        MORE, "mean lifetime of routes that are kept until they break",
    ),
    Outcome(
        "outages_per_s", lambda out: out[ManetOut.OUTAGES] / out.time_us * 1e6, LESS,
        "times without a path per second that began and ended in the run", label="outages", unit="1/s",
    ),
    Outcome(
        "mean_outage_s", lambda out: out[ManetOut.OUTAGE_TIME] / 1e6 / divisors(out[ManetOut.OUTAGES]), LESS,
        "mean duration of the times without a path that began and ended in the run",
    ),
    Outcome(
        "link_changes_per_pair_s", _link_changes_per_pair_s, NEITHER,
        "links that appeared or disappeared per second and pair of nodes",
        label="link changes of a pair", unit="1/s",
    ),
    Outcome(
        "mean_degree", lambda out: 2 * out[ManetOut.LINK_TIME] / out.nodes / out.time_us, NEITHER,
        "mean number of nodes in range of a node",
    ),
    Outcome(
        "connected_s", lambda out: out[ManetOut.CONNECTED] / 1e6, MORE,
        "time with a path between source and sink",
    ),
    Outcome("kept_breaks", ManetOut.KEPT_BREAKS, LESS, "breaks of a route that is kept until it breaks"),
    Outcome(
        "kept_life_s", lambda out: out[ManetOut.KEPT_LIFE] / 1e6, NEITHER,
        "sum of the lifetimes of routes that are kept until they break",
    ),
    Outcome("outages", ManetOut.OUTAGES, LESS, "times without a path that began and ended in the run"),
    Outcome(
        "outage_time_s", lambda out: out[ManetOut.OUTAGE_TIME] / 1e6, LESS,
        "sum of the times without a path that began and ended in the run",
    ),
    Outcome(
        "energy_source_J", lambda out: out.of_node(out.joules, Manet.SOURCE), LESS,
        "energy that the source consumed", label="energy of the source", when=AdhocOutput.powered,
        otherwise=Otherwise.COMPUTED, fluid=False,
    ),
    Outcome(
        "energy_sink_J", lambda out: out.of_node(out.joules, Manet.SINK), LESS,
        "energy that the sink consumed", label="energy of the sink", when=AdhocOutput.powered,
        otherwise=Otherwise.COMPUTED, fluid=False,
    ),
    Outcome(
        "energy_J", lambda out: out.joules.sum(axis=1), LESS, "energy that all nodes consumed",
        label="energy", when=AdhocOutput.powered, otherwise=Otherwise.COMPUTED, fluid=False,
    ),
    Outcome(
        "energy_most_J", lambda out: out.joules.max(axis=1, initial=0.0), LESS,
        "energy of the node that consumed most", label="energy of the node that consumes most",
        when=AdhocOutput.powered, otherwise=Otherwise.COMPUTED, fluid=False,
    ),
    Outcome(
        "joules_per_MB", _joules_per_megabyte, LESS, "energy of all nodes over the decimal megabytes of "
        "distinct payload that arrived", label="energy per delivered data", unit="J/MB",
        when=AdhocOutput.powered, otherwise=Otherwise.COMPUTED, fluid=False,
    ),
    Outcome(
        "network_life_s", _network_life_s, MORE, "time until the first battery would be empty at its mean "
        "power", when=AdhocOutput.has_battery, fluid=False,
    ),
    same("goodput_bps", _goodput_bps),
    same("throughput_bps", _throughput_bps),
    same("delivered", ManetOut.DELIVERED),
    same("in_order", ManetOut.IN_ORDER),
    same("received", ManetOut.RECEIVED),
    same("acked", ManetOut.ACKED),
    same("sent", ManetOut.SENT),
    same("retransmitted", ManetOut.RETRANSMITTED),
    same("timeouts", ManetOut.TIMEOUTS),
    same("fast_retransmits", ManetOut.FAST_RETRANSMITS),
    same("cwnd_reductions", ManetOut.CWND_CUTS),
    same("drops_queue", ManetOut.DROPS_QUEUE),
    same("drops_random", ManetOut.DROPS_RANDOM, cause=Fields("frame_error", "residual_error")),
    same("ack_drops", ManetOut.ACK_DROPS, fluid=False),
    same("handshakes", ManetOut.HANDSHAKES, fluid=False),
    same("in_flight", ManetOut.IN_FLIGHT, fluid=False),
    same("attempts", ManetOut.EXCHANGES, fluid=False),
    same(
        "failed_attempt_ratio", lambda out: out[NodeOut.FAILED] / divisors(out[NodeOut.SENT]), fluid=False
    ),
    same("first_delivery_s", Seconds(ManetOut.FIRST_RX), fluid=False),
    same("last_delivery_s", Seconds(ManetOut.LAST_RX), fluid=False),
    same("completion_s", _completion_s, when=AdhocOutput.finite),
)  # fmt: skip
"""Outcomes of ad hoc networks."""


def named(integers: Ints, rows: ManetRows) -> dict[str, Any]:
    """Return the outcomes of rows [n] by name, [n] each."""
    if (seldom := np.flatnonzero(integers[:, ManetOut.STATUS] == STATUS_NO_START)).size:
        raise InputError(
            f"adhoc.mobility.start.apart holds in none of {MOST_ATTEMPTS} draws of row {seldom[0]}; "
            "raise max or lower min"
        )
    return evaluated(OUTCOMES, AdhocOutput(rows, integers))


__all__ = ["OUTCOMES", "Power", "energy_J", "named", "states_s", "tables"]
