"""Simulation of scenarios in as few launches as possible."""

from collections.abc import Sequence

from netcarlo.kernels.runtime.threads import prefetched
from netcarlo.scenario import ScenarioLike, scenario_of
from netcarlo.schema.arguments import checked
from netcarlo.simulation import launches, workload
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import Outcomes, joined
from netcarlo.simulation.progress import Progress, reporter
from netcarlo.simulation.targets import resolve_target


@checked
def simulate(
    scenario: ScenarioLike,
    *,
    first: int = 0,
    replications: int | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Outcomes:
    """Simulate `replications` (default: those of the scenario), numbered from `first`.

    `scenario` is a scenario, the path of its file, or data as in a file. `progress(done, total)` is called
    with numbers of replications; True prints a line. The outcomes of a replication depend only on the
    scenario and its number, not on `target` (auto, cpu or cuda), `threads` (CPU) or other replications. A run
    that would take days, or more memory than most machines have (`workload`), is refused unless `large` is
    true. Raises InputError.
    """
    scenario = scenario_of(scenario)
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
    """Simulate many jobs with one launch per model where possible; returns their outcomes in order."""
    if not large:
        workload.check(workload.forecast(job.scenario, job.replications) for job in jobs)
    work = [(job.scenario, job.replications) for job in jobs]
    target, tell = resolve_target(target, work, threads=threads), reporter(progress)
    launches.prepare((job.scenario for job in jobs), target=target)
    total, done = sum(job.replications for job in jobs), 0
    parts: list[list[Outcomes]] = [[] for _ in jobs]
    built = ((batch, [job.part() for _, job in batch]) for batch in launches.batches(jobs, target))
    for batch, rows in prefetched(built) if target == "cuda" else built:

        def report(rows_done: int, before: int = done) -> None:
            if tell:
                tell(before + rows_done, total)

        with launches.refusals():
            found = launches.run(
                rows, target=target, threads=threads, progress=report,
                most_bytes=None if large else workload.MAX_SCRATCH,
            )  # fmt: skip
        for (i, _), outcomes in zip(batch, found, strict=True):
            parts[i].append(outcomes)
        done += sum(job.replications for _, job in batch)
        report(0, done)
    return [joined(part) for part in parts]
