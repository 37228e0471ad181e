"""Commands of docs/clusters.md for two machines by hand, as processes that communicate by TCP."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from netcarlo.sweeps.store.store import Store

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = {"dask": ["-m", "dask"], "netcarlo": ["-m", "netcarlo.cli.main"]}
POINTS = [
    ("outage", "paths.0.hops.0.outages.0.duration", "0 s, 10 s"),
    ("bandwidth", "paths.*.hops.*.rate", "1 Mbit/s"),
    ("delay", "paths.*.hops.*.delay", "10 ms, 100 ms, 1 s"),
]


def commands() -> list[list[str]]:
    """Return the commands of `Two machines by hand`, with the local machine in place of both."""
    text = (ROOT / "docs" / "clusters.md").read_text()
    section = text.split("## Two machines by hand")[1].split("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [shlex.split(block.replace("machine-a", "127.0.0.1").replace("8786", "18786")) for block in blocks]


def start(command: list[str], folder: Path, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *PROGRAMS[command[0]], *command[1:], *more],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def stop(process: "subprocess.Popen[str]") -> None:
    for each in [*psutil.Process(process.pid).children(recursive=True), process]:
        each.kill()
    process.communicate()


def wait_for(process: "subprocess.Popen[str]", words: str) -> None:
    for line in process.stderr or ():
        if words in line:
            return
    raise AssertionError(f"no '{words}' in the log")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes: run on Linux or macOS")
def test_two_machines_by_hand(tmp_path):
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    scheduler, worker, sweep = commands()
    small = ["--quiet", "--replications", "2"]
    for name, field, values in POINTS:
        small += ["--set", f"axes.{name}={{field: {field}, values: [{values}]}}"]
    with ExitStack() as stack:
        for command, words in (
            (scheduler, "Scheduler at:"),
            (worker, "Registered to:"),
            (worker, "Registered to:"),
        ):
            process = start(command, tmp_path)
            stack.callback(stop, process)
            wait_for(process, words)
        done = start(sweep, tmp_path, *small)
        _, err = done.communicate(timeout=80)
        assert done.returncode == 0, err
    store = Store.open(tmp_path / "linkdown")
    assert store.scan().done.all()
    assert "127.0.0.1:18786" in store.runs()[0]["workers"]
