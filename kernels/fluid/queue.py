"""One step of a link: its queue fills and drains, a full queue drops packets, and RED drops or marks early.

Source of RED: Floyd and Jacobson, "Random early detection gateways for congestion avoidance" (IEEE/ACM
Transactions on Networking 1(4), 1993); drops are spread evenly, as in the packet engine.

`s` and `g` are the words and floats of a link, `link` its columns, `step` the length of a step [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.fluid.chance import survival
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, LinkFloat, LinkWord
from netcarlo.kernels.shared.layout import DROP_TAIL, RED_MARKS, Link, LinkOut


def prepare(s: Any, g: Any, link: Any, losses: Any, step: Any) -> None:
    """Initialise a link."""
    one_byte = float(link[Link.BYTE_TIME]) / float(1 << (BYTE_TIME_BITS + ONE_BITS))
    s[LinkWord.CAPACITY] = np.int64(float(step) / one_byte)
    s[LinkWord.SHARE] = ONE
    s[LinkWord.MARKING] = link[Link.AQM_MARKS]
    s[LinkWord.RANDOM] = np.int64((1.0 - survival(losses, link[Link.LOSS])) * ONE)
    for word in range(LinkFloat.SIZE):
        g[word] = 0.0


def serve(
    s: Any, g: Any, link: Any, whole: Any, room: Any, step: Any, inside: Any, left: Any
) -> None:  # fmt: skip
    """Serve a queue that holds `room` packets [packet, ONE_BITS] at the end of a step; 0: unlimited.

    `whole` are the words of its link, which are `s` if the link has one queue. `inside` ns of the step lie in
    the measured period, and `left` ns of the run remain after it.
    """
    came = s[LinkWord.BYTES]
    accepted = s[LinkWord.ACCEPTED]
    capacity = s[LinkWord.CAPACITY]
    backlog = s[LinkWord.BACKLOG] + came
    held = s[LinkWord.QUEUED] + accepted
    served = min(backlog, capacity)
    if served == backlog:
        held = np.int64(0)
    else:
        held -= np.int64(float(held) / (float(backlog) / float(served)))
    backlog -= served
    dropped = np.int64(0)
    s[LinkWord.TAIL] = 0
    if room > 0 and held > room and accepted > 0:
        dropped = min(held - room, accepted)
        share = float(dropped) / float(accepted)
        s[LinkWord.TAIL] = np.int64(share * ONE)
        held -= dropped
        backlog = max(backlog - np.int64(share * float(came)), np.int64(0))
    s[LinkWord.BACKLOG] = backlog
    s[LinkWord.QUEUED] = held
    s[LinkWord.DUE] = max(s[LinkWord.DUE] - capacity, np.int64(0))
    g[LinkFloat.DUE_BEFORE] = g[LinkFloat.DUE]
    g[LinkFloat.DUE] = float(s[LinkWord.DUE]) / float(capacity)
    s[LinkWord.SHARE] = np.int64(float(capacity) / float(came) * ONE) if came > capacity else np.int64(ONE)
    g[LinkFloat.WAIT] = float(backlog) / float(capacity)
    if link[Link.RED] != DROP_TAIL:
        _red(s, g, link, step)
    _count(s, g, whole, dropped, served, step, inside, left)
    s[LinkWord.ARRIVED] = 0
    s[LinkWord.ACCEPTED] = 0
    s[LinkWord.BYTES] = 0


def report(s: Any, out: Any) -> None:
    """Write the outcomes of a link to `out` (`LinkOut`): its counters minus the values already in `out`."""
    counts = s[LinkWord.COUNTS :]
    arrivals, drops = counts[LinkOut.ARRIVALS] >> ONE_BITS, counts[LinkOut.DROPS] >> ONE_BITS
    out[LinkOut.ARRIVALS] = arrivals - out[LinkOut.ARRIVALS]
    out[LinkOut.ARRIVALS_BEFORE] = counts[LinkOut.ARRIVALS_BEFORE] >> ONE_BITS
    out[LinkOut.DROPS] = drops - out[LinkOut.DROPS]
    out[LinkOut.EARLY] = (counts[LinkOut.EARLY] >> ONE_BITS) - out[LinkOut.EARLY]
    out[LinkOut.WAITING] = s[LinkWord.QUEUED] >> ONE_BITS
    # Each term is rounded down, so the difference may be -1 if no packet is sent.
    out[LinkOut.SENT] = max(arrivals - drops - out[LinkOut.WAITING] - out[LinkOut.SENT], np.int64(0))
    out[LinkOut.BUSY] = counts[LinkOut.BUSY]
    for column in range(LinkOut.QUEUE_SUM, LinkOut.COLUMNS):
        out[column] = counts[column]


def _red(s: Any, g: Any, link: Any, step: Any) -> None:
    """Update RED's mean queue and its drop or mark probability for the next step."""
    heard = float(s[LinkWord.ARRIVED]) / ONE
    if s[LinkWord.QUEUED] == 0 and link[Link.RED_PACKET_TIME] > 0:
        heard = max(heard, float(step) / float(link[Link.RED_PACKET_TIME]))
    weight = heard / float(1 << link[Link.RED_WEIGHT])
    if weight > 0.0:
        g[LinkFloat.MEAN] += (float(s[LinkWord.QUEUED]) / ONE - g[LinkFloat.MEAN]) / ((1.0 + weight) / weight)
    mean = g[LinkFloat.MEAN]
    least = float(link[Link.RED_MIN_TH])
    most = float(link[Link.RED_MAX_TH])
    top = float(link[Link.RED_MAX_P]) / 65536.0
    certain = 2.0 * most if link[Link.RED_GENTLE] else most
    s[LinkWord.MARKING] = 1 if link[Link.RED] == RED_MARKS and mean < certain else 0
    if mean < least:
        s[LinkWord.EARLY] = 0
    elif mean >= certain:
        s[LinkWord.EARLY] = ONE
    else:
        often = top * (mean - least) / (most - least)
        if mean >= most:
            often = (mean - most) * (1.0 - top) / most + top
        s[LinkWord.EARLY] = np.int64(2.0 / (1.0 + 1.0 / often) * ONE) if often > 0.0 else 0


def _count(
    s: Any, g: Any, whole: Any, dropped: Any, served: Any, step: Any, inside: Any, left: Any
) -> None:  # fmt: skip
    """Count the packets dropped by a full queue, the bytes served, and the current queue."""
    counts = whole[LinkWord.COUNTS :]
    early = s[LinkWord.ARRIVED] - s[LinkWord.ACCEPTED]
    counts[LinkOut.ARRIVALS] += s[LinkWord.ARRIVED]
    counts[LinkOut.DROPS] += dropped + early
    counts[LinkOut.EARLY] += early
    wait = min(np.int64(g[LinkFloat.WAIT] * float(step)), left)
    counts[LinkOut.WAIT_MAX] = max(counts[LinkOut.WAIT_MAX], wait)
    if inside > 0:
        held = s[LinkWord.QUEUED]
        counts[LinkOut.BUSY] += np.int64(float(served) / float(whole[LinkWord.CAPACITY]) * float(inside))
        waited = (held >> ONE_BITS) * step + ((held & (ONE - 1)) * step >> ONE_BITS)
        add(counts, LinkOut.QUEUE_SUM, LinkOut.QUEUE_SUM_HIGH, waited)
