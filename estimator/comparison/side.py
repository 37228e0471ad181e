"""A side of a comparison: results of any kind as means in cells, and what they were made with."""

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
"""A value for each axis."""


@dataclass(frozen=True)
class Side:
    """One of the results that are compared."""

    label: str
    kind: str
    """`estimate`, `store`, `plan` or `study`; only the same kind is compared."""
    setting: Mapping[str, str]
    """What it was made with: versions, seed, replications, fields of the scenario."""
    axes: Mapping[str, str]
    """The axes that its cells have a value on, in order, and their SI units."""
    quantities: Mapping[str, Outcome]
    """What was found in each cell,"""
    estimates: Mapping[str, pd.DataFrame]
    """and the means of each: n, mean, error and df; of a plan low and high in place of these two.  The index
    are cells."""
    samples: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Where they are kept, the values: cells by numbers of replications, or of drawn networks."""
    stream: str = ""
    """Sides with the same have common random numbers."""
    blocks: Any = None
    """Of drawn networks, the block [draws] of each."""
    failed: frozenset[Cell] = frozenset()
    """Cells that could not be simulated."""
    outcomes: Outcomes | None = None
    """Of a scenario, its replications."""
    outside: str = ""
    """Sentence that names the quantities outside the validated range of the model; empty inside the range."""
    asked: tuple[str, ...] = ()
    """Quantities that the file of the side asks for: the outcomes of a sweep, the requirements of a plan, and
    goals."""


def cells(values: Iterable[Cell]) -> "pd.Index[Any]":
    """Cells as an index."""
    return pd.Index(list(values), dtype=object, tupleize_cols=False)


def estimates(at: "pd.Index[Any]", n: Any, mean: Any, error: Any, df: Any) -> pd.DataFrame:
    """Means in these cells with their standard errors and degrees of freedom."""
    return pd.DataFrame({"n": n, "mean": mean, "error": error, "df": df}, index=at)


def of_spread(at: "pd.Index[Any]", n: Any, mean: Any, sd: Any) -> pd.DataFrame:
    """Means of n independent values with this standard deviation."""
    counts = np.asarray(n, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.asarray(sd, np.float64) / np.sqrt(counts)
    return estimates(at, np.asarray(n), np.asarray(mean, np.float64), error, counts - 1)


def of_intervals(at: "pd.Index[Any]", n: Any, mean: Any, low: Any, high: Any, df: Any) -> pd.DataFrame:
    """Means of which the 95 % intervals are known: half of one is Student's quantile of errors."""
    degrees = np.asarray(df, np.float64)
    half: Floats = (np.asarray(high, np.float64) - np.asarray(low, np.float64)) / 2
    return estimates(
        at, np.asarray(n), np.asarray(mean, np.float64), half / statistics.student_t(degrees), degrees
    )


def of_means(at: "pd.Index[Any]", found: list[Mean], df: list[int]) -> pd.DataFrame:
    """The same of means with intervals."""
    n, mean, _, low, high = (np.array(column) for column in zip(*found, strict=True))
    return of_intervals(at, n, mean, low, high, df)


def written(data: Any) -> dict[str, str]:
    """The fields of a scenario by their dotted names, as texts; names and descriptions decide nothing."""
    return {name: _text(value) for name, value in fields.flat(data) if name not in fields.WORDS}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "unlimited" if math.isinf(value) else f"{value:.12g}"
    return str(value)


def versions(found: Mapping[str, str], models: str | None) -> dict[str, str]:
    """The versions of what made a result, netcarlo's first."""
    rest = {f"version of {name}": text for name, text in found.items() if name != "netcarlo"}
    return {"netcarlo": found.get("netcarlo", "?"), **({"models": models} if models else {}), **rest}
