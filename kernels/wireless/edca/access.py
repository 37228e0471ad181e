"""Access of a node to the medium by its EDCA functions: carrier sense and backoff.

Source: IEEE 802.11-2016, 10.22.2. At each slot boundary from the end of AIFS on a function counts down or
transmits, so a slot in which another node starts also counts. `at` is the word of a node, `f` that of a
function.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.wireless.edca.state import (
    FUNCTION_WORDS,
    FunctionState,
    function_at,
    function_number,
)
from netcarlo.kernels.wireless.layout import STREAM_BACKOFF, Function, Node, Radio
from netcarlo.kernels.wireless.state import NO_EVENT, START_OF_KEYS, Frame, Mac, Phase, Wait, Word

CCA_TIME = 4000
"""Time to detect that the medium is busy [ns] (IEEE 802.11-2016, aCCATime of OFDM)."""


def contends(m: Any, at: Any) -> Any:
    """Return whether a node has something to send."""
    return m[at + Mac.COUNT] > 0 or m[at + Mac.REQUESTS] > 0


def has_work(m: Any, f: Any) -> Any:
    """Return whether a function has something to send."""
    return m[f + FunctionState.COUNT] > 0 or m[f + FunctionState.REQUESTS] > 0


@noinline
def schedule(m: Any, j: Any, at: Any) -> None:
    """Find the next event of node j, whose words begin at `at`."""
    key = min(
        min(m[at + Mac.END] << 2 | Phase.END, m[at + Mac.START] << 2 | Phase.START),
        min(m[at + Mac.TIMEOUT], m[at + Mac.RESET]) << 2 | Phase.TIMEOUT,
    )
    if m[Word.ON_AIR] & m[at + Node.SENSE] == 0:
        key = min(key, _next_access(m, at, _idle_since(m, at)) << 2 | Phase.START)
    m[START_OF_KEYS + j] = key


def _next_access(m: Any, at: Any, idle: Any) -> Any:
    """Return when a node transmits next by contention if the medium stays idle [ns], or NO_EVENT."""
    found = np.int64(NO_EVENT)
    if (
        contends(m, at)
        and m[at + Mac.WAITING] == Wait.NOTHING
        and m[at + Mac.START] == NO_EVENT
        and m[at + Mac.END] == NO_EVENT
    ):
        f = function_at(m, m[at + Node.FIRST_FUNCTION])
        for _ in range(m[at + Node.FUNCTIONS]):
            if has_work(m, f):
                found = min(found, _countdown(m, f, idle) + m[f + FunctionState.SLOTS] * m[Radio.SLOT])
            f += FUNCTION_WORDS
    return found


def _idle_since(m: Any, at: Any) -> Any:
    """Return the time from which on the AIFS of a node count [ns]; EIFS are part of `Mac.RX`."""
    idle = max(max(m[at + Mac.TX], m[at + Mac.QUIET]), max(m[at + Mac.NAV], m[at + Mac.LATE]))
    return max(idle, m[at + Mac.RX])


def _countdown(m: Any, f: Any, idle: Any) -> Any:
    """Return the first slot boundary of a function's backoff [ns]."""
    return max(m[f + FunctionState.SINCE], idle + m[f + Function.AIFS])


@noinline
def freeze(m: Any, at: Any, t: Any) -> None:
    """Count the elapsed slots of all functions of a node, because the medium becomes busy at time t [ns].

    A node that is to start within the CCA time does not detect this, and transmits.
    """
    idle = _idle_since(m, at)
    slot = m[Radio.SLOT]
    if m[at + Mac.NEXT] == Frame.RETRY and m[at + Mac.START] > t and m[at + Mac.START] != NO_EVENT:
        _give_up_txop(m, at, t)
    begins = _next_access(m, at, idle)
    if t < begins < t + CCA_TIME:
        m[at + Mac.START] = begins
        m[at + Mac.NEXT] = Frame.ACCESS
        t = begins
    f = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        slots = m[f + FunctionState.SLOTS]
        begin = _countdown(m, f, idle)
        m[f + FunctionState.DUE] = 1 if begin + slots * slot == t else 0
        if slots > 0 and t >= begin:
            passed = slots
            if t - begin < slots * slot:
                passed = min(slots, np.int64(float(t - begin) / float(slot)) + 1)  # exact division
            m[f + FunctionState.SLOTS] = slots - passed
        f += FUNCTION_WORDS


@noinline
def _give_up_txop(m: Any, at: Any, t: Any) -> None:
    """End the TXOP of a node: another one transmits before its retry."""
    m[at + Mac.START] = NO_EVENT
    m[at + Mac.NEXT] = Frame.DATA
    back_off(m, m[at + Mac.FUNCTION], t)


@noinline
def back_off(m: Any, f: Any, t: Any) -> None:
    """Draw a backoff of a function that counts from time t [ns] on."""
    word, _, _, _ = draw(
        m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_BACKOFF + function_number(m, f),
        m[f + FunctionState.DRAWS],
    )  # fmt: skip
    m[f + FunctionState.DRAWS] += 1
    m[f + FunctionState.SLOTS] = (np.int64(word) * (m[f + FunctionState.CW] + 1)) >> 32
    m[f + FunctionState.SINCE] = t


def widen(m: Any, f: Any) -> None:
    """Double the contention window of a function."""
    m[f + FunctionState.CW] = min(2 * m[f + FunctionState.CW] + 1, m[f + Function.CW_MAX])


@noinline
def contend(m: Any, j: Any, at: Any, f: Any, t: Any) -> None:
    """Start to contend at time t [ns], because an idle function of node j has received an MSDU.

    The function draws a backoff only if the medium is busy; a running backoff continues.
    """
    if (
        m[Word.ON_AIR] & m[at + Node.SENSE] != 0
        or m[at + Mac.END] != NO_EVENT
        or m[at + Mac.START] != NO_EVENT
        or m[at + Mac.WAITING] != Wait.NOTHING
        or m[at + Mac.NAV] > t
    ):
        if m[f + FunctionState.SLOTS] == 0:
            back_off(m, f, t)
    else:
        begin = _countdown(m, f, _idle_since(m, at))
        if t > begin:
            passed = (t - begin + m[Radio.SLOT] - 1) // m[Radio.SLOT]
            m[f + FunctionState.SLOTS] = max(m[f + FunctionState.SLOTS] - passed, 0)
            m[f + FunctionState.SINCE] = begin + passed * m[Radio.SLOT]
    schedule(m, j, at)
