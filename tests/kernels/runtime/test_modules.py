"""Kernels on a fake device: machine code made once and stored; obstacles reported in one line."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from netcarlo.kernels.runtime import cache, modules
from netcarlo.kernels.runtime import compile as compilers
from tests import toy
from tests.device.cupy import MACHINE_CODE, Launch, fake_cupy, install


def never(ptx: str) -> Launch:
    raise AssertionError("nothing is loaded")


LOADED = modules._loaded.__wrapped__
PTX = ".visible .entry netcarlo("


@pytest.fixture
def loaded() -> list[str]:
    """Return the list to which the PTX of each loaded kernel is appended."""
    return []


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loaded: list[str]) -> Callable[[], None]:
    """Return a function that resets the state to that of a new process with the same files on disk."""

    def kernel(ptx: str) -> Launch:
        loaded.append(ptx)
        return lambda grid, block, arguments: None

    def begin() -> None:
        install(monkeypatch, fake_cupy(kernel))
        monkeypatch.setattr(modules, "_loaded", functools.cache(LOADED))
        monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path))
        monkeypatch.setattr(compilers, "ptx", lambda model: PTX)

    begin()
    return begin


def test_the_driver_assembles_once(
    monkeypatch: pytest.MonkeyPatch, start: Callable[[], None], loaded: list[str]
) -> None:
    assert modules.kernel(toy.TOY) is modules.kernel(toy.TOY)
    assert loaded == [PTX]
    assert cache.read(modules.machine_code(toy.TOY, (9, 0))) == MACHINE_CODE + PTX.encode()
    start()
    monkeypatch.setattr(compilers, "ptx", None)  # PTX is not compiled again
    modules.kernel(toy.TOY)
    assert loaded == [PTX, PTX]


def test_machine_code_of_another_capability_is_not_taken(
    start: Callable[[], None], loaded: list[str]
) -> None:
    cache.keep(modules.machine_code(toy.TOY, (8, 0)), MACHINE_CODE + b"of another")
    modules.kernel(toy.TOY)
    assert loaded == [PTX]


def test_machine_code_that_the_driver_refuses_is_made_anew(
    start: Callable[[], None], loaded: list[str]
) -> None:
    file = modules.machine_code(toy.TOY, (9, 0))
    cache.keep(file, b"of a newer ptxas")
    modules.kernel(toy.TOY)
    assert loaded == [PTX]
    assert cache.read(file) == MACHINE_CODE + PTX.encode()


@pytest.mark.parametrize(
    ("cupy", "reason"),
    [
        (None, r"CuPy cannot be imported .*: pip install 'netcarlo\[cuda13\]'"),
        (fake_cupy(never, driver=0), "no NVIDIA driver; install one"),
        (
            fake_cupy(never, driver=12040),
            r"driver is for CUDA 12\.4, .* needs CUDA 13\.0; .*pip install 'netcarlo\[cuda12\]'",
        ),
        (
            fake_cupy(never, driver=11080, runtime=12090),
            r"driver is for CUDA 11\.8, .* needs CUDA 12\.0; install a newer driver, or use target cpu",
        ),
        (fake_cupy(never, capability=(6, 1)), r"compute capability 6\.1, netcarlo needs 7\.5"),
    ],
)
def test_what_stands_in_the_way_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, cupy: ModuleType | None, reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(RuntimeError, match=rf"^no CUDA device: .*{reason}") as error:
        modules.kernel(toy.TOY)
    assert "\n" not in str(error.value)


def test_nothing_stands_in_the_way_of_an_older_driver_with_its_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(never, driver=12040, runtime=12090))
    assert modules.obstacle() is None
