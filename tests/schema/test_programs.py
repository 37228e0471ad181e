"""Files of other programs: every command identifies them and suggests a remedy, with exit code 2."""

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.schema.programs import PROGRAMS, recognised

SAMPLES: dict[str, tuple[bytes, str, str]] = {
    "a.pcap": (b"\xd4\xc3\xb2\xa1" + bytes(20), "a packet capture (pcap)", "tshark"),
    "a.pcapng": (b"\x0a\x0d\x0d\x0a" + bytes(20), "a packet capture (pcapng)", "tshark"),
    "a.parquet": (b"PAR1" + bytes(8), "a Parquet file", "CSV"),
    "a.xlsx": (b"PK\x03\x04" + bytes(8), "a ZIP archive or a spreadsheet", "CSV"),
    "a.h5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "CSV"),
    "figure.png": (b"\x89PNG\r\n\x1a\n", "an image", "reproduce-a-paper"),
    "paper.pdf": (b"%PDF-1.5\n", "a PDF", "reproduce-a-paper"),
    "a.csv.xz": (b"\xfd7zXZ\0", "a file compressed by xz", "decompress"),
    "run.json": (b'{"start": {}, "intervals": [], "end": {}}', "a measurement (iperf3)", "netcarlo compare"),
    "run.flent": (
        b'{"x_values": [], "results": {}, "metadata": {}}',
        "a measurement (flent)",
        "netcarlo compare",
    ),
    "flows.xml": (
        b"<?xml version='1.0'?>\n<FlowMonitor/>",
        "a measurement (ns-3 FlowMonitor)",
        "netcarlo compare",
    ),
    "map.graphml": (b"<?xml version='1.0'?>\n<graphml/>", "a topology", "netcarlo import topology"),
    "map.gml": (b"graph [\n  node [ id 1 ]\n]\n", "a topology", "netcarlo import topology"),
    "x.ipynb": (b'{"cells": [], "nbformat": 4, "metadata": {}}', "a Jupyter notebook", "Jupyter"),
    "walk.tcl": (
        b'# walk\n$node_(0) set X_ 1.0\n$ns_ at 1.0 "$node_(0) setdest 5 5 1"\n',
        "a movement file (ns-2 setdest)",
        "netcarlo import movement",
    ),
    "net.tcl": (b"# a net\nset ns [new Simulator]\n", "a script of ns-2", "netcarlo new shared"),
    "net.ned": (
        b"import inet.node.inet.Router;\nnetwork Net extends Base\n{\n}\n",
        "a NED file of OMNeT++",
        "new shared",
    ),
    "omnetpp.ini": (b"[General]\nnetwork = Net\n", "an ini file of OMNeT++", "netcarlo new shared"),
    "main.cc": (b'#include "ns3/core-module.h"\n', "a program of ns-3", "netcarlo new shared"),
    "mininet.py": (
        b"#!/usr/bin/python\nfrom mininet.net import Mininet\n",
        "a script of Mininet",
        "testbed.md",
    ),
    "shape.sh": (
        b"#!/bin/sh\n  sudo tc qdisc add dev eth1 root netem delay 9ms\n",
        "a script with tc or ipfw",
        "testbed.md",
    ),
    "pipes.sh": (b"ipfw pipe 1 config bw 1Mbit/s\n", "a script with tc or ipfw", "testbed.md"),
    "dump.txt": (
        b"12:00:00.000001 IP 10.0.0.1.5 > 10.0.0.2.6: Flags [S]\n",
        "the text of tcpdump",
        "tcpdump -w",
    ),
    "out.tr": (b"+ 0.1 0 2 tcp 1000 ------- 1 0.0 3.0 0 0\n", "a trace file of ns-2", "CSV"),
}
"""Files with their content, their identification in messages, and a part of the remedy."""

COMMANDS = (
    ["estimate"], ["trace"], ["sweep"], ["plan"], ["validate"], ["reproduce"], ["report"],
    ["import", "trace"], ["import", "movement"], ["import", "topology", "--out", "new.yaml"],
)  # fmt: skip
ACCEPTED = {("import", "movement"): ("walk.tcl",), ("import", "topology"): ("map.graphml", "map.gml")}
"""Files that are right for a command."""


@pytest.mark.parametrize("name", SAMPLES)
def test_every_command_says_what_a_file_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content, what, remedy = SAMPLES[name]
    Path(name).write_bytes(content)
    for command in COMMANDS:
        if name in ACCEPTED.get(tuple(command[:2]), ()):
            continue
        found = CliRunner().invoke(app, [*command, name])
        assert found.exit_code == 2, (command, found.output)
        text = " ".join(found.output.split())
        assert f"{name}: this is {what}, not a" in text and remedy in text, (command, found.output)


@pytest.mark.parametrize("field", ["trace: x.txt", "rate: 1 Mbit/s, jitter: {empirical: x.txt}"])
def test_a_scenario_that_names_such_a_file_says_so(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.txt").write_bytes(SAMPLES["a.pcap"][0])
    Path("s.yaml").write_text(
        "name: s\nduration: 1 s\nreplications: 1\ntransport: {protocol: sack}\n"
        f"hops: [{{delay: 1 ms, {field}}}]\n"
    )
    found = CliRunner().invoke(app, ["estimate", "s.yaml"])
    assert found.exit_code == 2
    assert "this is a packet capture (pcap)" in " ".join(found.output.split()), found.output


def test_the_name_of_a_file_does_not_matter_and_gzip_is_looked_into(tmp_path: Path) -> None:
    for name, (content, what, _) in SAMPLES.items():
        plain, packed = tmp_path / "data", tmp_path / f"{name}.gz"
        plain.write_bytes(content)
        packed.write_bytes(gzip.compress(content))
        assert [found.name for path in (plain, packed) if (found := recognised(path))] == [what, what]


@pytest.mark.parametrize(
    "text",
    [
        "time,rate\n0 s,5 Mbit/s\n10 s\n", "1\n2\n3\n", "0 0\n4000 20\n200000 100\n", "0.0 100.0 100.0\n",
        "from,to,rate\nA,B,1 Gbit/s\n", "source,sink,bytes\n0,1,5\n", "name: x\nduration: 1 s\n", "",
        '"""A control."""\ndef on_ack():\n    return network\n',
    ],
)  # fmt: skip
def test_files_that_netcarlo_reads_are_not_taken_for_others(text: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    assert recognised(file) is None


def test_kinds_have_a_remedy() -> None:
    assert all(program.name and program.remedy for program in PROGRAMS)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (("import", "trace", "link.yaml"), "a trace"),
        (("import", "movement", "link.yaml"), "a movement file"),
        (("import", "topology", "link.yaml", "--out", "map.yaml"), "a topology"),
        (("fit", "link.yaml", "link.yaml"), "a measurement"),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_a_scenario_is_not_taken_for_a_file_of_another_program(
    command: tuple[str, ...], wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "duration: 1 s\ntransport: {protocol: newreno}\nhops: [{rate: 1 Mbit/s, delay: 1 ms}]\n"
    Path("link.yaml").write_text(text)
    found = CliRunner().invoke(app, list(command))
    assert found.exit_code == 2
    assert f"link.yaml: this is a scenario, not {wanted}; run netcarlo estimate link.yaml" in found.stderr


def test_a_missing_reference_is_named_before_its_mapping(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["validate", str(tmp_path / "lab.csv")])
    assert found.exit_code == 2 and "lab.csv: no such file" in found.stderr
