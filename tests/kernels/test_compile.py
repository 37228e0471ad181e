"""The on-disk cache across processes: it hits, it notices changes, it can be missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

USER = """
RATE = {rate}

def rate(x):
    return x * RATE
"""

PROGRAM = """
import importlib.util, sys, time
import numpy as np
from tests import toy
from netcarlo.kernels import launch
spec = importlib.util.spec_from_file_location("user", sys.argv[1])
user = importlib.util.module_from_spec(spec)
sys.modules["user"] = user
spec.loader.exec_module(user)

def make(dev):
    rate, inner = dev(user.rate), toy.make(dev)
    def flow(parameters, constants, hops, outages, losses, scratch, memory, out, trace):
        events = inner(parameters, constants, hops, outages, losses, scratch, memory, out, trace)
        out[5] = rate(1)
        return events
    return dev(flow)

import numba
numba.njit(lambda x: x)(1)  # the compiler itself is loaded before the clock starts
start = time.perf_counter()
model = toy.Model("user file", make, toy.scratch)
out = launch.run(model, toy.rows(3), threads=1)
seconds = time.perf_counter() - start
loop = launch.compilers.cpu_loop(model)
print(out[0, 5], sum(loop._cache_hits.values()), seconds)
"""


def compile_apart(user: Path, cache: Path) -> tuple[int, int, float]:
    """The outcome, cache hits and seconds of a process of its own."""
    environment = {**os.environ, "NETCARLO_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(user)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    outcome, hits, seconds = done.stdout.split()
    return int(outcome), int(hits), float(seconds)


def test_second_process_finds_what_the_first_compiled(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(USER.format(rate=7))
    outcome, hits, cold_s = compile_apart(user, tmp_path / "cache")
    assert (outcome, hits) == (7, 0)
    files = list((tmp_path / "cache").iterdir())
    assert [file.suffix for file in files] == [".nbc"]
    outcome, hits, warm_s = compile_apart(user, tmp_path / "cache")
    assert (outcome, hits) == (7, 1)
    assert warm_s < cold_s / 3
    assert list((tmp_path / "cache").iterdir()) == files

    user.write_text(USER.format(rate=8))
    assert compile_apart(user, tmp_path / "cache")[:2] == (8, 0)

    files[0].write_bytes(files[0].read_bytes()[:100])  # a damaged file is compiled again
    user.write_text(USER.format(rate=7))
    assert compile_apart(user, tmp_path / "cache")[:2] == (7, 0)
    assert compile_apart(user, tmp_path / "cache")[:2] == (7, 1)


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(USER.format(rate=7))
    (tmp_path / "file").write_text("not a folder")
    assert compile_apart(user, tmp_path / "file")[:2] == (7, 0)
    assert compile_apart(user, tmp_path / "file" / "below")[:2] == (7, 0)


def test_old_files_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netcarlo.kernels import cache

    monkeypatch.setattr(cache, "KEPT", 3)
    for i in range(6):
        file = tmp_path / f"model-{i}.nbc"
        cache.write(file, b"x")
        os.utime(file, (i, i))
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"model-{i}.nbc" for i in (3, 4, 5)]


def test_models_are_compiled_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netcarlo.kernels import compile as compilers
    from netcarlo.kernels import models

    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path))
    monkeypatch.setattr(compilers, "cores", lambda: 2)
    both = [models.model("tcp_tahoe"), models.model("tcp_reno")]
    compilers.cpu_loop.cache_clear()
    said: list[tuple[str, float]] = []
    with compilers.announced(lambda what, seconds: said.append((what, seconds))):
        compilers.prepare([*both, both[0]])
    assert sorted(file.name.split("-")[0] for file in tmp_path.iterdir()) == ["tcp_reno", "tcp_tahoe"]
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    with compilers.announced(lambda what, seconds: said.append((what, seconds))):
        compilers.prepare(both)
        compilers.cpu_loop.cache_clear()
        compilers.cpu_loop(both[0])  # from its file
    assert said == [("2 models", 8.0)]  # once, and what two processes take side by side
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["tcp_sack", "sctp", "wifi_udp", "wifi_sack"])
def test_a_model_made_again_has_the_same_file(name: str) -> None:
    from netcarlo.kernels import cache, models

    assert cache.path(models.model(name), ".nbc") == cache.path(models.model(name), ".nbc")
