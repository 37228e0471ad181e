"""Estimates with confidence intervals from a scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from netcarlo.errors import InputError
from netcarlo.estimation import control_variates, copies, moments, phases, verdicts
from netcarlo.estimation import figure as figures
from netcarlo.estimation import goals as goal_texts
from netcarlo.estimation.parts import tables
from netcarlo.estimation.replications import AUTO, NONE, Replications
from netcarlo.estimation.saving import Saving, explanation, saved
from netcarlo.numerics import statistics
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema import units
from netcarlo.schema.arguments import checked
from netcarlo.schema.output import captioned
from netcarlo.simulation import cautions, measurable, validated
from netcarlo.simulation.outcomes import BY_NAME, Outcomes, listed
from netcarlo.simulation.progress import Progress, reporter
from netcarlo.simulation.provenance import provenance
from netcarlo.simulation.targets import resolve_target


@dataclass(frozen=True)
class Estimate:
    """Result of `estimate`."""

    scenario: Scenario
    outcomes: Outcomes
    table: pd.DataFrame
    """One row per outcome: n, mean, sd, ci_low, ci_high, q05, q25, q50, q75, q95."""
    goals: pd.DataFrame
    """One row per goal: n, probability, ci_low, ci_high; with a required probability also the verdict (holds,
    fails or open). Copies of one run count once."""
    precise: bool
    """True if the requested precision was reached, or none was requested."""
    provenance: dict[str, Any]
    saving: Saving | None = None
    """Savings by control variates; None without any."""
    warnings: Sequence[str] = ()
    """Warnings about losses that a goal on a delay does not show, and about loads above the capacity of a
    link."""
    explanation: str = ""
    """Replications and control variates used, and replications saved."""

    @property
    def decided(self) -> bool:
        """False if a verdict on a goal is open."""
        return "verdict" not in self.goals or bool((self.goals["verdict"] != verdicts.OPEN).all())

    @property
    def outside(self) -> str:
        """Sentence that names the quantities outside the validated range; empty inside the range."""
        return validated.sentence(self.scenario)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of `table` that were measured."""
        return self.table[self.table["n"] > 0]

    def by_link(self) -> pd.DataFrame:
        """Return the mean rate, utilisation, drops and queue of each shared link, the busiest link first.

        Raises InputError for networks whose links have no names, such as paths and random graphs.
        """
        return self._of_parts("links")

    def by_flow(self) -> pd.DataFrame:
        """Return the mean goodput, RTT and losses of each flow over shared links.

        Raises InputError for networks whose links have no names, and for a random number of flows.
        """
        return self._of_parts("flows")

    @cached_property
    def parts(self) -> dict[str, pd.DataFrame]:
        """Tables by link and by flow (`links`, `flows`), see `parts.tables`; empty if links have no names."""
        return tables(self.scenario, self.outcomes)

    def _of_parts(self, part: str) -> pd.DataFrame:
        if part not in self.parts:
            raise InputError(
                f"outcomes by {part.removesuffix('s')} are supported only with shared.links and "
                "shared.parking_lot, a fixed number of flows, and fidelity packet or fluid"
            )
        return self.parts[part]

    def to_xarray(self) -> Any:
        """Return the replications as an xarray Dataset: outcomes with their units, and drawn quantities."""
        from netcarlo.networks.outcome import dimension

        found = self.outcomes.frame.to_xarray()
        for name in listed(self.outcomes.frame):
            unit = dimension(name).unit
            found[name].attrs = {"long_name": BY_NAME[name].meaning} | ({"units": unit} if unit else {})
        found.attrs = {"title": self.scenario.name, "seed": str(self.scenario.seed)}
        return found

    @checked
    def plot(self, of: str = "goodput_bps") -> Any:
        """Return a Plotly figure: histogram of an outcome over replications, its mean and 95 % confidence
        interval.

        Raises InputError for an outcome that was not measured.
        """
        return figures.figure(self, of)

    def __repr__(self) -> str:
        """Return one line with the name of the scenario and its goodput."""
        found = self.table.loc["goodput_bps"]
        interval = f"{found['mean']:.4g} [{found['ci_low']:.4g}, {found['ci_high']:.4g}]"
        runs = len(self.outcomes.frame)
        return f"Estimate of {self.scenario.name}, {runs} replications: goodput_bps {interval}"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a histogram of the goodput, and each outcome's mean with its
        interval."""
        shown = self.to_frame()[["n", "mean", "ci_low", "ci_high"]]
        text = ". ".join(filter(None, [repr(self), self.outside]))
        return captioned(shown, text, figures.picture(self, "goodput_bps"))


@checked
def estimate(
    scenario: ScenarioLike,
    *,
    replications: int | None = None,
    seed: int | None = None,
    precision: float | str | None = None,
    of: str = "goodput_bps",
    goals: Sequence[str] = (),
    probability: float | str | None = None,
    control: str | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Estimate:
    """Estimate every outcome of a scenario with its 95 % confidence interval.

    `scenario` is a scenario, the path of its file, or data as in a file. `replications`, `seed` and
    `precision` replace those of the scenario. With a precision (0.01 or `1 %`), replications are added
    until the half-width of the interval of `of` is that share of its mean; their number is limited to
    `replications` if given, else to a million. `goals` are texts such as `goodput_bps >= 1 Mbit/s`; the
    estimate has the probability of each. With a `probability`, replications are added until it is decided,
    with 95 % confidence, whether each goal holds with at least that probability, or there are
    `replications` (default: 4,000). `control` selects control variates (docs/fidelity.md) for the means of
    outcomes: the fidelity fluid or formula; `auto`, the default with a precision, for the formula and the
    drawn quantities, where they help, or the fluid if there is no formula and 256 replications are too few;
    or `none`. Other results are those of the packet runs. A run that is forecast to be very large
    (`workload`) is refused unless `large` is true. Raises InputError.
    """
    scenario = _with(scenario, replications=replications, seed=seed, precision=precision)
    parsed = [goal_texts.parse(text, scenario) for text in goals]
    if any(goal.relative for goal in parsed):
        raise InputError("a goal relative to the baseline is supported only in sweeps; write a value")
    measurable.check([goal_texts.known_outcome(of, scenario), *(goal.outcome for goal in parsed)], scenario)
    phases.note(scenario)
    moments.note(scenario)
    fixed = scenario.precision is None and probability is None
    expected = replications or (scenario.replications if fixed else statistics.EXPECTED_REPLICATIONS)
    target = resolve_target(target, [(scenario, expected)], threads=threads)
    tell = reporter(progress)
    runs = Replications(scenario, target=target, threads=threads, large=large)
    judged = None
    if probability is not None:
        share = _share(probability, parsed, scenario)
        judged = verdicts.decide(
            runs, parsed, share, most=replications or verdicts.MAX_REPLICATIONS, progress=tell
        )
        scenario = runs.scenario = scenario.model_copy(update={"replications": runs.done()})
    control = control or (NONE if scenario.precision is None else AUTO)
    if control not in (AUTO, NONE):
        control_variates.check(scenario, control)
    aim = runs.aim(of, control, most=replications or statistics.MAX_REPLICATIONS)
    aim = runs.complete(aim, control, progress=tell)
    found = runs.outcomes()
    frame = found.frame
    better = runs.sharpened(aim, listed(frame))
    helped = saved(runs, aim, better) if better or control not in (AUTO, NONE) else None
    if same := copies.are_copies(scenario, frame):
        copies.note(scenario, len(frame))
    return Estimate(
        scenario, found, summary(frame, means=runs.means(aim, listed(frame))),
        _proportions(parsed, frame[:1] if same else frame) if judged is None else judged,
        scenario.precision is None or runs.precise(aim),
        provenance(scenario, target=target, replications=len(frame)) | {"copies": same},
        helped,
        cautions.of_goals(scenario, [goal.outcome for goal in parsed], frame),
        explanation(aim, helped, len(frame)),
    )  # fmt: skip


def _proportions(goals: Sequence[goal_texts.Goal], frame: pd.DataFrame) -> pd.DataFrame:
    """Return the share of replications that meet each goal, with Wilson's interval."""
    return pd.DataFrame(
        [statistics.proportion(goal.held(frame)) for goal in goals],
        index=pd.Index([goal.text for goal in goals], name="goal"),
        columns=statistics.Proportion._fields,
    )


def _share(probability: float | str, goals: Sequence[goal_texts.Goal], scenario: Scenario) -> float:
    """Return the probability that goals must have. Raises InputError."""
    if not goals:
        raise InputError("probability is about goals, and there is none; add one, or remove it")
    if scenario.precision is not None:
        raise InputError("precision and probability both decide when to stop; remove one of them")
    share = units.parse(probability, units.FRACTION)
    if not 0 < share < 1:
        raise InputError(
            f"probability = {probability} is out of range; expected more than 0 % and less than 100 %"
        )
    return share


def summary(frame: pd.DataFrame, *, means: Mapping[str, statistics.Mean] | None = None) -> pd.DataFrame:
    """Return mean, sd, 95 % interval and quantiles of every outcome of a frame; `means` replaces some of
    the means."""
    better, names = means or {}, listed(frame)
    rows = [
        (
            *(better.get(name) or BY_NAME[name].means(frame[name].to_numpy()[None]).row(0)),
            *statistics.quantiles(frame[name], statistics.QUANTILES),
        )
        for name in names
    ]
    columns = [*statistics.Mean._fields, *(f"q{round(100 * q):02d}" for q in statistics.QUANTILES)]
    return pd.DataFrame(rows, index=pd.Index(names, name="outcome"), columns=columns)


def _with(scenario: ScenarioLike, **given: float | str | None) -> Scenario:
    return scenario_of(scenario, values={name: value for name, value in given.items() if value is not None})
