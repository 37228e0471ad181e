"""Estimates that a cheap fidelity sharpens: its value of each drawn network is a control variate.

Packet runs give pairs (y, x) of an outcome and of the cheap value of the same draw; many more draws, of
which only x is computed, say where the mean of x lies.  What y owes to the draw, as far as x knows it, then
adds next to nothing to the error.  docs/fidelity.md says how the interval is found and how often it covers.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity
from netcarlo.simulation.outcomes import BY_NAME, MEANING, Outcomes, values_of
from netcarlo.simulation.progress import Told
from netcarlo.simulation.simulate import simulate

LEAST = 10
"""Packet runs below which a coefficient is not worth estimating."""

MOST_DRAWS = {"formula": 64, "fluid": 8}
"""Draws per packet run at most: a control that says nearly all shall not cost more than the runs."""


class Controlled(NamedTuple):
    """A mean with a control variate beside it."""

    mean: Mean  # its sd is that of the outcome itself
    coefficient: float
    correlation: float  # of the outcome and its control
    variance_ratio: float  # variance of the plain mean of as many packet runs, over that of this one

    @property
    def runs_saved(self) -> int:
        """Packet runs that the plain mean would need on top for an interval as narrow."""
        return round(self.mean.n * (self.variance_ratio - 1))


@dataclass(frozen=True)
class Saving:
    """What a control saved, next to the plain mean of packet runs."""

    control: str
    packet_runs: int
    draws: int
    """Of the cheap fidelity."""
    packet_s: float
    draws_s: float
    """Seconds spent on each, without compiling."""
    table: pd.DataFrame
    """A row per outcome that has a control: coefficient, correlation, variance_ratio and runs_saved."""

    def seconds(self, outcome: str) -> float:
        """Seconds saved for an outcome; negative if the draws cost more."""
        return self.packet_s / self.packet_runs * float(self.table["runs_saved"][outcome]) - self.draws_s

    def sentence(self, outcome: str) -> str:
        """What was saved for an outcome, in words."""
        if outcome not in self.table.index:
            return f"{outcome} has no control: {self.control} does not know it, or it is always the same"
        ratio, saved = self.table.loc[outcome, ["variance_ratio", "runs_saved"]]
        return (
            f"{outcome}: {self.packet_runs} packet runs and {self.draws} draws by {self.control} are worth "
            f"{ratio:.3g} times as many runs; {saved:.0f} runs saved, {self.seconds(outcome):.3g} s"
        )

    def record(self) -> dict[str, Any]:
        """The same as data for JSON."""
        return {**vars(self), "table": self.table.to_dict("index")}


def controlled(y: Floats, x: Floats) -> Controlled | None:
    """Mean of `y` [n] with the control `x` [m], m >= n, whose first n values belong to those of `y`.

    Each pair is corrected with the coefficient of the others, so that no value decides on its own correction;
    the interval is that of the corrected values, and the error of the mean of `x` is counted.  None where a
    value is missing, the control is constant, or there are too few pairs.
    """
    n, m = len(y), len(x)
    if n < LEAST or not (np.isfinite(y).all() and np.isfinite(x).all()):
        return None
    everywhere, plain = statistics.mean(x), statistics.mean(y)
    a, b = x[:n] - math.fsum(x[:n]) / n, y - math.fsum(y) / n
    sxx, sxy, syy = (math.fsum(u * v) for u, v in ((a, a), (a, b), (b, b)))
    without = sxx - a * a * (n / (n - 1))
    # What varies by rounding errors alone is constant.
    varied = [v > n * (1e-9 * w.mean) ** 2 for v, w in ((sxx, everywhere), (syy, plain))]
    if not (all(varied) and (without > 1e-12 * sxx).all()):
        return None
    others = (sxy - a * b * (n / (n - 1))) / without
    corrected = statistics.mean(y - others * (x[:n] - everywhere.mean))
    coefficient = sxy / sxx
    far = abs(coefficient) * everywhere.half_width
    centre = corrected.mean
    low = centre - math.hypot(centre - corrected.ci_low, far)
    high = centre + math.hypot(corrected.ci_high - centre, far)
    return Controlled(
        Mean(n, centre, plain.sd, low, high),
        coefficient,
        sxy / math.sqrt(sxx * syy),
        plain.sd**2 / (corrected.sd**2 + (coefficient * everywhere.sd) ** 2 * n / m),
    )


def draws_wanted(y: Floats, x: Floats, *, most: float) -> int:
    """So many cheap draws for the packet runs `y` that the mean of the control adds a third to the variance.

    At most `most` for each run.
    """
    n = len(y)
    found = controlled(y, x[:n])
    if found is None:
        return n
    known = found.correlation**2
    each = 3 * known / max(1 - known, 1e-9)
    return n + math.ceil(n * min(each, most))


def estimate(
    scenario: Scenario,
    *,
    control: str,
    of: str,
    rule: statistics.StoppingRule | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Told | None = None,
    large: bool = False,
) -> tuple[Outcomes, dict[str, Mean], Saving]:
    """Run packets and cheap draws of a scenario; the number of draws is what the outcome `of` wants.

    `control` is the cheap fidelity.  With a `rule` packets run until the interval of `of` meets it, else the
    scenario's replications.  Returns the packet runs, the means of the outcomes that have a control, and what
    it saved.  Raises InputError where there is no such model.
    """
    fidelity.check(scenario, control)
    if scenario.fidelity != "packet":
        raise InputError(f"control = {control} is for packet runs; write fidelity: packet, or no control")
    rough = scenario.model_copy(update={"fidelity": control})
    for each in (scenario, rough):  # compiles
        simulate(each, replications=1, target=target, large=large)
    packets, cheap = _Runs(), _Runs()

    def run(count: int) -> None:
        first = packets.done

        def report(done: int, _: int) -> None:
            if progress:
                progress(first + done, first + count)

        with packets.clock():
            part = simulate(
                scenario, first=first, replications=count, target=target, threads=threads, progress=report,
                large=large,
            )  # fmt: skip
        packets.add(part)
        draw(packets.done)
        draw(draws_wanted(packets.values(of), cheap.values(of), most=MOST_DRAWS[control]))

    def draw(count: int) -> None:
        if (more := count - cheap.done) > 0:
            with cheap.clock():
                part = simulate(
                    rough, first=cheap.done, replications=more, target=target, threads=threads, large=large
                )
            cheap.add(part)

    def seen() -> Mean:
        found = controlled(packets.values(of), cheap.values(of))
        return found.mean if found else statistics.mean(packets.values(of))

    if rule is None:
        run(scenario.replications)
    else:
        while count := rule.next_after(packets.done, seen):
            run(count)
    found = {name: controlled(packets.values(name), cheap.values(name)) for name in MEANING}
    useful = {name: value for name, value in found.items() if value is not None}
    table = pd.DataFrame(
        [(f.coefficient, f.correlation, f.variance_ratio, f.runs_saved) for f in useful.values()],
        columns=["coefficient", "correlation", "variance_ratio", "runs_saved"],
        index=pd.Index(list(useful), name="outcome"),
    )
    saving = Saving(control, packets.done, cheap.done, packets.seconds, cheap.seconds, table)
    return packets.outcomes(), {name: BY_NAME[name].inside(f.mean) for name, f in useful.items()}, saving


class _Runs:
    """Replications 0, 1, .. of one fidelity, as far as there are."""

    def __init__(self) -> None:
        self.parts: list[Outcomes] = []
        self.done = 0
        self.seconds = 0.0

    @contextmanager
    def clock(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - started

    def add(self, part: Outcomes) -> None:
        self.parts.append(part)
        self.done += len(part.frame)

    def values(self, name: str) -> Floats:
        return np.concatenate([values_of(part.frame, name) for part in self.parts])

    def outcomes(self) -> Outcomes:
        integers = np.concatenate([part.integers for part in self.parts])
        return Outcomes(integers, pd.concat([part.frame for part in self.parts]))
