"""Replications of scenarios, each simulated once. A journal stores them for later runs of a plan."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from netcarlo.estimation import copies, moments, phases
from netcarlo.estimation.journal import Journal
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation.outcomes import values_of
from netcarlo.simulation.simulate import simulate
from netcarlo.sweeps.space.identity import key

JOURNAL = "runs.jsonl"
"""Name of the journal."""


class ReplicationRunner:
    """Outcomes of replications 0, 1, 2, ... of scenarios.

    With a `folder`, each batch is appended to a journal there, and batches in the journal are not simulated
    again. They are identified by the key of their scenario, so other plans can use them. `damaged` counts
    lines that cannot be used; their replications are simulated again.
    """

    def __init__(
        self,
        outcomes: Sequence[str],
        *,
        folder: Path | None = None,
        target: str = "auto",
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
        large: bool = False,
        known: dict[str, dict[str, Floats]] | None = None,
    ) -> None:
        """Prepare a runner that stores these outcomes.

        `progress` is called with the number of replications simulated so far. `known` has replications by key
        of the scenario; runners of the same outcomes may share it, and new replications are added.
        """
        self.outcomes = list(outcomes)
        self.simulated = self.used = self.damaged = 0
        self._known: dict[str, dict[str, Floats]] = {} if known is None else known
        self._used: dict[str, int] = {}
        self._target, self._threads, self._progress = target, threads, progress
        self._large = large
        self._noted = False
        self._journal = None if folder is None else Journal(folder / JOURNAL)
        if self._journal is not None:
            self._read(self._journal)

    def of(self, scenario: Scenario, n: int) -> dict[str, Floats]:
        """Return the outcomes of the first `n` replications of a scenario by name, [n] each. Raises
        InputError."""
        name = key(scenario)
        known = self._known.get(name, {outcome: np.zeros(0) for outcome in self.outcomes})
        first = min(map(len, known.values()))
        if first < n:
            part = self._simulate(scenario, first, n - first)
            known = {k: np.concatenate([known[k][:first], part[k]]) for k in self.outcomes}
            self._known[name] = known
            if self._journal is not None:
                outcomes = {k: v.tolist() for k, v in part.items()}
                self._journal.write({"key": name, "first": first, "outcomes": outcomes})
        self.used += max(0, n - self._used.get(name, 0))
        self._used[name] = max(n, self._used.get(name, 0))
        return {outcome: values[:n] for outcome, values in known.items()}

    def _simulate(self, scenario: Scenario, first: int, count: int) -> dict[str, Floats]:
        def report(done: int, _: int) -> None:
            if self._progress:
                self._progress(self.simulated + done)

        found = simulate(
            scenario, first=first, replications=count, target=self._target, threads=self._threads,
            progress=report, large=self._large,
        )  # fmt: skip
        self.simulated += count
        if not self._noted:
            self._noted = True
            phases.note(scenario)
            moments.note(scenario)
            if copies.are_copies(scenario, found.frame):
                copies.note(scenario, count)
        return {name: values_of(found.frame, name) for name in self.outcomes}

    def _read(self, journal: Journal) -> None:
        for batch in journal.read():
            try:
                self._add(batch["key"], batch["first"], batch["outcomes"])
            except (ValueError, AttributeError, TypeError, KeyError):
                journal.damaged += 1
        self.damaged = journal.damaged

    def _add(self, name: str, first: int, outcomes: dict[str, list[float]]) -> None:
        if not set(self.outcomes) <= set(outcomes):
            return  # written by a plan with other outcomes
        known = self._known.setdefault(name, {outcome: np.zeros(0) for outcome in self.outcomes})
        done, part = (min(map(len, each.values())) for each in (known, outcomes))
        if first <= done < first + part:
            self._known[name] = {
                outcome: np.concatenate([values[:first], np.array(outcomes[outcome], np.float64)])
                for outcome, values in known.items()
            }
