"""A leg outside the radio: a wire, a delay element driven by ticks, a slow processor.

Packets are served one after the other, wait a constant delay, and are released in order, at once or at the
next tick, and then in clumps.  The server's speed may swing slowly.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import BYTE_TIME_BITS, P
from netcarlo.kernels.philox import make_draw
from netcarlo.kernels.wifi.layout import STREAM_SWING, Leg, Radio
from netcarlo.kernels.wifi.state import (
    FLOW_PHASE,
    G_COUNT,
    G_FREE,
    G_HEAD,
    G_INTERVAL,
    G_LAST,
    G_RING,
    G_SLOWNESS,
    LEG_WORDS,
    LEGS,
    NO_EVENT,
    START_OF_KEYS,
)

_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_MEAN = 131070  # of the sum of four 16-bit numbers
_NORMAL = 1774  # (sum - _MEAN) * _NORMAL >> 16 has standard deviation 1024


def make_leg(dev: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """Compile `(enter, leave, occupy)` for a target.

    `enter(m, leg, t, size, frame) -> bool`: a packet of `size` bytes comes at time t; False: no room.
    `leave(m, leg) -> frame`: the first packet is released.  `occupy(m, leg, t, time)`: the server is busy for
    so long [ns].
    """
    draw = make_draw(dev)

    def next_event(m: Any, leg: Any, at: Any) -> None:
        key = np.int64(NO_EVENT)
        if m[at + G_COUNT] > 0:
            key = m[m[at + G_RING] + 2 * m[at + G_HEAD]] << 2 | FLOW_PHASE
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

    @cold
    def enter(m: Any, leg: Any, t: Any, size: Any, frame: Any) -> Any:
        at = m[LEGS] + leg * LEG_WORDS
        room = m[at + Leg.ROOM]
        if m[at + G_COUNT] >= room:
            return False
        start = max(t, m[at + G_FREE])
        service = ((size + m[at + Leg.OVERHEAD]) * m[at + Leg.BYTE_TIME] + _HALF) >> _BITS
        service += m[at + Leg.PACKET_TIME]
        if m[at + Leg.SWING] > 0:
            service += (service * slowness(m, leg, at, start)) >> 30
        m[at + G_FREE] = start + service
        release = start + service + m[at + Leg.DELAY]
        tick = m[at + Leg.TICK]
        if tick > 0:
            release += (m[at + Leg.PHASE] - release) % tick
        release = max(release, m[at + G_LAST])
        m[at + G_LAST] = release
        place = m[at + G_HEAD] + m[at + G_COUNT]
        place = m[at + G_RING] + 2 * (place if place < room else place - room)
        m[place] = release
        m[place + 1] = frame
        m[at + G_COUNT] += 1
        if m[at + G_COUNT] == 1:
            next_event(m, leg, at)
        return True

    def leave(m: Any, leg: Any) -> Any:
        at = m[LEGS] + leg * LEG_WORDS
        frame = m[m[at + G_RING] + 2 * m[at + G_HEAD] + 1]
        head = m[at + G_HEAD] + 1
        m[at + G_HEAD] = head if head < m[at + Leg.ROOM] else 0
        m[at + G_COUNT] -= 1
        next_event(m, leg, at)
        return frame

    def occupy(m: Any, leg: Any, t: Any, time: Any) -> None:
        at = m[LEGS] + leg * LEG_WORDS
        m[at + G_FREE] = max(m[at + G_FREE], t) + time

    return dev(enter), dev(leave), dev(occupy)
