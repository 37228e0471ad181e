"""Replicating until an estimate is precise, in the plainest way: what the package must equal."""

from collections.abc import Callable
from functools import partial

import numpy as np

from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import StoppingRule


def until_precise(rule: StoppingRule, draw: Callable[[int, int], Floats]) -> Floats:
    """Return the values of `draw(first, count)` until `rule` stops."""
    values = np.zeros(0)
    while batch := rule.next_after(len(values), partial(statistics.mean, values)):
        values = np.concatenate([values, draw(len(values), batch)])
    return values
