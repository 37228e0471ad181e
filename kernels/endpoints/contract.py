"""Contracts between transports, the hosts of flows, and the engines of networks.

An association (`OneWay` or `Association`) is a sender and its receiver: a module of functions that the engine
of a network calls for its events. It neither sends nor delays anything itself. Engines name it in their slot
`association`.
A `Port` connects the hosts of a flow (`host`) with an engine.

All functions work on integers. `p` are the parameters of the flow (columns of `P`), `s` the words of the
association, `g` its float memory, `constants` those of a user's congestion control, times are in ns. A packet
is a number that the association chose. Numbers of the sender and of the receiver are separate.
"""

from typing import Any, Protocol


class OneWay(Protocol):
    """A sender and a receiver that sends nothing, such as UDP: what every association has.

    An engine calls `prepare` once, then `start`, then in the order of time whatever happens first. Sender and
    receiver share the words `s`, but neither reads what only the other can know.
    """

    NONE: int
    """Number that stands for no packet; negative."""
    FULL: int
    """Number that stands for no packet because a ring is too small; negative. The run is then repeated."""
    FLOATS: int
    """Words of float memory of an association."""
    WORDS: int
    """Words of scratch of an association without its rings, which `prepare` appends."""
    Counter: Any
    """Words of `s` that an engine may read at any time: SENT, RETRANSMITTED, HANDSHAKES, TIMEOUTS,
    FAST_RETRANSMITS, REDUCTIONS, RTT, and those of probing (PROBING, PROBING_SINCE, PROBES, PROBE_CYCLES,
    PROBE_TIME, AVOIDED). Paths also read ACKED, the last packet that is acknowledged cumulatively, and
    OUT_OF_ORDER, the number of packets at the receiver behind a gap. A transport without one of them names a
    word that stays 0; a one-way association has SENT only."""

    def prepare(self, p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any, /) -> Any:
        """Set up the association before time 0.

        `limit` packets with data are to be sent, `phase` is the phase of the clock of the timers [ns], `flow`
        the number of the association among those of the row (its random streams depend on it). Words from
        `free` on are for its rings. Returns the next free word. Afterwards all timers are at FOREVER.
        """

    def start(self, p: Any, s: Any, g: Any, now: Any, /) -> None:
        """Open the connection, or begin to send where there is no handshake.

        Called once, at the start of the flow. The engine then sends what `may_send` allows: the SYN
        (RFC 9293, section 3.5), the INIT (RFC 9260, section 5.1) or the first data.
        """

    def may_send(self, p: Any, s: Any, /) -> Any:
        """Return whether `next_segment` would return a packet or FULL.

        Called after each event at the sender and after each packet sent. Changes nothing.
        """

    def next_segment(self, p: Any, s: Any, g: Any, now: Any, blocked: Any, /) -> Any:
        """Return the packet to send now, NONE, or FULL.

        Called after `may_send` returned True; on paths after every event at the sender, where it returns NONE
        if nothing may be sent. The packet counts as sent: the window (RFC 5681, section 3.1), timers (RFC
        6298, section 5.1) and counters change. While the queue of the source's node is full (`blocked`; only
        where a queue stops its own host) an association may return NONE; `resume` follows when there is room.
        A one-way association always returns a packet.
        """

    def due(self, s: Any, /) -> Any:
        """Return when the sender's next timer expires [ns], or FOREVER."""

    def on_timeout(self, p: Any, s: Any, g: Any, constants: Any, now: Any, /) -> None:
        """Process the sender's timer that expires now; precondition: `due(s) == now`.

        It may be the retransmission timer (RFC 6298, section 5; T1 and T3 of RFC 9260) or another one, such
        as the pacing timer. Only a retransmission timeout increments Counter.TIMEOUTS. Afterwards `due` is
        later than `now`, and the engine sends.
        """

    def on_data(self, p: Any, s: Any, t: Any, packet: Any, more: Any, /) -> Any:
        """Process a packet of the sender at the receiver.

        Returns the packet with which it answers at once, NONE or FULL; and whether data arrived that were not
        there before. A one-way association never answers. If `more` packets arrive at the same time, an
        acknowledgement may wait for them. Copies of a packet may arrive more than once, in any order.
        """

    def is_last(self, p: Any, s: Any, packet: Any, /) -> Any:
        """Return whether a data packet is the last one, which may be shorter than the others."""

    def complete(self, p: Any, s: Any, /) -> Any:
        """Return whether the receiver has all `limit` packets. Once True it stays so."""

    def all_sent(self, s: Any, /) -> Any:
        """Return whether all data have been sent at least once."""

    def delay_of(self, p: Any, s: Any, t: Any, packet: Any, /) -> Any:
        """Return the time from the first transmission of the data of a packet to `t` [ns].

        Called at its first arrival (`on_data` returned True).
        """


class Association(OneWay, Protocol):
    """A transport protocol whose receiver answers.

    `tcp`, `linux` and `sctp` have a module `association`. Functions that a transport leaves out are those of
    `defaults` (`base.bind.stacked`), as for SCTP.
    """

    def transmission_id(self, s: Any, now: Any, /) -> Any:
        """Return a few bits that tell the copies of the packet that `next_segment` returned last apart.

        Called right after it. The packet carries the bits to `note_transmission` at the receiver. They stand
        for the timestamp option (RFC 7323, section 3).
        """

    def carries_cwr(self, s: Any, packet: Any, /) -> Any:
        """Return whether the packet that is sent now carries CWR (RFC 3168, section 6.1.2).

        Called once per data packet on shared links, right after `next_segment`.
        """

    def on_echo(self, p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any, /) -> None:
        """Process the ECN-Echo that packet `ack_id` of the receiver carries (RFC 3168, section 6.1.2).

        Called on shared links, before `on_ack` of the same packet.
        """

    def probe(self, p: Any, s: Any, now: Any, /) -> Any:
        """Return the number of a probe segment to send now, or NONE.

        Called after the last packet of an event was sent. The receiver answers at once; the reply comes back
        with the same number (`on_probe`).
        """

    def resume(self, p: Any, s: Any, g: Any, /) -> Any:
        """Note that the queue has room again; return whether the sender had waited for that.

        Called whenever a frame leaves the queue of the source's node. If True, the engine sends.
        """

    def on_ack(self, p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any, /) -> None:
        """Process packet `ack_id` of the receiver at the sender (RFC 5681, RFC 6675; RFC 9260, section 6.2).

        Packets may be lost, but each arrives at most once. They arrive in the order of their numbers except
        in networks where packets overtake each other. The engine sends afterwards.
        """

    def on_probe(self, p: Any, s: Any, g: Any, constants: Any, now: Any, number: Any, /) -> None:
        """Process the reply to probe segment `number` at the sender. The engine sends afterwards."""

    def on_notice(self, p: Any, s: Any, g: Any, constants: Any, now: Any, /) -> None:
        """Tell the sender that a link of its route is broken (explicit link failure notification).

        Called in ad hoc networks only, when a route error reaches the source. The engine sends afterwards.
        """

    def note_transmission(self, p: Any, s: Any, packet: Any, copy: Any, /) -> None:
        """Tell the receiver which copy of a packet `on_data` is about to process (see `transmission_id`)."""

    def due_at_receiver(self, s: Any, /) -> Any:
        """Return when the receiver's next timer expires [ns], or FOREVER."""

    def on_delay(self, p: Any, s: Any, /) -> Any:
        """Process the receiver's timer that expires now; return the packet to send, NONE or FULL.

        It is the timer of delayed acknowledgements (RFC 5681, section 4.2) as a rule; precondition: its time
        is `due_at_receiver(s)`. Afterwards `due_at_receiver` is later.
        """

    def note_timestamp(self, s: Any, packet: Any, sent: Any, /) -> None:
        """Tell the receiver when the packet that `on_data` is about to process was sent [ns].

        Called on paths, where packets need no bits for `note_transmission` (RFC 7323, section 4.3).
        """

    def corrupted(self, p: Any, s: Any, packet: Any, /) -> None:
        """Tell the receiver that a packet arrived with an error. Called in ad hoc networks, not `on_data`."""

    def is_data(self, p: Any, s: Any, packet: Any, /) -> Any:
        """Return whether a packet of the sender carries data of the application.

        Called when it is sent; the engine keeps the answer with the packet.
        """

    def is_ack(self, p: Any, s: Any, ack_id: Any, /) -> Any:
        """Return whether a packet of the receiver acknowledges data. Called when it is sent."""

    def size_of(self, p: Any, s: Any, packet: Any, /) -> Any:
        """Return the size of a packet of the sender, with headers of transport and network layer [byte].

        Called as often as its time on a link is computed, while it is in flight.
        """

    def size_of_ack(self, p: Any, s: Any, ack_id: Any, /) -> Any:
        """Return the size of a packet of the receiver, with headers [byte]; see `size_of`."""

    def in_order(self, p: Any, s: Any, /) -> Any:
        """Return how many data packets the receiver has without a gap [n]; never decreases."""

    def finished(self, s: Any, /) -> Any:
        """Return whether the sender knows that all data have arrived. Called after `on_ack`."""

    def data_waiting(self, p: Any, s: Any, /) -> Any:
        """Return how many data packets count as sent but still wait for room in the queue [n]."""

    def cumulative_ack(self, p: Any, s: Any, ack_id: Any, /) -> Any:
        """Return the last packet that an acknowledgement acknowledges cumulatively, for traces."""

    def cwnd_of(self, p: Any, s: Any, g: Any, /) -> Any:
        """Return the congestion window or the receiver's, whichever is smaller [packet / 1024]."""

    def acked(self, p: Any, s: Any, /) -> Any:
        """Return how many data packets are acknowledged cumulatively [n]."""

    def overfull(self, s: Any, /) -> Any:
        """Return whether the place of a packet in flight was reused: then the run is repeated."""

    def sequence_of(self, p: Any, s: Any, packet: Any, /) -> Any:
        """Return the number of a packet of the sender in traces [packet]; negative: it is not shown."""

    def show(self, s: Any, g: Any, trace: Any, n: Any, /) -> None:
        """Write the sender's window, threshold, timeout and last acknowledgement to row `n` of a trace."""


class Event(Protocol):
    """An event at the hosts of a flow: a tuple that each port defines, with what it needs besides."""

    m: Any
    """Scratch of the engine."""
    p: Any
    """Parameters of the flow: columns of `P`."""
    s: Any
    """Words of the association."""
    g: Any
    """Float memory of the association."""
    constants: Any
    """Constants of a user's congestion control."""
    t: Any
    """Time of the event [ns]."""
    counts: Any
    """Word of `m` where the counters of the flow begin, in the order of `Port.Count`."""


class Port(Protocol):
    """Functions of an engine that the hosts of a flow (`host`) call during an event `e`."""

    Count: Any
    """Columns of the flow's outcomes: SENT, RETRANSMITTED, TIMEOUTS, FAST_RETRANSMITS, CWND_CUTS, RECEIVED,
    DELIVERED, IN_ORDER, FIRST_RX, LAST_RX, COMPLETED, ACKS_SENT."""

    def put_data(self, e: Any, packet: Any, copy: Any, is_data: Any, /) -> None:
        """Send a packet of the sender into the network; `is_data`: it carries data."""

    def put_probe(self, e: Any, number: Any, /) -> None:
        """Send a probe segment into the network."""

    def put_answer(self, e: Any, answer: Any, is_ack: Any, /) -> None:
        """Send a packet of the receiver into the network; `is_ack`: it acknowledges data."""

    def is_blocked(self, e: Any, /) -> Any:
        """Return whether a full queue stops the sender. Called before each packet."""

    def schedule(self, e: Any, /) -> None:
        """Set when the engine calls the hosts next: the start of the flow or `host.due`.

        Called last, after every event that may have changed a timer.
        """

    def on_sent(self, e: Any, /) -> None:
        """Note that the sender has sent all that it may. Called once per event at the source."""

    def on_retransmission_timeout(self, e: Any, /) -> None:
        """Note a retransmission timeout, before anything is retransmitted."""

    def on_acknowledged(self, e: Any, is_ack: Any, /) -> None:
        """Note that the sender has processed a packet of the receiver, before it sends."""

    def on_delivered(self, e: Any, packet: Any, /) -> None:
        """Note the first arrival of a data packet, after it is counted."""

    def on_complete(self, e: Any, /) -> None:
        """Note that all data have arrived; COMPLETED is set. Called once."""

    def on_overflow(self, e: Any, /) -> None:
        """End the run: a ring of the association is too small."""
