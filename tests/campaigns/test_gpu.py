"""The lease of a GPU, from end to end on a pretended one: what is compared and timed, and what goes wrong."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaigns.benchmarks.gpu.checkout import ROOT
from tests.campaigns.benchmarks.gpu.lease import COLUMNS, LEAST_S, Lease
from tests.campaigns.benchmarks.gpu.one import Timed
from tests.campaigns.benchmarks.gpu.scenarios import Size, count, sizes_of
from tests.device.cupy import Event, fake_cupy

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


def script(*arguments: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.campaigns.benchmarks.gpu", *map(str, arguments)]
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.needs("numba_cuda", "ptxas", "gcc")
def test_a_lease_from_end_to_end(tmp_path: Path) -> None:
    folder, pretended, out = (tmp_path / name for name in ("data", "pretended", "out"))
    good, broken = ["udp", "tcp_newreno"], ["tcp_tahoe", "tcp_reno", "tcp_vegas"]
    done = script("prepare", folder, "--models", ",".join(good), "--seconds", "0.2")
    assert done.returncode == 0, done.stderr
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["prediction.json", *(f"{name}.{kind}" for name in good for kind in ("npz", "zip"))]
    )
    stored = dict(np.load(folder / "udp.npz"))
    stored["outcomes"][17, 3] += 5
    np.savez(folder / "udp.npz", **stored)
    (folder / "prediction.json").write_text('{"tcp_newreno": {"400x0.2": 1234}}')

    pretended.mkdir()
    (pretended / "cupy.py").write_text(CUPY)
    (pretended / "numba.py").write_text("raise ImportError('not on the machine with the device')")
    for model in broken[:2]:
        for kind in ("npz", "zip"):
            (folder / f"{model}.{kind}").write_bytes((folder / f"udp.{kind}").read_bytes())
    options = ["--models", ",".join(good + broken), "--sizes", "200x0.2,400x0.2", "--limit", 30, "--out", out]
    done = script("measure", folder, *options, path=pretended)

    assert done.returncode == 1
    lines = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines]
    results = [row for row in rows[2:] if len(row) == len(COLUMNS)]
    table = {(row[0], row[1]): row for row in results}
    assert [row[0] for row in results[:2]] == ["tcp_newreno", "udp"]  # as they finish: the most wanted first
    assert table["tcp_newreno", "200 (200x0.2)"][2:4] == ["300 of 300", "200 of 200"]
    assert table["tcp_newreno", "400 (400x0.2)"][3] == "300 of 300"
    assert table["tcp_newreno", "400 (400x0.2)"][-1] == "1234"
    assert table["udp", "200 (200x0.2)"][2] == "299 of 300"
    assert re.search(r"tcp_newreno: assembled by the driver in \S+ s, 300 of 300 rows equal", done.stdout)
    for said in ("tcp_tahoe 200x0.2: exit -11", "tcp_reno 200x0.2: stopped after 30 s"):
        assert said in done.stdout
    assert "tcp_vegas 200x0.2: exit 1: FileNotFoundError" in done.stdout
    measured = json.loads((out / "measured.json").read_text())
    timed = [record for record in measured["models"]["tcp_newreno"] if "size" in record]
    assert len(timed) == 2
    assert all(0 < record["kernel_s"] < record["whole_s"] and record["packets"] > 1000 for record in timed)
    with (out / "differing.csv").open() as file:
        [found] = csv.DictReader(file)
    assert [found[name] for name in ("model", "comparison", "row", "column")] == ["udp", "random", "17", "3"]
    assert int(found["cpu"]) == int(found["device"]) + 5


def test_what_no_longer_fits_is_named(tmp_path: Path) -> None:
    lease = Lease(tmp_path, tmp_path, LEAST_S / 2, 60)
    assert list(lease.run("tcp_sack", [Size.read("1e5x1")], check=True)) == []
    assert lease.left_out == ["tcp_sack 1e5x1"] and not lease.failed


def test_sizes_are_rows_and_seconds() -> None:
    assert Size.read("1e5x10") == ("1e5x10", 100_000, 10.0)
    sizes = [Size.read(text) for text in ("1e5x1", "1e5x10", "1e6x10")]
    assert [size.text for size in sizes_of("wifi_udp", sizes)] == ["1e5x1", "1e6x10"]
    assert sizes_of("tcp_sack", sizes) == sizes
    assert count("wifi_udp", sizes[0]) == 10_000


def test_launches_that_overlap_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams: from 1 to 3 s and from 2 to 6 s; then one from 8 to 9 s."""
    moments = iter((1.0, 3.0, 2.0, 6.0, 8.0, 9.0))

    class Moment(Event):
        def record(self, stream: object = None) -> None:
            self.at = next(moments)

    cupy: Any = fake_cupy(lambda ptx: lambda grid, block, arguments: None)
    cupy.cuda.Event = Moment
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    timed = Timed(lambda grid, block, arguments: None)
    for _ in range(3):
        timed((1,), (64,), ())
    assert timed.seconds() == pytest.approx(6)
    assert timed.seconds() == 0
