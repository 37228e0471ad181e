"""Fast path: same outcomes as without it, and share of packets sent by it."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.layout import FOREVER, Hop, Out, Rows
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.linux.state import Tcp as Linux
from netcarlo.kernels.path import fast_path, linux_fast_path
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.tcp.state import Tcp
from tests.campaigns.benchmarks import lossy_hop
from tests.kernels.beside_twin import run_as_python
from tests.twins.path.scenarios import as_linux, linux_rows, tcp_rows

go, go_linux = fast_path.run, linux_fast_path.run
IN_STRETCHES = [0]
"""Number of packets sent by the fast path."""
BEGUN = [0]
"""Number of calls of the fast path of today's Linux."""


def counted(*arguments: Any) -> Any:
    """Run `fast_path.run` and count its packets."""
    before = arguments[5][Tcp.SND_NXT]
    found = go(*arguments)
    IN_STRETCHES[0] += arguments[5][Tcp.SND_NXT] - before
    return found


def counted_linux(*arguments: Any) -> Any:
    """Run `linux_fast_path.run` and count its packets."""
    before = arguments[5][Linux.SND_NXT]
    BEGUN[0] += 1
    found = go_linux(*arguments)
    IN_STRETCHES[0] += arguments[5][Linux.SND_NXT] - before
    return found


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    IN_STRETCHES[0] = BEGUN[0] = 0
    monkeypatch.setattr(fast_path, "run", counted)
    monkeypatch.setattr(linux_fast_path, "run", counted_linux)
    return


def run(name: str, rows: Rows, *, monkeypatch: pytest.MonkeyPatch, stretches: bool = True) -> Any:
    step = functools.partial(compilers.plain)
    step.lockstep = not stretches  # type: ignore[attr-defined]
    monkeypatch.setattr(compilers, "plain", step)
    return run_as_python(name, rows)


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        *("tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_vegas", "tcp_sack_cubic"),
        *("tcp_linux_reno", "tcp_linux_cubic", "tcp_newreno_delays"),
    ],
)
def test_outcomes_are_those_without_stretches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (linux_rows if "linux" in name else tcp_rows)(60, seed=sum(name.encode()))
    out = run(name, rows, monkeypatch=monkeypatch)
    assert IN_STRETCHES[0] > 0.1 * out[:, Out.SENT].sum()
    IN_STRETCHES[0] = 0
    np.testing.assert_array_equal(out, run(name, rows, monkeypatch=monkeypatch, stretches=False))
    assert IN_STRETCHES[0] == 0


def delayed(rows: Rows) -> None:
    rows.parameters[:, ReliableP.ACK_EVERY] = 2
    rows.parameters[:, ReliableP.ACK_DELAY] = 200_000_000


def buffered(rows: Rows) -> None:
    rows.parameters[:, TcpP.SEND_BUFFER] = 48
    rows.parameters[:, TcpP.SEND_WAKE] = 16


def finite(rows: Rows) -> None:
    rows.parameters[:, RowP.LIMIT] = 1500


def over_two_hops(rows: Rows) -> Rows:
    hops = np.repeat(rows.hops, 2, axis=2)
    hops[:, :, 1, Hop.QUEUE] = 20
    outages = np.repeat(rows.outages, 2, axis=2)
    return rows._replace(hops=hops, outages=outages)


@pytest.mark.full
@pytest.mark.parametrize("change", [None, delayed, buffered, finite, over_two_hops])
def test_most_packets_go_in_a_stretch(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the fast path sends most packets of a bulk transfer with 0.1 % loss.

    Cases differ in ACKs, buffers and hops.
    """
    rows = lossy_hop.rows(2, window=32, loss=0.001, duration_s=6.0)
    rows = (change(rows) if change else rows) or rows
    out = run("tcp_newreno", rows, monkeypatch=monkeypatch)
    assert (out[:, Out.SENT] > 1000).all()
    assert IN_STRETCHES[0] > 0.7 * out[:, Out.SENT].sum()
    np.testing.assert_array_equal(out, run("tcp_newreno", rows, monkeypatch=monkeypatch, stretches=False))


def in_bursts(rows: Rows) -> None:
    """Set a window that is sent in bursts of more than two, and a receiver that waits for three packets."""
    rows.parameters[:, RowP.WINDOW] = 512
    rows.parameters[:, ReliableP.ACK_EVERY] = 3
    rows.hops[:, :, :, Hop.BYTE_TIME] //= 10


def slow(rows: Rows) -> None:
    """Let the timer of delayed ACKs expire between packets."""
    rows.parameters[:, ReliableP.ACK_DELAY] = 8_000_000
    rows.hops[:, :, :, Hop.BYTE_TIME] *= 20


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_linux_reno", "tcp_linux_cubic"])
@pytest.mark.parametrize("change", [None, finite, over_two_hops, in_bursts, slow])
def test_so_they_do_for_todays_linux(name: str, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the fast path sends most packets of today's Linux.

    Covered are delayed ACKs, bursts, merged ACKs in a gap, several hops, and the end of a transfer.
    """
    rows = as_linux(lossy_hop.rows(2, window=32, loss=0.001, duration_s=6.0), seed=1)
    rows = (change(rows) if change else rows) or rows
    out = run(name, rows, monkeypatch=monkeypatch)
    assert IN_STRETCHES[0] > 0.6 * out[:, Out.SENT].sum()
    np.testing.assert_array_equal(out, run(name, rows, monkeypatch=monkeypatch, stretches=False))


def test_a_sample_does_not_end_a_stretch_of_todays_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = as_linux(lossy_hop.rows(1, window=32, loss=0.0001, duration_s=6.0), seed=1)
    out = run("tcp_linux_reno", rows, monkeypatch=monkeypatch)
    assert 0 < BEGUN[0] < out[:, Out.SAMPLES].sum() / 2


HOPS = 6
MS = 1_000_000
store_passed = fast_path.store_passed
PASSED = [0, 0]
"""Hops of sections passed by packets, in each direction."""


def counted_passed(m: Any, direction: Any, begin: Any, end: Any, packets: Any, t: Any, size: Any) -> None:
    """Run `sections.store_passed` and count the packets."""
    PASSED[direction] += (end - begin) * packets
    store_passed(m, direction, begin, end, packets, t, size)


def random_hops(count: int, *, seed: int) -> Rows:
    """Return paths of six hops with random rates, queues from one packet on, and many simultaneous events.

    Some hops have loss, outages, cross traffic or a clock; some hosts delay ACKs.
    """
    rng = np.random.default_rng(seed)
    rows = lossy_hop.rows(count, window=40, loss=0.01, duration_s=3.0, count=HOPS)
    shape = count, HOPS
    factor = rng.choice([0, 1, 1, 1, 2, 3, 5], shape)
    hops = rows.hops[:, 0]
    hops[..., Hop.BYTE_TIME] *= factor
    hops[..., Hop.R_BYTE_TIME] *= np.where(rng.random(shape) < 0.8, factor, rng.choice([0, 1, 30], shape))
    hops[..., Hop.DELAY] = rng.choice([0, 1, 5, 20], shape) * MS
    hops[..., Hop.R_DELAY] = rng.choice([0, 1, 5, 20], shape) * MS
    hops[..., Hop.QUEUE] = rng.choice([0, 1, 2, 3, 10, 30, 50], shape)
    hops[..., Hop.R_QUEUE] = rng.choice([0, 0, 0, 1, 2, 20], shape)
    hops[..., Hop.LOSS] = rng.random(shape) < 0.3
    hops[..., Hop.R_LOSS] = rng.random(shape) < 0.2
    hops[..., Hop.TICK] = np.where(rng.random(shape) < 0.1, 10 * MS, 0)
    cross = rng.random(shape) < 0.1
    hops[..., Hop.CROSS_EVERY] = np.where(cross, 37 * MS, 0)
    hops[..., Hop.CROSS_SIZE] = 500
    down = rng.integers(0, 3_000, shape) * MS
    fails = rng.random(shape) < 0.1
    rows.outages[:, 0, :, 0, 0] = np.where(fails, down, FOREVER)
    rows.outages[:, 0, :, 0, 1] = np.where(fails, down + 100 * MS, FOREVER)
    rows.parameters[:, ReliableP.ACK_EVERY] = rng.choice([1, 1, 1, 2], count)
    rows.parameters[:, ReliableP.SACK_BLOCK] = rng.choice([0, 8], count)
    return rows


@pytest.mark.parametrize("name", ["tcp_newreno", "tcp_sack_cubic"])
def test_sections_change_no_outcome(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PASSED[:] = [0, 0]
    monkeypatch.setattr(fast_path, "store_passed", counted_passed)
    rows = random_hops(80, seed=sum(name.encode()))
    out = run(name, rows, monkeypatch=monkeypatch)
    forward, backward = PASSED
    sent = out[:, Out.SENT].sum()
    assert forward > 0.3 * sent and backward > 0.5 * sent, "most packets pass no section"
    assert out[:, Out.DROPS_QUEUE].sum() > 0 and out[:, Out.RETRANSMITTED].sum() > 100
    np.testing.assert_array_equal(out, run(name, rows, monkeypatch=monkeypatch, stretches=False))
