"""Wireless scenarios: refused ones, and the rows that the engine reads."""

import math
from itertools import pairwise

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import concatenate
from netcarlo.kernels.wireless.layout import ARF, NOBODY, Flow, Leg, Link, Node, Radio, Rate
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build, build_rows, features

TABLES = {
    Flow: (Radio.FLOWS_AT, Radio.FLOWS),
    Link: (Radio.LINKS_AT, Radio.LINKS),
    Leg: (Radio.LEGS_AT, Radio.LEGS),
    Rate: (Radio.RATES_AT, Radio.RATES),
}
UDP = {"protocol": "udp", "rate": "10 Mbit/s"}


def scenario(wireless=None, transport=UDP, **fields):
    wireless = {"cell": {"stations": 3}} if wireless is None else wireless
    return Scenario.check(
        {"duration": "3 s", "warm_up": "1 s", "transport": transport, "wireless": wireless, **fields}
    )


def rows(wireless=None, transport=UDP, n=1, **fields):
    return build(scenario(wireless, transport, **fields), replications=n).rows


def table(rows, kind, row=0):
    """Return the entries of a table of a row, one dictionary each."""
    at, count = (int(rows.parameters[row, column]) for column in TABLES[kind])
    found = rows.network[row, at : at + count * len(kind)].reshape(count, len(kind))
    return [dict(zip(kind, map(int, entry), strict=True)) for entry in found]


def way(rows, flow, row=0, column=Flow.FORTH):
    """Return the nodes on the route of a flow."""
    entry = table(rows, Flow, row)[flow]
    first = int(rows.parameters[row, Radio.PATHS_AT]) + entry[Flow(column - 1)]
    links = rows.network[row, first : first + entry[column]]
    ends = [(link[Link.FROM], link[Link.TO]) for link in (table(rows, Link, row)[k] for k in links)]
    assert all(a[1] == b[0] for a, b in pairwise(ends))
    return [ends[0][0], *(to for _, to in ends)]


def heard(rows, column, row=0):
    """Return the nodes in a mask of each node."""
    masks = rows.nodes[row, :, column].view(np.uint64)
    return [[k for k in range(64) if int(mask) >> k & 1] for mask in masks]


def test_a_packet_of_sctp_has_the_header_of_its_chunk():
    udp = {"udp": {"rate": "1 Mbit/s"}}
    flows = [{"packets": 7}, {"source": 1, **udp}]
    found = rows({"cell": {"stations": 2}, "flows": flows}, {"protocol": "sctp"})
    mine, other = table(found, Flow)
    assert (mine[Flow.TCP], mine[Flow.SIZE], mine[Flow.HEADER], mine[Flow.LIMIT]) == (1, 1452, 48, 7)
    assert (other[Flow.TCP], other[Flow.HEADER]) == (0, 28)
    assert found.parameters[0, [RowP.DATA, RowP.CHUNK_HEADER, RowP.HEADER, RowP.WINDOW]].tolist() == [
        1452,
        16,
        32,
        44,
    ]


def test_standards_are_integers_of_the_engine():
    p = rows().parameters[0]
    expected = {
        Radio.NODES: 4, Radio.FLOWS: 3, Radio.LINKS: 6, Radio.LEGS: 0, Radio.RATES: 12, Radio.WARM_UP: 10**9,
        Radio.SLOT: 9000, Radio.SIFS: 10_000, Radio.EIFS: 342_000, Radio.CW_MIN: 15, Radio.CW_MAX: 1023,
        Radio.SHORT_RETRY: 7, Radio.LONG_RETRY: 7, Radio.PROTECTION: NOBODY, Radio.BURST: 1,
        Radio.GATEWAY_BURST: 1, Radio.BIN: 0, Radio.MAC_OVERHEAD: 36, RowP.END: 3 * 10**9,
    }  # fmt: skip
    assert {column: p[column] for column in expected} == expected
    a = rows({"standard": "802.11a", "cell": {"stations": 1}}).parameters[0]
    assert (a[Radio.SLOT], a[Radio.SIFS], a[Radio.EIFS], a[Radio.RATES]) == (9000, 16_000, 94_000, 8)
    b = rows({"standard": "802.11b", "cell": {"stations": 1}, "cw_max": 255}).parameters[0]
    assert (b[Radio.SLOT], b[Radio.EIFS], b[Radio.CW_MIN], b[Radio.CW_MAX]) == (20_000, 364_000, 31, 255)


def test_fields_replace_those_of_the_standard():
    wireless = {
        "cell": {"stations": 1}, "slot": "20 us", "eifs": "100 us", "rts_threshold": "500 B", "burst": 4,
        "gateway_burst": 2, "protection": "11 Mbit/s", "rate_control": "arf", "arf_up": 5,
        "back_pressure": True, "best_interval": "1 s",
    }  # fmt: skip
    p = rows(wireless).parameters[0]
    expected = {
        Radio.SLOT: 20_000, Radio.EIFS: 100_000, Radio.RTS_THRESHOLD: 500, Radio.BURST: 4,
        Radio.GATEWAY_BURST: 2, Radio.PROTECTION: 3, Radio.RATE_CONTROL: ARF, Radio.ARF_UP: 5,
        Radio.BACK_PRESSURE: 1, Radio.BIN: 10**9,
    }  # fmt: skip
    assert {column: p[column] for column in expected} == expected


def test_rates_have_the_times_and_answers_of_the_standard():
    def air_us(rate, size):
        bits = 6 * (8 * size + rate[Rate.EXTRA_BITS])
        symbols = math.ceil(bits / rate[Rate.SIXTH_BITS])
        return (rate[Rate.PREAMBLE] + rate[Rate.SYMBOL] * symbols + rate[Rate.EXTENSION]) / 1000

    rates = table(rows(), Rate)
    # 1, 5.5 and 11 Mbit/s: 192 us and the bytes; 6, 24 and 54: 20 us, symbols of 4 us, 6 us.
    assert [air_us(rates[k], 14) for k in (0, 2, 3)] == [304, 192 + 21, 192 + 11]
    assert [air_us(rates[k], 14) for k in (4, 8, 11)] == [20 + 24 + 6, 34, 30]
    assert air_us(rates[11], 1536) == 20 + 4 * math.ceil((8 * 1536 + 22) / 216) + 6
    assert [rate[Rate.ANSWER] for rate in rates] == [0, 1, 2, 3, 4, 4, 6, 6, 8, 8, 8, 8]
    assert [rate[Rate.DSSS] for rate in rates] == [1] * 4 + [0] * 8
    short = table(rows({"cell": {"stations": 1}, "preamble": "short"}), Rate)
    assert [rate[Rate.PREAMBLE] for rate in short[:4]] == [192_000, 96_000, 96_000, 96_000]
    few = {"cell": {"stations": 1}, "rates": ["24 Mbit/s", "6 Mbit/s"], "rate": "6 Mbit/s"}
    assert [rate[Rate.ANSWER] for rate in table(rows(few), Rate)] == [0, 1]
    assert table(rows(few), Link)[0][Link.RATE] == 1
    low = {"cell": {"stations": 1}, "answer_rate": "1 Mbit/s"}
    assert {rate[Rate.ANSWER] for rate in table(rows(low), Rate)} == {0}


def test_a_cell_sends_to_its_last_node():
    found = rows({"cell": {"stations": 3}, "queue": 20, "flows": "both"})
    assert [way(found, f) for f in range(6)] == [[0, 3], [1, 3], [2, 3], [3, 0], [3, 1], [3, 2]]
    assert found.nodes[0, :, Node.QUEUE].tolist() == [20] * 4
    assert heard(found, Node.SENSE) == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert heard(found, Node.NEAR) == heard(found, Node.DISTURB_CONTROL) == heard(found, Node.SENSE)


def test_a_chain_hears_as_far_as_it_says():
    reach = {"sense": 2, "disturb_control": 1}
    found = rows({"chain": {"hops": 3}, "reach": reach, "flows": "both"}, {"protocol": "sack"})
    assert [way(found, 0), way(found, 1)] == [[0, 1, 2, 3], [3, 2, 1, 0]]
    assert [way(found, 0, column=Flow.BACK), way(found, 1, column=Flow.BACK)] == [[3, 2, 1, 0], [0, 1, 2, 3]]
    neighbours, two = [[1], [0, 2], [1, 3], [2]], [[1, 2], [0, 2, 3], [0, 1, 3], [1, 2]]
    assert heard(found, Node.NEAR) == heard(found, Node.DISTURB_CONTROL) == neighbours
    assert heard(found, Node.SENSE) == heard(found, Node.CONTROL) == heard(found, Node.DISTURB_DATA) == two


def test_stations_of_a_cell_may_be_hidden_from_each_other():
    found = rows({"cell": {"stations": 3}, "reach": {"sense": 1}})
    assert heard(found, Node.SENSE) == [[3], [3], [3], [0, 1, 2]]


def test_a_tree_grows_from_the_gateway():
    found = rows({"tree": {"stations": 6, "children": 2}})
    assert [way(found, f) for f in range(6)] == [
        [0, 6], [1, 6], [2, 0, 6], [3, 0, 6], [4, 1, 6], [5, 1, 6]
    ]  # fmt: skip


def test_given_nodes_say_who_hears_whom_and_routes_meet_below_the_gateway():
    nodes = [
        {"next": 1, "sense": [1, 2], "decode": [1]},
        {"next": 3, "sense": [0, 2, 3], "disturb": [0], "disturb_control": []},
        {"next": 1, "sense": [0, 1], "control": [0]},
        {"sense": [1]},
    ]
    found = rows({"nodes": nodes, "flows": [{"source": 0, "sink": 2}, {"source": "gateway", "sink": 2}]})
    assert [way(found, 0), way(found, 1)] == [[0, 1, 2], [3, 1, 2]]
    assert heard(found, Node.NEAR) == [[1], [0, 2, 3], [0, 1], [1]]
    assert heard(found, Node.CONTROL) == [[1], [0, 2, 3], [0], [1]]
    assert heard(found, Node.DISTURB_DATA) == [[1, 2], [0], [0, 1], [1]]
    assert heard(found, Node.DISTURB_CONTROL)[1] == []


def test_places_take_the_fewest_hops_and_then_the_shortest():
    places = [{"x": "200 m"}, {"x": "110 m", "y": "50 m"}, {"x": "105 m"}, {"x": "500 m"}, {"x": "0 m"}]
    ranges = {"decode": "125 m", "sense": "210 m", "disturb": "160 m"}
    found = rows({"places": places, "ranges": ranges})
    # Station 0 is out of the gateway's range, and uses station 2, which is nearer than 1; 3 is isolated.
    assert [way(found, f) for f in range(4)] == [[0, 2, 4], [1, 4], [2, 4], [3, 4]]
    assert heard(found, Node.SENSE) == [[1, 2, 4], [0, 2, 4], [0, 1, 4], [], [0, 1, 2]]
    assert heard(found, Node.NEAR) == [[1, 2], [0, 2, 4], [0, 1, 4], [], [1, 2]]
    assert heard(found, Node.DISTURB_DATA)[0] == [1, 2]


def test_path_loss_is_a_matter_of_decibels():
    # 16 dBm - 40 dB - 30 log10(d): -54 dBm at 10 m, -84 dBm at 100 m.
    chain = {"hops": 4, "spacing": "10 m"}
    loss = {"decode_dbm": -54.1, "control_dbm": -63.1, "sense_dbm": -68.4, "capture_db": 9.1}
    found = rows({"chain": chain, "path_loss": loss})
    distance = {
        Node.NEAR: 1, Node.CONTROL: 2, Node.SENSE: 3,
        Node.DISTURB_DATA: 2, Node.DISTURB_CONTROL: 2,  # -9 dB at 20 m, -14.3 dB at 30 m; default 10 dB
    }  # fmt: skip
    for column, hops in distance.items():
        near = [[j for j in range(5) if j != i and abs(i - j) <= hops] for i in range(5)]
        assert heard(found, column) == near, column


def test_shadowing_moves_ranges_by_its_standard_deviation_and_alike_both_ways():
    places = [{"x": "0 m"}, {"x": "100 m"}]  # -84 dBm
    loss = {"shadowing_db": 5, "sense_dbm": -89, "control_dbm": -89, "decode_dbm": -84}
    found = rows({"places": places, "path_loss": loss}, n=4000)
    sensed, decoded = (found.nodes[:, :, column] != 0 for column in (Node.SENSE, Node.NEAR))
    assert (sensed[:, 0] == sensed[:, 1]).all()
    assert sensed[:, 0].mean() == pytest.approx(0.8413, abs=0.02)  # one standard deviation
    assert decoded[:, 0].mean() == pytest.approx(0.5, abs=0.03)


def test_random_places_are_new_in_every_replication_or_those_of_the_topology():
    area = {"area": {"stations": 8, "side": "200 m"}, "ranges": {"decode": "60 m", "sense": "120 m"}}
    anew = rows(area, n=20).nodes
    assert len(np.unique(anew.reshape(20, -1), axis=0)) == 20
    same = rows({**area, "redraw": False}, n=20, topology=3).nodes
    assert (same == same[0]).all()
    other = rows({**area, "redraw": False}, n=20, topology=4).nodes
    assert (same[0] != other[0]).any()


def test_rows_depend_on_nothing_but_their_number():
    wireless = {
        "area": {"stations": {"integers": [2, 9]}, "side": "150 m"}, "path_loss": {"shadowing_db": 3},
        "each": {"frame_error": {"uniform": [0, 0.5]}, "rate": {"choice": ["6 Mbit/s", "54 Mbit/s"]}},
        "flows": "both", "receiver": {"tick": "4 ms"}, "sender_delay": {"delay": "2 ms"},
    }  # fmt: skip
    random = scenario(wireless, {"protocol": "newreno", "window": {"integers": [2, 64]}})
    whole, drawn = build(random, replications=40)
    parts = [build(random, first=first, replications=20) for first in (0, 20)]
    joined = concatenate([part.rows for part in parts])
    assert (joined.parameters[:, : Radio.PATHS_AT] == whole.parameters[:, : Radio.PATHS_AT]).all()
    assert (joined.nodes == whole.nodes).all()
    for row in range(40):
        for kind in TABLES:
            ours, theirs = table(joined, kind, row), table(whole, kind, row)
            for mine, yours in zip(ours, theirs, strict=True):
                if kind is Link:  # rows of the loss table, whose numbers differ in parts
                    assert (joined.losses[mine.pop(kind.LOSS)] == whole.losses[yours.pop(kind.LOSS)]).all()
                if kind is Flow:  # start of the path
                    for column in (Flow.FORTH_AT, Flow.BACK_AT):
                        mine.pop(column), yours.pop(column)
                assert mine == yours
        for flow in range(int(whole.parameters[row, Radio.FLOWS])):
            assert way(joined, flow, row) == way(whole, flow, row)
    counts = np.rint(drawn["wireless.area.stations"]).to_numpy()
    assert (whole.parameters[:, Radio.NODES] == counts + 1).all()
    assert (whole.parameters[:, Radio.FLOWS] == 2 * counts).all()


def test_rows_of_different_width_are_joined():
    small = rows({"cell": {"stations": 1}, "frame_error": 0.1, "survival": "50 us"})
    large = rows({"chain": {"hops": 4}, "frame_error": 0.2})
    joined = concatenate([small, large])
    assert joined.nodes.shape == (2, 5, len(Node))
    for row, part in enumerate((small, large)):
        for kind in TABLES:
            a, b = table(joined, kind, row), table(part, kind)
            if kind is Link:
                for mine, yours in zip(a, b, strict=True):
                    assert (joined.losses[mine[Link.LOSS]] == part.losses[yours[Link.LOSS]]).all()
                    assert bool(mine[Link.FRAGILITY]) == bool(yours[Link.FRAGILITY]) == (row == 0)
                    if row == 0:
                        fragile = joined.losses[mine[Link.FRAGILITY] - 1]
                        assert (fragile == thresholds([1 - math.exp(-1 / 50)])[0]).all()
            else:
                assert a == b


def test_flows_send_what_the_transport_or_they_themselves_say():
    flows = [
        {"source": 0, "bytes": "14600 B"},
        {"source": 1, "start": "0.5 s"},
        {"source": 2, "udp": {"rate": "1 Mbit/s", "payload": "500 B", "packets": 7}, "stop": "2 s"},
    ]
    tcp = {"protocol": "sack", "start": "0.1 s", "packets": 90}
    found = table(rows({"cell": {"stations": 3}, "flows": flows}, tcp), Flow)
    assert [f[Flow.TCP] for f in found] == [1, 1, 0]
    assert [f[Flow.LIMIT] for f in found] == [10, 90, 7]
    assert [f[Flow.SIZE] for f in found] == [1460, 1460, 500]
    assert [f[Flow.HEADER] for f in found] == [40, 40, 28]
    assert [f[Flow.START] for f in found[:2]] == [10**8, 5 * 10**8]
    assert [f[Flow.STOP] for f in found] == [3 * 10**9, 3 * 10**9, 2 * 10**9]
    assert found[2][Flow.INTERVAL] == 4_000_000
    assert 0 <= found[2][Flow.START] < 4_000_000  # a random moment of the first interval
    assert found[0][Flow.BACK] == 1
    assert found[2][Flow.BACK] == 0
    assert table(rows(), Flow)[0][Flow.LIMIT] == ENDLESS


def test_a_flow_of_a_station_that_a_network_does_not_have_is_left_out():
    flows = [{"source": 0}, {"source": 1, "start": "1 s"}, {"source": "gateway", "sink": 0}]
    base = scenario({"cell": {"stations": 3}, "flows": flows})
    given = {"wireless.cell.stations": np.array([1.0, 5.0])}
    found = build_rows(base, replications=np.zeros(2, np.int64), given=given).rows
    assert found.parameters[:, Radio.FLOWS].tolist() == [2, 3]
    assert [way(found, f, 0) for f in range(2)] == [[0, 1], [1, 0]]
    assert [way(found, f, 1) for f in range(3)] == [[0, 5], [1, 5], [5, 0]]


def test_legs_are_shared_where_there_is_one_wire():
    wire = {"rate": "100 Mbit/s", "delay": "0.1 ms", "overhead": "2 B"}
    found = rows({"cell": {"stations": 2}, "wire": wire, "flows": "both"}, {"protocol": "sack"})
    legs = table(found, Leg)
    assert len(legs) == 2
    assert legs[0] == legs[1]
    assert (legs[0][Leg.BYTE_TIME], legs[0][Leg.OVERHEAD], legs[0][Leg.DELAY]) == (80 << 20, 2, 100_000)
    ends = [
        [f[c] for c in (Flow.BEFORE, Flow.AFTER, Flow.ACK_BEFORE, Flow.ACK_AFTER)] for f in table(found, Flow)
    ]
    assert ends == [[-1, 0, 1, -1]] * 2 + [[1, -1, -1, 0]] * 2


def test_each_flow_has_its_own_delay_element_and_receiver():
    wireless = {
        "cell": {"stations": 2},
        "sender_delay": {"delay": "5 ms", "tick": "4 ms"},
        "receiver": {"packet_time": "0.35 ms", "ack_time": "0.1 ms", "swing": "4 %", "swing_every": "2 s"},
    }
    found = rows(wireless, {"protocol": "sack"}, n=50)
    flows, legs = table(found, Flow), table(found, Leg)
    assert [(f[Flow.BEFORE], f[Flow.AFTER], f[Flow.ACK_COST]) for f in flows] == [
        (0, 1, 10**5),
        (2, 3, 10**5),
    ]
    assert (legs[0][Leg.DELAY], legs[0][Leg.TICK], legs[1][Leg.PACKET_TIME]) == (
        5 * 10**6,
        4 * 10**6,
        350_000,
    )
    assert (legs[1][Leg.SWING], legs[1][Leg.SWING_EVERY]) == (round(0.04 * 2**20), 2 * 10**9)
    phases = [table(found, Leg, row)[0][Leg.PHASE] for row in range(50)]
    assert len(set(phases)) == 50
    assert 0 <= min(phases) < 500_000
    assert 3_500_000 < max(phases) < 4_000_000


def test_only_the_application_of_a_tcp_reads():
    wireless = {
        "cell": {"stations": 2},
        "flows": [{"source": 0}, {"source": 1, "udp": {"rate": "1 Mbit/s"}}],
        "receiver": {"read": "8 KiB", "read_time": "0.2 ms"},
    }
    legs = table(rows(wireless, {"protocol": "sack", "payload": "1448 B"}), Leg)
    assert [(leg[Leg.READ], leg[Leg.READ_TIME], leg[Leg.SIZE]) for leg in legs] == [
        (8192, 200_000, 1448),
        (0, 0, 0),
    ]
    short = wireless | {"receiver": {"read": "1000 B"}}
    with pytest.raises(InputError, match=r"receiver\.read can be 1000 B, .* expected transport\.payload"):
        rows(short, {"protocol": "sack", "payload": "1448 B"})


def test_each_link_draws_its_own():
    each = {"frame_error": {"uniform": [0, 0.5]}, "rate": {"choice": ["6 Mbit/s", "54 Mbit/s"]}}
    found = rows({"chain": {"hops": 3}, "each": each})
    links = table(found, Link)
    assert [link[Link.LOSS] for link in links[::2]] == [link[Link.LOSS] for link in links[1::2]]
    assert len({link[Link.LOSS] for link in links}) == 3
    assert {link[Link.RATE] for link in links} <= {4, 11}
    listed = {
        "chain": {"hops": 2},
        "each": [{"rate": "6 Mbit/s"}, {"frame_error": 0.25}],
        "rate": "12 Mbit/s",
    }
    found = rows(listed)
    assert [link[Link.RATE] for link in table(found, Link)] == [4, 4, 6, 6]
    assert (found.losses[table(found, Link)[2][Link.LOSS]] == thresholds([0.25])[0]).all()


def test_features_say_what_the_way_looks_like():
    wireless = {"chain": {"hops": 3}, "frame_error": 0.1, "wire": {"delay": "10 ms"}}
    given = {"wireless.chain.hops": np.array([1.0, 3.0])}
    found = features(scenario(wireless), given=given, rows=2)
    assert found["n_hops"].tolist() == [1, 3]
    assert found["path_loss"] == pytest.approx([0.1, 1 - 0.9**3])
    data_us, ack_us = 20 + 4 * math.ceil((8 * 1534 + 22) / 216) + 6, 34
    assert found["base_rtt_s"] == pytest.approx([0.01 + h * (28 + data_us) * 1e-6 for h in (1, 3)])
    assert found["bottleneck_bps"] == pytest.approx(8e6 * 1498 / (28 + data_us + 10 + ack_us))


def test_memory_of_a_row_grows_with_the_network():
    sizes = [scenario({"cell": {"stations": n}}).network.row_bytes() for n in (1, 10, 63)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 10_000 < sizes[2] < 2_000_000


CELL = {"cell": {"stations": 3}}
BAD = [
    ({}, "cell, chain, tree, area, places, nodes are all missing"),
    ({**CELL, "chain": {"hops": 1}}, "cell and chain are both given"),
    ({"cell": {"stations": 64}}, "cell.stations = 64 is above the limit"),
    ({**CELL, "rate": "53 Mbit/s"}, "rate can be 53 Mbit/s; expected one of 1, 2, 5.5"),
    ({**CELL, "rate": {"uniform": ["6 Mbit/s", "54 Mbit/s"]}}, "rate can be drawn only from a list of rates"),
    ({**CELL, "rates": ["54 Mbit/s"]}, "rates lack 24 Mbit/s, the response rate for 54 Mbit/s"),
    ({**CELL, "standard": "802.11a", "protection": "1 Mbit/s"}, "protection can be 1 Mbit/s"),
    ({**CELL, "standard": "802.11b", "rates": ["54 Mbit/s"]}, "no rate of 802.11b"),
    ({**CELL, "standard": "802.11ah"}, "standard = '802.11ah' is not supported"),
    ({**CELL, "standard": "802.11q"}, "standard = '802.11q' is not allowed"),
    ({**CELL, "cw_min": 63, "cw_max": 31}, "cw_min can be above cw_max"),
    ({**CELL, "ranges": {"decode": "10 m"}}, "which a cell does not have; write area or places"),
    ({**CELL, "reach": {}, "path_loss": {}}, "reach and path_loss are both given"),
    ({"area": {"stations": 3, "side": "10 m"}}, "area needs ranges or path_loss"),
    ({"chain": {"hops": 3}, "ranges": {"decode": "10 m"}}, "chain needs a spacing with ranges"),
    ({"nodes": [{"sense": [1]}, {"sense": [0]}]}, r"nodes\.0\.next is missing"),
    ({"nodes": [{"next": 1, "sense": [2]}, {"sense": [0]}]}, r"nodes\.0\.sense has 2, which is not another"),
    (
        {"nodes": [{"next": 1, "sense": [1]}, {"next": 0, "sense": [0]}, {"sense": [0]}]},
        "forms a loop",
    ),
    ({**CELL, "flows": []}, "flows are empty"),
    (
        {**CELL, "flows": [{"source": 3}]},
        r"flows\.0\.source = 3 is not a station; expected 0 to 2, or gateway",
    ),
    ({**CELL, "flows": [{"source": 1, "sink": 1}]}, "source and sink are both 1"),
    ({**CELL, "wire": {}, "receiver": {}}, "wire and receiver both follow flows to the gateway"),
    ({**CELL, "wire": {}, "sender_delay": {}, "flows": "down"}, "wire and sender_delay both precede"),
    ({**CELL, "stations": 4}, "stations is an unknown field"),
]


@pytest.mark.full
@pytest.mark.parametrize(("wireless", "complaint"), BAD, ids=[complaint for _, complaint in BAD])
def test_a_network_that_cannot_be_is_refused_in_one_line(wireless, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        scenario(wireless)
    assert "\n" not in str(error.value)


SCENARIOS = [
    ({"hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}]}, "wireless and paths are both given"),
    ({"transport": {"protocol": "elfn"}}, "'elfn' is not supported; .* udp"),
    (
        {"transport": {"protocol": "sctp"}, "wireless": {**CELL, "receiver": {"read": "8 KiB"}}},
        "wireless.receiver.read is not supported with sctp, .*; remove it",
    ),
    (
        {"transport": {"protocol": "linux"}, "wireless": {**CELL, "receiver": {"read": "8 KiB"}}},
        "wireless.receiver.read is not supported with linux, .*; remove it",
    ),
    (
        {"transport": {"protocol": "linux"}, "wireless": {**CELL, "back_pressure": True}},
        "wireless.back_pressure is not supported with linux; remove it, or write protocol: linux26",
    ),
    (
        {"transport": {"protocol": "linux"}, "duration": "3 h", "warm_up": "0 s"},
        "duration needs about .* packets, but linux over 802.11 supports 33554432; shorten it, or write",
    ),
    ({"warm_up": "3 s"}, "warm_up can be at or after the end"),
    ({"transport": {"protocol": "udp"}}, "transport.rate is missing"),
    ({"transport": {**UDP, "bytes": "1 MB", "packets": 3}}, "bytes and packets are both given"),
    ({"transport": {**UDP, "stop": "1 s", "start": "1 s"}}, "stop can be at or before start"),
]


@pytest.mark.parametrize(("fields", "complaint"), SCENARIOS, ids=[complaint for _, complaint in SCENARIOS])
def test_a_scenario_that_cannot_be_is_refused(fields, complaint):
    with pytest.raises(InputError, match=complaint):
        scenario(**fields)


def test_a_scenario_has_a_network():
    with pytest.raises(InputError, match="paths, wireless, adhoc and shared are all missing"):
        Scenario.check({"duration": "1 s", "transport": {"protocol": "sack"}})


def test_warm_up_is_for_wireless_networks():
    hops = {"duration": "3 s", "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}]}
    with pytest.raises(InputError, match="warm_up is supported only with wireless"):
        Scenario.check({**hops, "transport": {"protocol": "sack"}, "warm_up": "1 s"})


def test_a_scenario_reads_back_equal_with_every_default_written_out():
    first = scenario(
        {
            "standard": "802.11a", "area": {"stations": {"integers": [2, 5]}, "side": "90 m"},
            "path_loss": {}, "each": {"rate": {"choice": ["6 Mbit/s", "12 Mbit/s"]}},
            "flows": [{"source": 1, "udp": {"rate": "1 Mbit/s"}}], "wire": {},
        }
    )  # fmt: skip
    data = first.model_dump(mode="json", exclude_none=True)
    assert data["wireless"]["sifs"] == "1.6e-05 s"
    assert Scenario.check(data) == first
