"""The sender's one timer: retransmission, tail loss probe, or reordering (RFC 6298, RFC 8985)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.linux import clocks, pacing
from netcarlo.kernels.linux.state import PACED, Packet, State, Tcp, Timer, packet_at

MARGIN_US = 2000
"""What is added to waits that have a jiffy's accuracy."""
FIRST_PROBE_US = 1_000_000
"""Before any round trip is known."""


def set_timer(p: Any, s: Any, now: Any, what: Any, jiffies: Any) -> None:
    """It will go off after so many jiffies."""
    s[Tcp.TIMER] = what
    s[Tcp.DEADLINE] = clocks.due(p, s, now, min(jiffies, s[Tcp.MOST_JIFFIES]))


def stop(s: Any) -> None:
    """It does not run."""
    s[Tcp.TIMER] = Timer.OFF
    s[Tcp.DEADLINE] = FOREVER


def _paced(p: Any, s: Any, now: Any) -> Any:
    """Jiffies until pacing lets anything out."""
    return pacing.wait(s, now) // p[P.TICK] if PACED else np.int64(0)


def set_retransmission(p: Any, s: Any, now: Any, jiffies: Any) -> None:
    """It will go off after so many jiffies, counted from when pacing lets anything out."""
    set_timer(p, s, now, Timer.RETRANSMISSION, jiffies + _paced(p, s, now))


def until_timeout(p: Any, s: Any, now: Any) -> Any:
    """Time until the retransmission timer of the first packet would go off [us]."""
    sent = s[packet_at(p, s, s[Tcp.UNA]) + Packet.SENT]
    return sent + s[Tcp.RTO] * s[Tcp.TICK_US] - clocks.us_of(now)


def rearm(p: Any, s: Any, now: Any) -> None:
    """The retransmission timer runs; after another timer it goes off when it would have without that."""
    if s[Tcp.UNA] == s[Tcp.NXT]:
        stop(s)
    else:
        jiffies = s[Tcp.RTO]
        if s[Tcp.TIMER] == Timer.REORDERING or s[Tcp.TIMER] == Timer.PROBE:
            jiffies = clocks.to_jiffies(s, max(until_timeout(p, s, now), 1))
        set_retransmission(p, s, now, jiffies)


def schedule_probe(p: Any, s: Any, now: Any, advancing: Any) -> Any:
    """A tail loss probe in two round trips (RFC 8985, 7.2), unless something is missing; whether there is.

    If `advancing`, the retransmission timer would begin anew.
    """
    out = s[Tcp.NXT] - s[Tcp.UNA]
    if out == 0 or (s[Tcp.STATE] != State.OPEN and s[Tcp.STATE] != State.CWR):
        return False
    wait = until_probe(p, s, now, advancing)
    set_timer(p, s, now, Timer.PROBE, clocks.to_jiffies(s, wait) + _paced(p, s, now))
    return True


def until_probe(p: Any, s: Any, now: Any, advancing: Any) -> Any:
    """The time [us] after which `schedule_probe` has the probe go out."""
    wait = np.int64(FIRST_PROBE_US)
    if s[Tcp.SRTT] > 0:
        wait = s[Tcp.SRTT] >> np.int64(2)
        wait += clocks.us_of(p[P.MIN_RTO]) if s[Tcp.NXT] - s[Tcp.UNA] == 1 else MARGIN_US
    left = s[Tcp.RTO] * s[Tcp.TICK_US] if advancing else until_timeout(p, s, now)
    return min(wait, left) if left > 0 else wait


def restart(p: Any, s: Any, now: Any) -> None:
    """After news: the probe, or the retransmission timer."""
    if not schedule_probe(p, s, now, True):
        rearm(p, s, now)
