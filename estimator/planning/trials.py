"""Replications of scenarios, each simulated once: what a plan has run is kept for its next run."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.simulate import simulate
from netcarlo.sweeps.identity import key

Floats = NDArray[np.float64]

JOURNAL = "runs.jsonl"


class Trials:
    """Outcomes of replications 0, 1, 2, ... of scenarios.

    With a `folder`, batches are added to a journal in it as they come, and those there are not simulated
    again: they are known by the key of their scenario, so they serve any plan that asks for the same.
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
    ) -> None:
        """Keep these outcomes; `progress` is called with the number of replications done so far."""
        self.outcomes = list(outcomes)
        self.simulated = self.used = 0
        self._known: dict[str, dict[str, Floats]] = {}
        self._used: dict[str, int] = {}
        self._target, self._threads, self._progress = target, threads, progress
        self._large = large
        self._journal = None if folder is None else folder / JOURNAL
        if self._journal is not None and self._journal.exists():
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
            self._write({"key": name, "first": first, "count": n - first,
                         "outcomes": {k: v.tolist() for k, v in part.items()}})  # fmt: skip
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
        return {name: found.frame[name].to_numpy(np.float64) for name in self.outcomes}

    def _write(self, batch: dict[str, Any]) -> None:
        if self._journal is None:
            return
        try:
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            with self._journal.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(batch))  # the line before may have been cut off
        except OSError as error:
            raise InputError(
                f"{self._journal}: cannot be written ({error.strerror}); name a folder you can write to"
            ) from None

    def _read(self, journal: Path) -> None:
        for line in journal.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                batch = json.loads(line)
                values = {name: np.array(batch["outcomes"][name], np.float64) for name in self.outcomes}
            except (ValueError, KeyError, TypeError):
                continue  # cut off by an interruption, or of a plan about other outcomes
            known = self._known.setdefault(batch["key"], {name: np.zeros(0) for name in self.outcomes})
            first = min(map(len, known.values()))
            if batch["first"] <= first < batch["first"] + batch["count"]:
                self._known[batch["key"]] = {
                    name: np.concatenate([known[name][: batch["first"]], values[name]]) for name in known
                }
