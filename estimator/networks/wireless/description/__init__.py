"""Description of an 802.11 network: a cell, chain, tree or scattered stations on one channel.

Stations are numbered 0, 1, ...; the last node is the gateway (the access point of a cell). Frames are
forwarded along a tree whose root is the gateway.
"""

from netcarlo.networks.wireless.description.flows import Flows, FlowSpec
from netcarlo.networks.wireless.description.hearing import PathLoss, Ranges, Reach
from netcarlo.networks.wireless.description.hosts import LegSpec, Receiver
from netcarlo.networks.wireless.description.layouts import LAYOUTS
from netcarlo.networks.wireless.description.links import Link
from netcarlo.networks.wireless.description.rates import RATE_CONTROLS
from netcarlo.networks.wireless.description.wireless import Wireless

__all__ = [
    "LAYOUTS", "RATE_CONTROLS", "FlowSpec", "Flows", "LegSpec", "Link", "PathLoss", "Ranges", "Reach",
    "Receiver", "Wireless",
]  # fmt: skip
