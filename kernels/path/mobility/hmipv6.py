"""Hierarchical Mobile IPv6: the MAP learns the new address, and the sender only between two MAPs.

Source: RFC 5380.  Nothing is kept: what reaches the old router while the host is gone is lost.
"""

import functools
from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.path.mobility.signalling import REGISTER, Signalling
from netcarlo.kernels.path.mobility.timeline import AT_CN, AT_MAP, INTER, RELEASE, TO_MAP, UP


@functools.cache  # S-MIP and FHMIPv6 fall back on it
def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    send, abroad = signalling.send, signalling.abroad

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        start = m[at + UP] + parameters[P.DETECTION]
        m[at + RELEASE] = m[at + UP]
        if m[at + INTER] == 1:
            m[at + AT_CN] = abroad(parameters, m, legs, k, start)
        else:
            m[at + AT_MAP] = send(parameters, k, REGISTER, start, m[legs + TO_MAP])
        return 0

    return dev(plan)
