"""Association of today's Linux that calls the functions of a user's congestion control after each event.

`grow` and `reduce` of the user's file return (window, rate) in packets and packets per second. While lost
packets are repaired, the window follows proportional rate reduction, as with the kernel's congestion
controls.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import prr, sender
from netcarlo.kernels.linux.own.events import Own
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.state import Tcp, in_cwnd_reduction

own: Any = slot("own")
"""Functions of the user's congestion control."""
base: Any = slot("base")
"""Association in which the user's control runs: that of Linux, with or without first sending times."""

MEMORY = 16
"""Float words that a user's control may keep, after the window."""
FLOATS = 1 + MEMORY
"""Words of float64 memory of an association."""
MAX_CWND = float(1 << 30)
"""Largest window [packets]."""
MAX_RATE = 1e12
"""Largest pacing rate [byte/s]."""


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association below, and clear the memory of the control."""
    for i in range(FLOATS):
        g[i] = 0.0
    return base.prepare(p, s, g, limit, phase, flow, free)


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process an acknowledgement that arrives at the sender."""
    before = s[Tcp.SND_UNA]
    sender.on_ack(p, s, g, constants, now, ack_id)
    if s[Own.ACK_PROCESSED] == 0:
        return
    s[Own.ACK_PROCESSED] = 0
    if s[Own.REDUCTION_REQUESTED] != 0:
        _reduce(p, s, g, constants, now, False)
    own.on_ack(s[Own.DELIVERED], now, _rtt(s), g[1:])
    advances = s[Tcp.SND_UNA] > before
    if in_cwnd_reduction(s):
        prr.cwnd_reduction(s, s[Own.DELIVERED], s[Own.LOST], advances)
        return
    if s[Own.IN_REDUCTION] != 0:
        s[Own.IN_REDUCTION] = 0
        s[Tcp.CWND] = s[Tcp.SSTHRESH]
    if advances:
        own.acked(s[Own.DELIVERED], g[1:])
        cwnd, rate = own.grow(_cwnd(s, g), float(s[Tcp.SSTHRESH]), now, _rtt(s), constants, g[1:])
        g[0] = _clamp(cwnd, 1.0, MAX_CWND)
        s[Tcp.CWND] = int(g[0])
        _pace(p, s, rate)


def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process a timer of the sender."""
    timeouts = s[Tcp.TIMEOUTS]
    sender.on_timeout(p, s, g, constants, now)
    if s[Own.REDUCTION_REQUESTED] != 0:
        timeout = s[Tcp.TIMEOUTS] > timeouts
        _reduce(p, s, g, constants, now, timeout)
        if not timeout:
            prr.cwnd_reduction(s, 1, 1, False)


def _reduce(p: Any, s: Any, g: Any, constants: Any, now: Any, timeout: Any) -> None:
    """Call the user's `reduce`, and set the threshold and the pacing rate."""
    s[Own.REDUCTION_REQUESTED] = 0
    s[Own.IN_REDUCTION] = 0 if timeout else 1
    window = float(s[Tcp.PRIOR_CWND])
    cwnd, rate = own.reduce(window, timeout, now, _rtt(s), constants, g[1:])
    s[Tcp.SSTHRESH] = int(_clamp(cwnd, 2.0, MAX_CWND))
    _pace(p, s, rate)


def _cwnd(s: Any, g: Any) -> Any:
    """Return the user's window, unless the sender has set another one since."""
    cwnd = s[Tcp.CWND]
    return g[0] if int(g[0]) == cwnd else float(cwnd)


def _rtt(s: Any) -> Any:
    """Return the smoothed RTT [ns], at least 1 so that it can divide."""
    return max(s[Tcp.SRTT_NS], 1)


def _pace(p: Any, s: Any, rate: Any) -> None:
    """Set the pacing rate from packets per second."""
    s[Pacing.RATE] = int(_clamp(rate * p[RowP.DATA], 1.0, MAX_RATE))


def _clamp(value: Any, low: Any, high: Any) -> Any:
    """Return a value limited to the range from `low` to `high`; NaN becomes `low`."""
    if not value >= low:  # also true for NaN
        return low
    return value if value < high else high
