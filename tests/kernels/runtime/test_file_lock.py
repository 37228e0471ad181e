"""File lock: processes that need the same model at the same time compile it once."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import file_lock
from tests import toy

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs flock: run on Linux or macOS")

BEGIN = """
import sys, time
from pathlib import Path
from netcarlo.kernels.runtime import compile as compilers
from tests import toy

model = toy.Model("toy of two", toy.make, toy.scratch)
go, here = Path(sys.argv[1]), Path(sys.argv[2])
here.touch()
while not go.exists():
    time.sleep(0.01)
"""
CPU = BEGIN + """
loop = compilers.cpu_loop(model)
print("made" if sum(loop._cache_misses.values()) else "loaded")
"""
PTX = BEGIN + """
import numba_cuda
from netcarlo.kernels.runtime import cuda
made, compile_kernel = [], cuda.compile_kernel
def compile_slowly(*args):
    made.append(args)
    time.sleep(0.5)
    return compile_kernel(*args)
cuda.compile_kernel = compile_slowly
assert compilers.ptx(model).startswith("//")
print("made" if made else "loaded")
"""
HOLDER = """
import sys, time
from pathlib import Path
from netcarlo.kernels.runtime import file_lock
with file_lock.exclusive(Path(sys.argv[1])):
    print("has it", flush=True)
    time.sleep(600)
"""


def environment(cache: Path) -> dict[str, str]:
    found = {**os.environ, "NETCARLO_CACHE": str(cache)}
    return found | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file to be created in an empty cache folder."""
    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache" / "model-1.nbc"


@pytest.mark.full
@pytest.mark.parametrize("program", [CPU, pytest.param(PTX, marks=pytest.mark.needs("numba_cuda"))])
def test_two_processes_compile_a_model_once(program: str, tmp_path: Path) -> None:
    cache, go, here = tmp_path / "cache", tmp_path / "go", [tmp_path / "a", tmp_path / "b"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(go), str(name)],
            env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in here
    ]  # fmt: skip
    while not all(name.exists() for name in here) and all(each.poll() is None for each in processes):
        time.sleep(0.01)
    go.touch()
    said = [process.communicate(timeout=300) for process in processes]
    assert sorted(out.strip() for out, _ in said) == ["loaded", "made"], said
    assert [name for name in os.listdir(cache) if name.endswith(".lock")] == []


def test_a_process_that_is_killed_blocks_nobody(file: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file)],
        env=environment(file.parent), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout and holder.stdout.readline() == "has it\n"
    assert file_lock.is_locked(file)
    threading.Timer(0.2, holder.kill).start()
    with file_lock.exclusive(file):
        assert holder.wait(10) != 0
        assert file_lock.is_locked(file)
    assert not file_lock.is_locked(file)
    holder.stdout.close()


def test_a_suspended_process_does_not_block_for_ever(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "PATIENCE_S", 0.2)
    with file_lock.exclusive(file), file_lock.exclusive(file):
        pass


def test_who_waits_goes_on_when_the_file_is_there(file: Path) -> None:
    with file_lock.exclusive(file):
        threading.Timer(0.2, file.touch).start()
        with file_lock.exclusive(file):
            assert file.exists()


def test_only_one_of_many_threads_is_inside(file: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(20):
            with file_lock.exclusive(file):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.0005)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert os.listdir(file.parent) == []


def test_models_that_others_compile_come_last(file: Path) -> None:
    names = ["tcp_reno", "tcp_tahoe", "tcp_sack"]
    files = {name: file.with_name(f"{name}-1.nbc") for name in names}
    missing = [toy.Model(name, toy.make, toy.scratch) for name in names]
    with file_lock.exclusive(files["tcp_reno"]):
        left = compilers._unmade(missing, files, threading.Lock())
        assert next(left).name == "tcp_tahoe"
        files["tcp_sack"].touch()
        assert next(left).name == "tcp_reno"
        assert [*left] == []


def test_a_folder_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path / "file"))
    with file_lock.exclusive(tmp_path / "file" / "model-1.nbc"):
        pass
