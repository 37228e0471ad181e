import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import psutil
import pytest

from netcarlo import InputError
from netcarlo.sweeps import executors, processes
from netcarlo.sweeps.executors import StoppedError, open_workers
from tests.sweeps import fakes


def pid(_: object = None) -> int:
    time.sleep(0.2)
    return os.getpid()


def device(_: object) -> str | None:
    time.sleep(0.2)
    return os.environ.get("CUDA_VISIBLE_DEVICES")


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
        "slow = ('distributed', 'duckdb', 'xarray')\n"
        "print([name for name in slow if name in sys.modules])\n"
        "with open_workers(): print('distributed' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "False"]


def test_processes_of_this_machine_and_nothing_that_listens():
    with open_workers(workers=2) as found:
        assert found.slots() == 2
        assert found.name == "2 processes"
        pids = set(found.executor.map(pid, range(4)))
        assert len(pids) == 2
        assert os.getpid() not in pids
        for process in (psutil.Process(), *map(psutil.Process, pids)):
            assert not [each for each in process.net_connections("all") if each.status == "LISTEN"]
        assert all(psutil.Process(each).net_connections("all") == [] for each in pids)  # sockets of no kind
    until(lambda: not any(map(psutil.pid_exists, pids)))
    with pytest.raises(RuntimeError, match="after shutdown"):
        found.executor.submit(pid)


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_process_that_is_killed_or_stopped_is_replaced(monkeypatch):
    monkeypatch.setattr(processes, "SILENCE", 3)
    with open_workers(workers=1) as found:
        for number in (signal.SIGKILL, signal.SIGSTOP):
            victim = found.executor.submit(pid).result()
            running = found.executor.submit(pid)
            os.kill(victim, number)
            assert running.result(timeout=60) not in (victim, os.getpid())


def test_what_goes_wrong_in_a_process_is_the_outcome_of_its_call():
    with open_workers(workers=1) as found:
        dead, raised, alive = (
            found.executor.submit(*call) for call in ((os._exit, 3), (os.stat, "/none"), (pid,))
        )
        with pytest.raises(processes.KilledWorker, match="ended 2 processes, the last with status 3"):
            dead.result(timeout=60)
        with pytest.raises(FileNotFoundError, match="/none"):
            raised.result(timeout=60)
        assert alive.result(timeout=60) != os.getpid()


def test_processes_that_cannot_start_are_given_up(monkeypatch):
    monkeypatch.setattr(processes, "BEAT_S", 0.01)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with open_workers(workers=2) as found:
        until(lambda: found.executor.broken)
        with pytest.raises(StoppedError, match="5 processes in a row ended at their start"):
            found.slots()


LOCAL = {
    "n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp://", "host": "127.0.0.1",
    "dashboard_address": None,
}  # fmt: skip


def test_clients_of_a_scheduler():
    from distributed import LocalCluster

    with LocalCluster(**LOCAL) as cluster:
        with open_workers(scheduler=cluster.scheduler_address, target="cuda") as found:
            assert found.target == "cuda"  # the client needs no device
            assert found.slots() == 2
            assert "2 threads of 2 workers" in found.name
            sweep = fakes.Sweep(40, 2, bad=[3])
            store = fakes.Store(sweep)
            from netcarlo.sweeps.run import run

            run(sweep, store, executor=found.executor, slots=found.slots, submit=fakes.run_chunk)
            assert store.times() == dict.fromkeys(range(40), 1)

        import dask.config

        with dask.config.set({"scheduler-address": cluster.scheduler_address}), open_workers() as second:
            assert second.slots() == 2
    with pytest.raises(StoppedError, match="scheduler is gone"):
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


def test_each_process_has_a_device_of_its_own(monkeypatch):
    monkeypatch.setattr("netcarlo.kernels.device.devices", lambda: [SimpleNamespace()] * 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with (
        pytest.raises(InputError, match="allowed here are 2; use --workers 2"),
        open_workers(workers=3, target="cuda"),
    ):
        pass
    for visible, names in ((None, {"0", "1"}), ("3,GPU-5", {"3", "GPU-5"})):
        if visible:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        with open_workers(workers=2, target="cuda") as found:
            assert found.name == "2 GPUs"
            assert set(found.executor.map(device, range(4))) == names
