"""Transports describe their own capabilities: no module above `transport/` asks for a class of them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netcarlo.errors import InputError
from netcarlo.networks.registry import BY_KEY
from netcarlo.scenario import Scenario
from netcarlo.transport.capabilities import PROTOCOLS, allowed, refused

ESTIMATOR = Path(__file__).parents[2] / "estimator"
CLASSES = {"Tcp", "Linux", "Linux26", "Vegas", "Sctp", "Udp"}
FIELDS = {"protocol", "congestion_control", "messages", "autotuning", "send_buffer", "receive_buffer"}
PATH: dict[str, Any] = {"hops": [{"rate": "1 Mbit/s", "delay": "5 ms"}], "duration": "1 s"}


def questions(file: Path) -> Iterator[str]:
    """Yield calls in a file that ask for the class of a transport, or whether it has a field."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            subject, asked = node.args[:2]
            names = {each.id for each in ast.walk(asked) if isinstance(each, ast.Name)}
            value = asked.value if isinstance(asked, ast.Constant) else None
            of_transport = ast.unparse(subject).endswith(("transport", "tcp", "sender"))
            if node.func.id == "isinstance" and names & CLASSES:
                yield f"{file.name}:{node.lineno}"
            if node.func.id == "getattr" and value in FIELDS and of_transport:
                yield f"{file.name}:{node.lineno}"


@pytest.mark.full
def test_nothing_above_transports_asks_which_class_one_is() -> None:
    files = [file for file in ESTIMATOR.rglob("*.py") if file.parent.name != "transport"]
    assert len(files) > 200 and [found for file in files for found in questions(file)] == []


def transport(protocol: str, **fields: Any) -> Any:
    return Scenario.check({**PATH, "transport": {"protocol": protocol, **fields}}).transport


@pytest.mark.parametrize(
    ("protocol", "fields", "kind", "control", "growth"),
    [
        ("newreno", {}, "newreno", "", "newreno"),
        ("cubic", {}, "cubic", "cubic", "cubic"),
        ("newreno", {"congestion_control": "bic"}, "newreno with bic", "bic", "bic"),
        ("linux26", {"congestion_control": "westwood"}, "linux26 with westwood", "westwood", "westwood"),
        ("linux", {}, "linux_cubic", "cubic", "cubic"),
        ("linux", {"congestion_control": "bbr3"}, "linux_bbr3", "bbr3", "bbr3"),
        ("sctp", {}, "sctp", "", "sctp"),
        ("mptcp", {}, "mptcp", "cubic", "cubic"),
        ("udp", {"rate": "1 Mbit/s"}, "udp", "", "udp"),
    ],
)
def test_names_of_a_transport(
    protocol: str, fields: dict[str, Any], kind: str, control: str, growth: str
) -> None:
    found = transport(protocol, **fields)
    assert (found.kind, found.control, found.growth, found.own_control) == (kind, control, growth, None)


def test_a_control_of_ones_own_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("def grow(*_): return 1.0\n\n\ndef reduce(*_): return 1.0\n")
    sack, linux = (transport(name, congestion_control=str(file)) for name in ("sack", "linux"))
    assert sack.own_control == linux.own_control == file
    assert sack.kind == sack.control == str(file) and linux.kind == "linux_own"


def test_what_a_transport_is_for() -> None:
    flags = (
        "datagrams", "two_paths", "subflows", "migrates", "marked", "reads_late", "own_association",
        "stamped", "queues_measured",
    )  # fmt: skip
    found = {
        name: {flag for flag in flags if getattr(each, flag)}
        for name, each in {
            "newreno": transport("newreno"), "vegas": transport("vegas"), "linux": transport("linux"),
            "sctp": transport("sctp"), "mptcp": transport("mptcp"), "quic": transport("quic"),
            "udp": transport("udp", rate="1 Mbit/s"),
        }.items()
    }  # fmt: skip
    assert found == {
        "newreno": {"marked", "reads_late"}, "vegas": {"marked", "reads_late"},
        "linux": {"own_association", "stamped", "queues_measured"}, "sctp": {"two_paths"},
        "mptcp": {"two_paths", "subflows", "stamped"}, "quic": {"two_paths", "migrates"},
        "udp": {"datagrams"},
    }  # fmt: skip


def test_a_transport_says_over_which_networks_it_goes() -> None:
    kinds = BY_KEY.items()
    over = {name: [key for key, kind in kinds if not refused(name, kind)] for name in PROTOCOLS}
    everywhere = ["paths", "wireless", "adhoc", "shared"]
    assert over.pop("elfn") == over.pop("eln") == ["adhoc"]
    assert over.pop("mptcp") == ["paths"]
    assert all(networks == everywhere for networks in over.values())
    for kind in BY_KEY.values():
        assert set(allowed(kind)) == {protocol for protocol in PROTOCOLS if not refused(protocol, kind)}
        assert refused("cubik", kind).startswith("is an unknown protocol; did you mean 'cubic'")
        assert "Supported with" in refused("dctcp", kind)


@pytest.mark.parametrize(
    ("field", "value"), [("messages", {"size": "20 kB", "pause": "1 s"}), ("autotuning", True)]
)
def test_what_hosts_do_goes_over_paths_with_drop_tail_queues(field: str, value: Any) -> None:
    asked = {"protocol": "linux", field: value}
    drop_tail, managed = ({**PATH, "hops": [PATH["hops"][0] | more]} for more in ({}, {"queue": "codel"}))
    found = Scenario.check({**drop_tail, "transport": asked})
    assert found.transport.supports(found.network) == ""
    text = f"transport.{field} is supported only on paths with drop-tail queues; remove it"
    assert [found.transport.supports(kind) for kind in BY_KEY.values() if kind.key != "paths"] == [text] * 3
    with pytest.raises(InputError, match=text):
        Scenario.check({**managed, "transport": asked})


def test_controls_that_only_packets_know() -> None:
    found = {
        ("sack", "cubic"): "", ("sack", "standard"): "",
        ("newreno", "cubic"): "cubic", ("linux26", "bic"): "", ("linux26", "westwood"): "westwood",
    }  # fmt: skip
    for (protocol, control), known in found.items():
        assert transport(protocol, congestion_control=control).only_packets == known
    assert transport("cubic").only_packets == transport("vegas").only_packets == ""


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"protocol": "sack", "congestion_control": "cubic"}, ""),
        ({"protocol": "sctp"}, "the fluid model does not support sctp; it supports newreno, sack"),
        (
            {"protocol": "newreno", "congestion_control": "bic"},
            "it supports congestion controls of sack only, not",
        ),
        ({"protocol": "sack", "send_buffer": {"size": "64 kB"}}, "the fluid model does not support send_b"),
    ],
)
def test_what_a_fluid_model_does_not_know_of_a_transport(fields: dict[str, Any], said: str) -> None:
    found = transport(**fields).unknown_to_fluid(("newreno", "sack"), "it")
    assert found.startswith(said) and bool(found) == bool(said)


def test_a_chunk_that_finds_no_room_is_refused_with_a_remedy() -> None:
    sctp = transport("sctp", receiver_window="20 kB")
    assert sctp.refuses(1452.0) == "" == transport("newreno").refuses(60000.0)
    assert sctp.refuses(30000.0).endswith("raise transport.receiver_window to 30016 B")


def test_packets_in_a_receivers_buffer() -> None:
    sctp = transport("sctp", receiver_window="20 kB")
    assert sctp.buffered(984.0, 984.0) == (20, 20) and sctp.receiver_bytes == 20000.0
    tcp = transport("sack", receive_buffer={"size": "64 kB"})
    assert tcp.buffered(1000.0, 2000.0) == (tcp.receiver_bytes / 1000.0,) * 2
    assert transport("sack").buffered(1000.0, 1000.0) is None is transport("sack").receiver_bytes
