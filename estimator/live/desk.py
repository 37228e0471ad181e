"""What visitors look at, and the thread that works for them: nothing is done that nobody sees.

Batches are short, and one that nobody waits for any more is given up within a block of a kernel.
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
"""Seconds after which a visitor that asks nothing has gone."""
IDLE_S = 1.0


class GoneError(Exception):
    """Nobody waits for this any more."""


class Job(Protocol):
    """Something that is known better and better."""

    @property
    def about(self) -> int:
        """What it is about: jobs about the same share their work."""

    def left(self) -> int | None:
        """How much was done of what is not at rest, to begin with the least; None if it is at rest."""

    def work(self, check: Callable[..., object]) -> None:
        """Do a little more; `check()` raises where nobody waits."""


class Desk:
    """Works on what is looked at."""

    def __init__(self) -> None:
        self._visitors: dict[str, tuple[float, Sequence[Job]]] = {}
        self._change = threading.Condition()
        self._errors: dict[int, str] = {}
        self._requests = itertools.count()
        self.doing = ""
        """What is compiled now, in words."""

    def begin(self) -> None:
        """Start the thread, which ends with the process."""
        threading.Thread(target=self._serve, daemon=True, name="netcarlo live").start()

    def look_at(self, visitor: str, jobs: Sequence[Job]) -> None:
        """Say what a visitor looks at.  Raises InputError where that has failed before."""
        with self._change:
            self._visitors[visitor] = (time.monotonic(), jobs)
            self._change.notify_all()
        for job in jobs:
            if job.about in self._errors:
                raise InputError(self._errors[job.about])

    def rest(self, jobs: Sequence[Job], check: Callable[..., object]) -> None:
        """Wait until jobs are at rest, as a visitor of its own.

        `check` raises once nobody waits any more.  Raises InputError where a job fails.
        """
        visitor = f"request {next(self._requests)}"
        try:
            while any(job.left() is not None for job in jobs):
                check()
                self.look_at(visitor, jobs)
                time.sleep(0.05)
        finally:
            with self._change:
                self._visitors.pop(visitor, None)

    def _next(self) -> Job | None:
        """What is looked at and not at rest: the one that least was done of."""
        now = time.monotonic()
        for visitor in [v for v, (at, _) in self._visitors.items() if now - at > AWAY_S]:
            del self._visitors[visitor]
        jobs = [job for _, some in self._visitors.values() for job in some if job.about not in self._errors]
        waiting = [(done, job) for job in jobs if (done := self._left(job)) is not None]
        return min(waiting, key=lambda item: item[0])[1] if waiting else None

    def _left(self, job: Job) -> int | None:
        try:
            return job.left()
        except Exception as error:
            self._failed(job, error)
            return None

    def _failed(self, job: Job, error: Exception) -> None:
        """Who looks at it is told; others go on."""
        if not isinstance(error, InputError | MachineError | MemoryError):
            logging.getLogger(__name__).exception("a live page failed")
        self._errors[job.about] = str(error) or type(error).__name__

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
        self.doing = f"compiling {what}, about {time_s:.0f} s, once on this machine"

    def _work(self, job: Job) -> None:
        def check(*_: object) -> None:
            if not any(each.about == job.about for _, some in list(self._visitors.values()) for each in some):
                raise GoneError

        try:
            job.work(check)
        except GoneError:
            pass
        except Exception as error:
            self._failed(job, error)
        finally:
            self.doing = ""
