"""Estimates of a study's published numbers by fluid models, without packet simulation."""

from collections.abc import Callable, Mapping

from netcarlo.numerics.statistics import Mean
from netcarlo.simulation.launches import Job
from netcarlo.simulation.simulate import simulate_all
from netcarlo.studies.cells import Cell, Cells, Derived, Metric, estimate
from netcarlo.studies.comparison import Summaries
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value
from netcarlo.studies.study import Study

MOST = 100
"""Maximum number of replications of a cell. Its estimate has no interval."""

Conditions = tuple[tuple[str, Value], ...]
"""Conditions of a cell as a hashable key."""


def screened(
    study: Study,
    metrics: Mapping[str, Metric | Derived],
    summaries: Callable[[Cells], Summaries],
    *,
    replications: int,
    seed: int,
    target: str,
) -> list[Mean | None]:
    """Return the fluid estimate of each published number; None if there is no fluid model of the cell.

    Only the metrics in `Description.screening` are estimated. If one of them is a summary over several cells,
    all cells that have a fluid model are simulated.
    """
    wanted = study.description.screening
    conditions = [number.conditions for number in study.published if number.metric in wanted]
    whole = any(isinstance(metrics.get(metric), Derived | None) for metric in wanted)
    scenarios = {}
    for each in study.cells() if whole else conditions:
        if (key := _key(each)) not in scenarios:
            scenario = study.scenario(each, seed=seed)
            if not scenario.network.unknown(scenario, "fluid"):
                scenarios[key] = scenario.with_values({"fidelity": "fluid"})
    jobs = [Job(scenario, 0, min(replications, MOST)) for scenario in scenarios.values()]
    cells = {
        key: Cell(dict(key), scenario, run.integers, frame=run.frame)
        for (key, scenario), run in zip(scenarios.items(), simulate_all(jobs, target=target), strict=True)
    }
    found = Cells(study, [*cells.values()], metrics)
    over_all = summaries(found) if whole else {}

    def said(number: Published) -> Mean | None:
        if number.metric not in wanted:
            return None
        if number.metric in over_all:
            summary = over_all[number.metric]
            found_ = summary(number.conditions) if callable(summary) else summary
            return found_ if isinstance(found_, Mean) else estimate(found_)
        cell = cells.get(_key(number.conditions))
        return None if cell is None else found.estimate(number.metric, cell)

    return [said(number) for number in study.published]


def _key(conditions: Mapping[str, Value]) -> Conditions:
    return tuple(conditions.items())
