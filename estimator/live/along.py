"""The outcome along a slider: by cheap models at its places, by packets at those that were looked at."""

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from netcarlo.errors import InputError
from netcarlo.live import figures, words
from netcarlo.live.address import State
from netcarlo.live.known import Known
from netcarlo.live.runs import Runs
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import Plot
from netcarlo.simulation.outcomes import BY_NAME

if TYPE_CHECKING:
    from netcarlo.live.of_scenario import OfScenario

PLACES = 17
"""Places of a slider, about, at which the cheap model draws its curve."""


def along(page: "OfScenario", state: State, *, budget_s: float) -> tuple[Plot, bool]:
    """The figure, and whether its curves are complete; new places get `budget_s` seconds."""
    started, curves, complete = time.perf_counter(), [], True
    for k, variant in enumerate(state.variants):
        share = started + budget_s * (k + 1) / len(state.variants)
        curve, all_of_it = _curve(page, state, variant, until=share)
        curves.append(curve)
        complete &= all_of_it
    points, now = [], list[tuple[int, Mean] | None]()
    for variant in state.variants:
        points.append(_points(page, state, variant))
        runs = page.known.runs(page.scenario(state, variant=variant))
        look = runs.look(state.of) or page.known.guess(runs, state.of)
        now.append((state.place(state.against, variant=variant), look.mean) if look else None)
    values = [at[1].mean for at in now if at] + [v for curve in curves for _, v in curve.values()]
    scale, label = scales.scale(values, words.unit(state.of)), BY_NAME[state.of].words
    return figures.along(state.control(state.against), curves, points, now, scale, label), complete


def settling(known: Known, every: Sequence[Runs], of: str) -> Plot:
    """How the intervals of variants shrink."""
    histories = [list(runs.history.get(of, ())) for runs in every]
    guesses = [known.guess(runs, of) for runs in every]
    values = [g.mean.mean for g in guesses if g] + [m.mean for history in histories for m in history]
    scale = scales.scale(values, words.unit(of))
    return figures.settling(
        histories, [g.mean.mean if g else None for g in guesses], scale, BY_NAME[of].words
    )


def _places(state: State) -> list[int]:
    """The places of the curve, coarse ones first."""
    n = len(state.control(state.against).places)
    step = max(1, math.ceil(n / PLACES))
    found: dict[int, None] = dict.fromkeys([0, n - 1])
    for stride in (8 * step, 4 * step, 2 * step, step):
        found |= dict.fromkeys(range(0, n, stride))
    return list(found)


def _at(page: "OfScenario", state: State, variant: bool, place: int) -> Runs | None:
    moved = {state.against: place}
    try:
        return page.known.runs(page.scenario(state, variant=variant, moved=moved))
    except InputError:
        return None  # fields that do not go together there


def _curve(
    page: "OfScenario", state: State, variant: bool, *, until: float
) -> tuple[dict[int, tuple[str, float]], bool]:
    """What cheap models say along a slider: by place, as far as time allows, and whether that is all."""
    found: dict[int, tuple[str, float]] = {}
    for place in [state.place(state.against, variant=variant), *_places(state)]:
        runs = _at(page, state, variant, place)
        if runs is None:
            continue
        if time.perf_counter() > until and state.of not in runs.firsts:
            return found, False
        try:
            guess = page.known.guess(runs, state.of)
        except InputError:
            continue
        if guess is not None and math.isfinite(guess.mean.mean):
            found[place] = guess.by, guess.mean.mean
    return found, True


def _points(page: "OfScenario", state: State, variant: bool) -> dict[int, Mean]:
    """What packets said at the places of the slider that were looked at."""
    found = {}
    for place in range(len(state.control(state.against).places)):
        try:
            runs = page.known.seen(page.scenario(state, variant=variant, moved={state.against: place}))
        except InputError:
            continue
        look = runs.look(state.of) if runs is not None else None
        if look is not None:
            found[place] = look.mean
    return found
