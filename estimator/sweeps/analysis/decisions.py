"""Decisions of cheap models, with a bound on the fraction of wrong ones.

A *question* is decided for every group of cells (the compared settings on one network): which setting is
best, or whether a goal holds in the cell of a setting. The cheap model gives an answer and a *distance*: by
how much its values would have to change for another answer. Packets are simulated in a random sample of
groups, so the *truth* is known there: the distance of the packet values on the side of the cheap answer,
above 0 if they agree.

A third of the sample, the learning part, gives the error of the model at each value of the axes: the root
mean square of truth - distance. Distances are divided by this error. The other n groups are for calibration:
the score of a group is its distance if the cheap answer is wrong, else 0. The limit is the score of rank
ceil((n + 1) (1 - wrong)). The cheap answer is accepted if its distance is above the limit. These n groups and
any group that is not sampled are exchangeable. So the probability that the latter is accepted and wrong is at
most `wrong`, for any model and any size of the sample. This is split conformal prediction (Vovk, Gammerman
and Shafer, "Algorithmic Learning in a Random World", 2005; Angelopoulos, Bates, Fisch, Lei and Schuster,
"Conformal risk control", 2022).
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
from netcarlo.sweeps.analysis import regression

if TYPE_CHECKING:
    import pandas as pd

MARGIN = "_margin"
"""Suffix of the column with the distance of a goal from its bound, see `Goal.margins`."""

MIN_CLEAR_SHARE = 0.1
"""Minimum fraction of clear groups in the calibration part for cheap models to be used."""

LEARNING_SHARE = 1 / 3
"""Fraction of the sample from which the error of the model is learned."""

MAX_ERROR = 3.0
"""Limit of a single error (natural logarithm of a factor of 20)."""

PRIOR = 5
"""Weight of the overall error in the error at a value of an axis [groups]."""

_STREAM = STREAM_HOST | (zlib.crc32(b"learners of a screening") >> 1)


@dataclass(frozen=True)
class Decision:
    """Decisions of the cheap model; all arrays are [groups]."""

    limits: dict[str, float]
    """Limit of the distance for each question, in units of the error; infinite if no answer is accepted."""
    clear: Bools
    """True if the distances of all questions are above their limits."""
    sample: Bools
    """True for groups of the random sample."""
    representative: Bools
    """True for calibration groups that are clear by the limits of all other groups. They represent the clear
    groups, because their own values do not influence their selection."""
    relative_distance: Floats
    """Least ratio of distance and limit over the questions."""
    share: float
    """Fraction of representative groups in the calibration part."""

    @property
    def useful(self) -> bool:
        """True if the cheap model may answer enough groups to be used."""
        return (
            self.share >= MIN_CLEAR_SHARE
            and int(np.count_nonzero(self.representative)) >= regression.MIN_PAIRS
        )


def min_groups(wrong: float) -> int:
    """Return the minimum number of groups in a sample for a fraction `wrong` of wrong decisions."""
    return math.ceil((math.ceil(1 / wrong - 1e-9) - 1) / (1 - LEARNING_SHARE))


def leads(values: Floats, outcome: Outcome, of: Ints | None = None) -> tuple[Ints, Floats]:
    """Return the best setting of each group, or `of`, and the difference of its score to the best other
    setting.

    `values` are [groups, settings]; scores are `Outcome.scores`. The difference is 0 if several are equally
    good.
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
    """Return the decisions of the cheap model from its `distances` [groups] and the `truths` of packets by
    question.

    A distance of 0 means that there is no answer. Truths outside the `sample` are ignored; NaN counts as
    wrong. `places` are the indices of the groups on each axis.
    """
    groups = np.flatnonzero(sample)
    order = np.argsort(uniforms(0, 0, groups, _STREAM), kind="stable")
    split = int(LEARNING_SHARE * len(groups))
    learners, calibrating = groups[np.sort(order[:split])], groups[np.sort(order[split:])]
    clear, representative = np.ones(len(sample), bool), np.ones(len(calibrating), bool)
    relative_distance, limits = np.full(len(sample), np.inf), {}
    for name, distance in distances.items():
        found = distance / _spreads(truths[name] - distance, learners, places)
        right = truths[name][calibrating] > 0
        limits[name], others = _limits(np.where(right, 0.0, found[calibrating]), wrong)
        clear &= (found > limits[name]) & (distance > 0)
        representative &= (found[calibrating] > others) & (distance[calibrating] > 0)
        limit = max(limits[name], 1e-9)
        relative = found / limit if math.isfinite(limit) else np.zeros(len(found))
        relative_distance = np.minimum(relative_distance, relative)
    stand = np.zeros(len(sample), bool)
    stand[calibrating] = representative
    return Decision(
        limits,
        clear,
        sample,
        stand,
        relative_distance,
        float(representative.mean()) if len(representative) else 0.0,
    )


def _spreads(off: Floats, learners: Ints, places: Sequence[Ints]) -> Floats:
    """Return the error of the cheap model at each group, from the differences `off` [groups] of the learning
    part.

    It is the product of the root mean square over all groups, and, for each axis, its ratio at the group's
    value of the axis.
    """
    squares = (
        np.clip(
            np.nan_to_num(off[learners], nan=MAX_ERROR, posinf=MAX_ERROR, neginf=-MAX_ERROR),
            -MAX_ERROR,
            MAX_ERROR,
        )
        ** 2
    )
    every = squares.mean() + 1e-12 if len(squares) else 1.0
    found = np.full(len(off), every)
    for place in places:
        size = int(place.max()) + 1
        total = np.bincount(place[learners], squares, size) + PRIOR * every
        found *= (total / (np.bincount(place[learners], minlength=size) + PRIOR) / every)[place]
    return np.asarray(np.sqrt(found))


def _limits(scores: Floats, wrong: float) -> tuple[float, Floats]:
    """Return the limit from all scores [n], and for each score the limit from all other scores, [n]."""
    n = len(scores)
    beyond = n - math.ceil((n + 1) * (1 - wrong) - 1e-9)
    if beyond < 0:
        return math.inf, np.full(n, math.inf)
    largest = np.append(np.sort(scores)[::-1], 0.0)
    limit, next_one = largest[beyond : beyond + 2]
    return float(limit), np.where(scores >= limit, next_one, limit)


def decide_from_tables(
    sweep: Mapping[str, Any], screened: "pd.DataFrame", cells: "pd.DataFrame", *, group: int
) -> Decision:
    """Return the decisions from tables of a store: rows by cheap models (`screened`), and by packets
    (`cells`).

    `sweep` is the entry of the manifest. Columns are cell, status, because (in `cells`), the outcome of the
    winner, and the margins of the goals. Missing and failed cells count as cells without an answer.
    """
    about, n_cells = sweep["auto"], int(sweep["n_cells"])
    sampled = cells[(cells["because"] == "sample").to_numpy()]
    sample = np.zeros(n_cells // group, bool)
    sample[sampled["cell"].to_numpy() // group] = True
    cheap, packets = (_columns(frame, n_cells, group) for frame in (screened, sampled))
    known: Bools = np.asarray(cheap("status").all(axis=1))
    if (
        not about["goals"] and not about["winner"]
    ):  # no questions: cheap models answer all groups that they can
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
    """Return the number of finished cells by the columns answered_by and because."""
    good = cells[(cells["status"] == "ok").to_numpy()]
    pairs = zip(good["answered_by"], good["because"], strict=True)
    return dict(sorted(Counter(pairs).items()))


def _places(sweep: Mapping[str, Any], groups: int) -> list[Ints]:
    """Return the indices of the groups on each axis except the compared one."""
    sizes = [len(axis["values"]) for axis in sweep["axes"] if axis["name"] != sweep["compare"]]
    points = math.prod(sizes)
    return (
        [np.asarray(place) for place in np.unravel_index(np.arange(groups) % points, sizes)] if sizes else []
    )


def _columns(frame: "pd.DataFrame", n_cells: int, group: int) -> Callable[[str], Floats]:
    """Return a function that returns a column of a table, float64[groups, group].

    Cells that are not finished are NaN. `status` is 1 for finished cells, else 0.
    """
    good = frame[(frame["status"] == "ok").to_numpy()]
    at = good["cell"].to_numpy()

    def column(name: str) -> Floats:
        found = np.full(n_cells, 0.0 if name == "status" else np.nan)
        found[at] = 1.0 if name == "status" else good[name].to_numpy(np.float64)
        return found.reshape(-1, group)

    return column
