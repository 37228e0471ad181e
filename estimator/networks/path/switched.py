"""Hops that go up and down as Markov chains: when, in each replication."""

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NS, P, Rows
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.philox import philox4x32
from netcarlo.kernels.shared.layout import PERIOD
from netcarlo.numerics.arrays import Ints

STREAM_SWITCH = 1 << 30
"""+ path * 64 + hop; draw k: length of its k-th time up (even) or down (odd)."""


def alternating(parameters: Ints, place: int, *, up: Ints, down: Ints) -> Ints:
    """Outages [n, K, 2] [ns] of a hop that is up and down in turn, at first up; FOREVER pads them.

    The times are exponential with means `up` and `down` [n] [ns]: a two-state Markov chain.  Those that
    begin before the end of the observation count; a row whose `down` is 0 has none.  `place` is path * 64 +
    hop, `parameters` [n, len(P)] are those of the rows.
    """
    times: list[Ints] = []
    now, end = np.where(down > 0, 0, FOREVER), parameters[:, P.END]
    while len(times) % 2 or (now < end).any():
        mean = down if len(times) % 2 else up
        steps = _gaps(parameters, STREAM_SWITCH + place, len(times)) + 1  # of a mean / 1024
        length = steps * (mean >> 10) + (steps * (mean & 1023) >> 10)  # no product beyond 63 bits
        now = np.minimum(now + length, FOREVER)
        times.append(now)
    table = np.stack(times, axis=1).reshape(len(now), -1, 2) if times else np.zeros((len(now), 0, 2), int)
    return np.where(table[..., :1] < end[:, None, None], table, FOREVER)


def switched(rows: Rows, *, up_s: float, down_s: float, hop: int = 0) -> Rows:
    """The rows with a hop of the first path that goes up and down, in place of its outages: as the field
    `outages: {up: ..., down: ...}` of a hop has it, for rows that are there already."""
    n, shape = len(rows.parameters), list(rows.outages.shape)
    up, down = (np.full(n, round(mean * NS)) for mean in (up_s, down_s))
    drawn = alternating(rows.parameters, hop, up=up, down=down)
    shape[3] = max(shape[3], drawn.shape[1])
    outages = np.full(shape, FOREVER)
    outages[:, :, :, : rows.outages.shape[3]] = rows.outages
    outages[:, 0, hop] = FOREVER
    outages[:, 0, hop, : drawn.shape[1]] = drawn
    return rows._replace(outages=outages)


def _gaps(parameters: Ints, stream: int, k: int) -> Ints:
    """Draw k of a stream of each row [n]: geometric with mean 1,023, as `kernels.loss` draws it."""
    table = thresholds(PERIOD)[0].astype(np.uint64)
    seed, scenario, replication = (
        parameters[:, column].astype(np.uint64) for column in (P.SEED, P.SCENARIO, P.REPLICATION)
    )
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    gaps = np.zeros(len(parameters), np.int64)
    blocks = len(table) // 4
    for block in range(blocks):
        if table[4 * block] == 0:  # thresholds fall: all further digits are 0
            break
        counter = np.full_like(seed, k * blocks + block), np.full_like(seed, stream)
        words = philox4x32(*counter, replication & low, scenario & low, seed & low, seed >> half)
        for place, word in enumerate(words):
            digit = 4 * block + place
            gaps |= (word < table[digit]).astype(np.int64) << digit
    return gaps
