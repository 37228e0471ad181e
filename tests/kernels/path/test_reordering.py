"""Hops that reorder packets: comparison with the twin, properties, and known cases.

`NETCARLO_LONG=N pytest tests/kernels/path/test_reordering.py` compares N times as many scenarios.
"""

import os
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import FOREVER, NEVER, STATUS_OK, Hop, Out, Rows
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.base.rows import take
from netcarlo.kernels.base.varying import HEAD, Head
from netcarlo.kernels.runtime import launch
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins import run as twins
from tests.twins import simulate
from tests.twins.path.scenarios import (
    as_datagrams,
    describe,
    linux_rows,
    sctp_rows,
    tcp_rows,
    with_bursts,
    with_reordering,
)

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
LOST = [Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED]
SENDERS = {"tcp_newreno": 150, "udp": 100, "sctp": 60, "tcp_linux_cubic": 60}
"""Number of scenarios by sender, for compiled senders."""
OTHERS = sorted(
    model.address.name.removesuffix("_reordering")
    for model in models.MODELS.values()
    if model.address.reordering
    and not model.address.delays  # `test_delays` compares these models
    and model.name.removesuffix("_reordering") not in SENDERS
)

seeds = st.integers(0, 1 << 30)
quick = settings(deadline=None, max_examples=10)


def scenarios(sender: str, count: int, *, seed: int) -> Rows:
    if sender == "udp":
        rows = with_bursts(as_datagrams(tcp_rows(count, seed=seed), seed=seed), seed=seed)
    elif sender == "sctp":
        rows = sctp_rows(count, seed=seed)
    elif sender.startswith("tcp_linux_"):
        rows = linux_rows(count, seed=seed)
    else:
        rows = tcp_rows(count, seed=seed)
    return with_reordering(rows, seed=seed)


def run(sender: str, rows: Rows, *, kind: str = "_reordering") -> NDArray[np.int64]:
    return launch.run(models.model(f"{sender}{kind}"), rows)


def unlike_twin(sender: str, rows: Rows, out: NDArray[np.int64]) -> list[str]:
    return differing(
        out,
        lambda row: simulate(f"{sender}_reordering", rows, row=row),
        lambda row: describe(rows, row),
        lambda c: Out(c).name if c < len(Out) else f"column {c}",
    )


@pytest.mark.full
@pytest.mark.parametrize("sender", SENDERS)
def test_kernel_equals_twin(sender: str) -> None:
    rows = scenarios(sender, SENDERS[sender] * LONG, seed=31)
    out = run(sender, rows)
    met = (out > 0).mean(axis=0)
    meets = [Out.RECEIVED, Out.REORDERED, Out.IN_FLIGHT, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DESTROYED]
    meets += [Out.ACK_DROPS] if sender != "udp" else []
    assert {column.name: met[column] for column in meets if met[column] < 0.08} == {}
    found = unlike_twin(sender, rows, out)
    assert not found, "\n\n".join(found)


@pytest.mark.full
def test_the_first_round_of_hystart_ends_with_the_first_packet() -> None:
    """Test an ACK that only reports reordered packets, which starts no round.

    In these two scenarios, one of them with a handshake, rounds would otherwise end slow start at another
    time.
    """
    rows = take(scenarios("tcp_linux_cubic", 240, seed=31), [207, 207])
    rows.parameters[1, [TcpP.HANDSHAKE, RowP.REPLICATION]] = 40, 34
    rows.parameters[:, RowP.END] = 2 * 10**9
    found = unlike_twin("tcp_linux_cubic", rows, run("tcp_linux_cubic", rows))
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("sender", OTHERS)
def test_those_not_compiled_equal_their_twins(sender: str) -> None:
    """Compare a few short scenarios of each model, as plain Python, in which packets are reordered."""
    rows = scenarios(sender, 4 * LONG, seed=5)
    rows.parameters[:, RowP.END] = np.minimum(rows.parameters[:, RowP.END], 10**10)
    out = run_as_python(f"{sender}_reordering", rows)
    assert (out[:, Out.REORDERED] > 0).any()
    found = unlike_twin(sender, rows, out)
    assert not found, "\n\n".join(found)


@pytest.mark.full
@given(st.sampled_from([*SENDERS]), seeds)
@quick
def test_packets_are_conserved(sender: str, seed: int) -> None:
    out = run(sender, scenarios(sender, 20, seed=seed))
    assert (out >= NEVER).all() and (out[:, Out.STATUS] == STATUS_OK).all()
    ended = out[:, [Out.RECEIVED, *LOST]].sum(axis=1)
    assert (out[:, Out.SENT] == ended + out[:, Out.IN_FLIGHT]).all()
    assert (out[:, Out.IN_FLIGHT] >= 0).all()
    assert (out[:, Out.REORDERED] <= np.maximum(out[:, Out.RECEIVED] - 1, 0)).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.SENT] - out[:, Out.RETRANSMITTED]).all()
    assert (out[:, Out.ACKED] <= out[:, Out.IN_ORDER]).all()


@pytest.mark.full
@given(st.sampled_from(["tcp_newreno", "udp"]), seeds)
@quick
def test_without_spread_it_is_jitter_that_keeps_order(sender: str, seed: int) -> None:
    """Test constant jitter, which delays all packets equally with and without reordering.

    Exceptions are Linux, whose reordering window widens, and SCTP, whose engine breaks ties differently.
    """
    rows = scenarios(sender, 20, seed=seed)
    kept = rows._replace(outages=rows.outages.copy())
    for *hop, direction in np.argwhere(rows.hops[..., Hop.VARIES :] > 0).tolist():
        first = rows.hops[*hop, Hop.VARIES + direction]
        kind, entries = rows.outages[*hop, first + 1] - [FOREVER, 0]
        jitters = int(rows.outages[*hop, first + Head.PERIOD, 1])
        begin = first + HEAD + entries * (2 if kind == 1 else 1)
        for table in rows.outages[*hop], kept.outages[*hop]:
            table[begin : begin + abs(jitters)] = FOREVER + 7_000_003, 7_000_003
            if kind == 1:  # make the trace's delay constant, too: packets overtake where it falls
                table[first + HEAD + 1 : begin : 2, 0] = FOREVER + 11_000_000
        kept.outages[*hop, first + Head.PERIOD, 1] = abs(jitters)
    out, expected = run(sender, rows), run(sender, kept, kind="_varying")
    assert (out[:, : Out.IN_FLIGHT] == expected[:, : Out.IN_FLIGHT]).all()
    assert not out[:, Out.REORDERED].any()


@pytest.mark.full
@given(st.sampled_from([*SENDERS]), seeds, st.integers(6, 10))
@quick
def test_ring_size_never_matters(sender: str, seed: int, bits: int) -> None:
    rows = scenarios(sender, 12, seed=seed)
    expected = run(sender, rows)
    with patch.object(launch, "_rings", lambda _, rows: np.full(len(rows.parameters), 1 << bits)):
        assert (run(sender, rows) == expected).all()


@pytest.mark.full
def test_the_reordering_window_of_rack_widens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a constant reordering window changes most scenarios of the comparison with the twin."""
    rows = scenarios("tcp_linux_cubic", 60, seed=31)
    out = run("tcp_linux_cubic", rows)

    def narrow(*arguments: Any, **more: Any) -> Any:
        *_, path, _, _ = arguments
        path.reorders = False
        return linux(*arguments, **more)

    linux = twins.run_linux
    monkeypatch.setattr(twins, "run_linux", narrow)
    late = np.flatnonzero(out[:, Out.REORDERED] > 20)
    columns = [Out.SENT, Out.RETRANSMITTED, Out.CWND_SUM]
    other = np.array([simulate("tcp_linux_cubic_reordering", rows, row=row) for row in late])
    assert (out[late][:, columns] != other[:, columns]).any(axis=1).mean() > 0.3
