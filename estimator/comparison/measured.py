"""Comparison of measured runs with the simulated runs of a scenario.

A measured run is one draw. It is therefore compared with the distribution of single simulated runs
(replications), not with their mean: it agrees if it lies in the range of 95 % of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import Faults, InputError
from netcarlo.estimation import windows
from netcarlo.estimation.windows import Window
from netcarlo.measurements import Curve, Measurement, read
from netcarlo.measurements.record import QUANTITIES, SUMS
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.prediction import prediction
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema.arguments import checked
from netcarlo.schema.quantity import bounds
from netcarlo.schema.readable import counted, quantity
from netcarlo.simulation import validated
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.progress import Progress
from netcarlo.simulation.provenance import provenance
from netcarlo.simulation.targets import resolve_target
from netcarlo.transport.spelling import spelt

COLUMNS = [
    "runs", "measured", "measured_low", "measured_high", "simulated", "ci_low", "ci_high", "relative",
    "range_low", "range_high", "inside", "verdict",
]  # fmt: skip
OVER_TIME = ("goodput_bps", "mean_rtt_s", "retransmitted", "loss_ratio")
"""Quantities that are simulated over time."""
MOST_BINS = 30
"""Intervals of a simulated curve; shorter measured intervals are joined."""
MOST_REPLICATIONS = 40
"""Replications of a simulated curve."""
NEAR = 0.02
"""Share by which the duration of a run and that of the scenario may differ without a note."""
EQUAL = 1e-6
"""Relative difference up to which a value equals that of all simulated runs."""


@dataclass(frozen=True)
class Band:
    """Simulated quantity over time: quantiles of the replications in each interval."""

    edges_s: Floats
    """Ends of the intervals [s], from the start of the first flow; one more than intervals."""
    low: Floats
    """5 % quantile of each interval."""
    median: Floats
    high: Floats
    """95 % quantile of each interval."""
    measured: tuple[Floats, ...]
    """Values of each run in the same intervals; NaN where it has none."""


@dataclass(frozen=True)
class Measured:
    """Result of `compare_measured`."""

    scenario: Scenario
    runs: tuple[Measurement, ...]
    """Measured runs in the order of the files."""
    table: pd.DataFrame
    """Quantities that were both measured and simulated, indexed by outcome, in SI units.

    The columns: runs (that measured it), measured (their mean) and its 95 % interval measured_low to
    measured_high (NaN for one run), simulated (mean of the replications) with its interval ci_low to ci_high,
    relative (measured over simulated, minus 1), the range range_low to range_high of 95 % of single runs,
    inside (number of runs in that range), and the verdict: `inside`, `above`, `below`, `equal` or `differs`
    (where all simulated runs are equal), or `unknown` (too few replications).
    """
    bands: Mapping[str, Band]
    """Quantities over time, if asked for and measured."""
    window: Window | None
    """Simulated time in which quantities are counted; None: as the scenario says."""
    exact: bool
    """True if the ranges assume nothing about the distribution (39 replications or more)."""
    notes: tuple[str, ...]
    """Sentences on how the setting of the runs and of the scenario differ, and on what was left out."""
    outside: str
    """Sentence that names the quantities outside the validated range of the model; empty inside the range."""
    replications: int
    provenance: Mapping[str, Any]

    @property
    def same(self) -> bool:
        """True if no measured quantity differs from the simulation; those without a verdict do not count."""
        return bool(self.table["verdict"].isin(["inside", "equal", "unknown"]).all())

    @property
    def missing(self) -> dict[str, str]:
        """Reasons why quantities are not compared, by outcome: those that no run has, or no simulation."""
        found: dict[str, str] = {}
        for run in self.runs:
            for name, why in run.missing.items():
                if not any(name in other.values for other in self.runs):
                    found.setdefault(name, why)
            for name in run.values:
                if name in QUANTITIES and name not in self.table.index:
                    found.setdefault(name, "the scenario does not measure it")
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table


@checked
def compare_measured(
    scenario: ScenarioLike,
    *files: str | Path | Measurement,
    values: Mapping[str, Any] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    over_time: bool = False,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Measured:
    """Compare measured runs with a scenario: goodput, RTT, retransmissions, loss and delay.

    `files` are outputs of iperf3, flent or ns-3's FlowMonitor, tables, or runs that `measurements.read`
    returned. Outcomes are counted in the time that the runs measured, from the start of the flow. `values`
    are fields to set in the scenario; `over_time` also simulates the curves. The other arguments are as in
    `estimate`. Raises InputError.
    """
    runs = _read(files)
    more = {"replications": replications, "seed": seed}
    setting = {**(values or {}), **{name: value for name, value in more.items() if value is not None}}
    scenario = scenario_of(scenario, values=setting)
    n = scenario.replications
    target = resolve_target(target, [(scenario, n)], threads=threads)
    names = [
        name for name in dict.fromkeys(name for run in runs for name in run.values) if _compared(name, runs)
    ]
    window, notes = _window(scenario, runs)
    notes += _setting(scenario, runs)
    bins = _bins(runs, scenario, window) if over_time else []
    options: dict[str, Any] = {"target": target, "threads": threads, "large": large}
    (found,) = windows.quantities(scenario, [window], names, replications=n, progress=progress, **options)
    curves = [name for name in OVER_TIME if any(name in run.curves for run in runs)] if bins else []
    bands = {}
    if curves:
        first = windows.flow_start_s(scenario)
        spans = [Window(first + a, first + b) for a, b in pairwise(bins)]
        within = windows.quantities(
            scenario, spans, curves, replications=min(n, MOST_REPLICATIONS), **options
        )
        bands = {
            name: _band(name, bins, within, runs) for name in curves if all(name in one for one in within)
        }
    rows = {name: _row(runs, name, found[name]) for name in names if name in found}
    if not rows:
        have = ", ".join(names) or "no quantity"
        raise InputError(
            f"{runs[0].source}: has {have}, which this scenario does not measure; compare other values"
        )
    order = [*QUANTITIES, *rows]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("outcome")
    table = table.loc[sorted(table.index, key=order.index)]
    return Measured(
        scenario, tuple(runs), table, bands, window, n >= 39, tuple(dict.fromkeys(notes)),
        validated.sentence(scenario), n, provenance(scenario, target=target, replications=n),
    )  # fmt: skip


def _read(files: Sequence[str | Path | Measurement]) -> list[Measurement]:
    """Return the runs of all files. Raises InputError with the faults of all of them."""
    runs, faults = list[Measurement](), Faults()
    for file in files:
        with faults:
            runs += [file] if isinstance(file, Measurement) else read(file)
    faults.refuse()
    if not runs:
        raise InputError("there is no measured run; name a file of iperf3, flent or FlowMonitor, or a table")
    return runs


def _compared(name: str, runs: Sequence[Measurement]) -> bool:
    """Return whether a quantity is compared: a common one, or any that a table names."""
    return name in QUANTITIES or any(name in run.values and run.program.startswith("a table") for run in runs)


def _window(scenario: Scenario, runs: Sequence[Measurement]) -> tuple[Window | None, list[str]]:
    """Return the simulated time that corresponds to what the runs measured, and how it differs from the
    scenario's."""
    spans = [(run.start_s, run.end_s) for run in runs if math.isfinite(run.end_s)]
    if not spans:
        return None, ["The files do not say which time they measured: outcomes count as the scenario says"]
    start, end = (float(np.mean(side)) for side in zip(*spans, strict=True))
    notes = list[str]()
    widest = max(max(abs(a - start), abs(b - end)) for a, b in spans)
    if widest > NEAR * end:
        notes.append("The runs measured different times; their mean is simulated")
    first = windows.flow_start_s(scenario)
    said = f"The run measured from {_s(start)} to {_s(end)} after its start"
    if not windows.counts_windows(scenario):
        why = (
            "a warm_up"
            if scenario.warm_up is not None
            else "a random duration, a finite transfer or a formula"
        )
        notes.append(f"{said}; the scenario has {why} and counts as it says")
        return None, notes
    duration = float(scenario.duration)  # type: ignore[arg-type]
    whole = duration - first
    if start > end - 1e-9 or start >= whole:
        notes.append(
            f"{said}; the scenario ends before, so it counts as it says: write duration: {_s(first + end)}"
        )
        return None, notes
    low, high = bounds(scenario.transport.start)
    if end > whole * (1 + NEAR) + (high - low) / 2:
        notes.append(f"{said}; the scenario ends {_s(whole)} after it: write duration: {_s(first + end)}")
    elif whole > end * (1 + NEAR):
        notes.append(f"{said}; the scenario lasts longer ({_s(whole)}), which is not counted")
    elif start > 0:
        notes.append(f"{said}; outcomes of the scenario count in the same time")
    return Window(first + start, min(first + end, duration)), notes


def _s(value: float) -> str:
    return quantity(float(f"{value:.3g}"), "s")


def _setting(scenario: Scenario, runs: Sequence[Measurement]) -> list[str]:
    """Return how protocol, congestion control and number of flows of runs and scenario differ."""
    notes = list[str]()
    ours = str(scenario.transport.protocol)
    control = scenario.transport.given("congestion_control")
    count = 1 if scenario.network.one_flow else build(scenario, replications=1).rows.flows.shape[1]
    for run in runs:
        given = run.setting.get("protocol", "")
        if given in ("UDP", "TCP") and (given == "UDP") != (ours == "udp"):
            tcp = "UDP" if ours == "udp" else f"{spelt(ours)} (not UDP)"
            notes.append(f"The run used {given}, the scenario {tcp}")
        used = run.setting.get("congestion control", "")
        if used and control and ours == "linux" and used != control:
            notes.append(f"The run used {used}, the scenario {Path(str(control)).stem}")
        flows = run.setting.get("flows", "")
        if flows and int(flows) != count:
            notes.append(f"The run had {counted(int(flows), 'flow')}, the scenario has {count}")
        notes += run.notes
    return notes


def _row(runs: Sequence[Measurement], name: str, simulated: Floats) -> dict[str, Any]:
    """Return the row of the table for a quantity."""
    seen = np.array([run.values[name] for run in runs if name in run.values])
    mean = statistics.mean(seen)
    ours = statistics.mean(simulated)
    low, high, _ = prediction(simulated)
    least = BY_NAME[name].values.least if name in BY_NAME else 0.0
    low = max(low, least) if ours.n > 1 else low
    relative = mean.mean / ours.mean - 1 if ours.mean else (0.0 if mean.mean == 0 else math.inf)
    below, above = int((seen < low).sum()), int((seen > high).sum())
    if not math.isfinite(low):
        verdict = "unknown"
    elif low == high or ours.sd <= EQUAL * abs(ours.mean):
        close = np.abs(seen - ours.mean) <= np.maximum(EQUAL * abs(ours.mean), 0)
        verdict, below, above = ("equal" if close.all() else "differs"), 0, int((~close).sum())
    elif _improbable(below + above, len(seen)):
        verdict = "above" if above >= below else "below"
    else:
        verdict = "inside"
    values = (
        len(seen), mean.mean, mean.ci_low, mean.ci_high, ours.mean, ours.ci_low, ours.ci_high, relative,
        low, high, len(seen) - below - above, verdict,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _improbable(outside: int, of: int) -> bool:
    """Return whether so many runs outside a range of 95 % have a probability of 5 % or less."""
    p = sum(math.comb(of, k) * 0.05**k * 0.95 ** (of - k) for k in range(outside, of + 1))
    return outside > 0 and p <= 0.05 + 1e-12


def _bins(runs: Sequence[Measurement], scenario: Scenario, window: Window | None) -> list[float]:
    """Return the edges of the intervals of curves, from the start of the first flow [s]; none if there are no
    curves."""
    curve = next((run.curves[name] for run in runs for name in OVER_TIME if name in run.curves), None)
    if curve is None or window is None:
        return []
    edges = [*curve.start_s.tolist(), float(curve.end_s[-1])]
    step = math.ceil((len(edges) - 1) / MOST_BINS)
    kept = edges[::step]
    last = window.end_s - windows.flow_start_s(scenario)
    return [edge for edge in kept if edge <= last * (1 + NEAR)] if len(kept) > 2 else edges


def _band(name: str, bins: list[float], within: list[dict[str, Floats]], runs: Sequence[Measurement]) -> Band:
    values = np.array([one[name] for one in within])
    low, median, high = statistics.row_quantiles(values, [0.05, 0.5, 0.95]).T
    edges = np.array(bins)
    measured = tuple(_binned(run.curves.get(name), edges, name) for run in runs)
    return Band(edges, low, median, high, measured)


def _binned(curve: Curve | None, edges: Floats, name: str) -> Floats:
    """Return the means, or the sums of counts, of a curve between edges; NaN where it has no value."""
    found = np.full(len(edges) - 1, np.nan)
    if curve is None:
        return found
    middle = (curve.start_s + curve.end_s) / 2
    at = np.searchsorted(edges, middle, side="right") - 1
    for k in range(len(found)):
        mine = (at == k) & np.isfinite(curve.values)
        if mine.any():
            part = Curve(curve.start_s[mine], curve.end_s[mine], curve.values[mine])
            found[k] = part.values.sum() if name in SUMS else part.mean()
    return found
