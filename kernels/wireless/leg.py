"""Leg outside the radio network: a wire, a delay element driven by ticks, or a slow processor.

Packets are served one after the other, wait a constant delay, and are released in order: at once, or in
batches at the next tick. The speed of the server may vary slowly.

An MPDU of an A-MPDU arrives when it is complete, but is known to be received only when its PPDU ends. Packets
that have left the leg by then are released at that time, and count as early (`queues.early`).

On a processor an application may read released packets, several at once, and only while no packet is served,
because interrupts have priority. Packets then leave at the end of their read.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.wireless import stock
from netcarlo.kernels.wireless.layout import STREAM_SWING, Leg, Radio
from netcarlo.kernels.wireless.state import NO_EVENT, START_OF_KEYS, LegState, Phase, leg_at

queues: Any = slot("queues")

_WORDS = 2  # words of a packet in the ring: its release time and its frame
_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_MEAN = 131070  # mean of the sum of four 16-bit numbers
_NORMAL = 1774  # (sum - _MEAN) * _NORMAL >> 16 has standard deviation 1024


@noinline
def enter(m: Any, leg: Any, t: Any, size: Any, frame: Any) -> Any:
    """Add a packet of `size` bytes to a leg, given by its number; return False if the leg is full."""
    at = leg_at(m, leg)
    if m[at + LegState.COUNT] >= m[at + Leg.ROOM]:
        return False
    start = max(t - queues.early(m), m[at + LegState.FREE])
    service = ((size + m[at + Leg.OVERHEAD]) * m[at + Leg.BYTE_TIME] + _HALF) >> _BITS
    service += m[at + Leg.PACKET_TIME]
    service += _swing(m, leg, at, start, service)
    m[at + LegState.FREE] = start + service
    m[at + LegState.READ_END] += service
    release = start + service + m[at + Leg.DELAY]
    tick = m[at + Leg.TICK]
    if tick > 0:
        release += (m[at + Leg.PHASE] - release) % tick
    release = max(release, m[at + LegState.LAST])
    m[at + LegState.LAST] = release
    entry = ring.push(m, at + LegState.HEAD, _WORDS)
    m[entry] = release
    m[entry + 1] = frame
    stock.enter(m, frame)
    if m[at + LegState.COUNT] == 1 or m[at + LegState.READING] > 0:
        _schedule(m, leg, at, t)
    return True


@noinline
def due(m: Any, leg: Any, t: Any) -> Any:
    """Process the next event of the leg; return the number of packets that leave."""
    at = leg_at(m, leg)
    if m[at + Leg.READ] == 0:
        return np.int64(1)
    count = m[at + LegState.READING]
    if count > 0 and m[at + LegState.READ_END] == t:
        m[at + LegState.READING] = 0
        return count
    m[at + LegState.UNREAD] += 1
    return np.int64(0)


def leave(m: Any, leg: Any, t: Any) -> Any:
    """Remove the first packet and return it."""
    at = leg_at(m, leg)
    entry = ring.first(m, at + LegState.HEAD, _WORDS)
    frame = m[entry + 1]
    queues.set_early(m, t - m[entry] if m[at + Leg.READ] == 0 else np.int64(0))
    stock.leave(m, frame)
    ring.pop(m, at + LegState.HEAD)
    m[at + LegState.UNREAD] = max(m[at + LegState.UNREAD] - 1, 0)
    _schedule(m, leg, at, t)
    return frame


@noinline
def read_on(m: Any, leg: Any, t: Any) -> None:
    """Continue the reading application after the due packets have left."""
    queues.set_early(m, np.int64(0))
    at = leg_at(m, leg)
    if m[at + LegState.UNREAD] > 0 and m[at + LegState.READING] == 0:
        rest, most, size = m[at + LegState.REST], m[at + Leg.READ], m[at + Leg.SIZE]
        count = min(m[at + LegState.UNREAD], (most - rest + size - 1) // size)
        got = min(rest + count * size, most)
        m[at + LegState.REST] = rest + count * size - got
        m[at + LegState.READING] = count
        start = max(t, m[at + LegState.FREE])
        time = got * m[at + Leg.READ_TIME] // size
        m[at + LegState.READ_END] = start + time + _swing(m, leg, at, start, time)
    _schedule(m, leg, at, t)


def occupy(m: Any, leg: Any, t: Any, time: Any) -> None:
    """Keep the server busy with other work for `time` [ns]."""
    at = leg_at(m, leg)
    m[at + LegState.FREE] = max(m[at + LegState.FREE], t) + time
    m[at + LegState.READ_END] += time
    _schedule(m, leg, at, t)


def _schedule(m: Any, leg: Any, at: Any, t: Any) -> None:
    """Schedule the next event of the leg at `t` or later: a packet is released, or read."""
    key = np.int64(NO_EVENT)
    if m[at + LegState.COUNT] > m[at + LegState.UNREAD]:
        release = m[ring.entry(m, at + LegState.HEAD, _WORDS, m[at + LegState.UNREAD])]
        key = queues.not_before(t, release) << 2 | Phase.FLOW
    if m[at + LegState.READING] > 0:
        key = min(key, m[at + LegState.READ_END] << 2 | Phase.FLOW)
    m[START_OF_KEYS + m[Radio.NODES] + leg] = key


def _swing(m: Any, leg: Any, at: Any, t: Any, time: Any) -> Any:
    """Return the additional duration of a service that begins at time t [ns]."""
    return (time * _slowness(m, leg, at, t)) >> 30 if m[at + Leg.SWING] > 0 else np.int64(0)


@noinline
def _slowness(m: Any, leg: Any, at: Any, t: Any) -> Any:
    """Return the relative slowness of the leg at time t, times 2**30; 0 is its mean."""
    interval = t // m[at + Leg.SWING_EVERY]
    if interval != m[at + LegState.INTERVAL]:
        a, b, c, d = draw(m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_SWING + leg, interval)
        half = np.uint64(16)
        total = np.int64((a >> half) + (b >> half) + (c >> half) + (d >> half))
        m[at + LegState.INTERVAL] = interval
        m[at + LegState.SLOWNESS] = m[at + Leg.SWING] * (((total - _MEAN) * _NORMAL) >> 16)
    return m[at + LegState.SLOWNESS]
