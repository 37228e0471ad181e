"""The results of a sweep as arrays [drawn networks, points of the grid, compared labels], and their means."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.networks.outcome import ANY, YES_NO, Values
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.numerics.statistics import Mean, bounded
from netcarlo.reports.parts import scales
from netcarlo.reports.sweep.screened import Screened
from netcarlo.scenario import Scenario
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.sweeps.analysis import population, regression
from netcarlo.sweeps.space import congestion_files

KEY_DIGITS = 10
"""Digits of a key that are shown: enough to tell the cells of any sweep apart."""

_ALWAYS = ("cell", "draw", "block", "key", "status", "error", "replications")
"""Columns that the table of a store has; without a row it has none."""

DONE = frozenset({"completion_s", "transfer_s"})
"""Times after which something is done, if it ever is: one asks with which probability it is by then."""


class Axis(NamedTuple):
    """An axis other than the compared one."""

    name: str
    title: str
    unit: str
    log: bool
    numeric: bool
    values: tuple[Any, ...]
    texts: tuple[str, ...]

    @property
    def middle(self) -> int:
        """The place of the middle value, the lower one of two."""
        return (len(self.values) - 1) // 2


class Estimates(NamedTuple):
    """Means with 95 % intervals of groups of cells, float64[groups, labels]."""

    mean: Floats
    low: Floats
    high: Floats
    cells: Ints
    """Cells in each."""
    key: NDArray[np.str_]
    """The key of the only cell, or an empty text."""


class Results:
    """The cells of a store; one that was not reached or failed is NaN."""

    def __init__(
        self, manifest: Mapping[str, Any], frame: pd.DataFrame, cheap: pd.DataFrame | None = None
    ) -> None:
        """`cheap`: with `fidelity: auto`, what cheap models say of cells."""
        self.manifest = manifest
        self.sweep: dict[str, Any] = manifest["sweep"]
        if frame.empty:  # no chunk is finished
            frame = frame.reindex(columns=_ALWAYS)
        if not (known := frame["key"].astype(str).str.fullmatch("[0-9a-f]+")).all():
            odd = frame[~known].iloc[0]
            raise InputError(
                f"cell {odd['cell']} of the store has the key {odd['key']!r}; expected hexadecimal digits; "
                "the store was altered: do not run its commands, get an unaltered copy"
            )
        self.frame = frame
        definition = manifest.get("definition") or {}
        self.base = None
        if "scenario" in definition:  # with the texts of users' files, which are read and do not run
            self.base = Scenario.check(congestion_files.provide(definition)["scenario"])
        axes = {axis["name"]: self._axis(axis) for axis in self.sweep["axes"]}
        self.compared = axes.pop(self.sweep["compare"], None)
        self.axes = tuple(axes.values())
        self.labels: tuple[str, ...] = self.compared.texts if self.compared else ("",)
        self.draws = self.sweep["draw"]["size"] if self.sweep["draw"] else 1
        self.points = int(np.prod([len(axis.values) for axis in self.axes], dtype=np.int64))
        self.shape = self.draws, self.points, len(self.labels)
        ok = frame["status"].to_numpy() == "ok"
        self.ok = frame[ok]
        self.failed = frame[~ok]
        self.outcomes: list[str] = self.sweep["outcomes"]
        self.screened: Screened | None = None
        if self.sweep.get("auto") and cheap is not None and len(cheap) and len(self.ok):
            self.screened = Screened(self.sweep, frame, cheap, self.shape)
        self._columns: dict[str, Floats] = {}
        self._scores: dict[str, Floats] = {}

    @property
    def drawn(self) -> bool:
        """True if networks are drawn."""
        return self.sweep["draw"] is not None

    @property
    def missing(self) -> int:
        """Cells not reached yet."""
        return int(self.sweep["n_cells"]) - len(self.frame)

    @property
    def reached_blocks(self) -> int:
        """Blocks of drawn networks with a result."""
        return int(self.ok["block"].nunique())

    def cube(self, column: str) -> Floats:
        """A column as float64[draws, points, labels]; that of a goal's gain is in no store."""
        if column not in self._columns and (goal := self._goal_of(column)):
            self._columns |= self._gains(goal)
        if column not in self._columns:
            flat = np.full(self.sweep["n_cells"], np.nan)
            flat[self.ok["cell"].to_numpy()] = self.ok[column].to_numpy(dtype=np.float64)
            self._columns[column] = flat.reshape(self.shape)
        return self._columns[column]

    def _goal_of(self, column: str) -> str:
        """The goal whose gain, or an end of its interval, this is; empty if it is none."""
        goal = column.removesuffix("_low").removesuffix("_high").removesuffix("_gain")
        return goal if "_gain" in column and goal in self.sweep["goals"] else ""

    def _gains(self, goal: str) -> dict[str, Floats]:
        """Return the gains in probability over the baseline, with the interval of two independent shares.

        Source: Newcombe, "Interval estimation for the difference between independent proportions"
        (Statistics in Medicine 17, 1998), method 10.  Common random numbers make it too wide, if anything.
        """
        p, low, high = (self.cube(goal + suffix) for suffix in ("", "_low", "_high"))
        base, base_low, base_high = (each[:, :, :1] for each in (p, low, high))
        gain = p - base
        below = np.sqrt((p - low) ** 2 + (base_high - base) ** 2)
        above = np.sqrt((high - p) ** 2 + (base - base_low) ** 2)
        return {f"{goal}_gain": gain, f"{goal}_gain_low": gain - below, f"{goal}_gain_high": gain + above}

    def sign(self, column: str) -> int:
        """1 if more of an outcome, or of a goal, is better, -1 if less is, 0 if neither."""
        if column in self.sweep["goals"]:
            return 1
        better = BY_NAME[column].better if column in BY_NAME else None
        return 0 if better is None else 1 if better == "more" else -1

    def _values(self, column: str) -> Values:
        """Return the range of possible values of an outcome, of a gain in it, or of a goal."""
        base = column.removesuffix("_gain")
        found = YES_NO if base in self.sweep["goals"] else BY_NAME[base].values if base in BY_NAME else ANY
        return found if base == column else Values(found.least - found.most, found.most - found.least)

    def scores(self, outcome: str) -> Floats:
        """An outcome with a sign such that more is better, float64[draws, points, labels].

        NaN where a cell is missing.  What did not happen, such as a completion, is worse than all that did.
        """
        if outcome not in self._scores:
            value = self.sign(outcome) * self.cube(outcome)
            self._scores[outcome] = np.where((self.keys != "") & np.isnan(value), -np.inf, value)
        return self._scores[outcome]

    def feature(self, column: str) -> Floats:
        """A feature of the networks, float64[draws, points]: that of any label that has it."""
        cube = self.cube(column)
        return np.take_along_axis(cube, np.isnan(cube).argmin(axis=2)[:, :, None], axis=2)[:, :, 0]

    @cached_property
    def keys(self) -> NDArray[np.str_]:
        """The first digits of the keys, str[draws, points, labels]; empty where a cell is missing."""
        flat = np.full(self.sweep["n_cells"], "", dtype=f"U{KEY_DIGITS}")
        flat[self.ok["cell"].to_numpy()] = self.ok["key"].str[:KEY_DIGITS].to_numpy(dtype=str)
        return flat.reshape(self.shape)

    @cached_property
    def blocks(self) -> Ints:
        """The block of each drawn network, int64[draws]; -1 if it was not reached."""
        if not self.drawn:
            return np.zeros(1, dtype=np.int64)
        found = np.full(self.draws, -1)
        found[self.frame["draw"].to_numpy()] = self.frame["block"].to_numpy()
        return found

    @cached_property
    def places(self) -> dict[str, Ints]:
        """The place on each axis of the points of the grid, int64[points]."""
        sizes = [len(axis.values) for axis in self.axes]
        found = np.unravel_index(np.arange(self.points), sizes) if sizes else ()
        return {axis.name: place for axis, place in zip(self.axes, found, strict=True)}

    def everywhere(self) -> Ints:
        """All points of the grid in one group."""
        return np.zeros(self.points, dtype=np.int64)

    def estimates(self, column: str, group: Ints, groups: int) -> Estimates:
        """Means of a column over the points of the grid in each group, int64[points]; -1 is in none.

        Over drawn networks the interval is that of the population.  A grid is no sample, so there the
        interval says how well the plain average of its cells is known.  Their errors are not independent,
        as all meet the same random numbers: the averages of the ends of their intervals are on the safe side.
        """
        shape = groups, len(self.labels)
        found = Estimates(
            np.full(shape, np.nan),
            np.full(shape, np.nan),
            np.full(shape, np.nan),
            np.zeros(shape, dtype=np.int64),
            np.full(shape, "", dtype=f"U{KEY_DIGITS}"),
        )
        fill = self._over_networks if self.drawn else self._over_grid
        for k in range(shape[1]):
            fill(column, k, group, found)
        return found

    def over_networks(self, column: str, values: Floats, blocks: Ints) -> Mean:
        """Return the mean of a column over networks with these values and blocks, both [n], with the interval
        of the population."""
        least, most, yes_no = self._values(column)
        if yes_no:
            n, mean, *ends = population.share(values, blocks)
            return Mean(n, mean, np.nan, *ends)
        return bounded(population.mean(values, blocks), least, most)

    def _over_networks(self, column: str, k: int, group: Ints, found: Estimates) -> None:
        for g in range(len(found.mean)):
            values = self.cube(column)[:, group == g, k]
            if self.screened is not None and self.screened.clear[:, group == g].any():
                one = self._corrected(self.screened, column, k, group == g)
            else:
                _, mean, _, *ends = self.over_networks(column, average(values), self.blocks)
                one = [mean, *ends]
            found.mean[g, k], found.low[g, k], found.high[g, k] = one
            found.cells[g, k] = np.count_nonzero(~np.isnan(values))

    def _corrected(self, screened: Screened, column: str, k: int, points: Bools) -> list[float]:
        """The mean of a label over networks, with those cells corrected that cheap models answered."""
        least, most, _ = self._values(column)
        share = column.removesuffix("_gain") in self.sweep["goals"]
        answers, cheap = (each.cube(column)[:, :, k] for each in (self, screened))
        ends: list[float] = np.clip(
            screened.mean(answers, cheap, points, self.blocks, share=share), least, most
        ).tolist()
        return ends

    def _over_grid(self, column: str, k: int, group: Ints, found: Estimates) -> None:
        mean, low, high = (self.cube(column + end)[0, :, k] for end in ("", "_low", "_high"))
        there = (group >= 0) & ~np.isnan(mean)
        if self.screened is not None:  # no interval of a cheap model says how far off it is
            low, high = (np.where(self.screened.clear[0], np.nan, each) for each in (low, high))
        at, groups = group[there], len(found.mean)
        found.cells[:, k] = count = np.bincount(at, minlength=groups)
        for place, values in (found.mean, mean), (found.low, low), (found.high, high):
            total = np.bincount(at, values[there], groups)
            place[:, k] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        alone = count[at] == 1
        found.key[at[alone], k] = self.keys[0, there, k][alone]
        if self.screened is not None:
            for g in np.flatnonzero(count > 1).tolist():
                self._correct_over_grid(self.screened, column, k, g, group == g, found)

    def _correct_over_grid(
        self, screened: Screened, column: str, k: int, g: int, points: Bools, found: Estimates
    ) -> None:
        """An average over points of which cheap models answered some: corrected, and beside the average of
        the others' intervals two standard errors of the correction."""
        clear, both = (each[0, points][:, None] for each in (screened.clear, screened.both))
        y, x = (each[0, points, k][:, None] for each in (self.cube(column), screened.cube(column)))
        got = regression.values(np.where(clear, np.nan, y), x, clear, both)
        if got is None:
            return
        low, high = (self.cube(column + end)[0, points, k] for end in ("_low", "_high"))
        known = ~clear[:, 0]
        half = np.nan_to_num(high - low)[known].sum() / 2 / len(y) + 2 * np.sqrt(
            (got.influence**2).sum()
        ) / len(y)
        least, most, _ = self._values(column)
        mean = got.mean.mean()
        ends = np.clip([mean, mean - half, mean + half], least, most)
        found.mean[g, k], found.low[g, k], found.high[g, k] = ends

    def _axis(self, axis: Mapping[str, Any]) -> Axis:
        name, unit = axis["name"], axis["unit"]
        written = (self.manifest.get("definition") or {}).get("axes", {})
        field = written[name].get("field") if isinstance(written, dict) and name in written else None
        if not unit and axis["numeric"] and self.base is not None:
            unit = scales.field_unit(self.base, field if isinstance(field, str) else name)
        texts = [str(value) for value in axis["values"]]
        if axis["numeric"]:
            short = [scales.say(value, unit, 4) for value in axis["values"]]
            texts = short if len(set(short)) == len(short) else [f"{text} {unit}".rstrip() for text in texts]
        title = scales.name_of(name)
        return Axis(name, title, unit, axis["log"], axis["numeric"], tuple(axis["values"]), tuple(texts))


def average(values: Floats) -> Floats:
    """Means over the second axis, that of points, of those that are not NaN; NaN without any."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    total = np.where(there, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
