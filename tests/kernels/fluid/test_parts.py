"""Parts of the fluid models: comparison with the packet models and with published formulae."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.kernels.base.layout import FOREVER, MS, STREAM_LOSS, Hop
from netcarlo.kernels.base.loss import gap, thresholds
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.fluid import failover, gaps, handovers, interruption, queue
from netcarlo.kernels.fluid.route import HopWord, Route, RouteWord, find_outage, prepare, words
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, LinkFloat, LinkWord
from netcarlo.kernels.fluid.wireless import balance, rates, routes
from netcarlo.kernels.fluid.wireless.state import VisitFloat, VisitWord
from netcarlo.kernels.path.mobility.timeline import Handover
from netcarlo.kernels.sctp import paths
from netcarlo.kernels.sctp.state import Way as SctpWay
from netcarlo.kernels.sctp.state import way_at
from netcarlo.kernels.shared import layout as shared
from netcarlo.kernels.wireless import rate_control
from netcarlo.kernels.wireless.layout import ARF, Link, Radio
from netcarlo.kernels.wireless.state import LinkState

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox


def parameters(**values: int) -> Any:
    """Return the columns of a row, zero unless given."""
    p = np.zeros(len(P), np.int64)
    for name, value in values.items():
        p[P[name]] = value
    return p


def packet_by_packet(p: Any, hops: Any, losses: Any, count: int) -> list[bool]:
    """Return which of `count` packets are lost when each is sent over the hops in order."""
    drawn = [0] * len(hops)

    def draw(hop: int) -> int:
        drawn[hop] += 1
        stream = STREAM_LOSS + 2 * hop
        number = (p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION])
        return int(gap(losses, hops[hop, Hop.LOSS], *number, stream, drawn[hop] - 1))

    left = [draw(hop) for hop in range(len(hops))]
    found = []
    for _ in range(count):
        lost = False
        for hop in range(len(hops)):
            if left[hop] == 0:
                lost, left[hop] = True, draw(hop)
                break
            left[hop] -= 1
        found.append(lost)
    return found


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1 << 30),
       chances=st.lists(st.sampled_from([0.0, 0.02, 0.3]), min_size=1, max_size=3),
       parts=st.lists(st.integers(1, 40), min_size=1, max_size=8))  # fmt: skip
def test_random_losses_are_those_of_the_packets_one_by_one(
    seed: int, chances: list[float], parts: list[int]
) -> None:
    """Compare losses for steps of any size; a packet lost on a hop does not reach the next hop."""
    p, losses = parameters(SEED=seed), thresholds(chances)
    hops = np.zeros((1, len(chances), len(Hop)), np.int64)
    hops[0, :, Hop.PRESENT], hops[0, :, Hop.LOSS] = 1, range(len(chances))
    w = np.zeros(words(len(chances)), np.int64)
    gaps.prepare(p, hops, losses, w, np.int64(0), np.int64(0))
    expected = packet_by_packet(p, hops[0], losses, sum(parts))
    at = 0
    for part in parts:
        lost = gaps.lose(p, hops, losses, w, np.int64(0), np.int64(part << ONE_BITS))
        assert lost == sum(expected[at : at + part])
        at += part
    following = packet_by_packet(p, hops[0], losses, at + 2000)[at:]
    until = following.index(True) if True in following else None
    assert until is None or gaps.until_loss(hops, w, np.int64(0)) == until * ONE


@given(rtts=st.lists(st.integers(1, 5_000 * MS), min_size=1, max_size=30))
def test_the_timer_of_sctp_is_that_of_the_packets(rtts: list[int]) -> None:
    p = parameters(MIN_RTO=1_000 * MS, MAX_RTO=60_000 * MS)
    q, s = np.zeros(failover.PathWord.ROUTE, np.int64), np.zeros(200, np.int64)
    at = way_at(np.int64(0))
    for rtt in rtts:
        failover.measure(p, q, rtt)
        paths.measure(p, s, np.int64(0), rtt)
        assert q[failover.PathWord.RTO] == s[at + SctpWay.RTO]


def test_packets_before_a_moment_are_counted_one_by_one() -> None:
    """Test a burst whose k-th packet is sent at k times 8 ms."""
    way = Route(0, 8.0 * MS, 0, 0, 0, 0)
    for at in range(0, 100 * MS, MS):
        assert interruption.sent_before(at, 0, way, 10) == sum(k * 8 * MS < at for k in range(10)), at


class Seen:
    """A handover as the sender sees it: 10 ms to the MAP, 5 ms to a router, 2 ms on the air, 20 ms back."""

    def __init__(self, protocol: int = 0, **handover: int) -> None:
        p = parameters(BUFFER=50, MAP_TO_AR=5 * MS, HANDOVER=protocol)
        self.j = np.zeros(64, np.int64)
        self.j[[handovers.Word.TO_MAP, handovers.Word.ON_AIR, handovers.Word.BACK]] = 10 * MS, 2 * MS, 20 * MS
        at = 40
        for word in ("AT_CN", "AT_MAP", "COPY", "FORWARD", "KEPT", "ASTRAY"):
            self.j[at + Handover[word]] = FOREVER
        for name, value in handover.items():
            self.j[at + Handover[name]] = value * MS
        found = handovers._seen_by_sender(p, self.j, at, 0, 1e-6)
        self.down, self.up, self.resume = (int(value) / MS for value in found)


def test_without_a_tunnel_packets_are_lost_until_they_take_the_new_way() -> None:
    """Test a host that leaves at 1,000 ms: the last packet that reaches it was sent 17 ms earlier."""
    seen = Seen(DOWN=1000, UP=1100, AT_CN=1300, RELEASE=1200)
    assert (seen.down, seen.up, seen.resume) == (983, 1300, 1300 + 15 + 2 + 20)
    seen = Seen(DOWN=1000, UP=1100, AT_CN=1300, AT_MAP=1250, DETOUR=3, RELEASE=1200)
    assert (seen.down, seen.up, seen.resume) == (983, 1240, 1250 + 5 + 3 + 2 + 20)


def test_a_tunnel_takes_its_time() -> None:
    """Test forwarding by the old router from 990 ms on: it begins with packets sent 15 ms earlier."""
    seen = Seen(DOWN=1000, UP=1100, AT_CN=1300, FORWARD=990, TUNNEL=40, RELEASE=1010)
    assert (seen.down, seen.up, seen.resume) == (975, 975, 990 + 40 + 2 + 20)
    seen = Seen(DOWN=1000, UP=1100, AT_CN=1300, FORWARD=990, TUNNEL=40, RELEASE=1150)
    assert seen.resume == 1150 + 2 + 20
    seen = Seen(DOWN=1000, UP=1100, AT_CN=1300, KEPT=1060, TUNNEL=30, RELEASE=1010)
    assert (seen.down, seen.up, seen.resume) == (983, 985, 1060 + 30 + 2 + 20)


def test_a_false_alarm_loses_what_went_astray() -> None:
    seen = Seen(DOWN=1000, UP=1000, ASTRAY=940)
    assert (seen.down, seen.up) == (925, 985)
    seen = Seen(DOWN=1000, UP=1000)
    assert (seen.down, seen.up, seen.resume) == (0, 0, 0)


def test_an_outage_of_a_later_hop_begins_and_ends_earlier_for_the_sender() -> None:
    """Test DOWN, UP, STOP and RESUME for an outage of the second of two hops from 500 to 700 ms."""
    hops = np.zeros((1, 2, len(Hop)), np.int64)
    hops[0, :, Hop.PRESENT] = 1
    hops[0, :, Hop.DELAY], hops[0, :, Hop.R_DELAY] = (10 * MS, 20 * MS), (30 * MS, 40 * MS)
    outages = np.full((1, 2, 1, 2), FOREVER, np.int64)
    outages[0, 1, 0] = 500 * MS, 700 * MS
    w = np.zeros(words(2), np.int64)
    way = prepare(parameters(), hops, thresholds([0.0]), w, 0, np.int64(1000))
    assert (way.base_rtt, way.one_way) == (100 * MS, 30 * MS)
    find_outage(hops, outages, w, 0, 0)
    # Data leave the far end of the hop 30 ms after the sender, and reach its near end 10 ms after it.
    assert w[RouteWord.DOWN] == 470 * MS and w[RouteWord.UP] == 690 * MS
    # Acknowledgements need 30 ms from the near end of the hop to the sender, and 70 ms from its far end.
    assert w[RouteWord.STOP] == 530 * MS and w[RouteWord.RESUME] == 770 * MS
    assert w[RouteWord.HOPS + HopWord.SIZE + HopWord.ENTERS] == 10 * MS


@pytest.mark.parametrize("loss", [1e-4, 1e-3, 0.01, 0.1])
@pytest.mark.parametrize("every", [1, 2])
def test_losses_of_a_cell_bound_the_rate_by_pftk(loss: float, every: int) -> None:
    """Test Padhye et al. (SIGCOMM 1998), equation 30; the timeout is at least 200 ms and two round trips."""
    p = parameters(ACK_EVERY=every, MIN_RTO=200 * MS)
    found = balance._pftk(p, loss, 50.0 * MS) * 1e9
    root = np.sqrt(3 * every * loss / 8)
    expected = 1 / (0.05 * np.sqrt(2 * every * loss / 3) + 0.2 * min(1, 3 * root) * loss * (1 + 32 * loss**2))
    assert found == pytest.approx(expected, rel=1e-9)


ARF_CASES = [(0.3, 10, 2, 15), (0.1, 10, 2, 15), (0.5, 3, 3, 5), (0.2, 5, 1, 20)]


@pytest.mark.parametrize(("fails", "up", "down", "timer"), ARF_CASES)
def test_attempts_at_a_rate_are_those_of_arf(
    fails: float, up: int, down: int, timer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare the share of attempts at each of four rates with that of the packet model's rate control.

    100,000 attempts fail at random; shares agree within two percentage points.
    """
    words_of = np.zeros(1 + max(*Radio, *LinkState), np.int64)
    words_of[[Radio.RATE_CONTROL, Radio.RATES, Radio.ARF_DOWN]] = ARF, 4, down
    words_of[[LinkState.UP, LinkState.WAIT]] = up, timer
    words_of[[Radio.ARF_UP, Radio.ARF_TIMER]] = up, timer
    # The link's words follow those of the network.
    at = len(words_of)
    m = np.concatenate([words_of, words_of])
    m[at + Link.HIGHEST] = 3
    counts, rng = np.zeros(4), np.random.default_rng(2)
    for bad in rng.random(100_000) < fails:
        counts[m[at + Link.RATE]] += 1
        (rate_control.failed if bad else rate_control.succeeded)(m, at)
    p = np.zeros(1 + max(Radio), np.int64)
    p[[Radio.ARF_UP, Radio.ARF_DOWN, Radio.ARF_TIMER, Radio.RATES]] = up, down, timer, 4
    raised, stays = rates._leaves(p, fails, np.zeros(up + down))
    shares = []
    for rate in range(4):  # the mean of a cost that is 1 at one rate

        def cost(p: Any, network: Any, frame: Any, at: Any, rate: int = rate) -> Any:
            of = 1.0 if at == rate else 0.0
            return SimpleNamespace(service=of, vain=of, air=of, control=of, exposed=of)

        monkeypatch.setattr(routes, "cost", cost)
        g = np.zeros(VisitFloat.SIZE)
        rates._mix(p, None, np.zeros(VisitWord.SIZE, np.int64), g, fails, raised, stays)
        shares.append(g[VisitFloat.SERVICE] / rates._DAMPING)
    assert sum(shares) == pytest.approx(1)
    assert counts / counts.sum() == pytest.approx(shares, abs=0.02)


def test_a_full_queue_drops_the_packets_that_have_no_room() -> None:
    """Test a step in which 40 packets of 1,000 bytes arrive at a link that sends 5 and queues 10."""
    s, g = np.zeros(LinkWord.SIZE, np.int64), np.zeros(LinkFloat.SIZE)
    link = np.zeros(shared.Link.COLUMNS, np.int64)
    link[shared.Link.QUEUE] = 10
    s[[LinkWord.ARRIVED, LinkWord.ACCEPTED]] = 40 * ONE
    s[[LinkWord.BYTES, LinkWord.CAPACITY]] = 40_000 * ONE, 5_000 * ONE
    room = link[shared.Link.QUEUE] * ONE
    queue.serve(s, g, link, s, room, np.int64(MS), np.int64(MS), np.int64(MS))
    assert s[LinkWord.TAIL] == 25 / 40 * ONE
    assert (s[LinkWord.QUEUED], s[LinkWord.BACKLOG]) == (10 * ONE, 10_000 * ONE)
    assert g[LinkFloat.WAIT] == 2.0
    assert s[LinkWord.COUNTS + shared.LinkOut.DROPS] == 25 * ONE
    assert s[LinkWord.COUNTS + shared.LinkOut.BUSY] == MS
