"""Frames of a node: the next frame, and the answer for which it waits afterwards.

Source: IEEE 802.11-2007, 9.2.5 to 9.2.8. NOBODY stands for no node and no rate.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.frame import air_time, head_of, link_of, size_of
from netcarlo.kernels.wireless.layout import NOBODY, Link, NodeOut, Radio, Rate
from netcarlo.kernels.wireless.state import NO_EVENT, NODE_COUNTS, AirTime, Frame, Mac, Wait, Word, rate_at


@noinline
def send(m: Any, at: Any, t: Any) -> None:
    """Begin the transmission of the node at word `at`: choose its frame and its duration."""
    counts = at + NODE_COUNTS
    kind = m[at + Mac.NEXT] if m[at + Mac.START] == t else np.int64(NOBODY)
    if kind in (Frame.ACK, Frame.CTS):
        rate = m[at + Mac.ANSWER_RATE]
        time = m[rate_at(m, rate) + AirTime.ANSWER]
        m[at + Mac.TO] = m[at + Mac.ANSWER_TO]
        m[at + Mac.DURATION] = m[at + Mac.ANSWER_DURATION] - m[Radio.SIFS] - time if kind == Frame.CTS else 0
    else:
        kind, rate, time = _send_data(m, at, kind)
        if kind == Frame.RTS or (kind == Frame.DATA and m[at + Mac.WITH_RTS] == 0):
            m[counts + NodeOut.ATTEMPTS] += 1
    m[at + Mac.FRAME] = kind
    m[at + Mac.RATE] = rate
    m[at + Mac.END] = t + time
    m[at + Mac.START] = NO_EVENT
    if kind == Frame.DATA:
        m[counts + NodeOut.AIR_DATA] += time
    else:
        m[counts + NodeOut.AIR_CONTROL] += time
    m[Word.FRAMES] += 1


def _send_data(m: Any, at: Any, kind: Any) -> Any:
    """Send the head of the queue as a frame of this kind: DATA, or the frame that precedes it, where that is
    NOBODY.

    Returns what is sent: kind, rate and time on the air [ns].
    """
    sifs = m[Radio.SIFS]
    frame = head_of(m, at)
    link = link_of(m, frame)
    size = size_of(m, frame) + m[Radio.MAC_OVERHEAD]
    if kind == NOBODY or m[at + Mac.DATA_RATE] == NOBODY:  # an exchange begins
        m[at + Mac.DATA_RATE] = m[link + Link.RATE]
        m[at + Mac.WITH_RTS] = 0
    rate = m[at + Mac.DATA_RATE]
    own = rate_at(m, rate)
    answer = rate_at(m, m[own + Rate.ANSWER])
    time = air_time(m, size, rate)
    m[at + Mac.TO] = m[link + Link.TO]
    m[at + Mac.DURATION] = sifs + m[answer + AirTime.ANSWER]
    m[at + Mac.AIR] = time
    if kind == NOBODY:
        kind = np.int64(Frame.DATA)
        if size > m[Radio.RTS_THRESHOLD]:
            kind = np.int64(Frame.RTS)
            m[at + Mac.DURATION] += 2 * sifs + m[answer + AirTime.ANSWER] + time
            rate = m[own + Rate.ANSWER]
            time = m[answer + AirTime.RTS]
            m[at + Mac.WITH_RTS] = 1
        elif m[Radio.PROTECTION] != NOBODY and m[own + Rate.DSSS] == 0:
            kind = np.int64(Frame.SELF)
            m[at + Mac.DURATION] += sifs + time
            rate = m[Radio.PROTECTION]
            time = m[rate_at(m, rate) + AirTime.ANSWER]
            m[at + Mac.TO] = NOBODY
    return kind, rate, time


def wait(m: Any, sender: Any, t: Any) -> None:
    """Wait for the answer to the frame of the node at word `sender`, or continue after a CTS to self."""
    kind = m[sender + Mac.FRAME]
    if kind in (Frame.DATA, Frame.RTS):
        own = rate_at(m, m[sender + Mac.RATE])
        header = m[rate_at(m, m[own + Rate.ANSWER]) + Rate.PREAMBLE]
        m[sender + Mac.WAITING] = Wait.ACK if kind == Frame.DATA else Wait.CTS
        m[sender + Mac.TIMEOUT] = t + m[Radio.SIFS] + m[Radio.SLOT] + header
        m[sender + Mac.LATE] = m[sender + Mac.TIMEOUT]
    elif kind == Frame.SELF:
        proceed(m, sender, t)


def proceed(m: Any, at: Any, t: Any) -> None:
    """Send the data after a CTS."""
    m[at + Mac.START] = t + m[Radio.SIFS]
    m[at + Mac.NEXT] = Frame.DATA
