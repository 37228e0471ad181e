import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from netcarlo import InputError
from netcarlo.simulation import executors
from netcarlo.simulation.executors import StoppedError, open_workers
from tests.sweeps import fakes


def pid(_: object = None) -> int:
    time.sleep(0.2)
    return os.getpid()


def test_threads_of_this_process_are_the_default():
    before = threading.active_count()
    with open_workers() as found:
        assert found.slots() == executors.cores()
        assert set(found.executor.map(pid, range(4))) == {os.getpid()}
        assert found.name == f"{executors.cores()} threads" or executors.cores() == 1
    assert threading.active_count() <= before + executors.cores()
    with pytest.raises(RuntimeError, match="after shutdown"):
        found.executor.submit(pid)


def test_one_thread_drives_a_device(monkeypatch):
    monkeypatch.setattr("netcarlo.kernels.runtime.device.devices", lambda: [SimpleNamespace()])
    with open_workers(target="cuda") as found:
        assert found.slots() == 1
        assert found.target == "cuda"
    with open_workers(target="auto") as found:
        assert found.target == "cuda"


def test_threads_are_not_waited_for():
    go_on = threading.Event()
    with open_workers() as found:
        unfinished = found.executor.submit(go_on.wait)
    assert not unfinished.done()
    go_on.set()
    assert unfinished.result()


@pytest.mark.full
def test_distributed_is_imported_only_when_used():
    program = (
        "import sys, netcarlo.cli.main\n"
        "from netcarlo.simulation.executors import open_workers\n"
        "slow = ('distributed', 'duckdb', 'xarray', 'cryptography', 'dask_cuda')\n"
        "print([name for name in slow if name in sys.modules])\n"
        "with open_workers(): print('distributed' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "False"]


@pytest.mark.parametrize("missing", ["distributed", "cryptography"])
@pytest.mark.parametrize("where", [{"workers": 2}, {"scheduler": "tcp://127.0.0.1:8786"}])
def test_a_cluster_without_its_extra_names_the_extra(missing, where, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    remedy = rf"need {missing}, .*pip install 'netcarlo\[cluster\]'"
    with pytest.raises(InputError, match=remedy), open_workers(**where):
        pass


def test_a_configured_scheduler_without_dask_is_not_ignored(monkeypatch):
    for name in "dask.config", "distributed":
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://127.0.0.1:8786")
    with pytest.raises(InputError, match="pip install 'netcarlo"), open_workers():
        pass
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS")
    with open_workers() as found:
        assert found.executor.submit(int, "3").result() == 3


def paths() -> list[str]:
    return sys.path


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.full
def test_a_local_cluster(monkeypatch, tmp_path):
    common = tmp_path / "dask-scratch-space"  # a folder with modules that another user may have created
    common.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with open_workers(workers=2) as found:
        assert found.slots() == 2
        assert found.name == "2 processes"
        client = found.executor.client
        assert client.scheduler.address.startswith("tls://127.0.0.1:")
        assert set(client.nthreads().values()) == {1}
        pids = set(found.executor.map(pid, range(4)))
        assert len(pids) == 2
        assert os.getpid() not in pids
        for path in map(Path, (*sys.path, *found.executor.submit(paths).result())):
            assert path != common and common not in path.parents
    assert list(tmp_path.iterdir()) == [common]
    with pytest.raises(StoppedError, match="connection to the scheduler was lost"):
        found.slots()


@pytest.mark.full
def test_workers_whose_nannies_gave_up_are_replaced():
    with open_workers(workers=1) as found:
        before = found.executor.submit(pid).result()
        cluster = found.executor.client.cluster
        for nanny in list(cluster.workers.values()):
            cluster.sync(nanny.close)
        until(lambda: found.slots() == 0)
        until(lambda: found.slots() == 1)
        assert found.executor.submit(pid).result() != before


def busy(marker: Path) -> None:
    marker.touch()
    time.sleep(60)


@pytest.mark.full
def test_an_interrupt_waits_for_no_worker(tmp_path):
    begun = []

    def interrupted() -> None:
        with open_workers(workers=1) as found:
            running = found.executor.submit(busy, tmp_path / "busy")
            until((tmp_path / "busy").exists)
            begun.append(time.monotonic())
            assert not running.done()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - begun[0] < 20  # it would take 60 s


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="needs SIGSTOP: run on Linux or macOS")
def test_a_worker_that_is_stopped_is_replaced(monkeypatch):
    monkeypatch.setitem(executors.LOCAL_SETTINGS, "distributed.scheduler.worker-ttl", "1s")
    with open_workers(workers=1) as found:
        victim = found.executor.submit(pid).result()
        running = found.executor.submit(pid)
        os.kill(victim, signal.SIGSTOP)
        assert running.result(timeout=60) not in (victim, os.getpid())


def test_processes_that_take_long_to_end_are_no_error():
    class Slow:
        closed = 0

        def close(self):
            self.closed += 1
            raise TimeoutError

    with executors._closed(Slow()) as cluster:
        assert cluster.closed == 0
    assert cluster.closed == 1


STRANGER = """
import asyncio, os, pickle, sys
from pathlib import Path

import distributed
from distributed import Client, Security
from distributed.core import rpc

scheduler, others, key = pickle.load(sys.stdin.buffer)
keys = {"the key": key, "another key": Security.temporary(), "no key": Security()}
readable = all(folder.stat().st_mode & 1 for folder in Path(distributed.__file__).parents)
if os.geteuid() == 0 and readable:  # another user, who needs the modules, too
    os.setgid(65534), os.setuid(65534)


def at(address, who):
    return address.replace("tls://", "tcp://") if who == "no key" else address


async def call(address, who):
    arguments = keys[who].get_connection_args("client")
    async with rpc(at(address, who), timeout=3, connection_args=arguments) as remote:
        return (await remote.run(function=pickle.dumps(os.getpid)))["status"]


async def submit(who):
    client = Client(at(scheduler, who), security=keys[who], asynchronous=True, timeout=3)
    async with client:
        return await client.submit(str, "OK")


async def main():
    for who in keys:
        attempts = submit(who), *(call(address, who) for address in others)
        attempts = (asyncio.wait_for(each, 10) for each in attempts)
        done = await asyncio.gather(*attempts, return_exceptions=True)
        print(f"{who}:", *("refused" if isinstance(each, OSError) else each for each in done))


asyncio.run(main())
"""


def http_port(dask_worker: Any) -> int:
    return int(dask_worker.http_server.port)


@pytest.mark.full
def test_nobody_without_the_key_runs_code_on_local_workers(capfd):
    with open_workers(workers=1) as found:
        client = found.executor.client
        ((worker, state),) = client.scheduler_info()["workers"].items()
        known = pickle.dumps((client.scheduler.address, (worker, state["nanny"]), client.security))
        done = subprocess.run([sys.executable, "-c", STRANGER], input=known, capture_output=True)
        assert done.stdout.decode().splitlines() == [
            "the key: OK OK OK",
            "another key: refused refused refused",
            "no key: refused refused refused",
        ]
        for port in (client.cluster.scheduler.http_server.port, *client.run(http_port).values()):
            for page in ("", "status", "health", "metrics", "json/index.html", "info/main/workers.html"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(f"http://127.0.0.1:{port}/{page}")
        assert found.slots() == 1
    assert capfd.readouterr().err == ""


LOCAL = {
    "n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp://", "host": "127.0.0.1",
    "dashboard_address": None,
}  # fmt: skip


def test_clients_of_a_scheduler():
    from distributed import LocalCluster

    with LocalCluster(**LOCAL) as cluster:
        with open_workers(scheduler=cluster) as found:
            assert found.slots() == 2 and not found.local
        with open_workers(scheduler=cluster.scheduler_address, target="cuda") as found:
            assert found.target == "cuda"  # the client needs no device
            assert found.slots() == 2
            assert "2 threads of 2 workers" in found.name
            sweep = fakes.Sweep(40, 2, bad=[3])
            store = fakes.Store(sweep)
            from netcarlo.sweeps.execution.run import run

            run(sweep, store, executor=found.executor, slots=found.slots, submit=fakes.run_chunk)
            assert store.times() == dict.fromkeys(range(40), 1)

        import dask.config

        with dask.config.set({"scheduler-address": cluster.scheduler_address}), open_workers() as second:
            assert second.slots() == 2
    with pytest.raises(StoppedError, match="connection to the scheduler was lost"):
        second.slots()


@pytest.mark.parametrize("error", [OSError("connection lost"), TimeoutError()])
def test_a_result_that_cannot_be_fetched_is_an_error_at_once(error):
    class Remote:
        def result(self, timeout):
            assert timeout < 100
            raise error

    local = Future()
    executors._deliver(local, Remote())
    assert local.exception(timeout=0) is error


REFUSED = [
    ({"workers": 0}, "--workers 0 is out of range"),
    ({"workers": 2, "scheduler": "tcp://h:1"}, "cannot be combined"),
    ({"scheduler": "tcp://127.0.0.1:9"}, r"'tcp://127.0.0.1:9' cannot be reached .*; start one with"),
    ({"scheduler": "nonsense://h:1"}, "cannot be reached"),
    ({"scheduler": "tcp://127.0.0.1:9", "target": "gpu"}, "target = 'gpu' is unknown"),
    ({"workers": 1, "target": "cuda"}, "needs a CUDA device"),
]


@pytest.mark.parametrize(("options", "complaint"), REFUSED)
def test_what_cannot_be_had_is_refused_on_one_line(monkeypatch, options, complaint):
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    monkeypatch.setattr("netcarlo.kernels.runtime.device.devices", lambda: [])
    with pytest.raises(InputError, match=complaint) as caught, open_workers(**options):
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.full
def test_a_scheduler_without_workers_is_refused(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(executors, "CONNECT_S", 1)
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        pytest.raises(InputError, match="has no workers; start one with"),
        open_workers(scheduler=cluster.scheduler_address),
    ):
        pass


@pytest.mark.full
def test_the_first_worker_of_an_adaptive_cluster_is_awaited(monkeypatch):
    """An adaptive cluster starts a worker when it has a task, and a job may wait in a queue."""
    from distributed import Client, LocalCluster

    monkeypatch.setattr(executors, "CONNECT_S", 0.1)  # less than its adaptation interval
    options = {"processes": False, "protocol": "tcp://", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=0, threads_per_worker=1, **options) as cluster:
        cluster.adapt(minimum=0, maximum=1, interval="50 ms")
        monkeypatch.setattr(executors, "_client", lambda place: Client(place, set_as_default=False))
        with open_workers(scheduler=cluster) as found:
            assert found.slots() == 1
            assert found.executor.submit(len, "ab").result(60) == 2


def test_dask_cuda_gives_a_worker_per_device(monkeypatch):
    asked = {}

    def cluster(**options: object) -> object:
        from distributed import LocalCluster

        asked.update(options)
        return LocalCluster(**options | {"processes": False})

    monkeypatch.setattr("netcarlo.kernels.runtime.device.devices", lambda: [SimpleNamespace()] * 2)
    monkeypatch.setitem(sys.modules, "dask_cuda", None)
    with (
        pytest.raises(InputError, match="install it with pip install dask-cuda"),
        open_workers(workers=2, target="cuda"),
    ):
        pass
    module = ModuleType("dask_cuda")
    module.LocalCUDACluster = cluster  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_cuda", module)
    with (
        pytest.raises(InputError, match="machine has 2; use --workers 2"),
        open_workers(workers=3, target="cuda"),
    ):
        pass
    with open_workers(workers=2, target="cuda") as found:
        assert found.name == "2 GPUs"
        assert found.slots() == 2
    assert asked["n_workers"] == 2
    assert asked["threads_per_worker"] == 1
    assert asked["host"] == "127.0.0.1"
    assert asked["security"].require_encryption
