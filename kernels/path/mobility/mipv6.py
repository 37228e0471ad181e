"""Mobile IPv6: the sender learns the new address; packets to the old one are lost.

Source: RFC 6275.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.signalling import home
from netcarlo.kernels.path.mobility.timeline import Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    m[at + Handover.RELEASE] = m[at + Handover.UP]
    m[at + Handover.AT_CN] = home(
        parameters, m, delays, k, m[at + Handover.UP] + parameters[MobileP.DETECTION]
    )
    return 0
