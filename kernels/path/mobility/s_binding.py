"""Simultaneous bindings: FMIPv6 in which the old router sends every packet to both places.

Source: El Malki and Soliman, "Simultaneous Bindings for Mobile IPv6 Fast Handovers" (IETF draft, 2005).
Copies are not numbered, so the host receives twice what both routers deliver. Both bindings remain: a host
that soon returns needs no address check.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.fmipv6 import complete, prepare
from netcarlo.kernels.path.mobility.timeline import Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    check = parameters[MobileP.PREPARATION] if back == 0 else np.int64(0)
    consent = prepare(parameters, m, delays, at, k, trigger, check)
    m[at + Handover.COPY] = consent
    return complete(parameters, m, delays, at, k, consent)
