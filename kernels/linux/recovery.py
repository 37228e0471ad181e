"""Loss recovery: exceptional ACKs, and timeouts (`tcp_fastretrans_alert` and `tcp_enter_loss`).

Source: RFC 5681, RFC 6675 (states), RFC 8985 (RACK-TLP), RFC 5682 (F-RTO with SACK), RFC 6937 (PRR).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import clocks, pacing, prr, rack, scoreboard, timer, undo
from netcarlo.kernels.linux.state import (
    NONE,
    PACED,
    CaState,
    Packet,
    Rexmit,
    Tcp,
    Timer,
    in_flight,
    packet_at,
    snd_wnd,
)

control: Any = slot("control")


@noinline
def identify_losses(p: Any, s: Any, now: Any) -> Any:
    """Detect losses if packets were delivered, and return True if the reordering timer was set
    (`tcp_identify_packet_loss`)."""
    if s[Tcp.SND_UNA] == s[Tcp.SND_NXT] or s[Tcp.RACK_ADVANCED] == 0:
        return False
    s[Tcp.RACK_ADVANCED] = 0
    wait = rack.detect_loss(p, s, clocks.us_of(now))
    if wait > 0:
        timer.set_timer(p, s, now, Timer.REO_TIMEOUT, clocks.to_jiffies(s, wait + timer.TIMER_SLACK_US))
    return wait > 0


@noinline
def enter_recovery(p: Any, s: Any, now: Any) -> None:
    """Begin fast recovery (`tcp_enter_recovery`)."""
    s[Tcp.PRIOR_SSTHRESH] = 0
    undo.init_undo(s)
    if s[Tcp.CA_STATE] != CaState.CWR and s[Tcp.CA_STATE] != CaState.RECOVERY:
        s[Tcp.PRIOR_SSTHRESH] = prr.current_ssthresh(s)
        prr.init_cwnd_reduction(p, s, now)
    s[Tcp.CA_STATE] = CaState.RECOVERY
    s[Tcp.FAST_RETRANSMITS] += 1


@noinline
def fastretrans_alert(p: Any, s: Any, now: Any, echo: Any, info: Any) -> Any:
    """Process an ACK with this timestamp [ms] that indicates missing packets, or arrives outside of OPEN.

    Returns True if the reordering timer was set.
    """
    if s[Tcp.CA_STATE] == CaState.OPEN:
        s[Tcp.RETRANS_STAMP] = NONE
    elif s[Tcp.SND_UNA] >= s[Tcp.HIGH_SEQ] and s[Tcp.CA_STATE] == CaState.RECOVERY:
        undo.try_undo_recovery(p, s, echo)
        if not PACED:
            prr.end_cwnd_reduction(s)
    before, retrans_out, first = s[Tcp.CA_STATE], s[Tcp.RETRANS_OUT], np.int64(Rexmit.NONE)
    recovering = before == CaState.RECOVERY
    if recovering and info.acked > 0 and undo.try_undo_partial(p, s, s[Tcp.SND_UNA] - info.acked, echo):
        return False
    if before == CaState.LOSS:
        first = _process_loss(p, s, echo, info)
    elif undo.try_undo_dsack(p, s) and recovering:
        _try_to_open(p, s)
    waits = identify_losses(p, s, now)
    if first != Rexmit.NONE:
        s[Tcp.REXMIT] = first
    if before == CaState.LOSS and s[Tcp.CA_STATE] != CaState.OPEN and s[Tcp.RETRANS_OUT] >= retrans_out:
        return waits
    if recovering and s[Tcp.CA_STATE] == CaState.RECOVERY:
        s[Tcp.REXMIT] = Rexmit.LOST
    elif s[Tcp.LOST_OUT] > 0:
        enter_recovery(p, s, now)
        s[Tcp.REXMIT] = Rexmit.LOST
    elif not recovering:
        _try_to_open(p, s)
    return waits


@noinline
def _try_to_open(p: Any, s: Any) -> None:
    """Return to OPEN or DISORDER if no retransmission is outstanding (`tcp_try_to_open`)."""
    if not undo.any_retrans_done(p, s):
        s[Tcp.RETRANS_STAMP] = NONE
    if s[Tcp.CA_STATE] != CaState.CWR:
        undo.try_keep_open(p, s)


@noinline
def _process_loss(p: Any, s: Any, echo: Any, info: Any) -> Any:
    """Process an ACK after a timeout, and return the order of sending (`tcp_process_loss`; RFC 5682,
    section 3.1)."""
    recovered = s[Tcp.SND_UNA] >= s[Tcp.HIGH_SEQ]
    if info.acked > 0 and undo.try_undo_loss(p, s, echo, False):
        return np.int64(Rexmit.NONE)
    if s[Tcp.FRTO] != 0:
        if info.original_delivered and undo.try_undo_loss(p, s, echo, True):
            return np.int64(Rexmit.NONE)
        if s[Tcp.SND_NXT] > s[Tcp.HIGH_SEQ]:
            if info.newly_sacked or (info.acked == 0 and not info.dsack):
                s[Tcp.FRTO] = 0  # the timeout was genuine
        elif info.acked > 0 and not recovered:
            s[Tcp.HIGH_SEQ] = s[Tcp.SND_NXT]
            if s[Tcp.SND_NXT] <= s[Tcp.LAST]:
                return np.int64(Rexmit.NEW)
            s[Tcp.FRTO] = 0
    if recovered:
        undo.try_undo_recovery(p, s, echo)
        return np.int64(Rexmit.NONE)
    return np.int64(Rexmit.LOST)


@noinline
def process_tlp_ack(p: Any, s: Any, now: Any, info: Any) -> None:
    """Process an ACK that may answer a tail loss probe (`tcp_process_tlp_ack`; RFC 8985, section 7.4)."""
    ack = s[Tcp.SND_UNA]
    if ack < s[Tcp.TLP_HIGH_SEQ]:
        return
    if s[Tcp.TLP_RETRANS] == 0 or info.dsack:
        s[Tcp.TLP_HIGH_SEQ] = NONE
    elif ack > s[Tcp.TLP_HIGH_SEQ]:  # the probe repaired a loss
        prr.init_cwnd_reduction(p, s, now)
        s[Tcp.CA_STATE] = CaState.CWR
        if not PACED:
            prr.end_cwnd_reduction(s)
        undo.try_keep_open(p, s)
    elif info.acked == 0 and not info.newly_sacked:
        s[Tcp.TLP_HIGH_SEQ] = NONE


@noinline
def on_rto(p: Any, s: Any, now: Any) -> None:
    """Process a retransmission timeout (`tcp_enter_loss`): sufficiently old packets are lost, and the
    window is one packet beyond those in flight."""
    fresh = s[Tcp.CA_STATE] < CaState.RECOVERY
    una, nxt, now_us = s[Tcp.SND_UNA], s[Tcp.SND_NXT], clocks.us_of(now)
    for packet in range(una, nxt):
        sent = s[packet_at(p, s, packet) + Packet.SENT]
        old = packet == una or s[Tcp.RACK_RTT] - (now_us - sent) <= 0
        if old and not scoreboard.is_sacked(p, s, packet):
            scoreboard.mark_lost(p, s, packet)
    if s[Tcp.CA_STATE] <= CaState.DISORDER or s[Tcp.HIGH_SEQ] <= una or (
        s[Tcp.CA_STATE] == CaState.LOSS and s[Tcp.RETRANSMITS] == 0
    ):  # fmt: skip
        s[Tcp.PRIOR_SSTHRESH] = prr.current_ssthresh(s)
        s[Tcp.PRIOR_CWND] = s[Tcp.CWND]
        s[Tcp.SSTHRESH] = control.ssthresh(s)
        s[Tcp.CWND_REDUCTIONS] += 1
        undo.init_undo(s)
    s[Tcp.CWND] = in_flight(s) + 1
    s[Tcp.CWND_CNT] = 0
    if s[Tcp.CA_STATE] <= CaState.DISORDER and s[Tcp.SACKED_OUT] >= rack.DUP_THRESH:
        s[Tcp.REORDERING] = min(s[Tcp.REORDERING], np.int64(rack.DUP_THRESH))
    control.on_rto(p, s, now)
    s[Tcp.CA_STATE] = CaState.LOSS
    s[Tcp.HIGH_SEQ] = nxt
    s[Tcp.TLP_HIGH_SEQ] = NONE
    s[Tcp.FRTO] = 1 if fresh or s[Tcp.RETRANSMITS] > 0 else 0
    s[Tcp.RETRANSMITS] += 1
    s[Tcp.TIMEOUTS] += 1
    s[Tcp.FORCED] = una


@noinline
def on_reo_timeout(p: Any, s: Any, now: Any) -> None:
    """Process the reordering timeout: packets that should have arrived are lost (`tcp_rack_reo_timeout`)."""
    pipe, losses = in_flight(s), s[Tcp.LOST_TOTAL]
    rack.detect_loss(p, s, clocks.us_of(now))
    if in_flight(s) != pipe:
        if s[Tcp.CA_STATE] != CaState.RECOVERY:
            enter_recovery(p, s, now)
            if not PACED:
                prr.cwnd_reduction(s, 1, s[Tcp.LOST_TOTAL] - losses, False)
        s[Tcp.REXMIT] = Rexmit.LOST
        s[Tcp.TRY_SEND] = 1
    if s[Tcp.TIMER] != Timer.RETRANSMISSION:
        timer.rearm_rto(p, s, now)


@noinline
def send_loss_probe(p: Any, s: Any, now: Any) -> None:
    """Send a tail loss probe: a new packet regardless of the window, or the last one again
    (`tcp_send_loss_probe`)."""
    if s[Tcp.TLP_HIGH_SEQ] != NONE:
        timer.rearm_rto(p, s, now)
        return
    new = s[Tcp.SND_NXT] <= s[Tcp.LAST] and s[Tcp.SND_NXT] < s[Tcp.SND_UNA] + snd_wnd(p, s)
    if PACED and new and not pacing.may_send(s, now):
        timer.rearm_rto(p, s, now)
        return
    s[Tcp.TLP_RETRANS] = 0
    if new:
        s[Tcp.FORCED] = s[Tcp.SND_NXT]
    else:
        s[Tcp.FORCED] = s[Tcp.SND_NXT] - 1
        s[Tcp.TLP_RETRANS] = 1
    s[Tcp.TLP_HIGH_SEQ] = NONE - 1  # set when the probe is sent
