"""Simultaneous bindings: FMIPv6 whose old router sends every packet to both places.

Source: El Malki and Soliman, "Simultaneous Bindings for Mobile IPv6 Fast Handovers" (IETF draft, 2005).
Nobody numbers the copies, so the host receives what both routers deliver twice.  Both bindings stay: a
host that soon returns needs no new address check.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import FOREVER, P
from netcarlo.kernels.mobility.fmipv6 import make_prepare, make_react
from netcarlo.kernels.mobility.signalling import ANNOUNCE, Signalling
from netcarlo.kernels.mobility.timeline import AT_CN, COPY, RADIO_UP, RELEASE, UP


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    send, home = signalling.send, signalling.home
    prepare, react = make_prepare(dev, signalling), make_react(dev, signalling)

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        check = parameters[P.PREPARATION] * (1 - back)
        m[at + COPY] = prepare(parameters, m, legs, at, k, trigger, check)
        if m[at + COPY] < FOREVER:
            start = m[at + UP] + parameters[P.ANNOUNCE]
            m[at + RELEASE] = send(parameters, k, ANNOUNCE, start, m[legs + RADIO_UP])
            m[at + AT_CN] = home(parameters, m, legs, k, start)
            return 1
        react(parameters, m, legs, at, k)
        m[at + AT_CN] = home(parameters, m, legs, k, m[at + UP] + parameters[P.DETECTION])
        return 0

    return dev(plan)
