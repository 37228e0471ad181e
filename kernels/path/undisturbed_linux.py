"""A stretch of a transfer of today's Linux that nothing disturbs: see `undisturbed`.

What an ACK of new data does, and the bursts that it lets out, is done by the sender's own functions; left out
is what would find nothing (a loss, a block, a packet sent again).  Timers are not set: it is enough to know
before which time they do not go off, and one that is still running at the end is set then.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, Out, P
from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.linux import clocks, fast_path, first_sent, receiver, rtt, timer, tso
from netcarlo.kernels.linux.state import FIRST, FULL, NONE, Ack, CaState, Rexmit, Tcp
from netcarlo.kernels.path import engine, hops
from netcarlo.kernels.path.hops import ARRIVED, BACK, FORTH, FULL_QUEUE, MAIN, Word
from netcarlo.kernels.path.state import ENTRY, Path
from netcarlo.kernels.path.undisturbed import (
    behind,
    is_full,
    is_worth_it,
    keep,
    line_of,
    passed,
    passes,
    server_of,
)

__all__ = ["go", "is_calm", "is_simple", "is_worth_it"]

QUEUES: Any = slot("queues")
DELAYS: Any = slot("delays")

APART = (tso.DEFER_US + 1) * clocks.US
"""When nothing has left for so long [ns] no burst is put off."""

SETTLED = -1
"""Packets left of a burst when it is known that none goes out before the next ACK."""


def is_simple(p: Any, m: Any) -> Any:
    """One hop."""
    return hops.hops_of(m, MAIN, FORTH) == 1


def is_calm(p: Any, s: Any) -> Any:
    """The sender misses nothing, has taken in its latest event, and will not run out of packets now."""
    una = s[Tcp.SND_UNA]
    settled = s[Tcp.TRY_SEND] == 0 and s[Tcp.FORCED] == NONE and s[Tcp.REXMIT] == Rexmit.NONE
    normal = (
        s[Tcp.CA_STATE] == CaState.OPEN
        and s[Tcp.TLP_HIGH_SEQ] == NONE
        and s[Tcp.SACKED_OUT] + s[Tcp.LOST_OUT] == 0
    )
    known = s[Tcp.HIGHEST_SACK] <= una and s[Tcp.RETRANS_END] <= una
    return normal and settled and known and FIRST < una < s[Tcp.SND_NXT] <= s[Tcp.LAST]


class Road(NamedTuple):
    """What of the path and of the receiver stays the same."""

    forth: Any
    back: Any
    """The first hop of each direction."""
    rings: Any
    ring: Any
    """Where the ring of ACKs on their way begins."""
    delay: Any
    """A delayed ACK goes out so long after a packet, or later [ns]."""
    silence: Any
    """After a longer one the receiver has quick ACKs again [ns]."""
    pair: Any
    odd: Any
    one: Any
    """Packets of bursts that `put_small` knows: two of which the second is acknowledged, two behind one that
    waits for its ACK, one that will wait; FULL where there is none."""


def road_of(p: Any, m: Any, s: Any, single: Any) -> Any:
    """They stay as they are; `single`: there is one hop."""
    forth = server_of(m, FORTH, p[P.DATA] + p[P.HEADER])
    back = server_of(m, BACK, p[P.ACK])
    delay, silence, none = p[P.ACK_DELAY] - p[P.TICK], receiver.receiver_rto(s), np.int64(FULL)
    small = single and p[P.ACK_EVERY] > 1 and forth.time < min(silence, delay) and forth.limit != 1
    odd = small and p[P.ACK_EVERY] == 2 and back.limit != 1
    return Road(
        forth, back, fast_path.rings_of(p, s), m[Path.RING], delay, silence, np.int64(2) if small else none,
        np.int64(2) if odd else none, np.int64(1) if small else none,
    )  # fmt: skip


class Flow(NamedTuple):
    """What packets and their ACKs change."""

    nxt: Any
    """The next new packet."""
    going: Any
    coming: Any
    """The first hop of each direction."""
    sink: Any
    waiting: Any
    """When a packet came whose ACK is delayed until a time that is not found yet [ns], or NONE."""
    tail: Any
    """Number of the next ACK on its way."""
    held: Any
    """Time that packets were held on the first hop [ns]."""


class Limits(NamedTuple):
    """Before which nothing can happen but what is plain."""

    until: Any
    """The latest arrival of an ACK [ns]."""
    quiet: Any
    """Packets land before [ns]."""
    bound: Any
    """Packets have smaller numbers: none is lost on the first hops, and there is room for their ACKs."""


def limits_of(m: Any, s: Any, road: Any, flow: Any, alarm: Any, horizon: Any, consumed: Any) -> Any:
    """They move on when they have been reached."""
    until, quiet = min(alarm - 1, s[Tcp.COMPRESSED_ACK_DEADLINE]), min(road.forth.quiet, horizon + 1)
    places = road.rings.mask - (flow.sink.next_ack_id - consumed)
    count = min(min(flow.going.gap, flow.coming.gap), min(places, s[Tcp.LAST] - flow.nxt))
    return Limits(until, quiet, flow.nxt + count)


def next_ack(m: Any, s: Any, road: Any, flow: Any, limits: Any, una: Any, head: Any) -> Any:
    """The next ACK: its arrival [ns] and id, the first packet that it misses, and whether it is plain."""
    at = numbered(road.ring, road.rings.mask, ENTRY, head)
    arrival, ack_id = m[at], m[at + 1]
    at = fast_path.ack_in_ring(road.rings, ack_id)
    ack = s[at + Ack.CUMULATIVE]
    plain = head < flow.tail and arrival <= limits.until and arrival <= s[Tcp.DEADLINE]
    plain = plain and ack > una and arrival <= flow.sink.ack_deadline
    return arrival, ack_id, ack, plain and s[at + Ack.NUM_SACKS] == 0 and s[at + Ack.DSACK] == NONE


class Patience(NamedTuple):
    """How long no timer goes off, as can be told without its time."""

    margin: Any
    """Beside the round trip [us],"""
    longest: Any
    """and at most [us]."""


def patience_of(p: Any, s: Any) -> Any:
    """It stays the same."""
    longest = s[Tcp.MAX_RTO_JIFFIES] * s[Tcp.JIFFY_US]
    return Patience(min(clocks.us_of(p[P.MIN_RTO]), timer.TIMER_SLACK_US), longest)


def is_in_time(
    p: Any, s: Any, patience: Any, source: Any, nxt: Any, since: Any, arrival: Any, waited: Any,
    advancing: Any,
) -> Any:  # fmt: skip
    """Whether no timer goes off before an ACK that comes at `arrival` [ns], as `deadline_of` says.

    `waited`: the time since the first packet that is out [us].
    """
    if waited < source.rto_us:
        wait = (source.estimate.srtt_us >> np.int64(2)) + patience.margin
        if arrival - since <= min(wait, patience.longest) * clocks.US:
            return True
    fast_path.store_for_control(s, source, nxt)
    return arrival <= deadline_of(p, s, since, advancing)


def enter(p: Any, m: Any, out: Any, road: Any, ack_id: Any, fate: Any, t: Any, tail: Any) -> Any:
    """An ACK with this fate at time t [ns] enters the ring if it arrives; returns the ring's new end."""
    if fate == ARRIVED:
        at = numbered(road.ring, road.rings.mask, ENTRY, tail)
        m[at] = t
        m[at + 1] = ack_id
        tail += 1
    elif t <= p[P.END]:
        out[Out.ACK_DROPS] += 1
    return tail


def keep_sink(m: Any, s: Any, sink: Any, consumed: Any) -> None:
    """The receiver as it is now, and which ACKs the sender has taken."""
    s[Tcp.ACKS_CONSUMED] = consumed
    m[Path.LAST_RX] = max(m[Path.LAST_RX], sink.lrcvtime)
    fast_path.store_receiver(s, sink)


def is_due_later(s: Any, rings: Any, source: Any, now_us: Any) -> Any:
    """Whether the next ACK is not due so soon that a burst might be put off."""
    due_us = fast_path.send_time(s, rings, source.snd_una) + (source.estimate.srtt_us >> np.int64(3))
    return due_us - now_us > min(source.estimate.srtt_us >> np.int64(4), tso.DEFER_US)


def note_limit(s: Any, una: Any, nxt: Any, pushed: Any, put_off: Any) -> None:
    """As `sender.note_limit`, where nothing more goes out: it may be that a burst is put off."""
    out = nxt - una
    if put_off or out >= s[Tcp.CWND]:
        s[Tcp.IS_CWND_LIMITED] = 1
        s[Tcp.MAX_PACKETS_OUT], s[Tcp.CWND_USAGE_SEQ] = out, nxt
    elif pushed and (
        una >= s[Tcp.CWND_USAGE_SEQ] or (s[Tcp.IS_CWND_LIMITED] == 0 and out > s[Tcp.MAX_PACKETS_OUT])
    ):
        s[Tcp.IS_CWND_LIMITED] = 0
        s[Tcp.MAX_PACKETS_OUT], s[Tcp.CWND_USAGE_SEQ] = out, nxt


@noinline
def deadline_of(p: Any, s: Any, since: Any, advancing: Any) -> Any:
    """Before this time [ns] no timer goes off: neither that which runs, nor one set at `since`."""
    if s[Tcp.DEADLINE] < FOREVER:
        return s[Tcp.DEADLINE]
    longest = s[Tcp.MAX_RTO_JIFFIES] * s[Tcp.JIFFY_US]
    return since + min(timer.probe_timeout(p, s, since, advancing), longest) * clocks.US


@noinline
def leave(
    p: Any, s: Any, una: Any, now: Any, first: Any, nxt: Any, left: Any, large: Any, advancing: Any
) -> None:
    """The stretch, in which packets from `first` on went out, ends with so many of a burst left.

    If there is none, timers run since the last ACK, at `now`, unless UNA is what it was.
    """
    s[Tcp.SND_NXT] = nxt
    s[Tcp.SENT] += nxt - first
    s[Tcp.LARGE_BURST] = 1 if large and left > 0 else 0
    going_on = np.int64(1 if left > 0 else 0)
    s[Tcp.BURST_LEFT] = left if left > 0 else 0
    s[Tcp.TRY_SEND] = s[Tcp.NEW_SENT] = s[Tcp.RESTART_TIMER] = going_on
    if left < 0 and s[Tcp.SND_UNA] > una:
        timer.schedule_loss_probe(p, s, now, advancing)


def has_room_for_two(m: Any, server: Any, line: Any, t: Any) -> Any:
    """Whether the queue, which is not one of a single packet, has room for two that come at time t [ns]."""
    place = line.slot + 1 if line.slot + 1 < server.limit else np.int64(0)
    return not (server.limit > 0 and hops.is_held(m[server.ring + place], t))


def both_pass(m: Any, server: Any, line: Any, t: Any, later: Any) -> Any:
    """As `passes`, for two packets of which the other comes later."""
    free = max(max(t, line.free) + server.time, later)
    return has_room_for_two(m, server, line, t) and free + server.time + server.delay < server.quiet


def put_out(p: Any, s: Any, road: Any, packet: Any, now: Any, now_us: Any, push: Any) -> None:
    """A new packet goes out."""
    fast_path.send(s, road.rings, packet, now_us, push)
    if DELAYS:
        first_sent.note_first_sent(p, s, packet, now)


def land(p: Any, m: Any, now: Any, t: Any) -> None:
    """What went out at `now` is received at time t [ns]."""
    if DELAYS:
        engine.took(p, m, t - now)


def put_two(p: Any, m: Any, s: Any, road: Any, flow: Any, now: Any, now_us: Any) -> Any:
    """Two packets go out as one burst; returns the first hop behind them, and how long it holds them [ns]."""
    put_out(p, s, road, flow.nxt, now, now_us, False)
    put_out(p, s, road, flow.nxt + 1, now, now_us, True)
    going = passed(m, road.forth, passed(m, road.forth, flow.going, now), now)
    held = 2 * (going.free - now) - road.forth.time if QUEUES else np.int64(0)
    return going, held


def put_small(
    p: Any, m: Any, s: Any, out: Any, road: Any, limits: Any, flow: Any, now: Any, now_us: Any, count: Any
) -> Any:
    """A burst of one packet or two goes out at `now`, arrives and is acknowledged as most of them are.

    If it does not, nothing is changed; what happens is the same as packet by packet in `go`.
    """
    rings, forth, back, sink = road.rings, road.forth, road.back, flow.sink
    nxt, tail, going, coming = flow.nxt, flow.tail, flow.going, flow.coming
    landing = max(now, going.free) + forth.time + forth.delay
    ready = sink.quick_acks == 0 and sink.rcv_nxt == nxt and nxt + count <= limits.bound
    ready = ready and landing < limits.quiet - forth.time and landing - sink.lrcvtime <= road.silence
    if ready and count == road.pair and sink.rcv_wup == nxt:
        landing += forth.time
        if has_room_for_two(m, forth, going, now) and passes(m, back, coming, landing):
            going, held = put_two(p, m, s, road, flow, now, now_us)
            coming = passed(m, back, coming, landing)
            arrival = coming.free + back.delay
            tail = enter(p, m, out, road, sink.next_ack_id, np.int64(ARRIVED), arrival, tail)
            land(p, m, now, landing - forth.time)
            land(p, m, now, landing)
            sink = fast_path.receive_pair(s, rings, sink, landing, now)
            flow = Flow(nxt + 2, going, coming, sink, flow.waiting, tail, flow.held + held)
    elif ready and count == road.one and sink.rcv_wup == nxt:
        if not is_full(m, forth, going, now):
            put_out(p, s, road, nxt, now, now_us, False)
            going = passed(m, forth, going, now)
            held = going.free - now if QUEUES else np.int64(0)
            land(p, m, now, landing)
            sink = fast_path.receive(s, rings, sink, landing, now, False)
            sink = fast_path.delay_ack(sink, landing + road.delay)
            flow = Flow(nxt + 1, going, coming, sink, landing, tail, flow.held + held)
    elif ready and count == road.odd and sink.rcv_wup == nxt - 1 and landing < sink.ack_deadline:
        fits = has_room_for_two(m, forth, going, now)
        if fits and both_pass(m, back, coming, landing, landing + forth.time):
            going, held = put_two(p, m, s, road, flow, now, now_us)
            for _ in range(2):
                coming = passed(m, back, coming, landing)
                arrival = coming.free + back.delay
                tail = enter(p, m, out, road, sink.next_ack_id, np.int64(ARRIVED), arrival, tail)
                land(p, m, now, landing)
                sink = fast_path.receive(s, rings, sink, landing, now, True)
                landing += forth.time
            flow = Flow(nxt + 2, going, coming, sink, np.int64(NONE), tail, flow.held + held)
    return flow


def put_one(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, road: Any, flow: Any, now: Any, now_us: Any,
    push: Any, horizon: Any, single: Any,
) -> Any:  # fmt: skip
    """A packet goes out at `now`, which the first hop lets pass.

    Returns the flow, whether all went on as it mostly does, and if not the packet's fate and when that
    happened [ns].
    """
    nxt, going, coming, sink, waiting, tail, held = flow
    put_out(p, s, road, nxt, now, now_us, push)
    going = passed(m, road.forth, going, now)
    fate, t = np.int64(ARRIVED), going.free + road.forth.delay
    if QUEUES:
        held += min(going.free, p[P.END]) - now
    if not single:
        fate, t = behind(p, outages, losses, m, FORTH, t, p[P.DATA] + p[P.HEADER])
        if fate != ARRIVED and t <= p[P.END]:
            out[Out.DROPS_QUEUE - FULL_QUEUE + fate] += 1
    plain = fate == ARRIVED and t <= horizon and sink.rcv_nxt == nxt and t < sink.ack_deadline
    plain = plain and t - sink.lrcvtime <= road.silence
    at_once = fast_path.acks_at_once(p, sink, push)
    if plain and at_once:
        plain = passes(m, road.back, coming, t)
    if plain:
        ack_id = sink.next_ack_id
        land(p, m, now, t)
        sink = fast_path.receive(s, road.rings, sink, t, now, at_once)
        if at_once:
            waiting = np.int64(NONE)
            coming = passed(m, road.back, coming, t)
            t = coming.free + road.back.delay
            if not single:
                fate, t = behind(p, outages, losses, m, BACK, t, p[P.ACK])
            tail = enter(p, m, out, road, ack_id, fate, t, tail)
        elif sink.ack_deadline == FOREVER:
            waiting = t
            sink = fast_path.delay_ack(sink, t + road.delay)
    return Flow(nxt + 1, going, coming, sink, waiting, tail, held), plain, fate, t


def go(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, alarm: Any, simple: Any,
) -> Any:  # fmt: skip
    """As `undisturbed.go`; what befalls a packet does not end it, but an ACK that tells of that does.

    The inner loops take what is plain: an ACK, the burst that it lets out, which is mostly a pair, and what
    the receiver does of it.  The outer one takes the rest: what is lost, finds a queue full, comes out of
    order, or is acknowledged late; and samples.
    """
    end, window, single = p[P.END], p[P.WINDOW], simple or hops.hops_of(m, MAIN, FORTH) == 1
    road, patience = road_of(p, m, s, single), patience_of(p, s)
    forth, back, rings = road.forth, road.back, road.rings
    first, una, last = s[Tcp.SND_NXT], s[Tcp.SND_UNA], s[Tcp.LAST]
    source, sink = fast_path.load_sender(s), fast_path.load_receiver(s)
    going, coming = line_of(m, forth.at), line_of(m, back.at)
    flow = Flow(first, going, coming, sink, np.int64(NONE), tail, np.int64(0))
    left, large, allowed, before = np.int64(SETTLED), s[Tcp.LARGE_BURST] != 0, first, first
    consumed, now_us = s[Tcp.ACKS_CONSUMED], clocks.us_of(now)
    horizon, undisturbed = min(m[Path.WATCH], end), True
    while undisturbed:
        plain, fate, t, packet = True, np.int64(ARRIVED), now, np.int64(NONE)
        limits = limits_of(m, s, road, flow, alarm, horizon, consumed)
        while plain:
            while plain and left < 0:
                arrival, ack_id, ack, plain = next_ack(m, s, road, flow, limits, source.snd_una, head)
                now_us = clocks.us_of(arrival)
                waited = now_us - fast_path.send_time(s, rings, source.snd_una)
                plain = plain and is_in_time(
                    p, s, patience, source, flow.nxt, now, arrival, waited, flow.nxt == before
                )
                if plain:
                    far_apart = arrival - now > APART
                    now, consumed, head, before = arrival, ack_id + 1, head + 1, flow.nxt
                    s[Tcp.DEADLINE] = FOREVER
                    source = fast_path.process_ack(p, s, rings, source, before, now, now_us, waited, ack)
                    cwnd = s[Tcp.CWND]
                    allowed, left = ack + min(cwnd, window), np.int64(0)
                    room = allowed - before
                    small = 0 < room <= tso.MIN_TSO_SEGS and cwnd >= 2 * tso.MIN_TSO_SEGS and before < last
                    if small and (far_apart or is_due_later(s, rings, source, now_us)):  # it is not put off
                        left, large = room, room > 1
                        flow = put_small(p, m, s, out, road, limits, flow, now, now_us, room)
                        if flow.nxt > before:
                            note_limit(s, ack, flow.nxt, True, False)
                            left = np.int64(SETTLED)
            put_off = False
            if left == 0:
                if flow.nxt < allowed:
                    fast_path.store_for_control(s, source, flow.nxt)
                    left = tso.burst_within(p, s, now, allowed - flow.nxt)
                large = left > 1
                put_off = left == 0
            while plain and left > 0:
                plain = flow.nxt < limits.bound and passes(m, forth, flow.going, now)
                if plain:
                    packet, left = flow.nxt, left - 1
                    flow, plain, fate, t = put_one(
                        p, outages, losses, m, s, out, road, flow, now, now_us, large and left == 0, horizon,
                        single,
                    )  # fmt: skip
                    if plain:
                        packet = np.int64(NONE)
            if plain and left == 0 and (put_off or flow.nxt >= allowed):
                put_off = flow.nxt < allowed and s[Tcp.CWND] <= window
                note_limit(s, source.snd_una, flow.nxt, flow.nxt > before, put_off)
                left = np.int64(SETTLED)
        nxt, going, coming, sink, waiting, tail, held = flow
        if packet == NONE and left > 0:
            undisturbed = nxt < last
            if undisturbed:
                packet, left = nxt, left - 1
                nxt += 1
                put_out(p, s, road, packet, now, now_us, large and left == 0)
                keep(m, forth.at, going)
                size = p[P.DATA] + p[P.HEADER]
                fate, t, _ = engine.put_on_path(p, outages, losses, m, out, now, packet, True, size)
                going = line_of(m, forth.at)
        elif packet == NONE:
            arrival = engine.arrival_of(m, road.ring, rings.mask, head, tail)
            late = min(sink.ack_deadline, s[Tcp.COMPRESSED_ACK_DEADLINE])
            undisturbed = late < arrival
            fast_path.store_for_control(s, source, nxt)
            if waiting != NONE:
                sink, waiting = fast_path.with_delayed_ack(p, s, sink, waiting), np.int64(NONE)
            elif undisturbed:
                undisturbed = late <= min(deadline_of(p, s, now, nxt == before), end)
                if undisturbed:
                    keep(m, back.at, coming)
                    keep_sink(m, s, sink, consumed)
                    tail = engine.acknowledge_late(p, outages, losses, m, s, out, tail)
                    coming, sink = line_of(m, back.at), fast_path.load_receiver(s)
                    undisturbed = m[Path.FULL] == 0
            elif alarm <= arrival <= min(deadline_of(p, s, now, nxt == before), end):
                s[Tcp.SRTT_NS] = rtt.srtt_ns(source.estimate)
                engine.sample(p, m, s, g, arrival)
                alarm, undisturbed = min(m[Path.SAMPLE], end + 1), True
        if packet != NONE and fate == ARRIVED and t <= end:
            sink, waiting = fast_path.with_delayed_ack(p, s, sink, waiting), np.int64(NONE)
            keep(m, back.at, coming)
            keep_sink(m, s, sink, consumed)
            tail = engine.receive(p, outages, losses, m, s, out, t, packet, now, tail)
            coming, sink, horizon = line_of(m, back.at), fast_path.load_receiver(s), min(m[Path.WATCH], end)
            undisturbed = m[Path.FULL] == 0
        flow = Flow(nxt, going, coming, sink, waiting, tail, held)
    keep(m, forth.at, flow.going)
    keep(m, back.at, flow.coming)
    keep_sink(m, s, fast_path.with_delayed_ack(p, s, flow.sink, flow.waiting), consumed)
    fast_path.store_sender(p, s, now, source, una, flow.nxt)
    if QUEUES:
        add(m, forth.at + Word.HELD, forth.at + Word.HELD_HIGH, flow.held)
    leave(p, s, una, now, first, flow.nxt, left, large, flow.nxt == before)
    return now, head, flow.tail, np.int64(NONE), now
