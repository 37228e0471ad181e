"""What the TCP variants share: the state of loss recovery and the orders to the sender.

A variant (tahoe, reno, newreno, sack, vegas) is a file with a factory `make(dev, control)` that
returns the compiled functions of `Variant`.  They keep rare state in the first words of
scratch and tell the sender what to do by a sum of orders.
"""

from typing import Any, NamedTuple

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

NONE = -1
"""No packet is forced out."""

# State words of scratch.
PHASE = 0  # NORMAL, RECOVERY or AFTER_TIMEOUT
RECOVER = 1  # highest packet sent when the window was last reduced
INFLATION = 2  # packets added to the window by duplicate ACKs
SEEN_PARTIAL = 3  # a partial ACK has been seen in this recovery
OWN = 4  # words from here on belong to the variant
STATE_WORDS = 24

NORMAL = 0
RECOVERY = 1
AFTER_TIMEOUT = 2


# What to do when the timer goes off.
LOSE = 0  # what TCP does: begin again with a window of one packet
SPARE_IT = 1  # repair at once, and keep the window
ASK = 2  # pause


class Pause(NamedTuple):
    """What a variant says that sometimes stops and puts out probe segments (see `probing`).

    In a pause no data goes out and the window stays.  When enough probes have come back, one after the other,
    the sender goes on with the window that it had, or does what it would have done without the pause.
    """

    replies: int
    """So many round trips of probes."""
    judged: bool
    """They are compared with the smoothed RTT, and a lost probe makes the count begin anew."""
    interval: int
    """Between probes that are not answered [ns]; 0: the retransmission timeout, not backed off."""
    noticed: bool
    """An explicit notice of a broken link begins a pause."""
    timeout: Any
    """`(current, before, backoff) -> int`: LOSE, SPARE_IT or ASK, from the timeouts that the estimator found
    last and before [ns] and the factor by which the timer is backed off."""
    listen: Any
    """`(m, parameters, at, ack, una)`: an acknowledgement of `ack` >= `una` arrives in a pause."""
    repair: Any
    """`(m, parameters, una, top, dupacks) -> (forced, back)`: after the pause: recover what is missing;
    `back`: continue from the first packet that is not acknowledged."""
    reduce: Any
    """`(m, f, parameters, constants, now, rtt, cwnd) -> (cwnd, ssthresh)`: what duplicate ACKs do without."""


class Variant(NamedTuple):
    """The compiled functions of a TCP variant, and some facts about it.

    `m` is scratch; `f` is the float memory of the congestion control.  Packets are numbered from 0
    (the SYN); `una` is the highest one acknowledged, `seq` the next to send, `last` the last there is,
    `top` the highest sent.  `at` is the ACK's place in scratch (SACK reads the blocks behind it).
    `forced` is a packet to send at once, or NONE.
    """

    prepare: Any
    """`(m, parameters, free) -> free`: lay out own scratch from word `free` on."""
    new_ack: Any
    """`(m, parameters, at, ack, una, cwnd) -> (cwnd, order, forced)`: new data acknowledged
    while the phase is not NORMAL."""
    grow: Any
    """`(m, f, parameters, constants, now, rtt, ack, before, seq, dupacks, cwnd, ssthresh)
    -> (cwnd, ssthresh, dupacks, forced)`: `ack` moved una on from `before` and ended a count of
    `dupacks`."""
    dup_ack: Any
    """`(m, f, parameters, constants, now, rtt, at, una, seq, top, dupacks, cwnd, ssthresh)
    -> (cwnd, ssthresh, dupacks, order, forced)`."""
    timeout: Any
    """`(m, f, parameters, constants, now, rtt, top, dupacks, cwnd) -> (cwnd, ssthresh, dupacks)`."""
    next_packet: Any
    """`(m, parameters, una, seq, last, cwnd) -> int`: the next packet of a recovery, or NONE."""
    on_send: Any
    """`(m, parameters, packet, now)`: a packet is put out."""
    heard: Any
    """`(packets, now, rtt, f)`: an ACK arrives, for so many new packets; see `westwood`."""
    sack: bool = False
    """ACKs carry SACK blocks and recovery is driven by `next_packet`."""
    first: int = 1
    """The first data packet; 0 for a variant without handshake."""
    pause: Pause | None = None
    """Variants with a pause, and those with marks, exist in engines that tell them of probes and errors."""
    corrupted: Any = None
    """`(m, parameters, packet, expected)`: the receiver sees that a packet was destroyed by an error."""
    mark: Any = None
    """`(m, parameters, at, expected)`: the receiver asks for `expected` with the ACK at `at`."""
    on_ack: Any = None
    """`(m, f, parameters, constants, now, rtt, srtt, echo, at, ack, top, ssthresh)
    -> (cwnd, ssthresh, order)`: of a sender that keeps its window to itself and lets `next_packet` decide
    what goes out, always.  Then there is no `new_ack`, `grow`, `dup_ack` or `heard`, a timeout does not go
    back, and ACKs carry timestamps: this one that of a packet put out at `echo`.  `cwnd` is what it shows."""
    clock: Any = None
    """`(measure, smooth)` of that sender's timer in place of those of `rto`; every ACK is measured."""
