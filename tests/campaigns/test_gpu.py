"""Small rehearsal of `gpu measure`; `python -m tests.campaigns gpu rehearse FOLDER` is the full one."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.benchmarks.gpu import rehearsal
from tests.campaigns.benchmarks.gpu.lease import LEAST_S, Lease
from tests.campaigns.benchmarks.gpu.one import Timed
from tests.campaigns.benchmarks.gpu.rehearsal import CRASHES, MISSING
from tests.campaigns.benchmarks.gpu.scenarios import KINDS, Size, count, outcomes_of, sizes_of
from tests.device.cupy import Event, fake_cupy

GOOD = rehearsal.GOOD[0]


@pytest.mark.full
@pytest.mark.needs("numba_cuda", "ptxas", "gcc")
def test_a_lease_of_one_good_model(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    rehearsal.prepared(data, (GOOD,))
    rehearsal.spoil(data, GOOD)
    for kind in ("npz", "zip"):
        (data / f"{CRASHES}.{kind}").write_bytes((data / f"{GOOD}.{kind}").read_bytes())
    names, pretended = (GOOD, CRASHES, MISSING), tmp_path / "pretended"
    done = rehearsal.measured(data, names, "200x0.2", limit_s=30, pretended=pretended, out=out)
    assert done.returncode == 1
    [row] = rehearsal.table(done.stdout)
    assert row[:4] == [GOOD, "200 (200x0.2)", "299 of 300", "200 of 200"]
    assert f"{CRASHES} 200x0.2: exit -11" in done.stdout
    assert f"{MISSING} 200x0.2: exit 1: FileNotFoundError" in done.stdout
    rehearsal.check_differing(out, GOOD)


def test_a_process_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = tmp_path / "python"
    hangs.write_text("#!/bin/sh\nexec sleep 100\n")
    hangs.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(hangs))
    lease = Lease(tmp_path, tmp_path, budget_s=100, limit_s=1)
    assert list(lease.run("udp", [Size.read("1e5x1")], check=True))
    assert lease.failed == {"udp 1e5x1": "stopped after 1 s"}


def test_what_no_longer_fits_is_named(tmp_path: Path) -> None:
    lease = Lease(tmp_path, tmp_path, LEAST_S / 2, 60)
    assert list(lease.run("tcp_sack", [Size.read("1e5x1")], check=True)) == []
    assert lease.left_out == ["tcp_sack 1e5x1"] and not lease.failed


@pytest.mark.parametrize("name", ["udp", "tcp_linux_cubic_messages", "wifi_udp", "manet_udp", "fluid"])
def test_outcomes_are_stored_beside_the_fields_of_rows(name: str) -> None:
    """Regression test: the outcomes of a benchmark once overwrote the field `network` of 802.11."""
    stored = {"outcomes", outcomes_of(name, 1.0)}
    assert not any(stored & {*kind._fields} for kind in KINDS.values())


def test_sizes_are_rows_and_seconds() -> None:
    assert Size.read("1e5x10") == ("1e5x10", 100_000, 10.0)
    sizes = [Size.read(text) for text in ("1e5x1", "1e5x10", "1e6x10")]
    assert [size.text for size in sizes_of("wifi_udp", sizes)] == ["1e5x1", "1e6x10"]
    assert sizes_of("tcp_sack", sizes) == sizes
    assert count("wifi_udp", sizes[0]) == 10_000


def test_launches_that_overlap_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches in two streams run from 1 to 3 s and from 2 to 6 s, then one from 8 to 9 s."""
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
