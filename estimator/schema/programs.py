"""Files of other programs, recognised by their first bytes, by their text or by the keys of their JSON.

docs/reference/own-files.md lists the files that netcarlo reads.
"""

import gzip
import json
import os
import re
import shlex
import zlib
from pathlib import Path
from typing import Any, NamedTuple

FLENT = frozenset(("x_values", "results", "metadata"))
"""Keys of a flent file."""
IPERF3 = frozenset(("intervals", "start"))
"""Keys of the JSON of iperf3, of which it has one or both."""
OF_IPERF3 = frozenset(
    ("start", "intervals", "end", "error", "title", "extra_data", "server_output_text", "server_output_json")
)
"""All keys that the JSON of iperf3 can have."""
SNDLIB = frozenset(("nodes", "links", "demands"))
"""Keys of the JSON of a network of SNDlib."""

HEAD = 4096
"""Bytes by which a file is recognised."""


class Program(NamedTuple):
    """Kind of file that another program writes."""

    name: str
    """Name of the kind of file, with its article."""
    remedy: str
    """Remedy: a command or an instruction; {} is the name of the file."""
    measured: bool = False
    """True if it is a measurement that netcarlo reads."""


_COMPARE = "netcarlo compare SCENARIO.yaml {}"
_RATES = "write its rates as CSV: tshark -r {} -q -z io,stat,1 prints them, with a header time_s,goodput_mbps"

MEASURED_IPERF3 = Program("a measurement (iperf3)", _COMPARE, measured=True)
MEASURED_FLENT = Program("a measurement (flent)", _COMPARE, measured=True)
MEASURED_FLOWMON = Program("a measurement (ns-3 FlowMonitor)", _COMPARE, measured=True)
PCAP = Program("a packet capture (pcap)", _RATES)
TOPOLOGY = Program("a topology", "netcarlo import topology {} --out SCENARIO.yaml")

MOVEMENT = Program("a movement file (ns-2 setdest)", "netcarlo import movement {}")
_TESTBED = "write its links as a scenario; docs/reference/testbed.md has the fields of netem, tbf and addLink"
MININET = Program("a script of Mininet", _TESTBED)
NOTEBOOK = Program("a Jupyter notebook", "open it with Jupyter")
XML = Program("XML or HTML of another program", "netcarlo reads XML of FlowMonitor, GraphML and SNDlib")
_SCENARIO = "write its nodes and links as a scenario: netcarlo new shared"
_DECOMPRESS = "decompress it (gzip is accepted as it is)"
_AS_CSV = "save its table as CSV"
_PAPER = "write its table as CSV; docs/howto/reproduce-a-paper.md"
_IMAGE = Program("an image", _PAPER)

_BY_BYTES = {
    b"\xd4\xc3\xb2\xa1": PCAP,
    b"\xa1\xb2\xc3\xd4": PCAP,
    b"\x4d\x3c\xb2\xa1": PCAP,
    b"\xa1\xb2\x3c\x4d": PCAP,
    b"\x0a\x0d\x0d\x0a": PCAP._replace(name="a packet capture (pcapng)"),
    b"PAR1": Program("a Parquet file", "write measurements as CSV"),
    b"SQLite format 3\0": Program("a database (SQLite)", "export its table as CSV"),
    b"PK\x03\x04": Program("a ZIP archive or a spreadsheet", "unpack it, or save it as CSV"),
    b"\x89HDF\r\n": Program("an HDF5 file", _AS_CSV),
    b"\x93NUMPY": Program("an array of NumPy", _AS_CSV),
    b"MATLAB 5.0 MAT-file": Program("a file of MATLAB", _AS_CSV),
    b"\xd0\xcf\x11\xe0": Program("a document of Microsoft Office", _AS_CSV),
    b"%PDF-": Program("a PDF", _PAPER),
    b"\x89PNG\r\n": _IMAGE,
    b"\xff\xd8\xff": _IMAGE,
    b"GIF8": _IMAGE,
    b"BZh": Program("a file compressed by bzip2", _DECOMPRESS),
    b"\xfd7zXZ": Program("a file compressed by xz", _DECOMPRESS),
    b"\x28\xb5\x2f\xfd": Program("a file compressed by Zstandard", _DECOMPRESS),
    b"\x7fELF": Program("a compiled program", "write what it simulates as a scenario: netcarlo new path"),
}
"""Kinds of binary files by their first bytes."""

_BY_TEXT: tuple[tuple[re.Pattern[str], Program], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), program)
    for pattern, program in (
        (r"<FlowMonitor\b", MEASURED_FLOWMON),
        (r"<graphml\b|^\s*graph\s*\[|<network\b[^>]*sndlib|^\?SNDlib", TOPOLOGY),
        (r"^(from|import) mininet\b", MININET),
        (r"^\s*set\s+\w+\s+\[new Simulator\]", Program("a script of ns-2", _SCENARIO)),
        (r"^\s*\$node_\(\d+\) set [XYZ]_ |^\s*\$ns_? at [\d.]+ \"\$node_\(\d+\) setdest ", MOVEMENT),
        (r"^#include [<\"]ns3/", Program("a program of ns-3", _SCENARIO)),
        (r"^\s*(simple|module|network)\s+\w+(\s+(extends|like)\s+[\w.]+)*\s*\{|^import inet\b",
         Program("a NED file of OMNeT++", _SCENARIO)),
        (r"^\[(General|Config \w+)\][\s\S]*?^(network|sim-time-limit|\*\*)",
         Program("an ini file of OMNeT++", _SCENARIO)),
        (r"^\s*(sudo\s+)?(\S*/)?(tc\s+qdisc|ipfw\s+pipe)\s",
         Program("a script with tc or ipfw", _TESTBED)),
        (r"^Connecting to host .*, port \d+|^\[ *ID\] Interval",
         Program("the text of iperf", "run iperf3 with --json, and compare its output")),
        (r"^PING \S+ .*bytes of data|^PING \S+ \(",
         Program("the output of ping", "write its times as CSV with the header time_s,rtt_ms")),
        (r"^(\d\d:\d\d:\d\d\.\d+|\d+\.\d{6}) IP6? ",
         Program("the text of tcpdump", "save it with tcpdump -w; tshark -q -z io,stat,1 prints its rates")),
        (r"^[+dr-] \d+(\.\d+)? \d+ \d+ \w+ \d+ [\w-]+ \d+ ",
         Program("a trace file of ns-2", "write its rates as CSV with the header time_s,goodput_mbps")),
        (r"^<svg\b", _IMAGE),
        (r"^\s*<\?xml|^\s*<!DOCTYPE|^\s*<html", XML),
    )
)  # fmt: skip
"""Kinds of text files by a pattern of one of their first lines."""


PROGRAMS = (
    MEASURED_IPERF3, MEASURED_FLENT, NOTEBOOK, *_BY_BYTES.values(), *(program for _, program in _BY_TEXT)
)  # fmt: skip
"""All kinds of files that are recognised."""


def recognised(path: str | Path) -> Program | None:
    """Return what a file is; None if it cannot be read or is of no known kind."""
    if not os.path.isfile(path):  # a pipe may never end
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path) as file:
                head = file.read(HEAD)
    except (OSError, ValueError, EOFError, zlib.error):
        return None
    for first, program in _BY_BYTES.items():
        if head.startswith(first):
            return program
    text = head.decode("utf-8-sig", "replace")
    for pattern, program in _BY_TEXT:
        if pattern.search(text):
            return program
    if text.lstrip()[:1] == "{":
        return _of_keys(text, path)
    return None


def refuse(path: str | Path, wanted: str, *allowed: Program) -> None:
    """Raise InputError if a file is of a known kind that is not among the `allowed` ones; `wanted` is a
    noun."""
    from netcarlo.errors import InputError

    found = recognised(path)
    if found is not None and found not in allowed:
        raise InputError(f"{path}: this is {found.name}, not {wanted}; {advice(found.remedy, path)}")


def advice(remedy: str, path: str | Path) -> str:
    """Return a remedy with the name of the file; a command is introduced by "run"."""
    filled = remedy.format(shlex.quote(str(path)))
    return f"run {filled}" if filled.startswith("netcarlo ") else filled


def _of_keys(text: str, path: str | Path) -> Program | None:
    """Return the kind of a file of JSON by its keys."""
    from netcarlo.errors import InputError
    from netcarlo.schema.document import read_text

    if re.match(r'\s*\{\s*"event"\s*:\s*"start"', text):
        return MEASURED_IPERF3
    try:
        whole = read_text(path).lstrip()
        found = keys(json.JSONDecoder().raw_decode(whole)[0])
    except (InputError, ValueError, RecursionError):
        if re.search(r'"test_start"|"iperf 3', text):
            return MEASURED_IPERF3  # cut off; the reader says where
        return None
    if found >= FLENT:
        return MEASURED_FLENT
    if found >= {"cells", "nbformat"}:
        return NOTEBOOK
    if found >= SNDLIB:
        return TOPOLOGY
    return MEASURED_IPERF3 if found & IPERF3 and not found - OF_IPERF3 else None


def keys(data: Any) -> frozenset[str]:
    """Return the keys of data; none if it is no mapping."""
    return frozenset(data) if isinstance(data, dict) else frozenset()
