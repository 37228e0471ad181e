"""Hierarchical Mobile IPv6: the MAP learns the new address, and the sender only between two MAPs.

Source: RFC 5380. Nothing is buffered: packets that reach the old router after the host has left are lost.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.signalling import Message, abroad, send
from netcarlo.kernels.path.mobility.timeline import Delay, Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    start = m[at + Handover.UP] + parameters[MobileP.DETECTION]
    m[at + Handover.RELEASE] = m[at + Handover.UP]
    if m[at + Handover.INTER] == 1:
        m[at + Handover.AT_CN] = abroad(parameters, m, delays, k, start)
    else:
        m[at + Handover.AT_MAP] = send(parameters, k, Message.REGISTER, start, m[delays + Delay.TO_MAP])
    return 0
