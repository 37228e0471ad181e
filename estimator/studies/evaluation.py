"""Evaluation of a study: simulate its cells, compare its numbers, and check its claims and tolerance."""

import re
import time
from dataclasses import dataclass, replace

from netcarlo.simulation.progress import Progress
from netcarlo.simulation.targets import resolve_target
from netcarlo.studies import code, judgement
from netcarlo.studies.cells import Cells, simulate_cells, work
from netcarlo.studies.claims import Claim
from netcarlo.studies.comparison import Check, Compared, check, compare
from netcarlo.studies.maps import Map
from netcarlo.studies.measures import metrics_of, scope_of, summaries_of
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
    answer: str
    """Answer of the study with its numbers; empty without one."""
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
    target = resolve_target(target, work(study, replications=replications, seed=seed))
    study.published  # noqa: B018  # raises InputError before the simulation
    own = code.load(study)
    metrics, summaries = metrics_of(study, own), summaries_of(study, own)
    start = time.perf_counter()
    simulated = simulate_cells(
        study, replications=replications, seed=seed, target=target, progress=progress, large=large
    )
    simulated_s = time.perf_counter() - start
    cells = Cells(study, simulated, metrics)
    fluid = screened(study, metrics, summaries, replications=replications, seed=seed, target=target)
    compared = compare(study, cells, summaries(cells))
    rows = [replace(row, screening=said) for row, said in zip(compared, fluid, strict=True)]
    ours, theirs = scope_of(study, own, cells), scope_of(study, own, None)
    stated = [judgement.claim(name, one, ours, theirs) for name, one in study.description.claims.items()]
    claims = sorted([*stated, *own.claims(cells)], key=lambda claim: numbered(claim.id))
    return Evaluation(
        study=study,
        cells=cells,
        rows=rows,
        answer=judgement.filled(study.description.answer, ours),
        claims=claims,
        maps=list(own.maps(cells)),
        checks=check(study, rows, claims, cells),
        replications=replications,
        seed=seed,
        target=target,
        simulated_s=simulated_s,
    )


def numbered(name: str) -> list[tuple[str, int]]:
    """Return a key by which names with numbers are in order: C2 before C10."""
    return [(word, int(digits or 0)) for word, digits in re.findall(r"(\D*)(\d*)", name)]
