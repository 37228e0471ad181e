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

    FIRST_SENT = Tcp.SCHEME
    """When the first packet was sent."""
    BASE_RTT = Tcp.SCHEME + 1
    """Least RTT seen, NONE before the first ACK."""
    SRTT = Tcp.SCHEME + 2
    """Smoothed RTT, 3 fraction bits."""
    RTTVAR = Tcp.SCHEME + 3
    """Smoothed deviation, 2 fraction bits."""
    TIMEOUT = Tcp.SCHEME + 4
    """Fine-grained timeout."""
    BEG_SEQ = Tcp.SCHEME + 5
    """The packet whose ACK ends the round trip,"""
    BEG_TIME = Tcp.SCHEME + 6
    """and when that began."""
    SUM_RTT = Tcp.SCHEME + 7
    """RTTs of this round trip,"""
    CNT_RTT = Tcp.SCHEME + 8
    """and their number."""
    INC_FLAG = Tcp.SCHEME + 9
    """1: slow start: this is a round trip of growth."""
    WORRIED = Tcp.SCHEME + 10
    """ACKs after a retransmission that still check the timeout."""
    NEW_CWND = Tcp.SCHEME + 11
    """cwnd to return to after the inflation [packet]."""
    CWND_CHANGED = Tcp.SCHEME + 12
    """When cwnd was last cut."""
    PACKETS = Tcp.SCHEME + 13
    """Packets there are to send."""
    SEND_TABLE = Tcp.SCHEME + 14
    """Where (send time, transmissions) of the packets begins."""


_INCR = 0  # f[0]: growth of cwnd per ACK in this round trip
_UNSENT = -1_000_000_000
_INITIAL_TIMEOUT = 1_000_000_000_000
_MIN_CWND = 2.0  # cwnd after a timeout, least cwnd [packet]


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the table of send times, as long as the window."""
    m[Vegas.BASE_RTT] = NONE
    m[Vegas.TIMEOUT] = _INITIAL_TIMEOUT
    m[Vegas.INC_FLAG] = 1
    m[Vegas.PACKETS] = p[P.LIMIT]
    m[Vegas.SEND_TABLE] = free
    return free + 2 * p[P.WINDOW]


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """Note when a packet was put out, and how often."""
    slots, table = p[P.WINDOW], global_memory(m)
    if packet == 0:
        m[Vegas.FIRST_SENT] = now
        for i in range(slots):
            table[m[Vegas.SEND_TABLE] + 2 * i] = _UNSENT
            table[m[Vegas.SEND_TABLE] + 2 * i + 1] = 0
    entry = m[Vegas.SEND_TABLE] + 2 * (packet % slots)
    table[entry] = now - m[Vegas.FIRST_SENT]
    table[entry + 1] += 1


def start_measurement(m: Any, t: Any) -> None:
    """The first ACK sets all that is measured."""
    if m[Vegas.BASE_RTT] == NONE:
        m[Vegas.BASE_RTT] = t
        m[Vegas.SRTT] = 8 * t
        m[Vegas.RTTVAR] = t
        m[Vegas.TIMEOUT] = ((m[Vegas.SRTT] >> 2) + t) >> 1


def on_ack_in_recovery(row: Any, at: Any, ack: Any, highest_ack: Any, cwnd: Any) -> Any:
    """The phase lasts until the next duplicate ACK that acts."""
    return cwnd, SEND, NONE


def is_normal(m: Any) -> Any:
    """New data are the same in every phase."""
    return True


def fine_timeout_expired(m: Any, p: Any, highest_ack: Any, t: Any) -> Any:
    """Whether the packet behind `acked` was put out longer ago than the fine-grained timeout."""
    if highest_ack + 1 >= m[Vegas.PACKETS]:  # no such packet
        return False
    return (
        t - global_memory(m)[m[Vegas.SEND_TABLE] + 2 * ((highest_ack + 1) % p[P.WINDOW])] >= m[Vegas.TIMEOUT]
    )


@noinline
def adjust_window(m: Any, f: Any, p: Any, t: Any, ack: Any, snd_nxt: Any, cwnd: Any, ssthresh: Any) -> Any:
    """Once per round trip: compare the rate with what the base RTT promises."""
    rtt = m[Vegas.SUM_RTT] // m[Vegas.CNT_RTT] if m[Vegas.CNT_RTT] > 0 else t - m[Vegas.BEG_TIME]
    m[Vegas.SUM_RTT] = 0
    m[Vegas.CNT_RTT] = 0
    sent = snd_nxt - m[Vegas.BEG_SEQ]
    if rtt > 0:
        if rtt < m[Vegas.BASE_RTT] or sent <= 1:
            m[Vegas.BASE_RTT] = rtt
        # round((in flight / base - sent / rtt) * base), halves up, truncated toward zero
        excess = 2 * (snd_nxt - ack) * rtt - 2 * sent * m[Vegas.BASE_RTT] + rtt
        delta = abs(excess) // (2 * rtt)
        if excess < 0:
            delta = -delta
        f[_INCR] = 0.0
        if cwnd < ssthresh:
            m[Vegas.INC_FLAG] = 1 - m[Vegas.INC_FLAG]
            if m[Vegas.INC_FLAG] == 1:
                if delta > p[P.VEGAS_GAMMA]:
                    ssthresh = np.int64(2)
                    cwnd = max(cwnd - cwnd / 8.0, _MIN_CWND)
                else:
                    f[_INCR] = 1.0
        elif delta > p[P.VEGAS_BETA]:
            cwnd = max(cwnd - 1.0, _MIN_CWND)
        elif delta < p[P.VEGAS_ALPHA]:
            f[_INCR] = 1.0 / cwnd
    m[Vegas.BEG_SEQ] = snd_nxt
    m[Vegas.BEG_TIME] = t
    return cwnd, ssthresh


def measure_fine_rtt(m: Any, p: Any, t: Any, ack: Any, previous_ack: Any) -> None:
    """The fine-grained RTT of `ack`, if it was sent once; forget what has been acknowledged."""
    slots = p[P.WINDOW]
    begin, table = m[Vegas.SEND_TABLE], global_memory(m)
    entry = begin + 2 * (ack % slots)
    sent = table[entry]
    transmissions = table[entry + 1]
    k = (previous_ack + 1) % slots
    left = ack - previous_ack
    while k <= ack % slots and left > 0:  # stops where the table wraps, as in ns-2
        table[begin + 2 * k] = _UNSENT
        table[begin + 2 * k + 1] = 0
        k = (k + 1) % slots
        left -= 1
    if sent == 0 or transmissions != 1:
        return
    rtt = t - sent
    m[Vegas.SUM_RTT] += rtt
    m[Vegas.CNT_RTT] += 1
    if rtt > 0:
        m[Vegas.BASE_RTT] = min(m[Vegas.BASE_RTT], rtt)
        error = rtt - (m[Vegas.SRTT] >> 3)
        m[Vegas.SRTT] += error
        m[Vegas.RTTVAR] += abs(error) - (m[Vegas.RTTVAR] >> 2)
        timeout = ((m[Vegas.SRTT] >> 2) + m[Vegas.RTTVAR]) >> 1
        m[Vegas.TIMEOUT] = timeout + (timeout >> 4)


def grow(row: Any, clock: Any, ack: Any, previous_ack: Any, snd_nxt: Any, window: Any) -> Any:
    """Steer once per round trip, measure, and check the timeout after a retransmission."""
    m, f, p, now = row.m, row.f, row.p, clock.now
    cwnd, ssthresh, dupacks = window.cwnd, window.ssthresh, window.dupacks
    t = now - m[Vegas.FIRST_SENT]
    start_measurement(m, t)
    if previous_ack == 0:
        cwnd = float(p[P.INITIAL_WINDOW])
    if dupacks > p[P.DUPACKS] and cwnd > m[Vegas.NEW_CWND]:
        cwnd = float(m[Vegas.NEW_CWND])
        ssthresh = np.int64(2)
    if ack >= m[Vegas.BEG_SEQ]:
        cwnd, ssthresh = adjust_window(m, f, p, t, ack, snd_nxt, cwnd, ssthresh)
    if f[_INCR] == 1.0 and cwnd >= ssthresh:
        f[_INCR] = 0.0
    if f[_INCR] > 0.0 and cwnd - float(snd_nxt - ack) <= 2.0:
        cwnd = cwnd + f[_INCR]
    measure_fine_rtt(m, p, t, ack, previous_ack)
    if m[Vegas.WORRIED] > 0:
        if fine_timeout_expired(m, p, ack, t):
            m[Vegas.WORRIED] -= 1
            return Window(cwnd, ssthresh, p[P.DUPACKS]), ack + 1
        m[Vegas.WORRIED] = 0
    return Window(cwnd, ssthresh, 0), NONE


@noinline
def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """The third, or an expired timeout, resends; the window shrinks once per packet that is resent."""
    m, p, highest_ack, snd_nxt = row.m, row.p, sent.highest_ack, sent.snd_nxt
    cwnd, ssthresh = window.cwnd, window.ssthresh
    t = clock.now - m[Vegas.FIRST_SENT]
    start_measurement(m, t)
    threshold = p[P.DUPACKS]
    dupacks = window.dupacks + 1
    if not fine_timeout_expired(m, p, highest_ack, t) and dupacks != threshold:
        if dupacks > threshold:
            return Window(cwnd + 1.0, ssthresh, dupacks), SEND, NONE
        return Window(cwnd, ssthresh, dupacks), 0, NONE
    actions = SEND if dupacks >= threshold else 0
    if highest_ack <= m[Tcp.RECOVER] and m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        return Window(cwnd, ssthresh, dupacks), actions, NONE
    entry = m[Vegas.SEND_TABLE] + 2 * ((highest_ack + 1) % p[P.WINDOW])
    transmissions = global_memory(m)[entry + 1]
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Vegas.WORRIED] = min(2, snd_nxt - highest_ack)
    m[Vegas.TIMEOUT] += m[Vegas.TIMEOUT] if transmissions > 1 else m[Vegas.TIMEOUT] >> 3
    if m[Vegas.CWND_CHANGED] < global_memory(m)[entry]:  # cwnd has not changed since this packet was sent
        size = np.int64(reno.usable_window(cwnd, 0, p[P.WINDOW]))
        if size <= 3:
            size = np.int64(2)
        elif transmissions > 1:
            size >>= 1
        else:
            size -= size >> 2
        m[Vegas.NEW_CWND] = size
        m[Vegas.CWND_CHANGED] = t
        cwnd = float(size + dupacks)
    if transmissions == 1:
        dupacks = threshold
    actions |= (SEND if dupacks >= threshold else 0) | REDUCE | BACK_OFF
    return Window(cwnd, ssthresh, dupacks), actions, highest_ack + 1


@noinline
def on_timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Slow start from two packets."""
    m = row.m
    m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    m[Tcp.RECOVER] = snd_max
    m[Vegas.NEW_CWND] = 0
    m[Vegas.CWND_CHANGED] = clock.now - m[Vegas.FIRST_SENT]
    half = reno.usable_window(window.cwnd, 0, row.p[P.WINDOW]) / 2.0
    return Window(_MIN_CWND, max(np.int64(half), reno.MIN_SSTHRESH), 0)
