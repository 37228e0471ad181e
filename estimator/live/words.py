"""What the page says of an answer, in words."""

import math

from netcarlo.live.runs import Look, Runs, known_bias
from netcarlo.networks.outcome import FRACTION
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.simulation.outcomes import BY_NAME


def unit(of: str) -> str:
    """The SI unit of an outcome; a share is shown in percent."""
    found = scales.unit_of(of)
    return FRACTION if not found and (of.endswith(("_ratio", "_share")) or BY_NAME[of].values.yes_no) else found


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
        drawn = f"mean of {look.mean.n} drawn networks" if look.mean.n > 1 else "one network, nothing is drawn"
        return f"{look.by}: {drawn}; no packet was simulated"
    control = runs.control(of)
    n, done = scales.count(look.mean.n), scales.count(look.of)
    sharper = f", sharpened by {scales.count(runs.done(control))} draws of the {control}" if control else ""
    return f"packets: {n} of {done} replications{sharper}" if not look.rest else f"packets: {n} replications{sharper}"


def bias(runs: Runs, look: Look, of: str) -> str:
    """How far off a cheap answer is known to be."""
    return known_bias(runs, look.by, of) if look.by != "packet" else ""


def none(runs: Runs, of: str) -> str:
    """Why there is no cheap answer."""
    whys = [f"{kind}: {why or 'does not say it'}" for kind, why in runs.refused.items()]
    return f"no cheap model knows {scales.name_of(of)} here ({'; '.join(whys)}); packets answer"
