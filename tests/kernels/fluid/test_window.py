"""Windows of the fluid models: comparison with the per-ACK congestion controls of the packet models."""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import ENDLESS, MS
from netcarlo.kernels.base.parameters import P, ReliableP, RowP, TcpP
from netcarlo.kernels.congestion import aimd, bic, cubic, westwood
from netcarlo.kernels.fluid import window
from netcarlo.kernels.fluid.state import FlowFloat
from netcarlo.kernels.senders import BIC, CUBIC, KINDS, NEWRENO, RENO, SACK, TAHOE, UDP, VEGAS, WESTWOOD

CONTROLS: dict[int, ModuleType] = {NEWRENO: aimd, BIC: bic, CUBIC: cubic, WESTWOOD: westwood}
TCPS = [number for number in range(len(KINDS)) if number != UDP]
HUGE = 1 << 40


def floats(*, cwnd: float, ssthresh: float = 2.0, receiver: int = HUGE) -> NDArray[np.float64]:
    """Return the floats of a flow with this window; times are in ns."""
    p = np.zeros(len(P), np.int64)
    p[[RowP.WINDOW, TcpP.INITIAL_WINDOW, ReliableP.INITIAL_SSTHRESH, TcpP.TICK]] = receiver, 1, HUGE, MS
    p[[TcpP.VEGAS_ALPHA, TcpP.VEGAS_BETA, TcpP.VEGAS_GAMMA, RowP.LIMIT]] = 1, 3, 1, ENDLESS
    g = np.zeros(FlowFloat.SIZE)
    window.begin(g, p, 1)
    g[FlowFloat.CWND], g[FlowFloat.SSTHRESH] = cwnd, ssthresh
    return g


class Packets:
    """Congestion control of the packet model, called for every ACK."""

    def __init__(self, kind: int, rtt_ms: int, cwnd: float, ssthresh: float) -> None:
        self.control: Any = CONTROLS[kind]
        self.rtt, self.now, self.cwnd, self.ssthresh = rtt_ms * MS, 0, cwnd, ssthresh
        self.memory = np.zeros(16)

    def round(self) -> None:
        """Acknowledge a window of packets, one ACK per packet."""
        packets = int(self.cwnd)
        for k in range(packets):
            now = self.now + k * self.rtt // packets
            if self.control is westwood:
                self.control.on_ack(1, now, self.rtt, self.memory)
            if self.control is not aimd:
                self.control.acked(1, self.memory)
            self.cwnd = self.control.grow(self.cwnd, self.ssthresh, now, self.rtt, np.zeros(0), self.memory)
        self.now += self.rtt

    def lose(self, *, timeout: bool) -> None:
        """Process the loss of a packet."""
        left = self.control.reduce(self.cwnd, timeout, self.now, self.rtt, np.zeros(0), self.memory)
        self.ssthresh = max(float(int(left)), 2.0)
        self.cwnd = 1.0 if timeout else left


def grow(g: NDArray[np.float64], kind: int, rtt_ms: int, now: int, *, parts: int = 1) -> None:
    """Advance the fluid model by a round trip, in `parts` steps."""
    rtt = float(rtt_ms * MS)
    for k in range(parts):
        acked = float(int(g[FlowFloat.CWND])) / parts
        window.grow(g, kind, acked, rtt, 1.0 / parts, window.clock(now + k * rtt_ms * MS // parts), False)


@pytest.mark.parametrize("kind", CONTROLS, ids=lambda kind: KINDS[kind])
@pytest.mark.parametrize("rtt_ms", [20, 100, 300])
@pytest.mark.parametrize("timeouts", [(False, False), (False, True), (True, False)])
def test_windows_are_those_of_the_control_that_hears_every_ack(
    kind: int, rtt_ms: int, timeouts: tuple[bool, bool]
) -> None:
    """Compare slow start, a loss, growth, another loss and growth again; each phase lasts up to 8 s."""
    packets, g = Packets(kind, rtt_ms, 2.0, 60.0), floats(cwnd=2.0, ssthresh=60.0)
    off = []
    for timeout in (None, *timeouts):
        if timeout is not None:
            # Both lose a packet at the same window, that of the packet model.
            g[FlowFloat.CWND] = packets.cwnd
            packets.lose(timeout=timeout)
            (window.on_timeout if timeout else window.on_fast_retransmit)(g, kind, float(rtt_ms * MS))
            assert g[FlowFloat.CWND] == pytest.approx(packets.cwnd, rel=0.03, abs=1.01)
            assert g[FlowFloat.SSTHRESH] == pytest.approx(packets.ssthresh, rel=0.03, abs=1.01)
        for _ in range(min(8000 // rtt_ms, 300)):
            grow(g, kind, rtt_ms, packets.now)
            packets.round()
            off.append(g[FlowFloat.CWND] / packets.cwnd - 1)
            if packets.cwnd > 300:
                break
    assert abs(np.mean(off)) < 0.05 and np.quantile(np.abs(off), 0.9) < 0.12


@pytest.mark.parametrize("kind", TCPS, ids=lambda kind: KINDS[kind])
def test_slow_start_doubles_the_window_in_a_round_trip_of_any_number_of_steps(kind: int) -> None:
    """Test slow start; Vegas doubles in every other round trip, which the fluid spreads over both."""
    factor = 1.5 if kind == VEGAS else 2.0
    for parts in (1, 2, 4, 16):
        g = floats(cwnd=64.0, ssthresh=1e6)
        rtt = float(100 * MS)
        for k in range(parts):
            acked = g[FlowFloat.CWND] / parts
            window.grow(g, kind, acked, rtt, 1.0 / parts, window.clock(k * 100 * MS // parts), False)
        assert g[FlowFloat.CWND] == pytest.approx(64 * factor, rel=0.06)


@pytest.mark.parametrize("kind", [TAHOE, RENO, NEWRENO, SACK, WESTWOOD], ids=lambda kind: KINDS[kind])
@pytest.mark.parametrize("delayed", [1, 2])
def test_congestion_avoidance_adds_a_packet_in_a_round_trip(kind: int, delayed: int) -> None:
    """Test growth per round trip: one packet, or half a packet with delayed ACKs."""
    g = floats(cwnd=100.0)
    for k in range(20):
        now = window.clock(k * 100 * MS)
        window.grow(g, kind, g[FlowFloat.CWND] / delayed, float(100 * MS), 1.0, now, False)
    assert g[FlowFloat.CWND] == pytest.approx(100 + 20 / delayed, abs=0.2)


def test_cubic_follows_the_cubic_function() -> None:
    """Test RFC 8312, section 4.1: C (t - K)^3 + W_max, which is W_max at K = cubic root(W_max 0.2 / C)."""
    g = floats(cwnd=1000.0)
    window.on_fast_retransmit(g, CUBIC, float(50 * MS))
    assert g[FlowFloat.CWND] == pytest.approx(800, rel=0.002)
    k_s = math.cbrt(1000 * 0.2 / 0.4)
    reached: dict[int, float] = {}
    for step in range(400):
        grow(g, CUBIC, 50, step * 50 * MS)
        reached[step] = g[FlowFloat.CWND]
    for step in (40, 100, 158, 250, 390):
        since_s = (step + 1) * 0.05
        assert reached[step] == pytest.approx(1000 + 0.4 * (since_s - k_s) ** 3, rel=0.02)


def test_a_lower_maximum_leaves_others_room() -> None:
    """Test fast convergence (RFC 8312, section 4.6): W_max is 0.9 of a window below the last maximum."""
    g = floats(cwnd=500.0)
    window.on_fast_retransmit(g, CUBIC, 1.0)
    assert g[FlowFloat.W_MAX] == 500
    g[FlowFloat.CWND] = 450.0
    window.on_fast_retransmit(g, CUBIC, 1.0)
    assert g[FlowFloat.W_MAX] == pytest.approx(450 * 0.9, abs=1)
    g[FlowFloat.CWND] = 450.0
    window.on_fast_retransmit(g, CUBIC, 1.0)
    assert g[FlowFloat.W_MAX] == 450


SHARE = {TAHOE: 0.5, RENO: 0.5, NEWRENO: 0.5, SACK: 0.5, VEGAS: 0.75, BIC: 819 / 1024, CUBIC: 819 / 1024}
"""Share of the window that remains after a loss; Tahoe then begins with one packet."""


@pytest.mark.parametrize("kind", SHARE, ids=lambda kind: KINDS[kind])
@given(cwnd=st.integers(40, 2000))
def test_a_loss_leaves_a_share_of_the_window(kind: int, cwnd: int) -> None:
    g = floats(cwnd=float(cwnd))
    window.on_fast_retransmit(g, kind, float(100 * MS))
    assert g[FlowFloat.SSTHRESH] == pytest.approx(cwnd * SHARE[kind], abs=1.01)
    left = 1.0 if kind == TAHOE else cwnd * SHARE[kind]
    assert g[FlowFloat.CWND] == pytest.approx(left, abs=1.01)


@pytest.mark.parametrize("kind", TCPS, ids=lambda kind: KINDS[kind])
def test_a_timeout_leaves_one_packet(kind: int) -> None:
    """Test a timeout; Vegas continues with two packets and half the window as threshold (`tcp.vegas`)."""
    g = floats(cwnd=100.0)
    g[FlowFloat.BANDWIDTH], g[FlowFloat.MIN_RTT] = 584.0, float(100 * MS)  # Westwood: 40 packets
    window.on_timeout(g, kind, float(100 * MS))
    assert g[FlowFloat.CWND] == (2.0 if kind == VEGAS else 1.0)
    kept = {BIC: 79, CUBIC: 79, WESTWOOD: 40}.get(kind, 50)
    assert g[FlowFloat.SSTHRESH] == pytest.approx(kept, abs=1.01)


def test_westwood_measures_the_bandwidth_of_its_acknowledgements() -> None:
    """Test 50 packets of 1,460 bytes in 100 ms: 730 bytes/ms; the window after a loss fills the path."""
    g = floats(cwnd=50.0, receiver=50)
    for k in range(200):
        window.grow(g, WESTWOOD, 50.0, float(100 * MS), 1.0, window.clock(k * 100 * MS), False)
    assert g[FlowFloat.BANDWIDTH] == pytest.approx(730, rel=0.02)
    assert window.reduced(g, WESTWOOD, 1.0) == pytest.approx(50, abs=1)
    # With a quarter of the packets, two filters reduce the estimate, each by an eighth per round trip.
    after: list[float] = []
    for k in range(200, 216):
        window.grow(g, WESTWOOD, 12.5, float(100 * MS), 1.0, window.clock(k * 100 * MS), False)
        after.append(g[FlowFloat.BANDWIDTH])
    raw, smooth, expected = 730.0, 730.0, []
    for _ in range(16):
        raw += (182.5 - raw) / 8
        smooth += (raw - smooth) / 8
        expected.append(smooth)
    assert after == pytest.approx(expected, rel=0.03)


@given(
    kind=st.sampled_from(TCPS), cwnd=st.floats(1, 300), ssthresh=st.floats(2, 300),
    receiver=st.integers(1, 300), losses=st.lists(st.sampled_from("gct"), max_size=60),
    rtt_ms=st.integers(1, 500),
)  # fmt: skip
def test_windows_lie_between_one_packet_and_the_receivers(
    kind: int, cwnd: float, ssthresh: float, receiver: int, losses: list[str], rtt_ms: int
) -> None:
    g = floats(cwnd=min(cwnd, receiver), ssthresh=ssthresh, receiver=receiver)
    for k, what in enumerate(losses):
        before = g[FlowFloat.CWND]
        if what == "g":
            grow(g, kind, rtt_ms, k * rtt_ms * MS)
            assert kind == VEGAS or g[FlowFloat.CWND] >= min(before, receiver)
        else:
            (window.on_fast_retransmit if what == "c" else window.on_timeout)(g, kind, float(rtt_ms * MS))
            assert g[FlowFloat.SSTHRESH] >= 2
        assert 1 <= g[FlowFloat.CWND] <= max(receiver, 2 if kind == VEGAS else 1)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 3), (4, 6)])
def test_vegas_keeps_a_few_packets_in_the_queue(alpha: int, beta: int) -> None:
    """Test a path with a BDP of 50 packets: the window settles between 50 + alpha and 50 + beta."""
    for start in (20.0, 90.0):
        g = floats(cwnd=start)
        g[FlowFloat.ALPHA], g[FlowFloat.BETA], g[FlowFloat.MIN_RTT] = alpha, beta, 100.0 * MS
        for k in range(150):
            rtt = 100.0 * MS * max(g[FlowFloat.CWND] / 50, 1)
            window.grow(g, VEGAS, g[FlowFloat.CWND], rtt, 1.0, window.clock(k * 100 * MS), False)
        nearest = alpha if start < 50 else beta
        assert g[FlowFloat.CWND] - 50 == pytest.approx(nearest, abs=1.0)


def test_a_window_in_repair_stands_still() -> None:
    for kind in TCPS:
        g = floats(cwnd=20.0)
        window.grow(g, kind, 20.0, float(100 * MS), 1.0, 1.0, True)
        assert g[FlowFloat.CWND] == 20
