"""Fit of free fields to measured runs: intervals, left-out errors, and what the data do not determine."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.fit import observed as measured
from netcarlo.calibration.fit import sampler
from netcarlo.calibration.fit.candidates import Simulator
from netcarlo.calibration.fit.free import FreeField, free_fields
from netcarlo.calibration.fit.likelihood import Emulator, distance, emulator, restored, slope, transformed
from netcarlo.calibration.fit.observed import Observed, Target
from netcarlo.calibration.fit.result import Curve, Error, Fitted, Number, Pair, Parameter, Verdict, verdict
from netcarlo.errors import InputError
from netcarlo.estimation.journal import Journal
from netcarlo.measurements import Measurement, read
from netcarlo.numerics.arrays import Bools, Floats
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema.arguments import checked

JOURNAL = "runs.jsonl"
"""Name of the journal of simulated candidates."""
FIRST = 1024
"""Number of candidates of the first wave, which fills the space of the free fields."""
EACH = 256
"""Number of candidates of each later wave."""
CHAINS = 400
"""Number of Markov chains, and so of samples of the posterior."""
SEARCH_WAVES, WAVES = 5, 7
"""Number of later waves that search with single runs, and with emulators."""
SEARCH_EFFECTIVE = 40
"""Effective number of candidates around which the search continues."""
JITTER = 0.5
"""Length of the random steps of the search, as a share of the difference of two good candidates."""
HEAT = 4.0
"""Temperature of the first wave with emulators; it falls to 1 by halves."""
STEPS, LAST_STEPS = 20, 80
"""Number of steps of the Markov chains after each wave, and after the last one."""
OPEN = float(np.exp(-3.84 / 2))
"""Posterior density near an end of the range, relative to its maximum, from which the end is not excluded.

There the misfit rises by less than 3.84 (95 % quantile of chi-square with one degree of freedom).
"""
BINS = 20
"""Number of bins of the posterior density over the range of a field."""
WIDE = 0.5
"""Share of the range above which an interval leaves the field undetermined."""
COMPENSATE = 0.85
"""Minimum absolute correlation of two fields that compensate each other."""
COARSE = 1.5
"""Least temperature of the posterior.

The likelihood assumes a distribution of runs that is only approximate, and so distinguishes candidates better
than it should. A power of it (coarsened posterior of Miller and Dunson, 2019) gives wider intervals.
"""
MAX_RATIO = 30.0
"""Maximum factor by which variances are widened if no candidate fits."""
CURVE_POINTS, CURVE_RUNS = 20, 100
"""Number of points of a fitted curve, and of simulated runs behind it."""


class Pool(NamedTuple):
    """Simulated candidates of several waves."""

    positions: Floats
    """Positions of the free fields, float64[n, fields]."""
    values: list[Floats]
    """Simulated values for each run, float64[n, targets]."""

    def joined(self, other: "Pool") -> "Pool":
        """Return the candidates of both."""
        values = [np.concatenate(pair) for pair in zip(self.values, other.values, strict=True)]
        return Pool(np.concatenate([self.positions, other.positions]), values)


class Fit:
    """State of a fit: what is measured, and how candidates are simulated."""

    def __init__(
        self,
        scenario: Scenario,
        runs: Sequence[Observed],
        free: Sequence[FreeField],
        *,
        seed: int,
        effort: float,
        target: str,
        threads: int | None,
        progress: Callable[[int, int], object] | None,
        journal: Journal | None = None,
    ) -> None:
        self.runs, self.free, self.seed = list(runs), list(free), seed
        # The error of the model is the same in all runs of a path: more runs do not average it away.
        widened = len(runs) ** 0.5
        self.targets = [
            [one._replace(floor=widened * one.floor, common=widened * one.common) for one in targets]
            for targets in map(measured.targets, runs)
        ]
        self.first = 1 << int(np.ceil(np.log2(max(FIRST * effort, 64))))
        self.each = max(round(EACH * effort), 48)
        self.chains = max(round(CHAINS * effort), 2 * 48)
        self.waves = WAVES
        self.rng = np.random.default_rng(seed)
        spans = len(measured.spans(runs))
        launches = 1 + SEARCH_WAVES + self.waves
        self._total = spans * (len(measured.EDGES) - 1) * (self.first + self.each * (launches - 1))
        self.simulator = Simulator(
            scenario, free, target=target, threads=threads, progress=self._count if progress else None,
            journal=journal, rows=self._total, launches=spans * launches,
        )  # fmt: skip
        self._progress = progress
        self._done = 0
        self.pool: Pool | None = None
        self.simulated = 0

    def _count(self, rows: int) -> None:
        assert self._progress is not None
        self._done += rows
        self._total = max(self._total, self._done)
        self._progress(self._done, self._total)

    def simulate(self, positions: Floats) -> None:
        """Add candidates to the pool, with replications that no other wave has."""
        first, self.simulated = self.simulated, self.simulated + len(positions)
        found = {span: self.simulator.run(positions, span, first=first) for span in measured.spans(self.runs)}
        kept = np.all([one.connected for one in found.values()], axis=0)
        values = [
            np.stack([transformed(one.kind, found[measured.span(run)].of(one)) for one in targets], axis=-1)
            for run, targets in zip(self.runs, self.targets, strict=True)
        ]
        pool = Pool(positions[kept], [some[kept] for some in values])
        self.pool = pool if self.pool is None else self.pool.joined(pool)

    def near(self, n: int) -> Floats:
        """Return `n` positions around candidates whose simulated runs are nearest to the measured ones."""
        assert self.pool is not None
        misfit = np.zeros(len(self.pool.positions))
        for values, targets in zip(self.pool.values, self.targets, strict=True):
            misfit += distance(values, targets)
        picked = sampler.resampled(misfit, 3 * n, least=SEARCH_EFFECTIVE / len(misfit), rng=self.rng)
        at, one, other = self.pool.positions[self.rng.permutation(picked)].reshape(3, n, -1)
        return sampler.reflected(
            at + JITTER * (one - other) + sampler.NOISE * self.rng.standard_normal(at.shape)
        )

    def emulate(self, samples: Floats) -> list[Emulator]:
        """Return the emulators of each run near samples [n, fields] of the posterior."""
        assert self.pool is not None
        return [emulator(self.pool.positions, values, samples) for values in self.pool.values]

    def misfit(
        self, emulators: Sequence[Emulator], positions: Floats, used: Sequence[Bools]
    ) -> tuple[Floats, Floats]:
        """Return the misfit of candidates over all runs, and the part that deviations have in it."""
        parts = [
            one.numbers(positions).misfit(targets, mask)
            for one, targets, mask in zip(emulators, self.targets, used, strict=True)
        ]
        return np.sum([part[0] for part in parts], axis=0), np.sum([part[1] for part in parts], axis=0)

    @property
    def everything(self) -> list[Bools]:
        """Masks that use all targets of each run."""
        return [np.ones(len(targets), bool) for targets in self.targets]

    @property
    def freedom(self) -> int:
        """Number of measured numbers minus number of free fields, at least 1."""
        counted = sum(one.kind != "least_rtt_s" for targets in self.targets for one in targets)
        return max(counted - len(self.free), 1)


@checked
def fit(
    scenario: ScenarioLike,
    runs: Sequence[str | Path | Measurement | Observed],
    *,
    free: Sequence[str] = (),
    seed: int = 1,
    effort: float = 1.0,
    target: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    folder: str | Path | None = None,
) -> Fitted:
    """Estimate fields of a scenario from measured runs: files that `measurements.read` reads, or records.

    All runs are assumed to be runs of the scenario, with the same values of the free fields. `free` names the
    fields with their ranges, such as `hops.0.rate=1..100 Mbit/s`; by default rate, delay, queue and loss of
    the slowest hop. `effort` multiplies the number of candidates. The result depends on the scenario, the
    runs, `free`, `seed` and `effort`, not on `target` or `threads`. `progress(done, total)` is called with
    numbers of simulated replications. With a `folder`, finished replications are stored there, and a later
    call with the same arguments does not simulate them again. Raises InputError.
    """
    start = time.perf_counter()
    unseeded = scenario_of(scenario)
    scenario = unseeded.with_values({"seed": seed})
    fields = free_fields(scenario, free)
    given = _observed(runs)
    for run in given:
        if not measured.targets(run):
            raise InputError(f"{run.name}: has no number that can be fitted; it needs goodput, RTT or losses")
    work = Fit(
        scenario, given, fields, seed=seed, effort=effort, target=target, threads=threads, progress=progress,
        journal=None if folder is None else Journal(Path(folder) / JOURNAL),
    )  # fmt: skip
    work.simulator.prepare()
    sampled = _sample(work)
    positions = sampled.positions
    parameters = [_parameter(one, positions[:, k]) for k, one in enumerate(fields)]
    rows, folds = _numbers(work, sampled)
    settings = {one.free.name: one.free.yaml(one.value) for one in parameters}
    return Fitted(
        scenario=unseeded.with_values(settings),
        settings=settings,
        runs=given,
        parameters=parameters,
        pairs=_pairs(fields, positions),
        numbers=rows,
        errors=_errors(rows),
        folds=folds,
        curves=_curves(work, positions),
        fit_ratio=sampled.ratio,
        widened=sampled.temperature / COARSE,
        candidates=work.simulated,
        replications=work.simulator.rows,
        wall_s=round(time.perf_counter() - start, 1),
        seed=seed,
    )


class Sampled(NamedTuple):
    """Samples of the posterior."""

    positions: Floats
    """Positions of the free fields, float64[n, fields]."""
    emulators: list[Emulator]
    """Emulators of each run near them."""
    ratio: float
    """Smallest misfit due to deviations, over its expectation."""
    temperature: float
    """Factor by which variances are widened."""


def _observed(runs: Sequence[str | Path | Measurement | Observed]) -> list[Observed]:
    found: list[Observed] = []
    for run in runs:
        if isinstance(run, Observed):
            found.append(run)
        elif isinstance(run, Measurement):
            found.append(measured.observed(run))
        elif isinstance(run, str | Path):
            found += [measured.observed(one) for one in read(run)]
        else:
            raise InputError(f"runs has a {type(run).__name__}; expected files or measured runs")
    if not found:
        raise InputError("there is no measured run; name at least one file")
    return found


def _sample(work: Fit) -> Sampled:
    """Return samples of the posterior: simulate where the posterior is, emulate, and sample again."""
    positions = sampler.even(work.first, len(work.free), work.rng)
    work.simulate(positions)
    for _ in range(SEARCH_WAVES):
        work.simulate(work.near(work.each))
    positions, heat = work.near(work.chains), HEAT
    emulators = work.emulate(positions)
    for wave in range(work.waves + 1):
        last = wave == work.waves
        squares = work.misfit(emulators, positions, work.everything)[1]
        widened = _ratio(squares, work.freedom)
        positions = sampler.walk(
            lambda at: work.misfit(emulators, at, work.everything)[0],  # noqa: B023
            positions, steps=LAST_STEPS if last else STEPS, temperature=max(heat, widened), rng=work.rng,
        )  # fmt: skip
        if not last:
            work.simulate(positions[work.rng.permutation(len(positions))[: work.each]])
            emulators = work.emulate(positions)
        heat = max(1.0, heat / 2)
    squares = work.misfit(emulators, positions, work.everything)[1]
    return Sampled(positions, emulators, float(squares.min()) / work.freedom, widened)


def _ratio(squares: Floats, freedom: int) -> float:
    """Return the temperature of the posterior: the least misfit due to deviations over its expectation.

    This is the scale factor of the Particle Data Group for measurements that scatter more than their errors.
    """
    return COARSE * float(np.clip(squares.min() / freedom, 1.0, MAX_RATIO))


def _parameter(free: FreeField, positions: Floats) -> Parameter:
    middles, density = _density(positions, 0.0, 1.0)
    low_open, high_open = bool(density[0] > OPEN), bool(density[-1] > OPEN)
    said: Verdict = verdict(low_open, high_open)
    shares = {"bounded above": (0.0, 0.95), "bounded below": (0.05, 1.0)}.get(said, (0.025, 0.975))
    low, value, high = np.quantile(positions, [shares[0], 0.5, shares[1]])
    if low_open or high_open:  # a quantile alone would depend on where the range ends
        inside = middles[density > OPEN]
        low, high = min(low, inside[0] - 0.5 / BINS), max(high, inside[-1] + 0.5 / BINS)
    if said == "determined" and high - low > WIDE:
        said = "not determined"
    three = (0.0 if low_open else low, value, 1.0 if high_open else high)
    ends = free.values(np.array([float(one) for one in three]))
    margin = 0.2 * np.ptp(positions)
    shown, height = _density(
        positions,
        0.0 if low_open else max(positions.min() - margin, 0.0),
        1.0 if high_open else min(positions.max() + margin, 1.0),
    )
    curve = tuple(zip(free.values(shown).tolist(), height.tolist(), strict=True))
    return Parameter(free, float(ends[1]), float(ends[0]), float(ends[2]), said, curve)


def _density(positions: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the middles of bins from `low` to `high`, and the density there relative to its maximum."""
    width = (high - low) / BINS
    middles: Floats = low + (np.arange(BINS, dtype=np.float64) + 0.5) * width
    # Triangular kernels, reflected at the ends.
    images = np.stack([positions, 2 * low - positions, 2 * high - positions])
    density = np.maximum(1 - np.abs(images[:, None] - middles[None, :, None]) / width, 0).sum(axis=(0, 2))
    return middles, density / density.max()


def _pairs(free: Sequence[FreeField], positions: Floats) -> list[Pair]:
    """Return the pairs of fields whose positions are correlated in the posterior."""
    correlation = np.corrcoef(positions, rowvar=False).reshape(len(free), -1)
    return [
        Pair(free[i].name, free[k].name, float(correlation[i, k]))
        for i in range(len(free)) for k in range(i + 1, len(free))
        if abs(correlation[i, k]) >= COMPENSATE
    ]  # fmt: skip


def _folds(work: Fit) -> tuple[list[list[Bools]], str]:
    """Return masks of the targets to leave out in each fold, and what they are."""
    if len(work.runs) > 1:
        nothing = [np.zeros(len(targets), bool) for targets in work.targets]
        found = []
        for k, targets in enumerate(work.targets):
            fold = [mask.copy() for mask in nothing]
            fold[k] = np.ones(len(targets), bool)
            found.append(fold)
        return found, "runs"
    targets = work.targets[0]
    if not any(one.window is not None for one in targets):
        return [], ""
    masks = [
        np.array(
            [
                one.kind != "least_rtt_s" and (one.window is None or measured.part_of(one.window) == part)
                for one in targets
            ]
        )
        for part in range(measured.PARTS)
    ]
    return [
        [mask] for mask in masks if any(t.window is not None for t, m in zip(targets, mask, strict=True) if m)
    ], ("parts of the run")


def _numbers(work: Fit, sampled: Sampled) -> tuple[list[Number], str]:
    """Return all measured numbers with fitted and left-out predictions."""
    folds, what = _folds(work)
    left_out: dict[tuple[int, Target], float] = {}
    for fold in folds:
        rest = [~mask for mask in fold]
        others = sampler.walk(
            lambda at: work.misfit(sampled.emulators, at, rest)[0],  # noqa: B023
            sampled.positions, steps=STEPS, temperature=sampled.temperature, rng=work.rng,
        )  # fmt: skip
        predicted = [one.numbers(others) for one in sampled.emulators]
        for r, (targets, mask) in enumerate(zip(work.targets, fold, strict=True)):
            for k in np.flatnonzero(mask).tolist():
                if len(work.runs) > 1 or targets[k].window is not None:
                    left_out[r, targets[k]] = float(restored(targets[k].kind, predicted[r].mean[:, k]).mean())
    found = [one.numbers(sampled.positions) for one in sampled.emulators]
    rows = []
    for r, (run, targets) in enumerate(zip(work.runs, work.targets, strict=True)):
        ends = measured.windows(run)
        for k, one in enumerate(targets):
            if one.kind == "least_rtt_s":
                continue
            mean = restored(one.kind, found[r].mean[:, k])
            sd = float(np.mean(found[r].variance[:, k]) + np.var(found[r].mean[:, k])) ** 0.5
            sd /= slope(one.kind, float(mean.mean()))
            low, high = (
                (run.start_s, run.start_s + run.duration_s) if one.window is None else ends[one.window]
            )
            rows.append(
                Number(run.name, one.kind, low, high, one.value, float(mean.mean()), sd,
                       left_out.get((r, one), np.nan))
            )  # fmt: skip
    return rows, what


def _errors(rows: Sequence[Number]) -> list[Error]:
    """Return the errors of each quantity: relative, for counts absolute."""
    found = []
    for kind in dict.fromkeys(row.kind for row in rows):
        some = [row for row in rows if row.kind == kind]
        by = [1.0 if kind == "retransmitted" else max(abs(row.measured), 1e-12) for row in some]
        fitted = float(np.mean([abs(row.fitted - row.measured) / b for row, b in zip(some, by, strict=True)]))
        out = [abs(row.left_out - row.measured) / b for row, b in zip(some, by, strict=True)
               if np.isfinite(row.left_out)]  # fmt: skip
        found.append(Error(kind, fitted, float(np.mean(out)) if out else np.nan, len(some)))
    return found


def _curves(work: Fit, positions: Floats) -> list[Curve]:
    """Return the measured and simulated curves of goodput and RTT over time."""
    if all(run.goodput is None and run.rtt is None for run in work.runs):
        return []
    chosen = positions[:CURVE_RUNS]
    found = []
    for run in work.runs:
        span = measured.span(run)
        edges = np.linspace(0, 1, CURVE_POINTS + 1)
        simulated = work.simulator.run(chosen, span, first=0, edges=edges.tolist())
        middles = span[0] + (edges[:-1] + edges[1:]) / 2 * span[1]
        series = {"goodput_bps": run.goodput, "rtt_s": run.rtt}
        for kind, line in series.items():
            if line is None:
                continue
            values = np.stack(
                [simulated.of(Target(kind, k, 0, 1)) for k in range(CURVE_POINTS)],  # type: ignore[arg-type]
                axis=1,
            )
            low, high = np.quantile(values, [0.025, 0.975], axis=0)
            found.append(
                Curve(run.name, kind, (line.start_s + line.end_s) / 2, line.values, middles,
                      values.mean(axis=0), low, high)
            )  # fmt: skip
    return found


__all__ = ["Fitted", "fit"]
