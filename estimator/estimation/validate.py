"""Validation against reference measurements: runs every scenario of a file and compares the results by
class."""

import math
from collections.abc import Mapping as Columns
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.estimation.reference import (
    WHOLE_RUN,
    Mapping,
    Metric,
    Part,
    PartRow,
    Ratio,
    load_mapping,
    mapping_of,
    measured,
    read_rows,
)
from netcarlo.numerics import statistics
from netcarlo.scenario import Scenario
from netcarlo.schema import document, kinds
from netcarlo.schema.arguments import checked
from netcarlo.schema.expressions import numbers
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import MEANING, Outcomes, values_of
from netcarlo.simulation.progress import Progress
from netcarlo.simulation.simulate import simulate_all

COLUMNS = [
    "id", "class", "metric", "reference", "reference_sd", "n_seeds",
    "estimate", "ci_low", "ci_high", "rel_error", "z",
]  # fmt: skip


Found = dict[str, tuple[Scenario, Outcomes]]
"""Scenario and outcomes of each run, by the suffix of the names of the outcomes."""


@dataclass(frozen=True)
class Validation:
    """Result of `validate`."""

    reference: str
    mapping: str
    rows: pd.DataFrame
    """One row per scenario and metric, with the columns `COLUMNS`; for flows and links (id/number) one row
    per classification.

    `rel_error` is (estimate - reference) / reference; `z` is the difference over its standard error, if the
    reference varies by seed.
    """

    @property
    def classes(self) -> pd.DataFrame:
        """Errors of each metric in each class, see `error_distribution`."""
        table = {
            (metric, name): error_distribution(group)
            for metric, rows in self.rows.groupby("metric", sort=False)
            for name, group in rows.groupby("class")
        }
        return pd.DataFrame(table).T.rename_axis(["metric", "class"])

    @property
    def sentence(self) -> str:
        """Relative errors of each metric in one sentence: median, 90th percentile, worst and bias."""
        once = self.rows.drop_duplicates(["id", "metric"])
        texts = []
        for metric, rows in once.groupby("metric", sort=False):
            unmet = np.isinf(rows["rel_error"].to_numpy(float))  # a reference of 0 has no relative error
            found = error_distribution(rows[~unmet])
            if not found["compared"]:
                texts.append(f"{metric}: no values to compare")
                continue
            errors = [f"{100 * found[name]:.3g} % {words}" for name, words in _ERRORS.items()]
            zeros = f" ({unmet.sum()} left out, whose measured value is 0)" if unmet.any() else ""
            texts.append(f"{metric}: error {', '.join(errors)}, bias {100 * found['bias']:+.3g} %{zeros}")
        n = once["id"].nunique()
        return f"{n} scenario{'' if n == 1 else 's'} of {Path(self.reference).name}. {'; '.join(texts)}."


_ERRORS = {"median": "in the median", "p90": "in nine of ten", "worst": "at worst"}
"""Statistics of the relative error that are named in a sentence."""


@checked
def validate(
    reference: str | Path,
    *,
    mapping: str | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Validation:
    """Run every scenario of a reference file and compare the estimates with its measured columns.

    `mapping` is the name of a built-in mapping or a user's YAML file (default: the YAML file beside the
    reference with its name, or else the built-in mapping of this name); `large` as in `estimate`. Raises
    InputError before any work.
    """
    kinds.refuse(reference, kinds.REFERENCE)
    document.read_text(reference)  # report a missing file before its missing mapping
    name = mapping or mapping_of(reference)
    rules = load_mapping(name)
    rows = read_rows(reference, rules)
    runs = [
        {end: row.scenario.model_copy(update=update) for end, update in _runs(rules).items()} for row in rows
    ]
    scenarios = [scenario for of_row in runs for scenario in of_row.values()]
    simulated = iter(simulate_all(
        [Job(scenario, 0, scenario.replications) for scenario in scenarios],
        target=target, threads=threads, progress=progress, large=large,
    ))  # fmt: skip
    table = []
    for row, of_row in zip(rows, runs, strict=True):
        found = {end: (scenario, next(simulated)) for end, scenario in of_row.items()}
        values = row.columns | _values(rules, found)
        for metric, expression in rules.metrics.items():
            table.append((row.id, row.class_, metric, *_compare(metric, expression, row.columns, values)))
        for name, part in rules.parts.items():
            table += _compare_part(part, name, row.parts[name], found)
    return Validation(str(reference), name, pd.DataFrame(table, columns=COLUMNS))


def _runs(rules: Mapping) -> dict[str, dict[str, Any]]:
    """Return the changed fields of each run of a scenario, by the suffix of the names of its outcomes."""
    return {"": {}} | ({WHOLE_RUN: {"warm_up": None}} if rules.counts_whole_runs else {})


def _values(rules: Mapping, found: Found) -> dict[str, Any]:
    """Return the outcomes of a scenario [n] by name, and those of its first flows."""
    values: dict[str, Any] = {}
    for end, (scenario, outcomes) in found.items():
        names = [*MEANING, *rules.of_classes]
        values |= {name + end: values_of(outcomes.frame, name) for name in names}
        if rules.numbered:
            flows = _of_part("flows", scenario, outcomes)
            for k in range(rules.numbered):
                values |= {f"{name}_{k + 1}{end}": each[:, k] for name, each in flows.items()}
    return values


def _compare_part(part: Part, name: str, rows: list[PartRow], found: Found) -> list[tuple[Any, ...]]:
    """Return the rows of the table for the flows or links of a scenario, one per classification."""
    named = {
        outcome + end: each for end, run in found.items() for outcome, each in _of_part(name, *run).items()
    }
    table = []
    for k, row in enumerate(rows):
        values = {**row.columns, **{outcome: each[:, k] for outcome, each in named.items()}}
        for metric, expression in part.metrics.items():
            compared = _compare(metric, expression, row.columns, values)
            table += [(row.id, class_, metric, *compared) for class_ in row.classes]
    return table


def _of_part(name: str, scenario: Scenario, outcomes: Outcomes) -> dict[str, Any]:
    """Return the outcomes of the flows or links [n, k] of a scenario."""
    built = build(scenario, replications=len(outcomes.frame)).rows
    return scenario.network.by_part(name, outcomes.integers, built)


def error_distribution(rows: pd.DataFrame) -> dict[str, float]:
    """Return statistics of the errors of rows of `Validation.rows`.

    Number of rows; mean, median, 90th percentile and maximum of the absolute relative error; bias (mean with
    sign); 90th percentile of the absolute error; root mean square of z; and median, 80th percentile and mean
    (with sign) of the logarithm of estimate over reference where both are positive.
    """
    both = rows[rows["reference"].notna() & rows["estimate"].notna()]
    relative = both["rel_error"].to_numpy(dtype=float)
    size = np.abs(relative)
    z = both["z"].dropna().to_numpy(dtype=float)
    some = both[(both["reference"] > 0) & (both["estimate"] > 0)]
    log = np.log((some["estimate"] / some["reference"]).to_numpy(dtype=float))
    absolute = (both["estimate"] - both["reference"]).abs().to_numpy(dtype=float)

    def share(values: Any, q: float) -> float:
        # method="higher" avoids interpolation towards an infinite error (reference 0).
        return float(np.quantile(values, q, method="higher")) if len(values) else math.nan

    return {
        "rows": len(rows),
        "compared": len(both),
        "mean": float(size.mean()) if len(size) else math.nan,
        "median": share(size, 0.5),
        "p90": share(size, 0.9),
        "worst": share(size, 1.0),
        "bias": float(relative.mean()) if len(relative) else math.nan,
        "absolute_p90": share(absolute, 0.9),
        "z_rms": float(np.sqrt(np.mean(z * z))) if len(z) else math.nan,
        "log_median": share(np.abs(log), 0.5),
        "log_p80": share(np.abs(log), 0.8),
        "log_bias": float(log.mean()) if len(log) else math.nan,
    }


def _compare(
    metric: str, expression: Metric, columns: Columns[str, Any], values: Columns[str, Any]
) -> tuple[float, ...]:
    """Return the values of `COLUMNS` after `metric`."""
    reference, sd, seeds = measured(metric, dict(columns))
    ours = statistics.mean(_samples(expression, values))
    difference = ours.mean - reference
    if reference:
        relative = difference / abs(reference)
    else:
        relative = 0.0 if difference == 0 else math.copysign(math.inf, difference)
    z = math.nan
    if sd > 0:
        own = ours.sd**2 / ours.n if ours.n > 1 else 0.0
        z = difference / math.sqrt(sd**2 / seeds + own)
    return reference, sd, seeds, ours.mean, ours.ci_low, ours.ci_high, relative, z


def _samples(expression: Metric, values: Columns[str, Any]) -> Any:
    """Return values [n] with the mean and spread of a metric; a ratio of means is linearised."""
    if not isinstance(expression, Ratio):
        return numbers(expression, values)
    pairs = [numbers(text, values) for text in (expression.sum, expression.over)]
    some = ~np.isnan(pairs).any(axis=0)
    total, over = (part[some] for part in pairs)
    if not over.sum():
        return np.full(1, math.nan)
    ratio = total.sum() / over.sum()
    return ratio + (total - ratio * over) / over.mean()
