"""Rate control of a link: fixed, ARF or AARF.

Sources: Kamerman and Monteban, "WaveLAN-II" (Bell Labs Technical Journal, 1997) for ARF; Lacage, Manshaei and
Turletti, "IEEE 802.11 rate adaptation" (MSWiM 2004) for AARF.  After a failed probe the rate stays until a
frame gets through.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.wireless.layout import AARF, FIXED, Link, Radio
from netcarlo.kernels.wireless.state import L_GOOD, L_PROBING, L_RETRY, L_TIMER, L_UP, L_WAIT


def make_rate_control(dev: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Compile `(succeeded, failed)`, both `(m, at)`: what becomes of the frame on the link at word `at`."""

    @cold
    def succeeded(m: Any, at: Any) -> None:
        if m[Radio.RATE_CONTROL] == FIXED:
            return
        m[at + L_TIMER] += 1
        m[at + L_GOOD] += 1
        m[at + L_RETRY] = 0
        m[at + L_PROBING] = 0
        due = m[at + L_GOOD] == m[at + L_UP] or m[at + L_TIMER] == m[at + L_WAIT]
        if due and m[at + Link.RATE] < m[Radio.RATES] - 1:
            m[at + Link.RATE] += 1
            m[at + L_TIMER] = 0
            m[at + L_GOOD] = 0
            m[at + L_PROBING] = 1

    def lower(m: Any, at: Any) -> None:
        m[at + Link.RATE] = max(m[at + Link.RATE] - 1, 0)

    lower = dev(lower)

    @cold
    def failed(m: Any, at: Any) -> None:
        if m[Radio.RATE_CONTROL] == FIXED:
            return
        m[at + L_TIMER] += 1
        m[at + L_RETRY] += 1
        m[at + L_GOOD] = 0
        adaptive = m[Radio.RATE_CONTROL] == AARF
        if m[at + L_PROBING] != 0:
            if m[at + L_RETRY] == 1:
                if adaptive:
                    factor = m[Radio.AARF_FACTOR]
                    m[at + L_UP] = min(m[at + L_UP] * factor, m[Radio.AARF_MOST])
                    m[at + L_WAIT] = max(m[at + L_WAIT] * factor, m[Radio.ARF_TIMER])
                lower(m, at)
            m[at + L_TIMER] = 0
            return
        if m[at + L_RETRY] % m[Radio.ARF_DOWN] == 0:
            if adaptive:
                m[at + L_UP] = m[Radio.ARF_UP]
                m[at + L_WAIT] = m[Radio.ARF_TIMER]
            lower(m, at)
        if m[at + L_RETRY] >= m[Radio.ARF_DOWN]:
            m[at + L_TIMER] = 0

    return dev(succeeded), dev(failed)
