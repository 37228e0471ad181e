"""A fit in words: the answer, what the data do not determine, and how well the runs are reproduced."""

import math

from netcarlo.calibration.fit.result import COVERAGE_RUNS, COVERED, Error, Fitted, Number, Parameter
from netcarlo.schema.readable import say

NAMES = {"goodput_bps": "goodput", "rtt_s": "RTT", "retransmitted": "retransmissions", "loss": "loss"}
"""Names of quantities."""
UNITS = {"goodput_bps": "bit/s", "rtt_s": "s", "retransmitted": "", "loss": "fraction"}
"""SI units of quantities."""
GOOD, POOR = 1.0, 2.0
"""Misfit per degree of freedom up to which runs are reproduced, and from which the scenario does not fit."""
FAR = 2.0
"""Deviation in standard deviations from which a number is named."""


def names(found: Fitted) -> dict[str, str]:
    """Return a short name for each field: `rate`, or the whole name if several end in it."""
    last = [one.free.name.rpartition(".")[2] for one in found.parameters]
    return {
        one.free.name: short if last.count(short) == 1 else one.free.name
        for one, short in zip(found.parameters, last, strict=True)
    }


def value(one: Parameter) -> str:
    """Return the fitted value: `19.8 Mbit/s`, or a bound."""
    return {
        "determined": _said(one, one.value),
        "bounded above": f"at most {_said(one, one.high)}",
        "bounded below": f"at least {_said(one, one.low)}",
        "not determined": "not determined",
    }[one.verdict]


def interval(one: Parameter) -> str:
    """Return the 95 % interval: `19.6 to 20.0 Mbit/s`."""
    return one.free.between(one.low, one.high)


def searched(one: Parameter) -> str:
    """Return the range of the search."""
    return one.free.between(one.free.low, one.free.high)


def answer(found: Fitted) -> str:
    """Return all fields in one sentence."""
    short = names(found)
    parts, first = [], "95 % interval "
    for one in found.parameters:
        said = value(one)
        if one.verdict == "determined":
            said += f" ({first}{interval(one)})"
            first = ""
        elif one.verdict == "not determined":
            said += f": {interval(one)} fit equally"
        parts.append(f"{short[one.free.name]} {said}")
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def remarks(found: Fitted) -> list[str]:
    """Return sentences on what the data do not determine, and on how well the runs are reproduced."""
    short = names(found)
    said = []
    for pair in found.pairs:
        one, other = short[pair.one], short[pair.other]
        how = "larger" if pair.correlation > 0 else "smaller"
        said.append(
            f"{one[:1].upper()}{one[1:]} and {other} are determined only together: a larger {one} with a "
            f"{how} {other} fits equally (correlation {pair.correlation:.2f})."
        )
    one_run = len(found.runs) == 1
    runs = "run" if one_run else "runs"
    if found.fit_ratio <= GOOD:
        lie = "lies" if one_run else "lie"
        said.append(f"The {runs} {lie} within the scatter of simulated runs and the model's errors.")
    else:
        worst = max(found.numbers, key=deviation)
        much = "does not reproduce" if found.fit_ratio > POOR else "reproduces only roughly"
        said.append(
            f"The scenario {much} the {runs}: {describe(worst)}. The misfit is "
            f"{found.fit_ratio:.1f} times as large as expected; the intervals are about "
            f"{found.widened**0.5:.1f} times as wide as without this."
        )
    if found.folds:
        text = ", ".join(
            f"{NAMES[e.kind]} {error(e, e.left_out)}" for e in found.errors if math.isfinite(e.left_out)
        )
        what = "each run" if found.folds == "runs" else "each quarter of the run"
        said.append(f"Mean error when {what} is predicted from the rest: {text}.")
    return said


def coverage() -> str:
    """Return how often intervals contained the truth where it was known."""
    *most, (last, count) = COVERED.items()
    parts = ", ".join(f"the {name} in {n}" for name, n in most)
    return (
        f"In {COVERAGE_RUNS} runs of a Linux kernel, 95 % intervals contained {parts} and the {last} in "
        f"{count} (docs/results/fit.md)."
    )


def deviation(row: Number) -> float:
    """Return how far a number is from the fit, in standard deviations of a simulated run."""
    return abs(row.fitted - row.measured) / max(row.sd, 0.02 * abs(row.measured), 1e-12)


def describe(row: Number) -> str:
    """Return a number beside the fit in words."""
    unit = UNITS[row.kind]
    where = f"from {row.start_s:.3g} to {row.end_s:.3g} s"
    return (
        f"{NAMES[row.kind]} {where} is {say(row.measured, unit)} in {row.run.rpartition('/')[2]} and "
        f"{say(row.fitted, unit)} in the fit"
    )


def error(of: Error, share: float) -> str:
    """Return a mean absolute error: `1.2 %`, or `0.8` for counts."""
    if not math.isfinite(share):
        return ""
    return f"{share:.2g}" if of.kind == "retransmitted" else f"{100 * share:.2g} %"


def _said(one: Parameter, at: float) -> str:
    return one.free.say(at)
