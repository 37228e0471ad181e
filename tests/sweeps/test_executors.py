import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from types import ModuleType, SimpleNamespace

import pytest

from netcarlo import InputError
from netcarlo.sweeps import executors
from netcarlo.sweeps.executors import StoppedError, open_workers
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
    monkeypatch.setattr("netcarlo.kernels.device.devices", lambda: [SimpleNamespace()])
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


def test_distributed_is_imported_only_when_used():
    program = (
        "import sys, netcarlo.cli\n"
        "from netcarlo.sweeps.executors import open_workers\n"
        "slow = ('distributed', 'duckdb', 'xarray', 'dask_cuda')\n"
        "print([name for name in slow if name in sys.modules])\n"
        "with open_workers(): print('distributed' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "False"]


def test_a_local_cluster_and_a_client_of_it():
    with open_workers(workers=2) as found:
        assert found.slots() == 2
        assert found.name == "2 processes"
        client = found.executor.client
        assert client.scheduler.address.startswith("tcp://127.0.0.1:")
        assert set(client.nthreads().values()) == {1}
        pids = set(found.executor.map(pid, range(4)))
        assert len(pids) == 2
        assert os.getpid() not in pids

        with open_workers(scheduler=client.scheduler.address, target="cuda") as other:
            assert other.target == "cuda"  # the client needs no device
            assert other.slots() == 2
            assert "2 threads of 2 workers" in other.name
            sweep = fakes.Sweep(40, 2, bad=[3])
            store = fakes.Store(sweep)
            from netcarlo.sweeps.run import run

            run(sweep, store, executor=other.executor, slots=other.slots, submit=fakes.run_chunk)
            assert store.times() == dict.fromkeys(range(40), 1)

        import dask.config

        with dask.config.set({"scheduler-address": client.scheduler.address}), open_workers() as third:
            assert third.slots() == 2
    with pytest.raises(StoppedError, match="scheduler is gone"):
        found.slots()


@pytest.mark.parametrize("error", [OSError("connection lost"), TimeoutError()])
def test_a_result_that_cannot_be_fetched_is_an_error_at_once(error):
    class Remote:
        def result(self, timeout):
            assert timeout < 100
            raise error

    local = Future()
    executors._deliver(local, Remote())
    assert local.exception(timeout=0) is error


def test_workers_whose_nannies_gave_up_are_replaced():
    with open_workers(workers=1) as found:
        before = found.executor.submit(pid).result()
        cluster = found.executor.client.cluster
        for nanny in list(cluster.workers.values()):
            cluster.sync(nanny.close)
        end = time.monotonic() + 60
        while found.slots() == 1:
            assert time.monotonic() < end
        while found.slots() == 0:
            assert time.monotonic() < end
        assert found.executor.submit(pid).result() != before


REFUSED = [
    ({"workers": 0}, "--workers = 0 is below the limit"),
    ({"workers": 2, "scheduler": "tcp://h:1"}, "exclude each other"),
    ({"scheduler": "tcp://127.0.0.1:9"}, r"'tcp://127.0.0.1:9' cannot be reached .*; start one with"),
    ({"scheduler": "nonsense://h:1"}, "cannot be reached"),
    ({"scheduler": "tcp://127.0.0.1:9", "target": "gpu"}, "target = 'gpu' is unknown"),
    ({"workers": 1, "target": "cuda"}, "needs a CUDA device"),
]


@pytest.mark.parametrize(("options", "complaint"), REFUSED)
def test_what_cannot_be_had_is_refused_on_one_line(monkeypatch, options, complaint):
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    monkeypatch.setattr("netcarlo.kernels.device.devices", lambda: [])
    with pytest.raises(InputError, match=complaint) as caught, open_workers(**options):
        pass
    assert "\n" not in str(caught.value)


def test_a_scheduler_without_workers_is_refused(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(executors, "CONNECT_S", 1)
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        pytest.raises(InputError, match="has no workers; start one with"),
        open_workers(scheduler=cluster.scheduler_address),
    ):
        pass


def test_dask_cuda_gives_a_worker_per_device(monkeypatch):
    asked = {}

    def cluster(**options: object) -> object:
        from distributed import LocalCluster

        asked.update(options)
        return LocalCluster(**options | {"processes": False, "protocol": "tcp://"})

    monkeypatch.setattr("netcarlo.kernels.device.devices", lambda: [SimpleNamespace()] * 2)
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
        pytest.raises(InputError, match="allowed here are 2; use --workers 2"),
        open_workers(workers=3, target="cuda"),
    ):
        pass
    with open_workers(workers=2, target="cuda") as found:
        assert found.name == "2 GPUs"
        assert found.slots() == 2
    assert asked["n_workers"] == 2
    assert asked["threads_per_worker"] == 1
    assert asked["host"] == "127.0.0.1"
