"""Queue of a link: drop-tail or RED, one transmitter, random loss at the far end.

The departure of a packet is known when it arrives, so a queue is the ring of future departures. Sources: RED
by Floyd and Jacobson (IEEE/ACM Transactions on Networking, 1993), its gentle form by Floyd (2000), ECN marks
by RFC 3168.

`b` is where the block of a link begins in scratch `m`, `p` are the columns of the row, and `means` the mean
queues of all links (RED).
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.countdown import draw_gap, lost
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared import outages, packet, varying
from netcarlo.kernels.shared.layout import (
    DROP_TAIL,
    RED_MARKS,
    STREAM_LINK,
    STREAM_RED,
    FlowOut,
    Link,
    LinkOut,
    Shared,
)
from netcarlo.kernels.shared.state import FlowWord, LinkWord, Word

VARYING: Any = slot("varying")

_WORD = 2.0**32
_UNIT = 65536.0  # unit of Link.RED_MAX_P


class Fate(IntEnum):
    """Fate of a packet at a link; MARKED is added to the others."""

    ACCEPTED = 0
    DROPPED = 1  # dropped by the queue
    LOST = 2  # lost at random, or by an outage
    MARKED = 4
    HELD = 8  # held by AQM, which decides later


def enqueue(
    p: Any, links: Any, losses: Any, m: Any, means: Any, b: Any, t: Any, size: Any, markable: Any
) -> Any:  # fmt: skip
    """Enqueue a packet of `size` bytes that arrives at `t`; return its fate and its time at the far end
    [ns]."""
    m[b + LinkWord.COUNTS + LinkOut.ARRIVALS] += 1
    limited = m[b + Link.QUEUE] > 0 or m[b + Link.RED] != DROP_TAIL
    fate, arrival = np.int64(Fate.DROPPED), t
    is_up = not VARYING or not outages.is_down(links, m, b, t)
    if is_up and (not VARYING or varying.conforms(links, m, b, t, size)):
        fate = _admit(p, m, means, b, t, _held(m, b, t), markable)
    if fate == Fate.DROPPED:
        m[b + LinkWord.COUNTS + LinkOut.DROPS] += 1
    else:
        begin = max(t, m[b + LinkWord.FREE])
        departure = begin + on_wire(size, m[b + Link.BYTE_TIME])
        if VARYING:
            begin, departure = varying.transmission_of(p, links, m, b, t, size, departure - begin)
        m[b + LinkWord.FREE] = departure
        if limited:
            tail = m[b + LinkWord.TAIL]
            m[numbered(m[b + LinkWord.DEPARTURES], m[b + LinkWord.MASK], 1, tail)] = departure
            m[b + LinkWord.TAIL] = tail + 1
        if VARYING and outages.destroys(m, b, departure):
            _count_destroyed(p, m, b, t, begin, departure)
            fate |= Fate.LOST
        else:
            count_transmission(p, m, b, t, begin, departure)
            loss, arrival = transmit(p, links, losses, m, b, departure)
            fate |= loss
    return fate, arrival


def transmit(p: Any, links: Any, losses: Any, m: Any, b: Any, departure: Any) -> Any:
    """Transmit a packet until `departure`; return LOST or ACCEPTED, and its time at the far end [ns]."""
    arrival, is_lost = departure + m[b + Link.DELAY], False
    if VARYING:
        arrival, is_lost = varying.arrival_of(p, links, m, b, departure)
    stream = STREAM_LINK + m[b + LinkWord.NUMBER]
    if is_lost or lost(p, losses, m, b + LinkWord.GAP, m[b + Link.LOSS], stream):
        m[b + LinkWord.COUNTS + LinkOut.LOST] += 1
        return np.int64(Fate.LOST), arrival
    return np.int64(Fate.ACCEPTED), arrival


@noinline
def _count_destroyed(p: Any, m: Any, b: Any, t: Any, begin: Any, departure: Any) -> None:
    """Count a packet that arrived at `t` and is lost because the link goes down before it is at the far
    end."""
    down = m[b + LinkWord.DOWN]
    count_transmission(p, m, b, t, min(begin, down), min(departure, down))
    m[b + LinkWord.COUNTS + LinkOut.SENT] -= begin >= down and p[Shared.WARM_UP] <= down <= p[RowP.END]
    m[b + LinkWord.COUNTS + LinkOut.LOST] += 1


@noinline
def count_loss(m: Any, b: Any, word: Any, fate: Any) -> None:
    """Count a dropped or lost packet of the flow with block `b`."""
    counts = b + FlowWord.COUNTS
    if word & packet.BACKWARD:
        m[counts + FlowOut.ACK_DROPS] += word & (packet.PROBE | packet.CONTROL) == 0
    elif packet.is_payload(word):
        m[counts + (FlowOut.DROPS_QUEUE if fate & Fate.DROPPED else FlowOut.DROPS_RANDOM)] += 1


def prepare_loss(p: Any, losses: Any, m: Any, b: Any) -> None:
    """Draw the gap to the first lost packet before the start."""
    draw_gap(p, losses, m, b + LinkWord.GAP, m[b + Link.LOSS], STREAM_LINK + m[b + LinkWord.NUMBER])


def _held(m: Any, b: Any, t: Any) -> Any:
    """Return the packets in the queue: exact where the number matters (RED, possibly full), else an upper
    bound."""
    head, tail, mask = m[b + LinkWord.HEAD], m[b + LinkWord.TAIL], m[b + LinkWord.MASK]
    limit = m[b + Link.QUEUE]
    if m[b + Link.RED] != DROP_TAIL or (limit > 0 and tail - head >= min(limit, mask + 1)):
        ring = m[b + LinkWord.DEPARTURES]
        while head < tail and m[numbered(ring, mask, 1, head)] <= t:
            head += 1
        m[b + LinkWord.HEAD] = head
    return tail - head


def _admit(p: Any, m: Any, means: Any, b: Any, t: Any, held: Any, markable: Any) -> Any:
    """Return whether the queue accepts, drops or marks a packet (`Fate`)."""
    fate = np.int64(Fate.ACCEPTED)
    if m[b + Link.QUEUE] > 0 and held >= m[b + Link.QUEUE]:
        fate = np.int64(Fate.DROPPED)
    elif held > m[b + LinkWord.MASK]:
        m[Word.STATUS] = 1
        fate = np.int64(Fate.DROPPED)
    elif m[b + Link.RED] != DROP_TAIL:
        hit, chance = _red_hits(p, m, means, b, t, held)
        if hit and chance and markable and m[b + Link.RED] == RED_MARKS:
            m[b + LinkWord.COUNTS + LinkOut.MARKS] += 1
            fate = np.int64(Fate.MARKED)
        elif hit:
            m[b + LinkWord.COUNTS + LinkOut.EARLY] += 1
            fate = np.int64(Fate.DROPPED)
    return fate


@noinline
def _red_hits(p: Any, m: Any, means: Any, b: Any, t: Any, held: Any) -> Any:
    """Return whether RED drops or marks a packet, and whether it does so by chance."""
    number = m[b + LinkWord.NUMBER]
    mean = _red_mean(m, means, b, t, held)
    min_th, max_th = float(m[b + Link.RED_MIN_TH]), float(m[b + Link.RED_MAX_TH])
    if mean < min_th:
        m[b + LinkWord.RED_COUNT] = -1
        return False, False
    if mean >= (2.0 * max_th if m[b + Link.RED_GENTLE] != 0 else max_th):
        m[b + LinkWord.RED_COUNT] = 0
        return True, False
    m[b + LinkWord.RED_COUNT] += 1
    top = float(m[b + Link.RED_MAX_P]) / _UNIT
    if mean >= max_th:
        # A quotient, not a product, is added: so no compiler fuses the operations and rounds differently.
        probability = (mean - max_th) * (1.0 - top) / max_th + top
    else:
        probability = top * (mean - min_th) / (max_th - min_th)
    if probability == 0.0:
        return False, False
    rest = 1.0 / probability - float(m[b + LinkWord.RED_COUNT])
    if rest > 1.0:
        w0, _, _, _ = draw(
            p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_RED + number, m[b + LinkWord.DRAWS]
        )
        m[b + LinkWord.DRAWS] += 1
        if float(w0) / _WORD >= 1.0 / rest:
            return False, False
    m[b + LinkWord.RED_COUNT] = 0
    return True, True


def _red_mean(m: Any, means: Any, b: Any, t: Any, held: Any) -> Any:
    """Return RED's mean queue at an arrival; an idle queue counts as arrivals of packets at an empty
    queue."""
    number = m[b + LinkWord.NUMBER]
    weight = 1.0 / float(np.int64(1) << m[b + Link.RED_WEIGHT])
    mean = means[number]
    if held == 0 and m[b + LinkWord.TAIL] > 0 and m[b + Link.RED_PACKET_TIME] > 0:
        idle = (t - m[b + LinkWord.FREE]) // m[b + Link.RED_PACKET_TIME]
        base = 1.0 - weight
        while idle > 0:
            if idle & 1:
                mean *= base
            base *= base
            idle >>= 1
    mean += (float(held) - mean) * weight  # exact: the weight is a power of two
    means[number] = mean
    return mean


def count_transmission(p: Any, m: Any, b: Any, t: Any, begin: Any, departure: Any) -> None:
    """Measure a packet that arrives at `t` and is transmitted from `begin` to `departure` [ns]."""
    counts = b + LinkWord.COUNTS
    end, warm_up = p[RowP.END], p[Shared.WARM_UP]
    waited = min(begin, end) - t  # a packet that still waits at the end has waited until then
    if t >= warm_up:
        m[counts + LinkOut.WAIT_MAX] = max(m[counts + LinkOut.WAIT_MAX], waited)
    if t >= warm_up and departure <= end:
        m[counts + LinkOut.SENT] += 1
        m[counts + LinkOut.BUSY] += departure - begin
    elif begin <= end:
        m[counts + LinkOut.SENT] += begin >= warm_up
        m[counts + LinkOut.BUSY] += max(min(departure, end) - max(begin, warm_up), np.int64(0))
        waited = max(begin - max(t, warm_up), np.int64(0))
    else:
        m[counts + LinkOut.WAITING] += 1
        waited = max(end - max(t, warm_up), np.int64(0))
    add(m, counts + LinkOut.QUEUE_SUM, counts + LinkOut.QUEUE_SUM_HIGH, waited)
