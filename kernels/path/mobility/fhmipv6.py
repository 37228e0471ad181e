"""FHMIPv6: HMIPv6 whose MAP sends packets to the new router, which holds them, before the host is there.

Source: Jung, Soliman, Koh and Takamiya, "Fast Handover for Hierarchical MIPv6" (IETF draft, 2005).  If the
answer to the fast binding update does not reach the host in time, the handover is one of HMIPv6.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.path.mobility import hmipv6
from netcarlo.kernels.path.mobility.s_mip import make_ask
from netcarlo.kernels.path.mobility.signalling import ANNOUNCE, Signalling
from netcarlo.kernels.path.mobility.timeline import (
    AT_CN,
    AT_MAP,
    DOWN,
    INTER,
    RADIO_UP,
    RELEASE,
    TO_HOST,
    UP,
)


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    send, ask = signalling.send, make_ask(dev, signalling)
    abroad, unprepared = signalling.abroad, hmipv6.make(dev, signalling)

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        consent = ask(parameters, m, legs, at, k, trigger)
        if consent <= m[at + DOWN] - m[legs + TO_HOST] - parameters[P.MARGIN]:
            start = m[at + UP] + parameters[P.ANNOUNCE]
            m[at + AT_MAP] = consent
            m[at + RELEASE] = send(parameters, k, ANNOUNCE, start, m[legs + RADIO_UP])
            if m[at + INTER] == 1:
                m[at + AT_CN] = abroad(parameters, m, legs, k, start)
            return 1
        return unprepared(parameters, m, legs, at, k, trigger, back)

    return dev(plan)
