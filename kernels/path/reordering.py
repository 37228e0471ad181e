"""Hops on which packets overtake each other: the way of data and acknowledgements over a path that has some.

A packet goes at once as far as behind the next hop that reorders, see `base.varying`.  There it waits in a
queue in order of time, in which those of both directions are: so each of the hops that follow meets its
packets in the order in which they come, and the receiver, too.  Behind the last such hop of a direction they
go on to the end at once, in order.

In all functions `m` is the scratch, with the `Word`s from word `BASE` on.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import Out, P
from netcarlo.kernels.path import hops, timed_queue
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, IN_QUEUE, MAIN, QUEUE_FULL
from netcarlo.kernels.path.timed_queue import Queue

BASE: Any = slot("access_base")
"""The word of scratch where the state begins."""


class Word(IntEnum):
    """Words of scratch."""

    QUEUE = 0
    """The `Queue` ones."""
    SENT = len(Queue)
    """Packets that the sender has put out,"""
    NEWEST_RECEIVED = auto()
    """the highest number among them that has reached the receiver,"""
    NEWEST_ACK = auto()
    """and the highest number of an acknowledgement."""


STATE_WORDS = len(Queue) + 3

# A tag: the number of the hops behind the packet, in its direction, and above that its own number.
_BACK = 1  # it is an acknowledgement
_HOP = 1  # bits below the number of hops
_PLACE = 0xFF  # both
_NUMBER = 8  # bits below the packet's number


def prepare(p: Any, m: Any, free: Any) -> Any:
    """Lay out the queue from word `free` on; returns the next free word."""
    m[BASE + Word.SENT] = 0
    m[BASE + Word.NEWEST_RECEIVED] = -1
    m[BASE + Word.NEWEST_ACK] = 0
    return timed_queue.init(p, m, np.int64(BASE + Word.QUEUE), free)


def send(p: Any, outages: Any, losses: Any, m: Any, packet: Any, now: Any, wire: Any) -> Any:
    """The sender puts a packet of `wire` bytes out; returns (fate, time) as `hops.transmit`, or WAITS."""
    number = m[BASE + Word.SENT]
    m[BASE + Word.SENT] = number + 1
    return _forward(p, outages, losses, m, FORWARD, now, packet, number << _NUMBER, now, wire)


def send_ack(p: Any, outages: Any, losses: Any, m: Any, t: Any, ack_id: Any, size: Any) -> Any:
    """The receiver puts an acknowledgement of `size` bytes out; returns as `send`."""
    m[BASE + Word.NEWEST_ACK] = max(m[BASE + Word.NEWEST_ACK], ack_id)
    return _forward(p, outages, losses, m, BACKWARD, t, ack_id, np.int64(_BACK), size, size)


def is_forgotten(p: Any, m: Any, ack_id: Any) -> Any:
    """Whether the place that an acknowledgement has in a ring may have been taken by a later one."""
    return ack_id >= 0 and m[BASE + Word.NEWEST_ACK] - ack_id >= p[P.RING]


def due(p: Any, m: Any) -> Any:
    """When the next packet in the queue is to go on [ns], or FOREVER."""
    return timed_queue.due(p, m, np.int64(BASE + Word.QUEUE))


def pop(p: Any, m: Any) -> Any:
    """Take it out of the queue; returns (t, packet, tag, sent); of an acknowledgement `sent` is its size."""
    return timed_queue.pop(p, m, np.int64(BASE + Word.QUEUE))


def overfull(m: Any) -> Any:
    """Whether the queue was too small."""
    return m[BASE + Word.QUEUE + Queue.FULL] == 1


def is_ack(tag: Any) -> Any:
    """Whether what was in the queue is on its way back."""
    return tag & _BACK != 0


def step(
    p: Any, outages: Any, losses: Any, m: Any, out: Any,
    t: Any, packet: Any, tag: Any, sent: Any, wire: Any, counts: Any,
) -> Any:  # fmt: skip
    """A packet of the sender goes on at time t [ns]; it `counts` if it carries data.  Returns as `send`,
    but that data are counted.
    """
    fate, t = _forward(p, outages, losses, m, FORWARD, t, packet, tag, sent, wire)
    if counts:
        if t > p[P.END]:
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
    """An acknowledgement goes on at time t [ns]; returns as `send`."""
    return _forward(p, outages, losses, m, BACKWARD, t, ack_id, tag, size, size)


def _forward(
    p: Any, outages: Any, losses: Any, m: Any, direction: Any, t: Any, packet: Any, tag: Any, sent: Any,
    wire: Any,
) -> Any:  # fmt: skip
    """On from where the `tag` says, up to behind the next hop that reorders or to the end."""
    hop, count = (tag & _PLACE) >> _HOP, hops.hop_count(m, MAIN, direction)
    while hop < count:
        fate, t = hops.forward(p, outages, losses, m, MAIN, direction, hop, np.int64(1), t, wire)
        if fate != ARRIVED:
            return fate, t
        hop += 1
        tag += 1 << _HOP
        if hops.reorders(outages, m, MAIN, direction, hop - 1):
            if t <= p[P.END]:
                timed_queue.push(p, m, np.int64(BASE + Word.QUEUE), t, packet, tag, sent, np.int64(_PLACE))
            return np.int64(IN_QUEUE), t
    return np.int64(ARRIVED), t
