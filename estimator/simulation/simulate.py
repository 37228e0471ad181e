"""Runs scenarios: builds their rows, launches the kernel, and names the outcomes."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.networks.shared.description import kinds as shared_kinds
from netcarlo.scenario import Scenario
from netcarlo.simulation import workload
from netcarlo.simulation.ensemble import build, concatenate, own, row_bytes
from netcarlo.simulation.outcomes import Outcomes, outcomes
from netcarlo.transport import congestion as controls
from netcarlo.transport.tcp import Tcp

TARGETS = ("auto", "cpu", "cuda")

LARGEST_LAUNCH = 1 << 16
"""Replications of a scenario in one launch; bounds memory and decides nothing else."""

LARGEST_ROWS = 1 << 28
"""Bytes of the hops and outages of a launch; the same."""

Progress = Callable[[int, int], object]
"""Called with (replications done, replications in all)."""


@dataclass(frozen=True)
class Job:
    """Replications `first` to `first + replications` - 1 of a scenario."""

    scenario: Scenario
    first: int
    replications: int


def simulate(
    scenario: Scenario,
    *,
    first: int = 0,
    replications: int | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Outcomes:
    """Simulate `replications` (the scenario's unless given), the first of which has the number `first`.

    A replication's outcome depends on nothing but the scenario and its number: not on `target`
    (auto, cpu or cuda), `threads` (CPU), or the other replications.  What would take days or more memory than
    most machines have (`workload`) is refused unless it is confirmed as `large`.  Raises InputError.
    """
    job = Job(scenario, first, scenario.replications if replications is None else replications)
    return simulate_all([job], target=target, threads=threads, progress=progress, large=large)[0]


def simulate_all(
    jobs: Sequence[Job],
    *,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> list[Outcomes]:
    """Simulate many jobs with as few launches as there are models; returns their outcomes in order."""
    if not large:
        workload.check(workload.forecast(job.scenario, job.replications) for job in jobs)
    if any(job.scenario.fidelity == "formula" for job in jobs):
        return _with_formulas(jobs, target=target, threads=threads, progress=progress)
    target = resolve_target(target)
    from netcarlo.kernels.runtime import compile as compilers
    from netcarlo.kernels.runtime import launch

    if target == "cpu":
        compilers.prepare(model for model, _ in _launches(jobs))
    total, done = sum(job.replications for job in jobs), 0
    parts: list[list[Outcomes]] = [[] for _ in jobs]
    for model, batch in _launches(jobs):
        ensembles = [build(jobs[i].scenario, first=lo, replications=n) for i, lo, n in batch]
        rows = concatenate([ensemble.rows for ensemble in ensembles])

        def report(rows_done: int, before: int = done) -> None:
            if progress:
                progress(before + rows_done, total)

        with refusals():
            integers = launch.run(
                model, rows, target=target, threads=threads, progress=report,
                most_bytes=None if large else workload.MOST_SCRATCH,
            )  # fmt: skip
        at = 0
        for (i, _, n), ensemble in zip(batch, ensembles, strict=True):
            mine = own(integers[at : at + n], rows, ensemble.rows)
            parts[i].append(outcomes(mine, ensemble.rows, ensemble.drawn))
            at += n
        done += at
        report(0, done)
    return [_join(part) for part in parts]


def _with_formulas(
    jobs: Sequence[Job], *, target: str, threads: int | None, progress: Progress | None
) -> list[Outcomes]:
    """The same for jobs of which some are answered by formulae."""
    from netcarlo.simulation import fidelity

    total = sum(job.replications for job in jobs)
    found: list[Outcomes] = []
    for job in jobs:
        if job.scenario.fidelity == "formula":
            found.append(fidelity.simulate(job.scenario, first=job.first, replications=job.replications))
        else:
            found += simulate_all([job], target=target, threads=threads, large=True)  # checked before
        if progress:
            progress(sum(len(outcomes.frame) for outcomes in found), total)
    return found


def model_of(scenario: Scenario) -> Any:
    """The kernel model that simulates a scenario, in packets or as a fluid.  Raises InputError."""
    from netcarlo.kernels import models

    if scenario.fidelity == "fluid":
        from netcarlo.simulation import fidelity, fluid

        fidelity.check(scenario, "fluid")
        return models.model(fluid.model_name(scenario))
    transport = scenario.transport
    if scenario.shared is not None:
        kinds = shared_kinds(scenario.shared, transport) or {"tahoe"}  # of UDP alone any will do
        return models.model(f"shared_{kinds.pop()}" if len(kinds) == 1 else "shared_mixed")
    network = "wifi" if scenario.wireless is not None else "manet" if scenario.adhoc is not None else "tcp"
    if not isinstance(transport, Tcp):
        return models.model("wifi_udp" if network == "wifi" else "sctp")
    protocol, mobile = transport.protocol, scenario.mobility is not None
    control = transport.congestion_control
    if not isinstance(control, Path):
        parts = network, protocol, *([control] if control else [])
        return models.model("_".join(parts) + (models.MOBILE if mobile else ""))
    content = controls.read(control)
    controls.check(control, content)
    try:
        engine = {"tcp": "", "wifi": models.WIFI, "manet": models.MANET}[network]
        return models.user_model(control, content, protocol=protocol, mobile=mobile, network=engine)
    except Exception as error:  # whatever the user's file raises
        raise InputError(f"{control}: cannot be used ({error}); correct it") from None


@contextmanager
def refusals() -> Iterator[None]:
    """What a launch refuses is bad input: too much memory, or a user's file that a compiler does not take."""
    from netcarlo.kernels.congestion.user import RefusedError

    try:
        yield
    except MemoryError as error:
        raise InputError(f"{error or 'there is too little memory'}; {workload.REMEDY}") from None
    except RefusedError as error:
        raise InputError(str(error)) from None


def largest_launch(scenarios: Iterable[Scenario]) -> int:
    """The most replications of these scenarios in one launch."""
    return max(1, min(LARGEST_LAUNCH, LARGEST_ROWS // max(map(row_bytes, scenarios))))


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resolve_target(target: str) -> str:
    """`cpu` or `cuda`; `auto` is cuda where there is a device.  Raises InputError."""
    if target not in TARGETS:
        raise InputError(
            f"target = '{target}' is unknown; allowed is {', '.join(TARGETS)}; write target auto"
        )
    if target == "cpu":
        return target
    from netcarlo.kernels.runtime import device

    if device.devices():
        return "cuda"
    if target == "cuda":
        raise InputError(
            "target = 'cuda' needs a CUDA device, a driver and CuPy; allowed here is cpu; "
            "install with pip install '.[cuda13]' or use target cpu"
        )
    return "cpu"


def _launches(jobs: Sequence[Job]) -> Iterator[tuple[Any, list[tuple[int, int, int]]]]:
    """Launches as (model, [(job, first, replications)]): one model each, and of bounded size."""
    groups: dict[Any, list[int]] = {}
    for i, job in enumerate(jobs):
        groups.setdefault(model_of(job.scenario), []).append(i)
    for model, members in groups.items():
        batch: list[tuple[int, int, int]] = []
        most = room = largest_launch(jobs[i].scenario for i in members)
        for i in members:
            lo, left = jobs[i].first, jobs[i].replications
            while left:
                n = min(left, room)
                batch.append((i, lo, n))
                lo, left, room = lo + n, left - n, room - n
                if not room:
                    yield model, batch
                    batch, room = [], most
        if batch:
            yield model, batch


def _join(parts: list[Outcomes]) -> Outcomes:
    if len(parts) == 1:
        return parts[0]
    frame = pd.concat([part.frame for part in parts])
    # Numbers of hops differ between parts, and with them the drawn quantities.
    return Outcomes(np.concatenate([part.integers for part in parts]), frame)
