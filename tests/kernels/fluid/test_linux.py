"""Windows and recovery of today's Linux in the fluid model: RFC 9438, RFC 5681, HyStart, RFC 8985."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import LinuxP, P, ReliableP, RowP, TcpP
from netcarlo.kernels.fluid import bbr, bbr3, linux, rack, window
from netcarlo.kernels.fluid.state import ONE, FlowFloat, FlowWord, State
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS, LINUX_BBR, LINUX_BBR3, LINUX_CUBIC, LINUX_RENO
from netcarlo.kernels.shared.layout import Flow, FlowOut
from tests.kernels.beside_twin import run_as_python
from tests.twins.shared.scenarios import linux_shared_rows

BOTH = pytest.mark.parametrize("kind", [LINUX_RENO, LINUX_CUBIC])
pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox


class Sender:
    """Single sender on a path without queue limit; the slowest hop transmits a packet in 1 ms."""

    def __init__(self, kind: int, *, rtt_ms: int, slow_start: int = SlowStart.OF_CONTROL) -> None:
        self.p = np.zeros(len(P), np.int64)
        self.p[[RowP.WINDOW, TcpP.INITIAL_WINDOW, TcpP.TICK, ReliableP.ACK_EVERY]] = 1 << 40, 10, MS, 2
        self.p[LinuxP.SLOW_START] = slow_start
        self.kind, self.base, self.now = kind, rtt_ms * MS, 0
        self.g: NDArray[np.float64] = np.zeros(FlowFloat.SIZE)
        window.begin(self.g, self.p, 1)
        linux.begin(self.g, self.p, float(MS), float(self.base))

    @property
    def cwnd(self) -> float:
        return float(self.g[FlowFloat.CWND])

    def pass_rounds(self, rounds: int) -> list[float]:
        """Return the windows after each of so many round trips without loss."""
        found = []
        for _ in range(rounds):
            packets = float(int(self.cwnd))
            rtt = max(float(self.base), packets * MS)
            window.grow(self.g, self.kind, packets, rtt, 1.0, window.clock(self.now), False)
            self.now += int(rtt)
            found.append(self.cwnd)
        return found


@BOTH
def test_slow_start_doubles_with_delayed_acks(kind: int) -> None:
    sender = Sender(kind, rtt_ms=2000)
    assert sender.pass_rounds(4) == pytest.approx([20, 40, 80, 160])


def test_hystart_ends_slow_start_of_cubic_by_the_train_of_acks() -> None:
    """Test the ACK train: it ends slow start after half the minimum RTT and 0.5 ms, or 200.5 packets."""
    sender = Sender(LINUX_CUBIC, rtt_ms=400)
    sender.pass_rounds(6)
    assert sender.g[FlowFloat.SSTHRESH] == 320 + 200
    assert 520 < sender.cwnd < 540


def test_hystart_ends_slow_start_by_delay_where_acks_are_too_far_apart() -> None:
    sender = Sender(LINUX_CUBIC, rtt_ms=60)
    sender.g[FlowFloat.SERVICE] = 3.0 * MS  # too far apart for an ACK train
    windows = sender.pass_rounds(5)
    assert windows[:3] == pytest.approx([20, 40, 80])
    assert sender.g[FlowFloat.SSTHRESH] == 160 + 16  # the previous round began with an RTT of 80 ms


def test_standard_slow_start_goes_on_and_hystart_plus_plus_slows_down() -> None:
    standard, plus = (
        Sender(LINUX_CUBIC, rtt_ms=60, slow_start=how) for how in (SlowStart.STANDARD, SlowStart.HYSTARTPP)
    )
    assert standard.pass_rounds(6)[-1] == pytest.approx(640)
    windows = plus.pass_rounds(12)
    factors = [b / a for a, b in itertools.pairwise(windows)]
    assert factors[:3] == pytest.approx([2, 2, 2])
    assert sum(1.2 < factor < 1.3 for factor in factors) == 5
    assert factors[-1] < 1.1


def test_reno_grows_by_a_packet_in_a_round_trip_and_halves() -> None:
    sender = Sender(LINUX_RENO, rtt_ms=200)
    sender.g[[FlowFloat.CWND, FlowFloat.SSTHRESH]] = 51, 2
    linux.on_recovery(sender.g, LINUX_RENO)
    assert sender.cwnd == 25
    assert sender.pass_rounds(40)[-1] == pytest.approx(65)


@pytest.mark.parametrize("rtt_ms", [100, 300])
def test_cubic_follows_the_function_of_rfc_9438(rtt_ms: int) -> None:
    """Test the concave and convex regions, from 0.7 of 200 packets on."""
    sender = Sender(LINUX_CUBIC, rtt_ms=rtt_ms)
    sender.g[[FlowFloat.CWND, FlowFloat.SSTHRESH, FlowFloat.SERVICE]] = 200, 2, 1.0
    linux.on_recovery(sender.g, LINUX_CUBIC)
    assert sender.cwnd == 140
    peak, start = 200.0, sender.now
    k = np.cbrt((peak - 140) / 0.4)
    for _ in range(int(10_000 / rtt_ms)):
        packets = float(int(sender.cwnd))
        window.grow(sender.g, LINUX_CUBIC, packets, float(sender.base), 1.0, window.clock(sender.now), False)
        sender.now += sender.base
        t = (sender.now - start) / 1e9
        assert sender.cwnd == pytest.approx(max(peak + 0.4 * (t - k) ** 3, 140 + 529 * t / rtt_ms), abs=4)


def test_cubic_is_not_slower_than_reno_with_its_decrease() -> None:
    """Test the Reno-friendly region (RFC 9438, section 4.3): 3 (1 - 0.7) / (1 + 0.7) packets per round."""
    sender = Sender(LINUX_CUBIC, rtt_ms=20)
    sender.g[[FlowFloat.CWND, FlowFloat.SSTHRESH, FlowFloat.SERVICE]] = 20, 2, 1.0
    linux.on_recovery(sender.g, LINUX_CUBIC)
    assert sender.pass_rounds(60)[-1] == pytest.approx(14 + 60 * 0.529, abs=2)


def test_fast_convergence_lowers_the_plateau() -> None:
    sender = Sender(LINUX_CUBIC, rtt_ms=100)
    sender.g[FlowFloat.CWND] = 100
    linux.on_recovery(sender.g, LINUX_CUBIC)
    linux.on_recovery(sender.g, LINUX_CUBIC)
    assert sender.cwnd == 49 and sender.g[FlowFloat.W_MAX] == 70 * (1024 + 717) // 2048


@pytest.mark.full
def test_the_compiled_fluid_of_shared_links_with_linux_equals_plain_python() -> None:
    rows = linux_shared_rows(
        6, seed=12, kinds=[*range(len(KINDS)), *3 * [LINUX_RENO, LINUX_CUBIC, LINUX_BBR]]
    )
    assert {LINUX_RENO, LINUX_CUBIC} <= {*rows.flows[:, :, Flow.KIND].ravel()}
    assert (launch.run(models.model("fluid"), rows) == run_as_python("fluid", rows)).all()


def recovery(*, cwnd: int, lost: int, chance: int, backoff: int = 1) -> tuple[Any, Any]:
    """Return words and floats of a flow whose losses are detected at time 1000; a round trip is 100."""
    sender = Sender(LINUX_CUBIC, rtt_ms=100)
    s = np.zeros(FlowWord.SIZE, np.int64)
    sender.g[FlowFloat.CWND] = cwnd
    s[[FlowWord.KIND, FlowWord.LOST_IN_ROUND, FlowWord.BACKOFF]] = LINUX_CUBIC, lost, backoff
    rack.recover(s, sender.g, sender.p, np.int64(1000), 100.0, np.int64(chance * lost), np.int64(300))
    return s, sender.g


@pytest.mark.parametrize("lost", [1, 5, 9])
def test_any_losses_are_repaired_in_a_round_trip_if_a_packet_follows(lost: int) -> None:
    s, g = recovery(cwnd=10, lost=lost, chance=0)
    assert (s[FlowWord.STATE], s[FlowWord.UNTIL], g[FlowFloat.CWND]) == (State.RECOVERY, 1100, 7)


def test_a_lost_retransmission_takes_another_round_trip_and_no_reduction() -> None:
    s, g = recovery(cwnd=10, lost=1, chance=ONE)
    assert s[FlowWord.UNTIL] == 1000 + 100 * rack.MOST_ROUNDS and g[FlowFloat.CWND] == 7
    assert s[FlowWord.COUNTS + FlowOut.TIMEOUTS] == 0


def test_a_window_that_is_lost_waits_for_the_probe_and_then_for_the_timer() -> None:
    s, g = recovery(cwnd=10, lost=10, chance=0)
    assert (s[FlowWord.STATE], s[FlowWord.UNTIL], g[FlowFloat.CWND]) == (State.PROBE_WAIT, 1300, 7)
    s, g = recovery(cwnd=10, lost=10, chance=ONE)
    assert (s[FlowWord.STATE], s[FlowWord.UNTIL], g[FlowFloat.CWND]) == (State.RTO_WAIT, 1300, 1)
    assert g[FlowFloat.SSTHRESH] == 7
    s, g = recovery(cwnd=1, lost=1, chance=0)
    assert s[FlowWord.STATE] == State.RTO_WAIT


def test_a_timer_that_expires_again_runs_from_the_retransmission_and_keeps_ssthresh() -> None:
    s, g = recovery(cwnd=1, lost=1, chance=0, backoff=2)
    assert s[FlowWord.UNTIL] == 1000 + 300 - 100 and g[FlowFloat.SSTHRESH] == linux.UNLIMITED


@BOTH
def test_the_undo_of_a_timeout_restores_window_and_threshold_but_not_the_plateau(kind: int) -> None:
    """Test `tcp_undo_cwnd_reduction`; `bictcp_reset` has cleared `last_max_cwnd` before it."""
    sender = Sender(kind, rtt_ms=100)
    sender.g[[FlowFloat.CWND, FlowFloat.SSTHRESH]] = 100.0, 200.0
    linux.on_recovery(sender.g, kind)
    sender.pass_rounds(30)
    cwnd, threshold = sender.cwnd, float(sender.g[FlowFloat.SSTHRESH])
    assert sender.g[FlowFloat.W_MAX] == 100 and cwnd >= 80
    linux.on_spurious_timeout(sender.g, kind)
    assert sender.cwnd == cwnd and sender.g[FlowFloat.W_MAX] == 0
    assert sender.g[FlowFloat.SSTHRESH] == max(threshold, 0.75 * cwnd)  # `tcp_current_ssthresh`
    assert sender.pass_rounds(1)[0] >= cwnd


def bbr_over(seconds: int, *, rtt_ms: int, alone: float) -> NDArray[np.float64]:
    """Return the floats of a BBR flow over a hop with 1 ms per packet, after this many seconds."""
    sender = Sender(LINUX_BBR, rtt_ms=rtt_ms)
    g = sender.g
    bbr.begin(g, 0, alone)
    while sender.now < seconds * 1000 * MS:
        packets = float(int(sender.cwnd))
        rtt = max(float(sender.base), packets * MS)
        window.grow(g, LINUX_BBR, packets, rtt, 1.0, 0.0, False)
        sender.now += int(rtt)
    return g


def test_bbr_finds_the_bandwidth_and_keeps_the_queue_of_its_own_path_empty() -> None:
    g = bbr_over(5, rtt_ms=80, alone=1.0)
    assert (g[FlowFloat.MODE], int(g[FlowFloat.CWND])) == (bbr.Mode.PROBE_BW, 81)
    assert max(g[FlowFloat.BW], g[FlowFloat.BW_BEFORE]) * MS == pytest.approx(1.0)


def test_the_window_of_competing_bbr_flows_is_twice_the_bandwidth_delay_product_and_three_bursts() -> None:
    g = bbr_over(5, rtt_ms=80, alone=0.0)
    assert int(g[FlowFloat.CWND]) == 2 * 80 + 3 * 2


def test_bbr_probes_the_rtt_every_ten_seconds_for_200_ms() -> None:
    modes = [float(bbr_over(k, rtt_ms=80, alone=1.0)[FlowFloat.MODE]) for k in (9, 11)]
    assert modes == [bbr.Mode.PROBE_BW, bbr.Mode.PROBE_BW]
    g = bbr_over(5, rtt_ms=80, alone=1.0)
    window.grow(g, LINUX_BBR, 80.0, 6000.0 * MS, 1.0, 0.0, False)
    assert g[FlowFloat.MODE] == bbr.Mode.PROBE_RTT and g[FlowFloat.CWND] == 4


def test_bbr_does_not_reduce_its_window_at_a_loss() -> None:
    g = bbr_over(5, rtt_ms=80, alone=1.0)
    before = g[FlowFloat.CWND]
    linux.on_recovery(g, LINUX_BBR)
    assert g[FlowFloat.CWND] == before


def bbr3_after(seconds: float, *, mode: bbr3.Mode) -> Sender:
    """Return the state of BBR v3 over a path of 80 packets.

    It is that of the first round trip after this many seconds that ends in this mode.
    """
    sender = Sender(LINUX_BBR3, rtt_ms=80)
    bbr3.begin(sender.g)
    while sender.now < seconds * 1000 * MS or sender.g[FlowFloat.MODE] != mode:
        sender.pass_rounds(1)
    return sender


def test_bbr3_cruises_at_the_bandwidth_and_probes_beyond_it() -> None:
    sender = Sender(LINUX_BBR3, rtt_ms=80)
    g = sender.g
    bbr3.begin(g)
    windows: dict[bbr3.Mode, list[float]] = {mode: [] for mode in bbr3.Mode}
    probes = []
    while sender.now < 20_000 * MS:
        before = g[FlowFloat.MODE]
        sender.pass_rounds(1)
        windows[bbr3.Mode(int(g[FlowFloat.MODE]))].append(sender.cwnd)
        if before != bbr3.Mode.UP and g[FlowFloat.MODE] == bbr3.Mode.UP:
            probes.append(sender.now / (1000 * MS))
    assert max(g[FlowFloat.BW], g[FlowFloat.BW_BEFORE]) * MS == pytest.approx(1.0)
    cruising = windows[bbr3.Mode.CRUISE]
    assert cruising == pytest.approx([80 * 0.99 + 1] * len(cruising), abs=0.3)
    assert 120 < max(windows[bbr3.Mode.UP]) <= 180  # 2.25 bandwidth-delay products at most
    # A bandwidth probe begins 2.5 s after an RTT probe, which occurs every 5 s and restarts the cycle.
    assert max(np.diff(probes)) < 6 and len(probes) >= 3
    halved = windows[bbr3.Mode.PROBE_RTT]
    assert 3 * 3 <= len(halved) <= 3 * 5 and min(halved) == 40  # 3 probes of 200 ms and a round trip


def test_losses_lower_the_short_term_bound_of_bbr3_until_the_next_probe() -> None:
    sender = bbr3_after(3, mode=bbr3.Mode.CRUISE)
    g = sender.g
    bbr3.on_losses(g, 1)
    assert g[FlowFloat.SHORT_TERM] == pytest.approx(80 * 0.99, rel=0.02)  # earlier rounds had no losses
    bbr3.on_losses(g, 10)
    first = float(g[FlowFloat.SHORT_TERM])
    assert first == pytest.approx(0.99 * (80 * 0.99 - 10), rel=0.02)
    bbr3.on_losses(g, 60)
    assert g[FlowFloat.SHORT_TERM] == pytest.approx(0.7 * first)
    sender.pass_rounds(1)
    assert sender.cwnd == pytest.approx(0.7 * first)
    while g[FlowFloat.MODE] != bbr3.Mode.UP:
        sender.pass_rounds(1)
    assert g[FlowFloat.SHORT_TERM] == bbr3.UNLIMITED and sender.cwnd > 80


def test_a_probe_of_bbr3_that_loses_too_much_bounds_the_window() -> None:
    sender = bbr3_after(3, mode=bbr3.Mode.UP)
    sender.pass_rounds(1)
    g, cwnd = sender.g, sender.cwnd
    bbr3.on_losses(g, int(0.02 * cwnd))  # not more than 2 %
    assert g[FlowFloat.MODE] == bbr3.Mode.UP and g[FlowFloat.LONG_TERM] == bbr3.UNLIMITED
    bbr3.on_losses(g, 30)
    assert g[FlowFloat.MODE] == bbr3.Mode.DOWN
    bound = max(cwnd - 30, 0.7 * 80)
    assert g[FlowFloat.LONG_TERM] == pytest.approx(bound)
    while g[FlowFloat.MODE] != bbr3.Mode.CRUISE:
        sender.pass_rounds(1)
    assert sender.cwnd == pytest.approx(min(0.85 * bound, 0.99 * 80 + 1))


def test_a_timeout_of_bbr3_bounds_the_window_to_four_packets_until_the_next_probe() -> None:
    sender = bbr3_after(3, mode=bbr3.Mode.CRUISE)
    bbr3.on_timeout(sender.g)
    assert (sender.cwnd, sender.g[FlowFloat.SHORT_TERM]) == (1, 4)
    rounds = 0
    while sender.g[FlowFloat.MODE] != bbr3.Mode.UP:
        sender.pass_rounds(1)
        rounds += 1
    assert rounds < 10
