"""Descriptions and classes of flows, which are the same in every kind of network."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.networks import flows
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build_rows
from netcarlo.transport.kinds import sender_of

NETWORKS: dict[str, dict[str, Any]] = {
    "shared": {"dumbbell": {"rate": "1 Mbit/s", "delay": "10 ms"}},
    "wireless": {"cell": {"stations": 3}},
}
STREAM = {"rate": "100 kbit/s"}


def scenario(key: str, *items: Any, transport: dict[str, Any] | None = None) -> Scenario:
    sender = transport or {"protocol": "newreno"}
    network = {**NETWORKS[key], "flows": [*items]}
    return Scenario.check({"duration": "1 s", "replications": 3, "transport": sender, key: network})


@pytest.mark.parametrize("key", NETWORKS)
@pytest.mark.parametrize(("each", "count"), [([], 2), ([{"protocol": "vegas"}], 3), ([{"class": "a"}], 2)])
def test_a_list_that_leaves_out_flows_is_refused_and_the_remedies_work(
    key: str, each: list[dict[str, Any]], count: int
) -> None:
    text = f"{key}.flows.0.each has {len(each)} items, but there can be {count}"
    with pytest.raises(InputError, match=text):
        scenario(key, {"count": count, "each": each})
    for remedy in ([*each, {}, {}][:count], {}):
        assert scenario(key, {"count": count, "each": remedy})


def test_a_list_for_all_stations_has_one_of_each_station() -> None:
    assert scenario("wireless", {"each": [{}] * 3})
    with pytest.raises(InputError, match="has 2 items, but there can be 3 flows"):
        scenario("wireless", {"each": [{}] * 2})


@pytest.mark.parametrize("key", NETWORKS)
@pytest.mark.parametrize("flow", [
    {}, {"window": 7}, {"udp": STREAM}, {"class": "video", "late": {"uniform": ["10 ms", "90 ms"]}},
    {"protocol": "vegas", "packets": 9},
])  # fmt: skip
def test_one_record_for_all_is_a_list_of_that_record(key: str, flow: dict[str, Any]) -> None:
    """A single record draws the same random numbers as a list of that record."""
    one, each = (scenario(key, {"count": 3, "each": given}) for given in (flow, [flow] * 3))
    rows, others = (build_rows(asked, replications=np.arange(3)).rows for asked in (one, each))
    assert all(np.array_equal(a, b) for a, b in zip(rows, others, strict=True))


SENDERS = [
    ({"protocol": "cubic"}, "cubic", "cubic"),
    ({"protocol": "linux"}, "linux_cubic", "linux_cubic"),
    ({"protocol": "udp", "rate": "1 Mbit/s"}, "udp", "udp"),
    ({"protocol": "sctp"}, "sctp", "tcp"),
    ({"protocol": "linux26", "congestion_control": "bic"}, "linux26", "tcp"),
]
"""Transports, and the class of a flow that names none: of the only flow of a network, and of one of many."""


@pytest.mark.parametrize(("transport", "alone", "among_others"), SENDERS)
def test_the_class_of_a_nameless_flow(transport: dict[str, Any], alone: str, among_others: str) -> None:
    path = {"hops": [{"rate": "1 Mbit/s", "delay": "5 ms"}], "duration": "1 s"}
    asked = Scenario.check({**path, "transport": {**transport, "late": "1 s"}})
    assert asked.network.word == alone
    assert Scenario.check({**path, "transport": transport}).network.word == ""  # nothing is measured
    for key in NETWORKS:
        many: Any = scenario(key, {}, {"class": "other"}, transport=transport)
        assert many.network.class_names(many.transport) == ["other", among_others]


@pytest.mark.parametrize("key", NETWORKS)
def test_the_sender_of_a_flow(key: str) -> None:
    items = {}, {"udp": STREAM}, {"protocol": "vegas"}, {"window": 9}
    many: Any = scenario(key, *items, transport={"protocol": "newreno", "payload": "1000 B"})
    found = [sender_of(many.transport, flow) for _, flow in many.network.each_flow()]
    assert [each.kind for each in found] == ["newreno", "udp", "vegas", "newreno"]
    assert found[0] is found[3] is many.transport is sender_of(many.transport, many.transport)
    assert found[2].payload == 1000.0  # as the transport says
    assert many.network.datagrams(many) == {"", "udp"}
    assert list(many.network.starts()) == [f"{key}.flows.{k}.start" for k in (0, 2, 3)]


def test_tcp_beside_udp_as_the_transport() -> None:
    many: Any = scenario("shared", {}, {"protocol": "reno"}, transport={"protocol": "udp", **STREAM})
    found = [sender_of(many.transport, flow).kind for _, flow in many.network.each_flow()]
    assert found == ["udp", "reno"] and list(many.network.kinds(many.transport)) == ["reno"]


@pytest.mark.parametrize(("key", "field", "value"), [
    *((key, *given) for key in NETWORKS for given in (("window", 9), ("payload", "1000 B"))),
    ("shared", "start", "100 ms"), ("shared", "packets", 9),
])  # fmt: skip
def test_fields_of_tcp_beside_udp_as_the_transport_are_refused(key: str, field: str, value: Any) -> None:
    udp = {"protocol": "udp", **STREAM}
    text = f"{key}.flows.0.{field} is a field of TCP"
    with pytest.raises(InputError, match=text):
        scenario(key, {field: value}, transport=udp)
    assert scenario(key, {field: value, "protocol": "newreno"}, transport=udp)
    if field != "window":
        assert scenario(key, {"udp": {**STREAM, field: value}}, transport=udp)


@pytest.mark.parametrize(("flow", "transport"), [
    ({"udp": STREAM}, {"protocol": "newreno"}), ({}, {"protocol": "udp", **STREAM}),
])  # fmt: skip
def test_routers_mark_no_datagrams(flow: dict[str, Any], transport: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"shared\.flows\.0\.ecn is not supported with udp; remove it"):
        scenario("shared", {**flow, "ecn": True}, transport=transport)
    assert scenario("shared", flow, transport=transport)


def test_fields_that_ask_for_delays() -> None:
    many: Any = scenario("shared", {}, {"count": 2, "each": {"late": "1 s"}})
    assert many.network.asks_for_delays == "shared.flows.1.each.late"
    assert flows.first_delay_field(flows.one(many.transport)) == ""
