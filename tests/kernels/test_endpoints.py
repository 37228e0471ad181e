"""Associations and ports have the functions of `endpoints.contract`, with the same arguments."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc import port as adhoc_port
from netcarlo.kernels.endpoints import contract, defaults, host
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.sctp import association as sctp
from netcarlo.kernels.tcp import association as tcp
from netcarlo.kernels.udp import association as udp
from netcarlo.kernels.wireless import port as wireless_port

# mypy checks that these modules fit the protocols.
ASSOCIATIONS: list[contract.Association] = [tcp]
ONE_WAY: list[contract.OneWay] = [tcp, sctp, udp]
PORTS: list[contract.Port] = [adhoc_port, wireless_port]


def functions(protocol: type) -> dict[str, Callable[..., Any]]:
    """Return the functions of a protocol by name."""
    members = inspect.getmembers(protocol, inspect.isfunction)
    return {name: function for name, function in members if not name.startswith("_")}


def count(function: Callable[..., Any]) -> int:
    """Return how many arguments a function takes."""
    return len(inspect.signature(function).parameters)


def differing(module: Any, protocol: type) -> list[str]:
    """Return the functions of a protocol that a module lacks, or has with other arguments."""
    expected = functions(protocol)
    assert expected
    return [
        name
        for name, function in expected.items()
        if not hasattr(module, name) or count(getattr(module, name)) != count(function) - 1
    ]


@pytest.mark.parametrize("name", [
    *("wifi_udp", "wifi_newreno", "wifi_sack_cubic", "wifi_linux_bbr", "wifi_sctp"),
    *("manet_udp", "manet_vegas", "manet_elfn", "manet_linux_cubic_delays", "manet_sctp"),
    *("tcp_vegas", "tcp_linux_cubic_delays", "sctp_mobile", "tcp_sack_delays_reordering"),
    *("shared_newreno", "shared_linux_bbr_delays", "shared_sctp", "shared_mixed"),
])  # fmt: skip
def test_association_of_a_model_keeps_its_contract(name: str) -> None:
    endpoint, _ = models._endpoints(models.model(name).address, None)
    association = endpoint.slots(compilers.plain).filled()["association"]
    protocol: type = contract.OneWay if endpoint.one_way else contract.Association
    family = models.model(name).address.family
    not_called = {"wireless": {"corrupted", "on_notice"}, "adhoc": {"all_sent", "data_waiting", "resume"}}
    not_called["path"] = not_called["shared"] = not_called["wireless"] | not_called["adhoc"]
    assert not set(differing(association, protocol)) - not_called[family]


@pytest.mark.parametrize("port", PORTS)
def test_ports_keep_their_contract(port: Any) -> None:
    assert not differing(port, contract.Port)
    assert {"m", "p", "s", "g", "constants", "t", "counts"} <= {*port.Event._fields}


def test_every_default_is_a_function_of_the_contract() -> None:
    known = {**functions(contract.Association), **functions(contract.OneWay)}
    found = {name: f for name, f in vars(defaults).items() if inspect.isfunction(f)}
    assert {name: count(f) + 1 for name, f in found.items()} == {name: count(known[name]) for name in found}


def test_the_host_calls_functions_of_the_contract_only() -> None:
    source = inspect.getsource(host)
    for slot, protocol in ("association", contract.Association), ("port", contract.Port):
        called = {word.split("(")[0] for word in source.replace("\n", " ").split(f"{slot}.")[1:]}
        called = {word for word in called if word.isidentifier()}
        assert called
        assert called <= functions(protocol).keys()
