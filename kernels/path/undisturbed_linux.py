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
from netcarlo.kernels.linux.state import FIRST, NONE, Ack, Flag, Packet, Send, State, Tcp, Timer, ack_at, packet_at
from netcarlo.kernels.path import hops
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
    """All that was sent has been received, in order, and the sender has taken in its latest event."""
    una, nxt = s[Tcp.UNA], s[Tcp.NXT]
    in_order = s[Tcp.RCV_NXT] == nxt and s[Tcp.HELD] == 0 and s[Tcp.DUPLICATE] == NONE
    settled = s[Tcp.PUSH] == 0 and s[Tcp.FORCED] == NONE and s[Tcp.SEND] == Send.NEW
    normal = s[Tcp.STATE] == State.OPEN and s[Tcp.PROBED] == NONE
    known = s[Tcp.HIGHEST] <= una and s[Tcp.AGAIN_END] <= una and s[Tcp.SACKED] + s[Tcp.LOST] == 0
    awake = s[Tcp.LAST_RX] != NONE and (s[Tcp.RCV_RTT] > 0 or s[Tcp.SYN_AT] == NONE)
    return in_order and settled and normal and known and awake and FIRST < una < nxt <= s[Tcp.LAST]


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


def open_burst(p: Any, s: Any) -> Any:
    """So many packets leave as one now."""
    packets = burst.next_burst(p, s)
    s[Tcp.LARGE] = 1 if packets > 1 else 0
    return packets


def settle(p: Any, s: Any, now: Any, pushed: Any) -> Any:
    """Nothing more goes out now; returns how long until the probe that is due then [us], at most."""
    s[Tcp.PUSHED] = pushed
    sender.note_limit(s)
    s[Tcp.PUSHED] = 0
    return timer.until_probe(p, s, now, pushed == 0)


def go(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, alarm: Any, simple: Any,
) -> Any:  # fmt: skip
    """As `undisturbed.go`."""
    ring, mask, end = m[Path.RING], p[P.RING] - 1, p[P.END]
    horizon, single = min(m[Path.WATCH], end), simple or hops.hops_of(m, MAIN, FORTH) == 1
    size, ack_size, every, delay = p[P.DATA] + p[P.HEADER], p[P.ACK], p[P.ACK_EVERY], p[P.ACK_DELAY] - p[P.TICK]
    forth, back = server_of(m, FORTH, size), server_of(m, BACK, ack_size)
    going, coming = line_of(m, forth.at), line_of(m, back.at)
    silence, longest = receiver.silence(s), s[Tcp.MOST_JIFFIES] * s[Tcp.TICK_US]
    deadline, armed, wait = s[Tcp.DEADLINE], np.int64(NONE), np.int64(0)
    pending, held_back = s[Tcp.PENDING], np.int64(NONE)
    nxt, first, last_rx, wup, echo = s[Tcp.NXT], s[Tcp.NXT], s[Tcp.LAST_RX], s[Tcp.RCV_WUP], s[Tcp.ECHO]
    next_ack, consumed, quick = s[Tcp.NEXT_ACK], s[Tcp.CONSUMED], s[Tcp.QUICK]
    left, pushed, taken = np.int64(0), np.int64(0), np.int64(0)
    now_us, t, on_the_way, missing, queued = clocks.us_of(now), now, np.int64(NONE), np.int64(0), np.int64(0)
    undisturbed = True
    while undisturbed:
        if left == 0:
            at = ring + ENTRY * (head & mask)
            arrival, ack_id = m[at], m[at + 1]
            at = ack_at(p, s, ack_id)
            ack = s[at + Ack.NEXT]
            undisturbed = head < tail and arrival <= min(deadline, pending) and arrival < alarm
            undisturbed = undisturbed and ack > s[Tcp.UNA] and s[at + Ack.COUNT] == 0
            undisturbed = undisturbed and s[at + Ack.DUPLICATE] == NONE
            if undisturbed:
                now = arrival
                now_us = clocks.us_of(now)
                head += 1
                consumed = ack_id + 1
                taken = np.int64(1)
                take(p, s, now, ack)
                left = open_burst(p, s)
                if left == 0:
                    armed, wait, taken = now, settle(p, s, now, np.int64(0)), np.int64(0)
                    deadline = now + min(wait, longest) * clocks.US
        if undisturbed and left > 0:
            undisturbed = going.gap > 0 and nxt < s[Tcp.LAST] and next_ack - consumed < mask
            undisturbed = undisturbed and passes(m, forth, going, now)
            if undisturbed:
                packet = nxt
                nxt += 1
                left -= 1
                s[Tcp.NXT] = nxt
                at = packet_at(p, s, packet)
                s[at + Packet.SENT] = now_us
                push = s[Tcp.LARGE] != 0 and left == 0
                s[at + Packet.FLAGS] = Flag.PUSH if push else 0
                pushed = np.int64(1)
                going = passed(m, forth, going, now)
                if QUEUES:
                    queued += min(going.free, end) - now
                fate, t = np.int64(ARRIVED), going.free + forth.delay
                if not single:
                    fate, t = behind(p, outages, losses, m, FORTH, t, size)
                undisturbed = fate == ARRIVED and t <= horizon and t < pending and t - last_rx <= silence
                undisturbed = undisturbed and coming.gap > 0 and passes(m, back, coming, t)
                if not undisturbed:
                    missing = np.int64(1)
                    if fate == ARRIVED:
                        on_the_way = packet
                    elif t <= end:
                        out[Out.DROPS_QUEUE - FULL_QUEUE + fate] += 1
                else:
                    last_rx = t
                    if packet == wup:
                        echo = max(echo, now)
                    if quick > 0 or nxt - wup >= every or push:
                        quick = max(quick - 1, 0)
                        wup = nxt
                        pending = np.int64(FOREVER)
                        held_back = np.int64(NONE)
                        receiver.write(p, s, next_ack, nxt, echo)
                        coming = passed(m, back, coming, t)
                        t = coming.free + back.delay
                        if not single:
                            fate, t = behind(p, outages, losses, m, BACK, t, ack_size)
                        if fate == ARRIVED:
                            at = ring + ENTRY * (tail & mask)
                            m[at] = t
                            m[at + 1] = next_ack
                            tail += 1
                        elif t <= end:
                            out[Out.ACK_DROPS] += 1
                        next_ack += 1
                    elif pending == FOREVER:
                        held_back = t
                        pending = t + delay
                if left == 0:
                    left = open_burst(p, s)
                    if left == 0:
                        armed, wait = now, settle(p, s, now, pushed)
                        deadline = now + min(wait, longest) * clocks.US
                        pushed, taken = np.int64(0), np.int64(0)
    keep(m, forth.at, going)
    keep(m, back.at, coming)
    if QUEUES:
        add(m, forth.at + Word.HELD, forth.at + Word.HELD_HIGH, queued)
    s[Tcp.SENT] += nxt - first
    s[Tcp.BURST] = left
    s[Tcp.PUSH], s[Tcp.PUSHED], s[Tcp.RESTART] = (1, pushed, taken) if left > 0 else (0, 0, 0)
    if armed != NONE:
        timer.set_timer(p, s, armed, Timer.PROBE, clocks.to_jiffies(s, wait))
    if nxt - missing > first:
        m[Path.LAST_RX] = last_rx
    s[Tcp.RCV_NXT], s[Tcp.RCV_HIGHEST], s[Tcp.RCV_WUP] = nxt - missing, nxt - missing - 1, wup
    s[Tcp.LAST_RX], s[Tcp.ECHO], s[Tcp.QUICK] = last_rx, echo, quick
    s[Tcp.NEXT_ACK], s[Tcp.CONSUMED] = next_ack, consumed
    s[Tcp.PENDING] = pending
    if held_back != NONE:
        s[Tcp.PENDING] = receiver.delayed(p, s, held_back)
    return now, head, tail, on_the_way, t
