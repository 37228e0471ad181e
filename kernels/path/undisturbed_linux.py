"""A stretch of a transfer of today's Linux that nothing disturbs: see `undisturbed`.

What an ACK of new data does, and the bursts that it lets out, is done by the sender's own functions; left out
is what would find nothing (a loss, a block, a packet sent again).  Timers are not set: it is enough to know
before which time they do not go off, and one that is still running at the end is set then.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import FOREVER, Out, P
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.linux import burst, clocks, inorder, receiver, rtt, sender, timer
from netcarlo.kernels.linux.state import (
    FIRST,
    NONE,
    Ack,
    Flag,
    Packet,
    Send,
    State,
    Tcp,
    Timer,
    ack_at,
    packet_at,
)
from netcarlo.kernels.path import engine, hops
from netcarlo.kernels.path.hops import ARRIVED, BACK, FORTH, FULL_QUEUE, MAIN, Word
from netcarlo.kernels.path.state import ENTRY, Path
from netcarlo.kernels.path.undisturbed import behind, is_worth_it, keep, line_of, passed, passes, server_of

__all__ = ["go", "is_calm", "is_simple", "is_worth_it"]

QUEUES: Any = slot("queues")

SETTLED = -1
"""Packets left of a burst when it is known that none goes out before the next ACK."""


def is_simple(p: Any, m: Any) -> Any:
    """One hop."""
    return hops.hops_of(m, MAIN, FORTH) == 1


def is_calm(p: Any, s: Any) -> Any:
    """The sender misses nothing, has taken in its latest event, and will not run out of packets now."""
    una = s[Tcp.UNA]
    settled = s[Tcp.PUSH] == 0 and s[Tcp.FORCED] == NONE and s[Tcp.SEND] == Send.NEW
    normal = s[Tcp.STATE] == State.OPEN and s[Tcp.PROBED] == NONE and s[Tcp.SACKED] + s[Tcp.LOST] == 0
    known = s[Tcp.HIGHEST] <= una and s[Tcp.AGAIN_END] <= una
    return normal and known and settled and FIRST < una < s[Tcp.NXT] <= s[Tcp.LAST]


def open_burst(p: Any, s: Any, now: Any) -> Any:
    """So many packets leave as one now."""
    packets = burst.next_burst(p, s, now)
    s[Tcp.LARGE] = 1 if packets > 1 else 0
    return packets


def settle(p: Any, s: Any, now: Any, pushed: Any) -> Any:
    """Nothing more goes out now; returns how long until the probe that is due then [us], at most."""
    s[Tcp.PUSHED] = pushed
    sender.note_limit(p, s, now)
    s[Tcp.PUSHED] = 0
    return timer.until_probe(p, s, now, pushed == 0)


def put_out(p: Any, s: Any, now: Any, push: Any) -> Any:
    """A new packet goes out; returns its number."""
    packet = s[Tcp.NXT]
    s[Tcp.NXT] = packet + 1
    at = packet_at(p, s, packet)
    s[at + Packet.SENT] = clocks.us_of(now)
    s[at + Packet.FLAGS] = Flag.PUSH if push else 0
    return packet


def enter(p: Any, m: Any, out: Any, ack_id: Any, fate: Any, t: Any, tail: Any) -> Any:
    """An ACK with this fate at time t [ns] enters the ring if it arrives; returns the ring's new end."""
    if fate == ARRIVED:
        at = m[Path.RING] + ENTRY * (tail & (p[P.RING] - 1))
        m[at] = t
        m[at + 1] = ack_id
        tail += 1
    elif t <= p[P.END]:
        out[Out.ACK_DROPS] += 1
    return tail


def leave(p: Any, s: Any, first: Any, left: Any, pushed: Any, taken: Any, armed: Any, wait: Any) -> None:
    """The stretch, in which packets from `first` on went out, ends with so many of a burst left.

    The probe's timer was set at `armed` [ns] or not at all (NONE), to go off after `wait` [us].
    """
    s[Tcp.SENT] += s[Tcp.NXT] - first
    s[Tcp.BURST] = left
    s[Tcp.PUSH], s[Tcp.PUSHED], s[Tcp.RESTART] = (1, pushed, taken) if left > 0 else (0, 0, 0)
    if armed != NONE:
        timer.set_timer(p, s, armed, Timer.PROBE, clocks.to_jiffies(s, wait))


def go(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, alarm: Any, simple: Any,
) -> Any:  # fmt: skip
    """As `undisturbed.go`; what befalls a packet does not end it, but an ACK that tells of that does."""
    ring, mask, end = m[Path.RING], p[P.RING] - 1, p[P.END]
    single = simple or hops.hops_of(m, MAIN, FORTH) == 1
    size, ack_size, delay = p[P.DATA] + p[P.HEADER], p[P.ACK], p[P.ACK_DELAY] - p[P.TICK]
    forth, back = server_of(m, FORTH, size), server_of(m, BACK, ack_size)
    going, coming = line_of(m, forth.at), line_of(m, back.at)
    silence, longest = receiver.silence(s), s[Tcp.MOST_JIFFIES] * s[Tcp.TICK_US]
    deadline, armed, wait, waiting = s[Tcp.DEADLINE], np.int64(NONE), np.int64(0), np.int64(NONE)
    first, left, pushed, taken, queued = s[Tcp.NXT], np.int64(SETTLED), np.int64(0), np.int64(0), np.int64(0)
    una, heard, consumed = s[Tcp.UNA], now, s[Tcp.CONSUMED]
    source, sink = inorder.Source(una, s[Tcp.LEAST_RTT], rtt.estimate_of(s)), inorder.sink_of(s)
    undisturbed = True
    while undisturbed:
        plain, fate, t, packet = True, np.int64(ARRIVED), now, np.int64(NONE)
        while plain:
            if left > 0:
                plain = s[Tcp.NXT] < s[Tcp.LAST] and going.gap > 0 and passes(m, forth, going, now)
                if plain:
                    left -= 1
                    pushed, push = np.int64(1), s[Tcp.LARGE] != 0 and left == 0
                    packet = put_out(p, s, now, push)
                    going = passed(m, forth, going, now)
                    t = going.free + forth.delay
                    if QUEUES:
                        queued += min(going.free, end) - now
                    if not single:
                        fate, t = behind(p, outages, losses, m, FORTH, t, size)
                        if fate != ARRIVED and t <= end:
                            out[Out.DROPS_QUEUE - FULL_QUEUE + fate] += 1
                    plain = fate == ARRIVED and t <= end and sink.nxt == packet and t < sink.pending
                    plain = plain and t - sink.last <= silence and sink.next_ack - consumed < mask
                    plain = plain and t <= m[Path.WATCH] and coming.gap > 0 and passes(m, back, coming, t)
                    if plain:
                        packet = np.int64(NONE)
                        ack_id, m[Path.LAST_RX] = sink.next_ack, t
                        sink, answers = inorder.take_in(p, s, sink, t, now, push)
                        if answers:
                            waiting = np.int64(NONE)
                            coming = passed(m, back, coming, t)
                            t = coming.free + back.delay
                            if not single:
                                fate, t = behind(p, outages, losses, m, BACK, t, ack_size)
                            tail = enter(p, m, out, ack_id, fate, t, tail)
                        elif sink.pending == FOREVER:
                            waiting = t
                            sink = inorder.postpone(sink, t + delay)
            elif left < 0:
                at = ring + ENTRY * (head & mask)
                arrival, ack_id = m[at], m[at + 1]
                at = ack_at(p, s, ack_id)
                ack = s[at + Ack.NEXT]
                plain = head < tail and arrival <= deadline and arrival < alarm and ack > source.una
                plain = plain and arrival <= sink.pending and arrival <= s[Tcp.MERGED_UNTIL]
                plain = plain and s[at + Ack.COUNT] == 0 and s[at + Ack.DUPLICATE] == NONE
                if plain:
                    now = heard = arrival
                    head, taken, left = head + 1, np.int64(1), np.int64(0)
                    s[Tcp.CONSUMED] = consumed = ack_id + 1
                    source = inorder.take(p, s, source, now, ack)
            if left == 0:
                left = open_burst(p, s, now)
                if left == 0:
                    left = np.int64(SETTLED)
                    armed, wait = now, settle(p, s, now, pushed)
                    deadline = now + min(wait, longest) * clocks.US
                    pushed, taken = np.int64(0), np.int64(0)
        if packet == NONE and left > 0:
            undisturbed = s[Tcp.NXT] < s[Tcp.LAST]
            if undisturbed:
                left -= 1
                pushed, packet = np.int64(1), put_out(p, s, now, s[Tcp.LARGE] != 0 and left == 0)
                keep(m, forth.at, going)
                fate, t, _ = engine.put_on_path(p, outages, losses, m, out, now, packet, True, size)
                going = line_of(m, forth.at)
        elif packet == NONE:
            arrival = engine.arrival_of(m, ring, mask, head, tail)
            late = min(sink.pending, s[Tcp.MERGED_UNTIL])
            undisturbed = late < arrival and (waiting != NONE or late <= min(deadline, end))
            if waiting != NONE:
                sink, waiting = inorder.postponed(p, s, sink, waiting), np.int64(NONE)
            elif undisturbed:
                keep(m, back.at, coming)
                inorder.keep_sink(s, sink)
                tail = engine.acknowledge_late(p, outages, losses, m, s, out, tail)
                coming, sink = line_of(m, back.at), inorder.sink_of(s)
                undisturbed = m[Path.FULL] == 0
        if packet != NONE and fate == ARRIVED and t <= end:
            sink, waiting = inorder.postponed(p, s, sink, waiting), np.int64(NONE)
            keep(m, back.at, coming)
            inorder.keep_sink(s, sink)
            tail = engine.receive(p, outages, losses, m, s, out, t, packet, now, tail)
            coming, sink = line_of(m, back.at), inorder.sink_of(s)
            undisturbed = m[Path.FULL] == 0
    keep(m, forth.at, going)
    keep(m, back.at, coming)
    inorder.keep_sink(s, inorder.postponed(p, s, sink, waiting))
    inorder.learn(p, s, heard, source, una)
    if QUEUES:
        add(m, forth.at + Word.HELD, forth.at + Word.HELD_HIGH, queued)
    leave(p, s, first, max(left, np.int64(0)), pushed, taken, armed, wait)
    return now, head, tail, np.int64(NONE), now
