"""Endpoint of MPTCP: subflows of today's Linux with any of its congestion controls."""

from dataclasses import replace
from types import ModuleType

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import SctpP
from netcarlo.kernels.linux import endpoint


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint whose subflows have the congestion control of an address."""
    subflow = endpoint.of(address._replace(sender="linux"), own)
    return replace(subflow, blocks=(*subflow.blocks, SctpP), has_fast_path=False, inlined=())
