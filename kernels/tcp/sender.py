"""A TCP association as a machine that an engine drives with events.

The path engine (`tcp`) knows the fate of a packet when it is sent and keeps its sender in registers.
Where packets meet others on their way the engine must wait for what happens: here sender and receiver
keep their state in scratch, a step is a function, and the variants and congestion controls are the same.
Words and packets mean what they mean in `tcp`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold as rarely
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, P
from netcarlo.kernels.tcp.receiver import BLOCKS, STACK_WORDS, make_receiver
from netcarlo.kernels.tcp.recovery import (
    ASK,
    BACK_OFF,
    CUT,
    END_BACKOFF,
    GO_BACK,
    INFLATION,
    LIMITED,
    LOSE,
    NO_GROWTH,
    NONE,
    NORMAL,
    PARTIAL,
    PAUSE,
    PHASE,
    RECOVERY,
    SEND,
    SEND_TWO,
    SPARE,
    STATE_WORDS,
    TIMER,
    Pause,
)
from netcarlo.kernels.tcp.rto import make_rto

CONTROL_WORDS = 16
"""Float words that a congestion control may keep, behind the cwnd."""
FLOATS = 1 + CONTROL_WORDS

# Words of scratch behind those of the variant: the sender.
RTT, _SRTT, _RTTVAR, _CURRENT, _BACKOFF, _TIMED, _TIMED_AT = range(STATE_WORDS, STATE_WORDS + 7)
_PHASE_OF_CLOCK, ACKED, _SEQ, TOP, _LAST, _WRITTEN = range(STATE_WORDS + 7, STATE_WORDS + 13)
_DUPACKS, SSTHRESH, RTO, _INITIAL_WINDOW = range(STATE_WORDS + 13, STATE_WORDS + 17)
"""What engines look at is public: the latest RTT [ns], the last packet acknowledged with all before it, the
highest one put out, [packet], [ns]."""
_FORCED, _LIMIT, _REPAIR = range(STATE_WORDS + 17, STATE_WORDS + 20)
DEADLINE = STATE_WORDS + 20
"""The retransmission timer (in a pause: that of the probes) goes off [ns]."""
SENT, REPEATED, TIMEOUTS, FAST_RETRANSMITS, CUTS = range(STATE_WORDS + 21, STATE_WORDS + 26)
"""What has been counted: data packets put out, put out again, timeouts, ..."""
# The receiver.
EXPECTED = STATE_WORDS + 26
"""The next packet in order."""
_HIGHEST, _ANSWERED = STATE_WORDS + 27, STATE_WORDS + 28
PENDING = STATE_WORDS + 29
"""A delayed acknowledgement goes out [ns]."""
_HELD, _DUPLICATES, _SERIAL, _CONSUMED = range(STATE_WORDS + 30, STATE_WORDS + 34)
_BITS, _RING, _TIMES = range(STATE_WORDS + 34, STATE_WORDS + 37)  # where things begin in scratch
_HELD_BACK = STATE_WORDS + 37  # 1: the window had a packet while the sender was blocked
HANDSHAKES, PROBES, PROBE_CYCLES, PROBE_TIME, SPARED = range(STATE_WORDS + 38, STATE_WORDS + 43)
"""SYNs and probe segments put out, pauses begun, time in those that have ended [ns], losses after which
the window was not reduced."""
PROBING, PROBING_SINCE = STATE_WORDS + 43, STATE_WORDS + 44
"""1 while the sender pauses: it puts probe segments out instead of data; and since when [ns]."""
_CAUSE, _REPLIES, _WORSE = range(STATE_WORDS + 45, STATE_WORDS + 48)
_WANTED, _OLDEST, _ASKED_AT = range(STATE_WORDS + 48, STATE_WORDS + 51)  # of probes
_BEFORE = STATE_WORDS + 51  # the timeout that the estimator found before _CURRENT
REDUCED, REDUCED_AT = STATE_WORDS + 52, STATE_WORDS + 53
"""ECN: the window was reduced for a mark, and the receiver has not been told; highest packet sent by then."""
_STACK = STATE_WORDS + 54
_END = _STACK + STACK_WORDS

TOLERANCE = 2
"""Eighths by which a probe's round trip may exceed the smoothed RTT."""
_TIMER, _DUPLICATES_CAME, _NOTICE = 0, 1, 2  # why the sender pauses

_ACK_WORDS = 2 + 2 * BLOCKS + 1  # at most: number of blocks (or a mark), packet, blocks with a -1 behind them
FULL = -2
"""More acknowledgements on their way than `P.RING`."""


def scratch_words(window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this window and `P.RING`, or of many."""
    return _END + ring // 64 * 2 + ring * (_ACK_WORDS + 1) + 2 * window + 8


class Association(NamedTuple):
    """The compiled functions of a TCP association.

    `p` is an array with the columns of `P`, `s` the association's scratch, `g` its FLOATS floats.
    """

    prepare: Any
    """`(p, s, g, limit, phase) -> int`: before the start; `limit` packets, the clock `phase` [ns] ahead.
    Returns how many words of `s` it takes."""
    start: Any
    """`(p, s, g)`: the application begins to send."""
    take: Any
    """`(p, s, g, now, blocked) -> int`: the next packet to put out, or NONE; window by window, so it is to be
    called until NONE comes.  While `blocked` only a forced retransmission comes."""
    on_ack: Any
    """`(p, s, g, constants, now, serial)`: an acknowledgement arrives at the sender."""
    on_timeout: Any
    """`(p, s, g, constants, now)`: DEADLINE has come."""
    resume: Any
    """`(p, s, g) -> bool`: no longer blocked; whether it has waited for that."""
    on_data: Any
    """`(p, s, t, packet, more) -> (serial, fresh)`: a packet arrives at the receiver; the acknowledgement
    that it sends, NONE or FULL; and whether it is the packet's first arrival.  If `more` come at once, an
    acknowledgement that may wait does so."""
    on_delay: Any
    """`(p, s) -> serial`: PENDING has come."""
    size_of_ack: Any
    """`(p, s, serial) -> int`: its packet [byte]."""
    delay_of: Any
    """`(p, s, t, packet) -> int`: time since the packet was first put out [ns]."""
    complete: Any
    """`(s) -> bool`: the receiver has all there is."""
    finished: Any
    """`(s) -> bool`: all there is has been acknowledged."""
    probe: Any
    """`(p, s, now) -> int`: the number of a probe segment to put out, or NONE; asked once after `take`."""
    on_probe: Any
    """`(p, s, g, constants, now, number)`: the reply to a probe segment arrives at the sender."""
    on_notice: Any
    """`(p, s, g, constants, now)`: the sender is told that a link of its route is broken."""
    corrupted: Any
    """`(p, s, packet)`: a packet reaches the receiver destroyed by an error."""
    on_echo: Any
    """`(p, s, g, constants, now, serial)`: the acknowledgement that is about to arrive echoes a mark."""
    first_of: Any
    """`(p) -> int`: the first data packet."""
    first: int
    """The same where there is one kind of flows."""


class Kinds(NamedTuple):
    """A TCP variant, and what depends on the kind of a flow where there are several (`shared.mixture`)."""

    variant: Any
    first_of: Any
    """`(p) -> int`: the first data packet."""
    sack_of: Any
    """`(p) -> bool`: ACKs carry SACK blocks."""
    heard: Any
    """`(p, packets, now, rtt, f)`: as of a variant."""
    reduce: Any
    """`(p, f, constants, now, rtt, window) -> window`: what a mark makes of it (RFC 3168)."""


def one_kind(dev: Callable[[Any], Any], make_variant: Any, control: Any) -> Kinds:
    """Compile a TCP variant with a congestion control: all flows are of this kind."""
    variant = make_variant(dev, control)
    first, sack, variant_heard = variant.first, variant.sack, variant.heard
    control_reduce = dev(control.reduce)

    def first_of(p: Any) -> Any:
        return np.int64(first)

    def sack_of(p: Any) -> Any:
        return sack

    def heard(p: Any, packets: Any, now: Any, rtt: Any, f: Any) -> None:
        variant_heard(packets, now, rtt, f)

    def reduce(p: Any, f: Any, constants: Any, now: Any, rtt: Any, window: Any) -> Any:
        if first == 0:  # Vegas
            return window * 0.75
        return control_reduce(window, False, now, rtt, constants, f)

    return Kinds(variant, dev(first_of), dev(sack_of), dev(heard), dev(reduce))


def _hot(function: Any) -> Any:
    return function


def make_association(
    dev: Callable[[Any], Any], make_variant: Any, control: Any, *, kinds: Kinds | None = None
) -> Association:
    """Compile a TCP variant with a congestion control, or flows of several `kinds`, for a target.

    With `kinds` the steps become part of the engine that calls them, each from one place only.
    """
    cold = _hot if kinds else rarely
    delays = kinds is None  # the shared engine asks for none
    plain = kinds is not None and not kinds.variant.sack  # what is acknowledged tells all: no ring of ACKs
    kinds = kinds or one_kind(dev, make_variant, control)
    variant, first_of, sack_of, hear, reduce = kinds
    prepare_variant, new_ack, grow, dup_ack = variant.prepare, variant.new_ack, variant.grow, variant.dup_ack
    variant_timeout, next_packet, on_send = variant.timeout, variant.next_packet, variant.on_send
    pauses, marks = variant.pause is not None, variant.mark is not None
    ack_words = _ACK_WORDS if variant.sack or marks else 2
    pause: Any = variant.pause or Pause(0, False, 0, False, None, None, None, None)
    replies, judged, interval, noticed = pause.replies, pause.judged, pause.interval, pause.noticed
    decide, listen, repair_again, reduce_now = pause.timeout, pause.listen, pause.repair, pause.reduce
    put_mark, note_error = variant.mark, variant.corrupted
    arrive, blocks = make_receiver(dev)
    measure, smooth, timeout_of, back_off = make_rto(dev)

    def timeout_now(p: Any, s: Any) -> Any:
        return timeout_of(s[_CURRENT], s[_BACKOFF], p[P.MIN_RTO], p[P.MAX_RTO], p[P.TICK])

    timeout_now = dev(timeout_now)

    @cold
    def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any) -> Any:
        for i in range(_END):
            s[i] = 0
        for i in range(FLOATS):
            g[i] = 0.0
        ring = p[P.RING]
        s[_BITS] = _END
        s[_RING] = _END + (ring >> 6)
        for i in range(s[_BITS], s[_RING]):
            s[i] = 0
        s[_TIMES] = s[_RING] + ring * ack_words
        p[P.LIMIT] = limit  # where variants look for it
        free = prepare_variant(s, p, s[_TIMES] + ring)
        s[_CURRENT] = p[P.INITIAL_RTO]
        s[_BACKOFF] = 1
        s[_TIMED] = ENDLESS
        s[_PHASE_OF_CLOCK] = phase
        s[ACKED] = -1
        s[TOP] = -1
        first = first_of(p)
        s[_LAST] = first + limit - 1
        s[_WRITTEN] = s[_LAST]
        if p[P.SEND_BUFFER] > 0:
            s[_WRITTEN] = min(s[_LAST], first + p[P.SEND_BUFFER] - 1)
        s[SSTHRESH] = p[P.INITIAL_SSTHRESH]
        s[_INITIAL_WINDOW] = p[P.INITIAL_WINDOW]
        s[_FORCED] = NONE
        s[_LIMIT] = NONE
        s[DEADLINE] = FOREVER
        s[PENDING] = FOREVER
        g[0] = 1.0
        if first == 1 and p[P.HANDSHAKE] == 0:  # as if the SYN had just been acknowledged
            s[ACKED] = 0
            s[_SEQ] = 1
            s[TOP] = 0
            g[0] = float(p[P.INITIAL_WINDOW])
        s[EXPECTED] = s[_SEQ]
        s[_HIGHEST] = s[_SEQ] - 1
        s[_ANSWERED] = s[_SEQ]
        s[RTO] = timeout_now(p, s)
        return free

    prepare = dev(prepare)

    def fill(p: Any, s: Any, g: Any) -> None:
        s[_LIMIT] = s[ACKED] + min(np.int64(g[0]) + s[INFLATION], p[P.WINDOW])

    fill = dev(fill)

    @cold
    def take(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
        packet = s[_FORCED]
        last = min(s[_LAST], s[_WRITTEN])
        forced = packet != NONE
        if forced:
            s[_FORCED] = NONE
        elif blocked:
            if s[_REPAIR] != 0 or s[_SEQ] <= min(s[_LIMIT], last):
                s[_HELD_BACK] = 1
            return np.int64(NONE)
        elif s[_SEQ] <= min(s[_LIMIT], last):
            packet = s[_SEQ]
            s[_SEQ] += 1
        elif s[_REPAIR] != 0:
            packet = next_packet(s, p, s[ACKED], s[_SEQ], last, g[0])
            s[_SEQ] = max(s[_SEQ], packet + 1)
        if packet == NONE:
            return packet
        if not forced:
            s[_HELD_BACK] = 0
        on_send(s, p, packet, now)
        if s[ACKED] == s[TOP]:  # nothing else is out
            s[DEADLINE] = now + s[RTO]
        first = first_of(p)
        if packet >= first:
            s[SENT] += 1
        else:
            s[HANDSHAKES] += 1
        if packet > s[TOP]:
            s[TOP] = packet
            if delays:
                s[s[_TIMES] + (packet & (p[P.RING] - 1))] = now
            if s[_TIMED] == ENDLESS:
                s[_TIMED] = packet
                s[_TIMED_AT] = now
        elif packet >= first:
            s[REPEATED] += 1
        return packet

    def start(p: Any, s: Any, g: Any) -> None:
        fill(p, s, g)

    def resume(p: Any, s: Any, g: Any) -> Any:
        if s[_HELD_BACK] == 0:
            return False
        s[_HELD_BACK] = 0
        s[_REPAIR] = 0
        if sack_of(p) and s[PHASE] == RECOVERY:
            s[_REPAIR] = 1
        else:
            fill(p, s, g)
        return True

    def measure_rtt(p: Any, s: Any, now: Any) -> None:
        tick = p[P.TICK]
        ticks = measure(s[_TIMED_AT], now, s[_PHASE_OF_CLOCK], tick)
        s[_SRTT], s[_RTTVAR] = smooth(ticks, s[_SRTT], s[_RTTVAR])
        s[RTT] = ticks * tick
        if pauses:
            s[_BEFORE] = s[_CURRENT]
        s[_CURRENT] = (s[_RTTVAR] + (s[_SRTT] >> 3)) * tick
        s[_BACKOFF] = 1
        s[RTO] = timeout_now(p, s)

    measure_rtt = dev(measure_rtt)

    def back_off_timer(p: Any, s: Any) -> None:
        s[_BACKOFF], s[_SRTT], s[_RTTVAR] = back_off(s[_BACKOFF], s[_SRTT], s[_RTTVAR], s[RTO], p[P.MAX_RTO])
        s[RTO] = timeout_now(p, s)

    back_off_timer = dev(back_off_timer)

    def allow(p: Any, s: Any, g: Any, order: Any, forced: Any) -> None:
        # What an event allows to send.
        if forced != NONE:
            s[_FORCED] = forced
        una, seq = s[ACKED], s[_SEQ]
        window = p[P.WINDOW]
        repair = sack_of(p) and order & SEND != 0 and s[PHASE] == RECOVERY
        s[_REPAIR] = 1 if repair else 0
        limit = np.int64(NONE)
        if order & (SEND | SEND_TWO) and not repair:
            limit = una + min(np.int64(g[0]) + s[INFLATION], window)
            if order & SEND_TWO:
                limit = min(limit, seq + 1)
        if order & LIMITED and seq <= una + window and float(seq) <= float(una) + g[0] + float(s[_DUPACKS]):
            limit = max(limit, seq)
        s[_LIMIT] = limit

    allow = dev(allow)

    def fall_back(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
        # What a timeout does.
        s[CUTS] += 1
        g[0], s[SSTHRESH], s[_DUPACKS] = variant_timeout(
            s, g[1:], p, constants, now, s[RTT], s[TOP], s[_DUPACKS], g[0]
        )
        back_off_timer(p, s)
        s[DEADLINE] = now + s[RTO]
        s[_TIMED] = ENDLESS
        s[_SEQ] = s[ACKED] + 1
        s[_FORCED] = NONE
        allow(p, s, g, np.int64(SEND), np.int64(NONE))

    fall_back = dev(fall_back)

    def ask(p: Any, s: Any, now: Any) -> None:
        # A round trip of probes begins.
        s[_WANTED] = 1
        wait = timeout_of(s[_CURRENT], 1, p[P.MIN_RTO], p[P.MAX_RTO], p[P.TICK])
        s[DEADLINE] = now + (interval if interval > 0 else wait)
        if judged:
            s[_OLDEST] = s[PROBES]

    ask = dev(ask)

    @cold
    def begin_pause(p: Any, s: Any, now: Any, cause: Any) -> None:
        s[PROBING] = 1
        s[PROBING_SINCE] = now
        s[PROBE_CYCLES] += 1
        s[_CAUSE] = cause
        s[_REPLIES] = 0
        s[_WORSE] = 0
        s[_OLDEST] = s[PROBES]
        s[_TIMED] = ENDLESS
        s[_FORCED] = NONE
        s[_LIMIT] = NONE
        s[_REPAIR] = 0
        ask(p, s, now)

    begin_pause = dev(begin_pause)

    def end_pause(s: Any, now: Any) -> None:
        s[PROBING] = 0
        s[PROBE_TIME] += now - s[PROBING_SINCE]

    end_pause = dev(end_pause)

    @cold
    def go_on(p: Any, s: Any, g: Any, now: Any) -> None:
        # Repair what is missing, with the window as it is.
        forced, back = repair_again(s, p, s[ACKED], s[TOP], s[_DUPACKS])
        s[_DUPACKS] = max(s[_DUPACKS], p[P.DUPACKS]) if s[PHASE] == RECOVERY else 0
        s[_TIMED] = ENDLESS
        s[DEADLINE] = now + s[RTO]
        s[_SEQ] = s[ACKED] + 1 if back else max(s[_SEQ], forced + 1)
        s[_FORCED] = NONE
        allow(p, s, g, np.int64(SEND), forced)

    go_on = dev(go_on) if pauses else None

    @cold
    def ack_in_pause(p: Any, s: Any, now: Any, at: Any, ack: Any) -> None:
        una, last = s[ACKED], s[_LAST]
        if ack < una:
            return
        listen(s, p, at, ack, una)
        if ack == una:
            s[_DUPACKS] += 1
            return
        s[ACKED] = ack
        s[_DUPACKS] = 0
        s[_SEQ] = max(s[_SEQ], ack + 1)
        if s[_WRITTEN] - ack <= p[P.SEND_WAKE] and p[P.SEND_BUFFER] > 0:
            s[_WRITTEN] = min(last, ack + p[P.SEND_BUFFER])
        if ack == last:
            end_pause(s, now)
            s[_WANTED] = 0
            s[DEADLINE] = FOREVER

    ack_in_pause = dev(ack_in_pause) if pauses else None

    @cold
    def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, serial: Any) -> None:
        if plain:
            at, ack = np.int64(0), serial - 1
        else:
            s[_CONSUMED] = serial + 1
            at = s[_RING] + ack_words * (serial & (p[P.RING] - 1))
            ack = s[at + 1]
        una, last = s[ACKED], s[_LAST]
        cwnd, ssthresh, dupacks = g[0], s[SSTHRESH], s[_DUPACKS]
        f = g[1:]
        order = np.int64(SEND)
        forced = np.int64(NONE)
        if ack > una or (ack == una and una < last):
            hear(p, ack - una, now, s[RTT], f)
        if pauses and s[PROBING] != 0:
            ack_in_pause(p, s, now, at, ack)
            return
        if ack > una:
            if s[PHASE] != NORMAL:
                cwnd, order, forced = new_ack(s, p, at, ack, una, cwnd)
            before = una
            una = ack
            s[ACKED] = una
            s[_SEQ] = max(s[_SEQ], una + 1)
            if s[_WRITTEN] - una <= p[P.SEND_WAKE] and p[P.SEND_BUFFER] > 0:  # the writer wakes
                s[_WRITTEN] = min(last, una + p[P.SEND_BUFFER])
            if order & PARTIAL:
                if order & TIMER:
                    s[DEADLINE] = now + s[RTO]
                if order & END_BACKOFF or ack >= s[_TIMED]:
                    s[_BACKOFF] = 1
                    s[RTO] = timeout_now(p, s)
                if not sack_of(p) and ack >= s[_TIMED]:
                    s[_TIMED] = ENDLESS
            else:
                if ack >= s[_TIMED]:
                    s[_TIMED] = ENDLESS
                    measure_rtt(p, s, now)
                s[DEADLINE] = now + s[RTO]
                if order & NO_GROWTH:
                    dupacks = np.int64(0)
                else:
                    cwnd, ssthresh, dupacks, forced = grow(
                        s, f, p, constants, now, s[RTT], ack, before, s[_SEQ], dupacks, cwnd, ssthresh
                    )
                if una == 0 and first_of(p) == 1 and p[P.HANDSHAKE] > 0:
                    cwnd = float(s[_INITIAL_WINDOW])
                if una == last:  # all there is has been acknowledged
                    s[DEADLINE] = FOREVER
                    forced = np.int64(NONE)
        elif ack == una and una < last:  # after the last ACK there is nothing to repair
            cwnd, ssthresh, dupacks, order, forced = dup_ack(
                s, f, p, constants, now, s[RTT], at, una, s[_SEQ], s[TOP], dupacks, cwnd, ssthresh
            )
            if order & CUT:
                s[FAST_RETRANSMITS] += 1
                if order & BACK_OFF:
                    back_off_timer(p, s)
                elif order & SPARE:
                    s[SPARED] += 1
                else:
                    s[CUTS] += 1
                s[DEADLINE] = now + s[RTO]
                s[_TIMED] = ENDLESS
                if order & GO_BACK:
                    s[_SEQ] = una + 1
            if pauses and order & PAUSE:
                s[FAST_RETRANSMITS] += 1
                s[_DUPACKS] = dupacks
                begin_pause(p, s, now, np.int64(_DUPLICATES_CAME))
                return
        g[0] = cwnd
        s[SSTHRESH] = ssthresh
        s[_DUPACKS] = dupacks
        allow(p, s, g, order, forced)

    @cold
    def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
        if pauses and s[PROBING] != 0:  # a probe or its reply was lost
            s[_REPLIES] = 0
            s[_WORSE] = 0
            ask(p, s, now)
            return
        s[TIMEOUTS] += 1
        if first_of(p) == 1 and s[ACKED] < 0:  # a lost SYN: start with one packet
            s[_INITIAL_WINDOW] = min(s[_INITIAL_WINDOW], np.int64(1))
        elif pauses:
            what = decide(s[_CURRENT], s[_BEFORE], s[_BACKOFF])
            if what == ASK:
                begin_pause(p, s, now, np.int64(_TIMER))
                return
            if what != LOSE:
                s[SPARED] += 1
                back_off_timer(p, s)
                go_on(p, s, g, now)
                return
        fall_back(p, s, g, constants, now)

    def answer(p: Any, s: Any, packet: Any) -> Any:
        # The acknowledgement that `packet` causes goes into the ring.
        if plain:
            return s[EXPECTED]
        serial = s[_SERIAL]
        mask = p[P.RING] - 1
        if serial - s[_CONSUMED] > mask:
            return np.int64(FULL)
        at = s[_RING] + ack_words * (serial & mask)
        s[at] = 0
        s[at + 1] = s[EXPECTED] - 1
        if marks:
            put_mark(s, p, at, s[EXPECTED])
        if sack_of(p):
            s[at] = blocks(s, _STACK, s[_BITS], mask, packet, s[EXPECTED], s[_HIGHEST], at + 2)
        s[_SERIAL] = serial + 1
        return serial

    answer = dev(answer)

    @cold
    def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
        duplicates = s[_DUPLICATES]
        expected, highest = arrive(s, _HELD, s[_BITS], p[P.RING] - 1, packet, s[EXPECTED], s[_HIGHEST])
        s[EXPECTED] = expected
        s[_HIGHEST] = highest
        fresh = s[_DUPLICATES] == duplicates
        if p[P.ACK_EVERY] > 1:
            first_of_two = s[PENDING] == FOREVER
            if (first_of_two or more) and packet == expected - 1 and packet >= highest and packet > 0:
                if first_of_two:
                    s[PENDING] = t + p[P.ACK_DELAY]
                s[_ANSWERED] = packet
                return np.int64(NONE), fresh
            s[PENDING] = FOREVER
        return answer(p, s, packet), fresh

    @cold
    def on_delay(p: Any, s: Any) -> Any:
        s[PENDING] = FOREVER
        return answer(p, s, s[_ANSWERED])

    def size_of_ack(p: Any, s: Any, serial: Any) -> Any:
        if plain:
            return p[P.ACK]
        return p[P.ACK] + p[P.SACK_BLOCK] * s[s[_RING] + ack_words * (serial & (p[P.RING] - 1))]

    def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
        return t - s[s[_TIMES] + (packet & (p[P.RING] - 1))]

    def complete(s: Any) -> Any:
        return s[EXPECTED] > s[_LAST]

    def finished(s: Any) -> Any:
        return s[ACKED] == s[_LAST]

    def probe(p: Any, s: Any, now: Any) -> Any:
        if not pauses or s[_WANTED] == 0:
            return np.int64(NONE)
        s[_WANTED] = 0
        s[_ASKED_AT] = now
        s[PROBES] += 1
        return s[PROBES] - 1

    @cold
    def on_probe(p: Any, s: Any, g: Any, constants: Any, now: Any, number: Any) -> None:
        if pauses and s[PROBING] != 0 and number >= s[_OLDEST]:
            if judged:
                ticks = measure(s[_ASKED_AT], now, s[_PHASE_OF_CLOCK], p[P.TICK])
                if ticks * 64 > s[_SRTT] * (8 + TOLERANCE):
                    s[_WORSE] = 1
            s[_REPLIES] += 1
            if s[_REPLIES] < replies:
                ask(p, s, now)
                return
            end_pause(s, now)
            if s[_WORSE] == 0:
                s[SPARED] += 1
            elif s[_CAUSE] == _TIMER:
                fall_back(p, s, g, constants, now)
                return
            else:
                s[CUTS] += 1
                g[0], s[SSTHRESH] = reduce_now(s, g[1:], p, constants, now, s[RTT], g[0])
            go_on(p, s, g, now)

    def on_notice(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
        if noticed and s[PROBING] == 0 and s[ACKED] >= 0 and s[ACKED] < s[_LAST]:
            begin_pause(p, s, now, np.int64(_NOTICE))

    def corrupted(p: Any, s: Any, packet: Any) -> None:
        if marks:
            note_error(s, p, packet, s[EXPECTED])

    @rarely
    def on_echo(p: Any, s: Any, g: Any, constants: Any, now: Any, serial: Any) -> None:
        ack = serial - 1 if plain else s[s[_RING] + ack_words * (serial & (p[P.RING] - 1)) + 1]
        first = first_of(p)
        recovers = s[PHASE] != NORMAL and first == 1  # Vegas never returns to NORMAL
        if ack <= s[REDUCED_AT] or recovers or ack < first:
            return
        half = max(reduce(p, g[1:], constants, now, s[RTT], min(g[0], float(p[P.WINDOW]))), 2.0)
        g[0] = half
        s[SSTHRESH] = np.int64(half)
        s[CUTS] += 1
        s[REDUCED_AT] = s[TOP]
        s[REDUCED] = 1

    return Association(
        prepare, dev(start), dev(take), dev(on_ack), dev(on_timeout), dev(resume), dev(on_data),
        dev(on_delay), dev(size_of_ack), dev(delay_of), dev(complete), dev(finished), dev(probe),
        dev(on_probe), dev(on_notice), dev(corrupted), dev(on_echo), first_of, variant.first,
    )  # fmt: skip
