"""Wording of the results of a plan, for the terminal and the page."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from netcarlo.networks import aqm
from netcarlo.planning.definition import Plan, Resource
from netcarlo.planning.ledger import Point
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.run import Answer, State
from netcarlo.planning.search import FAILS
from netcarlo.planning.thresholds import Gain
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.wording import capital
from netcarlo.scenario import Scenario
from netcarlo.schema import fields, units
from netcarlo.schema.names import full_names
from netcarlo.schema.readable import FRACTION, MINUS, with_nines
from netcarlo.simulation import fidelity

Row = dict[str, str]


def unit(plan: Plan) -> str:
    """The unit of the planned quantity, as `scales` knows it."""
    return unit_in(plan.dimension)


def unit_in(dimension: units.Dimension) -> str:
    """The unit of a dimension, as `scales` knows it."""
    return FRACTION if dimension is units.FRACTION else dimension.unit


def value(plan: Plan, number: float, digits: int = 6) -> str:
    """A value of the planned quantity."""
    return value_in(plan.dimension, number, digits)


def value_in(dimension: units.Dimension, number: float, digits: int = 6) -> str:
    """A value in a dimension."""
    text = scales.say(number, unit_in(dimension), digits)
    return text.removesuffix("s") if text == "1 packets" else text


def title(plan: Plan) -> str:
    """The planned quantity."""
    return plan.quantity.replace("_", " ")


def headline(found: Answer) -> str:
    """The answer in a few words."""
    name = capital(title(found.plan))
    if not found.decided:
        return "No answer yet."
    if found.holds is None and found.likely is None:
        return f"{name}: no value is known to meet the requirements."
    return f"{name}: {estimated(found)}."


def estimated(found: Answer) -> str:
    """Return the limit: `42`, or its point estimate and its interval while values are undecided."""
    settled = found.holds is not None and found.fails is not None and not found.undecided
    if settled or found.likely is None:
        return known(found)
    interval = f"with {share(found.plan.confidence)} confidence the limit is {known(found)}"
    return f"about {estimate(found.plan, found.likely)}; {interval}"


def estimate(plan: Plan, likely: float) -> str:
    """Return the point estimate of a limit; of a count, the last whole number before it."""
    if plan.dimension.unit in ("", units.PACKETS.unit) and all(v.is_integer() for v in plan.values):
        likely = math.floor(likely) if plan.spec.find == "largest" else math.ceil(likely)
    return value(plan, likely, 3)


def known(found: Answer) -> str:
    """Return the range in which the answer is known to lie: `42`, `20 to 49`, `20 or more`; `below 50` and
    the like while no value is known to hold, `…` before anything is known."""
    plan, most = found.plan, found.plan.spec.find == "largest"
    if found.holds is None:
        if found.fails is None:
            return "…"
        if found.fails == plan.values[0]:
            return "none"
        return f"{'below' if most else 'above'} {value(plan, found.fails)}"
    if found.fails is None:
        return f"{value(plan, found.holds)} or {'more' if most else 'less'}"
    if not found.undecided:
        return value(plan, found.holds)
    return between(plan, [found.holds, found.undecided[-1]])


def between(plan: Plan, numbers: Sequence[float]) -> str:
    """Return the first and the last of values, the smaller one first: `20 to 49`."""
    return f"{value(plan, min(numbers))} to {value(plan, max(numbers))}"


def explanation(found: Answer) -> str:
    """Return the statements that hold with the confidence of the plan, and what is undecided."""
    plan = found.plan
    sure = f"With {share(plan.confidence)} confidence"
    whole = "all requirements hold" if len(plan.requirements) > 1 else "the requirement holds"
    parts = []
    before, after = ("up to ", "") if plan.spec.find == "largest" else ("from ", " on")
    if found.holds is not None:
        parts.append(f"{sure} {whole} {before}{value(plan, found.holds)}{after}")
    if found.fails is not None:
        parts.append(f"{'' if parts else sure + ' '}{_failing(found)} at {value(plan, found.fails)}")
    text = ", and ".join(parts) + "." if parts else "No value is known to hold or to fail."
    if found.holds == plan.values[-1]:
        text += f" That is the last of the values: widen them to find the limit of {title(plan)}."
    if found.holds is None and found.fails == plan.values[0]:
        text += " That is the first of the values: widen them, or ask for less."
    elif found.undecided and found.decided:
        text += f" {undecided(found, found.stopped)}"
    if found.binding is None and found.undecided:
        text += " The limit is not known."
    elif found.binding is None:
        text += " No constraint is active."
    elif len(plan.requirements) > 1 and (found.fails is not None or found.likely is not None):
        text += f" The active constraint is {found.binding}."
    if found.stopped:
        text += f" {_stopped(found)}"
    if not found.monotone:
        text += (
            " The curve is not monotone: a requirement holds with a higher probability at a value than at an"
            " earlier one. This is the limit among the evaluated values, and there may be another."
        )
    asked = [name for requirement in plan.requirements for name in requirement.outcomes]
    if (bias := fidelity.sentence(plan.base, asked)) is not None:
        text += f" {capital(bias)}."
    if plan.of_year:
        text += f" {OF_YEAR}"
    if lost := losses(found):
        text += f" {lost}"
    return text


OF_YEAR = "Probabilities are shares of the year."
"""Explanation of a plan whose outages are rarer than a run."""


def losses(found: Answer) -> str:
    """Return the loss of each class whose delays are bounded, at the answer, except losses in warnings."""
    said = []
    for loss in found.losses:
        if loss.warning:
            continue
        again = ", all of which are retransmitted" if loss.about.repaired else ""
        said.append(f"{loss.about.name} loses {percent(loss.share)} of its packets{again}")
    return f"At {value(found.plan, found.losses[0].value)} {' and '.join(said)}." if said else ""


def requirements(found: Answer) -> list[Row]:
    """A row for each requirement: what is asked, what is so around the answer, and its own limit."""
    plan = found.plan
    near = _near(found)
    rows = []
    for k, requirement in enumerate(plan.requirements):
        asked = share(requirement.probability)
        row = {"requirement": requirement.name, "goal": goal(plan, k), "required": asked}
        for point in near:
            s = point.shares[k]
            row[f"at {value(plan, point.value)}"] = f"{seen(plan, s.probability)} {band(plan, s.low, s.high)}"
        row["alone"] = alone(found, requirement.name)
        rows.append(row)
    return rows


def goal(plan: Plan, k: int) -> str:
    """A requirement with its outcomes in words."""
    requirement = plan.requirements[k]
    text = requirement.text
    if unit := unit_of(requirement):  # as the axis of its figure has it
        text = f"{requirement.measure} {requirement.comparison} {scales.say(requirement.bound, unit, 6)}"
    for name in sorted(requirement.outcomes, key=len, reverse=True):
        text = text.replace(name, scales.name_of(name))
    return text.replace(">=", "≥").replace("<=", "≤")


def unit_of(requirement: Requirement) -> str:
    """The unit of a measure: percent if its bound is written so, else that of its only outcome."""
    if requirement.text.endswith("%"):
        return FRACTION
    return scales.unit_of(requirement.outcomes[0]) if len(requirement.outcomes) == 1 else ""


def alone(found: Answer, name: str) -> str:
    """Return the estimated value at which a requirement, taken alone, starts to fail."""
    number = found.alone[name]
    if number is not None:
        return estimate(found.plan, number)
    k = [requirement.name for requirement in found.plan.requirements].index(name)
    first = found.plan.requirements[k].margin(found.curve[0].shares[k].quantile)
    return "no value" if found.holds is None and first < 0 else "all values"


def gains(found: Answer) -> list[Row]:
    """A row for each resource: the effect of more of it."""
    plan = found.plan
    rows = []
    for gain in found.gains:
        before, after = (resource_text(plan, gain.resource, more=more) for more in (False, True))
        if isinstance(gain.resource.after, str) and gain.resource.after in aqm.LIMITS:
            before = f"drop-tail {before}"
        rows.append(
            {
                "resource": gain.resource.name,
                "change": f"{before} → {after}",
                title(plan): " → ".join(limit(plan, a) for a in gain.answer),
                "gain": moved(plan, gain),
                _both(plan, gain): " → ".join(percent(p) for p in gain.probability),
                "active constraint then": gain.binding or "none",
            }
        )
    return rows


def _both(plan: Plan, gain: Gain) -> str:
    return f"all hold at {value(plan, gain.value)} (first {scales.count(gain.replications)} replications)"


def moved(plan: Plan, gain: Gain) -> str:
    """Return the shift of the answer by a resource, with its interval."""
    if gain.moved is None:
        return "–"
    scale = scales.scale(gain.answer, unit(plan))
    texts = [signed(number / scale.factor) for number in _rounded(plan, gain.moved)]
    interval = f" [{texts[1]}, {texts[2]}]" if math.isfinite(gain.moved[1]) else ""
    return f"{texts[0]}{interval} {scale.unit}".rstrip()


def limit(plan: Plan, number: float) -> str:
    """Return the estimated value at which requirements start to fail."""
    if math.isinf(number):
        return "no value" if number < 0 else f"beyond {value(plan, plan.values[-1])}"
    return estimate(plan, number)


def spent(cost: dict[str, Any]) -> str:
    """Return the cost of an answer: replications, values and time."""
    kept = cost["replications"] - cost["simulated"]
    again = f", {scales.count(kept)} of them from earlier runs" if kept > 0 else ""
    text = (
        f"{scales.count(cost['replications'])} replications{again}, "
        f"at {cost['values']} of {scales.count(cost['of_values'])} values, in {cost['seconds']:.1f} s."
    )
    if damaged := cost["damaged"]:
        text += f" {damaged} damaged line{'s' * (damaged > 1)} of runs.jsonl did not count."
    return text


def progress(plan: Plan, state: State) -> str:
    """Return the intermediate result of a running search."""
    low, high = state.bracket
    if plan.across is not None:
        beside = value_in(plan.across.dimension, plan.across.numbers[state.design])
        return f"{plan.across.name.replace('_', ' ')} {beside}, {_known(plan, low, high)}"
    return _known(plan, low, high)


def _known(plan: Plan, low: int, high: int) -> str:
    parts = [f"{value(plan, plan.values[low])} holds"] if low >= 0 else []
    parts += [f"{value(plan, plan.values[high])} fails"] if high < len(plan.values) else []
    return f"{title(plan)}: {', '.join(parts)}" if parts else title(plan)


def resource_text(plan: Plan, resource: Resource, *, more: bool) -> str:
    """The value of a resource's field, before or after; a word, such as `fq_codel`, as it is written."""
    written = resource.after if more else resource.before
    if isinstance(written, str) and not any(map(str.isdecimal, written)):
        return written
    scenario: Scenario = plan.scenario(plan.values[0], resource if more else None)
    full = full_names(scenario.model_dump(mode="json"), resource.field)[0]
    number = fields.value(scenario, full)
    if isinstance(number, str | bool):
        return str(number)
    if isinstance(number, float):
        return scales.say(number, scales.field_unit(scenario, full), 6)
    return scales.distribution(scenario, full)


def share(number: float) -> str:
    """A probability that was asked for: `95 %`."""
    return f"{100 * number:.10g} %"


def percent(number: float) -> str:
    """A share that was seen: `94.7 %`; below 1 % with two digits: `0.15 %`."""
    text = f"{100 * number:.2g}" if 0 < number < 0.01 else f"{100 * number:.1f}".removesuffix(".0")
    return f"{text} %"


def seen(plan: Plan, number: float) -> str:
    """The probability of a requirement; a share of the year has its nines: `99.952 %`."""
    return f"{with_nines(number)} %" if plan.of_year else percent(number)


def band(plan: Plan, low: float, high: float) -> str:
    """A band in percent."""
    if plan.of_year:
        return f"[{with_nines(low)}, {with_nines(high)}]"
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def signed(number: float) -> str:
    """A number with its sign."""
    text = scales.trimmed(number)
    return text if text.startswith(MINUS) or text == "0" else f"+{text}"


def _rounded(plan: Plan, numbers: tuple[float, ...]) -> list[float]:
    """Differences to a hundredth of the finest step: what is less is nothing."""
    grain = min(abs(b - a) for a, b in pairwise(plan.values)) / 100
    return [float(f"{round(n / grain) * grain:.12g}") if math.isfinite(n) else n for n in numbers]


def _stopped(found: Answer) -> str:
    """Return why a plan ended early, what was evaluated by then, and how to continue."""
    looked = [gain.resource.name for gain in found.gains]
    missing = [resource.name for resource in found.plan.resources if resource.name not in looked]
    what = ""
    if missing:
        what = f"; the effect of more of these resources was not computed: {', '.join(missing)}"
    tried = f"{found.cost['values']} of {found.cost['of_values']} values were tried"
    return f"The plan was stopped ({found.stopped}): {tried}{what}."


LEGEND = (
    "In brackets: confidence bands of all values together, which are wider than the test of a verdict. "
    "Alone: estimated limit if there were no other requirement."
)
"""Explanation of the table of requirements."""


def _by_time(stopped: str) -> bool:
    return stopped.startswith("after ")


def _near(found: Answer) -> list[Point]:
    """The points on both sides of the answer."""
    return [point for point in found.curve if point.value in (found.holds, found.fails)]


def failing(found: Answer) -> list[str]:
    """The requirements that are known to fail at the first value that does."""
    point = next(point for point in found.curve if point.value == found.fails)
    assert point.verdict == FAILS
    over = {
        r.name: s.high - r.probability for r, s in zip(found.plan.requirements, point.shares, strict=True)
    }
    return [name for name, by in over.items() if by < 0] or [min(over, key=lambda name: over[name])]


def _failing(found: Answer) -> str:
    names = failing(found)
    if len(found.plan.requirements) == 1:
        return "it fails" if found.holds is not None else "the requirement fails"
    return f"{' and '.join(names)} {'fail' if len(names) > 1 else 'fails'}"


def undecided(found: Answer, stopped: str) -> str:
    """Return a sentence on the undecided values and why: `stopped` says what ended the plan early, if
    anything."""
    plan, some = found.plan, sorted(found.undecided)
    named = between(plan, some) if len(some) > 2 else " and ".join(value(plan, v) for v in some)
    verb = "is" if len(some) == 1 else "are"
    if found.exhausted or not stopped:
        spent = f"{scales.count(plan.max_replications)} replications{'' if len(some) == 1 else ' each'}"
        return f"{named} {verb} undecided after {spent}; raise replications to decide."
    return f"{named} {verb} not decided {'within the time limit' if _by_time(stopped) else 'yet'}."
