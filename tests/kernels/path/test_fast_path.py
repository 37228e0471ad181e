"""Fast path: the same outcomes as without it, and most packets take it."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.layout import Hop, Out, Rows
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
    """Most packets of a bulk transfer with 0.1 % of loss take the fast path, whatever its ACKs, buffers and
    hops are."""
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
    """Most packets of today's Linux take the fast path.

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
