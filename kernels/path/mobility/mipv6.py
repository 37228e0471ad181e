"""Mobile IPv6: the sender learns the new address; what it sent to the old one is lost.

Source: RFC 6275.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.path.mobility.signalling import Signalling
from netcarlo.kernels.path.mobility.timeline import AT_CN, RELEASE, UP


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    home = signalling.home

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        m[at + RELEASE] = m[at + UP]
        m[at + AT_CN] = home(parameters, m, legs, k, m[at + UP] + parameters[P.DETECTION])
        return 0

    return dev(plan)
