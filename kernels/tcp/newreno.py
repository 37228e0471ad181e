"""TCP NewReno: fast recovery that retransmits one hole per partial ACK.

Source: RFC 2582, in the form of ns-2 (`Agent/TCP/Newreno`): partial window deflation, only the first partial
ACK restarts the timer, and an ACK releases at most two packets during recovery.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import PARTIAL_ACK, RESTART_TIMER, SEND, SEND_TWO
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp

BASE = reno


@noinline
def on_ack_in_recovery(row: Any, at: Any, ack: Any, highest_ack: Any, cwnd: Any) -> Any:
    """Process an ACK of new data in fast recovery (RFC 2582, section 3, step 5).

    An ACK of everything that was in flight at the start ends recovery. A partial ACK deflates the window and
    retransmits the next hole; only the first one restarts the timer.

    Returns the window [packets], the actions, and the packet to retransmit or NONE.
    """
    m = row.m
    if ack >= m[Tcp.RECOVER]:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Tcp.INFLATION] = 0
        m[Tcp.SEEN_PARTIAL] = 0
        return cwnd, SEND, NONE
    actions = PARTIAL_ACK | SEND_TWO
    if m[Tcp.SEEN_PARTIAL] == 0:
        m[Tcp.SEEN_PARTIAL] = 1
        actions |= RESTART_TIMER
    deflate = ack - highest_ack
    if m[Tcp.INFLATION] > deflate:
        m[Tcp.INFLATION] -= deflate - 1
    else:
        cwnd -= float(deflate - m[Tcp.INFLATION])
        m[Tcp.INFLATION] = 1
    return max(cwnd, 1.0), actions, ack + 1


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Process a duplicate ACK as Reno does, but with at most two packets per ACK.

    A fast retransmit does not directly follow another recovery.
    """
    return reno.react_to_duplicate(row, clock, sent, window, SEND_TWO, False)


@noinline
def on_old_ack(row: Any) -> Any:
    """Process an old ACK as Reno does, but with at most two packets during a recovery."""
    actions = reno.on_old_ack(row)
    return SEND_TWO if actions == SEND and row.m[Tcp.DUPACKS] > 0 else actions
