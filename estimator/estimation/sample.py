"""Samples of replications: what an estimate needs next, and the estimate that they give.

`estimate`, the live page and the cells of sweeps take these decisions here.  They depend on the values of the
replications by number, not on how many are simulated at a time, so the answers are equal for any batches.
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
    """Mean to estimate, with the rule that ends the sampling."""

    of: str
    """Outcome whose mean decides when to stop."""
    rule: StoppingRule
    """Stopping rule: decides when there are enough replications."""
    control: str | None = None
    """Cheap fidelity that is the control variate."""

    def at_most(self, n: int) -> "Aim":
        """Return the same with at most `n` replications."""
        return replace(self, rule=self.rule.at_most(n))


class Step(NamedTuple):
    """Replications to simulate next: those of a fidelity from the first that is missing to `until` - 1."""

    fidelity: str
    until: int


class _Look(NamedTuple):
    """Last look of the stopping rule at a sample."""

    runs: int
    draws: int
    wanted: int
    """Replications at the next look; `runs` if there is none."""


class Sample(ABC):
    """Outcomes of replications 0, 1, 2, ... of a scenario, as far as there are, by fidelity."""

    def __init__(self, fidelity: str) -> None:
        """`fidelity` is that of the scenario; others are those of its control variates."""
        self.fidelity = fidelity
        self._looks: dict[Aim, _Look] = {}

    @abstractmethod
    def done(self, fidelity: str | None = None) -> int:
        """Return the number of replications of a fidelity; of that of the scenario unless given."""

    @abstractmethod
    def values(self, of: str, fidelity: str | None = None) -> Floats:
        """Return an outcome of those replications, [n]."""

    def wanted(self, aim: Aim) -> Step | None:
        """Return what to simulate next; None if the sample is complete for `aim`."""
        return self._walk(aim)[1]

    def used(self, aim: Aim) -> tuple[int, int]:
        """Return how many replications, and draws of its control, the estimate is made of.

        A sample that is complete for `aim` may have more, made for another one.  One that is not gives an
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
        """Return the means of outcomes, with the control of `aim` where it helps."""
        names, (runs, draws) = list(names), self.used(aim)
        sharpened = self._sharpened(aim, names, runs, draws)
        return {
            name: sharpened[name].mean
            if name in sharpened
            else BY_NAME[name].means(self.values(name)[:runs][None]).row(0)
            for name in names
        }

    def sharpened(self, aim: Aim, names: Iterable[str]) -> dict[str, Controlled]:
        """Return those outcomes that the control of `aim` sharpens, with means within their bounds."""
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
        """Return the last look of the rule that there are replications for, and what the next one lacks.

        A look depends on the replications before it only, so it is the same whenever it is taken.
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
        """Let the stopping rule look at the mean, without the bounds of the outcome."""

        def seen() -> Mean:
            found = self._controlled(aim, aim.of, runs, draws)
            return found.mean if found else statistics.mean(self.values(aim.of)[:runs])

        look = self._looks[aim] = _Look(runs, draws, runs + aim.rule.next_after(runs, seen))
        return look
