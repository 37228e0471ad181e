"""Scenarios of ad hoc networks: refused ones, and the rows that the engine reads."""

import math

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc import layout
from netcarlo.kernels.adhoc.layout import METRE, Manet, Place
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.base.rows import concatenate
from netcarlo.networks.adhoc.outcomes import Power
from netcarlo.networks.adhoc.start import share
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.simulation.ensemble import build, build_rows, features
from netcarlo.simulation.launches import model_of

WALK = {"model": "random_waypoint", "speed": "5 m/s"}
SCTP = {"protocol": "sctp"}
LINUX = {"protocol": "linux"}
GIVEN = {
    "model": "given",
    "nodes": [
        [{"time": "1 s", "x": "0 m"}, {"time": "11 s", "x": "100 m", "y": "-50 m"}],
        [{"time": "0 s", "x": "200 m"}],
    ],
}


def near(model=WALK, **apart):
    return {**model, "start": {"apart": apart}}


def adhoc(**given):
    return {"nodes": 4, "area": {"side": "400 m"}, "range": "250 m", "mobility": WALK, **given}


def scenario(network=None, **given):
    transport = {"protocol": "newreno", "packets": 100}
    data = {"duration": "100 s", "transport": transport, "adhoc": network or adhoc(), **given}
    return Scenario.check(data)


def rows(n=1, **given):
    return build(scenario(adhoc(**given)), replications=n).rows


def columns(found, kind, row=0):
    """Return the values of some columns of a row, by name."""
    return {column.name: int(found.parameters[row, column]) for column in kind if column.name != "COLUMNS"}


def test_the_defaults_are_those_of_the_802_11_of_ns_2():
    found = columns(rows(), Manet)
    expected = {
        "NODES": 4, "SOURCE": 0, "SINK": 1, "OBSERVE": layout.OBSERVE_COMPLETION, "ROUTING": layout.DSR,
        "MOBILITY": layout.RANDOM_WAYPOINT, "WIDTH": 400 * METRE, "HEIGHT": 400 * METRE,
        "SPEED_MIN": 5 * METRE, "SPEED_MAX": 5 * METRE, "PAUSE_MIN": 0, "PAUSE_MAX": 0,
        "MOTION_BEFORE": 1000 * 10**9, "RANGE": 250 * METRE, "SENSE": 550 * METRE, "CAPTURE": 3238,
        "SLOT": 20_000, "SIFS": 10_000, "EIFS": 364_000, "CW_MIN": 31, "CW_MAX": 1023, "SHORT_RETRY": 7,
        "LONG_RETRY": 4, "PREAMBLE": 192_000, "RTS": 352_000, "CTS": 304_000, "MAC_ACK": 304_000,
        "BYTE_TIME": 4000, "BROADCAST_BYTE_TIME": 8000, "OVERHEAD": 54, "QUEUE": 50,
        "FRAME_LOSS": 0, "RESIDUAL": 0, "ACK_RESIDUAL": 0,
    }  # fmt: skip
    assert found == {**dict.fromkeys(found, 0), **expected}
    assert rows().parameters[0, RowP.LIMIT] == 100
    power = {"TRANSMIT": 1_327_000, "RECEIVE": 967_000, "OVERHEAR": 967_000, "IDLE": 843_000, "BATTERY": 0}
    assert columns(rows(), Power) == power


def test_what_is_given_takes_the_place_of_a_default():
    found = rows(
        area={"width": "300 m", "height": "0.2 km"}, range="0.1 km", sense="100 m", capture=16,
        routing="ideal", observe="end", source=3, sink=2,
        radio={"rate": "11 Mbit/s", "basic_rate": "2 Mbit/s", "queue": 20},
        energy={"receive": "1 W", "overhear": "500 mW", "battery": "2 kJ"},
    )  # fmt: skip
    expected = {
        "WIDTH": 300 * METRE, "HEIGHT": 200 * METRE, "RANGE": 100 * METRE, "SENSE": 100 * METRE,
        "CAPTURE": 4096, "ROUTING": layout.IDEAL, "OBSERVE": layout.OBSERVE_END, "SOURCE": 3, "SINK": 2,
        "BYTE_TIME": 727, "RTS": 192_000 + 20 * 4000, "QUEUE": 20,
    }  # fmt: skip
    assert columns(found, Manet).items() >= expected.items()
    power = {"RECEIVE": 10**6, "OVERHEAR": 500_000, "IDLE": 843_000, "BATTERY": 2 * 10**9}
    assert columns(found, Power).items() >= power.items()


def test_every_model_of_motion_has_its_columns():
    def motion(**mobility):
        return columns(rows(mobility=mobility), Manet)

    assert motion(model="static")["MOBILITY"] == layout.STATIC
    way = motion(
        model="random_waypoint", speed={"min": "1 m/s", "max": "3 m/s"}, pause={"min": "1 s", "max": "2 s"},
        warm_up="7 s",
    )  # fmt: skip
    assert (way["SPEED_MIN"], way["SPEED_MAX"]) == (METRE, 3 * METRE)
    assert (way["PAUSE_MIN"], way["PAUSE_MAX"], way["MOTION_BEFORE"]) == (10**6, 2 * 10**6, 7 * 10**9)
    turn = motion(model="random_direction", speed="2 m/s", leg="5 s")
    assert (turn["MOBILITY"], turn["SPEED_MAX"], turn["LEG"]) == (
        layout.RANDOM_DIRECTION, 2 * METRE, 5 * 10**6
    )  # fmt: skip
    drift = motion(model="gauss_markov", speed="10 m/s", memory=0.6, step="0.5 s")
    assert (drift["MOBILITY"], drift["LEG"]) == (layout.GAUSS_MARKOV, 500_000)
    assert (drift["MEMORY"], drift["FRESH"]) == (round(0.6 * 2**16), round(0.8 * 2**16))
    # A velocity whose components have this standard deviation has a mean speed of 10 m/s.
    assert drift["SPEED_MIN"] == round(10 * METRE / math.sqrt(math.pi / 2))


def test_a_start_of_its_own_has_its_columns():
    def asked(**apart):
        found = columns(rows(mobility=near({"model": "static"}, **apart)), Manet)
        return found["APART_MIN"], found["APART_MAX"]

    assert asked(max="75 m") == (0, 75 * METRE)
    assert asked(min="20 m", max="0.2 km") == (20 * METRE, 200 * METRE)
    assert asked(min="20 m") == (20 * METRE, 15_000 * METRE)
    drawn = build(scenario(adhoc(mobility=near(max={"uniform": ["50 m", "90 m"]}))), replications=9)
    assert sorted(drawn.drawn) == ["adhoc.mobility.start.apart.max"]
    assert len(set(drawn.rows.parameters[:, Manet.APART_MAX])) == 9


@pytest.mark.parametrize(("least", "most"), [(0, 10), (0, 75), (100, 200), (350, 15_000)])
@pytest.mark.parametrize("gathered", [False, True])
def test_share_of_networks_that_start_so(least, most, gathered):
    """The share of connected networks equals that of 400,000 pairs within 3 standard errors of 2 % or
    less."""
    places = np.random.default_rng(1).beta(*(2, 2) if gathered else (1, 1), (400_000, 2, 2))
    apart = np.hypot(*((places[:, 0] - places[:, 1]) * [400, 300]).T)
    expected = ((apart >= least) & (apart <= most)).mean()
    found = share(least, most, 400, 300, gathered=gathered)
    assert found == pytest.approx(expected, abs=3 * math.sqrt(expected / 400_000))


def test_given_ways_are_places_at_times():
    found = rows(nodes=2, area=None, mobility=GIVEN)
    assert (found.parameters[0, Manet.MOBILITY], found.parameters[0, Manet.NODES]) == (layout.GIVEN, 2)
    assert found.times[0].tolist() == [[10**9, 11 * 10**9], [0, FOREVER]]
    assert found.places[0, 0].tolist() == [[0, 0], [100 * METRE, -50 * METRE]]
    assert found.places[0, 1, 0, Place.X] == 200 * METRE
    without = {"range": "250 m", "mobility": GIVEN}
    assert build(scenario(without), replications=1).rows.parameters[0, Manet.NODES] == 2
    assert scenario(without).adhoc.most_nodes == 2


def test_errors_are_rows_of_the_table_of_losses():
    found = rows(frame_error="5 %", residual_error=0.01)
    loss = found.losses[found.parameters[0, [Manet.FRAME_LOSS, Manet.RESIDUAL, Manet.ACK_RESIDUAL]]]
    assert (loss == thresholds([0.05, 0.01, 0])).all()


def test_anything_may_be_drawn_and_a_default_follows_what_is_drawn():
    drawn = build(
        scenario(
            adhoc(
                nodes={"integers": [2, 9]}, area={"side": {"uniform": ["100 m", "900 m"]}},
                range={"choice": ["100 m", "200 m"]},
                mobility={**WALK, "speed": {"uniform": ["1 m/s", "9 m/s"]}},
                frame_error={"uniform": [0, 0.2]}, energy={"receive": {"uniform": ["1 W", "2 W"]}},
            )
        ), replications=40,
    )  # fmt: skip
    p = drawn.rows.parameters
    assert (p[:, Manet.WIDTH] == p[:, Manet.HEIGHT]).all()
    assert (p[:, Manet.SPEED_MIN] == p[:, Manet.SPEED_MAX]).all()
    assert (p[:, Manet.SENSE] == np.rint(2.2 * p[:, Manet.RANGE])).all()
    assert (p[:, Power.OVERHEAR] == p[:, Power.RECEIVE]).all()
    assert len(np.unique(p[:, Manet.WIDTH])) == len(np.unique(p[:, Manet.FRAME_LOSS])) == 40
    assert set(p[:, Manet.NODES]) == set(range(2, 10))
    assert set(drawn.drawn.columns) == {
        "adhoc.nodes", "adhoc.area.side", "adhoc.range", "adhoc.mobility.speed", "adhoc.frame_error",
        "adhoc.energy.receive",
    }  # fmt: skip
    assert (drawn.drawn["adhoc.nodes"] == p[:, Manet.NODES]).all()
    again = build(drawn_scenario := scenario(adhoc(nodes={"integers": [2, 9]})), first=30, replications=5)
    assert (again.rows.parameters[:, Manet.NODES] == p[30:35, Manet.NODES]).all()
    assert drawn_scenario.adhoc.most_nodes == 9


def test_given_values_replace_those_of_the_scenario():
    values = {"adhoc.nodes": np.array([3.0, 12.0]), "adhoc.mobility.speed": np.array([1.0, 2.0])}
    found = build_rows(scenario(), replications=np.array([0, 1]), given=values).rows
    assert found.parameters[:, Manet.NODES].tolist() == [3, 12]
    assert found.parameters[:, Manet.SPEED_MAX].tolist() == [METRE, 2 * METRE]
    assert found.times.shape == (2, 12, 1)


def test_networks_of_several_sizes_are_one_launch():
    parts = [rows(frame_error=0.1, nodes=3), rows(nodes=2, area=None, mobility=GIVEN, ack_error=0.2)]
    found = concatenate(parts)
    assert found.times.shape == (2, 3, 2)
    assert found.places.shape == (2, 3, 2, 2)
    assert (found.times[1, :2, :2] == parts[1].times[0]).all()
    assert (found.times[0] == FOREVER).all()
    for row, part in enumerate(parts):
        for column in (Manet.FRAME_LOSS, Manet.RESIDUAL, Manet.ACK_RESIDUAL):
            wanted = part.losses[part.parameters[0, column]]
            assert (found.losses[found.parameters[row, column]] == wanted).all()


def test_features_are_those_of_one_hop():
    found = features(scenario(adhoc(residual_error=0.03)), given={}, rows=1)
    # 40 us, RTS, CTS and ACK with 4 SIFS; 192 us and (1460 + 40 + 54) bytes at 2 Mbit/s.
    data_us, ack_us = (40 + 352 + 304 + 304 + 40 + 192 + 4 * (size + 54) for size in (1500, 40))
    assert found["bottleneck_bps"] == pytest.approx(1500 * 8e6 / data_us)
    assert found["base_rtt_s"] == pytest.approx((data_us + ack_us) / 1e6)
    assert (found["n_hops"], found["path_loss"]) == (1, 0.03)


def test_memory_grows_with_nodes():
    few, many = (scenario(adhoc(nodes=nodes)).network.row_bytes() for nodes in (4, 40))
    assert many > few + 36 * 8 * 7


def test_a_scenario_reads_back_equal():
    network = adhoc(
        mobility={
            "model": "random_waypoint",
            "speed": {"min": "1 m/s", "max": {"uniform": ["2 m/s", "3 m/s"]}},
        }
    )
    start = scenario(adhoc(mobility=near(min="10 m", max="80 m")))
    for first in (scenario(network), scenario({"range": "10 m", "mobility": GIVEN}), scenario(), start):
        assert Scenario.check(first.model_dump(mode="json", exclude_none=True)) == first
    assert fields.quantity(scenario(), "adhoc.mobility.speed").dimension.unit == "m/s"
    assert fields.quantity(scenario(network), "adhoc.mobility.speed.max").dimension.unit == "m/s"
    names = dict(fields.texts(scenario()))
    assert {"adhoc.nodes", "adhoc.area.side", "adhoc.mobility.model", "adhoc.energy.idle"} <= set(names)
    assert scenario().with_values({"adhoc.mobility.speed": "3 m/s"}).adhoc.mobility.speed == 3


def test_the_model_is_that_of_the_transport():
    assert model_of(scenario()).name == "manet_newreno"
    transport = {"protocol": "sack", "congestion_control": "cubic"}
    assert model_of(scenario(transport=transport)).name == "manet_sack_cubic"
    assert model_of(scenario(transport=SCTP)).name == "manet_sctp"
    assert model_of(scenario(transport=LINUX)).name == "manet_linux_cubic"
    bbr = LINUX | {"congestion_control": "bbr"}
    assert model_of(scenario(transport=bbr)).name == "manet_linux_bbr"


def test_an_association_has_its_columns():
    p = build(scenario(transport=SCTP | {"packets": 9}), replications=1).rows.parameters[0]
    assert p[[RowP.DATA, RowP.CHUNK_HEADER, RowP.HEADER, ReliableP.ACK]].tolist() == [1452, 16, 32, 48]
    assert p[[SctpP.RWND, RowP.WINDOW, RowP.LIMIT]].tolist() == [65536, 44, 9]
    found = features(scenario(transport=SCTP), given={}, rows=1)
    on_air_us = 40 + 352 + 304 + 304 + 40 + 192 + 4 * (1500 + 54)
    assert found["bottleneck_bps"] == pytest.approx(1500 * 8e6 / on_air_us)


REFUSED = [
    ({"nodes": None}, "adhoc.nodes is missing; write nodes: 10"),
    ({"nodes": 257}, "adhoc.nodes = 257 is above the limit; expected 2 to 256"),
    ({"area": None}, "adhoc.area is missing; write area: {side: 400 m}"),
    ({"area": {"width": "3 m"}}, "adhoc.area = .* needs either side or both width and height"),
    ({"area": {"side": "3 m", "height": "3 m"}}, "needs either side or both"),
    ({"area": {}}, "needs either side or both"),
    ({"sense": "200 m"}, "adhoc.sense can be below range; raise sense or lower range"),
    ({"sink": 4}, "adhoc.sink = 4 is not a node; expected 0 to 3; lower it or raise nodes"),
    ({"nodes": {"integers": [2, 9]}, "source": 2}, "adhoc.source = 2 is not a node; expected 0 to 1"),
    ({"sink": 0}, "adhoc.source and sink are both 0; change one of them"),
    ({"mobility": {"speed": "1 m/s"}}, "adhoc.mobility.model is missing; write model: random"),
    ({"mobility": 5}, "adhoc.mobility = 5 has no fields; write {model: static}"),
    ({"mobility": [1]}, r"adhoc.mobility = \[1\] has no fields"),
    ({"mobility": {"model": {"a": 1}}}, "adhoc.mobility.model = {a: 1} is an unknown model"),
    ({"mobility": {"model": "gauss"}}, "adhoc.mobility.model = 'gauss' is an unknown model; did you mean"),
    ({"mobility": {"model": "static", "speed": "1 m/s"}}, "adhoc.mobility.speed is an unknown field"),
    ({"mobility": {**WALK, "speed": "5 km"}}, "adhoc.mobility.speed = '5 km' has the wrong unit 'km'"),
    ({"mobility": {**WALK, "speed": 5}}, "adhoc.mobility.speed = 5 has no unit; write a speed"),
    ({"mobility": {**WALK, "speed": "0 m/s"}}, "is below the limit; expected 0.001 to 300 m/s"),
    ({"mobility": {**WALK, "pause": {"min": "3 s", "max": "2 s"}}}, "mobility.pause.min can be above max"),
    ({"mobility": {**WALK, "pause": {"min": "3 s"}}}, "adhoc.mobility.pause.max is missing; add it"),
    ({"mobility": {**WALK, "start": {}}}, "adhoc.mobility.start.apart is missing; add it"),
    ({"mobility": near()}, r"adhoc.mobility.start.apart = {} needs min or max; write {max: 75 m}"),
    ({"mobility": near(min="90 m", max="80 m")}, "adhoc.mobility.start.apart.min can be above max; lower"),
    (
        {"mobility": near(max="2 m")},
        "adhoc.mobility.start.apart holds in 0.0078 % of networks; expected 0.1 % or more; raise max "
        "to 7.2 m or more$",
    ),
    ({"mobility": near(max={"uniform": ["2 m", "90 m"]})}, "in 0.0078 % of networks"),
    ({"mobility": near(min="540 m")}, "0.1 % or more; lower min to 404.8 m or less$"),
    ({"mobility": near(min="99 m", max="99.1 m")}, "raise max to .* or more or lower min to .* or less$"),
    ({"mobility": {**GIVEN, "start": {"apart": {"max": "75 m"}}}}, "mobility.start is an unknown field"),
    ({"mobility": GIVEN}, "adhoc.nodes differs from the number of mobility.nodes, 2; remove it"),
    ({"energy": {"idle": "1 J"}}, "adhoc.energy.idle = '1 J' has the wrong unit 'J'; write a power such as"),
    ({"energy": {"battery": "1 W"}}, "write an energy such as '1000 J'"),
    ({"routing": "aodv"}, "adhoc.routing = 'aodv' is not allowed; expected 'dsr' or 'ideal'"),
    ({"radio": {"cw_min": 63, "cw_max": 31}}, "adhoc.radio.cw_min can be above cw_max"),
    ({"residual": 0.1}, "adhoc.residual is an unknown field; did you mean 'residual_error'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "complaint"), REFUSED, ids=[str(next(iter(given))) for given, _ in REFUSED]
)
def test_a_network_that_cannot_be_is_refused(given, complaint):
    network = {name: value for name, value in adhoc(**given).items() if value is not None}
    with pytest.raises(InputError, match=complaint) as caught:
        scenario(network)
    assert "\n" not in str(caught.value)


def test_a_movement_left_empty_is_refused():
    with pytest.raises(InputError, match=r"adhoc\.mobility = None has no fields; write {model: static}"):
        scenario({**adhoc(), "mobility": None})


def test_a_way_that_cannot_be_walked_is_refused():
    def way(*stops):
        nodes = [[dict(zip(("time", "x"), stop, strict=True)) for stop in stops], GIVEN["nodes"][1]]
        return scenario({"range": "10 m", "mobility": {"model": "given", "nodes": nodes}})

    with pytest.raises(InputError, match=r"nodes\.0\.1\.time can be at or before the previous time"):
        way(("1 s", "0 m"), ("1 s", "5 m"))
    with pytest.raises(InputError, match=r"nodes\.0\.1 needs a speed of 2000 m/s"):
        way(("1 s", "0 m"), ("2 s", "2 km"))
    with pytest.raises(InputError, match=r"nodes\.0\.1\.time can be at or before"):
        way(("1 s", "0 m"), ({"uniform": ["0.5 s", "3 s"]}, "5 m"))


HOPS = [{"rate": "1 Mbit/s", "delay": "1 ms"}]
FAST = {"rate": "1 Gbit/s", "preamble": "1 us", "slot": "1 us", "sifs": "1 us"}
SCENARIOS = [
    ({"transport": SCTP | {"receiver_window": "1 kB"}}, "is smaller than a packet; expected 1468 B or more"),
    ({"transport": SCTP | {"congestion_control": "cubic"}}, "congestion_control is an unknown field"),
    ({"transport": LINUX | {"duplicate_acks": 4}}, "duplicate_acks does not apply to linux"),
    (
        {"transport": LINUX, "duration": "240 h", "adhoc": adhoc(radio=FAST)},
        "duration allows about .* packets, but linux over adhoc supports 8589934592; shorten",
    ),
    ({"hops": HOPS}, "adhoc and paths are both given; remove one"),
    ({"warm_up": "1 s"}, "warm_up is supported only with .*; write adhoc.mobility.warm_up"),
    ({"mobility": {"protocol": "mipv6", "every": "9 s"}}, "adhoc and mobility are both given; remove one"),
]


@pytest.mark.parametrize(("given", "complaint"), SCENARIOS)
def test_a_scenario_that_cannot_be_is_refused(given, complaint):
    with pytest.raises(InputError, match=complaint):
        scenario(**given)


@pytest.mark.parametrize("protocol", ["elfn", "eln"])
def test_what_reads_broken_routes_needs_an_ad_hoc_network(protocol):
    transport = {"protocol": protocol}
    assert scenario(transport=transport).transport.protocol == protocol
    with pytest.raises(InputError, match=f"transport.protocol = '{protocol}' is not supported"):
        Scenario.check({"duration": "1 s", "transport": transport, "hops": HOPS})
