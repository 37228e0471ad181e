"""Jitter that reorders packets, in scenarios: known answers, and refused scenarios."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import estimate
from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.simulation.trace import trace

EXPONENTIAL: dict[str, Any] = {"exponential": {"mean": "4 ms"}, "reorder": True}
UDP = {"protocol": "udp", "rate": "3.888 Mbit/s", "payload": "972 B", "header": "28 B"}


def scenario(*hops: dict, **of: object) -> Scenario:
    """Return datagrams of 1000 B on the wire, one every 2 ms."""
    of = {"transport": UDP, "duration": "60 s", **of}
    return Scenario.check({**of, "hops": [{"rate": "unlimited", "delay": "10 ms", **hop} for hop in hops]})


def arrivals(of: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """Return the sending and arrival times of datagrams [s], NaN if lost or in flight at the end."""
    events = trace(of, replication=0).frame
    sent, received = (events[events.event == name].set_index("sequence") for name in ("send", "receive"))
    return sent.time_s.to_numpy(), received.time_s.reindex(sent.index).to_numpy()


def overtaken(gap: float, mean: float) -> float:
    """Return P(a packet arrives after one sent later) with exponential delays and equal gaps between
    packets.

    A packet with delay x is not overtaken by the j-th after it with probability exp(-(x - j gap) / mean)
    for x > j gap. This is integrated over x between n gap and (n + 1) gap, for each n.
    """
    n = np.arange(400)
    q = np.exp(-gap / mean * np.arange(401) * np.arange(1, 402) / 2)
    return float(1 - ((q[n] - q[n + 1]) / (n + 1)).sum())


@pytest.mark.full
@pytest.mark.parametrize("mean_ms", [0.5, 2, 4, 20])
def test_share_of_datagrams_overtaken_is_the_known_one(mean_ms: float) -> None:
    of = scenario({"jitter": {"exponential": {"mean": f"{mean_ms} ms"}, "reorder": True}})
    found = estimate(of, replications=4, seed=2).outcomes.frame
    share = found.reordered / found.received
    assert share.mean() == pytest.approx(overtaken(2, mean_ms), abs=4 * share.std() / 2 + 0.003)
    assert overtaken(1, 1e9) == pytest.approx(1, abs=0.05) and overtaken(1, 1e-3) == 0


@pytest.mark.full
def test_overtaking_counts_what_the_trace_shows() -> None:
    of = scenario({"jitter": EXPONENTIAL}, {"jitter": EXPONENTIAL, "loss": "5 %"})
    _, received = arrivals(of)
    there = received[~np.isnan(received)]
    late = there > np.minimum.accumulate(there[::-1])[::-1]
    found = estimate(of, replications=1).outcomes.frame.iloc[0]
    assert found.reordered == late.sum() > 1000
    assert found.received == len(there) and found.sent == len(received)


@pytest.mark.full
@pytest.mark.parametrize("field", ["jitter", "ack_jitter"])
def test_each_delay_is_drawn_on_its_own_within_the_bounds(field: str) -> None:
    """Delays are independent and uniform; jitter of acknowledgements is separate from that of data."""
    sent, received = arrivals(scenario({field: {"uniform": ["3 ms", "23 ms"], "reorder": True}}))
    extra = (received - sent - 0.010)[~np.isnan(received)]
    if field == "ack_jitter":
        assert abs(extra).max() < 1e-8
        return
    assert extra.min() >= 0.003 - 1e-8 and extra.max() <= 0.023 + 1e-8
    assert extra.mean() == pytest.approx(0.013, rel=0.01)
    assert extra.std() == pytest.approx(0.020 / 12**0.5, rel=0.01)
    assert abs(np.corrcoef(extra[1:], extra[:-1])[0, 1]) < 0.03  # close to 1 if the order is kept


@pytest.mark.full
def test_gaps_wider_than_the_spread_keep_order() -> None:
    found = estimate(scenario({"jitter": {"uniform": ["0 ms", "2 ms"], "reorder": True}}), replications=2)
    assert (found.outcomes.frame.reordered == 0).all()


@pytest.mark.full
@given(st.floats(3.95, 30), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_the_next_hop_meets_packets_as_they_come(rate: float, seed: int) -> None:
    """Behind a reordering hop, a queue serves packets in the order of arrival: Lindley's recursion over
    sorted times."""
    first = {"jitter": EXPONENTIAL}
    slow = {"rate": f"{rate} Mbit/s", "delay": "1 ms", "queue": "unlimited"}
    of = {"duration": "5 s", "seed": seed, "transport": UDP | {"stop": "4 s"}}
    (_, come), (_, gone) = arrivals(scenario(first, **of)), arrivals(scenario(first, slow, **of))
    free, expected = 0.0, np.zeros(len(come))
    for k in np.argsort(come, kind="stable"):
        free = max(free, come[k]) + 8e-3 / rate
        expected[k] = free + 0.001
    assert len(come) > 1900 and gone == pytest.approx(expected, abs=1e-6)


@pytest.mark.full
def test_order_counts_for_tcp() -> None:
    """Three duplicate ACKs halve a window without a loss; Linux adapts its reordering window."""
    goodput = {}
    for reorder in (False, True):
        for protocol in ("newreno", "linux"):
            hop = {"rate": "10 Mbit/s", "delay": "20 ms", "jitter": EXPONENTIAL | {"reorder": reorder}}
            of = scenario(hop, transport={"protocol": protocol}, duration="30 s")
            goodput[protocol, reorder] = estimate(of, replications=4).outcomes.frame.goodput_bps.mean()
    assert goodput["newreno", True] < 0.5 * goodput["newreno", False]
    assert goodput["linux", True] > 0.9 * goodput["linux", False]


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["newreno", "sctp", "udp"])
def test_reordered_is_known_where_packets_can_overtake(protocol: str) -> None:
    for jitter, known in ((EXPONENTIAL, True), (EXPONENTIAL | {"reorder": False}, False)):
        transport = UDP if protocol == "udp" else {"protocol": protocol}
        of = scenario({"jitter": jitter}, transport=transport, duration="2 s")
        found = estimate(of, replications=3).outcomes.frame
        assert found.get("reordered", found.sent * np.nan).notna().all() == known


def test_written_and_read_again_it_is_the_same() -> None:
    of = scenario({"jitter": EXPONENTIAL, "ack_jitter": {"uniform": ["0 ms", "2 ms"], "reorder": False}})
    written = fields.texts(of)
    again = of.with_values({"seed": of.seed})
    assert again == of and fields.texts(again) == written
    hop = of.paths[0].hops[0].model_dump(mode="json")
    assert hop["jitter"]["reorder"] is True and "reorder" not in hop["ack_jitter"]


HOP = {"rate": "1 Mbit/s", "delay": "1 ms"}
REORDERS = HOP | {"jitter": EXPONENTIAL}
TWO = {"paths": [{"hops": [HOP]}, {"hops": [REORDERS]}], "transport": {"protocol": "sctp"}}
MOBILE = {"hops": [HOP, REORDERS], "transport": {"protocol": "sack"},
          "mobility": {"protocol": "mipv6", "every": "5 s"}}  # fmt: skip
CABLES = {"transport": {"protocol": "sack"}, "shared": {"dumbbell": REORDERS, "flows": [{}]}}
BACK = {"transport": {"protocol": "sack"},
        "shared": {"dumbbell": HOP | {"reverse": {"jitter": EXPONENTIAL}}, "flows": [{}]}}  # fmt: skip
REFUSED = [
    ({"hops": [HOP | {"jitter": {"uniform": ["0 s", "1 s"], "reorder": 3}}]},
     "has a reorder that is neither true nor false; write true, or remove it"),
    ({"hops": [HOP | {"jitter": {"reorder": True}}]}, "is not a distribution; write one of"),
    (TWO, "jitter with reorder needs one path, but there are two; remove one, or reorder"),
    (MOBILE, "mobility needs hops without jitter"),
    ({"hops": [REORDERS | {"queue": "codel"}]}, "codel needs a path whose jitter keeps the order"),
    (CABLES, "shared.dumbbell.jitter cannot reorder, as links keep the order of packets; remove reorder"),
    (BACK, "shared.dumbbell.reverse.jitter cannot reorder"),
    ({"hops": [REORDERS], "fidelity": "fluid"}, "the fluid model does not support jitter of a hop"),
]


@pytest.mark.parametrize(("of", "message"), REFUSED)
def test_what_is_refused_and_why(of: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        estimate(Scenario.check({"duration": "3 s", "transport": {"protocol": "sack"}, **of}), replications=2)
    assert message in str(error.value) and "\n" not in str(error.value)
