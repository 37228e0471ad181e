"""Side of a comparison: means by cell of a result of any kind, and the setting that produced them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.networks.outcome import Outcome
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean
from netcarlo.schema import fields
from netcarlo.simulation.outcomes import Outcomes

Cell = tuple[Any, ...]
"""Cell: a value for each axis."""


@dataclass(frozen=True)
class Side:
    """One of the results of a comparison."""

    label: str
    """Name of the side in tables and reports."""
    kind: str
    """`estimate`, `store`, `plan` or `study`. All sides of a comparison have the same kind."""
    setting: Mapping[str, str]
    """Versions, seed, replications, and fields of the scenario."""
    axes: Mapping[str, str]
    """Axes of the cells in order, with their SI units."""
    quantities: Mapping[str, Outcome]
    """Quantities by name."""
    estimates: Mapping[str, pd.DataFrame]
    """Means of each quantity, indexed by cells, with columns n, mean, error and df; of a plan low and high
    instead of error and df."""
    samples: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Single values of each quantity, if stored: a row for each cell, a column for each replication or drawn
    network."""
    stream: str = ""
    """Identifier of the random numbers. Sides with the same identifier have common random numbers."""
    blocks: Any = None
    """Block of each drawn network, [draws]; None without drawn networks."""
    failed: frozenset[Cell] = frozenset()
    """Cells that could not be simulated."""
    outcomes: Outcomes | None = None
    """Replications of a scenario; None for other results."""
    outside: str = ""
    """Sentence that names the quantities outside the validated range of the model; empty inside the range."""
    requested: tuple[str, ...] = ()
    """Quantities that the file requests: the outcomes of a sweep, the requirements of a plan, and goals."""


def cells(values: Iterable[Cell]) -> "pd.Index[Any]":
    """Return an index of cells."""
    return pd.Index(list(values), dtype=object, tupleize_cols=False)


def estimates(at: "pd.Index[Any]", n: Any, mean: Any, error: Any, df: Any) -> pd.DataFrame:
    """Return a table of means in these cells, with standard errors and degrees of freedom."""
    return pd.DataFrame({"n": n, "mean": mean, "error": error, "df": df}, index=at)


def from_sd(at: "pd.Index[Any]", n: Any, mean: Any, sd: Any) -> pd.DataFrame:
    """Return a table of means of n independent values with standard deviation `sd`."""
    counts = np.asarray(n, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.asarray(sd, np.float64) / np.sqrt(counts)
    return estimates(at, np.asarray(n), np.asarray(mean, np.float64), error, counts - 1)


def from_intervals(at: "pd.Index[Any]", n: Any, mean: Any, low: Any, high: Any, df: Any) -> pd.DataFrame:
    """Return a table of means with known 95 % intervals, whose half-width is Student's quantile times the
    error."""
    degrees = np.asarray(df, np.float64)
    half: Floats = (np.asarray(high, np.float64) - np.asarray(low, np.float64)) / 2
    return estimates(
        at, np.asarray(n), np.asarray(mean, np.float64), half / statistics.student_t(degrees), degrees
    )


def from_means(at: "pd.Index[Any]", found: list[Mean], df: list[int]) -> pd.DataFrame:
    """Return a table of `Mean` records with these degrees of freedom."""
    n, mean, _, low, high = (np.array(column) for column in zip(*found, strict=True))
    return from_intervals(at, n, mean, low, high, df)


def setting_fields(data: Any) -> dict[str, str]:
    """Return the fields of a scenario as texts by their dotted names, without name and description."""
    return {name: _text(value) for name, value in fields.flat(data) if name not in fields.WORDS}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "unlimited" if math.isinf(value) else f"{value:.12g}"
    return str(value)


def versions(found: Mapping[str, str], models: str | None) -> dict[str, str]:
    """Return the versions of the software that made a result, netcarlo first."""
    rest = {f"version of {name}": text for name, text in found.items() if name != "netcarlo"}
    return {"netcarlo": found.get("netcarlo", "?"), **({"models": models} if models else {}), **rest}
