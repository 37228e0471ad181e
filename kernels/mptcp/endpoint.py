"""Endpoint of MPTCP: subflows of today's Linux with one of its congestion controls, or with a coupled one."""

from dataclasses import dataclass, fields, replace
from types import ModuleType

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Step
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import SctpP
from netcarlo.kernels.linux import endpoint
from netcarlo.kernels.linux.endpoint import LinuxSlots
from netcarlo.kernels.mptcp.coupled import control
from netcarlo.kernels.space import COUPLED


@dataclass(frozen=True, kw_only=True)
class MptcpSlots(LinuxSlots):
    """Slots of the modules of a connection and of its subflows."""

    coupled: bool
    """True if the congestion controls of the subflows are coupled."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint whose subflows have the congestion control of an address."""
    coupled = address.control == COUPLED
    alone = "reno" if coupled else address.control
    subflow = endpoint.of(address._replace(sender="linux", control=alone), own)

    def slots(step: Step) -> MptcpSlots:
        of_subflow = subflow.slots(step)
        filled = {each.name: getattr(of_subflow, each.name) for each in fields(of_subflow)}
        return MptcpSlots(**filled | {"control": control} if coupled else filled, coupled=coupled)

    return replace(subflow, slots=slots, blocks=(*subflow.blocks, SctpP), has_fast_path=False, inlined=())
