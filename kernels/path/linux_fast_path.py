"""A stretch of a transfer of today's Linux that nothing disturbs: see `steady`.

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
from netcarlo.kernels.path.fast_path import (
    can_enqueue,
    constants_of,
    enqueue,
    forward_rest,
    is_full,
    is_worthwhile,
    state_of,
    store,
)
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, MAIN, QUEUE_FULL, HopWord
from netcarlo.kernels.path.state import ENTRY, Path

__all__ = ["is_simple", "is_steady", "is_worthwhile", "run"]

QUEUES: Any = slot("queues")
DELAYS: Any = slot("delays")

IDLE = (tso.DEFER_US + 1) * clocks.US
"""When nothing has left for so long [ns] no burst is put off."""

NO_BURST = -1
"""Packets left of a burst when it is known that none goes out before the next ACK."""


def is_simple(p: Any, m: Any) -> Any:
    """One hop."""
    return hops.hop_count(m, MAIN, FORWARD) == 1


def is_steady(p: Any, s: Any) -> Any:
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


class Route(NamedTuple):
    """What of the path and of the receiver stays the same."""

    forward: Any
    backward: Any
    """The first hop of each direction."""
    rings: Any
    ring: Any
    """Where the ring of ACKs on their way begins."""
    delay: Any
    """A delayed ACK goes out so long after a packet, or later [ns]."""
    receiver_rto: Any
    """After a longer one the receiver has quick ACKs again [ns]."""
    pair: Any
    """2 if `send_small_burst` may send two packets of which the second is acknowledged at once, else FULL."""
    odd: Any
    """2 if `send_small_burst` may send two packets behind one whose ACK is delayed, else FULL."""
    one: Any
    """1 if `send_small_burst` may send one packet whose ACK is delayed, else FULL."""


def route_of(p: Any, m: Any, s: Any, single: Any) -> Any:
    """They stay as they are; `single`: there is one hop."""
    forward = constants_of(m, FORWARD, p[P.DATA] + p[P.HEADER])
    backward = constants_of(m, BACKWARD, p[P.ACK])
    delay, receiver_rto, none = p[P.ACK_DELAY] - p[P.TICK], receiver.receiver_rto(s), np.int64(FULL)
    small = single and p[P.ACK_EVERY] > 1 and forward.time < min(receiver_rto, delay) and forward.limit != 1
    odd = small and p[P.ACK_EVERY] == 2 and backward.limit != 1
    return Route(
        forward, backward, fast_path.rings_of(p, s), m[Path.ACK_RING], delay, receiver_rto,
        np.int64(2) if small else none, np.int64(2) if odd else none, np.int64(1) if small else none,
    )  # fmt: skip


class Flow(NamedTuple):
    """What packets and their ACKs change."""

    nxt: Any
    """The next new packet."""
    forward_hop: Any
    backward_hop: Any
    """The first hop of each direction."""
    receiving: Any
    waiting: Any
    """When a packet came whose ACK is delayed until a time that is not found yet [ns], or NONE."""
    tail: Any
    """Number of the next ACK on its way."""
    queue_time: Any
    """Time that packets were held on the first hop [ns]."""


class Limits(NamedTuple):
    """Before which nothing can happen but what is plain."""

    until: Any
    """The latest arrival of an ACK [ns]."""
    quiet: Any
    """Packets land before [ns]."""
    bound: Any
    """Packets have smaller numbers: none is lost on the first hops, and there is room for their ACKs."""


def limits_of(m: Any, s: Any, route: Any, flow: Any, next_sample: Any, horizon: Any, consumed: Any) -> Any:
    """They move on when they have been reached."""
    until, quiet = min(next_sample - 1, s[Tcp.COMPRESSED_ACK_DEADLINE]), min(route.forward.quiet, horizon + 1)
    places = route.rings.mask - (flow.receiving.next_ack_id - consumed)
    count = min(min(flow.forward_hop.gap, flow.backward_hop.gap), min(places, s[Tcp.LAST] - flow.nxt))
    return Limits(until, quiet, flow.nxt + count)


def next_ack(m: Any, s: Any, route: Any, flow: Any, limits: Any, una: Any, head: Any) -> Any:
    """The next ACK: its arrival [ns] and id, the first packet that it misses, and whether it is plain."""
    at = numbered(route.ring, route.rings.mask, ENTRY, head)
    arrival, ack_id = m[at], m[at + 1]
    at = fast_path.ack_in_ring(route.rings, ack_id)
    ack = s[at + Ack.CUMULATIVE]
    plain = head < flow.tail and arrival <= limits.until and arrival <= s[Tcp.DEADLINE]
    plain = plain and ack > una and arrival <= flow.receiving.ack_deadline
    return arrival, ack_id, ack, plain and s[at + Ack.NUM_SACKS] == 0 and s[at + Ack.DSACK] == NONE


class TimerBound(NamedTuple):
    """How long no timer goes off, as can be told without its time."""

    margin: Any
    """Beside the round trip [us],"""
    longest: Any
    """and at most [us]."""


def timer_bound_of(p: Any, s: Any) -> Any:
    """It stays the same."""
    longest = s[Tcp.MAX_RTO_JIFFIES] * s[Tcp.JIFFY_US]
    return TimerBound(min(clocks.us_of(p[P.MIN_RTO]), timer.TIMER_SLACK_US), longest)


def is_in_time(
    p: Any, s: Any, bound: Any, sending: Any, nxt: Any, since: Any, arrival: Any, waited: Any,
    advancing: Any,
) -> Any:  # fmt: skip
    """Whether no timer goes off before an ACK that comes at `arrival` [ns], as `deadline_of` says.

    `waited`: the time since the first packet that is out [us].
    """
    if waited < sending.rto_us:
        wait = (sending.estimate.srtt_us >> np.int64(2)) + bound.margin
        if arrival - since <= min(wait, bound.longest) * clocks.US:
            return True
    fast_path.store_for_control(s, sending, nxt)
    return arrival <= deadline_of(p, s, since, advancing)


def store_ack(p: Any, m: Any, out: Any, route: Any, ack_id: Any, fate: Any, t: Any, tail: Any) -> Any:
    """An ACK with this fate at time t [ns] enters the ring if it arrives; returns the ring's new end."""
    if fate == ARRIVED:
        at = numbered(route.ring, route.rings.mask, ENTRY, tail)
        m[at] = t
        m[at + 1] = ack_id
        tail += 1
    elif t <= p[P.END]:
        out[Out.ACK_DROPS] += 1
    return tail


def store_receiving(m: Any, s: Any, receiving: Any, consumed: Any) -> None:
    """The receiver as it is now, and which ACKs the sender has taken."""
    s[Tcp.ACKS_CONSUMED] = consumed
    m[Path.LAST_RX] = max(m[Path.LAST_RX], receiving.lrcvtime)
    fast_path.store_receiver(s, receiving)


def next_ack_is_later(s: Any, rings: Any, sending: Any, now_us: Any) -> Any:
    """Whether the next ACK is not due so soon that a burst might be put off."""
    due_us = fast_path.send_time(s, rings, sending.snd_una) + (sending.estimate.srtt_us >> np.int64(3))
    return due_us - now_us > min(sending.estimate.srtt_us >> np.int64(4), tso.DEFER_US)


def note_limit(s: Any, una: Any, nxt: Any, pushed: Any, deferred: Any) -> None:
    """As `sender.note_limit`, where nothing more goes out: it may be that a burst is put off."""
    out = nxt - una
    if deferred or out >= s[Tcp.CWND]:
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
def finish(
    p: Any, s: Any, una: Any, now: Any, first: Any, nxt: Any, remaining: Any, large: Any, advancing: Any
) -> None:
    """The stretch, in which packets from `first` on went out, ends with so many of a burst left.

    If there is none, timers run since the last ACK, at `now`, unless UNA is what it was.
    """
    s[Tcp.SND_NXT] = nxt
    s[Tcp.SENT] += nxt - first
    s[Tcp.LARGE_BURST] = 1 if large and remaining > 0 else 0
    going_on = np.int64(1 if remaining > 0 else 0)
    s[Tcp.BURST_LEFT] = remaining if remaining > 0 else 0
    s[Tcp.TRY_SEND] = s[Tcp.NEW_SENT] = s[Tcp.RESTART_TIMER] = going_on
    if remaining < 0 and s[Tcp.SND_UNA] > una:
        timer.schedule_loss_probe(p, s, now, advancing)


def has_room_for_two(m: Any, hop: Any, state: Any, t: Any) -> Any:
    """Whether the queue, which is not one of a single packet, has room for two that come at time t [ns]."""
    place = state.slot + 1 if state.slot + 1 < hop.limit else np.int64(0)
    return not (hop.limit > 0 and hops.is_held(m[hop.ring + place], t))


def can_enqueue_two(m: Any, hop: Any, state: Any, t: Any, later: Any) -> Any:
    """As `can_enqueue`, for two packets of which the other comes later."""
    free = max(max(t, state.free) + hop.time, later)
    return has_room_for_two(m, hop, state, t) and free + hop.time + hop.delay < hop.quiet


def send(p: Any, s: Any, route: Any, packet: Any, now: Any, now_us: Any, push: Any) -> None:
    """A new packet goes out."""
    fast_path.send(s, route.rings, packet, now_us, push)
    if DELAYS:
        first_sent.note_first_sent(p, s, packet, now)


def record_arrival_delay(p: Any, m: Any, now: Any, t: Any) -> None:
    """What went out at `now` is received at time t [ns]."""
    if DELAYS:
        engine.record_delay(p, m, t - now)


def send_pair(p: Any, m: Any, s: Any, route: Any, flow: Any, now: Any, now_us: Any) -> Any:
    """Two packets go out as one burst; returns the first hop behind them, and how long it holds them [ns]."""
    send(p, s, route, flow.nxt, now, now_us, False)
    send(p, s, route, flow.nxt + 1, now, now_us, True)
    forward_hop = enqueue(m, route.forward, enqueue(m, route.forward, flow.forward_hop, now), now)
    queue_time = 2 * (forward_hop.free - now) - route.forward.time if QUEUES else np.int64(0)
    return forward_hop, queue_time


def send_small_burst(
    p: Any, m: Any, s: Any, out: Any, route: Any, limits: Any, flow: Any, now: Any, now_us: Any, count: Any
) -> Any:
    """A burst of one packet or two goes out at `now`, arrives and is acknowledged as most of them are.

    If it does not, nothing is changed; what happens is the same as packet by packet in `run`.
    """
    rings, forward, backward, receiving = route.rings, route.forward, route.backward, flow.receiving
    nxt, tail, forward_hop, backward_hop = flow.nxt, flow.tail, flow.forward_hop, flow.backward_hop
    landing = max(now, forward_hop.free) + forward.time + forward.delay
    ready = receiving.quick_acks == 0 and receiving.rcv_nxt == nxt and nxt + count <= limits.bound
    ready = (
        ready and landing < limits.quiet - forward.time and landing - receiving.lrcvtime <= route.receiver_rto
    )
    if ready and count == route.pair and receiving.rcv_wup == nxt:
        landing += forward.time
        if has_room_for_two(m, forward, forward_hop, now) and can_enqueue(m, backward, backward_hop, landing):
            forward_hop, queue_time = send_pair(p, m, s, route, flow, now, now_us)
            backward_hop = enqueue(m, backward, backward_hop, landing)
            arrival = backward_hop.free + backward.delay
            tail = store_ack(p, m, out, route, receiving.next_ack_id, np.int64(ARRIVED), arrival, tail)
            record_arrival_delay(p, m, now, landing - forward.time)
            record_arrival_delay(p, m, now, landing)
            receiving = fast_path.receive_pair(s, rings, receiving, landing, now)
            flow = Flow(
                nxt + 2,
                forward_hop,
                backward_hop,
                receiving,
                flow.waiting,
                tail,
                flow.queue_time + queue_time,
            )
    elif ready and count == route.one and receiving.rcv_wup == nxt:
        if not is_full(m, forward, forward_hop, now):
            send(p, s, route, nxt, now, now_us, False)
            forward_hop = enqueue(m, forward, forward_hop, now)
            queue_time = forward_hop.free - now if QUEUES else np.int64(0)
            record_arrival_delay(p, m, now, landing)
            receiving = fast_path.receive(s, rings, receiving, landing, now, False)
            receiving = fast_path.delay_ack(receiving, landing + route.delay)
            flow = Flow(
                nxt + 1, forward_hop, backward_hop, receiving, landing, tail, flow.queue_time + queue_time
            )
    elif ready and count == route.odd and receiving.rcv_wup == nxt - 1 and landing < receiving.ack_deadline:
        fits = has_room_for_two(m, forward, forward_hop, now)
        if fits and can_enqueue_two(m, backward, backward_hop, landing, landing + forward.time):
            forward_hop, queue_time = send_pair(p, m, s, route, flow, now, now_us)
            for _ in range(2):
                backward_hop = enqueue(m, backward, backward_hop, landing)
                arrival = backward_hop.free + backward.delay
                tail = store_ack(p, m, out, route, receiving.next_ack_id, np.int64(ARRIVED), arrival, tail)
                record_arrival_delay(p, m, now, landing)
                receiving = fast_path.receive(s, rings, receiving, landing, now, True)
                landing += forward.time
            flow = Flow(
                nxt + 2,
                forward_hop,
                backward_hop,
                receiving,
                np.int64(NONE),
                tail,
                flow.queue_time + queue_time,
            )
    return flow


def send_one(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, route: Any, flow: Any, now: Any, now_us: Any,
    push: Any, horizon: Any, single: Any,
) -> Any:  # fmt: skip
    """A packet goes out at `now`, which the first hop lets pass.

    Returns the flow, whether all went on as it mostly does, and if not the packet's fate and when that
    happened [ns].
    """
    nxt, forward_hop, backward_hop, receiving, waiting, tail, queue_time = flow
    send(p, s, route, nxt, now, now_us, push)
    forward_hop = enqueue(m, route.forward, forward_hop, now)
    fate, t = np.int64(ARRIVED), forward_hop.free + route.forward.delay
    if QUEUES:
        queue_time += min(forward_hop.free, p[P.END]) - now
    if not single:
        fate, t = forward_rest(p, outages, losses, m, FORWARD, t, p[P.DATA] + p[P.HEADER])
        if fate != ARRIVED and t <= p[P.END]:
            out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
    plain = fate == ARRIVED and t <= horizon and receiving.rcv_nxt == nxt and t < receiving.ack_deadline
    plain = plain and t - receiving.lrcvtime <= route.receiver_rto
    at_once = fast_path.acks_at_once(p, receiving, push)
    if plain and at_once:
        plain = can_enqueue(m, route.backward, backward_hop, t)
    if plain:
        ack_id = receiving.next_ack_id
        record_arrival_delay(p, m, now, t)
        receiving = fast_path.receive(s, route.rings, receiving, t, now, at_once)
        if at_once:
            waiting = np.int64(NONE)
            backward_hop = enqueue(m, route.backward, backward_hop, t)
            t = backward_hop.free + route.backward.delay
            if not single:
                fate, t = forward_rest(p, outages, losses, m, BACKWARD, t, p[P.ACK])
            tail = store_ack(p, m, out, route, ack_id, fate, t, tail)
        elif receiving.ack_deadline == FOREVER:
            waiting = t
            receiving = fast_path.delay_ack(receiving, t + route.delay)
    return Flow(nxt + 1, forward_hop, backward_hop, receiving, waiting, tail, queue_time), plain, fate, t


def run(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, next_sample: Any, simple: Any,
) -> Any:  # fmt: skip
    """As `steady.run`; what befalls a packet does not end it, but an ACK that tells of that does.

    The inner loops take what is plain: an ACK, the burst that it lets out, which is mostly a pair, and what
    the receiver does of it.  The outer one takes the rest: what is lost, finds a queue full, comes out of
    order, or is acknowledged late; and samples.
    """
    end, window, single = p[P.END], p[P.WINDOW], simple or hops.hop_count(m, MAIN, FORWARD) == 1
    route, bound = route_of(p, m, s, single), timer_bound_of(p, s)
    forward, backward, rings = route.forward, route.backward, route.rings
    first, una, last = s[Tcp.SND_NXT], s[Tcp.SND_UNA], s[Tcp.LAST]
    sending, receiving = fast_path.load_sender(s), fast_path.load_receiver(s)
    forward_hop, backward_hop = state_of(m, forward.at), state_of(m, backward.at)
    flow = Flow(first, forward_hop, backward_hop, receiving, np.int64(NONE), tail, np.int64(0))
    remaining, large, allowed, before = np.int64(NO_BURST), s[Tcp.LARGE_BURST] != 0, first, first
    consumed, now_us = s[Tcp.ACKS_CONSUMED], clocks.us_of(now)
    horizon, steady = min(m[Path.RECORD_AFTER], end), True
    while steady:
        plain, fate, t, packet = True, np.int64(ARRIVED), now, np.int64(NONE)
        limits = limits_of(m, s, route, flow, next_sample, horizon, consumed)
        while plain:
            while plain and remaining < 0:
                arrival, ack_id, ack, plain = next_ack(m, s, route, flow, limits, sending.snd_una, head)
                now_us = clocks.us_of(arrival)
                waited = now_us - fast_path.send_time(s, rings, sending.snd_una)
                plain = plain and is_in_time(
                    p, s, bound, sending, flow.nxt, now, arrival, waited, flow.nxt == before
                )
                if plain:
                    far_apart = arrival - now > IDLE
                    now, consumed, head, before = arrival, ack_id + 1, head + 1, flow.nxt
                    s[Tcp.DEADLINE] = FOREVER
                    sending = fast_path.process_ack(p, s, rings, sending, before, now, now_us, waited, ack)
                    cwnd = s[Tcp.CWND]
                    allowed, remaining = ack + min(cwnd, window), np.int64(0)
                    room = allowed - before
                    small = 0 < room <= tso.MIN_TSO_SEGS and cwnd >= 2 * tso.MIN_TSO_SEGS and before < last
                    if small and (
                        far_apart or next_ack_is_later(s, rings, sending, now_us)
                    ):  # it is not put off
                        remaining, large = room, room > 1
                        flow = send_small_burst(p, m, s, out, route, limits, flow, now, now_us, room)
                        if flow.nxt > before:
                            note_limit(s, ack, flow.nxt, True, False)
                            remaining = np.int64(NO_BURST)
            deferred = False
            if remaining == 0:
                if flow.nxt < allowed:
                    fast_path.store_for_control(s, sending, flow.nxt)
                    remaining = tso.burst_within(p, s, now, allowed - flow.nxt)
                large = remaining > 1
                deferred = remaining == 0
            while plain and remaining > 0:
                plain = flow.nxt < limits.bound and can_enqueue(m, forward, flow.forward_hop, now)
                if plain:
                    packet, remaining = flow.nxt, remaining - 1
                    flow, plain, fate, t = send_one(
                        p, outages, losses, m, s, out, route, flow, now, now_us, large and remaining == 0,
                        horizon, single,
                    )  # fmt: skip
                    if plain:
                        packet = np.int64(NONE)
            if plain and remaining == 0 and (deferred or flow.nxt >= allowed):
                deferred = flow.nxt < allowed and s[Tcp.CWND] <= window
                note_limit(s, sending.snd_una, flow.nxt, flow.nxt > before, deferred)
                remaining = np.int64(NO_BURST)
        nxt, forward_hop, backward_hop, receiving, waiting, tail, queue_time = flow
        if packet == NONE and remaining > 0:
            steady = nxt < last
            if steady:
                packet, remaining = nxt, remaining - 1
                nxt += 1
                send(p, s, route, packet, now, now_us, large and remaining == 0)
                store(m, forward.at, forward_hop)
                size = p[P.DATA] + p[P.HEADER]
                fate, t, _ = engine.send_packet(p, outages, losses, m, out, now, packet, True, size)
                forward_hop = state_of(m, forward.at)
        elif packet == NONE:
            arrival = engine.next_ack_arrival(m, route.ring, rings.mask, head, tail)
            late = min(receiving.ack_deadline, s[Tcp.COMPRESSED_ACK_DEADLINE])
            steady = late < arrival
            fast_path.store_for_control(s, sending, nxt)
            if waiting != NONE:
                receiving, waiting = fast_path.with_delayed_ack(p, s, receiving, waiting), np.int64(NONE)
            elif steady:
                steady = late <= min(deadline_of(p, s, now, nxt == before), end)
                if steady:
                    store(m, backward.at, backward_hop)
                    store_receiving(m, s, receiving, consumed)
                    tail = engine.send_delayed_ack(p, outages, losses, m, s, out, tail)
                    backward_hop, receiving = state_of(m, backward.at), fast_path.load_receiver(s)
                    steady = m[Path.OVERFLOW] == 0
            elif next_sample <= arrival <= min(deadline_of(p, s, now, nxt == before), end):
                s[Tcp.SRTT_NS] = rtt.srtt_ns(sending.estimate)
                engine.sample(p, m, s, g, arrival)
                next_sample, steady = min(m[Path.NEXT_SAMPLE], end + 1), True
        if packet != NONE and fate == ARRIVED and t <= end:
            receiving, waiting = fast_path.with_delayed_ack(p, s, receiving, waiting), np.int64(NONE)
            store(m, backward.at, backward_hop)
            store_receiving(m, s, receiving, consumed)
            tail = engine.receive(p, outages, losses, m, s, out, t, packet, now, tail)
            backward_hop, receiving, horizon = (
                state_of(m, backward.at),
                fast_path.load_receiver(s),
                min(m[Path.RECORD_AFTER], end),
            )
            steady = m[Path.OVERFLOW] == 0
        flow = Flow(nxt, forward_hop, backward_hop, receiving, waiting, tail, queue_time)
    store(m, forward.at, flow.forward_hop)
    store(m, backward.at, flow.backward_hop)
    store_receiving(m, s, fast_path.with_delayed_ack(p, s, flow.receiving, flow.waiting), consumed)
    fast_path.store_sender(p, s, now, sending, una, flow.nxt)
    if QUEUES:
        add(m, forward.at + HopWord.HELD, forward.at + HopWord.HELD_HIGH, flow.queue_time)
    finish(p, s, una, now, first, flow.nxt, remaining, large, flow.nxt == before)
    return now, head, flow.tail, np.int64(NONE), now
