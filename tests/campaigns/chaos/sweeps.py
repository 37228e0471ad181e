"""A sweep in its own processes, and the contents of its store."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from netcarlo.sweeps.store.store import Store

SWEEP = """\
name: chaos
scenario:
  duration: {duration}
  transport: {{protocol: newreno, window: 32}}
  hops: [{{rate: {{log_uniform: [1 Mbit/s, 8 Mbit/s]}}, delay: {{uniform: [1 ms, 40 ms]}}, loss: 1 %}}]
axes:
  transport.protocol: [{protocols}]
draw: {{count: {draw}, blocks: 16}}
replications: {replications}
"""

PATIENCE_S = 300


@dataclass(frozen=True)
class Size:
    """Size of a sweep that is attacked."""

    draw: int
    duration: str = "5 s"
    replications: int = 4
    chunk: int = 6
    """Cells of a chunk."""
    kills: int = 1
    """Times that a process is killed."""
    workers: int = 2
    protocols: tuple[str, ...] = ("newreno", "sack", "vegas")


SMALL = Size(draw=64)
FULL = Size(draw=1024, duration="30 s", replications=20, chunk=15, kills=5, workers=4)


class Sweep:
    """A sweep file in a folder, run by commands as users write them."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.size = folder, size
        self.cells = len(size.protocols) * size.draw
        self.file = folder / "chaos.yaml"
        text = SWEEP.format(
            draw=size.draw, duration=size.duration, replications=size.replications,
            protocols=", ".join(size.protocols),
        )  # fmt: skip
        self.file.write_text(text)

    def half(self, folder: Path) -> "Sweep":
        """Return the sweep of the first half of the draws."""
        folder.mkdir()
        found = Sweep(folder, replace(self.size, draw=self.size.draw // 2))
        found.file.write_text(found.file.read_text().replace("blocks: 16", "blocks: 8"))
        return found

    @cached_property
    def digest(self) -> str:
        """Digest of the results of an undisturbed run."""
        return Store.open(self.undisturbed).digest()

    @cached_property
    def undisturbed(self) -> Path:
        """Store of an undisturbed run."""
        store = self.folder / "undisturbed"
        finished(self.start(store))
        return store

    def start(
        self, store: Path, *options: str, chunk: bool = True, **process: Any
    ) -> "subprocess.Popen[str]":
        """Start the command."""
        size = ("--chunk", str(self.size.chunk)) if chunk else ()
        command = ["sweep", str(self.file), "--out", str(store), "--json", *size, *options]
        return python("-m", "netcarlo.cli.main", *command, **process)

    def check(self, store: Path) -> None:
        """Check that every cell is stored exactly once, with the results of an undisturbed run."""
        opened = Store.open(store)
        scan = opened.scan()
        assert scan.done.all()
        assert not scan.damaged
        assert len(opened.frame(["cell"])) == self.cells
        assert opened.digest() == self.digest

    def check_resumed(self, store: Path, before: dict[str, Any], done: int) -> None:
        """Check the results as `check` does, and that no finished cell was computed again."""
        self.check(store)
        after = chunks(store)
        assert before.items() <= after.items()
        assert sum(rows(name) for name in after) == self.cells
        assert Store.open(store).runs()[-1]["cells"] == self.cells - done


def python(*arguments: str, **process: Any) -> "subprocess.Popen[str]":
    """Start this Python in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, **process,
    )  # fmt: skip


def finished(process: "subprocess.Popen[str]", *, code: int = 0) -> dict[str, Any]:
    """Wait for a command; return the JSON that it printed, or `{"stderr": ...}`."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, err
    assert "Traceback" not in err, err
    return json.loads(out) if out else {"stderr": err}


def chunks(store: Path) -> dict[str, tuple[int, int]]:
    """Return the chunk files by name, with file properties that change when one is written again."""
    found = {}
    for path in (store / "chunks").glob("cells-*"):
        state = path.stat()
        found[path.name] = state.st_ino, state.st_mtime_ns
    return found


def rows(name: str) -> int:
    """Return the cells in a chunk file, which its name contains."""
    return int(name.split("-")[2])


def wait_for_chunks(store: Path, n: int, process: "subprocess.Popen[str]") -> None:
    """Wait until the store has `n` chunk files."""
    until(lambda: process.poll() is not None or len(chunks(store)) >= n)
    assert process.poll() is None, process.communicate()


def until(condition: Callable[[], Any]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def workers(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Return the running worker processes that a command has started."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):  # a process that has ended or is ending
            if "--multiprocessing-fork" in child.cmdline():
                found.append(child)
    return found


@contextmanager
def scheduler() -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Start a Dask scheduler in its own process, as docs/clusters.md does; yield its address and process."""
    process = python("-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    try:
        assert process.stderr
        for line in process.stderr:
            if "Scheduler at:" in line:
                break
        drain(process)
        yield line.split()[-1], process
    finally:
        process.kill()
        process.wait()


@contextmanager
def dask_workers(
    n: int, address: str, *options: str, **process: Any
) -> Iterator[list["subprocess.Popen[str]"]]:
    """Start Dask workers with one thread in their own processes, and wait until the scheduler knows them."""
    command = ("-m", "dask", "worker", address, "--nthreads", "1", "--no-dashboard", *options)
    started = [python(*command, **process) for _ in range(n)]
    try:
        for worker in started:
            assert worker.stderr
            for line in worker.stderr:
                if "Registered to:" in line:
                    break
            drain(worker)
        yield started
    finally:
        for worker in started:
            worker.kill()
            worker.wait()


def drain(process: "subprocess.Popen[str]") -> None:
    """Read the log of a process, so that a full pipe never blocks it."""
    threading.Thread(target=lambda: process.stderr and process.stderr.read(), daemon=True).start()


def another_version(folder: Path) -> None:
    """Make a copy of netcarlo in which one model is replaced by another."""
    import netcarlo

    for package in ("", "kernels", "sweeps", "studies", "configs", "reports"):
        source = import_module(f"netcarlo.{package}".rstrip(".")).__path__[0]
        shutil.copytree(
            source,
            folder / "netcarlo" / package,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    assert Path(str(netcarlo.__file__)).parent != folder / "netcarlo"
    with open(folder / "netcarlo" / "kernels" / "newreno.py", "a") as model:
        model.write("\n# Another model.\n")


def environment(**changes: str) -> dict[str, str]:
    """Return the environment with some variables changed."""
    return {**os.environ, **changes}
