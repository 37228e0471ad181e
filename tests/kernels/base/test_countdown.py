"""Losses by countdown: comparison with gaps drawn in sequence."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels.base.countdown import Countdown, draw_gap, lost
from netcarlo.kernels.base.loss import gap, thresholds
from netcarlo.kernels.base.parameters import P, RowP


@given(st.sampled_from([0.0, 0.05, 0.5, 1.0]), st.integers(0, 2**40), st.integers(0, 2**31))
def test_packets_are_lost_where_the_gaps_say(probability: float, seed: int, stream: int) -> None:
    losses = thresholds([0.3, probability])
    p = np.zeros(len(P), np.int64)
    p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION] = seed, 7, 9
    at = 5
    m = np.zeros(at + len(Countdown), np.int64)
    draw_gap(p, losses, m, at, 1, stream)
    found = [lost(p, losses, m, at, 1, stream) for _ in range(100)]

    expected: list[bool] = []
    k = 0
    while len(expected) < 100:
        passing = int(gap(losses, 1, seed, 7, 9, stream, k))
        expected += [False] * min(passing, 100) + [True]
        k += 1
    assert found == expected[:100]
