"""Sender like that of Linux 2.6: SACK and forward acknowledgement, timestamps, rate halving.

Source: Sarolahti and Kuznetsov, "Congestion control in Linux TCP" (USENIX 2002), in the simplified form of
ns-2 (`Agent/TCP/Linux`): Wei and Cao, "NS-2 TCP-Linux" (WNS2 2006).

The sender keeps cwnd packets in flight. After a loss, the old window shrinks by one packet for every packet
sent, which is one per two ACKs, until it reaches the new one. Lost packets are sent first.

A congestion control is a module like `aimd`: `grow` returns cwnd and `reduce` ssthresh. `acked` is called
outside of recovery only, and `rtt` is 0 at an ACK that gives no RTT sample. Optional are
`on_linux_ack(packets, plain, now, rtt, size, memory)`, called at every ACK with the smoothed RTT [ns] and the
payload of a packet [bytes] (`plain`: the ACK acknowledges new data in order, outside of recovery), and
`min_cwnd(ssthresh, size, memory)`, the window during a recovery; the default is ssthresh.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP, TcpP
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
"""Maximum excess of cwnd over the packets in flight after a recovery [packets]."""

MS = 1_000_000  # [ns]

HAS_TRANSMISSION_IDS: Any = slot("has_transmission_ids")
"""True if packets carry transmission ids (`transmissions`)."""

control: Any = slot("control")


class Linux26(IntEnum):
    """Scratch words of the sender, after those of the scoreboard."""

    CWND = scoreboard.Scoreboard.FREE
    """Congestion window [packets]."""
    RATE_HALVING = scoreboard.Scoreboard.FREE + 1
    """Window [packets] during rate halving, if larger than cwnd; 0 outside of recovery."""
    HIGHEST_ACK = scoreboard.Scoreboard.FREE + 2
    """Highest packet that is cumulatively acknowledged."""
    TRANSMISSION = scoreboard.Scoreboard.FREE + 3
    """Id of the latest transmission."""
    TRANSMISSIONS = scoreboard.Scoreboard.FREE + 4
    """First word of the table of transmissions."""


def measure(sent: Any, now: Any, phase: Any, tick: Any) -> Any:
    """Return the RTT of an echoed timestamp, rounded to the nearest tick."""
    return max((now - sent + (tick >> 1)) // tick, np.int64(1))


def smooth(rtt: Any, srtt: Any, rttvar: Any) -> Any:
    """Return the new (srtt, rttvar) as in `rto.smooth`, except after a sample far below the mean.

    Such a sample raises the deviation by only an eighth of the usual amount.
    """
    if srtt == 0:
        return rtt << np.int64(3), rtt << np.int64(1)
    delta = rtt - (srtt >> np.int64(3))
    more = abs(delta) - (rttvar >> np.int64(2))
    if delta < 0 and more > 0:
        more >>= np.int64(3)
    return max(srtt + delta, np.int64(1)), rttvar + more


def reduced_ssthresh(row: Any, clock: Any, timeout: Any) -> Any:
    """Return the slow start threshold after a loss [packets]."""
    cwnd = float(row.m[Linux26.CWND])
    return control.reduce(cwnd, timeout, clock.now, clock.rtt, row.constants, row.f)


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the scoreboard."""
    m[Linux26.CWND] = p[TcpP.INITIAL_WINDOW]
    m[Linux26.HIGHEST_ACK] = NONE if p[TcpP.HANDSHAKE] > 0 else 0
    free = scoreboard.prepare(m, p, free)
    if HAS_TRANSMISSION_IDS:
        m[Linux26.TRANSMISSIONS] = free
        free += transmissions.scratch_words(p[RowP.RING])
    return free


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """Record the sending of a packet."""
    if HAS_TRANSMISSION_IDS:
        m[Linux26.TRANSMISSION] = transmissions.record(m, p, m[Linux26.TRANSMISSIONS], packet, now)


def transmission_id(m: Any) -> Any:
    """Return the id of the latest transmission."""
    return m[Linux26.TRANSMISSION]


def sent_at(m: Any, p: Any, packet: Any, transmission: Any) -> Any:
    """Return the send time of a transmission of a packet [ns]."""
    return transmissions.sent_at(m, p, m[Linux26.TRANSMISSIONS], packet, transmission)


@noinline
def update_recovery(row: Any, clock: Any, lost: Any, ack: Any, snd_max: Any, ssthresh: Any) -> Any:
    """Start or end a recovery; return the slow start threshold and the actions."""
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
        m[Linux26.CWND] = max(control.min_cwnd(ssthresh, p[RowP.DATA], f), 1)
        return ssthresh, REDUCE
    return ssthresh, 0


def on_mark(row: Any, clock: Any, snd_max: Any, ssthresh: Any) -> Any:
    """Reduce the window for an ECN echo, as after a loss; return the slow start threshold."""
    here = Clock(clock.now + row.p[TcpP.CLOCK_PHASE], clock.rtt)
    after, _ = update_recovery(row, here, True, row.m[Linux26.HIGHEST_ACK], snd_max, ssthresh)
    return after


def on_ack(row: Any, clock: Any, srtt: Any, echo: Any, at: Any, ack: Any, snd_max: Any, ssthresh: Any) -> Any:
    """Process an ACK of `ack` for a packet sent at `echo` [ns].

    Returns the window for traces [packets], ssthresh [packets] and the actions.
    """
    m, f, p = row.m, row.f, row.p
    highest_ack = m[Linux26.HIGHEST_ACK]
    packets = ack - highest_ack
    before = in_flight(m, highest_ack, snd_max + 1)
    acknowledge(m, p, ack, highest_ack)
    m[Linux26.HIGHEST_ACK] = ack
    reported, lost = process_ack(m, p, at, ack)
    plain = packets > 0 and not reported and m[Tcp.PHASE] == Phase.NORMAL
    here = Clock(clock.now + p[TcpP.CLOCK_PHASE], clock.rtt)
    if packets > 0 and m[Tcp.PHASE] == Phase.NORMAL:
        control.acked(packets, f)
    control.on_ack(packets, here.now, here.rtt, f)
    control.on_linux_ack(packets, plain, here.now, srtt, p[RowP.DATA], f)
    if packets > 0 and m[Tcp.PHASE] != Phase.RECOVERY and before >= m[Linux26.CWND]:
        sample = np.int64(0)
        if plain:
            sent = echo + p[TcpP.CLOCK_PHASE] + MS // 2
            sample = max((here.now // MS - sent // MS) * MS, np.int64(1))
        cwnd = control.grow(float(m[Linux26.CWND]), ssthresh, here.now, sample, row.constants, f)
        m[Linux26.CWND] = min(np.int64(cwnd), max(m[Linux26.CWND], p[RowP.WINDOW]))
    actions = 0
    if not plain:
        ssthresh, actions = update_recovery(row, here, lost, ack, snd_max, ssthresh)
    cwnd = float(max(m[Linux26.CWND], m[Linux26.RATE_HALVING]))
    m[Linux26.RATE_HALVING] = min(m[Linux26.RATE_HALVING], in_flight(m, ack, snd_max + 1) + 1)
    return cwnd, ssthresh, actions


@noinline
def on_timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Mark every packet without a SACK as lost, and restart with one packet."""
    m, p = row.m, row.p
    here = Clock(clock.now + p[TcpP.CLOCK_PHASE], clock.rtt)
    ssthresh = int(reduced_ssthresh(row, here, True))
    m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    m[Tcp.RECOVER] = snd_max
    m[Linux26.CWND] = 1
    m[Linux26.RATE_HALVING] = 0
    mark_all_lost(m, p, m[Linux26.HIGHEST_ACK], snd_max + 1)
    return Window(1.0, ssthresh, 0)


def has_room(m: Any, highest_ack: Any, snd_nxt: Any) -> Any:
    """Return True if the window has room for a packet."""
    return in_flight(m, highest_ack, snd_nxt) < max(m[Linux26.CWND], m[Linux26.RATE_HALVING])


def next_packet(m: Any, p: Any, highest_ack: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """Return the first lost packet, or new data, while the window has room."""
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
