"""Launches of kernels: from rows to outcomes, one launch per model for any number of scenarios.

Only this module selects the model of a scenario, fills a launch, and assigns outcomes to scenarios.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.errors import InputError, MachineError
from netcarlo.kernels.base.rows import concatenate, trim
from netcarlo.numerics.arrays import Ints
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity, spread, workload
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import Outcomes, by_formula, outcomes
from netcarlo.transport import congestion as controls

MAX_LAUNCH = {"cpu": 1 << 16, "cuda": 1 << 20}
"""Maximum number of replications of a scenario in one launch, by target. It limits memory and does not affect
results.

A large GPU runs about 70,000 at once, and is fastest with a dozen times as many.
"""

MAX_ROW_BYTES = {"cpu": 1 << 28, "cuda": 1 << 30}
"""Maximum size of the rows of a launch [byte], by target. It does not affect results."""


@dataclass(frozen=True)
class Job:
    """Replications `first` to `first + replications` - 1 of a scenario."""

    scenario: Scenario
    first: int
    replications: int

    def part(self) -> "Part":
        """Build the rows of this job. Raises InputError."""
        return Part(self.scenario, *build(self.scenario, first=self.first, replications=self.replications))


class Part(NamedTuple):
    """Rows of one scenario within a launch."""

    scenario: Scenario
    rows: Any
    drawn: pd.DataFrame
    """Drawn quantities, see `Ensemble`."""


def model_of(scenario: Scenario) -> Any:
    """Return the kernel model that simulates a scenario, with packets or as a fluid. Raises InputError."""
    from netcarlo.kernels import models

    fluid = scenario.fidelity == "fluid"
    if fluid:
        fidelity.check(scenario, "fluid")
    address = scenario.network.address(scenario, fluid=fluid)
    control = scenario.transport.own_control
    if control is None:
        return models.at(address)
    content = controls.read(control)
    controls.check(control, content)
    try:
        return models.user_model(control, content, address)
    except Exception as error:  # any error of the user's file
        raise InputError(f"{control}: cannot be used ({error}); correct it") from None


def prepare(scenarios: Iterable[Scenario], *, target: str) -> None:
    """Compile the models of scenarios for the CPU, in parallel, unless workers of other machines do."""
    from netcarlo.kernels.runtime import compile as compilers

    workers = spread.current()
    if target == "cpu" and (workers is None or workers.local):
        compilers.prepare(dict.fromkeys(model_of(s) for s in scenarios if s.fidelity != "formula"))


def max_replications(scenarios: Iterable[Scenario], target: str) -> int:
    """Return the maximum number of replications of these scenarios in one launch on a target, cpu or cuda."""
    widest = max(scenario.network.row_bytes() for scenario in scenarios)
    return max(1, min(MAX_LAUNCH[target], MAX_ROW_BYTES[target] // widest))


def batches(jobs: Sequence[Job], target: str) -> Iterator[list[tuple[int, Job]]]:
    """Yield the content of each launch: parts of jobs with the index of their job.

    Raises InputError if no model simulates a scenario.
    """
    groups: dict[Any, list[int]] = {}
    for i, job in enumerate(jobs):
        if job.scenario.fidelity == "formula":
            fidelity.check(job.scenario, "formula")
            groups[i] = [i]
        else:
            groups.setdefault(model_of(job.scenario), []).append(i)
    for members in groups.values():
        batch: list[tuple[int, Job]] = []
        most = room = max_replications((jobs[i].scenario for i in members), target)
        for i in members:
            scenario, first, left = jobs[i].scenario, jobs[i].first, jobs[i].replications
            while left:
                n = min(left, room)
                batch.append((i, Job(scenario, first, n)))
                first, left, room = first + n, left - n, room - n
                if not room:
                    yield batch
                    batch, room = [], most
        if batch:
            yield batch


def run(
    parts: Sequence[Part],
    *,
    target: str,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    most_bytes: float | None = None,
) -> list[Outcomes]:
    """Return the outcomes of each part, by a kernel or by formulae; one launch per model.

    `progress(rows_done)` is called now and then.
    """
    simulated = [part for part in parts if part.scenario.fidelity != "formula"]
    found = iter(
        integers(simulated, target=target, threads=threads, progress=progress, most_bytes=most_bytes)
    )
    return [
        by_formula(part.scenario, part.rows, part.drawn)
        if part.scenario.fidelity == "formula"
        else _named(part, next(found))
        for part in parts
    ]


def integers(
    parts: Sequence[Part],
    *,
    target: str,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    most_bytes: float | None = None,
) -> list[Ints]:
    """Return what the kernels write for each part, int64[n, ...]."""
    from netcarlo.kernels.runtime import launch

    groups: dict[Any, list[int]] = {}
    for i, part in enumerate(parts):
        groups.setdefault(model_of(part.scenario), []).append(i)
    found: dict[int, Ints] = {}
    done, workers = 0, spread.current()
    for model, members in groups.items():
        mine = [parts[i].rows for i in members]
        rows = concatenate(mine) if len(mine) > 1 else mine[0]

        def report(rows_done: int, before: int = done) -> None:
            if progress:
                progress(before + rows_done)

        if workers is None:
            out = launch.run(
                model, rows, target=target, threads=threads, progress=report, most_bytes=most_bytes
            )
        else:
            own = parts[members[0]].scenario.transport.own_control
            content = b"" if own is None else controls.read(own)
            out = spread.run(workers, model, rows, content=content, progress=report, most_bytes=most_bytes)
        done += len(out)
        report(0, done)
        ends = np.cumsum([len(part.parameters) for part in mine])[:-1]
        for i, part, raw in zip(members, mine, np.split(out, ends), strict=True):
            found[i] = trim(raw, rows, part)
    return [found[i] for i in range(len(parts))]


def trace(scenario: Scenario, *, replication: int = 0) -> tuple[NDArray[np.float64], Outcomes]:
    """Return the events of a replication, float64[events, len(Trace)], and its outcomes."""
    from netcarlo.kernels.runtime import launch

    part = Job(scenario, replication, 1).part()
    model = model_of(scenario)
    events, raw = launch.trace(model.traced or model, part.rows, row=0)
    return events, _named(part, trim(raw[None], part.rows, part.rows))


def _named(part: Part, trimmed: Ints) -> Outcomes:
    return outcomes(part.scenario.network, trimmed, part.rows, part.drawn)


@contextmanager
def refusals() -> Iterator[None]:
    """Convert errors of a launch: too little memory, or a user's file that does not compile, is an
    InputError.

    A failure of a device is a MachineError.
    """
    from netcarlo.kernels.congestion.user import RefusedError
    from netcarlo.kernels.runtime.device_errors import DeviceError

    try:
        yield
    except DeviceError as error:
        raise MachineError(str(error)) from None
    except MemoryError as error:
        raise InputError(f"{str(error) or 'there is not enough memory'}; {workload.REMEDY}") from None
    except RefusedError as error:
        raise InputError(str(error)) from None
