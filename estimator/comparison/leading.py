"""Order of the differences of a comparison, and the quantities that come first."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from netcarlo.comparison.side import Side
from netcarlo.errors import InputError, suggest
from netcarlo.networks.outcome import Outcome, dimension
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units

SIGNIFICANCE = {"differs": 0, "noise": 1, "equal": 2, "unknown": 3}
"""Verdicts in the order in which they are shown."""


def leading(sides: Sequence[Side], of: Sequence[str] | None) -> tuple[str, ...]:
    """Return the quantities that come first: those in `of`, else those that the files request, else those of
    which more or less is better.

    Raises InputError if `of` names a quantity that no two sides have in common.
    """
    known = [name for name in sides[0].quantities if any(name in side.quantities for side in sides[1:])]
    known += [
        name for side in sides[1:-1] for name in side.quantities
        if name not in known and any(name in other.quantities for other in sides if other is not side)
    ]  # fmt: skip
    if of:
        for name in of:
            if name not in known:
                raise InputError(f"of: '{name}' was not measured on both sides; {suggest(name, known)}")
        return tuple(dict.fromkeys(of))
    asked = dict.fromkeys(name for side in sides for name in side.requested if name in known)
    directed = [name for name in known if _quantity(sides, name).better]
    return tuple(asked or directed or known)


def ordered(table: pd.DataFrame, sides: Sequence[Side], lead: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a comparison in the order in which they are shown.

    Leading quantities come first. Among them, significant differences come before others, then rates, times
    and shares before counts, then larger differences before smaller ones. The first leading rate, mostly the
    goodput, comes before larger differences.
    """
    outcomes = [str(name) for name in table.index.get_level_values("outcome")]
    follows = np.array([name not in lead for name in outcomes], dtype=bool)
    significance = table["verdict"].map(SIGNIFICANCE).to_numpy()
    kind: Ints = np.array([_kind(sides, name, lead) for name in outcomes], dtype=np.int64)
    order = np.lexsort((-sizes(table, sides), kind, significance, follows))
    return table.iloc[order]


def sizes(table: pd.DataFrame, sides: Sequence[Side]) -> Floats:
    """Return the sizes of the differences on one scale, [rows].

    The size of a share is the difference itself, because a large multiple of a tiny share is still tiny. The
    size of any other quantity is the difference over the larger value: 0.5 where one is twice the other, 1
    where one is 0.
    """
    outcomes = table.index.get_level_values("outcome")
    shares = np.array([_quantity(sides, str(name)).values.most == 1.0 for name in outcomes], dtype=bool)
    larger = table[["baseline", "other"]].abs().max(axis=1).to_numpy(np.float64)
    change = table["difference"].abs().to_numpy(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(larger > 0, change / larger, 0.0)
    return np.nan_to_num(np.where(shares, change, part))


def _kind(sides: Sequence[Side], name: str, lead: Sequence[str]) -> int:
    rate = next((each for each in lead if dimension(each) is units.RATE), None)
    if name == rate:
        return 0
    counted = dimension(name) in (units.PLAIN, units.PACKETS) and _quantity(sides, name).values.most != 1.0
    return 2 if counted else 1


def _quantity(sides: Sequence[Side], name: str) -> Outcome:
    return next(side.quantities[name] for side in sides if name in side.quantities)
