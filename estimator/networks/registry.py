"""The kinds of networks: a field of `Networks` each, and nothing else anywhere."""

import typing

from pydantic import Field

from netcarlo.networks.adhoc.network import AdhocNetwork
from netcarlo.networks.family import Network
from netcarlo.networks.path.description import Route
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.path.network import PathNetwork
from netcarlo.networks.run import Run
from netcarlo.networks.shared.network import SharedNetwork
from netcarlo.networks.wireless.network import WirelessNetwork


class Networks(Run):
    """A run with its network: one of these (`mobility` is part of `paths`)."""

    mobility: Mobility | None = None
    """The last hop of the path is the radio link of a host that moves."""
    paths: list[Route] = Field(default_factory=list, max_length=2)
    """One path, or two for multi-homed SCTP; `hops` at the top is short for one."""
    wireless: WirelessNetwork | None = None
    """An 802.11 network in place of paths."""
    adhoc: AdhocNetwork | None = None
    """A mobile ad hoc network in place of paths."""
    shared: SharedNetwork | None = None
    """Many flows over shared links in place of paths."""

    @property
    def given(self) -> list[Network]:
        """The networks that are given; of a checked scenario it is one."""
        found = (kind.of(self) for kind in KINDS)
        return [network for network in found if network is not None]

    @property
    def network(self) -> Network:
        """The one that is given."""
        return self.given[0]


KINDS: tuple[type[Network], ...] = (
    PathNetwork,
    *(
        kind
        for field in Networks.model_fields.values()
        for kind in typing.get_args(field.annotation)
        if isinstance(kind, type) and issubclass(kind, Network)
    ),
)
"""All kinds, in the order of their fields."""

BY_KEY = {kind.key: kind for kind in KINDS}
