"""Description of a study (`study.yaml`): conditions, layout of its page, tolerances, known differences."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.schema.record import Record
from netcarlo.studies.calibrated import Calibration
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value, Where, matches, several
from netcarlo.studies.stated import Measure, StatedClaim

Known = Literal["stated", "trace", "inferred", "fitted", "default"]
"""Source of a part of a setting: stated in the paper, seen in a trace, inferred, fitted, or a default."""

Span = tuple[float, float]
"""Lower and upper end."""


class Fields(Record):
    """Scenario fields that a condition sets in some cells only."""

    where: Where
    """Selection of the cells."""
    fields: dict[str, str]
    """Values of the fields, by dotted name."""


class Condition(Record):
    """Condition: a column of the published numbers, and the scenario fields that it sets (`{}` is its
    value)."""

    label: str
    """Heading of the column."""
    unit: str = ""
    """Unit of values that are numbers."""
    phrase: str = "{}"
    """Text of a value in a list of conditions; `{}` is the value."""
    set: dict[str, str] | list[Fields] = {}
    """Scenario fields that the condition sets, with `{}` for its value; a list if they differ between
    cells."""
    names: dict[str, str] = {}
    """Names of values."""

    def show(self, value: Value) -> str:
        """Return a value as text, such as `SCTP (multi)` or `200 ms`."""
        text = self.names.get(str(value)) or (f"{value:g}" if isinstance(value, float) else value)
        return f"{text} {self.unit}".strip()

    def say(self, value: Value) -> str:
        """Return a value as text in a list of conditions, such as `10 s down`."""
        return self.phrase.format(self.show(value))

    def fields(self, value: Value, conditions: Mapping[str, Value]) -> dict[str, str]:
        """Return the scenario fields that a value sets in the cell with these conditions, by dotted name."""
        parts = [Fields(where={}, fields=self.set)] if isinstance(self.set, dict) else self.set
        return {
            name: template.format(value)
            for part in parts if matches(conditions, part.where)
            for name, template in part.fields.items()
        }  # fmt: skip


class Table(Record):
    """Table of the paper.

    If it has several metrics, they are the innermost row heading.
    """

    table: str
    """Number of the table in the paper."""
    title: str
    """Caption of the table."""
    metrics: list[str]
    """Metrics in the cells of the table."""
    rows: list[str]
    """Conditions of the row headings, outer first."""
    columns: list[str]
    """Conditions of the column headings, outer first."""
    cells: Where | None = None
    """Selection of cells that are shown although nothing is published about them; by default none."""


class Measured(Record):
    """Axis of a figure with measured positions: the mean of a metric over some cells."""

    label: str
    """Title of the axis."""
    metric: str
    """Metric that is averaged."""
    where: Where
    """Cells over which the mean is taken."""


class Figure(Record):
    """Figure with lines of one or several metrics over the condition `x`, one line for each `series`."""

    figure: str = ""
    """Number of the figure in the paper; empty for a figure that is not in the paper."""
    title: str
    """Caption of the figure."""
    variation: str = ""
    """Name of the variation in the figure; by default the figure has the cells of the study."""
    metric: str | list[str]
    """Metrics in the figure."""
    unit: str = ""
    """Unit of the vertical axis."""
    x: str
    """Condition on the horizontal axis."""
    measured: Measured | None = None
    """Second figure with a measured horizontal axis; by default there is none."""
    series: list[str]
    """Conditions with a line for each combination."""
    where: Where
    """Cells in the figure."""
    published: list[str] = []
    """Metrics whose published numbers are in the figure too."""
    published_times: dict[str, float] = {}
    """Factors by condition: published numbers are multiplied by the value of the condition and this
    factor."""
    log_x: bool = False
    """True if the horizontal axis is logarithmic."""
    note: str = ""
    """Sentence below the figure."""


class TraceFigure(Record):
    """Figure of the paper with one run over time: its congestion window, its packets, or its rate.

    With `rate`, it has one run of every cell with the conditions `cell`. `rate` is for 802.11 networks only.
    """

    figure: str
    """Number of the figure in the paper."""
    title: str
    """Caption of the figure."""
    cell: dict[str, Value]
    """Conditions of the cell of the run."""
    show: Literal["window", "packets", "rate"] = "window"
    """Congestion window, packets, or received data in each second."""
    average: str = ""
    """With `rate`, the metric whose published values are in the figure too."""
    shade_s: list[Span] = []
    """Shaded intervals of time [s]."""
    zoom_s: list[Span] = []
    """Intervals of time with an enlarged figure of their own [s]."""
    note: str = ""
    """Sentence below the figure."""


class Spread(Record):
    """Figure with the distribution of single runs: a violin for each value of `x` and `series`."""

    title: str
    """Caption of the figure."""
    metric: str
    """Metric in the figure."""
    x: str
    """Condition on the horizontal axis."""
    series: str
    """Condition with a violin for each value."""
    where: Where
    """Cells in the figure."""


class Varied(Condition):
    """Condition that a variation adds."""

    values: list[Value]
    """Values of the condition."""


class Variation(Record):
    """Additional cells: some cells of the study, varied over all combinations of further conditions."""

    where: Where
    """Cells that are varied."""
    set: dict[str, str] = {}
    """Fields that are set in all varied cells."""
    vary: Condition
    """Further condition."""
    values: list[float]
    """Values of the further condition."""
    by: dict[str, Varied] = {}
    """Conditions that are varied too, by name."""
    replications: int = Field(ge=1)
    """Maximum number of replications of each cell."""

    def added(self, name: str) -> dict[str, Condition]:
        """Return the conditions that the variation of this name adds."""
        return {name: self.vary, **self.by}

    def cells(self, name: str, conditions: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
        """Yield the conditions of the cells into which one cell is varied."""
        for values in product(self.values, *(varied.values for varied in self.by.values())):
            yield {**conditions, **dict(zip(self.added(name), values, strict=True))}

    def fields(self, name: str, conditions: Mapping[str, Value]) -> dict[str, str]:
        """Return the scenario fields that the variation sets in a cell with these conditions."""
        found = dict(self.set)
        for column, condition in self.added(name).items():
            found |= condition.fields(conditions[column], conditions)
        return found


class Tolerance(Record):
    """Requirement of `--check` on numbers, cells or claims."""

    metric: str = ""
    """Metric of the numbers or cells."""
    where: Where = {}
    """Selection of rows."""
    unless: list[Where] = []
    """Rows that are excluded."""
    matches_printed: int | None = None
    """Minimum number of estimates that have the printed digits."""
    mean_error: float | None = None
    """Maximum mean of the absolute relative errors."""
    rms_error: float | None = None
    """Maximum root mean square of the relative errors."""
    median_error: float | None = None
    """Maximum median of the absolute relative errors."""
    rel_error: float | None = None
    """Maximum absolute relative error of each number."""
    or_spread: bool = False
    """With `rel_error`: also allow twice the standard deviation of a mean of `runs_behind_the_table` runs."""
    abs_error: float | None = None
    """Maximum absolute difference of each number, in its unit."""
    variation: str = ""
    """Variation whose cells are checked; by default the cells of the study."""
    at_least: float | None = None
    """Minimum value of the metric in each cell; needs no published number."""
    at_most: float | None = None
    """Maximum value of the metric in each cell; needs no published number."""
    not_excluded: bool = False
    """True if each printed number must be within the 95 % interval of its estimate."""
    claims: Literal["as expected"] | None = None
    """With `as expected`, claims must have their expected verdicts."""
    originally: float | None = None
    """Limit as first declared, if it was changed after the results were known. The report has both."""
    changed: str = ""
    """Reason for a change of the limit after the results were known; required with `originally`."""

    LIMITS: ClassVar = (
        "matches_printed", "mean_error", "rms_error", "median_error", "rel_error", "abs_error",
        "at_least", "at_most",
    )  # fmt: skip
    """Fields that can hold a limit."""

    @model_validator(mode="after")
    def _changes_have_reasons(self) -> Self:
        if (self.originally is None) != (not self.changed):
            raise InputError("tolerance: originally (first limit) needs changed (reason); write both")
        return self

    @property
    def limit(self) -> str | None:
        """Name of the field with the limit; None for `claims` and `not_excluded`."""
        return next((name for name in self.LIMITS if getattr(self, name) is not None), None)

    def as_first_declared(self) -> Self | None:
        """Return the requirement as it was first declared, or None if it never changed."""
        if self.originally is None:
            return None
        limit = "abs_error" if self.not_excluded else self.limit
        assert limit is not None
        return self.model_copy(
            update={limit: self.originally, "not_excluded": False, "originally": None, "changed": ""}
        )

    def concerns(self, number: Published) -> bool:
        """Return True if this requirement applies to a published number."""
        return (
            number.kind == "printed"
            and number.metric == self.metric
            and number.matches(self.where)
            and not any(number.matches(other) for other in self.unless)
        )


class Fitted(Record):
    """Parameter that was fitted, and the numbers that it was fitted to."""

    parameter: str
    """Name of the parameter."""
    cells: list[Where]
    """Selections of the rows that it was fitted to."""


class Setting(Record):
    """Part of the setting of the study, and its source."""

    item: str
    """Name of the part."""
    value: str
    """Value; `{hops.0.rate}` in it is replaced by this field of the scenario."""
    known: Known
    """Source of the value."""
    also: Known | None = None
    """Second source of the value; by default there is none."""


class Explanation(Record):
    """Explanation of differences from the paper."""

    where: Where
    """Selection of the rows that differ."""
    note: str
    """Reason for the differences."""
    left_out: bool = False
    """True if the rows are left out of the errors in the tolerance."""


class Description(Record):
    """Content of `study.yaml`.

    A folder with this file, `published.csv` and scenarios is a study. `published.csv` has a row for each
    number: columns `metric` and `published`, a column for each condition (empty where it does not apply), and
    optionally `unit`, `step` (one unit of the last digit), `kind` (`printed`, `at_least`, `read_off`, `claim`
    or `input`) and places such as `table`.

    The simulated cells are those of the published numbers, those of `cells`, and those of the variations.
    """

    title: str
    """Heading of the page."""
    source: str
    """Reference of the publication."""
    question: str
    """Question of the study."""
    answer: str = ""
    """Sentence at the top of the page, with numbers as in the `evidence` of a claim; by default there is
    none."""
    replications: int = Field(ge=1)
    """Number of replications of each cell."""
    seed: int = Field(ge=0)
    """Seed of all random numbers."""
    scenario: str
    """File of the scenario; `{condition}` in it is replaced by the value of a condition."""
    conditions: dict[str, Condition]
    """Columns of the published numbers that define the cells, by name."""
    cells: list[Where] = []
    """Additional cells: all combinations of the given values."""
    metrics: dict[str, Measure | str]
    """Metrics by name: an expression, or the definition of a metric of `claims.py` as text."""
    cell_name: str = ""
    """Name of a cell in evidence, such as `{protocol}, {loss}`; by default all its conditions."""
    selections: dict[str, Where] = {}
    """Names for conditions: `goodput[lossy]` is `goodput` with the conditions of `lossy`."""
    claims: dict[str, StatedClaim] = {}
    """Claims of the paper, by identifier such as `C1`."""
    labels: dict[str, str] = {}
    """Texts for metrics, if the text is not the name."""
    screening: list[str] = []
    """Metrics that are also estimated by fluid models."""
    variations: dict[str, Variation] = {}
    """Additional cells with a further condition, by the name of that condition."""
    tables: list[Table] = []
    """Tables of the paper."""
    figures: list[Figure] = []
    """Figures with lines, from the paper or additional ones."""
    traces: list[TraceFigure] = []
    """Figures with one run over time."""
    spreads: list[Spread] = []
    """Figures with the distribution of single runs."""
    tolerance: list[Tolerance] = []
    """Requirements of `--check`."""
    fitted: list[Fitted] = []
    """Parameters that were fitted."""
    setting: list[Setting] = []
    """Parts of the setting with their sources."""
    explanations: list[Explanation] = []
    """Explanations of differences from the paper."""
    calibration: Calibration | None = None
    """Parameters to fit, and the numbers to fit them to; by default nothing is fitted."""

    @model_validator(mode="after")
    def _spread_is_of_known_runs(self) -> Self:
        if self.calibration is None and any(demand.or_spread for demand in self.tolerance):
            raise InputError("tolerance: or_spread needs calibration.runs_behind_the_table; add it")
        return self

    @property
    def runs_behind_the_table(self) -> float:
        """Assumed number of runs of which a published number is the mean; 1 without calibration."""
        return self.calibration.runs_behind_the_table if self.calibration is not None else 1

    @property
    def exact(self) -> bool:
        """True if the study is checked by printed digits, False if by differences."""
        return any(demand.matches_printed is not None for demand in self.tolerance)

    @property
    def measures(self) -> dict[str, Measure]:
        """Metrics that are expressions, by name."""
        return {name: one for name, one in self.metrics.items() if isinstance(one, Measure)}

    @property
    def definitions(self) -> dict[str, str]:
        """Definitions of metrics by name."""
        texts = {name: one if isinstance(one, str) else one.text for name, one in self.metrics.items()}
        return {name: text for name, text in texts.items() if text}

    def added(self) -> dict[str, str]:
        """Return the conditions that variations add, with the names of the variations."""
        return {
            column: name for name, variation in self.variations.items() for column in variation.added(name)
        }

    def label(self, metric: str) -> str:
        """Return the text for a metric."""
        return self.labels.get(metric) or metric.removesuffix("_approx").replace("_", " ")

    def say(self, where: Mapping[str, Value | list[Value]]) -> str:
        """Return conditions as text."""
        added = (variation.added(name) for name, variation in self.variations.items())
        known = self.conditions | {name: condition for more in added for name, condition in more.items()}
        return ", ".join(
            " and ".join(known[column].say(v) for v in (wanted if isinstance(wanted, list) else [wanted]))
            for column, wanted in where.items()
            if column in known
        )

    def name_cell(self, where: Mapping[str, Value | list[Value]]) -> str:
        """Return the name of the cell with these conditions, for evidence."""
        if not self.cell_name:
            return self.say(where)
        shown = {
            name: " and ".join(condition.show(value) for value in several(where[name]))
            for name, condition in self.conditions.items() if name in where
        }  # fmt: skip
        try:
            return self.cell_name.format(**shown)
        except (KeyError, IndexError, ValueError, AttributeError):
            return self.say(where)

    def say_demand(self, demand: Tolerance) -> str:
        """Return the numbers that a requirement applies to as text."""
        on = [self.say(demand.where), *(f"without {self.say(where)}" for where in demand.unless)]
        return self.label(demand.metric) + (f" ({'; '.join(filter(None, on))})" if any(on) else "")
