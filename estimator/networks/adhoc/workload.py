"""Forecast of the frames, and of legs of nodes, of an ad hoc network."""

from typing import Any

from netcarlo.kernels.adhoc.frames import TRANSMISSION_SHIFT
from netcarlo.kernels.linux.transmission_ids import STAMP_BITS
from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.networks.run import Run
from netcarlo.networks.traffic import mean

MAX_LINUX_PACKETS = 1 << 63 - TRANSMISSION_SHIFT - STAMP_BITS
"""Maximum number of packets that frames can number in addition to a timestamp."""


def packets(adhoc: Adhoc, run: Run) -> float:
    """Return the approximate number of frames and legs of one replication."""
    trajectories = adhoc.most_nodes + adhoc.redrawn
    steps = _steps(adhoc.mobility, mean(run.duration)) * trajectories
    return float(steps + exchanges(adhoc, run) * max(1.0, adhoc.most_nodes / 4))


def exchanges(adhoc: Adhoc, run: Run) -> float:
    """Return the maximum number of consecutive data frame exchanges in one replication."""
    radio = adhoc.radio
    data = 8 * (mean(run.transport.payload) + mean(radio.overhead)) / mean(radio.rate)
    exchange = 4 * mean(radio.preamble) + 3 * mean(radio.sifs) + 2 * mean(radio.slot) + data
    return mean(run.duration) / exchange


def _steps(mobility: Any, duration: float) -> float:
    """Return the approximate number of legs of a node."""
    before = mean(getattr(mobility, "warm_up", 0.0))
    return (duration + before) / max(mean(getattr(mobility, "step", getattr(mobility, "leg", 1.0))), 1e-3)
