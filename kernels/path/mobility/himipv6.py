"""HIMIPv6: the MAP simulcasts numbered packets to the old router and the candidates.

Source: Jeong, Kim, Maeng and Chae, "HIMIPv6" (2006), as revised in Park and Chae (2008). The new router
delivers packets that the host has not received. Between two MAPs the old one is a temporary home agent:
packets to the old address come through a tunnel (p-buffer), those to the new address wait (n-buffer) until
the tunnel has been idle for `SETTLE`. The address at the router that the host just left remains valid, so a
return needs no address check.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.signalling import Message, abroad, send
from netcarlo.kernels.path.mobility.timeline import Delay, Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    request = send(parameters, k, Message.PREPARE, trigger, m[delays + Delay.TO_MAP])
    prepared = 1 if request <= m[at + Handover.DOWN] else 0
    start = m[at + Handover.UP] + parameters[MobileP.DETECTION]
    m[at + Handover.RELEASE] = m[at + Handover.UP]
    if prepared == 1:
        start = m[at + Handover.UP] + parameters[MobileP.ANNOUNCE]
        there_and_back = 2 * (parameters[MobileP.MAP_TO_AR] + m[at + Handover.DETOUR])
        ready = request + there_and_back + parameters[MobileP.PREPARATION] * (1 - back)
        m[at + Handover.COPY] = request
        m[at + Handover.RELEASE] = max(
            send(parameters, k, Message.ANNOUNCE, start, m[delays + Delay.RADIO_UP]),
            ready + parameters[MobileP.MAP_TO_AR] + m[at + Handover.DETOUR],
        )
    to_map = m[delays + Delay.TO_MAP] + m[at + Handover.DETOUR]
    m[at + Handover.AT_MAP] = send(parameters, k, Message.REGISTER, start, to_map)
    if m[at + Handover.INTER] == 1:
        m[at + Handover.SETTLE] = parameters[MobileP.SETTLE]
        m[at + Handover.AT_CN] = abroad(parameters, m, delays, k, start)
    return prepared
