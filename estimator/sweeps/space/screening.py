"""`fidelity: auto`: which cheap model stands for packets in a cell, what it may decide, and the random
sample.

All of it follows from the definition of the sweep, nothing from what was measured or how long it took.
"""

import math
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from netcarlo.errors import InputError
from netcarlo.estimation.goals import Goal
from netcarlo.kernels.base.layout import STREAM_HOST
from netcarlo.kernels.base.philox import uniforms
from netcarlo.networks.family import Fidelity
from netcarlo.numerics.arrays import Bools, Ints
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.fidelity import CHEAP
from netcarlo.simulation.outcomes import BY_NAME
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

    def sample(self) -> Bools:
        """A simple random sample of the groups, bool[groups], of those that a cheap model knows."""
        groups = np.flatnonzero(self.known)
        least = max(LEAST_SAMPLE, decisions.needed(self.wrong) if self.goals or self.winner else 0)
        n = min(max(least, math.ceil(self.share * len(groups))), len(groups))
        order = np.argsort(uniforms(self.seed, 0, groups, _STREAM), kind="stable")
        found = np.zeros(len(self.known), bool)
        found[groups[order[:n]]] = True
        return found

    def record(self) -> dict[str, Any]:
        """What a store keeps of it, for JSON."""
        return {"goals": list(self.goals), "winner": self.winner, "wrong": self.wrong}


def asked(
    spec: Mapping[str, Any], *, goals: Mapping[str, Goal], outcomes: Sequence[str],
    variants: Sequence[Scenario], groups: Ints, seed: int,
) -> Screening:  # fmt: skip
    """What the section `auto` of a sweep asks, of cells whose variants are int64[groups, compared settings].

    `outcomes` are those by which settings are compared.  Raises InputError.
    """
    several = groups.shape[1] > 1
    winner = next((name for name in outcomes if several and BY_NAME[name].better), None)
    decide = spec.get("decide", ["goals"] if goals else ["winner"] if winner else [])
    if "goals" in decide and not goals:
        raise InputError("decide = goals, and there are none; write goals:, or leave it out")
    if "winner" in decide and not winner:
        needs = "compare: with an axis, and an outcome of which more or less is better"
        raise InputError(f"decide = winner, and nothing can be won; write {needs}, or leave it out")
    names = tuple(goals) if "goals" in decide else ()
    winner = winner if "winner" in decide else None
    needed = [goals[name].outcome for name in names] + ([winner] if winner else [])
    found = [cheap_model(variant, needed) for variant in variants]
    known = np.isin(groups, [i for i, (model, _) in enumerate(found) if model]).all(axis=1)
    if not known.any():
        reason = next(why for model, why in found if not model)
        raise InputError(f"fidelity = auto has no cheap model of what is compared ({reason}); write packet")
    return Screening(
        goals=names, winner=winner, wrong=spec["wrong"], share=spec["sample"], seed=seed,
        models=tuple(model for model, _ in found), known=np.asarray(known),
    )  # fmt: skip


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
