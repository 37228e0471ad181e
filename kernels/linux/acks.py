"""Processing of an ACK of data (`tcp_ack`): scoreboard, round-trip time, recovery, congestion window.

Sources: see `sack`, `rtt` and `recovery`; RFC 7661 in the form of Linux (a window that did not limit the
sender does not grow); appropriate byte counting without a limit (RFC 3465), in packets.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux import clocks, prr, rack, rate, recovery, rtt, sack, slow_start, timer
from netcarlo.kernels.linux.sack import AckInfo
from netcarlo.kernels.linux.state import (
    NONE,
    PACED,
    Ack,
    CaState,
    Packet,
    Rexmit,
    Tcp,
    in_cwnd_reduction,
    packet_at,
)

control: Any = slot("control")


def process_ack(p: Any, s: Any, now: Any, at: Any, ack: Any, echo: Any) -> None:
    """Process an ACK of data at word `at`, with its cumulative acknowledgement and echoed timestamp [ns]."""
    now_us, stamp = clocks.us_of(now), clocks.timestamp_of(s, echo)
    before, delivered, losses, highest = (
        s[Tcp.SND_UNA],
        s[Tcp.DELIVERED],
        s[Tcp.LOST_TOTAL],
        s[Tcp.HIGHEST_SACK],
    )
    acked = ack - before
    newly_sacked, original_delivered = np.int64(0), np.int64(0)
    first_sacked, last_sacked = np.int64(NONE), np.int64(NONE)
    dsack = s[at + Ack.DSACK] != NONE
    if PACED:
        rate.begin_sample(s)
    if acked > 0:
        s[Tcp.RETRANSMITS] = 0
    if s[at + Ack.NUM_SACKS] > 0:
        newly_sacked, original_delivered, first_sacked, last_sacked, reordered = sack.process_sack_blocks(
            p, s, at, ack, now_us
        )
        if reordered < s[Tcp.SND_NXT] and (s[Tcp.CA_STATE] != CaState.LOSS or s[Tcp.UNDO_MARKER] != NONE):
            sack.check_sack_reordering(s, reordered)
    if dsack:
        _on_dsack(s, s[at + Ack.DSACK])
    retransmitted, old_delivered, first, last, reordered = sack.clean_rtx_queue(p, s, ack, now_us, stamp)
    s[Tcp.SND_UNA] = ack
    s[Tcp.HIGHEST_SACK] = max(s[Tcp.HIGHEST_SACK], ack)
    if dsack:
        rack.widen_reo_wnd(s)
    if acked > 0 and reordered < highest:
        sack.check_sack_reordering(s, reordered)
    if retransmitted != 0:
        first = np.int64(NONE)
    if first_sacked != NONE:
        last = last_sacked
    earliest = first if first != NONE else first_sacked
    measured = rtt.ack_update_rtt(p, s, now, echo, acked > 0, earliest, last)
    restarts = acked > 0
    if acked == 0 and first_sacked != NONE:  # it was sent after the first missing packet
        restarts = now_us - first_sacked > now_us - s[packet_at(p, s, ack) + Packet.SENT]
    if acked > 0 or first_sacked != NONE:
        control.pkts_acked(p, s, now, measured)
    info = AckInfo(acked, newly_sacked != 0, dsack, original_delivered + old_delivered > 0)
    if s[Tcp.TLP_HIGH_SEQ] != NONE:
        recovery.process_tlp_ack(p, s, now, info)
    dubious = s[Tcp.CA_STATE] != CaState.OPEN or newly_sacked != 0 or dsack or acked == 0
    if dubious and recovery.fastretrans_alert(p, s, now, stamp, info):
        restarts = False
    if restarts:
        if s[Tcp.CA_STATE] == CaState.OPEN and s[Tcp.REXMIT] == Rexmit.NONE:
            s[Tcp.RESTART_TIMER] = 1
        else:
            timer.restart(p, s, now)
    delivered = s[Tcp.DELIVERED] - delivered
    if PACED:
        rate.generate_sample(s, now_us, delivered)
        control.cong_control(p, s, now, delivered, s[Tcp.LOST_TOTAL] - losses, measured)
    elif in_cwnd_reduction(s):
        prr.cwnd_reduction(s, delivered, s[Tcp.LOST_TOTAL] - losses, acked > 0)
    elif (acked > 0 or (newly_sacked != 0 and s[Tcp.REORDERING] > rack.DUP_THRESH)) and is_cwnd_limited(s):
        cong_avoid(p, s, now, delivered)


def is_cwnd_limited(s: Any) -> Any:
    """Return True if the window limits the sender, in slow start if at least half of it was used
    (`tcp_is_cwnd_limited`)."""
    slow_start = s[Tcp.CWND] < s[Tcp.SSTHRESH]
    return s[Tcp.IS_CWND_LIMITED] != 0 or (slow_start and s[Tcp.CWND] < 2 * s[Tcp.MAX_PACKETS_OUT])


def cong_avoid(p: Any, s: Any, now: Any, delivered: Any) -> None:
    """Increase the window for `delivered` packets: slow start up to the threshold, congestion avoidance
    above it."""
    left = delivered
    room = s[Tcp.SSTHRESH] - s[Tcp.CWND]
    if room > 0:
        growth = slow_start.growth(p, s, left)
        left = max(growth - room, 0)
        s[Tcp.CWND] += min(growth, room)
    if left > 0:
        every = control.acked_per_increase(p, s, now, left)
        if s[Tcp.CWND_CNT] >= every:
            s[Tcp.CWND_CNT] = 0
            s[Tcp.CWND] += 1
        s[Tcp.CWND_CNT] += left
        if s[Tcp.CWND_CNT] >= every:
            more = quotient(s[Tcp.CWND_CNT], every)
            s[Tcp.CWND_CNT] -= more * every
            s[Tcp.CWND] += more


@noinline
def _on_dsack(s: Any, packet: Any) -> None:
    """Process a DSACK (`tcp_check_dsack`): one retransmission fewer can have been necessary."""
    if s[Tcp.UNDO_MARKER] != NONE and s[Tcp.UNDO_RETRANS] > 0 and packet >= s[Tcp.UNDO_MARKER]:
        s[Tcp.UNDO_RETRANS] -= 1
