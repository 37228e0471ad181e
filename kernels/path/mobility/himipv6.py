"""HIMIPv6: the MAP simulcasts numbered packets to the old router and the candidates.

Source: Jeong, Kim, Maeng and Chae, "HIMIPv6" (2006), as revised in Park and Chae (2008).  The new router
delivers what the host has not seen.  Between two MAPs the old one is a temporary home agent: packets to
the old address come through a tunnel (p-buffer), those to the new address wait (n-buffer) until the
tunnel has been quiet for the time of a timer.  The address of a router that the host just left is still
valid, so a return needs no new address check.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.path.mobility.signalling import ANNOUNCE, PREPARE, REGISTER, Signalling
from netcarlo.kernels.path.mobility.timeline import (
    AT_CN,
    AT_MAP,
    COPY,
    DETOUR,
    DOWN,
    INTER,
    RADIO_UP,
    RELEASE,
    SETTLE,
    TO_MAP,
    UP,
)


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    send, abroad = signalling.send, signalling.abroad

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        request = send(parameters, k, PREPARE, trigger, m[legs + TO_MAP])
        prepared = 1 if request <= m[at + DOWN] else 0
        start = m[at + UP] + parameters[P.DETECTION]
        m[at + RELEASE] = m[at + UP]
        if prepared == 1:
            start = m[at + UP] + parameters[P.ANNOUNCE]
            there_and_back = 2 * (parameters[P.MAP_TO_AR] + m[at + DETOUR])
            ready = request + there_and_back + parameters[P.PREPARATION] * (1 - back)
            m[at + COPY] = request
            m[at + RELEASE] = max(
                send(parameters, k, ANNOUNCE, start, m[legs + RADIO_UP]),
                ready + parameters[P.MAP_TO_AR] + m[at + DETOUR],
            )
        m[at + AT_MAP] = send(parameters, k, REGISTER, start, m[legs + TO_MAP] + m[at + DETOUR])
        if m[at + INTER] == 1:
            m[at + SETTLE] = parameters[P.SETTLE]
            m[at + AT_CN] = abroad(parameters, m, legs, k, start)
        return prepared

    return dev(plan)
