import math
from pathlib import Path

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base import layout
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, Hop, Out
from netcarlo.kernels.base.parameters import MobileP, P
from netcarlo.networks.path.mobility import MAX_HANDOVERS, PROTOCOLS
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build, build_rows, features
from netcarlo.simulation.launches import MAX_LAUNCH, Job, max_replications, model_of
from netcarlo.simulation.simulate import simulate_all
from netcarlo.transport.congestion import trust

HOPS = [
    {"rate": "1 Mbit/s", "delay": "50 ms", "queue": 100},
    {"rate": "11 Mbit/s", "delay": "10 ms", "loss": "1 %"},
]
RANDOM = {"mobility.every": None, "mobility.cell_radius": "100 m", "mobility.speed": "10 m/s"}


def scenario(**values):
    data = {
        "duration": "60 s",
        "transport": {"protocol": "reno"},
        "mobility": {"protocol": "fmipv6", "every": "20 s"},
        "hops": HOPS,
    }
    return Scenario.check(data).with_values(values)


def parameters(n=1, **values):
    return build(scenario(**values), replications=n).rows.parameters


def test_defaults_and_units_become_the_integers_of_the_kernel():
    p = parameters(
        **{"mobility.outage_jitter": "20 ms", "mobility.margin": "60 ms", "mobility.ping_pong": "25 %"}
    )[0]
    expected = {
        MobileP.HANDOVER: layout.FMIPV6, MobileP.SCHEDULE: layout.SCHEDULE_PERIODIC, MobileP.EVERY: 20e9,
        MobileP.FIRST_HANDOVER: 20e9, MobileP.LEAST_STAY: 5e8, MobileP.DOMAIN_SIZE: 2,
        MobileP.OUTAGE: 15e7, MobileP.OUTAGE_JITTER: 2e7, MobileP.ANTICIPATION: 15e8,
        MobileP.PREPARATION: 1e9, MobileP.MARGIN: 6e7, MobileP.ANNOUNCE: 1e7, MobileP.DETECTION: 1e8,
        MobileP.MAP_TO_AR: 1e7, MobileP.MAP_TO_MAP: 2e7, MobileP.HOME_AGENT: 1e8, MobileP.BUFFER: 50,
        MobileP.SETTLE: 1e7,
        MobileP.PING_PONG: 2**30, MobileP.PING_PONG_STAY: 5e8,
        MobileP.FALSE_ALARM: 0, MobileP.FALSE_ALARM_TIME: 5e8, MobileP.SIGNAL_LOSS: 0,
    }  # fmt: skip
    assert {column: p[column] for column in expected} == expected


def test_unlimited_is_no_limit_to_the_kernel():
    p = parameters(**{"mobility.domain_size": "unlimited", "mobility.buffer": "unlimited"})[0]
    assert (p[MobileP.DOMAIN_SIZE], p[MobileP.BUFFER]) == (0, ENDLESS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_its_number(protocol):
    number = parameters(**{"mobility.protocol": protocol})[0, MobileP.HANDOVER]
    assert number == getattr(layout, protocol.upper())


def test_a_host_that_stays_has_no_handover_protocol():
    assert parameters(**{"mobility": None})[0, MobileP.HANDOVER :].tolist() == [0] * (
        len(P) - MobileP.HANDOVER
    )


def test_given_times_are_the_outages_of_the_radio_hop():
    times = ["30 s", {"uniform": ["10 s", "50 s"]}, "20 s"]
    rows, drawn = build(scenario(**{"mobility.every": None, "mobility.times": times}), replications=40)
    starts = rows.outages[:, 0, 1, :, 0]
    random = np.rint(drawn["mobility.times.1"] * 1e9).to_numpy()
    fixed = np.full(40, 20e9), np.full(40, 30e9)
    assert (starts == np.sort([*fixed, random], axis=0).T).all()
    assert (rows.outages[:, 0, 1, :, 1] == starts).all()
    assert (rows.outages[:, 0, 0] == FOREVER).all()
    assert (rows.parameters[:, MobileP.HANDOVERS] == 3).all()
    assert (rows.parameters[:, MobileP.SCHEDULE] == layout.SCHEDULE_GIVEN).all()


@pytest.mark.parametrize(
    ("values", "most"),
    [
        ({}, 3),  # at 20, 40 and 60 s
        ({"mobility.first": "10 s"}, 3),
        ({"mobility.first": "61 s"}, 0),
        ({"mobility.ping_pong": 0.1}, 6),
        ({"mobility.every": "1 ms", "mobility.least_stay": "2 s"}, 30),
        ({"mobility.every": None, "mobility.times": []}, 0),
        ({"mobility.every": None, "mobility.times": ["1 s"] * 4000, "mobility.ping_pong": 1}, 240),
    ],
)
def test_so_many_handovers_there_can_be(values, most):
    assert parameters(**values)[0, MobileP.HANDOVERS] == most
    assert scenario(**values).mobility.most_handovers(60.0) == most


def test_random_cells_are_crossed_along_their_diameter_at_most():
    speed = {"uniform": ["3 km/h", "36 km/h"]}
    rows, drawn = build(scenario(**RANDOM | {"mobility.speed": speed}), replications=50)
    p = rows.parameters
    assert (p[:, MobileP.EVERY] == np.rint(200 / drawn["mobility.speed"] * 1e9)).all()
    assert (p[:, MobileP.SCHEDULE] == layout.SCHEDULE_RANDOM).all()


@pytest.mark.parametrize(("diameters", "cells"), [(1, 45), (10, 90), (1000, 1700)])
def test_no_walk_has_more_random_cells_than_there_is_room_for(diameters, cells):
    values = RANDOM | {"duration": f"{20 * diameters} s", "mobility.least_stay": "1 ms"}
    most = scenario(**values).mobility.most_handovers(20 * diameters)
    chords = np.sqrt(1 - np.random.default_rng(1).random((2000, most)) ** 2)
    assert chords.mean() == pytest.approx(math.pi / 4, abs=0.01)
    assert (chords.sum(axis=1) > diameters).all()
    assert most < cells


def test_signalling_is_lost_like_data_on_the_radio_hop_where_asked():
    values = {"hops.1.loss": {"choice": [0, "5 %"]}, "mobility.signalling_loss": True}
    rows, drawn = build(scenario(**values), replications=20)
    expected = np.rint(drawn["paths.0.hops.1.loss"].to_numpy() * 2.0**32)
    assert rows.parameters[:, MobileP.SIGNAL_LOSS].tolist() == expected.tolist()
    assert set(expected) == {0, round(0.05 * 2**32)}


def test_any_number_may_be_drawn_or_given():
    outage = {"log_uniform": ["10 ms", "1 s"]}
    rows, drawn = build(scenario(**{"mobility.outage": outage}), replications=30)
    assert rows.parameters[:, MobileP.OUTAGE].tolist() == np.rint(drawn["mobility.outage"] * 1e9).tolist()
    given = {"mobility.outage": np.array([0.1, 0.2]), "mobility.every": np.array([5.0, 10.0])}
    p = build_rows(scenario(), replications=np.zeros(2, np.int64), given=given).rows.parameters
    assert p[:, [MobileP.OUTAGE, MobileP.EVERY, MobileP.HANDOVERS]].tolist() == [
        [1e8, 5e9, 12],
        [2e8, 10e9, 6],
    ]


def test_the_way_to_the_access_router_is_part_of_the_round_trip():
    still, mobile = (features(scenario(**v), given={}, rows=1) for v in ({"mobility": None}, {}))
    assert mobile["base_rtt_s"][0] - still["base_rtt_s"][0] == pytest.approx(0.02, abs=1e-12)


BAD = [
    ({"mobility.protocol": "fmip"}, "mobility.protocol = 'fmip' is not allowed; expected 'mipv6', "),
    ({"mobility.every": None}, "mobility.times, every and cell_radius are all missing; write every: 20 s"),
    ({"mobility.times": ["1 s"]}, "mobility.times and every are both given; keep one"),
    ({"mobility.speed": "3 m/s"}, "mobility.speed needs cell_radius; add cell_radius or remove speed"),
    (RANDOM | {"mobility.speed": None}, "mobility.cell_radius needs speed; add speed or remove cell_radius"),
    (RANDOM | {"mobility.first": "1 s"}, "mobility.first needs every; add every or remove first"),
    (RANDOM | {"mobility.speed": "3 m"}, "mobility.speed = '3 m' has the wrong unit 'm'; write a speed"),
    ({"mobility.outage": "0.1 ms"}, "mobility.outage = '0.1 ms' is below the limit; expected 1 ms to"),
    ({"mobility.outage_jitter": "150 ms"}, "mobility.outage_jitter can be as long as outage; lower it"),
    ({"mobility.outage": {"uniform": ["1 ms", "1 s"]}, "mobility.outage_jitter": "1 ms"}, "as long as"),
    ({"mobility.ping_pong": "120 %"}, "above the limit"),
    ({"mobility.handover_rate": 3}, "mobility.handover_rate is an unknown field"),
    ({"mobility.every": "10 ms", "mobility.least_stay": "10 ms"}, "can cause 6000 handovers; expected 0"),
    ({"mobility.every": None, "mobility.times": ["1 s"] * 4097}, "mobility.times .* at most 4096 items"),
    ({"hops": None, "paths": [{"hops": HOPS}] * 2, "transport": {"protocol": "sctp"}},
     "mobility needs one path, but there are two; remove one, or remove mobility"),
    ({"hops": HOPS[:1]}, "mobility needs two hops or more, of which the last is the radio link; add a hop"),
    ({"hops": [HOPS[0], {"count": 2, "each": HOPS[1]}]}, "add a hop that is not part of a count"),
    ({"hops.1.outages": [{"start": "1 s", "duration": "1 s"}]}, "mobility needs a last hop without outages"),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(("values", "complaint"), BAD, ids=[complaint for _, complaint in BAD])
def test_what_cannot_be_is_refused_in_one_line(values, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        scenario(**values)
    assert "\n" not in str(error.value)


def test_4096_handovers_are_not_too_many():
    assert (
        parameters(**{"duration": "4096 s", "mobility.every": "1 s"})[0, MobileP.HANDOVERS] == MAX_HANDOVERS
    )


def test_a_resolved_scenario_with_mobility_reads_back_equal():
    values = RANDOM | {"mobility.buffer": "unlimited", "hops.0.cross_traffic": {"rate": "300 kbit/s"}}
    s = scenario(**values)
    assert Scenario.check(s.model_dump(mode="json", exclude_none=True)) == s


def test_launches_with_many_given_times_are_smaller():
    many = scenario(**{"mobility.every": None, "mobility.times": [f"{i} ms" for i in range(4096)]})
    widest = many.network.row_bytes()
    rows = build(many, replications=3).rows
    assert widest == (rows.outages.nbytes + rows.hops.nbytes) / 3
    assert 1000 < max_replications([many, scenario()], "cpu") < 2000
    assert max_replications([scenario()], "cpu") == MAX_LAUNCH["cpu"]


def test_cross_traffic_is_packets_at_equal_intervals_from_a_random_moment():
    traffic = {"rate": "300 kbit/s", "packet": "500 B"}
    hops = [HOPS[0] | {"cross_traffic": traffic}, HOPS[1]]
    rows = build(scenario(hops=hops), replications=2000).rows
    cross = rows.hops[:, 0, 0, [Hop.CROSS_EVERY, Hop.CROSS_SIZE, Hop.CROSS_FIRST]].T
    assert set(cross[0]) == {round(8 * 500 / 300e3 * 1e9)}
    assert set(cross[1]) == {500}
    assert ((cross[2] >= 0) & (cross[2] < cross[0])).all()
    assert cross[2].mean() / cross[0, 0] == pytest.approx(0.5, abs=0.03)
    assert (rows.hops[:, 0, 1, Hop.CROSS_EVERY] == 0).all()


def test_cross_traffic_may_be_none_but_no_flood():
    hops = [HOPS[0] | {"cross_traffic": {"rate": {"choice": [0, "1 Mbit/s"]}}}, HOPS[1]]
    rows, drawn = build(scenario(hops=hops), replications=20)
    every = rows.hops[:, 0, 0, Hop.CROSS_EVERY]
    rate = drawn["paths.0.hops.0.cross_traffic.rate"]
    assert every.tolist() == np.where(rate > 0, 8_000_000, 0).tolist()
    hops[0]["cross_traffic"] = {"rate": "1 Gbit/s", "packet": "100 B"}
    with pytest.raises(InputError, match=r"cross_traffic\.rate can be above a packet per microsecond"):
        scenario(hops=hops)


@pytest.mark.full
def test_every_packet_of_a_random_walk_is_accounted_for():
    walk = RANDOM | {
        "transport.protocol": "newreno",
        "mobility.outage": {"log_uniform": ["10 ms", "1 s"]},
        "mobility.buffer": {"integers": [0, 20]},
        "mobility.ping_pong": "20 %",
        "mobility.false_alarm": "20 %",
        "mobility.signalling_loss": True,
        "hops.0.cross_traffic": {"rate": "300 kbit/s"},
    }
    jobs = [Job(scenario(**walk, **{"mobility.protocol": protocol}), 0, 30) for protocol in PROTOCOLS]
    found = dict(zip(PROTOCOLS, simulate_all(jobs), strict=True))
    for each in found.values():
        assert each.frame["in_flight"].tolist() == each.integers[:, Out.IN_FLIGHT].tolist()
        assert (each.frame["prepared"] <= each.frame["handovers"]).all()
    means = {protocol: each.frame.mean() for protocol, each in found.items()}
    assert means["fmipv6"]["handovers"] == means["hmipv6"]["handovers"] > 2  # all have the same movements
    assert means["fmipv6"]["lost_in_handover"] < means["hmipv6"]["lost_in_handover"]
    assert means["himipv6"]["longest_silence_s"] < means["mipv6"]["longest_silence_s"]
    assert means["mipv6"][["prepared", "buffered", "tunnelled", "copies"]].sum() == 0


def test_models_of_mobile_hosts_are_their_own(tmp_path):
    own = tmp_path / "own.py"
    own.write_text((Path(__file__).parents[2] / "configs/examples/aimd.py").read_text())
    trust(own)
    values = {"transport.protocol": "newreno", "transport.congestion_control": str(own)}
    assert model_of(scenario()).name == "tcp_reno_mobile"
    assert model_of(scenario(mobility=None)).name == "tcp_reno"
    names = {model_of(scenario(**values, **more)).name for more in ({}, {"mobility": None})}
    assert names == {"user_own_newreno_mobile", "user_own_newreno"}
