"""A link's queue: drop-tail or RED, one transmitter, random loss at the far end.

A packet's departure is known when it arrives, so a queue is the ring of the departures to come.
Sources: RED by Floyd and Jacobson (IEEE/ACM Transactions on Networking, 1993), its gentle form by Floyd
(2000), marks by RFC 3168.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, P
from netcarlo.kernels.base.sums import make_add
from netcarlo.kernels.shared.layout import (
    DROP_TAIL,
    RED_MARKS,
    STREAM_LINK,
    STREAM_RED,
    Link,
    LinkOut,
    Shared,
)
from netcarlo.kernels.shared.state import (
    FULL,
    L_COUNT,
    L_COUNTS,
    L_DEPARTURES,
    L_DRAWS,
    L_FREE,
    L_GAP,
    L_HEAD,
    L_LOSSES,
    L_MASK,
    L_NUMBER,
    L_TAIL,
)

TAKEN = 0
DROPPED = 1
LOST = 2
MARK = 4  # besides: it was marked

_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_WORD = 2.0**32
_UNIT = 65536.0  # of Link.RED_PROBABILITY


def make_time(dev: Callable[[Any], Any]) -> Any:
    """Compile `time(size, byte_time)`: how long so many bytes take [ns]."""

    def time(size: Any, byte_time: Any) -> Any:
        return (size * byte_time + _HALF) >> _BITS

    return dev(time)


def make_link(dev: Callable[[Any], Any], draw: Any, gap: Any) -> Any:
    """Compile `enter(p, losses, m, means, b, t, size, markable) -> (fate, far)`.

    A packet of `size` bytes comes at `t` to the link whose block begins at word `b` of `m`; `means` are the
    mean queues of all links (RED).  `fate` is TAKEN, DROPPED or LOST, and MARK besides; `far` is when it
    reaches the far end [ns].
    """
    time = make_time(dev)
    add = make_add(dev)

    def let_go(m: Any, b: Any, t: Any) -> Any:
        # Packets that have left by `t` leave the ring; returns how many are left in it.
        head, tail, mask, ring = m[b + L_HEAD], m[b + L_TAIL], m[b + L_MASK], m[b + L_DEPARTURES]
        while head < tail and m[ring + (head & mask)] <= t:
            head += 1
        m[b + L_HEAD] = head
        return tail - head

    let_go = dev(let_go)

    @cold
    def early(p: Any, m: Any, means: Any, b: Any, t: Any, held: Any) -> Any:
        # RED: whether the packet is hit, and by chance.
        number = m[b + L_NUMBER]
        weight = 1.0 / float(np.int64(1) << m[b + Link.RED_WEIGHT])
        mean = means[number]
        if held == 0 and m[b + L_TAIL] > 0 and m[b + Link.RED_PACKET] > 0:
            idle = (t - m[b + L_FREE]) // m[b + Link.RED_PACKET]
            base = 1.0 - weight
            while idle > 0:
                if idle & 1:
                    mean *= base
                base *= base
                idle >>= 1
        mean += (float(held) - mean) * weight  # exact: the weight is a power of two
        means[number] = mean
        least, most = float(m[b + Link.RED_LEAST]), float(m[b + Link.RED_MOST])
        if mean < least:
            m[b + L_COUNT] = -1
            return False, False
        if mean >= (2.0 * most if m[b + Link.RED_GENTLE] != 0 else most):
            m[b + L_COUNT] = 0
            return True, False
        m[b + L_COUNT] += 1
        top = float(m[b + Link.RED_PROBABILITY]) / _UNIT
        if mean >= most:
            # A quotient, not a product, meets the sum: nothing can be fused and round otherwise.
            probability = (mean - most) * (1.0 - top) / most + top
        else:
            probability = top * (mean - least) / (most - least)
        if probability == 0.0:
            return False, False
        rest = 1.0 / probability - float(m[b + L_COUNT])
        if rest > 1.0:
            w0, _, _, _ = draw(
                p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_RED + number, m[b + L_DRAWS]
            )
            m[b + L_DRAWS] += 1
            if float(w0) / _WORD >= 1.0 / rest:
                return False, False
        m[b + L_COUNT] = 0
        return True, True

    early = dev(early)

    def enter(
        p: Any, losses: Any, m: Any, means: Any, b: Any, t: Any, size: Any, markable: Any
    ) -> Any:  # fmt: skip
        m[b + L_COUNTS + LinkOut.ARRIVALS] += 1
        limit, red = m[b + Link.QUEUE], m[b + Link.RED] != DROP_TAIL
        held = m[b + L_TAIL] - m[b + L_HEAD]  # at most: departures are only looked at when it matters
        if red or (limit > 0 and held >= min(limit, m[b + L_MASK] + 1)):
            held = let_go(m, b, t)
        fate = np.int64(TAKEN)
        if limit > 0 and held >= limit:
            m[b + L_COUNTS + LinkOut.DROPS] += 1
            return np.int64(DROPPED), t
        if red:
            hit, chance = early(p, m, means, b, t, held)
            if hit:
                if not (chance and markable and m[b + Link.RED] == RED_MARKS):
                    m[b + L_COUNTS + LinkOut.DROPS] += 1
                    m[b + L_COUNTS + LinkOut.EARLY] += 1
                    return np.int64(DROPPED), t
                m[b + L_COUNTS + LinkOut.MARKS] += 1
                fate = np.int64(TAKEN | MARK)
        begin = max(t, m[b + L_FREE])
        departure = begin + time(size, m[b + Link.BYTE_TIME])
        m[b + L_FREE] = departure
        m[b + L_COUNTS + LinkOut.WAIT_MOST] = max(m[b + L_COUNTS + LinkOut.WAIT_MOST], begin - t)
        if limit > 0 or red:
            if held > m[b + L_MASK]:
                m[FULL] = 1
                return np.int64(DROPPED), t
            tail = m[b + L_TAIL]
            m[m[b + L_DEPARTURES] + (tail & m[b + L_MASK])] = departure
            m[b + L_TAIL] = tail + 1
        end, warm_up = p[P.END], p[Shared.WARM_UP]
        if begin <= end:
            m[b + L_COUNTS + LinkOut.SENT] += 1
            m[b + L_COUNTS + LinkOut.BUSY] += max(min(departure, end) - max(begin, warm_up), np.int64(0))
        else:
            m[b + L_COUNTS + LinkOut.WAITING] += 1
        waited = max(min(begin, end) - max(t, warm_up), np.int64(0))
        add(m, b + L_COUNTS + LinkOut.QUEUE_SUM, b + L_COUNTS + LinkOut.QUEUE_SUM_HIGH, waited)
        if m[b + L_GAP] == 0:
            m[b + L_COUNTS + LinkOut.LOST] += 1
            m[b + L_LOSSES] += 1
            m[b + L_GAP] = gap(
                losses, m[b + Link.LOSS], p[P.SEED], p[P.SCENARIO], p[P.REPLICATION],
                STREAM_LINK + m[b + L_NUMBER], m[b + L_LOSSES],
            )  # fmt: skip
            return fate | LOST, t
        m[b + L_GAP] -= 1
        return fate, departure + m[b + Link.DELAY]

    return dev(enter)
