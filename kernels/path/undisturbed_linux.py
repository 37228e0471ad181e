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
from netcarlo.kernels.linux import acks, burst, clocks, rack, receiver, rtt, sender, timer
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

control: Any = slot("control")


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


def take(p: Any, s: Any, now: Any, ack: Any) -> None:
    """An ACK of packets that were sent once, and all that the sender learns of it."""
    una, now_us = s[Tcp.UNA], clocks.us_of(now)
    first, last = s[packet_at(p, s, una) + Packet.SENT], s[packet_at(p, s, ack - 1) + Packet.SENT]
    rack.advance(s, ack - 1, last, False, now_us, np.int64(NONE))
    s[Tcp.RETRIES] = 0
    s[Tcp.DELIVERED] += ack - una
    s[Tcp.UNA] = s[Tcp.HIGHEST] = ack
    control.measured(p, s, now, rtt.measure(p, s, now, np.int64(0), True, first, last))
    if acks.is_limited(s):
        acks.grow(p, s, now, ack - una)


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


def take_in(p: Any, s: Any, t: Any, packet: Any, sent: Any, push: Any) -> Any:
    """The next packet in order, put out at `sent`, reaches the receiver at time t [ns].

    Returns whether it is acknowledged at once; if not, when an ACK goes out is left to `delayed`.
    """
    nxt = packet + 1
    s[Tcp.LAST_RX] = t
    s[Tcp.RCV_HIGHEST] = packet
    s[Tcp.RCV_NXT] = nxt
    if packet == s[Tcp.RCV_WUP]:
        s[Tcp.ECHO] = max(s[Tcp.ECHO], sent)
    if not (push or s[Tcp.QUICK] > 0 or nxt - s[Tcp.RCV_WUP] >= p[P.ACK_EVERY]):
        return False
    receiver.write(p, s, s[Tcp.NEXT_ACK], nxt, s[Tcp.ECHO])
    s[Tcp.NEXT_ACK] += 1
    s[Tcp.QUICK] = max(s[Tcp.QUICK] - 1, 0)
    s[Tcp.RCV_WUP] = nxt
    s[Tcp.PENDING] = FOREVER
    return True


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


def leave(s: Any, first: Any, left: Any, pushed: Any, taken: Any) -> None:
    """The stretch, in which packets from `first` on went out, ends with so many of a burst left."""
    s[Tcp.SENT] += s[Tcp.NXT] - first
    s[Tcp.BURST] = left
    s[Tcp.PUSH], s[Tcp.PUSHED], s[Tcp.RESTART] = (1, pushed, taken) if left > 0 else (0, 0, 0)


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
    first, left, pushed, taken, queued = s[Tcp.NXT], np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    undisturbed = True
    while undisturbed:
        if left == 0:
            at = ring + ENTRY * (head & mask)
            arrival, ack_id = m[at] if head < tail else np.int64(FOREVER), m[at + 1]
            at = ack_at(p, s, ack_id)
            ack, late = s[at + Ack.NEXT], receiver.due_at_sink(s)
            undisturbed = arrival <= deadline and arrival < alarm and ack > s[Tcp.UNA]
            undisturbed = undisturbed and s[at + Ack.COUNT] == 0 and s[at + Ack.DUPLICATE] == NONE
            if late < arrival and waiting != NONE:
                s[Tcp.PENDING], waiting, undisturbed = receiver.delayed(p, s, waiting), np.int64(NONE), True
            elif late < arrival:
                undisturbed = late <= min(deadline, end)
                if undisturbed:
                    keep(m, back.at, coming)
                    tail = engine.acknowledge_late(p, outages, losses, m, s, out, tail)
                    coming = line_of(m, back.at)
                    undisturbed = m[Path.FULL] == 0
            elif undisturbed:
                now = arrival
                head += 1
                s[Tcp.CONSUMED] = ack_id + 1
                taken = np.int64(1)
                take(p, s, now, ack)
                left = open_burst(p, s, now)
                if left == 0:
                    armed, wait, taken = now, settle(p, s, now, np.int64(0)), np.int64(0)
                    deadline = now + min(wait, longest) * clocks.US
        elif s[Tcp.NXT] == s[Tcp.LAST]:
            undisturbed = False
        else:
            left -= 1
            pushed, fate, push = np.int64(1), np.int64(ARRIVED), s[Tcp.LARGE] != 0 and left == 0
            packet = put_out(p, s, now, push)
            if going.gap > 0 and passes(m, forth, going, now):
                going = passed(m, forth, going, now)
                t = going.free + forth.delay
                if QUEUES:
                    queued += min(going.free, end) - now
                if not single:
                    fate, t = behind(p, outages, losses, m, FORTH, t, size)
                    if fate != ARRIVED and t <= end:
                        out[Out.DROPS_QUEUE - FULL_QUEUE + fate] += 1
            else:
                keep(m, forth.at, going)
                fate, t, _ = engine.put_on_path(p, outages, losses, m, out, now, packet, True, size)
                going = line_of(m, forth.at)
            plain = s[Tcp.RCV_NXT] == packet and s[Tcp.HELD] == 0 and t < s[Tcp.PENDING]
            plain = plain and t - s[Tcp.LAST_RX] <= silence and s[Tcp.NEXT_ACK] - s[Tcp.CONSUMED] < mask
            plain = plain and t <= m[Path.WATCH] and coming.gap > 0 and passes(m, back, coming, t)
            if fate == ARRIVED and t <= end and plain:
                ack_id, m[Path.LAST_RX] = s[Tcp.NEXT_ACK], t
                if take_in(p, s, t, packet, now, push):
                    waiting = np.int64(NONE)
                    coming = passed(m, back, coming, t)
                    t = coming.free + back.delay
                    if not single:
                        fate, t = behind(p, outages, losses, m, BACK, t, ack_size)
                    tail = enter(p, m, out, ack_id, fate, t, tail)
                elif s[Tcp.PENDING] == FOREVER:
                    waiting = t
                    s[Tcp.PENDING] = t + delay
            elif fate == ARRIVED and t <= end:
                if waiting != NONE:
                    s[Tcp.PENDING] = receiver.delayed(p, s, waiting)
                    waiting = np.int64(NONE)
                keep(m, back.at, coming)
                tail = engine.receive(p, outages, losses, m, s, out, t, packet, now, tail)
                coming = line_of(m, back.at)
                undisturbed = m[Path.FULL] == 0
            if left == 0:
                left = open_burst(p, s, now)
                if left == 0:
                    armed, wait = now, settle(p, s, now, pushed)
                    deadline = now + min(wait, longest) * clocks.US
                    pushed, taken = np.int64(0), np.int64(0)
    keep(m, forth.at, going)
    keep(m, back.at, coming)
    if QUEUES:
        add(m, forth.at + Word.HELD, forth.at + Word.HELD_HIGH, queued)
    leave(s, first, left, pushed, taken)
    if armed != NONE:
        timer.set_timer(p, s, armed, Timer.PROBE, clocks.to_jiffies(s, wait))
    if waiting != NONE:
        s[Tcp.PENDING] = receiver.delayed(p, s, waiting)
    return now, head, tail, np.int64(NONE), now
