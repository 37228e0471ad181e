"""Rate control of a link: fixed, ARF or AARF.

Sources: Kamerman and Monteban, "WaveLAN-II" (Bell Labs Technical Journal, 1997) for ARF; Lacage, Manshaei and
Turletti, "IEEE 802.11 rate adaptation" (MSWiM 2004) for AARF.  After a failed probe the rate stays until a
frame gets through.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import AARF, FIXED, Link, Radio
from netcarlo.kernels.wireless.state import LinkState


@noinline
def succeeded(m: Any, at: Any) -> None:
    """Process the acknowledgement of a data frame on the link at word `at`."""
    if m[Radio.RATE_CONTROL] != FIXED:
        m[at + LinkState.TIMER] += 1
        m[at + LinkState.GOOD] += 1
        m[at + LinkState.RETRY] = 0
        m[at + LinkState.PROBING] = 0
        proven = m[at + LinkState.GOOD] == m[at + LinkState.UP]
        if (proven or m[at + LinkState.TIMER] == m[at + LinkState.WAIT]) and (
            m[at + Link.RATE] < m[at + Link.HIGHEST]
        ):
            m[at + Link.RATE] += 1
            m[at + LinkState.TIMER] = 0
            m[at + LinkState.GOOD] = 0
            m[at + LinkState.PROBING] = 1


@noinline
def failed(m: Any, at: Any) -> None:
    """Process the failure of a data frame on the link at word `at`."""
    if m[Radio.RATE_CONTROL] != FIXED:
        m[at + LinkState.TIMER] += 1
        m[at + LinkState.RETRY] += 1
        m[at + LinkState.GOOD] = 0
        if m[at + LinkState.PROBING] != 0:
            if m[at + LinkState.RETRY] == 1:
                _probe_failed(m, at)
                _lower(m, at)
            m[at + LinkState.TIMER] = 0
        else:
            if m[at + LinkState.RETRY] % m[Radio.ARF_DOWN] == 0:
                if m[Radio.RATE_CONTROL] == AARF:
                    m[at + LinkState.UP] = m[Radio.ARF_UP]
                    m[at + LinkState.WAIT] = m[Radio.ARF_TIMER]
                _lower(m, at)
            if m[at + LinkState.RETRY] >= m[Radio.ARF_DOWN]:
                m[at + LinkState.TIMER] = 0


def _probe_failed(m: Any, at: Any) -> None:
    """Lengthen the wait of AARF until the next probe."""
    if m[Radio.RATE_CONTROL] == AARF:
        factor = m[Radio.AARF_FACTOR]
        m[at + LinkState.UP] = min(m[at + LinkState.UP] * factor, m[Radio.AARF_MOST])
        m[at + LinkState.WAIT] = max(m[at + LinkState.WAIT] * factor, m[Radio.ARF_TIMER])


def _lower(m: Any, at: Any) -> None:
    m[at + Link.RATE] = max(m[at + Link.RATE] - 1, m[at + Link.LOWEST])
