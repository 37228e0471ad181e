"""Reference measurements, and mappings of their columns to scenarios and outcomes.

A reference is a CSV file with one row per scenario. A mapping is a YAML file that defines how to build the
scenario of a row, and the expression of outcomes with which each measured column is compared. Flows and links
of shared networks are rows of additional files, NAME_flows.csv and NAME_links.csv.
"""

import importlib.resources
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Discriminator, Field, Tag

from netcarlo.errors import InputError, prefixed, suggest
from netcarlo.kernels.shared.layout import MAX_FLOWS
from netcarlo.networks.shared.outcomes import OF_FLOW
from netcarlo.scenario import Scenario
from netcarlo.schema import document as files
from netcarlo.schema import kinds
from netcarlo.schema.expressions import SAMPLE, check, evaluate, fill, numbers
from netcarlo.schema.record import Record
from netcarlo.simulation.outcomes import MEANING

Value = int | float | str

WHOLE_RUN = "_whole_run"
"""Suffix of outcomes that are counted from time 0, taken from the same run without a warm-up."""


class Variant(Record):
    """Changes of the scenario for the rows in which `when` holds."""

    when: str
    """Condition on a row: an expression of columns."""
    scenario: dict[str, Any]
    """Fields of these scenarios that differ or are added."""


class Ratio(Record):
    """Ratio of two sums over all runs, which weights runs of different length correctly.

    `sum` and `over` are expressions of outcomes.
    """

    sum: str
    """Expression whose sum over all runs is the numerator."""
    over: str
    """Expression whose sum over all runs is the denominator."""


Metric = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[Ratio, Tag("<ratio>")],
    Discriminator(lambda data: "<ratio>" if isinstance(data, dict | Ratio) else "<text>"),
]


Classes = dict[str, str | bool]
"""Conditions (or true) by class name; a row belongs to the first class whose condition holds."""


class VariantPart(Record):
    """Changes of the item for the rows in which `when` holds."""

    when: str
    """Condition on a row: an expression of columns."""
    item: dict[str, Any]
    """Fields of these items that differ or are added."""


class Part(Record):
    """Additional file whose rows are items of a list in the scenario with the same id.

    Expressions can use the columns of both files, and `rank`: the position of the row in its scenario by its
    first metric, 0 for the highest.
    """

    item: dict[str, Any]
    """Item in the scenario's list for a row."""
    variants: list[VariantPart] = Field(default_factory=list)
    """Changes of the items of some rows."""
    classes: list[Classes] = Field(min_length=1)
    """Classifications of the rows; each is a list of classes."""
    metrics: dict[str, str] = Field(min_length=1)
    """Expression of columns and outcomes of the flow or link, by measured column (without `_mean`)."""


class Mapping(Record):
    """Mapping of the columns of a reference to scenarios and metrics; texts contain `{expressions}` of
    columns."""

    description: str = ""
    """Description of the origin of the reference."""
    id: str = "{id}"
    """Name of a row, made from its columns."""
    rows: str | None = None
    """Condition on the rows to use; other rows are skipped. Default: all rows."""
    replications: str | int
    """Number of replications of a row: a number, or an expression of columns."""
    scenario: dict[str, Any]
    """Scenario of a row; each `{expression}` is replaced by its value."""
    variants: list[Variant] = Field(default_factory=list)
    """Changes of the scenarios of some rows."""
    classes: Classes = Field(min_length=1)
    """Classes of rows whose errors are reported separately."""
    metrics: dict[str, Metric] = Field(min_length=1)
    """Expression of outcomes and columns, or a ratio of two sums, by measured column (without `_mean`).
    Outcomes count from the end of the `warm_up`; a name that ends in `_whole_run`, as `sent_whole_run`,
    counts from time 0."""
    numbered: int = Field(default=0, ge=0, le=MAX_FLOWS)
    """Number of flows of shared links whose outcomes can be used in `metrics`: `goodput_bps_1` and so on."""
    flows: Part | None = None
    """Mapping of NAME_flows.csv to items of `shared.flows`. Default: no such file."""
    links: Part | None = None
    """Mapping of NAME_links.csv to items of `shared.links`. Default: no such file."""

    @property
    def outcomes(self) -> list[str]:
        """Names that metrics may use besides columns."""
        numbers = range(1, self.numbered + 1)
        names = [*MEANING, *(f"{name}_{k}" for k in numbers for name in OF_FLOW)]
        return names + [name + WHOLE_RUN for name in names]

    @property
    def counts_whole_runs(self) -> bool:
        """True if an expression uses an outcome that is counted from time 0."""
        tables: list[dict[str, Any]] = [self.metrics, *(part.metrics for part in self.parts.values())]
        return any(WHOLE_RUN in text for table in tables for each in table.values() for text in _texts(each))

    @property
    def parts(self) -> dict[str, Part]:
        """Mappings of the additional files, by the suffix of their names."""
        parts = {"flows": self.flows, "links": self.links}
        return {name: part for name, part in parts.items() if part is not None}


class ReferenceRow(NamedTuple):
    """Scenario of a reference with its measurements."""

    id: str
    class_: str
    scenario: Scenario
    columns: dict[str, Value]
    parts: dict[str, list["PartRow"]]
    """Flows and links of the scenario, in its order."""


class PartRow(NamedTuple):
    """Flow or link of a reference with its measurements."""

    id: str
    classes: list[str]
    columns: dict[str, Value]


def mapping_names() -> list[str]:
    """Return the names of the built-in mappings."""
    folder = importlib.resources.files("netcarlo.configs") / "references"
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_mapping(name: str) -> Mapping:
    """Return a built-in mapping by name, or read a user's file `NAME.yaml`. Raises InputError."""
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
    """Read a reference file; lines that start with # are comments. Raises InputError with file and line."""
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
    """Return mean, sd (NaN if not given) and number of runs of a metric in a row. Raises InputError."""
    column = metric if metric in columns else f"{metric}_mean"
    value, sd = columns[column], columns.get(f"{metric}_sd", math.nan)
    seeds = columns.get("n_seeds", 1)
    for name, item in ((column, value), (f"{metric}_sd", sd), ("n_seeds", seeds)):
        if isinstance(item, str):
            raise InputError(f"{name} = '{item}' is not a number; write a number or leave the cell empty")
    if not 1 <= float(seeds) < math.inf:
        raise InputError(f"n_seeds = {seeds} is out of range; expected 1 or more runs")
    return float(value), float(sd), int(seeds)


@contextmanager
def _about(place: str) -> Iterator[None]:
    """Add the place in the mapping to an InputError."""
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
        remedy = "write one, or a column that contains it"
        raise InputError(f"{name} = {value!r} is not a whole number; {remedy}") from None


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
        raise InputError(
            "shared has no fields, but the mapping has files of flows or links; write shared: {}"
        )
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
"""Rows of an additional file by the id of their scenario."""


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
        f"row {row} matches no class of the mapping; add a last class with the condition true"
    )


def _read_csv(path: str | Path) -> list[tuple[int, dict[str, Value]]]:
    """Return (line, columns) of each row."""
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
                f"{path}:{number}: has {len(cells)} values, but there are {len(header)} column names"
            )
        rows.append((number, {name: _cell(cell.strip()) for name, cell in zip(header, cells, strict=True)}))
    return rows


def _cell(text: str) -> Value:
    """Return the number in a cell, its text, or NaN if it is empty."""
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
