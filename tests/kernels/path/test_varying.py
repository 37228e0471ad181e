"""Time-varying hops: comparison with the twin, properties, and known cases."""

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base import varying
from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, Out, Rows
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins import simulate
from tests.twins.path.scenarios import (
    as_datagrams,
    describe,
    linux_rows,
    sctp_rows,
    select,
    tcp_rows,
    with_bursts,
    with_sold,
    with_varying,
)

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
ROWS = {
    "tcp_newreno": lambda n: tcp_rows(40 * n, seed=1),
    "udp": lambda n: with_bursts(as_datagrams(tcp_rows(80 * n, seed=2), seed=2), seed=2),
    "sctp": lambda n: sctp_rows(30 * n, seed=3),
    "tcp_linux_cubic": lambda n: linux_rows(30 * n, seed=14),
    "tcp_linux_bbr": lambda n: linux_rows(20 * n, seed=14),
}


def check_against_twin(model: str, rows: Rows, out: NDArray[np.int64]) -> None:
    """Compare the outcomes of a kernel with those of the twin."""
    found = differing(
        out,
        lambda row: simulate(model, rows, row=row),
        lambda row: describe(rows, row),
        lambda c: Out(c).name,
    )
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("model", ROWS)
def test_kernel_equals_twin(model: str) -> None:
    rows = with_varying(ROWS[model](LONG), seed=14)
    out = launch.run(models.model(f"{model}_varying"), rows)
    assert (out[:, Out.DROPS_QUEUE] > 0).mean() > 0.2
    assert (out[:, Out.RECEIVED] > 0).mean() > 0.5
    check_against_twin(model, rows, out)


@pytest.mark.parametrize("model", ["udp", "tcp_linux_cubic", "sctp"])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_links_as_they_are_sold_equal_their_twin(model: str) -> None:
    """Compare framing, shapers and correlated loss, combined with traces, policers and jitter."""
    rows = with_sold(select(ROWS[model](1), slice(12)), seed=5)
    out = run_as_python(f"{model}_varying", rows)
    assert out[:, Out.DROPS_QUEUE].any() and out[:, Out.DROPS_RANDOM].any()
    check_against_twin(model, rows, out)


def test_the_policer_lets_exactly_its_burst_pass() -> None:
    """Test a full bucket of three packets: it passes three at once and drops the fourth (GCRA, ITU-T I.371).

    The next packet passes in the nanosecond in which its tokens are complete, and not before.
    """
    conforms = bind(varying.conforms, compilers.plain, {"flat_table": False})
    prepare = bind(varying.prepare, compilers.plain, {"flat_table": False})
    size, byte_ns = 100, 8
    one = size * byte_ns
    table = np.array([[FOREVER, 0]] * varying.HEAD)
    table[varying.Head.POLICER] += byte_ns << BYTE_TIME_BITS, 3 * one
    m = np.zeros(varying.WORDS, np.int64)
    prepare(m, 0, 0)
    assert [conforms(table, m, 0, 1000, size) for _ in range(4)] == [True, True, True, False]
    assert not conforms(table, m, 0, 1000 + one - 1, size)
    assert conforms(table, m, 0, 1000 + one, size)
    assert not conforms(table, m, 0, 1000 + one, 1)


def bound(pairs: dict[int, tuple[int, int]]) -> tuple[Any, Any, Any]:
    """Return a function that transmits a packet over a line of 1 ns a byte, and the table and words of it."""
    transmission = bind(varying.transmission, compilers.plain, {"flat_table": False})
    prepare = bind(varying.prepare, compilers.plain, {"flat_table": False})
    table = np.array([[FOREVER, 0]] * varying.HEAD)
    for pair, (one, other) in ({varying.Head.LINE: (1 << BYTE_TIME_BITS, 1)} | pairs).items():
        table[pair] += one, other
    m = np.zeros(varying.WORDS, np.int64)
    prepare(m, 0, 0)
    return lambda t, free, size: transmission(table, m, 0, t, free, size, 0), table, m


@pytest.mark.parametrize(
    ("overhead", "least", "cells", "size", "on_line"),
    [
        (38, 84, 0, 1500, 1538), (38, 84, 0, 40, 84), (46, 84, 0, 1492, 1538),  # Ethernet, PPPoE
        (10, 0, 1, 1500, 32 * 53), (8, 0, 1, 40, 53), (8, 0, 1, 41, 2 * 53),  # RFC 2684: 48 B per cell
    ],
)  # fmt: skip
def test_framing_in_known_cases(overhead: int, least: int, cells: int, size: int, on_line: int) -> None:
    transmit, _, _ = bound({varying.Head.FRAMING: (overhead, least), varying.Head.CELLS: (cells, 0)})
    assert transmit(0, 0, size) == (0, on_line)


def test_the_shaper_sends_its_burst_at_line_rate_and_then_a_packet_at_a_time() -> None:
    """Test a bucket of three packets of 100 B at 8 ns/B, on a line of 1 ns/B."""
    transmit, _, _ = bound({varying.Head.SHAPER: (8 << BYTE_TIME_BITS, 2400)})
    free, begins = 0, []
    for _ in range(5):
        begin, free = transmit(0, free, 100)
        begins.append(begin)
    assert begins == [0, 100, 200, 800, 1600]  # the fourth packet waits 800 ns for its tokens
    assert transmit(10_000, free, 100) == (10_000, 10_100)  # the bucket is full again


def test_the_peak_rate_spaces_the_burst() -> None:
    """Test the bucket of the peak rate, 2 ns/B, which holds one packet."""
    transmit, _, _ = bound(
        {varying.Head.SHAPER: (8 << BYTE_TIME_BITS, 2400), varying.Head.PEAK: (2 << BYTE_TIME_BITS, 200)}
    )
    free, begins = 0, []
    for _ in range(5):
        begin, free = transmit(0, free, 100)
        begins.append(begin)
    assert begins == [0, 200, 400, 800, 1600]
