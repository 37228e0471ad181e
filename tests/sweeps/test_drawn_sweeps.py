"""Shipped sweeps over drawn networks: they are valid, and a fluid model screens them."""

from typing import Any

import numpy as np
import pytest
import yaml

import netcarlo
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import load_sweep

pytestmark = pytest.mark.full

CELLS = {"multihoming_planning": 38400, "multipath_planning": 18432, "mobility_planning": 21504,
         "mesh_planning": 6912, "link_planning": 2304, "modern": 92160}  # fmt: skip


@pytest.mark.parametrize(("name", "cells"), CELLS.items())
def test_the_sweeps_that_come_along_are_sound(name: str, cells: int) -> None:
    sweep = load_sweep(f"configs/{name}.yaml")
    assert sweep.n_cells == cells
    for batch in sweep.batches(np.arange(0, cells, 997)):
        assert len(set(identity.keys(sweep, batch))) == len(batch.at)


@pytest.mark.parametrize(("name", "axes"), [
    ("multihoming_planning", {"loss": {"field": "paths.0.hops.1.each.loss", "values": ["0.1 %"]}}),
    ("mobility_planning", {"loss": {"field": "hops.1.loss", "values": ["0.1 %"]},
                           "tcp": {"field": "transport.protocol", "values": ["newreno"]}}),
])  # fmt: skip
def test_the_fluid_names_the_winner(name: str, axes: dict[str, Any]) -> None:
    """The fluid model names the winner by means over 64 networks; if the second is as good, either is
    accepted."""
    with open(f"configs/{name}.yaml", encoding="utf-8") as file:
        data = yaml.safe_load(file)
    data["axes"] |= axes
    data["draw"] = {"count": 64, "method": "sobol", "blocks": 8}
    compared = data["compare"]
    means = []
    for fidelity in ("packet", "fluid"):
        frame = netcarlo.sweep({**data, "scenario": {**data["scenario"], "fidelity": fidelity}})
        means.append(frame.groupby(compared)["goodput_bps"].mean())
    packet, fluid = means
    assert packet[fluid.idxmax()] > 0.97 * packet.max()
    assert (np.abs(fluid / packet - 1) < 0.15).all()
