"""Meaning of `mean_rtt_s` for each transport, as the reference of outcomes states it, on an empty path."""

import numpy as np
import pytest

import netcarlo

RATE, DELAY = 10e6, 0.020


def rtts(transport: dict[str, object], **more: object) -> np.ndarray:
    """Return `mean_rtt_s` of each replication over a hop without losses and queueing."""
    scenario = {
        "name": "empty", "duration": "20 s", "replications": 40,
        "transport": {"start": {"uniform": ["0 s", "1 s"]}, **transport},
        "hops": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": "100 packets"}], **more,
    }  # fmt: skip
    return np.asarray(netcarlo.simulate(scenario).frame["mean_rtt_s"])


def base(data: int, ack: int) -> float:
    """Return the RTT of a single packet [s], from the sizes of a packet and its ACK with headers [byte]."""
    return 2 * DELAY + 8 * (data + ack) / RATE


def test_ns2_tcp_measures_in_ticks_of_random_phase() -> None:
    one = {"protocol": "newreno", "window": "1 packet", "payload": "1000 B", "header": "40 B", "ack": "40 B"}
    exact = base(1040, 40)
    fixed = rtts({**one, "tick": "10 ms", "clock_phase": "0 s", "start": "0 s"})
    assert 0.04 <= fixed[0] <= 0.05
    many = rtts({**one, "tick": "10 ms"})
    assert np.mean(many) == pytest.approx(exact, rel=0.01)  # the phase makes rounding unbiased
    assert rtts({**one, "tick": "100 ms"}).min() == pytest.approx(0.1)  # at least one tick


def test_sctp_measures_exactly_and_includes_the_delay_of_the_sack() -> None:
    alone = {"protocol": "sctp", "payload": "1000 B", "initial_cwnd": "1016 B", "ssthresh_floor": "1016 B",
             "receiver_window": "1016 B"}  # fmt: skip
    found = rtts({**alone, "ack_delay": "200 ms"})
    undelayed = base(1000 + 16 + 32, 48)
    # Each SACK waits for a second chunk; the first samples are those of heartbeats, which do not wait.
    assert found.mean() == pytest.approx(undelayed + 0.2, rel=0.02)
    assert found.max() < undelayed + 0.2


def test_linux_holds_the_smoothed_rtt_with_delayed_acks() -> None:
    found = rtts({"protocol": "linux", "window": "20 packets", "payload": "1000 B"})
    undelayed = base(1052, 52)
    assert undelayed <= found.min() and found.max() < undelayed + 0.04


def test_the_fluid_model_has_no_ticks_and_no_delayed_acks() -> None:
    one = {"protocol": "newreno", "window": "4 packets", "payload": "1000 B", "header": "40 B", "ack": "40 B"}
    assert rtts({**one, "tick": "100 ms"}, fidelity="fluid") == pytest.approx(base(1040, 40), rel=0.01)
