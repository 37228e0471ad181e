"""Random streams: no two consumers in one kind of network draw the same numbers."""

from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest

from netcarlo.kernels.adhoc import layout as adhoc
from netcarlo.kernels.adhoc import motion
from netcarlo.kernels.base import arrivals
from netcarlo.kernels.base import layout as base
from netcarlo.kernels.fluid import state as fluid
from netcarlo.kernels.fluid.adhoc import state as fluid_adhoc
from netcarlo.kernels.shared import layout as shared
from netcarlo.kernels.wireless import layout as wireless
from netcarlo.networks import outages

TOGETHER = {
    "path": [base, outages],
    "shared": [base, outages, arrivals, shared],
    "wireless": [base, arrivals, wireless],
    "adhoc": [base, adhoc],
    "fluid": [base, outages, shared, fluid],
    "fluid_adhoc": [base, adhoc, fluid_adhoc],
}
"""Modules from whose streams one simulation may draw."""

ROOM = 1 << 19
"""Numbers of a kind of stream that each flow, link or node has: at most 512 for each of 1,024 flows. Kinds
with a smaller number share one such range and differ in their positions in it."""


def streams(modules: list[ModuleType]) -> dict[str, int]:
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("STREAM_")
    }


@pytest.mark.parametrize("kind", TOGETHER)
def test_no_two_have_the_same_numbers(kind: str) -> None:
    found = sorted((value, name) for name, value in streams(TOGETHER[kind]).items())
    assert len(found) > 5
    close = [
        (one[1], other[1])
        for one, other in pairwise(found)
        if other[0] - one[0] < (1 if other[0] < ROOM else ROOM)
    ]
    assert not close


def test_nodes_of_ad_hoc_networks_move_by_streams_of_their_own() -> None:
    attempts = np.array([[0], [1], [adhoc.MOST_ATTEMPTS - 1]])
    found = motion.stream(np.arange(adhoc.MOST_NODES), attempts)
    assert len(np.unique(found)) == found.size
    assert found.min() == adhoc.STREAM_MOTION and found.max() < adhoc.STREAM_ROUTING
    assert (found[1, :64] == adhoc.STREAM_MOTION + np.arange(64) + 64).all()  # as without the other streams
