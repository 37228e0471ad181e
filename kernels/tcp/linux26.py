"""A sender like that of Linux 2.6: SACK and forward acknowledgement, timestamps, rate halving.

Source: Sarolahti and Kuznetsov, "Congestion control in Linux TCP" (USENIX 2002), in the simplified form of
ns-2 (`Agent/TCP/Linux`): Wei and Cao, "NS-2 TCP-Linux" (WNS2 2006).

The sender keeps a number of packets in flight: cwnd or, after a cut, what is left of the old window, which
shrinks by a packet for every packet sent and so by one per two ACKs.  Lost packets go first.

A congestion control is a module like `aimd`: `grow` gives cwnd, `reduce` ssthresh, `acked` is called outside
of recoveries only, `rtt` is 0 at an ACK that is no good for measurement.  It may also have
`on_linux_ack(packets, plain, now, rtt, size, memory)`, called at every ACK with the smoothed RTT [ns] and the
packets' payload (`plain`: it acknowledges new data, reports nothing out of order, and nothing is being
recovered), and `min_cwnd(ssthresh, size, memory)`, the window during a recovery, else ssthresh.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import copies, recovery, scoreboard
from netcarlo.kernels.tcp.recovery import REDUCE
from netcarlo.kernels.tcp.scoreboard import acknowledge, clear, flight, lose, next_lost, report, resend
from netcarlo.kernels.tcp.state import NONE, Clock, Phase, Tcp, Window

BASE = recovery
SACK = True
STAMPS = True
HOT_WORDS = scoreboard.Board.FREE + 3 - Tcp.OWN

BURST = 3
"""After a recovery cwnd is at most so much above what is in flight [packet]."""

MS = 1_000_000  # [ns]

COPIED: Any = slot("copied")
"""Packets carry the numbers of copies, see `copies`."""

control: Any = slot("control")


class Linux(IntEnum):
    """Own words of scratch, behind those of the scoreboard."""

    CWND = scoreboard.Board.FREE
    """[packet]"""
    HALVING = scoreboard.Board.FREE + 1
    """In a recovery as many packets may be in flight, if more; else 0."""
    ACKED = scoreboard.Board.FREE + 2
    """Highest packet acknowledged."""
    COPY = scoreboard.Board.FREE + 3
    """Number of the copy that was put out last,"""
    COPIES = scoreboard.Board.FREE + 4
    """and where what is known of all copies begins in scratch."""


def measure(sent: Any, now: Any, phase: Any, tick: Any) -> Any:
    """The RTT from a timestamp, to the nearest tick."""
    return max((now - sent + (tick >> 1)) // tick, np.int64(1))


def smooth(rtt: Any, srtt: Any, rttvar: Any) -> Any:
    """As in `rto`, but a sample far below the mean raises the deviation by an eighth of the usual only."""
    if srtt == 0:
        return rtt << np.int64(3), rtt << np.int64(1)
    delta = rtt - (srtt >> np.int64(3))
    more = abs(delta) - (rttvar >> np.int64(2))
    if delta < 0 and more > 0:
        more >>= np.int64(3)
    return max(srtt + delta, np.int64(1)), rttvar + more


def reduced(row: Any, clock: Any, timeout: Any) -> Any:
    """The slow start threshold after a loss [packet]."""
    cwnd = float(row.m[Linux.CWND])
    return control.reduce(cwnd, timeout, clock.now, clock.rtt, row.constants, row.f)


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the scoreboard."""
    m[Linux.CWND] = p[P.INITIAL_WINDOW]
    m[Linux.ACKED] = NONE if p[P.HANDSHAKE] > 0 else 0
    free = scoreboard.prepare(m, p, free)
    if COPIED:
        m[Linux.COPIES] = free
        free += copies.scratch_words(p[P.RING])
    return free


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """A packet is put out."""
    if COPIED:
        m[Linux.COPY] = copies.note(m, p, m[Linux.COPIES], packet, now)


def transmission_id(m: Any) -> Any:
    """Number of the copy that was put out last."""
    return m[Linux.COPY]


def sent_at(m: Any, p: Any, packet: Any, copy: Any) -> Any:
    """When that copy of a packet was put out [ns]."""
    return copies.sent_at(m, p, m[Linux.COPIES], packet, copy)


@noinline
def recover(row: Any, clock: Any, lost: Any, ack: Any, snd_max: Any, ssthresh: Any) -> Any:
    """A recovery ends or begins; returns the slow start threshold and the actions."""
    m, f, p = row.m, row.f, row.p
    if m[Tcp.PHASE] != Phase.NORMAL and ack >= m[Tcp.RECOVER]:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Linux.HALVING] = 0
        clear(m, p, ack)
        if m[Linux.CWND] < ssthresh:
            m[Linux.CWND] = min(ssthresh, flight(m, ack, snd_max + 1) + BURST)
    elif m[Tcp.PHASE] != Phase.RECOVERY and lost:
        m[Tcp.PHASE] = Phase.RECOVERY
        m[Tcp.RECOVER] = snd_max
        m[Linux.HALVING] = m[Linux.CWND]
        ssthresh = int(reduced(row, clock, False))
        m[Linux.CWND] = max(control.min_cwnd(ssthresh, p[P.DATA], f), 1)
        return ssthresh, REDUCE
    return ssthresh, 0


def on_mark(row: Any, clock: Any, snd_max: Any, ssthresh: Any) -> Any:
    """A router has marked a packet: the window shrinks as after a loss.  Returns the slow start threshold."""
    here = Clock(clock.now + row.p[P.CLOCK_PHASE], clock.rtt)
    after, _ = recover(row, here, True, row.m[Linux.ACKED], snd_max, ssthresh)
    return after


def on_ack(
    row: Any, clock: Any, srtt: Any, echo: Any, at: Any, ack: Any, snd_max: Any, ssthresh: Any
) -> Any:
    """An ACK of `ack` for a packet put out at `echo`; returns the window to show, ssthresh, the actions."""
    m, f, p = row.m, row.f, row.p
    acked = m[Linux.ACKED]
    packets = ack - acked
    before = flight(m, acked, snd_max + 1)
    acknowledge(m, p, ack, acked)
    m[Linux.ACKED] = ack
    reported, lost = report(m, p, at, ack)
    plain = packets > 0 and not reported and m[Tcp.PHASE] == Phase.NORMAL
    here = Clock(clock.now + p[P.CLOCK_PHASE], clock.rtt)
    if packets > 0 and m[Tcp.PHASE] == Phase.NORMAL:
        control.acked(packets, f)
    control.on_ack(packets, here.now, here.rtt, f)
    control.on_linux_ack(packets, plain, here.now, srtt, p[P.DATA], f)
    if packets > 0 and m[Tcp.PHASE] != Phase.RECOVERY and before >= m[Linux.CWND]:
        sample = np.int64(0)
        if plain:
            sent = echo + p[P.CLOCK_PHASE] + MS // 2
            sample = max((here.now // MS - sent // MS) * MS, np.int64(1))
        cwnd = control.grow(float(m[Linux.CWND]), ssthresh, here.now, sample, row.constants, f)
        m[Linux.CWND] = min(np.int64(cwnd), max(m[Linux.CWND], p[P.WINDOW]))
    actions = 0
    if not plain:
        ssthresh, actions = recover(row, here, lost, ack, snd_max, ssthresh)
    cwnd = float(max(m[Linux.CWND], m[Linux.HALVING]))
    m[Linux.HALVING] = min(m[Linux.HALVING], flight(m, ack, snd_max + 1) + 1)
    return cwnd, ssthresh, actions


@noinline
def timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Everything that was not reported is lost; begin again with one packet."""
    m, p = row.m, row.p
    here = Clock(clock.now + p[P.CLOCK_PHASE], clock.rtt)
    ssthresh = int(reduced(row, here, True))
    m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    m[Tcp.RECOVER] = snd_max
    m[Linux.CWND] = 1
    m[Linux.HALVING] = 0
    lose(m, p, m[Linux.ACKED], snd_max + 1)
    return Window(1.0, ssthresh, 0)


def has_room(m: Any, acked: Any, snd_nxt: Any) -> Any:
    """Whether the window has room for a packet."""
    return flight(m, acked, snd_nxt) < max(m[Linux.CWND], m[Linux.HALVING])


def next_packet(m: Any, p: Any, acked: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """The first lost packet, or new data, while the window has room."""
    if not has_room(m, acked, snd_nxt):
        return NONE
    out = flight(m, acked, snd_nxt)
    packet = next_lost(m, p, acked)
    if packet != NONE:
        resend(m, p, packet, snd_nxt)
    elif snd_nxt <= last:
        packet = snd_nxt
    else:
        return NONE
    m[Linux.HALVING] = min(m[Linux.HALVING], max(out, 1))
    return packet
