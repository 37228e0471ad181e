"""Flows whose size is given in bytes end with a short packet: payload, times and load follow the bytes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import estimate
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.simulate import simulate

CASE = Path(__file__).with_name("cdf_small_flows.yaml")
RATE, DELAY_S = 10e6, 0.01
HOP = {"rate": "10 Mbit/s", "delay": "10 ms"}
NETWORKS: dict[str, dict[str, Any]] = {
    "path": {"hops": [HOP]},
    "shared links": {"shared": {"dumbbell": HOP, "flows": [{}]}},
    "cell": {"wireless": {"standard": "802.11g", "cell": {"stations": 1}}},
    "ad hoc network": {
        "adhoc": {"nodes": 2, "area": {"side": "9 m"}, "range": "100 m", "mobility": {"model": "static"}}
    },
}
TRANSPORTS: dict[str, dict[str, Any]] = {
    "newreno": {"protocol": "newreno", "payload": "1000 B", "header": "40 B"},
    "linux": {"protocol": "linux", "payload": "1000 B"},
    "sctp": {"protocol": "sctp", "payload": "1000 B"},
    "udp": {"protocol": "udp", "payload": "1000 B", "rate": "1 Mbit/s"},
}


def outcomes(network: str, transport: str, size: int, **more: Any) -> dict[str, float]:
    """Return the outcomes of one transfer of `size` bytes."""
    sender = TRANSPORTS[transport] | {"bytes": f"{size} B", **more}
    data = {"duration": "20 s", "transport": sender, **NETWORKS[network]}
    if (network, transport) == ("shared links", "udp"):  # with the TCP model, which other tests compile
        stream = {name: value for name, value in sender.items() if name != "protocol"}
        data |= {"transport": TRANSPORTS["newreno"]}
        data |= {"shared": {"dumbbell": HOP, "flows": [{"udp": stream}]}}
    scenario = Scenario.check(data)
    found: dict[str, float] = simulate(scenario, replications=1, target="cpu").frame.iloc[0].to_dict()
    return found


CELLS = [
    ("path", "newreno"), ("path", "linux"), ("path", "sctp"), ("path", "udp"), ("shared links", "newreno"),
    pytest.param("shared links", "udp", marks=pytest.mark.full), ("cell", "udp"),
    ("ad hoc network", "newreno"),
]  # fmt: skip


@pytest.mark.parametrize(("network", "transport"), CELLS)
@given(size=st.integers(1, 30_000))
@settings(deadline=None, max_examples=8)
def test_what_arrives_is_what_was_asked_for(network: str, transport: str, size: int) -> None:
    found = outcomes(network, transport, size)
    time_s = 20.0 if network == "shared links" else found["completion_s"]  # whole window
    assert found["goodput_bps"] * time_s / 8 == pytest.approx(size, rel=1e-6)
    assert found["delivered"] == -(-size // 1000)


@pytest.mark.full
@pytest.mark.parametrize("network", ["path", "shared links"])
def test_completion_of_datagrams_by_hand(network: str) -> None:
    """One and one and a half payloads of 1,000 bytes with 28 bytes of headers; the second datagram is
    sent 8 ms later."""
    access = 0.0 if network == "path" else 8 * 2 / 1e9  # host cables of 1 Gbit/s, the default
    for size, sent_s, last in ((1000, 0.0, 1028), (1500, 8e-3, 528), (700, 0.0, 728), (1001, 8e-3, 29)):
        found = outcomes(network, "udp", size)["completion_s"]
        assert found == pytest.approx(sent_s + 8 * last / RATE + DELAY_S + last * access, abs=1e-5)


@pytest.mark.full
@pytest.mark.parametrize(
    ("network", "transport"), [("path", "newreno"), ("path", "linux"), ("shared links", "newreno")]
)
def test_half_a_payload_takes_half_as_long(network: str, transport: str) -> None:
    """A short packet behind a full one takes only the transmission time of its bytes with headers."""
    header = 40 if transport == "newreno" else 52
    one, more, two = (outcomes(network, transport, size)["completion_s"] for size in (1000, 1500, 2000))
    cable = 1 if network == "path" else 1.01  # sink cable of 1 Gbit/s
    assert more - one == pytest.approx(8 * (500 + header) / RATE, rel=0.02 * cable)
    assert two - one == pytest.approx(8 * (1000 + header) / RATE, rel=0.02 * cable)


def test_sizes_in_packets_stay_whole() -> None:
    frames = []
    for size in ({"packets": 7}, {"bytes": "7000 B"}):
        sender = TRANSPORTS["newreno"] | size
        scenario = Scenario.check({"duration": "20 s", "transport": sender, **NETWORKS["path"]})
        frames.append(simulate(scenario, replications=3, target="cpu").frame)
    assert frames[0].equals(frames[1])


@pytest.mark.full
def test_load_of_small_requests() -> None:
    """1,000 flows of 256 bytes per second offer 2.05 Mbit/s of payload; full packets would be 11.5
    Mbit/s.

    The test uses NewReno, whose model takes less time to compile; that of Linux is compared with its
    twin.
    """
    found = estimate(load_scenario(CASE, values={"transport.protocol": "newreno"})).table["mean"]
    flows = found["arrivals"] / 3.0  # per second
    assert flows == pytest.approx(1000, rel=0.05)
    assert found["offered_bps"] == pytest.approx(flows * 256 * 8, rel=1e-9)
    for name in ("carried_bps", "goodput_bps", "acked_bps"):
        assert found[name] == pytest.approx(flows * 256 * 8, rel=0.01), name
    assert found["slowdown_p50"] < 1.2
