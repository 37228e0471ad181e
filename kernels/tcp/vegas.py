"""TCP Vegas: a window steered by the difference between expected and actual rate.

Source: Brakmo and Peterson, "TCP Vegas" (JSAC 1995), in the form of ns-2 (`Agent/TCP/Vegas`): no
handshake and no header, cwnd may grow every other round trip in slow start, a fine-grained timeout
judged at duplicate ACKs, a send-time table as long as the window.  Times are integer nanoseconds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import (
    AFTER_TIMEOUT,
    BACK_OFF,
    CUT,
    NONE,
    OWN,
    PHASE,
    RECOVER,
    RECOVERY,
    SEND,
    Variant,
)

# State words; times are relative to the first sending.
_FIRST = OWN  # when the first packet was sent
_BASE = OWN + 1  # least RTT seen, NONE before the first ACK
_MEAN = OWN + 2  # smoothed RTT, 3 fraction bits
_DEVIATION = OWN + 3  # smoothed deviation, 2 fraction bits
_TIMEOUT = OWN + 4  # fine-grained timeout
_MARK = OWN + 5  # the packet whose ACK ends the round trip
_MARK_TIME = OWN + 6
_SUM = OWN + 7  # RTTs of this round trip
_COUNT = OWN + 8
_MAY_GROW = OWN + 9  # slow start: this is a round trip of growth
_WORRIED = OWN + 10  # ACKs after a retransmission that still check the timeout
_DEFLATED = OWN + 11  # cwnd to return to after the inflation
_CHANGED = OWN + 12  # when cwnd was last cut
_LIMIT = OWN + 13  # packets there are to send
_TABLE = OWN + 14  # where (send time, transmissions) of the packets begins

_STEP = 0  # f[0]: growth of cwnd per ACK in this round trip
_UNSENT = -1_000_000_000
_START_TIMEOUT = 1_000_000_000_000
_RESTART = 2.0  # cwnd after a timeout, least cwnd [packet]


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP Vegas.  It is its own congestion control; `control` is not used."""
    base = reno.make(dev, control)
    window = dev(reno.window_of)

    @cold
    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        m[_BASE] = NONE
        m[_TIMEOUT] = _START_TIMEOUT
        m[_MAY_GROW] = 1
        m[_LIMIT] = parameters[P.LIMIT]
        m[_TABLE] = free
        return free + 2 * parameters[P.WINDOW]

    def on_send(m: Any, parameters: Any, packet: Any, now: Any) -> None:
        slots = parameters[P.WINDOW]
        if packet == 0:
            m[_FIRST] = now
            for i in range(slots):
                m[m[_TABLE] + 2 * i] = _UNSENT
                m[m[_TABLE] + 2 * i + 1] = 0
        entry = m[_TABLE] + 2 * (packet % slots)
        m[entry] = now - m[_FIRST]
        m[entry + 1] += 1

    def first_ack(m: Any, t: Any) -> None:
        if m[_BASE] == NONE:
            m[_BASE] = t
            m[_MEAN] = 8 * t
            m[_DEVIATION] = t
            m[_TIMEOUT] = ((m[_MEAN] >> 2) + t) >> 1

    first_ack = dev(first_ack)

    def new_ack(m: Any, parameters: Any, at: Any, ack: Any, una: Any, cwnd: Any) -> Any:
        return cwnd, SEND, NONE  # the phase lasts until the next duplicate ACK that acts

    def expired(m: Any, parameters: Any, una: Any, t: Any) -> Any:
        if una + 1 >= m[_LIMIT]:  # no such packet
            return False
        return t - m[m[_TABLE] + 2 * ((una + 1) % parameters[P.WINDOW])] >= m[_TIMEOUT]

    expired = dev(expired)

    @cold
    def steer(m: Any, f: Any, parameters: Any, t: Any, ack: Any, seq: Any, cwnd: Any, ssthresh: Any) -> Any:
        # Once per round trip: compare the rate with what the base RTT promises.
        rtt = m[_SUM] // m[_COUNT] if m[_COUNT] > 0 else t - m[_MARK_TIME]
        m[_SUM] = 0
        m[_COUNT] = 0
        sent = seq - m[_MARK]
        if rtt > 0:
            if rtt < m[_BASE] or sent <= 1:
                m[_BASE] = rtt
            # round((in flight / base - sent / rtt) * base), halves up, truncated toward zero
            excess = 2 * (seq - ack) * rtt - 2 * sent * m[_BASE] + rtt
            delta = abs(excess) // (2 * rtt)
            if excess < 0:
                delta = -delta
            f[_STEP] = 0.0
            if cwnd < ssthresh:
                m[_MAY_GROW] = 1 - m[_MAY_GROW]
                if m[_MAY_GROW] == 1:
                    if delta > parameters[P.VEGAS_GAMMA]:
                        ssthresh = np.int64(2)
                        cwnd = max(cwnd - cwnd / 8.0, _RESTART)
                    else:
                        f[_STEP] = 1.0
            elif delta > parameters[P.VEGAS_BETA]:
                cwnd = max(cwnd - 1.0, _RESTART)
            elif delta < parameters[P.VEGAS_ALPHA]:
                f[_STEP] = 1.0 / cwnd
        m[_MARK] = seq
        m[_MARK_TIME] = t
        return cwnd, ssthresh

    steer = dev(steer)

    def measure(m: Any, parameters: Any, t: Any, ack: Any, before: Any) -> None:
        # The fine-grained RTT of `ack`, if it was sent once; forget what has been acknowledged.
        slots = parameters[P.WINDOW]
        table = m[_TABLE]
        entry = table + 2 * (ack % slots)
        sent = m[entry]
        transmissions = m[entry + 1]
        k = (before + 1) % slots
        left = ack - before
        while k <= ack % slots and left > 0:  # stops where the table wraps, as in ns-2
            m[table + 2 * k] = _UNSENT
            m[table + 2 * k + 1] = 0
            k = (k + 1) % slots
            left -= 1
        if sent == 0 or transmissions != 1:
            return
        rtt = t - sent
        m[_SUM] += rtt
        m[_COUNT] += 1
        if rtt > 0:
            m[_BASE] = min(m[_BASE], rtt)
            error = rtt - (m[_MEAN] >> 3)
            m[_MEAN] += error
            m[_DEVIATION] += abs(error) - (m[_DEVIATION] >> 2)
            timeout = ((m[_MEAN] >> 2) + m[_DEVIATION]) >> 1
            m[_TIMEOUT] = timeout + (timeout >> 4)

    measure = dev(measure)

    def grow(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        ack: Any, before: Any, seq: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        t = now - m[_FIRST]
        first_ack(m, t)
        if before == 0:
            cwnd = float(parameters[P.INITIAL_WINDOW])
        if dupacks > parameters[P.DUPACKS] and cwnd > m[_DEFLATED]:
            cwnd = float(m[_DEFLATED])
            ssthresh = np.int64(2)
        if ack >= m[_MARK]:
            cwnd, ssthresh = steer(m, f, parameters, t, ack, seq, cwnd, ssthresh)
        if f[_STEP] == 1.0 and cwnd >= ssthresh:
            f[_STEP] = 0.0
        if f[_STEP] > 0.0 and cwnd - float(seq - ack) <= 2.0:
            cwnd = cwnd + f[_STEP]
        measure(m, parameters, t, ack, before)
        if m[_WORRIED] > 0:
            if expired(m, parameters, ack, t):
                m[_WORRIED] -= 1
                return cwnd, ssthresh, parameters[P.DUPACKS], ack + 1
            m[_WORRIED] = 0
        return cwnd, ssthresh, 0, NONE

    @cold
    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        t = now - m[_FIRST]
        first_ack(m, t)
        threshold = parameters[P.DUPACKS]
        dupacks += 1
        if not expired(m, parameters, una, t) and dupacks != threshold:
            if dupacks > threshold:
                return cwnd + 1.0, ssthresh, dupacks, SEND, NONE
            return cwnd, ssthresh, dupacks, 0, NONE
        order = SEND if dupacks >= threshold else 0
        if una <= m[RECOVER] and m[PHASE] == AFTER_TIMEOUT:
            return cwnd, ssthresh, dupacks, order, NONE
        entry = m[_TABLE] + 2 * ((una + 1) % parameters[P.WINDOW])
        transmissions = m[entry + 1]
        m[PHASE] = RECOVERY
        m[RECOVER] = top
        m[_WORRIED] = min(2, seq - una)
        m[_TIMEOUT] += m[_TIMEOUT] if transmissions > 1 else m[_TIMEOUT] >> 3
        if m[_CHANGED] < m[entry]:  # cwnd has not changed since this packet was sent
            size = np.int64(window(cwnd, 0, parameters[P.WINDOW]))
            if size <= 3:
                size = np.int64(2)
            elif transmissions > 1:
                size >>= 1
            else:
                size -= size >> 2
            m[_DEFLATED] = size
            m[_CHANGED] = t
            cwnd = float(size + dupacks)
        if transmissions == 1:
            dupacks = threshold
        return (
            cwnd,
            ssthresh,
            dupacks,
            order | (SEND if dupacks >= threshold else 0) | CUT | BACK_OFF,
            una + 1,
        )

    @cold
    def timeout(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        top: Any, dupacks: Any, cwnd: Any,
    ) -> Any:  # fmt: skip
        m[PHASE] = AFTER_TIMEOUT
        m[RECOVER] = top
        m[_DEFLATED] = 0
        m[_CHANGED] = now - m[_FIRST]
        half = window(cwnd, 0, parameters[P.WINDOW]) / 2.0
        return _RESTART, max(np.int64(half), reno.FLOOR), 0

    return base._replace(
        prepare=dev(prepare),
        new_ack=dev(new_ack),
        grow=dev(grow),
        dup_ack=dev(dup_ack),
        timeout=dev(timeout),
        on_send=dev(on_send),
        first=0,
    )
