"""Association with one path: two endpoints and a wire that may lose, delay and reorder packets."""

import heapq
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.sctp import association as sctp
from tests.twins.path.scenarios import MS, SECOND

CHUNK = 1468
COLUMNS = {
    "SEED": 1, "RING": 64, "DATA": 1452, "HEADER": 32, "CHUNK_HEADER": 16, "ACK": 48, "SACK_BLOCK": 4,
    "INITIAL_SSTHRESH": 65536, "MIN_RTO": SECOND, "MAX_RTO": 60 * SECOND, "INITIAL_RTO": 3 * SECOND,
    "ACK_EVERY": 2, "ACK_DELAY": 200 * MS, "RWND": 20 * CHUNK, "PATH_MAX_RETRANS": 5, "HEARTBEAT": SECOND,
    "MAX_BURST": 4, "DUPACKS": 3, "PROBE_FIRST": 1, "SACK_FIRST": 1, "INITIAL_CWND": 4380,
    "SSTHRESH_FLOOR": 5872,
}  # fmt: skip
NO_FLOATS = np.zeros(0)

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox


class Wire:
    """Wire between two endpoints: packets take 10 ms and up to `spread` more, and one in `lose` is lost."""

    def __init__(self, *, limit: int, spread: int = 0, lose: int = 0, flow: int = 0, **columns: int) -> None:
        self.p = np.zeros(len(P), np.int64)
        for name, value in (COLUMNS | columns).items():
            self.p[P[name]] = value
        self.s = np.zeros(int(sctp.scratch_words(20, self.p[RowP.RING])), np.int64)
        assert sctp.prepare(self.p, self.s, NO_FLOATS, limit, 0, flow, sctp.WORDS) == len(self.s)
        self.rng = np.random.default_rng(1)
        self.spread, self.lose = spread, lose
        self.wire: list[tuple[int, int, int]] = []  # arrival, direction, number
        self.fresh = 0
        self.heartbeats: list[int] = []  # arrival times of packets without data

    def run(self, end: int) -> None:
        """Process all events until `end` [ns], or until the association is overfull."""
        p, s, now = self.p, self.s, 0
        sctp.start(p, s, NO_FLOATS, now)
        while now <= end and not sctp.overfull(s):
            self.transmit(now)
            arrival = self.wire[0][0] if self.wire else end + 1
            now = min(arrival, int(sctp.due(s)), int(sctp.due_at_receiver(s)))
            if now > end:
                break
            if now == arrival:
                self.arrive(now)
            elif now == sctp.due(s):
                sctp.on_timeout(p, s, NO_FLOATS, NO_FLOATS, now)
            else:
                self.carry(now, 1, sctp.on_delay(p, s))

    def transmit(self, now: int) -> None:
        while (packet := sctp.next_segment(self.p, self.s, NO_FLOATS, now, False)) >= 0:
            self.carry(now, 0, packet)

    def arrive(self, now: int) -> None:
        _, direction, number = heapq.heappop(self.wire)
        if direction == 1:
            sctp.on_ack(self.p, self.s, NO_FLOATS, NO_FLOATS, now, number)
            return
        if not sctp.is_data(self.p, self.s, number):
            self.heartbeats.append(now)
        answer, fresh = sctp.on_data(self.p, self.s, now, number, False)
        if fresh:
            assert 0 < sctp.delay_of(self.p, self.s, now, number) <= now
        self.fresh += fresh
        self.carry(now, 1, answer)

    def carry(self, now: int, direction: int, number: Any) -> None:
        if number < 0 or (self.lose and self.rng.integers(self.lose) == 0):
            return
        late = int(self.rng.integers(self.spread + 1))
        heapq.heappush(self.wire, (now + 10 * MS + late, direction, int(number)))


@pytest.mark.full
@pytest.mark.parametrize(("spread", "lose"), [(0, 0), (30 * MS, 0), (0, 20), (30 * MS, 10)])
def test_all_data_come_whatever_happens_on_the_way(spread: int, lose: int) -> None:
    wire = Wire(limit=300, spread=spread, lose=lose)
    wire.run(600 * SECOND)
    assert sctp.finished(wire.s) and sctp.complete(wire.p, wire.s)
    assert sctp.in_order(wire.p, wire.s) == sctp.acked(wire.p, wire.s) == wire.fresh == 300
    sent, again = wire.s[sctp.Counter.SENT], wire.s[sctp.Counter.RETRANSMITTED]
    assert sent == 300 + again
    assert (again > 0) == (spread > 0 or lose > 0)


@pytest.mark.full
def test_a_packet_that_is_overwritten_on_its_way_ends_the_row() -> None:
    small, large = Wire(limit=ENDLESS, RING=8), Wire(limit=ENDLESS, RING=32)
    for wire in small, large:
        wire.run(10 * SECOND)
    assert sctp.overfull(small.s) and not sctp.overfull(large.s)
    assert sctp.next_segment(small.p, small.s, NO_FLOATS, 0, False) == sctp.FULL


def test_what_is_blocked_waits() -> None:
    wire = Wire(limit=1)
    sctp.start(wire.p, wire.s, NO_FLOATS, 5)
    assert sctp.next_segment(wire.p, wire.s, NO_FLOATS, 5, True) == sctp.NONE
    assert sctp.resume(wire.p, wire.s, NO_FLOATS)
    assert sctp.next_segment(wire.p, wire.s, NO_FLOATS, 6, False) == 0
    assert sctp.size_of(wire.p, wire.s, 0) == 56 and not sctp.is_data(wire.p, wire.s, 0)
    assert not sctp.resume(wire.p, wire.s, NO_FLOATS)


def test_heartbeats_of_flows_are_drawn_apart() -> None:
    wires = [Wire(limit=1, flow=flow) for flow in (0, 0, 1)]
    for wire in wires:
        wire.run(20 * SECOND)
    same, too, other = (wire.heartbeats for wire in wires)
    assert len(same) > 6
    assert same == too != other
