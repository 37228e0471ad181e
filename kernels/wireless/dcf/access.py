"""Access of a node to the medium: its next event, backoff and queue.

Source: IEEE 802.11-2007, 9.2 (DCF). The next event of a node is one number, time and phase, that the engine
compares.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.wireless.layout import STREAM_BACKOFF, Node, Radio
from netcarlo.kernels.wireless.state import (
    NO_EVENT,
    START_OF_KEYS,
    Mac,
    Phase,
    Wait,
    Word,
)


def contends(m: Any, at: Any) -> Any:
    """Return whether the node at word `at` has something to send."""
    return m[at + Mac.COUNT] > 0


@noinline
def schedule(m: Any, j: Any, at: Any) -> None:
    """Find the next event of node j, whose words begin at `at`."""
    key = min(
        min(m[at + Mac.END] << 2 | Phase.END, m[at + Mac.START] << 2 | Phase.START),
        min(m[at + Mac.TIMEOUT], m[at + Mac.RESET]) << 2 | Phase.TIMEOUT,
    )
    if (
        m[at + Mac.COUNT] > 0
        and m[at + Mac.WAITING] == Wait.NOTHING
        and m[at + Mac.START] == NO_EVENT
        and m[at + Mac.END] == NO_EVENT
        and m[Word.ON_AIR] & m[at + Node.SENSE] == 0
    ):
        access = _countdown(m, at) + m[at + Mac.SLOTS] * m[Radio.SLOT]
        key = min(key, access << 2 | Phase.START)
    m[START_OF_KEYS + j] = key


def _countdown(m: Any, at: Any) -> Any:
    """Return when the backoff begins to count down: after the channel was idle for DIFS or EIFS [ns]."""
    idle = max(max(m[at + Mac.TX], m[at + Mac.QUIET]), max(m[at + Mac.NAV], m[at + Mac.LATE])) + m[Radio.SIFS]
    return max(m[at + Mac.SINCE], max(m[at + Mac.RX], idle) + 2 * m[Radio.SLOT])


def freeze(m: Any, at: Any, t: Any) -> None:
    """Count the slots that have passed, because the channel becomes busy."""
    slots = m[at + Mac.SLOTS]
    if slots > 0:
        begin = _countdown(m, at)
        slot = m[Radio.SLOT]
        if t > begin:
            passed = slots
            if t - begin < slots * slot:
                passed = np.int64(float(t - begin) / float(slot))  # exact, and faster than of integers
            m[at + Mac.SLOTS] = slots - passed
            m[at + Mac.SINCE] = begin + passed * slot


@noinline
def back_off(m: Any, j: Any, at: Any, t: Any) -> None:
    """Draw a backoff that counts from time t on."""
    word, _, _, _ = draw(
        m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_BACKOFF + j, m[at + Mac.DRAWS]
    )
    m[at + Mac.DRAWS] += 1
    m[at + Mac.SLOTS] = (np.int64(word) * (m[at + Mac.CW] + 1)) >> 32
    m[at + Mac.SINCE] = t


def contend(m: Any, j: Any, at: Any, t: Any) -> None:
    """Begin to contend for a frame that entered the empty queue of an idle node; back off only if the
    channel is busy."""
    sensing = m[Word.ON_AIR] & m[at + Node.SENSE] != 0 or m[at + Mac.END] != NO_EVENT
    if not sensing:
        freeze(m, at, t)
    if m[at + Mac.SLOTS] == 0:
        if sensing or m[at + Mac.NAV] > t:
            back_off(m, j, at, t)
        else:
            m[at + Mac.SINCE] = max(m[at + Mac.SINCE], t + m[Radio.SIFS] + 2 * m[Radio.SLOT])
    schedule(m, j, at)
