"""Shared networks: valid scenarios, the networks that are drawn, and the rows made of both."""

from unittest.mock import patch

import networkx
import numpy as np
import pytest

from netcarlo import simulate
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import ENDLESS, STATUS_NO_NUMBER
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP, UdpP
from netcarlo.kernels.base.rows import concatenate
from netcarlo.kernels.senders import ALONE, KINDS, LINUX_BBR, LINUX_CUBIC, LINUX_RENO, UDP
from netcarlo.kernels.shared.layout import (
    MAX_FLOWS,
    MAX_HOPS,
    MAX_LINKS,
    NOWHERE,
    PERIOD,
    RED_DROPS,
    RED_MARKS,
    Flow,
    Link,
    Shared,
    SharedOut,
    outcomes,
    routes_of,
)
from netcarlo.networks.shared import topologies
from netcarlo.networks.shared.outcomes import named
from netcarlo.networks.shared.topologies import Topology, draw_graph, reverse_routes, routes, topology
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema import fields
from netcarlo.schema.document import read_value
from netcarlo.schema.draws import Draws
from netcarlo.simulation.ensemble import build, features
from netcarlo.simulation.launches import model_of

DUMBBELL = {"dumbbell": {"rate": "8 Mbit/s", "delay": "10 ms", "queue": 20}}
WINDOW = {"window": 64}
SCTP = {"protocol": "sctp"}
CABLE = {"rate": "8 Mbit/s", "delay": "10 ms"}


def scenario(layout=DUMBBELL, flows=({},), transport=None, access=None, **more):
    shared = {**layout, "flows": list(flows), **({} if access is None else {"access": access})}
    data = {
        "duration": "60 s",
        "replications": 8,
        "transport": {"protocol": "newreno", **(WINDOW if transport is None else transport)},
        "shared": shared,
    }
    return Scenario.check({**data, **more})


def rows_of(**given):
    return build(scenario(**given)).rows


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layout": {}}, "dumbbell, parking_lot, tree, graph, links are all missing"),
        ({"layout": {**DUMBBELL, "tree": {"routers": 3, "each": CABLE}}}, "dumbbell and tree are both given"),
        (
            {"flows": [{"count": 1025}]},
            "shared.flows can be up to 1025; expected 1 to 1024; lower a count, or write fid",
        ),
        ({"flows": [{"count": {"integers": [0, 2]}}]}, "flows can be empty"),
        ({"flows": [{"protocol": "bic", "windw": 3}]}, "windw is an unknown field"),
        ({"flows": [{"protocol": "elfn"}]}, "protocol = 'elfn' is not allowed"),
        ({"flows": [{"udp": {"rate": "1 Mbit/s"}, "window": 3}]}, "udp and window are both given"),
        ({"flows": [{"source": 0, "sink": 2}]}, r"flows.0.sink = 2 is not a router; expected 0 to 1"),
        ({"flows": [{"source": 0}]}, "source and sink belong together"),
        ({"flows": [{"route": "0 1"}, {"route": "2"}]}, "route has 2, which is not a link; expected 0 to 1"),
        ({"flows": [{"route": [0, 0]}]}, "route is interrupted after link 0; the next link must start"),
        (
            {"transport": {"congestion_control": "cubic"}, "flows": [{}, {"protocol": "reno"}]},
            "transport cannot be newreno with cubic together with other TCPs; expected",
        ),
        (
            {"transport": {"protocol": "linux26"}, "flows": [{}, {"protocol": "reno"}]},
            "transport cannot be linux26 together with other TCPs",
        ),
        ({"flows": [{"congestion_control": "bbr"}]}, "congestion_control is supported only with linux"),
        ({"flows": [{"congestion_control": "bic", "protocol": "linux"}]}, "'bic' is not allowed"),
        (
            {"flows": [{"congestion_control": "bbr", "udp": {"rate": "1 Mbit/s"}}]},
            "udp and congestion_control are both given; remove it",
        ),
        ({"flows": [{"protocol": "linux", "ecn": True}]}, "flows.0.ecn is not supported with linux"),
        ({"transport": {"protocol": "elfn"}}, "'elfn' is not supported; supported with shared: tahoe"),
        ({"transport": SCTP, "flows": [{}, {"protocol": "reno"}]}, "transport cannot be sctp together with"),
        ({"transport": SCTP, "flows": [{"ecn": True}]}, "flows.0.ecn is not supported with sctp; remove it"),
        ({"transport": SCTP, "flows": [{"window": 9}]}, "with sctp; write transport.receiver_window"),
        (
            {"transport": SCTP | {"receiver_window": "2000 B"}, "flows": [{"payload": "2000 B"}]},
            "payload does not fit the receiver's window; raise transport.receiver_window to 2016 B",
        ),
        ({"layout": {"graph": {"routers": 4, "each": CABLE}}}, "cables and degree are both missing"),
        ({"layout": {"links": [{"ends": [0, 1], **CABLE}, {"ends": [1, 2], **CABLE}]}}, "no reverse link"),
        ({"layout": {"dumbbell": {**CABLE, "red": {"least": 20}}}}, "least can be at or above most"),
        ({"warm_up": "60 s"}, "warm_up can be at or after the end"),
        ({"hops": [CABLE]}, "are both given"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        scenario(**given)


def test_flows_of_sctp_are_of_one_kind():
    flows = [{"count": 2, "each": {"payload": "1000 B"}}, {"udp": {"rate": "1 Mbit/s"}}]
    one = scenario(transport=SCTP, flows=flows)
    assert one.network.address(one, fluid=False).name == "shared_sctp"
    flows = build(one).rows.flows[0]
    assert flows[:, Flow.KIND].tolist() == [ALONE, ALONE, UDP]
    assert flows[0, [RowP.DATA, RowP.CHUNK_HEADER, RowP.WINDOW, Flow.ECN]].tolist() == [1000, 16, 64, 0]


def test_flows_of_linux_are_alone_or_beside_others():
    linux = {"protocol": "linux"}
    alone = scenario(transport=linux, flows=[{"count": 2}, {"udp": {"rate": "1 Mbit/s"}}])
    assert alone.network.address(alone, fluid=False).name == "shared_linux_cubic"  # the kernel's name
    several = [{}, {"congestion_control": "bbr"}, {"congestion_control": "reno", "payload": "1000 B"}]
    mixed = scenario(transport=linux | {"window": 300}, flows=[*several, {"protocol": "newreno"}])
    assert mixed.network.address(mixed, fluid=False).name == "shared_mixed_linux"
    flows = build(mixed).rows.flows[0]
    kinds = [LINUX_CUBIC, LINUX_BBR, LINUX_RENO, KINDS.index("newreno")]
    assert flows[:, Flow.KIND].tolist() == kinds
    assert flows[:, RowP.DATA].tolist() == [1448, 1448, 1000, 1460]
    assert flows[:, RowP.WINDOW].tolist() == [300] * 4
    # Twice the BDP of the link (20 and 20 ms at 1.5 ms per packet) plus 64; limits of ns-2 follow the window.
    assert flows[:, RowP.RING].tolist() == [256, 256, 256, 0]
    assert mixed.network.unknown(mixed, "fluid").startswith("the fluid model does not support linux_bbr")
    beside = scenario(transport=WINDOW | {"initial_ssthresh": 9}, flows=[{}, {"protocol": "linux"}])
    assert build(beside).rows.flows[0, :, RowP.WINDOW].tolist() == [64, 64]


def test_a_scenario_is_written_as_it_is_read():
    cable = {**CABLE, "red": {"mark": True}, "reverse": {"loss": 0.1}}
    stream = {"udp": {"rate": "1 Mbit/s", "jitter": 0.5}}
    flows = [{"count": 3, "each": {"window": {"integers": [4, 9]}}}, stream]
    one = scenario({"graph": {"routers": 5, "degree": 3, "each": cable}}, flows, fidelity="fluid")
    assert Scenario.check(one.model_dump(mode="json", exclude_none=True)) == one
    assert fields.quantity(one, "shared.flows.0.each.window").high == 4096
    other = one.with_values({"shared.flows.0.count": 7, "shared.graph.each.queue": 9})
    assert (other.shared.flow_bounds[1], other.shared.graph.each.queue) == (8, 9)


def test_the_columns_of_links_and_hosts():
    red = {"least": 5, "most": 15, "probability": "10 %", "weight": 9, "packet": "500 B", "mark": True}
    cable = {**CABLE, "queue": 20, "loss": "1 %", "red": red, "reverse": {"queue": "unlimited", "loss": 0}}
    access = {"rate": "80 Mbit/s", "sink_rate": "8 Mbit/s", "source_delay": "3 ms", "sink_delay": "1 ms"}
    rows = rows_of(layout={"dumbbell": cable}, access=access, flows=[{"ecn": True}])
    forth, back = rows.links[0]
    assert forth[Link.BYTE_TIME] == 1000 << 20
    assert forth[[Link.DELAY, Link.QUEUE, Link.RED]].tolist() == [10_000_000, 20, RED_MARKS]
    levels = [Link.RED_MIN_TH, Link.RED_MAX_TH, Link.RED_MAX_P, Link.RED_WEIGHT, Link.RED_PACKET_TIME]
    assert forth[levels].tolist() == [5, 15, 6554, 9, 500_000]
    assert forth[Link.RED_GENTLE] == 1
    assert back[Link.QUEUE] == 0
    # The probability of the first digit determines the loss: q / (1 + q).
    survive = rows.losses[:, 0] / (2.0**32 - rows.losses[:, 0])
    assert survive[[forth[Link.LOSS], back[Link.LOSS]]] == pytest.approx([0.99, 1.0])
    flow = rows.flows[0, 0]
    assert survive[flow[Flow.PERIODS]] == pytest.approx(1 - PERIOD)
    times = [Flow.ACCESS, Flow.ACCESS_BACK, Flow.SINK, Flow.SINK_BACK]
    assert flow[times].tolist() == [100 << 20, 100 << 20, 1000 << 20, 1000 << 20]
    assert flow[[Flow.SOURCE_DELAY, Flow.SINK_DELAY, Flow.ECN]].tolist() == [3_000_000, 1_000_000, 1]
    assert [routes_of(flow).tolist(), routes_of(flow, back=True).tolist()] == [[0], [1]]
    assert rows.parameters[0, RowP.WINDOW] == 0
    red["mark"] = False
    assert rows_of(layout={"dumbbell": cable}).links[0, 0, Link.RED] == RED_DROPS


def test_flows_replace_what_the_transport_says():
    rows = rows_of(
        transport={**WINDOW, "payload": "1000 B", "initial_window": 3, "packets": 50, "header": "44 B"},
        flows=[
            {},
            {"protocol": "vegas", "window": 9, "start": "2 s"},
            {"protocol": "cubic", "payload": "500 B", "bytes": "5 kB"},
            {"udp": {"rate": "1 Mbit/s", "payload": "500 B", "jitter": 0.5, "on": "1 s", "off": "2 s"}},
        ],
    )
    first = rows.flows[0]
    assert [KINDS[kind] for kind in first[:, Flow.KIND]] == ["newreno", "vegas", "cubic", "udp"]
    assert first[:, RowP.WINDOW].tolist() == [64, 9, 64, 0]
    assert first[:3, ReliableP.INITIAL_SSTHRESH].tolist() == [64, 9, 64]
    assert first[:3, TcpP.INITIAL_WINDOW].tolist() == [3, 3, 3]
    assert first[:3, RowP.HEADER].tolist() == [44, 44, 44]
    assert first[:3, TcpP.HANDSHAKE].tolist() == [40, 0, 40]
    assert first[:, RowP.LIMIT].tolist() == [50, 50, 10, ENDLESS]
    assert first[:3, RowP.START].tolist() == [0, 2_000_000_000, 0]
    udp = first[3]
    assert udp[[UdpP.INTERVAL, UdpP.SPREAD, Flow.ON, Flow.OFF]].tolist() == [
        4_000_000, 4_000_000, 10**9, 2 * 10**9
    ]  # fmt: skip
    assert 0 <= udp[RowP.START] < udp[UdpP.INTERVAL]
    assert len(np.unique(rows.flows[:, 3, RowP.START])) == len(rows.flows)
    # The clock of each sender has its own phase.
    assert len(np.unique(rows.flows[:, :3, TcpP.CLOCK_PHASE])) == 3 * len(rows.flows)


def test_what_is_under_each_is_drawn_by_each_flow_alone():
    given = {"flows": [{"count": 4, "each": {"window": {"integers": [1, 4000]}}}, {"count": 2}]}
    rows = rows_of(transport={**WINDOW, "payload": {"integers": ["100 B", "1400 B"]}}, **given)
    assert len(np.unique(rows.flows[:, :4, RowP.WINDOW])) > 25
    assert (rows.flows[:, 4:, RowP.WINDOW] == 64).all()
    payload = rows.flows[:, :, RowP.DATA]
    assert (payload == payload[:, :1]).all() and len(np.unique(payload)) > 4
    whole = build(scenario(**given), replications=8).rows.flows
    half = build(scenario(**given), first=3, replications=2).rows.flows
    np.testing.assert_array_equal(whole[3:5], half)


def test_a_number_of_flows_may_be_drawn():
    flows = [{"count": {"integers": [0, 5]}, "each": {"window": 3}}, {"window": 7}]
    rows = build(scenario(flows=flows), replications=200).rows
    count = rows.parameters[:, Shared.FLOWS]
    assert set(count.tolist()) == set(range(1, 7))
    window = rows.flows[:, :, RowP.WINDOW]
    assert (window.sum(axis=1) == 3 * (count - 1) + 7).all()
    assert (window[np.arange(200), count - 1] == 7).all()
    assert not rows.flows[count == 2, 2:].any()


def test_all_flows_of_one_kind_have_a_model_of_their_own():
    assert model_of(scenario(flows=[{"count": 3}, {"udp": {"rate": "1 Mbit/s"}}])).name == "shared_newreno"
    assert model_of(scenario(flows=[{}, {"protocol": "reno"}])).name == "shared_mixed"
    cubic = {"protocol": "sack", "congestion_control": "cubic"}
    assert model_of(scenario(transport=cubic)).name == "shared_cubic"
    udp = {"protocol": "udp", "rate": "1 Mbit/s"}
    assert model_of(scenario(transport=udp)).name == "shared_tahoe"  # not the largest model


# Topologies.


def test_trees_and_graphs_are_connected_and_all_alike_likely():
    seen = set()
    for seed in range(300):
        pairs = draw_graph(7, cables=9, seed=seed)
        assert len(set(pairs)) == 9 and all(a < b for a, b in pairs)
        assert networkx.is_connected(networkx.Graph(pairs))
        assert pairs == draw_graph(7, cables=9, seed=seed)
        seen.add(tuple(draw_graph(4, cables=3, seed=seed)))
    assert len(seen) == 16  # Cayley: 4 ** 2 trees


def drawn(layout, flows=({"count": 20},), **more):
    given = scenario(layout=layout, flows=flows, **more)
    numbers = np.arange(50)
    draws = Draws(given.seed, numbers, np.zeros(50, np.int64))
    return topology(given.shared, draws), build(given, replications=50).rows


@pytest.mark.parametrize("routing", ["hops", "delay"])
def test_routes_are_the_shortest_and_lead_back_the_same_way(routing):
    each = {"rate": "8 Mbit/s", "delay": {"uniform": ["1 ms", "20 ms"]}, "reverse": {"delay": "5 ms"}}
    layout = {"graph": {"routers": {"integers": [4, 9]}, "degree": 3, "each": each}, "routing": routing}
    net, rows = drawn(layout)
    hops = rows.flows[:, :, Flow.HOPS]
    assert (hops == rows.flows[:, :, Flow.BACK_HOPS]).all() and hops.max() <= MAX_HOPS
    for i in range(10):
        graph = networkx.DiGraph()
        for k in range(net.links[i]):
            a, b = net.ends[i, k]
            graph.add_edge(a, b, delay=int(rows.links[i, k, Link.DELAY]))
        for flow in rows.flows[i]:
            forth = flow[Flow.ROUTE : Flow.ROUTE + flow[Flow.HOPS]]
            back = routes_of(flow, back=True)[: flow[Flow.BACK_HOPS]]
            ends = net.ends[i, forth]
            assert (ends[1:, 0] == ends[:-1, 1]).all()
            np.testing.assert_array_equal(net.ends[i, back], ends[::-1, ::-1])
            source, sink = ends[0, 0], ends[-1, 1]
            cost = rows.links[i, forth, Link.DELAY].sum() if routing == "delay" else len(forth)
            weight = "delay" if routing == "delay" else None
            assert cost == networkx.shortest_path_length(graph, source, sink, weight=weight)


def test_equal_ways_are_told_apart_the_same_way_everywhere():
    # A square: two routes of two hops, with equal delays in one row only.
    ends = np.array([(0, 1), (1, 0), (1, 3), (3, 1), (0, 2), (2, 0), (2, 3), (3, 2)])
    net = Topology(np.full(2, 4), np.full(2, 8), np.tile(ends, (2, 1, 1)), np.tile(np.arange(8) ^ 1, (2, 1)))
    delay = np.full((2, 8), 1000)
    delay[1, 2] = 1001
    found = routes(net, delay, np.zeros((2, 1), np.int64), np.full((2, 1), 3), routing="hops")
    assert found.links[:, 0].tolist() == [[0, 2], [4, 6]]
    assert reverse_routes(net, found).links[:, 0].tolist() == [[3, 1], [7, 5]]


def test_ends_of_flows():
    lot = {"parking_lot": {"links": 4, "each": CABLE}}
    ways = [{"between": "ends"}, {"count": 5, "each": {"between": "hops"}}, {"source": 3, "sink": 1}]
    _, rows = drawn(lot, flows=[*ways, {"route": "2 4"}])
    route = routes_of(rows.flows)[0].tolist()
    hop = [[2 * k, NOWHERE, NOWHERE, NOWHERE] for k in (0, 1, 2, 3, 0)]
    assert route == [[0, 2, 4, 6], *hop, [5, 3, NOWHERE, NOWHERE], [2, 4, NOWHERE, NOWHERE]]
    net, rows = drawn({"tree": {"routers": 5, "each": CABLE}}, flows=[{"count": 20}])
    first = net.ends[np.arange(50)[:, None], rows.flows[:, :, Flow.ROUTE], 0]
    assert np.bincount(first.reshape(-1), minlength=5).min() > 150  # of 1,000


def test_random_networks_are_new_in_every_replication_unless_asked():
    tree = {"tree": {"routers": 6, "each": CABLE}}
    net, _ = drawn(tree)
    assert len(np.unique(net.ends, axis=0)) > 40
    same, rows = drawn({**tree, "redraw": False})
    assert len(np.unique(same.ends, axis=0)) == 1
    assert (rows.flows[:, :, Flow.ROUTE] == rows.flows[:1, :, Flow.ROUTE]).all()


def chain(routers):
    ends = [pair for k in range(routers - 1) for pair in ((k, k + 1), (k + 1, k))]
    return {"links": [{"ends": list(pair), **CABLE} for pair in ends]}


def test_networks_of_the_largest_size():
    ways = [{"count": 1000, "each": {"between": "hops"}}, {"count": 24, "each": {"source": 100, "sink": 164}}]
    rows = rows_of(layout=chain(MAX_LINKS // 2 + 1), flows=ways)
    assert rows.flows.shape[:2] == (8, MAX_FLOWS) and rows.links.shape[:2] == (8, MAX_LINKS)
    assert (rows.flows[:, :1000, Flow.ROUTE] == np.arange(1000) % MAX_LINKS).all()
    assert (routes_of(rows.flows)[:, 1000:] == np.arange(200, 328, 2)).all()
    assert (routes_of(rows.flows, back=True)[:, 1000:] == np.arange(327, 200, -2)).all()


def test_only_used_links_of_a_long_list_count():
    ways = [{"source": 0, "sink": 3}, {"source": 2500, "sink": 2498}]
    rows = rows_of(layout=chain(3001), flows=ways)
    assert rows.links.shape[:2] == (8, 10) and (rows.parameters[:, Shared.LINKS] == 10).all()
    assert routes_of(rows.flows)[0].tolist() == [[0, 2, 4], [9, 7, NOWHERE]]
    assert routes_of(rows.flows, back=True)[0].tolist() == [[5, 3, 1], [6, 8, NOWHERE]]
    every = {"count": 4, "each": {"between": "hops"}}
    assert rows_of(layout=chain(501), flows=[every]).links.shape[1] == 1000
    with pytest.raises(InputError, match=r"can use 1026 links; expected 1 to 1024; .*fidelity: fluid"):
        rows_of(layout=chain(514), flows=[every])
    assert rows_of(layout=chain(514), flows=[every], fidelity="fluid").links.shape[1] == 1026


def test_a_route_of_too_many_links_is_refused():
    assert rows_of(layout=chain(65)).flows[0, 0, Flow.HOPS] == 64
    with pytest.raises(InputError, match=r"shared.flows.0 has too many links; expected 1 to 64"):
        rows_of(layout=chain(66))
    assert rows_of(layout=chain(66), flows=[{"source": 65, "sink": 3}]).flows[0, 0, Flow.HOPS] == 62


@pytest.mark.parametrize("window", [1, 64])
def test_a_chain_of_64_links_has_the_round_trip_and_goodput_of_hand_sums(window):
    links = [{**link, "rate": "10 Mbit/s", "delay": "1 ms", "queue": 100} for link in chain(65)["links"]]
    links[40]["rate"] = "2 Mbit/s"  # of data, from router 20 to 21
    sender = {
        "window": window, "header": "40 B", "payload": "1460 B", "ack": "40 B", "tick": "1 us",
        "handshake": "0 B",
    }  # fmt: skip
    given = scenario({"links": links}, access={"rate": "1 Gbit/s"}, transport=sender, replications=1)
    found = simulate(given).frame
    data, ack = 8 * 1500, 8 * 40
    rtt_s = 128 * 1e-3 + 63 * data / 10e6 + data / 2e6 + 64 * ack / 10e6 + 2 * (data + ack) / 1e9
    if window == 1:
        assert float(found["mean_rtt_s"].iloc[0]) == pytest.approx(rtt_s, rel=1e-6)
        assert float(found["goodput_bps"].iloc[0]) == pytest.approx(8 * 1460 / rtt_s, rel=0.005)
    else:
        assert float(found["goodput_bps"].iloc[0]) == pytest.approx(2e6 * 1460 / 1500, rel=0.02)


def test_rows_are_as_wide_as_their_longest_route():
    assert rows_of(layout={"dumbbell": CABLE}).flows.shape[2] == Flow.COLUMNS + 2
    ways = [{}, {"source": 2, "sink": 1}]
    assert rows_of(layout=chain(40), flows=ways).flows.shape[2] == Flow.COLUMNS + 2 * 39


def test_many_flows_are_routed_in_parts():
    """Routing many flows in parts gives the same routes."""
    layout = {"graph": {"routers": 9, "degree": 3, "each": CABLE}}
    _, whole = drawn(layout)
    with patch.object(topologies, "_AT_ONCE", 50 * 9 * 3):
        _, parts = drawn(layout)
    assert (parts.flows == whole.flows).all()


def test_a_crowd_of_linux_has_memory_for_what_it_can_have():
    """Up to 64 flows each have room for all packets of their link, more flows for 16 fair shares."""
    rings = {}
    for count in 1, 64, 65, 1000:
        dumbbell = {"dumbbell": {**CABLE, "rate": "1 Gbit/s", "queue": 10_000}}
        rows = rows_of(layout=dumbbell, flows=[{"count": count}], transport={"protocol": "linux"})
        rings[count] = int(rows.flows[0, 0, RowP.RING])
    assert rings[1] == rings[64] > 2 * 4096 and 2 * rings[65] <= rings[64] and rings[1000] <= 1024


def test_a_flow_that_sends_too_much_is_told_of():
    rows = rows_of(flows=[{"count": 1000}])
    integers = np.zeros((8, outcomes(rows)), np.int64)
    integers[3, SharedOut.STATUS] = STATUS_NO_NUMBER
    with pytest.raises(InputError, match="a flow of row 3 sends more than 536870912 packets"):
        named(integers, rows)


def test_links_may_be_given_one_by_one():
    links = [
        {"ends": [0, 1], "rate": "8 Mbit/s", "delay": "250 ms"},
        {"ends": [1, 0], "rate": "1 Mbit/s", "delay": "250 ms", "queue": 5},
    ]
    rows = rows_of(layout={"links": links}, flows=[{}, {"source": 1, "sink": 0}])
    assert rows.links[0, :, Link.BYTE_TIME].tolist() == [1000 << 20, 8000 << 20]
    assert rows.links[0, :, Link.QUEUE].tolist() == [50, 5]
    assert rows.flows[0, :, Flow.ROUTE : Flow.ROUTE + 2].tolist() == [[0, 1], [1, 0]]
    hops = [{"count": 3, "each": {"between": "hops"}}]
    assert rows_of(layout={"links": links}, flows=hops).flows[0, :, Flow.ROUTE].tolist() == [0, 1, 0]


def test_rows_of_several_scenarios_make_one_launch():
    small = build(scenario(), replications=3).rows
    lossy = {"parking_lot": {"links": 3, "each": {**CABLE, "loss": "2 %"}}}
    large = build(scenario(lossy, [{"count": 5}]), replications=2).rows
    joint = concatenate([small, large])
    assert joint.flows.shape[:2] == (5, 5) and joint.links.shape[:2] == (5, 6)
    survive = joint.losses[:, 0] / (2.0**32 - joint.losses[:, 0])
    assert survive[joint.links[:3, :2, Link.LOSS]] == pytest.approx(1.0)
    assert survive[joint.links[3:, :, Link.LOSS]] == pytest.approx(0.98)
    assert survive[joint.flows[3:, :, Flow.PERIODS]] == pytest.approx(1 - PERIOD)
    assert not joint.flows[:3, 1:].any()


def test_what_the_way_of_the_first_flow_looks_like():
    lot = {"parking_lot": {"links": 2, "each": {**CABLE, "loss": "10 %"}}}
    given = scenario(
        lot, transport={"payload": "960 B"}, access={"rate": "80 Mbit/s", "source_delay": "3 ms"}
    )
    found = {name: values[0] for name, values in features(given, given={}, rows=1).items()}
    # 1,000 B take 1 ms on a link and 0.1 ms on an access cable; 40 B take 0.04 and 0.004 ms.
    assert found["base_rtt_s"] == pytest.approx(2 * 23e-3 + 2.2e-3 + 2 * 44e-6)
    assert found["n_hops"] == 2 and found["bottleneck_bps"] == pytest.approx(8e6)
    assert found["path_loss"] == pytest.approx(0.19)
    assert found["bdp_packets"] == pytest.approx(found["base_rtt_s"] / 1e-3)
    udp = scenario(flows=[{"udp": {"rate": "1 Mbit/s", "payload": "972 B"}}])
    one_way = features(udp, given={}, rows=1)["base_rtt_s"][0]
    assert one_way == pytest.approx(10e-3 + 1e-3 + 2 * 8e-6)
    assert build(udp, replications=1).rows.flows[0, 0, Flow.KIND] == UDP


def test_a_stream_may_be_on_and_off_as_the_guide_writes_it(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "duration: 9 s\ntransport: {protocol: newreno}\nshared:\n  dumbbell: {rate: 8 Mbit/s, delay: 10 ms}\n"
        "  flows:\n    - udp: {rate: 1 Mbit/s, on: 1 s, off: 2 s}\n"
    )
    udp = load_scenario(path).shared.flows[0].udp
    assert (udp.on, udp.off) == (1, 2)
    given = {"shared.flows.0.udp": read_value("{rate: 1 Mbit/s, on: 1 s, off: 3 s}")}
    assert load_scenario(path, values=given).shared.flows[0].udp.off == 3
