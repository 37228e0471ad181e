"""Names of the columns of a sweep's results, and the check that names of the user do not repeat them."""

from collections.abc import Collection, Iterable, Mapping

from netcarlo.simulation.ensemble import FEATURES
from netcarlo.sweeps.analysis.decisions import MARGIN
from netcarlo.sweeps.space.places import Places

ANSWERED = ("answered_by", "because")
"""Columns of a sweep with `fidelity: auto`: the fidelity of a cell, and the reason for it."""

STATISTICS = ("_sd", "_low", "_high", "_n", "_q05", "_q25", "_q50", "_q75", "_q95")
"""Suffixes of the columns with statistics of an outcome."""

GAINS = ("_gain", "_gain_low", "_gain_high")
"""Suffixes of the columns with the paired difference from the baseline, and its interval."""

_OF_EACH_CELL = (
    "cell", "key", "status", "error", "draw", "block", "seed", "replications", "replication",
    *ANSWERED, *FEATURES,
)  # fmt: skip


def check_names(
    places: Places,
    *,
    outcomes: Iterable[str],
    fields: Collection[str],
    goals: Mapping[str, object],
    axes: Iterable[str],
) -> None:
    """Raise InputError for a goal or an axis with the name of a column.

    `fields` are the drawn and derived fields, which have a column each.
    """
    taken = {*_OF_EACH_CELL, *fields}
    for outcome in outcomes:
        taken |= {outcome + suffix for suffix in ("", *STATISTICS, *GAINS)}
    for place, names, suffixes in (("goals", goals, ("", "_low", "_high", MARGIN)), ("axes", axes, ("",))):
        for name in names:
            if name in taken:
                text = f"{place}.{name} has the name of a column of the results; choose another name"
                raise places.error((place, name), text)
            taken |= {name + suffix for suffix in suffixes}
