"""Where today's Linux runs a user's control: its association, with the user asked after each event.

`grow` and `reduce` of the user's file return (window, rate), packets and packets per second.  While packets
are repaired the window follows proportional rate reduction, as with the kernel's own controls.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import prr, sender
from netcarlo.kernels.linux.own.events import Own
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.state import Tcp, in_cwnd_reduction

own: Any = slot("own")
"""Functions of the user's control."""
base: Any = slot("base")
"""Association that the user's control runs in: that of Linux, with or without records of sent packets."""

MEMORY = 16
"""Float words that a control may keep, behind the window."""
FLOATS = 1 + MEMORY
MAX_CWND = float(1 << 30)
"""Of a window [packet]."""
MAX_RATE = 1e12
"""Of a rate [byte / s]."""


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association below, and clear the memory of the control."""
    for i in range(FLOATS):
        g[i] = 0.0
    return base.prepare(p, s, g, limit, phase, flow, free)


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """An acknowledgement arrives at the sender."""
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
    """A timer goes off."""
    timeouts = s[Tcp.TIMEOUTS]
    sender.on_timeout(p, s, g, constants, now)
    if s[Own.REDUCTION_REQUESTED] != 0:
        timeout = s[Tcp.TIMEOUTS] > timeouts
        _reduce(p, s, g, constants, now, timeout)
        if not timeout:
            prr.cwnd_reduction(s, 1, 1, False)


def _reduce(p: Any, s: Any, g: Any, constants: Any, now: Any, timeout: Any) -> None:
    s[Own.REDUCTION_REQUESTED] = 0
    s[Own.IN_REDUCTION] = 0 if timeout else 1
    window = float(s[Tcp.PRIOR_CWND])
    cwnd, rate = own.reduce(window, timeout, now, _rtt(s), constants, g[1:])
    s[Tcp.SSTHRESH] = int(_clamp(cwnd, 2.0, MAX_CWND))
    _pace(p, s, rate)


def _cwnd(s: Any, g: Any) -> Any:
    """The user's window, unless the sender has set another one since."""
    cwnd = s[Tcp.CWND]
    return g[0] if int(g[0]) == cwnd else float(cwnd)


def _rtt(s: Any) -> Any:
    """Smoothed [ns]; before there is any, a time to divide by."""
    return max(s[Tcp.SRTT_NS], 1)


def _pace(p: Any, s: Any, rate: Any) -> None:
    s[Pacing.RATE] = int(_clamp(rate * p[P.DATA], 1.0, MAX_RATE))


def _clamp(value: Any, least: Any, most: Any) -> Any:
    """A number in these limits, whatever the user's file says."""
    if not value >= least:  # nor is NaN
        return least
    return value if value < most else most
