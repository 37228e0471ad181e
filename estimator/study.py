"""A published study as data: its cells, its numbers, its layout, its tolerance, its known mismatches.

A study is a folder of `configs/studies/`: `study.yaml` (the model below), `published.csv` (a row per
published number) and a scenario per protocol.  The metrics and claims that are its own are a module of
`netcarlo.studies` with the same name.
"""

import csv
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Literal

from netcarlo.calibration.description import Calibration
from netcarlo.errors import InputError, nearest
from netcarlo.files import read_yaml
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema import Record

Value = str | float
"""A condition of a cell: a word (`tcp`) or a number (`10.0`)."""

Where = dict[str, Value | list[Value]]
"""Selects rows: each column must equal the value, or one of the values."""

_OWN = ("metric", "unit", "published", "step", "kind")


class Condition(Record):
    """A column of the published numbers and the scenario fields it sets (`{}` is its value)."""

    label: str
    unit: str = ""
    phrase: str = "{}"
    set: dict[str, str] = {}
    names: dict[str, str] = {}

    def show(self, value: Value) -> str:
        """The value in words: `SCTP (multi)`, `200 ms`."""
        text = self.names.get(str(value)) or (f"{value:g}" if isinstance(value, float) else value)
        return f"{text} {self.unit}".strip()

    def say(self, value: Value) -> str:
        """The value as it is said in a line with others: `10 s down`."""
        return self.phrase.format(self.show(value))


class Table(Record):
    """A table of the paper: its row headings, its column heading, and the metric in its cells."""

    table: str
    title: str
    metric: str
    rows: list[str]
    columns: str


class Figure(Record):
    """A figure of the paper: lines of a metric over `x`, one per value of `series`."""

    figure: str
    title: str
    metric: str
    x: str
    series: list[str]
    where: Where
    published: list[str] = []
    log_x: bool = False
    note: str = ""


class TraceFigure(Record):
    """A figure of the paper that shows the congestion window of one run over time."""

    figure: str
    title: str
    cell: dict[str, Value]
    shade_s: tuple[float, float] | None = None


class Tolerance(Record):
    """One demand of `--check`: printed digits met, largest relative error, or claims as expected."""

    metric: str = ""
    matches_printed: int | None = None
    rel_error: float | None = None
    claims: Literal["as expected"] | None = None


class Fitted(Record):
    """A parameter that was fitted and the cells that pin it."""

    parameter: str
    cells: list[Where]


class Setting(Record):
    """A part of the setting and how it is known."""

    item: str
    value: str
    known: Literal["stated", "trace", "fitted", "default"]
    also: Literal["stated", "trace", "fitted", "default"] | None = None


class Explanation(Record):
    """Why the rows `where` differ from the paper; `left_out` rows do not count in `rel_error`."""

    where: Where
    note: str
    left_out: bool = False


class Description(Record):
    """The content of `study.yaml`."""

    title: str
    source: str
    question: str
    replications: int
    seed: int
    scenario: str
    conditions: dict[str, Condition]
    metrics: dict[str, str]
    tables: list[Table] = []
    figures: list[Figure] = []
    traces: list[TraceFigure] = []
    tolerance: list[Tolerance]
    fitted: list[Fitted] = []
    setting: list[Setting] = []
    explanations: list[Explanation] = []
    calibration: Calibration | None = None


class Published(Record):
    """One published number: where it stands, its conditions, its digits and the last digit's `step`."""

    place: dict[str, str]
    conditions: dict[str, Value]
    metric: str
    unit: str
    text: str
    step: float
    kind: Literal["printed", "read_off", "claim"]

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.text)

    def matches(self, where: Where) -> bool:
        """True if this number is one of those that `where` selects."""
        row: Mapping[str, Value] = {**self.place, **self.conditions, "metric": self.metric}
        return all(
            column in row and row[column] in (wanted if isinstance(wanted, list) else [wanted])
            for column, wanted in where.items()
        )


class Study:
    """A study's folder, read and checked."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.folder = folder
        self._scenarios: dict[str, Scenario] = {}
        self.description = _read_description(folder / "study.yaml")

    @cached_property
    def published(self) -> list[Published]:
        """The published numbers in the order of the file."""
        path = self.folder / "published.csv"
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = {*_OWN, *self.description.conditions} - set(reader.fieldnames or ())
            if missing:
                raise InputError(f"{path}: has no column '{min(missing)}'; add it to the first line")
            return [self._published(row) for row in reader]

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

    def scenario(self, conditions: Mapping[str, Value]) -> Scenario:
        """The scenario file that belongs to these conditions, before they are set."""
        name = self.description.scenario.format(**conditions)
        if name not in self._scenarios:
            self._scenarios[name] = load_scenario(self.folder / name)
        return self._scenarios[name]

    def scenario_files(self) -> list[Path]:
        """The scenario files of the study."""
        return sorted(path for path in self.folder.glob("*.yaml") if path.name != "study.yaml")

    def cells(self) -> Iterator[dict[str, Value]]:
        """The distinct sets of conditions to simulate: those that name every condition."""
        seen = []
        for number in self.published:
            if len(number.conditions) == len(self.description.conditions) and number.conditions not in seen:
                seen.append(number.conditions)
                yield number.conditions


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
        raise InputError(f"study '{name}' is unknown; {nearest(name, names())}")
    return Study(_folder() / name)


def _read_description(path: Path) -> Description:
    document = read_yaml(path)
    return Description.check(document.data, document=document)
