"""Availability: the share of the year in which goals are met, by stratification over states of the network.

Runs observe random moments of the year. Each state (`states.Year`) has replications of its own and is
weighted by its share of the year, which follows from the mean up and down times.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.estimation import goals as goal_texts
from netcarlo.estimation.states import ALL_UP, Year
from netcarlo.estimation.strata import Strata
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.numerics.statistics import Proportion
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema.arguments import checked
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.output import captioned
from netcarlo.schema.units import YEAR
from netcarlo.simulation import measurable
from netcarlo.simulation.launches import Job
from netcarlo.simulation.progress import Progress, reporter
from netcarlo.simulation.provenance import provenance
from netcarlo.simulation.simulate import simulate_all
from netcarlo.simulation.targets import resolve_target

MAX_RARE = 64
"""Maximum number of hops or cables that fail rarely."""

ROOM = 1 << 24
"""Replications of state k have the numbers from k times this on, so that states are independent."""


@dataclass(frozen=True)
class Availability:
    """Result of `availability`."""

    scenario: Scenario
    goals: tuple[str, ...]
    """Goals that a run must meet together."""
    share: Proportion
    """Share of the year in which the goals are met, with its 95 % interval."""
    outages: Proportion
    """Share of the year in which the goals are missed in runs with an outage, with its 95 % interval."""
    states: pd.DataFrame
    """One row per state: share of the year, n, probability that the goals are met with its 95 % interval, and
    missed_s, the time in a year in which they are not."""
    precise: bool
    """True if the requested precision was reached, or none was requested."""
    provenance: dict[str, Any]

    @property
    def replications(self) -> int:
        """Number of replications of all states."""
        return int(self.states["n"].sum())

    @property
    def brute_force(self) -> float:
        """Number of replications at random moments of the year that would give as narrow an interval."""
        half = (self.share.ci_high - self.share.ci_low) / 2
        return (
            1.96**2 * self.share.probability * (1 - self.share.probability) / half**2 if half > 0 else np.inf
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the table of states."""
        return self.states

    def __repr__(self) -> str:
        """Return one line with the share of the year and its interval."""
        share = self.share
        interval = f"{share.probability:.8g} [{share.ci_low:.8g}, {share.ci_high:.8g}]"
        return f"Availability of {self.scenario.name}: {' and '.join(self.goals)} in {interval} of the year"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the table of states."""
        return captioned(self.states, repr(self))


@checked
def availability(
    scenario: ScenarioLike,
    *,
    goals: Sequence[str],
    replications: int | None = None,
    precision: float | str | None = None,
    seed: int | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Availability:
    """Estimate the share of the year in which runs meet goals together, with its 95 % confidence interval.

    `scenario` has `outages` that are rarer than a run: a scenario, the path of its file, or data as in a
    file. `goals` are texts such as `video_in_time >= 95 %`. Each state of the year has the `replications` of
    the scenario or more: as many again in total are added where they narrow the interval most. With a
    `precision` (0.1 or `10 %`), replications are added until the half-width of the interval is that share of
    the time in which goals are missed; there are at most a million. Raises InputError.
    """
    values = {"replications": replications, "precision": precision, "seed": seed}
    given = scenario_of(scenario, values={name: value for name, value in values.items() if value is not None})
    wanted = given.precision if precision is not None else None
    given = given.with_values(fields) if (fields := given.network.one_by_one()) else given
    check(given)
    parsed = [goal_texts.parse(text, given) for text in goals]
    if not parsed:
        raise InputError("availability needs a goal; write --goal 'video_in_time >= 95 %'")
    if any(goal.relative for goal in parsed):
        raise InputError("a goal relative to the baseline is supported only in sweeps; write a value")
    measurable.check([goal.outcome for goal in parsed], given)
    year = Year.of(given)
    strata, least = Strata([state.share for state in year.states]), given.replications
    total, most = least * len(year.states), 2 * least * len(year.states)
    target, tell = resolve_target(target, [(given, most)], threads=threads), reporter(progress)
    if wanted is not None:
        most = max(most, statistics.MAX_REPLICATIONS)
    while True:
        jobs, done = _jobs(given, year, strata.n, strata.wanted(total, least=least)), int(strata.n.sum())

        def report(more: int, _: int, before: int = done, of: int = total) -> None:
            if tell:
                tell(before + more, of)

        found = simulate_all(
            [job for _, job in jobs], target=target, threads=threads, progress=report, large=large
        )
        for (state, _), outcomes in zip(jobs, found, strict=True):
            strata.add(state, np.logical_and.reduce([goal.held(outcomes.frame) for goal in parsed]))
        ends = strata.ends()
        missed = strata.missed(True, ends)
        precise = wanted is None or (missed.ci_high - missed.ci_low) / 2 <= wanted * missed.probability
        if total >= most or (wanted is not None and precise):
            break
        total = min(2 * total, most)
    share = Proportion(missed.n, 1 - missed.probability, 1 - missed.ci_high, 1 - missed.ci_low)
    outages = strata.missed([state.name != ALL_UP for state in year.states], ends)
    return Availability(
        given, tuple(goal.text for goal in parsed), share, outages, _table(year, strata, ends), precise,
        provenance(given, target=target, replications=missed.n),
    )  # fmt: skip


def _jobs(scenario: Scenario, year: Year, done: Ints, more: Ints) -> list[tuple[int, Job]]:
    """Return the states with the jobs that add `more` [K] replications to those that are `done` [K]."""
    found = []
    for k, state in enumerate(year.states):
        before, after = int(done[k]), int(done[k] + more[k])
        at, drawn = k * ROOM + before, [state.parts] * (after - before) if state.parts else []
        if state.parts is None:
            drawn = year.drawn(after, scenario.seed)[before:]
        for parts, count in sorted(Counter(drawn).items()):
            found.append((k, Job(year.scenario(scenario, parts), at, count)))
            at += count
    return found


def _table(year: Year, strata: Strata, ends: tuple[Floats, Floats]) -> pd.DataFrame:
    met = strata.met / strata.n
    return pd.DataFrame(
        {
            "share": strata.shares, "n": strata.n, "probability": met, "ci_low": ends[0], "ci_high": ends[1],
            "missed_s": strata.shares * (1 - met) * YEAR,
        },
        index=pd.Index([state.name for state in year.states], name="state"),
    )  # fmt: skip


def check(scenario: Scenario) -> None:
    """Raise InputError if a scenario has no rare outages, or its runs cannot be weighted."""
    rare = scenario.network.rare_outages()
    if reason := scenario.network.no_availability:
        raise InputError(f"availability is not supported here: {reason}")
    if not rare:
        if remedy := scenario.network.rare_outage_remedy:
            raise InputError(f"availability needs outages that are rarer than a run; {remedy}")
        raise InputError(
            f"availability is not supported with {scenario.network.key}, which has neither backups nor "
            "outages of years; describe the links as a shared network"
        )
    if len(rare) > MAX_RARE:
        raise InputError(f"{len(rare)} cables fail; expected 1 to {MAX_RARE}; write fewer")
    for each in rare:
        if each.outages.during is not None:
            raise InputError(f"{each.field}.during and availability are both given; remove during")
    if isinstance(scenario.duration, Distribution):
        raise InputError("availability needs a fixed duration; write duration: 30 s")
