"""Simultaneous bindings: FMIPv6 whose old router sends every packet to both places.

Source: El Malki and Soliman, "Simultaneous Bindings for Mobile IPv6 Fast Handovers" (IETF draft, 2005).
Nobody numbers the copies, so the host receives what both routers deliver twice.  Both bindings stay: a
host that soon returns needs no new address check.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.path.mobility.fmipv6 import make_plan
from netcarlo.kernels.path.mobility.signalling import Signalling
from netcarlo.kernels.path.mobility.timeline import COPY


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    return make_plan(dev, signalling, then=COPY, addresses=2)
