"""Sections of a path: consecutive hops on which packets of equal size never wait.

A FIFO hop delays no packet if packets arrive at intervals of at least its transmission time, as they do
behind a slower hop. On the fast path such hops are one addition: their state is stored when it ends. The
first hop of a direction and the hops between both sections are simulated one by one.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import ENDLESS, FOREVER
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.path import hops
from netcarlo.kernels.path.hops import FORWARD, MAIN, HopWord


class Sections(NamedTuple):
    """The two sections of a direction: behind the first hop, and at the end."""

    first_end: Any
    """Number of the hop behind the first section, which begins with hop 1."""
    first_delay: Any
    """Time that a packet spends in the first section [ns]."""
    last_begin: Any
    """Number of the hop with which the last section begins; the number of hops if it is empty."""
    last_delay: Any
    """Time that a packet spends in the last section [ns]."""
    gap: Any
    """Packets until the next random loss in a section."""
    quiet: Any
    """Time before which arrivals behind the first section meet no outage or tick in it [ns]."""
    spacing: Any
    """Minimum time between the arrivals of two packets after the last hop [ns]."""
    earliest: Any
    """Earliest arrival of the next packet after the last hop [ns]."""


def no_sections() -> Any:
    """Return the sections of a path with one hop, which has none."""
    none = np.int64(0)
    return Sections(none, none, none, none, none, none, none, none)


@noinline
def sections_of(m: Any, direction: Any, spacing: Any, earliest: Any, size: Any) -> Any:
    """Return the sections of a direction for packets of `size` bytes.

    Packets arrive at the first hop at intervals of at least `spacing` [ns], the next one not before
    `earliest` [ns]. The last section is empty for ACKs, and contains no hop with outages.
    """
    count = hops.hop_count(m, MAIN, direction)
    first_end, first_delay, last_begin, last_delay = np.int64(1), np.int64(0), np.int64(1), np.int64(0)
    first_gap, last_gap, quiet = np.int64(ENDLESS), np.int64(ENDLESS), np.int64(FOREVER)
    for hop in range(count):
        at = hops.hop_at(MAIN, direction, hop)
        time, delay = on_wire(size, m[at + HopWord.BYTE_TIME]), m[at + HopWord.DELAY]
        calm = min(m[at + HopWord.CHECK_FROM], m[at + HopWord.SAFE_UNTIL])
        plain = m[at + HopWord.CROSS] == FOREVER and m[at + HopWord.TICK] == 0
        never_waits = plain and time <= spacing and m[at + HopWord.FREE_AT] <= earliest
        # A packet that departs in the nanosecond of an arrival can still be in the queue.
        has_room = m[at + HopWord.LIMIT] == 0 or (m[at + HopWord.LIMIT] > 1 and spacing > 0)
        if hop == first_end and never_waits and has_room:
            first_end += 1
            first_delay += time + delay
            first_gap, quiet = min(first_gap, m[at + HopWord.GAP]), min(quiet, calm)
            last_begin = first_end
        elif hop > first_end and never_waits and has_room and direction == FORWARD and calm == FOREVER:
            last_delay += time + delay
            last_gap = min(last_gap, m[at + HopWord.GAP])
        else:
            last_begin, last_delay, last_gap = np.int64(hop + 1), np.int64(0), np.int64(ENDLESS)
            if not never_waits:
                spacing = time
            if m[at + HopWord.TICK] > 0:
                spacing = np.int64(0)
        earliest = max(earliest, m[at + HopWord.FREE_AT]) + time + delay
    gap = min(first_gap, last_gap)
    return Sections(first_end, first_delay, last_begin, last_delay, gap, quiet, spacing, earliest)


@noinline
def store_passed(m: Any, direction: Any, begin: Any, end: Any, packets: Any, t: Any, size: Any) -> None:
    """Store the state of the hops from `begin` to before `end` after `packets` that did not wait.

    The last packet arrived at hop `begin` at time t [ns]. Of the departure times in the ring of a hop only
    the last one can matter for packets that follow.
    """
    if packets > 0:
        for hop in range(begin, end):
            at = hops.hop_at(MAIN, direction, hop)
            t += on_wire(size, m[at + HopWord.BYTE_TIME])
            m[at + HopWord.FREE_AT] = t
            m[at + HopWord.GAP] -= packets
            limit, place = m[at + HopWord.LIMIT], m[at + HopWord.NEXT_PLACE]
            if limit > 0:
                m[m[at + HopWord.RING] + place] = t
                m[at + HopWord.NEXT_PLACE] = place + 1 if place + 1 < limit else np.int64(0)
            t += m[at + HopWord.DELAY]
