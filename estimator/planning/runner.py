"""Replications of scenarios, each simulated once: what a plan has run is kept for its next run."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.estimation import copies, phases
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema.destination import append, regular
from netcarlo.schema.document import read_bytes
from netcarlo.simulation.outcomes import values_of
from netcarlo.simulation.simulate import simulate
from netcarlo.sweeps.space.identity import key

JOURNAL = "runs.jsonl"
MOST_BYTES = 1 << 30
"""The largest journal that is read."""


class ReplicationRunner:
    """Outcomes of replications 0, 1, 2, ... of scenarios.

    With a `folder`, batches are added to a journal in it as they come, and those there are not simulated
    again: they are known by the key of their scenario, so they serve any plan that asks for the same.  Each
    line has a checksum; `damaged` counts those that do not fit theirs, whose runs are simulated again.
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
        """Keep these outcomes; `progress` is called with the number of replications done so far.

        `known` are those of other runners of the same outcomes, by the key of their scenario; new ones are
        added.
        """
        self.outcomes = list(outcomes)
        self.simulated = self.used = self.damaged = 0
        self._known: dict[str, dict[str, Floats]] = {} if known is None else known
        self._used: dict[str, int] = {}
        self._target, self._threads, self._progress = target, threads, progress
        self._large = large
        self._noted = False
        self._journal = None if folder is None else folder / JOURNAL
        if self._journal is not None and os.path.lexists(self._journal):
            self._read(self._journal)

    def of(self, scenario: Scenario, n: int) -> dict[str, Floats]:
        """Outcomes of the first `n` replications of a scenario by name, [n] each.  Raises InputError."""
        name = key(scenario)
        known = self._known.get(name, {outcome: np.zeros(0) for outcome in self.outcomes})
        first = min(map(len, known.values()))
        if first < n:
            part = self._simulate(scenario, first, n - first)
            known = {k: np.concatenate([known[k][:first], part[k]]) for k in self.outcomes}
            self._known[name] = known
            batch = {"key": name, "first": first, "outcomes": {k: v.tolist() for k, v in part.items()}}
            self._write({**batch, "sha256": _checksum(batch)})
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
            if copies.are_copies(scenario, found.frame):
                copies.note(scenario, count)
        return {name: values_of(found.frame, name) for name in self.outcomes}

    def _write(self, batch: dict[str, Any]) -> None:
        if self._journal is None:
            return
        append(regular(self._journal), "\n" + json.dumps(batch))  # the line before may have been cut off

    def _read(self, journal: Path) -> None:
        for line in filter(None, read_bytes(journal, MOST_BYTES).decode("utf-8", "replace").splitlines()):
            try:
                batch = json.loads(line)
                if batch.pop("sha256") != _checksum(batch):
                    raise ValueError
                self._know(batch["key"], batch["first"], batch["outcomes"])
            except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
                self.damaged += 1  # perhaps cut off by an interruption

    def _know(self, name: str, first: int, outcomes: dict[str, list[float]]) -> None:
        if not set(self.outcomes) <= set(outcomes):
            return  # of a plan about other outcomes
        known = self._known.setdefault(name, {outcome: np.zeros(0) for outcome in self.outcomes})
        done, part = (min(map(len, each.values())) for each in (known, outcomes))
        if first <= done < first + part:
            self._known[name] = {
                outcome: np.concatenate([values[:first], np.array(outcomes[outcome], np.float64)])
                for outcome, values in known.items()
            }


def _checksum(batch: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(batch, sort_keys=True).encode()).hexdigest()
