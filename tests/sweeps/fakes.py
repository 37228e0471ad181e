"""Sweep, store and chunks without simulation, for tests of their management."""

import json
import os
import signal
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.simulation.executors import WrongVersion
from netcarlo.sweeps.execution.chunk import Chunk
from tests import toy
from tests.device.cupy import IllegalAddressError, fake_cupy, install

VERSION = "models 1"


class Sweep:
    """Cells, of which those in `bad` fail and those in `poison` end their worker."""

    def __init__(self, n_cells: int, group: int = 1, *, bad: Any = (), poison: Any = ()) -> None:
        self.n_cells, self.group = n_cells, group
        self.definition = {"bad": list(bad), "poison": list(poison)}

    def models(self) -> list[Any]:
        return []

    def record(self) -> dict[str, Any]:
        about = {"replications": 3, "precision": None, "model_version": VERSION, "name": "fake"}
        return about | {"n_cells": self.n_cells, "group": self.group}


class Store:
    """Store in memory."""

    def __init__(self, sweep: Any, *, done: Any = ()) -> None:
        self.n_cells = sweep.n_cells
        self.before = np.zeros(self.n_cells, bool)
        self.before[list(done)] = True
        self.written: list[tuple[int, str]] = []
        self.chunks: list[int] = []
        self.records: list[dict[str, Any]] = []

    def scan(self, *, repair: bool = False) -> Any:
        return SimpleNamespace(done=self.before.copy(), failed=np.zeros(self.n_cells, bool))

    def write(self, cells: pa.Table, replications: pa.Table | None) -> None:
        self.written += zip(cells["cell"].to_pylist(), cells["status"].to_pylist(), strict=True)
        self.chunks.append(len(cells))

    def add_run(self, record: dict[str, Any]) -> None:
        self.records.append(json.loads(json.dumps(record)))

    def times(self) -> Counter[int]:
        """Return how often each cell was written."""
        return Counter(cell for cell, _ in self.written)


def table(cells: Any, bad: Any = (), error: str = "bad") -> pa.Table:
    wrong = [int(cell) in bad for cell in cells]
    return pa.table(
        {
            "cell": np.asarray(cells, np.int64),
            "key": [f"key {cell}" for cell in cells],
            "status": ["failed" if w else "ok" for w in wrong],
            "error": [error if w else "" for w in wrong],
        }
    )


def failed(sweep: Any, cells: Any, error: str) -> pa.Table:
    """Replace `chunk.failed`."""
    return table(cells, set(map(int, cells)), error)


def deadly_chunk(definition: str, cells: Any, **options: Any) -> Chunk:
    """Run a chunk as `run_chunk`, but kill the process at a poisoned cell."""
    if set(json.loads(definition)["poison"]) & {int(cell) for cell in cells}:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_chunk(definition, cells, **options)


def faulty_chunk(definition: str, cells: Any, **options: Any) -> Chunk:
    """Run a chunk as `run_chunk`, after a launch on a fake device on which a poisoned cell is a kernel
    fault.

    Each process notes its launch in a file in the folder that the definition names.
    """
    about = json.loads(definition)
    (Path(about["notes"]) / f"{os.getpid()}").touch()

    def launched(*_: object) -> None:
        if set(about["poison"]) & {int(cell) for cell in cells}:
            raise IllegalAddressError

    with pytest.MonkeyPatch.context() as patch:
        install(patch, fake_cupy(lambda ptx: launched))
        patch.setattr(compilers, "ptx", lambda model: "")
        launch.run(toy.TOY, toy.rows(4), target="cuda")
    return run_chunk(definition, cells, **options)


def run_chunk(definition: str, cells: Any, *, target: str, threads: int, version: str) -> Chunk:
    """Replace `chunk.run_chunk`; a poisoned cell raises."""
    about = json.loads(definition)
    if version != VERSION:
        raise WrongVersion("other models")
    if set(about["poison"]) & {int(cell) for cell in cells}:
        raise MemoryError("worker died")
    n = len(cells)
    return Chunk(table(cells, set(about["bad"])), None, 3 * n, 300 * n, 0.001 * n, 0.002 * n)
