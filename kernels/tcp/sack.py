"""TCP with selective acknowledgements: recovery driven by a scoreboard and an estimate of the pipe.

Source: Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP" (CCR 1996), in
the form of ns-2 (`Agent/TCP/Sack1`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.receiver import BLOCKS, make_bits
from netcarlo.kernels.tcp.recovery import (
    AFTER_TIMEOUT,
    CUT,
    END_BACKOFF,
    LIMITED,
    NO_GROWTH,
    NONE,
    NORMAL,
    OWN,
    PARTIAL,
    PHASE,
    RECOVER,
    RECOVERY,
    SEND,
    TIMER,
    Pause,
    Variant,
)

_PIPE = OWN  # packets thought to be in the network
_REPAIRED = OWN + 1  # holes below this packet have been sent again
_HIGHEST = OWN + 2  # highest packet that a block reported, NONE: empty scoreboard
_BITS = OWN + 3  # where the scoreboard begins in scratch
_GONE = OWN + 4  # packets up to this one that no block reported are lost: they are holes, and not in the pipe
_WATCHED = OWN + 5  # the first hole that was resent is the one behind this packet;
_NOTED = OWN + 6  # packets from this one on have been put out later


def make(dev: Callable[[Any], Any], control: Any, *, restarts: bool = False) -> Variant:
    """Compile SACK TCP over a congestion control (`grow`, `reduce`; see `aimd`).

    With `restarts` it also has `listen` and `repair` of a pause: recovery may begin with nothing in the pipe.
    And it sees when the first hole, resent, is lost again: packets put out later are reported.
    """
    base = reno.make(dev, control)
    base_timeout = base.timeout
    window = dev(reno.window_of)
    control_acked, control_grow = reno.make_growth(dev, control)
    control_reduce = dev(control.reduce)
    test, _, drop = make_bits(dev)

    @cold
    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        m[_REPAIRED] = NONE
        m[_HIGHEST] = NONE
        m[_GONE] = NONE
        m[_BITS] = free
        for _ in range(parameters[P.RING] >> 6):
            m[free] = 0
            free += 1
        return free

    @cold
    def clear(m: Any, parameters: Any) -> None:
        m[_REPAIRED] = NONE
        m[_HIGHEST] = NONE
        m[_GONE] = NONE
        for word in range(parameters[P.RING] >> 6):
            m[m[_BITS] + word] = 0

    clear = dev(clear)

    @cold
    def record(m: Any, parameters: Any, at: Any) -> Any:
        # Enter an ACK's blocks into the scoreboard, a word of 64 packets at a time.
        news = False
        mask = parameters[P.RING] - 1
        for block in range(BLOCKS):
            left = m[at + 2 + 2 * block]
            if left < 0:
                break
            right = m[at + 3 + 2 * block]
            m[_HIGHEST] = max(m[_HIGHEST], right - 1)
            while left < right:
                stop = min(right, (left | 63) + 1)
                run = np.int64(-1) << np.int64(left & 63)
                if stop & 63:
                    run &= ~(np.int64(-1) << np.int64(stop & 63))
                word = m[_BITS] + ((left & mask) >> 6)
                if m[word] & run != run:
                    news = True
                    m[word] |= run
                left = stop
        return news

    record = dev(record)

    def forget(m: Any, parameters: Any, ack: Any, una: Any) -> None:
        # Packets that have been acknowledged leave the scoreboard.
        for packet in range(una + 1, ack + 1):
            drop(m, m[_BITS], parameters[P.RING] - 1, packet)

    forget = dev(forget)

    @cold
    def new_ack(m: Any, parameters: Any, at: Any, ack: Any, una: Any, cwnd: Any) -> Any:
        if m[PHASE] == AFTER_TIMEOUT:
            m[PHASE] = NORMAL
            return cwnd, SEND, NONE
        if ack >= m[RECOVER]:
            m[PHASE] = NORMAL
            m[RECOVER] = 0
            clear(m, parameters)
            return cwnd, SEND | NO_GROWTH, NONE
        forget(m, parameters, ack, una)
        record(m, parameters, at)
        m[_PIPE] -= 2  # the ACK's own packet, and the one that filled the hole
        if restarts and una < m[_GONE]:
            m[_PIPE] += 1
        return cwnd, SEND | PARTIAL | TIMER | END_BACKOFF, NONE

    def grow(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        ack: Any, before: Any, seq: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        if m[_HIGHEST] != NONE:
            clear(m, parameters)
        control_acked(ack - before, f)
        return control_grow(cwnd, ssthresh, now, rtt, constants, f), ssthresh, 0, NONE

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        if m[PHASE] == AFTER_TIMEOUT:
            return cwnd, ssthresh, dupacks, SEND, NONE
        news = record(m, parameters, at)
        if m[PHASE] == RECOVERY:
            m[_PIPE] -= 1
            if news and dupacks > 0:
                dupacks += 1
            if restarts:
                later = m[_HIGHEST] - m[_NOTED] + 1
                if m[_WATCHED] == una and m[_REPAIRED] > una + 1 and later >= parameters[P.DUPACKS]:
                    m[_NOTED] = seq
                    return cwnd, ssthresh, dupacks, SEND | CUT, una + 1
            return cwnd, ssthresh, dupacks, SEND, NONE
        if not news:
            return cwnd, ssthresh, dupacks, SEND if dupacks == 0 else 0, NONE
        dupacks += 1
        threshold = parameters[P.DUPACKS]
        if dupacks < threshold:
            return cwnd, ssthresh, dupacks, LIMITED, NONE
        if dupacks > threshold or not (una > m[RECOVER] or una == 0):
            return cwnd, ssthresh, dupacks, 0, NONE
        half = control_reduce(window(cwnd, 0, parameters[P.WINDOW]), False, now, rtt, constants, f)
        m[PHASE] = RECOVERY
        m[RECOVER] = top
        m[_PIPE] = top - una - threshold
        m[_REPAIRED] = max(m[_REPAIRED], una + 2)
        m[_GONE] = NONE
        m[_WATCHED] = una
        m[_NOTED] = seq
        return half, max(int(half), reno.FLOOR), dupacks, CUT, una + 1

    @cold
    def timeout(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        top: Any, dupacks: Any, cwnd: Any,
    ) -> Any:  # fmt: skip
        clear(m, parameters)
        cwnd, ssthresh, dupacks = base_timeout(m, f, parameters, constants, now, rtt, top, dupacks, cwnd)
        m[PHASE] = AFTER_TIMEOUT
        return cwnd, ssthresh, dupacks

    @cold
    def next_packet(m: Any, parameters: Any, una: Any, seq: Any, last: Any, cwnd: Any) -> Any:
        if restarts and m[_WATCHED] != una:
            m[_WATCHED] = una
            m[_NOTED] = seq
        if m[_PIPE] >= int(cwnd):
            return NONE
        bits = m[_BITS]
        mask = parameters[P.RING] - 1
        hole = max(m[_REPAIRED], una + 1)
        while hole <= m[_HIGHEST] and test(m, bits, mask, hole):
            hole += 1
        m[_REPAIRED] = hole
        is_hole = hole < m[_HIGHEST]  # something above it has arrived
        if restarts:
            is_hole = is_hole or hole <= m[_GONE]
        packet = hole if is_hole else seq
        if packet > una + parameters[P.WINDOW] or packet > last:
            return NONE
        if is_hole:
            m[_REPAIRED] = hole + 1
            if restarts and hole == una + 1:
                m[_NOTED] = max(seq, hole + 1)
        m[_PIPE] += 1
        return packet

    def listen(m: Any, parameters: Any, at: Any, ack: Any, una: Any) -> None:
        forget(m, parameters, ack, una)
        record(m, parameters, at)

    @cold
    def repair(m: Any, parameters: Any, una: Any, top: Any, dupacks: Any) -> Any:
        if una == top:
            m[PHASE] = NORMAL
            clear(m, parameters)
            return NONE, False
        m[PHASE] = RECOVERY
        m[RECOVER] = top
        m[_PIPE] = 0
        m[_REPAIRED] = una + 1
        m[_GONE] = top
        return NONE, False

    pause = Pause(0, False, 0, False, None, dev(listen), dev(repair), None) if restarts else None
    return base._replace(
        pause=pause,
        prepare=dev(prepare),
        new_ack=dev(new_ack),
        grow=dev(grow),
        dup_ack=dev(dup_ack),
        timeout=dev(timeout),
        next_packet=dev(next_packet),
        sack=True,
    )
