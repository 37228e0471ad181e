"""`fidelity: auto`: the cheap model of each cell, the questions that it may decide, and the random sample.

All of this follows from the definition of the sweep, not from results or timings.
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

MIN_SAMPLE = 50
"""Minimum number of groups in the sample; the means are corrected with them."""

Question = Literal["goals", "winner"]

_STREAM = STREAM_HOST | (zlib.crc32(b"sample of a screening") >> 1)


@dataclass(frozen=True)
class Screening:
    """Questions for the cheap models of a sweep."""

    goals: tuple[str, ...]
    """Goals to decide in every cell."""
    winner: str | None
    """Outcome by which the best setting of each group is decided; None if it is not decided."""
    wrong: float
    """Allowed fraction of wrong decisions on each question."""
    share: float
    """Fraction of the groups in the sample."""
    seed: int
    """Seed of the sample."""
    models: tuple[Fidelity | None, ...]
    """Cheap model of each variant; None if there is none."""
    known: Bools
    """True if every cell of the group has a cheap model, bool[groups]."""

    def sample(self) -> Bools:
        """Return a simple random sample of the groups that have a cheap model, bool[groups]."""
        groups = np.flatnonzero(self.known)
        least = max(MIN_SAMPLE, decisions.min_groups(self.wrong) if self.goals or self.winner else 0)
        n = min(max(least, math.ceil(self.share * len(groups))), len(groups))
        order = np.argsort(uniforms(self.seed, 0, groups, _STREAM), kind="stable")
        found = np.zeros(len(self.known), bool)
        found[groups[order[:n]]] = True
        return found

    def record(self) -> dict[str, Any]:
        """Return the entry of the manifest, as data for JSON."""
        return {"goals": list(self.goals), "winner": self.winner, "wrong": self.wrong}


def make_screening(
    spec: Mapping[str, Any], *, goals: Mapping[str, Goal], outcomes: Sequence[str],
    variants: Sequence[Scenario], groups: Ints, seed: int,
) -> Screening:  # fmt: skip
    """Return the screening that the section `auto` of a sweep describes.

    `groups` has the variant of each cell, int64[groups, compared settings]. `outcomes` are those by which
    settings are compared. Raises InputError.
    """
    several = groups.shape[1] > 1
    winner = next((name for name in outcomes if several and BY_NAME[name].better), None)
    decide = spec.get("decide", ["goals"] if goals else ["winner"] if winner else [])
    if "goals" in decide and not goals:
        raise InputError("decide = goals, but the sweep has no goals; write goals:, or remove decide")
    if "winner" in decide and not winner:
        raise InputError(
            "decide = winner needs a comparison of an outcome that has a direction, such as goodput_bps; "
            "write compare: with an axis and such an outcome, or remove decide"
        )
    names = tuple(goals) if "goals" in decide else ()
    winner = winner if "winner" in decide else None
    needed = [goals[name].outcome for name in names] + ([winner] if winner else [])
    found = [cheap_model(variant, needed) for variant in variants]
    known = np.isin(groups, [i for i, (model, _) in enumerate(found) if model]).all(axis=1)
    if not known.any():
        raise InputError(_refusal(groups, found))
    return Screening(
        goals=names, winner=winner, wrong=spec["wrong"], share=spec["sample"], seed=seed,
        models=tuple(model for model, _ in found), known=np.asarray(known),
    )  # fmt: skip


def _refusal(groups: Ints, found: Sequence[tuple[Fidelity | None, str]]) -> str:
    """Return the error for a sweep without a group that is covered, with the reasons in the groups that come
    nearest to it."""
    lacks = np.array([model is None for model, _ in found])[groups]
    count = lacks.sum(axis=1)
    nearest = int(count.argmin())
    reasons = dict.fromkeys(found[variant][1] for variant in groups[nearest][lacks[nearest]])
    text = f"fidelity = auto has no cheap model for this sweep ({'; '.join(reasons)}); write packet"
    if count[nearest] == groups.shape[1]:
        return text
    few = f"{count[nearest]} of the {groups.shape[1]} compared settings"
    return (
        f"fidelity = auto has no cheap model for {few}, and decides whole comparisons "
        f"({'; '.join(reasons)}); write packet, or leave these settings out"
    )


def cheap_model(scenario: Scenario, outcomes: Collection[str]) -> tuple[Fidelity | None, str]:
    """Return the first cheap model that supports a scenario and has these outcomes, and an empty string.

    If there is none, return None and the reason for the first model.
    """
    reasons = []
    for fidelity in CHEAP:
        if problem := scenario.network.unknown(scenario, fidelity):
            reasons.append(f"{fidelity}: {problem}")
            continue
        have: Collection[str] = measurable.EVERYWHERE
        if not set(outcomes) <= measurable.EVERYWHERE:
            have = measurable.outcomes(scenario.model_copy(update={"fidelity": fidelity}))
        if lacking := [name for name in outcomes if name not in have]:
            reasons.append(f"{fidelity} does not have {', '.join(lacking)}")
            continue
        return fidelity, ""
    return None, reasons[0]
