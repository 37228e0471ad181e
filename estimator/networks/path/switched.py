"""A hop that goes up and down as a Markov chain."""

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NS, P, Rows
from netcarlo.kernels.base.loss import DIGITS, thresholds
from netcarlo.kernels.base.philox import philox4x32
from netcarlo.kernels.shared.layout import PERIOD
from netcarlo.numerics.arrays import Ints

STREAM_SWITCH = 1 << 30
"""+ hop; draw k: length of its k-th time up (even) or down (odd)."""


def switched(rows: Rows, *, up_s: float, down_s: float, hop: int = 0) -> Rows:
    """The rows with a hop of the first path that is up and down in turn, at first up.

    The times are exponential with means `up_s` and `down_s` [s] and drawn for each row: a two-state Markov
    chain.  They take the place of the hop's outages, for packets and for the fluid alike.
    """
    until = int(rows.parameters[:, P.END].max(initial=0))
    times: list[Ints] = []
    now = np.zeros(len(rows.parameters), np.int64)
    while len(times) % 2 or now.min(initial=until) < until:
        mean = round((down_s if len(times) % 2 else up_s) * NS)
        now = now + ((_gaps(rows.parameters, STREAM_SWITCH + hop, len(times)) + 1) * mean >> 10)
        times.append(now)
    drawn = np.stack(times, axis=1).reshape(len(now), -1, 2) if times else np.zeros((len(now), 0, 2), int)
    shape = list(rows.outages.shape)
    shape[3] = max(shape[3], drawn.shape[1])
    outages = np.full(shape, FOREVER)
    outages[:, :, :, : rows.outages.shape[3]] = rows.outages
    outages[:, 0, hop] = FOREVER
    outages[:, 0, hop, : drawn.shape[1]] = np.where(drawn[..., :1] < until, drawn, FOREVER)
    return rows._replace(outages=outages)


def _gaps(parameters: Ints, stream: int, k: int) -> Ints:
    """Draw k of a stream of each row [n]: geometric with mean 1,023, as `kernels.loss` draws it."""
    table = thresholds(PERIOD)[0].astype(np.uint64)
    seed, scenario, replication = (
        parameters[:, column].astype(np.uint64) for column in (P.SEED, P.SCENARIO, P.REPLICATION)
    )
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    gaps = np.zeros(len(parameters), np.int64)
    for block in range(DIGITS // 4):
        counter = np.full_like(seed, k * (DIGITS // 4) + block), np.full_like(seed, stream)
        words = philox4x32(*counter, replication & low, scenario & low, seed & low, seed >> half)
        for place, word in enumerate(words):
            digit = 4 * block + place
            gaps |= (word < table[digit]).astype(np.int64) << digit
    return gaps
