"""Samples of replications: the next replications that an estimate needs, and the estimate.

`estimate`, the live page and the cells of sweeps use these decisions. They depend on the values of the
replications by number, not on how many are simulated at a time, so results do not depend on batches.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from netcarlo.estimation.control_variates import MAX_DRAWS, Controlled, controlled, draws_needed
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, StoppingRule
from netcarlo.simulation.outcomes import BY_NAME


@dataclass(frozen=True)
class Aim:
    """Mean to estimate, with the rule that ends sampling."""

    of: str
    """Outcome whose mean is estimated."""
    rule: StoppingRule
    """Rule that decides when there are enough replications."""
    control: str | None = None
    """Fast fidelity used as control variate; None for none."""

    def at_most(self, n: int) -> "Aim":
        """Return this aim with at most `n` replications."""
        return replace(self, rule=self.rule.at_most(n))


class Step(NamedTuple):
    """Replications to simulate next: those of a fidelity up to number `until` - 1."""

    fidelity: str
    until: int


class _Look(NamedTuple):
    """State at the last evaluation of the stopping rule."""

    runs: int
    draws: int
    wanted: int
    """Number of replications at the next evaluation; `runs` if there is none."""


class Sample(ABC):
    """Outcomes of replications 0, 1, 2, ... of a scenario, as far as they exist, by fidelity."""

    def __init__(self, fidelity: str) -> None:
        """Create a sample; `fidelity` is that of the scenario, other fidelities are those of its control
        variates."""
        self.fidelity = fidelity
        self._looks: dict[Aim, _Look] = {}

    @abstractmethod
    def done(self, fidelity: str | None = None) -> int:
        """Return the number of replications of a fidelity (default: that of the scenario)."""

    @abstractmethod
    def values(self, of: str, fidelity: str | None = None) -> Floats:
        """Return an outcome of the replications of a fidelity, [n]."""

    def wanted(self, aim: Aim) -> Step | None:
        """Return the next step of the simulation; None if the sample is complete for `aim`."""
        return self._walk(aim)[1]

    def used(self, aim: Aim) -> tuple[int, int]:
        """Return the numbers of replications and of control draws that the estimate uses.

        A sample that is complete for `aim` may have more, made for another aim. An incomplete sample gives an
        estimate from all it has.
        """
        look, step = self._walk(aim)
        if step is None:
            return look.runs, look.draws
        return min(self.done(), aim.rule.most), self.done(aim.control) if aim.control else 0

    def mean(self, aim: Aim) -> Mean:
        """Return the mean of the outcome of `aim`."""
        return self.means(aim, [aim.of])[aim.of]

    def means(self, aim: Aim, names: Iterable[str]) -> dict[str, Mean]:
        """Return the means of outcomes, with the control of `aim` where it reduces the variance."""
        names, (runs, draws) = list(names), self.used(aim)
        sharpened = self._sharpened(aim, names, runs, draws)
        return {
            name: sharpened[name].mean
            if name in sharpened
            else BY_NAME[name].means(self.values(name)[:runs][None]).row(0)
            for name in names
        }

    def sharpened(self, aim: Aim, names: Iterable[str]) -> dict[str, Controlled]:
        """Return the outcomes whose variance the control of `aim` reduces, with means within their bounds."""
        return self._sharpened(aim, names, *self.used(aim))

    def _sharpened(self, aim: Aim, names: Iterable[str], runs: int, draws: int) -> dict[str, Controlled]:
        found = ((name, self._controlled(aim, name, runs, draws)) for name in names)
        return {
            name: each._replace(mean=BY_NAME[name].inside(each.mean))
            for name, each in found if each is not None
        }  # fmt: skip

    def _controlled(self, aim: Aim, of: str, runs: int, draws: int) -> Controlled | None:
        if aim.control is None or draws < runs:
            return None
        return controlled(self.values(of)[:runs], self.values(of, aim.control)[:draws])

    def _walk(self, aim: Aim) -> tuple[_Look, Step | None]:
        """Return the last evaluation of the rule for which there are enough replications, and the next step.

        An evaluation depends only on the replications before it, so it gives the same result at any time.
        """
        look = self._looks.get(aim) or self._look(aim, 0, 0)
        while (runs := look.wanted) > look.runs:
            if self.done() < runs:
                return look, Step(self.fidelity, runs)
            draws = look.draws
            if aim.control is not None:
                draws = max(draws, runs)
                if self.done(aim.control) >= draws:
                    y, x = self.values(aim.of)[:runs], self.values(aim.of, aim.control)
                    draws = max(draws, draws_needed(y, x, most=MAX_DRAWS[aim.control]))
                if self.done(aim.control) < draws:
                    return look, Step(aim.control, draws)
            look = self._look(aim, runs, draws)
        return look, None

    def _look(self, aim: Aim, runs: int, draws: int) -> _Look:
        """Evaluate the stopping rule for the mean, without the bounds of the outcome."""

        def seen() -> Mean:
            found = self._controlled(aim, aim.of, runs, draws)
            return found.mean if found else statistics.mean(self.values(aim.of)[:runs])

        look = self._looks[aim] = _Look(runs, draws, runs + aim.rule.next_after(runs, seen))
        return look
