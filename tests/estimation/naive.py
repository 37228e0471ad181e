"""Naive loops that replicate until an estimate is precise; `netcarlo.estimation.sample` must equal them."""

from collections.abc import Callable
from functools import partial

import numpy as np

from netcarlo.estimation.control_variates import controlled, draws_needed
from netcarlo.estimation.sample import LEAST_RATIO
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, StoppingRule


def until_precise(rule: StoppingRule, draw: Callable[[int, int], Floats]) -> Floats:
    """Return the values of `draw(first, count)` until `rule` stops."""
    values = np.zeros(0)
    while batch := rule.next_after(len(values), partial(statistics.mean, values)):
        values = np.concatenate([values, draw(len(values), batch)])
    return values


def until_sharp(
    rule: StoppingRule, y: Floats, x: Floats, known: Floats | None = None, *, most: float
) -> tuple[int, int, Mean]:
    """Return the number of values `y` and controls `x` used until `rule` stops, and their mean."""
    runs = draws = 0
    seen = statistics.mean([])
    while more := rule.next_after(runs, partial(Mean, *seen)):
        runs += more
        draws = max(draws, runs)
        draws = max(draws, draws_needed(y[:runs], x[:draws], known, most=most))
        found = controlled(y[:runs], x[:draws], known)
        if found is None or (known is not None and found.variance_ratio < LEAST_RATIO):
            seen = statistics.mean(y[:runs])
        else:
            seen = found.mean
    return runs, draws, seen
