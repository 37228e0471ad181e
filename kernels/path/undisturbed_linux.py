"""A stretch of a transfer of today's Linux that nothing disturbs: see `undisturbed`.

What an ACK of new data does, and the bursts that it lets out, is done by the sender's own functions; left out
is what would find nothing (a loss, a block, a packet sent again).  Timers are not set: it is enough to know
before which time they do not go off, and one that is still running at the end is set then.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, Out, P
from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.linux import burst, clocks, inorder, receiver, rtt, sender, timer
from netcarlo.kernels.linux.state import FIRST, NONE, Ack, Send, State, Tcp
from netcarlo.kernels.path import engine, hops
from netcarlo.kernels.path.hops import ARRIVED, BACK, FORTH, FULL_QUEUE, MAIN, Word
from netcarlo.kernels.path.state import ENTRY, Path
from netcarlo.kernels.path.undisturbed import behind, is_worth_it, keep, line_of, passed, passes, server_of

__all__ = ["go", "is_calm", "is_simple", "is_worth_it"]

QUEUES: Any = slot("queues")

APART = (burst.SOON_US + 1) * clocks.US
"""When nothing has left for so long [ns] no burst is put off."""

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


def enter(p: Any, m: Any, out: Any, ring: Any, mask: Any, ack_id: Any, fate: Any, t: Any, tail: Any) -> Any:
    """An ACK with this fate at time t [ns] enters the ring if it arrives; returns the ring's new end."""
    if fate == ARRIVED:
        at = numbered(ring, mask, ENTRY, tail)
        m[at] = t
        m[at + 1] = ack_id
        tail += 1
    elif t <= p[P.END]:
        out[Out.ACK_DROPS] += 1
    return tail


def keep_sink(m: Any, s: Any, sink: Any, consumed: Any) -> None:
    """The receiver as it is now, and which ACKs the sender has taken."""
    s[Tcp.CONSUMED] = consumed
    m[Path.LAST_RX] = max(m[Path.LAST_RX], sink.last)
    inorder.keep_sink(s, sink)


def pass_both(m: Any, server: Any, line: Any, t: Any) -> Any:
    """As `passes`, for two packets that come at time t [ns], where there is no queue of one."""
    place = line.slot + 1 if line.slot + 1 < server.limit else np.int64(0)
    full = server.limit > 0 and m[server.ring + place] >= t
    return not full and max(t, line.free) + 2 * server.time + server.delay < server.quiet


def is_early(s: Any, rings: Any, source: Any, since: Any, margin: Any, longest: Any, arrival: Any) -> Any:
    """Whether no timer set at `since` goes off before `arrival` [ns], as can be told without its time.

    `margin` and `longest`: the least beside the round trip and the longest time that it runs [us].
    """
    wait = min((source.known.srtt >> np.int64(2)) + margin, longest)
    timeout = source.known.rto * s[Tcp.TICK_US]
    return arrival - since <= wait * clocks.US and inorder.waited(s, rings, source, arrival) < timeout


@cold
def deadline_of(p: Any, s: Any, since: Any, advancing: Any) -> Any:
    """Before this time [ns] no timer goes off: neither that which runs, nor one set at `since`."""
    if s[Tcp.DEADLINE] < FOREVER:
        return s[Tcp.DEADLINE]
    longest = s[Tcp.MOST_JIFFIES] * s[Tcp.TICK_US]
    return since + min(timer.until_probe(p, s, since, advancing), longest) * clocks.US


@cold
def leave(
    p: Any, s: Any, una: Any, now: Any, first: Any, nxt: Any, left: Any, large: Any, advancing: Any
) -> None:
    """The stretch, in which packets from `first` on went out, ends with so many of a burst left.

    If there is none, timers run since the last ACK, at `now`, unless UNA is what it was.
    """
    s[Tcp.NXT] = nxt
    s[Tcp.SENT] += nxt - first
    s[Tcp.LARGE] = 1 if large and left > 0 else 0
    going_on = np.int64(1 if left > 0 else 0)
    s[Tcp.BURST] = left if left > 0 else 0
    s[Tcp.PUSH] = s[Tcp.PUSHED] = s[Tcp.RESTART] = going_on
    if left < 0 and s[Tcp.UNA] > una:
        timer.schedule_probe(p, s, now, advancing)


def go(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, alarm: Any, simple: Any,
) -> Any:  # fmt: skip
    """As `undisturbed.go`; what befalls a packet does not end it, but an ACK that tells of that does.

    The inner loop takes what is plain: an ACK, the burst that it lets out, which is mostly a pair, and what
    the receiver does of it.  The outer one takes the rest: what is lost, finds a queue full, comes out of
    order, or is acknowledged late.
    """
    ring, end, window, rings = m[Path.RING], p[P.END], p[P.WINDOW], inorder.rings_of(p, s)
    single = simple or hops.hops_of(m, MAIN, FORTH) == 1
    size, ack_size, delay = p[P.DATA] + p[P.HEADER], p[P.ACK], p[P.ACK_DELAY] - p[P.TICK]
    forth, back = server_of(m, FORTH, size), server_of(m, BACK, ack_size)
    going, coming = line_of(m, forth.at), line_of(m, back.at)
    silence, longest = receiver.silence(s), s[Tcp.MOST_JIFFIES] * s[Tcp.TICK_US]
    margin = min(clocks.us_of(p[P.MIN_RTO]), timer.MARGIN_US)
    first, una, last, waiting = s[Tcp.NXT], s[Tcp.UNA], s[Tcp.LAST], np.int64(NONE)
    nxt, left, large, queued = first, np.int64(SETTLED), s[Tcp.LARGE] != 0, np.int64(0)
    consumed = s[Tcp.CONSUMED]
    source, sink = inorder.Source(una, s[Tcp.LEAST_RTT], rtt.estimate_of(s)), inorder.sink_of(s)
    pairs = single and p[P.ACK_EVERY] > 1 and forth.time < min(silence, delay) and forth.limit != 1
    horizon, before, far_apart, undisturbed = min(m[Path.WATCH], end), first, False, True
    while undisturbed:
        plain, fate, t, packet = True, np.int64(ARRIVED), now, np.int64(NONE)
        while plain:
            if left < 0:
                at = numbered(ring, rings.mask, ENTRY, head)
                arrival, ack_id = m[at], m[at + 1]
                at = inorder.ack_in(rings, ack_id)
                ack = s[at + Ack.NEXT]
                plain = head < tail and arrival < alarm and arrival <= s[Tcp.DEADLINE] and ack > source.una
                plain = plain and arrival <= sink.pending and arrival <= s[Tcp.MERGED_UNTIL]
                plain = plain and s[at + Ack.COUNT] == 0 and s[at + Ack.DUPLICATE] == NONE
                if plain and not is_early(s, rings, source, now, margin, longest, arrival):
                    plain = arrival <= deadline_of(p, s, now, nxt == before)
                if plain:
                    far_apart = arrival - now > APART
                    now, consumed, head, left, before = arrival, ack_id + 1, head + 1, np.int64(0), nxt
                    s[Tcp.DEADLINE] = FOREVER
                    source = inorder.take(p, s, rings, source, nxt, now, ack)
            room = np.int64(0)
            if left == 0:
                s[Tcp.NXT] = nxt
                flight, cwnd = nxt - source.una, s[Tcp.CWND]
                room = min(cwnd - flight, window - flight)
                plenty = cwnd >= 2 * burst.LEAST and nxt < last
                if 0 < room <= burst.LEAST and far_apart and nxt == before and plenty:
                    left = room
                elif room > 0:
                    left = burst.fitting(p, s, now, room)
                large = left > 1
                if left == 0:  # what has room is put off
                    sender.note_limit(s, nxt > before, flight >= cwnd or 0 < room == cwnd - flight)
                    left = np.int64(SETTLED)
            # A pair of which the second packet alone is acknowledged; the same as one by one below.
            if pairs and left == 2 and sink.nxt == nxt and sink.told == nxt and sink.quick == 0:
                landing = max(now, going.free) + 2 * forth.time + forth.delay
                both = nxt + 1 < last and going.gap > 1 and pass_both(m, forth, going, now)
                both = both and landing <= horizon and landing - forth.time - sink.last <= silence
                both = both and coming.gap > 0 and sink.next_ack - consumed < rings.mask
                if both and passes(m, back, coming, landing):
                    inorder.put_out(s, rings, nxt, now, False)
                    inorder.put_out(s, rings, nxt + 1, now, True)
                    going = passed(m, forth, passed(m, forth, going, now), now)
                    if QUEUES:
                        queued += 2 * (going.free - now) - forth.time
                    nxt, left, ack_id = nxt + 2, np.int64(0), sink.next_ack
                    sink = inorder.take_pair(s, rings, sink, landing, now)
                    coming = passed(m, back, coming, landing)
                    arrived, arrival = np.int64(ARRIVED), coming.free + back.delay
                    tail = enter(p, m, out, ring, rings.mask, ack_id, arrived, arrival, tail)
                    if room == 2:  # no more goes out
                        s[Tcp.NXT] = nxt
                        sender.note_limit(s, True, nxt - source.una >= s[Tcp.CWND])
                        left = np.int64(SETTLED)
            while plain and left > 0:
                plain = nxt < last and going.gap > 0 and passes(m, forth, going, now)
                if plain:
                    packet, left = nxt, left - 1
                    nxt, push = nxt + 1, large and left == 0
                    inorder.put_out(s, rings, packet, now, push)
                    going = passed(m, forth, going, now)
                    t = going.free + forth.delay
                    if QUEUES:
                        queued += min(going.free, end) - now
                    if not single:
                        fate, t = behind(p, outages, losses, m, FORTH, t, size)
                        if fate != ARRIVED and t <= end:
                            out[Out.DROPS_QUEUE - FULL_QUEUE + fate] += 1
                    plain = fate == ARRIVED and t <= horizon and sink.nxt == packet and t < sink.pending
                    plain = plain and t - sink.last <= silence
                    at_once = inorder.answers(p, sink, push)
                    if plain and at_once:
                        plain = coming.gap > 0 and sink.next_ack - consumed < rings.mask
                        plain = plain and passes(m, back, coming, t)
                    if plain:
                        packet, ack_id = np.int64(NONE), sink.next_ack
                        sink = inorder.take_in(s, rings, sink, t, now, at_once)
                        if at_once:
                            waiting = np.int64(NONE)
                            coming = passed(m, back, coming, t)
                            t = coming.free + back.delay
                            if not single:
                                fate, t = behind(p, outages, losses, m, BACK, t, ack_size)
                            tail = enter(p, m, out, ring, rings.mask, ack_id, fate, t, tail)
                        elif sink.pending == FOREVER:
                            waiting = t
                            sink = inorder.postpone(sink, t + delay)
        if packet == NONE and left > 0:
            undisturbed = nxt < last
            if undisturbed:
                packet, left = nxt, left - 1
                nxt += 1
                inorder.put_out(s, rings, packet, now, large and left == 0)
                keep(m, forth.at, going)
                fate, t, _ = engine.put_on_path(p, outages, losses, m, out, now, packet, True, size)
                going = line_of(m, forth.at)
        elif packet == NONE:
            arrival = engine.arrival_of(m, ring, rings.mask, head, tail)
            late = min(sink.pending, s[Tcp.MERGED_UNTIL])
            undisturbed = late < arrival
            if waiting != NONE:
                sink, waiting = inorder.postponed(p, s, sink, waiting), np.int64(NONE)
            elif undisturbed:
                undisturbed = late <= min(deadline_of(p, s, now, nxt == before), end)
                if undisturbed:
                    keep(m, back.at, coming)
                    keep_sink(m, s, sink, consumed)
                    tail = engine.acknowledge_late(p, outages, losses, m, s, out, tail)
                    coming, sink = line_of(m, back.at), inorder.sink_of(s)
                    undisturbed = m[Path.FULL] == 0
        if packet != NONE and fate == ARRIVED and t <= end:
            sink, waiting = inorder.postponed(p, s, sink, waiting), np.int64(NONE)
            keep(m, back.at, coming)
            keep_sink(m, s, sink, consumed)
            tail = engine.receive(p, outages, losses, m, s, out, t, packet, now, tail)
            coming, sink, horizon = line_of(m, back.at), inorder.sink_of(s), min(m[Path.WATCH], end)
            undisturbed = m[Path.FULL] == 0
    keep(m, forth.at, going)
    keep(m, back.at, coming)
    keep_sink(m, s, inorder.postponed(p, s, sink, waiting), consumed)
    inorder.learn(p, s, now, source, una)
    if QUEUES:
        add(m, forth.at + Word.HELD, forth.at + Word.HELD_HIGH, queued)
    leave(p, s, una, now, first, nxt, left, large, nxt == before)
    return now, head, tail, np.int64(NONE), now
