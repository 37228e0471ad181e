"""Wording of a comparison with measured runs, for the terminal and the page."""

import math
from typing import Any

import pandas as pd

from netcarlo.comparison.measured import Measured
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales, values
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.parts.wording import capital
from netcarlo.schema.readable import FRACTION, counted, listed
from netcarlo.simulation.outcomes import BY_NAME

LABELS = {
    "goodput_bps": "Goodput", "mean_rtt_s": "RTT", "retransmitted": "Retransmitted", "loss_ratio": "Loss",
    "mean_delay_s": "Delay", "jitter_s": "Jitter", "mean_cwnd_packets": "Window",
}  # fmt: skip
"""Names of quantities in tables."""

WITHIN = {"mean_rtt_s": "RTT", "retransmitted": "retransmissions"}
"""Names of quantities within a sentence, where they are not those of tables in lower case."""

UNITS = {"loss_ratio": FRACTION, "jitter_s": "s", "mean_delay_s": "s"}
"""Units of quantities that are not outcomes of all networks."""


def unit_of(name: str) -> str:
    """Return the SI unit of a quantity; that of shares is shown in percent."""
    return UNITS.get(name) or values.unit_of(name)


def label(name: str) -> str:
    """Return the name of a quantity."""
    return LABELS.get(name) or capital(BY_NAME[name].words)


def word(name: str) -> str:
    """Return the name of a quantity within a sentence."""
    return WITHIN.get(name) or label(name).lower()


def headline(found: Measured) -> str:
    """Return the answer in a sentence: quantities that agree with simulated runs, and how others differ."""
    table = found.table
    run = "The measured run" if len(found.runs) == 1 else f"The {len(found.runs)} measured runs"
    agree = [word(str(name)) for name in table.index[table["verdict"].isin(["inside", "equal"])]]
    beyond = table[table["verdict"].isin(["above", "below", "differs"])]
    others = [_differs(str(name), row) for name, row in beyond.iterrows()]
    one = len(found.runs) == 1
    if agree:
        text = f"{run} agree{'s' * one} with the simulation in {listed(agree)}"
        return f"{text}, but not in {listed(others)}." if others else f"{text}."
    if others:
        return f"{run} differ{'s' * one} from the simulation in {listed(others)}."
    return "There are too few replications for a comparison; write replications: 40."


def _differs(name: str, row: "pd.Series[Any]") -> str:
    relative = float(row["relative"])
    if not math.isfinite(relative):
        return f"{word(name)} ({text(name, row, 'measured')}, simulated 0)"
    return f"{word(name)} ({percent(relative)})"


def percent(share: float) -> str:
    """Return a relative difference in percent with its sign and two digits."""
    size = 100 * share
    return f"{size:+,.0f} %" if abs(size) >= 10 else f"{size:+.2g} %"


def _mean(row: "pd.Series[Any]") -> Mean:
    """Return the simulated mean of a row, with its interval."""
    return Mean(2, float(row["simulated"]), math.nan, float(row["ci_low"]), float(row["ci_high"]))


def _scale(name: str, row: "pd.Series[Any]") -> Scale:
    largest = max(abs(float(row["measured"])), abs(float(row["simulated"])))
    return scales.scale([largest], unit_of(name))


def text(name: str, row: "pd.Series[Any]", column: str, *, unit: bool = True) -> str:
    """Return a value of a row with its unit."""
    scale = _scale(name, row)
    shown = values.number(float(row[column]), scale, _digits(row))
    return f"{shown} {scale.unit}".rstrip() if unit else shown


def _digits(row: "pd.Series[Any]") -> int:
    return min(values.digits_for(_mean(row)), 4) if row["ci_high"] > row["ci_low"] else 4


def between(name: str, row: "pd.Series[Any]", low: str, high: str) -> str:
    """Return a range of a row without its unit; empty if both ends are equal or unknown."""
    a, b = float(row[low]), float(row[high])
    return f"{text(name, row, low, unit=False)} to {text(name, row, high, unit=False)}" if a < b else ""


def rows(found: Measured) -> pd.DataFrame:
    """Return the table as texts: a row for each quantity with its unit."""
    table = list[dict[str, str]]()
    index = list[str]()
    for name, row in found.table.iterrows():
        unit = _scale(str(name), row).unit
        index.append(label(str(name)) + (f" [{unit}]" if unit else ""))
        relative = float(row["relative"])
        table.append(
            {
                "measured": text(str(name), row, "measured", unit=False),
                "simulated": text(str(name), row, "simulated", unit=False),
                "95 % CI": between(str(name), row, "ci_low", "ci_high"),
                "95 % of runs": between(str(name), row, "range_low", "range_high"),
                "difference": percent(relative) if math.isfinite(relative) else "",
                "verdict": str(row["verdict"])
                if row["runs"] == 1 or row["verdict"] == "unknown"
                else f"{row['inside']} of {row['runs']}",
            }
        )
    return pd.DataFrame(table, index=pd.Index(index, name=""))


def explanation(found: Measured) -> str:
    """Return what the intervals mean, and how the range of single runs was computed."""
    n = counted(found.replications, "replication")
    if found.table["verdict"].isin(["equal", "differs"]).all():
        return (
            f"The {n} of the scenario are equal, so there is no range of single runs; draw the start of the "
            "flow: transport.start: {uniform: [0 s, 0.3 s]}."
        )
    how = "" if found.exact else " (computed as if normal; with 39 replications it needs no assumption)"
    one = "A measured run is one draw: it is compared with the range of 95 % of simulated runs"
    return f"{one}{how}, not with the interval of their mean. By chance, 1 in 20 values lies outside."


def left_out(found: Measured) -> list[str]:
    """Return the quantities that were not compared, with those that have the same reason together."""
    reasons: dict[str, list[str]] = {}
    for name, why in found.missing.items():
        if name in LABELS:
            reasons.setdefault(why, []).append(word(name))
    return [f"{capital(listed(names))}: {why}" for why, names in reasons.items()]
