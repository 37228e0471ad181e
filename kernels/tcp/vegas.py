"""TCP Vegas: a window controlled by the difference between expected and actual rate.

Source: Brakmo and Peterson, "TCP Vegas" (JSAC 1995), in the form of ns-2 (`Agent/TCP/Vegas`): no handshake
and no header, cwnd grows in every other round trip of slow start, duplicate ACKs check a fine-grained
timeout, and the table of send times is as long as the window. Times are integer nanoseconds. It needs no
congestion control.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import BACK_OFF, REDUCE, SEND
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, Window

BASE = reno
FIRST = 0
HOT_WORDS = 15


class Vegas(IntEnum):
    """Scratch words of Vegas; times [ns] are relative to FIRST_SENT."""

    FIRST_SENT = Tcp.SCHEME
    """Send time of the first packet [ns]."""
    BASE_RTT = Tcp.SCHEME + 1
    """Minimum RTT [ns], NONE before the first ACK (ns-2: `v_baseRTT_`)."""
    SRTT = Tcp.SCHEME + 2
    """Smoothed fine-grained RTT, 3 fraction bits [ns / 8] (ns-2: `v_sa_`)."""
    RTTVAR = Tcp.SCHEME + 3
    """Smoothed deviation, 2 fraction bits [ns / 4] (ns-2: `v_sd_`)."""
    TIMEOUT = Tcp.SCHEME + 4
    """Fine-grained timeout [ns] (ns-2: `v_timeout_`)."""
    BEG_SEQ = Tcp.SCHEME + 5
    """Packet whose ACK ends the current round trip (ns-2: `v_begseq_`)."""
    BEG_TIME = Tcp.SCHEME + 6
    """Start of the current round trip [ns] (ns-2: `v_begtime_`)."""
    SUM_RTT = Tcp.SCHEME + 7
    """Sum of the RTTs in this round trip [ns] (ns-2: `v_sumRTT_`)."""
    CNT_RTT = Tcp.SCHEME + 8
    """Number of RTTs in this round trip (ns-2: `v_cntRTT_`)."""
    INC_FLAG = Tcp.SCHEME + 9
    """1 in a round trip of slow start in which cwnd grows (ns-2: `v_inc_flag_`)."""
    WORRIED = Tcp.SCHEME + 10
    """Number of ACKs after a retransmission that still check the fine-grained timeout (ns-2: `worried_`)."""
    NEW_CWND = Tcp.SCHEME + 11
    """Window [packets] after the inflation by duplicate ACKs ends."""
    CWND_CHANGED = Tcp.SCHEME + 12
    """Time of the latest reduction of cwnd [ns] (ns-2: `t_cwnd_changed_`)."""
    PACKETS = Tcp.SCHEME + 13
    """Number of packets of the transfer."""
    SEND_TABLE = Tcp.SCHEME + 14
    """First word of the table of (send time, transmissions) by packet."""


_INCR = 0  # f[0]: growth of cwnd per ACK in this round trip
_UNSENT = -1_000_000_000
_INITIAL_TIMEOUT = 1_000_000_000_000
_MIN_CWND = 2.0  # cwnd after a timeout, minimum cwnd [packets]


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the table of send times, as long as the window."""
    m[Vegas.BASE_RTT] = NONE
    m[Vegas.TIMEOUT] = _INITIAL_TIMEOUT
    m[Vegas.INC_FLAG] = 1
    m[Vegas.PACKETS] = p[RowP.LIMIT]
    m[Vegas.SEND_TABLE] = free
    return free + 2 * p[RowP.WINDOW]


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """Record the send time and the number of transmissions of a packet."""
    slots, table = p[RowP.WINDOW], global_memory(m)
    if packet == 0:
        m[Vegas.FIRST_SENT] = now
        for i in range(slots):
            table[m[Vegas.SEND_TABLE] + 2 * i] = _UNSENT
            table[m[Vegas.SEND_TABLE] + 2 * i + 1] = 0
    entry = m[Vegas.SEND_TABLE] + 2 * (packet % slots)
    table[entry] = now - m[Vegas.FIRST_SENT]
    table[entry + 1] += 1


def start_measurement(m: Any, t: Any) -> None:
    """Initialise the RTT estimates with the first ACK."""
    if m[Vegas.BASE_RTT] == NONE:
        m[Vegas.BASE_RTT] = t
        m[Vegas.SRTT] = 8 * t
        m[Vegas.RTTVAR] = t
        m[Vegas.TIMEOUT] = ((m[Vegas.SRTT] >> 2) + t) >> 1


def on_ack_in_recovery(row: Any, at: Any, ack: Any, highest_ack: Any, cwnd: Any) -> Any:
    """Keep the window: the phase lasts until the next duplicate ACK that retransmits."""
    return cwnd, SEND, NONE


def is_normal(m: Any) -> Any:
    """Return True: an ACK of new data is processed alike in every phase."""
    return True


def fine_timeout_expired(m: Any, p: Any, highest_ack: Any, t: Any) -> Any:
    """Return True if the packet after `highest_ack` was sent longer ago than the fine timeout."""
    if highest_ack + 1 >= m[Vegas.PACKETS]:  # no such packet
        return False
    return (
        t - global_memory(m)[m[Vegas.SEND_TABLE] + 2 * ((highest_ack + 1) % p[RowP.WINDOW])]
        >= m[Vegas.TIMEOUT]
    )


@noinline
def adjust_window(m: Any, f: Any, p: Any, t: Any, ack: Any, snd_nxt: Any, cwnd: Any, ssthresh: Any) -> Any:
    """Compare the actual rate with the expected one, once per round trip; return (cwnd, ssthresh)."""
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
                if delta > p[TcpP.VEGAS_GAMMA]:
                    ssthresh = np.int64(2)
                    cwnd = max(cwnd - cwnd / 8.0, _MIN_CWND)
                else:
                    f[_INCR] = 1.0
        elif delta > p[TcpP.VEGAS_BETA]:
            cwnd = max(cwnd - 1.0, _MIN_CWND)
        elif delta < p[TcpP.VEGAS_ALPHA]:
            f[_INCR] = 1.0 / cwnd
    m[Vegas.BEG_SEQ] = snd_nxt
    m[Vegas.BEG_TIME] = t
    return cwnd, ssthresh


def measure_fine_rtt(m: Any, p: Any, t: Any, ack: Any, previous_ack: Any) -> None:
    """Take the fine-grained RTT of `ack` if it was sent once; clear the table up to it."""
    slots = p[RowP.WINDOW]
    begin, table = m[Vegas.SEND_TABLE], global_memory(m)
    entry = begin + 2 * (ack % slots)
    sent = table[entry]
    transmissions = table[entry + 1]
    k = (previous_ack + 1) % slots
    left = ack - previous_ack
    while k <= ack % slots and left > 0:  # stops where the table wraps around, as in ns-2
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
    """Process an ACK of new data: adjust the window once per round trip, measure, check the fine timeout."""
    m, f, p, now = row.m, row.f, row.p, clock.now
    cwnd, ssthresh, dupacks = window.cwnd, window.ssthresh, window.dupacks
    t = now - m[Vegas.FIRST_SENT]
    start_measurement(m, t)
    if previous_ack == 0:
        cwnd = float(p[TcpP.INITIAL_WINDOW])
    if dupacks > p[ReliableP.DUPACKS] and cwnd > m[Vegas.NEW_CWND]:
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
            return Window(cwnd, ssthresh, p[ReliableP.DUPACKS]), ack + 1
        m[Vegas.WORRIED] = 0
    return Window(cwnd, ssthresh, 0), NONE


@noinline
def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Retransmit at the third duplicate ACK or when the fine timeout has expired.

    The window is reduced once per retransmitted packet, by a quarter, or by half if it was retransmitted
    before.
    """
    m, p, highest_ack, snd_nxt = row.m, row.p, sent.highest_ack, sent.snd_nxt
    cwnd, ssthresh = window.cwnd, window.ssthresh
    t = clock.now - m[Vegas.FIRST_SENT]
    start_measurement(m, t)
    threshold = p[ReliableP.DUPACKS]
    dupacks = window.dupacks + 1
    if not fine_timeout_expired(m, p, highest_ack, t) and dupacks != threshold:
        if dupacks > threshold:
            return Window(cwnd + 1.0, ssthresh, dupacks), SEND, NONE
        return Window(cwnd, ssthresh, dupacks), 0, NONE
    actions = SEND if dupacks >= threshold else 0
    if highest_ack <= m[Tcp.RECOVER] and m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        return Window(cwnd, ssthresh, dupacks), actions, NONE
    entry = m[Vegas.SEND_TABLE] + 2 * ((highest_ack + 1) % p[RowP.WINDOW])
    transmissions = global_memory(m)[entry + 1]
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Vegas.WORRIED] = min(2, snd_nxt - highest_ack)
    m[Vegas.TIMEOUT] += m[Vegas.TIMEOUT] if transmissions > 1 else m[Vegas.TIMEOUT] >> 3
    if m[Vegas.CWND_CHANGED] < global_memory(m)[entry]:  # no reduction since this packet was sent
        size = np.int64(reno.usable_window(cwnd, 0, p[RowP.WINDOW]))
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
    """Restart with slow start from two packets."""
    m = row.m
    m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    m[Tcp.RECOVER] = snd_max
    m[Vegas.NEW_CWND] = 0
    m[Vegas.CWND_CHANGED] = clock.now - m[Vegas.FIRST_SENT]
    half = reno.usable_window(window.cwnd, 0, row.p[RowP.WINDOW]) / 2.0
    return Window(_MIN_CWND, max(np.int64(half), reno.MIN_SSTHRESH), 0)
