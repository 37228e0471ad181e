"""What schemes of loss recovery share: the actions they ask for, and what holds for what they leave out.

A scheme (tahoe, reno, newreno, sack, vegas, ...) is a module with some of these functions; what
it leaves out is that of its `BASE`, at last of this module.  `at` is the ACK's place in scratch (`Ack`),
`actions` a sum of those below, and `forced` a packet to send at once, or NONE.

    prepare(m, p, free) -> free                       lay out own scratch from word `free` on
    new_ack(row, at, ack, acked, cwnd) -> (cwnd, actions, forced)
                                                      new data acknowledged while the phase is not NORMAL
    grow(row, clock, ack, before, snd_nxt, window) -> (window, forced)
                                                      `ack` follows `before`: dupacks begin anew
    dup_ack(row, clock, at, sent, window) -> (window, actions, forced)
    old_ack(row) -> actions                           others have overtaken an ACK
    timeout(row, clock, snd_max, window) -> window
    next_packet(m, p, acked, snd_nxt, last, cwnd) -> int
                                                      the next packet of a recovery, or NONE
    on_send(m, p, packet, now)                        a packet is put out
    is_normal(m) -> bool                              `on_ack_in_recovery` would change nothing

Facts about it are constants of the module; those below hold unless it says otherwise.
"""

from typing import Any

from netcarlo.kernels.tcp.state import NONE, Phase, Tcp

FIRST = 1
"""The first data packet; 0 for a scheme without handshake."""
SACK = False
"""ACKs carry SACK blocks and recovery is driven by `next_packet`."""
PAUSES = False
"""It sometimes stops and puts out probe segments, see `pausing`."""
LOSS_MARKS = False
"""The receiver marks ACKs: `corrupted(m, p, packet, expected)` when it sees a packet destroyed by an
error, `mark(m, p, at, expected)` when it asks for `expected`."""
TIMESTAMPS = False
"""ACKs carry timestamps; the sender keeps its window to itself, and `next_packet` decides what goes out:
`on_ack(row, clock, srtt, echo, at, ack, snd_max, ssthresh) -> (cwnd, ssthresh, actions)` and
`on_mark(row, clock, snd_max, ssthresh) -> ssthresh` replace the rest."""
HOT_WORDS = 0
"""Own words of scratch, from `Tcp.SCHEME` on, that every packet touches."""

# Actions of the sender.
SEND = 1  # fill the window
SEND_TWO = 2  # at most two packets of the window
LIMITED_TRANSMIT = 4  # limited transmit (RFC 3042): one new packet beyond cwnd
GO_BACK = 8  # continue from the first unacknowledged packet
REDUCE = 16  # the window was reduced: restart the timer, give up the RTT measurement
PARTIAL_ACK = 32  # a new ACK that stays in recovery: no RTT sample, no growth
RESTART_TIMER = 64  # partial ACK: restart the timer
END_BACKOFF = 128  # partial ACK: end the back-off whatever packet was timed
NO_GROWTH = 256  # a new ACK that does not open cwnd
BACK_OFF = 512  # reduce with a backed-off timer
AVOIDED = 1024  # with REDUCE: the reduction is avoided, the window stays as it is
PAUSE = 2048  # stop sending data, and ask with probe segments


def prepare(m: Any, p: Any, free: Any) -> Any:
    """It needs no scratch."""
    return free


def on_old_ack(row: Any) -> Any:
    """Send what the window allows."""
    return SEND


def next_packet(m: Any, p: Any, highest_ack: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """It asks for no packet."""
    return NONE


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """It takes no notice of what is put out."""


def is_normal(m: Any) -> Any:
    """Nothing is being recovered."""
    return m[Tcp.PHASE] == Phase.NORMAL
