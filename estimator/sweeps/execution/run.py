"""Main loop of a sweep: submit chunks of missing cells, and store each result as soon as it is finished."""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.runtime.device_errors import DeviceError
from netcarlo.simulation.executors import LOST, StoppedError, WrongVersion
from netcarlo.simulation.launches import MAX_LAUNCH
from netcarlo.simulation.provenance import versions
from netcarlo.sweeps.execution.chunk import Chunk, failed, run_chunk
from netcarlo.sweeps.execution.chunk_plan import CHUNK_S, LARGEST_CHUNK, Cells, ChunkPlan, GroupCost, Task

if TYPE_CHECKING:
    import pyarrow as pa

    from netcarlo.sweeps.space.space import Sweep

CHUNKS_PER_SLOT = 2
"""Number of submitted chunks for each slot: one runs, and one is queued so that the worker is never idle."""

POLL_S = 0.5
"""Maximum time between two calls of the progress callback [s]."""


class ResultSink(Protocol):
    """Destination of results: a store, or an object with these methods."""

    def scan(self, *, repair: bool) -> Any:
        """Return an object with `done`, bool[n_cells]: True for finished cells."""

    def write(self, cells: "pa.Table", replications: "pa.Table | None") -> None:
        """Store a chunk. Raises InputError."""

    def add_run(self, record: dict[str, Any]) -> None:
        """Store the record of a run. Raises InputError."""


@dataclass
class Summary:
    """Summary of a run so far."""

    n_cells: int
    """Number of cells of the sweep."""
    stored: int
    """Number of cells that were in the store before."""
    todo: int
    """Number of cells of this run."""
    done: int = 0
    """Number of finished cells."""
    failed: int = 0
    """Number of failed cells."""
    chunks: int = 0
    """Number of chunks."""
    networks: int = 0
    """Number of simulated replications."""
    packets: int = 0
    """Number of simulated data packets."""
    kernel_s: float = 0.0
    """CPU time of the kernels [core-seconds]."""
    busy_s: float = 0.0
    """Sum of the elapsed times of all chunks [s]."""
    wall_s: float = 0.0
    """Elapsed time of the run [s]."""
    slot_s: float = 0.0
    """Elapsed time multiplied by the number of slots [s]."""
    slots: int = 0
    """Current number of slots."""
    phase: str = ""
    """Name of the phase of a sweep with `fidelity: auto`, see `adaptive`."""
    answered: dict[tuple[str, str], int] = field(default_factory=dict)
    """Number of cells by the columns answered_by and because, at the end of a sweep with `fidelity: auto`."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Key and error of the first failed cells."""

    @property
    def kernel_share(self) -> float:
        """Fraction of the workers' time that was spent in kernels."""
        return self.kernel_s / self.slot_s if self.slot_s else math.nan

    @property
    def left_s(self) -> float:
        """Estimated remaining time, with the mean time of a cell so far [s]."""
        finished = self.done + self.failed
        return self.wall_s / finished * (self.todo - finished) if finished else math.nan

    def record(self) -> dict[str, Any]:
        """Return numbers and times as data for JSON."""
        return {
            "cells": self.done,
            "failed": self.failed,
            "chunks": self.chunks,
            "networks": self.networks,
            "packets": self.packets,
            "kernel_s": round(self.kernel_s, 3),
            "kernel_share": round(self.kernel_share, 4) if self.slot_s else None,
            "busy_s": round(self.busy_s, 3),
            "wall_s": round(self.wall_s, 3),
        }


Progress = Callable[[Summary], object]


def run(
    sweep: "Sweep",
    store: ResultSink,
    *,
    executor: Executor,
    slots: Callable[[], int],
    target: str = "cpu",
    chunk: int | None = None,
    chunk_s: float = CHUNK_S,
    cells: Cells | None = None,
    phase: str = "",
    workers: str = "",
    command: str = "",
    progress: Progress | None = None,
    submit: Callable[..., Chunk] = run_chunk,
    group_cost: GroupCost | None = None,
    begun: Callable[[Cells], "pa.Table | None"] | None = None,
) -> Summary:
    """Simulate the cells that are missing in the store, or have failed, and write them to it.

    The executor runs `submit` for about `slots()` chunks at the same time; the results do not depend on
    either. `chunk` fixes the number of cells of a chunk; by default chunks grow until they take `chunk_s`,
    beginning with the costs in `group_cost`. With `cells`, int64[n], only these are simulated, in this order.
    `phase`, `workers` and `command` are written to the record of the run, which is always stored.
    `progress(summary)` is called after each chunk and every half second. `begun(cells)` returns stored
    replications, which are not simulated again.

    A chunk that kills its workers is halved until the failing group is found, whose cells are marked as
    failed. Raises WrongVersion (a worker has other models) and StoppedError (workers or a device lost, disk
    full).
    """
    about = sweep.record()
    scan = store.scan(repair=True)
    plan = ChunkPlan(
        ~np.asarray(scan.done),
        group=sweep.group,
        replications=about["replications"] if about["precision"] is None else 1,
        order=cells,
        chunk=chunk,
        chunk_s=chunk_s,
        most=MAX_LAUNCH["cuda"] if target == "cuda" else LARGEST_CHUNK,
        group_cost=group_cost,
    )
    summary = Summary(sweep.n_cells, int(np.count_nonzero(scan.done)), plan.cells)
    started, since = datetime.now(UTC), time.monotonic()
    loop = _Loop(sweep, store, executor, slots, plan, summary, target, about["model_version"], submit, begun)
    outcome = "finished"
    try:
        for _ in loop:
            summary.wall_s = time.monotonic() - since
            if progress:
                progress(summary)
    except BaseException as error:
        outcome = "interrupted" if isinstance(error, KeyboardInterrupt | SystemExit) else f"stopped: {error}"
        with suppress(StoppedError):
            loop.keep_finished()
        raise
    finally:
        summary.wall_s = time.monotonic() - since
        record = {
            "command": command,
            **({"phase": phase} if phase else {}),
            "started": started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "outcome": outcome,
            "target": target,
            "workers": workers,
            **summary.record(),
            "client_peak_bytes": peak_bytes(),
            "versions": versions(),
        }
        try:
            store.add_run(record)
        except InputError as error:
            if outcome == "finished":
                raise StoppedError(str(error)) from None
    return summary


def peak_bytes() -> int:
    """Return the peak memory of this process [bytes]; 0 if unknown."""
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class _Loop:
    """Iterator that submits chunks and stores results; one step for each result or half second."""

    def __init__(
        self,
        sweep: "Sweep",
        store: ResultSink,
        executor: Executor,
        slots: Callable[[], int],
        plan: ChunkPlan,
        summary: Summary,
        target: str,
        version: str,
        submit: Callable[..., Chunk],
        begun: Callable[[Cells], "pa.Table | None"] | None,
    ) -> None:
        self.sweep, self.store, self.executor, self.slots = sweep, store, executor, slots
        self.plan, self.summary, self.submit, self.begun = plan, summary, submit, begun
        self.definition = json.dumps(sweep.definition)
        self.options = {"target": target, "threads": 1, "version": version}
        self.running: dict[Future[Chunk], Task] = {}
        self.ready: SimpleQueue[Future[Chunk]] = SimpleQueue()

    def __iter__(self) -> Iterator[None]:
        last = time.monotonic()
        while self.plan or self.running:
            slots = self.slots()
            while len(self.running) < CHUNKS_PER_SLOT * max(slots, 1):
                task = self.plan.next_task(CHUNKS_PER_SLOT * max(slots, 1), alone=not self.running)
                if task is None:
                    break
                self._submit(task)
            self.summary.slots = slots
            try:
                future = self.ready.get(timeout=POLL_S)
            except Empty:
                pass
            else:
                self._handle_result(future)
            now = time.monotonic()
            self.summary.slot_s += slots * (now - last)
            last = now
            yield

    def keep_finished(self) -> None:
        """Write the finished results, and drop the others."""
        while not self.ready.empty():
            future = self.ready.get()
            task = self.running.pop(future, None)
            if task is not None and not future.cancelled() and future.exception() is None:
                self._write(future.result())

    def _submit(self, task: Task) -> None:
        options = self.options
        if self.begun:
            compared = np.union1d(task.cells, self.sweep.baseline(task.cells))
            options = options | {"begun": self.begun(compared)}
        try:
            future = self.executor.submit(self.submit, self.definition, task.cells, **options)
        except (RuntimeError, OSError) as error:  # closed
            raise StoppedError(LOST) from error
        self.running[future] = task
        future.add_done_callback(self.ready.put)

    def _handle_result(self, future: "Future[Chunk]") -> None:
        task = self.running.pop(future)
        try:
            chunk = future.result()
        except CancelledError:  # only a lost scheduler cancels
            raise StoppedError(LOST) from None
        except WrongVersion:
            raise
        except ImportError as error:
            raise WrongVersion(str(error)) from None
        except DeviceError as error:
            raise StoppedError(str(error)) from None
        except Exception as error:
            if not self.plan.retry(task):
                self._record_failure(task, error)
            return
        self.plan.record_cost(task.cells, chunk)
        self._write(chunk)

    def _record_failure(self, task: Task, error: Exception) -> None:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        self._write(Chunk(failed(self.sweep, task.cells, reason), None, 0, 0, 0.0, 0.0))

    def _write(self, chunk: Chunk) -> None:
        try:
            self.store.write(chunk.cells, chunk.replications)
        except InputError as error:
            raise StoppedError(str(error)) from None
        status = chunk.cells["status"].to_pylist()
        bad = [row for row, state in enumerate(status) if state != "ok"]
        summary = self.summary
        summary.done += len(status) - len(bad)
        summary.failed += len(bad)
        for row in bad[: max(0, 3 - len(summary.failures))]:
            summary.failures.append((chunk.cells["key"][row].as_py(), chunk.cells["error"][row].as_py()))
        summary.chunks += 1
        summary.networks += chunk.networks
        summary.packets += chunk.packets
        summary.kernel_s += chunk.kernel_s
        summary.busy_s += chunk.wall_s
