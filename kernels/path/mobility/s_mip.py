"""S-MIP: the MAP simulcasts to both routers, and the old one sends on what was not copied.

Source: Hsieh, Zhou and Seneviratne, "S-MIP: a seamless handoff architecture for mobile IP" (INFOCOM 2003).
The new router delivers the packets sent on by the old one first, then the copies; the copies of packets
that the old router delivered reach the host twice.
"""

import functools
from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.path.mobility import hmipv6
from netcarlo.kernels.path.mobility.fmipv6 import make_react
from netcarlo.kernels.path.mobility.signalling import ANNOUNCE, PREPARE, REGISTER, Signalling
from netcarlo.kernels.path.mobility.timeline import (
    AT_CN,
    AT_MAP,
    COPY,
    DETOUR,
    DOWN,
    HOLD,
    INTER,
    KEPT,
    RADIO_UP,
    RELEASE,
    TO_MAP,
    TUNNEL,
    UP,
)


@functools.cache  # one compiled function for all that use it
def make_ask(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile `ask(parameters, m, legs, at, k, trigger)`: when the MAP has the new router's consent."""
    send = signalling.send

    @cold
    def ask(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any) -> Any:
        there_and_back = 2 * (parameters[P.MAP_TO_AR] + m[at + DETOUR])
        delay = m[legs + TO_MAP] + there_and_back + parameters[P.PREPARATION]
        return send(parameters, k, PREPARE, trigger, delay)

    return dev(ask)


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    send, abroad = signalling.send, signalling.abroad
    ask, react = make_ask(dev, signalling), make_react(dev, signalling)
    register = hmipv6.make(dev, signalling)

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        consent = ask(parameters, m, legs, at, k, trigger)
        if consent <= m[at + DOWN]:
            start = m[at + UP] + parameters[P.ANNOUNCE]
            m[at + COPY] = consent
            m[at + TUNNEL] = 2 * parameters[P.MAP_TO_AR] + m[at + DETOUR]
            m[at + KEPT] = m[at + DOWN]
            m[at + HOLD] = consent + parameters[P.MAP_TO_AR] + m[at + TUNNEL]
            m[at + RELEASE] = send(parameters, k, ANNOUNCE, start, m[legs + RADIO_UP])
            m[at + AT_MAP] = send(parameters, k, REGISTER, start, m[legs + TO_MAP] + m[at + DETOUR])
            if m[at + INTER] == 1:
                m[at + AT_CN] = abroad(parameters, m, legs, k, start)
            return 1
        register(parameters, m, legs, at, k, trigger, back)
        react(parameters, m, legs, at, k)
        return 0

    return dev(plan)
