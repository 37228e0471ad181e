"""Answer a plan: search, probabilities at further values, and the effect of more of each resource."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.estimation.verdicts import FIRST, GROWTH
from netcarlo.planning import thresholds
from netcarlo.planning.definition import Plan
from netcarlo.planning.file import Asked, as_plan
from netcarlo.planning.ledger import Ledger, Point
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.planning.search import FAILS, FIRST_CAP, HOLDS, OPEN, Bracket, search
from netcarlo.planning.year import YearLedger
from netcarlo.schema.arguments import checked
from netcarlo.schema.output import captioned
from netcarlo.simulation import cautions, fidelity, validated
from netcarlo.simulation.progress import reporter
from netcarlo.simulation.provenance import model_version, resolved, versions
from netcarlo.simulation.targets import resolve_target

CURVE_POINTS = 9
"""Number of equally spaced values that are evaluated for the curve, in addition to those of the search."""

CURVE_REPLICATIONS = 128
"""Maximum number of replications at these values; fewer if their verdict is known before."""

VERDICTS = {HOLDS: "holds", OPEN: "open", FAILS: "fails"}


class Stopped(KeyboardInterrupt):
    """Exception that ends a plan early with the answer known so far. Its text is the reason.

    It is raised by a signal handler or by the progress callback.
    """


@dataclass(frozen=True)
class State:
    """Progress of a plan."""

    bracket: Bracket
    """Last value known to hold and first value known to fail, as indices."""
    values: int
    """Number of values with replications."""
    replications: int
    """Number of replications so far."""
    forecast: int
    """Approximate number of replications in total."""
    design: int = 0
    """Index of the current value of the second quantity."""


Progress = Callable[[State], object] | bool
"""Progress callback; with True, a line with the replications so far and in total is printed."""


class Loss(NamedTuple):
    """Loss of a class whose delays a plan bounds, at the answer."""

    plan: Plan
    """Plan that was answered."""
    about: cautions.HiddenLoss
    """Class and outcome."""
    value: float
    """Value of the planned quantity at the answer."""
    share: float
    """Share of the packets of the class that are lost, mean over the replications."""

    @property
    def at(self) -> str:
        """Quantity and its value, such as `users = 42`."""
        return f"{self.plan.quantity} = {cautions.quantity_text(self.value, self.plan.dimension)}"

    @property
    def bounded(self) -> bool:
        """True if a requirement bounds the loss as well."""
        return bool({self.about.loss, self.about.in_time} & {*self.plan.outcomes})

    @property
    def warning(self) -> str:
        """Warning that the delays hide a loss, with the requirement to add; empty if the loss is small."""
        if self.bounded or self.about.repaired or self.share <= cautions.MAX_LOSS:
            return ""
        name = self.about.name
        lost = f"At {self.at} {name} loses {cautions.percent(self.share)} of its packets"
        remedy = f"write under requirements: `{name} {'in time' if self.about.in_time else 'loss'}: "
        return f"{lost}, and delays are of delivered packets only; {remedy}{self.about.goal}`."

    def record(self) -> dict[str, Any]:
        """Return the loss as data for JSON."""
        return {
            "class": self.about.word or None, "outcome": self.about.loss, "value": self.value,
            "share": self.share, "retransmitted": self.about.repaired, "bounded": self.bounded,
            "warning": self.warning or None,
        }  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """Answer of a plan. With the plan's confidence, the limit is at or beyond `holds` and before `fails`."""

    plan: Plan
    """Plan that was answered."""
    holds: float | None
    """Last value at which all requirements are known to hold; None if there is none."""
    fails: float | None
    """First value at which a requirement is known to fail; None if there is none."""
    undecided: list[float]
    """Values between `holds` and `fails`."""
    likely: float | None
    """Point estimate of the limit at which a requirement starts to fail, without confidence; None if it is
    outside the values of the plan."""
    binding: str | None
    """Requirement that fails first (active constraint); None if all hold at all values."""
    alone: dict[str, float | None]
    """Point estimate of the limit for each requirement as the only one; None as for `likely`."""
    monotone: bool
    """False if a value beyond a failing one holds; the search may then have missed other values."""
    curve: list[Point]
    """Results at each value with replications."""
    gains: list[thresholds.Gain]
    """Effect of more of each resource."""
    cost: dict[str, Any]
    """Number of replications used, replications simulated in this call, values, and seconds."""
    provenance: dict[str, Any]
    """Versions, target, seed and resolved scenario."""
    stopped: str = ""
    """Reason for an early stop, such as `after 60 s`; empty if there was none."""
    losses: Sequence[Loss] = ()
    """Loss of each class whose delays are bounded, at the answer."""
    overload: cautions.Overload | None = None
    """Link that sources of constant rate overload most at the answer; None if they overload none."""

    @property
    def exhausted(self) -> bool:
        """True if the undecided values next to `holds` and `fails` have the maximum number of
        replications."""
        spent = {point.value: point.replications for point in self.curve}
        ends = (self.undecided[0], self.undecided[-1]) if self.undecided else ()
        return all(spent.get(value, 0) >= self.plan.max_replications for value in ends)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the interpretation of the answer, a sentence each."""
        found = [loss.warning for loss in self.losses if loss.warning]
        if self.overload is not None and self.holds is not None:
            at = cautions.quantity_text(self.holds, self.plan.dimension)
            found.append(f"At {self.plan.quantity} = {at} {self.overload.sentence}.")
        return found

    @property
    def outside(self) -> str:
        """Sentence that names the quantities outside the validated range; empty inside the range."""
        return validated.one_line(self._outside)

    @property
    def _outside(self) -> list[validated.Outside]:
        """Quantities outside the validated range at the answer, or at a failing value if no value holds."""
        value = next((v for v in (self.holds, self.fails) if v is not None), self.plan.values[0])
        return validated.outside(self.plan.scenario(value))

    @property
    def decided(self) -> bool:
        """True if a value is known to hold or to fail."""
        return self.holds is not None or self.fails is not None

    def __repr__(self) -> str:
        """Return the name of the plan and its answer in one line."""
        holds, fails = ("nowhere" if v is None else f"at {v:.6g}" for v in (self.holds, self.fails))
        active = f"active constraint: {self.binding or 'none'}"
        known = f"{self.plan.quantity} holds {holds}, fails {fails}; {active}"
        stopped = f"; stopped ({self.stopped})" if self.stopped else ""
        return f"Answer of {self.plan.name}: {known}{stopped}"

    def _repr_html_(self) -> str:
        """Return the curve with the interval of each probability as a table for notebooks."""
        return captioned(self.to_frame(), repr(self))

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table with a row for each value.

        Columns are the `verdict`, and for each requirement the `probability` that it holds, the ends `low`
        and `high` of its band, and the `quantile` of its measure, in SI units.
        """
        names = [requirement.name for requirement in self.plan.requirements]
        rows = [
            {
                self.plan.quantity: point.value,
                "replications": point.replications,
                "verdict": VERDICTS[point.verdict],
                **{f"{name}: {key}": v for name, s in zip(names, point.shares, strict=True)
                   for key, v in asdict(s).items()},
            }
            for point in self.curve
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def record(self) -> dict[str, Any]:
        """Return the answer as data for JSON; numbers that are not finite become null."""
        plan = self.plan
        names = [requirement.name for requirement in plan.requirements]
        found = {
            "name": plan.name,
            "quantity": plan.quantity,
            "unit": plan.dimension.unit,
            "find": plan.spec.find,
            "confidence": plan.confidence,
            "fidelity": plan.base.fidelity,
            "known_bias": fidelity.known_bias(plan.base),
            "outside_validated_range": [one.record() for one in self._outside],
            "holds": self.holds,
            "fails": self.fails,
            "undecided": self.undecided,
            "likely": self.likely,
            "binding": self.binding,
            "alone": self.alone,
            "monotone": self.monotone,
            "stopped": self.stopped or None,
            "exhausted": self.exhausted,
            "losses": [loss.record() for loss in self.losses],
            "overload": None if self.overload is None else self.overload._asdict(),
            "warnings": self.warnings,
            "requirements": {
                r.name: {"goal": r.text, "probability": r.probability} for r in plan.requirements
            },
            "curve": [
                {
                    "value": point.value,
                    "replications": point.replications,
                    "verdict": VERDICTS[point.verdict],
                    "requirements": {
                        name: asdict(share) for name, share in zip(names, point.shares, strict=True)
                    },
                }
                for point in self.curve
            ],
            "resources": [
                {
                    "name": gain.resource.name,
                    "field": gain.resource.field,
                    "before": gain.resource.before,
                    "after": gain.resource.after,
                    "value": gain.value,
                    "probability": gain.probability,
                    "rise": gain.rise,
                    "answer": gain.answer,
                    "moved": gain.moved,
                    "binding": gain.binding,
                    "replications": gain.replications,
                }
                for gain in self.gains
            ],
            "cost": self.cost,
            "provenance": self.provenance,
        }
        return {name: json_data(item) for name, item in found.items()}


class Search:
    """Search of one plan, with its curve and its gains."""

    def __init__(self, asked: Plan, runner: ReplicationRunner) -> None:
        """Prepare the search without simulating."""
        self.asked, self.runner = asked, runner
        self.ledger = (YearLedger if asked.of_year else Ledger)(asked, runner)
        self.bracket = Bracket(-1, len(asked.values))
        self.gains: list[thresholds.Gain] = []
        self._begun = time.monotonic(), runner.used, runner.simulated

    def run(self) -> None:
        """Run the search, the curve and the resources. `Stopped` may be raised at any time."""
        self.decide()
        asked, ledger = self.asked, self.ledger
        last = len(asked.values) - 1
        for i in _spread(len(asked.values)):
            ledger.decide(i, min(CURVE_REPLICATIONS, asked.max_replications))
        if asked.resources:
            near, at = min(max(self.bracket.low, 0), last), min(self.bracket.low + 1, last)
            known = ledger.replications
            for gain in thresholds.gains(asked, self.runner, start=near, at=at, known=known):
                self.gains.append(gain)

    def decide(self) -> None:
        """Run the search alone."""
        most = self.asked.max_replications
        for found in search(len(self.asked.values), self.ledger.decide, most=most):
            self.bracket = found

    def remaining(self) -> int:
        """Return the approximate number of remaining replications."""
        return _remaining(self.asked, self.bracket, self.ledger.replications)

    def answer(self, target: str, stopped: str = "") -> Answer:
        """Return the answer so far; at least one value must have replications."""
        asked, ledger, bracket, runner = self.asked, self.ledger, self.bracket, self.runner
        curve = ledger.points(sorted(ledger.replications))
        held = [point for point in curve if asked.values.index(point.value) >= bracket.low]
        alone = _alone(asked, held)
        first = thresholds.first_to_fail(asked, alone)
        begun, used, simulated = self._begun
        return Answer(
            plan=asked,
            holds=asked.values[bracket.low] if bracket.low >= 0 else None,
            fails=asked.values[bracket.high] if bracket.high < len(asked.values) else None,
            undecided=asked.values[bracket.low + 1 : bracket.high],
            likely=_finite(alone[first]),
            binding=thresholds.binding(asked, alone),
            alone={r.name: _finite(a) for r, a in zip(asked.requirements, alone, strict=True)},
            monotone=_monotone(curve),
            curve=curve,
            gains=self.gains,
            cost={
                "replications": runner.used - used,
                "simulated": runner.simulated - simulated,
                "values": len(curve),
                "of_values": len(asked.values),
                "damaged": runner.damaged,
                "seconds": time.monotonic() - begun,
            },
            provenance={
                "versions": versions(),
                "model_version": model_version(),
                "target": target,
                "seed": asked.base.seed,
                "scenario": resolved(asked.base),
            },
            stopped=stopped,
            losses=self._losses(),
            overload=self._overload(),
        )

    def _overload(self) -> cautions.Overload | None:
        """Return the overload at the last value that holds."""
        place = self.bracket.low
        return None if place < 0 else cautions.overload(self.asked.scenario(self.asked.values[place]))

    def _losses(self) -> list[Loss]:
        """Return the losses at the last value that holds; empty if there is no such value."""
        place = self.bracket.low
        if place < 0:
            return []
        value = self.asked.values[place]
        means = {about: self.ledger.mean(place, about.loss) for about in self.asked.left_out}
        return [Loss(self.asked, about, value, mean) for about, mean in means.items()]


@checked
def plan(
    asked: Asked,
    *,
    folder: Path | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Answer:
    """Answer a plan.

    `asked` is a plan, the path of its file, or its data as in a file. With a `folder`, replications are
    stored there, and a later call reuses them. Runs that are forecast to be very large (`workload`) are
    refused unless `large` is true.

    The answer depends only on the plan, not on `target`, `threads` or interruptions. If `Stopped` is raised,
    the answer so far is returned; if nothing has been simulated, `Stopped` is raised again. Raises
    InputError.
    """
    asked = as_plan(asked)
    if asked.designs:
        raise InputError("the plan has two quantities; call netcarlo.frontier, or remove across")
    [answer] = answers([asked], folder, target, threads, progress, large=large)
    return answer


def answers(
    plans: Sequence[Plan],
    folder: Path | None,
    target: str,
    threads: int | None,
    progress: Progress | None,
    *,
    large: bool,
) -> list[Answer]:
    """Answer plans with the same outcomes one after the other; the arguments are those of `plan`.

    If `Stopped` is raised, return the answers so far; the last one has the reason.
    """
    work = [(one.base, _remaining(one, Bracket(-1, len(one.values)), {})) for one in plans]
    launches = sum(n for _, n in work) / FIRST
    target = resolve_target(target, work, threads=threads, launches=launches)
    searches, found = list[Search](), list[Answer]()
    tell = _progress_callback(progress)

    def report(done: int) -> None:
        if tell:
            now, k = searches[-1], len(searches)
            forecast = (done + now.remaining()) * len(plans) // k
            tell(State(now.bracket, len(now.ledger.replications), done, forecast, design=k - 1))

    runner = ReplicationRunner(
        plans[0].recorded, folder=folder, target=target, threads=threads, progress=report, large=large
    )
    for one in plans:
        latest = Search(one, runner)
        searches.append(latest)
        try:
            latest.run()
            found.append(latest.answer(target))  # may be interrupted as well, because it hashes the sources
        except Stopped as why:
            before = found[: len(searches) - 1]
            if latest.ledger.replications:
                return [*before, latest.answer(target, str(why))]
            if not before:
                raise
            return [*before[:-1], replace(before[-1], stopped=str(why))]
    return found


def _progress_callback(progress: Progress | None) -> Callable[[State], object] | None:
    if not isinstance(progress, bool):
        return progress
    line = reporter(progress)
    return (lambda state: line(state.replications, state.forecast)) if line else None


def _remaining(asked: Plan, bracket: Bracket, done: Mapping[int, int]) -> int:
    """Return the approximate number of remaining replications of a search; `done` has those by value.

    A value that holds needs `least_replications`, so few replications of others do not make it cheaper. As
    batches grow by half, it may have half as many again.
    """
    looked = list(done.values()) or [FIRST_CAP]
    states = 1 if asked.states is None else len(asked.states.shares)
    values = math.ceil(math.log2(max(bracket.high - bracket.low, 1))) * (1 + bool(done))
    curve = len([i for i in _spread(len(asked.values)) if i not in done])
    resources = 3 * len(asked.resources) * min(thresholds.REPLICATIONS, asked.max_replications)
    holding = min(int(GROWTH * asked.least_replications), asked.max_replications)
    mean = max(int(np.mean(looked)), FIRST_CAP, holding)
    return values * mean + curve * FIRST * states + resources


def _spread(n: int) -> list[int]:
    """Return the indices of the equally spaced values of the curve."""
    return [int(i) for i in np.unique(np.rint(np.linspace(0, n - 1, CURVE_POINTS)))]


def _alone(asked: Plan, curve: list[Point]) -> list[float]:
    """Return the point estimate of the limit of each requirement, from the points of a curve."""
    values = [point.value for point in curve]
    found = []
    for k, requirement in enumerate(asked.requirements):
        margins = [requirement.margin(point.shares[k].quantile) for point in curve]
        found.append(thresholds.crossing(values, margins, log=asked.log))
    return found


def _monotone(curve: list[Point]) -> bool:
    """Return False if a value beyond a failing one holds, or a band is above the band at an earlier value."""
    for k, point in enumerate(curve):
        for later in curve[k + 1 :]:
            if point.verdict == FAILS and later.verdict == HOLDS:
                return False
            if any(a.high < b.low for a, b in zip(point.shares, later.shares, strict=True)):
                return False
    return True


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def json_data(data: Any) -> Any:
    """Return data for JSON; numbers that are not finite become None."""
    if isinstance(data, dict):
        return {name: json_data(item) for name, item in data.items()}
    if isinstance(data, list | tuple):
        return [json_data(item) for item in data]
    return _finite(data) if isinstance(data, float) else data
