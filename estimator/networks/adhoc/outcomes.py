"""What came of an ad hoc network: its flow, its routes, its links, and the energy of its nodes."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import MOST_ATTEMPTS, Manet, ManetOut, ManetRows, NodeOut
from netcarlo.kernels.base.layout import NS, STATUS_NO_START, P
from netcarlo.kernels.base.rows import split
from netcarlo.networks.outcome import FRACTION, LESS, MORE, NEITHER, SHARE, YES_NO, Outcome
from netcarlo.numerics.arrays import Floats, Ints, divisors, seconds


class Power(IntEnum):
    """Columns of `ManetRows.parameters` behind those of the engine, which does not read them."""

    TRANSMIT = Manet.COLUMNS  # [uW]
    RECEIVE = Manet.COLUMNS + 1
    OVERHEAR = Manet.COLUMNS + 2
    IDLE = Manet.COLUMNS + 3
    BATTERY = Manet.COLUMNS + 4  # [uJ]; 0: none


OUTCOMES = (
    Outcome("elapsed_s", NEITHER, "when the run ended: with the transfer or the duration"),
    Outcome(
        "transfer_s",
        LESS,
        "from the start to the acknowledgement of the last packet of a finite transfer",
        label="transfer time",
    ),
    Outcome("transfer_bps", MORE, "payload of a finite transfer over that time"),
    Outcome(
        "finished",
        MORE,
        "1 if a finite transfer was acknowledged in full, else 0",
        YES_NO,
        label="finished transfers",
        unit=FRACTION,
    ),
    Outcome("probes", NEITHER, "probe segments put out"),
    Outcome("probe_cycles", NEITHER, "times that the sender stopped to probe, or was frozen"),
    Outcome("probe_time_s", NEITHER, "time for which it was"),
    Outcome("spared", NEITHER, "losses after which the window was not reduced"),
    Outcome("drops_route", LESS, "data packets given up on a broken link without another route"),
    Outcome("drops_buffer", LESS, "data packets that waited for a route in vain"),
    Outcome("mean_route_hops", NEITHER, "mean number of hops of the data packets that reached the sink"),
    Outcome("breaks", LESS, "links that the MAC gave up", label="broken links"),
    Outcome("false_breaks", LESS, "of those, links that were there", label="links given up that were there"),
    Outcome("discoveries", LESS, "route requests originated"),
    Outcome("routing_frames", LESS, "route requests, replies and errors put on the air"),
    Outcome("route_errors", LESS, "route errors originated"),
    Outcome(
        "salvaged",
        NEITHER,
        "packets sent another way by the node that found the link broken",
        label="salvaged packets",
    ),
    Outcome("shortened", NEITHER, "routes shortened because a later node heard the packet itself"),
    Outcome("waited_s", LESS, "time during which the source had packets and no route"),
    Outcome(
        "connected_share",
        MORE,
        "share of the time with a path between source and sink",
        SHARE,
        label="time with a path",
        unit=FRACTION,
    ),
    Outcome(
        "split_share",
        LESS,
        "share of the time in which some node is out of reach of the source",
        SHARE,
        label="time in which some node is out of reach",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_1",
        NEITHER,
        "share of the connected time with a shortest path of 1 hop",
        SHARE,
        label="connected time with 1 hop",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_2",
        NEITHER,
        "share of the connected time with a shortest path of 2 hops",
        SHARE,
        label="connected time with 2 hops",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_3",
        NEITHER,
        "share of the connected time with a shortest path of 3 hops",
        SHARE,
        label="connected time with 3 hops",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_4",
        NEITHER,
        "share of the connected time with a shortest path of 4 hops",
        SHARE,
        label="connected time with 4 hops",
        unit=FRACTION,
    ),
    Outcome(
        "share_hops_5",
        NEITHER,
        "share of the connected time with a shortest path of 5 hops or more",
        SHARE,
        label="connected time with 5 hops or more",
        unit=FRACTION,
    ),
    Outcome("mean_shortest_hops", NEITHER, "mean hops of the shortest path over the connected time"),
    Outcome(
        "mean_kept_hops",
        NEITHER,
        "mean hops of a route that is kept until it breaks, over the connected time",
    ),
    Outcome(
        "breaks_per_connected_s",
        LESS,
        "breaks of such routes per second of connected time",
        label="route breaks while connected",
        unit="1/s",
    ),
    Outcome("mean_route_life_s", MORE, "mean life of those that broke"),
    Outcome(
        "outages_per_s",
        LESS,
        "times without a path per second that began and ended in the run",
        label="outages",
        unit="1/s",
    ),
    Outcome("mean_outage_s", LESS, "mean length of those"),
    Outcome(
        "link_changes_per_pair_s",
        NEITHER,
        "links that came or went per second and pair of nodes",
        label="link changes of a pair",
        unit="1/s",
    ),
    Outcome("mean_degree", NEITHER, "mean number of nodes in range of a node"),
    Outcome("connected_s", MORE, "time with a path between source and sink"),
    Outcome("kept_breaks", LESS, "breaks of a route that is kept until it breaks"),
    Outcome("kept_life_s", NEITHER, "how long the routes that broke had lived, summed"),
    Outcome("outages", LESS, "times without a path that began and ended in the run"),
    Outcome("outage_time_s", LESS, "how long those were, summed"),
    Outcome("energy_source_J", LESS, "energy that the source drew", label="energy of the source"),
    Outcome("energy_sink_J", LESS, "energy that the sink drew", label="energy of the sink"),
    Outcome("energy_J", LESS, "energy that all nodes drew", label="energy"),
    Outcome(
        "energy_most_J", LESS, "energy of the node that drew most", label="energy of the node that draws most"
    ),
    Outcome(
        "joules_per_MB",
        LESS,
        "energy of all nodes over the decimal megabytes of distinct payload that arrived",
        label="energy per delivered data",
        unit="J/MB",
    ),
    Outcome("network_life_s", MORE, "time until the first battery would be empty at its mean power"),
)
"""The outcomes that only ad hoc networks have."""

MEANING = {outcome.name: outcome.meaning for outcome in OUTCOMES}

COUNTS = {
    "delivered": ManetOut.DELIVERED,
    "in_order": ManetOut.IN_ORDER,
    "received": ManetOut.RECEIVED,
    "acked": ManetOut.ACKED,
    "sent": ManetOut.SENT,
    "retransmitted": ManetOut.RETRANSMITTED,
    "timeouts": ManetOut.TIMEOUTS,
    "fast_retransmits": ManetOut.FAST_RETRANSMITS,
    "cwnd_reductions": ManetOut.CWND_CUTS,
    "drops_queue": ManetOut.DROPS_QUEUE,
    "drops_random": ManetOut.DROPS_RANDOM,
    "drops_route": ManetOut.DROPS_ROUTE,
    "drops_buffer": ManetOut.DROPS_BUFFER,
    "ack_drops": ManetOut.ACK_DROPS,
    "handshakes": ManetOut.HANDSHAKES,
    "in_flight": ManetOut.IN_FLIGHT,
    "attempts": ManetOut.EXCHANGES,
    "probes": ManetOut.PROBES,
    "probe_cycles": ManetOut.PROBE_CYCLES,
    "spared": ManetOut.SPARED,
    "breaks": ManetOut.BREAKS,
    "false_breaks": ManetOut.FALSE_BREAKS,
    "discoveries": ManetOut.DISCOVERIES,
    "routing_frames": ManetOut.ROUTING_FRAMES,
    "route_errors": ManetOut.ROUTE_ERRORS,
    "salvaged": ManetOut.SALVAGED,
    "shortened": ManetOut.SHORTENED,
    "kept_breaks": ManetOut.KEPT_BREAKS,
    "outages": ManetOut.OUTAGES,
}


LOST = [ManetOut.DROPS_QUEUE, ManetOut.DROPS_ROUTE, ManetOut.DROPS_BUFFER, ManetOut.DROPS_RANDOM]
"""All ways to be lost."""


def tables(integers: Ints, rows: ManetRows) -> Ints:
    """The outcomes by node, [n, N, NodeOut.COLUMNS], in the integers [n, ...] of `rows`.

    Those of nodes that a row does not have are zero.
    """
    return split(integers, rows)["nodes"]


def states_s(integers: Ints, rows: ManetRows) -> dict[str, Floats]:
    """How long each node is in each state of its radio, [n, N] each; zero for nodes that are not there.

    Frames on the air at the end count in full.  NaN where that is not known (of a fluid).
    """
    nodes = tables(integers, rows)
    found = {
        "transmit": nodes[:, :, NodeOut.TRANSMIT],
        "receive": nodes[:, :, NodeOut.RECEIVE],
        "overhear": nodes[:, :, NodeOut.OVERHEAR],
    }
    elapsed = np.where(_present(rows), integers[:, ManetOut.ELAPSED, None], 0)
    found["idle"] = np.maximum(elapsed - sum(found.values()), 0)
    known = found["transmit"] >= 0
    return {state: np.where(known, time / NS, np.nan) for state, time in found.items()}


def energy_J(integers: Ints, rows: ManetRows) -> Floats:  # noqa: N802
    """The energy that each node drew, [n, N]; zero for nodes that are not there."""
    watts = {power.name.lower(): rows.parameters[:, power, None] / 1e6 for power in Power}
    return np.asarray(sum(time * watts[state] for state, time in states_s(integers, rows).items()))


def named(integers: Ints, rows: ManetRows) -> dict[str, Ints | Floats]:
    """The outcomes of rows [n] by name, [n] each."""
    if (seldom := np.flatnonzero(integers[:, ManetOut.STATUS] == STATUS_NO_START)).size:
        raise InputError(
            f"adhoc.mobility.start.apart is so in none of {MOST_ATTEMPTS} draws of row {seldom[0]}; allowed "
            "is what some of them have; raise max or lower min"
        )
    found: dict[str, Ints | Floats] = {name: integers[:, column] for name, column in COUNTS.items()}
    return found | _flow(integers, rows) | _network(integers, rows) | _energy(integers, rows)


def _flow(out: Ints, rows: ManetRows) -> dict[str, Ints | Floats]:
    p = rows.parameters
    start, elapsed = p[:, P.START], out[:, ManetOut.ELAPSED]
    done, finished = out[:, ManetOut.COMPLETED] >= 0, out[:, ManetOut.FINISHED] >= 0
    active_s = divisors(np.where(done, out[:, ManetOut.COMPLETED], elapsed) - start) / NS
    useful = np.where(p[:, P.INTERVAL] > 0, out[:, ManetOut.DELIVERED], out[:, ManetOut.IN_ORDER])
    transfer_s = np.where(finished, (out[:, ManetOut.FINISHED] - start) / NS, np.nan)
    short_bits = np.where(done, 8.0 * p[:, P.SHORT], 0.0)  # of the last packet
    wire = out[:, ManetOut.RECEIVED] * (p[:, P.DATA] + p[:, P.HEADER])
    nodes = tables(out, rows)
    return {
        "goodput_bps": (useful * p[:, P.DATA] * 8.0 - short_bits) / active_s,
        "throughput_bps": (wire * 8.0 - short_bits) / active_s,
        "first_delivery_s": seconds(out[:, ManetOut.FIRST_RX]),
        "last_delivery_s": seconds(out[:, ManetOut.LAST_RX]),
        "completion_s": np.where(done, active_s, np.nan),
        "elapsed_s": elapsed / NS,
        "transfer_s": transfer_s,
        "transfer_bps": (out[:, ManetOut.ACKED] * p[:, P.DATA] - p[:, P.SHORT]) * 8.0 / transfer_s,
        "finished": finished.astype(np.int64),
        "probe_time_s": out[:, ManetOut.PROBE_TIME] / NS,
        "waited_s": out[:, ManetOut.WAITED] / NS,
        "mean_route_hops": out[:, ManetOut.HOPS] / divisors(out[:, ManetOut.ARRIVED]),
        "failed_attempt_ratio": nodes[:, :, NodeOut.FAILED].sum(axis=1)
        / divisors(nodes[:, :, NodeOut.SENT].sum(axis=1)),
    }


def _network(out: Ints, rows: ManetRows) -> dict[str, Ints | Floats]:
    nodes = rows.parameters[:, Manet.NODES]
    time_us = divisors(out[:, ManetOut.ELAPSED] // 1000)
    connected_us = divisors(out[:, ManetOut.CONNECTED])
    breaks, outages = out[:, ManetOut.KEPT_BREAKS], out[:, ManetOut.OUTAGES]
    hops = {f"share_hops_{k}": out[:, ManetOut.HOPS_1 + k - 1] / connected_us for k in range(1, 6)}
    return {
        **hops,
        "connected_share": out[:, ManetOut.CONNECTED] / time_us,
        "split_share": out[:, ManetOut.SPLIT] / time_us,
        "mean_shortest_hops": out[:, ManetOut.HOPS_SHORTEST] / connected_us,
        "mean_kept_hops": out[:, ManetOut.HOPS_KEPT] / connected_us,
        "breaks_per_connected_s": breaks / connected_us * 1e6,
        "mean_route_life_s": out[:, ManetOut.KEPT_LIFE] / 1e6 / divisors(breaks),
        "outages_per_s": outages / time_us * 1e6,
        "mean_outage_s": out[:, ManetOut.OUTAGE_TIME] / 1e6 / divisors(outages),
        "link_changes_per_pair_s": out[:, ManetOut.LINK_CHANGES]
        / (nodes * (nodes - 1) / 2) / time_us * 1e6,
        "mean_degree": 2 * out[:, ManetOut.LINK_TIME] / nodes / time_us,
        "connected_s": out[:, ManetOut.CONNECTED] / 1e6,
        "kept_life_s": out[:, ManetOut.KEPT_LIFE] / 1e6,
        "outage_time_s": out[:, ManetOut.OUTAGE_TIME] / 1e6,
    }  # fmt: skip


def _energy(out: Ints, rows: ManetRows) -> dict[str, Ints | Floats]:
    p, each = rows.parameters, np.arange(len(out))
    joules = energy_J(out, rows)
    most, total = joules.max(axis=1, initial=0.0), joules.sum(axis=1)
    short = np.where(out[:, ManetOut.COMPLETED] >= 0, p[:, P.SHORT], 0)  # of the last packet
    megabytes = (out[:, ManetOut.DELIVERED] * p[:, P.DATA] - short) / 1e6
    battery = divisors(p[:, Power.BATTERY]) / 1e6
    return {
        "energy_source_J": joules[each, p[:, Manet.SOURCE]],
        "energy_sink_J": joules[each, p[:, Manet.SINK]],
        "energy_J": total,
        "energy_most_J": most,
        "joules_per_MB": total / divisors(megabytes),
        "network_life_s": battery / divisors(most) * out[:, ManetOut.ELAPSED] / NS,
    }


def _present(rows: ManetRows) -> NDArray[np.bool_]:
    """Which nodes [n, N] there are."""
    return np.asarray(np.arange(rows.times.shape[1]) < rows.parameters[:, Manet.NODES, None])
