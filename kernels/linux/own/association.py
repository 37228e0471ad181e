"""Where today's Linux runs a user's control: its association, with the user asked after each event.

`grow` and `reduce` of the user's file return (window, rate), packets and packets per second.  While packets
are repaired the window follows proportional rate reduction, as with the kernel's own controls.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import prr, sender
from netcarlo.kernels.linux.own.notes import Own
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.state import Tcp, reducing

own: Any = slot("own")
"""Functions of the user's control."""
base: Any = slot("base")
"""Association that the user's control runs in: that of Linux, with or without records of sent packets."""

MEMORY = 16
"""Float words that a control may keep, behind the window."""
FLOATS = 1 + MEMORY
LARGEST = float(1 << 30)
"""Of a window [packet]."""
FASTEST = 1e12
"""Of a rate [byte / s]."""


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association below, and clear the memory of the control."""
    for i in range(FLOATS):
        g[i] = 0.0
    return base.prepare(p, s, g, limit, phase, flow, free)


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """An acknowledgement arrives at the sender."""
    before = s[Tcp.UNA]
    sender.on_ack(p, s, g, constants, now, ack_id)
    if s[Own.TAKEN] == 0:
        return
    s[Own.TAKEN] = 0
    if s[Own.ASKED] != 0:
        _reduce(p, s, g, constants, now, False)
    own.on_ack(s[Own.DELIVERED], now, _rtt(s), g[1:])
    advances = s[Tcp.UNA] > before
    if reducing(s):
        prr.reduce(s, s[Own.DELIVERED], s[Own.LOSSES], advances)
        return
    if s[Own.REDUCING] != 0:
        s[Own.REDUCING] = 0
        s[Tcp.CWND] = s[Tcp.SSTHRESH]
    if advances:
        own.acked(s[Own.DELIVERED], g[1:])
        cwnd, rate = own.grow(_cwnd(s, g), float(s[Tcp.SSTHRESH]), now, _rtt(s), constants, g[1:])
        g[0] = _within(cwnd, 1.0, LARGEST)
        s[Tcp.CWND] = int(g[0])
        _pace(p, s, rate)


def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """A timer goes off."""
    timeouts = s[Tcp.TIMEOUTS]
    sender.on_timeout(p, s, g, constants, now)
    if s[Own.ASKED] != 0:
        timeout = s[Tcp.TIMEOUTS] > timeouts
        _reduce(p, s, g, constants, now, timeout)
        if not timeout:
            prr.reduce(s, 1, 1, False)


def _reduce(p: Any, s: Any, g: Any, constants: Any, now: Any, timeout: Any) -> None:
    s[Own.ASKED] = 0
    s[Own.REDUCING] = 0 if timeout else 1
    window = float(s[Tcp.PRIOR_WINDOW])
    cwnd, rate = own.reduce(window, timeout, now, _rtt(s), constants, g[1:])
    s[Tcp.SSTHRESH] = int(_within(cwnd, 2.0, LARGEST))
    _pace(p, s, rate)


def _cwnd(s: Any, g: Any) -> Any:
    """The user's window, unless the sender has set another one since."""
    cwnd = s[Tcp.CWND]
    return g[0] if int(g[0]) == cwnd else float(cwnd)


def _rtt(s: Any) -> Any:
    """Smoothed [ns]; before there is any, a time to divide by."""
    return max(s[Tcp.RTT], 1)


def _pace(p: Any, s: Any, rate: Any) -> None:
    s[Pacing.RATE] = int(_within(rate * p[P.DATA], 1.0, FASTEST))


def _within(value: Any, least: Any, most: Any) -> Any:
    """A number in these limits, whatever the user's file says."""
    if not value >= least:  # nor is NaN
        return least
    return value if value < most else most
