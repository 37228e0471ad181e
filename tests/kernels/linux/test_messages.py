"""Messages over today's Linux: comparison with the twin, properties, and restart after idle."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import (
    EVENT_SEND,
    MESSAGES_EVERY,
    MESSAGES_PAUSE,
    NEVER,
    Messages,
    Out,
    Queues,
    Rows,
    Trace,
)
from netcarlo.kernels.base.parameters import LinuxP, RowP
from netcarlo.kernels.congestion import user
from netcarlo.kernels.linux import cubic
from netcarlo.kernels.linux.cubic import Cubic
from netcarlo.kernels.linux.state import NONE
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import OF_LINUX
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_linux import row_of, scratch
from tests.twins.linux.own import OwnSender
from tests.twins.path.scenarios import MS, SECOND, with_messages
from tests.twins.rows import rows_of
from tests.twins.run import simulate

NAMES = (
    *(f"tcp_linux_{control}_messages" for control in OF_LINUX),
    *("tcp_linux_cubic_mobile_messages", "tcp_linux_bbr_mobile_messages", "tcp_linux_cubic_varying_messages"),
)
PACED = Path(__file__).parents[3] / "configs" / "examples" / "paced_aimd.py"


def messages(out: Any) -> Any:
    """Return the outcomes of messages [n, Messages.COLUMNS]."""
    return out[:, -Messages.COLUMNS :]


def pausing(packets: int, wait: int, *, every: bool = False, restart: bool = True, **values: int) -> Rows:
    """Return a row of `row_of` (8 ms per packet, 40 ms RTT) with messages of this many packets."""
    row = row_of(IDLE_RESTART=restart, MESSAGES=MESSAGES_EVERY if every else MESSAGES_PAUSE, **values)
    row.parameters[0, LinuxP.MESSAGE_WAITS] = 5
    fixed = [[2, 0, value, 1 << 32, value] for value in (948 * packets, wait)]
    return row._replace(constants=np.array([fixed[0] + fixed[1]], np.float64))


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_kernel_equals_twin(name: str) -> None:
    rows = rows_of(name, 80 if "varying" in name else 50, seed=5 + len(name))
    out = run_as_python(name, rows)
    found = messages(out)
    assert found[:, Messages.COMPLETED].sum() > 150 and (found[:, Messages.IDLE] > 0).sum() > 15
    assert out[:, Out.TIMEOUTS].sum() > 10 and (out[:, Out.COMPLETED] == NEVER).all()
    for row in range(len(out)):
        assert (out[row] == simulate(name, rows, row=row)).all(), row


@pytest.mark.parametrize("seed", [3, 6])
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_copy_of_an_old_message_keeps_its_size(seed: int) -> None:
    """Test a copy that is buffered for a mobile host while several short messages are written after it."""
    name = "tcp_linux_cubic_mobile_messages"
    rows, rng = rows_of(name, 20, seed=seed), np.random.default_rng(seed)
    whole = rows.parameters[:, RowP.DATA]
    most = np.maximum(whole * rng.choice([1, 1.5, 3], 20), 2).astype(int)
    tables = [
        [2, 0, max(w // 10, 1), 1 << 32, m, 2, 0, 0, 1 << 32, 1000] for w, m in zip(whole, most, strict=True)
    ]
    rows.parameters[:, [LinuxP.MESSAGE_SIZES, LinuxP.MESSAGE_WAITS]] = 0, 5
    rows = rows._replace(constants=np.array(tables, np.float64))
    out = run_as_python(name, rows)
    for row in range(len(out)):
        assert (out[row] == simulate(name, rows, row=row)).all(), row


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")
def test_messages_over_a_users_own_control_equal_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    address = Address("path", "linux", messages=True)
    model = models.user_model(PACED, PACED.read_bytes(), address)
    monkeypatch.setitem(models.MODELS, "tcp_linux_own_messages", model)
    monkeypatch.setattr(OwnSender, "module", user.load(PACED, PACED.read_bytes(), paced=True), raising=False)
    monkeypatch.setattr(OwnSender, "constants", np.array([1.0, 0.7, 1.2]), raising=False)
    rows = with_messages(rows_of("tcp_linux_reno", 30, seed=3), seed=3)
    constants = np.concatenate([np.tile([1.0, 0.7, 1.2], (30, 1)), rows.constants], axis=1)
    rows.parameters[:, [LinuxP.MESSAGE_SIZES, LinuxP.MESSAGE_WAITS]] += 3
    rows = rows._replace(constants=constants)
    out = run_as_python("tcp_linux_own_messages", rows)
    assert messages(out)[:, Messages.COMPLETED].sum() > 150
    for row in range(len(out)):
        assert (out[row] == simulate("tcp_linux_own_messages", rows, row=row)).all(), row


@pytest.mark.full
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    packets=st.integers(1, 300), wait=st.integers(0, 4 * SECOND), every=st.booleans(), restart=st.booleans(),
    window=st.integers(2, 400), losses=st.integers(0, 4),
)  # fmt: skip
def test_messages_are_conserved(
    packets: int, wait: int, every: bool, restart: bool, window: int, losses: int
) -> None:
    """Test conservation: messages arrive complete, in order and after they were written."""
    rows = pausing(packets, wait, every=every, restart=restart, WINDOW=window)
    rows.hops[0, 0, 0, 3] = losses
    out = launch.run(models.model("tcp_linux_cubic_messages"), rows)
    (found,) = messages(out)
    arrived = found[Messages.COMPLETED]
    assert 0 <= out[0, Out.IN_ORDER] - arrived * packets < max(packets, 1)
    assert 0 <= out[0, Out.IN_ORDER] - out[0, Out.ACKED] <= packets
    assert found[Messages.TIMES :].sum() == arrived
    alone = packets * 8 * MS + 20 * MS
    assert found[Messages.TIME] >= arrived * alone
    assert found[Messages.IDLE] + found[Messages.TIME] <= 20 * SECOND
    if not every:
        assert found[Messages.IDLE] <= (arrived + 1) * wait


def first_packets(name: str, rows: Rows, packets: int) -> Any:
    """Return the events at which the first and the last packet of each message were first sent."""
    events, _ = launch.trace(models.model(name), rows, row=0)
    sends = events[events[:, Trace.EVENT] == EVENT_SEND]
    _, first = np.unique(sends[:, Trace.SEQUENCE], return_index=True)
    sends = sends[first]
    return sends[::packets], sends[packets - 1 :: packets]


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("wait_s", [0.1, 0.9, 2.0, 8.0])
@pytest.mark.parametrize("restart", [True, False])
def test_the_window_is_halved_for_each_timeout_of_silence(wait_s: float, restart: bool) -> None:
    """Test cwnd after idle, down to the initial window; ssthresh is at least 3/4 of the old window."""
    rows = pausing(120, int(wait_s * SECOND), restart=restart, END=60 * SECOND)
    rows.hops[0, 0, 0, 2] = 0  # an unlimited queue
    begin, end = first_packets("tcp_linux_reno_messages", rows, 120)
    for before, after in zip(end, begin[1:], strict=False):
        idle, rto = after[Trace.TIME] - before[Trace.TIME], before[Trace.RTO]
        assert after[Trace.SSTHRESH] >= 0.75 * before[Trace.CWND] - 1
        if not restart or idle < rto:  # ACKs of packets in flight may have increased it
            assert after[Trace.CWND] >= before[Trace.CWND]
        else:
            assert after[Trace.CWND] <= max(2 * before[Trace.CWND] * 0.5 ** (idle // (2 * rto)), 10)
        if restart and idle > 30 * rto:
            assert after[Trace.CWND] == 10


@pytest.mark.full
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(packets=st.integers(20, 200), wait=st.integers(0, 6 * SECOND), window=st.integers(20, 300))
def test_a_window_is_never_larger_after_a_pause(packets: int, wait: int, window: int) -> None:
    """Test that a message after a pause does not start with a larger window if restarts are enabled."""
    begun = []
    for restart in (True, False):
        rows = pausing(packets, wait, restart=restart, WINDOW=window, END=30 * SECOND)
        begin, _ = first_packets("tcp_linux_cubic_messages", rows, packets)
        begun.append(begin[1, Trace.CWND])
    assert begun[0] <= begun[1]


def test_a_pause_does_not_count_as_time_since_the_loss() -> None:
    p, s = scratch()
    s[Cubic.EPOCH_START] = NONE
    cubic.on_idle_restart(p, s, 10 * SECOND, 500)
    assert s[Cubic.EPOCH_START] == NONE
    s[Cubic.EPOCH_START] = 1000
    cubic.on_idle_restart(p, s, 10 * SECOND, 500)
    assert s[Cubic.EPOCH_START] == 1500
    cubic.on_idle_restart(p, s, 10 * SECOND, 5000)  # not later than the present time
    assert s[Cubic.EPOCH_START] == 2500


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", ["tcp_linux_bbr_messages", "tcp_linux_bbr3_messages"])
def test_bbr_goes_on_at_its_rate_after_a_pause(name: str) -> None:
    """Test that BBR keeps its bandwidth estimate while it is application-limited.

    It neither sends a burst nor restarts with STARTUP.
    """
    rows = pausing(200, 3 * SECOND, END=60 * SECOND)
    begin, _ = first_packets(name, rows, 200)
    events, out = launch.trace(models.model(name), rows, row=0)
    sends = events[events[:, Trace.EVENT] == EVENT_SEND]
    since = begin[8, Trace.TIME]
    times = sends[(sends[:, Trace.TIME] >= since) & (sends[:, Trace.TIME] < since + 0.4), Trace.TIME] - since
    assert 0.6 < len(times) * 0.008 / 0.4 < 1.5
    (found,), alone = messages(out[None]), 200 * 8 * MS + 20 * MS
    assert found[Messages.TIME] < 1.25 * alone * found[Messages.COMPLETED]
    assert out[Out.DROPS_QUEUE] < 400


@pytest.mark.full
def test_short_messages_of_one_packet_each_take_half_a_round_trip() -> None:
    """Test messages without queueing: 8 ms of transmission and 20 ms of propagation after the handshake."""
    rows = pausing(1, 50 * MS)
    (out,) = launch.run(models.model("tcp_linux_cubic_messages"), rows)
    (found,) = messages(out[None])
    behind = 52 * 8000 - 100_000  # the ACK of the handshake is still in flight [ns]
    assert found[Messages.TIME] == found[Messages.COMPLETED] * 28 * MS + behind
    rounds = (20 * SECOND - 41 * MS) // (28 * MS + 20 * MS + 50 * MS)
    assert abs(found[Messages.COMPLETED] - rounds) <= 1
    assert out[len(Out) + Queues.HELD] > 0


@pytest.mark.full
def test_every_counts_from_one_message_to_the_next() -> None:
    rows = pausing(10, 500 * MS, every=True)
    (out,) = launch.run(models.model("tcp_linux_cubic_messages"), rows)
    assert messages(out[None])[0, Messages.COMPLETED] == 40  # the first one begins after a round trip
    slow = pausing(200, 500 * MS, every=True)  # more than the path carries: messages are sent back to back
    (out,) = launch.run(models.model("tcp_linux_cubic_messages"), slow)
    (found,) = messages(out[None])
    assert found[Messages.IDLE] == 0 and found[Messages.COMPLETED] >= 8
