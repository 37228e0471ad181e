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

from netcarlo.errors import Faults, InputError, prefixed, suggest
from netcarlo.kernels.shared.layout import MAX_FLOWS
from netcarlo.networks import classes
from netcarlo.networks.shared.outcomes import OF_FLOW
from netcarlo.scenario import Scenario
from netcarlo.schema import document as files
from netcarlo.schema import kinds, table
from netcarlo.schema.expressions import SAMPLE, check, evaluate, fill, numbers
from netcarlo.schema.readable import listed
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


def _one_class() -> Classes:
    """Return a classification with one class."""
    return {"all": True}


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
    """Name of a row, made from its columns. Without a column `id` the rows are row 1, row 2, and so on."""
    rows: str | None = None
    """Condition on the rows to use; other rows are skipped. Default: all rows."""
    replications: str | int = 40
    """Number of replications of a row: a number, or an expression of columns."""
    scenario: dict[str, Any]
    """Scenario of a row; each `{expression}` is replaced by its value."""
    variants: list[Variant] = Field(default_factory=list)
    """Changes of the scenarios of some rows."""
    classes: Classes = Field(default_factory=_one_class, min_length=1)
    """Classes of rows whose errors are reported separately. Default: one class, `all`."""
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
        names += self.of_classes
        return names + [name + WHOLE_RUN for name in names]

    @property
    def of_classes(self) -> list[str]:
        """Names of the outcomes of the classes that scenarios give their flows."""
        templates = [self.scenario, *(variant.scenario for variant in self.variants)]
        words = sorted(_classes(templates))
        return [f"{word}_{each.name}" for word in words for each in classes.CLASS_OUTCOMES]

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


def _classes(template: Any) -> set[str]:
    """Return the classes that a template gives its flows."""
    if isinstance(template, list):
        return set().union(*map(_classes, template))
    if not isinstance(template, dict):
        return set()
    own = template.get("class")
    return set().union(*map(_classes, template.values()), {own} if isinstance(own, str) else set())


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


def mapping_of(reference: str | Path) -> str:
    """Return the default mapping of a reference: the one beside it with its name, or the built-in one."""
    name = Path(reference).stem
    beside = Path(reference).parent / f"{name}.yaml"
    return str(beside) if kinds.kind_of(beside) == kinds.MAPPING else name


def load_mapping(name: str) -> Mapping:
    """Return a built-in mapping by name, or read a user's file `NAME.yaml`. Raises InputError."""
    if name.endswith((".yaml", ".yml")):
        path = name
    elif name in mapping_names():
        path = str(importlib.resources.files("netcarlo.configs") / "references" / f"{name}.yaml")
    else:
        raise InputError(
            f"mapping '{name}' is unknown; {suggest(name, mapping_names())}; "
            "give --mapping a name or your own FILE.yaml (netcarlo new mapping writes one)"
        )
    document = kinds.read(path, kinds.MAPPING)
    return Mapping.check(document.data, document=document)


def read_rows(path: str | Path, mapping: Mapping) -> list[ReferenceRow]:
    """Read a reference file; lines that start with # are comments. Raises InputError with file and line."""
    lines = _read_csv(path)
    columns, faults = lines[0][1], Faults()
    missing = [metric for metric in mapping.metrics if not {metric, f"{metric}_mean"} & set(columns)]
    with faults:
        _refuse_missing(path, missing, columns)
    for metric, expression in mapping.metrics.items():
        for text in _texts(expression):
            with faults, _about(f"metrics.{metric}"):
                check(text, [*mapping.outcomes, *columns])
    faults.refuse()
    parts = {name: _read_part(path, name, part, mapping) for name, part in mapping.parts.items()}
    rows, wrong = [], dict[str, list[int]]()
    for number, (line, cells) in enumerate(lines, 1):
        columns = cells if "id" in cells else {"id": f"row {number}", **cells}
        try:
            if mapping.rows is None or evaluate(mapping.rows, columns):
                rows.append(_row(columns, mapping, parts))
        except InputError as error:
            for text in error.lines:
                wrong.setdefault(text, []).append(line)
    if wrong:
        raise InputError(*(_of_rows(path, text, at) for text, at in wrong.items()))
    return rows


def _refuse_missing(path: str | Path, missing: list[str], columns: dict[str, Value]) -> None:
    """Raise InputError if measured columns of a mapping are missing in a reference."""
    if len(missing) == 1:
        (metric,) = missing
        remedy = suggest(metric, columns)
        raise InputError(f"{path}: column '{metric}' (or '{metric}_mean') is missing; {remedy}")
    if missing:
        names = listed([f"'{metric}'" for metric in missing])
        raise InputError(
            f"{path}: columns {names} (or with _mean behind) are missing; known: {', '.join(sorted(columns))}"
        )


def _of_rows(path: str | Path, text: str, lines: list[int]) -> str:
    """Return a fault of rows with the first line that has it, and the number of the others."""
    more = len(lines) - 1
    return f"{path}:{lines[0]}: {text}" + (f" (also in {more} more row{'s' * (more > 1)})" if more else "")


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
    found: _Table = {}
    for line, columns in _read_csv(beside):
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
    """Return (line, columns) of each row of a table with any separator; lines with # are comments."""
    try:
        given = table.read(files.read_text(path))
    except InputError as error:
        raise (error if str(path) in str(error) else prefixed(error, f"{path}: ")) from None
    header = given.names
    if not header or not given.rows:
        raise InputError(
            f"{path}: has no rows; a reference has a line of column names and a line per scenario"
        )
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{path}: column '{twice}' is given twice; remove one")
    rows, faults = [], list[str]()
    for number, cells in zip(given.lines, given.rows, strict=True):
        if len(cells) != len(header):
            have = f"has {len(cells)} values, but there are {len(header)} column names"
            faults.append(f"{path}:{number}: {have}")
            continue
        rows.append((number, {name: _cell(cell) for name, cell in zip(header, cells, strict=True)}))
    if faults:
        raise InputError(*faults)
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
