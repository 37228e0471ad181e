"""Time-varying hops: comparison with the twin, properties, and known cases."""

import os

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base import varying
from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, Out
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from tests.kernels.beside_twin import differing
from tests.twins import simulate
from tests.twins.path.scenarios import (
    as_datagrams,
    describe,
    linux_rows,
    sctp_rows,
    tcp_rows,
    with_bursts,
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


@pytest.mark.full
@pytest.mark.parametrize("model", ROWS)
def test_kernel_equals_twin(model: str) -> None:
    rows = with_varying(ROWS[model](LONG), seed=14)
    out = launch.run(models.model(f"{model}_varying"), rows)
    assert (out[:, Out.DROPS_QUEUE] > 0).mean() > 0.2
    assert (out[:, Out.RECEIVED] > 0).mean() > 0.5
    found = differing(
        out,
        lambda row: simulate(model, rows, row=row),
        lambda row: describe(rows, row),
        lambda c: Out(c).name,
    )
    assert not found, "\n\n".join(found)


def test_the_policer_lets_exactly_its_burst_pass() -> None:
    """A full bucket of three packets passes three at once and drops the fourth (GCRA, ITU-T I.371).

    A packet passes again as soon as its tokens are there, and not a nanosecond before.
    """
    conforms = bind(varying.conforms, compilers.plain, {"flat_table": False})
    prepare = bind(varying.prepare, compilers.plain, {"flat_table": False})
    size, byte_ns = 100, 8
    one = size * byte_ns
    table = np.array([[FOREVER + (byte_ns << BYTE_TIME_BITS), 3 * one], [FOREVER, 0], [FOREVER, 0]])
    m = np.zeros(varying.WORDS, np.int64)
    prepare(m, 0, 0)
    assert [conforms(table, m, 0, 1000, size) for _ in range(4)] == [True, True, True, False]
    assert not conforms(table, m, 0, 1000 + one - 1, size)
    assert conforms(table, m, 0, 1000 + one, size)
    assert not conforms(table, m, 0, 1000 + one, 1)
