"""What a study declares about its calibration: parameters and ranges, targets, noise, effort."""

import re
from typing import Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.schema.expressions import check
from netcarlo.schema.record import Record


class Parameter(Record):
    """A free parameter, searched between `low` and `high` in steps of `step` [`unit`]."""

    label: str
    """What it is called."""
    unit: str = ""
    """Unit of its values."""
    low: float
    """Least value."""
    high: float
    """Largest value."""
    step: float = Field(gt=0)
    """From one value to the next."""

    @model_validator(mode="after")
    def _has_steps(self) -> Self:
        if not self.low + self.step <= self.high:
            raise InputError("step is wider than the range; lower step or raise high")
        return self

    @property
    def last(self) -> int:
        """The number of the last grid point; the first is 0."""
        return int((self.high - self.low) / self.step + 1e-9)

    @property
    def middle(self) -> int:
        """The number of the grid point in the middle."""
        return round(self.last / 2)

    def nearest(self, value: float) -> int:
        """The number of the grid point next to a value."""
        return min(max(round((value - self.low) / self.step), 0), self.last)

    def at(self, point: int) -> float:
        """The value of a grid point."""
        return float(f"{self.low + point * self.step:.12g}")


class Target(Record):
    """A published metric to be met, and how exactly the model can be expected to do so at best.

    The floor of the error is `relative` times the published value, and `absolute` in the metric's unit.
    A metric may be a gain: by how much `of`, a metric of its cell, exceeds that of the cell with the
    conditions `over` instead [%].
    """

    relative: float = Field(default=0.0, ge=0)
    """Floor of the error, as a share of the published value."""
    absolute: float = Field(default=0.0, ge=0)
    """Floor of the error, in the metric's unit."""
    of: str = ""
    """The metric whose gain it is; it is no gain unless given."""
    over: dict[str, str | float] = {}
    """Conditions of the cell that the gain is over."""

    @model_validator(mode="after")
    def _has_floor(self) -> Self:
        if not self.relative and not self.absolute:
            raise InputError("needs a floor of the error; write relative: 0.01")
        return self


class Effort(Record):
    """How long to search.  A candidate is a value for every parameter, a run one replication of a cell.

    A population holds `population` candidates per parameter and lives for `generations`; each candidate
    has `replications` runs of every cell.  The best `finalists` are judged again on `again` fresh ones, and
    the best quarter of those on `final` ones; profiles have `points` values per parameter.  The best of the
    profiles are judged on `evaluation` runs, and all errors are stated from as many others.
    """

    population: int = Field(default=5, ge=2)
    """Candidates per parameter."""
    generations: int = Field(default=12, ge=1)
    """Generations for which a population lives."""
    replications: int = Field(default=8, ge=2)
    """Runs of every cell for each candidate."""
    finalists: int = Field(default=24, ge=1)
    """Candidates that are judged again."""
    again: int = Field(default=16, ge=2)
    """Fresh runs of each of those."""
    final: int = Field(default=120, ge=2)
    """Fresh runs of the best quarter of those."""
    points: int = Field(default=7, ge=2)
    """Values per parameter of a profile."""
    evaluation: int = Field(default=400, ge=2)
    """Runs on which the best are judged; all errors are stated from as many others."""


class Calibration(Record):
    """The section `calibration:` of study.yaml.

    `set` names the scenario fields that follow from the parameters: a text in which every `{expression}`
    over parameters is replaced by its value.  All runs have the fields `trial`, a shorter duration say.  A
    published number is taken for the mean of `runs_behind_the_table` runs; one that `repeatable` selects for
    what every run gives, so that a candidate whose runs differ there has no excuse.  Of each condition in
    `leave_out`, every value is left out once.
    The candidate `start`, such as the result of an earlier fit, competes in the fit to all numbers and is
    kept if nothing is better beyond doubt; what it does not name is in the middle.  A value of a parameter
    is kept where the misfit is at most `rise` above the best.
    """

    parameters: dict[str, Parameter] = Field(min_length=1)
    """What is searched, by name."""
    set: dict[str, str] = Field(min_length=1)
    """Scenario fields that follow from the parameters; `{expression}` in them is replaced by its value."""
    trial: dict[str, str] = {}
    """Fields that all runs of the fit have, a shorter duration say."""
    targets: dict[str, Target] = Field(min_length=1)
    """Metrics to be met, by name."""
    runs_behind_the_table: float = Field(ge=1)
    """A published number is taken for the mean of so many runs."""
    repeatable: dict[str, str | float] | None = None
    """Selects numbers that every run is taken to give; none unless given."""
    rise: float = Field(default=3.84, gt=0)
    """A value of a parameter is kept where the misfit is at most so much above the best."""
    leave_out: list[str] = []
    """Conditions of which every value is left out once."""
    start: dict[str, float] = {}
    """A candidate that competes, such as the result of an earlier fit."""
    seed: int = Field(default=2, ge=0)
    """Of the search."""
    effort: Effort = Effort()
    """How long to search."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        used = " ".join(self.set.values())
        for template in self.set.values():
            for expression in template.split("{")[1:]:
                check(expression.partition("}")[0], self.parameters)
        for name in self.start:
            if name not in self.parameters:
                raise InputError(f"start.{name} is no parameter; {suggest(name, self.parameters)}")
        for name in self.parameters:
            if not re.search(rf"\b{re.escape(name)}\b", used):
                raise InputError(f"parameters.{name} sets no field; use it in set or remove it")
        return self
