"""Sensitivity of an outcome to the drawn inputs: Sobol indices.

The first-order index of an input is the fraction of the variance of the outcome that would vanish if this
input were known. Its total index is the fraction that would remain if all other inputs were known. Intervals
are from the jackknife over the independent blocks of the design.

The drawn fields that come from one written distribution, such as the rates of all hops of a list, are one
input (`designs.grouped`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.sweeps.space.designs import MIN_POINTS, Design, grouped

if TYPE_CHECKING:
    import pandas as pd

GROUPS = 32
"""Maximum number of groups of blocks for the jackknife."""
HARMONICS = 10
"""Number of harmonics of the Fourier series of the dependence on one input; the same as in SALib."""

Estimator = Callable[[NDArray[np.bool_]], Floats]


def indices(
    frame: "pd.DataFrame", *, inputs: Sequence[str], of: str, draw: Mapping[str, Any]
) -> "pd.DataFrame":
    """Return first-order and total indices of the outcome `of`, a row for each input.

    `frame` has a row for each drawn network (columns draw, block, seed and the outcome), `inputs` are all
    drawn fields in the order of the manifest, and `draw` is the entry of the manifest. A row of the result is
    a group of drawn fields (`designs.grouped`) with their number in the column fields. The columns first,
    first_low, first_high, total, total_low, total_high are estimates and 95 % intervals, which may be outside
    [0, 1]. Total indices are NaN unless the method is saltelli.

    * `saltelli`: the estimators of Saltelli et al. (Computer Physics Communications 181, 2010). All fields of
      a group are exchanged together (Sobol, 2001; as in SALib), so the indices of a group include the
      interactions within it. Base points with missing networks are left out. Stores of netcarlo 0.1 exchange
      each field alone; their result has a row for each field.
    * Other designs: first-order indices by the random balance design method with bias correction (Tarantola,
      Gatelli and Mara, 2006; Tissot and Prieur, 2012), on the numbers in the unit cube from which inputs are
      drawn. So an input need not vary smoothly, and need not exist in every network. The index of an input
      with jumps, such as a choice of two values, is 4 % too small. The index of a group is the sum of those
      of its fields, so it does not include interactions within the group and is a lower bound of the
      first-order index of the group.

    Networks without a finite outcome are left out; `attrs` of the result has the numbers `used` and
    `left_out`. Raises InputError if too few are left, if the outcome does not vary, or if a network has
    several rows.
    """
    import pandas as pd

    if of not in frame:
        known = frame.select_dtypes("number").columns
        raise InputError(f"the store has no outcome '{of}'; {suggest(of, known)}")
    if frame["draw"].duplicated().any():
        raise InputError(
            "a network has several rows, one for each value of the axes; choose one value of each axis"
        )
    rows = frame.sort_values("draw")
    number, block = rows["draw"].to_numpy(np.int64), rows["block"].to_numpy(np.int64)
    outcome = rows[of].to_numpy(np.float64)
    whole = _saltelli if draw["method"] == "saltelli" else _random_balance
    design, names = _design(frame, inputs, draw)
    estimator, block, used = whole(number, block, outcome, design, of)
    first_and_total, half = _jackknife(estimator, block)
    columns: dict[str, Any] = {"fields": np.bincount(design.groups, minlength=len(names))}
    for name, value, error in zip(("first", "total"), first_and_total, half, strict=True):
        columns |= {name: value, f"{name}_low": value - error, f"{name}_high": value + error}
    result = pd.DataFrame(columns, index=pd.Index(names, name="input"))
    result.attrs |= {"used": used, "left_out": len(rows) - used}
    return result


def _design(
    frame: "pd.DataFrame", inputs: Sequence[str], draw: Mapping[str, Any]
) -> tuple[Design, list[str]]:
    """Return the design of a store, and the names of its groups of inputs."""
    names, groups = grouped(inputs)
    if draw["method"] == "saltelli" and draw["size"] != draw["count"] * (len(names) + 2):
        names, groups = list(inputs), tuple(range(len(inputs)))
    design = Design(
        method=draw["method"],
        count=draw["count"],
        blocks=draw["blocks"],
        dimensions=len(inputs),
        groups=groups,
        seed=int(frame["seed"].iloc[0]),
    )
    return design, names


def _saltelli(
    number: NDArray[np.int64], block: NDArray[np.int64], outcome: Floats, design: Design, of: str
) -> tuple[Estimator, NDArray[np.int64], int]:
    """Return the estimator for a saltelli design, the block of each base point, and the number of
    networks."""
    width = design.size // design.count
    table = np.full((design.count, width), np.nan)
    table[number // width, number % width] = outcome
    blocks = np.full(design.count, -1)
    blocks[number // width] = block
    complete = np.isfinite(table).all(axis=1)
    y = _standardised(table[complete], of)
    a, b = y[:, 0], y[:, -1]

    def estimate(kept: NDArray[np.bool_]) -> Floats:
        return np.array(
            [[order(a[kept], y[kept, k], b[kept]) for k in range(1, width - 1)] for order in (_first, _total)]
        )

    return estimate, blocks[complete], width * len(y)


def _random_balance(
    number: NDArray[np.int64], block: NDArray[np.int64], outcome: Floats, design: Design, of: str
) -> tuple[Estimator, NDArray[np.int64], int]:
    """Return the estimator for other designs, the block of each network, and the number of networks."""
    there = np.isfinite(outcome)
    y = _standardised(outcome[there], of)
    points = design.points(number[there])

    def estimate(kept: NDArray[np.bool_]) -> Floats:
        alone = np.array([_balanced(points[kept, k], y[kept]) for k in range(design.dimensions)])
        first = np.bincount(design.groups, alone)
        return np.stack([first, np.full_like(first, np.nan)])

    return estimate, block[there], len(y)


def _first(a: Floats, ab: Floats, b: Floats) -> float:
    """Return the first-order index from outcomes at a, at a with one coordinate of b, and at b."""
    return float((b * (ab - a)).mean() / np.concatenate([a, b]).var())


def _total(a: Floats, ab: Floats, b: Floats) -> float:
    """Return the total index from outcomes at a, at a with one coordinate of b, and at b."""
    return float(((a - ab) ** 2).mean() / 2 / np.concatenate([a, b]).var())


def _balanced(x: Floats, y: Floats) -> float:
    """Return the first-order index of the input `x`: the fraction of the power of `y` in the first harmonics.

    `y` is ordered along every second value of `x` upwards, then along the others downwards. The expected
    power of these harmonics without any dependence is subtracted.
    """
    order = np.argsort(x)
    power = np.abs(np.fft.fft((y - y.mean())[np.concatenate([order[::2], order[1::2][::-1]])])) ** 2
    share = 2 * power[1 : HARMONICS + 1].sum() / power[1:].sum()
    chance = 2 * HARMONICS / len(y)
    return float(share - chance / (1 - chance) * (1 - share))


def _standardised(outcome: Floats, of: str) -> Floats:
    if not len(outcome):
        raise InputError(f"{of} has no value on any network; choose another outcome")
    if len(outcome) < MIN_POINTS:
        raise InputError(
            f"{of} has a value on {len(outcome)} networks or base points, and indices need {MIN_POINTS}; "
            "draw more networks (raise draw.count)"
        )
    sd = outcome.std()
    if not sd > 1e-12 * abs(outcome).max():
        raise InputError(
            f"{of} is the same on every network, so no input has an effect; choose another outcome"
        )
    return np.asarray((outcome - outcome.mean()) / sd)


def _jackknife(estimate: Estimator, block: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return an estimate and the half-width of its interval, from estimates without one group of blocks each.

    Source: Busing, Meijer and van der Leeden, "Delete-m jackknife for unequal m" (Statistics and Computing 9,
    1999).
    """
    which = np.unique(block, return_inverse=True)[1]
    blocks = which.max() + 1
    which = which * min(blocks, GROUPS) // blocks
    size = np.bincount(which)
    whole = estimate(np.ones(len(block), bool))
    if len(size) < 2:
        return whole, np.full_like(whole, np.nan)
    times = (len(block) / size)[:, None, None]
    without = np.stack([estimate(which != k) for k in range(len(size))])
    pseudo = times * whole - (times - 1) * without
    centre = len(size) * whole - ((1 - 1 / times) * without).sum(axis=0)
    variance = ((pseudo - centre) ** 2 / (times - 1)).mean(axis=0)
    return whole, np.asarray(statistics.student_t(len(size) - 1) * np.sqrt(variance))
