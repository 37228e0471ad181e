"""How many frames, and legs of nodes, an ad hoc network asks for."""

from typing import Any

from netcarlo.kernels.adhoc.frames import TRANSMISSION_SHIFT
from netcarlo.kernels.linux.copies import STAMP_BITS
from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.networks.run import Run
from netcarlo.networks.traffic import mean

MAX_LINUX_PACKETS = 1 << 63 - TRANSMISSION_SHIFT - STAMP_BITS
"""Packets that frames can number beside a timestamp."""


def packets(adhoc: Adhoc, run: Run) -> float:
    """Of one replication, about."""
    trajectories = adhoc.most_nodes + adhoc.redrawn
    steps = _steps(adhoc.mobility, mean(run.duration)) * trajectories
    return float(steps + exchanges(adhoc, run) * max(1.0, adhoc.most_nodes / 4))


def exchanges(adhoc: Adhoc, run: Run) -> float:
    """Of data frames, that fit into the time of one replication one after the other."""
    radio = adhoc.radio
    data = 8 * (mean(run.transport.payload) + mean(radio.overhead)) / mean(radio.rate)
    exchange = 4 * mean(radio.preamble) + 3 * mean(radio.sifs) + 2 * mean(radio.slot) + data
    return mean(run.duration) / exchange


def _steps(mobility: Any, duration: float) -> float:
    """Legs of a node, about."""
    before = mean(getattr(mobility, "warm_up", 0.0))
    return (duration + before) / max(mean(getattr(mobility, "step", getattr(mobility, "leg", 1.0))), 1e-3)
