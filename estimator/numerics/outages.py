"""What a transfer carries over a path that goes down and comes back: silences, back-off, slow start.

What is on a hop when it goes down, or comes to it until it is up again, is lost.  If enough of a round trip
is left to tell of that, it is a loss like others; else the sender falls silent, tries again when its timer
runs out, each time after twice as long, and finds the path again with the first try after the outage.
docs/models/formulas-outages.md has the derivation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics.arrays import Bools, Floats

DUPLICATE_ACKS = 3
"""Packets that have to arrive behind a loss for the sender to know of it without a timeout."""

MIN_SSTHRESH = 2.0
"""Of slow start, after two timeouts in a row [packet]."""


class Outages(NamedTuple):
    """Outages of the hops of a path as its sender meets them: arrays [n, K] [s], in order of `start`."""

    start: Floats
    """What is put out from then on is lost, on the hop or at it; infinite if the outage never comes."""
    stop: Floats
    """What is put out from then on is not."""
    last_ack: Floats
    """The last acknowledgement before the outage arrives."""
    share: Floats
    """The part of a round trip whose packets or acknowledgements are lost; above 1 if it is longer."""


class Transfer(NamedTuple):
    """A transfer while nothing is down: arrays [n]."""

    rate: Floats
    """Packets sent per second in the steady state."""
    base_s: Floats
    """Round trip without queues."""
    window: Floats
    """Packets in flight in the steady state, those in queues included."""
    beta: Floats
    """The part of the window that a loss leaves."""
    growth: Floats
    """Packets by which the window grows in a round trip."""
    slow_start_factor: Floats
    """By what slow start multiplies it in a round trip."""
    repairs: Floats
    """Packets lost in a round trip that are repaired before the timer runs out; infinite with SACK."""
    rto_s: Floats
    """The first timeout,"""
    max_rto_s: Floats
    """and the longest; each is twice the one before it."""

    @property
    def rtt_s(self) -> Floats:
        """Round trip in the steady state."""
        return self.window / self.rate


def mean_silence(
    up_s: ArrayLike, down_s: ArrayLike, *, rtt_s: ArrayLike, rto_s: ArrayLike, max_rto_s: ArrayLike = 60.0
) -> Floats:
    """Mean time from the begin of an outage to the first try after it [s], of a two-state Markov chain.

    The times up and down are exponential with means `up_s` and `down_s`; the timer runs from `rtt_s` after
    the begin on, however short the outage is.  A try that fails finds the chain down, so whether the next
    one does follows from the time between them alone.
    """
    up, down, rto, most = (np.asarray(x, np.float64) for x in (up_s, down_s, rto_s, max_rto_s))
    share, pace = down / (up + down), 1 / up + 1 / down
    wait = rto + np.asarray(rtt_s, np.float64)
    total, fails, gap = np.zeros_like(wait * share), np.ones_like(wait * share), rto
    for _ in range(100_000):
        total = total + fails * wait
        fails = fails * (share + (1 - share) * np.exp(-pace * wait))
        if not (fails * most > 1e-9 * total).any():
            break
        gap = np.minimum(2 * gap, most)
        wait = gap
    return total


def packets_sent(outages: Outages, transfer: Transfer, *, begin: Floats, end: Floats) -> Floats:
    """Packets sent from `begin` to `end` [n] [s] that meet no outage."""
    t = transfer
    sent = np.zeros(len(begin))
    window, threshold, missing = t.window.copy(), t.window.copy(), np.zeros(len(begin))
    now, timer = begin.copy(), t.rto_s.copy()  # data flow from then on; the timer as it is then
    for start, stop, last_ack, share in zip(*(column.T for column in outages), strict=True):
        here = (start < end) & (stop > now)
        if not here.any():
            continue
        flows = here & (start > now)
        packets, reached = _climb(t, window, threshold, np.where(flows, start - now, 0.0))
        sent += packets
        # What is left of a window tells of the rest, and that is repaired before the timer runs out.
        short = flows & (reached * (1 - share) >= DUPLICATE_ACKS) & (reached * share < t.repairs + 1)
        silent = here & ~short
        # Back-off ends with the first round trip of new data: when all that was lost has been sent again.
        timer = np.where(flows & (packets >= missing), t.rto_s, timer)
        again = np.where(flows, np.maximum(last_ack, now) + timer, now)
        again, timer, twice = _tries(t, again, timer, np.where(silent, stop, -np.inf))
        halved = np.where(flows, np.maximum(reached / 2, MIN_SSTHRESH), threshold)
        threshold = np.where(silent, np.where(twice, MIN_SSTHRESH, halved), threshold)
        threshold = np.where(short, t.beta * reached, threshold)
        missing = np.where(silent & flows, np.maximum(missing - packets, reached), missing)
        missing = np.where(short, 0.0, missing)
        window = np.where(short, t.beta * reached, np.where(silent, 1.0, window))
        now = np.where(short, stop, np.where(silent, again, now))
    packets, _ = _climb(t, window, threshold, np.maximum(end - now, 0.0))
    return sent + packets


def _tries(t: Transfer, at: Floats, timer: Floats, stop: Floats) -> tuple[Floats, Floats, Bools]:
    """The first try not before `stop`, if one comes `at`: when, after which timer, and if it is another."""
    twice = at < stop
    while (late := at < stop).any():
        timer = np.where(late, np.minimum(2 * timer, t.max_rto_s), timer)
        # Once the timer is the longest there is, all tries are one step.
        steps = np.where(timer < t.max_rto_s, 1.0, np.ceil((stop - at) / timer))
        at = np.where(late, at + timer * np.maximum(steps, 1.0), at)
    return at, timer, twice


def _climb(t: Transfer, window: Floats, threshold: Floats, time: Floats) -> tuple[Floats, Floats]:
    """Packets sent in `time` [s] by a window that grows to that of the steady state, and what it is then."""
    pipe = t.rate * t.base_s  # a window with which the rate is that of the steady state
    e_fold = t.base_s / np.log(t.slow_start_factor)
    start = np.minimum(window, pipe)
    slow = np.minimum(e_fold * np.log(np.clip(threshold, start, pipe) / start), time)
    after = start * np.exp(slow / e_fold)
    packets = (after - start) * e_fold / t.base_s
    per_s = t.growth / t.base_s
    missing = pipe - after
    grown = np.divide(missing, per_s, out=np.where(missing > 0, np.inf, 0.0), where=per_s > 0)
    line = np.minimum(grown, time - slow)
    packets += line * (after + line * per_s / 2) / t.base_s
    full = time - slow - line
    packets += full * t.rate
    reached = np.maximum(after + line * per_s, window) + full * t.growth / t.rtt_s
    return packets, np.minimum(reached, t.window)
