"""What the ways of loss recovery share: their orders to the sender, and what one does that leaves it out.

A way of loss recovery (tahoe, reno, newreno, sack, vegas, ...) is a module with some of these functions; what
it leaves out is that of its `BASE`, at last of this module.  `at` is the ACK's place in scratch (`Ack`),
`order` a sum of the orders below, and `forced` a packet to send at once, or NONE.

    prepare(m, p, free) -> free                       lay out own scratch from word `free` on
    new_ack(row, at, ack, una, cwnd) -> (cwnd, order, forced)
                                                      new data acknowledged while the phase is not NORMAL
    grow(row, clock, ack, before, seq, window) -> (window, forced)
                                                      `ack` moved una on from `before`: dupacks begin anew
    dup_ack(row, clock, at, sent, window) -> (window, order, forced)
    timeout(row, clock, top, window) -> window
    next_packet(m, p, una, seq, last, cwnd) -> int    the next packet of a recovery, or NONE
    on_send(m, p, packet, now)                        a packet is put out

Facts about it are constants of the module; those below hold unless it says otherwise.
"""

from typing import Any

from netcarlo.kernels.tcp.state import NONE

FIRST = 1
"""The first data packet; 0 for a way without handshake."""
SACK = False
"""ACKs carry SACK blocks and recovery is driven by `next_packet`."""
PAUSES = False
"""It sometimes stops and puts out probe segments, see `pausing`."""
MARKS = False
"""The receiver marks ACKs: `corrupted(m, p, packet, expected)` when it sees a packet destroyed by an
error, `mark(m, p, at, expected)` when it asks for `expected`."""
STAMPS = False
"""ACKs carry timestamps; the sender keeps its window to itself, and `next_packet` decides what goes out:
`on_ack(row, clock, srtt, echo, at, ack, top, ssthresh) -> (cwnd, ssthresh, order)` and
`on_mark(row, clock, top, ssthresh) -> ssthresh` replace the rest."""

# Orders to the sender.
SEND = 1  # fill the window
SEND_TWO = 2  # at most two packets of the window
LIMITED = 4  # limited transmit (RFC 3042): one new packet beyond cwnd
GO_BACK = 8  # continue from the first unacknowledged packet
CUT = 16  # the window was reduced: restart the timer, give up the RTT measurement
PARTIAL = 32  # a new ACK that stays in recovery: no RTT sample, no growth
TIMER = 64  # partial ACK: restart the timer
END_BACKOFF = 128  # partial ACK: end the back-off whatever packet was timed
NO_GROWTH = 256  # a new ACK that does not open cwnd
BACK_OFF = 512  # reduce with a backed-off timer
SPARE = 1024  # with CUT: the window was not reduced after all
PAUSE = 2048  # stop sending data, and ask with probe segments


def prepare(m: Any, p: Any, free: Any) -> Any:
    """It needs no scratch."""
    return free


def next_packet(m: Any, p: Any, una: Any, seq: Any, last: Any, cwnd: Any) -> Any:
    """It asks for no packet."""
    return NONE


def on_send(m: Any, p: Any, packet: Any, now: Any) -> None:
    """It takes no notice of what is put out."""
