"""Network allocation vector (NAV) of a node, and its reset after an RTS that no frame follows.

Source: IEEE 802.11-2016, 10.3.2.4.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import Radio, Rate
from netcarlo.kernels.wireless.state import NO_EVENT, AirTime, Frame, Mac, rate_at


@noinline
def note(m: Any, at: Any, sender: Any, t: Any) -> None:
    """Set the NAV for a frame that the node at word `at` has received from `sender` at time t [ns]."""
    if t + m[sender + Mac.DURATION] > m[at + Mac.NAV]:
        m[at + Mac.NAV] = t + m[sender + Mac.DURATION]
        if m[sender + Mac.FRAME] == Frame.RTS:
            _note_rts(m, at, sender, t)


@noinline
def _note_rts(m: Any, at: Any, sender: Any, t: Any) -> None:
    """Set the time at which the NAV of an RTS is reset unless a frame follows."""
    own = rate_at(m, m[sender + Mac.RATE])
    cts = m[rate_at(m, m[own + Rate.ANSWER]) + AirTime.ANSWER]
    m[at + Mac.RESET] = t + 2 * (m[Radio.SIFS] + m[Radio.SLOT]) + cts
    m[at + Mac.NAV_OF_RTS] = m[at + Mac.NAV]


def reset(m: Any, at: Any, t: Any) -> None:
    """Reset the NAV of an RTS at time t [ns]."""
    m[at + Mac.RESET] = NO_EVENT
    if m[at + Mac.NAV] == m[at + Mac.NAV_OF_RTS]:
        m[at + Mac.NAV] = t
