"""Captures of every transport in every kind of network: outcomes, headers, acknowledgements, files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scapy.layers.inet import IP
from scapy.utils import PcapNgReader
from typer.testing import CliRunner

import netcarlo
from netcarlo.captures.capture import Capture, recorded
from netcarlo.captures.headers import of_packet
from netcarlo.captures.record import Chunk, Segment
from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.kernels.sctp.state import Kind
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
from tests.networks.matrix import NETWORKS, TRANSPORTS

CELLS = [
    ("paths", "newreno"), ("paths", "linux26"), ("paths", "udp"), ("paths, mobile host", "sctp"),
    ("shared", "sack"), ("shared", "linux"), ("shared", "udp"), ("wireless", "linux"), ("wireless", "sctp"),
    ("wireless", "udp"), ("adhoc", "newreno"), ("adhoc", "udp"),
]  # fmt: skip
"""Networks and transports that together have every engine and every sender's code."""

LOSSY = {"rate": "2 Mbit/s", "delay": "20 ms", "queue": "20 packets", "loss": "5 %"}


def small(network: str, protocol: str) -> Scenario:
    return Scenario.check(
        {
            "name": "small", "duration": "300 ms", "replications": 1,
            "transport": {"protocol": protocol, **TRANSPORTS.get(protocol, {})}, **NETWORKS[network],
        }
    )  # fmt: skip


def lossy(transport: dict[str, Any], **others: Any) -> Scenario:
    run = {"name": "lossy", "duration": "3 s", "replications": 1}
    return Scenario.check({**run, "transport": transport, "hops": [LOSSY], **others})


def data_of(found: Capture) -> list[Any]:
    """Return the packets with data, in order of time."""
    return [
        packet
        for packet in found.packets
        if packet.forward
        and (not isinstance(packet.content, Chunk) or packet.content.kind == Kind.DATA)
        and packet.content.payload
    ]


@pytest.mark.parametrize(("network", "protocol"), CELLS)
@pytest.mark.usefixtures("uncompiled")
def test_a_capture_has_what_was_sent_and_received_and_changes_no_outcome(network: str, protocol: str) -> None:
    scenario = small(network, protocol)
    _, outcomes = launches.trace(scenario)
    model = launches.model_of(scenario)
    sent = recorded(scenario)
    received = recorded(scenario, at="receiver")
    np.testing.assert_array_equal(sent.outcomes, received.outcomes)
    part = launches.Job(scenario, 0, 1).part()
    again = launches._named(part, launches.trim(sent.outcomes[None], part.rows, part.rows))
    np.testing.assert_array_equal(again.frame.to_numpy(float), outcomes.frame.to_numpy(float))
    assert len(data_of(sent)) == outcomes.frame["sent"].sum() > 0, model.name
    assert len(data_of(received)) == outcomes.frame["received"].sum() > 0


@pytest.mark.parametrize("protocol", ["newreno", "sack", "linux", "sctp", "udp"])
@pytest.mark.parametrize("at", ["sender", "receiver"])
def test_scapy_reads_the_headers_and_computes_the_same_checksums(protocol: str, at: str) -> None:
    found = recorded(lossy({"protocol": protocol, **TRANSPORTS.get(protocol, {})}), at=at)
    for packet in found.packets[:40] + found.packets[-40:]:
        captured, length = of_packet(packet, 7)
        whole = captured + bytes(length - len(captured))
        read = IP(whole)
        assert len(read) == length == read.len
        for layer in read.layers():
            read[layer].delfieldval("chksum") if "chksum" in read[layer].fields else None
        assert bytes(read) == whole


def test_acknowledgements_are_those_of_a_receiver_by_rfc_2018() -> None:
    found = recorded(lossy({"protocol": "linux"}), at="receiver")
    arrived: set[int] = set()
    latest, blocks_seen = 0, 0
    for packet in found.packets:
        content = packet.content
        assert isinstance(content, Segment)
        if packet.forward:
            latest = content.sequence
            arrived |= {content.sequence} if content.payload else set()
            continue
        if "S" in content.flags:
            continue
        expected = 1
        while expected in arrived:
            expected += 1448
        assert content.acknowledgement == expected
        above = [block for block in content.blocks if block[0] > expected]
        for left, right in above:
            assert set(range(left, right, 1448)) <= arrived
            assert not {right, left - 1448} & arrived
        if above and latest > expected and content.blocks[0] in above:  # the newest block is first
            assert above[0][0] <= latest < above[0][1]
        blocks_seen += len(above)
    assert blocks_seen > 20


def test_gap_blocks_are_those_of_a_receiver_by_rfc_9260() -> None:
    found = recorded(lossy({"protocol": "sctp"}), at="receiver")
    arrived: set[int] = set()
    blocks_seen = 0
    for packet in found.packets:
        content = packet.content
        assert isinstance(content, Chunk)
        if content.kind == Kind.DATA:
            arrived.add(content.tsn)
        elif content.kind == Kind.SACK:
            assert set(range(1, content.tsn + 1)) <= arrived and content.tsn + 1 not in arrived
            reported = {tsn for begin, end in content.blocks for tsn in range(begin, end + 1)}
            assert reported == {tsn for tsn in arrived if tsn > content.tsn}
            blocks_seen += len(content.blocks)
    assert blocks_seen > 10


def test_a_finite_transfer_ends_with_a_fin_that_is_acknowledged() -> None:
    found = recorded(lossy({"protocol": "linux", "bytes": "100 kB"}))
    *_, fin = (p for p in found.packets if isinstance(p.content, Segment) and "F" in p.content.flags)
    assert fin.content.sequence + fin.content.payload == 100_001
    assert max(p.content.acknowledgement for p in found.packets if not p.forward) == 100_002


def test_two_paths_of_an_association_have_their_own_addresses() -> None:
    hop = {"rate": "1 Mbit/s", "delay": "10 ms", "queue": "50 packets"}
    down = hop | {"outages": [{"start": "1 s", "duration": "20 s"}]}
    scenario = Scenario.check(
        {
            "name": "two", "duration": "10 s", "replications": 1,
            "transport": {"protocol": "sctp", "path_max_retrans": 0},
            "paths": [{"hops": [down]}, {"hops": [hop]}],
        }
    )  # fmt: skip
    found = recorded(scenario)
    sources = {IP(of_packet(packet, 1).captured).src for packet in found.packets}
    assert sources == {"10.0.0.1", "10.1.0.1", "10.2.0.1", "10.3.0.1"}
    kinds = {packet.content.kind for packet in found.packets if isinstance(packet.content, Chunk)}
    assert kinds == set(Kind)


def test_each_arriving_flow_is_a_connection_of_its_own() -> None:
    scenario = Scenario.check(
        {
            "name": "arrivals", "duration": "1 s", "replications": 1, "transport": {"protocol": "sack"},
            "shared": {
                "dumbbell": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": "50 packets"},
                "flows": [{"count": 8, "arrivals": {"poisson": "20 /s"}, "size": "20 kB"}],
            },
        }
    )  # fmt: skip
    found = recorded(scenario)
    syns = [p for p in found.packets if isinstance(p.content, Segment) and p.content.flags == "S"]
    assert len({IP(of_packet(p, 1).captured).sport for p in syns}) == len(syns) > 5


def test_the_file_is_the_same_for_the_same_seed_and_has_microseconds(tmp_path: Path) -> None:
    scenario = lossy({"protocol": "udp", "rate": "500 kbit/s"})
    files = [tmp_path / "a.pcapng", tmp_path / "b.pcapng"]
    counts = [netcarlo.capture(scenario, file) for file in files]
    assert counts[0] == counts[1] == len(recorded(scenario).packets)
    assert files[0].read_bytes() == files[1].read_bytes()
    with PcapNgReader(str(files[0])) as read:
        times = [packet.time for packet in read]
    expected = [packet.time // 1000 / 1e6 for packet in recorded(scenario).packets]
    np.testing.assert_allclose(np.array(times, float), expected, atol=1e-9)


@pytest.mark.usefixtures("uncompiled")
def test_the_command_writes_a_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(
        "name: s\nduration: 300 ms\nreplications: 1\ntransport: {protocol: sack}\n"
        "hops: [{rate: 1 Mbit/s, delay: 5 ms}]\n"
    )
    found = CliRunner().invoke(app, ["trace", "s.yaml", "--pcap", "s.pcapng", "--pcap-at", "receiver"])
    assert found.exit_code == 0, found.output
    assert "packets at the receiver in s.pcapng" in found.output
    assert Path("s.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    refused = CliRunner().invoke(app, ["trace", "s.yaml", "--pcap", "s.pcapng", "--pcap-at", "router"])
    assert refused.exit_code == 2 and "expected sender or receiver" in refused.output
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    missing = CliRunner().invoke(app, ["trace", "s.yaml", "--pcap", "s.pcapng"])
    assert missing.exit_code == 2 and "pip install 'netcarlo[pcap]'" in missing.output


def test_fluid_models_have_no_packets(tmp_path: Path) -> None:
    scenario = lossy({"protocol": "newreno"}, fidelity="fluid")
    with pytest.raises(InputError, match="fidelity fluid"):
        netcarlo.capture(scenario, tmp_path / "f.pcapng")
