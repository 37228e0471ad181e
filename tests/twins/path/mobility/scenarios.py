"""Random small scenarios with a mobile host: every handover protocol, every kind of schedule."""

import numpy as np
from numpy.random import Generator

from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    FOREVER,
    HIMIPV6,
    MIPV6,
    SCHEDULE_GIVEN,
    SCHEDULE_PERIODIC,
    SCHEDULE_RANDOM,
    Hop,
    Rows,
)
from netcarlo.kernels.base.parameters import P, RowP
from tests.twins.path.scenarios import (
    HOPS,
    MS,
    PROBABILITIES,
    SECOND,
    choose_cross_traffic,
    choose_outages,
    common,
    empty_row,
    fill,
    pick,
    sctp_parameters,
    stack,
    tcp_parameters,
)

GIVEN = 12
DATA_PACKETS = 400
"""Approximate number of packets that the slowest hop of a scenario carries."""


def mobile_rows(count: int, *, seed: int, protocol: int | None = None) -> Rows:
    """Return `count` scenarios; row k of a seed is the same for every `count`.

    They use the handover protocols in turn (the first is MIPv6), or all use `protocol`.
    """
    turns = HIMIPV6 - MIPV6 + 1
    rows = [
        _mobile_row(np.random.default_rng([seed, k, 2]), protocol or MIPV6 + k % turns) for k in range(count)
    ]
    return stack(rows)


def sctp_mobile_rows(count: int, *, seed: int, protocol: int | None = None) -> Rows:
    """Return the same networks with SCTP instead of TCP, and equal windows."""
    rows = mobile_rows(count, seed=seed, protocol=protocol)
    for k, p in enumerate(rows.parameters):
        rng = np.random.default_rng([seed, k, 8])
        header = pick(rng, 0, 16, 20)
        columns = sctp_parameters(rng, int(p[RowP.DATA]) + header, int(p[RowP.WINDOW]))
        columns |= {"MAX_RTO": 2 * SECOND, "INITIAL_RTO": pick(rng, 500 * MS, SECOND)}
        columns["HEARTBEAT"] = pick(rng, 0, 100 * MS, SECOND, rng.integers(MS, 2 * SECOND))
        for name, value in (columns | {"N_PATHS": 1, "CHUNK_HEADER": header}).items():
            p[P[name]] = value
    return rows


def _mobile_row(rng: Generator, protocol: int) -> Rows:
    """Return a row with times that are not on a lattice, so that no two events of a host coincide."""
    row = empty_row(GIVEN)
    window = int(rng.integers(1, 65))
    data, header, ack = int(rng.integers(100, 1461)), int(rng.choice([0, 40])), int(rng.integers(20, 81))
    slowest = _choose_hops(rng, row)
    end = min(DATA_PACKETS * slowest * (data + header), int(rng.uniform(3.0, 20.0) * SECOND))
    end = max(2 * SECOND, end + int(rng.integers(0, MS)))
    fill(row, common(rng, end, False) | tcp_parameters(rng, window))
    fill(row, {"DATA": data, "HEADER": header, "ACK": ack, "HANDOVER": protocol})
    fill(row, _schedule(rng, end) | _delays(rng))
    fill(row, {"MAX_RTO": 2 * SECOND, "INITIAL_RTO": int(rng.choice([500, 1000]) * MS)})  # soon back to work
    if rng.random() < 0.5:
        choose_outages(rng, row, 0, end, False)
    radio = int(row.hops[0, 0, :, Hop.PRESENT].sum()) - 1
    times = np.full(GIVEN, FOREVER)
    given = int(rng.integers(1, GIVEN + 1))
    times[:given] = np.sort(rng.choice(end, size=given, replace=False))
    row.outages[0, 0, radio] = np.column_stack([times, times])
    choose_cross_traffic(rng, row, 0, end, False)
    return row


def _choose_hops(rng: Generator, row: Rows) -> int:
    """Choose one or two hops to the MAP and the radio; return the byte time of the slowest [ns]."""
    count = int(rng.integers(2, HOPS + 1))
    mood = rng.random()  # clean, lossy radio one way, lossy both ways, everything lossy
    slowest = 1
    for hop in range(count):
        radio = hop == count - 1
        column = row.hops[0, 0, hop]
        column[Hop.PRESENT] = 1
        for base, forward in ((Hop.BYTE_TIME, True), (Hop.R_BYTE_TIME, False)):
            byte_time = round(8e9 * 2**BYTE_TIME_BITS / 10 ** rng.uniform(5.3, 7.5))
            if radio and rng.random() < 0.1:
                byte_time = 0
            delay = pick(rng, rng.integers(0, MS), rng.integers(0, 50 * MS))
            lossy = mood > 0.85 or (radio and mood > (0.4 if forward else 0.6))
            limits = [0, 0, 2, 10, 30, 100] if forward else [0, 0, 0, 0, 10]
            column[base : base + 4] = (
                byte_time,
                delay,
                int(rng.choice(limits)),
                int(rng.integers(1, len(PROBABILITIES) - 2)) if lossy else 0,
            )
            slowest = max(slowest, byte_time >> BYTE_TIME_BITS)
    return slowest


def _schedule(rng: Generator, end: int) -> dict[str, int]:
    """Choose a schedule of up to about twenty handovers."""
    every = int(end / rng.uniform(1.0, 20.0))
    return {
        "HANDOVERS": int(rng.choice([3, 40, 40, 40])),
        "SCHEDULE": int(rng.choice([SCHEDULE_GIVEN, SCHEDULE_PERIODIC, SCHEDULE_RANDOM])),
        "FIRST_HANDOVER": int(rng.integers(0, every)), "EVERY": every,
        "LEAST_STAY": pick(rng, 0, rng.integers(0, SECOND), rng.integers(0, 50 * MS)),
        "DOMAIN_SIZE": int(rng.choice([0, 1, 2, 2, 3])),
        "OUTAGE": int(10 ** rng.uniform(-3, -0.3) * SECOND),
        "OUTAGE_JITTER": pick(rng, 0, 0, rng.integers(0, 300 * MS)),
        "PING_PONG": int(rng.choice([0, 0, 0.2, 0.5, 1]) * 2**32),
        "PING_PONG_STAY": pick(rng, rng.integers(0, 50 * MS), rng.integers(0, SECOND)),
        "FALSE_ALARM": int(rng.choice([0, 0, 0.2, 0.5]) * 2**32),
        "FALSE_ALARM_TIME": pick(rng, rng.integers(0, 100 * MS), rng.integers(0, SECOND)),
    }  # fmt: skip


def _delays(rng: Generator) -> dict[str, int]:
    """Choose the delays that decide whether a handover is prepared in time, and how long it lasts."""
    return {
        "ANTICIPATION": int(rng.integers(0, pick(rng, 100 * MS, SECOND, SECOND))),
        "MARGIN": pick(rng, 0, 0, rng.integers(0, 100 * MS)),
        "PREPARATION": pick(rng, 0, rng.integers(0, 50 * MS), rng.integers(0, SECOND)),
        "ANNOUNCE": pick(rng, 0, rng.integers(0, 30 * MS)),
        "DETECTION": pick(rng, rng.integers(0, 30 * MS), rng.integers(0, 300 * MS)),
        "MAP_TO_AR": pick(rng, 0, rng.integers(0, 40 * MS), rng.integers(0, 40 * MS)),
        "MAP_TO_MAP": pick(rng, 0, rng.integers(0, 60 * MS), rng.integers(0, 60 * MS)),
        "HOME_AGENT": pick(rng, 0, rng.integers(0, 10 * MS), rng.integers(0, 100 * MS)),
        "BUFFER": int(rng.choice([0, 1, 2, 5, 20, 50, 50])),
        "SETTLE": pick(rng, 0, rng.integers(0, 30 * MS), rng.integers(0, 30 * MS)),
        "SIGNAL_LOSS": int(rng.choice([0, 0, 0, 0.05, 0.4]) * 2**32),
    }  # fmt: skip
