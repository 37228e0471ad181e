"""The cells of `fidelity: auto` in a report: whose answers they are, and means that the sample of packets
corrects."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.reports.parts import scales
from netcarlo.sweeps.analysis import decisions, population, regression

WORDS = {
    "clear": "clear by the sample of packets",
    "sample": "the random sample",
    "doubt": "in doubt",
    "unknown": "known to no cheap model",
}
PERCENT = scales.Scale(0.01, "%")


class Screened:
    """Results of cheap models beside the cells of the store.

    Arrays are [drawn networks, points of the grid, labels].
    """

    def __init__(
        self, sweep: Mapping[str, Any], cells: pd.DataFrame, cheap: pd.DataFrame, shape: tuple[int, int, int]
    ) -> None:
        self.about: Mapping[str, Any] = sweep["auto"]
        self.shape = shape
        self.n_cells = int(sweep["n_cells"])
        self._goals = sweep["goals"]
        ok = (cells["status"] == "ok").to_numpy()
        self.counts = decisions.answered(cells)
        self.decision = decisions.decide_from_tables(sweep, cheap, cells, group=shape[2])
        flat = np.zeros(self.n_cells, bool)
        flat[cells["cell"].to_numpy()[ok & (cells["because"] == "clear").to_numpy()]] = True
        self.clear: Bools = flat.reshape(shape)[:, :, 0]
        """bool[networks, points]: cheap models answered."""
        self.both: Bools = self.decision.representative.reshape(shape[:2]) & self.decision.useful
        """The sampled ones that stand for them."""
        self._frame = cheap[(cheap["status"] == "ok").to_numpy()]
        self._columns: dict[str, Floats] = {}

    def cube(self, column: str) -> Floats:
        """A column of what cheap models say, or the gain of a goal; NaN where they say nothing."""
        if (goal := column.removesuffix("_gain")) != column and goal in self._goals:
            return self.cube(goal) - self.cube(goal)[:, :, :1]
        if column not in self._columns:
            flat = np.full(self.n_cells, np.nan)
            flat[self._frame["cell"].to_numpy()] = self._frame[column].to_numpy(dtype=np.float64)
            self._columns[column] = flat.reshape(self.shape)
        return self._columns[column]

    def mean(self, answers: Floats, cheap: Floats, points: Bools, blocks: Ints, *, share: bool) -> Floats:
        """The mean over networks of cells at `points`, bool[points], and its interval, float64[3], of the
        store's answers and of cheap models, [networks, points], corrected; no interval if too few are
        sampled.

        A `share` is of what is 0 or 1, or near.
        """
        clear, both = self.clear[:, points], self.both[:, points]
        mine, theirs = np.where(clear, np.nan, answers[:, points]), cheap[:, points]
        if share:
            parts = regression.share(mine, theirs, clear, both)
            if parts is not None:
                found, below, above = population.mean(parts[0], blocks), *parts[1:]
                low = math.hypot(found.mean - found.ci_low, below)
                return np.array(
                    [found.mean, found.mean - low, found.mean + math.hypot(found.ci_high - found.mean, above)]
                )
        elif (got := regression.values(mine, theirs, clear, both)) is not None:
            found = population.mean(got.mean + got.influence, blocks)
            return np.array([found.mean, found.ci_low, found.ci_high])
        known = answers[:, points][np.isfinite(answers[:, points])]
        return np.array([known.mean() if len(known) else np.nan, np.nan, np.nan])

    def wins(self, credit: Floats, cheap: Floats, points: Bools, blocks: Ints) -> Floats:
        """Shares of wins and their intervals, float64[3, labels], from who is best at each point, of the
        store's answers and of cheap models: float64[networks, points, labels] with NaN where nobody is."""
        each = [
            self.mean(credit[:, :, k], cheap[:, :, k], points, blocks, share=bool(np.isfinite(cheap).any()))
            for k in range(credit.shape[2])
        ]
        return np.clip(np.array(each).T, 0.0, 1.0)

    def facts(self, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the text and table at the top of the report."""
        total = max(sum(self.counts.values()), 1)
        rows = [
            {"by": by, "why": WORDS.get(why, why), "cells": scales.count(n), "share": _percent(n / total)}
            for (by, why), n in self.counts.items()
        ]
        cheap = sum(n for (by, _), n in self.counts.items() if by != "packet")
        share = f"{scales.count(cheap)} of {scales.count(total)} cells ({_percent(cheap / total)})"
        return {
            "rows": rows,
            "head": f"{share} were answered without packets",
            "wrong": _percent(self.about["wrong"]),
            "decided": [
                *self.about["goals"],
                *([_best(self.about["winner"])] if self.about["winner"] else []),
            ],
            "sampled": scales.count(int(self.decision.sample.sum())),
            "useful": self.decision.useful,
            "time": _time(runs, self.n_cells),
        }


def _best(outcome: str) -> str:
    return f"which is best by {scales.name_of(outcome)}"


def _percent(part: float) -> str:
    return f"{scales.number(100 * part)} %"


def _time(runs: Sequence[Mapping[str, Any]], n_cells: int) -> str:
    """The time of all chunks, and about that of packets everywhere; empty where records do not tell.

    That is the time in kernels of a sampled cell, and what a screened one takes outside of them, times the
    cells.
    """
    busy, kernel, cells = (dict.fromkeys(("sample", "screening"), 0.0) for _ in range(3))
    total = 0.0
    try:
        for run in runs:
            total += float(run["busy_s"])
            if run.get("phase") in busy:
                busy[run["phase"]] += float(run["busy_s"])
                kernel[run["phase"]] += float(run["kernel_s"])
                cells[run["phase"]] += int(run["cells"])
    except (KeyError, TypeError, ValueError):
        return ""
    if not (cells["sample"] and cells["screening"]):
        return ""
    host = max(busy["screening"] - kernel["screening"], 0.0) / cells["screening"]
    everywhere = n_cells * (kernel["sample"] / cells["sample"] + host)
    return (
        f"All chunks together took {scales.number(total)} s; packets everywhere would have taken about "
        f"{scales.number(everywhere)} s ({scales.number(everywhere / total)} times as long)."
        if total > 0
        else ""
    )
