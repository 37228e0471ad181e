"""Random small ad hoc networks with corner cases: fast nodes, tiny queues, errors, scripted link breaks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from netcarlo.kernels.adhoc.layout import (
    DSR,
    GAUSS_MARKOV,
    GIVEN,
    IDEAL,
    METRE,
    OBSERVE_COMPLETION,
    OBSERVE_END,
    RANDOM_DIRECTION,
    RANDOM_WAYPOINT,
    STATIC,
    Manet,
    ManetRows,
    Place,
)
from netcarlo.kernels.base.layout import ENDLESS, FOREVER
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, RowP, SctpP, UdpP
from netcarlo.kernels.udp.source import MOST_SPREAD
from tests.twins.path.scenarios import make_linux, pick, sctp_parameters, tcp_parameters

US = 1000
MS = 1000 * US
SECOND = 1000 * MS
PROBABILITIES = (0.0, 0.005, 0.05, 0.3, 1.0)
NO_ERROR = 0

Columns = dict[str, int]
Track = list[tuple[float, float, float]]  # time [s], x [m], y [m]

PLAIN: Columns = {
    "NODES": 2, "SOURCE": 0, "SINK": 1, "OBSERVE": OBSERVE_END, "MOBILITY": GIVEN, "WIDTH": 1000 * METRE,
    "HEIGHT": 1000 * METRE, "SPEED_MIN": METRE, "SPEED_MAX": METRE, "LEG": 10**7, "RANGE": 250 * METRE,
    "SENSE": 550 * METRE, "CAPTURE": 3238, "SLOT": 20 * US, "SIFS": 10 * US, "EIFS": 364 * US, "CW_MIN": 31,
    "CW_MAX": 1023, "SHORT_RETRY": 7, "LONG_RETRY": 4, "PREAMBLE": 192 * US, "RTS": 352 * US,
    "CTS": 304 * US, "MAC_ACK": 304 * US, "BYTE_TIME": 4 * US, "BROADCAST_BYTE_TIME": 8 * US, "OVERHEAD": 54,
    "QUEUE": 50, "ROUTING": DSR,
}  # fmt: skip
"""IEEE 802.11 at 2 Mbit/s with long preambles and static nodes."""

FLOW: Columns = {
    "END": 10 * SECOND, "LIMIT": ENDLESS, "WINDOW": 20, "DATA": 1000, "HEADER": 40, "ACK": 40,
    "SACK_BLOCK": 8, "HANDSHAKE": 40, "INITIAL_WINDOW": 2, "INITIAL_SSTHRESH": 20, "TICK": 10 * MS,
    "MIN_RTO": 200 * MS, "MAX_RTO": 60 * SECOND, "INITIAL_RTO": 3 * SECOND, "DUPACKS": 3, "ACK_EVERY": 1,
    "ACK_DELAY": 100 * MS, "SAMPLE": SECOND, "VEGAS_ALPHA": 1, "VEGAS_BETA": 3, "VEGAS_GAMMA": 1,
}  # fmt: skip


def network(
    tracks: Sequence[Track] = (), *, nodes: int = 0, flow: Columns | None = None, **net: int
) -> ManetRows:
    """Return a row with the columns of `PLAIN` and `FLOW` and the given changes.

    `tracks` are the positions of nodes over time."""
    count = len(tracks) or nodes
    parameters = np.zeros((1, Manet.COLUMNS), np.int64)
    for name, value in (FLOW | (flow or {})).items():
        parameters[0, P[name]] = value
    for name, value in (PLAIN | net | {"NODES": count}).items():
        parameters[0, Manet[name]] = value
    times = np.full((1, count, max([1, *map(len, tracks)])), FOREVER)
    places = np.zeros((*times.shape, len(Place)), np.int64)
    for n, track in enumerate(tracks):
        for k, (time, x, y) in enumerate(track):
            times[0, n, k] = round(time * SECOND)
            places[0, n, k] = round(x * METRE), round(y * METRE)
    return ManetRows(parameters, np.zeros((1, 0)), times, places, thresholds(PROBABILITIES))


def stack(rows: Sequence[ManetRows]) -> ManetRows:
    """Concatenate rows as one array, padded to the widest; they share the table of losses."""
    nodes, depth = (max(row.times.shape[axis] for row in rows) for axis in (1, 2))

    def wide(field: NDArray[np.int64], padding: int) -> NDArray[np.int64]:
        missing = [(0, 0), (0, nodes - field.shape[1]), (0, depth - field.shape[2])]
        missing += [(0, 0)] * (field.ndim - 3)
        return np.pad(field, missing, constant_values=padding)

    return ManetRows(
        np.concatenate([row.parameters for row in rows]), np.concatenate([row.constants for row in rows]),
        np.concatenate([wide(row.times, FOREVER) for row in rows]),
        np.concatenate([wide(row.places, 0) for row in rows]), rows[0].losses,
    )  # fmt: skip


def select(rows: ManetRows, chosen: Any) -> ManetRows:
    """Return some rows (a slice or a list of indices)."""
    parameters, constants, times, places = (field[chosen] for field in rows[:4])
    return ManetRows(parameters, constants, times, places, rows.losses)


def manet_rows(count: int, *, seed: int) -> ManetRows:
    """Return `count` scenarios; row k of a seed is the same for every `count`."""
    return stack([_scenario(np.random.default_rng([seed, k, 4])) for k in range(count)])


def large_manet_rows(count: int, *, seed: int) -> ManetRows:
    """Return short scenarios of 65 to 256 nodes; row k of a seed is the same for every `count`."""
    return stack([_scenario(np.random.default_rng([seed, k, 5]), large=True) for k in range(count)])


def _scenario(rng: Generator, *, large: bool = False) -> ManetRows:
    patient = rng.random() < 0.15  # long enough for packets to time out without a route, slow radio
    end = int(rng.uniform(*((40, 60) if patient else (2, 12))) * SECOND)
    window = int(rng.integers(1, 33) if rng.random() < 0.8 else rng.integers(64, 120))
    flow = {
        "SEED": int(rng.integers(0, 1 << 62)), "SCENARIO": int(rng.integers(0, 1 << 32)),
        "REPLICATION": int(rng.integers(0, 1 << 32)), "END": end, "START": pick(rng, 0, SECOND),
        "DATA": pick(rng, 100, 512, 1000, 1460), "HEADER": pick(rng, 0, 40), "ACK": pick(rng, 20, 40),
    } | tcp_parameters(rng, window) | {
        "LIMIT": ENDLESS if rng.random() < 0.5 else int(rng.integers(1, 300)),
        "TICK": pick(rng, MS, 10 * MS, 100 * MS, 500 * MS), "SEND_BUFFER": pick(rng, 0, 0, 5),
        "INITIAL_RTO": pick(rng, 200 * MS, 1000 * MS, 3000 * MS),
        "ACK_DELAY": pick(rng, MS, 20 * MS, 200 * MS), "MIN_RTO": pick(rng, 0, 100 * MS, 200 * MS),
        "MAX_RTO": pick(rng, SECOND, 3 * SECOND, 60 * SECOND), "SAMPLE": SECOND,
    }  # fmt: skip
    if window >= 64:  # more than a node buffers without a route
        flow["INITIAL_WINDOW"] = window
    count = int(rng.integers(65, 257) if large else rng.integers(2, 13))
    source, sink = (int(n) for n in rng.permutation(count)[:2])
    if large:  # short runs, and not too many hops
        flow |= {"START": 0, "END": end // 5}
        sink = (source + int(rng.integers(1, 8))) % count
    reach = int(rng.uniform(80, 250) * METRE)
    net = {
        "SOURCE": source, "SINK": sink, "OBSERVE": pick(rng, OBSERVE_END, OBSERVE_COMPLETION),
        "ROUTING": DSR if patient else pick(rng, DSR, DSR, DSR, IDEAL), "RANGE": reach,
        "SENSE": pick(rng, reach, 3 * reach // 2, 11 * reach // 5, 11 * reach // 5),
        "CAPTURE": pick(rng, 3238, 3238, 1024, 1 << 20),
        "FRAME_LOSS": int(rng.choice([0, 0, 1, 2, 3])),
        "RESIDUAL": int(rng.choice([0, 0, 1, 2, 3])), "ACK_RESIDUAL": int(rng.choice([0, 0, 1, 2, 3])),
    } | _medium_access(rng, patient) | _mobility(rng, count, reach)  # fmt: skip
    if net["MOBILITY"] == GIVEN:
        return network(_tracks(rng, count, reach / METRE, end / SECOND), flow=flow, **net)
    if rng.random() < 0.3:
        near = min(net["WIDTH"], net["HEIGHT"])
        net |= {"APART_MIN": pick(rng, 0, near // 4), "APART_MAX": pick(rng, near // 2, near)}
    if large:
        net |= {"APART_MIN": 0, "APART_MAX": int(rng.integers(1, 5)) * reach}
    return network((), nodes=count, flow=flow, **net)


def _medium_access(rng: Generator, slow: bool) -> Columns:
    columns = {
        "CW_MIN": pick(rng, 31, 31, 7, 1, 0), "SHORT_RETRY": pick(rng, 7, 7, 3, 1),
        "LONG_RETRY": pick(rng, 4, 4, 2, 1), "QUEUE": pick(rng, 50, 200, 10, 3, 1),
        "OVERHEAD": pick(rng, 54, 0), "BYTE_TIME": 32 * US if slow else pick(rng, 4 * US, 4 * US, US, 727),
    }  # fmt: skip
    columns["CW_MAX"] = pick(rng, 1023, 1023, columns["CW_MIN"])
    if rng.random() < 0.3:  # times not on a lattice
        for name in ("SLOT", "SIFS", "EIFS", "RTS", "CTS", "MAC_ACK", "PREAMBLE"):
            columns[name] = PLAIN[name] + int(rng.integers(0, 3000))
    return columns


def _mobility(rng: Generator, count: int, reach: int) -> Columns:
    """Choose an area in which most routes have several hops, and speeds at which they break every few
    seconds.
    """
    side = rng.uniform(0.5, 0.9) * reach * np.sqrt(count)
    squeeze = rng.uniform(0.3, 1.0)
    speeds = sorted(int(v * METRE) for v in rng.uniform(1, rng.choice([5, 40, 100]), 2))
    pauses = sorted(int(p) for p in rng.integers(0, 10**6, 2)) if rng.random() < 0.4 else [0, 0]
    memory = int(rng.integers(0, 1 << 16))
    models = (STATIC, RANDOM_WAYPOINT, RANDOM_WAYPOINT, RANDOM_DIRECTION, GAUSS_MARKOV, GIVEN)
    return {
        "MOBILITY": pick(rng, *models),
        "WIDTH": int(side / squeeze), "HEIGHT": int(side * squeeze), "SPEED_MIN": speeds[0],
        "SPEED_MAX": speeds[1] + 1, "PAUSE_MIN": pauses[0], "PAUSE_MAX": pauses[1],
        "LEG": int(rng.uniform(0.1, 5) * 10**6), "MEMORY": memory,
        "FRESH": int(np.sqrt(2.0**32 - memory**2)), "MOTION_BEFORE": pick(rng, 0, SECOND, 100 * SECOND),
    }  # fmt: skip


def _tracks(rng: Generator, count: int, reach: float, end: float) -> list[Track]:
    """Return the tracks of a line of nodes, one of which sometimes leaves the line for a while."""
    spacing = rng.uniform(0.4, 0.95) * reach
    tracks: list[Track] = []
    for n in range(count):
        home = (n * spacing, 0.0)
        track: Track = [(0.0, *home)]
        time = 0.0
        while rng.random() < 0.8 and len(track) < 12:
            leave = time + rng.uniform(0.05, 0.6) * end
            back = leave + rng.choice([0.0, 0.5, 2.0, 0.9 * end])
            aside = (home[0], rng.choice([1.0, 2.0, 4.0]) * reach)
            track += [(leave, *home), (leave + 0.3, *aside), (back + 0.31, *aside), (back + 0.6, *home)]
            time = back + 0.6
        tracks.append(track)
    return tracks


def describe(rows: ManetRows, row: int) -> str:
    """Return a scenario as a few lines, to be read or typed into a test."""
    values = rows.parameters[row]
    lines = [str({c.name: int(values[c]) for c in P if values[c]})]
    lines += [str({c.name: int(values[c]) for c in Manet if c.name != "COLUMNS"})]
    if values[Manet.MOBILITY] == GIVEN:
        for n in range(values[Manet.NODES]):
            lines.append(f"node {n}: {rows.times[row, n].tolist()} {rows.places[row, n].tolist()}")
    return "\n".join(lines)


def as_datagrams(rows: ManetRows, *, seed: int) -> ManetRows:
    """Return the same networks with a UDP stream each, from light load to overload."""
    rng = np.random.default_rng(seed)
    p = rows.parameters.copy()
    on_air = (p[:, RowP.DATA] + p[:, RowP.HEADER]) * p[:, Manet.BYTE_TIME]
    p[:, UdpP.INTERVAL] = np.maximum(on_air * 10.0 ** rng.uniform(0, 2, len(p)), 1000)
    p[:, UdpP.STOP] = np.where(
        rng.random(len(p)) < 0.3, rng.uniform(0.2, 1, len(p)) * p[:, RowP.END], FOREVER
    )
    jittered = rng.random(len(p)) < 0.5
    spread = np.minimum(p[:, UdpP.INTERVAL] * rng.uniform(0, 3, len(p)), MOST_SPREAD)
    p[:, UdpP.SPREAD] = np.where(jittered, spread, 0)
    p[:, RowP.WINDOW] = 0
    return rows._replace(parameters=p)


def as_sctp(rows: ManetRows, *, seed: int) -> ManetRows:
    """Return the same networks with SCTP instead of TCP."""
    p = rows.parameters.copy()
    for k, row in enumerate(p):
        rng = np.random.default_rng([seed, k, 8])
        header = pick(rng, 0, 16, 20)
        chunk = int(row[RowP.DATA]) + header
        columns = sctp_parameters(rng, chunk, int(row[RowP.WINDOW]))
        columns["INITIAL_RTO"] = pick(rng, 300 * MS, SECOND, 3 * SECOND)
        columns["HEARTBEAT"] = pick(rng, 0, 100 * MS, SECOND, rng.integers(MS, 2 * SECOND))
        if row[RowP.WINDOW] >= 64:  # more than a node buffers without a route
            columns["INITIAL_CWND"] = columns["INITIAL_SSTHRESH"] = columns["RWND"]
        for name, value in (columns | {"CHUNK_HEADER": header}).items():
            row[P[name]] = value
        row[RowP.WINDOW] = row[SctpP.RWND] // chunk
    return rows._replace(parameters=p)


def sctp_manet_rows(count: int, *, seed: int) -> ManetRows:
    """Return `count` scenarios with SCTP; row k of a seed is the same for every `count`."""
    return as_sctp(manet_rows(count, seed=seed), seed=seed)


def as_linux(rows: ManetRows, *, seed: int) -> ManetRows:
    """Return the same networks with current Linux, often with large windows."""
    p = rows.parameters.copy()
    for k, row in enumerate(p):
        make_linux(np.random.default_rng([seed, k, 9]), row)
    return rows._replace(parameters=p)


def linux_manet_rows(count: int, *, seed: int) -> ManetRows:
    """Return `count` scenarios with current Linux; row k of a seed is the same for every `count`."""
    return as_linux(manet_rows(count, seed=seed), seed=seed)
