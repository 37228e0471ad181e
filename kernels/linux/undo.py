"""Reductions of the window that were for nothing, and how they are taken back.

Source: timestamps (Eifel, RFC 3522) and reports of duplicates (RFC 3708), as Sarolahti and Kuznetsov,
"Congestion control in Linux TCP" (USENIX 2002), describe them.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import board, clocks, rack, sack
from netcarlo.kernels.linux.state import NONE, PACED, Flag, Packet, State, Tcp, packet_at

control: Any = slot("control")


@noinline
def watch(s: Any) -> None:
    """The reduction that begins now may be taken back."""
    s[Tcp.UNDO_FROM] = s[Tcp.UNA]
    again = s[Tcp.AGAIN]
    if s[Tcp.PROBED] != NONE and s[Tcp.PROBE_AGAIN] != 0:
        again += 1
    s[Tcp.UNDO_AGAIN] = again if again > 0 else np.int64(NONE)


def is_original(s: Any, echo: Any) -> Any:
    """Whether an ACK with this timestamp [ms] answers something sent before the first retransmission."""
    return s[Tcp.FIRST_AGAIN] == NONE or echo < s[Tcp.FIRST_AGAIN]


def may_undo(s: Any, echo: Any) -> Any:
    """Whether the reduction was for nothing: no retransmission was needed, by duplicates or timestamps."""
    return s[Tcp.UNDO_FROM] != NONE and (s[Tcp.UNDO_AGAIN] == 0 or is_original(s, echo))


@noinline
def take_back(p: Any, s: Any, spare: Any) -> None:
    """The window is again what it was; if `spare`, nothing is lost."""
    if spare:
        board.spare(p, s)
    if s[Tcp.PRIOR_SSTHRESH] > 0:
        if PACED:
            control.undo(s)
        else:
            s[Tcp.CWND] = max(s[Tcp.CWND], s[Tcp.PRIOR_WINDOW])
        s[Tcp.SSTHRESH] = max(s[Tcp.SSTHRESH], s[Tcp.PRIOR_SSTHRESH])
    s[Tcp.UNDO_FROM] = NONE
    s[Tcp.RACK_NEWS] = 1
    s[Tcp.UNDOS] += 1


def any_again(p: Any, s: Any) -> Any:
    """Whether retransmissions are out, or the first packet was sent again."""
    if s[Tcp.AGAIN] > 0:
        return True
    if s[Tcp.UNA] == s[Tcp.NXT]:
        return False
    return s[packet_at(p, s, s[Tcp.UNA]) + Packet.FLAGS] & Flag.EVER != 0


@noinline
def keep_open(p: Any, s: Any) -> None:
    """No recovery: all is well, or something is missing."""
    state = np.int64(State.OPEN)
    if s[Tcp.SACKED] + s[Tcp.LOST] > 0 or any_again(p, s):
        state = np.int64(State.DISORDER)
    if s[Tcp.STATE] != state:
        s[Tcp.STATE] = state
        s[Tcp.HIGH] = s[Tcp.NXT]


def by_duplicates(p: Any, s: Any) -> Any:
    """Every retransmission was reported as a duplicate: take the reduction back; returns whether."""
    if s[Tcp.UNDO_FROM] != NONE and s[Tcp.UNDO_AGAIN] == 0:
        take_back(p, s, False)
        return True
    return False


@noinline
def partly(p: Any, s: Any, before: Any, echo: Any) -> Any:
    """In a recovery a hole was filled by a packet that was only late.

    Returns whether nothing more is to be done now; `before` is UNA before this ACK.
    """
    if s[Tcp.UNDO_FROM] != NONE and is_original(s, echo):
        sack.note_late(s, before)
        if s[Tcp.AGAIN] > 0:
            return True
        if not any_again(p, s):
            s[Tcp.FIRST_AGAIN] = NONE
        take_back(p, s, True)
        keep_open(p, s)
    return False


@noinline
def in_full(p: Any, s: Any, echo: Any) -> None:
    """A recovery, or what came after a timeout, has ended."""
    if may_undo(s, echo):
        take_back(p, s, False)
    else:
        rack.narrow(s)
    s[Tcp.STATE] = State.OPEN


@noinline
def after_timeout(p: Any, s: Any, echo: Any, spurious: Any) -> Any:
    """Take a timeout back if it was spurious; returns whether."""
    if spurious or may_undo(s, echo):
        take_back(p, s, True)
        s[Tcp.RETRIES] = 0
        s[Tcp.STATE] = State.OPEN
        return True
    return False


def stamp(s: Any, now: Any) -> Any:
    """A retransmission goes out: the first of its kind dates what came before it."""
    if s[Tcp.FIRST_AGAIN] == NONE:
        s[Tcp.FIRST_AGAIN] = clocks.stamp_of(s, now)
    s[Tcp.UNDO_AGAIN] = max(s[Tcp.UNDO_AGAIN], 0) + 1
