"""`fidelity: auto`: which cheap model stands for packets in a cell, what it may decide, and the random
sample.

All of it follows from the definition of the sweep, nothing from what was measured or how long it took.
"""

import math
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import STREAM_HOST
from netcarlo.kernels.base.philox import uniforms
from netcarlo.networks.family import Fidelity
from netcarlo.numerics.arrays import Bools
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.fidelity import CHEAP
from netcarlo.sweeps.analysis import decisions

LEAST_SAMPLE = 50
"""Groups, even where a promise needs fewer: from them the means are put right."""

Question = Literal["goals", "winner"]

_STREAM = STREAM_HOST | (zlib.crc32(b"sample of a screening") >> 1)


@dataclass(frozen=True)
class Screening:
    """What is asked of the cheap models of a sweep."""

    goals: tuple[str, ...]
    """To be decided in every cell."""
    winner: str | None
    """The outcome by which the best of each group is to be decided, or None."""
    wrong: float
    """The share of wrong decisions that is allowed, of each question."""
    share: float
    """Of the groups, to be sampled."""
    seed: int
    models: tuple[Fidelity | None, ...]
    """The cheap model of each variant."""
    known: Bools
    """bool[groups]: there is a cheap model for every cell of the group."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Columns of cells that decisions are made from."""
        return (*self.goals, *((self.winner,) if self.winner else ()))

    def sample(self) -> Bools:
        """A simple random sample of the groups, bool[groups], of those that a cheap model knows."""
        groups = np.flatnonzero(self.known)
        least = max(LEAST_SAMPLE, decisions.needed(self.wrong) if self.outcomes else 0)
        n = min(max(least, math.ceil(self.share * len(groups))), len(groups))
        order = np.argsort(uniforms(self.seed, 0, groups, _STREAM), kind="stable")
        found = np.zeros(len(self.known), bool)
        found[groups[order[:n]]] = True
        return found

    def record(self) -> dict[str, Any]:
        """What a store keeps of it, for JSON."""
        return {"goals": list(self.goals), "winner": self.winner, "wrong": self.wrong}


def cheap_model(scenario: Scenario, outcomes: Collection[str]) -> tuple[Fidelity | None, str]:
    """The first cheap model that knows a scenario and measures these outcomes; or None, and why the first
    does not."""
    reasons = []
    for fidelity in CHEAP:
        if problem := scenario.network.unknown(scenario, fidelity):
            reasons.append(f"{fidelity}: {problem}")
            continue
        have: Collection[str] = measurable.EVERYWHERE
        if not set(outcomes) <= measurable.EVERYWHERE:
            have = measurable.outcomes(scenario.model_copy(update={"fidelity": fidelity}))
        if lacking := [name for name in outcomes if name not in have]:
            reasons.append(f"{fidelity} does not measure {', '.join(lacking)}")
            continue
        return fidelity, ""
    return None, reasons[0]


def cheap_models(variants: Collection[Scenario], outcomes: Collection[str]) -> tuple[Fidelity | None, ...]:
    """The cheap model of each variant.  Raises InputError where there is none for any."""
    found = [cheap_model(variant, outcomes) for variant in variants]
    if not any(model for model, _ in found):
        raise InputError(f"fidelity = auto has no cheap model for this sweep ({found[0][1]}); write packet")
    return tuple(model for model, _ in found)
