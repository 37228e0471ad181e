"""Choice of the receiver that an EDCA function serves next: first come, first served, round robin or airtime.

Sources: Linux 6, net/mac80211/tx.c (`ieee80211_next_txq`, `__ieee80211_schedule_txq`) and sta_info.c
(`ieee80211_sta_register_airtime`): deficit round robin in units of airtime. The agreements that have MSDUs,
or a debt, form a list. `f` is the word of a function, `a` of an agreement.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.wireless.edca.state import (
    AGREEMENT_WORDS,
    NONE,
    AgreementState,
    FunctionState,
    Mpdu,
    Msdu,
    mpdu_at,
)
from netcarlo.kernels.wireless.layout import AIRTIME, FIFO, ROUND_ROBIN, Function

QUANTUM = 256_000
"""Airtime of a station in a round [ns]: its weight in us (`IEEE80211_DEFAULT_AIRTIME_WEIGHT`)."""
_ACTIVE = 100 * MS
"""Time for which an agreement is active after it last had MSDUs [ns] (`AIRTIME_ACTIVE_DURATION`)."""
_NEVER = np.int64(1) << 62


def set_up(m: Any, a: Any) -> None:
    """Set up an agreement that has not been active."""
    m[a + AgreementState.DEFICIT] = QUANTUM
    m[a + AgreementState.ACTIVE_AT] = -_ACTIVE - 1


def next_agreement(m: Any, f: Any, t: Any) -> Any:
    """Return the agreement that a function with an MSDU serves next at time t."""
    return _oldest(m, f) if m[f + Function.SCHEDULER] == FIFO else _from_list(m, f, t)


def _first(m: Any, a: Any) -> Any:
    """Return the first MSDU of an agreement that is not acknowledged, or NONE."""
    if m[a + AgreementState.START] < m[a + AgreementState.NEXT]:
        return m[mpdu_at(m, a, m[a + AgreementState.START]) + Mpdu.FIRST]
    return m[a + AgreementState.FIRST]


@noinline
def _oldest(m: Any, f: Any) -> Any:
    """Return the agreement whose first MSDU has waited longest, or NONE."""
    found, least = np.int64(NONE), _NEVER
    a = m[f + FunctionState.FIRST_AGREEMENT]
    for _ in range(m[f + FunctionState.AGREEMENTS]):
        entry = _first(m, a)
        if entry != NONE and m[entry + Msdu.ARRIVAL] < least:
            found, least = a, m[entry + Msdu.ARRIVAL]
        a += AGREEMENT_WORDS
    return found


@noinline
def _from_list(m: Any, f: Any, t: Any) -> Any:
    """Return the agreement at the head of the list after those that must wait have moved behind it."""
    while True:
        a = m[f + FunctionState.LIST]
        waits = _first(m, a) == NONE
        owes = m[f + Function.SCHEDULER] == AIRTIME and m[a + AgreementState.DEFICIT] < 0
        if owes and (not waits or t - m[a + AgreementState.ACTIVE_AT] <= _ACTIVE):
            m[a + AgreementState.DEFICIT] += QUANTUM
            _move_to_tail(m, f)
        elif waits:
            _remove_head(m, f)
        else:
            m[a + AgreementState.ACTIVE_AT] = t
            return a


@noinline
def join(m: Any, f: Any, a: Any, t: Any) -> None:
    """Add an agreement with a new MSDU to the list, unless it is listed: at the head for airtime."""
    if m[a + AgreementState.LISTED] == 0:
        m[a + AgreementState.LISTED] = 1
        m[a + AgreementState.ACTIVE_AT] = t
        head = m[f + FunctionState.LIST]
        if head == NONE:
            m[f + FunctionState.LIST] = a
            m[f + FunctionState.LIST_END] = a
            m[a + AgreementState.FOLLOWING] = NONE
        elif m[f + Function.SCHEDULER] == AIRTIME:
            m[a + AgreementState.FOLLOWING] = head
            m[f + FunctionState.LIST] = a
        else:
            _append(m, f, a)


def _append(m: Any, f: Any, a: Any) -> None:
    """Append an agreement to the list, which is not empty."""
    m[m[f + FunctionState.LIST_END] + AgreementState.FOLLOWING] = a
    m[f + FunctionState.LIST_END] = a
    m[a + AgreementState.FOLLOWING] = NONE


def _move_to_tail(m: Any, f: Any) -> None:
    """Move the agreement at the head of the list to its tail."""
    a = m[f + FunctionState.LIST]
    if m[f + FunctionState.LIST_END] != a:
        m[f + FunctionState.LIST] = m[a + AgreementState.FOLLOWING]
        _append(m, f, a)


def _remove_head(m: Any, f: Any) -> None:
    """Remove the agreement at the head of the list."""
    a = m[f + FunctionState.LIST]
    m[a + AgreementState.LISTED] = 0
    m[f + FunctionState.LIST] = m[a + AgreementState.FOLLOWING]


def on_built(m: Any, f: Any) -> None:
    """End the turn of the agreement at the head, for which a PPDU was built, with round robin."""
    if m[f + Function.SCHEDULER] == ROUND_ROBIN:
        _move_to_tail(m, f)


def charge(m: Any, f: Any, a: Any, time: Any, t: Any) -> None:
    """Charge an active agreement of function `f` for a PPDU of its station that took `time` [ns]."""
    if m[f + Function.SCHEDULER] == AIRTIME and t - m[a + AgreementState.ACTIVE_AT] <= _ACTIVE:
        m[a + AgreementState.DEFICIT] -= time
