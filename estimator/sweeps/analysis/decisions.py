"""Which questions a cheap model may answer, with a bound on how many of its answers are wrong.

A *question* is asked of every group of cells (the compared settings on one network): which setting is best,
or does a goal hold in the cell of a setting.  The cheap model answers each with a *distance*: how far its
values would have to move for another answer.  Packets answer a random sample of n groups, too.  There the
score of a group is its distance where the cheap answer is wrong, else 0, and the limit is the score of rank
ceil((n + 1) (1 - wrong)): the cheap answer is taken where its distance is beyond the limit.  As the sampled
groups and any other one are exchangeable, that other one is beyond it and wrong with probability `wrong` at
most, whatever the model and however small the sample: this is split-conformal prediction (Vovk, Gammerman and
Shafer, "Algorithmic Learning in a Random World", 2005; Angelopoulos, Bates, Fisch, Lei and Schuster,
"Conformal risk control", 2022).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netcarlo.networks.outcome import Outcome
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.simulation.outcomes import BY_NAME

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN, FAILED = -1, -2
"""Answers that are none: values are missing, or equally good; and of packets, the cell failed."""

MARGIN = "_margin"
"""Of a goal, in what cheap models say: how far it is from failing, or from holding, see `Goal.margins`."""

LEAST, LEAST_CLEAR = 0.1, 10
"""Share of the sample, and groups of it, that must be clear for screening to be worth anything."""


class Answers(NamedTuple):
    """What a model answers to a question, of each group."""

    answer: Ints
    distance: Floats
    """0 where the answer is `UNKNOWN`."""


@dataclass(frozen=True)
class Decision:
    """What the cheap model may answer."""

    limits: dict[str, float]
    """By question, the distance beyond which it may; infinite if never."""
    clear: Bools
    """bool[groups]: all questions are beyond their limits."""
    sample: Bools
    """bool[groups]: those that packets answer for comparison."""
    alike: Bools
    """bool[groups]: those of them that would be clear by the limits of all others, so that their own part in
    the limits says nothing of how they differ: they stand for the clear ones."""

    sureness: Floats
    """By how much the group's worst question is beyond its limit (its distance over it), float64[groups]."""

    @property
    def share(self) -> float:
        """The share of the sample that is clear."""
        return float(self.alike[self.sample].mean()) if self.sample.any() else 0.0

    @property
    def useful(self) -> bool:
        """Whether the cheap model may answer enough to be asked at all."""
        return self.share >= LEAST and int(np.count_nonzero(self.alike)) >= LEAST_CLEAR


def needed(wrong: float) -> int:
    """The fewest groups of a sample with which anything can be decided, so that a share `wrong` may be."""
    return math.ceil(1 / wrong - 1e-9) - 1


def best(values: Floats, outcome: Outcome) -> Answers:
    """Which of the settings has the best value, of `values` [groups, settings].

    The distance is that to the second, by `Outcome.scores`.  Equally good ones are no answer.
    """
    score = outcome.scores(values)
    order = np.sort(score, axis=1)
    with np.errstate(invalid="ignore"):
        ahead = np.nan_to_num(order[:, -1] - order[:, -2], nan=0.0, posinf=np.inf)
    return Answers(np.where(ahead > 0, score.argmax(axis=1), UNKNOWN), ahead)


def held(margins: Floats) -> Answers:
    """Whether a goal holds, of `margins` [groups]: how far the value is on its good side."""
    known = ~np.isnan(margins) & (margins != 0)
    return Answers(np.where(known, margins > 0, UNKNOWN).astype(np.int64), np.where(known, abs(margins), 0.0))


def decide(
    cheap: Mapping[str, Answers], packets: Mapping[str, Ints], sample: Bools, *, wrong: float
) -> Decision:
    """What the `cheap` model may answer, given the answers of packets to the same questions.

    Those to groups outside of the `sample` are not looked at; in it, one that is `UNKNOWN` is no cheap one's.
    """
    limits, clear, alike = {}, np.ones(len(sample), bool), sample.copy()
    sureness = np.full(len(sample), np.inf)
    for name, found in cheap.items():
        score = np.where(found.answer != packets[name], found.distance, 0.0)[sample]
        limits[name], others = _limits(score, wrong)
        known = found.answer != UNKNOWN
        clear &= known & (found.distance > limits[name])
        with np.errstate(invalid="ignore", divide="ignore"):
            sureness = np.minimum(sureness, np.nan_to_num(found.distance / limits[name], posinf=np.inf))
        alike[sample] &= known[sample] & (found.distance[sample] > others)
    return Decision(limits, clear, sample, alike, sureness)


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
    about: Mapping[str, Any], screened: "pd.DataFrame", cells: "pd.DataFrame", *, group: int, n_cells: int
) -> Decision:
    """The decision from tables of a store: what cheap models say, and what packets answered in the sample.

    `about` is the manifest's entry `auto`.  Columns are cell, status, because (of `cells`), the outcome that
    is to be won, and the goals, of `screened` with their margins.  What is missing or failed is `UNKNOWN`.
    """
    sampled = cells[(cells["because"] == "sample").to_numpy()]
    sample = np.zeros(n_cells // group, bool)
    sample[sampled["cell"].to_numpy() // group] = True
    there = _columns(screened, n_cells, group)
    answered = _columns(sampled, n_cells, group)
    cheap: dict[str, Answers] = {}
    packets: dict[str, Ints] = {}
    if name := about["winner"]:
        found = best(there(name), BY_NAME[name])
        known = there("status").all(axis=1)
        cheap[name] = Answers(np.where(known, found.answer, UNKNOWN), np.where(known, found.distance, 0.0))
        truth = best(answered(name), BY_NAME[name]).answer
        packets[name] = np.where(answered("status").all(axis=1), truth, FAILED)
    for goal in about["goals"]:
        margins, shares = there(goal + MARGIN), answered(goal)
        for k in range(group):
            cheap[f"{goal}, {k}"] = held(margins[:, k])
            packets[f"{goal}, {k}"] = np.where(np.isnan(shares[:, k]), FAILED, shares[:, k] > 0.5)
    if not cheap:  # nothing is to be decided: all that cheap models know is theirs
        known = there("status").all(axis=1)
        return Decision({}, known, sample, sample & known, np.where(known, np.inf, 0.0))
    return decide(cheap, packets, sample, wrong=about["wrong"])


def answered(cells: "pd.DataFrame") -> dict[tuple[str, str], int]:
    """How many finished cells were answered by what, and because of what, from columns of a store."""
    good = cells[(cells["status"] == "ok").to_numpy()]
    pairs = zip(good["answered_by"], good["because"], strict=True)
    return dict(sorted(Counter(pairs).items()))


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
