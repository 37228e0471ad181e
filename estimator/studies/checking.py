"""Check of a study without simulation: all faults at once, each with its file and line.

Claims are evaluated with random numbers in place of simulated ones, so that they are checked by the code that
judges them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError, prefixed, suggest
from netcarlo.networks.outcome import dimension
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.schema.document import Location
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import MEANING
from netcarlo.studies import code, judgement, quantities
from netcarlo.studies.cells import Cell, Cells, Derived, Samples, planned
from netcarlo.studies.code import Code
from netcarlo.studies.measures import metrics_of, scope_of, summaries_of
from netcarlo.studies.selection import matches
from netcarlo.studies.study import Study


class _Rehearsed(Cells):
    """Cells with random numbers in place of simulated ones, which note what is read."""

    used: set[tuple[str, int]]
    """Metrics and identities of cells that were read."""

    def samples(self, metric: str, cell: Cell) -> Samples:
        """Return random values of a metric."""
        if isinstance(self._metrics[metric], Derived):
            return super().samples(metric, cell)
        self.used.add((metric, id(cell)))
        seed = [len(self._samples), len(metric)]
        return self._samples.setdefault(
            (metric, id(cell)), 1 + np.random.default_rng(seed).random(len(cell.outcomes))
        )

    def varied(self, variation: str) -> "_Rehearsed":
        """Return the cells of a variation."""
        found = _Rehearsed(self.study, self._every, self._metrics, variation)
        found.used = self.used
        return found


class _Faults:
    """Faults of a study with file and line."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.lines: list[str] = []

    def add(self, at: Location, *problems: str) -> None:
        """Add faults of a place in `study.yaml`."""
        self.lines += (f"{self.study.document.where(at)}: {problem}" for problem in problems)

    def name(self, at: Location, name: str, known: Collection[str], what: str) -> None:
        """Add a fault unless a name is known."""
        if name not in known:
            self.add(at, f"{'.'.join(map(str, at))}: '{name}' is not {what}; {suggest(name, known)}")


def check_study(study: Study) -> None:
    """Raise InputError with all faults of a study."""
    faults = _Faults(study)
    try:
        own, runs = code.load(study), True
    except InputError as error:
        faults.lines += error.lines
        own, runs = Code(), False
    coded = (study.folder / code.FILE).exists() or bool(study.package)
    _check_expressions(study, own, faults, coded=coded)
    faults.lines += study.readable[1]
    _check_published(study, faults, coded=coded)
    _check_layout(study, faults)
    if not coded or runs:
        _check_cells(study, own, faults)
    if faults.lines:
        raise InputError(*faults.lines)


def _check_expressions(study: Study, own: Code, faults: _Faults, *, coded: bool) -> None:
    """Check the metrics: their names, units and outcomes."""
    description = study.description
    known = {*description.metrics, *own.metrics}
    for name, measure in description.metrics.items():
        at: Location = ("metrics", name)
        if isinstance(measure, str):
            if not coded:
                faults.add(
                    at, f"metrics.{name} has no expression; write metrics: {{{name}: {{value: goodput_bps}}}}"
                )
            continue
        if meant := units.meant(measure.unit):
            faults.add((*at, "unit"), f"metrics.{name}.unit: '{measure.unit}' is unknown; write '{meant}'")
        if name == "published" or not name.isidentifier():
            faults.add(at, f"metrics.{name}: is not a name for a metric; write letters, digits and _")
        if quantities.is_derived(name, study, frozenset(own.metrics)):
            continue
        try:
            quantities.check_syntax(measure.value)
        except InputError as error:
            faults.add((*at, "value"), *prefixed(error, f"metrics.{name}.value: ").lines)
            continue
        words = quantities.outcomes_in(name, study, frozenset(own.metrics))
        for word in words:
            if word in study.description.conditions:
                faults.add(
                    (*at, "value"),
                    f"metrics.{name}.value: '{word}' is a condition, whose value an expression cannot use; "
                    f"write metric[{word}=VALUE] for the metric in another cell",
                )
            elif word not in MEANING:
                faults.add(
                    (*at, "value"),
                    f"metrics.{name}.value: '{word}' is neither an outcome nor a metric; "
                    f"{suggest(word, {*(known - {name}), *MEANING})}"[:400],
                )
        if measure.value.strip() in MEANING and measure.unit:
            of = dimension(measure.value.strip())
            if units.factor(measure.unit, of) is None:
                faults.add(
                    (*at, "unit"),
                    f"metrics.{name}.unit: '{measure.unit}' is not a unit of {of.name}; write one such as "
                    f"'{of.example.partition(' ')[2]}'",
                )


def _check_published(study: Study, faults: _Faults, *, coded: bool) -> None:
    """Check the metrics and units of published numbers."""
    description, path = study.description, study.folder / "published.csv"
    for line, number in study.readable[0]:
        measure = description.measures.get(number.metric)
        if number.metric not in description.metrics and not coded and number.kind not in ("claim", "input"):
            remedy = suggest(number.metric, description.metrics)
            faults.lines.append(f"{path}:{line}: '{number.metric}' is not in metrics of study.yaml; {remedy}")
        if measure is not None and number.unit != measure.unit:
            faults.lines.append(
                f"{path}:{line}: unit '{number.unit}' differs from that of metrics.{number.metric} "
                f"('{measure.unit}'); write both in one unit"
            )


def _check_layout(study: Study, faults: _Faults) -> None:
    """Check the names in tables, figures, requirements and explanations."""
    d = study.description
    numbers = [number for _, number in study.readable[0]]
    places = {name for number in numbers for name in number.place}
    added = {*d.added()}
    rows = {*d.conditions, *places, "metric", "section"}
    metrics = {*d.metrics, *(number.metric for number in numbers)}

    def where(at: Location, given: Mapping[str, Any], known: Collection[str]) -> None:
        for name in given:
            faults.name((*at, name), name, known, "a condition")

    for name in re.findall(r"\{(\w*)", d.cell_name):
        faults.name(("cell_name",), name, d.conditions, "a condition")
    for k, table in enumerate(d.tables):
        at: Location = ("tables", k)
        for name in table.metrics:
            faults.name((*at, "metrics"), name, metrics, "a metric")
        for name in [*table.rows, *table.columns]:
            faults.name((*at, "rows"), name, d.conditions, "a condition")
        inside = [n for n in numbers if n.place.get("table") == table.table and n.metric in table.metrics]
        if not inside and table.cells is None:
            faults.add(at, f"tables.{k}: no published number has '{table.table}' in the column table; add it")
        lacking = {name for n in inside for name in (*table.rows, *table.columns) if name not in n.conditions}
        for name in sorted(lacking & {*d.conditions}):
            faults.add(at, f"tables.{k}: a published number of the table has no {name}; fill its column")
    for k, figure in enumerate(d.figures):
        at = ("figures", k)
        known = {*d.conditions, *(d.variations[figure.variation].added(figure.variation)
                                  if figure.variation in d.variations else ())}  # fmt: skip
        if figure.variation:
            faults.name((*at, "variation"), figure.variation, d.variations, "a variation")
        for name in [figure.metric] if isinstance(figure.metric, str) else figure.metric:
            faults.name((*at, "metric"), name, d.metrics, "a metric")
        for name in [figure.x, *figure.series]:
            faults.name((*at, "x"), name, known, "a condition")
        where((*at, "where"), figure.where, known)
    for k, trace in enumerate(d.traces):
        where(("traces", k, "cell"), trace.cell, d.conditions)
    for k, spread in enumerate(d.spreads):
        faults.name(("spreads", k, "metric"), spread.metric, d.metrics, "a metric")
        where(("spreads", k, "where"), spread.where, d.conditions)
    for k, demand in enumerate(d.tolerance):
        if demand.metric:
            faults.name(("tolerance", k, "metric"), demand.metric, metrics, "a metric")
        for given in (demand.where, *demand.unless):
            where(("tolerance", k), given, rows | added)
    for k, explanation in enumerate(d.explanations):
        where(("explanations", k, "where"), explanation.where, rows)
    for k, chosen in enumerate(d.cells):
        where(("cells", k), chosen, d.conditions)
        for name in d.conditions:
            if name not in chosen:
                faults.add(("cells", k), f"cells.{k} has no {name}; give a value for each condition")
    for name, selected in d.selections.items():
        where(("selections", name), selected, {*d.conditions, *added})
    for name, variation in d.variations.items():
        where(("variations", name, "where"), variation.where, d.conditions)


def _check_cells(study: Study, own: Code, faults: _Faults) -> None:
    """Check the scenario of every cell, the outcomes that are read, and the claims."""
    cells = []
    problems: dict[str, str] = {}
    for variation, conditions, make, count in planned(study, study.description.seed):
        scenario: Any = None
        try:
            scenario = make()
        except InputError as error:
            for line in error.lines:
                problems.setdefault(line, quantities.shown({**conditions}))
        except (KeyError, IndexError, ValueError) as error:
            problems.setdefault(
                f"{study.document.where(('scenario',))}: scenario: {error} is not a condition; known: "
                f"{', '.join(study.description.conditions)}", ""
            )  # fmt: skip
        n = min(study.description.replications, count or study.description.replications)
        cells.append(Cell(conditions, scenario, np.zeros((n, 0), np.int64), variation, pd.DataFrame()))
    faults.lines += (f"{line} (cell {at})" if at else line for line, at in problems.items())
    if not cells and not study.readable[1]:
        faults.lines.append(
            f"{study.folder / 'published.csv'}: no row has a value for every condition, so nothing would be "
            "simulated; fill the columns, or add cells: to study.yaml"
        )
    if not cells:
        return
    _check_traces(study, cells, faults)
    metrics = metrics_of(study, own)
    rehearsed = _Rehearsed(study, cells, metrics)
    rehearsed.used = set()
    _rehearse(study, own, rehearsed, faults)
    _check_outcomes(study, own, cells, rehearsed.used, faults)
    for k, part in enumerate(study.description.setting):
        try:
            study.fill(part.value)
        except (KeyError, IndexError, TypeError, InputError):
            faults.add(
                ("setting", k, "value"),
                f"setting.{k}.value: '{part.value}' names a field that no scenario has",
            )


def _without_rate(scenario: Scenario | None) -> bool:
    """Return True if no figure can show the goodput over time; False if the scenario has faults (None)."""
    return scenario is not None and not scenario.network.goodput_over_time


def _check_traces(study: Study, cells: list[Cell], faults: _Faults) -> None:
    """Check that figures over time have the cells that they need."""
    for k, trace in enumerate(study.description.traces):
        found = [cell for cell in cells if not cell.variation and matches(cell.conditions, {**trace.cell})]
        name = f"traces.{k}.cell"
        if trace.show == "rate" and any(_without_rate(cell.scenario) for cell in found):
            faults.add(
                ("traces", k), f"traces.{k}.show: rate is for 802.11 networks; write window or packets"
            )
        elif not found or (trace.show != "rate" and len(found) > 1):
            at = quantities.shown({**trace.cell})
            faults.add(
                ("traces", k, "cell"), f"{name}: {len(found)} cells have {at}; give the conditions of one"
            )


def _rehearse(study: Study, own: Code, cells: _Rehearsed, faults: _Faults) -> None:
    """Evaluate the metrics of published numbers, of figures and of claims with random numbers."""
    d = study.description
    path = study.folder / "published.csv"
    summaries = summaries_of(study, Code(own.metrics))(cells)
    by_conditions = {tuple(cell.conditions.items()): cell for cell in cells.all}
    for line, number in study.readable[0]:
        cell = by_conditions.get(tuple(number.conditions.items()))
        try:
            if callable(of := summaries.get(number.metric)):
                of(number.conditions)
            elif cell is not None and cells.has(number.metric):
                cells.samples(number.metric, cell)
            elif cells.has(number.metric) and number.kind == "printed":
                lacking = sorted({*d.conditions} - {*number.conditions})
                raise InputError(f"has no {' and no '.join(lacking)}; fill these columns")
        except InputError as error:
            faults.lines += prefixed(error, f"{path}:{line}: ").lines
    for figure in d.figures:
        every = cells.varied(figure.variation) if figure.variation else cells
        for metric in [figure.metric] if isinstance(figure.metric, str) else figure.metric:
            for cell in every.all:
                if matches(cell.conditions, figure.where) and cells.has(metric):
                    every.samples(metric, cell)
    ours, theirs = scope_of(study, own, cells), scope_of(study, own, None)
    try:
        judgement.filled(d.answer, ours)
    except InputError as error:
        faults.add(("answer",), *prefixed(error, "answer: ").lines)
    for name, stated in d.claims.items():
        try:
            judgement.claim(name, stated, ours, theirs)
        except judgement.ClaimError as error:
            faults.add(error.at, *error.lines)
        except InputError as error:
            faults.add(("claims", name), *prefixed(error, f"claims.{name}: ").lines)


def _check_outcomes(
    study: Study, own: Code, cells: Iterable[Cell], used: set[tuple[str, int]], faults: _Faults
) -> None:
    """Check that every cell measures the outcomes of the metrics that are read from it."""
    have: dict[int, tuple[str, ...]] = {}
    said = set()
    for cell in cells:
        scenario: Scenario | None = cell.scenario  # None: its faults are reported already
        known = used if scenario else set()
        for metric in sorted(name for name, at in known if at == id(cell)):
            if metric not in study.description.measures:
                continue
            for word, inside in _read(metric, study, frozenset(own.metrics)):
                problem = _unmeasured(word, inside, cell.scenario, have)
                if problem and (metric, problem) not in said:
                    said.add((metric, problem))
                    at = quantities.shown({**cell.conditions})
                    where = ("metrics", metric, "value")
                    faults.add(where, f"metrics.{metric}.value: {problem} (cell {at})")


def _read(metric: str, study: Study, known: frozenset[str], seen: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the outcomes that a cell must have for a metric, with their brackets, also by way of other
    metrics.

    The first argument of `known` may be missing.
    """
    may_miss = False
    for match in quantities.WORD.finditer(study.description.measures[metric].value):
        word, after = match["name"], match["after"] or ""
        skipped, may_miss = may_miss, word == "known"
        if skipped or word in quantities.OPERATORS or after.strip() == "(":
            continue
        if word != metric and word in study.description.measures:
            if word not in seen:
                yield from _read(word, study, known, (*seen, metric))
        elif (word == metric or word not in known) and quantities.of_class(word, match["inside"]) in MEANING:
            yield word, match["inside"]


def _unmeasured(word: str, inside: str | None, scenario: Scenario, have: dict[int, tuple[str, ...]]) -> str:
    """Return why a scenario does not measure an outcome; empty if it does."""
    key, equals, wanted = (piece.strip() for piece in (inside or "").partition("="))
    if inside is not None and (not equals or key not in quantities.PARTS):
        return f"'{word}[{inside}]': write {word}[flow=0], [link=NAME] or [class=NAME]"
    try:
        if id(scenario) not in have:
            have[id(scenario)] = measurable.outcomes(scenario)
        if inside is None or key == "class":
            name = f"{wanted}_{word}" if inside is not None else word
            if name not in have[id(scenario)]:
                measurable.refuse(name, scenario, have[id(scenario)])
            return ""
        parts = {one.part for known in scenario.network.outcomes if known.name == word for one in known.by}
        if f"{key}s" not in parts:
            return f"'{word}' is not measured for each {key} here"
        names = scenario.network.part_names(build(scenario, replications=1).rows).get(f"{key}s", [])
        short = {re.split(r"\s", text)[0] for text in names} | set(names)
        if names and not (wanted in short or (wanted.isdecimal() and int(wanted) < len(names))):
            return f"'{wanted}' is none of the {key}s; write 0 to {len(names) - 1}, or {', '.join(names)}"
    except InputError as error:
        return error.lines[0]
    return ""
