"""Which questions a cheap model may answer, with a bound on how many of its answers are wrong.

A *question* is asked of every group of cells (the compared settings on one network): which setting is best, or
does a goal hold in the cell of a setting.  The cheap model answers each with a *distance*: how far its values would
have to move for another answer.  Packets answer a random sample of n groups, too.  There the score of a group is its
distance where the cheap answer is wrong, else 0, and the limit is the score of rank ceil((n + 1) (1 - wrong)): the
cheap answer is taken where its distance is beyond the limit.  As the sampled groups and any other one are
exchangeable, that other one is beyond it and wrong with probability `wrong` at most, whatever the model and
however small the sample: this is split-conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic Learning in a
Random World", 2005; Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal risk control", 2022).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netcarlo.networks.outcome import Outcome
from netcarlo.numerics.arrays import Bools, Floats, Ints

UNKNOWN = -1
"""An answer that is none: values are missing, or equally good."""

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
    """bool[groups]: those of them that would be clear by the limits of all others, so that their own part in the limits
    says nothing of how they differ: they stand for the clear ones."""

    @property
    def share(self) -> float:
        """The share of the sample that is clear."""
        return float(self.alike[self.sample].mean()) if self.sample.any() else 0.0

    @property
    def useful(self) -> bool:
        """Whether the cheap model may answer enough to be asked at all."""
        return self.share >= LEAST and np.count_nonzero(self.alike) >= LEAST_CLEAR


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
    for name, found in cheap.items():
        score = np.where(found.answer != packets[name], found.distance, 0.0)[sample]
        limits[name], others = _limits(score, wrong)
        known = found.answer != UNKNOWN
        clear &= known & (found.distance > limits[name])
        alike[sample] &= known[sample] & (found.distance[sample] > others)
    return Decision(limits, clear, sample, alike)


def _limits(scores: Floats, wrong: float) -> tuple[float, Floats]:
    """The limit from all scores [n], and from those of all others for each."""
    n = len(scores)
    beyond = n - math.ceil((n + 1) * (1 - wrong) - 1e-9)
    if beyond < 0:
        return math.inf, np.full(n, math.inf)
    largest = np.append(np.sort(scores)[::-1], 0.0)
    limit, next_one = largest[beyond : beyond + 2]
    return float(limit), np.where(scores >= limit, next_one, limit)
