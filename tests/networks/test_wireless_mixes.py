"""Heterogeneous flows over 802.11: their number, endpoints and transports."""

import numpy as np
import pytest

from netcarlo import simulate
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import P, ReliableP, RowP, TcpP
from netcarlo.kernels.senders import KINDS
from netcarlo.kernels.wireless.layout import Flow, FlowOut, Radio
from netcarlo.networks.wireless.outcomes import tables
from netcarlo.simulation.ensemble import build, build_rows
from tests.networks.test_wireless import UDP, rows, scenario, table, way

TCP = {"protocol": "newreno", "window": 50}
STREAM = {"rate": "1 Mbit/s", "payload": "1200 B"}


def cell(flows, stations=4, **more):
    return {"cell": {"stations": stations}, "flows": flows, **more}


def ways(found, row=0):
    return [way(found, f, row) for f in range(int(found.parameters[row, Radio.FLOWS]))]


def transports(found, row=0):
    """Return the columns of `P` of each flow of a row."""
    at, count = (int(found.parameters[row, column]) for column in (Radio.TRANSPORTS_AT, Radio.FLOWS))
    return found.network[row, at : at + count * len(P)].reshape(count, len(P))


def test_unless_they_are_counted_there_is_one_for_each_station():
    flows = [{"each": {"source": "station"}}, {"each": {"source": "gateway", "sink": "station"}}]
    assert ways(rows(cell(flows, stations=3))) == [[0, 3], [1, 3], [2, 3], [3, 0], [3, 1], [3, 2]]


def test_flows_of_stations_take_turns_from_the_first_on():
    flows = [{"count": 3, "first": 2, "each": {"source": "station"}}, {"count": 2, "each": {"source": 1}}]
    assert ways(rows(cell(flows))) == [[2, 4], [3, 4], [0, 4], [1, 4], [1, 4]]


def test_every_station_of_each_network_has_its_flows():
    flows = [{"each": {"source": "station"}}, {"each": {"source": "gateway", "sink": "station"}}]
    given = {"wireless.cell.stations": np.array([1.0, 3.0])}
    found = build_rows(scenario(cell(flows)), replications=np.zeros(2, np.int64), given=given).rows
    assert ways(found, 0) == [[0, 1], [1, 0]]
    assert ways(found, 1) == [[0, 3], [1, 3], [2, 3], [3, 0], [3, 1], [3, 2]]


def test_a_count_may_be_drawn_or_given_and_moves_nothing_else():
    flows = [
        {"count": {"integers": [1, 9]}, "each": {"source": "station", "udp": STREAM}},
        {"source": 0, "udp": STREAM},
    ]
    base = scenario(cell(flows))
    found = build(base, replications=40)
    count = found.drawn["wireless.flows.0.count"].to_numpy()
    assert {count.min(), count.max()} == {1, 9}
    assert (found.rows.parameters[:, Radio.FLOWS] == count + 1).all()
    alone = build(base, first=17, replications=1).rows
    first, again = (table(rows, Flow, row) for rows, row in ((found.rows, 17), (alone, 0)))
    assert [f[Flow.START] for f in first] == [f[Flow.START] for f in again]
    given = {"wireless.flows.0.count": np.array([2.0, 3.0])}
    both = build_rows(base, replications=np.zeros(2, np.int64), given=given).rows
    two, three = ([f[Flow.START] for f in table(both, Flow, row)] for row in range(2))
    assert (two[:2], two[2]) == (three[:2], three[3])
    assert len(set(three)) == 4


@pytest.mark.full
def test_how_many_flows_other_rows_have_moves_no_leg():
    """The random numbers of a flow do not depend on the number of flows in other rows."""
    flows = [{"count": {"integers": [0, 6]}, "each": {"source": "station"}}, {"source": "gateway", "sink": 2}]
    more = {"sender_delay": {"delay": "1 ms"}, "receiver": {"packet_time": "0.3 ms", "swing": "4 %"}}
    base = scenario(cell(flows, **more), TCP)
    together = build(base, replications=30)
    count = together.drawn["wireless.flows.0.count"].to_numpy().astype(int)
    for row in range(30):
        last = table(together.rows, Flow, row)[-1]
        assert (last[Flow.BEFORE], last[Flow.AFTER]) == (2 * count[row], 2 * count[row] + 1)
    row = int(np.argmin(count))
    alone = simulate(base, first=row, replications=1, target="cpu").frame
    of_all = simulate(base, replications=30, target="cpu").frame
    assert alone.loc[row, "goodput_bps"] == of_all.loc[row, "goodput_bps"]


def test_each_flow_draws_its_own():
    flows = [{"count": 5, "each": {"source": "station", "bytes": {"uniform": ["10 kB", "1 MB"]}}}]
    found = build(scenario(cell(flows), TCP), replications=2)
    assert len({f[Flow.LIMIT] for row in range(2) for f in table(found.rows, Flow, row)}) == 10
    assert "wireless.flows.0.each.4.bytes" in found.drawn
    one = {"wireless.flows.0.each.bytes": np.array([14600.0])}
    alike = build_rows(scenario(cell(flows), TCP), replications=np.zeros(1, np.int64), given=one).rows
    assert {f[Flow.LIMIT] for f in table(alike, Flow)} == {10}


def test_a_list_has_one_of_each_flow():
    flows = [{"count": 2, "each": [{"source": 3, "packets": 7}, {"source": "gateway", "sink": "station"}]}]
    found = rows(cell(flows), TCP)
    assert ways(found) == [[3, 4], [4, 1]]
    assert table(found, Flow)[0][Flow.LIMIT] == 7


def test_a_tcp_of_its_own_replaces_what_it_says_of_the_transport():
    flows = [
        {"source": 0, "start": "1 s"},
        {"source": 1, "protocol": "cubic", "payload": "1000 B"},
        {"source": 2, "window": 7, "packets": 9},
        {"source": 3, "udp": STREAM},
    ]
    found = rows(cell(flows), TCP | {"ack_every": 2})
    mine, own = table(found, Flow), transports(found)
    assert [KINDS[f[Flow.KIND]] for f in mine] == ["newreno", "cubic", "newreno", "udp"]
    assert [f[Flow.SIZE] for f in mine] == [1460, 1000, 1460, 1200]
    assert own[:3, RowP.DATA].tolist() == [1460, 1000, 1460]
    assert own[:3, RowP.WINDOW].tolist() == [50, 50, 7]
    assert found.parameters[0, RowP.WINDOW] == 50
    assert own[:3, ReliableP.ACK_EVERY].tolist() == [2] * 3
    assert [f[Flow.START] for f in mine[:3]] == [NS, 0, 0]
    assert mine[2][Flow.LIMIT] == 9
    assert len(set(own[:3, TcpP.CLOCK_PHASE])) == 1  # the engine shifts them


def model(flows, transport):
    asked = scenario(cell(flows), transport)
    return asked.network.address(asked, fluid=False).name


def test_only_flows_that_differ_ask_for_the_model_of_all_kinds():
    assert model([{"count": 3, "each": {"source": "station"}}, {"udp": STREAM}], TCP) == "wifi_newreno"
    assert model([{"source": 0, "window": 9}], TCP) == "wifi_mixed"
    assert model([{"source": 0}, {"source": 1, "protocol": "vegas"}], TCP) == "wifi_mixed"
    assert model([{"source": 0, "protocol": "vegas"}, {"source": 1}], UDP) == "wifi_mixed"
    assert model([{"source": 0, "udp": STREAM}], UDP) == "wifi_udp"
    linux = {"protocol": "linux"}
    assert model([{"source": 0}, {"source": 1, "udp": STREAM}], linux) == "wifi_linux_cubic"
    assert model([{"source": 0}, {"source": 1, "congestion_control": "bbr"}], linux) == "wifi_mixed_linux"
    assert model([{"source": 0, **linux}, {"source": 1}], TCP) == "wifi_mixed_linux"


def by_flow(wireless, transport, n=2, **fields):
    asked = scenario(wireless, transport, **fields)
    return tables(simulate(asked, replications=n, target="cpu").integers, flows=len(wireless["flows"])).flows


@pytest.mark.full
def test_the_same_flows_in_two_models_are_the_same():
    """Setting the transport's window per flow changes the model, but no outcome."""
    network = cell([{"source": k} for k in range(4)] + [{"source": "gateway", "sink": k} for k in range(4)])
    own = {**network, "flows": [{**flow, "window": 50} for flow in network["flows"]]}
    sack = TCP | {"protocol": "sack"}
    assert (by_flow(network, sack) == by_flow(own, sack)).all()


@pytest.mark.full
def test_uploads_and_downloads_share_a_cell():
    """Uploads and downloads of all transports are complete; the queue of the gateway is large enough."""
    finite = {"packets": 200}
    flows = [
        {"source": 0, **finite},
        {"source": "gateway", "sink": 0, "protocol": "cubic", **finite},
        {"source": "gateway", "sink": 1, "protocol": "vegas", "window": 9, **finite},
        {"source": 1, "udp": STREAM | finite},
    ]
    found = by_flow(cell(flows, queue=500), TCP, warm_up="0 s")
    assert (found[:, :, FlowOut.DELIVERED] == 200).all()
    assert (found[:, :3, FlowOut.IN_ORDER] == 200).all()


@pytest.mark.full
def test_outcomes_by_direction_and_transport():
    flows = [
        {"each": {"source": "station"}},
        {"each": {"source": "gateway", "sink": "station", "protocol": "cubic"}},
        {"count": 2, "each": {"source": "gateway", "sink": "station", "udp": STREAM}},
        {"source": 0, "sink": 1, "udp": STREAM},
    ]
    asked = scenario(cell(flows, queue=300), TCP)
    found = simulate(asked, replications=4, target="cpu")
    frame, built = found.frame, build(asked, replications=4).rows
    goodput = asked.network.by_part("flows", found.integers, built)["goodput_bps"]
    up, down, streams = goodput[:, :4], goodput[:, 4:10], goodput[:, 8:]
    np.testing.assert_allclose(frame["goodput_bps"], goodput.sum(axis=1))
    np.testing.assert_allclose(frame["upload_bps"], up.sum(axis=1))
    np.testing.assert_allclose(frame["download_bps"], down.sum(axis=1))
    assert (frame["worst_upload_bps"] == up.min(axis=1)).all()
    assert (frame["worst_download_bps"] == down.min(axis=1)).all()
    assert (frame["worst_flow_bps"] == goodput[:, :8].min(axis=1)).all()
    assert (frame["best_flow_bps"] == goodput[:, :8].max(axis=1)).all()
    np.testing.assert_allclose(frame["newreno_bps"], up.mean(axis=1))
    np.testing.assert_allclose(frame["cubic_bps"], goodput[:, 4:8].mean(axis=1))
    np.testing.assert_allclose(frame["mean_flow_bps"], goodput[:, :8].mean(axis=1))
    np.testing.assert_allclose(frame["udp_bps"], streams.mean(axis=1))
    assert frame["vegas_bps"].isna().all()


def test_flows_in_a_word_have_no_outcomes_of_their_own():
    found = simulate(scenario({"cell": {"stations": 2}}), replications=1, target="cpu").frame
    assert found[["upload_bps", "worst_upload_bps", "udp_bps", "mean_flow_bps"]].isna().all().all()


STATION = {"source": "station"}
BAD = [
    ([STATION], TCP, r"flows\.0\.source = station .* several flows; write each: \{source: station\}"),
    ([{"each": {"source": "station", "sink": 1}}], TCP, "sink = 1 cannot be combined with station"),
    ([{"each": {"source": "station", "sink": "station"}}], TCP, "source and sink are both station"),
    ([{"first": 4, "each": STATION}], TCP, r"flows\.0\.first = 4 is not a station; expected 0 to 3"),
    ([{"count": 2, "each": {"source": 4}}], TCP, r"flows\.0\.each\.source = 4 is not a station"),
    ([{"count": 0, "each": STATION}], TCP, "flows can be empty; raise a count"),
    ([{"count": 1000}, {"count": 25}], TCP, "flows can be up to 1025; expected 1 to 1024; lower a count"),
    ([{"count": 1025}], TCP, r"flows\.0\.count = 1025 is above the limit"),
    ([{"udp": STREAM, "payload": "9 B"}], TCP, r"udp and payload are both given; write udp\.payload"),
    ([{"udp": STREAM, "protocol": "sack"}], TCP, "udp and protocol are both given; remove it"),
    ([{"protocol": "linux26"}], TCP, r"protocol = 'linux26' is not allowed"),
    ([{"congestion_control": "bbr"}], TCP, r"is supported only with linux; add protocol: linux"),
    ([{"window": 9}], UDP, r"flows\.0\.window is a field of TCP"),
    ([{}, {"source": 1, "protocol": "cubic"}], {"protocol": "sctp"}, "transport cannot be sctp if flows"),
    ([{"window": 9}], {"protocol": "linux26"}, "transport cannot be linux26 if flows of 802.11 have"),
    ([{"payload": "9 B"}], {"protocol": "probing"}, "transport cannot be probing if flows of 802.11"),
]


@pytest.mark.parametrize(("flows", "transport", "complaint"), BAD, ids=[complaint for *_, complaint in BAD])
def test_flows_that_cannot_be_are_refused_in_one_line(flows, transport, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        scenario(cell(flows), transport)
    assert "\n" not in str(error.value)


def test_what_linux_cannot_is_refused_beside_others_too():
    flows = [{"source": 0, "protocol": "linux"}, {"source": 1}]
    with pytest.raises(InputError, match="back_pressure is not supported with linux"):
        scenario(cell(flows, back_pressure=True), TCP)
    with pytest.raises(InputError, match=r"receiver\.read is not supported with linux"):
        scenario(cell(flows, receiver={"read": "8 KiB"}), TCP)


@pytest.mark.parametrize("fidelity", ["fluid", "formula"])
def test_cheap_models_know_no_mixes(fidelity):
    with pytest.raises(InputError, match=f"the {fidelity} model does not support 802.11 flows with"):
        simulate(scenario(cell([{"window": 9}]), TCP, fidelity=fidelity), replications=1, target="cpu")
