"""Forecasts of compile times: one table, scaled by earlier compilations on this machine."""

import json
from pathlib import Path

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base import compile_time
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import compile_speed


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder."""
    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path))
    return tmp_path


def test_every_model_has_a_time_from_the_table() -> None:
    for model in models.MODELS.values():
        assert 1.0 < model.compile_s == compile_time.seconds(model.address) < 200.0


def test_a_forecast_follows_what_compilations_took() -> None:
    assert compile_speed.factor() == 1.0
    for took in (20.0, 22.0, 300.0):
        compile_speed.remember(10.0, took)
    assert compile_speed.factor() == 2.2  # the median: one compilation on a busy machine has no effect
    said: list[float] = []
    with compilers.announced(lambda what, seconds: said.append(seconds)):
        compilers._announce([models.model("tcp_tahoe")])
    assert said == [pytest.approx(2.2 * models.model("tcp_tahoe").compile_s)]


def test_only_the_last_compilations_count() -> None:
    for _ in range(compile_speed.KEPT):
        compile_speed.remember(1.0, 1.0)
    for _ in range(compile_speed.KEPT):
        compile_speed.remember(1.0, 3.0)
    assert compile_speed.factor() == 3.0


@pytest.mark.parametrize("text", ["", "{", "[1, null]", '"no"', "[1e400, 1e-9]"])
def test_a_damaged_file_does_no_harm(folder: Path, text: str) -> None:
    (folder / compile_speed.NAME).write_text(text)
    assert compile_speed.LEAST <= compile_speed.factor() <= compile_speed.MOST
    compile_speed.remember(1.0, 1.5)
    assert json.loads((folder / compile_speed.NAME).read_text())[-1] == 1.5
