"""What a calibration finds, as records that a JSON file holds and a page shows."""

from pathlib import Path
from typing import Literal

from netcarlo.errors import InputError
from netcarlo.schema.document import read_text
from netcarlo.schema.problems import explain
from netcarlo.schema.record import Record
from netcarlo.studies.calibrated import Calibration

Verdict = Literal["identified", "bounded below", "bounded above", "not identified", "acts on nothing"]


class Step(Record):
    """A point of a profile: the misfit above the best, with its standard error."""

    value: float
    rise: float
    doubt: float
    kept: bool


class Parameter(Record):
    """A fitted parameter.

    `low` and `high` are the nearest values that the profile excludes, none where it excludes none.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    verdict: Verdict
    numbers: int
    """Of the published numbers, those on which it acts."""
    profile: list[Step]


class Number(Record):
    """A published number and ours, from random numbers that no search has seen."""

    conditions: dict[str, str | float]
    metric: str
    unit: str
    published: float
    estimate: float
    standard_error: float
    sd: float
    z: float
    """(ours - published) / sigma."""
    error: float
    """Relative where the target's floor is, else in the unit of the metric."""


class Errors(Record):
    """Absolute errors of the numbers of one metric."""

    metric: str
    n: int
    mean: float
    median: float
    worst: float
    worst_at: dict[str, str | float]


class Fold(Record):
    """A refit that has not seen some cells: its parameters and its errors on them."""

    condition: str
    value: str | float
    parameters: dict[str, float]
    unseen: list[str]
    """Parameters that act on none of the cells it has seen; they keep the middle of their range."""
    left_out: list[Errors]
    numbers: list[Number]
    """Those left out."""


class Work(Record):
    """The cost of the calibration."""

    candidates: int
    runs: int
    packets: int
    wall_s: float
    versions: dict[str, str]


class Calibrated(Record):
    """The content of calibration.json."""

    format: Literal[1] = 1
    study: str
    declared: Calibration
    metrics: dict[str, str]
    parameters: list[Parameter]
    settings: dict[str, str]
    """The scenario fields of the best candidate, as they are written in a file."""
    misfit: float
    doubt: float
    """Standard error of the misfit."""
    numbers: list[Number]
    in_sample: list[Errors]
    present: list[Errors]
    """Of the scenario files as they stood."""
    present_misfit: float
    left_out: list[Errors]
    """Over all folds of all conditions: every number once per condition left out."""
    folds: list[Fold]
    work: Work

    @property
    def chi_square(self) -> float:
        """Mean of z^2 over the numbers: about 1 where model and noise are right."""
        return sum(number.z**2 for number in self.numbers) / len(self.numbers)


def read(path: Path) -> Calibrated:
    """A calibration.json.  Raises InputError."""
    from pydantic import ValidationError

    text = read_text(path)
    try:
        return Calibrated.model_validate_json(text)
    except ValidationError as error:
        what = "is not JSON" if error.errors()[0]["type"] == "json_invalid" else explain(error).lines[0]
        raise InputError(
            f"{path}: is no calibration of this version ({what}); run netcarlo calibrate again"
        ) from None
