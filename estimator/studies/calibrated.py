"""Section `calibration:` of a study: parameters with their ranges, targets, noise, effort."""

import re
from typing import Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.schema.expressions import check
from netcarlo.schema.record import Record


class Parameter(Record):
    """Free parameter, searched between `low` and `high` in steps of `step` [`unit`]."""

    label: str
    """Name of the parameter on the page."""
    unit: str = ""
    """Unit of its values."""
    low: float
    """Least value."""
    high: float
    """Largest value."""
    step: float = Field(gt=0)
    """Difference of neighbouring values."""

    @model_validator(mode="after")
    def _has_steps(self) -> Self:
        if not self.low + self.step <= self.high:
            raise InputError("step is wider than the range; lower step or raise high")
        return self

    @property
    def last(self) -> int:
        """Index of the last grid point; the first is 0."""
        return int((self.high - self.low) / self.step + 1e-9)

    @property
    def middle(self) -> int:
        """Index of the grid point in the middle."""
        return round(self.last / 2)

    def nearest(self, value: float) -> int:
        """Return the index of the grid point nearest to a value."""
        return min(max(round((value - self.low) / self.step), 0), self.last)

    def at(self, point: int) -> float:
        """Return the value of a grid point."""
        return float(f"{self.low + point * self.step:.12g}")


class Target(Record):
    """Published metric to fit, with the least error that can be expected of the model.

    The floor of the error is `relative` times the published value, and `absolute` in the unit of the metric.
    A metric may be a gain [%]: of the metric `of` in its cell over the same metric in the cell with
    conditions `over`.
    """

    relative: float = Field(default=0.0, ge=0)
    """Floor of the error, as a fraction of the published value."""
    absolute: float = Field(default=0.0, ge=0)
    """Floor of the error, in the unit of the metric."""
    of: str = ""
    """Metric of which the target is a gain; by default the target is not a gain."""
    over: dict[str, str | float] = {}
    """Conditions of the cell to which the gain refers."""

    @model_validator(mode="after")
    def _has_floor(self) -> Self:
        if not self.relative and not self.absolute:
            raise InputError("needs relative or absolute, the floor of the error; write relative: 0.01")
        return self


class Effort(Record):
    """Effort of the search. A candidate is a value for every parameter; a run is one replication of a cell.

    The evolution has `population` candidates per parameter and `generations` generations; each candidate has
    `replications` runs of every cell. The best `finalists` are retested on `again` runs with fresh random
    numbers, and the best quarter of these on `final` runs. Profiles have `points` values per parameter. The
    best candidates of the profiles are compared on `evaluation` runs, and all errors are computed from as
    many others.
    """

    population: int = Field(default=5, ge=2)
    """Number of candidates per parameter in a generation."""
    generations: int = Field(default=12, ge=1)
    """Number of generations."""
    replications: int = Field(default=8, ge=2)
    """Number of runs of every cell for each candidate."""
    finalists: int = Field(default=24, ge=1)
    """Number of candidates that are retested."""
    again: int = Field(default=16, ge=2)
    """Number of runs for each retested candidate."""
    final: int = Field(default=120, ge=2)
    """Number of runs for the best quarter of the retested candidates."""
    points: int = Field(default=7, ge=2)
    """Number of values per parameter in the coarse profile."""
    evaluation: int = Field(default=400, ge=2)
    """Number of runs for the comparison of the best candidates, and for the final errors."""


class Calibration(Record):
    """Section `calibration:` of `study.yaml`.

    In `set`, every `{expression}` of parameters is replaced by its value. Numbers that `repeatable` selects
    are assumed to be the result of every run, so a candidate whose runs differ there has a larger misfit. In
    cross-validation, every value of each condition in `leave_out` is left out once. The candidate `start`,
    such as the result of an earlier fit, takes part in the fit to all numbers and is kept unless another
    candidate is significantly better. Parameters that it does not name have the middle of their range.
    """

    parameters: dict[str, Parameter] = Field(min_length=1)
    """Free parameters by name."""
    set: dict[str, str] = Field(min_length=1)
    """Scenario fields that follow from the parameters; every `{expression}` is replaced by its value."""
    trial: dict[str, str] = {}
    """Scenario fields of all runs of the fit, such as a shorter duration."""
    targets: dict[str, Target] = Field(min_length=1)
    """Metrics to fit, by name."""
    runs_behind_the_table: float = Field(ge=1)
    """Assumed number of runs of which a published number is the mean."""
    repeatable: dict[str, str | float] | None = None
    """Conditions of numbers that are assumed to be the same in every run; by default there are none."""
    rise: float = Field(default=3.84, gt=0)
    """Rise of the misfit above the best one up to which a value of a parameter is not excluded."""
    leave_out: list[str] = []
    """Conditions of which every value is left out once for cross-validation."""
    start: dict[str, float] = {}
    """Additional candidate, such as the result of an earlier fit."""
    seed: int = Field(default=2, ge=0)
    """Seed of the search."""
    effort: Effort = Effort()
    """Effort of the search."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        used = " ".join(self.set.values())
        for template in self.set.values():
            for expression in template.split("{")[1:]:
                check(expression.partition("}")[0], self.parameters)
        for name in self.start:
            if name not in self.parameters:
                raise InputError(f"start.{name} is not a parameter; {suggest(name, self.parameters)}")
        for name in self.parameters:
            if not re.search(rf"\b{re.escape(name)}\b", used):
                raise InputError(f"parameters.{name} sets no field; use it in set or remove it")
        return self
