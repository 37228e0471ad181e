"""Random small scenarios that cover corner cases: ties, tiny queues, outages, losses, cross traffic."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from netcarlo.kernels.adhoc.layout import ManetRows
from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    CHANCE_BITS,
    ENDLESS,
    FOREVER,
    MPTCP_PATHS,
    PATHS,
    WITH_SUBFLOWS,
    Hop,
    Rows,
)
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import LinuxP, MobileP, MptcpP, P, ReliableP, RowP, SctpP, TcpP, UdpP
from netcarlo.kernels.base.varying import HEAD, Head
from netcarlo.kernels.udp.source import MOST_SPREAD

MS = 1_000_000
SECOND = 1_000 * MS
HOPS = 3
OUTAGES = 3
PROBABILITIES = (0.0, 1e-6, 0.003, 0.02, 0.1, 0.3, 1.0)
DATA_PACKETS = 600
"""Approximate number of packets that the slowest hop of a scenario carries."""
OneFlow = TypeVar("OneFlow", Rows, ManetRows)


def tcp_rows(count: int, *, seed: int) -> Rows:
    """Return `count` scenarios for the TCPs; row k of a seed is the same for every `count`."""
    return stack([_tcp_row(np.random.default_rng([seed, k])) for k in range(count)])


def stack(rows: Sequence[Rows]) -> Rows:
    """Concatenate rows as one array; they share the table of loss probabilities."""
    together = {name: np.concatenate([getattr(row, name) for row in rows]) for name in Rows._fields[:4]}
    return Rows(**together, losses=rows[0].losses)


def select(rows: Rows, chosen: Any) -> Rows:
    """Return some rows (a slice or a list of indices)."""
    chosen_rows = {name: getattr(rows, name)[chosen] for name in Rows._fields[:4]}
    return Rows(**chosen_rows, losses=rows.losses)


def empty_row(outages: int = OUTAGES) -> Rows:
    """Return a row of zeros without hops, outages or losses."""
    return Rows(
        np.zeros((1, len(P)), np.int64),
        np.zeros((1, 0)),
        np.zeros((1, PATHS, HOPS, len(Hop)), np.int64),
        np.full((1, PATHS, HOPS, outages, 2), FOREVER, np.int64),
        thresholds(PROBABILITIES),
    )


def pick(rng: Generator, *values: int | np.int64) -> int:
    """Return one of the values."""
    return int(values[rng.integers(len(values))])


def fill(row: Rows, values: dict[str, int]) -> None:
    for name, value in values.items():
        row.parameters[0, P[name]] = value


def _tcp_row(rng: Generator) -> Rows:
    row = empty_row()
    window = int(rng.integers(1, 65) if rng.random() < 0.9 else rng.integers(65, 400))
    on_lattice = bool(rng.random() < 0.4)
    data, header = int(rng.integers(100, 1461)), int(rng.choice([0, 20, 40, 60]))
    ack = int(rng.integers(20, 81))
    if on_lattice:  # whole milliseconds everywhere: many events at the same instant
        data, header, ack = 960, 40, 1000 if rng.random() < 0.2 else 0
    size = data + header
    slowest = choose_hops(rng, row, 0, on_lattice)
    end = max(SECOND, min(DATA_PACKETS * slowest * size, int(rng.uniform(2.0, 20.0) * SECOND)))
    fill(row, common(rng, end, on_lattice) | tcp_parameters(rng, window))
    fill(row, {"DATA": data, "HEADER": header, "ACK": ack})
    choose_outages(rng, row, 0, end, on_lattice)
    choose_cross_traffic(rng, row, 0, end, on_lattice)
    choose_ticks(rng, row, 0, on_lattice)
    if rng.random() < 0.3:
        room = int(rng.integers(1, 50))
        fill(row, {"SEND_BUFFER": room, "SEND_WAKE": pick(rng, 2 * room // 3, rng.integers(0, room))})
    return row


def tcp_parameters(rng: Generator, window: int) -> dict[str, int]:
    """Set the parameters of a TCP, apart from sizes."""
    alpha, beta = sorted(int(value) for value in rng.integers(0, 6, 2))
    return {
        "LIMIT": ENDLESS if rng.random() < 0.6 else int(rng.integers(1, 200)),
        "WINDOW": window,
        "SACK_BLOCK": int(rng.choice([0, 8, 8, 8, 30])),
        "HANDSHAKE": int(rng.choice([0, 40, 40, 40, 1000])),
        "INITIAL_WINDOW": int(rng.integers(1, 11)),
        "INITIAL_SSTHRESH": window if rng.random() < 0.5 else int(rng.integers(1, 100)),
        "TICK": pick(rng, MS, 10 * MS, 10 * MS, 100 * MS, 500 * MS, rng.integers(1000, SECOND)),
        "CLOCK_PHASE": int(rng.integers(0, SECOND)),
        "MIN_RTO": int(rng.choice([0, 200, 200, 200, 1000]) * MS),
        "MAX_RTO": int(rng.choice([1, 3, 60, 60, 60]) * SECOND),
        "INITIAL_RTO": int(rng.choice([500, 1000, 3000, 3000]) * MS),
        "DUPACKS": int(rng.choice([1, 2, 3, 3, 3, 3, 3, 5])),
        "ACK_EVERY": int(rng.choice([1, 1, 2])),
        "ACK_DELAY": int(rng.choice([1, 10, 100, 200, 500]) * MS),
        "VEGAS_ALPHA": alpha, "VEGAS_BETA": beta, "VEGAS_GAMMA": int(rng.integers(0, 4)),
    }  # fmt: skip


def sctp_rows(count: int, *, seed: int) -> Rows:
    """Return `count` scenarios for SCTP over one or two paths; row k of a seed is the same for
    every `count`."""
    return stack([_sctp_row(np.random.default_rng([seed, k, 1])) for k in range(count)])


def _sctp_row(rng: Generator) -> Rows:
    row = empty_row()
    paths = int(rng.integers(1, PATHS + 1))
    window = int(rng.integers(1, 65))
    on_lattice = bool(rng.random() < 0.4)
    data, chunk_header, header = int(rng.integers(100, 1461)), int(rng.choice([0, 16, 20])), 32
    if on_lattice:
        data, chunk_header, header = 952, 16, 32
    chunk = data + chunk_header
    slowest = max(choose_hops(rng, row, path, on_lattice) for path in range(paths))
    size = chunk + header
    end = max(SECOND, min(DATA_PACKETS // 2 * slowest * size, int(rng.uniform(3.0, 100.0) * SECOND)))
    fill(
        row,
        common(rng, end, on_lattice)
        | {
            "LIMIT": ENDLESS if rng.random() < 0.6 else int(rng.integers(1, 200)),
            "N_PATHS": paths,
            "DATA": data,
            "CHUNK_HEADER": chunk_header,
            "HEADER": header,
            "ACK": 968 if on_lattice else int(rng.integers(20, 81)),
            "SACK_BLOCK": int(rng.choice([0, 4, 4, 4])),
            **sctp_parameters(rng, chunk, window),
        },
    )
    for path in range(paths):
        choose_outages(rng, row, path, end, on_lattice)
        choose_cross_traffic(rng, row, path, end, on_lattice)
        choose_ticks(rng, row, path, on_lattice)
    row.parameters[0, SctpP.FAILBACK] = rng.integers(0, 2)
    return row


def mptcp_rows(count: int, *, seed: int) -> Rows:
    """Return `count` scenarios for MPTCP over one or two paths; row k of a seed is the same for every
    `count`."""
    return stack([_mptcp_row(np.random.default_rng([seed, k, 48])) for k in range(count)])


def coupled_rows(count: int, *, seed: int) -> Rows:
    """Return `count` scenarios for coupled controls of MPTCP over one to four paths; row k of a seed is the
    same for every `count`."""
    rows = mptcp_rows(count, seed=seed)
    for k in range(count):
        rng, row = np.random.default_rng([seed, k, 49]), select(rows, [k])
        p = row.parameters[0]
        p[MptcpP.COUPLING] = pick(rng, 1, 2, 3)
        if p[MptcpP.SUBFLOWS] == 2:
            p[MptcpP.SUBFLOWS] = pick(rng, 2, 3, 3, 4)
            p[MptcpP.BACKUP] = pick(rng, 0, 0, 0, 0, 2, 4, 9)
        for path in range(2, int(p[MptcpP.SUBFLOWS])):
            choose_hops(rng, row, path, bool(p[RowP.DATA] == 960))
            choose_outages(rng, row, path, int(p[RowP.END]), bool(p[RowP.DATA] == 960))
        rows.parameters[k], rows.hops[k], rows.outages[k] = p, row.hops[0], row.outages[0]
    return rows


def _with_paths(row: Rows, paths: int) -> Rows:
    """Return a row with room for `paths` paths."""
    more = [(0, 0), (0, paths - row.hops.shape[1])]
    hops = np.pad(row.hops, more + 2 * [(0, 0)])
    return row._replace(hops=hops, outages=np.pad(row.outages, more + 3 * [(0, 0)], constant_values=FOREVER))


def _mptcp_row(rng: Generator) -> Rows:
    row = _with_paths(_tcp_row(rng), MPTCP_PATHS)
    p = row.parameters[0]
    make_linux(rng, p)
    p[ReliableP.ACK_EVERY] = 2
    subflows = 2 if rng.random() < 0.9 else 1
    on_lattice = bool(p[RowP.DATA] == 960)
    p[MptcpP.SUBFLOWS] = subflows
    p[MptcpP.BACKUP] = pick(rng, 0, 0, 0, 1, 2, 3)
    p[MptcpP.STALE_LOSS_CNT] = pick(rng, 0, 1, 4, 4, 4)
    p[MptcpP.PER_MSS] = pick(rng, 2304, 4352, 4352)
    p[RowP.QUEUES] = WITH_SUBFLOWS
    if rng.random() < 0.3:  # fast enough for the window to matter
        p[RowP.WINDOW] = rng.integers(50, 1500)
        row.hops[0, 0, :, [Hop.BYTE_TIME, Hop.R_BYTE_TIME]] //= 10
    if subflows > 1:
        choose_hops(rng, row, 1, on_lattice)
        choose_outages(rng, row, 1, int(p[RowP.END]), on_lattice)
        choose_cross_traffic(rng, row, 1, int(p[RowP.END]), on_lattice)
    return row


def sctp_parameters(rng: Generator, chunk: int, window: int) -> dict[str, int]:
    """Set the parameters of SCTP with chunks of this size [bytes] and a receive window of about `window` of
    them.
    """
    return {
        "RWND": int(chunk * (window if rng.random() < 0.9 else 5 * window) + rng.integers(0, chunk)),
        "WINDOW": 64, "TICK": 10 * MS,
        "INITIAL_CWND": int(chunk * rng.integers(1, 6) + rng.choice([0, 0, 1, chunk // 2])),
        "INITIAL_SSTHRESH": int(chunk * rng.integers(1, 65) + rng.integers(0, chunk)),
        "SSTHRESH_FLOOR": int(chunk * rng.choice([1, 2, 4, 4])),
        "MIN_RTO": int(rng.choice([0, 200, 1000, 1000]) * MS),
        "MAX_RTO": int(rng.choice([1, 3, 60, 60, 60]) * SECOND),
        "INITIAL_RTO": int(rng.choice([500, 1000, 3000, 3000]) * MS),
        "DUPACKS": int(rng.choice([1, 2, 3, 3, 3, 4, 4])),
        "ACK_EVERY": int(rng.choice([1, 2, 2, 2])),
        "ACK_DELAY": int(rng.choice([1, 10, 100, 200, 200, 500]) * MS),
        "PATH_MAX_RETRANS": int(rng.choice([0, 0, 1, 2, 5])),
        "HEARTBEAT": int(rng.choice([0, 1, 5, 30]) * SECOND),
        "PROBE_FIRST": int(rng.integers(0, 2)), "SACK_FIRST": int(rng.integers(0, 2)),
        "MAX_BURST": int(rng.choice([1, 2, 4, 4, 4])),
        "RESPONSE_ALTERNATE": int(rng.choice([0, 1, 1])),
    }  # fmt: skip


def common(rng: Generator, end: int, on_lattice: bool) -> dict[str, int]:
    """Set the parameters of every protocol: address of the random streams, start, end, sampling."""
    start = pick(rng, 0, 0, rng.integers(0, SECOND))
    sample = pick(rng, 100 * MS, 10 * MS, rng.integers(MS, SECOND))
    return {
        "SEED": int(rng.integers(0, 1 << 62)),
        "SCENARIO": int(rng.integers(0, 1 << 32)),
        "REPLICATION": int(rng.integers(0, 1 << 32)),
        "START": start // (100 * MS) * (100 * MS) if on_lattice else start,
        "END": end,
        "SAMPLE": sample,
        "RING": 1 << 12,
    }


def choose_hops(rng: Generator, row: Rows, path: int, on_lattice: bool) -> int:
    """Choose one to three hops; return the byte time of the slowest [ns]."""
    slowest = 1
    mood = rng.random()  # clean, lossy one way, lossy both ways
    odds = [0.3, 0.05, 0.2, 0.25, 0.14, 0.05, 0.01]
    for hop in range(int(rng.integers(1, HOPS + 1))):
        column = row.hops[0, path, hop]
        column[Hop.PRESENT] = 1
        for base, forward in ((Hop.BYTE_TIME, True), (Hop.R_BYTE_TIME, False)):
            if on_lattice:
                byte_time = int(rng.choice([0, 1000, 2000, 10_000])) << BYTE_TIME_BITS
                if hop == 0 and forward:  # not everything may be infinitely fast
                    byte_time = max(byte_time, 1000 << BYTE_TIME_BITS)
                delay = int(rng.choice([0, 1, 5, 10, 50])) * MS
            else:
                byte_time = round(8e9 * 2**BYTE_TIME_BITS / 10 ** rng.uniform(4.3, 6.5))
                delay = pick(rng, 0, rng.integers(0, MS), rng.integers(0, 200 * MS))
            lossy = mood > 0.4 if forward else mood > 0.7
            limits = [0, 1, 2, 3, 5, 10, 30, 100] if forward or rng.random() < 0.3 else [0]
            column[base : base + 4] = (
                byte_time,
                delay,
                int(rng.choice(limits)),
                int(rng.choice(len(PROBABILITIES), p=odds)) if lossy else 0,
            )
            slowest = max(slowest, byte_time >> BYTE_TIME_BITS)
    return slowest


def choose_outages(rng: Generator, row: Rows, path: int, end: int, on_lattice: bool) -> None:
    for hop in range(HOPS):
        if row.hops[0, path, hop, Hop.PRESENT] and rng.random() < 0.3:
            count = int(rng.integers(1, OUTAGES + 1))
            times = np.sort(rng.choice(int(end * 1.2) // 1000, size=2 * count, replace=False)) * 1000
            if on_lattice:
                times = np.unique(times // (10 * MS)) * (10 * MS)
                times = times[: len(times) // 2 * 2]
            elif rng.random() < 0.3:  # very short ones
                times[1::2] = times[::2] + 1 + times[1::2] % 1000
            row.outages[0, path, hop, : len(times) // 2] = times.reshape(-1, 2)


def choose_cross_traffic(rng: Generator, row: Rows, path: int, end: int, on_lattice: bool) -> None:
    """Add cross traffic at a constant rate to some hops."""
    for hop in range(HOPS):
        column = row.hops[0, path, hop]
        if column[Hop.PRESENT] and column[Hop.BYTE_TIME] and rng.random() < 0.2:
            size = 1000 if on_lattice else int(rng.integers(40, 1501))
            transmission = int(size * column[Hop.BYTE_TIME]) >> BYTE_TIME_BITS
            every = max(round(transmission / rng.uniform(0.05, 0.7)), end // 5000)
            first = int(rng.integers(0, end // 2))
            if on_lattice:
                every, first = every // MS * MS + MS, first // MS * MS
            column[Hop.CROSS_EVERY : Hop.CROSS_FIRST + 1] = every, size, first


def choose_ticks(rng: Generator, row: Rows, path: int, on_lattice: bool) -> None:
    """Make some hops release packets at the ticks of a clock."""
    for hop in range(HOPS):
        column = row.hops[0, path, hop]
        if column[Hop.PRESENT] and rng.random() < 0.15:
            tick = pick(rng, MS, 4 * MS, 10 * MS, rng.integers(1000, 50 * MS))
            phase = int(rng.integers(0, tick))
            column[[Hop.TICK, Hop.TICK_PHASE]] = (4 * MS, 0) if on_lattice else (tick, phase)


def describe(rows: Rows, row: int) -> str:
    """Return a scenario as a few lines, to be read or typed into a test."""
    values = {column.name: int(rows.parameters[row, column]) for column in P if rows.parameters[row, column]}
    lines = [str(values)]
    for path in range(rows.hops.shape[1]):
        for hop in range(rows.hops.shape[2]):
            if rows.hops[row, path, hop, Hop.PRESENT]:
                outages = [pair.tolist() for pair in rows.outages[row, path, hop] if pair[0] < FOREVER]
                lines.append(f"path {path} hop {hop}: {rows.hops[row, path, hop].tolist()} down {outages}")
    return "\n".join(lines)


def as_datagrams(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks with a UDP stream each, from a third of the slowest hop's rate to
    three times."""
    rng = np.random.default_rng(seed)
    p = rows.parameters.copy()
    slowest = rows.hops[:, 0, :, [Hop.BYTE_TIME]].max(axis=(0, 2)) / 2**BYTE_TIME_BITS
    interval = slowest * (p[:, RowP.DATA] + p[:, RowP.HEADER]) * 3.0 ** rng.uniform(-1, 1, len(p))
    p[:, UdpP.INTERVAL] = np.maximum(interval, 20_000)
    stop = np.where(rng.random(len(p)) < 0.3, rng.uniform(0.2, 1, len(p)) * p[:, RowP.END], FOREVER)
    p[:, UdpP.STOP] = stop
    jittered = rng.random(len(p)) < 0.5
    spread = np.minimum(p[:, UdpP.INTERVAL] * rng.uniform(0, 3, len(p)), MOST_SPREAD)
    p[:, UdpP.SPREAD] = np.where(jittered, spread, 0)
    p[:, RowP.WINDOW] = 0
    return rows._replace(parameters=p)


def with_bursts(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks with burst losses on most hops, in one or both directions."""
    rng = np.random.default_rng(seed)
    hops = rows.hops.copy()
    certain = 1 << CHANCE_BITS
    for direction in range(2):
        bursty = (hops[..., Hop.PRESENT] == 1) & (rng.random(hops.shape[:-1]) < 0.7)
        for losses, chances in ((Hop.LOSS, Hop.CHANCES), (Hop.BURST_LOSS, Hop.BURST_CHANCES)):
            column = losses + (Hop.R_LOSS - Hop.LOSS if losses == Hop.LOSS else 1) * direction
            hops[bursty, column] = rng.integers(1, 6, bursty.sum())
            least = 0 if losses == Hop.LOSS else certain // 10  # the twin computes the next loss in advance
            lost = rng.choice([least, certain // 10, certain // 2, certain], size=bursty.sum())
            turns = rng.choice([1, certain // 20, certain // 2, certain - 1], size=bursty.sum())
            hops[bursty, chances + direction] = (lost << CHANCE_BITS) | turns
    return rows._replace(hops=hops)


def with_varying(rows: Rows, *, seed: int, jitter: float = 0.4) -> Rows:
    """Return the same networks with traces, jitter and policers on most hops, in one or both directions.

    `jitter` is the probability of jitter.
    """
    rng = np.random.default_rng(seed)
    hops, found = rows.hops.copy(), {}
    for place in np.argwhere(hops[..., Hop.PRESENT] == 1).tolist():
        for direction in np.flatnonzero(rng.random(2) < 0.5).tolist():
            end = int(rows.parameters[place[0], RowP.END])
            hop = hops[tuple(place)]
            found[*place, direction] = varying_pairs(rng, hop[Hop.BYTE_TIME], hop[Hop.DELAY], end, jitter)
    outages, longest = rows.outages.shape[3], 2 * max(map(len, found.values()))
    table = np.pad(rows.outages, [(0, 0)] * 3 + [(0, longest), (0, 0)], constant_values=FOREVER)
    ends: dict[tuple[int, ...], int] = {}
    for (*at, direction), pairs in found.items():
        first = ends.get(tuple(at), outages)
        hops[*at, Hop.VARIES + direction] = first
        ends[tuple(at)] = first + len(pairs)
        table[*at, first : first + len(pairs)] = np.array(pairs)
        table[*at, first : first + len(pairs), 0] += FOREVER
    return rows._replace(hops=hops, outages=table)


def with_reordering(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks with jitter on most hops, most of which reorders.

    SCTP then uses the first path only.
    """
    rng = np.random.default_rng([seed, 3])
    rows = with_varying(rows, seed=seed, jitter=0.8)
    for *hop, direction in np.argwhere(rows.hops[..., Hop.VARIES :] > 0).tolist():
        head = rows.hops[*hop, Hop.VARIES + direction] + 2
        rows.outages[*hop, head, 1] *= rng.choice([-1, -1, -1, 1])
    p = rows.parameters
    p[:, SctpP.N_PATHS] = np.minimum(p[:, SctpP.N_PATHS], 1)
    return rows


def varying_pairs(
    rng: Generator, byte_time: Any, delay: Any, end: int, jittered: float = 0.4
) -> list[tuple[int, int]]:
    """Return pairs as `kernels.base.varying` reads them, in whole milliseconds if the delay is."""
    unit, byte_time = MS if delay % MS == 0 else 1, max(int(byte_time), 1 << BYTE_TIME_BITS)
    kind = int(rng.integers(0, 3))
    count = (0, int(rng.integers(1, 9)), int(rng.integers(1, 80)))[kind]
    times = np.unique(rng.integers(0, max(end // pick(rng, 1, 3, 30) // unit, 10), count)) * unit
    times[:1] = 0 if kind == 1 else times[:1]
    ends = count == 0 or rng.random() < 0.2
    period = 0 if ends else (int(times[-1]) // MS + int(rng.integers(10, 90))) * MS
    entries: list[tuple[int, int]] = []
    for time in times.tolist():
        if kind == 1:
            entries.append((time, round(byte_time * pick(rng, 0, 1, 1, 1, 2, 3))))
            loss = pick(rng, 0, 0, 0, 1 << 27, 1 << 29, rng.integers(0, 2) << 32)
            entries.append((pick(rng, delay, 0, 50 * MS), loss))
        else:
            entries.append((time, 1500 * pick(rng, 1, 3, 100)))
    if entries and kind == 1 and not any(entry[1] for entry in entries[::2]):
        entries[0] = 0, byte_time
    width = int(rng.integers(1, 60)) * MS
    parts = 256 if rng.random() < jittered else 0
    jitter = [(k * width // 256, (k + 1) * width // 256) for k in range(parts)]
    burst = int(rng.integers(500 * byte_time, 20_000 * byte_time)) >> BYTE_TIME_BITS
    policer = round(byte_time * rng.uniform(0.3, 2)), burst
    head = [policer if rng.random() < 0.3 else (0, 0), (kind, len(times)), (period, len(jitter))]
    return head + [(0, 0)] * (HEAD - len(head)) + entries + jitter


def sold(table: Any, rng: Generator, byte_time: int) -> None:
    """Give a link some of framing, shaper and correlated loss, in its `table` of pairs [k, 2].

    The line then has its own rate, which may be unlimited.
    """

    def put(pair: Head, one: Any, other: Any) -> None:
        table[pair] = FOREVER + int(one), int(other)

    byte_time = max(int(byte_time), 1 << BYTE_TIME_BITS)
    put(Head.LINE, pick(rng, 0, byte_time, byte_time // 2, 2 * byte_time), rng.random() < 0.8)
    if rng.random() < 0.6:
        put(Head.FRAMING, pick(rng, 0, 8, 38, 46), pick(rng, 0, 64, 84))
        put(Head.CELLS, rng.random() < 0.5, 0)
    if rng.random() < 0.7:  # sometimes no data fit into the bucket
        rate, burst = round(byte_time * rng.uniform(0.3, 2)), int(rng.integers(1000, 30_000))
        put(Head.SHAPER, rate, burst * rate >> BYTE_TIME_BITS)
        if rng.random() < 0.5:
            rate, burst = rate // pick(rng, 2, 5), int(rng.integers(1000, 3000))
            put(Head.PEAK, rate, burst * rate >> BYTE_TIME_BITS)
    if rng.random() < 0.7:
        put(Head.LOSS, pick(rng, 1 << 28, 1 << 30, 0xFFFFFFFF // 50), pick(rng, 0, 1 << 30, 0xFFFFFFFF // 2))


def with_sold(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks as `with_varying`, with links as they are sold: framing, shapers, correlated
    loss."""
    rows, rng = with_varying(rows, seed=seed, jitter=0.1), np.random.default_rng([seed, 4])
    for *hop, direction in np.argwhere(rows.hops[..., Hop.VARIES :] > 0).tolist():
        first = rows.hops[*hop, Hop.VARIES + direction]
        sold(rows.outages[*hop, first : first + HEAD], rng, rows.hops[*hop, Hop.R_BYTE_TIME * direction])
    return rows


def linux_rows(count: int, *, seed: int) -> Rows:
    """Return `count` scenarios for the TCP of current Linux."""
    return as_linux(tcp_rows(count, seed=seed), seed=seed)


def make_linux(rng: Generator, p: Any) -> None:
    """Convert the columns of a TCP to those of current Linux."""
    p[TcpP.TICK] = pick(rng, MS, 4 * MS, 4 * MS, 10 * MS)
    p[TcpP.CLOCK_PHASE] = rng.integers(0, 1 << 37)
    p[RowP.WINDOW] = pick(rng, p[RowP.WINDOW], rng.integers(10, 400), 400)
    p[ReliableP.MIN_RTO] = pick(rng, 0, 200 * MS, 200 * MS)
    p[ReliableP.ACK_DELAY] = pick(rng, 40 * MS, 40 * MS, p[ReliableP.ACK_DELAY])
    p[TcpP.SEND_BUFFER] = p[TcpP.SEND_WAKE] = 0


def with_messages(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks with applications that pause.

    Pauses are shorter than a round trip or longer than a timeout.
    """
    p, tables = rows.parameters.copy(), []
    for k in range(len(p)):
        rng = np.random.default_rng([seed, k, 3])
        most = int(p[k, RowP.DATA]) * pick(rng, 1, 3, 30, 100)
        sizes = [0, pick(rng, 1, most, most // 2), 1 << 32, most]
        longest = pick(rng, 0, 50 * MS, 500 * MS, 3 * SECOND)
        waits = [0, pick(rng, 0, longest), 1 << 31, longest // 2, 1 << 31, longest, 1 << 32, longest]
        tables.append([2, *sizes, 4, *waits])
        p[k, [LinuxP.MESSAGES, LinuxP.MESSAGE_SIZES, LinuxP.MESSAGE_WAITS]] = (
            rng.integers(1, 3),
            0,
            1 + len(sizes),
        )
        p[k, LinuxP.IDLE_RESTART] = rng.random() < 0.8
    p[:, RowP.LIMIT] = ENDLESS
    return rows._replace(parameters=p, constants=np.array(tables, np.float64))


def with_delays(rows: OneFlow, *, seed: int) -> OneFlow:
    """Return the same networks with measured delays of data, most of them with a bound."""
    p = rows.parameters.copy()
    for k in range(len(p)):
        rng = np.random.default_rng([seed, k, 24])
        p[k, RowP.LATE] = pick(rng, FOREVER, 1, rng.integers(1, 2 * SECOND))
    return rows._replace(parameters=p)


def with_tuning(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks with autotuned receive windows, from a few packets on if they are large."""
    p = rows.parameters.copy()
    for k in range(len(p)):
        rng = np.random.default_rng([seed, k, 4])
        p[k, RowP.WINDOW] = pick(rng, 20, 100, 400, 400)
        if rng.random() < 0.6:
            p[k, RowP.DATA] = pick(rng, 3000, 6000, 20_000)
    return rows._replace(parameters=p)


def as_linux(rows: Rows, *, seed: int) -> Rows:
    """Return the same networks with the clocks of current Linux and, often, large windows."""
    p = rows.parameters
    for k in range(len(p)):
        rng = np.random.default_rng([seed, k, 2])
        make_linux(rng, p[k])
        if rng.random() < 0.3:  # a queue that slow start overflows by far
            rows.hops[k, 0, 0, [Hop.QUEUE, Hop.R_QUEUE]] = rng.integers(20, 100), 0
    p[:, RowP.QUEUES] = p[:, MobileP.HANDOVER] == 0
    return rows
