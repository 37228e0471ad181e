"""Fast path of today's Linux in steady state, see `path.fast_path`.

The sender's own functions process ACKs of new data and send bursts; what would find nothing to do (losses,
SACK blocks, retransmissions) is left out. Timers are not set: a lower bound on their expiry suffices, and a
timer that runs at the end is set then.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, Out
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.linux import clocks, fast_path, receiver, rtt, timer, tso
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

association: Any = slot("association")
observer: Any = slot("observer")

IDLE = (tso.DEFER_US + 1) * clocks.US
"""Idle time [ns] after which a burst is not deferred (TSO deferral)."""

NO_BURST = -1
"""Value of `remaining` if no packet can be sent before the next ACK."""


def is_simple(p: Any, m: Any) -> Any:
    """Return True if the path has one hop."""
    return hops.hop_count(m, MAIN, FORWARD) == 1


def is_steady(p: Any, s: Any) -> Any:
    """Return True if nothing is missing, the latest event is processed, and more than this flight remains."""
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
    """Constants of the path and the receiver."""

    forward: Any
    """First hop in the direction of the data."""
    backward: Any
    """First hop in the direction of the ACKs."""
    rings: Any
    """Rings of the sender and the receiver."""
    ring: Any
    """First word of the ring of ACKs in flight."""
    delay: Any
    """Minimum delay of a delayed ACK [ns]."""
    receiver_rto: Any
    """Pause in the arrivals after which the receiver sends quick ACKs again [ns]."""
    pair: Any
    """2 if `send_small_burst` may send two packets of which the second is acknowledged at once, else FULL."""
    odd: Any
    """2 if `send_small_burst` may send two packets behind one whose ACK is delayed, else FULL."""
    one: Any
    """1 if `send_small_burst` may send one packet whose ACK is delayed, else FULL."""


def route_of(p: Any, m: Any, s: Any, single: Any) -> Any:
    """Return the constants of the path and the receiver. `single`: the path has one hop."""
    forward = constants_of(m, FORWARD, p[RowP.DATA] + p[RowP.HEADER])
    backward = constants_of(m, BACKWARD, p[ReliableP.ACK])
    delay, receiver_rto, none = (
        p[ReliableP.ACK_DELAY] - p[TcpP.TICK],
        receiver.receiver_rto(s),
        np.int64(FULL),
    )
    small = (
        single
        and p[ReliableP.ACK_EVERY] > 1
        and forward.time < min(receiver_rto, delay)
        and forward.limit != 1
    )
    odd = small and p[ReliableP.ACK_EVERY] == 2 and backward.limit != 1
    return Route(
        forward, backward, fast_path.rings_of(p, s), m[Path.ACK_RING], delay, receiver_rto,
        np.int64(2) if small else none, np.int64(2) if odd else none, np.int64(1) if small else none,
    )  # fmt: skip


class Flow(NamedTuple):
    """State that packets and their ACKs change."""

    nxt: Any
    """Next new packet."""
    forward_hop: Any
    """State of the first hop in the direction of the data."""
    backward_hop: Any
    """State of the first hop in the direction of the ACKs."""
    receiving: Any
    """State of the receiver."""
    waiting: Any
    """Arrival time of a packet whose delayed-ACK timer is not computed yet [ns], or NONE."""
    tail: Any
    """Number of the next ACK in flight."""
    queue_time: Any
    """Time that packets spent on the first hop [ns]."""


class Limits(NamedTuple):
    """Limits up to which only plain events occur."""

    until: Any
    """Latest arrival time of an ACK [ns]."""
    quiet: Any
    """Time before which packets must arrive [ns]."""
    bound: Any
    """Packets below this number meet no random loss on the first hops, and their ACKs have room."""


def limits_of(m: Any, s: Any, route: Any, flow: Any, next_sample: Any, horizon: Any, consumed: Any) -> Any:
    """Return the current limits; call it again when one is reached."""
    until, quiet = min(next_sample - 1, s[Tcp.COMPRESSED_ACK_DEADLINE]), min(route.forward.quiet, horizon + 1)
    places = route.rings.mask - (flow.receiving.next_ack_id - consumed)
    count = min(min(flow.forward_hop.gap, flow.backward_hop.gap), min(places, s[Tcp.LAST] - flow.nxt))
    return Limits(until, quiet, flow.nxt + count)


def next_ack(m: Any, s: Any, route: Any, flow: Any, limits: Any, una: Any, head: Any) -> Any:
    """Return the next ACK: arrival time [ns], id, first missing packet, and True if it is plain."""
    at = numbered(route.ring, route.rings.mask, ENTRY, head)
    arrival, ack_id = m[at], m[at + 1]
    at = fast_path.ack_in_ring(route.rings, ack_id)
    ack = s[at + Ack.CUMULATIVE]
    plain = head < flow.tail and arrival <= limits.until and arrival <= s[Tcp.DEADLINE]
    plain = plain and ack > una and arrival <= flow.receiving.ack_deadline
    return arrival, ack_id, ack, plain and s[at + Ack.NUM_SACKS] == 0 and s[at + Ack.DSACK] == NONE


class TimerBound(NamedTuple):
    """Lower bound of the expiry of timers, without their exact time."""

    margin: Any
    """Minimum time beyond a round trip [us]."""
    longest: Any
    """Maximum timeout [us]."""


def timer_bound_of(p: Any, s: Any) -> Any:
    """Return the lower bound of timers; it is constant."""
    longest = s[Tcp.MAX_RTO_JIFFIES] * s[Tcp.JIFFY_US]
    return TimerBound(min(clocks.us_of(p[ReliableP.MIN_RTO]), timer.TIMER_SLACK_US), longest)


def is_in_time(
    p: Any, s: Any, bound: Any, sending: Any, nxt: Any, since: Any, arrival: Any, waited: Any,
    advancing: Any,
) -> Any:  # fmt: skip
    """Return True if an ACK that arrives at `arrival` [ns] precedes all timers (`deadline_of`).

    `waited` is the time since the first unacknowledged packet was sent [us].
    """
    if waited < sending.rto_us:
        wait = (sending.estimate.srtt_us >> np.int64(2)) + bound.margin
        if arrival - since <= min(wait, bound.longest) * clocks.US:
            return True
    fast_path.store_for_control(s, sending, nxt)
    return arrival <= deadline_of(p, s, since, advancing)


def store_ack(p: Any, m: Any, out: Any, route: Any, ack_id: Any, fate: Any, t: Any, tail: Any) -> Any:
    """Store an ACK with this fate at time t [ns] in the ring if it arrives; return the new end of
    the ring."""
    if fate == ARRIVED:
        at = numbered(route.ring, route.rings.mask, ENTRY, tail)
        m[at] = t
        m[at + 1] = ack_id
        tail += 1
    elif t <= p[RowP.END]:
        out[Out.ACK_DROPS] += 1
    return tail


def store_receiving(m: Any, s: Any, receiving: Any, consumed: Any) -> None:
    """Store the state of the receiver and the number of consumed ACKs."""
    s[Tcp.ACKS_CONSUMED] = consumed
    m[Path.LAST_RX] = max(m[Path.LAST_RX], receiving.lrcvtime)
    fast_path.store_receiver(s, receiving)


def next_ack_is_later(s: Any, rings: Any, sending: Any, now_us: Any) -> Any:
    """Return True if the next ACK is expected too late for the deferral of a burst."""
    due_us = fast_path.send_time(s, rings, sending.snd_una) + (sending.estimate.srtt_us >> np.int64(3))
    return due_us - now_us > min(sending.estimate.srtt_us >> np.int64(4), tso.DEFER_US)


def note_limit(s: Any, una: Any, nxt: Any, pushed: Any, deferred: Any) -> None:
    """Update whether the window limits the sender, as `sender.note_limit` does after a burst.

    `deferred` is True if a burst was deferred.
    """
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
    """Return a time [ns] before which no timer expires: neither a running one nor one set at `since`."""
    if s[Tcp.DEADLINE] < FOREVER:
        return s[Tcp.DEADLINE]
    longest = s[Tcp.MAX_RTO_JIFFIES] * s[Tcp.JIFFY_US]
    return since + min(timer.probe_timeout(p, s, since, advancing), longest) * clocks.US


@noinline
def finish(
    p: Any, s: Any, una: Any, now: Any, first: Any, nxt: Any, remaining: Any, large: Any, advancing: Any
) -> None:
    """End the fast path, in which packets from `first` on were sent, with `remaining` packets of a burst.

    Without such packets timers run since the last ACK, at `now`, unless SND_UNA is unchanged.
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
    """Return True if the queue has room for two packets at time t [ns]; its limit is not 1."""
    place = state.slot + 1 if state.slot + 1 < hop.limit else np.int64(0)
    return not (hop.limit > 0 and hops.is_held(m[hop.ring + place], t))


def can_enqueue_two(m: Any, hop: Any, state: Any, t: Any, later: Any) -> Any:
    """Return True if `can_enqueue` holds for two packets, of which the second arrives at `later`."""
    free = max(max(t, state.free) + hop.time, later)
    return has_room_for_two(m, hop, state, t) and free + hop.time + hop.delay < hop.quiet


def send(p: Any, s: Any, route: Any, packet: Any, now: Any, now_us: Any, push: Any) -> None:
    """Send a new packet."""
    fast_path.send(s, route.rings, packet, now_us, push)
    association.note_first_sent(p, s, packet, now)


def send_pair(p: Any, m: Any, s: Any, route: Any, flow: Any, now: Any, now_us: Any) -> Any:
    """Send two packets as one burst; return the state of the first hop, and the time that it holds
    them [ns]."""
    send(p, s, route, flow.nxt, now, now_us, False)
    send(p, s, route, flow.nxt + 1, now, now_us, True)
    forward_hop = enqueue(m, route.forward, enqueue(m, route.forward, flow.forward_hop, now), now)
    return forward_hop, 2 * (forward_hop.free - now) - route.forward.time


def send_small_burst(
    p: Any, m: Any, s: Any, out: Any, route: Any, limits: Any, flow: Any, now: Any, now_us: Any, count: Any
) -> Any:
    """Send a burst of one or two packets at `now` if it arrives and is acknowledged as usual.

    Otherwise nothing changes. The result is the same as packet by packet in `run`.
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
            observer.on_delay(p, m, landing - forward.time - now)
            observer.on_delay(p, m, landing - now)
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
            queue_time = forward_hop.free - now
            observer.on_delay(p, m, landing - now)
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
                observer.on_delay(p, m, landing - now)
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
    """Send a packet at `now` that the first hop accepts.

    Returns the flow, True if everything went as usual, and otherwise the packet's fate and its time [ns].
    """
    nxt, forward_hop, backward_hop, receiving, waiting, tail, queue_time = flow
    send(p, s, route, nxt, now, now_us, push)
    forward_hop = enqueue(m, route.forward, forward_hop, now)
    fate, t = np.int64(ARRIVED), forward_hop.free + route.forward.delay
    queue_time += min(forward_hop.free, p[RowP.END]) - now
    if not single:
        fate, t = forward_rest(p, outages, losses, m, FORWARD, t, p[RowP.DATA] + p[RowP.HEADER])
        if fate != ARRIVED and t <= p[RowP.END]:
            out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
    plain = fate == ARRIVED and t <= horizon and receiving.rcv_nxt == nxt and t < receiving.ack_deadline
    plain = plain and t - receiving.lrcvtime <= route.receiver_rto
    at_once = fast_path.acks_at_once(p, receiving, push)
    if plain and at_once:
        plain = can_enqueue(m, route.backward, backward_hop, t)
    if plain:
        ack_id = receiving.next_ack_id
        observer.on_delay(p, m, t - now)
        receiving = fast_path.receive(s, route.rings, receiving, t, now, at_once)
        if at_once:
            waiting = np.int64(NONE)
            backward_hop = enqueue(m, route.backward, backward_hop, t)
            t = backward_hop.free + route.backward.delay
            if not single:
                fate, t = forward_rest(p, outages, losses, m, BACKWARD, t, p[ReliableP.ACK])
            tail = store_ack(p, m, out, route, ack_id, fate, t, tail)
        elif receiving.ack_deadline == FOREVER:
            waiting = t
            receiving = fast_path.delay_ack(receiving, t + route.delay)
    return Flow(nxt + 1, forward_hop, backward_hop, receiving, waiting, tail, queue_time), plain, fate, t


def run(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, next_sample: Any, simple: Any,
) -> Any:  # fmt: skip
    """Run the fast path, see `fast_path.run`. A loss does not end it, but the ACK that reports it does.

    The inner loops process plain events: an ACK, the burst that it releases (mostly two packets), and their
    reception. The outer loop processes the rest: losses, full queues, packets out of order, delayed ACKs and
    samples.
    """
    end, window, single = p[RowP.END], p[RowP.WINDOW], simple or hops.hop_count(m, MAIN, FORWARD) == 1
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
                    if small and (far_apart or next_ack_is_later(s, rings, sending, now_us)):  # not deferred
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
                size = p[RowP.DATA] + p[RowP.HEADER]
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
    add(m, forward.at + HopWord.HELD, forward.at + HopWord.HELD_HIGH, flow.queue_time)  # `observers.queues`
    finish(p, s, una, now, first, flow.nxt, remaining, large, flow.nxt == before)
    return now, head, flow.tail, np.int64(NONE), now
