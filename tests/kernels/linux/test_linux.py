"""TCP of today's Linux: clocks, receiver, window, and comparison with the twin."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import (
    ENDLESS,
    EVENT_ACK,
    EVENT_SEND,
    EVENT_TIMEOUT,
    FOREVER,
    Hop,
    Out,
    Queues,
    Rows,
    Trace,
)
from netcarlo.kernels.base.parameters import LinuxP, ReliableP, RowP, TcpP
from netcarlo.kernels.linux import clocks, hystart, prr, receiver, rtt, scoreboard, state, timer
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.linux.state import FIRST, NONE, CaState, Flag, Packet, Tcp
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.kernels.beside_twin import run_as_python
from tests.twins.linux.clocks import Clocks
from tests.twins.parameters import Parameters
from tests.twins.path.scenarios import MS, SECOND, empty_row, fill, linux_rows
from tests.twins.run import simulate

HOPS = [{"rate": "5 Mbit/s", "delay": "20 ms", "queue": 30}]


def row_of(**values: int) -> Rows:
    """Return a row with a bottleneck of 8 ms per packet, 40 ms RTT and the defaults of Linux."""
    row = empty_row()
    row.hops[0, 0, 0, : Hop.PRESENT + 1] = [
        *(8000 << 20, 20 * MS, 30, 0), 0, 20 * MS, 0, 0, 1,
    ]  # fmt: skip
    fill(row, {
        "SEED": 1, "END": 20 * SECOND, "LIMIT": ENDLESS, "WINDOW": 1000, "DATA": 948, "HEADER": 52, "ACK": 52,
        "SACK_BLOCK": 8, "HANDSHAKE": 60, "INITIAL_WINDOW": 10, "TICK": 4 * MS, "MIN_RTO": 200 * MS,
        "MAX_RTO": 120 * SECOND, "INITIAL_RTO": SECOND, "ACK_EVERY": 2, "ACK_DELAY": 40 * MS,
        "SAMPLE": 20 * MS, "QUEUES": 1, **values,
    })  # fmt: skip
    return row


def scratch(ring: int = 256) -> tuple[Any, Any]:
    """Return parameters and the scratch of an association without packets in flight."""
    p = row_of().parameters[0]
    p[RowP.RING] = ring
    s = np.zeros(state.scratch_words(0, ring), np.int64)
    state.init_layout(p, s, np.int64(state.END))
    s[Tcp.JIFFY_US] = 4000
    s[Tcp.MAX_RTO_JIFFIES] = 30_000
    s[Tcp.MIN_RTT_US] = state.INFINITE
    s[Tcp.REORDERING] = 3
    for word in (
        Tcp.UNDO_MARKER,
        Tcp.TLP_HIGH_SEQ,
        Tcp.DSACK_PACKET,
        Tcp.SYN_ACK_AT,
        Tcp.LRCVTIME,
        Tcp.RCV_HIGHEST,
    ):
        s[word] = NONE
    for word in (Tcp.ACK_DEADLINE, Tcp.COMPRESSED_ACK_DEADLINE):
        s[word] = FOREVER
    s[Tcp.SND_UNA] = s[Tcp.SND_NXT] = s[Tcp.RCV_NXT] = s[Tcp.RCV_WUP] = FIRST
    return p, s


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_linux_reno", "tcp_linux_cubic"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_kernel_equals_twin(name: str) -> None:
    rows = linux_rows(80, seed=len(name))
    rows.parameters[20:, LinuxP.SLOW_START] = np.arange(60) % len(SlowStart)
    out = run_as_python(name, rows)
    assert out[:, Out.TIMEOUTS].sum() > 50 and out[:, Out.FAST_RETRANSMITS].sum() > 200
    for row in range(len(out)):
        assert (out[row] == simulate(name, rows, row=row)).all(), row


def test_timers_go_off_at_the_edges_of_the_wheel() -> None:
    """Test timer expiry: never early, and late by at most the granularity of its wheel level."""
    p, s = scratch()
    for jiffies, step in ((10, 1), (62, 1), (66, 8), (132, 8), (264, 8), (528, 64), (4032, 512)):
        waits = []
        for phase in range(0, 4096 * 4 * MS, 7_654_321):
            s[Tcp.CLOCK_PHASE] = phase
            waits.append(int(clocks.timer_expiry(p, s, 12_345_678, jiffies)) - 12_345_678)
        assert min(waits) > (jiffies - 1) * 4 * MS
        assert max(waits) <= (jiffies + step) * 4 * MS
        assert max(waits) - min(waits) > (step - 0.6) * 4 * MS


def test_the_wheel_is_that_of_the_twin() -> None:
    rng = np.random.default_rng(1)
    p, s = scratch()
    for _ in range(300):
        s[Tcp.CLOCK_PHASE] = p[TcpP.CLOCK_PHASE] = rng.integers(0, 1 << 37)
        now, jiffies = int(rng.integers(0, 10**11)), int(2 ** rng.uniform(0, 15))
        twin = Clocks(Parameters(Rows(p[None], *row_of()[1:]), 0))
        assert clocks.timer_expiry(p, s, now, jiffies) == twin.expiry(now, jiffies)


def test_round_trips_are_smoothed_as_linux_does() -> None:
    """Test the RTO: largest deviation of a round trip, at least 200 ms; short samples have less weight."""
    p, s = scratch()

    def smooth(sample: int) -> None:
        rtt.store_estimate(
            s, rtt.on_sample(p, s, rtt.load_estimate(s), sample, s[Tcp.SND_UNA], s[Tcp.SND_NXT])
        )

    smooth(100_000)
    assert (s[Tcp.SRTT_US], s[Tcp.MDEV_US], s[Tcp.RTTVAR_US], s[Tcp.RTO]) == (800_000, 200_000, 200_000, 75)
    s[Tcp.SND_UNA] += 1
    smooth(500_000)  # 4 times the deviation, which grows by 400 - 50 ms
    assert (s[Tcp.SRTT_US], s[Tcp.MDEV_US], s[Tcp.RTTVAR_US], s[Tcp.RTO]) == (
        1_200_000,
        550_000,
        550_000,
        175,
    )
    smooth(10_000)  # 140 ms below the mean: the excess over the deviation counts an eighth
    assert (s[Tcp.SRTT_US], s[Tcp.MDEV_US]) == (1_060_000, 550_000 + (140_000 - 137_500) // 8)


def test_the_receiver_acknowledges_18_segments_one_by_one_and_then_every_second() -> None:
    p, s = scratch()
    s[Tcp.QUICK_ACKS] = receiver.INITIAL_QUICK_ACKS
    s[Tcp.RCV_RTT] = 40 * MS
    acks = [receiver.on_data(p, s, packet * MS, packet, False)[0] for packet in range(2, 32)]
    assert all(ack >= 0 for ack in acks[:18])
    assert [ack >= 0 for ack in acks[18:]] == [False, True] * 6


def test_what_ends_a_burst_is_acknowledged_at_once() -> None:
    p, s = scratch()
    s[state.packet_at(p, s, FIRST) + Packet.FLAGS] = Flag.PSH
    assert receiver.on_data(p, s, MS, FIRST, False)[0] >= 0
    assert receiver.on_data(p, s, 2 * MS, FIRST + 1, False)[0] == NONE
    assert 40 * MS < s[Tcp.ACK_DEADLINE] - 2 * MS <= 44 * MS


def test_in_a_gap_three_acks_go_out_and_then_one_for_several() -> None:
    """Test ACK compression: merged for 5 % of the RTT, at most 1 ms, plus the timer slack."""
    p, s = scratch()
    s[Tcp.RCV_RTT] = 12 * MS
    at = [FIRST + 1 + k for k in range(6)]
    acks = [receiver.on_data(p, s, 10 * MS + k, packet, False)[0] for k, packet in enumerate(at)]
    assert [ack >= 0 for ack in acks] == [True] * 3 + [False] * 3
    assert receiver.due_at_receiver(s) == 10 * MS + 3 + 600_000 + receiver.COMP_SACK_SLACK
    ack = receiver.on_delay(p, s)
    where = state.ack_at(p, s, ack)
    assert s[where + state.Ack.CUMULATIVE] == FIRST
    assert list(s[where + state.Ack.SACK_BLOCKS : where + state.Ack.SACK_BLOCKS + 2]) == [
        FIRST + 1,
        FIRST + 7,
    ]
    filled, fresh = receiver.on_data(p, s, 11 * MS, FIRST, False)
    assert fresh and s[state.ack_at(p, s, filled) + state.Ack.CUMULATIVE] == FIRST + 7


def test_an_old_packet_is_reported_and_its_timestamp_ignored() -> None:
    """Test the first ACK after an outage, which can echo a timestamp from before it.

    The measured round trip then includes the outage.
    """
    p, s = scratch()
    for packet in range(2, 8):
        receiver.note_timestamp(s, packet, packet * MS)
        receiver.on_data(p, s, 20 * MS + packet, packet, False)
    echo = s[Tcp.TS_RECENT]
    receiver.note_timestamp(s, FIRST, 900 * MS)
    ack, fresh = receiver.on_data(p, s, SECOND, FIRST, False)
    where = state.ack_at(p, s, ack)
    assert not fresh and s[where + state.Ack.DSACK] == FIRST
    assert s[where + state.Ack.TSECR] == echo < 10 * MS
    assert s[Tcp.QUICK_ACKS] == receiver.MAX_QUICK_ACKS - 1


def test_the_window_shrinks_by_one_packet_per_two_delivered() -> None:
    """Test PRR from 20 to 10 packets: it sends half of the delivered packets over one window."""
    _, s = scratch()
    s[Tcp.SND_NXT] = FIRST + 20
    s[Tcp.PRIOR_CWND], s[Tcp.SSTHRESH], s[Tcp.CA_STATE] = 20, 10, CaState.RECOVERY
    s[Tcp.LOST_OUT] = 1
    sent = 0
    for _ in range(19):
        s[Tcp.SACKED_OUT] += 1
        prr.cwnd_reduction(s, 1, 0, False)
        while state.in_flight(s) < s[Tcp.CWND]:
            s[Tcp.SND_NXT] += 1
            s[Tcp.PRR_OUT] += 1
            sent += 1
    assert sent == 10 and s[Tcp.CWND] == 10


def test_a_lost_packet_is_sent_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoreboard, "NOTIFIES_LOSSES", False)
    p, s = scratch()
    s[Tcp.SND_NXT] = FIRST + 4
    scoreboard.mark_lost(p, s, FIRST)
    assert (scoreboard.next_lost(p, s), s[Tcp.LOST_OUT], state.in_flight(s)) == (FIRST, 1, 3)
    scoreboard.mark_retransmitted(p, s, FIRST)
    assert (scoreboard.next_lost(p, s), s[Tcp.RETRANS_OUT], state.in_flight(s)) == (NONE, 1, 4)
    scoreboard.mark_lost(p, s, FIRST)
    assert (scoreboard.next_lost(p, s), s[Tcp.RETRANS_OUT], s[Tcp.LOST_TOTAL]) == (FIRST, 0, 2)
    scoreboard.unmark_lost(p, s)
    assert (s[Tcp.LOST_OUT], state.in_flight(s)) == (0, 4)


def test_a_probe_comes_after_two_round_trips() -> None:
    p, s = scratch()
    s[Tcp.SND_NXT], s[Tcp.SRTT_US], s[Tcp.RTO] = FIRST + 5, 8 * 50_000, 66
    assert timer.schedule_loss_probe(p, s, SECOND, True)
    assert 102 * MS < s[Tcp.DEADLINE] - SECOND <= 108 * MS
    s[Tcp.CA_STATE] = CaState.RECOVERY
    assert not timer.schedule_loss_probe(p, s, SECOND, True)


@pytest.mark.parametrize(("gap_us", "acks"), [(1000, 21), (3000, 400)])
def test_hystart_ends_slow_start_after_a_train_of_half_a_round_trip(gap_us: int, acks: int) -> None:
    _, s = scratch()
    s[Tcp.CWND], s[Tcp.SSTHRESH], s[Tcp.SND_NXT] = 100, state.INFINITE, 1000
    hystart.start_round(s, 0)
    s[Tcp.SND_UNA] = 1000
    for k in range(1, acks + 1):
        assert s[Tcp.SSTHRESH] == state.INFINITE
        hystart.update_delay_min(s, 40_000)
        hystart.update(s, 1000 * k * gap_us, 40_000)
    assert (s[Tcp.SSTHRESH] == 100) == (gap_us <= hystart.ACK_DELTA)


@pytest.mark.full
def test_a_connection_begins_with_a_handshake_and_ten_packets() -> None:
    events, out = launch.trace(models.model("tcp_linux_reno"), row_of(LIMIT=40), row=0)
    sends = events[events[:, Trace.EVENT] == EVENT_SEND]
    begin = 0.04 + 2 * 60 * 8e-6
    assert sends[:10, Trace.SEQUENCE].tolist() == list(range(1, 11))
    assert sends[:10, Trace.TIME] == pytest.approx(begin, abs=0.0006)
    acks = events[events[:, Trace.EVENT] == EVENT_ACK]
    assert acks[:3, Trace.SEQUENCE].tolist() == [1, 2, 3]
    assert (out[Out.HANDSHAKES], out[Out.SENT], out[Out.RETRANSMITTED]) == (1, 40, 0)


@pytest.mark.full
def test_timeouts_during_an_outage_double_and_end_on_the_wheel() -> None:
    row = row_of(END=40 * SECOND)
    row.outages[0, 0, 0, 0] = 8 * SECOND, 12 * SECOND
    events, out = launch.trace(models.model("tcp_linux_reno"), row, row=0)
    timeouts = events[events[:, Trace.EVENT] == EVENT_TIMEOUT, Trace.TIME]
    timeouts = timeouts[(timeouts > 8) & (timeouts < 13)]
    waits = np.diff(timeouts)
    assert len(waits) >= 2
    assert (waits[1:] / waits[:-1] > 1.6).all() and (waits[1:] / waits[:-1] < 2.4).all()
    edges = (timeouts * 1e9 + row.parameters[0, TcpP.CLOCK_PHASE]) / (8 * 4 * MS)
    assert edges == pytest.approx(np.round(edges), abs=1e-6)
    assert out[Out.RESUME_TX] > 12 * SECOND


@pytest.mark.full
def test_a_window_that_does_not_limit_does_not_grow() -> None:
    """Test a receive window of 8 packets: cwnd stops growing at about twice that."""
    events, _ = launch.trace(models.model("tcp_linux_reno"), row_of(WINDOW=8), row=0)
    assert 10 <= events[:, Trace.CWND].max() <= 18


@pytest.mark.full
def test_the_mean_queue_is_that_of_littles_law() -> None:
    """Test the mean queue without losses: the window less the packets on the wire."""
    row = row_of(WINDOW=20, END=30 * SECOND)
    out = launch.run(models.model("tcp_linux_reno"), row)[0]
    held = out[len(Out) + Queues.HELD] / (30 * SECOND)
    in_flight = 20 - 125 * 0.04  # packets of the window that are not on the wire in either direction
    assert held == pytest.approx(in_flight, abs=1.0)


def test_scenarios_know_it() -> None:
    scenario = Scenario.check({"duration": "3 s", "transport": {"protocol": "linux"}, "hops": HOPS})
    assert scenario.network.address(scenario, fluid=False).name == "tcp_linux_cubic"  # the default of Linux
    rows = build(scenario, replications=3).rows
    columns = (
        RowP.WINDOW,
        RowP.DATA,
        RowP.HEADER,
        ReliableP.ACK,
        TcpP.HANDSHAKE,
        TcpP.TICK,
        TcpP.INITIAL_WINDOW,
        RowP.QUEUES,
    )
    assert rows.parameters[0, list(columns)].tolist() == [4096, 1448, 52, 52, 60, 4 * MS, 10, 1]
    assert rows.parameters[:, TcpP.CLOCK_PHASE].max() > SECOND
    out = launch.run(models.model("tcp_linux_cubic"), rows)
    built = build(scenario, replications=3)
    frame = outcomes(scenario.network, out, rows, built.drawn).frame
    assert (frame.mean_queue > 1).all() and (frame.goodput_bps > 4e6).all()


@pytest.mark.parametrize(
    ("transport", "message"),
    [
        ({"initial_ssthresh": 20}, "initial_ssthresh does not apply to linux"),
        ({"duplicate_acks": 4}, "duplicate_acks does not apply to linux"),
        ({"congestion_control": "bic"}, "congestion_control"),
        ({"tick": "1 s"}, "tick"),
    ],
)
def test_what_linux_has_not_is_refused(transport: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scenario.check({"duration": "3 s", "transport": {"protocol": "linux", **transport}, "hops": HOPS})
