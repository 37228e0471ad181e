"""The replications of one scenario, as far as there are, and what they say of an outcome.

At rest it is what `netcarlo estimate` says, to the last digit: with `--control` where a cheap model sharpens
it.  What is shown before is the same of the replications that there are.
"""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
import pandas as pd

from netcarlo.estimation.control_variates import LEAST, MOST_DRAWS, controlled, draws_wanted
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, StoppingRule
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity, measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import BY_NAME, Outcomes, values_of
from netcarlo.simulation.progress import Progress
from netcarlo.simulation.simulate import simulate

FIRST_DRAWS = {"formula": 32, "fluid": 8}
"""Cheap draws of the first answer, where networks are drawn; else it is one."""


class Look(NamedTuple):
    """What is known of an outcome at a time."""

    by: str
    """What answered: formula, fluid or packet."""
    mean: Mean
    of: int
    """Replications at rest, as far as is known."""
    rest: bool


class Step(NamedTuple):
    """What to simulate next: up to `until` replications by packets, or by the cheap model."""

    cheap: bool
    until: int


@dataclass
class Runs:
    """Replications 0, 1, .. of a scenario and of its cheap models."""

    scenario: Scenario
    parts: dict[str, list[Outcomes]] = field(default_factory=dict)
    """By fidelity."""
    history: dict[str, list[Mean]] = field(default_factory=dict)
    """Means of outcomes by packets, as they came."""
    firsts: dict[str, str | None] = field(default_factory=dict)
    """The cheapest fidelity that knows an outcome, of those that were asked for."""
    per_s: float = 0.0
    """Replications by packets per second, in the last batch."""
    bytes: int = 0
    """Memory of the replications."""
    number: int = field(default_factory=itertools.count().__next__)
    """Number of these runs, unique in this process. An `id` is not, because Python uses it again."""
    _locks: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))


    @cached_property
    def rule(self) -> StoppingRule | None:
        """When there are enough, where a precision says so."""
        return None if self.scenario.precision is None else StoppingRule(self.scenario.precision)

    @cached_property
    def random(self) -> bool:
        """Whether networks are drawn, so that a cheap model of each says something."""
        drawn = build(self.scenario, replications=1).drawn
        return bool(len(drawn.columns)) or self.scenario.network.random_places

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """The outcomes that there are.  Raises InputError."""
        return measurable.outcomes(self.scenario)

    @cached_property
    def refused(self) -> dict[str, str]:
        """Why cheap fidelities do not know the scenario; empty where they do."""
        if self.scenario.fidelity != "packet":
            return dict.fromkeys(fidelity.CHEAP, "it is cheap itself")
        return {kind: self.scenario.network.unknown(self.scenario, kind) for kind in fidelity.CHEAP}

    @cached_property
    def _of_fluid(self) -> tuple[str, ...]:
        return measurable.outcomes(self._rough("fluid"))

    def knows(self, kind: str, of: str) -> bool:
        """Whether a cheap fidelity has an outcome."""
        if self.refused[kind]:
            return False
        if kind == "fluid":
            return of in self._of_fluid
        self.extend(kind, self.draws(kind))
        return bool(np.isfinite(self.values(kind, of)).any())

    def draws(self, kind: str) -> int:
        """How many cheap draws the first answer takes."""
        return FIRST_DRAWS[kind] if self.random else 1

    def control(self, of: str) -> str | None:
        """The cheap fidelity that sharpens an outcome, as `--control` names it."""
        return self.first(of) if self.random else None

    def first(self, of: str) -> str | None:
        """The cheapest fidelity that knows an outcome."""
        if of not in self.firsts:
            self.firsts[of] = next((kind for kind in ("formula", "fluid") if self.knows(kind, of)), None)
        return self.firsts[of]

    def done(self, kind: str) -> int:
        """Replications that there are by packets (`packet`) or a cheap fidelity."""
        return sum(len(part.frame) for part in self.parts.get(kind, ()))

    def values(self, kind: str, of: str) -> Floats:
        """An outcome of those replications."""
        parts = self.parts.get(kind, ())
        return np.concatenate([np.zeros(0), *(values_of(part.frame, of) for part in parts)])

    def frame(self, kind: str = "packet") -> pd.DataFrame:
        """The outcomes of those replications, of which there must be one."""
        return pd.concat([part.frame for part in self.parts[kind]])

    def extend(self, kind: str, until: int, *, progress: Progress | None = None) -> None:
        """Simulate up to so many replications; whatever `progress` raises ends it without them."""
        with self._locks[kind]:
            done = self.done(kind)
            if until > done:
                scenario = self.scenario if kind == "packet" else self._rough(kind)
                part = simulate(scenario, first=done, replications=until - done, progress=progress)
                self.parts.setdefault(kind, []).append(part)
                self.bytes += part.integers.nbytes + int(part.frame.memory_usage().sum())

    def _rough(self, kind: str) -> Scenario:
        return self.scenario.model_copy(update={"fidelity": kind})

    def guess(self, of: str) -> Look | None:
        """The cheap answer, which is computed if need be; None where no cheap model knows the outcome."""
        kind = self.first(of)
        if kind is None:
            return None
        draws = self.draws(kind)
        self.extend(kind, draws)
        return Look(kind, BY_NAME[of].means(self.values(kind, of)[:draws][None]).row(0), draws, True)

    def look(self, of: str) -> Look | None:
        """The answer of the packets, as far as there are; None before the first."""
        n, draws, rest = self._walk(of)
        done = self.done("packet")
        if not done:
            return None
        at = n if rest else done
        return Look("packet" if self.scenario.fidelity == "packet" else self.scenario.fidelity,
                    self._mean(of, at, draws if rest else None), max(n, done), rest)  # fmt: skip

    def step(self, of: str) -> Step | None:
        """What is missing for the answer at rest; None if nothing is."""
        n, draws, rest = self._walk(of)
        if rest:
            return None
        return Step(False, n) if self.done("packet") < n else Step(True, draws)

    def useful(self, of: str) -> int:
        """Cheap draws that sharpen what there is by now."""
        control, n = self.control(of), self.done("packet")
        if control is None or n < LEAST or self.done(control) < n:
            return 0 if control is None or n < LEAST else n
        return draws_wanted(self.values("packet", of), self.values(control, of), most=MOST_DRAWS[control])

    def _walk(self, of: str) -> tuple[int, int, bool]:
        """The looks of `estimate` as far as there are replications for them: packet runs, cheap draws, and
        whether it would end there."""
        control = self.control(of)
        n = draws = 0
        while True:
            count = self._count(of, n, draws)
            if not count:
                return n, draws, True
            n += count
            if self.done("packet") < n:
                return n, draws, False
            if control is not None:
                draws = max(draws, n)
                if self.done(control) < draws:
                    return n, draws, False
                y, x = self.values("packet", of)[:n], self.values(control, of)
                draws = max(draws, draws_wanted(y, x, most=MOST_DRAWS[control]))
                if self.done(control) < draws:
                    return n, draws, False

    def _count(self, of: str, n: int, draws: int) -> int:
        if self.rule is None:
            return 0 if n else self.scenario.replications
        return self.rule.next_after(n, lambda: self._seen(of, n, draws))

    def _seen(self, of: str, n: int, draws: int) -> Mean:
        """What the stopping rule looks at: without the bounds of the outcome."""
        y, control = self.values("packet", of)[:n], self.control(of)
        found = controlled(y, self.values(control, of)[:draws]) if control else None
        return found.mean if found else statistics.mean(y)

    def _mean(self, of: str, n: int, draws: int | None) -> Mean:
        """The mean of the first `n` packet runs with so many cheap draws, or as many as there are for it."""
        y, control, outcome = self.values("packet", of)[:n], self.control(of), BY_NAME[of]
        if control is not None and self.done(control) >= n:
            x = self.values(control, of)
            found = controlled(y, x[: self.done(control) if draws is None else draws])
            if found is not None:
                return outcome.inside(found.mean)
        return outcome.means(y[None]).row(0)

    def remember(self, of: str) -> None:
        """Note what is known now in the history of an outcome."""
        found, past = self.look(of), self.history.setdefault(of, [])
        if found is not None:
            if past and past[-1].n == found.mean.n:
                past.pop()
            past.append(found.mean)

    def better(self, of: str) -> dict[str, Mean]:
        """The means at rest of what the control of `of` sharpens, as in the table of `estimate`."""
        control = self.control(of)
        n, draws, rest = self._walk(of)
        if control is None or not rest:
            return {}
        found = {}
        for name in self.measured:
            pair = controlled(self.values("packet", name)[:n], self.values(control, name)[:draws])
            if pair is not None:
                found[name] = BY_NAME[name].inside(pair.mean)
        return found
