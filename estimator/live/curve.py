"""Outcome as a function of one control: a curve by cheap models, points by packet simulation."""

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from netcarlo.errors import InputError
from netcarlo.live import figures, wording
from netcarlo.live.cache import ReplicationCache
from netcarlo.live.replications import LiveReplications
from netcarlo.live.url_state import State
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import Plot
from netcarlo.simulation.outcomes import BY_NAME

if TYPE_CHECKING:
    from netcarlo.live.scenario_page import ScenarioPage

PLACES = 17
"""Approximate number of positions of a slider at which the cheap model is evaluated."""


def outcome_curve(page: "ScenarioPage", state: State, *, budget_s: float) -> tuple[Plot, bool]:
    """Return the figure, and True if its curves are complete.

    Positions that have not been evaluated yet are evaluated for at most `budget_s` seconds.
    """
    started, curves, complete = time.perf_counter(), [], True
    for k, variant in enumerate(state.variants):
        share = started + budget_s * (k + 1) / len(state.variants)
        curve, all_of_it = _curve(page, state, variant, until=share)
        curves.append(curve)
        complete &= all_of_it
    points, now = [], list[tuple[int, Mean] | None]()
    for variant in state.variants:
        points.append(_points(page, state, variant))
        runs = page.cache.runs(page.scenario(state, variant=variant))
        look = runs.snapshot(state.of) or page.cache.preview(runs, state.of)
        now.append((state.place(state.against, variant=variant), look.mean) if look else None)
    values = [at[1].mean for at in now if at] + [v for curve in curves for _, v in curve.values()]
    scale, label = scales.scale(values, wording.unit(state.of)), BY_NAME[state.of].words
    return figures.outcome_curve(state.control(state.against), curves, points, now, scale, label), complete


def convergence(known: ReplicationCache, every: Sequence[LiveReplications], of: str) -> Plot:
    """Return the figure of the confidence interval against the number of replications, for each variant."""
    histories = [list(runs.history.get(of, ())) for runs in every]
    guesses = [known.preview(runs, of) for runs in every]
    values = [g.mean.mean for g in guesses if g] + [m.mean for history in histories for m in history]
    scale = scales.scale(values, wording.unit(of))
    return figures.convergence(
        histories, [g.mean.mean if g else None for g in guesses], scale, BY_NAME[of].words
    )


def _places(state: State) -> list[int]:
    """Return the positions at which the curve is evaluated, from coarse to fine."""
    n = len(state.control(state.against).places)
    step = max(1, math.ceil(n / PLACES))
    found: dict[int, None] = dict.fromkeys([0, n - 1])
    for stride in (8 * step, 4 * step, 2 * step, step):
        found |= dict.fromkeys(range(0, n, stride))
    return list(found)


def _at(page: "ScenarioPage", state: State, variant: bool, place: int) -> LiveReplications | None:
    moved = {state.against: place}
    try:
        return page.cache.runs(page.scenario(state, variant=variant, moved=moved))
    except InputError:
        return None  # this value cannot be combined with other fields of the state


def _curve(
    page: "ScenarioPage", state: State, variant: bool, *, until: float
) -> tuple[dict[int, tuple[str, float]], bool]:
    """Return fidelity and value of the outcome by position, and True if all positions are evaluated."""
    found: dict[int, tuple[str, float]] = {}
    for place in [state.place(state.against, variant=variant), *_places(state)]:
        runs = _at(page, state, variant, place)
        if runs is None:
            continue
        if time.perf_counter() > until and state.of not in runs.cheapest:
            return found, False
        try:
            guess = page.cache.preview(runs, state.of)
        except InputError:
            continue
        if guess is not None and math.isfinite(guess.mean.mean):
            found[place] = guess.by, guess.mean.mean
    return found, True


def _points(page: "ScenarioPage", state: State, variant: bool) -> dict[int, Mean]:
    """Return the mean by packet simulation at each position that a visitor has looked at."""
    found = {}
    for place in range(len(state.control(state.against).places)):
        try:
            runs = page.cache.cached(page.scenario(state, variant=variant, moved={state.against: place}))
        except InputError:
            continue
        look = runs.snapshot(state.of) if runs is not None else None
        if look is not None:
            found[place] = look.mean
    return found
