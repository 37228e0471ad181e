"""Texts of a page about a scenario: numbers, intervals, and remarks on their origin."""

import math
from collections.abc import Sequence

from netcarlo.live.page import Number
from netcarlo.live.replications import LiveReplications, Snapshot
from netcarlo.live.url_state import State
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.schema.readable import FRACTION, MINUS
from netcarlo.simulation import validated
from netcarlo.simulation.outcomes import BY_NAME


def unit(of: str) -> str:
    """Return the SI unit of an outcome; ratios, shares and yes-no outcomes are in percent."""
    found = scales.unit_of(of)
    return (
        FRACTION if not found and (of.endswith(("_ratio", "_share")) or BY_NAME[of].values.yes_no) else found
    )


def number(mean: Mean, shown: Scale) -> str:
    """Return a mean with as many digits as its confidence interval justifies."""
    digits = scales.digits_for(mean.mean, mean.ci_low, mean.ci_high)
    return scales.number(mean.mean / shown.factor, digits)


def interval(mean: Mean, shown: Scale) -> str:
    """Return the confidence interval with its relative half-width; empty if there is none.

    Example: `95 % interval [9.58, 9.59] Mbit/s, ±0.07 %`.
    """
    digits = scales.digits_for(mean.mean, mean.ci_low, mean.ci_high)
    text = scales.interval(mean.ci_low, mean.ci_high, shown, digits)
    if not text:
        return ""
    half = mean.half_width / abs(mean.mean) if mean.mean else math.nan
    width = f", ±{100 * half:.2g} %" if math.isfinite(half) else ""
    return f"95 % interval {text} {shown.unit}".rstrip() + width


def source(runs: LiveReplications, look: Snapshot, of: str) -> str:
    """Return the fidelity and the number of replications behind an estimate."""
    if look.by != "packet":
        drawn = (
            f"mean of {look.mean.n} drawn networks"
            if look.mean.n > 1
            else "one network without random fields"
        )
        return f"{look.by}: {drawn}; no packets simulated"
    control = runs.control(of)
    n, done = scales.count(look.mean.n), scales.count(look.of)
    sharper = f", control variate: {scales.count(look.draws)} draws of the {control}" if control else ""
    return (
        f"packets: {n} of {done} replications{sharper}"
        if not look.final
        else f"packets: {n} replications{sharper}"
    )


def no_preview_reason(runs: LiveReplications, of: str) -> str:
    """Return the reason why no cheap model gives an outcome."""
    whys = [f"{kind}: {why or 'does not have this outcome'}" for kind, why in runs.unavailable.items()]
    return f"simulating packets; no cheap model gives {scales.name_of(of)} ({'; '.join(whys)})"


def names(state: State) -> list[str]:
    """Return the labels of the numbers of a state: the outcome, and the fields in which a variant differs."""
    first = BY_NAME[state.of].words
    if state.variant is None:
        return [first]
    differs = [
        f"{state.control(n).label} {state.control(n).texts[p]}"
        for n, p in state.variant.items() if p != state.place(n)
    ]  # fmt: skip
    return [first, f"what if {', '.join(differs)}" if differs else "what if: move an orange control"]


def number_tile(name: str, runs: LiveReplications, look: Snapshot | None, of: str, doing: str) -> Number:
    """Return the number of a variant, or what is being computed if there is none yet."""
    if look is None:
        return Number(
            name,
            "…",
            "",
            "",
            doing or ("" if runs.cheapest_fidelity(of) else no_preview_reason(runs, of)) or "simulating",
        )
    scale = scales.scale([look.mean.mean], unit(of))
    by = source(runs, look, of) + (f"; {doing}" if doing and look.by != "packet" else "")
    if outside := validated.sentence(runs.scenario):
        by += f". {outside}"
    return Number(name, number(look.mean, scale), scale.unit, interval(look.mean, scale), by)


def difference(every: Sequence[LiveReplications], looks: Sequence[Snapshot | None], of: str) -> Number:
    """Return the mean of the paired differences, second less first variant, as in `netcarlo.compare`."""
    n = min(runs.done() for runs in every)
    first, second = looks
    if first is None or second is None:
        return Number("difference", "…", "", "", "")
    if n < 2:
        mean, by = Mean(0, second.mean.mean - first.mean.mean, *[math.nan] * 3), "difference of cheap models"
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
    """Return a number with its sign, in two significant digits."""
    return f"{value:+.2g}".replace("-", MINUS)
