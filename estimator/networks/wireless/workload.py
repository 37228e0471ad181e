"""How many packets and frames an 802.11 network asks for."""

import math

from netcarlo.kernels.linux.copies import STAMP_BITS
from netcarlo.kernels.wireless.frame import COPY_SHIFT
from netcarlo.networks.run import Run
from netcarlo.networks.traffic import datagrams, mean
from netcarlo.networks.wireless.description import Wireless
from netcarlo.transport.udp import Datagrams, Udp

EXCHANGE_S = {"802.11a": 60e-6, "802.11b": 250e-6, "802.11g": 50e-6}
"""What an exchange of frames takes at least beside its data: two short preambles, and spaces."""

MOST_OF_LINUX = 1 << 63 - COPY_SHIFT - STAMP_BITS
"""Packets that frames can number beside a timestamp."""


def packets(wireless: Wireless, run: Run) -> float:
    """Of one replication, about."""
    duration, transport = mean(run.duration), run.transport
    stations = mean(wireless.stations)
    flows = wireless.flows if isinstance(wireless.flows, list) else []
    streams = [flow.udp or transport for flow in flows] or [transport] * math.ceil(2 * stations)
    offered = sum(datagrams(udp, duration) for udp in streams if isinstance(udp, Datagrams))
    data = 8 * mean(transport.payload) / mean(wireless.rate)
    exchange = EXCHANGE_S[wireless.standard] + (data if isinstance(transport, Udp) else data / 2)
    return offered + duration / exchange * max(1.0, stations / 4)
