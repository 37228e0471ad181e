"""Script that runs in a copy of the package with a fifth network, and prints its answers as JSON."""

import json
import sys

import numpy as np

from netcarlo import Scenario, estimate, simulate, trace
from netcarlo.errors import InputError
from netcarlo.reports.parts.scales import name_of
from netcarlo.simulation import measurable
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space.file import make_sweep

asked = json.loads(sys.argv[1])
scenario = Scenario.check(asked["scenario"])
drawn = {**asked["scenario"], "toy": {**asked["scenario"]["toy"], "loss": {"uniform": [0, 0.5]}}}
table = estimate(scenario, target="cpu").table
given = {"name": "some", "outcomes": ["received"]}
sweep = make_sweep({**given, "scenario": asked["scenario"], "axes": asked["axes"]})
drawn_sweep = make_sweep({**given, "scenario": drawn, "draw": {"count": 4}})
cells = [
    run_chunk(json.dumps(each.definition), np.arange(each.n_cells), version=model_version()).cells.to_pydict()
    for each in (sweep, drawn_sweep)
]
refused = []
for ask in (lambda: trace(scenario), lambda: scenario.with_values({"transport": {"protocol": "newreno"}})):
    try:
        ask()
    except InputError as error:
        refused.append(str(error))
print(json.dumps({
    "integers": simulate(scenario, target="cpu").integers.tolist(),
    "luck": table["mean"]["luck"],
    "cells": cells,
    "measured": measurable.outcomes(scenario),
    "formula": simulate(scenario.with_values({"fidelity": "formula"}), replications=1).frame["luck"].tolist(),
    "refused": refused,
    "name": name_of("toy.delay"),
}))  # fmt: skip
