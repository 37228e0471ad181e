"""CoDel and FQ-CoDel in the fluid model of shared links: control law, fair shares, known results."""

import math
from typing import Any

import numpy as np
import pytest

from netcarlo import Scenario, simulate
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.fluid import codel, fq
from netcarlo.kernels.fluid.flow import Step
from netcarlo.kernels.fluid.state import ONE, Codel, FlowWord, LinkFloat, LinkWord
from netcarlo.kernels.shared.layout import Link, Shared

MS = NS // 1000
pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox


class Queue:
    """Queue with CoDel and a given delay, in steps of 10 ms in which 20 packets arrive."""

    def __init__(self, *, target: int = 5 * MS, interval: int = 100 * MS) -> None:
        self.p = np.zeros(Shared.COLUMNS, np.int64)
        self.words, self.floats = np.zeros(LinkWord.SIZE, np.int64), np.zeros(LinkFloat.SIZE)
        self.link = np.zeros(Link.COLUMNS, np.int64)
        self.link[[Link.AQM_TARGET, Link.AQM_INTERVAL, Link.AQM_MTU]] = target, interval, 1500
        self.number = 0

    def step(self, wait_ms: float, packets: int = 40) -> int:
        """Advance by a step and return its drops, which no longer count as due."""
        self.words[LinkWord.QUEUED] = packets * ONE
        self.words[LinkWord.BACKLOG] = packets * 1000 * ONE
        self.floats[LinkFloat.WAIT] = wait_ms / 10
        step = Step(self.number, self.number * 10 * MS, 10 * MS, 0, False)
        codel.update(self.p, self.words, self.floats, self.link, 0, 20 * ONE, step)
        self.number += 1
        return int(codel.hits(self.words, 20 * ONE))


def test_drops_come_at_the_times_of_the_control_law() -> None:
    """Test the first drop after an interval above the target, and the gaps interval / sqrt(count)."""
    queue = Queue()
    drops = [queue.step(8.0) for _ in range(500)]
    due, count, times = 0.110, 1, []
    while due <= 5.0:
        times.append(due)
        due += 0.1 / math.sqrt(count)
        count += 1
    expected = np.histogram(times, np.arange(501) * 0.01 + 1e-6)[0]
    assert np.abs(np.cumsum(drops) - np.cumsum(expected)).max() <= 1
    assert sum(drops) == pytest.approx(len(times), abs=1)


def test_a_delay_below_the_target_or_two_packets_end_dropping() -> None:
    for wait_ms, packets in ((4.9, 40), (20.0, 2)):
        queue = Queue()
        assert sum(queue.step(20.0) for _ in range(100)) > 20
        assert not any(queue.step(wait_ms, packets) for _ in range(100))
        assert not any(queue.step(20.0) for _ in range(10)) and queue.step(20.0)


def test_dropping_again_soon_continues_with_the_latest_rate() -> None:
    queue = Queue()
    first = sum(queue.step(20.0) for _ in range(40))
    queue.step(1.0)
    assert sum(queue.step(20.0) for _ in range(40)) > first
    for _ in range(200):
        queue.step(1.0)
    assert sum(queue.step(20.0) for _ in range(40)) == pytest.approx(first, abs=1)


def test_drops_hit_flows_in_proportion_to_what_they_send() -> None:
    queue, flows = Queue(), np.zeros((2, FlowWord.SIZE), np.int64)
    for number in range(4000):
        step = Step(number, 0, 10 * MS, 0, False)
        queue.words[LinkWord.CODEL + Codel.DUE] = 1
        queue.floats[LinkFloat.WAIT] = 1.0
        queue.words[[LinkWord.QUEUED, LinkWord.BACKLOG]] = 40 * ONE, 40_000 * ONE
        codel.update(queue.p, queue.words, queue.floats, queue.link, 0, 4 * ONE, step)
        for s, sent in zip(flows, (ONE, 3 * ONE), strict=True):
            assert codel.drop(queue.words, s, sent) <= sent
    hits = flows[:, FlowWord.HITS]
    assert hits[0] / hits.sum() == pytest.approx(0.25, abs=0.03)
    assert (flows[:, FlowWord.DEBT] < ONE).all()


@pytest.mark.parametrize(
    ("needs", "whole", "share"),
    [
        ([10, 10, 10], 60, 60),
        ([10, 50, 90], 90, 40),
        ([50, 50], 60, 30),
        ([], 60, 60),
        ([7, 90, 90, 90], 100, 31),
    ],
)
def test_the_fair_share_meets_small_needs_and_divides_the_rest(
    needs: list[int], whole: int, share: int
) -> None:
    m = np.zeros((len(needs) + 1) * LinkWord.SIZE, np.int64)
    for k, need in enumerate(needs, 1):
        m[k * LinkWord.SIZE + LinkWord.BACKLOG] = need // 2
        m[k * LinkWord.SIZE + LinkWord.BYTES] = need - need // 2
        m[k * LinkWord.SIZE + LinkWord.QUEUES] = m[LinkWord.QUEUES]
        m[LinkWord.QUEUES] = k * LinkWord.SIZE
    assert fq._fair_share(m, m, whole, LinkWord.BACKLOG, LinkWord.BYTES) == share


def dumbbell(queue: Any, flows: list[dict[str, Any]], **transport: Any) -> Scenario:
    """Return flows over a link of 10 Mbit/s and 20 ms."""
    shared = {"dumbbell": {"rate": "10 Mbit/s", "delay": "20 ms", **queue}, "flows": flows,
              "access": {"source_delay": "2 ms", "sink_delay": "1 ms"}}  # fmt: skip
    given = {"protocol": "linux", "congestion_control": "cubic"} | transport
    data = {"duration": "40 s", "warm_up": "10 s", "transport": given, "shared": shared, "fidelity": "fluid"}
    return Scenario.check(data)


@pytest.mark.full
def test_fq_codel_shares_a_link_equally_and_codel_does_not() -> None:
    far = {"count": 2, "each": {"access": {"source_delay": "80 ms", "sink_delay": "1 ms"}}}
    fairness = {}
    for queue in ("codel", "fq_codel"):
        found = simulate(dumbbell({"queue": queue}, [{"count": 2}, far]), replications=4)
        fairness[queue] = found.frame["fairness"].mean()
    assert fairness["fq_codel"] > 0.99 and fairness["codel"] < 0.95


@pytest.mark.full
def test_a_stream_below_its_fair_share_passes_fq_codel_unharmed() -> None:
    call = {"udp": {"rate": "1 Mbit/s", "payload": "1200 B"}}
    lost = {}
    for queue in ({"queue": "fq_codel"}, {"queue": 50}):
        found = simulate(dumbbell(queue, [{"count": 4}, call]), replications=2)
        lost[str(queue["queue"])] = found.frame["loss_ratio"].mean()
    assert lost["fq_codel"] == 0 < 0.001 < lost["50"]


@pytest.mark.full
@pytest.mark.parametrize("queue", ["codel", "fq_codel"])
def test_the_queue_is_near_the_target_and_the_link_busy(queue: str) -> None:
    frame = simulate(dumbbell({"queue": queue}, [{"count": 4}]), replications=2).frame
    assert (frame["goodput_bps"] > 9e6).all()
    tail = simulate(dumbbell({"queue": 200}, [{"count": 4}]), replications=2).frame
    assert (frame["mean_rtt_s"] < 0.046 + 0.020).all() and (tail["mean_rtt_s"] > 0.15).all()


@pytest.mark.full
def test_marks_take_the_place_of_drops() -> None:
    ecn = {"count": 4, "each": {"ecn": True}}
    marking = {"codel": {"mark": True}}
    frame = simulate(dumbbell(marking, [ecn], protocol="sack", congestion_control=None), replications=2).frame
    assert (frame["marked"] > 20).all() and (frame["drops_queue"] < frame["marked"] / 10).all()
