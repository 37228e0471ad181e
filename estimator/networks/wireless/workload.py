"""Forecast of the packets and frames of an 802.11 network."""

import math
from typing import Any

from netcarlo.kernels.linux.transmission_ids import STAMP_BITS
from netcarlo.kernels.wireless.frame import TRANSMISSION_SHIFT
from netcarlo.networks.run import Run
from netcarlo.networks.traffic import datagrams, mean
from netcarlo.networks.wireless.description import Flows, FlowSpec, Wireless
from netcarlo.transport.kinds import sender_of

EXCHANGE_S = {"802.11a": 60e-6, "802.11b": 250e-6, "802.11g": 50e-6}
"""Minimum time of a frame exchange without its data: two short preambles and interframe spaces [s]."""
AGGREGATED_S = 6e-6
"""Share of a packet in the preambles and interframe spaces of an exchange with 32 MPDUs [s]."""

MAX_LINUX_PACKETS = 1 << 63 - TRANSMISSION_SHIFT - STAMP_BITS
"""Maximum number of packets that frames can number in addition to a timestamp."""


def _streams(wireless: Wireless, transport: Any, stations: float) -> list[tuple[Any, float]]:
    """Return the senders of flows with their approximate numbers of flows."""
    if not isinstance(wireless.flows, list):
        return [(transport, math.ceil(2 * stations))]
    found: list[tuple[Any, float]] = []
    for item in wireless.flows:
        if isinstance(item, Flows) and isinstance(item.each, FlowSpec):
            found.append((sender_of(transport, item.each), mean(wireless.count_of(item))))
        else:
            several = item.each if isinstance(item, Flows) else item
            each = several if isinstance(several, list) else [several]
            found += [(sender_of(transport, flow), 1) for flow in each]
    return found


def packets(wireless: Wireless, run: Run) -> float:
    """Return the approximate number of packets and frames of one replication."""
    duration, transport = mean(run.duration), run.transport
    stations = mean(wireless.stations)
    streams = _streams(wireless, transport, stations)
    offered = sum(count * datagrams(sender, duration) for sender, count in streams if sender.datagrams)
    data = 8 * mean(transport.payload) / mean(wireless.first_rates[0])
    exchange = EXCHANGE_S.get(wireless.standard, AGGREGATED_S) + (data if transport.datagrams else data / 2)
    return offered + duration / exchange * max(1.0, stations / 4)
