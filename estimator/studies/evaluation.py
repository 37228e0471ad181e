"""A study carried out: its cells simulated, its numbers compared, its claims and tolerance judged."""

import time
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from netcarlo.simulation.progress import Progress
from netcarlo.simulation.simulate import resolve_target
from netcarlo.studies.cells import Cells, simulate_cells
from netcarlo.studies.claims import Claim
from netcarlo.studies.comparison import Check, Compared, check, compare
from netcarlo.studies.maps import Map
from netcarlo.studies.screening import screened
from netcarlo.studies.study import Study


@dataclass(frozen=True)
class Evaluation:
    """All that a report says about one study."""

    study: Study
    cells: Cells
    rows: list[Compared]
    claims: list[Claim]
    maps: list[Map]
    checks: list[Check]
    replications: int
    seed: int
    target: str
    simulated_s: float

    @property
    def passed(self) -> bool:
        """True if every demand of the tolerance is met."""
        return all(check.passed for check in self.checks)


def evaluate(
    study: Study,
    *,
    replications: int | None = None,
    seed: int | None = None,
    target: str = "auto",
    progress: Progress | None = None,
    large: bool = False,
) -> Evaluation:
    """Simulate a study and judge it; `replications` and `seed` are the study's own unless given.

    `progress(done, total)` counts replications; `large` as in `estimate`.  Raises InputError.
    """
    replications = replications or study.description.replications
    seed = study.description.seed if seed is None else seed
    target = resolve_target(target)
    module: Any = import_module(f"netcarlo.studies.{study.name}.claims")
    start = time.perf_counter()
    simulated = simulate_cells(
        study, replications=replications, seed=seed, target=target, progress=progress, large=large
    )
    simulated_s = time.perf_counter() - start
    cells = Cells(study, simulated, module.METRICS)
    fluid = screened(
        study, module.METRICS, module.summaries, replications=replications, seed=seed, target=target
    )
    compared = compare(study, cells, module.summaries(cells))
    rows = [replace(row, screening=said) for row, said in zip(compared, fluid, strict=True)]
    claims = sorted(module.claims(cells), key=lambda claim: (claim.id[0], int(claim.id[1:])))
    return Evaluation(
        study=study,
        cells=cells,
        rows=rows,
        claims=claims,
        maps=list(module.maps(cells)) if hasattr(module, "maps") else [],
        checks=check(study, rows, claims, cells),
        replications=replications,
        seed=seed,
        target=target,
        simulated_s=simulated_s,
    )
