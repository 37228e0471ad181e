"""Hops on which packets overtake each other, and the forwarding of data and ACKs over such a path.

A packet is forwarded at once up to the end of the next hop that reorders (`base.varying`). There it waits in
a queue ordered by time, which holds packets of both directions. So each of the following hops, and the
receiver, processes packets in order of arrival. After the last such hop of its direction a packet is
forwarded to the end at once.

In all functions `m` is the scratch, with the words of `Word` from word `BASE` on.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.path import hops, timed_queue
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, IN_QUEUE, MAIN, QUEUE_FULL
from netcarlo.kernels.path.timed_queue import Queue

BASE: Any = slot("access_base")
"""Word of scratch where the state begins."""


class Word(IntEnum):
    """Words of scratch."""

    QUEUE = 0
    """First word of the queue (`timed_queue.Queue`)."""
    SENT = len(Queue)
    """Number of packets sent."""
    NEWEST_RECEIVED = auto()
    """Highest number of a packet that has reached the receiver, in order of sending."""
    NEWEST_ACK = auto()
    """Highest id of an ACK."""


STATE_WORDS = len(Queue) + 3

# Bits of a tag: direction, number of hops that the packet has passed, number of the packet.
_BACK = 1  # flag of an ACK
_HOP = 1  # bits below the number of hops
_PLACE = 0xFF  # mask of direction and number of hops
_NUMBER = 8  # bits below the packet's number


def prepare(p: Any, m: Any, free: Any) -> Any:
    """Lay out the queue from word `free` on; return the next free word."""
    m[BASE + Word.SENT] = 0
    m[BASE + Word.NEWEST_RECEIVED] = -1
    m[BASE + Word.NEWEST_ACK] = 0
    return timed_queue.init(p, m, np.int64(BASE + Word.QUEUE), free)


def send(p: Any, outages: Any, losses: Any, m: Any, packet: Any, now: Any, wire: Any) -> Any:
    """Send a packet of `wire` bytes; return (fate, time) as `hops.transmit`, or IN_QUEUE."""
    number = m[BASE + Word.SENT]
    m[BASE + Word.SENT] = number + 1
    return _forward(p, outages, losses, m, FORWARD, now, packet, number << _NUMBER, now, wire)


def send_ack(p: Any, outages: Any, losses: Any, m: Any, t: Any, ack_id: Any, size: Any) -> Any:
    """Send an ACK of `size` bytes from the receiver; return as `send`."""
    m[BASE + Word.NEWEST_ACK] = max(m[BASE + Word.NEWEST_ACK], ack_id)
    return _forward(p, outages, losses, m, BACKWARD, t, ack_id, np.int64(_BACK), size, size)


def is_forgotten(p: Any, m: Any, ack_id: Any) -> Any:
    """Return True if a later ACK may have taken the place of an ACK in its ring."""
    return ack_id >= 0 and m[BASE + Word.NEWEST_ACK] - ack_id >= p[RowP.RING]


def due(p: Any, m: Any) -> Any:
    """Return the time of the first packet in the queue [ns], or FOREVER."""
    return timed_queue.due(p, m, np.int64(BASE + Word.QUEUE))


def pop(p: Any, m: Any) -> Any:
    """Remove the first packet of the queue; return (t, packet, tag, sent). For an ACK `sent` is its size."""
    return timed_queue.pop(p, m, np.int64(BASE + Word.QUEUE))


def overfull(m: Any) -> Any:
    """Return True if the queue was too small."""
    return m[BASE + Word.QUEUE + Queue.FULL] == 1


def is_ack(tag: Any) -> Any:
    """Return True if a packet of the queue is an ACK."""
    return tag & _BACK != 0


def step(
    p: Any, outages: Any, losses: Any, m: Any, out: Any,
    t: Any, packet: Any, tag: Any, sent: Any, wire: Any, counts: Any,
) -> Any:  # fmt: skip
    """Forward a packet of the sender at time t [ns]; `counts` is True if it carries data, which is counted.

    Returns as `send`.
    """
    fate, t = _forward(p, outages, losses, m, FORWARD, t, packet, tag, sent, wire)
    if counts:
        if t > p[RowP.END]:
            out[Out.IN_FLIGHT] += 1
        elif fate > ARRIVED:
            out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
        elif fate == ARRIVED:
            number = tag >> _NUMBER
            if number < m[BASE + Word.NEWEST_RECEIVED]:
                out[Out.REORDERED] += 1
            m[BASE + Word.NEWEST_RECEIVED] = max(m[BASE + Word.NEWEST_RECEIVED], number)
    return fate, t


def step_back(
    p: Any, outages: Any, losses: Any, m: Any, t: Any, ack_id: Any, tag: Any, size: Any
) -> Any:  # fmt: skip
    """Forward an ACK at time t [ns]; return as `send`."""
    return _forward(p, outages, losses, m, BACKWARD, t, ack_id, tag, size, size)


def _forward(
    p: Any, outages: Any, losses: Any, m: Any, direction: Any, t: Any, packet: Any, tag: Any, sent: Any,
    wire: Any,
) -> Any:  # fmt: skip
    """Forward a packet from the hop in its `tag` to the end of the next hop that reorders, or of the path."""
    hop, count = (tag & _PLACE) >> _HOP, hops.hop_count(m, MAIN, direction)
    while hop < count:
        fate, t = hops.forward(p, outages, losses, m, MAIN, direction, hop, np.int64(1), t, wire)
        if fate != ARRIVED:
            return fate, t
        hop += 1
        tag += 1 << _HOP
        if hops.reorders(outages, m, MAIN, direction, hop - 1):
            if t <= p[RowP.END]:
                timed_queue.push(p, m, np.int64(BASE + Word.QUEUE), t, packet, tag, sent, np.int64(_PLACE))
            return np.int64(IN_QUEUE), t
    return np.int64(ARRIVED), t
