"""Outages as users write them, and their times in each replication: given, or a two-state Markov chain."""

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import philox4x32
from netcarlo.kernels.shared.layout import PERIOD
from netcarlo.networks.rare import RareOutages
from netcarlo.numerics.arrays import Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import DAY, Duration, Time, bounds
from netcarlo.schema.record import Record


class Outage(Record):
    """A hop or cable is down in both directions from `start` for `duration`; duration 0 means no outage."""

    start: Time
    """Start time of the outage."""
    duration: Time
    """Duration of the outage; 0 means no outage."""


MAX_OUTAGES = 4096
"""Maximum expected number of outages of a hop in a run."""


class OnOff(Record):
    """A hop or cable that alternates between up and down, initially up: a two-state Markov chain.

    Up and down times are exponential with these means, drawn for every replication. With a mean `down` of 0
    it never goes down.
    """

    up: Duration
    """Mean of the exponential up times."""
    down: Time
    """Mean of the exponential down times; with 0 there are no outages."""

    @model_validator(mode="before")
    @classmethod
    def _no_years(cls, data: Any) -> Any:
        for name in ("up", "down") if isinstance(data, dict) else ():
            if _seconds(data.get(name)) > 10 * DAY:
                raise InputError(f"{name} = {data[name]} is longer than a run (10 days at most); {RARE}")
        return data

    def expected(self, duration_s: float) -> float:
        """Return the maximum expected number of outages in a run of this duration."""
        return duration_s / (bounds(self.up)[0] + bounds(self.down)[0])


_RATE = re.compile(
    r"years?\b|\b(yearly|annual(ly)?|months?|monthly|weeks?|weekly|daily|availability|nines)\b|"
    r"(\b(a|per|every)\b|/)\s*(day|hour|h)\b|%"
)
"""Words that describe outages by their rate or by availability."""
RARE = (
    "for outages of years write outages: {mtbf: 90 days, mttr: 4 h}, {down: 4 h a year, mttr: 4 h} or "
    "{availability: 99.95 %, mttr: 4 h}"
)
"""Remedy for outages such as 4 hours a year."""
AVAILABILITY = dict.fromkeys(
    ("availability", "uptime", "downtime", "mtbf", "mttr"), f"it is a field of outages; {RARE}"
)
"""Remedies for field names that hops, cables and failures do not have."""
_OF_RARE = {"mtbf", "mttr", "availability", "during"}
"""Fields that only rare outages have."""


def _seconds(time: Any) -> float:
    """Return a time [s]; 0 if the value is not a time."""
    try:
        return units.parse(time, units.TIME)
    except InputError:
        return 0.0


def _texts(data: Any) -> Iterator[str]:
    """Yield the texts in the value of `outages`, including field names."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for item in [*data, *data.values()] if isinstance(data, dict) else data:
            yield from _texts(item)


def _is_rare(data: Any) -> bool:
    """Return True for data of rare outages: they have a field of those, or a down time in each year."""
    if not isinstance(data, dict):
        return isinstance(data, RareOutages)
    return bool(_OF_RARE & set(data)) or (set(data) == {"down"} and "year" in str(data["down"]))


def _list_or_means(data: Any) -> Any:
    if isinstance(data, str) and "year" in data and data[:1].isdigit():
        data = {"down": data}
    if _is_rare(data):
        return data
    if any(_RATE.search(text) for text in _texts(data)):
        raise InputError(f"is not a list of outages, nor mean times; {RARE}")
    if isinstance(data, dict) and {"start", "duration"} & set(data):
        raise InputError("is one outage, not a list; write [{start: 50 s, duration: 10 s}]")
    if not isinstance(data, list | dict | OnOff):
        raise InputError("is neither a list of outages nor mean times; write {up: 20 s, down: 1 s}")
    return data


def _within_runs(data: Any) -> Any:
    data = _list_or_means(data)
    if _is_rare(data):
        raise InputError(
            "is rarer than a run, which is supported only with paths and shared links, because a station "
            "has no backup; write {up: 20 s, down: 1 s}"
        )
    return data


def _kind_of_outages(data: Any) -> str:
    return "<given>" if isinstance(data, list) else "<rare>" if _is_rare(data) else "<random>"


_Given = Annotated[list[Outage], Tag("<given>")]
_Random = Annotated[OnOff, Tag("<random>")]
_KIND = Discriminator(_kind_of_outages)
OutagesInRun = Annotated[_Given | _Random, _KIND, BeforeValidator(_within_runs)]
"""Outages listed one by one, or random."""
Outages = Annotated[
    _Given | _Random | Annotated[RareOutages, Tag("<rare>")], _KIND, BeforeValidator(_list_or_means)
]
"""Outages listed one by one, random, or rarer than a run."""
AnyOutages = list[Outage] | OnOff | RareOutages


def most_outages(outages: AnyOutages, duration_s: float) -> int:
    """Return the maximum number of outages in a run of this duration, except for one row in millions."""
    if isinstance(outages, list):
        return len(outages)
    # The variance is at most that of a Poisson number, as an up and a down time separate two outages.
    mean = outages.expected(duration_s)
    return math.ceil(mean + 6 * math.sqrt(mean)) + 1


def given(outages: list[Outage], name: str, draws: Draws) -> Ints:
    """Return start and end of the outages of a hop `name` [n, K, 2] [ns], see `merged`."""
    n = len(draws.replications)
    table = np.full((n, len(outages), 2), FOREVER, np.int64)
    for k, outage in enumerate(outages):
        start = draws.whole(f"{name}.outages.{k}.start", outage.start, NS)
        length = draws.whole(f"{name}.outages.{k}.duration", outage.duration, NS)
        table[:, k, 0] = np.where(length > 0, start, FOREVER)
        table[:, k, 1] = np.where(length > 0, start + length, FOREVER)
    return merged(table)


def means(outages: OnOff, name: str, draws: Draws) -> Ints:
    """Return the mean up and down times [n, 2] [ns] of a hop `name`."""
    of = ("up", outages.up), ("down", outages.down)
    return np.stack([draws.whole(f"{name}.outages.{field}", mean, NS) for field, mean in of], axis=1)


def merged(table: Ints) -> Ints:
    """Return outages [n, K, 2] in order of time, with overlapping ones merged, padded with FOREVER."""
    if table.shape[1] > 1:
        table = _by_start(table)
        for k in range(1, table.shape[1]):
            joined = table[:, k, 0] <= table[:, k - 1, 1]
            table[joined, k, 0] = table[joined, k - 1, 0]
            table[joined, k, 1] = np.maximum(table[joined, k, 1], table[joined, k - 1, 1])
            table[joined, k - 1] = FOREVER
        table = _by_start(table)
    return table


def from_start(table: Ints) -> Ints:
    """Return outages [..., K, 2] of a run that begins at 0, in order and without the times before it."""
    shape = table.shape
    table = table.reshape(-1, *shape[-2:])
    return _by_start(np.maximum(np.where(table[..., 1:] > 0, table, FOREVER), 0)).reshape(shape)


def _by_start(table: Ints) -> Ints:
    order = np.argsort(table[:, :, 0], axis=1, kind="stable")
    return np.take_along_axis(table, order[:, :, None], axis=1)


STREAM_SWITCH = 1 << 30
"""Base of the random streams of outages; add path * 64 + hop. Draw k is the k-th up (even) or down (odd)
time."""


def alternating(parameters: Ints, place: int, *, up: Ints, down: Ints) -> Ints:
    """Return outages [n, K, 2] [ns] of a hop that alternates between up and down, initially up; padded with
    FOREVER.

    Up and down times are exponential with means `up` and `down` [n] [ns]: a two-state Markov chain. Outages
    that begin before the end of the observation are included; a row with `down` = 0 has none. `place` is path
    * 64 + hop; `parameters` [n, len(P)] are those of the rows.
    """
    times: list[Ints] = []
    now, end = np.where(down > 0, 0, FOREVER), parameters[:, RowP.END]
    while len(times) % 2 or (now < end).any():
        mean = down if len(times) % 2 else up
        steps = _gaps(parameters, STREAM_SWITCH + place, len(times)) + 1  # in units of mean / 1024
        length = steps * (mean >> 10) + (steps * (mean & 1023) >> 10)  # avoids products beyond 63 bits
        now = np.minimum(now + length, FOREVER)
        times.append(now)
    table = np.stack(times, axis=1).reshape(len(now), -1, 2) if times else np.zeros((len(now), 0, 2), int)
    return np.where(table[..., :1] < end[:, None, None], table, FOREVER)


def _gaps(parameters: Ints, stream: int, k: int) -> Ints:
    """Return draw k of a random stream for each row [n]: geometric with mean 1,023, as in `kernels.loss`."""
    table = thresholds(PERIOD)[0].astype(np.uint64)
    seed, scenario, replication = (
        parameters[:, column].astype(np.uint64) for column in (RowP.SEED, RowP.SCENARIO, RowP.REPLICATION)
    )
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    gaps = np.zeros(len(parameters), np.int64)
    blocks = len(table) // 4
    for block in range(blocks):
        if table[4 * block] == 0:  # thresholds decrease: all further digits are 0
            break
        counter = np.full_like(seed, k * blocks + block), np.full_like(seed, stream)
        words = philox4x32(*counter, replication & low, scenario & low, seed & low, seed >> half)
        for place, word in enumerate(words):
            digit = 4 * block + place
            gaps |= (word < table[digit]).astype(np.int64) << digit
    return gaps
