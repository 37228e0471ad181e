"""Failures of cables: from the records of failures to the outages stored after the columns of links."""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.layout import Link, SharedRows
from netcarlo.networks import outages, rare
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.outages import AVAILABILITY, Outages, alternating
from netcarlo.networks.rare import RareOutages
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.json_schema import NUMBERS
from netcarlo.schema.record import Record

MAX_OUTAGES = 64
"""Maximum expected number of outages of a failure in a run."""
_PLACES = 64
"""Number of random streams of a failure: one per cable, and one for cables that fail together."""


class Failure(Record):
    """Failure of cables in both directions.

    The cables with these numbers fail together (shared duct or power supply); or `one` of all cables, drawn
    for every replication; or `each` cable independently.
    """

    cables: Literal["one", "each"] | Annotated[list[int], Field(min_length=1), NUMBERS]
    """Numbers of the cables that fail together; `one` for one random cable per replication; or `each` for
    independent failures of all cables."""
    outages: Outages
    """Outages of these cables in both directions: given times, or random with given means."""

    absent: ClassVar = AVAILABILITY

    @field_validator("cables", mode="before")
    @classmethod
    def _as_list(cls, cables: Any) -> Any:
        if cables in ("one", "each") or not isinstance(cables, str | int):
            return cables
        return str(cables).split()

    @model_validator(mode="after")
    def _each_on_its_own(self) -> Self:
        if self.cables == "each" and isinstance(self.outages, list):
            remedy = "write {up: 1 h, down: 10 s}, or cables: one"
            raise InputError(f"outages with cables: each must be random; {remedy}")
        if self.cables == "one" and isinstance(self.outages, RareOutages):
            raise InputError("outages of years are not those of one cable in each run; write cables: each")
        return self


def one_by_one(failures: list[Failure], cables: int) -> list[dict[str, Any]]:
    """Return the data of failures of which none is of `each` cable, of so many."""
    found: list[dict[str, Any]] = []
    for failure in failures:
        data = failure.model_dump(mode="json", exclude_none=True)
        each = failure.cables == "each" and isinstance(failure.outages, RareOutages)
        found += [{**data, "cables": [cable]} for cable in range(cables)] if each else [data]
    return found


def check(failures: list[Failure], cables: int, duration_s: float) -> None:
    """Raise InputError for cables that may not exist, and for more outages than rows can store."""
    for g, failure in enumerate(failures):
        name = f"shared.failures.{g}"
        for cable in failure.cables if isinstance(failure.cables, list) else []:
            if not 0 <= cable < cables:
                allowed = f"expected 0 to {cables - 1}"
                raise InputError(f"{name}.cables has {cable}, which is not a cable; {allowed}")
        random = None if isinstance(failure.outages, list) else failure.outages
        if random is not None and (most := random.expected(duration_s)) > MAX_OUTAGES:
            allowed = f"expected 0 to {MAX_OUTAGES}"
            remedy = "raise up, or shorten duration"
            raise InputError(f"{name}.outages can be up to {most:.0f} on average; {allowed}; {remedy}")


def most_pairs(failures: list[Failure]) -> int:
    """Return the maximum number of outages of a link."""
    random = MAX_OUTAGES + 6 * int(MAX_OUTAGES**0.5) + 1
    return sum(len(f.outages) if isinstance(f.outages, list) else random for f in failures)


def times(
    failures: list[Failure], draws: Draws, parameters: Ints, cables: Ints, *, before_s: float = 0.0
) -> Ints:
    """Return the outages [n, C, K, 2] [ns] of the cables, padded with FOREVER; `cables` [n] is their
    number. Those of `RareOutages` may begin up to `before_s` before the run, or earlier."""
    n, most = len(cables), int(cables.max(initial=1))
    of_cables: list[list[Ints]] = [[np.full((n, 0, 2), FOREVER)] for _ in range(most)]
    for g, failure in enumerate(failures):
        name = f"shared.failures.{g}"
        for cable, fails in enumerate(_which(failure, name, draws, cables)):
            place = g * _PLACES + (cable if failure.cables == "each" else _PLACES - 1)
            if fails.any():
                found = _outages(failure, name, draws, parameters, place, before_s)
                of_cables[cable].append(np.where(fails[:, None, None], found, FOREVER))
    merged = [outages.merged(np.concatenate(tables, axis=1)) for tables in of_cables]
    longest = max(table.shape[1] for table in merged)
    missing = [[(0, 0), (0, longest - table.shape[1]), (0, 0)] for table in merged]
    padded = [np.pad(table, by, constant_values=FOREVER) for table, by in zip(merged, missing, strict=True)]
    return np.stack(padded, axis=1)


def _which(failure: Failure, name: str, draws: Draws, cables: Ints) -> list[Any]:
    # For each cable, the rows [n] in which it fails.
    numbers = range(int(cables.max(initial=1)))
    if isinstance(failure.cables, list):
        return [np.full(len(cables), cable in failure.cables) for cable in numbers]
    if failure.cables == "each":
        return [cable < cables for cable in numbers]
    one = np.floor(draws.uniform(f"{name}.cable") * cables)
    return [one == cable for cable in numbers]


def _outages(
    failure: Failure, name: str, draws: Draws, parameters: Ints, place: int, before_s: float
) -> Ints:
    if isinstance(failure.outages, RareOutages):
        own = name if failure.cables != "each" else f"{name}.{place % _PLACES}"
        return rare.times(failure.outages, own, draws, parameters[:, RowP.END], before_s=before_s)
    if isinstance(failure.outages, list):
        return outages.given(failure.outages, name, draws)
    up, down = outages.means(failure.outages, name, draws).T
    return alternating(parameters, place, up=up, down=down)


def cables_of(back: Ints) -> Ints:
    """Return the cable of each link [L]; `back` [L] are the reverse links."""
    return np.unique(np.minimum(np.arange(len(back)), back), return_inverse=True)[1]


def placed(links: Ints, found: Ints, cables: Ints) -> Ints:
    """Return the links [n, L, ...] followed by the outages [n, C, K, 2] of their `cables` [L]."""
    n, most, behind = links.shape
    pairs = found[:, cables]
    links = np.concatenate([links, pairs.reshape(n, most, -1)], axis=2)
    count = (pairs[..., 0] < FOREVER).sum(axis=2)
    links[:, :, Link.OUTAGES] = np.where(count > 0, behind // 2, 0)
    links[:, :, Link.OUTAGES_END] = np.where(count > 0, behind // 2 + count, 0)
    return links


def interruptions(rows: SharedRows) -> list[Interruption]:
    """Return the outages of cables of the first row that begin before the end of its observation."""
    found = set()
    for link in rows.links[0]:
        spans = link[2 * link[Link.OUTAGES] : 2 * link[Link.OUTAGES_END]].reshape(-1, 2) / NS
        found |= {Interruption("outage", *span) for span in spans.tolist()}
    end_s = rows.parameters[0, RowP.END] / NS
    return sorted(each for each in found if each.start_s < end_s)
