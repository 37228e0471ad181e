"""Traces of wireless and ad hoc networks: their columns agree with the outcomes."""

import io

import numpy as np
import pandas as pd
import pytest

from netcarlo import Scenario, load_scenario, simulate, trace
from netcarlo.networks.adhoc.events import moves
from netcarlo.reports.trace import history
from netcarlo.reports.trace.parts import sequence
from netcarlo.simulation.trace import per_second
from netcarlo.studies.study import load
from tests.reports.adhoc_events import events

MULTI = {
    "protocol": "sctp_multi", "link_down_s": 10.0, "bandwidth_mbps": 0.5, "paper_rtt_ms": 200.0,
    "sim_time_s": 100.0,
}  # fmt: skip


def chain(**transport):
    return Scenario.check(
        {
            "duration": "3 s",
            "seed": 5,
            "transport": transport,
            "wireless": {
                "standard": "802.11g", "chain": {"hops": 2}, "rate": "6 Mbit/s", "queue": "5 packets",
                "reach": {"sense": 1}, "frame_error": "20 %",
            },
        }
    )  # fmt: skip


def data(frame, event):
    found = frame[(frame["event"] == event) & (frame["carries"] == "data")]
    return found[found["sequence"] >= (1 if frame["acked"].notna().any() else 0)]


@pytest.mark.full
def test_the_trace_of_a_tcp_over_a_chain_agrees_with_its_outcomes():
    scenario = chain(protocol="newreno", payload="1000 B", window=32)
    frame, outcomes = trace(scenario, replication=2)
    expected = simulate(scenario, first=2, replications=1, target="cpu")
    assert (outcomes.integers == expected.integers).all()
    found = outcomes.frame.loc[2]
    assert len(data(frame, "dropped")) == found["drops_queue"] > 0
    at_sink = data(frame, "receive")[lambda f: f["node"] == 2]
    assert len(at_sink) == found["received"]
    assert at_sink["sequence"].nunique() == found["delivered"]
    assert (frame["event"] == "timeout").sum() == found["timeouts"] > 0
    lost = data(frame, "lost")
    assert len(lost) == round(found["loss_retries"] * found["sent"]) > 0
    assert (frame["event"] == "send").sum() == found["attempts"]
    assert frame["time_s"].is_monotonic_increasing
    assert frame["acked"].is_monotonic_increasing
    assert frame["acked"].iloc[-1] <= found["in_order"]
    # A timeout leaves a window of one packet.
    assert set(frame.loc[frame["event"] == "timeout", "cwnd_packets"]) == {1.0}


def test_of_a_source_without_tcp_there_is_no_window():
    scenario = chain(protocol="udp", rate="3 Mbit/s", payload="1000 B")
    frame, outcomes = trace(scenario)
    assert frame[["cwnd_packets", "ssthresh_packets", "rto_s", "acked"]].isna().all().all()
    assert set(frame["carries"]) == {"data"}
    dropped = (frame["event"] == "dropped").sum()
    assert dropped == outcomes.frame.loc[0, "drops_queue"] > 0


def test_networks_of_any_size_can_be_traced():
    scenario = load_scenario("configs/examples/wifi_mesh.yaml", values={"duration": "1200 ms"})
    frame, outcomes = trace(scenario, replication=1)
    expected = simulate(scenario, first=1, replications=1, target="cpu")
    assert (outcomes.integers == expected.integers).all()
    at_gateway = frame[(frame["event"] == "receive") & (frame["time_s"] >= 1)]
    gateway = at_gateway["node"].max()
    assert (at_gateway["node"] == gateway).sum() >= expected.frame.loc[1, "delivered"] > 0


def test_an_adhoc_trace_has_a_column_for_each_meaning():
    frame = moves(events())
    walk = frame[(frame["event"] == "place") & (frame["node"] == 2)]
    assert walk[["x_m", "y_m", "vx_m_per_s", "vy_m_per_s"]].to_numpy().tolist() == [
        [50, 0, 0, 0],
        [50, 0, 0, 10],
    ]
    assert walk[["cwnd_packets", "rto_s", "acked", "sequence", "to"]].isna().all().all()
    links = frame[frame["event"] == "link"]
    assert links[["node", "to", "on"]].iloc[:3].to_numpy().tolist() == [[0, 2, 1], [1, 2, 1], [0, 2, 0]]
    routes = frame[frame["event"] == "route"]
    assert routes["node"].tolist()[:3] == [0, 2, 1]
    assert pd.isna(routes["node"].iloc[3])
    assert frame.loc[frame["event"] == "state", "on"].tolist() == [1, 0]
    flow = frame[frame["event"].isin(["send", "receive", "ack", "timeout", "lost"])]
    assert flow["cwnd_packets"].notna().all()
    assert flow["node"].notna().all()
    assert frame["cwnd_packets"].count() == len(flow)
    assert np.isfinite(flow["rto_s"]).all()


@pytest.mark.parametrize("column", ["sequence", "node", "to", "on", "acked"])
def test_whole_numbers_are_written_without_a_point(column):
    text = moves(events()).to_csv(index=False)
    values = pd.read_csv(io.StringIO(text), dtype=str)[column].dropna()
    assert len(values)
    assert values.str.fullmatch(r"-?\d+").all()


@pytest.mark.full
@pytest.mark.parametrize("transport", [
    {"protocol": "sctp", "payload": "1000 B", "heartbeat_interval": "1 s"},
    {"protocol": "linux", "congestion_control": "bbr"},
])  # fmt: skip
def test_the_trace_of_an_association_in_an_adhoc_network_agrees_with_its_outcomes(transport):
    scenario = Scenario.check(
        {
            "duration": "40 s",
            "seed": 3,
            "transport": transport,
            "adhoc": {
                "nodes": 8, "area": {"side": "350 m"}, "range": "130 m", "residual_error": "3 %",
                "mobility": {"model": "random_waypoint", "speed": "10 m/s"}, "observe": "end",
            },
        }
    )  # fmt: skip
    frame, outcomes = trace(scenario, replication=1)
    assert (outcomes.integers == simulate(scenario, first=1, replications=1, target="cpu").integers).all()
    found = outcomes.frame.loc[1]
    at_sink = frame[frame["event"] == "receive"]
    assert len(at_sink) == found["received"] > 0
    assert at_sink["sequence"].nunique() == found["delivered"]
    assert (frame["event"] == "timeout").sum() == found["timeouts"] > 0
    sent = frame[(frame["event"] == "send") & (frame["node"] == 0)]
    assert set(at_sink["sequence"]) <= set(sent["sequence"]) <= set(range(1, int(found["sent"]) + 1))
    assert frame["acked"].max() == found["acked"]
    acks, timeouts = frame[frame["event"] == "ack"], frame[frame["event"] == "timeout"]
    assert (acks["sequence"] == acks["acked"]).all()
    assert (timeouts["sequence"] == timeouts["acked"] + 1).all()


def test_the_trace_of_an_adhoc_network_agrees_with_its_outcomes():
    reach_m = 130.0
    scenario = Scenario.check(
        {
            "duration": "60 s",
            "seed": 3,
            "transport": {"protocol": "newreno", "payload": "1000 B", "window": 20},
            "adhoc": {
                "nodes": 8, "area": {"side": "350 m"}, "range": f"{reach_m} m", "residual_error": "3 %",
                "mobility": {"model": "random_waypoint", "speed": "10 m/s"}, "observe": "end",
            },
        }
    )  # fmt: skip
    frame, outcomes = trace(scenario, replication=1)
    assert (outcomes.integers == simulate(scenario, first=1, replications=1, target="cpu").integers).all()
    found = outcomes.frame.loc[1]
    assert (frame["event"] == "receive").sum() == found["received"] > 0
    assert (frame["event"] == "timeout").sum() == found["timeouts"]
    assert frame["time_s"].is_monotonic_increasing
    # Links appear and break at a distance of the range ...
    links = frame[(frame["event"] == "link") & (frame["time_s"] > 0)]
    x, y = history.places(frame, links["time_s"].to_numpy())
    at, i, j = np.arange(len(links)), links["node"].to_numpy(int), links["to"].to_numpy(int)
    apart = np.hypot(x[at, i] - x[at, j], y[at, i] - y[at, j])
    assert len(links) > 20
    np.testing.assert_allclose(apart, reach_m, atol=0.01)
    # ... and determine how often there is a route, and how long it is.
    times_s, hops = history.shortest(frame)
    lasts = np.diff(np.append(times_s, 60.0)) / 60.0
    connected = lasts[~np.isnan(hops)].sum()
    assert connected == pytest.approx(found["connected_share"], abs=1e-4)
    for k in (1, 2, 3):
        assert lasts[hops == k].sum() == pytest.approx(found[f"share_hops_{k}"] * connected, abs=1e-4)
    # Data follow routes from the source to the sink.
    ways = [way for way in history.routes(frame).nodes if way]
    assert len(ways) > 2
    assert {(way[0], way[-1]) for way in ways} == {(0, 1)}
    assert max(map(len, ways)) > 2


def test_the_trace_of_sctp_has_heartbeats_and_their_answers():
    frame, outcomes = trace(load("sctp_linkdown").scenario(MULTI, seed=1))
    beats = frame[frame["event"].str.startswith("heartbeat")]
    sent, received, answered = (
        beats[beats["event"] == name] for name in ("heartbeat", "heartbeat received", "heartbeat ack")
    )
    # Some heartbeats are sent on the failed path; a reply returns on its path to its sender.
    assert len(sent) > len(received) == len(answered) > 0
    down = (sent["path"] == 0) & sent["time_s"].between(50, 60)
    assert len(sent) - len(received) == down.sum()
    for column in ("path", "sequence"):
        assert sorted(received[column]) == sorted(answered[column])
    assert set(beats["sequence"]) == {0, 1}
    # Heartbeats are not counted as data.
    assert (frame["event"] == "receive").sum() == outcomes.frame["received"].iloc[0]
    drawn = {part["name"]: part["x"] for part in sequence(frame)["data"]}
    assert drawn["heartbeat"] == pytest.approx(sent["time_s"].tolist(), abs=1e-6)
    assert drawn["heartbeat answered"] == pytest.approx(answered["time_s"].tolist(), abs=1e-6)


@pytest.mark.full
def test_the_trace_of_sctp_to_a_mobile_host_is_of_chunks_and_sacks():
    hop = {"rate": "2 Mbit/s", "delay": "20 ms", "queue": 30}
    scenario = Scenario.check(
        {
            "duration": "30 s",
            "seed": 2,
            "transport": {"protocol": "sctp", "heartbeat_interval": "1 s"},
            "hops": [hop, {**hop, "loss": "1 %"}],
            "mobility": {"protocol": "hmipv6", "every": "7 s", "outage": "1500 ms"},
        }
    )
    frame, outcomes = trace(scenario)
    assert (outcomes.integers == simulate(scenario, replications=1, target="cpu").integers).all()
    found, count = outcomes.frame.iloc[0], frame["event"].value_counts()
    assert (count["send"], count["receive"]) == (found["sent"], found["received"])
    assert count["timeout"] == found["timeouts"] > 0
    arrived = frame[frame["event"] == "receive"]["sequence"]
    assert (arrived.min(), arrived.nunique()) == (1, found["delivered"])
    assert frame[frame["event"] == "ack"]["sequence"].max() == found["acked"]


def test_the_rate_of_each_second_adds_up_to_what_arrived():
    scenario = chain(protocol="udp", rate="3 Mbit/s", payload="1000 B")
    traced = trace(scenario)
    rates = per_second(scenario, traced.frame)
    arrived = data(traced.frame, "receive")[lambda f: f["node"] == 2]
    assert rates.index.tolist() == [0, 1, 2]
    assert rates[0].sum() == 8000 * traced.outcomes.frame["delivered"][0] > 0
    late = arrived[arrived["time_s"] >= 2]
    assert rates.loc[2, 0] == 8000 * late["sequence"].nunique()
