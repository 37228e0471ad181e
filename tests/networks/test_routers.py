"""Listed links: names of routers, parallel links, equal-cost multipath, and outcomes by link and flow."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.kernels.shared.layout import NOWHERE, Flow, Link
from netcarlo.kernels.shared.layout import routes_of as routes
from netcarlo.networks.shared import topologies
from netcarlo.networks.shared.routers import parallel, reverse_links, router_names
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build

LINE = {"rate": "10 Mbit/s", "delay": "2 ms"}


def data(pairs, flows, **more):
    links = [{"ends": list(ends), **LINE} for a, b in pairs for ends in ((a, b), (b, a))]
    return {
        "duration": "3 s", "replications": 1, "transport": {"protocol": "newreno", "window": 64},
        "shared": {"links": links, "flows": flows, **more},
    }  # fmt: skip


def routes_of(pairs, flows, *, replications=1, **more):
    """Return the routes [replications, F, H] of flows over cables between pairs of routers."""
    rows = build(Scenario.check({**data(pairs, flows, **more), "replications": replications})).rows
    return routes(rows.flows), routes(rows.flows, back=True)


def test_routers_have_names_with_blanks_and_accents():
    pairs = [("Zürich", "St. Gallen"), ("St. Gallen", 7)]
    flows = [{"source": "Zürich", "sink": "7"}, {"source": " St.  Gallen", "sink": "Zürich"}]
    forth, back = routes_of(pairs, flows)
    assert forth[0].tolist() == [[0, 2], [1, NOWHERE]]
    assert back[0].tolist() == [[3, 1], [0, NOWHERE]]
    assert router_names([("Zürich", "B"), ("B", 3)]) == ["Zürich", "B", 3]
    assert router_names([(7, 3), (3, 5)]) == [3, 5, 7]


def test_links_are_named_by_their_routers_in_traces_and_tables():
    given = data([("Zürich", "St. Gallen")] * 2, [{"source": "Zürich", "sink": "St. Gallen"}])
    frame = netcarlo.trace(given).frame
    assert "Zürich-St. Gallen" in set(frame["link_name"].dropna())
    found = netcarlo.estimate(given)
    assert found.by_link().index[0] == "Zürich-St. Gallen"
    assert sorted(found.by_link().index)[-1] == "Zürich-St. Gallen (2)"
    assert found.by_flow().index.tolist() == ["flows.0 (Zürich-St. Gallen)"]


@pytest.mark.parametrize(
    ("links", "flow", "message"),
    [
        ([("A", "B")], {}, r"links.0 \(A to B\) has no reverse link; add one with ends: \[B, A\]"),
        (
            [("A", "B"), ("B", "A"), ("A", "B")], {},
            r"links.2 \(A to B\) has no reverse link, because it is parallel to links.0; add one",
        ),
        ([("A", "A"), ("A", "A")], {}, "links.0.ends are both A"),
        (
            [("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")], {},
            "do not connect all routers: there are 2 parts; add links, such as between A and C",
        ),
        ([("Oslo", "B"), ("B", "Oslo")], {"source": "Osla", "sink": "B"}, "not a router; expected Oslo"),
        ([(0, 1), (1, 0)], {"source": 0, "sink": "Oslo"}, "sink = Oslo is not a router; expected 0 to 1"),
        ([(0, 1), (1, 0)], {"source": 0, "sink": 0}, "are both 0"),
        ([(True, 1), (1, True)], {}, "is not a router; write a name in quotes"),
        ([("", 1), (1, "")], {}, "is not a router; write a name in quotes"),
    ],
)  # fmt: skip
def test_links_that_do_not_fit_are_refused(links, flow, message):
    given = data([], [flow])
    given["shared"]["links"] = [{"ends": list(ends), **LINE} for ends in links]
    if len(links) == 1:
        given["shared"]["links"] *= 2
    with pytest.raises(InputError, match=message):
        Scenario.check(given)


def test_flows_take_parallel_links_in_turn():
    pairs = [("A", "B"), ("B", "C"), ("B", "C"), ("B", "C")]
    flows = [{"count": 4, "each": {"source": "A", "sink": "C"}}, {"source": "C", "sink": "A"}, {"route": "4"}]
    forth, back = routes_of(pairs, flows)
    assert forth[0, :4, :2].tolist() == [[0, 2], [0, 4], [0, 6], [0, 2]]
    assert back[0, :4, :2].tolist() == [[3, 1], [5, 1], [7, 1], [3, 1]]
    assert forth[0, 4, :2].tolist() == [3, 1] and forth[0, 5, :2].tolist() == [4, NOWHERE]
    assert parallel([(0, 1), (1, 0), (0, 1)]) == {(0, 1): [0, 2], (1, 0): [1]}
    assert reverse_links([(0, 1), (0, 1), (1, 0), (1, 0)]) == [2, 3, 0, 1]


def test_routing_by_delay_takes_the_fastest_parallel_links():
    given = data([("A", "B")] * 3, [{"count": 4, "each": {"source": "A", "sink": "B"}}], routing="delay")
    given["shared"]["links"][2]["delay"] = "9 ms"
    forth = build(Scenario.check(given)).rows.flows[0, :, Flow.ROUTE]
    assert forth.tolist() == [0, 4, 0, 4]


def test_two_parallel_links_carry_twice_as_much():
    given = data([(0, 1)] * 2, [{"count": 4, "each": {"source": 0, "sink": 1}}])
    one = {**given, "shared": {**given["shared"], "links": given["shared"]["links"][:2]}}
    both, alone = (float(netcarlo.estimate(each).table.loc["goodput_bps", "mean"]) for each in (given, one))
    assert both == pytest.approx(2 * alone, rel=0.03)


def test_a_backup_route_may_use_a_parallel_link():
    flow = {"route": "0", "backup": "2", "detection": "0 s"}
    given = data([("A", "B")] * 2, [flow])
    given["shared"]["failures"] = [{"cables": "0", "outages": [{"start": "1 s", "duration": "1 s"}]}]
    fails = build(Scenario.check(given)).rows.links[0, :, Link.OUTAGES] > 0
    assert fails.tolist() == [True, True, False, False]
    given["shared"]["flows"][0]["backup"] = "0"
    with pytest.raises(InputError, match="a cable of the route"):
        Scenario.check(given)


SQUARE = [("A", "B"), ("B", "D"), ("A", "C"), ("C", "D"), ("A", "E"), ("E", "D")]


def test_equal_cost_multipath_uses_all_shortest_paths_equally():
    flows = [{"count": 30, "each": {"source": "A", "sink": "D"}}]
    forth, _ = routes_of(SQUARE, flows, replications=50, multipath=True)
    firsts, counts = np.unique(forth[:, :, 0], return_counts=True)
    assert firsts.tolist() == [0, 4, 8] and counts.min() > 430  # of 1,500
    assert (forth[:, :, 1] == forth[:, :, 0] + 2).all()
    assert np.unique(routes_of(SQUARE, flows)[0][:, :, 0]).tolist() == [0]


@pytest.mark.parametrize("routing", ["hops", "delay"])
def test_multipath_by_delay_ignores_slower_paths(routing):
    flows = [{"count": 60, "each": {"source": "A", "sink": "D"}}]
    given = data(SQUARE, flows, multipath=True, routing=routing)
    given["shared"]["links"][0]["delay"] = "3 ms"
    firsts = np.unique(build(Scenario.check(given)).rows.flows[0, :, Flow.ROUTE])
    assert firsts.tolist() == ([0, 4, 8] if routing == "hops" else [4, 8])


def test_the_command_line_names_the_busiest_link(tmp_path):
    given = data([("A", "B"), ("B", "C")], [{"source": "A", "sink": "C", "udp": {"rate": "2 Mbit/s"}}])
    given["shared"]["links"][2]["rate"] = "5 Mbit/s"
    given["shared"]["flows"].append({"source": "A", "sink": "B", "udp": {"rate": "3 Mbit/s"}})
    (tmp_path / "case.yaml").write_text(json.dumps({"name": "case", **given}))
    said = CliRunner().invoke(app, ["estimate", str(tmp_path / "case.yaml")]).output
    assert "Busiest link: A-B, 5" in said and "of 10 Mbit/s used" in said and "flows.1 (A-B)" in said
    written = CliRunner().invoke(app, ["estimate", str(tmp_path / "case.yaml"), "--json", "-q"]).stdout
    found = json.loads(written)
    assert found["busiest_link"] == "A-B"
    used = {row["link"]: row["utilisation"] for row in found["links"]}
    wire = 1498 / 1470  # the rate is that of the payload
    assert used["A-B"] == pytest.approx(0.5 * wire, rel=0.005)
    assert used["B-C"] == pytest.approx(0.4 * wire, rel=0.005)
    folder = str(tmp_path / "out")
    page = CliRunner().invoke(app, ["estimate", str(tmp_path / "case.yaml"), "--out", folder, "-q"])
    assert page.exit_code == 0 and "Busiest link: A-B, 5" in (tmp_path / "out/estimate.html").read_text()


def test_networks_without_named_links_have_no_table():
    path = {"duration": "1 s", "replications": 1, "transport": {"protocol": "newreno"}, "hops": [LINE]}
    found = netcarlo.estimate(path)
    assert found.parts == {}
    with pytest.raises(InputError, match=r"by link are supported only with shared\.links"):
        found.by_link()


@pytest.mark.parametrize("unit", [1, 1 << 52, 32])
@pytest.mark.parametrize("seed", range(5))
def test_costs_by_floats_are_those_of_whole_numbers(unit, seed):
    random = np.random.default_rng(seed)
    cost = np.full((1, 80, 80), topologies._FAR)
    a, b = random.integers(0, 80, (2, 400))
    cost[0, a, b] = unit + random.integers(0, 10_000_000, 400)
    sink = random.integers(0, 80, (1, 30))
    found = topologies._to_sinks(cost, sink)
    assert (found == topologies._to_sinks_exactly(cost, sink)).all()
    assert (found < topologies._FAR).sum() > 1000


def test_paths_of_too_many_hops_cost_as_much_as_none():
    cost = np.full((1, 600, 600), topologies._FAR)
    cost[0, np.arange(599), np.arange(1, 600)] = topologies._HOP + 5
    sink = np.array([[599, 3]])
    found = topologies._to_sinks(cost, sink)
    assert (found == topologies._to_sinks_exactly(cost, sink)).all()
    assert found[0, 599, 599 - 255] < topologies._FAR == found[0, 599, 599 - 256]
