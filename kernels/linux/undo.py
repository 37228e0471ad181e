"""Reductions of the window that were for nothing, and how they are taken back.

Source: timestamps (Eifel, RFC 3522) and reports of duplicates (RFC 3708), as Sarolahti and Kuznetsov,
"Congestion control in Linux TCP" (USENIX 2002), describe them.
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
    """The reduction that begins now may be taken back."""
    s[Tcp.UNDO_MARKER] = s[Tcp.SND_UNA]
    again = s[Tcp.RETRANS_OUT]
    if s[Tcp.TLP_HIGH_SEQ] != NONE and s[Tcp.TLP_RETRANS] != 0:
        again += 1
    s[Tcp.UNDO_RETRANS] = again if again > 0 else np.int64(NONE)


def packet_delayed(s: Any, echo: Any) -> Any:
    """Whether an ACK with this timestamp [ms] answers something sent before the first retransmission."""
    return s[Tcp.RETRANS_STAMP] == NONE or echo < s[Tcp.RETRANS_STAMP]


def may_undo(s: Any, echo: Any) -> Any:
    """Whether the reduction was for nothing: no retransmission was needed, by duplicates or timestamps."""
    return s[Tcp.UNDO_MARKER] != NONE and (s[Tcp.UNDO_RETRANS] == 0 or packet_delayed(s, echo))


@noinline
def undo_cwnd_reduction(p: Any, s: Any, spare: Any) -> None:
    """The window is again what it was; if `spare`, nothing is lost."""
    if spare:
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
    """Whether retransmissions are out, or the first packet was sent again."""
    if s[Tcp.RETRANS_OUT] > 0:
        return True
    if s[Tcp.SND_UNA] == s[Tcp.SND_NXT]:
        return False
    return s[packet_at(p, s, s[Tcp.SND_UNA]) + Packet.FLAGS] & Flag.EVER_RETRANS != 0


@noinline
def try_keep_open(p: Any, s: Any) -> None:
    """No recovery: all is well, or something is missing."""
    state = np.int64(CaState.OPEN)
    if s[Tcp.SACKED_OUT] + s[Tcp.LOST_OUT] > 0 or any_retrans_done(p, s):
        state = np.int64(CaState.DISORDER)
    if s[Tcp.CA_STATE] != state:
        s[Tcp.CA_STATE] = state
        s[Tcp.HIGH_SEQ] = s[Tcp.SND_NXT]


def try_undo_dsack(p: Any, s: Any) -> Any:
    """Every retransmission was reported as a duplicate: take the reduction back; returns whether."""
    if s[Tcp.UNDO_MARKER] != NONE and s[Tcp.UNDO_RETRANS] == 0:
        undo_cwnd_reduction(p, s, False)
        return True
    return False


@noinline
def try_undo_partial(p: Any, s: Any, before: Any, echo: Any) -> Any:
    """In a recovery a hole was filled by a packet that was only late.

    Returns whether nothing more is to be done now; `before` is UNA before this ACK.
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
    """A recovery, or what came after a timeout, has ended."""
    if may_undo(s, echo):
        undo_cwnd_reduction(p, s, False)
    else:
        rack.narrow_reo_wnd(s)
    s[Tcp.CA_STATE] = CaState.OPEN


@noinline
def try_undo_loss(p: Any, s: Any, echo: Any, spurious: Any) -> Any:
    """Take a timeout back if it was spurious; returns whether."""
    if spurious or may_undo(s, echo):
        undo_cwnd_reduction(p, s, True)
        s[Tcp.RETRANSMITS] = 0
        s[Tcp.CA_STATE] = CaState.OPEN
        return True
    return False


def stamp_retransmission(s: Any, now: Any) -> Any:
    """A retransmission goes out: the first of its kind dates what came before it."""
    if s[Tcp.RETRANS_STAMP] == NONE:
        s[Tcp.RETRANS_STAMP] = clocks.timestamp_of(s, now)
    s[Tcp.UNDO_RETRANS] = max(s[Tcp.UNDO_RETRANS], 0) + 1
