"""Measurement of one model on the device, in its own process that prints a JSON record after each step."""

import csv
import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch, modules
from tests.campaigns.benchmarks.gpu.scenarios import (
    CHECKED,
    Size,
    benchmark,
    count,
    kind_of,
    outcomes_of,
    packets,
)

FIRST = "tcp_newreno"
"""Model that is measured first, and also assembled by the driver."""

WRITTEN = 20
"""Largest number of differing rows that each comparison writes to a file."""


class Timed:
    """Kernel with a CUDA event before and after each launch."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._launches: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def __call__(self, *arguments: Any, stream: Any = None, **named: Any) -> None:
        import cupy

        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        self._kernel(*arguments, **named, **({} if stream is None else {"stream": stream}))
        end.record(stream)
        self._launches.append((begin, end))

    def seconds(self) -> float:
        """Return the GPU time of the launches since the last call [s]."""
        import cupy

        launches, self._launches = self._launches, []
        for _, end in launches:
            end.synchronize()
        since = cupy.cuda.get_elapsed_time
        times = sorted((since(launches[0][0], begin), since(launches[0][0], end)) for begin, end in launches)
        total = until = 0.0
        for begin_ms, end_ms in times:  # launches in several streams may overlap
            total += max(end_ms - max(begin_ms, until), 0.0)
            until = max(until, end_ms)
        return total / 1e3


def one(folder: Path, name: str, sizes: list[Size], out: Path, *, check: bool) -> None:
    """Compare and time one model; the files that its kernel is loaded from go to `NETCARLO_CACHE`."""

    def equal(comparison: str, found: Any, key: str) -> int:
        expected = stored[key][: len(found)]
        rows = np.flatnonzero((found != expected).any(axis=1))
        with (out / "differing.csv").open("a", newline="") as file:
            for row in rows[:WRITTEN]:
                for column in np.flatnonzero(found[row] != expected[row]):
                    values = expected[row, column], found[row, column]
                    csv.writer(file).writerow((name, comparison, row, column, *values))
        return len(found) - len(rows)

    model, kind = models.model(name), kind_of(name)
    stored = np.load(folder / f"{name}.npz")
    scenarios = kind(**{field: stored[field] for field in kind._fields})
    os.umask(0o077)  # files of other users are not loaded
    with zipfile.ZipFile(folder / f"{name}.zip") as packed:
        packed.extractall(os.environ["NETCARLO_CACHE"])
    start = time.perf_counter()
    timed = Timed(modules.kernel(model))
    say(ready_s=time.perf_counter() - start)
    modules.kernel = lambda model: timed
    if check:
        found = launch.run(model, scenarios, target="cuda")
        say(random_equal=equal("random", found, "outcomes"), random_rows=len(found))
    for size in sizes:
        rows = benchmark(name, scenarios, count(name, size), size.seconds)
        timed.seconds()
        start = time.perf_counter()
        found = launch.run(model, rows, target="cuda")
        whole_s = time.perf_counter() - start
        same = equal(size.text, found[:CHECKED], outcomes_of(name, size.seconds))
        say(
            size=size.text, rows=len(found), equal=same, checked=len(found[:CHECKED]),
            packets=packets(name, found), kernel_s=timed.seconds(), whole_s=whole_s,
        )  # fmt: skip
    if check and name == FIRST:  # as on a user's machine, without prepared machine code
        start = time.perf_counter()
        assembled = modules.load(modules.assembled(compilers.ptx(model)))
        seconds = time.perf_counter() - start
        modules.kernel = lambda model: assembled
        found = launch.run(model, scenarios, target="cuda")
        same = equal("assembled by the driver", found, "outcomes")
        say(assembled_s=seconds, random_equal=same, random_rows=len(found))


def say(**record: Any) -> None:
    """Print a record at once, so that it is kept if the process crashes later."""
    print(json.dumps(record), flush=True)
