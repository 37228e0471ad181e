"""TCPs that probe after a loss or receive error notifications: associations and their naive twins.

`NETCARLO_LONG=N pytest tests/kernels/tcp/test_probing.py` compares N times as many connections.
"""

import functools
import os
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.congestion import aimd, bic, westwood
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.tcp import elfn, eln, new_probing, newreno, probing
from netcarlo.kernels.tcp.state import Tcp
from tests.kernels.tcp.wire import (
    DATA,
    DESTROYED,
    LOST,
    MS,
    PROBE,
    SECOND,
    WINDOW,
    Script,
    Twin,
    arrays,
    counts,
    lossless,
    make_kernel,
)
from tests.twins.run import tcp_of

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
CONTROLS: dict[str, ModuleType] = {"": aimd, "bic": bic, "westwood": westwood}
VARIANTS = {"probing": probing, "new_probing": new_probing, "elfn": elfn, "eln": eln}
NAMES = ["probing", "new_probing", "elfn", "eln", "probing_westwood", "new_probing_bic"]
TYPES = "int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], float64[::1]"


def parts(name: str) -> tuple[ModuleType, ModuleType]:
    """Return variant and congestion control of a name."""
    control = name.rpartition("_")[2]
    control = control if control in CONTROLS else ""
    return VARIANTS[name.removesuffix(f"_{control}")], CONTROLS[control]


def differences(name: str, run: Any, seeds: range) -> list[str]:
    """Return the first difference between the association and its twin, for the first few scripts."""
    found = []
    for seed in seeds:
        script = Script(seed)
        twin = Twin(script, *tcp_of(name))
        given = arrays(script)
        rows = run(*given)
        log, expected = given[-1][:rows], np.array(twin.log, dtype=np.float64)
        least = min(len(log), len(expected))
        wrong = np.flatnonzero((log[:least] != expected[:least]).any(axis=1))
        counted = counts(given[5], int(script.p[RowP.END]))
        if wrong.size:
            k = wrong[0]
            found.append(f"{name}, script {seed}, row {k}: {log[k].tolist()} not {expected[k].tolist()}")
        elif len(log) != len(expected) or counted != twin.counts():
            found.append(f"{name}, script {seed}: {rows} rows, {counted} not {twin.counts()}")
        if len(found) == 3:
            break
    return found


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_uncompiled_association_equals_twin(name: str) -> None:
    run = make_kernel(compilers.plain, *parts(name))
    found = differences(name, run, range(4 * LONG))
    assert not found, "\n".join(found)


@pytest.mark.full
def test_association_equals_twin() -> None:
    name = "new_probing_westwood"
    run = make_kernel(functools.partial(compilers.cpu, model="wire"), *parts(name))

    def call(
        p: Any, fates: Any, changes: Any, outages: Any, notices: Any, s: Any, g: Any, ways: Any, log: Any
    ) -> Any:  # fmt: skip
        return run(p, fates, changes, outages, notices, s, g, ways, log)

    compiled = numba.njit(error_model="numpy", _nrt=False)(call)
    compiled.compile(f"int64({TYPES}, int64[:, :, ::1], float64[:, ::1])")
    found = differences(name, compiled, range(12 * LONG))
    assert not found, "\n".join(found)


@pytest.mark.full
def test_scripts_visit_the_corners() -> None:
    """Check that scripts contain probe cycles of each cause with both results."""
    for name in ("probing", "new_probing", "elfn", "eln"):
        total = np.zeros(11, np.int64)
        for seed in range(12):
            total += Twin(Script(seed), *tcp_of(name)).counts()
        _, _, timeouts, fast, cuts, _, _, probes, pauses, spared, _ = total.tolist()
        assert min(timeouts, fast, cuts, spared) > 3, name
        assert (min(probes, pauses) > 3) == (name != "eln")
        if name == "probing":
            assert probes > 2 * pauses > 2 * (timeouts + fast) - 10


def drive(module: ModuleType, script: Script) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the log of a connection, and the association's words at the end."""
    given = arrays(script)
    rows = make_kernel(compilers.plain, module, aimd)(*given)
    return given[-1][:rows], given[5]


def largest_fall(log: NDArray[np.float64]) -> float:
    """Return the largest decrease of an open window from one event to the next [packets]."""
    cwnd = log[log[:, 1] == WINDOW, 2]
    opened = int(np.argmax(cwnd >= 15))
    return float(-np.diff(cwnd[opened:]).min())


def times(kind: int, log: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the send times of packets of this kind [s]."""
    return log[log[:, 1] == kind, 0] / SECOND


@pytest.mark.parametrize("fate", [LOST, DESTROYED])
@pytest.mark.parametrize("module", [newreno, probing, new_probing, elfn, eln])
def test_who_keeps_the_window_after_one_loss(module: ModuleType, fate: int) -> None:
    script = lossless(limit=400)
    script.fates[0, 150] = fate
    log, words = drive(module, script)
    keeps = module in (probing, new_probing) or (module is eln and fate == DESTROYED)
    assert words[Tcp.AVOIDED] == keeps and words[Tcp.REDUCTIONS] == (not keeps)
    assert (largest_fall(log) < 1) == keeps
    assert words[Tcp.RETRANSMITTED] == 1 and words[Tcp.FAST_RETRANSMITS] == 1
    assert words[Tcp.TIMEOUTS] == 0 and words[Tcp.RCV_NXT] == 401


@pytest.mark.parametrize("module", [newreno, probing, new_probing, elfn, eln])
def test_who_notices_that_the_repair_is_lost_too(module: ModuleType) -> None:
    """Test the loss of a retransmission: probing senders detect it, the others wait for a timeout."""
    script = lossless(limit=400)
    script.p[RowP.WINDOW] = 60
    script.fates[0, 150] = LOST
    log, _ = drive(module, script)
    put = log[np.isin(log[:, 1], (DATA, PROBE))]
    repeated = [
        k for k in range(len(put)) if put[k, 1] == DATA and put[k, 2] in put[:k][put[:k, 1] == DATA, 2]
    ]
    assert len(repeated) == 1
    script.fates[0, repeated[0]] = LOST
    log, words = drive(module, script)
    notices = module in (probing, new_probing)
    assert words[Tcp.TIMEOUTS] == (not notices)
    assert words[Tcp.FAST_RETRANSMITS] == 1 + notices and words[Tcp.RETRANSMITTED] >= 2
    assert words[Tcp.RCV_NXT] == 401
    if notices:  # the burst of `probing` may delay its own second probe cycle
        assert words[Tcp.AVOIDED] + words[Tcp.REDUCTIONS] == 2 and words[Tcp.AVOIDED] >= 1


def test_probing_is_silent_for_two_round_trips() -> None:
    script = lossless(limit=400)
    script.fates[0, 150] = LOST
    log, words = drive(probing, script)
    assert words[Tcp.PROBES] == 2 and words[Tcp.PROBE_CYCLES] == 1
    sent = times(DATA, log)
    asked = times(PROBE, log)
    silence = sent[sent > asked[0]][0] - asked[0]
    assert silence == pytest.approx(words[Tcp.PROBE_TIME] / SECOND)
    assert silence >= 2 * 2 * 0.020 and asked[1] - asked[0] >= 2 * 0.020


def test_window_falls_when_the_round_trip_has_grown() -> None:
    """Test a loss after the round trip has grown: a queue is a possible cause, so the window is reduced."""
    script = lossless(limit=400)
    script.fates[0, 150] = LOST
    script.changes = np.array([[0, 20 * MS], [600 * MS, 200 * MS]])
    log, words = drive(probing, script)
    assert words[Tcp.REDUCTIONS] >= 1 and largest_fall(log) >= 9


def outage(*, notice: bool) -> Script:
    """Return a script in which everything from 1 s to 5.3 s is lost."""
    script = lossless()
    script.outages = np.array([[1 * SECOND, 5.3 * SECOND]], np.int64)
    if notice:
        script.notices = np.array([1.02 * SECOND], np.int64)
    return script


def resumed_after(module: ModuleType, *, notice: bool = False) -> float:
    """Return the earliest arrival of data after the outage [s]."""
    log, _ = drive(module, outage(notice=notice))
    sent = times(DATA, log)
    return float(sent[sent >= 5.3][0] - 5.3)


def test_who_notices_that_the_link_is_back() -> None:
    """Compare the time to resume: a backed-off timer waits for seconds; probes have no back-off."""
    assert resumed_after(newreno) > 1
    assert resumed_after(probing) < 0.5
    assert resumed_after(elfn) > 1  # ELFN needs a notification
    assert resumed_after(elfn, notice=True) < 2.0 + 0.1


def test_no_data_goes_into_the_outage() -> None:
    for module in (probing, elfn):
        log, words = drive(module, outage(notice=True))
        sent = times(DATA, log)
        assert ((sent > 1.5) & (sent < 5.3)).sum() == 0
        probes = times(PROBE, log)
        apart = np.diff(probes[(probes > 1.5) & (probes < 5.3)])
        assert apart == pytest.approx(2.0 if module is elfn else apart[0])
        assert words[Tcp.PROBE_TIME] > 4 * SECOND
    assert words[Tcp.REDUCTIONS] == 0 and words[Tcp.TIMEOUTS] == 0  # the frozen sender counts no loss


def test_new_probing_asks_when_one_repair_has_failed() -> None:
    """Test two timeouts without an ACK in between: only the first one is attributed to bit errors."""
    log, words = drive(new_probing, outage(notice=False))
    sent, asked = times(DATA, log), times(PROBE, log)
    assert words[Tcp.PROBE_CYCLES] == 1 and words[Tcp.TIMEOUTS] <= 2
    assert ((sent > asked[0]) & (sent < 5.3)).sum() == 0
    assert sent[sent >= 5.3][0] - 5.3 < 0.5
