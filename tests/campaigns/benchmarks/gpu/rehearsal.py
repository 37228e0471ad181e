"""Rehearsal of `measure` on an emulated device: comparisons, times and failures.

A package `cupy` that runs PTX on the CPU (`tests.device`) replaces the real one, and a package `numba` cannot
be imported. Some models crash or hang, as they may on a device.
"""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.campaigns.benchmarks.gpu.checkout import ROOT
from tests.campaigns.benchmarks.gpu.lease import COLUMNS

GOOD = "fluid_newreno", "tcp_newreno"
CRASHES, HANGS, MISSING = "tcp_tahoe", "tcp_reno", "tcp_vegas"

CUPY = '''
"""A CuPy whose driver runs machine code by the PTX beside it, and that some models break."""
import os, signal, sys, tempfile, time
from pathlib import Path

name = sys.argv[sys.argv.index("--models") + 1]
if name == "tcp_tahoe":
    os.kill(os.getpid(), signal.SIGSEGV)
if name == "tcp_reno":
    time.sleep(1000)

from tests.device import cupy as pretended
from tests.device.kernel import Kernel

folder = Path(os.environ.get("NETCARLO_CACHE", ""))
module = pretended.fake_cupy(lambda ptx: Kernel(ptx, folder))

class Module:
    def load(self, code):
        assert code[:4] == b"\\x7fELF"
        [ptx] = folder.glob("*.ptx")
        self.launch = module.machine.load(ptx.read_text())

    def get_function(self, name):
        return self.launch

module.cuda.function.Module = Module
if name != "tcp_newreno":  # the others' machine code was carried
    module.cuda.function.LinkState = None
sys.modules["cupy"] = module
sys.modules["cupyx"] = pretended.fake_cupyx()
'''


def script(*arguments: object, path: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run the campaign in its own process, with a folder of packages first in the search path."""
    command = [sys.executable, "-m", "tests.campaigns", "--no-record", "gpu", *map(str, arguments)]
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def prepared(folder: Path, names: tuple[str, ...]) -> None:
    """Prepare models for `measure`, and check which files are written."""
    done = script("prepare", folder, "--models", ",".join(names), "--seconds", "0.2")
    assert done.returncode == 0, done.stderr
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["prediction.json", *(f"{name}.{kind}" for name in names for kind in ("npz", "zip"))]
    )


def measured(
    folder: Path, names: tuple[str, ...], sizes: str, *, limit_s: float, pretended: Path, out: Path
) -> "subprocess.CompletedProcess[str]":
    """Measure models on the emulated device."""
    pretended.mkdir(exist_ok=True)
    (pretended / "cupy.py").write_text(CUPY)
    (pretended / "numba.py").write_text("raise ImportError('not on the machine with the device')")
    options = ["--models", ",".join(names), "--sizes", sizes, "--limit", limit_s, "--out", out]
    return script("measure", folder, *options, path=pretended)


def table(text: str) -> list[list[str]]:
    """Return the results that `measure` printed, in their order."""
    lines = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines]
    return [row for row in cells[2:] if len(row) == len(COLUMNS)]


def spoil(folder: Path, name: str) -> None:
    """Change one of the outcomes of the CPU, so that a row differs."""
    stored = dict(np.load(folder / f"{name}.npz"))
    stored["outcomes"][17, 3] += 5
    np.savez(folder / f"{name}.npz", **stored)


def check_differing(out: Path, name: str) -> None:
    """Check that the row that `spoil` changed is the only one that differs."""
    with (out / "differing.csv").open() as file:
        [found] = csv.DictReader(file)
    assert [found[key] for key in ("model", "comparison", "row", "column")] == [name, "random", "17", "3"]
    assert int(found["cpu"]) == int(found["device"]) + 5


def rehearse(folder: Path) -> None:
    """Prepare and measure in an empty folder.  Raises AssertionError if a result is wrong."""
    data, out = folder / "data", folder / "out"
    prepared(data, GOOD)
    print(f"prepared {', '.join(GOOD)}", flush=True)
    spoil(data, "fluid_newreno")
    (data / "prediction.json").write_text('{"tcp_newreno": {"400x0.2": 1234}}')
    for model in (CRASHES, HANGS):
        for kind in ("npz", "zip"):
            (data / f"{model}.{kind}").write_bytes((data / f"fluid_newreno.{kind}").read_bytes())
    names = (*GOOD, CRASHES, HANGS, MISSING)
    done = measured(data, names, "200x0.2,400x0.2", limit_s=30, pretended=folder / "pretended", out=out)
    print(done.stdout, flush=True)
    assert done.returncode == 1
    results = table(done.stdout)
    found = {(row[0], row[1]): row for row in results}
    assert [row[0] for row in results[:2]] == ["tcp_newreno", "fluid_newreno"]  # in order of priority
    assert found["tcp_newreno", "200 (200x0.2)"][2:4] == ["300 of 300", "200 of 200"]
    assert found["tcp_newreno", "400 (400x0.2)"][3] == "300 of 300"
    assert found["tcp_newreno", "400 (400x0.2)"][-1] == "1234"
    assert found["fluid_newreno", "200 (200x0.2)"][2] == "299 of 300"
    assert re.search(r"tcp_newreno: assembled by the driver in \S+ s, 300 of 300 rows equal", done.stdout)
    for said in (f"{CRASHES} 200x0.2: exit -11", f"{HANGS} 200x0.2: stopped after 30 s"):
        assert said in done.stdout
    assert f"{MISSING} 200x0.2: exit 1: FileNotFoundError" in done.stdout
    records = json.loads((out / "measured.json").read_text())["models"]["tcp_newreno"]
    timed = [record for record in records if "size" in record]
    assert len(timed) == 2
    assert all(0 < record["kernel_s"] < record["whole_s"] and record["packets"] > 1000 for record in timed)
    check_differing(out, "fluid_newreno")
