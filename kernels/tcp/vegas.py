"""TCP Vegas: a window steered by the difference between expected and actual rate.

Source: Brakmo and Peterson, "TCP Vegas" (JSAC 1995), in the form of ns-2 (`Agent/TCP/Vegas`): no
handshake and no header, cwnd may grow every other round trip in slow start, a fine-grained timeout
judged at duplicate ACKs, a send-time table as long as the window.  Times are integer nanoseconds.  It is its
own congestion control.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import BACK_OFF, REDUCE, SEND
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, Window

BASE = reno
FIRST = 0
HOT_WORDS = 15


class Vegas(IntEnum):
    """Own words of scratch; times [ns] are relative to the first sending."""

    FIRST = Tcp.OWN
    """When the first packet was sent."""
    BASE = Tcp.OWN + 1
    """Least RTT seen, NONE before the first ACK."""
    MEAN = Tcp.OWN + 2
    """Smoothed RTT, 3 fraction bits."""
    DEVIATION = Tcp.OWN + 3
    """Smoothed deviation, 2 fraction bits."""
    TIMEOUT = Tcp.OWN + 4
    """Fine-grained timeout."""
    MARK = Tcp.OWN + 5
    """The packet whose ACK ends the round trip,"""
    MARK_TIME = Tcp.OWN + 6
    """and when that began."""
    SUM = Tcp.OWN + 7
    """RTTs of this round trip,"""
    COUNT = Tcp.OWN + 8
    """and their number."""
    MAY_GROW = Tcp.OWN + 9
    """1: slow start: this is a round trip of growth."""
    WORRIED = Tcp.OWN + 10
    """ACKs after a retransmission that still check the timeout."""
    DEFLATED = Tcp.OWN + 11
    """cwnd to return to after the inflation [packet]."""
    CHANGED = Tcp.OWN + 12
    """When cwnd was last cut."""
    LIMIT = Tcp.OWN + 13
    """Packets there are to send."""
    TABLE = Tcp.OWN + 14
    """Where (send time, transmissions) of the packets begins."""


_STEP = 0  # f[0]: growth of cwnd per ACK in this round trip
_UNSENT = -1_000_000_000
_START_TIMEOUT = 1_000_000_000_000
_RESTART = 2.0  # cwnd after a timeout, least cwnd [packet]


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the table of send times, as long as the window."""
    m[Vegas.BASE] = NONE
    m[Vegas.TIMEOUT] = _START_TIMEOUT
    m[Vegas.MAY_GROW] = 1
    m[Vegas.LIMIT] = p[P.LIMIT]
    m[Vegas.TABLE] = free
    return free + 2 * p[P.WINDOW]


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """Note when a packet was put out, and how often."""
    slots, table = p[P.WINDOW], global_memory(m)
    if packet == 0:
        m[Vegas.FIRST] = now
        for i in range(slots):
            table[m[Vegas.TABLE] + 2 * i] = _UNSENT
            table[m[Vegas.TABLE] + 2 * i + 1] = 0
    entry = m[Vegas.TABLE] + 2 * (packet % slots)
    table[entry] = now - m[Vegas.FIRST]
    table[entry + 1] += 1


def first_ack(m: Any, t: Any) -> None:
    """The first ACK sets all that is measured."""
    if m[Vegas.BASE] == NONE:
        m[Vegas.BASE] = t
        m[Vegas.MEAN] = 8 * t
        m[Vegas.DEVIATION] = t
        m[Vegas.TIMEOUT] = ((m[Vegas.MEAN] >> 2) + t) >> 1


def new_ack(row: Any, at: Any, ack: Any, acked: Any, cwnd: Any) -> Any:
    """The phase lasts until the next duplicate ACK that acts."""
    return cwnd, SEND, NONE


def is_normal(m: Any) -> Any:
    """New data are the same in every phase."""
    return True


def expired(m: Any, p: Any, acked: Any, t: Any) -> Any:
    """Whether the packet behind `acked` was put out longer ago than the fine-grained timeout."""
    if acked + 1 >= m[Vegas.LIMIT]:  # no such packet
        return False
    return t - global_memory(m)[m[Vegas.TABLE] + 2 * ((acked + 1) % p[P.WINDOW])] >= m[Vegas.TIMEOUT]


@noinline
def steer(m: Any, f: Any, p: Any, t: Any, ack: Any, snd_nxt: Any, cwnd: Any, ssthresh: Any) -> Any:
    """Once per round trip: compare the rate with what the base RTT promises."""
    rtt = m[Vegas.SUM] // m[Vegas.COUNT] if m[Vegas.COUNT] > 0 else t - m[Vegas.MARK_TIME]
    m[Vegas.SUM] = 0
    m[Vegas.COUNT] = 0
    sent = snd_nxt - m[Vegas.MARK]
    if rtt > 0:
        if rtt < m[Vegas.BASE] or sent <= 1:
            m[Vegas.BASE] = rtt
        # round((in flight / base - sent / rtt) * base), halves up, truncated toward zero
        excess = 2 * (snd_nxt - ack) * rtt - 2 * sent * m[Vegas.BASE] + rtt
        delta = abs(excess) // (2 * rtt)
        if excess < 0:
            delta = -delta
        f[_STEP] = 0.0
        if cwnd < ssthresh:
            m[Vegas.MAY_GROW] = 1 - m[Vegas.MAY_GROW]
            if m[Vegas.MAY_GROW] == 1:
                if delta > p[P.VEGAS_GAMMA]:
                    ssthresh = np.int64(2)
                    cwnd = max(cwnd - cwnd / 8.0, _RESTART)
                else:
                    f[_STEP] = 1.0
        elif delta > p[P.VEGAS_BETA]:
            cwnd = max(cwnd - 1.0, _RESTART)
        elif delta < p[P.VEGAS_ALPHA]:
            f[_STEP] = 1.0 / cwnd
    m[Vegas.MARK] = snd_nxt
    m[Vegas.MARK_TIME] = t
    return cwnd, ssthresh


def measure(m: Any, p: Any, t: Any, ack: Any, before: Any) -> None:
    """The fine-grained RTT of `ack`, if it was sent once; forget what has been acknowledged."""
    slots = p[P.WINDOW]
    begin, table = m[Vegas.TABLE], global_memory(m)
    entry = begin + 2 * (ack % slots)
    sent = table[entry]
    transmissions = table[entry + 1]
    k = (before + 1) % slots
    left = ack - before
    while k <= ack % slots and left > 0:  # stops where the table wraps, as in ns-2
        table[begin + 2 * k] = _UNSENT
        table[begin + 2 * k + 1] = 0
        k = (k + 1) % slots
        left -= 1
    if sent == 0 or transmissions != 1:
        return
    rtt = t - sent
    m[Vegas.SUM] += rtt
    m[Vegas.COUNT] += 1
    if rtt > 0:
        m[Vegas.BASE] = min(m[Vegas.BASE], rtt)
        error = rtt - (m[Vegas.MEAN] >> 3)
        m[Vegas.MEAN] += error
        m[Vegas.DEVIATION] += abs(error) - (m[Vegas.DEVIATION] >> 2)
        timeout = ((m[Vegas.MEAN] >> 2) + m[Vegas.DEVIATION]) >> 1
        m[Vegas.TIMEOUT] = timeout + (timeout >> 4)


def grow(row: Any, clock: Any, ack: Any, before: Any, snd_nxt: Any, window: Any) -> Any:
    """Steer once per round trip, measure, and check the timeout after a retransmission."""
    m, f, p, now = row.m, row.f, row.p, clock.now
    cwnd, ssthresh, dupacks = window.cwnd, window.ssthresh, window.dupacks
    t = now - m[Vegas.FIRST]
    first_ack(m, t)
    if before == 0:
        cwnd = float(p[P.INITIAL_WINDOW])
    if dupacks > p[P.DUPACKS] and cwnd > m[Vegas.DEFLATED]:
        cwnd = float(m[Vegas.DEFLATED])
        ssthresh = np.int64(2)
    if ack >= m[Vegas.MARK]:
        cwnd, ssthresh = steer(m, f, p, t, ack, snd_nxt, cwnd, ssthresh)
    if f[_STEP] == 1.0 and cwnd >= ssthresh:
        f[_STEP] = 0.0
    if f[_STEP] > 0.0 and cwnd - float(snd_nxt - ack) <= 2.0:
        cwnd = cwnd + f[_STEP]
    measure(m, p, t, ack, before)
    if m[Vegas.WORRIED] > 0:
        if expired(m, p, ack, t):
            m[Vegas.WORRIED] -= 1
            return Window(cwnd, ssthresh, p[P.DUPACKS]), ack + 1
        m[Vegas.WORRIED] = 0
    return Window(cwnd, ssthresh, 0), NONE


@noinline
def dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """The third, or an expired timeout, resends; the window shrinks once per packet that is resent."""
    m, p, acked, snd_nxt = row.m, row.p, sent.acked, sent.snd_nxt
    cwnd, ssthresh = window.cwnd, window.ssthresh
    t = clock.now - m[Vegas.FIRST]
    first_ack(m, t)
    threshold = p[P.DUPACKS]
    dupacks = window.dupacks + 1
    if not expired(m, p, acked, t) and dupacks != threshold:
        if dupacks > threshold:
            return Window(cwnd + 1.0, ssthresh, dupacks), SEND, NONE
        return Window(cwnd, ssthresh, dupacks), 0, NONE
    actions = SEND if dupacks >= threshold else 0
    if acked <= m[Tcp.RECOVER] and m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        return Window(cwnd, ssthresh, dupacks), actions, NONE
    entry = m[Vegas.TABLE] + 2 * ((acked + 1) % p[P.WINDOW])
    transmissions = global_memory(m)[entry + 1]
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Vegas.WORRIED] = min(2, snd_nxt - acked)
    m[Vegas.TIMEOUT] += m[Vegas.TIMEOUT] if transmissions > 1 else m[Vegas.TIMEOUT] >> 3
    if m[Vegas.CHANGED] < global_memory(m)[entry]:  # cwnd has not changed since this packet was sent
        size = np.int64(reno.usable(cwnd, 0, p[P.WINDOW]))
        if size <= 3:
            size = np.int64(2)
        elif transmissions > 1:
            size >>= 1
        else:
            size -= size >> 2
        m[Vegas.DEFLATED] = size
        m[Vegas.CHANGED] = t
        cwnd = float(size + dupacks)
    if transmissions == 1:
        dupacks = threshold
    actions |= (SEND if dupacks >= threshold else 0) | REDUCE | BACK_OFF
    return Window(cwnd, ssthresh, dupacks), actions, acked + 1


@noinline
def timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Slow start from two packets."""
    m = row.m
    m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    m[Tcp.RECOVER] = snd_max
    m[Vegas.DEFLATED] = 0
    m[Vegas.CHANGED] = clock.now - m[Vegas.FIRST]
    half = reno.usable(window.cwnd, 0, row.p[P.WINDOW]) / 2.0
    return Window(_RESTART, max(np.int64(half), reno.FLOOR), 0)
