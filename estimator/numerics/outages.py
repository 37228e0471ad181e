"""Throughput of a transfer over a path with outages: idle times, exponential back-off, slow start.

Packets on a hop when it goes down, or that reach it while it is down, are lost. If enough of the round trip
remains to trigger fast retransmit, this is a loss like others. Otherwise the sender is idle until a
retransmission after the outage succeeds; the timeout doubles after each attempt.
docs/models/formulas-outages.md has the derivation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics.arrays import Bools, Floats

DUPLICATE_ACKS = 3
"""Packets that must arrive after a loss for the sender to detect it without a timeout."""

MIN_SSTHRESH = 2.0
"""Slow start threshold after two timeouts in a row [packets]."""


class Outages(NamedTuple):
    """Outages of the hops of a path as seen by the sender: arrays [n, K] [s], ordered by `start`."""

    start: Floats
    """Sending time from which packets are lost [s]; infinite if the outage does not occur."""
    stop: Floats
    """Sending time from which packets are no longer lost [s]."""
    last_ack: Floats
    """Arrival time of the last ACK before the outage [s]."""
    share: Floats
    """Share of a round trip whose packets or ACKs are lost; above 1 for an outage longer than a round
    trip."""


class Transfer(NamedTuple):
    """Parameters of a transfer without outages: arrays [n]."""

    rate: Floats
    """Packets sent per second in the steady state."""
    base_s: Floats
    """Round-trip time without queueing delay [s]."""
    window: Floats
    """Packets in flight in the steady state, including those in queues."""
    beta: Floats
    """Share of the window that remains after a loss."""
    growth: Floats
    """Growth of the window in congestion avoidance [packets per round trip]."""
    slow_start_factor: Floats
    """Factor by which slow start multiplies the window in each round trip."""
    repairs: Floats
    """Maximum number of losses in a round trip that are repaired before a timeout; infinite with SACK."""
    rto_s: Floats
    """First retransmission timeout [s]."""
    max_rto_s: Floats
    """Maximum retransmission timeout [s]; each timeout is twice the previous one."""

    @property
    def rtt_s(self) -> Floats:
        """Round-trip time in the steady state [s]."""
        return self.window / self.rate


def mean_silence(
    up_s: ArrayLike, down_s: ArrayLike, *, rtt_s: ArrayLike, rto_s: ArrayLike, max_rto_s: ArrayLike = 60.0
) -> Floats:
    """Return the mean time from the start of an outage to the first attempt after it [s] (two-state Markov
    chain).

    Up and down times are exponential with means `up_s` and `down_s`. The timer starts `rtt_s` after the start
    of the outage, however short that is. A failed attempt finds the chain down, so the result of the next one
    depends only on the time between them.
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
    """Return the number of packets sent from `begin` to `end` [n] [s] that are not lost in an outage."""
    t = transfer
    sent = np.zeros(len(begin))
    window, threshold, missing = t.window.copy(), t.window.copy(), np.zeros(len(begin))
    now, timer = begin.copy(), t.rto_s.copy()  # time from which data flow, and the timer at that time
    for start, stop, last_ack, share in zip(*(column.T for column in outages), strict=True):
        here = (start < end) & (stop > now)
        if not here.any():
            continue
        flows = here & (start > now)
        packets, reached = _climb(t, window, threshold, np.where(flows, start - now, 0.0))
        sent += packets
        # Enough of the window remains for fast retransmit, and all losses are repaired before a timeout.
        short = flows & (reached * (1 - share) >= DUPLICATE_ACKS) & (reached * share < t.repairs + 1)
        silent = here & ~short
        # Back-off ends with the first round trip of new data, after all lost packets were retransmitted.
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
    """Return the first attempt at or after `stop`, if one occurs `at`: time, timer, and whether it was
    repeated."""
    twice = at < stop
    while (late := at < stop).any():
        timer = np.where(late, np.minimum(2 * timer, t.max_rto_s), timer)
        # At the maximum timeout, compute all remaining attempts in one step.
        steps = np.where(timer < t.max_rto_s, 1.0, np.ceil((stop - at) / timer))
        at = np.where(late, at + timer * np.maximum(steps, 1.0), at)
    return at, timer, twice


def _climb(t: Transfer, window: Floats, threshold: Floats, time: Floats) -> tuple[Floats, Floats]:
    """Return the packets sent in `time` [s] while the window grows to its steady state, and the final
    window."""
    pipe = t.rate * t.base_s  # window that gives the steady-state rate
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
