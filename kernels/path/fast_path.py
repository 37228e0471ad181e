"""Fast path of a transfer in steady state: ACKs of new data, and the packets that they release.

Between losses, timers and outages a sender repeats the same steps. They are executed here with all
changing state in registers: that of the association and of the first hop of each direction. Further hops
on which packets never wait are one addition (`sections`), others are simulated as usual. A step is checked
before it changes anything; the engine processes whatever does not qualify.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, Out
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.path import engine, hops
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, MAIN, QUEUE_FULL, HopWord
from netcarlo.kernels.path.sections import no_sections, sections_of, store_passed
from netcarlo.kernels.path.state import ENTRY, Path
from netcarlo.kernels.tcp.acks import ACKS_ARE_IMPLICIT, cumulative_ack, store_in_order_ack
from netcarlo.kernels.tcp.sender import advance
from netcarlo.kernels.tcp.state import NONE, Clock, Tcp, Window
from netcarlo.kernels.tcp.timer import measure_rtt
from netcarlo.kernels.tcp.window import row_of

PAUSES: Any = slot("pauses")

association: Any = slot("association")
observer: Any = slot("observer")
variant: Any = slot("variant")
kind: Any = slot("kind")


class HopConstants(NamedTuple):
    """Constants of a hop during the fast path."""

    at: Any
    """First word of the hop."""
    time: Any
    """Transmission time of a packet [ns]."""
    delay: Any
    """Propagation delay [ns]."""
    limit: Any
    """Maximum number of packets held; 0: unlimited."""
    ring: Any
    """First word of the ring of departure times."""
    quiet: Any
    """Time before which arrivals at the far end meet no outage, cross traffic or tick [ns]."""


class HopState(NamedTuple):
    """State of a hop that changes with every packet."""

    free: Any
    """Time from which the server is free [ns]."""
    slot: Any
    """Next place in the ring of departure times."""
    gap: Any
    """Packets until the next random loss."""


def constants_of(m: Any, direction: Any, size: Any) -> Any:
    """Return the constants of the first hop of a direction, for packets of `size` bytes."""
    at = hops.hop_at(MAIN, direction, np.int64(0))
    quiet = min(m[at + HopWord.CHECK_FROM], m[at + HopWord.SAFE_UNTIL] + 1)
    time = on_wire(size, m[at + HopWord.BYTE_TIME])
    return HopConstants(at, time, m[at + HopWord.DELAY], m[at + HopWord.LIMIT], m[at + HopWord.RING], quiet)


def state_of(m: Any, at: Any) -> Any:
    """Return the state of a hop."""
    return HopState(m[at + HopWord.FREE_AT], m[at + HopWord.NEXT_PLACE], m[at + HopWord.GAP])


def store(m: Any, at: Any, state: Any) -> None:
    """Store the state of a hop."""
    m[at + HopWord.FREE_AT] = state.free
    m[at + HopWord.NEXT_PLACE] = state.slot
    m[at + HopWord.GAP] = state.gap


def is_full(m: Any, hop: Any, state: Any, t: Any) -> Any:
    """Return True if the queue has no room for a packet that arrives at time t [ns]."""
    return hop.limit > 0 and hops.is_held(m[hop.ring + state.slot], t)


def can_enqueue(m: Any, hop: Any, state: Any, t: Any) -> Any:
    """Return True if a packet that arrives at time t [ns] meets nothing but, perhaps, random loss."""
    return not is_full(m, hop, state, t) and max(t, state.free) + hop.time + hop.delay < hop.quiet


def enqueue(m: Any, hop: Any, state: Any, t: Any) -> Any:
    """Return the state of a hop after a packet for which `can_enqueue` is true."""
    free, place = max(t, state.free) + hop.time, state.slot
    if hop.limit > 0:
        m[hop.ring + place] = free
        place = place + 1 if place + 1 < hop.limit else np.int64(0)
    return HopState(free, place, state.gap - 1)


def with_section(hop: Any, sections: Any) -> Any:
    """Return the constants of the first hop and the section behind it together."""
    delay, quiet = hop.delay + sections.first_delay, min(hop.quiet, sections.quiet)
    return HopConstants(hop.at, hop.time, delay, hop.limit, hop.ring, quiet)


def forward_between(
    p: Any, outages: Any, losses: Any, m: Any, direction: Any, sections: Any, t: Any, size: Any
) -> Any:
    """Forward a packet over the hops between the sections at time t [ns]; return its fate and the time."""
    first, count = sections.first_end, sections.last_begin - sections.first_end
    return hops.forward(p, outages, losses, m, MAIN, direction, first, count, t, size)


def forward_rest(p: Any, outages: Any, losses: Any, m: Any, direction: Any, t: Any, size: Any) -> Any:
    """Forward a packet over the hops after the first one at time t [ns]; return its fate and the time."""
    count = hops.hop_count(m, MAIN, direction) - 1
    return hops.forward(p, outages, losses, m, MAIN, direction, np.int64(1), count, t, size)


@noinline
def measure(p: Any, s: Any, now: Any) -> None:
    """Take an RTT sample: the timed packet is acknowledged."""
    measure_rtt(p, s, now)


def is_worthwhile(m: Any) -> Any:
    """Return True if the first hop has no cross traffic or tick, which would end the fast path often."""
    at = hops.hop_at(MAIN, FORWARD, np.int64(0))
    return m[at + HopWord.CROSS] == FOREVER and m[at + HopWord.TICK] == 0


def is_simple(p: Any, m: Any) -> Any:
    """Return True for one hop, an ACK per packet and an unlimited socket buffer."""
    return hops.hop_count(m, MAIN, FORWARD) == 1 and p[ReliableP.ACK_EVERY] == 1 and p[TcpP.SEND_BUFFER] == 0


def is_steady(p: Any, s: Any) -> Any:
    """Return True if all packets sent have arrived in order, outside of recovery, pause and handshake."""
    top = s[Tcp.SND_NXT]
    normal = (
        variant.is_normal(s)
        and s[Tcp.DUPACKS] == 0
        and s[Tcp.FORCED] == NONE
        and s[Tcp.RECOVERY_MAY_SEND] == 0
    )
    in_order = s[Tcp.RCV_NXT] == top and s[Tcp.SND_MAX] == top - 1 and s[Tcp.RCV_HIGHEST] == top - 1
    in_pause = PAUSES and s[Tcp.PROBING] != 0
    in_progress = s[Tcp.HIGHEST_ACK] > 0 and top < s[Tcp.LAST_PACKET]
    return in_order and normal and in_progress and not in_pause and s[Tcp.INFLATION] == 0


def run(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, head: Any, tail: Any,
    now: Any, next_sample: Any, simple: Any,
) -> Any:  # fmt: skip
    """Run the fast path from a steady state (`is_steady`); the next sample is due at `next_sample` [ns].

    Samples end it on simple paths only, where packets in a row are many: taking them here costs registers.

    `simple` is the result of `is_simple` as a constant, so that compilers omit unused code.

    Returns the time, head and tail of the ring of ACKs, and, if a packet is in transit to the receiver that
    the engine must process, its number and arrival time, else NONE.
    """
    ring, mask, end = m[Path.ACK_RING], p[RowP.RING] - 1, p[RowP.END]
    horizon = min(m[Path.RECORD_AFTER], end)
    window, buffered = p[RowP.WINDOW], not simple and p[TcpP.SEND_BUFFER] > 0
    delayed, single = (
        not simple and p[ReliableP.ACK_EVERY] > 1,
        simple or hops.hop_count(m, MAIN, FORWARD) == 1,
    )
    size, ack_size = p[RowP.DATA] + p[RowP.HEADER] * kind.first_of(p), p[ReliableP.ACK]
    forward, backward = constants_of(m, FORWARD, size), constants_of(m, BACKWARD, ack_size)
    forward_hop, backward_hop = state_of(m, forward.at), state_of(m, backward.at)
    ack_gap, passed, data, acks = backward_hop.gap, now, no_sections(), no_sections()
    if not single:
        data = sections_of(m, FORWARD, np.int64(0), now, size)
        acks = sections_of(m, BACKWARD, data.spacing, data.earliest, ack_size)
        forward, backward = with_section(forward, data), with_section(backward, acks)
    row = row_of(p, s, g, constants)
    first, acked, cwnd, ssthresh = s[Tcp.SND_NXT], s[Tcp.HIGHEST_ACK], g[0], s[Tcp.SSTHRESH]
    deadline, timed, rto, rtt = s[Tcp.TIMER_EXPIRY], s[Tcp.RTT_SEQ], s[Tcp.RTO], s[Tcp.RTT]
    next_ack, last_rx = s[Tcp.NEXT_ACK], m[Path.LAST_RX]
    limit, snd_nxt, t, in_transit, missing = s[Tcp.SEND_LIMIT], first, now, np.int64(NONE), np.int64(0)
    # Packets below `bound` meet no random loss on the first hops, have room, and are not the last one.
    bound = min(min(forward_hop.gap, backward_hop.gap), mask - (tail - head))
    if not single:
        bound = min(bound, min(data.gap, acks.gap))
    if not ACKS_ARE_IMPLICIT:
        bound = min(bound, mask - (next_ack - s[Tcp.CONSUMED]))
    bound = min(first + bound, s[Tcp.LAST_PACKET])
    allowed = min(limit, s[Tcp.LAST_WRITTEN])
    if first <= allowed and acked == first - 1:  # nothing is in flight
        deadline = now + rto
    latest = next_sample - 1 if simple else end  # time of the latest ACK
    series, steady = observer.begin_series(m), True
    while steady:
        if snd_nxt > allowed:
            at = ring + ENTRY * (head & mask)
            arrival, ack_id = m[at], m[at + 1]
            ack = cumulative_ack(p, s, ack_id)
            steady = head < tail and arrival <= deadline and arrival <= latest and acked < ack
            if delayed:
                steady = steady and arrival <= s[Tcp.DELACK_EXPIRY]
            if steady:
                if not simple and next_sample <= arrival:
                    g[0] = cwnd
                    engine.sample(p, m, s, g, arrival)
                    next_sample = min(m[Path.NEXT_SAMPLE], end + 1)
                now = arrival
                head += 1
                if not ACKS_ARE_IMPLICIT:
                    s[Tcp.CONSUMED] = ack_id + 1
                kind.on_ack(p, ack - acked, now, rtt, row.f)
                if ack >= timed:
                    timed = np.int64(ENDLESS)
                    measure(p, s, now)
                    rto, rtt = s[Tcp.RTO], s[Tcp.RTT]
                deadline = now + rto
                grown, forced = variant.grow(
                    row, Clock(now, rtt), ack, acked, snd_nxt, Window(cwnd, ssthresh, np.int64(0))
                )
                acked, cwnd, ssthresh = ack, grown.cwnd, grown.ssthresh
                limit = ack + min(np.int64(cwnd), window)
                allowed = limit
                if buffered:
                    advance(p, s, ack)
                    allowed = min(limit, s[Tcp.LAST_WRITTEN])
                if forced != NONE:
                    s[Tcp.FORCED] = forced
                    s[Tcp.DUPACKS] = grown.dupacks
                    steady = False
        if steady and snd_nxt <= allowed:
            steady = snd_nxt < bound and can_enqueue(m, forward, forward_hop, now)
            if steady:
                packet = snd_nxt
                snd_nxt += 1
                variant.on_send(s, p, packet, now)
                if timed == ENDLESS:
                    timed = packet
                    s[Tcp.RTT_TS] = now
                forward_hop = enqueue(m, forward, forward_hop, now)
                fate, t = np.int64(ARRIVED), forward_hop.free + forward.delay
                if not single:
                    if data.first_end < data.last_begin:
                        fate, t = forward_between(p, outages, losses, m, FORWARD, data, t, size)
                    if fate == ARRIVED:
                        passed = t
                        t += data.last_delay
                steady = fate == ARRIVED and t <= horizon and can_enqueue(m, backward, backward_hop, t)
                if delayed:
                    steady = steady and t <= s[Tcp.DELACK_EXPIRY]
                if steady:
                    series = observer.on_delay_in_series(p, m, series, t - now)
                if not steady:
                    missing = np.int64(1)
                    if fate == ARRIVED:
                        in_transit = packet
                    elif t <= end:
                        out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
                elif delayed and s[Tcp.DELACK_EXPIRY] == FOREVER:
                    last_rx = t
                    s[Tcp.DELACK_EXPIRY] = t + p[ReliableP.ACK_DELAY]
                    s[Tcp.DELAYED_PACKET] = packet
                else:
                    last_rx = t
                    if delayed:
                        s[Tcp.DELACK_EXPIRY] = FOREVER
                    ack_id = packet + 1
                    if not ACKS_ARE_IMPLICIT:
                        ack_id = next_ack
                        next_ack += 1
                        store_in_order_ack(p, s, ack_id, packet)
                    backward_hop = enqueue(m, backward, backward_hop, t)
                    t = backward_hop.free + backward.delay
                    if not single and acks.first_end < acks.last_begin:
                        fate, t = forward_between(p, outages, losses, m, BACKWARD, acks, t, ack_size)
                    if fate == ARRIVED:
                        at = ring + ENTRY * (tail & mask)
                        m[at] = t
                        m[at + 1] = ack_id
                        tail += 1
                    elif t <= end:
                        out[Out.ACK_DROPS] += 1
    observer.end_series(p, m, series)
    if missing > 0:
        association.note_first_sent(p, s, snd_nxt - 1, now)
    store(m, forward.at, forward_hop)
    store(m, backward.at, backward_hop)
    if not single:
        sent, acknowledged = snd_nxt - first, ack_gap - backward_hop.gap
        t_data = forward_hop.free + forward.delay - data.first_delay
        store_passed(m, FORWARD, np.int64(1), data.first_end, sent, t_data, size)
        arrived = sent - missing if in_transit == NONE else sent
        store_passed(m, FORWARD, data.last_begin, hops.hop_count(m, MAIN, FORWARD), arrived, passed, size)
        t_ack = backward_hop.free + backward.delay - acks.first_delay
        store_passed(m, BACKWARD, np.int64(1), acks.first_end, acknowledged, t_ack, ack_size)
    m[Path.LAST_RX] = last_rx
    g[0] = cwnd
    s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT], s[Tcp.SND_MAX] = acked, snd_nxt, snd_nxt - 1
    s[Tcp.SEND_LIMIT], s[Tcp.SSTHRESH] = limit, ssthresh
    s[Tcp.TIMER_EXPIRY], s[Tcp.RTT_SEQ] = deadline, timed
    s[Tcp.SENT] += snd_nxt - first
    s[Tcp.RCV_NXT], s[Tcp.RCV_HIGHEST], s[Tcp.NEXT_ACK] = snd_nxt - missing, snd_nxt - missing - 1, next_ack
    return now, head, tail, in_transit, t
