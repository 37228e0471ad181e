"""BBR: filters, pacing and modes, separately and on a path. `test_senders` compares it with its twin."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import EVENT_ACK, EVENT_SEND, FOREVER, Out, Queues, Rows, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux import state as linux_state
from netcarlo.kernels.linux.bbr import lt_bw, modes, state, windowed_max
from netcarlo.kernels.linux.bbr.state import Mode, State
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import Tcp
from netcarlo.kernels.path.state import ASSOCIATION
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from tests.kernels.linux.test_linux import HOPS, row_of
from tests.twins.linux.bbr import Maximum
from tests.twins.path.scenarios import SECOND, stack

MODEL = models.model("tcp_linux_bbr")
PACKET_US = 8000
"""Transmission time of a packet at the bottleneck of `row_of` [us]."""
LEAST_RTT_US = 40_000 + 60 * 8
"""Round-trip time of the SYN, the minimum on the path [us]."""


def scratch() -> tuple[Any, Any]:
    """Return parameters and an association that has started, without packets."""
    p = row_of().parameters[0]
    p[RowP.RING] = 64
    s = np.zeros(linux_state.paced_scratch_words(0, 64), np.int64)
    s[Tcp.SND_UNA] = s[Tcp.SND_NXT] = linux_state.FIRST
    s[Pacing.TIMER] = FOREVER
    return p, s


def final(row: Rows) -> Any:
    """Return the words of the association after a run."""
    row.parameters[0, RowP.RING] = 1 << 11
    memory, floats = launch._scratch(MODEL, row)
    *of_row, losses = row
    out = np.zeros(MODEL.outcomes(row), np.int64)
    with np.errstate(over="ignore"):
        MODEL.make(compilers.plain)(
            *(field[0] for field in of_row), losses, memory, floats, out, np.zeros((0, len(Trace)))
        )
    return memory[ASSOCIATION:]


def test_the_words_have_room() -> None:
    assert state.END <= linux_state.END
    assert len({*state.State, *Pacing, *Rate}) == len(state.State) + len(Pacing) + len(Rate)


def test_the_largest_value_is_of_the_window() -> None:
    """Compare the filter with its twin.

    Its value is no older than the window, at least the newest value, and exact while values decrease.
    """
    rng = np.random.default_rng(3)
    for scale in (1, 5, 1000):
        s, twin, seen, time = np.zeros(6, np.int64), Maximum(), [], 0
        for _ in range(500):
            time += int(rng.integers(0, 3))
            value = int(rng.integers(1, scale + 1))
            seen.append((time, value))
            windowed_max.running_max(s, 0, 10, time, value)
            twin.update(time, value, 10)
            assert s[0] == twin.value >= value
            assert (s[1], s[0]) in seen and time - s[1] <= 10
    s[:] = 0
    for time in range(40):
        windowed_max.running_max(s, 0, 10, time, 1000 - time)
        assert s[0] >= 1000 - time and time - s[1] <= 10


@pytest.mark.parametrize(("late_us", "wait_us"), [(0, 1000), (200, 800), (700, 500), (10_000, 500)])
def test_a_burst_waits_for_the_one_before_less_what_that_was_late(late_us: int, wait_us: int) -> None:
    p, s = scratch()
    s[Pacing.RATE], s[Tcp.SENT] = 2 * p[RowP.DATA] * 1000, 100  # a pair takes 1 ms
    s[Pacing.NEXT_SEND] = SECOND
    now = SECOND + late_us * 1000
    assert pacing.may_send(s, now)
    pacing.on_send(p, s, now, 2)
    assert s[Pacing.NEXT_SEND] - now == wait_us * 1000
    assert not pacing.may_send(s, now) and s[Pacing.TIMER] == s[Pacing.NEXT_SEND]


def test_the_first_ten_packets_are_not_paced() -> None:
    p, s = scratch()
    s[Pacing.RATE], s[Tcp.SENT] = 1000, 7
    pacing.on_send(p, s, SECOND, 2)
    assert pacing.may_send(s, SECOND)
    pacing.on_send(p, s, SECOND, 3)
    assert not pacing.may_send(s, SECOND)


def test_a_cycle_begins_at_any_phase_but_that_of_draining() -> None:
    p, s = scratch()
    found = []
    for replication in range(700):
        p[RowP.REPLICATION] = replication
        s[State.DRAWS] = replication % 3
        with np.errstate(over="ignore"):
            modes.reset_probe_bw_mode(p, s)
        found.append(int(s[State.CYCLE_IDX]))
    counts = np.bincount(found, minlength=8)
    assert counts[1] == 0 and (counts[[0, 2, 3, 4, 5, 6, 7]] > 60).all()


@pytest.mark.parametrize(
    ("share", "second", "believed"), [(0.3, 1.0, True), (0.3, 1.5, False), (0.1, 1.0, False)]
)
def test_two_intervals_of_one_rate_with_many_losses_are_a_policer(
    share: float, second: float, believed: bool
) -> None:
    p, s = scratch()
    for factor in (1.0, second, second**2):
        for _ in range(5):
            s[Rate.DELIVERED_MSTAMP] += 100_000
            s[Tcp.DELIVERED] += round(1000 * factor)
            s[Tcp.LOST_TOTAL] += round(1000 * factor * share)
            s[State.ROUND_START] = 1
            lt_bw.sampling(p, s, 1, False)
    assert (s[State.LT_USE_BW] != 0) == believed
    if believed:
        assert state.bw(s) == pytest.approx(1000 / 100_000 * 2**24, rel=0.3)


@pytest.mark.full
def test_on_a_quiet_path_it_finds_bandwidth_and_round_trip() -> None:
    s = final(row_of(END=8 * SECOND))
    assert s[State.MODE] == Mode.PROBE_BW and s[State.FULL_BW_REACHED] == 1
    assert s[state.BW] / 2**24 == pytest.approx(1 / PACKET_US, rel=0.01)
    assert s[State.MIN_RTT_US] == LEAST_RTT_US
    assert s[Pacing.RATE] in [
        state.bw_to_pacing_rate(row_of().parameters[0], s[state.BW], gain) for gain in (192, 256, 320)
    ]


@pytest.mark.full
def test_the_path_is_full_and_the_queue_short() -> None:
    rows = {name: row_of(END=30 * SECOND) for name in ("tcp_linux_reno", "tcp_linux_bbr")}
    for row in rows.values():
        row.hops[0, 0, 0, 2] = 100
    reno, bbr = (launch.run(models.model(name), row)[0] for name, row in rows.items())
    assert bbr[Out.DELIVERED] > 0.96 * 30e6 / PACKET_US
    held = [out[len(Out) + Queues.HELD] / (30 * SECOND) for out in (reno, bbr)]
    assert held[1] < held[0] / 3


@pytest.mark.full
def test_every_ten_seconds_it_probes_for_the_round_trip() -> None:
    events, _ = launch.trace(MODEL, row_of(END=35 * SECOND), row=0)
    acks = events[events[:, Trace.EVENT] == EVENT_ACK]
    low = acks[acks[:, Trace.CWND] == modes.CWND_MIN_TARGET, Trace.TIME]
    begins = low[np.flatnonzero(np.diff(low, prepend=-1) > 1)]
    assert len(begins) == 3
    assert np.diff(begins) == pytest.approx(10.3, abs=0.4)
    for begin in begins:
        assert 0.2 < low[low < begin + 2].max() - begin < 0.45


@pytest.mark.full
def test_bursts_leave_in_pairs_or_one_by_one() -> None:
    """Test bursts of two packets above a pacing rate of 1.2 Mbit/s, and single packets below it."""
    row = row_of(END=6 * SECOND)
    for byte_time, pair in ((8000, False), (2000, True)):
        row.hops[0, 0, 0, 0] = byte_time << 20
        events, _ = launch.trace(MODEL, row, row=0)
        sends = events[(events[:, Trace.EVENT] == EVENT_SEND) & (events[:, Trace.TIME] > 3), Trace.TIME]
        together = np.diff(sends) == 0
        assert (together.mean() > 0.4) == pair and not (together[1:] & together[:-1]).any()


@pytest.mark.full
def test_the_same_seed_gives_the_same_bits_in_any_chunk() -> None:
    rows = stack([row_of(REPLICATION=k, END=15 * SECOND, INITIAL_WINDOW=10) for k in range(8)])
    out = launch.run(MODEL, rows)
    for k in range(8):
        alone = stack([row_of(REPLICATION=k, END=15 * SECOND, INITIAL_WINDOW=10)])
        assert (launch.run(MODEL, alone)[0] == out[k]).all()
    assert len({row.tobytes() for row in out}) > 3  # cycles begin at different phases


@pytest.mark.parametrize("protocol", ["sack", "newreno", "linux26"])
def test_it_is_a_control_of_linux_alone(protocol: str) -> None:
    transport = {"protocol": protocol, "congestion_control": "bbr"}
    with pytest.raises(InputError, match="is supported only with linux"):
        Scenario.check({"duration": "3 s", "transport": transport, "hops": HOPS})


def test_scenarios_know_it() -> None:
    transport = {"protocol": "linux", "congestion_control": "bbr"}
    scenario = Scenario.check({"duration": "3 s", "transport": transport, "hops": HOPS})
    assert scenario.network.address(scenario, fluid=False).name == "tcp_linux_bbr"
    again = scenario.with_values({"replications": 3})
    assert again.transport == scenario.transport
