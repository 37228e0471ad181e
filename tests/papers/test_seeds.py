"""What a study says does not hang on its seed: every demand is met beyond doubt with others, too.

`NETCARLO_LONG=4 pytest tests/papers/test_seeds.py` asks seeds 1 to 5, not only 1 and 2.
"""

import os
from importlib import import_module
from typing import Any

import pytest

from netcarlo.studies.cells import Cells, simulate_cells
from netcarlo.studies.comparison import check, compare
from netcarlo.studies.study import load, names

SEEDS = range(1, 2 + int(os.environ.get("NETCARLO_LONG", "1")))

SHOWN_ONLY = {
    "manet_probing": ("min_rto", "range_m", "start_m"),
    "wds": ("fixed_rate", "successes", "failures"),
    "wlan_buffer": ("buffer",),
}
"""Variations that no demand and no claim looks at."""

FEWER = {"manet_probing": 50, "wlan_buffer": 30}
"""Where the study's own replications take minutes: so few that a demand may stay undecided."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", names())
def test_every_demand_is_met(name: str, seed: int) -> None:
    study = load(name)
    own: Any = import_module(f"netcarlo.studies.{name}.claims")
    for variation in SHOWN_ONLY.get(name, ()):
        del study.description.variations[variation]
    runs = FEWER.get(name, study.description.replications)
    found = simulate_cells(study, replications=runs, seed=seed, target="cpu")
    cells = Cells(study, found, own.METRICS)
    demands = check(study, compare(study, cells, own.summaries(cells)), own.claims(cells), cells)
    enough = ("held", "undecided") if name in FEWER else ("held",)
    assert [f"{demand.text}: {demand.reached}" for demand in demands if demand.verdict not in enough] == []
