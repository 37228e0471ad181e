"""Processes of this machine that run functions; each hears its client through pipes of its own.

Nothing listens, at a port or by a name, so no other user of the machine can reach them.  A process ends with
its client, whatever ends that.  One that dies, or gives no sign of life (stopped, hung), is replaced.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

DEATHS = 1
"""Deaths of its process that a call survives; one more raises KilledWorker."""

BEAT_S = 1.0
"""Seconds between signs of life."""

SILENCE = 30
"""Beats that a process may miss.  They are counted, so that a client that was stopped as well counts none."""

START = 300
"""The same while it starts."""

BAD_STARTS = 5
"""Processes in a row that may die before they are ready."""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of a process that is one of many."""


class KilledWorker(RuntimeError):  # noqa: N818
    """A call whose processes died."""


class _Call(NamedTuple):
    message: bytes
    future: "Future[Any]"


class Processes(Executor):
    """One process per entry of `environments`: the variables in which its environment differs from ours."""

    def __init__(self, environments: Sequence[Mapping[str, str]]) -> None:
        """Start them."""
        self.broken = ""
        """Why there are no processes any more."""
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive: set[_Process] = set()
        self._closed = False
        self._n = len(environments)
        for each in environments:
            threading.Thread(target=self._serve, args=(each,), daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, function: Callable[..., T], /, *args: Any, **options: Any) -> "Future[T]":
        """Run a function that processes can import."""
        if self._closed or self.broken:
            raise RuntimeError("cannot run anything after shutdown")
        call = _Call(pickle.dumps((function, args, options)), Future())
        self._calls.put(call)
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes at once, whatever they are at."""
        with self._lock:
            self._closed = True
            for process in self._alive:
                process.kill()
        for _ in range(self._n):
            self._calls.put(None)

    def _serve(self, environment: Mapping[str, str]) -> None:
        """Give calls, one after the other, to a process, and to another whenever that dies."""
        if hasattr(signal, "pthread_sigmask"):  # inherited: Ctrl-C is for the client, which ends them
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        call, deaths, bad_starts = None, 0, 0
        while process := self._start(environment):
            ready = False
            try:
                process.hear()
                ready, bad_starts = True, 0
                while call := call or self._calls.get():
                    _deliver(call.future, *process.ask(call.message))
                    call, deaths = None, 0
            except (EOFError, OSError, pickle.UnpicklingError):
                status = self._end(process)
                if not ready:
                    bad_starts += 1
                    self._give_up(status) if bad_starts >= BAD_STARTS else time.sleep(BEAT_S)
                elif call and (deaths := deaths + 1) > DEATHS:
                    reason = f"it ended {deaths} processes, the last with status {status}"
                    call.future.set_exception(KilledWorker(reason))
                    call, deaths = None, 0
            else:
                self._end(process)

    def _start(self, environment: Mapping[str, str]) -> "_Process | None":
        with self._lock:
            if self._closed or self.broken:
                return None
            try:
                process = _Process(environment)
            except OSError as error:  # no memory, too many processes
                self.broken = f"no process can be started ({error.strerror})"
                return None
            self._alive.add(process)
            return process

    def _end(self, process: "_Process") -> int:
        """Make sure that a process has ended; its exit status."""
        with self._lock:
            self._alive.discard(process)
        process.kill()
        return process.wait()

    def _give_up(self, status: int) -> None:
        self.broken = f"{BAD_STARTS} processes in a row ended at their start, the last with status {status}"

    def _watch(self) -> None:
        """End processes that give no sign of life: SIGKILL reaches stopped ones, too."""
        while not self._closed:
            time.sleep(BEAT_S)
            with self._lock:
                for process in self._alive:
                    process.missed += process.heard
                    if process.missed > process.patience:
                        process.kill()


class _Process:
    """A process that runs `serve`.  Messages are pickles of bytes; None is a sign of life."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from netcarlo.sweeps.processes import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.missed, self.patience = 0, START
        self.heard = True  # whether somebody listens, so that a beat can be missed

    def hear(self) -> Any:
        """The next message."""
        assert self._process.stdout is not None
        self.heard = True
        message = pickle.load(self._process.stdout)
        self.heard, self.missed, self.patience = False, 0, SILENCE
        return message

    def ask(self, message: bytes) -> tuple[bool, bytes]:
        """Whether a call returned, and what it returned or raised."""
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()
        while (answer := self.hear()) is None:
            pass
        good, data = answer
        return good, data

    def kill(self) -> None:
        """End it; whoever listens gets EOFError."""
        self._process.kill()

    def wait(self) -> int:
        """Its exit status; closes the pipes."""
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                assert pipe is not None
                pipe.close()
            except OSError:  # what was not sent
                pass
        return self._process.wait()


def _deliver(future: "Future[Any]", good: bool, data: bytes) -> None:
    try:
        result = pickle.loads(data)
    except Exception as error:  # one that cannot be built again from its message alone
        good, result = False, error
    future.set_result(result) if good else future.set_exception(result)


def serve() -> None:
    """Run the calls that come through standard input, until the client closes it or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not get among the answers
    lock = threading.Lock()

    def send(message: Any) -> None:
        with lock:
            pickle.dump(message, answers)
            answers.flush()

    def beat() -> None:
        try:
            while True:
                send(None)
                time.sleep(BEAT_S)
        except OSError:  # the client is gone
            os._exit(1)

    threading.Thread(target=beat, daemon=True).start()
    try:
        while True:
            send(_run(pickle.load(calls)))
    except (EOFError, OSError):
        os._exit(0)


def _run(message: bytes) -> tuple[bool, bytes]:
    try:
        function, args, options = pickle.loads(message)
        return True, pickle.dumps(function(*args, **options))
    except Exception as error:
        try:
            return False, pickle.dumps(error)
        except Exception:
            return False, pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
