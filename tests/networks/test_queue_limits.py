"""Limits of queues in bytes, times and bandwidth-delay products, and what rows make of them."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import Hop
from netcarlo.kernels.shared.layout import FIFO, NO_AQM, Link
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema import fields, units
from netcarlo.simulation import conversions
from netcarlo.simulation.ensemble import build, features

PATH = {
    "duration": "1 s", "replications": 4, "transport": {"protocol": "linux"},
    "hops": [{"rate": "10 Mbit/s", "delay": "20 ms"}],
}  # fmt: skip


def path(queue: Any, **hop: Any) -> Scenario:
    """Return a path of 10 Mbit/s, where 1,500 B take 1.2 ms and a round trip 41.2416 ms."""
    data: dict[str, Any] = copy.deepcopy(PATH)
    data["hops"][0] |= {"queue": queue} | hop
    return Scenario.check(data)


def shared(flows: list[Any], queue: Any = "40 ms", **more: Any) -> Scenario:
    """Return a dumbbell of 10 Mbit/s."""
    cable = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue} | more
    data = {"duration": "1 s", "transport": {"protocol": "linux"}, "shared": {"dumbbell": cable}}
    return Scenario.check(data | {"replications": 2, "shared": {"dumbbell": cable, "flows": flows}})


def packets(scenario: Scenario) -> list[int]:
    """Return the limits of the first hop for data and ACKs in the first row."""
    hop = build(scenario).rows.hops[0, 0, 0]
    return [int(hop[Hop.QUEUE]), int(hop[Hop.R_QUEUE])]


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        ("33 packets", [33, 33]), ("50 kB", [33, 961]), ("15 kB", [10, 288]), ("40 ms", [33, 961]),
        ("12 ms", [10, 288]), ("1 BDP", [34, 991]), ("0.5 bdp", [17, 495]), ("1 ms", [1, 24]),
        ("unlimited", [0, 0]),
    ],
)  # fmt: skip
def test_a_limit_is_as_many_packets_as_fit_into_it(queue: str, expected: list[int]) -> None:
    """The bytes are those of data of 1,500 B, or ACKs of 52 B; there is room for one packet at least."""
    assert packets(path(queue)) == expected


def test_a_bdp_is_that_of_the_features() -> None:
    scenario = path("2 BDP")
    found = features(scenario, given={}, rows=1)["bdp_packets"][0]
    assert packets(scenario)[0] == int(2 * found)


def test_a_time_is_at_the_mean_rate_of_a_trace() -> None:
    trace = "time,rate\n0 s,5 Mbit/s\n1 s,15 Mbit/s\n2 s,10 Mbit/s\n"
    hop = {"trace": trace, "repeat": True, "delay": "20 ms", "queue": "40 ms"}
    assert packets(Scenario.check(PATH | {"hops": [hop]}))[0] == 33


def test_random_limits_keep_their_unit() -> None:
    scenario = path({"uniform": ["0.5 BDP", "2 BDP"]})
    ensemble = build(scenario)
    drawn = ensemble.drawn["paths.0.hops.0.queue"].to_numpy()
    assert ((drawn >= 0.5) & (drawn <= 2)).all()
    assert (ensemble.rows.hops[:, 0, 0, Hop.QUEUE] == np.floor(drawn * 34.368)).all()


@pytest.mark.parametrize("queue", ["250 kB", "0.04 s", "1.5 BDP", {"choice": ["0.5 BDP", "1 BDP"]}])
def test_a_limit_is_written_as_it_is_read(queue: Any) -> None:
    scenario = path(queue)
    again = Scenario.check(scenario.model_dump(mode="json", exclude_none=True))
    assert fields.texts(again) == fields.texts(scenario)
    value = pickle.loads(pickle.dumps(scenario)).paths[0].hops[0].queue
    assert repr(value) == repr(scenario.paths[0].hops[0].queue)


def test_a_unit_is_part_of_the_identity() -> None:
    assert fields.texts(path("2 BDP")) != fields.texts(path("2 packets"))
    assert fields.quantity(path("2 BDP"), "paths.0.hops.0.queue").dimension is units.BDP


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        ("3 parsecs", "unknown unit 'parsecs'; write a number of packets such as '45 packets', '1500 B', "),
        ("1 Bdp", "did you mean 'BDP'"),
        ({"choice": ["1 BDP", "10 packets"]}, "wrong unit 'packets'; write a number of bandwidth-delay"),
        ("0 ms", "below the limit; expected 1 us to 3600 s"),
    ],
)
def test_wrong_limits(queue: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        path(queue)


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        (path("1 BDP", rate="100 Gbit/s"), "can be 333335 packets; expected 1 to 65536 packets; write less"),
    ],
)
def test_limits_that_rows_refuse(scenario: Scenario, text: str) -> None:
    with pytest.raises(InputError, match=text):
        build(scenario)


@pytest.mark.parametrize(
    ("network", "name"),
    [
        (
            "hops: [{rate: 10 Mbit/s, delay: 1 ms}, {rate: 1 Mbit/s, delay: 1 ms, queue: 1 kB}]",
            "hops.1.queue",
        ),
        (
            "shared: {dumbbell: {rate: 1 Mbit/s, delay: 1 ms, queue: 1 kB}, flows: [{}]}",
            "shared.dumbbell.queue",
        ),
        ("wireless: {cell: {stations: 1}, queue: {uniform: [1 kB, 9 kB]}}", "wireless.queue"),
    ],
)  # fmt: skip
def test_a_limit_below_a_packet_is_refused_when_the_file_is_read(
    network: str, name: str, tmp_path: Path
) -> None:
    """The error has its line, and is listed with others."""
    file = tmp_path / "small.yaml"
    file.write_text(f"duration: 1 s\n{network}\ntransport: {{protocol: linux, start: 2 s}}\n")
    with pytest.raises(InputError) as no:
        load_scenario(file)
    size = "which is then dropped; write 1500 B or more"
    lines = sorted(no.value.lines)
    assert f"{file}:2: {name} can be below a packet of 1500 B, {size}" in lines
    assert len(lines) == 2 and any("transport.start can be at or after the end" in line for line in lines)
    remedied = network.replace("1 kB", "1500 B")
    file.write_text(f"duration: 1 s\n{remedied}\ntransport: {{protocol: linux}}\n")
    assert build(load_scenario(file)).rows is not None


def test_flows_of_one_size_in_one_direction_need_no_limit_in_bytes() -> None:
    scenario = shared([{"count": 2}])
    links = build(scenario).rows.links[0]
    assert links[:, Link.QUEUE].tolist() == [33, 961] and (links[:, Link.AQM] == NO_AQM).all()
    assert not scenario.network.address(scenario, fluid=False).aqm


@pytest.mark.parametrize(
    "other", [{"source": 1, "sink": 0}, {"udp": {"rate": "1 Mbit/s", "payload": "160 B"}}]
)
def test_a_limit_in_bytes_stays_one_where_packets_differ(other: Any) -> None:
    scenario = shared([{}, other])
    links = build(scenario).rows.links[0]
    assert links[:, Link.QUEUE].tolist() == [-50_000, -50_000] and (links[:, Link.AQM] == FIFO).all()
    assert scenario.network.address(scenario, fluid=False).aqm
    assert list(conversions.sentences(scenario)) == [
        "shared.dumbbell.queue: 40 ms is 50 kB, counted in bytes"
    ]


def test_a_limit_of_codel_may_be_in_bytes() -> None:
    scenario = shared([{}, {"source": 1, "sink": 0}], queue="100 kB", codel={})
    assert build(scenario).rows.links[0, :, Link.QUEUE].tolist() == [-100_000, -100_000]


def test_the_bdp_of_a_link_has_the_mean_round_trip_of_its_flows() -> None:
    flows = [{"access": {"source_delay": f"{delay} ms"}} for delay in (0, 30)]
    one, both = (build(shared(some, "1 BDP")).rows.links[0, 0, Link.QUEUE] for some in (flows[:1], flows))
    assert both - one == 25  # 30 ms more, at 10 Mbit/s, are 37.5 kB


def test_fluid_models_have_packets() -> None:
    scenario = shared([{"protocol": "newreno"}, {"protocol": "newreno", "source": 1, "sink": 0}])
    scenario = scenario.with_values({"transport": {"protocol": "newreno"}, "fidelity": "fluid"})
    assert (build(scenario).rows.links[0, :, Link.QUEUE] > 0).all()


def test_a_queue_of_stations_may_be_in_bytes() -> None:
    data = {"duration": "1 s", "transport": {"protocol": "udp", "rate": "1 Mbit/s"}}
    scenario = Scenario.check(data | {"wireless": {"cell": {"stations": 2}, "queue": "50 kB"}})
    assert list(conversions.sentences(scenario)) == ["wireless.queue: 50 kB is 33 packets of 1,498 B"]
    with pytest.raises(InputError, match="is a time, but the rate at which a station sends is not constant"):
        scenario.with_values({"wireless.queue": "40 ms"})


def test_what_a_limit_became_is_said() -> None:
    said = "paths.0.hops.0.queue: 40 ms is 33 packets of 1,500 B"
    assert list(conversions.sentences(path("40 ms"))) == [said]
    assert not list(conversions.sentences(path("33 packets")))
