"""What the page shows at a state: numbers, figures and a table, as far as they are known by now."""

import math
import time
from dataclasses import dataclass

from netcarlo.errors import InputError
from netcarlo.live import figures, words
from netcarlo.live.address import State
from netcarlo.live.desk import Desk, Wanted
from netcarlo.live.runs import Look, Runs
from netcarlo.live.subject import Subject
from netcarlo.networks.outcome import Outcome
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import Plot
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import BY_NAME, values_of

PLACES = 17
"""Places of a slider, about, at which the cheap model draws its curve."""


@dataclass
class Numbers:
    """The answers of a state, and how to get them again."""

    items: list[tuple[str, str, str, str, str]]
    """Of each variant, and of their difference: name, number, unit, interval, what answered."""
    commands: list[str]


@dataclass
class Figures:
    """What stands below them, and whether all of it is as it will stay."""

    along: Plot
    settling: Plot
    table: list[tuple[str, str, str, str]]
    """Of each outcome: in words, number with unit, interval, meaning."""
    rest: bool


def numbers(subject: Subject, desk: Desk, state: State, visitor: str) -> Numbers:
    """What is known at a state now; asks the desk for the rest.  Raises InputError."""
    every = runs_of(subject, desk, state)
    desk.look_at(visitor, [Wanted(runs, state.of) for runs in every])
    for runs in every:
        if problem := desk.error(runs):
            raise InputError(problem)
        if not runs.done("packet") and not _guess(desk, runs, state.of):
            measurable.check([state.of], runs.scenario)
    looks = [runs.look(state.of) or _guess(desk, runs, state.of) for runs in every]
    names = _names(state)
    items = [
        _item(desk, runs, look, state.of, name)
        for runs, look, name in zip(every, looks, names, strict=True)
    ]
    if len(every) > 1:
        items.append(_difference(every, looks, state.of))
    commands = [
        subject.command(state, runs.control(state.of), variant=variant)
        for runs, variant in zip(every, _variants(state), strict=True)
    ]
    return Numbers(items, commands)


def _variants(state: State) -> tuple[bool, ...]:
    return (False,) if state.variant is None else (False, True)


def runs_of(subject: Subject, desk: Desk, state: State) -> list[Runs]:
    """The replications of each variant.  Raises InputError."""
    return [desk.runs(subject.scenario(state, variant=variant)) for variant in _variants(state)]


def figures_of(subject: Subject, desk: Desk, state: State, *, budget_s: float) -> Figures:
    """The figures of a state as far as they are known; new places of the curve get `budget_s` seconds."""
    started, variants, every = time.perf_counter(), _variants(state), runs_of(subject, desk, state)
    guesses = [_guess(desk, runs, state.of) for runs in every]
    looks = [runs.look(state.of) or guess for runs, guess in zip(every, guesses, strict=True)]
    curves, complete = [], True
    for k, variant in enumerate(variants):
        share = started + budget_s * (k + 1) / len(variants)
        curve, all_of_it = _curve(subject, desk, state, variant, until=share)
        curves.append(curve)
        complete &= all_of_it
    points = [_points(subject, desk, state, variant) for variant in variants]
    control, label = state.control(state.against), BY_NAME[state.of].words
    values = [look.mean.mean for look in looks if look] + [v for curve in curves for _, v in curve.values()]
    scale = scales.scale(values, words.unit(state.of))
    now = [
        (state.place(state.against, variant=variant), look.mean) if look else None
        for variant, look in zip(variants, looks, strict=True)
    ]
    histories = [list(runs.history.get(state.of, ())) for runs in every]
    settled = all(runs.step(state.of) is None for runs in every)
    return Figures(
        figures.along(control, curves, points, now, scale, label),
        figures.settling(histories, [g.mean.mean if g else None for g in guesses], scale, label),
        _table(every[0], state.of),
        (complete and settled) or any(map(desk.error, every)),
    )


def _guess(desk: Desk, runs: Runs, of: str) -> Look | None:
    """The cheap answer, unless its model is not compiled yet."""
    kind = runs.first(of)
    return runs.guess(of) if kind and desk.ready(runs.scenario, kind) else None


def _names(state: State) -> list[str]:
    if state.variant is None:
        return [BY_NAME[state.of].words]
    differs = [
        f"{state.control(n).label} {state.control(n).texts[p]}"
        for n, p in state.variant.items() if p != state.place(n)
    ]  # fmt: skip
    return [BY_NAME[state.of].words, f"what if {', '.join(differs)}" if differs else "what if: move an orange control"]


def _item(desk: Desk, runs: Runs, look: Look | None, of: str, name: str) -> tuple[str, str, str, str, str]:
    if look is None:
        why = "" if runs.first(of) else words.none(runs, of)
        return name, "…", "", "", desk.doing or why or "simulating the first packets"
    scale = scales.scale([look.mean.mean], words.unit(of))
    by = words.kind(runs, look, of)
    if look.by != "packet":
        by += f"; {desk.doing}" if desk.doing else ""
    return name, words.number(look.mean, scale), scale.unit, words.interval(look.mean, scale), by


def difference(every: list[Runs], of: str) -> Mean:
    """The second less the first, replication by replication, as `netcarlo.compare` says it."""
    n = min(runs.done("packet") for runs in every)
    x, y = (runs.values("packet", of)[:n] for runs in every)
    outcome: Outcome = BY_NAME[of]
    return outcome.differences((y - x)[None]).row(0)


def _difference(every: list[Runs], looks: list[Look | None], of: str) -> tuple[str, str, str, str, str]:
    name, n = "difference", min(runs.done("packet") for runs in every)
    first, second = looks
    if n < 2:
        if first is None or second is None:
            return name, "…", "", "", ""
        mean, by = Mean(0, second.mean.mean - first.mean.mean, *[math.nan] * 3), "of what cheap models say"
    else:
        mean = difference(every, of)
        by = f"paired: {scales.count(n)} replications with the same random numbers"
    scale = scales.scale([mean.mean], words.unit(of))
    base = first.mean.mean if first else math.nan
    share = f" ({100 * mean.mean / base:+.2g} %)" if base and math.isfinite(mean.mean / base) else ""
    unit = "percentage points" if scale.unit == "%" else scale.unit
    sign = "+" if mean.mean > 0 else ""
    return name, sign + words.number(mean, scale), unit + share, words.interval(mean, scale).partition(", ±")[0], by


def _places(state: State) -> list[int]:
    """The places of the curve, coarse ones first."""
    n = len(state.control(state.against).places)
    step = max(1, math.ceil(n / PLACES))
    found: dict[int, None] = dict.fromkeys([0, n - 1])
    for stride in (8 * step, 4 * step, 2 * step, step):
        found |= dict.fromkeys(range(0, n, stride))
    return list(found)


def _at(subject: Subject, desk: Desk, state: State, variant: bool, place: int) -> Runs | None:
    moved = {state.against: place}
    try:
        return desk.runs(subject.scenario(state, variant=variant, moved=moved))
    except InputError:
        return None  # fields that do not go together there


def _curve(
    subject: Subject, desk: Desk, state: State, variant: bool, *, until: float
) -> tuple[dict[int, tuple[str, float]], bool]:
    """What cheap models say along a slider: by place, as far as time allows, and whether that is all."""
    found: dict[int, tuple[str, float]] = {}
    for place in [state.place(state.against, variant=variant), *_places(state)]:
        runs = _at(subject, desk, state, variant, place)
        if runs is None:
            continue
        if time.perf_counter() > until and not any(map(runs.done, ("formula", "fluid"))):
            return found, False
        try:
            guess = _guess(desk, runs, state.of)
        except InputError:
            continue
        if guess is not None and math.isfinite(guess.mean.mean):
            found[place] = guess.by, guess.mean.mean
    return found, True


def _points(subject: Subject, desk: Desk, state: State, variant: bool) -> dict[int, Mean]:
    """What packets said at the places of the slider that were looked at."""
    found = {}
    for place in range(len(state.control(state.against).places)):
        try:
            runs = desk.known(subject.scenario(state, variant=variant, moved={state.against: place}))
        except InputError:
            continue
        look = runs.look(state.of) if runs is not None else None
        if look is not None:
            found[place] = look.mean
    return found


def _table(runs: Runs, of: str) -> list[tuple[str, str, str, str]]:
    """All outcomes by packets; at rest as in the table of `estimate`."""
    if not runs.done("packet"):
        return []
    better, frame, rows = runs.better(of), runs.frame(), []
    for name in runs.measured:
        mean = better.get(name) or BY_NAME[name].means(values_of(frame, name)[None]).row(0)
        if mean.n:
            scale = scales.scale([mean.mean], words.unit(name))
            text = f"{words.number(mean, scale)} {scale.unit}".rstrip()
            rows.append((BY_NAME[name].words, text, words.interval(mean, scale), BY_NAME[name].meaning))
    return rows

