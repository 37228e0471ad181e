"""Sender like that of Linux 2.6: comparison with its twin, and known cases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import ENDLESS, EVENT_ACK, EVENT_SEND, Hop, Out, Rows, Trace
from netcarlo.kernels.base.parameters import P, ReliableP, RowP, TcpP
from netcarlo.kernels.congestion import linux_reno, linux_westwood
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.tcp import linux26
from netcarlo.kernels.tcp import scoreboard as linux_scoreboard
from netcarlo.kernels.tcp.rto import back_off
from netcarlo.kernels.tcp.state import END, NONE, Ack
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from tests.kernels.beside_twin import run_as_python
from tests.twins import simulate
from tests.twins.path.mobility.scenarios import mobile_rows
from tests.twins.path.scenarios import MS, SECOND, describe, empty_row, fill, tcp_rows
from tests.twins.tcp.linux26 import LinuxControl, LinuxWestwood

MEETS = [
    Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.DROPS_QUEUE, Out.DROPS_RANDOM,
    Out.DROPS_OUTAGE, Out.DESTROYED, Out.ACK_DROPS, Out.RESUME_RX, Out.COMPLETED,
]  # fmt: skip
RING = 64
CONSTANTS = np.zeros(0)


@pytest.mark.full
@pytest.mark.parametrize(("name", "run"), [
    ("tcp_linux26", run_as_python),
    ("tcp_linux26_westwood", launch.run),  # other tests compile this model, too
])  # fmt: skip
def test_kernel_equals_twin(name: str, run: Callable[..., Any]) -> None:
    rows = tcp_rows(150, seed=7)
    outcomes = run(models.model(name), rows)
    for row in range(len(outcomes)):
        assert (outcomes[row] == simulate(name, rows, row=row)).all(), describe(rows, row)
    met = (outcomes > 0).mean(axis=0)
    assert {column.name: met[column] for column in MEETS if met[column] < 0.05} == {}


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_linux26_bic", "tcp_linux26_cubic", "tcp_linux26_westwood_mobile"])
def test_uncompiled_kernel_equals_twin(name: str) -> None:
    rows = mobile_rows(40, seed=7) if name.endswith("mobile") else wide_windows(60, seed=7)
    outcomes = run_as_python(name, rows)
    for row in range(len(outcomes)):
        assert (outcomes[row] == simulate(name, rows, row=row)).all(), describe(rows, row)


def wide_windows(count: int, *, seed: int) -> Rows:
    rows = tcp_rows(count, seed=seed)
    rng = np.random.default_rng(seed)
    rows.parameters[:, RowP.WINDOW] = rng.integers(30, 400, count)
    rows.parameters[:, ReliableP.INITIAL_SSTHRESH] = rng.integers(2, 60, count)
    return rows


class Board:
    """Scoreboard, uncompiled; packets up to `acked` are acknowledged and 20 more are in flight."""

    def __init__(self, acked: int = 100) -> None:
        self.functions = linux_scoreboard
        self.parameters = np.zeros(len(P), np.int64)
        self.parameters[RowP.RING] = RING
        self.parameters[ReliableP.DUPACKS] = 4
        self.m = np.zeros(END + linux_scoreboard.scratch_words(RING) + 8, np.int64)
        self.ack = self.functions.prepare(self.m, self.parameters, END)
        self.acked, self.snd_nxt = acked, acked + 21
        self.functions.reset(self.m, self.parameters, acked)

    def on_ack(self, *blocks: tuple[int, int], ack: int = 0) -> tuple[bool, bool]:
        ack = max(ack, self.acked)
        self.functions.acknowledge(self.m, self.parameters, ack, self.acked)
        self.acked = ack
        edges = [edge for block in blocks for edge in block]
        self.m[self.ack + Ack.SACK_COUNT] = len(blocks)
        self.m[self.ack + Ack.SACK_BLOCK : self.ack + Ack.SACK_BLOCK + len(edges)] = edges
        reported, lost = self.functions.process_ack(self.m, self.parameters, self.ack, ack)
        return bool(reported), bool(lost)

    def lost(self) -> int:
        return int(self.functions.next_lost(self.m, self.parameters, self.acked))

    def resend(self) -> int:
        packet = self.lost()
        self.functions.retransmit(self.m, self.parameters, packet, self.snd_nxt)
        return packet

    def flight(self) -> int:
        return int(self.functions.in_flight(self.m, self.acked, self.snd_nxt))


def test_a_packet_is_lost_when_the_fourth_above_it_has_arrived() -> None:
    board = Board()
    assert board.flight() == 20
    for right in (103, 104, 105):  # 101 is missing
        assert board.on_ack((102, right)) == (True, False)
    assert (board.lost(), board.flight()) == (NONE, 17)
    assert board.on_ack((102, 106)) == (True, True)
    assert (board.lost(), board.flight()) == (101, 15)
    assert board.on_ack((102, 106)) == (False, False)
    assert board.resend() == 101
    assert (board.lost(), board.flight()) == (NONE, 16)
    assert board.on_ack((109, 110), (102, 106)) == (True, False)  # 109 is only three packets above 106
    assert board.on_ack((112, 113), (109, 110), (102, 106)) == (True, True)
    assert [board.resend() for _ in range(3)] == [106, 107, 108]
    board.on_ack((112, 113), ack=111)
    assert (board.lost(), board.flight()) == (NONE, 8)


def test_a_retransmission_is_lost_when_later_data_arrive() -> None:
    board = Board()
    board.on_ack((102, 121))
    assert board.resend() == 101
    board.snd_nxt = 125
    assert board.on_ack((102, 121)) == (False, False)
    assert board.on_ack((102, 122)) == (True, True)  # 121 was the next new packet when 101 was retransmitted
    assert board.lost() == 101


def test_a_retransmission_is_lost_when_the_fifth_after_it_has_arrived() -> None:
    board = Board()
    board.on_ack((111, 121))
    assert [board.resend() for _ in range(10)] == list(range(101, 111))
    assert board.on_ack((102, 106), (111, 121)) == (True, False)  # the fourth after 101
    assert board.on_ack((102, 107), (111, 121)) == (True, False)
    assert board.on_ack((102, 108), (111, 121)) == (True, True)  # a SACK counts at the next ACK
    assert board.lost() == 101


def test_a_timeout_loses_all_that_was_not_reported() -> None:
    board = Board()
    board.on_ack((105, 110))
    board.functions.mark_all_lost(board.m, board.parameters, board.acked, board.snd_nxt)
    assert board.flight() == 0
    assert [board.resend() for _ in range(5)] == [101, 102, 103, 104, 110]


def test_timestamps_are_rounded_and_short_samples_hardly_count() -> None:
    tick = 1_000_000
    times = 1, 1_499_999, 1_500_000, 20_000_000
    assert [linux26.measure(0, now, 0, tick) for now in times] == [1, 1, 2, 20]
    srtt, rttvar = linux26.smooth(np.int64(100), np.int64(0), np.int64(0))
    assert (srtt, rttvar) == (800, 200)
    assert linux26.smooth(np.int64(200), srtt, rttvar) == (900, 250)
    assert linux26.smooth(np.int64(20), srtt, rttvar) == (720, 203)  # 80 below: grows by 30 / 8, not 30
    assert linux26.smooth(np.int64(90), srtt, rttvar) == (790, 160)


@pytest.mark.parametrize(("module", "twin"), [(linux_reno, LinuxControl), (linux_westwood, LinuxWestwood)])
@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_that_of_the_twin(module: Any, twin: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    naive, memory = twin(), np.zeros(16)
    cwnd, ssthresh, now, size = 2.0, 20, 0, int(rng.integers(500, 1461))
    for _ in range(4000):
        now += int(rng.exponential(rng.choice([0.1 * MS, 10 * MS])))
        srtt, packets, plain = (
            int(rng.integers(MS, 300 * MS)),
            int(rng.choice([0, 1, 1, 2, 7])),
            rng.random() < 0.8,
        )
        module.on_linux_ack(packets, plain, now, srtt, size, memory)
        naive.on_linux_ack(packets, now, srtt, size, plain=plain)
        if rng.random() < 0.01:
            ssthresh = int(module.reduce(cwnd, False, now, srtt, CONSTANTS, memory))
            assert ssthresh == naive.reduce(cwnd, timeout=False)
            cwnd = float(module.min_cwnd(ssthresh, size, memory))
            assert cwnd == naive.min_cwnd(ssthresh, size)
        if packets:
            grown = module.grow(cwnd, ssthresh, now, srtt, CONSTANTS, memory)
            assert grown == naive.step(cwnd, ssthresh, now, srtt)
            cwnd = min(grown, 500.0)


def test_westwood_measures_what_a_steady_stream_of_acks_carries() -> None:
    """Test a packet of 1,000 bytes per ms with an RTT of 80 ms: a window of 80 packets.

    The two filters round.
    """
    memory = np.zeros(16)
    for ms in range(5000):
        linux_westwood.on_linux_ack(1, True, ms * MS, 80 * MS, 1000, memory)
    assert 78 <= linux_westwood.min_cwnd(0, 1000, memory) <= 80


def event_rows(**values: int) -> Rows:
    row = empty_row()
    slow = (8000 << 20, 20 * MS, 30, 0)  # 8 us per byte: a packet of 1000 byte in 8 ms
    row.hops[0, 0, 0, : Hop.PRESENT + 1] = [*slow, 0, 20 * MS, 0, 0, 1]
    fill(row, {
        "SEED": 1, "END": 20 * SECOND, "LIMIT": ENDLESS, "WINDOW": 1000, "INITIAL_SSTHRESH": 999, "DATA": 950,
        "HEADER": 50, "ACK": 40, "SACK_BLOCK": 8, "HANDSHAKE": 40, "INITIAL_WINDOW": 2, "TICK": MS,
        "MIN_RTO": 200 * MS, "MAX_RTO": 120 * SECOND, "INITIAL_RTO": 3 * SECOND, "DUPACKS": 4, "ACK_EVERY": 1,
        "SAMPLE": 100 * MS, **values,
    })  # fmt: skip
    return row


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_the_first_window_goes_out_with_the_syn() -> None:
    events, _ = launch.trace(models.model("tcp_linux26"), event_rows(INITIAL_WINDOW=3), row=0)
    first = events[events[:, Trace.TIME] == 0.0]
    assert first[first[:, Trace.EVENT] == EVENT_SEND][:, Trace.SEQUENCE].tolist() == [0, 1, 2]


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_a_recovery_sends_a_packet_per_two_acks_and_no_burst() -> None:
    """Test repeated queue overflows without timeouts.

    An ACK releases at most the packets by which the window grows, and at most three after a recovery.
    """
    events, outcomes = launch.trace(models.model("tcp_linux26"), event_rows(INITIAL_SSTHRESH=20), row=0)
    assert outcomes[Out.TIMEOUTS] == 0
    assert outcomes[Out.FAST_RETRANSMITS] > 3
    kinds = events[np.isin(events[:, Trace.EVENT], [EVENT_SEND, EVENT_ACK])]
    acks = np.flatnonzero(kinds[:, Trace.EVENT] == EVENT_ACK)
    sent = np.diff(acks) - 1
    assert sent.max() <= linux26.BURST + 1
    halving = (np.diff(kinds[acks, Trace.CWND]) < 0)[:-1]
    assert halving.sum() > 50
    assert sent[1:][halving].mean() < 0.7
    assert outcomes[Out.ACKED] > 0.99 * 20 * SECOND / (8 * MS) - 10  # and the link is never idle


def test_scenarios_know_it() -> None:
    hops = [{"rate": "10 Mbit/s", "delay": "10 ms", "queue": 20}]
    transport = {"protocol": "linux26", "congestion_control": "westwood", "window": 60_000}
    scenario = Scenario.check({"duration": "10 s", "transport": transport, "hops": hops})
    assert model_of(scenario).name == "tcp_linux26_westwood"
    rows = build(scenario, replications=2).rows
    columns = RowP.WINDOW, RowP.HEADER, TcpP.TICK, ReliableP.MAX_RTO, ReliableP.DUPACKS
    assert rows.parameters[0, list(columns)].tolist() == [60_000, 50, MS, 120 * SECOND, 4]
    cell = {"duration": "10 s", "transport": transport, "wireless": {"cell": {"stations": 2}}}
    assert model_of(Scenario.check(cell)).name == "wifi_linux26_westwood"


def test_it_runs_a_users_congestion_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test a control whose window is always 5 packets."""
    fixed = "def grow(cwnd, *rest):\n    return 5.0\n\n\ndef reduce(window, *rest):\n    return 5.0\n"
    (tmp_path / "fixed.py").write_text(fixed)
    model = models.user_model(tmp_path / "fixed.py", fixed.encode(), Address("path", "linux26"))
    monkeypatch.setitem(models.MODELS, "fixed", model)
    rows = event_rows(INITIAL_WINDOW=5, END=2 * SECOND)
    out = run_as_python("fixed", rows)[0]
    round_trip = 40 * MS + 8 * MS
    assert out[Out.ACKED] == pytest.approx(5 * 2 * SECOND / round_trip, abs=6)
    assert out[Out.DROPS_QUEUE] == out[Out.RETRANSMITTED] == 0


def test_the_timer_backs_off_up_to_64_times_or_to_its_maximum() -> None:
    """Test back-off: the factor doubles below 64, and beyond only below the maximum timeout.

    Source: `TcpAgent::rtt_backoff` of ns-2.
    """
    for timeout, last in ((120, 64), (119, 4096)):
        factor, seen = 1, []
        for _ in range(12):
            factor, _, _ = back_off(factor, 8, 4, timeout, 120)
            seen.append(factor)
        assert seen[:6] == [2, 4, 8, 16, 32, 64] and seen[-1] == last
