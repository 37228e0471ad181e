"""Datagram sources at a constant rate: jitter in every kind of network, notes on synchronised sources."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo import estimate
from netcarlo.errors import InputError
from netcarlo.estimation import phases
from netcarlo.kernels.base.parameters import P, RowP, UdpP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.udp.source import Known, offset_of
from netcarlo.kernels.wireless.layout import Flow
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema.notes import Note
from netcarlo.simulation.ensemble import build
from tests.tiers import parameters

WIFI = Path(__file__).with_name("wifi_cbr_phase_lock.yaml")
UDP = {"protocol": "udp", "rate": "8 Mbit/s"}
HOP = {"rate": "10 Mbit/s", "delay": "5 ms"}
NETWORKS: dict[str, dict[str, Any]] = {
    "path": {"hops": [HOP]},
    "path with an AQM": {"hops": [{**HOP, "queue": "codel"}]},
    "two paths of which one is used": {"paths": [{"hops": [HOP]}]},
    "mobile host": {
        "paths": [{"hops": [HOP, HOP]}],
        "mobility": {"protocol": "fmipv6", "times": ["2 s"], "outage": "50 ms"},
    },
    "path that reorders": {"hops": [{**HOP, "jitter": {"uniform": ["0 ms", "9 ms"], "reorder": True}}]},
    "shared links": {"shared": {"dumbbell": HOP, "flows": [{"count": 2}]}},
    "cell": {"wireless": {"standard": "802.11g", "cell": {"stations": 2}}},
    "chain": {"wireless": {"standard": "802.11b", "chain": {"hops": 2}}},
    "mesh": {
        "wireless": {
            "standard": "802.11g",
            "area": {"side": "50 m", "stations": 3},
            "ranges": {"decode": "99 m"},
        }
    },
    "ad hoc network": {
        "adhoc": {"nodes": 3, "area": {"side": "50 m"}, "range": "100 m", "mobility": {"model": "static"}}
    },
}


def note_on(scenario: Scenario) -> str:
    """Return the note on synchronised sources, or an empty string."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        phases.note(scenario)
    return " ".join(str(each.message) for each in found if issubclass(each.category, Note))


def changed(scenario: Scenario, **values: Any) -> Scenario:
    return scenario.with_values({name.replace("__", "."): value for name, value in values.items()})


def shared(*flows: dict[str, Any]) -> Scenario:
    dumbbell = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": "50 packets"}
    data = {"duration": "10 s", "transport": UDP, "shared": {"dumbbell": dumbbell, "flows": list(flows)}}
    return Scenario.check(data)


def test_jitter_shares_the_queue_of_a_slow_station() -> None:
    """A queue that both streams reach at random times gives each half: 2 x 11,760 bit in 389 + 2,343 us."""
    found = estimate(load_scenario(WIFI, values={"transport.jitter": "20 %"}), replications=16).table
    assert found.loc["goodput_bps", "mean"] == pytest.approx(2 * 11760 / 2732e-6, rel=0.05)
    assert found.loc["goodput_bps", "sd"] < 0.02 * found.loc["goodput_bps", "mean"]
    assert found.loc["fairness", "q05"] > 0.995


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_takes_jitter(name: str) -> None:
    """Jitter varies the gaps and not the rate; without it the gaps are equal."""
    data = {"duration": "4 s", "transport": UDP, **NETWORKS[name]}
    plain = Scenario.check(data)
    scenario = plain.with_values({"transport.jitter": "20 %"})
    for each, share in ((plain, 0.0), (scenario, 0.2)):
        rows = build(each, replications=2).rows
        if name in ("cell", "chain", "mesh"):
            flow = rows.network[0, : len(Flow)]
            interval, spread = flow[Flow.INTERVAL], flow[Flow.SPREAD]
        else:
            table = rows.flows[0, 0] if hasattr(rows, "flows") else rows.parameters[0]
            interval, spread = table[UdpP.INTERVAL], table[UdpP.SPREAD]
        assert spread == pytest.approx(2 * share * interval, abs=2)


@pytest.mark.parametrize("name", parameters(["path", "shared links", "cell"], full=["shared links"]))
def test_jitter_keeps_the_rate(name: str) -> None:
    data = {"duration": "20 s", "transport": {**UDP, "rate": "1 Mbit/s"}, **NETWORKS[name]}
    sent = [
        estimate(Scenario.check(data), replications=8).table.loc["sent"],
        estimate(Scenario.check(data).with_values({"transport.jitter": "50 %"}), replications=8).table.loc[
            "sent"
        ],
    ]
    assert sent[1]["mean"] == pytest.approx(sent[0]["mean"], rel=0.01)
    assert sent[1]["sd"] > sent[0]["sd"]


def test_sending_times_are_found_again_from_any_other() -> None:
    """Sending times do not depend on earlier requests: they equal a twin that adds up all gaps."""
    p = np.zeros(len(P), np.int64)
    p[RowP.SEED], p[RowP.REPLICATION] = 7, 3
    interval, spread, stream, n = 1000, 1500, 5, 60
    words = [int(draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, k)[0]) for k in range(n)]
    gaps = [max(interval - spread // 2 + spread * word // 2**32, 1) for word in words]
    times = np.concatenate([[0], np.cumsum(gaps)])
    known = np.zeros(Known.SIZE, np.int64)
    for number in np.random.default_rng(1).integers(0, n, 200):
        assert offset_of(p, known, 0, stream, int(number), interval, spread) == times[number]


def test_equal_intervals_in_one_queue_are_noted() -> None:
    locked = [
        load_scenario(WIFI),
        shared({"count": 2}),
        shared({"udp": {"rate": "1 Mbit/s"}}, {"count": 3, "each": {"udp": {"rate": "1 Mbit/s"}}}),
        Scenario.check(
            {"duration": "5 s", "transport": {**UDP, "payload": "972 B"}}
            | {"hops": [{**HOP, "cross_traffic": {"rate": "8 Mbit/s", "packet": "972 B"}}]}
        ),
    ]
    for scenario in locked:
        text = note_on(scenario)
        assert "jitter: 10 %" in text, scenario
        fields = dict(re.findall(r"--set (\S+)='([^']+)'", text))
        assert fields and note_on(scenario.with_values(fields)) == ""  # the remedy is accepted and sufficient


def test_other_sources_are_not_noted() -> None:
    wifi = load_scenario(WIFI)
    slow = {"source": "gateway", "sink": 1, "udp": {"rate": "41 Mbit/s"}}
    free = [
        changed(wifi, wireless__flows=[{"source": "gateway", "sink": 0}, slow]),
        changed(wifi, wireless__flows="up"),  # each station has its own queue and random back-off
        changed(wifi, transport__jitter="1 %"),
        shared({}),
        shared({}, {"udp": {"rate": "8.1 Mbit/s"}}),
        shared({"udp": {"rate": "8 Mbit/s", "on": "1 s", "off": "1 s"}}, {}),
        shared({"udp": {"rate": "8 Mbit/s", "stop": "4 s"}}, {"udp": {"rate": "8 Mbit/s", "start": "5 s"}}),
        changed(shared({"count": 2}), fidelity="fluid"),
    ]
    for scenario in free:
        assert note_on(scenario) == "", scenario


def test_bad_jitter_is_one_line() -> None:
    with pytest.raises(InputError, match="jitter"):
        load_scenario(WIFI, values={"transport.jitter": "120 %"})
