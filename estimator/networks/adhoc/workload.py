"""How many frames, and legs of nodes, an ad hoc network asks for."""

from typing import Any

from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.networks.run import Run
from netcarlo.networks.traffic import mean


def packets(adhoc: Adhoc, run: Run) -> float:
    """Of one replication, about."""
    duration, radio = mean(run.duration), adhoc.radio
    data = 8 * (mean(run.transport.payload) + mean(radio.overhead)) / mean(radio.rate)
    exchange = 4 * mean(radio.preamble) + 3 * mean(radio.sifs) + 2 * mean(radio.slot) + data
    trajectories = adhoc.most_nodes + adhoc.redrawn
    steps = _steps(adhoc.mobility, duration) * trajectories
    return float(steps + duration / exchange * max(1.0, adhoc.most_nodes / 4))


def _steps(mobility: Any, duration: float) -> float:
    """Legs of a node, about."""
    before = mean(getattr(mobility, "warm_up", 0.0))
    return (duration + before) / max(mean(getattr(mobility, "step", getattr(mobility, "leg", 1.0))), 1e-3)
