"""Outages that are rarer or longer than a run: an alternating process at a random moment of the year."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.record import Record
from netcarlo.schema.units import YEAR

MTTR_S = 4 * 3600.0
"""Mean time to repair where none is given [s]."""

PARTS = "up", "failure", "down", "repair"
"""Parts of the year by what a run observes: no outage, the start of one, an outage throughout, its end."""

_A_YEAR = re.compile(r"\s*(?:\b(?:a|per|every|each)|/)\s*(?:year|yr)\s*$|\s*\b(?:yearly|annually)\s*$")


@dataclass(frozen=True)
class _PerYear(Quantity):
    """A time in each year, `4 h a year`; a float in seconds."""

    def _parse(self, value: Any) -> float:
        text = str(value)
        if not _A_YEAR.search(text):
            raise InputError("is not a time in each year; write 4 h a year")
        return super()._parse(_A_YEAR.sub("", text))

    def show(self, value: Any) -> Any:
        """Return the YAML value that `validate` reads back to the same number."""
        return f"{super().show(value)} a year"

    def near(self, limit: float) -> Any:
        """Return a limit as a user would write it."""
        return self.show(limit)

    @property
    def allowed(self) -> str:
        """Allowed range in words."""
        return f"{self.low:g} s to {self.high / 3600:g} h a year"


Long = Annotated[float, Quantity(units.TIME, 1.0, 100 * YEAR, random=False)]
Repair = Annotated[float, Quantity(units.TIME, 1e-3, YEAR, random=False)]
DownTime = Annotated[float, _PerYear(units.TIME, 1e-3, YEAR / 2, random=False)]
Share = Annotated[float, Quantity(units.FRACTION, 0.5, 0.9999999999, random=False)]


class RareOutages(Record):
    """Outages that are rarer or longer than a run, for `netcarlo availability`.

    Up times are exponential with mean `mtbf`, down times with mean `mttr`. In place of `mtbf` give the mean
    down time in a year, `down: 4 h a year`, or the `availability`. A run begins at a random moment of the
    year, or in the part of the year that `during` names.
    """

    mtbf: Long | None = None
    """Mean operating time between failures (IEC 60050-192): the mean up time, such as 90 days."""
    mttr: Repair = MTTR_S
    """Mean time to repair: the mean down time, such as 4 h."""
    down: DownTime | None = None
    """Mean down time in each year, such as 4 h a year."""
    availability: Share | None = None
    """Share of the year in which the hop or cable is up, such as 99.95 %."""
    during: Literal["up", "failure", "down", "repair"] | None = None
    """Part of the year that runs observe: `up` throughout, a `failure`, `down` throughout, or a `repair`.
    Default: a random moment of the year."""

    @model_validator(mode="after")
    def _has_a_rate(self) -> Self:
        rates = {"mtbf": self.mtbf, "down": self.down, "availability": self.availability}
        given = [name for name, value in rates.items() if value is not None]
        if len(given) != 1:
            found = "are all missing" if not given else "are all given"
            names = f"{', '.join(given[:-1])} and {given[-1]}" if given else "mtbf, down and availability"
            found = "are both given" if len(given) == 2 else found
            raise InputError(f"{names} {found}; write one of them, such as down: 4 h a year")
        return self

    @property
    def up_s(self) -> float:
        """Mean up time [s]."""
        if self.mtbf is not None:
            return self.mtbf
        share = self.availability if self.down is None else 1 - self.down / YEAR
        assert share is not None
        return self.mttr * share / (1 - share)

    @property
    def share_down(self) -> float:
        """Share of the year in which the hop or cable is down."""
        return self.mttr / (self.up_s + self.mttr)

    def expected(self, duration_s: float) -> float:
        """Return the expected number of outages in a time [s]."""
        return duration_s / (self.up_s + self.mttr)

    def shares(self, duration_s: float) -> dict[str, float]:
        """Return the share of the year of each of `PARTS`: the probability that a time [s] has it."""
        down = self.share_down
        stays, lasts = (float(portable.exp(np.array(-duration_s / mean))) for mean in (self.up_s, self.mttr))
        found = ((1 - down) * stays, (1 - down) * (1 - stays), down * lasts, down * (1 - lasts))
        return dict(zip(PARTS, found, strict=True))


class Rare(NamedTuple):
    """Outages of one hop or of cables that fail together, for `netcarlo availability`."""

    field: str
    """Field of the scenario with the record."""
    name: str
    """Name in tables: `cable 0`."""
    outages: RareOutages
    where: str = ""
    """Ends of the cable: `centre to branch`."""


def times(outages: RareOutages, name: str, draws: Draws, end_ns: Ints, *, before_s: float = 0.0) -> Ints:
    """Return outages [n, K, 2] [ns] in order of time, padded with FOREVER, drawn by the name of their hop.

    The process is stationary from `before_s` before the start of the run to its end `end_ns` [n] [ns]: this
    time has the part of the year `during`. Outages may begin before 0.
    """
    first = f"{name}.outages"
    end = end_ns / NS
    down = np.full(len(end), outages.during in ("down", "repair"))
    if outages.during is None:
        down = draws.uniform(f"{first}.during") < outages.share_down
    mean, u = np.where(down, outages.mttr, outages.up_s), draws.uniform(f"{first}.first")
    if outages.during in ("failure", "repair"):  # an exponential time, given that it ends before the end
        u = u * (1 - portable.exp(-(end + before_s) / mean))
    change = _exponential(mean, u) - before_s
    if outages.during in ("up", "down"):
        change = np.full(len(end), np.inf)
    age = _exponential(outages.mttr, draws.uniform(f"{first}.age"))
    repaired = change + _exponential(outages.mttr, draws.uniform(f"{first}.0.down"))
    edges = [np.where(down, -before_s - age, change), np.where(down, change, repaired)]
    while (edges[-1] < end).any():
        k = len(edges) // 2
        edges.append(edges[-1] + _exponential(outages.up_s, draws.uniform(f"{first}.{k}.up")))
        edges.append(edges[-1] + _exponential(outages.mttr, draws.uniform(f"{first}.{k}.down")))
    table = np.clip(np.stack(edges, axis=1) * NS, -float(FOREVER), float(1 << 61)).astype(np.int64)
    table = table.reshape(len(end), -1, 2)
    return np.where(table[..., :1] < end_ns[:, None, None], table, FOREVER)


def _exponential(mean: Floats | float, u: Floats) -> Floats:
    return np.asarray(-mean * portable.log(1 - u))
