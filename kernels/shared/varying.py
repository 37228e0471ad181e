"""Link with varying service: rate, delay and loss change from packet to packet, see `base.varying`.

Its table is stored after the columns of `Link`, its words after the rings of the link. `b` is where the
block of the link begins in scratch `m`, `p` are the columns of the row, `links` the links of the row.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import varying
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.layout import STREAM_LINK, Link
from netcarlo.kernels.shared.state import LinkWord

BEGAN = varying.WORDS
"""Word with the time at which the latest transmission began [ns]; its end is `LinkWord.FREE`."""

WORDS = varying.WORDS + 1
"""Words of a time-varying link."""


@noinline
def allocate(m: Any, b: Any, free: Any) -> Any:
    """Allocate the words of a link that varies from `free` on, and return the first word after them."""
    if m[b + Link.VARIES] == 0:
        return free
    m[b + LinkWord.VARYING] = free
    varying.prepare(m, free, m[b + Link.VARIES])
    m[free + BEGAN] = 0
    return free + WORDS


def conforms(links: Any, m: Any, b: Any, t: Any, size: Any) -> Any:
    """Return True if a packet of `size` bytes that arrives at `t` [ns] conforms to the policer, or there
    is none."""
    v = m[b + LinkWord.VARYING]
    return v == 0 or varying.conforms(links[m[b + LinkWord.NUMBER]], m, v, t, size)


def transmission_of(p: Any, links: Any, m: Any, b: Any, t: Any, size: Any, time: Any) -> Any:
    """Return when the transmission of a packet that arrives at `t` begins and ends [ns].

    It takes `time` if the rate does not vary. A transmission that never ends makes later packets wait
    beyond the end.
    """
    free, v = m[b + LinkWord.FREE], m[b + LinkWord.VARYING]
    if v == 0:
        begin = max(t, free)
        return begin, begin + time
    begin, end = varying.transmission(links[m[b + LinkWord.NUMBER]], m, v, t, free, size, time)
    if free >= varying.STALLED:
        begin = p[RowP.END] + 1
    m[v + BEGAN] = begin
    return begin, end


def arrival_of(p: Any, links: Any, m: Any, b: Any, departure: Any) -> Any:
    """Return when a packet reaches the far end [ns] whose transmission ends at `departure`, and True if
    the trace loses it."""
    v, arrival, delay, is_lost = m[b + LinkWord.VARYING], departure, m[b + Link.DELAY], False
    if v == 0:
        arrival += delay
    elif departure < varying.STALLED:
        number = m[b + LinkWord.NUMBER]
        stream = np.int64(STREAM_LINK) + number
        arrival, is_lost = varying.arrival(p, links[number], m, v, stream, departure, delay)
    return arrival, is_lost


def latest_transmission(m: Any, b: Any, time: Any, until: Any) -> Any:
    """Return the duration and the end of the latest transmission [ns]: `time` and `until`, unless the
    link varies."""
    v = m[b + LinkWord.VARYING]
    if v > 0:
        until = m[b + LinkWord.FREE]
        time = until - m[v + BEGAN]
    return time, until
