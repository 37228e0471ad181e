"""Background thread that works on the jobs that visitors of the page are waiting for, and on no others.

A job is done in short batches. A batch that no visitor waits for any more is abandoned within one block of a
kernel.
"""

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from netcarlo.errors import InputError, MachineError
from netcarlo.kernels.runtime import compile as compilers

AWAY_S = 6.0
"""Time after the last request of a visitor after which its jobs are dropped [s]."""
IDLE_S = 1.0
"""Time between two checks for visitors that have left [s]."""


class AbandonedError(Exception):
    """Error that ends work whose result no visitor waits for any more."""


class Job(Protocol):
    """Work that is done in batches, each of which improves a result."""

    @property
    def work_id(self) -> int:
        """Identifier of the work; jobs with the same identifier share their work."""

    def work_done(self) -> int | None:
        """Return the amount of work done so far, or None if the result is final. The least is served
        first."""

    def work(self, check: Callable[..., object]) -> None:
        """Do one batch. `check()` raises AbandonedError once no visitor waits for the job."""


class Scheduler:
    """Thread that serves the jobs of all visitors in turn."""

    def __init__(self) -> None:
        self._visitors: dict[str, tuple[float, Sequence[Job]]] = {}
        self._change = threading.Condition()
        self._errors: dict[int, str] = {}
        self._requests = itertools.count()
        self.compiling = ""
        """Message about the model that is being compiled; empty if there is none."""

    def begin(self) -> None:
        """Start the thread. It ends with the process."""
        threading.Thread(target=self._serve, daemon=True, name="netcarlo live").start()

    def watch(self, visitor: str, jobs: Sequence[Job]) -> None:
        """Set the jobs that a visitor waits for. Raises InputError if one of them has failed before."""
        with self._change:
            self._visitors[visitor] = (time.monotonic(), jobs)
            self._change.notify_all()
        for job in jobs:
            if job.work_id in self._errors:
                raise InputError(self._errors[job.work_id])

    def wait_until_final(self, jobs: Sequence[Job], check: Callable[..., object]) -> None:
        """Wait until the results of jobs are final.

        `check` is called repeatedly and raises to end the wait. Raises InputError if a job fails.
        """
        visitor = f"request {next(self._requests)}"
        try:
            while any(job.work_done() is not None for job in jobs):
                check()
                self.watch(visitor, jobs)
                time.sleep(0.05)
        finally:
            with self._change:
                self._visitors.pop(visitor, None)

    def _next(self) -> Job | None:
        """Return the unfinished job with the least work done; None if there is none."""
        now = time.monotonic()
        for visitor in [v for v, (at, _) in self._visitors.items() if now - at > AWAY_S]:
            del self._visitors[visitor]
        jobs = [job for _, some in self._visitors.values() for job in some if job.work_id not in self._errors]
        waiting = [(done, job) for job in jobs if (done := self._left(job)) is not None]
        return min(waiting, key=lambda item: item[0])[1] if waiting else None

    def _left(self, job: Job) -> int | None:
        try:
            return job.work_done()
        except Exception as error:
            self._failed(job, error)
            return None

    def _failed(self, job: Job, error: Exception) -> None:
        """Store the error of a job, which its visitors receive. Other jobs continue."""
        if not isinstance(error, InputError | MachineError | MemoryError):
            logging.getLogger(__name__).exception("a live page failed")
        self._errors[job.work_id] = str(error) or type(error).__name__

    def _serve(self) -> None:
        with compilers.announced(self._announce):
            while True:
                with self._change:
                    visitors = list(self._visitors.values())
                    if not visitors:
                        self._change.wait(IDLE_S)
                        continue
                    job = self._next()
                    if job is None:
                        self._change.wait(IDLE_S)
                        continue
                self._work(job)

    def _announce(self, what: str, time_s: float) -> None:
        self.compiling = f"compiling {what}, once on this machine: about {time_s:.0f} s on idle cores"

    def _work(self, job: Job) -> None:
        def check(*_: object) -> None:
            if not any(
                each.work_id == job.work_id for _, some in list(self._visitors.values()) for each in some
            ):
                raise AbandonedError

        try:
            job.work(check)
        except AbandonedError:
            pass
        except Exception as error:
            self._failed(job, error)
        finally:
            self.compiling = ""
