"""Undo of unnecessary reductions of the window, detected by timestamps or DSACKs.

Source: Eifel detection with timestamps (RFC 3522) and DSACK (RFC 3708), as described by Sarolahti and
Kuznetsov, "Congestion control in Linux TCP" (USENIX 2002).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import clocks, rack, sack, scoreboard
from netcarlo.kernels.linux.state import NONE, PACED, CaState, Flag, Packet, Tcp, packet_at

control: Any = slot("control")


@noinline
def init_undo(s: Any) -> None:
    """Prepare to undo the reduction that begins now (`tcp_init_undo`)."""
    s[Tcp.UNDO_MARKER] = s[Tcp.SND_UNA]
    retransmissions = s[Tcp.RETRANS_OUT]
    if s[Tcp.TLP_HIGH_SEQ] != NONE and s[Tcp.TLP_RETRANS] != 0:
        retransmissions += 1
    s[Tcp.UNDO_RETRANS] = retransmissions if retransmissions > 0 else np.int64(NONE)


def packet_delayed(s: Any, echo: Any) -> Any:
    """Return True if an ACK with this timestamp [ms] answers a packet sent before the first
    retransmission (`tcp_packet_delayed`)."""
    return s[Tcp.RETRANS_STAMP] == NONE or echo < s[Tcp.RETRANS_STAMP]


def may_undo(s: Any, echo: Any) -> Any:
    """Return True if no retransmission was necessary, by DSACKs or timestamps (`tcp_may_undo`)."""
    return s[Tcp.UNDO_MARKER] != NONE and (s[Tcp.UNDO_RETRANS] == 0 or packet_delayed(s, echo))


@noinline
def undo_cwnd_reduction(p: Any, s: Any, unmark: Any) -> None:
    """Restore the window; if `unmark`, no packet is considered lost any more (`tcp_undo_cwnd_reduction`)."""
    if unmark:
        scoreboard.unmark_lost(p, s)
    if s[Tcp.PRIOR_SSTHRESH] > 0:
        if PACED:
            control.undo_cwnd(s)
        else:
            s[Tcp.CWND] = max(s[Tcp.CWND], s[Tcp.PRIOR_CWND])
        s[Tcp.SSTHRESH] = max(s[Tcp.SSTHRESH], s[Tcp.PRIOR_SSTHRESH])
    s[Tcp.UNDO_MARKER] = NONE
    s[Tcp.RACK_ADVANCED] = 1
    s[Tcp.UNDOS] += 1


def any_retrans_done(p: Any, s: Any) -> Any:
    """Return True if retransmissions are outstanding, or the first packet was retransmitted
    (`tcp_any_retrans_done`)."""
    if s[Tcp.RETRANS_OUT] > 0:
        return True
    if s[Tcp.SND_UNA] == s[Tcp.SND_NXT]:
        return False
    return s[packet_at(p, s, s[Tcp.SND_UNA]) + Packet.FLAGS] & Flag.EVER_RETRANS != 0


@noinline
def try_keep_open(p: Any, s: Any) -> None:
    """Set the state to OPEN, or to DISORDER if packets are missing (`tcp_try_keep_open`)."""
    state = np.int64(CaState.OPEN)
    if s[Tcp.SACKED_OUT] + s[Tcp.LOST_OUT] > 0 or any_retrans_done(p, s):
        state = np.int64(CaState.DISORDER)
    if s[Tcp.CA_STATE] != state:
        s[Tcp.CA_STATE] = state
        s[Tcp.HIGH_SEQ] = s[Tcp.SND_NXT]


def try_undo_dsack(p: Any, s: Any) -> Any:
    """Undo the reduction if DSACKs reported all retransmissions, and return whether
    (`tcp_try_undo_dsack`)."""
    if s[Tcp.UNDO_MARKER] != NONE and s[Tcp.UNDO_RETRANS] == 0:
        undo_cwnd_reduction(p, s, False)
        return True
    return False


@noinline
def try_undo_partial(p: Any, s: Any, before: Any, echo: Any) -> Any:
    """Undo the reduction in recovery if a hole was filled by a delayed packet (`tcp_try_undo_partial`).

    Returns True if nothing more is to be done for this ACK; `before` is SND_UNA before it.
    """
    if s[Tcp.UNDO_MARKER] != NONE and packet_delayed(s, echo):
        sack.check_sack_reordering(s, before)
        if s[Tcp.RETRANS_OUT] > 0:
            return True
        if not any_retrans_done(p, s):
            s[Tcp.RETRANS_STAMP] = NONE
        undo_cwnd_reduction(p, s, True)
        try_keep_open(p, s)
    return False


@noinline
def try_undo_recovery(p: Any, s: Any, echo: Any) -> None:
    """End recovery, or the loss state, and undo the reduction if possible (`tcp_try_undo_recovery`)."""
    if may_undo(s, echo):
        undo_cwnd_reduction(p, s, False)
    else:
        rack.narrow_reo_wnd(s)
    s[Tcp.CA_STATE] = CaState.OPEN


@noinline
def try_undo_loss(p: Any, s: Any, echo: Any, spurious: Any) -> Any:
    """Undo a timeout if it was spurious, and return whether (`tcp_try_undo_loss`)."""
    if spurious or may_undo(s, echo):
        undo_cwnd_reduction(p, s, True)
        s[Tcp.RETRANSMITS] = 0
        s[Tcp.CA_STATE] = CaState.OPEN
        return True
    return False


def stamp_retransmission(s: Any, now: Any) -> Any:
    """Note a retransmission; the first one sets the timestamp that tells later ACKs from earlier ones."""
    if s[Tcp.RETRANS_STAMP] == NONE:
        s[Tcp.RETRANS_STAMP] = clocks.timestamp_of(s, now)
    s[Tcp.UNDO_RETRANS] = max(s[Tcp.UNDO_RETRANS], 0) + 1
