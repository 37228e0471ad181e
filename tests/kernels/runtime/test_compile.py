"""On-disk cache across processes: hits, changes of sources, and no cache at all."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

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
from netcarlo.kernels.runtime import launch
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
    """Return the outcome, cache hits and seconds of a separate process."""
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


@pytest.mark.full
def test_second_process_finds_what_the_first_compiled(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(USER.format(rate=7))
    outcome, hits, cold_s = compile_apart(user, tmp_path / "cache")
    assert (outcome, hits) == (7, 0)
    files = list((tmp_path / "cache").glob("*.nbc"))
    assert len(files) == 1
    outcome, hits, warm_s = compile_apart(user, tmp_path / "cache")
    assert (outcome, hits) == (7, 1)
    assert warm_s < cold_s / 3
    assert list((tmp_path / "cache").glob("*.nbc")) == files

    user.write_text(USER.format(rate=8))
    assert compile_apart(user, tmp_path / "cache")[:2] == (8, 0)

    files[0].write_bytes(files[0].read_bytes()[:100])  # a damaged file is compiled again
    user.write_text(USER.format(rate=7))
    assert compile_apart(user, tmp_path / "cache")[:2] == (7, 0)
    assert compile_apart(user, tmp_path / "cache")[:2] == (7, 1)


@pytest.mark.full
def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(USER.format(rate=7))
    (tmp_path / "file").write_text("not a folder")
    assert compile_apart(user, tmp_path / "file")[:2] == (7, 0)
    assert compile_apart(user, tmp_path / "file" / "below")[:2] == (7, 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder."""
    from netcarlo.kernels.runtime import cache

    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path / "cache"))
    cache._warn.cache_clear()
    assert cache.writable()
    return tmp_path / "cache"


def test_every_flipped_bit_and_every_cut_is_noticed(folder: Path) -> None:
    from netcarlo.kernels.runtime import cache

    file = folder / "model-1.nbc"
    cache.keep(file, b"machine code " * 4)
    assert cache.read(file) == b"machine code " * 4
    data = file.read_bytes()
    for at in range(len(data)):
        for bad in (
            data[:at],
            *(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :] for bit in range(8)),
        ):
            file.write_bytes(bad)
            assert cache.read(file) is None
    (folder / "model-2.nbc").write_bytes(data)
    assert cache.read(folder / "model-2.nbc") is None  # the content of another model
    assert cache.read(folder / "none.nbc") is None


class Trap:
    """Object that leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def planted(folder: Path, mark: Path) -> Path:
    from netcarlo.kernels.runtime import cache

    cache.keep(folder / "model-1.nbc", pickle.dumps(Trap(mark)))
    return folder / "model-1.nbc"


def load(file: Path) -> Any:
    from netcarlo.kernels.runtime import cache

    return cache.NumbaFile(file).load_overload("", None)


def test_files_and_folders_that_others_can_write_are_not_loaded(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from netcarlo.kernels.runtime import cache

    assert folder.stat().st_mode & 0o777 == 0o700
    file, mark = planted(folder, tmp_path / "mark"), tmp_path / "mark"
    assert file.stat().st_mode & 0o777 == 0o600
    for place in (file, folder):
        before = place.stat().st_mode
        for mode in (0o777, 0o770, 0o602):
            place.chmod(mode)
            assert load(file) is None and not mark.exists()
            assert f"others can write to {place} (mode {mode:o}); remove it, or chmod" in caplog.messages[-1]
        assert cache.writable() == (place == file)
        place.chmod(before)
    load(file)
    assert mark.exists()
    assert len(caplog.messages) == 6


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away: run as root")
def test_files_and_folders_of_others_are_not_loaded(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, mark = planted(folder, tmp_path / "mark"), tmp_path / "mark"
    for place in (file, folder):
        os.chown(place, 65534, 65534)
        assert load(file) is None and not mark.exists()
        assert f"{place} belongs to user 65534, not to you; set NETCARLO_CACHE" in caplog.messages[-1]
        os.chown(place, 0, 0)
    load(file)
    assert mark.exists()


def test_ptx_is_checked_as_well(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import cache
    from netcarlo.kernels.runtime import compile as compilers

    monkeypatch.setattr(compilers, "CUDA_COMPILERS", {"numpy": "cuda"})
    model = models.model("tcp_tahoe")
    file = cache.path(model, ".ptx", "numpy")
    cache.keep(file, b"// kept")
    assert compilers.ptx.__wrapped__(model) == "// kept"
    file.write_bytes(file.read_bytes().replace(b"kept", b"kepT"))
    cuda = ModuleType("netcarlo.kernels.runtime.cuda")
    cuda.compile_kernel = lambda *_: "// compiled"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "netcarlo.kernels.runtime.cuda", cuda)
    monkeypatch.setattr("netcarlo.kernels.runtime.cuda", cuda, raising=False)
    assert compilers.ptx.__wrapped__(model) == "// compiled"
    assert cache.read(file) == b"// compiled"


@pytest.mark.full
def test_ptx_of_another_compiler_is_taken_where_none_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import cache
    from netcarlo.kernels.runtime import compile as compilers

    model = models.model("tcp_tahoe")
    monkeypatch.setattr(compilers, "CUDA_COMPILERS", {"no_package": "cuda", "no_other_package": "mlir"})
    with pytest.raises(ModuleNotFoundError, match="needs numba-cuda"):
        compilers.ptx.__wrapped__(model)
    cache.keep(cache.path(model, ".ptx", "no_other_package"), b"// the other's")
    assert compilers.ptx.__wrapped__(model) == "// the other's"
    cache.keep(cache.path(model, ".ptx", "no_package"), b"// preferred")
    assert compilers.ptx.__wrapped__(model) == "// preferred"


def test_old_files_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netcarlo.kernels.runtime import cache

    monkeypatch.setattr(cache, "KEPT", 3)
    for i in range(6):
        file = tmp_path / f"model-{i}.nbc"
        cache.write(file, b"x")
        os.utime(file, (i, i))
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"model-{i}.nbc" for i in (3, 4, 5)]


@pytest.mark.full
def test_models_are_compiled_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import compile as compilers

    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path))
    monkeypatch.setattr(compilers, "cores", lambda: 2)
    both = [models.model("udp"), models.model("udp_varying")]  # those that compile fastest
    compilers.cpu_loop.cache_clear()
    said: list[tuple[str, float]] = []
    with compilers.announced(lambda what, seconds: said.append((what, seconds))):
        compilers.prepare([*both, both[0]])
    kept = [*tmp_path.glob("*.nbc")]
    assert sorted(file.name.split("-")[0] for file in kept) == ["udp", "udp_varying"]
    before = {file: file.stat().st_mtime_ns for file in kept}
    with compilers.announced(lambda what, seconds: said.append((what, seconds))):
        compilers.prepare(both)
        compilers.cpu_loop.cache_clear()
        compilers.cpu_loop(both[0])  # read from its file
    assert said == [("2 models", both[0].compile_s)]  # announced once: they compile in parallel
    assert {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.nbc")} == before


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_sack", "sctp", "wifi_udp", "wifi_sack"])
def test_a_model_made_again_has_the_same_file(name: str) -> None:
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import cache

    assert cache.path(models.model(name), ".nbc") == cache.path(models.model(name), ".nbc")


PLAIN = """
def step(x):
    def inner(y):
        return y + 3
    if x is None:
        return 7
    x.append(inner(5))
"""


def test_a_docstring_does_not_change_the_description_of_a_function_and_a_constant_does() -> None:
    """Test functions with an implicit `return None`, whose constants a docstring moves to other indices."""
    described = PLAIN.replace("(x):\n", '(x):\n    """Append 8."""\n').replace(
        "(y):\n", '(y):\n        """Return y + 3."""\n'
    )
    assert described.count('"""') == 4
    assert _description(described) == _description(PLAIN)
    for changed in ("y + 3", "y + 4"), ("return 7", "return 7.0"), ("inner(5)", "inner(True)"):
        assert _description(PLAIN.replace(*changed)) != _description(PLAIN)


def _description(text: str) -> bytes:
    """Return the description of the function `step` of a text."""
    from netcarlo.kernels.runtime import cache

    scope: dict[str, Any] = {}
    exec(text, scope)
    found: list[bytes] = []
    cache._describe(scope["step"], found.append, set())
    return b"\0".join(found)
