"""FHMIPv6: HMIPv6 in which the MAP forwards packets to the new router before the host arrives there.

Source: Jung, Soliman, Koh and Takamiya, "Fast Handover for Hierarchical MIPv6" (IETF draft, 2005). The new
router buffers the packets. If the reply to the fast binding update does not reach the host in time, the
handover is one of HMIPv6.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.hmipv6 import plan as plan_hmipv6
from netcarlo.kernels.path.mobility.s_mip import ask
from netcarlo.kernels.path.mobility.signalling import Message, abroad, send
from netcarlo.kernels.path.mobility.timeline import Delay, Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    consent = ask(parameters, m, delays, at, k, trigger)
    if consent <= m[at + Handover.DOWN] - m[delays + Delay.TO_HOST] - parameters[MobileP.MARGIN]:
        start = m[at + Handover.UP] + parameters[MobileP.ANNOUNCE]
        m[at + Handover.AT_MAP] = consent
        m[at + Handover.RELEASE] = send(parameters, k, Message.ANNOUNCE, start, m[delays + Delay.RADIO_UP])
        if m[at + Handover.INTER] == 1:
            m[at + Handover.AT_CN] = abroad(parameters, m, delays, k, start)
        return 1
    return plan_hmipv6(parameters, m, delays, at, k, trigger, back)
