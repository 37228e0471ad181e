"""Rules of claims as text, judged by confidence intervals.

`goodput[protocol=cubic] > goodput[protocol=newreno]`, `loss[hops=4] >= 70`, `gain between 10 and 30`,
`goodput within 5 % of published`, `goodput falls along hops`. A rule over a line must hold for each of its
cells.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.statistics import Mean
from netcarlo.schema import units
from netcarlo.schema.axes import DIMENSIONS
from netcarlo.studies.cells import Samples, estimate
from netcarlo.studies.claims import Verdict, either, ends, every, inside
from netcarlo.studies.quantities import InPrint, Scope, evaluate

_COMPARISON = re.compile(r"(>=|<=|>|<)")
_TREND = re.compile(r"(?P<of>.+?)\s+(?P<how>rises|falls)(?:\s+along\s+(?P<along>\w+))?", re.DOTALL)
_WITHIN = re.compile(
    r"(?P<of>.+?)\s+within\s+(?P<by>(?P<number>\S+?)\s*(?P<unit>[A-Za-z%][\w/%]*)?)\s+of\s+(?P<to>.+)",
    re.DOTALL,
)
_BETWEEN = re.compile(r"(?P<of>.+?)\s+between\s+(?P<low>.+?)\s+and\s+(?P<high>.+)", re.DOTALL)
_QUANTITY = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z%µ][\w/%]*)")


@dataclass(frozen=True)
class Judged:
    """Verdict on a rule, with the quantity that decides it."""

    verdict: Verdict
    """Verdict."""
    expression: str
    """Expression of the quantity."""
    samples: Samples
    """Values of the quantity in the cell nearest to the bound, one per replication."""
    margin: float
    """Mean distance of this cell from the bound; negative if the rule fails there."""


def judge(rule: str, scope: Scope, unit: str = "") -> Judged:
    """Return the verdict on a rule. `unit` is the unit of its quantity. Raises InputError."""
    found = [_one(part.strip(), scope, unit) for part in re.split(r"\sor\s", rule)]
    if len(found) == 1:
        return found[0]
    return replace(found[0], verdict=either(one.verdict for one in found))


def _one(rule: str, scope: Scope, unit: str) -> Judged:
    for pattern, of in ((_TREND, _trend), (_WITHIN, _within), (_BETWEEN, _between)):
        if match := pattern.fullmatch(rule):
            return of(match, scope, unit)
    parts = _COMPARISON.split(rule)
    if len(parts) < 3 or not all(map(str.strip, parts)):
        raise InputError(
            f"'{rule}' is not a rule; write A > B, A between 1 and 2, A within 5 % of published, or A falls "
            "along hops"
        )
    found = [
        _compared(parts[k].strip(), parts[k + 1], parts[k + 2].strip(), scope, unit)
        for k in range(0, len(parts) - 2, 2)
    ]
    return replace(found[0], verdict=every(one.verdict for one in found))


def _compared(left: str, sign: str, right: str, scope: Scope, unit: str) -> Judged:
    """Judge a comparison of two expressions, one of which may be a number with a unit."""
    a, b = _side(left, right, scope, unit), _side(right, left, scope, unit)
    if sign.startswith("<"):
        a, b, left, right, sign = b, a, right, left, sign.replace("<", ">")
    strict = sign == ">"
    if b.ndim == 0:
        pairs = [(one, float(b)) for one, _ in _rows(a, b)]
        verdicts = [_above(estimate(one), bound, strict=strict) for one, bound in pairs]
        distances = [float(np.mean(one)) - bound for one, bound in pairs]
        return _nearest(left, verdicts, [one for one, _ in pairs], distances)
    if a.ndim == 0:
        pairs = [(one, float(a)) for one, _ in _rows(b, a)]
        verdicts = [_below(estimate(one), bound, strict=strict) for one, bound in pairs]
        distances = [bound - float(np.mean(one)) for one, bound in pairs]
        return _nearest(right, verdicts, [one for one, _ in pairs], distances)
    more = [_numeric(one) - _numeric(other) for one, other in _rows(a, b)]
    verdicts = [_above(estimate(one), 0.0, strict=strict) for one in more]
    return _nearest(f"{left} - {right}", verdicts, more, [float(np.mean(one)) for one in more])


def _above(found: Mean, bound: float, *, strict: bool) -> Verdict:
    """Return `held` if the interval is above a bound; it may touch the bound unless `strict`."""
    if not strict:
        return inside(found, least=bound)
    low, high = ends(found)
    return "held" if low > bound else "not held" if high <= bound else "undecided"


def _below(found: Mean, bound: float, *, strict: bool) -> Verdict:
    """Return `held` if the interval is below a bound; it may touch the bound unless `strict`."""
    if not strict:
        return inside(found, most=bound)
    low, high = ends(found)
    return "held" if high < bound else "not held" if low >= bound else "undecided"


def _trend(match: re.Match[str], scope: Scope, unit: str) -> Judged:
    """Judge a rise or fall from each cell of a line to the next."""
    along, sign = match["along"], 1.0 if match["how"] == "rises" else -1.0
    scope = replace(scope, differing=set())
    line = evaluate(match["of"], scope)
    if line.ndim < 2:
        raise InputError(
            f"'{match['of']}' is the value of one cell; leave out a condition, or give several values"
        )
    if (along and along not in scope.differing) or len(scope.differing) > 1:
        names = ", ".join(sorted(scope.differing))
        raise InputError(
            f"'{match['of']}' varies with {names}, not only with {along or 'one'}; fix the others"
        )
    steps = [sign * (after - before) for before, after in pairwise(line)]
    verdicts = [_above(estimate(one), 0.0, strict=True) for one in steps]
    what = f"{match['how'].removesuffix('s')} of {match['of']}"
    return _nearest(what, verdicts, steps, [float(np.mean(one)) for one in steps])


def _within(match: re.Match[str], scope: Scope, unit: str) -> Judged:
    """Judge the distance of an expression from another one, or from its published value."""
    of, to, percent = match["of"], match["to"].strip(), match["unit"] == "%"
    try:
        by = float(match["number"]) / (100 if percent else 1)
    except ValueError:
        raise InputError(f"'{match['by']}' is not a number; write one such as 5 %") from None
    if match["unit"] and not percent:
        by = float(_side(match["by"], of, scope, unit))
    a = evaluate(of, scope)
    if to == "published":
        b = evaluate(of, replace(scope, source=InPrint(scope.study)))
    else:
        b = _side(to, of, scope, unit)
    verdicts, shown = list[Verdict](), []
    for one, other in _rows(a, b):
        if _constant(b):
            centre = float(np.ravel(other)[0])
            width = by * abs(centre) if percent else by
            values = one
        else:
            centre, width = (1.0, by) if percent else (0.0, by)
            values = _numeric(one) / _numeric(other) if percent else _numeric(one) - _numeric(other)
        verdicts.append(inside(estimate(values), centre - width, centre + width))
        shown.append((values, width - abs(float(estimate(values).mean) - centre)))
    return _nearest(of, verdicts, [values for values, _ in shown], [margin for _, margin in shown])


def _between(match: re.Match[str], scope: Scope, unit: str) -> Judged:
    """Judge whether an expression is between two numbers."""
    of = match["of"]
    low, high = (_side(match[side].strip(), of, scope, unit) for side in ("low", "high"))
    if not (_constant(low) and _constant(high)):
        raise InputError(f"'{match[0]}': bounds of between must be numbers; write two comparisons")
    least, most = (float(np.ravel(bound)[0]) for bound in (low, high))
    rows = [one for one, _ in _rows(evaluate(of, scope), low)]
    found = [estimate(one) for one in rows]
    margins = [min(one.mean - least, most - one.mean) for one in found]
    return _nearest(of, [inside(one, least, most) for one in found], rows, margins)


def _nearest(expression: str, verdicts: list[Verdict], rows: list[Samples], margins: list[float]) -> Judged:
    """Return the verdict over all rows, and the row with the smallest margin."""
    at = int(np.argmin(np.where(np.isnan(margins), -math.inf, margins)))
    return Judged(every(verdicts), expression, np.atleast_1d(rows[at]), float(margins[at]))


def _rows(a: Samples, b: Samples) -> Iterator[tuple[Samples, Samples]]:
    """Yield the cells of a line, or the only cell, with those of the other side."""
    if a.ndim > 1 and b.ndim > 1 and len(a) != len(b):
        raise InputError(f"{len(a)} cells are compared with {len(b)}; give the same conditions on both sides")
    count = max(len(one) if one.ndim > 1 else 1 for one in (a, b))
    for k in range(count):
        yield np.atleast_1d(a[k] if a.ndim > 1 else a), np.atleast_1d(b[k] if b.ndim > 1 else b)


def _constant(values: Samples) -> bool:
    """Return True for a number, and for published values, which have no interval."""
    return values.ndim == 0 or values.shape[-1] == 1


def _numeric(values: Samples) -> Any:
    return 100.0 * values if values.dtype == bool else values


def _side(text: str, other: str, scope: Scope, unit: str) -> Samples:
    """Return one side of a comparison: an expression, or a number that may have a unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return evaluate(text, scope)
    name = re.match(r"[A-Za-z_]\w*", other)
    measure = scope.study.description.measures.get(name[0]) if name else None
    alone = name is not None and re.fullmatch(r"\w+\s*(\[[^\[\]]*\])?", other) is not None
    own = measure.unit if measure is not None and alone else unit
    if match[2] == own:
        return np.asarray(float(match[1]))
    factor = converted(match[2], own) if own else None
    if factor is None:
        has = f"has the unit '{own}'" if own else "has no declared unit"
        raise InputError(
            f"'{text}': '{other}' {has}; write a number" + (f" in {own}" if own else " without unit")
        )
    return np.asarray(float(match[1]) * factor)


def converted(unit: str, to: str) -> float | None:
    """Return one `unit` in another one; None if they are not known or not compatible."""
    for dimension in DIMENSIONS:
        a, b = units.factor(unit, dimension), units.factor(to, dimension)
        if a is not None and b is not None:
            return float(a / b)
    return None
