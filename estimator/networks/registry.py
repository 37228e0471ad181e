"""Registry of the kinds of networks: each is a field of `Networks`."""

import typing

from pydantic import Field

from netcarlo.kernels.base.layout import MPTCP_PATHS
from netcarlo.networks.adhoc.network import AdhocNetwork
from netcarlo.networks.family import Network
from netcarlo.networks.path.description import Route
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.path.network import PathNetwork
from netcarlo.networks.run import Run
from netcarlo.networks.shared.network import SharedNetwork
from netcarlo.networks.wireless.network import WirelessNetwork


class Networks(Run):
    """A scenario's run with its network, which is one of these fields (`mobility` is part of `paths`)."""

    mobility: Mobility | None = None
    """Mobility of the receiver: the last hop of the path is its radio link. Default: a fixed host."""
    paths: list[Route] = Field(default_factory=list, max_length=MPTCP_PATHS)
    """Paths from sender to receiver: one, two for SCTP and QUIC, up to four for MPTCP. `hops` at the top
    level is short for one path."""
    wireless: WirelessNetwork | None = None
    """An 802.11 network."""
    adhoc: AdhocNetwork | None = None
    """A mobile ad hoc network."""
    shared: SharedNetwork | None = None
    """A network of shared links with many flows."""

    @property
    def given(self) -> list[Network]:
        """Networks that are given; a checked scenario has exactly one."""
        found = (network.of(self) for network in NETWORKS)
        return [network for network in found if network is not None]

    @property
    def network(self) -> Network:
        """Network of a checked scenario."""
        return self.given[0]


NETWORKS: tuple[type[Network], ...] = (
    PathNetwork,
    *(
        kind
        for field in Networks.model_fields.values()
        for kind in typing.get_args(field.annotation)
        if isinstance(kind, type) and issubclass(kind, Network)
    ),
)
"""All kinds of networks, in the order of their fields."""

BY_KEY = {network.key: network for network in NETWORKS}
