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
from netcarlo.kernels.tcp import recovery, scoreboard, transmissions
from netcarlo.kernels.tcp.recovery import REDUCE
from netcarlo.kernels.tcp.scoreboard import (
    acknowledge,
    in_flight,
    mark_all_lost,
    next_lost,
    process_ack,
    reset,
    retransmit,
)
from netcarlo.kernels.tcp.state import NONE, Clock, Phase, Tcp, Window

BASE = recovery
SACK = True
TIMESTAMPS = True
HOT_WORDS = scoreboard.Scoreboard.FREE + 3 - Tcp.SCHEME

BURST = 3
"""After a recovery cwnd is at most so much above what is in flight [packet]."""

MS = 1_000_000  # [ns]

HAS_TRANSMISSION_IDS: Any = slot("has_transmission_ids")
"""Packets carry the numbers of copies, see `transmissions`."""

control: Any = slot("control")


class Linux26(IntEnum):
    """Own words of scratch, behind those of the scoreboard."""

    CWND = scoreboard.Scoreboard.FREE
    """[packet]"""
    RATE_HALVING = scoreboard.Scoreboard.FREE + 1
    """In a recovery as many packets may be in flight, if more; else 0."""
    HIGHEST_ACK = scoreboard.Scoreboard.FREE + 2
    """Highest packet acknowledged."""
    TRANSMISSION = scoreboard.Scoreboard.FREE + 3
    """Number of the copy that was put out last,"""
    TRANSMISSIONS = scoreboard.Scoreboard.FREE + 4
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


def reduced_ssthresh(row: Any, clock: Any, timeout: Any) -> Any:
    """The slow start threshold after a loss [packet]."""
    cwnd = float(row.m[Linux26.CWND])
    return control.reduce(cwnd, timeout, clock.now, clock.rtt, row.constants, row.f)


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the scoreboard."""
    m[Linux26.CWND] = p[P.INITIAL_WINDOW]
    m[Linux26.HIGHEST_ACK] = NONE if p[P.HANDSHAKE] > 0 else 0
    free = scoreboard.prepare(m, p, free)
    if HAS_TRANSMISSION_IDS:
        m[Linux26.TRANSMISSIONS] = free
        free += transmissions.scratch_words(p[P.RING])
    return free


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """A packet is put out."""
    if HAS_TRANSMISSION_IDS:
        m[Linux26.TRANSMISSION] = transmissions.record(m, p, m[Linux26.TRANSMISSIONS], packet, now)


def transmission_id(m: Any) -> Any:
    """Number of the copy that was put out last."""
    return m[Linux26.TRANSMISSION]


def sent_at(m: Any, p: Any, packet: Any, transmission: Any) -> Any:
    """When that copy of a packet was put out [ns]."""
    return transmissions.sent_at(m, p, m[Linux26.TRANSMISSIONS], packet, transmission)


@noinline
def update_recovery(row: Any, clock: Any, lost: Any, ack: Any, snd_max: Any, ssthresh: Any) -> Any:
    """A recovery ends or begins; returns the slow start threshold and the actions."""
    m, f, p = row.m, row.f, row.p
    if m[Tcp.PHASE] != Phase.NORMAL and ack >= m[Tcp.RECOVER]:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Linux26.RATE_HALVING] = 0
        reset(m, p, ack)
        if m[Linux26.CWND] < ssthresh:
            m[Linux26.CWND] = min(ssthresh, in_flight(m, ack, snd_max + 1) + BURST)
    elif m[Tcp.PHASE] != Phase.RECOVERY and lost:
        m[Tcp.PHASE] = Phase.RECOVERY
        m[Tcp.RECOVER] = snd_max
        m[Linux26.RATE_HALVING] = m[Linux26.CWND]
        ssthresh = int(reduced_ssthresh(row, clock, False))
        m[Linux26.CWND] = max(control.min_cwnd(ssthresh, p[P.DATA], f), 1)
        return ssthresh, REDUCE
    return ssthresh, 0


def on_mark(row: Any, clock: Any, snd_max: Any, ssthresh: Any) -> Any:
    """A router has marked a packet: the window shrinks as after a loss.  Returns the slow start threshold."""
    here = Clock(clock.now + row.p[P.CLOCK_PHASE], clock.rtt)
    after, _ = update_recovery(row, here, True, row.m[Linux26.HIGHEST_ACK], snd_max, ssthresh)
    return after


def on_ack(
    row: Any, clock: Any, srtt: Any, echo: Any, at: Any, ack: Any, snd_max: Any, ssthresh: Any
) -> Any:
    """An ACK of `ack` for a packet put out at `echo`; returns the window to show, ssthresh, the actions."""
    m, f, p = row.m, row.f, row.p
    highest_ack = m[Linux26.HIGHEST_ACK]
    packets = ack - highest_ack
    before = in_flight(m, highest_ack, snd_max + 1)
    acknowledge(m, p, ack, highest_ack)
    m[Linux26.HIGHEST_ACK] = ack
    reported, lost = process_ack(m, p, at, ack)
    plain = packets > 0 and not reported and m[Tcp.PHASE] == Phase.NORMAL
    here = Clock(clock.now + p[P.CLOCK_PHASE], clock.rtt)
    if packets > 0 and m[Tcp.PHASE] == Phase.NORMAL:
        control.acked(packets, f)
    control.on_ack(packets, here.now, here.rtt, f)
    control.on_linux_ack(packets, plain, here.now, srtt, p[P.DATA], f)
    if packets > 0 and m[Tcp.PHASE] != Phase.RECOVERY and before >= m[Linux26.CWND]:
        sample = np.int64(0)
        if plain:
            sent = echo + p[P.CLOCK_PHASE] + MS // 2
            sample = max((here.now // MS - sent // MS) * MS, np.int64(1))
        cwnd = control.grow(float(m[Linux26.CWND]), ssthresh, here.now, sample, row.constants, f)
        m[Linux26.CWND] = min(np.int64(cwnd), max(m[Linux26.CWND], p[P.WINDOW]))
    actions = 0
    if not plain:
        ssthresh, actions = update_recovery(row, here, lost, ack, snd_max, ssthresh)
    cwnd = float(max(m[Linux26.CWND], m[Linux26.RATE_HALVING]))
    m[Linux26.RATE_HALVING] = min(m[Linux26.RATE_HALVING], in_flight(m, ack, snd_max + 1) + 1)
    return cwnd, ssthresh, actions


@noinline
def on_timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Everything that was not reported is lost; begin again with one packet."""
    m, p = row.m, row.p
    here = Clock(clock.now + p[P.CLOCK_PHASE], clock.rtt)
    ssthresh = int(reduced_ssthresh(row, here, True))
    m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    m[Tcp.RECOVER] = snd_max
    m[Linux26.CWND] = 1
    m[Linux26.RATE_HALVING] = 0
    mark_all_lost(m, p, m[Linux26.HIGHEST_ACK], snd_max + 1)
    return Window(1.0, ssthresh, 0)


def has_room(m: Any, highest_ack: Any, snd_nxt: Any) -> Any:
    """Whether the window has room for a packet."""
    return in_flight(m, highest_ack, snd_nxt) < max(m[Linux26.CWND], m[Linux26.RATE_HALVING])


def next_packet(m: Any, p: Any, highest_ack: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """The first lost packet, or new data, while the window has room."""
    if not has_room(m, highest_ack, snd_nxt):
        return NONE
    out = in_flight(m, highest_ack, snd_nxt)
    packet = next_lost(m, p, highest_ack)
    if packet != NONE:
        retransmit(m, p, packet, snd_nxt)
    elif snd_nxt <= last:
        packet = snd_nxt
    else:
        return NONE
    m[Linux26.RATE_HALVING] = min(m[Linux26.RATE_HALVING], max(out, 1))
    return packet
