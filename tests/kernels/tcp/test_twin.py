"""Kernels of fixed paths: bitwise comparison of all outcomes with the naive simulator.

`NETCARLO_LONG=N pytest tests/kernels/tcp/test_twin.py` runs N times as many scenarios.
"""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.layout import Out, Rows
from netcarlo.kernels.base.parameters import P, ReliableP, RowP
from netcarlo.kernels.congestion import aimd
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.tcp import rto, sack, slots
from netcarlo.kernels.tcp.recovery import REDUCE
from netcarlo.kernels.tcp.state import Ack, Clock, Row, SendState, Window
from tests.twins import any_model, simulate
from tests.twins.path.scenarios import describe, sctp_rows, tcp_rows

PROTOCOLS = ["tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_sack", "tcp_vegas", "sctp"]
SCENARIOS = 300 * int(os.environ.get("NETCARLO_LONG", "1"))
EVERY_PROTOCOL_MEETS = [
    Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.DROPS_QUEUE, Out.DROPS_RANDOM,
    Out.DROPS_OUTAGE, Out.DESTROYED, Out.ACK_DROPS, Out.RESUME_RX, Out.COMPLETED,
]  # fmt: skip


def scenarios(protocol: str, count: int) -> Rows:
    """Return random scenarios, the same in every run and different for each protocol."""
    seed = PROTOCOLS.index(protocol)
    return sctp_rows(count, seed=seed) if protocol == "sctp" else tcp_rows(count, seed=seed)


def differences(protocol: str, rows: Rows, *, at_most: int = 3) -> list[str]:
    """Return descriptions of the first scenarios in which kernel and twin differ."""
    outcomes = launch.run(models.model(protocol), rows)
    found = []
    for row in range(len(rows.parameters)):
        expected = simulate(protocol, rows, row=row)
        wrong = np.flatnonzero(outcomes[row] != expected)
        if wrong.size:
            columns = ", ".join(f"{Out(c).name} {outcomes[row, c]} not {expected[c]}" for c in wrong)
            found.append(f"{protocol} row {row}: the kernel has {columns}\n{describe(rows, row)}")
        if len(found) == at_most:
            break
    return found


@pytest.mark.full
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_kernel_equals_twin(protocol: str) -> None:
    found = differences(protocol, scenarios(protocol, SCENARIOS))
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scenarios_visit_the_corners(protocol: str) -> None:
    """Check that each event occurs in at least one of twenty scenarios of the comparison above."""
    outcomes = launch.run(models.model(protocol), scenarios(protocol, 300))
    met = (outcomes > 0).mean(axis=0)
    assert {column.name: met[column] for column in EVERY_PROTOCOL_MEETS if met[column] < 0.05} == {}


def test_a_hole_is_resent_again_after_three_later_packets() -> None:
    """Test a hole after three later packets: the highest packet received precedes the right edge of a block.

    Only new probing, which watches its first hole, depends on it: SACK finds no hole there.
    """
    found = replace(slots.of_sender(sack, aimd), pauses=True).filled()
    prepare, on_dup_ack = (bind(step, compilers.plain, found) for step in (sack.prepare, sack.on_dup_ack))
    p, m, f = np.zeros(len(P), np.int64), np.zeros(64, np.int64), np.zeros(8)
    p[[RowP.RING, ReliableP.DUPACKS, RowP.WINDOW]] = 64, 3, 50
    at, acked, snd_max, snd_nxt = 40, 9, 20, 21  # packet 10 is lost, packets up to 20 have been sent
    prepare(m, p, 30)
    row, clock, window, resent = Row(p, np.zeros(0), m, f), Clock(0, 0), Window(20.0, 50, 0), []
    for last in range(11, 25):  # the following packets arrive one by one
        m[[at + Ack.SACK_COUNT, at + Ack.SACK_BLOCK, at + Ack.SACK_BLOCK + 1]] = 1, 11, last + 1
        after = SendState(acked, max(snd_nxt, last), snd_max)
        window, actions, forced = on_dup_ack(row, clock, at, after, Window(window.cwnd, 50, window.dupacks))
        if actions & REDUCE:
            assert forced == acked + 1
            resent.append(last)
    assert resent == [13, 23]  # the third after the hole, and the third sent after its retransmission


def test_a_timer_is_backed_off_by_64_at_most_once_it_is_at_its_maximum() -> None:
    """Test the limit of the back-off factor; no outcome depends on it, as the timer is at its maximum."""
    assert [rto.back_off(factor, 8, 4, 60, 60)[0] for factor in (1, 16, 32, 64, 128)] == [2, 32, 64, 64, 128]
    assert rto.back_off(64, 8, 4, 59, 60)[0] == 128


COMPILE = """
import sys
from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile
for name in sys.argv[1:]:
    compile.cpu_loop(models.model(name))
"""
RUN = """
import pickle, sys
from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
rows = pickle.load(open(sys.argv[1], "rb"))
results = [launch.run(models.model(name), rows[name]) for name in sys.argv[3:]]
pickle.dump(results, open(sys.argv[2], "wb"))
"""


@pytest.mark.full
def test_models_compiled_apart_run_together(tmp_path: Path) -> None:
    """Test that models compiled in different processes keep their own functions when one process loads them.

    Each process first compiles another model that shares code. Models of datagrams compile fastest.
    """
    names, cache = ["udp", "udp_varying"], tmp_path / "cache"
    environments = [{**os.environ, "NETCARLO_CACHE": str(tmp_path / name)} for name in ("cache", *names)]
    orders = zip((names, names[::-1]), environments[1:], strict=True)
    compilers = [
        subprocess.Popen([sys.executable, "-c", COMPILE, *order], env=apart) for order, apart in orders
    ]
    assert [compiler.wait() for compiler in compilers] == [0, 0]
    cache.mkdir(mode=0o700)
    for first, second in (names, names[::-1]):  # the second model of each process
        [file] = (tmp_path / first).glob(f"{second}-*")
        file.rename(cache / file.name)
    rows = {name: any_model.scenarios(name, 40, seed=1) for name in names}
    (tmp_path / "rows").write_bytes(pickle.dumps(rows))
    command = [sys.executable, "-c", RUN, str(tmp_path / "rows"), str(tmp_path / "results"), *names]
    subprocess.run(command, env=environments[0], check=True)
    assert len(list(cache.iterdir())) == 2
    for name, outcomes in zip(names, pickle.loads((tmp_path / "results").read_bytes()), strict=True):
        twin = [any_model.simulate(name, rows[name], row=row) for row in range(40)]
        assert (outcomes == twin).all() and outcomes[:, Out.SENT].any(), name
