"""A link's queue: drop-tail or RED, one transmitter, random loss at the far end.

A packet's departure is known when it arrives, so a queue is the ring of the departures to come.
Sources: RED by Floyd and Jacobson (IEEE/ACM Transactions on Networking, 1993), its gentle form by Floyd
(2000), marks by RFC 3168.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import BYTE_TIME_BITS, P
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
    L_DEPARTURES,
    L_DRAWS,
    L_FREE,
    L_GAP,
    L_HEAD,
    L_LOSSES,
    L_MASK,
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
    """Compile `enter(p, link, losses, m, f, out, at, number, t, size, markable) -> (fate, far)`.

    A packet of `size` bytes comes at `t` to link `number`, whose columns are `link`, whose memory begins
    at word `at` of `m` and whose mean queue is `f[number]`; `out` are its outcomes.  `fate` is TAKEN, DROPPED
    or LOST, and MARK besides; `far` is when it reaches the far end [ns].
    """
    time = make_time(dev)

    @cold
    def early(p: Any, link: Any, m: Any, f: Any, at: Any, number: Any, t: Any, held: Any, used: Any) -> Any:
        # RED: whether the packet is hit, and by chance.
        weight = 1.0 / float(np.int64(1) << link[Link.RED_WEIGHT])
        mean = f[number]
        if held == 0 and used and link[Link.RED_PACKET] > 0:
            idle = (t - m[at + L_FREE]) // link[Link.RED_PACKET]
            base = 1.0 - weight
            while idle > 0:
                if idle & 1:
                    mean *= base
                base *= base
                idle >>= 1
        mean += (float(held) - mean) * weight  # exact: the weight is a power of two
        f[number] = mean
        least, most = float(link[Link.RED_LEAST]), float(link[Link.RED_MOST])
        if mean < least:
            m[at + L_COUNT] = -1
            return False, False
        if mean >= (2.0 * most if link[Link.RED_GENTLE] != 0 else most):
            m[at + L_COUNT] = 0
            return True, False
        m[at + L_COUNT] += 1
        top = float(link[Link.RED_PROBABILITY]) / _UNIT
        if mean >= most:
            # Divisions and a difference of halves: no product meets a sum (see docs/architecture.md).
            probability = (mean - most) * (1.0 - top) / most + top
        else:
            probability = top * (mean - least) / (most - least)
        if probability == 0.0:
            return False, False
        rest = 1.0 / probability - float(m[at + L_COUNT])
        if rest > 1.0:
            w0, _, _, _ = draw(
                p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_RED + number, m[at + L_DRAWS]
            )
            m[at + L_DRAWS] += 1
            if float(w0) / _WORD >= 1.0 / rest:
                return False, False
        m[at + L_COUNT] = 0
        return True, True

    early = dev(early)

    def enter(
        p: Any, link: Any, losses: Any, m: Any, f: Any, out: Any,
        at: Any, number: Any, t: Any, size: Any, markable: Any,
    ) -> Any:  # fmt: skip
        out[LinkOut.ARRIVALS] += 1
        head, tail, mask, ring = m[at + L_HEAD], m[at + L_TAIL], m[at + L_MASK], m[at + L_DEPARTURES]
        used = tail > 0
        while head < tail and m[ring + (head & mask)] <= t:
            head += 1
        m[at + L_HEAD] = head
        held = tail - head
        limit = link[Link.QUEUE]
        fate = np.int64(TAKEN)
        if limit > 0 and held >= limit:
            out[LinkOut.DROPS] += 1
            return np.int64(DROPPED), t
        if link[Link.RED] != DROP_TAIL:
            hit, chance = early(p, link, m, f, at, number, t, held, used)
            if hit:
                if not (chance and markable and link[Link.RED] == RED_MARKS):
                    out[LinkOut.DROPS] += 1
                    out[LinkOut.EARLY] += 1
                    return np.int64(DROPPED), t
                out[LinkOut.MARKS] += 1
                fate = np.int64(TAKEN | MARK)
        if held > mask:
            m[FULL] = 1
            return np.int64(DROPPED), t
        begin = max(t, m[at + L_FREE])
        departure = begin + time(size, link[Link.BYTE_TIME])
        m[at + L_FREE] = departure
        m[ring + (tail & mask)] = departure
        m[at + L_TAIL] = tail + 1
        out[LinkOut.QUEUE_MOST] = max(out[LinkOut.QUEUE_MOST], held + 1)
        end, warm_up = p[P.END], p[Shared.WARM_UP]
        if begin <= end:
            out[LinkOut.SENT] += 1
            if begin >= warm_up:
                out[LinkOut.BYTES] += size
        else:
            out[LinkOut.WAITING] += 1
        out[LinkOut.QUEUE_SUM] += max(min(begin, end) - max(t, warm_up), np.int64(0))
        if m[at + L_GAP] == 0:
            out[LinkOut.LOST] += 1
            m[at + L_LOSSES] += 1
            m[at + L_GAP] = gap(
                losses, link[Link.LOSS], p[P.SEED], p[P.SCENARIO], p[P.REPLICATION],
                STREAM_LINK + number, m[at + L_LOSSES],
            )  # fmt: skip
            return fate | LOST, t
        m[at + L_GAP] -= 1
        return fate, departure + link[Link.DELAY]

    return dev(enter)
