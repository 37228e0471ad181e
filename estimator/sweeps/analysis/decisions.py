"""Which questions a cheap model may answer, with a bound on how many of its answers are wrong.

A *question* is asked of every group of cells (the compared settings on one network): which setting is best,
or does a goal hold in the cell of a setting.  The cheap model answers each with a *distance*: how far its
values would have to move for another answer.  Packets answer a random sample of groups, too, so that of these
the *truth* is known: how far packets are on the side of the cheap answer, above 0 where they agree.

A third of the sample, the learners, tells where the model is off, and by how much: a spread of truth -
distance at each value of the axes.  Distances are taken in units of it.  The n others calibrate: the score of
a group is its distance where the cheap answer is wrong, else 0, and the limit is the score of rank ceil((n +
1) (1 - wrong)).  The cheap answer is taken where its distance is beyond the limit.  As those n and any group
that is not sampled are exchangeable, that one is beyond it and wrong with probability `wrong` at most,
whatever the model and the spreads, and however small the sample: this is split-conformal prediction (Vovk,
Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005; Angelopoulos, Bates, Fisch, Lei and
Schuster, "Conformal risk control", 2022).
"""

import math
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netcarlo.kernels.base.layout import STREAM_HOST
from netcarlo.kernels.base.philox import uniforms
from netcarlo.networks.outcome import Outcome
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.sweeps.analysis import corrected

if TYPE_CHECKING:
    import pandas as pd

MARGIN = "_margin"
"""Of a goal: how far most replications are on its good side, see `Goal.margins`."""

LEAST = 0.1
"""Share of those that calibrate that must be clear for screening to be worth anything."""

LEARNERS = 1 / 3
"""Part of the sample."""

FAR = 3.0
"""More than this no difference counts for in a spread: a factor of 20."""

PRIOR = 5
"""Groups that the spread at a value of an axis is worth without any there: it is then that of all."""

_STREAM = STREAM_HOST | (zlib.crc32(b"learners of a screening") >> 1)


@dataclass(frozen=True)
class Decision:
    """What the cheap model may answer; all arrays are [groups]."""

    limits: dict[str, float]
    """By question, the distance beyond which it may, in spreads; infinite if never."""
    clear: Bools
    """All questions are beyond their limits."""
    sample: Bools
    """Those that packets answer for comparison."""
    alike: Bools
    """Those of them that would be clear by the limits of all others, so that their own part in the limits
    says nothing of how they differ: they stand for the clear ones."""
    sureness: Floats
    """The least distance of any question, over its limit."""
    share: float
    """Of those that calibrate, how many are alike."""

    @property
    def useful(self) -> bool:
        """Whether the cheap model may answer enough to be asked at all."""
        return self.share >= LEAST and int(np.count_nonzero(self.alike)) >= corrected.LEAST


def needed(wrong: float) -> int:
    """The fewest groups of a sample with which anything can be decided, so that a share `wrong` may be."""
    return math.ceil((math.ceil(1 / wrong - 1e-9) - 1) / (1 - LEARNERS))


def leads(values: Floats, outcome: Outcome, of: Ints | None = None) -> tuple[Ints, Floats]:
    """The best of the settings, of `values` [groups, settings], or the setting `of`, and its lead over all
    others.

    That is by `Outcome.scores`; 0 where several are equally good.
    """
    score = outcome.scores(values)
    best = score.argmax(axis=1) if of is None else of
    at = np.arange(len(score))
    mine = score[at, best]
    score[at, best] = -np.inf
    with np.errstate(invalid="ignore"):
        return best, np.nan_to_num(mine - score.max(axis=1), nan=0.0, posinf=np.inf, neginf=-np.inf)


def decide(
    distances: Mapping[str, Floats],
    truths: Mapping[str, Floats],
    sample: Bools,
    *,
    wrong: float,
    places: Sequence[Ints] = (),
) -> Decision:
    """What the cheap model may answer, given by question its `distances` [groups] and the `truths` of
    packets.

    A distance of 0 is no answer.  Truths of groups outside of the `sample` are not looked at; one that is NaN
    counts as wrong.  `places` are the points of the groups on each axis.
    """
    groups = np.flatnonzero(sample)
    order = np.argsort(uniforms(0, 0, groups, _STREAM), kind="stable")
    split = int(LEARNERS * len(groups))
    learners, calibrating = groups[np.sort(order[:split])], groups[np.sort(order[split:])]
    clear, alike = np.ones(len(sample), bool), np.ones(len(calibrating), bool)
    sureness, limits = np.full(len(sample), np.inf), {}
    for name, distance in distances.items():
        found = distance / _spreads(truths[name] - distance, learners, places)
        right = truths[name][calibrating] > 0
        limits[name], others = _limits(np.where(right, 0.0, found[calibrating]), wrong)
        clear &= (found > limits[name]) & (distance > 0)
        alike &= (found[calibrating] > others) & (distance[calibrating] > 0)
        sureness = np.minimum(sureness, found / max(limits[name], 1e-9))
    stand = np.zeros(len(sample), bool)
    stand[calibrating] = alike
    return Decision(limits, clear, sample, stand, sureness, float(alike.mean()) if len(alike) else 0.0)


def _spreads(off: Floats, learners: Ints, places: Sequence[Ints]) -> Floats:
    """How far `off` [groups] the cheap model is around each group, by those of the learners: a product of the
    root mean square of all of them and, for each axis, of what that is at the group's value of it, over that
    of all."""
    squares = np.clip(np.nan_to_num(off[learners], nan=FAR, posinf=FAR, neginf=-FAR), -FAR, FAR) ** 2
    every = squares.mean() + 1e-12 if len(squares) else 1.0
    found = np.full(len(off), every)
    for place in places:
        size = int(place.max()) + 1
        total = np.bincount(place[learners], squares, size) + PRIOR * every
        found *= (total / (np.bincount(place[learners], minlength=size) + PRIOR) / every)[place]
    return np.asarray(np.sqrt(found))


def _limits(scores: Floats, wrong: float) -> tuple[float, Floats]:
    """The limit from all scores [n], and from those of all others for each."""
    n = len(scores)
    beyond = n - math.ceil((n + 1) * (1 - wrong) - 1e-9)
    if beyond < 0:
        return math.inf, np.full(n, math.inf)
    largest = np.append(np.sort(scores)[::-1], 0.0)
    limit, next_one = largest[beyond : beyond + 2]
    return float(limit), np.where(scores >= limit, next_one, limit)


def judge(
    sweep: Mapping[str, Any], screened: "pd.DataFrame", cells: "pd.DataFrame", *, group: int
) -> Decision:
    """The decision from tables of a store: what cheap models say, and what packets answered in the sample.

    `sweep` is the manifest's entry.  Columns are cell, status, because (of `cells`), the outcome that is to
    be won, and the margins of the goals.  What is missing or failed is no answer.
    """
    about, n_cells = sweep["auto"], int(sweep["n_cells"])
    sampled = cells[(cells["because"] == "sample").to_numpy()]
    sample = np.zeros(n_cells // group, bool)
    sample[sampled["cell"].to_numpy() // group] = True
    cheap, packets = (_columns(frame, n_cells, group) for frame in (screened, sampled))
    known: Bools = np.asarray(cheap("status").all(axis=1))
    if not about["goals"] and not about["winner"]:  # all that cheap models know is theirs
        share = float(known[sample].mean()) if sample.any() else 0.0
        return Decision({}, known, sample, sample & known, np.where(known, np.inf, 0.0), share)
    distances: dict[str, Floats] = {}
    truths: dict[str, Floats] = {}
    if name := about["winner"]:
        best, lead = leads(cheap(name), BY_NAME[name])
        distances[name] = np.where(known, lead, 0.0)
        there = packets("status").all(axis=1)
        truths[name] = np.where(there, leads(packets(name), BY_NAME[name], best)[1], np.nan)
    for goal in about["goals"]:
        margins, theirs = cheap(goal + MARGIN), packets(goal + MARGIN)
        for k in range(group):
            distances[f"{goal}, {k}"] = np.nan_to_num(abs(margins[:, k]), nan=0.0, posinf=np.inf)
            truths[f"{goal}, {k}"] = np.sign(margins[:, k]) * theirs[:, k]
    return decide(distances, truths, sample, wrong=about["wrong"], places=_places(sweep, n_cells // group))


def answered(cells: "pd.DataFrame") -> dict[tuple[str, str], int]:
    """How many finished cells were answered by what, and because of what, from columns of a store."""
    good = cells[(cells["status"] == "ok").to_numpy()]
    pairs = zip(good["answered_by"], good["because"], strict=True)
    return dict(sorted(Counter(pairs).items()))


def _places(sweep: Mapping[str, Any], groups: int) -> list[Ints]:
    """The points of the groups on each axis but the compared one."""
    sizes = [len(axis["values"]) for axis in sweep["axes"] if axis["name"] != sweep["compare"]]
    points = math.prod(sizes)
    return (
        [np.asarray(place) for place in np.unravel_index(np.arange(groups) % points, sizes)] if sizes else []
    )


def _columns(frame: "pd.DataFrame", n_cells: int, group: int) -> Callable[[str], Floats]:
    """Columns of the finished cells of a table, float64[groups, group]; NaN elsewhere, of `status` 0 and
    1."""
    good = frame[(frame["status"] == "ok").to_numpy()]
    at = good["cell"].to_numpy()

    def column(name: str) -> Floats:
        found = np.full(n_cells, 0.0 if name == "status" else np.nan)
        found[at] = 1.0 if name == "status" else good[name].to_numpy(np.float64)
        return found.reshape(-1, group)

    return column
