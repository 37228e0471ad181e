"""Calibrate a study: search, profiles, cross-validation, and errors on fresh random numbers."""

import time
from collections.abc import Callable, Sequence
from statistics import fmean, median

import numpy as np

from netcarlo.calibration import profile
from netcarlo.calibration.candidates import Grid, Point
from netcarlo.calibration.misfit import Noise
from netcarlo.calibration.profile import Profile, ProfilePoint
from netcarlo.calibration.result import Calibrated, Errors, Fold, Number, Parameter, Step, Verdict, Work
from netcarlo.calibration.runner import UNCHANGED, CandidateRunner
from netcarlo.calibration.search import Numbers, Search
from netcarlo.errors import InputError, suggest
from netcarlo.simulation.provenance import versions
from netcarlo.studies import code
from netcarlo.studies.calibrated import Calibration
from netcarlo.studies.cells import Derived
from netcarlo.studies.measures import metrics_of
from netcarlo.studies.published import Published
from netcarlo.studies.study import Study

PROBES = 4
"""Number of candidates around which the influence of each parameter is tested."""


def calibrate(
    study: Study,
    *,
    target: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Calibrated:
    """Fit the parameters that a study declares. Raises InputError if it declares none.

    The result depends only on the study, not on `target` or `threads`. `progress(done, total)` is called with
    numbers of runs.
    """
    start = time.perf_counter()
    declared = study.description.calibration
    if declared is None:
        raise InputError(
            f"study {study.name} declares no calibration; write the section calibration: in study.yaml"
        )
    grid = Grid(declared)
    numbers = _numbers(study, declared)
    meter = _ProgressCounter(progress)
    metrics = {
        name: metric for name, metric in metrics_of(study, code.load(study)).items()
        if not isinstance(metric, Derived)
    }  # fmt: skip
    folds = _folds(declared, numbers)
    runner = CandidateRunner(
        study, grid, declared,
        metrics=metrics, numbers=numbers, target=target, threads=threads, progress=meter.add,
        searches=1 + len(folds),
    )  # fmt: skip
    noise = Noise(declared, numbers)
    search = Search(runner, noise, grid, declared.effort, declared.seed, declared.rise)
    runner.prepare()
    acts = _influence(search)
    meter.expect(search, acts, [~left_out for _, _, left_out in folds])

    everything = np.ones(len(numbers), bool)
    free = _free(acts, everything)
    refits = [search.best(~left_out, _free(acts, ~left_out))[0] for _, _, left_out in folds]
    found = search.order([*search.best(everything, free)[: search.n_final], *refits, grid.start], everything)
    shapes = profile.profiles(search, found[: search.n_final], everything, free) if free else []
    reference = profile.best(shapes) if shapes else None
    leaders = profile.leaders(shapes, search.n_final) if shapes else found[:1]
    best = _choice(search, leaders, everything, kept=bool(declared.start))

    def judged(point: Point) -> tuple[list[Number], float, float]:
        """Return the numbers of a candidate on fresh random numbers, its misfit, and the standard error of
        that."""
        sample = runner.run([point], replications=declared.effort.evaluation, seed=declared.seed + 2)
        misfit = noise.misfit(sample)
        rows = [
            _number(
                number, declared, mean=sample.mean[0, i], sd=sample.sd[0, i], n=sample.n, z=misfit.z[0, i]
            )
            for i, number in enumerate(numbers)
        ]
        return rows, float(misfit.total[0]), float(misfit.doubt[0])

    ours, misfit, doubt = judged(best)
    present, present_misfit, _ = judged(UNCHANGED)
    judged_folds = [
        _fold(condition, value, grid, refit, unseen=_unseen(acts, ~left_out, grid),
              numbers=[row for row, out in zip(judged(refit)[0], left_out, strict=True) if out])
        for (condition, value, left_out), refit in zip(folds, refits, strict=True)
    ]  # fmt: skip
    return Calibrated(
        study=study.name,
        declared=declared,
        metrics={name: study.description.definitions.get(name, "") for name in declared.targets},
        parameters=_parameters(grid, best, acts, free, shapes, reference, declared.rise),
        settings=grid.settings(best),
        misfit=misfit,
        doubt=doubt,
        numbers=ours,
        in_sample=_errors(ours),
        present=_errors(present),
        present_misfit=present_misfit,
        left_out=_errors([row for fold in judged_folds for row in fold.numbers]),
        folds=judged_folds,
        work=Work(
            candidates=runner.candidates,
            runs=runner.runs,
            packets=runner.packets,
            wall_s=round(time.perf_counter() - start, 1),
            versions=versions(),
        ),
    )


def _numbers(study: Study, declared: Calibration) -> list[Published]:
    """Return the published numbers to fit. Raises InputError if the declaration does not match the study."""
    conditions = study.description.conditions
    for name in declared.leave_out:
        if name not in conditions:
            raise InputError(
                f"calibration.leave_out: '{name}' is not a condition; {suggest(name, conditions)}"
            )
    complete = [
        number for number in study.published
        if number.kind == "printed" and len(number.conditions) == len(conditions)
    ]  # fmt: skip
    for name in declared.targets:
        if not any(number.metric == name for number in complete):
            known = list(dict.fromkeys(number.metric for number in complete))
            raise InputError(
                f"calibration.targets.{name}: no published number has this metric; {suggest(name, known)}"
            )
    return [number for number in complete if number.metric in declared.targets]


def _influence(search: Search) -> Numbers:
    """Return True for each pair of parameter and number that it affects, bool[parameters, numbers].

    A parameter affects a number if any run changes when the parameter moves to an end of its range, from the
    middle candidate or from some random candidates.
    """
    grid = search.grid
    random = np.random.default_rng(search.seed)
    around = [grid.middle] + [
        tuple(int(random.integers(0, last, endpoint=True)) for last in grid.last) for _ in range(PROBES - 1)
    ]
    moved = [
        [(*point[:k], at, *point[k + 1 :]) for at in (0, grid.last[k])]
        for k in range(len(grid.last)) for point in around
    ]  # fmt: skip
    points = [*around, *(point for pair in moved for point in pair)]
    sample = search.runner.run(points, replications=2, seed=search.seed)
    base = np.stack([sample.mean, sample.sd])[:, :PROBES]
    others = np.stack([sample.mean, sample.sd])[:, PROBES:]
    others = others.reshape(2, len(grid.last), PROBES, 2, -1)
    return np.asarray((others != base[:, None, :, None]).any(axis=(0, 2, 3)))


def _free(acts: Numbers, numbers: Numbers) -> list[int]:
    return [k for k, row in enumerate(acts) if (row & numbers).any()]


def _unseen(acts: Numbers, numbers: Numbers, grid: Grid) -> list[str]:
    free = _free(acts, numbers)
    return [name for k, name in enumerate(grid.parameters) if k not in free]


def _choice(search: Search, leaders: Sequence[Point], numbers: Numbers, *, kept: bool) -> Point:
    """Return the candidate with the lowest misfit plus standard error.

    With `kept`, return the declared start unless that candidate is significantly better. So parameters that
    the numbers do not determine stay the same from one calibration to the next.
    """
    points = [search.grid.start, *leaders]
    last = search.last(points, numbers)
    chosen = 1 + int((last.total + last.doubt)[1:].argmin())
    gain = last.total[0] - last.total[chosen]
    if kept and gain <= profile.DOUBT * np.hypot(last.doubt[0], last.doubt[chosen]):
        return points[0]
    return points[chosen]


def _folds(declared: Calibration, numbers: Sequence[Published]) -> list[tuple[str, str | float, Numbers]]:
    """Return each value of each condition to leave out, and True for the numbers that have it."""
    found = []
    for name in declared.leave_out:
        values = [number.conditions[name] for number in numbers]
        found += [(name, value, np.array([v == value for v in values])) for value in dict.fromkeys(values)]
    return found


def _number(number: Published, declared: Calibration, *, mean: float, sd: float, n: int, z: float) -> Number:
    off = float(mean) - number.value
    return Number(
        conditions=number.conditions,
        metric=number.metric,
        unit=number.unit,
        published=number.value,
        estimate=float(mean),
        standard_error=float(sd) / n**0.5,
        sd=float(sd),
        z=float(z),
        error=off / number.value if declared.targets[number.metric].relative else off,
    )


def _errors(numbers: Sequence[Number]) -> list[Errors]:
    """Return the absolute errors for each metric."""
    found = []
    for metric in dict.fromkeys(number.metric for number in numbers):
        rows = [number for number in numbers if number.metric == metric]
        worst = max(rows, key=lambda row: abs(row.error))
        errors = [abs(row.error) for row in rows]
        found.append(
            Errors(metric=metric, n=len(rows), mean=fmean(errors), median=median(errors),
                   worst=abs(worst.error), worst_at=worst.conditions)
        )  # fmt: skip
    return found


def _fold(
    condition: str, value: str | float, grid: Grid, point: Point, *, unseen: list[str], numbers: list[Number]
) -> Fold:
    return Fold(condition=condition, value=value, parameters=grid.values(point), unseen=unseen,
                left_out=_errors(numbers), numbers=numbers)  # fmt: skip


def _parameters(
    grid: Grid,
    best: Point,
    acts: Numbers,
    free: Sequence[int],
    shapes: Sequence[Profile],
    reference: ProfilePoint | None,
    rise: float,
) -> list[Parameter]:
    found = []
    for k, (name, parameter) in enumerate(grid.parameters.items()):
        low: float | None = None
        high: float | None = None
        steps: list[Step] = []
        verdict: Verdict = "acts on nothing"
        if k in free and reference is not None:
            shape = shapes[free.index(k)]
            ends = profile.excluded_neighbours(shape, allowed=rise, reference=reference)
            low, high = (None if end is None else parameter.at(end) for end in ends)
            verdict = {(False, False): "not identified", (True, False): "bounded below",
                       (False, True): "bounded above", (True, True): "identified",
                       }[low is not None, high is not None]  # type: ignore[assignment]  # fmt: skip
            steps = [
                Step(
                    value=parameter.at(at),
                    rise=step.total - reference.total,
                    doubt=step.doubt,
                    kept=not profile.excluded(step, allowed=rise, reference=reference),
                )
                for at, step in sorted(shape.items())
            ]
        found.append(
            Parameter(
                name=name, value=parameter.at(best[k]), low=low, high=high, verdict=verdict,
                numbers=int(acts[k].sum()), profile=steps,
            )
        )  # fmt: skip
    return found


class _ProgressCounter:
    """Count of runs for a progress bar. The total is computed after the influence of parameters is known."""

    def __init__(self, progress: Callable[[int, int], object] | None) -> None:
        self._progress = progress
        self._done = 0
        self._total = 0

    def add(self, runs: int) -> None:
        """Add finished runs."""
        self._done += runs
        if self._progress and self._total:
            self._progress(min(self._done, self._total), self._total)

    def expect(self, search: Search, acts: Numbers, folds: Sequence[Numbers]) -> None:
        """Compute the total number of runs."""
        effort, runner = search.effort, search.runner
        cells = len(runner.cells)

        def one(numbers: Numbers) -> int:
            seen = len(np.unique(runner.cell_of[numbers]))
            tried = max(5, effort.population * len(_free(acts, numbers))) * (effort.generations + 1)
            kept = effort.finalists * effort.again + search.n_final * effort.final
            return seen * (tried * effort.replications + kept)

        everything = np.ones(len(runner.numbers), bool)
        donors, last = search.n_final * effort.again, effort.again + effort.final
        each = (effort.points + 1) * (donors + effort.final + last) + 4 * (donors + last)
        profiles = cells * len(_free(acts, everything)) * each
        fresh = cells * (2 + len(folds) + search.n_final) * effort.evaluation
        self._total = self._done + one(everything) + sum(map(one, folds)) + profiles + fresh
