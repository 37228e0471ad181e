"""A published study as data: its cells, its numbers, its layout, its tolerance, its known mismatches.

A study is a folder of `configs/studies/`: `study.yaml` (the model below), `published.csv` (a row per
published number) and its scenarios.  The metrics and claims that are its own are a module of
`netcarlo.studies` with the same name.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.scenario import Scenario
from netcarlo.schema import kinds
from netcarlo.schema.document import Document, csv_rows, read_text, read_yaml
from netcarlo.schema.names import with_values
from netcarlo.schema.record import Record
from netcarlo.studies.calibrated import Calibration

Value = str | float
"""A condition of a cell: a word (`tcp`) or a number (`10.0`)."""

Where = dict[str, Value | list[Value]]
"""Selects rows: each column must equal the value, or one of the values."""

Known = Literal["stated", "trace", "inferred", "fitted", "default"]
"""How a part of a setting is known."""

Span = tuple[float, float]
"""From, to."""

_OWN = ("metric", "unit", "published", "step", "kind")


def matches(row: Mapping[str, Value], where: Where) -> bool:
    """True if a row is one of those that `where` selects."""
    return all(
        column in row and row[column] in (wanted if isinstance(wanted, list) else [wanted])
        for column, wanted in where.items()
    )


class Fields(Record):
    """Scenario fields that a condition sets in some cells only."""

    where: Where
    """The cells."""
    fields: dict[str, str]
    """What is set in them, by dotted name."""


class Condition(Record):
    """A column of the published numbers and the scenario fields it sets (`{}` is its value).

    Where scenarios differ in kind, `set` lists what it sets in which cells.
    """

    label: str
    """Its heading."""
    unit: str = ""
    """Unit of its values, where they are numbers."""
    phrase: str = "{}"
    """How a value is said in a line with others; `{}` is the value."""
    set: dict[str, str] | list[Fields] = {}
    """The scenario fields that it sets; `{}` in them is the value."""
    names: dict[str, str] = {}
    """What its values are called."""

    def show(self, value: Value) -> str:
        """The value in words: `SCTP (multi)`, `200 ms`."""
        text = self.names.get(str(value)) or (f"{value:g}" if isinstance(value, float) else value)
        return f"{text} {self.unit}".strip()

    def say(self, value: Value) -> str:
        """The value as it is said in a line with others: `10 s down`."""
        return self.phrase.format(self.show(value))

    def fields(self, value: Value, conditions: Mapping[str, Value]) -> dict[str, str]:
        """The scenario fields that this value sets in the cell with these conditions, by dotted name."""
        parts = [Fields(where={}, fields=self.set)] if isinstance(self.set, dict) else self.set
        return {
            name: template.format(value)
            for part in parts if matches(conditions, part.where)
            for name, template in part.fields.items()
        }  # fmt: skip


class Table(Record):
    """A table of the paper: the metrics in its cells, its row headings and its column headings, outer first.

    Where there are several metrics, they are the innermost row heading.
    """

    table: str
    """Its number in the paper."""
    title: str
    """Its caption."""
    metrics: list[str]
    """What stands in its cells."""
    rows: list[str]
    """Conditions of its row headings, outer first."""
    columns: list[str]
    """Conditions of its column headings, outer first."""


class Measured(Record):
    """A place on an axis that is itself an outcome: the mean of a metric over the cells `where`."""

    label: str
    """What it is called."""
    metric: str
    """The outcome."""
    where: Where
    """The cells over which its mean is taken."""


class Figure(Record):
    """A figure of the paper (of ours if it has no number): lines of a metric over `x`, one per `series`.

    Where there are several metrics, each has its lines.
    """

    figure: str = ""
    """Its number in the paper; empty for one of ours."""
    title: str
    """Its caption."""
    variation: str = ""
    """The variation that it shows, by name; the cells of the study unless given."""
    metric: str | list[str]
    """What it shows, one or several."""
    unit: str = ""
    """In which."""
    x: str
    """The condition along its axis."""
    measured: Measured | None = None
    """A second axis that is an outcome; none unless given."""
    series: list[str]
    """Conditions with a line for each combination."""
    where: Where
    """The cells that it shows."""
    published: list[str] = []
    """Metrics whose published numbers are shown, too."""
    published_times: dict[str, float] = {}
    """Factors by condition: published numbers are multiplied by the condition's value and its factor."""
    log_x: bool = False
    """Whether its axis is logarithmic."""
    note: str = ""
    """A sentence below it."""


class TraceFigure(Record):
    """A figure of the paper that shows one run over time: its congestion window, or its packets.

    With `rate` it shows what arrives in each second, of a run of every cell that has the conditions `cell`,
    and beside it the published values of the metric `average`.  802.11 networks only.
    """

    figure: str
    """Its number in the paper."""
    title: str
    """Its caption."""
    cell: dict[str, Value]
    """Conditions of the cell whose run it shows."""
    show: Literal["window", "packets", "rate"] = "window"
    """The congestion window, packets, or what arrives in each second."""
    average: str = ""
    """With `rate`: the metric whose published values stand beside it."""
    shade_s: list[Span] = []
    """Spans that are shaded [s]."""
    zoom_s: list[Span] = []
    """Spans that are shown large, too [s]."""
    note: str = ""
    """A sentence below it."""


class Spread(Record):
    """The single runs of cells: a violin for each value of `x` and `series`, the published value marked."""

    title: str
    """Its caption."""
    metric: str
    """What it shows."""
    x: str
    """The condition along its axis."""
    series: str
    """The condition with a violin for each value."""
    where: Where
    """The cells that it shows."""


class Varied(Condition):
    """A condition that a variation adds, over `values`."""

    values: list[Value]
    """Its values."""


class Variation(Record):
    """More cells: those `where` selects, with fields `set` and a further condition over `values`.

    Conditions in `by` are varied as well: the cells are all combinations.
    """

    where: Where
    """The cells that are varied."""
    set: dict[str, str] = {}
    """Fields that are set in all of them."""
    vary: Condition
    """The further condition."""
    values: list[float]
    """Its values."""
    by: dict[str, Varied] = {}
    """Conditions that are varied as well."""
    replications: int
    """Runs of each cell."""

    def added(self, name: str) -> dict[str, Condition]:
        """The conditions that the variation of this name adds."""
        return {name: self.vary, **self.by}

    def cells(self, name: str, conditions: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
        """The cells that it makes of one, by their conditions."""
        for values in product(self.values, *(varied.values for varied in self.by.values())):
            yield {**conditions, **dict(zip(self.added(name), values, strict=True))}

    def fields(self, name: str, conditions: Mapping[str, Value]) -> dict[str, str]:
        """The scenario fields that it sets in a cell with these conditions."""
        found = dict(self.set)
        for column, condition in self.added(name).items():
            found |= condition.fields(conditions[column], conditions)
        return found


class Tolerance(Record):
    """One demand of `--check` on the numbers (or cells) of a metric that `where` selects, less `unless`."""

    metric: str = ""
    """Whose numbers it is about; all unless given."""
    where: Where = {}
    """The rows that it is about."""
    unless: list[Where] = []
    """Rows that it is not about."""
    matches_printed: int | None = None
    """So many numbers show the printed digits."""
    mean_error: float | None = None
    """Mean of the absolute relative errors."""
    rms_error: float | None = None
    """Largest root of their mean square."""
    median_error: float | None = None
    """Largest median of them."""
    rel_error: float | None = None
    """Relative error of each number, or ..."""
    or_spread: bool = False
    """... twice the spread of the mean of `runs_behind_the_table` of our runs, if that is more."""
    abs_error: float | None = None
    """Difference of each number, in its unit."""
    variation: str = ""
    """The variation whose cells it is about; those of the study unless given."""
    at_least: float | None = None
    """The metric in each cell, of a variation if one is named; no published number needed."""
    at_most: float | None = None
    """Largest value."""
    not_excluded: bool = False
    """True if each printed number must lie within the 95 % interval of ours."""
    claims: Literal["as expected"] | None = None
    """Whether the claims must come out as expected."""
    originally: float | None = None
    """Limit as first declared, where it was changed after the results were known. The report shows both."""
    changed: str = ""
    """Reason why the demand was changed after the results were known; required with `originally`."""

    LIMITS: ClassVar = (
        "matches_printed", "mean_error", "rms_error", "median_error", "rel_error", "abs_error",
        "at_least", "at_most",
    )  # fmt: skip
    """Fields that can hold a limit."""

    @model_validator(mode="after")
    def _changes_have_reasons(self) -> Self:
        if (self.originally is None) != (not self.changed):
            raise InputError("tolerance: originally (first limit) and changed (why) go together; give both")
        return self

    @property
    def limit(self) -> str | None:
        """The field that holds the limit, or None (`claims`, `not_excluded`)."""
        return next((name for name in self.LIMITS if getattr(self, name) is not None), None)

    def as_first_declared(self) -> Self | None:
        """Return the demand as it was first declared, or None where it never changed."""
        if self.originally is None:
            return None
        limit = "abs_error" if self.not_excluded else self.limit
        assert limit is not None
        return self.model_copy(
            update={limit: self.originally, "not_excluded": False, "originally": None, "changed": ""}
        )

    def concerns(self, number: "Published") -> bool:
        """True if this demand is on a published number."""
        return (
            number.kind == "printed"
            and number.metric == self.metric
            and number.matches(self.where)
            and not any(number.matches(other) for other in self.unless)
        )


class Fitted(Record):
    """A parameter that was fitted and the cells that pin it."""

    parameter: str
    """What was fitted."""
    cells: list[Where]
    """The rows that pin it."""


class Setting(Record):
    """A part of the setting and how it is known; `{hops.0.rate}` in its value is what the scenario has."""

    item: str
    """What it is about."""
    value: str
    """What it is set to; `{hops.0.rate}` in it is what the scenario has."""
    known: Known
    """How it is known."""
    also: Known | None = None
    """How it is known besides; no other way unless given."""


class Explanation(Record):
    """Why the rows `where` differ from the paper; `left_out` rows do not count in `rel_error`."""

    where: Where
    """The rows that differ."""
    note: str
    """Why."""
    left_out: bool = False
    """Whether they do not count in `rel_error`."""


class Description(Record):
    """The content of `study.yaml`.

    Simulated are the cells of the published numbers and those of `cells`, all combinations of the values
    given.  `metrics` defines quantities, `labels` names them where their own name is no word, `screening` are
    those that fluids are asked for, too; the key of
    a variation is the name of the condition that it adds.
    """

    title: str
    """Heading of its page."""
    source: str
    """What was published, and where."""
    question: str
    """What was asked."""
    replications: int
    """Runs of each cell."""
    seed: int
    """Of all random numbers."""
    scenario: str
    """File of the scenario; `{condition}` in it is the value of a condition."""
    conditions: dict[str, Condition]
    """Columns of the published numbers that make the cells, by name."""
    cells: list[Where] = []
    """More cells, all combinations of the values given."""
    metrics: dict[str, str]
    """Quantities of the study, by name, and how each is defined."""
    labels: dict[str, str] = {}
    """What metrics are called where their own name is no word."""
    screening: list[str] = []
    """Metrics that fluids are asked for, too."""
    variations: dict[str, Variation] = {}
    """More cells along a further condition, by its name."""
    tables: list[Table] = []
    """Tables of the paper."""
    figures: list[Figure] = []
    """Figures of the paper, or of ours."""
    traces: list[TraceFigure] = []
    """Figures that show one run over time."""
    spreads: list[Spread] = []
    """Figures that show single runs."""
    tolerance: list[Tolerance]
    """Demands of `--check`."""
    fitted: list[Fitted] = []
    """Parameters that were fitted."""
    setting: list[Setting] = []
    """Parts of the setting, and how each is known."""
    explanations: list[Explanation] = []
    """Why rows differ from the paper."""
    calibration: Calibration | None = None
    """What is to be fitted, and to which numbers; nothing unless given."""

    @model_validator(mode="after")
    def _spread_is_of_known_runs(self) -> Self:
        if self.calibration is None and any(demand.or_spread for demand in self.tolerance):
            raise InputError("tolerance: or_spread needs calibration.runs_behind_the_table; add it")
        return self

    @property
    def runs_behind_the_table(self) -> float:
        """How many runs a published number is taken to average, by the calibration."""
        return self.calibration.runs_behind_the_table if self.calibration is not None else 1

    @property
    def exact(self) -> bool:
        """True if the study is judged by its printed digits, else by differences."""
        return any(demand.matches_printed is not None for demand in self.tolerance)

    def label(self, metric: str) -> str:
        """A metric's name in words."""
        return self.labels.get(metric) or metric.removesuffix("_approx").replace("_", " ")

    def say(self, where: Mapping[str, Value | list[Value]]) -> str:
        """Conditions in a line."""
        added = (variation.added(name) for name, variation in self.variations.items())
        known = self.conditions | {name: condition for more in added for name, condition in more.items()}
        return ", ".join(
            " and ".join(known[column].say(v) for v in (wanted if isinstance(wanted, list) else [wanted]))
            for column, wanted in where.items()
            if column in known
        )

    def say_demand(self, demand: Tolerance) -> str:
        """What a demand is on."""
        on = [self.say(demand.where), *(f"without {self.say(where)}" for where in demand.unless)]
        return self.label(demand.metric) + (f" ({'; '.join(filter(None, on))})" if any(on) else "")


class Published(Record):
    """One published number: where it stands, its conditions, its digits and the last digit's `step`.

    An `input` is what the scenario gives the kernel: no result, and not counted as one.
    """

    place: dict[str, str]
    conditions: dict[str, Value]
    metric: str
    unit: str
    text: str
    step: float
    kind: Literal["printed", "at_least", "read_off", "claim", "input"]

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.text)

    def matches(self, where: Where) -> bool:
        """True if this number is one of those that `where` selects."""
        return matches({**self.place, **self.conditions, "metric": self.metric}, where)


class Study:
    """A study's folder, read and checked."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.folder = folder
        self._documents: dict[str, Document] = {}
        self.description = _read_description(folder / "study.yaml")

    @cached_property
    def published(self) -> list[Published]:
        """The published numbers in the order of the file."""
        path = self.folder / "published.csv"
        header, *rows = csv_rows(read_text(path).splitlines(keepends=True)) or [[]]
        if missing := {*_OWN, *self.description.conditions} - {*header}:
            raise InputError(f"{path}: has no column '{min(missing)}'; add it to the first line")
        return [self._published(dict(zip(header, row, strict=True))) for row in rows if row]

    def _published(self, row: dict[str, str]) -> Published:
        conditions = {column: value(row[column]) for column in self.description.conditions if row[column]}
        place = {
            column: text
            for column, text in row.items()
            if column not in (*_OWN, *self.description.conditions)
        }
        return Published(
            place=place,
            conditions=conditions,
            metric=row["metric"],
            unit=row["unit"],
            text=row["published"],
            step=float(row["step"]),
            kind=row["kind"],  # type: ignore[arg-type]  # checked by pydantic
        )

    def scenario(
        self, conditions: Mapping[str, Value], *, seed: int, fields: Mapping[str, str] | None = None
    ) -> Scenario:
        """The scenario of a cell: its file with the fields that its conditions, and `fields`, set.

        Fields are set in the file's own data, so that another protocol keeps its own defaults.
        """
        document = self._document(self.description.scenario.format(**conditions))
        values: dict[str, Any] = {"seed": seed}
        for column, condition in self.description.conditions.items():
            values |= condition.fields(conditions[column], conditions)
        return Scenario.check(with_values(document.data, {**values, **(fields or {})}), document=document)

    def fill(self, text: str) -> str:
        """A text with each `{field}` as the scenario has it; `{file.yaml: field}` says which of several."""

        def written(match: re.Match[str]) -> str:
            at: Any = self._document(match[1] or self.description.scenario).data
            for part in match[2].split("."):
                at = at[int(part) if part.isdecimal() else part]
            return str(at)

        return re.sub(r"\{(?:(\w+\.yaml): )?([\w.]+)\}", written, text)

    def _document(self, name: str) -> Document:
        if name not in self._documents:
            self._documents[name] = read_yaml(self.folder / name)
        return self._documents[name]

    def scenario_files(self) -> list[Path]:
        """The scenario files of the study."""
        return sorted(path for path in self.folder.glob("*.yaml") if path.name != "study.yaml")

    def cells(self) -> Iterator[dict[str, Value]]:
        """The distinct sets of conditions to simulate: those that name every condition."""
        seen = []
        for conditions in [*(number.conditions for number in self.published), *self._further()]:
            if len(conditions) == len(self.description.conditions) and conditions not in seen:
                seen.append(conditions)
                yield conditions

    def _further(self) -> Iterator[dict[str, Value]]:
        names = list(self.description.conditions)
        for where in self.description.cells:
            for combination in product(*(_several(where[name]) for name in names)):
                yield dict(zip(names, combination, strict=True))


def _several(wanted: Value | list[Value]) -> list[Value]:
    return wanted if isinstance(wanted, list) else [wanted]


def value(text: str) -> Value:
    """A condition as it is written in a CSV file: a number where it can be one."""
    try:
        return float(text)
    except ValueError:
        return text


def _folder() -> Path:
    return Path(str(resources.files("netcarlo.configs"))) / "studies"


def names() -> list[str]:
    """The studies that netcarlo carries."""
    return sorted(path.parent.name for path in _folder().glob("*/study.yaml"))


def load(name: str) -> Study:
    """The study called `name`; InputError with the nearest known name if there is none."""
    if name not in names():
        kinds.refuse(name, kinds.STUDY)
        raise InputError(f"study '{name}' is unknown; {suggest(name, names())}")
    return Study(_folder() / name)


def _read_description(path: Path) -> Description:
    document = read_yaml(path)
    return Description.check(document.data, document=document)
