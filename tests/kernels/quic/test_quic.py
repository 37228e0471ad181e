"""QUIC: handshake, loss detection, probes, windows and ACKs, and comparison with the twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import ENDLESS, Hop, Out, Rows, Trace
from netcarlo.kernels.base.parameters import P, QuicP, RowP
from netcarlo.kernels.quic import control, hystart, receiver, state
from netcarlo.kernels.quic.state import Fate, Packet, Word, packet_at, range_at
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins.any_model import scenarios, simulate
from tests.twins.path.scenarios import MS, SECOND, empty_row
from tests.twins.quic.controls import Cubic

DATAGRAM = 1200


def all_columns(row: Rows, values: dict[str, int]) -> None:
    """Set parameters by name, those of QUIC included."""
    for name, value in values.items():
        row.parameters[0, QuicP[name] if name in QuicP.__members__ else P[name]] = value


def row_of(**values: int) -> Rows:
    """Return a row: 10 ms per full packet at the bottleneck, 50 ms each way, defaults of a scenario."""
    row = empty_row()
    row.hops[0, 0, 0, : Hop.PRESENT + 1] = [
        *((10 * MS << 20) // 1228, 50 * MS, 0, 0), 0, 50 * MS, 0, 0, 1,
    ]  # fmt: skip
    all_columns(row, {
        "SEED": 1, "END": 60 * SECOND, "LIMIT": ENDLESS, "WINDOW": 4096, "DATA": 1165, "CHUNK_HEADER": 35,
        "HEADER": 28, "ACK": 64, "SACK_BLOCK": 3, "MAX_RTO": 60 * SECOND, "ACK_EVERY": 2,
        "ACK_DELAY": 25 * MS, "SAMPLE": 100 * MS, "INITIAL_PACKETS": 10, "INITIAL_RTT": 333 * MS,
        "SERVER_FLIGHT": 3000, "RING": 1 << 13, **values,
    })  # fmt: skip
    return row


def outcomes(row: Rows) -> Any:
    """Return the outcomes by name."""
    out = run_as_python("quic", row)[0]
    return {column.name: int(out[column]) for column in Out}


def down(row: Rows, *outages: tuple[int, int]) -> Rows:
    """Add outages [ms] to the path."""
    for k, (start, end) in enumerate(outages):
        row.outages[0, 0, 0, k] = start * MS, end * MS
    return row


def queue_of(packets: int, row: Rows) -> Rows:
    """Limit the queue of the path."""
    row.hops[0, 0, 0, Hop.QUEUE] = packets
    return row


def scratch(**values: int) -> tuple[Any, Any]:
    """Return parameters and the scratch of a connection before its start."""
    p = row_of(RING=256, **values).parameters[0]
    s = np.zeros(state.scratch_words(0, 256), np.int64)
    state.prepare(p, s, p[RowP.LIMIT])
    state.lay_out(p, s, state.STATE_SIZE)
    return p, s


# Connection.


@pytest.mark.parametrize(("name", "count"), [("quic", 60), ("quic_reordering", 12), ("quic_mobile", 12)])
@pytest.mark.filterwarnings("ignore:overflow")
def test_it_equals_its_twin(name: str, count: int) -> None:
    rows = scenarios(name, count, seed=5)
    out = run_as_python(name, rows)
    for column in (Out.SENT, Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.ACKED):
        assert out[:, column].any()
    assert not differing(out, lambda row: simulate(name, rows, row=row), str, str)


@pytest.mark.full
@pytest.mark.parametrize("name", ["quic", "quic_delays_reordering", "quic_varying", "quic_mobile"])
def test_it_equals_its_twin_in_many_scenarios(name: str) -> None:
    rows = scenarios(name, 600, seed=6)
    out = launch.run(models.model(name), rows)
    assert not differing(out, lambda row: simulate(name, rows, row=row), str, str)


@pytest.mark.parametrize("name", ["quic", "quic_migration"])
def test_bytes_arrive_once_and_numbers_never_repeat(name: str) -> None:
    """Test that data in flight fit the window, except probes, and chunks are delivered once, in order."""
    sent: dict[str, list[int]] = {"numbers": [], "fresh": [], "expected": [], "probes": []}

    def step(function: Callable[..., Any]) -> Callable[..., Any]:
        def next_packet(p: Any, s: Any, now: Any) -> Any:
            probes, before = s[Word.PROBES] > 0, s[Word.IN_FLIGHT]
            number = function(p, s, now)
            if number >= 0:
                sent["probes"].append(int(probes))
                assert probes or s[Word.IN_FLIGHT] == before or s[Word.IN_FLIGHT] <= s[Word.CWND]
            return number

        def numbered(*arguments: Any) -> Any:
            sent["numbers"].append(int(function(*arguments)))
            return sent["numbers"][-1]

        def deliver(p: Any, s: Any, chunk: Any) -> Any:
            fresh = function(p, s, chunk)
            sent["fresh"] += [int(chunk)] * bool(fresh)
            sent["expected"].append(int(s[Word.EXPECTED]))
            return fresh

        watched = {"next_packet": next_packet, "_number": numbered, "deliver": deliver}
        return watched.get(function.__name__, function)

    rows, model = scenarios(name, 40, seed=8), models.model(name)
    rows.parameters[:, RowP.RING] = 1 << 12
    simulate_row = model.make(step)
    probes = 0
    for k in range(len(rows.parameters)):
        for found in sent.values():
            found.clear()
        of_rows = [field[k] for field in rows[:4]]
        out = np.zeros(model.outcomes(rows), np.int64)
        with np.errstate(over="ignore"):
            memory = launch._scratch(model, rows)
            simulate_row(*of_rows, rows.losses, *memory, out, np.zeros((0, len(Trace))))
        assert sent["numbers"] == [*range(len(sent["numbers"]))]
        assert len(set(sent["fresh"])) == len(sent["fresh"]) == out[Out.DELIVERED]
        assert sent["expected"] == sorted(sent["expected"])
        assert {*range(out[Out.IN_ORDER])} <= set(sent["fresh"])
        probes += sum(sent["probes"])
    assert probes > 10


# Handshake.


@pytest.mark.parametrize(("values", "first", "hellos"), [
    ({}, 220, 1),  # handshake 110 ms, first packet another 60 ms
    ({"SERVER_FLIGHT": 3601}, 330, 2),
    ({"ZERO_RTT": 1}, 70, 1),
])  # fmt: skip
def test_the_start_takes_as_many_round_trips_as_it_must(values: Any, first: int, hellos: int) -> None:
    found = outcomes(row_of(LIMIT=1, **values))
    assert found["HANDSHAKES"] == hellos
    assert found["FIRST_RX"] == pytest.approx(first * MS - 50 * MS * (first > 100), abs=MS)


def test_lost_handshake_packets_are_repeated_after_one_second_and_then_twice_that() -> None:
    found = outcomes(down(row_of(LIMIT=1), (0, 2_500)))
    assert found["HANDSHAKES"] == 3 and found["TIMEOUTS"] == 0
    assert found["FIRST_RX"] == pytest.approx(3 * 999 * MS + 170 * MS, abs=MS)


def test_data_of_0_rtt_are_of_no_use_without_the_handshake_packet() -> None:
    found = outcomes(down(row_of(LIMIT=4, ZERO_RTT=1, INITIAL_PACKETS=10), (10, 65)))
    assert found["HANDSHAKES"] == 2 and found["COMPLETED"] > 999 * MS


# Loss detection.


def test_three_later_packets_make_a_packet_lost_and_the_window_half_or_seven_tenths() -> None:
    for kind, share in ((0, 0.5), (1, 0.7)):
        p, s = scratch(CONTROL=kind)
        s[Word.CWND] = 40 * DATAGRAM
        control.reduce(p, s)
        assert s[Word.CWND] == s[Word.SSTHRESH] == 40 * DATAGRAM * share
    found = outcomes(row_of(LIMIT=100))
    assert found["RETRANSMITTED"] == found["CWND_CUTS"] == 0
    found = outcomes(queue_of(12, row_of(LIMIT=200)))
    assert found["DROPS_QUEUE"] == found["RETRANSMITTED"] > 0 and found["TIMEOUTS"] == 0
    assert found["DELIVERED"] == 200 and found["CWND_CUTS"] == found["FAST_RETRANSMITS"] > 0


def test_a_lost_tail_is_probed_after_a_probe_timeout() -> None:
    """Test the loss of the last two of 12 packets: after a PTO two probes retransmit them."""
    row = down(row_of(LIMIT=12), (275, 295))
    found = outcomes(row)
    assert found["TIMEOUTS"] == 1 and found["RETRANSMITTED"] >= 1 and found["COMPLETED"] < SECOND


def test_a_long_outage_is_persistent_congestion() -> None:
    long, short = (
        outcomes(down(queue_of(15, row_of(END=30 * SECOND)), (3000, 3000 + ms))) for ms in (6000, 150)
    )
    assert long["CWND_CUTS"] > long["FAST_RETRANSMITS"] and long["TIMEOUTS"] > 2
    assert short["CWND_CUTS"] == short["FAST_RETRANSMITS"] > 0


def test_without_acknowledgements_the_probe_timeout_doubles() -> None:
    found = outcomes(down(row_of(LIMIT=10, END=60 * SECOND), (225, 58_000)))
    assert found["TIMEOUTS"] == 7  # of 0.6 s, doubled six times in 58 s


# Windows.


def test_newreno_grows_by_a_packet_per_window() -> None:
    p, s = scratch()
    s[Word.CWND] = s[Word.SSTHRESH] = 10 * DATAGRAM
    for k in range(1, 31):
        control.grow(p, s, 0, DATAGRAM)
        assert s[Word.CWND] == DATAGRAM * (10 + (k >= 10) + (k >= 21))


def test_cubic_is_the_function_of_the_rfc() -> None:
    """Test W(t) = C (t - K)^3 + W_max [packets] and W_est (RFC 9438, equations 1, 2 and 4)."""
    p, s = scratch(CONTROL=1)
    s[Word.CWND] = 1000 * DATAGRAM
    control.reduce(p, s)
    s[Word.SMOOTHED_RTT] = 100 * MS
    control.grow(p, s, 0, DATAGRAM)
    k = (1000 * 0.3 / 0.4) ** (1 / 3)
    assert s[Word.K] / 1024 == pytest.approx(k, rel=1e-3)
    for seconds in (0.5, 3.0, k, 12.0, 20.0):
        expected = 0.4 * (seconds - k) ** 3 + 1000
        assert control.cubic_window(p, s, int(seconds * 1e9)) / DATAGRAM == pytest.approx(expected, rel=2e-3)


def test_cubic_grows_as_reno_where_that_is_faster() -> None:
    """Test a short path: W_est grows by 9/17 packet per window up to the window before the loss."""
    found = []
    for kind in (0, 1):
        p, s = scratch(CONTROL=kind)
        s[Word.CWND] = 20 * DATAGRAM
        control.reduce(p, s)
        before = s[Word.CWND]
        for _ in range(400):
            control.grow(p, s, 1, DATAGRAM)
        found.append((s[Word.CWND] - before) / DATAGRAM)
    reno, cubic = found
    assert reno > cubic > 0.45 * reno


def test_the_cube_root_of_the_kernel_is_that_of_the_twin() -> None:
    for missing in (0, 1, 7, 1023, 10**6, 10**9):
        twin = Cubic(10 * DATAGRAM, DATAGRAM)
        twin.plateau = twin.window + missing
        twin.begin(0)
        p, s = scratch(CONTROL=1)
        s[Word.W_MAX] = s[Word.CWND] + missing
        control._grow_cubic(p, s, 0, 0)
        assert s[Word.K] == twin.time_to_plateau


def test_hystart_loses_fewer_packets_at_the_end_of_slow_start() -> None:
    """Compare losses at a queue of 60 packets; conservative slow start grows by a quarter per round."""
    drops = [outcomes(queue_of(60, row_of(LIMIT=400, HYSTART=on)))["DROPS_QUEUE"] for on in (0, 1)]
    assert drops[0] > 60 and drops[1] < drops[0] / 3


def test_hystart_continues_slow_start_if_the_rise_was_spurious() -> None:
    p, s = scratch(HYSTART=1, PACING=1024)
    s[Word.LAST_ROUND_MIN], s[Word.ROUND_END] = 100 * MS, 1000
    for rtt, conservative in ((113 * MS, True), (112 * MS, False)):
        for _ in range(8):
            hystart.on_ack(s, rtt)
        assert (s[Word.CSS] > 0) == conservative
        assert hystart.growth(p, s, 8 * DATAGRAM) == (2 if conservative else 8) * DATAGRAM
    s[Word.CSS], s[Word.CSS_BASELINE] = 5, 0
    s[Word.LARGEST_ACKED] = 1000
    hystart.on_ack(s, state.NONE)
    assert s[Word.SSTHRESH] == s[Word.CWND], "five rounds are over"


def test_pacing_spreads_a_window_over_a_round_trip() -> None:
    """Test a fast link: a window leaves at once without pacing, or at 1.25 windows per RTT with pacing."""
    first = {}
    for pacing in (0, 1280):
        row = queue_of(20, row_of(LIMIT=400, PACING=pacing, BURST=2, END=3 * SECOND))
        row.hops[0, 0, 0, Hop.BYTE_TIME] = 1 << 20
        first[pacing] = outcomes(row)["DROPS_QUEUE"]
    assert first[0] > 0 == first[1280]


# The receiver.


def ranges(s: Any) -> list[tuple[int, int]]:
    """Return the ACK ranges as (first, last)."""
    numbers = range(s[Word.FIRST_RANGE], s[Word.END_RANGE])
    return [(int(s[range_at(s, n)]), int(s[range_at(s, n) + 1]) - 1) for n in numbers]


def test_ranges_join_and_old_ones_are_dropped() -> None:
    p, s = scratch()
    for number in (0, 1, 4, 8, 6, 5):
        receiver.record(p, s, 0, np.int64(number))
    assert ranges(s) == [(0, 1), (4, 6), (8, 8)]
    receiver.record(p, s, 0, np.int64(7))
    assert ranges(s) == [(0, 1), (4, 8)] and s[Word.LARGEST] == 8
    assert receiver.is_known(s, 7) and not receiver.is_known(s, 3)
    for number in range(10, 10 + 2 * state.MAX_RANGES, 2):
        receiver.record(p, s, 0, np.int64(number))
    assert len(ranges(s)) == state.MAX_RANGES and s[Word.FLOOR] == ranges(s)[0][0] == 10
    assert receiver.is_known(s, 3), "too old to tell"


def test_an_ack_comes_for_every_second_packet_or_at_once_for_a_gap() -> None:
    p, s = scratch()
    s[Word.OPEN], s[Word.NEXT_NUMBER] = 1, 9
    for number in range(9):
        s[packet_at(p, s, number) + Packet.CHUNK] = number
        s[packet_at(p, s, number) + Packet.FATE] = Fate.FLYING
    answered = {n: receiver.on_packet(p, s, 1000 + n, np.int64(n)) for n in (0, 1, 2, 4, 3, 5)}
    assert [n for n, (answer, _) in answered.items() if answer >= 0] == [1, 4, 3]
    assert all(fresh for _, fresh in answered.values()) and s[Word.ACK_AT] == 1005 + 25 * MS
    assert receiver.on_packet(p, s, 2000, np.int64(3)) == (state.NONE, False), "a copy"


# Scenarios.


def test_fields_of_a_scenario_arrive_in_the_kernel() -> None:
    from netcarlo.simulation.launches import Job

    transport = {
        "protocol": "quic", "congestion_control": "newreno", "zero_rtt": True, "pacing": 0.5, "burst": 3,
        "bytes": "3 kB", "slow_start": "hystart++", "initial_rtt": "100 ms", "max_pto": "9 s",
    }  # fmt: skip
    scenario = Scenario.check({
        "duration": "1 s", "replications": 1, "transport": transport,
        "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}],
    })  # fmt: skip
    p = Job(scenario, 0, 1).part().rows.parameters[0]
    expected = {
        QuicP.CONTROL: 0, QuicP.ZERO_RTT: 1, QuicP.PACING: 512, QuicP.BURST: 3, QuicP.SERVER_FLIGHT: 1200,
        QuicP.INITIAL_RTT: 100 * MS, QuicP.HYSTART: 1, RowP.LIMIT: 3, RowP.SHORT: 495, RowP.CHUNK_HEADER: 35,
    }  # fmt: skip
    assert {column: int(p[column]) for column in expected} == expected
    assert scenario.transport.title == "QUIC NewReno"
