"""A leg outside the radio: a wire, a delay element driven by ticks, a slow processor.

Packets are served one after the other, wait a constant delay, and are released in order, at once or at the
next tick, and then in clumps.  The server's speed may swing slowly.

On a processor an application may read what is released, some at once, and only while no packet is served, as
interrupts come first.  Packets then leave when the read that takes them ends.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, P
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.wireless.layout import STREAM_SWING, Leg, Radio
from netcarlo.kernels.wireless.state import (
    FLOW_PHASE,
    G_COUNT,
    G_FREE,
    G_HEAD,
    G_INTERVAL,
    G_LAST,
    G_READ_END,
    G_READING,
    G_REST,
    G_RING,
    G_SLOWNESS,
    G_UNREAD,
    LEG_WORDS,
    LEGS,
    NO_EVENT,
    START_OF_KEYS,
)

_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_MEAN = 131070  # of the sum of four 16-bit numbers
_NORMAL = 1774  # (sum - _MEAN) * _NORMAL >> 16 has standard deviation 1024


class Legs(NamedTuple):
    """The compiled functions; `m` is scratch, `leg` a number, `t` the time [ns]."""

    enter: Any
    """`(m, leg, t, size, frame) -> bool`: a packet of `size` bytes comes; False: no room."""
    due: Any
    """`(m, leg, t) -> int`: the leg's next event is now; how many packets leave."""
    leave: Any
    """`(m, leg) -> frame`: the first packet leaves."""
    go_on: Any
    """`(m, leg, t)`: after those that were due, the application reads on."""
    occupy: Any
    """`(m, leg, t, time)`: the server is busy for so long [ns]."""


def make_leg(dev: Callable[[Any], Any]) -> Legs:
    """Compile for a target."""
    draw = make_draw(dev)

    def entry(m: Any, at: Any, number: Any) -> Any:
        # The word of a packet in the ring, by its number from the head on.
        place = m[at + G_HEAD] + number
        return m[at + G_RING] + 2 * (place if place < m[at + Leg.ROOM] else place - m[at + Leg.ROOM])

    entry = dev(entry)

    def next_event(m: Any, leg: Any, at: Any) -> None:
        key = np.int64(NO_EVENT)
        if m[at + G_COUNT] > m[at + G_UNREAD]:
            key = m[entry(m, at, m[at + G_UNREAD])] << 2 | FLOW_PHASE
        if m[at + G_READING] > 0:
            key = min(key, m[at + G_READ_END] << 2 | FLOW_PHASE)
        m[START_OF_KEYS + m[Radio.NODES] + leg] = key

    next_event = dev(next_event)

    @cold
    def slowness(m: Any, leg: Any, at: Any, t: Any) -> Any:
        interval = t // m[at + Leg.SWING_EVERY]
        if interval != m[at + G_INTERVAL]:
            a, b, c, d = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_SWING + leg, interval)
            half = np.uint64(16)
            total = np.int64((a >> half) + (b >> half) + (c >> half) + (d >> half))
            m[at + G_INTERVAL] = interval
            m[at + G_SLOWNESS] = m[at + Leg.SWING] * (((total - _MEAN) * _NORMAL) >> 16)
        return m[at + G_SLOWNESS]

    slowness = dev(slowness)

    def swing(m: Any, leg: Any, at: Any, t: Any, time: Any) -> Any:
        # By how much longer something takes that begins at time t.
        return (time * slowness(m, leg, at, t)) >> 30 if m[at + Leg.SWING] > 0 else np.int64(0)

    swing = dev(swing)

    @cold
    def enter(m: Any, leg: Any, t: Any, size: Any, frame: Any) -> Any:
        at = m[LEGS] + leg * LEG_WORDS
        if m[at + G_COUNT] >= m[at + Leg.ROOM]:
            return False
        start = max(t, m[at + G_FREE])
        service = ((size + m[at + Leg.OVERHEAD]) * m[at + Leg.BYTE_TIME] + _HALF) >> _BITS
        service += m[at + Leg.PACKET_TIME]
        service += swing(m, leg, at, start, service)
        m[at + G_FREE] = start + service
        m[at + G_READ_END] += service
        release = start + service + m[at + Leg.DELAY]
        tick = m[at + Leg.TICK]
        if tick > 0:
            release += (m[at + Leg.PHASE] - release) % tick
        release = max(release, m[at + G_LAST])
        m[at + G_LAST] = release
        place = entry(m, at, m[at + G_COUNT])
        m[place] = release
        m[place + 1] = frame
        m[at + G_COUNT] += 1
        if m[at + G_COUNT] == 1 or m[at + G_READING] > 0:
            next_event(m, leg, at)
        return True

    @cold
    def due(m: Any, leg: Any, t: Any) -> Any:
        at = m[LEGS] + leg * LEG_WORDS
        if m[at + Leg.READ] == 0:
            return np.int64(1)
        count = m[at + G_READING]
        if count > 0 and m[at + G_READ_END] == t:
            m[at + G_READING] = 0
            return count
        m[at + G_UNREAD] += 1
        return np.int64(0)

    def leave(m: Any, leg: Any) -> Any:
        at = m[LEGS] + leg * LEG_WORDS
        frame = m[m[at + G_RING] + 2 * m[at + G_HEAD] + 1]
        head = m[at + G_HEAD] + 1
        m[at + G_HEAD] = head if head < m[at + Leg.ROOM] else 0
        m[at + G_COUNT] -= 1
        m[at + G_UNREAD] = max(m[at + G_UNREAD] - 1, 0)
        next_event(m, leg, at)
        return frame

    @cold
    def go_on(m: Any, leg: Any, t: Any) -> None:
        at = m[LEGS] + leg * LEG_WORDS
        if m[at + G_UNREAD] > 0 and m[at + G_READING] == 0:
            rest, most, size = m[at + G_REST], m[at + Leg.READ], m[at + Leg.SIZE]
            count = min(m[at + G_UNREAD], (most - rest + size - 1) // size)
            got = min(rest + count * size, most)
            m[at + G_REST] = rest + count * size - got
            m[at + G_READING] = count
            start = max(t, m[at + G_FREE])
            time = got * m[at + Leg.READ_TIME] // size
            m[at + G_READ_END] = start + time + swing(m, leg, at, start, time)
        next_event(m, leg, at)

    def occupy(m: Any, leg: Any, t: Any, time: Any) -> None:
        at = m[LEGS] + leg * LEG_WORDS
        m[at + G_FREE] = max(m[at + G_FREE], t) + time
        m[at + G_READ_END] += time
        next_event(m, leg, at)

    return Legs(dev(enter), dev(due), dev(leave), dev(go_on), dev(occupy))
