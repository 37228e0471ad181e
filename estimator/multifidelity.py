"""Estimates that a cheap fidelity sharpens: its value of each drawn network is a control variate.

Packet runs give pairs (y, x) of an outcome and of the cheap value of the same draw; many more draws, of
which only x is computed, say where the mean of x lies.  What y owes to the draw, as far as x knows it, then
adds next to nothing to the error.  docs/fidelity.md says how the interval is found and how often it covers.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pandas as pd

from netcarlo import fidelity, statistics
from netcarlo.outcomes import MEANING, Outcomes
from netcarlo.scenario import Scenario
from netcarlo.simulate import Progress, simulate
from netcarlo.statistics import Floats, Mean

LEAST = 10
"""Packet runs below which a coefficient is not worth estimating."""

MOST_DRAWS = 64
"""Cheap draws per packet run at most."""


class Controlled(NamedTuple):
    """A mean with a control variate beside it."""

    mean: Mean  # its sd is that of the outcome itself
    coefficient: float
    correlation: float  # of the outcome and its control
    variance_ratio: float  # variance of the plain mean of as many packet runs, over that of this one


class Estimated(NamedTuple):
    """What `estimate` found."""

    outcomes: Outcomes  # of the packet runs
    means: dict[str, Mean]  # of the outcomes that have a control
    saving: pd.DataFrame  # a row per such outcome
    seconds: tuple[float, float]  # spent on packet runs, and on cheap draws
    draws: int  # of the cheap fidelity


def controlled(y: Floats, x: Floats) -> Controlled | None:
    """Mean of `y` [n] with the control `x` [m], m >= n, whose first n values belong to those of `y`.

    Each pair is corrected with the coefficient of the others, so that no value decides on its own correction;
    the interval is that of the corrected values, and the error of the mean of `x` is counted.  None where a
    value is missing, the control is constant, or there are too few pairs.
    """
    n, m = len(y), len(x)
    if n < LEAST or not (np.isfinite(y).all() and np.isfinite(x).all()):
        return None
    everywhere = statistics.mean(x)
    a, b = x[:n] - math.fsum(x[:n]) / n, y - math.fsum(y) / n
    sxx, sxy, syy = (math.fsum(u * v) for u, v in ((a, a), (a, b), (b, b)))
    without = sxx - a * a * (n / (n - 1))
    if not (sxx > 0 and syy > 0 and (without > 1e-12 * sxx).all()):
        return None
    others = (sxy - a * b * (n / (n - 1))) / without
    corrected = statistics.mean(y - others * (x[:n] - everywhere.mean))
    coefficient = sxy / sxx
    far = abs(coefficient) * everywhere.half_width
    centre, plain = corrected.mean, statistics.mean(y)
    low = centre - math.hypot(centre - corrected.ci_low, far)
    high = centre + math.hypot(corrected.ci_high - centre, far)
    return Controlled(
        Mean(n, centre, plain.sd, low, high),
        coefficient,
        sxy / math.sqrt(sxx * syy),
        plain.sd**2 / (corrected.sd**2 + (coefficient * everywhere.sd) ** 2 * n / m),
    )


def draws_wanted(y: Floats, x: Floats) -> int:
    """So many cheap draws for the packet runs `y` that the mean of the control adds a third to the variance.

    At most `MOST_DRAWS` for each run: a control that says nearly all shall not cost more than the runs.
    """
    n = len(y)
    found = controlled(y, x[:n])
    if found is None:
        return n
    known = found.correlation**2
    each = 3 * known / max(1 - known, 1e-9)
    return n + math.ceil(n * min(each, MOST_DRAWS))


def estimate(
    scenario: Scenario,
    *,
    control: str,
    of: str,
    rule: statistics.StoppingRule | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Estimated:
    """Run packets and cheap draws of a scenario; the number of draws is what the outcome `of` wants.

    `control` is the cheap fidelity.  With a `rule` packets run until the interval of `of` meets it, else the
    scenario's replications.  Raises InputError where there is no such model.
    """
    fidelity.check(scenario, control)
    packets, cheap = _Runs(), _Runs()

    def run(count: int) -> None:
        first = packets.done

        def report(done: int, _: int) -> None:
            if progress:
                progress(first + done, first + count)

        with packets.clock():
            packets.add(
                simulate(
                    scenario, first=first, replications=count, target=target, threads=threads, progress=report
                )
            )
        draw(packets.done)
        draw(draws_wanted(packets.values(of), cheap.values(of)))

    def draw(count: int) -> None:
        if count > cheap.done:
            with cheap.clock():
                cheap.add(
                    fidelity.simulate(
                        scenario, fidelity=control, first=cheap.done, replications=count - cheap.done
                    )
                )

    def seen() -> Mean:
        found = controlled(packets.values(of), cheap.values(of))
        return found.mean if found else statistics.mean(packets.values(of))

    if rule is None:
        run(scenario.replications)
    else:
        while count := rule.next_after(packets.done, seen):
            run(count)
    found = {
        name: value
        for name in MEANING
        if (value := controlled(packets.values(name), cheap.values(name))) is not None
    }
    return Estimated(
        packets.outcomes(),
        {name: value.mean for name, value in found.items()},
        _saving(found),
        (packets.seconds, cheap.seconds),
        cheap.done,
    )


def _saving(found: dict[str, Controlled]) -> pd.DataFrame:
    """A row per outcome: its coefficient, correlation, variance_ratio, and the packet runs saved, those that
    the plain mean would need on top for an interval as narrow."""
    table = pd.DataFrame(
        [
            (f.coefficient, f.correlation, f.variance_ratio, round(f.mean.n * (f.variance_ratio - 1)))
            for f in found.values()
        ],
        columns=["coefficient", "correlation", "variance_ratio", "runs_saved"],
        index=pd.Index(list(found), name="outcome"),
    )
    return table


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
        return np.concatenate([part.frame[name].to_numpy(np.float64) for part in self.parts])

    def outcomes(self) -> Outcomes:
        integers = np.concatenate([part.integers for part in self.parts])
        return Outcomes(integers, pd.concat([part.frame for part in self.parts]))
