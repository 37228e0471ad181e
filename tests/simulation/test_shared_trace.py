"""Traces of shared networks: their rows agree with the outcomes, for any flows and links."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from netcarlo import Scenario, simulate, trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.layout import FlowOut, LinkOut, Shared, SharedRows
from netcarlo.networks.link_events import protocols
from netcarlo.networks.shared.outcomes import tables
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.trace import Traced, per_second

pytestmark = pytest.mark.usefixtures("uncompiled")  # few packets of many models

NS = 1e9
CABLE = {"rate": "4 Mbit/s", "delay": "15 ms", "queue": 15}
LOSSY = {**CABLE, "loss": "0.5 %"}
LINES = [
    {"ends": [0, 1], **LOSSY}, {"ends": [1, 0], **LOSSY},
    {"ends": [0, 2], **CABLE}, {"ends": [2, 0], **CABLE},
    {"ends": [2, 1], **CABLE}, {"ends": [1, 2], **CABLE},
]  # fmt: skip
STREAM = {"udp": {"rate": "700 kbit/s", "jitter": 0.5, "on": "2 s", "off": "1 s"}}
WEB = {"count": 5, "arrivals": {"poisson": "4 /s"}, "size": {"exponential": {"mean": "40 kB"}}}

SHARED: dict[str, dict[str, Any]] = {
    "one TCP beside datagrams": {"dumbbell": LOSSY, "flows": [{"count": 3}, STREAM]},
    "a mixture over several links": {
        "parking_lot": {"links": 3, "each": LOSSY},
        "flows": [
            {"protocol": "vegas"}, {"protocol": "cubic"}, STREAM,
            {"count": 3, "each": {"protocol": "reno", "between": "hops", "packets": 400}},
        ],
    },
    "flows that come and go": {"dumbbell": LOSSY, "flows": [{}, {**WEB, "each": {"protocol": "sack"}}]},
    "red that marks": {
        "dumbbell": {**CABLE, "red": {"least": 3, "most": 9, "mark": True}},
        "flows": [{"count": 3, "each": {"ecn": True}}, STREAM],
    },
    "codel": {"dumbbell": {**CABLE, "queue": "codel"}, "flows": [{"count": 3}, STREAM]},
    "fq_codel that is full": {
        "dumbbell": {**CABLE, "queue": 12, "fq_codel": {"quantum": "1500 B"}},
        "flows": [{"count": 3}, STREAM],
    },
    "jitter": {"dumbbell": {**LOSSY, "jitter": {"uniform": ["0 ms", "6 ms"]}}, "flows": [{"count": 3}]},
    "cables that fail": {
        "links": LINES,
        "failures": [{"cables": [0], "outages": [{"start": "3 s", "duration": "2 s"}]}],
        "flows": [
            {"route": [0], "backup": [2, 4], "detection": "300 ms"}, {"source": 0, "sink": 1},
            {**STREAM, "source": 0, "sink": 1},
        ],
    },
    "linux beside ns-2": {
        "dumbbell": LOSSY,
        "flows": [
            {"protocol": "linux", "congestion_control": "bbr"}, {"protocol": "linux"}, {"protocol": "sack"},
        ],
    },
}  # fmt: skip


def scenario(shared: dict[str, Any], **fields: Any) -> Scenario:
    data = {"duration": "9 s", "warm_up": "1 s", "seed": 11, "transport": {"protocol": "newreno"}}
    return Scenario.check({**data, **fields, "shared": shared})


def agrees(of: Scenario, replication: int) -> Traced:
    """Check that every count of a flow or link that the rows of a trace determine equals that of the
    outcomes."""
    found = trace(of, replication=replication)
    expected = simulate(of, first=replication, replications=1, target="cpu")
    assert (found.outcomes.integers == expected.integers).all()
    rows, frame = build(of, first=replication, replications=1).rows, found.frame
    assert isinstance(rows, SharedRows)
    flows, links = (table[0] for table in tables(found.outcomes.integers, rows))
    assert frame["time_s"].is_monotonic_increasing
    assert frame["time_s"].min() >= 0 and frame["time_s"].max() <= rows.parameters[0, RowP.END] / NS
    counted = frame[frame["time_s"] > rows.parameters[0, Shared.WARM_UP] / NS]  # as outcomes do
    data = counted[counted["carries"] == "data"]
    acks = counted[counted["carries"] == "ack"]
    sent, arrived = data[data["event"] == "send"], data[data["event"] == "receive"]
    gone = data[data["event"].isin(["dropped", "lost"])]
    count = len(flows)
    for column, events in {
        FlowOut.SENT: sent,
        FlowOut.RETRANSMITTED: sent[sent["again"] == 1],
        FlowOut.RECEIVED: arrived,
        FlowOut.DELIVERED: arrived[arrived["bytes"] > 0],
        FlowOut.DROPS_QUEUE: gone[gone["event"] == "dropped"],
        FlowOut.DROPS_RANDOM: gone[gone["event"] == "lost"],
        FlowOut.ACK_DROPS: acks[acks["event"].isin(["dropped", "lost"])],
        FlowOut.TIMEOUTS: data[data["event"] == "timeout"],
        FlowOut.FAST_RETRANSMITS: data[data["event"] == "recovery"],
    }.items():
        assert by(events, "flow", count) == flows[:, column].tolist(), column
    for column, events in {
        LinkOut.ARRIVALS: counted[counted["event"] == "enter"],
        LinkOut.DROPS: counted[counted["event"] == "dropped"],
        LinkOut.LOST: counted[counted["event"] == "lost"],
    }.items():
        assert by(events, "link", len(links)) == links[:, column].tolist(), column
    queue_is_that_of_the_outcomes(frame, rows, links)
    return found


def by(events: pd.DataFrame, column: str, parts: int) -> list[int]:
    return np.bincount(events[column].to_numpy(int), minlength=parts).tolist()


def queue_is_that_of_the_outcomes(frame: pd.DataFrame, rows: SharedRows, links: Any) -> None:
    """Check the packets held, by the rows of a link: never negative, and in the mean those of the
    outcomes."""
    warm_up, end = rows.parameters[0, Shared.WARM_UP] / NS, rows.parameters[0, RowP.END] / NS
    for link, mine in frame[frame["link"].notna()].groupby("link"):
        held = mine["event"].map({"enter": 1, "leave": -1, "dropped": -1, "lost": 0}).cumsum().to_numpy(float)
        assert held.min() >= 0
        time_s = np.clip(np.append(mine["time_s"].to_numpy(), end), warm_up, end)
        total = (held * np.diff(time_s)).sum()
        out = links[int(link)]
        expected = (out[LinkOut.QUEUE_SUM] + out[LinkOut.BUSY]) / NS
        assert total == pytest.approx(expected, abs=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("name", SHARED)
def test_the_trace_agrees_with_the_outcomes(name: str) -> None:
    agrees(scenario(SHARED[name], duration="6 s"), replication=3)


@pytest.mark.full
@pytest.mark.parametrize("transport", [
    {"protocol": "sctp", "payload": "1000 B", "heartbeat_interval": "1 s"},
    {"protocol": "linux", "congestion_control": "cubic"},
])  # fmt: skip
def test_the_trace_of_any_association_agrees_with_the_outcomes(transport: dict[str, Any]) -> None:
    network = {"dumbbell": LOSSY, "flows": [{"count": 2}, STREAM]}
    of = scenario(network, transport=transport, duration="6 s")
    frame = agrees(of, 1).frame
    name = "linux_cubic" if transport["protocol"] == "linux" else transport["protocol"]
    assert frame.groupby("flow")["protocol"].first().tolist() == [name, name, "udp"]
    acks = frame[frame["event"] == "ack"]
    assert (acks["rtt_s"].dropna() > 0.03).all() and len(acks) > 500
    assert (acks["acked"] >= acks["sequence"]).all()
    assert frame.loc[frame["protocol"] == "udp", ["cwnd_packets", "acked", "rtt_s"]].isna().all().all()


@pytest.mark.full
def test_each_flow_of_a_mixture_has_the_name_of_its_sender() -> None:
    found = trace(scenario(SHARED["linux beside ns-2"], duration="2 s"))
    names = found.frame.groupby("flow")["protocol"].first().tolist()
    assert names == ["linux_bbr", "linux_cubic", "sack"]


@pytest.mark.full
def test_the_same_seed_gives_the_same_trace() -> None:
    of = scenario(SHARED["one TCP beside datagrams"], duration="2 s")
    first, again = trace(of, replication=2).frame, trace(of, replication=2).frame
    pd.testing.assert_frame_equal(first, again)
    assert len(trace(of, replication=1).frame) != len(first)


@pytest.mark.full
def test_rates_add_up_to_what_was_delivered() -> None:
    """Rates add up to the delivered bytes, with transfers that end with a short packet each."""
    of = scenario(SHARED["flows that come and go"], warm_up="0 s")
    frame, outcomes = trace(of)
    rates = per_second(of, frame)
    rows = build(of, replications=1).rows
    assert rates is not None and rates.index.tolist() == list(range(9))
    packets = tables(outcomes.integers, rows).flows[0, :, FlowOut.DELIVERED]
    lacking = packets * rows.flows[0, :, RowP.DATA] - rates.sum().to_numpy() / 8
    ended = by(frame[frame["event"] == "begin"], "flow", len(packets))
    assert lacking[0] == pytest.approx(0, abs=1e-6)  # endless
    assert (lacking > -1e-6).all() and (lacking <= np.array(ended) * rows.flows[0, :, RowP.DATA]).all()
    assert lacking[1:].sum() > 0
    begun = frame[frame["event"] == "begin"]
    assert len(begun) > 10 and (begun["flow"] > 0).all() and (begun["bytes"] > 0).all()


@pytest.mark.full
def test_what_a_failure_destroys_says_so_and_detours_are_told() -> None:
    of = scenario(SHARED["cables that fail"])
    frame = trace(of).frame
    down = frame[frame["cause"] == "down"]
    assert set(down["event"]) == {"dropped", "lost"} and set(down["link"]) == {0, 1}
    assert down["time_s"].between(3, 5).all()
    assert (down.loc[down["event"] == "lost", "time_s"] == 3).all()
    around = frame[(frame["link"] == 2) & (frame["flow"] == 0)]["time_s"]
    told = interruptions(of)
    assert [(each.kind, each.start_s, each.end_s) for each in told] == [
        ("outage", 3.0, 5.0), ("detour", 3.3, 5.3)
    ]  # fmt: skip
    assert around.min() >= 3.3 and around.max() <= 5.3 + 0.5


@pytest.mark.full
def test_links_have_the_names_of_their_ends() -> None:
    frame = trace(scenario(SHARED["a mixture over several links"], duration="2 s")).frame
    names = frame.dropna(subset=["link"]).groupby("link")["link_name"].first().tolist()
    assert names == ["0-1", "1-0", "1-2", "2-1", "2-3", "3-2"]
    tree = scenario({"tree": {"routers": 4, "each": CABLE}, "flows": [{"count": 4}]}, duration="2 s")
    assert set(trace(tree).frame["link_name"].dropna()) <= {
        f"cable {k}{back}" for k in range(3) for back in ("", ", back")
    }


def test_flows_of_a_kind_that_is_not_mixed_have_the_name_of_their_transport() -> None:
    transport = {"protocol": "linux26", "congestion_control": "cubic"}
    of = scenario({"dumbbell": CABLE, "flows": [{}, STREAM]}, transport=transport)
    rows = build(of, replications=1).rows
    assert isinstance(rows, SharedRows)
    assert protocols(rows, of.transport) == ["linux26 with cubic", "udp"]


@pytest.mark.full
def test_datagrams_have_no_number_where_delays_are_measured() -> None:
    """The sending time replaces the number of a datagram; the outcomes are those without a trace."""
    dumbbell = {"rate": "5 Mbit/s", "delay": "5 ms"}
    flows = [{"count": 2}, {"class": "video", "udp": {"rate": "1 Mbit/s"}}]
    shared = {"dumbbell": dumbbell, "flows": flows}
    scenario = Scenario.check({"duration": "2 s", "transport": {"protocol": "newreno"}, "shared": shared})
    traced, untraced = trace(scenario), simulate(scenario, replications=1)
    assert (traced.outcomes.integers == untraced.integers).all()
    video = traced.frame["protocol"] == "udp"
    assert traced.frame.loc[video, "sequence"].isna().all()
    assert traced.frame.loc[~video, "sequence"].notna().any()
    assert not traced.frame.loc[video, "again"].any()
