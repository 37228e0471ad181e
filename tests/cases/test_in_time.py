"""Outcome `CLASS_in_time`: the share of the packets sent that arrive within `late`, lost ones included.

`CLASS_late` and delays consider delivered packets only, so an overloaded link with a short queue looks fine.
"""

import numpy as np
import pytest

from netcarlo import simulate
from netcarlo.networks import classes
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable

pytestmark = pytest.mark.usefixtures("uncompiled")

RATE = {"udp": {"rate": "1 Mbit/s", "payload": "1000 B", "header": "0 B"}}


def shared(count, **fields):
    """Return streams of 1 Mbit/s over 8 Mbit/s with a queue of 8 ms, as in a plan of 60 videos."""
    flows = [{"count": count, "each": {"class": "video", "late": "50 ms", **RATE}}]
    return Scenario.check({
        "duration": "8 s", "replications": 4, "transport": {"protocol": "newreno"},
        "shared": {"dumbbell": {"rate": "8 Mbit/s", "delay": "5 ms", "queue": 8}, "flows": flows},
    } | fields)  # fmt: skip


@pytest.mark.full
def test_lost_packets_are_not_in_time():
    """With 60 videos on a link for 50, no delivered packet is late, but a sixth of all packets is lost."""
    frame = simulate(shared(10), target="cpu").frame
    assert (frame.video_late == 0).all() and (frame.video_delay_p95_s < 0.02).all()
    assert frame.video_loss_ratio.to_numpy() == pytest.approx(1 - 8 / 10, abs=0.003)
    assert frame.video_in_time.to_numpy() == pytest.approx(1 - frame.video_loss_ratio, abs=1e-12)


@pytest.mark.full
def test_all_is_in_time_on_a_link_that_is_large_enough():
    frame = simulate(shared(7), target="cpu").frame
    assert (frame.video_in_time == 1).all() and (frame.video_loss_ratio == 0).all()


@pytest.mark.full
def test_late_and_lost_packets_are_both_missing():
    """With 10 % random loss and exponential delays of mean 0.1 ms, a bound of 0.2 ms leaves the product
    of both shares."""
    hop = {
        "rate": "unlimited", "delay": "0.1 ms", "loss": 0.1,
        "jitter": {"exponential": {"mean": "0.1 ms"}, "reorder": True},
    }  # fmt: skip
    call = {"protocol": "udp", "rate": "4 Mbit/s", "payload": "972 B", "class": "call", "late": "0.3 ms"}
    asked = Scenario.check({
        "duration": "60 s", "replications": 4, "transport": call, "paths": [{"hops": [hop]}],
    })  # fmt: skip
    frame = simulate(asked, target="cpu").frame
    assert frame.call_in_time.mean() == pytest.approx(0.9 * (1 - np.exp(-2)), abs=0.003)
    arrived = frame.delivered * (1 - frame.call_late)
    gone = frame.sent - frame.in_flight - frame.delivered
    assert frame.call_in_time.to_numpy() == pytest.approx(arrived / (frame.delivered + gone), abs=1e-12)


def test_what_waits_too_long_is_not_in_time():
    """An unlimited queue loses nothing; packets in it at the end do not count."""
    flows = [{"count": 10, "each": {"class": "video", "late": "50 ms", **RATE}}]
    dumbbell = {"rate": "8 Mbit/s", "delay": "5 ms", "queue": "unlimited"}
    frame = simulate(
        Scenario.check({
            "duration": "8 s", "replications": 2, "transport": {"protocol": "newreno"},
            "shared": {"dumbbell": dumbbell, "flows": flows},
        }), target="cpu",
    ).frame  # fmt: skip
    assert (frame.video_loss_ratio == 0).all()
    assert frame.video_in_time.to_numpy() == pytest.approx(1 - frame.video_late, abs=1e-12)
    assert (frame.video_in_time < 0.05).all()


def test_a_retransmitted_packet_counts_once():
    """TCP repairs its losses, so only late packets are missing."""
    hop = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": 50, "loss": "2 %"}
    transport = {"protocol": "sack", "class": "bulk", "late": "60 ms"}
    asked = Scenario.check({
        "duration": "20 s", "replications": 4, "transport": transport, "paths": [{"hops": [hop]}],
    })  # fmt: skip
    frame = simulate(asked, target="cpu").frame
    assert (frame.bulk_loss_ratio > 0.01).all() and (frame.bulk_late > 0).all()
    assert frame.bulk_in_time.to_numpy() == pytest.approx(1 - frame.bulk_late, abs=1e-12)


def test_managed_queues_of_a_path():
    call = {"protocol": "udp", "rate": "12 Mbit/s", "payload": "972 B", "class": "call", "late": "40 ms"}
    hop = {"rate": "8 Mbit/s", "delay": "2 ms", "queue": 500, "codel": {}}
    asked = Scenario.check({
        "duration": "8 s", "replications": 2, "transport": call, "paths": [{"hops": [hop]}],
    })  # fmt: skip
    frame = simulate(asked, target="cpu").frame
    in_time = (1 - frame.call_late) * (1 - frame.call_loss_ratio)
    assert (frame.call_loss_ratio > 0.05).all()
    assert frame.call_in_time.to_numpy() == pytest.approx(in_time.to_numpy(), abs=0.002)


def test_an_overloaded_cell():
    call = {"source": "gateway", "sink": "station", "class": "call", "late": "100 ms",
            "udp": {"rate": "6 Mbit/s", "payload": "1000 B"}}  # fmt: skip
    asked = Scenario.check({
        "duration": "3 s", "replications": 2, "transport": {"protocol": "sack"},
        "wireless": {"cell": {"stations": 2}, "rate": "6 Mbit/s", "queue": 20,
                     "flows": [{"each": call, "count": 2}]},
    })  # fmt: skip
    frame = simulate(asked, target="cpu").frame
    in_time = (1 - frame.call_late) * (1 - frame.call_loss_ratio)
    assert (frame.call_loss_ratio > 0.3).all()
    assert frame.call_in_time.to_numpy() == pytest.approx(in_time.to_numpy(), abs=0.01)


def test_an_ad_hoc_network():
    steps = [("0 s", 240), ("4 s", 240), ("4.5 s", 340)]  # later the sink is out of range
    nodes = [[{"time": "0 s", "x": "0 m"}], [{"time": time, "x": f"{x} m"} for time, x in steps]]
    network = {"range": "250 m", "routing": "ideal", "mobility": {"model": "given", "nodes": nodes}}
    call = {"protocol": "udp", "rate": "200 kbit/s", "payload": "1000 B", "class": "call", "late": "100 ms"}
    asked = Scenario.check({"duration": "40 s", "replications": 2, "transport": call, "adhoc": network})
    frame = simulate(asked, target="cpu").frame
    share = frame.delivered * (1 - frame.call_late) / (frame.sent - frame.in_flight)
    assert frame.call_in_time.to_numpy() == pytest.approx(share.to_numpy(), abs=1e-12)
    assert (frame.call_in_time < 0.3).all() and (frame.call_late < 0.05).all()


def test_a_fluid_knows_it():
    found = simulate(shared(10, fidelity="fluid"), target="cpu").frame
    assert found.video_in_time.to_numpy() == pytest.approx(0.8, abs=0.02)


def test_only_classes_with_a_bound_have_it():
    flows = [{"class": "video", **RATE}, {"class": "call", "late": "20 ms", **RATE}]
    asked = shared(1).model_dump(exclude_unset=True)
    asked["shared"]["flows"] = flows
    have = measurable.outcomes(Scenario.check(asked))
    assert "call_in_time" in have and "video_in_time" not in have
    assert classes.outcome("call_in_time").better == "more"  # type: ignore[union-attr]


def test_the_warm_up_does_not_count():
    """Losses of a burst in the warm-up do not count; all later packets are in time."""
    burst = {"udp": {"rate": "20 Mbit/s", "payload": "1000 B", "stop": "1 s"}}
    flows = [{"count": 4, "each": {"class": "video", "late": "50 ms", **RATE}}, burst]
    dumbbell = {"rate": "8 Mbit/s", "delay": "5 ms", "queue": 8}
    data = {
        "duration": "6 s", "replications": 2, "transport": {"protocol": "newreno"},
        "shared": {"dumbbell": dumbbell, "flows": flows},
    }  # fmt: skip
    whole = simulate(Scenario.check(data), target="cpu").frame
    assert (whole.video_in_time < 0.95).all()
    after = simulate(Scenario.check({**data, "warm_up": "2 s"}), target="cpu").frame
    assert (after.video_in_time == 1).all() and (after.video_loss_ratio == 0).all()
