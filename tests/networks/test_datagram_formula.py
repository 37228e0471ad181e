"""The formula of a datagram flow over a path, beside packets and beside numbers by hand."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate

HOP: dict[str, Any] = {
    "rate": {"log_uniform": ["1 Mbit/s", "20 Mbit/s"]}, "delay": {"log_uniform": ["1 ms", "50 ms"]},
    "queue": {"integers": [5, 100]}, "loss": {"choice": [0, "0.1 %", "3 %"]},
}  # fmt: skip
FLOW = {
    "protocol": "udp", "rate": {"log_uniform": ["200 kbit/s", "30 Mbit/s"]},
    "payload": {"integers": ["100 B", "1460 B"]},
}  # fmt: skip


def goodput(scenario: dict[str, Any], fidelity: str, replications: int = 1) -> Floats:
    """Return the goodput of each replication [Mbit/s]."""
    found = simulate(Scenario.check({**scenario, "fidelity": fidelity}), replications=replications)
    return found.frame["goodput_bps"].to_numpy(np.float64) / 1e6


def errors(hop: dict[str, Any], **flow: Any) -> Floats:
    """Return the relative errors of the formula on 300 random paths, in ascending order."""
    scenario = {
        "duration": "20 s", "transport": FLOW | flow, "hops": [{"count": {"integers": [1, 4]}, "each": hop}]
    }  # fmt: skip
    return np.sort(goodput(scenario, "formula", 300) / goodput(scenario, "packet", 300) - 1)


@pytest.mark.parametrize(
    ("hop", "flow"),
    [
        ({}, {}),
        ({}, {"start": "1 s", "stop": "12 s"}),
        ({"outages": {"up": "8 s", "down": {"log_uniform": ["10 ms", "2 s"]}}}, {}),
    ],
    ids=["hops", "start and stop", "outages"],
)
def test_the_formula_is_as_packets(hop: dict[str, Any], flow: dict[str, Any]) -> None:
    """The remaining errors come from random losses of few packets, packets in flight at the end, and queues
    after outages.
    """
    found = errors(HOP | hop, **flow)
    assert abs(np.median(found)) < 0.002
    assert np.quantile(found, 0.05) > -0.01 and np.quantile(found, 0.95) < 0.03


def test_cross_traffic_and_the_flow_share_a_full_queue() -> None:
    """Packets of two constant rates meet a full queue in a fixed pattern, so single paths differ widely."""
    cross = {"cross_traffic": {"rate": {"log_uniform": ["100 kbit/s", "5 Mbit/s"]}}}
    found = errors(HOP | cross)
    assert abs(np.median(found)) < 0.02
    assert np.quantile(found, 0.25) > -0.05 and np.quantile(found, 0.75) < 0.05


def test_numbers_by_hand() -> None:
    """Packets of 1,000 + 28 bytes at 8 Mbit/s of payload over 4.112 Mbit/s are halved; the queue fills a
    gap.
    """
    flow = {"protocol": "udp", "rate": "8 Mbit/s", "payload": "1000 B", "header": "28 B"}
    first = {"rate": "1 Gbit/s", "delay": "0 ms"}
    slow = {"rate": "4.112 Mbit/s", "delay": "0 ms", "queue": 51}
    path = {"duration": "10 s", "transport": flow}
    gap = {"outages": [{"start": "5 s", "duration": "400 ms"}]}
    expected = [
        ([first], 8.0),
        ([first, slow], 4.0),
        # Sending the 50 queued packets takes 100 ms, so 300 ms remain of a gap of 400 ms before the queue.
        ([first | gap, slow], 4.0 * 0.97),
        ([first, slow | gap], 4.0 * 0.96),
        ([first | gap, first | gap], 8.0 * 0.96),  # two outages at the same time cost one
    ]
    for hops, value in expected:
        for fidelity in ("formula", "fluid", "packet"):
            assert goodput({**path, "hops": hops}, fidelity)[0] == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize(
    ("flow", "fidelity", "says"),
    [
        ({"gaps": "exponential"}, "fluid", "gaps: exponential.*; write packet"),
        ({"class": "voice"}, "fluid", "delays of udp"),
        ({"gaps": "exponential"}, "formula", "gaps: exponential.*; write packet"),
        ({"bytes": "1 MB"}, "formula", "endless"),
    ],
)
def test_what_is_not_known_is_refused(flow: dict[str, Any], fidelity: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        goodput({"duration": "1 s", "transport": FLOW | flow, "hops": [HOP]}, fidelity)
