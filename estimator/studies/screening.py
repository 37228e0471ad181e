"""A study's published numbers by the fluids: what a reader would have known without simulating a packet."""

from collections.abc import Mapping

from netcarlo.numerics.statistics import Mean
from netcarlo.simulation.launches import Job
from netcarlo.simulation.simulate import simulate_all
from netcarlo.studies.cells import Cell, Cells, Metric
from netcarlo.studies.study import Study, Value

MOST = 100
"""Replications of a cell: its number is marked as screening, and has no interval."""

Conditions = tuple[tuple[str, Value], ...]


def screened(
    study: Study, metrics: Mapping[str, Metric], *, replications: int, seed: int, target: str
) -> list[Mean | None]:
    """Each published number as the fluids have it; None where they do not know the cell.

    Asked for are the metrics of `Description.screening`.
    """
    wanted = study.description.screening
    scenarios = {}
    for number in study.published:
        if number.metric in wanted and (key := _key(number.conditions)) not in scenarios:
            scenario = study.scenario(number.conditions, seed=seed)
            if not scenario.network.unknown(scenario, "fluid"):
                scenarios[key] = scenario.with_values({"fidelity": "fluid"})
    jobs = [Job(scenario, 0, min(replications, MOST)) for scenario in scenarios.values()]
    cells = {
        key: Cell(dict(key), scenario, run.integers, frame=run.frame)
        for (key, scenario), run in zip(scenarios.items(), simulate_all(jobs, target=target), strict=True)
    }
    found = Cells(study, [*cells.values()], metrics)
    return [
        found.estimate(number.metric, cell)
        if number.metric in wanted and (cell := cells.get(_key(number.conditions))) is not None
        else None
        for number in study.published
    ]


def _key(conditions: Mapping[str, Value]) -> Conditions:
    return tuple(conditions.items())
