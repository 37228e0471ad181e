"""S-MIP: the MAP simulcasts to both routers, and the old one forwards packets that were not copied.

Source: Hsieh, Zhou and Seneviratne, "S-MIP: a seamless handoff architecture for mobile IP" (INFOCOM 2003).
The new router delivers the packets forwarded by the old one first, then the copies. Copies of packets that
the old router delivered reach the host twice.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.fmipv6 import react
from netcarlo.kernels.path.mobility.hmipv6 import plan as plan_hmipv6
from netcarlo.kernels.path.mobility.signalling import Message, abroad, send
from netcarlo.kernels.path.mobility.timeline import Delay, Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    consent = ask(parameters, m, delays, at, k, trigger)
    if consent <= m[at + Handover.DOWN]:
        start = m[at + Handover.UP] + parameters[MobileP.ANNOUNCE]
        to_map = m[delays + Delay.TO_MAP] + m[at + Handover.DETOUR]
        m[at + Handover.COPY] = consent
        m[at + Handover.TUNNEL] = 2 * parameters[MobileP.MAP_TO_AR] + m[at + Handover.DETOUR]
        m[at + Handover.KEPT] = m[at + Handover.DOWN]
        m[at + Handover.HOLD] = consent + parameters[MobileP.MAP_TO_AR] + m[at + Handover.TUNNEL]
        m[at + Handover.RELEASE] = send(parameters, k, Message.ANNOUNCE, start, m[delays + Delay.RADIO_UP])
        m[at + Handover.AT_MAP] = send(parameters, k, Message.REGISTER, start, to_map)
        if m[at + Handover.INTER] == 1:
            m[at + Handover.AT_CN] = abroad(parameters, m, delays, k, start)
        return 1
    plan_hmipv6(parameters, m, delays, at, k, trigger, back)
    react(parameters, m, delays, at, k)
    return 0


@noinline
def ask(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any) -> Any:
    """Return the time at which the MAP has the new router's consent [ns]."""
    there_and_back = 2 * (parameters[MobileP.MAP_TO_AR] + m[at + Handover.DETOUR])
    delay = m[delays + Delay.TO_MAP] + there_and_back + parameters[MobileP.PREPARATION]
    return send(parameters, k, Message.PREPARE, trigger, delay)
