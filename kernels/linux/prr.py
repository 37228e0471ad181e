"""Proportional rate reduction: the window shrinks during recovery in proportion to the packets delivered.

Source: RFC 6937 with the slow start bound of Linux and draft-ietf-tcpm-prr-rfc6937bis: below the threshold at
least as much is sent as is delivered, and one packet more if SND_UNA advances and no further loss is found.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import INFINITE, NONE, CaState, Tcp, in_cwnd_reduction, in_flight

control: Any = slot("control")


def current_ssthresh(s: Any) -> Any:
    """Return the threshold that an undo of a reduction starting now would restore [packets]
    (`tcp_current_ssthresh`)."""
    if in_cwnd_reduction(s):
        return s[Tcp.SSTHRESH]
    return max(s[Tcp.SSTHRESH], (s[Tcp.CWND] >> 1) + (s[Tcp.CWND] >> 2))


@noinline
def init_cwnd_reduction(p: Any, s: Any, now: Any) -> None:
    """Begin a reduction of the window (`tcp_init_cwnd_reduction`)."""
    s[Tcp.HIGH_SEQ] = s[Tcp.SND_NXT]
    s[Tcp.TLP_HIGH_SEQ] = NONE
    s[Tcp.CWND_CNT] = 0
    s[Tcp.PRIOR_CWND] = s[Tcp.CWND]
    s[Tcp.PRR_DELIVERED] = 0
    s[Tcp.PRR_OUT] = 0
    s[Tcp.SSTHRESH] = control.ssthresh(s)
    s[Tcp.CWND_REDUCTIONS] += 1


@noinline
def cwnd_reduction(s: Any, delivered: Any, lost: Any, advances: Any) -> None:
    """Set the window after an ACK that delivered and lost so many packets (`tcp_cwnd_reduction`)."""
    if delivered <= 0:
        return
    pipe = in_flight(s)
    room = s[Tcp.SSTHRESH] - pipe
    s[Tcp.PRR_DELIVERED] += delivered
    if room < 0:
        prior = s[Tcp.PRIOR_CWND]
        sent = quotient(s[Tcp.SSTHRESH] * s[Tcp.PRR_DELIVERED] + prior - 1, prior) - s[Tcp.PRR_OUT]
    else:
        sent = max(s[Tcp.PRR_DELIVERED] - s[Tcp.PRR_OUT], delivered)
        if advances and lost == 0:
            sent += 1
        sent = min(room, sent)
    s[Tcp.CWND] = pipe + max(sent, 0 if s[Tcp.PRR_OUT] > 0 else 1)


@noinline
def end_cwnd_reduction(s: Any) -> None:
    """End the reduction, unless it was undone (`tcp_end_cwnd_reduction`)."""
    if s[Tcp.SSTHRESH] < INFINITE and (s[Tcp.CA_STATE] == CaState.CWR or s[Tcp.UNDO_MARKER] != NONE):
        s[Tcp.CWND] = s[Tcp.SSTHRESH]
