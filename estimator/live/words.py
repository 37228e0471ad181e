"""What the page says of an answer, in words."""

import math
from collections.abc import Sequence

from netcarlo.live.address import State
from netcarlo.live.runs import Look, Runs
from netcarlo.live.subject import Number
from netcarlo.networks.outcome import FRACTION
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.parts.words import MINUS
from netcarlo.simulation import validated
from netcarlo.simulation.outcomes import BY_NAME


def unit(of: str) -> str:
    """The SI unit of an outcome; a share is shown in percent."""
    found = scales.unit_of(of)
    return (
        FRACTION if not found and (of.endswith(("_ratio", "_share")) or BY_NAME[of].values.yes_no) else found
    )


def number(mean: Mean, shown: Scale) -> str:
    """A mean with as many digits as its interval allows."""
    digits = scales.digits_for(mean.mean, mean.ci_low, mean.ci_high)
    return scales.number(mean.mean / shown.factor, digits)


def interval(mean: Mean, shown: Scale) -> str:
    """Its interval, and how wide that is: `[9.58, 9.59] Mbit/s, ±0.07 %`; empty without one."""
    digits = scales.digits_for(mean.mean, mean.ci_low, mean.ci_high)
    text = scales.interval(mean.ci_low, mean.ci_high, shown, digits)
    if not text:
        return ""
    half = mean.half_width / abs(mean.mean) if mean.mean else math.nan
    width = f", ±{100 * half:.2g} %" if math.isfinite(half) else ""
    return f"95 % interval {text} {shown.unit}".rstrip() + width


def kind(runs: Runs, look: Look, of: str) -> str:
    """What answered, plainly."""
    if look.by != "packet":
        drawn = (
            f"mean of {look.mean.n} drawn networks" if look.mean.n > 1 else "one network, nothing is drawn"
        )
        return f"{look.by}: {drawn}; no packet was simulated"
    control = runs.control(of)
    n, done = scales.count(look.mean.n), scales.count(look.of)
    sharper = f", sharpened by {scales.count(look.draws)} draws of the {control}" if control else ""
    return (
        f"packets: {n} of {done} replications{sharper}"
        if not look.rest
        else f"packets: {n} replications{sharper}"
    )


def none(runs: Runs, of: str) -> str:
    """Why there is no cheap answer."""
    whys = [f"{kind}: {why or 'does not say it'}" for kind, why in runs.refused.items()]
    return f"no cheap model knows {scales.name_of(of)} here ({'; '.join(whys)}); packets answer"


def names(state: State) -> list[str]:
    """What the numbers of a state are called: the outcome, and in what a variant differs."""
    first = BY_NAME[state.of].words
    if state.variant is None:
        return [first]
    differs = [
        f"{state.control(n).label} {state.control(n).texts[p]}"
        for n, p in state.variant.items() if p != state.place(n)
    ]  # fmt: skip
    return [first, f"what if {', '.join(differs)}" if differs else "what if: move an orange control"]


def item(name: str, runs: Runs, look: Look | None, of: str, doing: str) -> Number:
    """The number of a variant; before there is one, what it waits for."""
    if look is None:
        return Number(name, "…", "", "", doing or ("" if runs.first(of) else none(runs, of)) or "simulating")
    scale = scales.scale([look.mean.mean], unit(of))
    by = kind(runs, look, of) + (f"; {doing}" if doing and look.by != "packet" else "")
    if outside := validated.sentence(runs.scenario):
        by += f". {outside}"
    return Number(name, number(look.mean, scale), scale.unit, interval(look.mean, scale), by)


def difference(every: Sequence[Runs], looks: Sequence[Look | None], of: str) -> Number:
    """The second less the first, replication by replication as `netcarlo.compare` has it."""
    n = min(runs.done() for runs in every)
    first, second = looks
    if first is None or second is None:
        return Number("difference", "…", "", "", "")
    if n < 2:
        mean, by = Mean(0, second.mean.mean - first.mean.mean, *[math.nan] * 3), "of what cheap models say"
    else:
        x, y = (runs.values(of)[:n] for runs in every)
        mean = BY_NAME[of].differences((y - x)[None]).row(0)
        by = f"paired: {scales.count(n)} replications with the same random numbers"
    scale = scales.scale([mean.mean], unit(of))
    part = mean.mean / first.mean.mean if first.mean.mean else math.nan
    share = f" ({signed(100 * part)} %)" if math.isfinite(part) else ""
    said = "percentage points" if scale.unit == "%" else scale.unit
    text = ("+" if mean.mean > 0 else "") + number(mean, scale)
    return Number("difference", text, said + share, interval(mean, scale).partition(", ±")[0], by)


def signed(value: float) -> str:
    """A number with its sign, in two digits."""
    return f"{value:+.2g}".replace("-", MINUS)
