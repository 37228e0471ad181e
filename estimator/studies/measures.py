"""Functions that compute the metrics of a study, from its expressions and its code."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from netcarlo.errors import InputError, prefixed
from netcarlo.schema import expressions, units
from netcarlo.schema.axes import DIMENSIONS
from netcarlo.studies import quantities
from netcarlo.studies.cells import Cell, Cells, Derived, Metric, Samples
from netcarlo.studies.code import Code
from netcarlo.studies.comparison import Summaries
from netcarlo.studies.quantities import InPrint, Scope, Simulated
from netcarlo.studies.selection import Value
from netcarlo.studies.stated import Measure
from netcarlo.studies.study import Study


def metrics_of(study: Study, code: Code) -> dict[str, Metric | Derived]:
    """Return all metrics of a study by name."""
    found: dict[str, Metric | Derived] = dict(code.metrics)
    known = frozenset(found)
    for name, measure in study.description.measures.items():
        if quantities.is_derived(name, study, known):
            found[name] = Derived(partial(_derived, name, measure, code))
        else:
            found[name] = partial(_measured, name, measure, found)
    return found


def summaries_of(study: Study, code: Code) -> Callable[[Cells], Summaries]:
    """Return the function that computes the metrics that depend on several cells."""
    derived = {
        name: metric.of for name, metric in metrics_of(study, code).items() if isinstance(metric, Derived)
    }

    def summaries(cells: Cells) -> Summaries:
        own: dict[str, Any] = {name: partial(of, cells) for name, of in derived.items()}
        return {**own, **code.summaries(cells)}

    return summaries


def scope_of(study: Study, code: Code, cells: Cells | None) -> Scope:
    """Return the scope of expressions over simulated cells, or over the published numbers."""
    measures = study.description.measures
    single = {name for name in measures if not quantities.is_derived(name, study, frozenset(code.metrics))}
    source = InPrint(study) if cells is None else Simulated(cells)
    return Scope(study, source, frozenset(single | set(code.metrics)))


def _derived(
    name: str, measure: Measure, code: Code, cells: Cells, conditions: Mapping[str, Value]
) -> Samples:
    """Return a metric that depends on several cells, for some conditions."""
    scope = scope_of(cells.study, code, cells)
    at = dict(conditions)
    try:
        found = quantities.evaluate(measure.value, quantities.with_conditions(scope, at, name))
    except InputError as error:
        raise prefixed(error, f"metrics.{name}: ") from None
    if found.ndim > 1:
        raise InputError(
            f"metrics.{name}: '{measure.value}' has {len(found)} values for {quantities.shown({**at})}; give "
            "all conditions in brackets, or write max(), min() or mean()"
        )
    return np.atleast_1d(found)


def _measured(name: str, measure: Measure, metrics: Mapping[str, Any], cell: Cell) -> Samples:
    """Return a metric of one cell: outcomes converted to its unit, or an expression of other metrics."""
    words: dict[str, Any] = {}
    others = False

    def replaced(match: Any) -> str:
        nonlocal others
        word, inside, after = match["name"], match["inside"], match["after"] or ""
        if word in quantities.OPERATORS or after.strip() == "(":
            return str(match[0])
        key = f"_{len(words)}"
        if word != name and word in metrics:
            others = True
            words[key] = np.asarray(metrics[word](cell))
        else:
            words[key] = quantities.outcome(word, inside, cell)
        return key + after

    try:
        rewritten = quantities.WORD.sub(replaced, measure.value)
        found = np.asarray(expressions.evaluate(rewritten, words, quantities.FUNCTIONS))
    except InputError as error:
        raise prefixed(error, f"metrics.{name}: ") from None
    if found.dtype == bool:
        return np.array(np.broadcast_to(found, len(cell.frame)))
    scaled = found.astype(np.float64) if others else found.astype(np.float64) / factor(measure.unit)
    return np.array(np.broadcast_to(scaled, len(cell.frame)))


def factor(unit: str) -> float:
    """Return one unit in SI units; 1 if netcarlo does not know the unit."""
    for dimension in DIMENSIONS:
        if unit and (found := units.factor(unit, dimension)) is not None:
            return float(found)
    return 1.0
