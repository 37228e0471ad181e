"""PIE: the drop probability at the tail follows the queueing delay (RFC 8033, appendix A; ECN: section 5.1).

The queueing delay is the backlog divided by the rate of the link (section 4.2), which is known. Probabilities
are integers. `b` is the block of the link, `s` its `Discipline`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.state import Queue
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.shared.aqm.state import Discipline
from netcarlo.kernels.shared.layout import STREAM_PIE, Link
from netcarlo.kernels.shared.state import LinkWord

PROBABILITY_BITS = 40
"""Fraction bits of a probability."""
_ONE = 1 << PROBABILITY_BITS
_GAIN_BITS = 48 - PROBABILITY_BITS
"""Fraction bits of PIE_ALPHA and PIE_BETA beyond those of a probability."""
MARK_ECN_TH = _ONE // 10
"""Probability above which packets are dropped even if they are ECN-capable (mark_ecnth)."""
_SAFE_PROB = _ONE // 5
"""Probability up to which nothing is dropped while the queue is short."""
_DECAY_BITS = 6
"""Binary logarithm of the decay of the probability while the queue is idle: by 1/64."""
_MAX_QDELAY = 1 << 40
"""Largest queueing delay taken into account [ns]: 18 minutes."""


def prepare(m: Any, b: Any, s: Any) -> None:
    """Initialise PIE before the start."""
    m[s + Discipline.BURST_ALLOWANCE] = m[b + Link.PIE_BURST]
    m[s + Discipline.NEXT_UPDATE] = m[b + Link.AQM_INTERVAL]


def should_drop(p: Any, m: Any, b: Any, s: Any, q: Any) -> Any:
    """Return True if an arriving packet is to be dropped or marked; `run_updates` was called before."""
    half, delay = m[b + Link.AQM_TARGET] // 2, m[s + Discipline.QDELAY]
    probability, before = m[s + Discipline.DROP_PROB], m[s + Discipline.QDELAY_OLD]
    if probability == 0 and delay < half and before < half:
        m[s + Discipline.BURST_ALLOWANCE] = m[b + Link.PIE_BURST]
    if m[s + Discipline.BURST_ALLOWANCE] > 0 or (before < half and probability < _SAFE_PROB):
        return False
    if m[q + Queue.BYTES] <= 2 * m[b + Link.AQM_MTU]:
        return False
    return _draws_drop(p, m, b, probability)


@noinline
def _draws_drop(p: Any, m: Any, b: Any, probability: Any) -> Any:
    """Return True if a random number selects the packet."""
    stream, number = STREAM_PIE + m[b + LinkWord.NUMBER], m[b + LinkWord.DRAWS]
    w0, w1, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, number)
    m[b + LinkWord.DRAWS] = number + 1
    return np.int64(w0) << (PROBABILITY_BITS - 32) | np.int64(w1) >> (64 - PROBABILITY_BITS) < probability


def run_updates(m: Any, b: Any, s: Any, t: Any) -> None:
    """Run all updates of the probability that are due by `t`, before anything changes in the queue."""
    while m[s + Discipline.NEXT_UPDATE] <= t:
        _update(m, b, s)


@noinline
def _update(m: Any, b: Any, s: Any) -> None:
    """Update the drop probability (RFC 8033, section 4.2)."""
    delay, before = min(m[s + Discipline.QDELAY], np.int64(_MAX_QDELAY)), m[s + Discipline.QDELAY_OLD]
    probability = m[s + Discipline.DROP_PROB]
    change = m[b + Link.PIE_ALPHA] * (delay - m[b + Link.AQM_TARGET])
    change += m[b + Link.PIE_BETA] * (delay - before)
    probability += change >> (_GAIN_BITS + _scale_bits(probability))
    if delay == 0 and before == 0:
        probability -= probability >> _DECAY_BITS
    m[s + Discipline.DROP_PROB] = min(max(probability, np.int64(0)), np.int64(_ONE))
    m[s + Discipline.QDELAY_OLD] = delay
    m[s + Discipline.BURST_ALLOWANCE] = max(
        m[s + Discipline.BURST_ALLOWANCE] - m[b + Link.AQM_INTERVAL], np.int64(0)
    )
    m[s + Discipline.NEXT_UPDATE] += m[b + Link.AQM_INTERVAL]


def _scale_bits(probability: Any) -> Any:
    """Return the binary logarithm by which the change of a small probability is reduced, up to 11
    (section 4.2)."""
    caution, limit = np.int64(1), np.int64(_ONE // 10)
    if probability >= limit:
        return np.int64(0)
    while caution < 11 and probability < limit // 10:
        caution += 2
        limit //= 10
    return caution
