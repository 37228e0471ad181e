"""Sensitivity: which of the drawn inputs an outcome depends on, and how much, by Sobol indices.

The first-order index of an input is the share of the outcome's variance over the networks that would
go if this input were known; its total index the share that would stay if all others were.
The intervals are of the jackknife over the independent blocks of the design.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.sweeps.space.designs import Design

if TYPE_CHECKING:
    import pandas as pd

LEAST = 64
"""Networks, or base points of a saltelli design, that indices need."""
GROUPS = 32
"""At most this many groups of blocks are left out in turn for the interval."""
HARMONICS = 10
"""Of the Fourier series that stands for the dependence on one input: as many as SALib has."""

Estimator = Callable[[NDArray[np.bool_]], Floats]


def indices(
    frame: "pd.DataFrame", *, inputs: Sequence[str], of: str, draw: Mapping[str, Any]
) -> "pd.DataFrame":
    """First and total indices of the outcome `of`, a row per input.

    `frame` has a row per drawn network (columns draw, block, seed and the outcome), `inputs` are all
    drawn fields in the manifest's order and `draw` is the manifest's.  Columns first, first_low,
    first_high, total, total_low, total_high: estimates and 95 % intervals, which may leave [0, 1] by
    their error.  Total indices are NaN unless the method is saltelli.

    * `saltelli`: the estimators of Saltelli et al. (Computer Physics Communications 181, 2010).  Base
      points without all of their networks are left out.
    * Other designs: first-order indices by the random balance design method with the correction of its
      bias (Tarantola, Gatelli and Mara, 2006; Tissot and Prieur, 2012), on the numbers in the unit cube
      that inputs are drawn from.  So an input need not vary smoothly, nor be there on every network: what
      counts is what the outcome owes to it where it is.  Jumps, as of a choice of two, count for 4 % less.

    Networks without a finite outcome are left out; `attrs` of the result counts those `used` and
    `left_out`.  Raises InputError where too few are left, where the outcome does not vary, and where a
    network has several rows.
    """
    import pandas as pd

    if of not in frame:
        raise InputError(f"there is no outcome '{of}'; {suggest(of, frame.select_dtypes('number').columns)}")
    if frame["draw"].duplicated().any():
        raise InputError(
            "a network has several rows, one for each value of the axes; choose one value of each axis"
        )
    rows = frame.sort_values("draw")
    number, block = rows["draw"].to_numpy(np.int64), rows["block"].to_numpy(np.int64)
    outcome = rows[of].to_numpy(np.float64)
    whole = _saltelli if draw["method"] == "saltelli" else _given
    design = _design(frame, inputs, draw)
    estimator, block, used = whole(number, block, outcome, design, of)
    first_and_total, half = _jackknife(estimator, block)
    columns: dict[str, Floats] = {}
    for name, value, error in zip(("first", "total"), first_and_total, half, strict=True):
        columns |= {name: value, f"{name}_low": value - error, f"{name}_high": value + error}
    result = pd.DataFrame(columns, index=pd.Index(list(inputs), name="input"))
    result.attrs |= {"used": used, "left_out": len(rows) - used}
    return result


def _design(frame: "pd.DataFrame", inputs: Sequence[str], draw: Mapping[str, Any]) -> Design:
    return Design(
        method=draw["method"],
        count=draw["count"],
        blocks=draw["blocks"],
        dimensions=len(inputs),
        seed=int(frame["seed"].iloc[0]),
    )


def _saltelli(
    number: NDArray[np.int64], block: NDArray[np.int64], outcome: Floats, design: Design, of: str
) -> tuple[Estimator, NDArray[np.int64], int]:
    """The estimator over base points, their blocks, and how many networks they are."""
    width = design.dimensions + 2
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


def _given(
    number: NDArray[np.int64], block: NDArray[np.int64], outcome: Floats, design: Design, of: str
) -> tuple[Estimator, NDArray[np.int64], int]:
    """The same over networks."""
    there = np.isfinite(outcome)
    y = _standardised(outcome[there], of)
    points = design.points(number[there])

    def estimate(kept: NDArray[np.bool_]) -> Floats:
        first = np.array([_balanced(points[kept, k], y[kept]) for k in range(design.dimensions)])
        return np.stack([first, np.full_like(first, np.nan)])

    return estimate, block[there], len(y)


def _first(a: Floats, ab: Floats, b: Floats) -> float:
    """The first-order index from outcomes at a, at a with one coordinate of b, and at b."""
    return float((b * (ab - a)).mean() / np.concatenate([a, b]).var())


def _total(a: Floats, ab: Floats, b: Floats) -> float:
    """The total index from the same."""
    return float(((a - ab) ** 2).mean() / 2 / np.concatenate([a, b]).var())


def _balanced(x: Floats, y: Floats) -> float:
    """The first-order index of the input `x`: the part of `y` in the first harmonics of a walk over `x`.

    The walk goes up over every second value and down over the others; what chance alone puts into so
    many harmonics is taken off.
    """
    order = np.argsort(x)
    power = np.abs(np.fft.fft((y - y.mean())[np.concatenate([order[::2], order[1::2][::-1]])])) ** 2
    share = 2 * power[1 : HARMONICS + 1].sum() / power[1:].sum()
    chance = 2 * HARMONICS / len(y)
    return float(share - chance / (1 - chance) * (1 - share))


def _standardised(outcome: Floats, of: str) -> Floats:
    if not len(outcome):
        raise InputError(f"{of} has no value on any network; name another outcome")
    if len(outcome) < LEAST:
        raise InputError(
            f"{of} has a value on {len(outcome)} networks or base points; indices need {LEAST}, draw more"
        )
    sd = outcome.std()
    if not sd > 1e-12 * abs(outcome).max():
        raise InputError(f"{of} is the same on every network; there is nothing that inputs could explain")
    return np.asarray((outcome - outcome.mean()) / sd)


def _jackknife(estimate: Estimator, block: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """An estimate and half the width of its interval, from estimates without one block at a time.

    Source: Busing, Meijer and van der Leeden, "Delete-m jackknife for unequal m" (Statistics and
    Computing 9, 1999).
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
