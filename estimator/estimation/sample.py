"""Samples of replications: the next replications that an estimate needs, and the estimate.

`estimate`, the live page and the cells of sweeps use these decisions. They depend on the values of the
replications by number, not on how many are simulated at a time, so results do not depend on batches.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from netcarlo.estimation.control_variates import INPUTS, MAX_DRAWS, Controlled, controlled, draws_needed
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, StoppingRule
from netcarlo.simulation.outcomes import BY_NAME

LEAST_RATIO = 1.25
"""Minimum variance ratio at which controls that netcarlo chose are used."""


@dataclass(frozen=True)
class Aim:
    """Mean to estimate, with the rule that ends sampling."""

    of: str
    """Outcome whose mean is estimated."""
    rule: StoppingRule
    """Rule that decides when there are enough replications."""
    controls: tuple[str, ...] = ()
    """Control variates: fast fidelities, and `INPUTS` for the drawn quantities."""

    @property
    def fast(self) -> tuple[str, ...]:
        """Fast fidelities among the control variates."""
        return tuple(name for name in self.controls if name != INPUTS)

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

    def inputs(self, n: int) -> Floats:
        """Return controls of mean 0 from the drawn quantities of the first `n` replications, [n,
        controls]."""
        return np.zeros((n, 0))

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
        runs = min(self.done(), aim.rule.most)
        return runs, min(map(self.done, aim.fast)) if aim.fast else runs * bool(aim.controls)

    def mean(self, aim: Aim) -> Mean:
        """Return the mean of the outcome of `aim`."""
        return self.means(aim, [aim.of])[aim.of]

    def means(self, aim: Aim, names: Iterable[str]) -> dict[str, Mean]:
        """Return the means of outcomes, with the controls of `aim` where they reduce the variance.

        The interval of the outcome of `aim` is not narrower than the requested precision.
        """
        (runs, draws), found = self.used(aim), {}
        for name in names:
            outcome, sharp = BY_NAME[name], self._controlled(aim, name, runs, draws)
            mean = (
                outcome.inside(sharp.mean) if sharp else outcome.means(self.values(name)[:runs][None]).row(0)
            )
            if name == aim.of:
                wide = statistics.no_narrower(mean, aim.rule.relative)
                mean = statistics.bounded(wide, outcome.values.least, outcome.values.most)
            found[name] = mean
        return found

    def sharpened(self, aim: Aim, names: Iterable[str]) -> dict[str, Controlled]:
        """Return the outcomes whose variance the controls of `aim` reduce."""
        runs, draws = self.used(aim)
        found = ((name, self._controlled(aim, name, runs, draws)) for name in names)
        return {name: each for name, each in found if each is not None}

    def precise(self, aim: Aim) -> bool:
        """Return True if the precision of `aim` is reached."""
        return aim.rule.reached(self._seen(aim, *self.used(aim)))

    def _controlled(self, aim: Aim, of: str, runs: int, draws: int) -> Controlled | None:
        if not aim.controls or draws < runs:
            return None
        found = controlled(self.values(of)[:runs], *self._control_values(aim, of, draws))
        useless = found is not None and INPUTS in aim.controls and found.variance_ratio < LEAST_RATIO
        return None if useless else found

    def _control_values(self, aim: Aim, of: str, draws: int) -> tuple[list[Floats], Floats | None]:
        """Return the values of the fast fidelities that have an outcome, and the controls of drawn
        quantities."""
        fast = [self.values(of, fidelity)[:draws] for fidelity in aim.fast]
        known = self.inputs(draws) if INPUTS in aim.controls else None
        return [x for x in fast if len(aim.controls) == 1 or not np.isnan(x).all()], known

    def _walk(self, aim: Aim) -> tuple[_Look, Step | None]:
        """Return the last evaluation of the rule for which there are enough replications, and the next step.

        An evaluation depends only on the replications before it, so it gives the same result at any time.
        """
        look = self._looks.get(aim) or self._look(aim, 0, 0)
        while (runs := look.wanted) > look.runs:
            if self.done() < runs:
                return look, Step(self.fidelity, runs)
            draws = max(look.draws, runs) if aim.controls else 0
            if aim.fast:
                if all(self.done(fidelity) >= draws for fidelity in aim.fast):
                    y, most = self.values(aim.of)[:runs], min(MAX_DRAWS[fidelity] for fidelity in aim.fast)
                    draws = max(draws, draws_needed(y, *self._control_values(aim, aim.of, runs), most=most))
                for fidelity in aim.fast:
                    if self.done(fidelity) < draws:
                        return look, Step(fidelity, draws)
            look = self._look(aim, runs, draws)
        return look, None

    def _look(self, aim: Aim, runs: int, draws: int) -> _Look:
        """Evaluate the stopping rule for the mean, without the bounds of the outcome."""
        more = aim.rule.next_after(runs, lambda: self._seen(aim, runs, draws))
        look = self._looks[aim] = _Look(runs, draws, runs + more)
        return look

    def _seen(self, aim: Aim, runs: int, draws: int) -> Mean:
        """Return the mean that the stopping rule evaluates."""
        found = self._controlled(aim, aim.of, runs, draws)
        return found.mean if found else statistics.mean(self.values(aim.of)[:runs])
