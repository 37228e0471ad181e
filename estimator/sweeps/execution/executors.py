"""Where chunks run: threads of this process, processes of this machine, or an existing Dask scheduler."""

import asyncio
import logging
import math
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from netcarlo.errors import InputError
from netcarlo.kernels.runtime.threads import cores
from netcarlo.simulation.simulate import TARGETS, resolve_target

T = TypeVar("T")

DEATHS = 1
"""Deaths of workers that a chunk of a local cluster survives; after one more it is split, see `run`.

Any chunk waiting on a worker shares the blame for its death, hence not 0."""

LOCAL = {
    "distributed.deploy.lost-worker-timeout": "1h",  # one that starts slowly is not lost
    "distributed.scheduler.worker-ttl": "30s",  # one that died while it registered is noticed by silence only
    "distributed.scheduler.http.routes": [],  # HTTP servers that cannot be left out have no pages
    "distributed.worker.http.routes": [],
}

DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Run by workers: Ctrl-C reaches them as well, but it is the client that ends them."""

CONNECT_S = 10
"""Seconds to wait for a scheduler, and then for its first worker."""

FETCH_S = 60
"""Seconds to fetch a result, or to have it computed again where its worker died meanwhile."""

REFRESH_S = 1.0
"""Workers that came or went are noticed after this long."""

LOST = "the scheduler is gone, and with it the chunks under way"


class StoppedError(RuntimeError):
    """The work cannot go on.  What was finished is kept, and running it again resumes."""


@dataclass(frozen=True)
class Workers:
    """Something that runs chunks."""

    executor: Executor
    slots: Callable[[], int]
    """The chunks that run at once, now; raises StoppedError if they are lost."""
    name: str
    """In words, for people."""
    target: str
    """What chunks are to run on: cpu or cuda, or auto, which each worker of a scheduler decides."""


@contextmanager
def open_workers(
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    target: str = "cpu",
    models: Iterable[Any] = (),
) -> Iterator[Workers]:
    """The workers asked for, until the end of the block, however it ends.

    With a `scheduler` (or `scheduler-address` in Dask's configuration) those of that scheduler; else
    `workers` processes, one per GPU if the target is cuda; else threads of this process.  The `models`
    are compiled once, here, before local workers start.  Raises InputError.
    """
    if target not in TARGETS:
        resolve_target(target)  # raises
    if workers is not None and workers < 1:
        raise InputError(f"--workers = {workers} is below the limit; allowed is 1 or more; use --workers 1")
    if workers is not None and scheduler is not None:
        raise InputError(
            f"--workers {workers} and --scheduler {scheduler} exclude each other: a scheduler has its own "
            "workers; leave one out"
        )
    if workers is None:
        scheduler = scheduler or _configured_scheduler()
    with ExitStack() as stack:
        if scheduler is not None:
            yield stack.enter_context(_connected(scheduler, target))
            return
        target = resolve_target(target)
        if target == "cpu":
            _compile(models)
        if workers is None:
            yield stack.enter_context(_threads(target))
        else:
            yield stack.enter_context(_processes(workers, target))


def _compile(models: Iterable[Any]) -> None:
    """Compile here what workers would compile again and again, and threads at the same time."""
    from netcarlo.kernels.runtime import compile as compilers

    found = list(models)
    compilers.prepare(found)
    for model in found:
        with suppress(Exception):  # a user's file may not compile: its cells will say so
            compilers.cpu_loop(model)


@contextmanager
def _threads(target: str) -> Iterator[Workers]:
    """Threads: kernels run without the interpreter lock, so one chunk's sums overlap another's packets."""
    n = 1 if target == "cuda" else cores()
    pool = ThreadPoolExecutor(n, thread_name_prefix="netcarlo")
    try:
        yield Workers(pool, lambda: n, f"{n} thread{'s' * (n > 1)}", target)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _processes(n: int, target: str) -> Iterator[Workers]:
    """A scheduler in this process and `n` processes that it starts again when they die.

    Who has the key runs code on them; it is made here and nobody else gets it.
    """
    distributed = _quiet_distributed()
    make = _cuda_cluster(n) if target == "cuda" else partial(distributed.LocalCluster, preload=DEAF)
    options = {
        "n_workers": n,
        "threads_per_worker": 1,
        "host": "127.0.0.1",  # nothing of this is open to other machines
        "security": distributed.Security.temporary(),  # TLS: nor to other users of this one
        "silence_logs": logging.CRITICAL,
        "scheduler_kwargs": {
            "allowed_failures": DEATHS,
            "dashboard": False,
            "dashboard_address": "127.0.0.1:0",
        },
    }
    import dask.config

    with (
        TemporaryDirectory(prefix="netcarlo-", ignore_cleanup_errors=True) as scratch,
        # Scratch folders come first on sys.path, so their parent must not be another user's.
        dask.config.set(LOCAL | {"temporary-directory": scratch}),
        _closed(make(**options)) as cluster,
        _client(cluster) as client,
    ):
        one, many = ("GPU", "GPUs") if target == "cuda" else ("process", "processes")
        found = _of(client, f"{n} {one if n == 1 else many}", target)

        def slots() -> int:
            now = found.slots()
            if now < n:
                cluster.loop.add_callback(_replace_dead, cluster, n)
            return now

        try:
            yield replace(found, slots=slots)
        except KeyboardInterrupt:
            cluster.sync(_kill, cluster)
            raise


@contextmanager
def _closed(cluster: Any) -> Iterator[Any]:
    """Close a cluster at the end, when all that was asked for is done.

    Processes of a busy machine may take longer to end than they are waited for: that is no error any more,
    and they are asked again when this process ends.
    """
    try:
        yield cluster
    finally:
        with suppress(TimeoutError):
            cluster.close()


async def _kill(cluster: Any) -> None:
    """End the workers at once, whatever they are at; left to itself, a cluster gives each some seconds."""
    nannies = list(cluster.workers.values())
    for nanny in nannies:
        nanny.status = type(nanny.status).closing_gracefully  # start no other
    await asyncio.gather(*(nanny.kill(timeout=0.1) for nanny in nannies), return_exceptions=True)


def _replace_dead(cluster: Any, n: int) -> None:
    """Start workers anew whose nannies gave up, as they do after an error at the start."""
    for name, nanny in list(cluster.workers.items()):
        if nanny.status.name in ("closed", "failed"):
            del cluster.workers[name]
    cluster.scale(n)


def _cuda_cluster(n: int) -> Any:
    from netcarlo.kernels.runtime import device

    found = len(device.devices())
    if n > found:
        raise InputError(
            f"--workers = {n} with target cuda is one worker per GPU; allowed here are {found}; "
            f"use --workers {found}"
        )
    _quiet_distributed()
    try:
        from dask_cuda import LocalCUDACluster
    except ModuleNotFoundError:
        raise InputError(
            "--workers with target cuda needs dask-cuda, which is not installed; "
            "install it with pip install dask-cuda, leave out --workers for one process that uses all GPUs, "
            "or use target cpu"
        ) from None
    return LocalCUDACluster


@contextmanager
def _connected(address: str, target: str) -> Iterator[Workers]:
    """The workers of a scheduler that is already there."""
    remedy = f"start one with dask scheduler, and workers with dask worker {address}, or use --workers N"
    try:
        _knock(address)
        client = _client(address)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise InputError(f"scheduler = '{address}' cannot be reached ({reason}); {remedy}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            raise InputError(f"scheduler = '{address}' has no workers; {remedy}") from None
        threads = client.nthreads()
        yield _of(client, f"{sum(threads.values())} threads of {len(threads)} workers at {address}", target)


def _of(client: Any, name: str, target: str) -> Workers:
    connection = client.scheduler_comm
    found, asked = 0, -math.inf

    def slots() -> int:
        nonlocal found, asked
        # A client that has connected again has lost its chunks all the same.
        if client.status != "running" or client.scheduler_comm is not connection:
            raise StoppedError(LOST)
        if time.monotonic() > asked + REFRESH_S:
            try:
                found, asked = sum(client.nthreads().values()), time.monotonic()
            except OSError:
                raise StoppedError(LOST) from None
        return found

    return Workers(_Remote(client), slots, name, target)


class _Remote(Executor):
    """Runs functions on Dask workers; unlike distributed's own executor it never waits for a lost result.

    Functions are sent by their names, which only workers look up: the scheduler needs no netcarlo.  A
    worker that has none raises ImportError, one that has another WrongVersion; both say who they are.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def submit(self, function: Callable[..., T], /, *args: Any, **options: Any) -> "Future[T]":
        call = _call(function.__module__, function.__qualname__)
        local: Future[T] = Future()
        self.client.submit(call, *args, pure=False, **options).add_done_callback(partial(_deliver, local))
        return local


def _deliver(local: "Future[Any]", remote: Any) -> None:
    """Give a local future the outcome of a remote one, or the error met when fetching it."""
    try:
        local.set_result(remote.result(timeout=FETCH_S))
    except CancelledError:
        local.cancel()
        local.set_running_or_notify_cancel()
    except Exception as error:
        local.set_exception(error)


def _call(module: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:  # a local function travels as code, not as a name
        import importlib
        import os
        import platform

        from distributed import get_worker

        worker = f"worker {platform.node()}, process {os.getpid()}"
        try:
            function = getattr(importlib.import_module(module), name)
            device = importlib.import_module("netcarlo.kernels.runtime.device")
        except (ImportError, AttributeError) as error:
            raise ImportError(f"{worker} has no netcarlo, or another: {error}") from None
        try:
            with device.shared_by_workers(get_worker().name):
                return function(*args, **options)
        except Exception as error:
            if type(error).__name__ == "DeviceError":  # the worker is of no more use; a new one tries again
                os._exit(1)
            if type(error).__name__ == "WrongVersion":
                error.args = (f"{worker} has {error}",)
            raise

    return call


def _knock(address: str) -> None:
    """Raise OSError at once where nobody listens; a client would try again and again."""
    _quiet_distributed()
    from distributed.comm.addressing import get_address_host_port

    socket.create_connection(get_address_host_port(address), timeout=CONNECT_S).close()


def _client(place: Any) -> Any:
    return _quiet_distributed().Client(place, timeout=CONNECT_S, set_as_default=False)


def _configured_scheduler() -> str | None:
    try:
        import dask.config
    except ModuleNotFoundError:  # an address that cannot be used is an error, not ignored
        return os.environ.get("DASK_SCHEDULER_ADDRESS")
    found = dask.config.get("scheduler-address", None)
    return None if found is None else str(found)


def _quiet_distributed() -> Any:
    """Import the package `distributed` and silence its loggers; `run` reports what matters.

    Raises InputError if it, or `cryptography` for the TLS of a local cluster, is not installed.
    """
    try:
        import cryptography  # noqa: F401
        import distributed
    except ModuleNotFoundError as error:
        raise InputError(
            f"--workers and --scheduler need {error.name}, which is not installed; install it with "
            "pip install 'netcarlo[cluster]', or leave both out to use all cores of this machine"
        ) from None

    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed
