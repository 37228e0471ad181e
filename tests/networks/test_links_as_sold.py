"""Framing, shapers and correlated loss: their rows and their effects."""

import copy
from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, Hop, Out
from netcarlo.kernels.base.varying import Head
from netcarlo.kernels.shared.layout import Link
from netcarlo.networks.formula import probability
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build, features
from tests.kernels.beside_twin import run_as_python

BASE = {
    "duration": "20 ms", "replications": 1, "transport": {"protocol": "udp", "rate": "200 Mbit/s"},
    "hops": [{"rate": "100 Mbit/s", "delay": "1 ms", "queue": "100 packets"}],
}  # fmt: skip


def path(**hop: Any) -> Scenario:
    """Return an overloaded hop of 100 Mbit/s, with packets of 1,498 B."""
    data: dict[str, Any] = copy.deepcopy(BASE)
    data["hops"][0] |= hop
    return Scenario.check(data)


def head(scenario: Scenario) -> Any:
    """Return the pairs before the trace, of the first hop in the direction of data."""
    rows = build(scenario).rows
    first = int(rows.hops[0, 0, 0, Hop.VARIES])
    return rows.outages[0, 0, 0, first : first + len(Head)] - [FOREVER, 0]


def received(scenario: Scenario) -> int:
    """Return the number of packets that arrive in the first replication."""
    address = scenario.network.address(scenario, fluid=False)
    return int(run_as_python(address.name, build(scenario).rows)[0, Out.RECEIVED])


@pytest.mark.parametrize(
    ("fields", "on_line"),
    [
        ({"overhead": "38 B"}, 1536), ({"overhead": "ethernet"}, 1536), ({"overhead": "pppoe"}, 1544),
        ({"overhead": "pppoa"}, 32 * 53), ({"cells": "atm"}, 32 * 53),
        ({"overhead": "10 B", "cells": "atm", "mpu": "1024 B"}, 32 * 53), ({"mpu": "1024 B"}, 1498),
    ],
)  # fmt: skip
def test_the_capacity_is_that_of_framed_packets(fields: dict[str, Any], on_line: int) -> None:
    scenario = path(**fields)
    capacity = 100e6 / 8 / on_line
    found = features(scenario, given={}, rows=1)["bottleneck_bps"][0]
    assert found == pytest.approx(100e6 * 1498 / on_line, rel=1e-5)
    assert abs(received(scenario) - capacity * 0.019) < 2


def test_the_capacity_for_tcp_over_ethernet_is_what_segments_leave() -> None:
    """Payload is 1,448 of 1,538 bytes on the wire."""
    scenario = path(overhead="ethernet").with_values({"transport": {"protocol": "linux"}})
    found = features(scenario, given={}, rows=1)["bottleneck_bps"][0] * 1448 / 1500
    assert found == pytest.approx(94.148e6, rel=1e-4)


def test_a_named_link_gives_way_to_fields() -> None:
    assert head(path(overhead="ethernet", mpu="64 B"))[Head.FRAMING].tolist() == [38, 64]


@pytest.mark.parametrize("rate", ["100 Mbit/s", "unlimited"])
def test_a_shaper_lets_its_burst_and_its_rate_pass(rate: str) -> None:
    """The bucket of 20 packets is full at the start; then 10 Mbit/s pass."""
    shaper = {"rate": "10 Mbit/s", "burst": "29960 B"}
    scenario = path(rate=rate, shaper=shaper).with_values({"duration": "60 ms"})
    assert abs(received(scenario) - (20 + 0.059 * 10e6 / 8 / 1498)) < 2
    assert features(scenario, given={}, rows=1)["bottleneck_bps"][0] == pytest.approx(10e6, rel=1e-5)


def test_a_queue_in_time_has_room_for_the_burst() -> None:
    """The limit is that of `latency` of tbf: rate x latency + burst."""
    scenario = path(shaper={"rate": "10 Mbit/s", "burst": "29960 B"}, queue="40 ms")
    assert build(scenario).rows.hops[0, 0, 0, Hop.QUEUE] == (50_000 + 29_960) // 1498


def test_correlated_loss_has_the_numbers_of_tc() -> None:
    scenario = path(loss="2 %", loss_correlation="25 %")
    assert head(scenario)[Head.LOSS].tolist() == [round(0.02 * (2**32 - 1)), round(0.25 * (2**32 - 1))]
    assert not probability(build(scenario).rows.losses).any()  # no other losses


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"shaper": {"rate": "1 Mbit/s", "burst": "9 kB", "peak_rate": "1 Mbit/s"}}, "peak_rate can be"),
        ({"bursts": {"apart": 9, "length": 2}, "loss_correlation": 0.1}, "are both given; remove one"),
        ({"framing": "ethernet"}, "framing is an unknown field; write overhead: ethernet"),
        ({"linklayer": "atm"}, "write cells: atm"),
    ],
)
def test_wrong_fields(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        path(**fields)


def test_a_bucket_below_a_packet_is_refused() -> None:
    with pytest.raises(InputError, match=r"burst can be below a packet of 1536 B on the line.*write 1536 B"):
        build(path(overhead="ethernet", shaper={"rate": "1 Mbit/s", "burst": "1500 B"}))


def test_fluid_models_know_framing_only() -> None:
    fluid = {"transport": {"protocol": "newreno"}, "fidelity": "fluid"}
    shaped = path(shaper={"rate": "1 Mbit/s", "burst": "9 kB"}).with_values(fluid)
    assert shaped.network.unknown(shaped, "fluid") == "the fluid model does not support shaper of a hop"
    framed = path(overhead="ethernet").with_values(fluid)
    assert not framed.network.unknown(framed, "fluid")


def test_both_directions_of_a_cable_have_its_framing() -> None:
    cable = {"rate": "10 Mbit/s", "delay": "1 ms", "overhead": "ethernet", "reverse": {"loss": "1 %"}}
    data = {"duration": "1 s", "replications": 1, "transport": {"protocol": "linux"}}
    links = build(Scenario.check(data | {"shared": {"dumbbell": cable, "flows": [{}]}})).rows.links[0]
    pairs = links[:, Link.COLUMNS :].reshape(2, -1, 2) - [FOREVER, 0]
    assert (pairs[:, Head.FRAMING] == [38, 84]).all()
    assert np.allclose(links[:, Link.BYTE_TIME] / 2**20, 800 * 1538 / 1500)
