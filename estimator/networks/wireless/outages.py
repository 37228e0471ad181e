"""Outages of an access point: from the user's description to the pairs read by the engine."""

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import Radio, WifiRows
from netcarlo.networks import outages as of_all
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.outages import OnOff, Outage, alternating
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws

MAX_OUTAGES = 64
"""Maximum expected number of outages in a run."""


def check(outages: list[Outage] | OnOff | None, duration_s: float) -> None:
    """Raise InputError for more outages than rows can store."""
    if isinstance(outages, OnOff) and (most := outages.expected(duration_s)) > MAX_OUTAGES:
        allowed = f"expected 0 to {MAX_OUTAGES}"
        remedy = "raise up, or shorten duration"
        raise InputError(f"wireless.outages can be up to {most:.0f} on average; {allowed}; {remedy}")


def most_pairs(outages: list[Outage] | OnOff | None) -> int:
    """Return the maximum number of outages of a row, except for one row in millions."""
    random = MAX_OUTAGES + 6 * int(MAX_OUTAGES**0.5) + 1
    return random if isinstance(outages, OnOff) else len(outages or [])


def times(outages: list[Outage] | OnOff | None, draws: Draws, parameters: Ints) -> Ints:
    """Return start and end of outages that begin before the end of the observation [n, K, 2] [ns], padded
    with FOREVER."""
    if outages is None:
        return np.zeros((len(parameters), 0, 2), np.int64)
    if isinstance(outages, OnOff):
        up, down = of_all.means(outages, "wireless", draws).T
        return alternating(parameters, 0, up=up, down=down)
    found = of_all.given(outages, "wireless", draws)
    end = parameters[:, RowP.END]
    return np.where(found[:, :, :1] < end[:, None, None], found, FOREVER)


def interruptions(rows: WifiRows) -> list[Interruption]:
    """Return the outages of the access point of the first row."""
    count, at = rows.parameters[0, [Radio.OUTAGES, Radio.OUTAGES_AT]]
    pairs = rows.network[0, at : at + 2 * count].reshape(-1, 2) / NS
    return [Interruption("outage", *span) for span in pairs.tolist()]
