"""Quantities of a scenario within windows of time, as a measurement counts them.

Networks with a warm-up simulate each window. The others count from time 0, so a window is the difference of
two runs of different length, which have the same random numbers and hence the same packets up to the end of
the shorter one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.networks.outcome import SHARE
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import bounds
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import BY_NAME, declarations, values_of
from netcarlo.simulation.progress import Progress
from netcarlo.simulation.simulate import simulate_all
from netcarlo.transport.classed import class_of

CLASS = "measured"
"""Class of the flow if the scenario names none and delays are compared."""
OF_CLASSES = ("mean_delay_s", "jitter_s")
"""Quantities that only classes of flows have, except for networks that measure them for all flows."""
MEANS = {
    "mean_rtt_s": "rtt_s",
    "mean_cwnd_packets": "rtt_s",
    "mean_delay_s": "delivered",
    "jitter_s": "delivered",
}
"""Weight of the mean of a quantity in a run: the time with RTT samples, or the packets delivered."""
COUNTS = ("retransmitted",)
"""Quantities that are counts."""


class Window(NamedTuple):
    """Time in which a quantity is counted, from the start of a run [s]."""

    start_s: float
    end_s: float


def flow_start_s(scenario: Scenario) -> float:
    """Return the time at which the flow starts [s], its mean if it is random; 0 with several flows."""
    start = scenario.transport.start if scenario.network.one_flow else 0.0
    return float(start.mean() if isinstance(start, Distribution) else start)


def with_class(scenario: Scenario, names: Iterable[str]) -> Scenario:
    """Return a scenario that measures delays if one of the quantities `names` needs it and has one flow."""
    asks = any(name in OF_CLASSES for name in names)
    if not asks or not scenario.network.one_flow or class_of(scenario.transport) is not None:
        return scenario
    return scenario.with_values({"transport.class": CLASS})


def counts_windows(scenario: Scenario) -> bool:
    """Return whether windows can be counted: with a fixed duration, an endless flow, and no formula."""
    fixed = not isinstance(scenario.duration, Distribution) and not isinstance(scenario.warm_up, Distribution)
    endless = all(
        getattr(scenario.transport, name, None) is None for name in ("bytes", "packets", "messages")
    )
    return fixed and endless and scenario.fidelity != "formula" and scenario.warm_up is None


def quantities(
    scenario: Scenario,
    windows: Sequence[Window | None],
    names: Sequence[str],
    *,
    replications: int,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> list[dict[str, Floats]]:
    """Return quantities [replications] by name in each window; None stands for the scenario as it is.

    A quantity that the network does not have is absent. Scenarios with windows must satisfy `counts_windows`.
    """
    scenario = with_class(scenario, names)
    warms = not scenario.network.no_warm_up
    first = flow_start_s(scenario)
    runs: dict[tuple[float, float], Scenario] = {}

    def run(end_s: float, warm_up_s: float = 0.0) -> tuple[float, float]:
        update: dict[str, Any] = {"duration": end_s}
        if warm_up_s > 0:
            update["warm_up"] = warm_up_s
        runs[end_s, warm_up_s] = scenario.model_copy(update=update)
        return end_s, warm_up_s

    whole = bounds(scenario.duration)[1]
    used: list[list[tuple[float, float]]] = []
    for window in windows:
        if window is None:
            runs[whole, -1.0] = scenario
            used.append([(whole, -1.0)])
        elif warms:
            used.append([run(window.end_s, window.start_s)])
        else:
            used.append([run(end) for end in (window.start_s, window.end_s) if end > first])
    found = simulate_all(
        [Job(each, 0, replications) for each in runs.values()],
        target=target, threads=threads, progress=progress, large=large,
    )  # fmt: skip
    frames = {key: outcomes.frame for key, outcomes in zip(runs, found, strict=True)}
    return [_counted(scenario, keys, frames, names, first) for keys in used]


def _counted(
    scenario: Scenario, keys: list[tuple[float, float]], frames: dict[tuple[float, float], pd.DataFrame],
    names: Sequence[str], first: float,
) -> dict[str, Floats]:  # fmt: skip
    """Return the quantities of one window, from the run that covers it, or from two."""
    *before, last = keys
    direct = {name: _direct(scenario, frames[last], name) for name in names}
    known = {name: values for name, values in direct.items() if values is not None}
    if not before:
        return known
    (earlier,) = before
    early = {
        name: values for name in known if (values := _direct(scenario, frames[earlier], name)) is not None
    }
    a, b = (_sums(scenario, frames[key], key[0], first) for key in (earlier, last))
    found = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for name, values in known.items():
            if name == "goodput_bps":
                found[name] = (values * b["active_s"] - early[name] * a["active_s"]) / (
                    b["active_s"] - a["active_s"]
                )
            elif name == "loss_ratio":
                found[name] = (b["lost"] - a["lost"]) / (b["sent"] - a["sent"])
            elif name in MEANS:
                weight = [part[MEANS[name]] for part in (a, b)]
                old = np.where(np.isfinite(early[name]), early[name] * weight[0], 0.0)
                found[name] = (values * weight[1] - old) / (
                    weight[1] - np.where(np.isfinite(early[name]), weight[0], 0)
                )
            elif name in COUNTS:
                found[name] = values - early[name]
    return found


def _sums(scenario: Scenario, frame: pd.DataFrame, end_s: float, first: float) -> dict[str, Floats]:
    """Return what quantities are divided by in a run until `end_s`: times [s] and numbers of packets."""
    start = values_of(frame, "transport.start") if "transport.start" in frame else np.full(len(frame), first)
    begun = values_of(frame, "first_delivery_s")
    return {
        "active_s": np.maximum(end_s - start, 0.0),
        "rtt_s": np.maximum(end_s - np.where(np.isfinite(begun), begun, end_s), 0.0),
        "delivered": values_of(frame, "delivered"),
        "lost": _lost(scenario, frame),
        "sent": values_of(frame, "sent"),
    }


def _lost(scenario: Scenario, frame: pd.DataFrame) -> Floats:
    """Return the number of data packets lost, at all places where the network loses them."""
    places = [
        name for name, one in declarations(scenario.network).items() if one.lost and one.values != SHARE
    ]
    counts = [values_of(frame, name) for name in places if name in frame]
    return np.nansum(counts, axis=0) if counts else np.full(len(frame), np.nan)


def _direct(scenario: Scenario, frame: pd.DataFrame, name: str) -> Floats | None:
    """Return a quantity of whole runs [n]; None if the network does not have it."""
    if name in frame and np.isfinite(values := values_of(frame, name)).any():
        return values
    if name == "loss_ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            values = _lost(scenario, frame) / values_of(frame, "sent")
        return values if np.isfinite(values).any() else None
    if name in OF_CLASSES:
        classes = [column for column in frame if str(column).endswith(f"_{name}") and column in BY_NAME]
        return values_of(frame, str(classes[0])) if len(classes) == 1 else None
    return None
