"""Executors: threads of this process, processes of this machine, or workers of a Dask scheduler.

Sweeps run their chunks on them, other commands the slices of their launches (`spread`).
"""

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
from netcarlo.scenario import Scenario
from netcarlo.simulation.provenance import model_version
from netcarlo.simulation.targets import TARGETS, resolve_target

T = TypeVar("T")

ALLOWED_DEATHS = 1
"""Number of deaths of workers that a chunk of a local cluster survives; after one more it is split, see
`run`.

It is not 0, because the death of a worker counts for every chunk that waits on it.
"""

LOCAL_SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "1h",  # a worker that starts slowly is not lost
    "distributed.scheduler.worker-ttl": "30s",  # detects a worker that died while it registered
    "distributed.scheduler.http.routes": [],  # the HTTP servers cannot be disabled, but have no pages
    "distributed.worker.http.routes": [],
}

IGNORE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Code that workers run at the start: they ignore Ctrl-C, and the client stops them."""

CONNECT_S = 10
"""Timeout for a scheduler, and then for its first worker [s]."""

FETCH_S = 60
"""Timeout for fetching a result, which may have to be computed again if its worker died [s]."""

REFRESH_S = 1.0
"""Interval at which the number of workers is updated [s]."""

LOST = "the connection to the scheduler was lost, and with it the running chunks"
"""Reason of a StoppedError."""


class StoppedError(RuntimeError):
    """Error that ends a run. Finished chunks are stored, and the same command resumes."""


class WrongVersion(RuntimeError):  # noqa: N818
    """Error about a worker that has another version of the models than the client."""


def check_version(version: str) -> None:
    """Raise WrongVersion if the models of this process do not have the `version` of the client."""
    if version != model_version():
        raise WrongVersion(f"model version {model_version()}, the client has {version}")


@dataclass(frozen=True)
class Workers:
    """Workers that run chunks, or slices of launches."""

    executor: Executor
    """Executor of the chunks."""
    slots: Callable[[], int]
    """Function that returns the current number of chunks that run at the same time; raises StoppedError."""
    name: str
    """Description for users, such as `4 processes`."""
    target: str
    """Target of the chunks: cpu, cuda, or auto, which each worker of a scheduler resolves."""
    local: bool = True
    """True if the workers are threads or processes of this machine, with its compiled models."""


@contextmanager
def open_workers(
    *,
    workers: int | None = None,
    scheduler: Any = None,
    target: str = "cpu",
    models: Iterable[Any] = (),
    work: Iterable[tuple[Scenario, float]] = (),
) -> Iterator[Workers]:
    """Yield workers, and close them at the end of the block.

    With a `scheduler`, an address or a cluster of Dask (or with `scheduler-address` in the configuration of
    Dask), they are the workers of that scheduler; with `workers`, that many processes, one for each GPU if
    the target is cuda; otherwise threads of this process. With the target auto, `work` decides (see
    `resolve_target`). The `models` are compiled once in this process
    before local workers start. Raises InputError.
    """
    if target not in TARGETS:
        resolve_target(target)  # raises
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers} is out of range; expected 1 or more; write --workers 1")
    if workers is not None and scheduler is not None:
        raise InputError(
            f"--workers {workers} and --scheduler {scheduler} cannot be combined: a scheduler has its own "
            "workers; remove one of them"
        )
    if workers is None:
        scheduler = scheduler or configured_scheduler()
    with ExitStack() as stack:
        if scheduler is not None:
            yield stack.enter_context(_connected(scheduler, target))
            return
        target = resolve_target(target, work)
        if target == "cpu":
            _compile(models)
        if workers is None:
            yield stack.enter_context(_threads(target))
        else:
            yield stack.enter_context(_processes(workers, target))


def _compile(models: Iterable[Any]) -> None:
    """Compile models once in this process, so that workers and threads do not compile them again."""
    from netcarlo.kernels.runtime import compile as compilers

    found = list(models)
    compilers.prepare(found)
    for model in found:
        with suppress(Exception):  # a user's file may not compile; its cells then fail
            compilers.cpu_loop(model)


@contextmanager
def _threads(target: str) -> Iterator[Workers]:
    """Yield threads of this process. Kernels release the interpreter lock, so chunks run in parallel."""
    n = 1 if target == "cuda" else cores()
    pool = ThreadPoolExecutor(n, thread_name_prefix="netcarlo")
    try:
        yield Workers(pool, lambda: n, f"{n} thread{'s' * (n > 1)}", target)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _processes(n: int, target: str) -> Iterator[Workers]:
    """Yield `n` processes with a scheduler in this process, which restarts them when they die.

    Connections are encrypted with a temporary key of this process, so nobody else can run code on them.
    """
    distributed = _quiet_distributed()
    make = (
        _cuda_cluster(n) if target == "cuda" else partial(distributed.LocalCluster, preload=IGNORE_INTERRUPTS)
    )
    options = {
        "n_workers": n,
        "threads_per_worker": 1,
        "host": "127.0.0.1",  # no access from other machines
        "security": distributed.Security.temporary(),  # TLS: no access by other users of this machine
        "silence_logs": logging.CRITICAL,
        "scheduler_kwargs": {
            "allowed_failures": ALLOWED_DEATHS,
            "dashboard": False,
            "dashboard_address": "127.0.0.1:0",
        },
    }
    import dask.config

    with (
        TemporaryDirectory(prefix="netcarlo-", ignore_cleanup_errors=True) as scratch,
        # Scratch folders come first on sys.path, so their parent must not be another user's.
        dask.config.set(LOCAL_SETTINGS | {"temporary-directory": scratch}),
        _closed(make(**options)) as cluster,
        _client(cluster) as client,
    ):
        one, many = ("GPU", "GPUs") if target == "cuda" else ("process", "processes")
        found = _workers_of(client, f"{n} {one if n == 1 else many}", target)

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
    """Close a cluster at the end of the block.

    On a busy machine, processes may not end within the timeout. This is not an error, because they are
    stopped again when this process ends.
    """
    try:
        yield cluster
    finally:
        with suppress(TimeoutError):
            cluster.close()


async def _kill(cluster: Any) -> None:
    """Kill the workers immediately; closing the cluster would wait some seconds for each."""
    nannies = list(cluster.workers.values())
    for nanny in nannies:
        nanny.status = type(nanny.status).closing_gracefully  # do not restart it
    await asyncio.gather(*(nanny.kill(timeout=0.1) for nanny in nannies), return_exceptions=True)


def _replace_dead(cluster: Any, n: int) -> None:
    """Restart workers whose nannies have given up, which they do after an error at the start."""
    for name, nanny in list(cluster.workers.items()):
        if nanny.status.name in ("closed", "failed"):
            del cluster.workers[name]
    cluster.scale(n)


def _cuda_cluster(n: int) -> Any:
    from netcarlo.kernels.runtime import device

    found = len(device.devices())
    if n > found:
        raise InputError(
            f"--workers {n} is too large: with target cuda there is one worker for each GPU, and this "
            f"machine has {found}; use --workers {found}"
        )
    _quiet_distributed()
    try:
        from dask_cuda import LocalCUDACluster
    except ModuleNotFoundError:
        raise InputError(
            "--workers with target cuda needs dask-cuda, which is not installed; "
            "install it with pip install dask-cuda, remove --workers for one process that uses all GPUs, "
            "or use target cpu"
        ) from None
    return LocalCUDACluster


@contextmanager
def _connected(scheduler: Any, target: str) -> Iterator[Workers]:
    """Yield the workers of an existing scheduler, an address or a cluster. Raises InputError."""
    address = str(getattr(scheduler, "scheduler_address", scheduler))
    remedy = f"start one with dask scheduler, and workers with dask worker {address}, or use --workers N"
    try:
        _check_listening(address)
        client = _client(scheduler)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise InputError(f"scheduler = '{address}' cannot be reached ({reason}); {remedy}") from None
    with client:
        try:
            _wait_for_worker(client, scheduler)
        except TimeoutError:
            raise InputError(f"scheduler = '{address}' has no workers; {remedy}") from None
        threads = client.nthreads()
        name = f"{sum(threads.values())} threads of {len(threads)} workers at {address}"
        yield replace(_workers_of(client, name, target), local=False)


def _wait_for_worker(client: Any, scheduler: Any) -> None:
    """Wait for the first worker. Raises TimeoutError, but not for a cluster that has requested workers: its
    jobs may wait in a queue."""
    # An adaptive cluster requests its first worker when it has a task.
    _task = None if isinstance(scheduler, str) else client.submit(int, pure=False)
    while True:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            if not getattr(scheduler, "plan", None):
                raise
        else:
            return


def _workers_of(client: Any, name: str, target: str) -> Workers:
    connection = client.scheduler_comm
    found, asked = 0, -math.inf

    def slots() -> int:
        nonlocal found, asked
        # A client that has reconnected has lost its chunks as well.
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
    """Executor on Dask workers. Unlike the executor of `distributed`, it never waits for a lost result.

    Functions are sent by name, and only workers look them up, so the scheduler does not need netcarlo. A
    worker without netcarlo raises ImportError, one with another version WrongVersion; both errors name the
    worker.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def submit(self, function: Callable[..., T], /, *args: Any, **options: Any) -> "Future[T]":
        call = _remote_call(function.__module__, function.__qualname__)
        local: Future[T] = Future()
        self.client.submit(call, *args, pure=False, **options).add_done_callback(partial(_deliver, local))
        return local


def _deliver(local: "Future[Any]", remote: Any) -> None:
    """Set the result or the error of a local future from a remote one."""
    try:
        local.set_result(remote.result(timeout=FETCH_S))
    except CancelledError:
        local.cancel()
        local.set_running_or_notify_cancel()
    except Exception as error:
        local.set_exception(error)


def _remote_call(module: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:  # a local function is sent as code, not by name
        import importlib
        import os
        import platform

        from distributed import get_worker

        worker = f"worker {platform.node()}, process {os.getpid()}"
        try:
            function = getattr(importlib.import_module(module), name)
            device = importlib.import_module("netcarlo.kernels.runtime.device")
        except (ImportError, AttributeError) as error:
            raise ImportError(f"{worker} has no netcarlo or another version: {error}") from None
        try:
            with device.shared_by_workers(get_worker().name):
                return function(*args, **options)
        except Exception as error:
            if type(error).__name__ == "DeviceError":  # the worker is unusable, so another one retries
                os._exit(1)
            if type(error).__name__ == "WrongVersion":
                error.args = (f"{worker} has {error}",)
            raise

    return call


def _check_listening(address: str) -> None:
    """Raise OSError if nothing listens at an address; a client would retry for a long time."""
    _quiet_distributed()
    from distributed.comm.addressing import get_address_host_port

    socket.create_connection(get_address_host_port(address), timeout=CONNECT_S).close()


def _client(place: Any) -> Any:
    return _quiet_distributed().Client(place, timeout=CONNECT_S, set_as_default=False)


def configured_scheduler() -> str | None:
    """Return the address of a scheduler in the configuration of Dask, or in DASK_SCHEDULER_ADDRESS."""
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
