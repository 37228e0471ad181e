"""Effects of hosts on a transfer besides TCP: socket buffer of the sender, delay element with a clock."""

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import EVENT_RECEIVE, EVENT_SEND, NEVER, Hop, Out, Rows, Trace
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.runtime import launch
from tests.kernels.tcp.test_properties import clean_row, round_trip
from tests.tiers import parameters
from tests.twins import simulate
from tests.twins.path.scenarios import MS, SECOND, describe, fill, stack, tcp_rows

TCPS = ["tcp_newreno", "tcp_sack"]


@pytest.mark.parametrize("tcp", TCPS)
def test_a_writer_who_wakes_at_every_ack_makes_the_buffer_a_window(tcp: str) -> None:
    window = tcp_rows(60, seed=21)
    buffer = Rows(*(field.copy() for field in window))
    window.parameters[:, [TcpP.SEND_BUFFER, TcpP.SEND_WAKE]] = 0
    buffer.parameters[:, TcpP.SEND_BUFFER] = window.parameters[:, RowP.WINDOW]
    buffer.parameters[:, TcpP.SEND_WAKE] = window.parameters[:, RowP.WINDOW] - 1
    expected, out = (launch.run(models.model(tcp), rows) for rows in (window, buffer))
    assert (out == expected).all()


@pytest.mark.parametrize("tcp", TCPS)
def test_a_full_buffer_is_refilled_when_a_third_is_free(tcp: str) -> None:
    room, rtt = 30, 100 * MS
    row = clean_row(tcp, rate_bps=8e6, delay=rtt // 2, window=200, end=20 * SECOND)
    fill(row, {"SEND_BUFFER": room, "SEND_WAKE": 20})
    events, out = launch.trace(models.model(tcp), row, row=0)
    sent = events[events[:, Trace.EVENT] == EVENT_SEND]
    ahead = sent[:, Trace.SEQUENCE] - sent[:, Trace.ACKED]
    assert ahead.max() == room
    # In the steady state the application refills the buffer after ten acknowledged packets, and not before.
    steady = sent[sent[:, Trace.TIME] > 10]
    assert (np.diff(np.unique(steady[:, Trace.ACKED])) == room - 20).all()
    # The next packet waits for nine more ACKs, 1 ms apart.
    fill(row, {"SEND_WAKE": room - 1})
    eager = launch.run(models.model(tcp), row)[0]
    lost = 9 * MS / (round_trip(row, tcp) + 9 * MS)
    assert 1 - out[Out.SENT] / eager[Out.SENT] == pytest.approx(lost, abs=0.01)


@pytest.mark.parametrize("tcp", TCPS)
def test_the_buffer_bounds_the_rate(tcp: str) -> None:
    rows = [clean_row(tcp, rate_bps=1e8, delay=20 * MS, window=100, end=20 * SECOND) for _ in range(3)]
    for row, room in zip(rows, (12, 24, 48), strict=True):
        fill(row, {"SEND_BUFFER": room, "SEND_WAKE": 2 * room // 3})
    out = launch.run(models.model(tcp), stack(rows))
    per_rtt = out[:, Out.ACKED] * round_trip(rows[0], tcp) / (20 * SECOND)
    for packets, room in zip(per_rtt, (12, 24, 48), strict=True):
        assert 2 / 3 * room <= packets <= room


def test_a_short_transfer_through_a_small_buffer_ends() -> None:
    row = clean_row("tcp_newreno", rate_bps=1e6, delay=10 * MS, window=64, end=60 * SECOND)
    fill(row, {"SEND_BUFFER": 3, "SEND_WAKE": 0, "LIMIT": 100})
    out = launch.run(models.model("tcp_newreno"), row)[0]
    assert out[Out.COMPLETED] != NEVER and out[Out.ACKED] == out[Out.SENT] == 100
    assert out[Out.TIMEOUTS] == 0


def test_packets_leave_a_delay_element_at_ticks() -> None:
    tick, phase = 4 * MS, 1_234_567
    row = clean_row("tcp_newreno", rate_bps=1e7, delay=10 * MS, window=20, end=5 * SECOND)
    free = launch.run(models.model("tcp_newreno"), row)[0]
    row.hops[0, 0, 0, [Hop.TICK, Hop.TICK_PHASE]] = tick, phase
    events, out = launch.trace(models.model("tcp_newreno"), row, row=0)
    arrivals = events[events[:, Trace.EVENT] == EVENT_RECEIVE, Trace.TIME]
    offsets = np.rint(arrivals * 1e9).astype(np.int64) - phase
    assert len(offsets) > 100 and (offsets % tick == 0).all()
    assert np.bincount(offsets // tick).max() >= 4  # packets leave in groups
    assert out[Out.RTT_SUM] > free[Out.RTT_SUM] and out[Out.ACKED] < free[Out.ACKED]


@pytest.mark.parametrize("tcp", parameters(TCPS, full=["tcp_sack"]))
def test_hosts_equal_their_twin(tcp: str) -> None:
    """Compare rows that combine all effects: a socket buffer in every row, clocks on every hop."""
    rows = tcp_rows(60, seed=22)
    rng = np.random.default_rng(22)
    for row in range(len(rows.parameters)):
        room = int(rng.integers(1, 30))
        rows.parameters[row, [TcpP.SEND_BUFFER, TcpP.SEND_WAKE]] = room, rng.integers(0, room + 1)
        rows.hops[row, 0, :, Hop.TICK] = rng.choice([MS, 4 * MS, 7_777_777], 3)
        rows.hops[row, 0, :, Hop.TICK_PHASE] = rng.integers(0, MS)
    outcomes = launch.run(models.model(tcp), rows)
    for row in range(len(outcomes)):
        assert (outcomes[row] == simulate(tcp, rows, row=row)).all(), describe(rows, row)
