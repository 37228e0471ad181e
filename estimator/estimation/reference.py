"""Reference measurements and how their columns map to scenarios and outcomes.

A reference is a CSV file with a row per scenario; a mapping is a YAML file that says how to build
the scenario of a row and which expression of our outcomes each measured column is compared with.  Flows and
links of shared networks are rows of files beside it, NAME_flows.csv and NAME_links.csv.
"""

import importlib.resources
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Discriminator, Field, Tag

from netcarlo.errors import InputError, prefixed, suggest
from netcarlo.kernels.shared.layout import MOST_FLOWS
from netcarlo.networks.shared.outcomes import OF_FLOW
from netcarlo.scenario import Scenario
from netcarlo.schema import document as files
from netcarlo.schema import kinds
from netcarlo.schema.expressions import SAMPLE, check, evaluate, fill, numbers
from netcarlo.schema.record import Record
from netcarlo.simulation.outcomes import MEANING

Value = int | float | str

WHOLE_RUN = "_whole_run"
"""Suffix of the name of an outcome that is counted from time 0: that of the same run without a warm-up."""


class Variant(Record):
    """What differs in the scenario of the rows for which `when` holds."""

    when: str
    """The rows: an expression of columns."""
    scenario: dict[str, Any]
    """What their scenarios have besides."""


class Ratio(Record):
    """A mean over something that differs from run to run: `sum` and `over` are expressions of outcomes.

    It is the sum of one over the sum of the other: as if all runs were one.
    """

    sum: str
    """The expression whose sum over all runs is taken."""
    over: str
    """The expression by whose sum it is divided."""


Metric = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[Ratio, Tag("<ratio>")],
    Discriminator(lambda data: "<ratio>" if isinstance(data, dict | Ratio) else "<text>"),
]


Classes = dict[str, str | bool]
"""Class name to condition, or true; a row is of the first class whose condition holds."""


class VariantPart(Record):
    """What differs in the item of the rows for which `when` holds."""

    when: str
    """The rows: an expression of columns."""
    item: dict[str, Any]
    """What their items have besides."""


class Part(Record):
    """The rows of a file beside the reference: items of a list in the scenario with their id.

    Expressions see the columns of both, and `rank`: the place of the row among those of its scenario by its
    first metric, 0 for the highest.
    """

    item: dict[str, Any]
    """The item of a row, in the scenario's list."""
    variants: list[VariantPart] = Field(default_factory=list)
    """What differs in the items of some rows."""
    classes: list[Classes] = Field(min_length=1)
    """Several ways to sort the rows into classes."""
    metrics: dict[str, str] = Field(min_length=1)
    """Mapping of a measured column, without `_mean`, to an expression of columns and outcomes of the flow or
    link."""


class Mapping(Record):
    """From the columns of a reference to scenarios and metrics; texts hold `{expressions}` of columns."""

    description: str = ""
    """A sentence about where the reference is from."""
    id: str = "{id}"
    """What a row is called, made of its columns."""
    rows: str | None = None
    """Rows for which this does not hold are left out."""
    replications: str | int
    """Runs of a row: a number, or an expression of columns."""
    scenario: dict[str, Any]
    """The scenario of a row; `{expression}` in it is replaced by its value."""
    variants: list[Variant] = Field(default_factory=list)
    """What differs in the scenarios of some rows."""
    classes: Classes = Field(min_length=1)
    """The classes whose errors are told apart, and the rows of each."""
    metrics: dict[str, Metric] = Field(min_length=1)
    """Mapping of a measured column, without `_mean`, to an expression of outcomes and columns, or to a ratio
    of two. Outcomes count from the end of the `warm_up`; a name that ends in `_whole_run`, as
    `sent_whole_run`, counts from time 0."""
    numbered: int = Field(default=0, ge=0, le=MOST_FLOWS)
    """So many flows of shared links have outcomes of their own in `metrics`: `goodput_bps_1` and so on."""
    flows: Part | None = None
    """NAME_flows.csv, items of `shared.flows`."""
    links: Part | None = None
    """NAME_links.csv, items of `shared.links`."""

    @property
    def outcomes(self) -> list[str]:
        """The names that metrics may have beside columns."""
        numbers = range(1, self.numbered + 1)
        names = [*MEANING, *(f"{name}_{k}" for k in numbers for name in OF_FLOW)]
        return names + [name + WHOLE_RUN for name in names]

    @property
    def counts_whole_runs(self) -> bool:
        """Return whether an expression names an outcome that is counted from time 0 on."""
        tables: list[dict[str, Any]] = [self.metrics, *(part.metrics for part in self.parts.values())]
        return any(WHOLE_RUN in text for table in tables for each in table.values() for text in _texts(each))

    @property
    def parts(self) -> dict[str, Part]:
        """The files beside the reference, by the end of their names."""
        parts = {"flows": self.flows, "links": self.links}
        return {name: part for name, part in parts.items() if part is not None}


class ReferenceRow(NamedTuple):
    """A scenario of a reference with what was measured on it."""

    id: str
    class_: str
    scenario: Scenario
    columns: dict[str, Value]
    parts: dict[str, list["PartRow"]]
    """Its flows and links, in the order of the scenario."""


class PartRow(NamedTuple):
    """A flow or link of a reference with what was measured on it."""

    id: str
    classes: list[str]
    columns: dict[str, Value]


def mapping_names() -> list[str]:
    """The names of the mappings that come with netcarlo."""
    folder = importlib.resources.files("netcarlo.configs") / "references"
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_mapping(name: str) -> Mapping:
    """A mapping by its name, or from a user's own file `NAME.yaml`.  Raises InputError."""
    if name.endswith((".yaml", ".yml")):
        path = name
    elif name in mapping_names():
        path = str(importlib.resources.files("netcarlo.configs") / "references" / f"{name}.yaml")
    else:
        raise InputError(
            f"mapping '{name}' is unknown; {suggest(name, mapping_names())}; "
            "give --mapping a name or your own FILE.yaml"
        )
    document = kinds.read(path, kinds.MAPPING)
    return Mapping.check(document.data, document=document)


def read_rows(path: str | Path, mapping: Mapping) -> list[ReferenceRow]:
    """Read a reference; lines that start with # are comments.  Raises InputError with file and line."""
    table = _read_csv(path)
    columns = table[0][1]
    for metric, expression in mapping.metrics.items():
        if not {metric, f"{metric}_mean"} & set(columns):
            remedy = suggest(metric, columns)
            raise InputError(f"{path}: column '{metric}' (or '{metric}_mean') is missing; {remedy}")
        for text in _texts(expression):
            with _about(f"metrics.{metric}"):
                check(text, [*mapping.outcomes, *columns])
    parts = {name: _read_part(path, name, part, mapping) for name, part in mapping.parts.items()}
    rows = []
    for line, columns in table:
        try:
            if mapping.rows is not None and not evaluate(mapping.rows, columns):
                continue
            rows.append(_row(columns, mapping, parts))
        except InputError as error:
            raise prefixed(error, f"{path}:{line}: ") from None
    return rows


def measured(metric: str, columns: dict[str, Value]) -> tuple[float, float, int]:
    """Mean, sd (NaN where there is none) and number of runs of a metric in a row.  Raises InputError."""
    column = metric if metric in columns else f"{metric}_mean"
    value, sd = columns[column], columns.get(f"{metric}_sd", math.nan)
    seeds = columns.get("n_seeds", 1)
    for name, item in ((column, value), (f"{metric}_sd", sd), ("n_seeds", seeds)):
        if isinstance(item, str):
            raise InputError(f"{name} = '{item}' is no number; write a number or leave the field empty")
    if not 1 <= float(seeds) < math.inf:
        raise InputError(f"n_seeds = {seeds} is no number of runs; allowed is 1 or more; count them again")
    return float(value), float(sd), int(seeds)


@contextmanager
def _about(place: str) -> Iterator[None]:
    """Say where in the mapping an InputError is about."""
    try:
        yield
    except InputError as error:
        raise prefixed(error, f"{place}: ") from None


def _texts(metric: Metric) -> tuple[str, ...]:
    return (metric.sum, metric.over) if isinstance(metric, Ratio) else (metric,)


def _whole(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        remedy = "write one, or a column that has it"
        raise InputError(f"{name} = {value!r} is no whole number; {remedy}") from None


def _row(columns: dict[str, Value], mapping: Mapping, parts: dict[str, "_Table"]) -> ReferenceRow:
    for metric, expression in mapping.metrics.items():
        measured(metric, columns)
        for text in _texts(expression):
            with _about(f"metrics.{metric}"):
                numbers(text, {**columns, **dict.fromkeys(mapping.outcomes, SAMPLE)})
    data = mapping.scenario
    for variant in mapping.variants:
        if evaluate(variant.when, columns):
            data = _merge(data, variant.scenario)
    filled = {
        "name": str(fill(mapping.id, columns)),
        "replications": _whole("replications", fill(mapping.replications, columns)),
        **fill(data, columns),
    }
    name = str(filled["name"])
    if mapping.parts and not isinstance(filled.setdefault("shared", {}), dict):
        raise InputError("shared has no fields, and the mapping has files of flows or links; write {}")
    found = {}
    for part, rules in mapping.parts.items():
        mine = [{**columns, **more} for more in parts[part].get(name, [])]
        if not mine:
            raise InputError(f"row {name} has no rows in the file of {part}; add them, or remove the row")
        filled["shared"] = {**filled["shared"], part: [_item(each, rules) for each in mine]}
        found[part] = _ranked(name, mine, rules)
    class_ = _class(name, mapping.classes, columns)
    return ReferenceRow(name, class_, Scenario.check(filled), columns, found)


_Table = dict[str, list[dict[str, Value]]]
"""The rows of a part by the id of their scenario."""


def _read_part(path: str | Path, name: str, part: Part, mapping: Mapping) -> _Table:
    beside = Path(path).with_name(f"{Path(path).stem}_{name}.csv")
    table = _read_csv(beside)
    found: _Table = {}
    for line, columns in table:
        try:
            for metric in part.metrics:
                measured(metric, columns)
            found.setdefault(str(fill(mapping.id, columns)), []).append(columns)
        except InputError as error:
            raise prefixed(error, f"{beside}:{line}: ") from None
    return found


def _item(columns: dict[str, Value], part: Part) -> Any:
    data: Any = part.item
    for variant in part.variants:
        if evaluate(variant.when, columns):
            data = _merge(data, variant.item)
    return fill(data, columns)


def _ranked(name: str, rows: list[dict[str, Value]], part: Part) -> list[PartRow]:
    metric = next(iter(part.metrics))
    values = [measured(metric, columns)[0] for columns in rows]
    order = sorted(range(len(rows)), key=lambda k: (-values[k], k))
    found = []
    for k, columns in enumerate(rows):
        ranked = {**columns, "rank": order.index(k)}
        row = f"{name}/{k}"
        found.append(PartRow(row, [_class(row, each, ranked) for each in part.classes], columns))
    return found


def _class(row: str, classes: Classes, columns: dict[str, Value]) -> str:
    for name, condition in classes.items():
        if condition is True or (condition and evaluate(condition, columns)):
            return str(fill(name, columns))
    raise InputError(
        f"row {row} is in none of the mapping's classes; end them with one whose condition is true"
    )


def _read_csv(path: str | Path) -> list[tuple[int, dict[str, Value]]]:
    """(line, columns) of each row."""
    lines = [(i, line) for i, line in enumerate(files.read_text(path).splitlines(), 1)]
    lines = [(i, line) for i, line in lines if line.strip() and not line.startswith("#")]
    try:
        table = files.csv_rows(line for _, line in lines)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if len(table) < 2 or len(table) != len(lines):
        raise InputError(
            f"{path}: has no rows; a reference has a line of column names and a line per scenario"
        )
    header = [name.strip() for name in table[0]]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{path}:{lines[0][0]}: column '{twice}' is given twice; remove one")
    rows = []
    for (number, _), cells in zip(lines[1:], table[1:], strict=True):
        if len(cells) != len(header):
            raise InputError(
                f"{path}:{number}: has {len(cells)} fields, not {len(header)} as the column names"
            )
        rows.append((number, {name: _cell(cell.strip()) for name, cell in zip(header, cells, strict=True)}))
    return rows


def _cell(text: str) -> Value:
    """The number in a field, its text, or NaN if it is empty."""
    if not text:
        return math.nan
    for kind in (int, float) if len(text) <= files.MAX_NUMBER_LENGTH else ():
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _merge(base: Any, more: Any) -> Any:
    if isinstance(base, dict) and isinstance(more, dict):
        return {**base, **{key: _merge(base.get(key), item) for key, item in more.items()}}
    return more
