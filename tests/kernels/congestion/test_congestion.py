"""BIC, CUBIC and Westwood: steps by definition, known window curves, and comparison with the twin."""

import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Rows
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.congestion import bic, cubic, user, westwood
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.tcp.sender import CONTROL_WORDS as MEMORY_WORDS
from netcarlo.transport import congestion as control
from tests.tiers import parameters
from tests.twins import simulate
from tests.twins.path.scenarios import MS, SECOND, describe, tcp_rows
from tests.twins.tcp.congestion import Bic, Counting, Cubic, Westwood, cube_root

MODULES: list[tuple[ModuleType, type[Counting]]] = [(bic, Bic), (cubic, Cubic)]
NONE = np.zeros(0)


class Driven:
    """Congestion control driven by a steady stream of ACKs of two packets each, one window per round trip."""

    def __init__(self, module: ModuleType, *, rtt: int, start: int = 5 * SECOND) -> None:
        self.module = module
        self.rtt = rtt
        self.now = start
        self.memory = np.zeros(MEMORY_WORDS)
        self.cwnd = 0.0
        self.ssthresh = 0

    def lose(self, window: float) -> float:
        self.cwnd = self.module.reduce(window, False, self.now, self.rtt, NONE, self.memory)
        self.ssthresh = int(self.cwnd)
        return self.cwnd

    def ack(self) -> None:
        self.module.acked(2, self.memory)
        self.cwnd = self.module.grow(self.cwnd, self.ssthresh, self.now, self.rtt, NONE, self.memory)
        self.now += round(2 * self.rtt / self.cwnd)

    def round_trip(self) -> float:
        end = self.now + self.rtt
        while self.now < end:
            self.ack()
        return self.cwnd


def test_names_are_known_to_scenarios() -> None:
    assert {f"tcp_sack_{name}" for name in control.BUILT_IN} < set(models.NAMES)


@pytest.mark.parametrize(("module", "twin"), MODULES)
@pytest.mark.parametrize("seed", parameters(range(6), full=range(2, 6)))
def test_every_step_is_that_of_the_twin(module: ModuleType, twin: type[Counting], seed: int) -> None:
    rng = np.random.default_rng(seed)
    naive, memory = twin(), np.zeros(MEMORY_WORDS)
    largest = float(rng.choice([20, 100, 4000]))
    cwnd, ssthresh, now = 2.0, int(rng.choice([2, 50, 5000])), int(rng.integers(0, 3 * SECOND))
    for _ in range(5000):
        now += int(rng.exponential(rng.choice([0.1 * MS, 10 * MS])))
        rtt = int(rng.choice([0, rng.integers(0, 2 * MS), 40 * MS, rng.integers(0, 300 * MS)]))
        if cwnd > largest or rng.random() < 0.001:
            timeout = bool(rng.random() < 0.1)
            left = module.reduce(cwnd, timeout, now, rtt, NONE, memory)
            assert left == naive.reduce(cwnd, timeout=timeout)
            cwnd, ssthresh = (1.0 if timeout else left), max(int(left), 2)
        packets = int(rng.choice([1, 2, 2, 2, 7]))
        module.acked(packets, memory)
        grown = module.grow(cwnd, ssthresh, now, rtt, NONE, memory)
        assert grown == naive.grow(cwnd, ssthresh, now, rtt, packets)
        assert grown - cwnd in (0.0, 1.0)
        cwnd = grown


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_sack_bic", "tcp_sack_cubic", "tcp_sack_westwood"])
def test_sender_equals_twin(name: str) -> None:
    rows = wide_windows(60, seed=11)
    outcomes = launch.run(models.model(name), rows)
    standard = launch.run(models.model("tcp_sack"), rows)
    for row in range(len(outcomes)):
        assert (outcomes[row] == simulate(name, rows, row=row)).all(), describe(rows, row)
    assert (outcomes != standard).any(axis=1).mean() > 0.3


def wide_windows(count: int, *, seed: int) -> Rows:
    """Return scenarios with windows large enough for the controls to differ from Reno."""
    rows = tcp_rows(count, seed=seed)
    rng = np.random.default_rng(seed)
    rows.parameters[:, RowP.WINDOW] = rng.integers(30, 400, count)
    rows.parameters[:, ReliableP.INITIAL_SSTHRESH] = rng.integers(2, 60, count)
    rows.parameters[:, TcpP.TICK] = MS
    return rows


def round_trips_to(driven: Driven, window: float) -> int:
    count = 0
    while driven.cwnd < window:
        driven.round_trip()
        count += 1
    return count


def test_bic_searches_the_old_maximum() -> None:
    """Test BIC: a quarter of the distance per round trip, at most 16 packets; then 4 packets in 20."""
    driven = Driven(bic, rtt=50 * MS)
    assert driven.lose(200) == 200 * 819 // 1024
    steps = [-driven.cwnd + driven.round_trip() for _ in range(12)]
    expected, distance = [], 200.0 - driven.module.reduce(200, False, 0, 0, NONE, np.zeros(16))
    for _ in steps:
        step = distance / 4 if distance >= 8 else 0.2
        expected.append(step)
        distance -= step
    assert np.abs(np.array(steps) - expected).max() <= 2.0
    assert driven.cwnd < 200  # and growth is slow near the old maximum
    # The search is logarithmic: twice the distance needs only a few more round trips.
    counts = []
    for maximum in (150, 300):
        driven = Driven(bic, rtt=50 * MS)
        driven.lose(maximum)
        counts.append(round_trips_to(driven, maximum - 8))
    assert counts[0] < counts[1] <= counts[0] + math.ceil(math.log(2) / math.log(4 / 3)) + 1


def test_bic_probes_ever_faster_beyond_it() -> None:
    driven = Driven(bic, rtt=50 * MS)
    driven.lose(200)
    round_trips_to(driven, 204)
    steps = [-driven.cwnd + driven.round_trip() for _ in range(12)]
    assert steps[0] <= 3 < steps[6] and max(steps) <= 18 and min(steps[-3:]) >= 12


def test_small_windows_of_bic_are_those_of_standard_tcp() -> None:
    driven = Driven(bic, rtt=50 * MS)
    assert driven.lose(13) == 6
    driven.ack()  # still slow start, as the window is not beyond ssthresh
    for window in range(7, 15):
        for _ in range(window):
            driven.ack()
            assert driven.cwnd == window
        driven.ack()
        assert driven.cwnd == window + 1


@pytest.mark.parametrize("maximum", [500, 1500])
def test_cubic_follows_its_curve(maximum: int) -> None:
    """Test W(t) = C (t - K)^3 + Wmax with C = 410/1024, evaluated one round trip ahead."""
    driven = Driven(cubic, rtt=40 * MS)
    assert driven.lose(maximum) == maximum * 819 // 1024
    k_s = ((maximum - driven.cwnd) * 1024 / 410) ** (1 / 3)
    began = driven.now
    while (t_s := (driven.now - began + driven.rtt) / 1e9) < 1.3 * k_s:
        driven.round_trip()
        curve = 410 / 1024 * (t_s - k_s) ** 3 + maximum
        assert driven.cwnd == pytest.approx(curve, rel=0.012)
    assert t_s > k_s and driven.cwnd > maximum


def test_cubic_lowers_its_plateau_for_others() -> None:
    driven = Driven(cubic, rtt=40 * MS)
    driven.lose(1000)
    driven.lose(900)
    assert driven.memory[cubic._LAST_MAX_CWND] == 900 * (1024 + 819) // 2048
    driven.lose(950)
    assert driven.memory[cubic._LAST_MAX_CWND] == 950


def test_cubic_is_as_fast_as_standard_tcp_where_that_is_faster() -> None:
    """Test a small bandwidth-delay product: growth of 8/23 packet per window of ACKs, as AIMD."""
    driven = Driven(cubic, rtt=4 * MS)
    driven.lose(40)
    began, start = driven.now, driven.cwnd
    acks = 0.0
    while driven.cwnd < 60:
        acks += 1 / driven.cwnd
        driven.ack()
    assert driven.cwnd - start == pytest.approx(8 / 23 * acks, rel=0.1)
    curve = 410 / 1024 * ((driven.now - began) / 1e9 - (8 * 1024 / 410) ** (1 / 3)) ** 3 + 40
    assert curve < 45


@pytest.mark.parametrize("module", [bic, cubic])
def test_only_differences_of_times_count(module: ModuleType) -> None:
    runs = []
    for start in (3 * SECOND, 7001 * SECOND):
        driven = Driven(module, rtt=30 * MS, start=start)
        driven.lose(300)
        runs.append([driven.round_trip() for _ in range(200)])
    assert runs[0] == runs[1] and runs[0][-1] > 290


@pytest.mark.parametrize("seed", range(6))
def test_every_estimate_of_westwood_is_that_of_the_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    naive, memory, now = Westwood(), np.zeros(MEMORY_WORDS), int(rng.integers(0, 3 * SECOND))
    for _ in range(5000):
        now += int(rng.exponential(rng.choice([0.1 * MS, 10 * MS])))
        rtt = int(rng.choice([0, rng.integers(0, 2 * MS), 40 * MS, rng.integers(0, 300 * MS)]))
        packets = int(rng.choice([0, 1, 2, 7]))
        westwood.on_ack(packets, now, rtt, memory)
        naive.on_ack(packets, now, rtt)
        if packets > 0:
            westwood.acked(packets, memory)
            args = float(rng.integers(2, 20)), int(rng.integers(2, 20)), now, rtt
            assert westwood.grow(*args, NONE, memory) == naive.grow(*args, packets)
        if rng.random() < 0.05:
            timeout = bool(rng.random() < 0.1)
            assert westwood.reduce(8.0, timeout, now, rtt, NONE, memory) == naive.reduce(8.0, timeout=timeout)


def test_westwood_measures_the_bandwidth() -> None:
    """Test that the window after a loss is the measured bandwidth times the minimum RTT."""
    memory = np.zeros(MEMORY_WORDS)
    for k in range(5000):  # two packets each ms, losses and their repair included
        duplicates = k % 100 in (97, 98)
        packets = 0 if duplicates else 6 if k % 100 == 99 else 2
        westwood.on_ack(packets, k * MS, (60 if k > 300 else 40) * MS, memory)
    window = westwood.reduce(120.0, False, 5 * SECOND, 60 * MS, NONE, memory)
    assert window == pytest.approx(2 * 40, rel=0.03)
    assert westwood.reduce(120.0, True, 5 * SECOND, 60 * MS, NONE, memory) == window
    westwood.on_ack(2, 5 * SECOND, 60 * MS, memory)  # the path may have changed at a timeout
    window = westwood.reduce(120.0, False, 5 * SECOND, 60 * MS, NONE, memory)
    assert window == pytest.approx(2 * 60, rel=0.03)


def test_cube_roots() -> None:
    values = [0, 1, 7, 8, 26, 27, 2**40 // 410, 10**13, (2**18 - 1) ** 3]
    assert [cube_root(value) for value in values] == [0, 1, 1, 2, 2, 3, 1389, 21544, 2**18 - 1]


@pytest.mark.parametrize("name", ["on_ack", "heard"])
def test_a_users_file_may_use_the_earlier_name_of_on_ack(tmp_path: Path, name: str) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text(
        f"def {name}(packets, now, rtt, memory):\n    memory[0] += packets\n\n"
        "def grow(cwnd, ssthresh, now, rtt, constants, memory):\n    return cwnd + 1.0\n\n"
        "def reduce(window, timeout, now, rtt, constants, memory):\n    return window / 2.0\n"
    )
    module, memory = user.load(file, file.read_bytes()), np.zeros(16)
    module.on_ack(3, 0, 0, memory)
    assert memory[0] == 3.0
