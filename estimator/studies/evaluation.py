"""Evaluation of a study: simulate its cells, compare its numbers, and check its claims and tolerance."""

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
    """Results of a study."""

    study: Study
    """Study that was simulated."""
    cells: Cells
    """Simulated cells."""
    rows: list[Compared]
    """Published numbers with their estimates."""
    claims: list[Claim]
    """Claims in the order of their identifiers."""
    maps: list[Map]
    """Results over two unknown parameters."""
    checks: list[Check]
    """Requirements of the tolerance."""
    replications: int
    """Number of replications of each cell."""
    seed: int
    """Seed of all random numbers."""
    target: str
    """`cpu` or `cuda`."""
    simulated_s: float
    """Elapsed time of the simulation [s]."""

    @property
    def passed(self) -> bool:
        """True if every requirement of the tolerance is met."""
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
    """Simulate a study and evaluate it. By default, `replications` and `seed` are those of the study.

    `progress(done, total)` is called with numbers of replications; `large` is as in `estimate`. Raises
    InputError.
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
