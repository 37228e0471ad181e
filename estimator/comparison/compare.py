"""Compare results that are read or simulated. Values with common random numbers are paired.

All differences of a comparison are tested together, with a bounded false discovery rate.
"""

import json
import os
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.comparison import estimated, planned, reproduced, stores
from netcarlo.comparison.differences import (
    Differences,
    Estimates,
    Judged,
    bracketed,
    independent,
    judge,
    paired,
    student,
)  # fmt: skip
from netcarlo.comparison.leading import leading, ordered
from netcarlo.comparison.side import Side
from netcarlo.comparison.winner import Winner, decide
from netcarlo.errors import InputError, prefixed
from netcarlo.estimation import verdicts
from netcarlo.estimation.estimate import Estimate
from netcarlo.estimation.replications import Replications
from netcarlo.networks.outcome import Outcome
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.planning.designs import Frontier
from netcarlo.planning.run import Answer
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema import document as files
from netcarlo.schema import fields, kinds
from netcarlo.schema.arguments import checked
from netcarlo.schema.names import option_text
from netcarlo.schema.output import captioned
from netcarlo.simulation import validated
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import Outcomes
from netcarlo.simulation.progress import Progress, reporter
from netcarlo.simulation.provenance import provenance
from netcarlo.simulation.simulate import simulate_all
from netcarlo.simulation.targets import resolve_target
from netcarlo.sweeps.store.store import Store

Result = ScenarioLike | Estimate | Answer | Frontier | Store
"""Object that can be compared: a scenario, which is simulated; a result; or the path of a store, of the
folder or `result.json` of a plan, of the output of `netcarlo estimate --json`, or of the folder of a
reproduced study."""

COLUMNS = [
    "n", "paired", "baseline", "other", "difference", "ci_low", "ci_high", "relative", "low", "high",
    "verdict", "baseline_low", "baseline_high", "other_low", "other_high",
]  # fmt: skip


PAIR = ("against", "side")
"""Levels of the index of a comparison of more than two sides: the baseline, and the side compared with it."""


class PairDifferences(NamedTuple):
    """Differences of one quantity between two sides."""

    first: Side
    """Baseline."""
    side: Side
    """Side that is compared with the baseline."""
    name: str
    """Name of the quantity."""
    at: "pd.Index[Any]"
    """Cells that both sides have."""
    found: Differences
    """Differences in these cells."""
    paired: bool
    """True if the values are paired."""
    ends: tuple[Floats, Floats, Floats, Floats]
    """Lower and upper ends of the 95 % intervals of the baseline, and of the side."""


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`: differences of each pair of sides, the later side minus the earlier one, its
    baseline."""

    sides: tuple[Side, ...]
    """Sides that are compared."""
    table: pd.DataFrame
    """Differences, a row for each quantity of a cell.

    The columns: n (number of pairs; if sides are not `paired`, the smaller number of values), baseline,
    other, difference with its own 95 % interval ci_low to ci_high, relative (difference over baseline), the
    interval low to high that is adjusted for the number of tests, and the verdict: `differs`, `noise`,
    `equal` to the bit, or `unknown` (too few values). The columns baseline_low, baseline_high, other_low and
    other_high are the 95 % intervals of the sides alone (of plans: their bands). The index: with more than
    two sides the pair, `against` (the baseline) and `side`; the axes; the outcome.
    """
    changes: pd.DataFrame
    """Fields of the setting that are not the same on all sides, a row each; a column for each side."""
    notes: tuple[str, ...]
    """Sentences about cells and quantities that could not be compared."""
    tested: int
    """Number of differences that were tested: those with an interval that are not equal to the bit."""
    confidence: float
    """Confidence of the intervals from low to high."""
    broken: int
    """Number of cells that could be simulated on some sides but not on all."""
    leading: tuple[str, ...] = ()
    """Quantities at the top: those of the argument `of`, else those that the files request, else those of
    which more or less is better."""
    winner: Winner | None = None
    """Answer which side is best; None unless it was asked with `until_decided`."""

    @property
    def decided(self) -> bool:
        """False if it was asked which side is best, and this is open."""
        return self.winner is None or self.winner.side is not None

    @property
    def outside(self) -> list[str]:
        """Sentences about sides outside the validated range, one for all that leave it in the same way."""
        lines: dict[str, list[str]] = {}
        for side in self.sides:
            if side.outside:
                lines.setdefault(side.outside, []).append(side.label)
        return [f"{', '.join(labels)}: {text}" for text, labels in lines.items()]

    @property
    def baseline(self) -> Outcomes | None:
        """Replications of the first side, if it is a scenario."""
        return self.sides[0].outcomes

    @property
    def other(self) -> Outcomes | None:
        """Replications of the second side, if it is a scenario."""
        return self.sides[1].outcomes

    @property
    def differing(self) -> pd.DataFrame:
        """Rows of `table` with a significant difference."""
        return self.table[self.table["verdict"] == "differs"]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Labels of each pair that has rows: the baseline, and the side compared with it."""
        labels = [side.label for side in self.sides]
        if len(labels) == 2:
            return [(labels[0], labels[1])]
        found = set(zip(*(self.table.index.get_level_values(name) for name in PAIR), strict=True))
        return [pair for pair in combinations(labels, 2) if pair in found]

    def of_pair(self, pair: tuple[str, str]) -> pd.DataFrame:
        """Return the rows of one of `pairs`, in the order in which they are shown.  Raises InputError."""
        try:
            known = tuple(pair) in self.pairs
        except TypeError:
            known = False
        if not known:
            shown, allowed = reprlib.repr(pair), " or ".join(map(repr, self.pairs))
            raise InputError(f"pair = {shown} is not a pair of this comparison; expected {allowed}")
        table = self.ordered
        if len(self.sides) == 2:
            return table
        against, side = (table.index.get_level_values(name) for name in PAIR)
        return table[(against == pair[0]) & (side == pair[1])]

    @property
    def ordered(self) -> pd.DataFrame:
        """Rows of `table` in the order in which they are shown: leading quantities that differ first."""
        return ordered(self.table, self.sides, self.leading)

    @property
    def single(self) -> bool:
        """True if the sides have one cell each."""
        return not self.sides[0].axes

    @property
    def same(self) -> bool:
        """True if there is no significant difference, and no cell that only some sides could simulate."""
        return not len(self.differing) and not self.broken

    def to_frame(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    def __repr__(self) -> str:
        """Return the number of significant differences in one line; for single cells also the goodput."""
        counts = f"{len(self.differing)} of {len(self.table)} differ"
        if len(self.sides) > 2 or "goodput_bps" not in self.table.index:
            return f"Comparison of {len(self.sides)} sides: {counts}"
        found = self.table.loc["goodput_bps"]
        interval = f"{found['difference']:.4g} [{found['ci_low']:.4g}, {found['ci_high']:.4g}]"
        pairs = f"{found['n']} pairs" if found["paired"] else f"{len(self.sides)} sides"
        return f"Comparison of {pairs}: goodput_bps {interval}, {counts}"

    def _repr_html_(self) -> str:
        """Return each difference with its interval as a table for notebooks."""
        shown = self.table[["n", "baseline", "other", "difference", "ci_low", "ci_high", "verdict"]]
        return captioned(shown, repr(self))


@checked
def compare(
    baseline: Result,
    *others: Result,
    of: str | Sequence[str] | None = None,
    values: Mapping[str, Any] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    until_decided: bool = False,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Comparison:
    """Compare results of one kind: differences of their settings and outcomes, and which are significant.

    Every pair of results is compared. The outcomes `of` come first; by default those that the files request,
    else those of which more or less is better. `values` are fields to set in the scenarios, by their dotted
    names; a name such as `B:transport.protocol` sets the field of one side, given by its name, the stem of
    its file, or its letter.

    Scenarios are simulated with common random numbers: the k-th packet on a hop has the same random numbers
    in all. Seed and number of replications are those of the first scenario unless given; a precision is
    ignored. With `until_decided`, replications are added until it is known with 95 % confidence which
    scenario has the best mean of the first outcome of `of` (default: goodput_bps), or there are
    `replications` (default: 4,000); the other verdicts are then those of a fixed number of replications.
    `target`, `threads`, `progress` and `large` are as in `estimate`. Other results are read. Values of
    sides with common random numbers are paired if the single values are stored; otherwise the sides count
    as independent. Raises InputError if the kinds differ, or if two sides have no cell and quantity in
    common.
    """
    asked = [baseline, *others]
    if len(asked) < 2:
        raise InputError("compare needs at least two results; name another one")
    read = [_read(each) for each in asked]
    names = [_name(each, found) for each, found in zip(asked, read, strict=True)]
    paths = [_path(each, name) for each, name in zip(asked, names, strict=True)]
    stems = [
        Path(path).stem if isinstance(each, str | os.PathLike) else path
        for each, path in zip(asked, paths, strict=True)
    ]
    read = _with_values(read, names, stems, values or {})
    scenarios = [each for each in read if isinstance(each, Scenario)]
    if until_decided and len(scenarios) < len(read):
        raise InputError("until_decided adds replications, and a result is read from a file; name scenarios")
    if not scenarios and (replications is not None or seed is not None):
        raise InputError(
            "replications and seed apply to scenarios, and all results here are read from files; remove them"
        )
    names_of = [of] if isinstance(of, str) else of
    winner = None
    if until_decided:
        winner, simulated = _decided(
            scenarios, (names_of or ["goodput_bps"])[0], replications, seed, target, threads, progress, large
        )
    else:
        simulated = _simulated(scenarios, replications, seed, target, threads, progress, large)
    made = iter(simulated)
    labels = _labels(names, stems, paths, read)
    sides = [
        next(made)(label) if isinstance(each, Scenario) else _side(label, each)
        for label, each in zip(labels, read, strict=True)
    ]
    return replace(compared(sides, of=names_of), winner=winner)


def _read(asked: Result) -> Any:
    """Return a scenario or a result; read it if a path is given. Raises InputError."""
    if isinstance(asked, Scenario | Estimate | Answer | Frontier | Store):
        return asked
    if isinstance(asked, Mapping):
        return scenario_of(asked)
    if "://" in str(asked):
        return Store.open(str(asked))
    path, kind = Path(asked), kinds.kind_of(asked)
    if kind == kinds.STORE:
        return Store.open(path)
    if kind == kinds.PLANNED:
        return _json(path / "result.json")
    if kind in (kinds.RECORD, kinds.JSON):
        return _json(path)
    if kind == kinds.REPRODUCED:
        return path
    if kind in (kinds.SCENARIO, "") and not path.is_dir():
        return scenario_of(path)
    what = f"this is {kind}" if kind else "contains no results"
    remedy = f"; first {kinds.REMEDIES[kind].format(path)}" if kind in (kinds.SWEEP, kinds.PLAN) else ""
    if kind in kinds.OF_PROGRAMS:
        raise InputError(f"{path}: {what}; {kinds.REMEDIES[kind].format(path)}")
    raise InputError(f"{path}: {what}; compare takes scenarios, stores and results{remedy}")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(files.read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}); name a result of estimate --json or plan") from None
    if not isinstance(data, dict) or not kinds.RESULTS & data.keys():
        known = "netcarlo estimate --json or netcarlo plan, and not a measured run of iperf3 or flent"
        raise InputError(f"{path}: is not a result of {known}; name one")
    return data


def _side(label: str, found: Any) -> Side:
    if isinstance(found, Store):
        return stores.of_store(label, found)
    if isinstance(found, Estimate):
        return estimated.of_estimate(label, found)
    if isinstance(found, Answer | Frontier):
        return planned.of_record(label, found.record())
    if isinstance(found, Path):
        return reproduced.of_folder(label, found)
    if "outcomes" in found:
        return estimated.of_record(label, found)
    return planned.of_record(label, found)


def _simulated(
    scenarios: list[Scenario], replications: int | None, seed: int | None, target: str,
    threads: int | None, progress: Progress | None, large: bool,
) -> list[Any]:  # fmt: skip
    """Simulate scenarios. Return for each a function that makes its side from a label."""
    if not scenarios:
        return []
    first = scenarios[0]
    n, seed = replications or first.replications, first.seed if seed is None else seed
    same = [scenario_of(each, values={"replications": n, "seed": seed}) for each in scenarios]
    target = resolve_target(target, [(each, n) for each in same], threads=threads)
    found = simulate_all(
        [Job(each, 0, n) for each in same], target=target, threads=threads, progress=progress, large=large
    )
    return _makers(same, found, target)


def _decided(
    scenarios: list[Scenario], of: str, replications: int | None, seed: int | None, target: str,
    threads: int | None, progress: Progress | None, large: bool,
) -> tuple[Winner, list[Any]]:  # fmt: skip
    """Simulate scenarios until it is decided which is best. Return the answer, and the same as
    `_simulated`."""
    most, seed = replications or verdicts.MAX_REPLICATIONS, scenarios[0].seed if seed is None else seed
    given = [scenario_of(each, values={"seed": seed}) for each in scenarios]
    target = resolve_target(target, [(each, most) for each in given], threads=threads)
    runs = [Replications(each, target=target, threads=threads, large=large) for each in given]
    winner = decide(runs, of, most=most, progress=reporter(progress))
    same = [each.model_copy(update={"replications": winner.replications}) for each in given]
    return winner, _makers(same, [one.outcomes() for one in runs], target)


def _makers(same: Sequence[Scenario], found: Sequence[Outcomes], target: str) -> list[Any]:
    """Return for each simulated scenario a function that makes its side from a label."""
    records = [provenance(each, target=target, replications=each.replications) for each in same]
    return [
        lambda label, o=outcomes, r=record, s=one: estimated.of_outcomes(label, o, r, validated.sentence(s))
        for outcomes, record, one in zip(found, records, same, strict=True)
    ]


def _name(asked: Result, found: Any) -> str:
    """Return the name of a side: the name of a scenario, or that of the folder or file of results."""
    if isinstance(found, Scenario):
        return found.name
    if isinstance(asked, str | os.PathLike):
        return _path(asked, "").rpartition("/")[2]
    if isinstance(asked, Store):
        return asked.url.rstrip("/").rpartition("/")[2]
    if isinstance(asked, Estimate):
        return asked.scenario.name
    return str(found.plan.name)


def _path(asked: Result, name: str) -> str:
    """Return the path of a side, or its name if it has no path."""
    if isinstance(asked, str | os.PathLike):
        return os.fspath(asked).rstrip("/")
    return asked.url if isinstance(asked, Store) else name


def _labels(
    names: Sequence[str], stems: Sequence[str], paths: Sequence[str], read: Sequence[Any]
) -> list[str]:  # fmt: skip
    """Return a label for each side: its name; if two names are the same also its file, or a letter.

    Sides from one file that differ in a single field, whose value is a word, have this word as their label.
    """
    if len(set(names)) == len(names):
        return list(names)
    for found in (stems, paths):
        if len(set(found)) == len(found):
            return [
                name if names.count(name) == 1 or name == more else f"{name} ({more})"
                for name, more in zip(names, found, strict=True)
            ]
    return _words(read) or [f"{name} ({_letter(i)})" for i, name in enumerate(names)]


def _words(read: Sequence[Any]) -> list[str]:
    """Return the values of the only field in which scenarios differ; empty unless they are words."""
    if not all(isinstance(each, Scenario) for each in read):
        return []
    settings = [dict(fields.texts(each)) for each in read]
    names = {name for name in set().union(*settings) if len({found.get(name) for found in settings}) > 1}
    if len(names) != 1 or not all(names < found.keys() for found in settings):
        return []
    values = [fields.value(each, *names) for each in read]
    words = [value for value in values if isinstance(value, str) and len(value) <= MAX_WORD]
    return words if len(set(words)) == len(read) else []


MAX_WORD = 20
"""Maximum length of a value that is the label of a side [characters]."""


def _letter(i: int) -> str:
    return chr(ord("A") + i % 26)


def _with_values(
    read: list[Any], names: Sequence[str], stems: Sequence[str], values: Mapping[str, Any]
) -> list[Any]:
    """Return the sides with fields set in the scenarios among them. Raises InputError."""
    mine: list[dict[str, Any]] = [{} for _ in read]
    for key, value in values.items():
        side, colon, field = key.rpartition(":")
        for i in _side_index(side, names, stems) if colon else range(len(read)):
            if not isinstance(read[i], Scenario):
                raise InputError(
                    f"--set {key}: {names[i]} is a result, not a scenario; set fields of scenarios only"
                )
            mine[i][field if colon else key] = value
    return [
        _with_fields(each, found, values) if found else each for each, found in zip(read, mine, strict=True)
    ]


def _with_fields(scenario: Scenario, mine: Mapping[str, Any], values: Mapping[str, Any]) -> Scenario:
    """Return a scenario with fields set. Raises InputError that names the options that set them."""
    try:
        return scenario_of(scenario, values=mine)
    except InputError as error:
        keys = [key for key in values if {key, key.rpartition(":")[2]} & mine.keys()]
        options = " ".join(option_text(key, values[key]) for key in keys)
        raise prefixed(error, f"{options}: ") from None


def _side_index(side: str, names: Sequence[str], stems: Sequence[str]) -> list[int]:
    """Return the index of the side that is meant by its name, the stem of its file, or its letter."""
    letters = [_letter(i) for i in range(len(names))]
    for known in (names, stems, letters):
        if (count := list(known).count(side)) == 1:
            return [list(known).index(side)]
        if count > 1:
            found = ", ".join(letter for letter, one in zip(letters, known, strict=True) if one == side)
            raise InputError(f"--set {side}:...: several sides have the name {side}; write one of {found}")
    sides = ", ".join(f"{letter} ({name})" for letter, name in zip(letters, names, strict=True))
    raise InputError(f"--set {side}:...: no side has the name '{side}'; the sides are {sides}")


def compared(sides: Sequence[Side], *, of: Sequence[str] | None = None) -> Comparison:
    """Compare every pair of sides, and test all differences together.

    Raises InputError if no two sides have a cell and a quantity in common.
    """
    notes: list[str] = []
    parts: list[PairDifferences] = []
    for first, side in combinations(sides, 2):
        _check(first, side)
        for name in (name for name in first.quantities if name in side.quantities):
            a, b = first.estimates[name], side.estimates[name]
            at = a.index[a.index.isin(b.index)]
            if len(at):
                quantity = first.quantities[name]
                found, pairs = _differences(quantity, name, at, first, side)
                low, high = _interval(quantity, name, at, first, side if pairs else None)
                ends = low, high, *_interval(quantity, name, at, side, first if pairs else None)
                parts.append(PairDifferences(first, side, name, at, found, pairs, ends))
        notes += _missing(first, side)
    if not parts:
        raise InputError(
            "the results have no cell and outcome in common; compare results with common outcomes"
        )
    lead = leading(sides, of)
    judged = judge([part.found for part in parts])
    failed = [side.failed for side in sides]
    broken = len(frozenset.union(*failed) - frozenset.intersection(*failed))
    if broken:
        some = "one side" if len(sides) == 2 else "some sides"
        notes.append(f"{broken} cells could be simulated on {some} only")
    return Comparison(
        tuple(sides), _table(parts, judged, several=len(sides) > 2), _changes(sides),
        tuple(dict.fromkeys(notes)), judged.tested, judged.confidence, broken, lead,
    )  # fmt: skip


def _check(first: Side, side: Side) -> None:
    """Raise InputError if two sides have different kinds or axes."""
    if first.kind != side.kind:
        raise InputError(
            f"{first.label} is a result of kind {first.kind}, {side.label} of kind {side.kind}; "
            "compare results of one kind"
        )
    if set(first.axes) != set(side.axes):
        odd = sorted(set(first.axes) ^ set(side.axes))
        raise InputError(
            f"{first.label} and {side.label} do not both have the axis {odd[0]}; sweep both over it"
        )
    if list(first.axes) != list(side.axes):
        raise InputError(
            f"{first.label} and {side.label} have their axes in different orders; use the same order"
        )


def _differences(
    outcome: Outcome, name: str, at: "pd.Index[Any]", first: Side, side: Side
) -> tuple[Differences, bool]:
    """Return the differences of one quantity in these cells, and True if they are paired."""
    a, b = first.estimates[name].loc[at], side.estimates[name].loc[at]
    n = np.minimum(a["n"].to_numpy(), b["n"].to_numpy())
    if "low" in a:
        bands = [(each["low"].to_numpy(), each["high"].to_numpy()) for each in (a, b)]
        return bracketed(n, (a["mean"].to_numpy(), b["mean"].to_numpy()), *bands), False
    common = first.stream == side.stream and first.stream != ""
    if common and name in first.samples and name in side.samples:
        x, y = first.samples[name].loc[at], side.samples[name].loc[at]
        both = x.columns.intersection(y.columns)
        found = paired(outcome, x[both].to_numpy(), y[both].to_numpy())
        if first.blocks is None:
            return found, True
        moved = stores.from_networks(y[both] - x[both], first.blocks[both])
        interval = student(*(moved[column].to_numpy() for column in ("mean", "error", "df")))
        low, high = interval(1 - 0.95)
        return found._replace(ci_low=low, ci_high=high, interval=interval), True
    columns = ("n", "mean", "error", "df")
    means = (Estimates(*(each[column].to_numpy() for column in columns)) for each in (a, b))
    return independent(outcome, *means, common=common), False


def _interval(
    outcome: Outcome, name: str, at: "pd.Index[Any]", side: Side, partner: Side | None
) -> tuple[Floats, Floats]:
    """Return the 95 % interval of the mean of a side in these cells; of a plan its band.

    With a `partner`, the values are paired, and those without a partner are left out.
    """
    known = side.estimates[name].loc[at]
    if "low" in known:
        return known["low"].to_numpy(), known["high"].to_numpy()
    if partner is not None and side.blocks is None:
        values, others = side.samples[name].loc[at], partner.samples[name].loc[at]
        both = values.columns.intersection(others.columns)
        found = outcome.means(values[both].where(others[both].notna()).to_numpy())
        return found.ci_low, found.ci_high
    n, mean, error, df = (known[column].to_numpy() for column in ("n", "mean", "error", "df"))
    if outcome.values.yes_no:
        return statistics.wilson(mean, n)
    low, high = student(mean, error, df)(1 - 0.95)
    return np.maximum(low, outcome.values.least), np.minimum(high, outcome.values.most)


def _missing(first: Side, side: Side) -> list[str]:
    """Return sentences about quantities and cells that only one of two sides has."""
    notes = []
    for one, two in ((first, side), (side, first)):
        names = [name for name in one.quantities if name not in two.quantities]
        if names:
            notes.append(f"{', '.join(names)}: not in {two.label}")
        here, there = ({cell for t in s.estimates.values() for cell in t.index} for s in (one, two))
        if left := len(here - there):
            notes.append(f"{left} cells of {one.label} are not in {two.label}")
    return notes


def _table(parts: Sequence[PairDifferences], judged: Judged, *, several: bool) -> pd.DataFrame:
    frames = []
    for part in parts:
        found = part.found
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = np.where(found.baseline != 0, found.difference / found.baseline, np.nan)
        axes = list(part.side.axes)
        rows = pd.DataFrame(list(part.at), columns=axes) if axes else pd.DataFrame(index=range(1))
        frames.append(
            rows.assign(
                **{"\0against": part.first.label, "\0side": part.side.label, "\0outcome": part.name},
                n=found.n, paired=part.paired, baseline=found.baseline, other=found.other,
                difference=found.difference, ci_low=found.ci_low, ci_high=found.ci_high, relative=relative,
                **dict(zip(COLUMNS[-4:], part.ends, strict=True)),
            )
        )  # fmt: skip
    table = pd.concat(frames, ignore_index=True)
    table = table.assign(low=judged.low, high=judged.high, verdict=judged.verdict)
    axes = list(parts[0].first.axes)
    index = [*(f"\0{name}" for name in PAIR if several), *axes, "\0outcome"]
    table = table[table["n"] > 0].astype({"n": np.int64}).set_index(index)[COLUMNS]
    return table.rename_axis([name.lstrip("\0") for name in index])


def _changes(sides: Sequence[Side]) -> pd.DataFrame:
    names = dict.fromkeys(name for side in sides for name in side.setting)
    rows = {name: [side.setting.get(name, "") for side in sides] for name in names}
    differing = {name: row for name, row in rows.items() if len(set(row)) > 1}
    found = pd.DataFrame.from_dict(differing, orient="index", columns=[side.label for side in sides])
    return found.rename_axis("field")
