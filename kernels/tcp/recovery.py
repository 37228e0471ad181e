"""Interface of a loss recovery scheme, its defaults, and the actions that a scheme returns.

A scheme (tahoe, reno, newreno, sack, vegas, ...) is a module with some of these functions. Functions that it
does not define are those of its `BASE`, in the end those of this module. `at` is the word of scratch where
the ACK begins (`Ack`), `actions` is a sum of the constants below, `forced` is a packet to send at once, or
NONE.

    prepare(m, p, free) -> free
        Lay out the scheme's scratch from word `free` on; return the next free word.
    on_ack_in_recovery(row, at, ack, highest_ack, cwnd) -> (cwnd, actions, forced)
        Process an ACK of new data while the phase is not NORMAL.
    grow(row, clock, ack, previous_ack, snd_nxt, window) -> (window, forced)
        Process an ACK of new data that may open the window; reset the duplicate ACKs.
    on_dup_ack(row, clock, at, sent, window) -> (window, actions, forced)
        Process a duplicate ACK.
    on_old_ack(row) -> actions
        Process an ACK that later ones have overtaken.
    on_timeout(row, clock, snd_max, window) -> window
        Reduce the window at a retransmission timeout.
    next_packet(m, p, highest_ack, snd_nxt, last, cwnd) -> int
        Return the next packet to send in recovery, or NONE.
    on_send(m, p, packet, now)
        Note that a packet is sent.
    is_normal(m) -> bool
        Return True if `on_ack_in_recovery` would change nothing.

Properties of a scheme are constants of its module. Those below are the defaults.
"""

from typing import Any

from netcarlo.kernels.tcp.state import NONE, Phase, Tcp

FIRST = 1
"""Number of the first data packet: 1 after a handshake, 0 for a scheme without handshake."""
SACK = False
"""True if ACKs carry SACK blocks and recovery sends the packets of `next_packet`."""
PAUSES = False
"""True if the sender may pause and send probe segments (`pausing`)."""
LOSS_MARKS = False
"""True if the receiver marks ACKs of corrupted packets.

The scheme then has `corrupted(m, p, packet, expected)`, called when the receiver sees a corrupted packet, and
`mark(m, p, at, expected)`, called for each ACK, which asks for packet `expected`.
"""
TIMESTAMPS = False
"""True if ACKs carry timestamps and the sender keeps its own window.

The scheme then decides with `next_packet` what is sent, and has instead of the other functions `on_ack(row,
clock, srtt, echo, at, ack, snd_max, ssthresh) -> (cwnd, ssthresh, actions)` and `on_mark(row, clock, snd_max,
ssthresh) -> ssthresh`.
"""
HOT_WORDS = 0
"""Number of the scheme's words, from `Tcp.SCHEME` on, that every packet accesses."""

# Actions of the sender.
SEND = 1  # fill the window
SEND_TWO = 2  # at most two packets of the window
LIMITED_TRANSMIT = 4  # limited transmit (RFC 3042): one new packet beyond cwnd
GO_BACK = 8  # continue from the first unacknowledged packet
REDUCE = 16  # the window was reduced: restart the timer, discard the RTT measurement
PARTIAL_ACK = 32  # an ACK of new data within recovery: no RTT sample, no growth
RESTART_TIMER = 64  # partial ACK: restart the timer
END_BACKOFF = 128  # partial ACK: end the back-off, whichever packet was timed
NO_GROWTH = 256  # an ACK of new data that does not open cwnd
BACK_OFF = 512  # reduce, and back the timer off
AVOIDED = 1024  # with REDUCE: the window is not reduced
PAUSE = 2048  # stop sending data, and send probe segments


def prepare(m: Any, p: Any, free: Any) -> Any:
    """Return `free`: the scheme needs no scratch."""
    return free


def on_old_ack(row: Any) -> Any:
    """Send what the window allows."""
    return SEND


def next_packet(m: Any, p: Any, highest_ack: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """Return NONE: recovery chooses no packets."""
    return NONE


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """Do nothing."""


def is_normal(m: Any) -> Any:
    """Return True if no loss is being recovered."""
    return m[Tcp.PHASE] == Phase.NORMAL
