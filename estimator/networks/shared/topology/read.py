"""Reading of a topology; the content of the file determines the format."""

import json
from pathlib import Path

from netcarlo.errors import InputError, prefixed
from netcarlo.networks.shared.topology import graph, sndlib
from netcarlo.networks.shared.topology.map import Edge, Map
from netcarlo.schema import link_list, programs, units
from netcarlo.schema.document import read_content

FORMATS = "GraphML, GML, SNDlib (XML, native or JSON) and tables of links (CSV)"
"""Supported formats."""


def read(path: str | Path, *, unit: str = "", directed: bool = False) -> tuple[str, Map]:
    """Return the name of the format of a file, and its map.

    `unit` is that of rates without a unit, such as `Mbit/s`. Rows of a table are single directions if
    `directed` is true. Raises InputError with the name of the file.
    """
    if unit and units.factor(unit, units.RATE) is None:
        raise InputError(f"--unit {unit} is not a unit of rates; write one such as Mbit/s")
    programs.refuse(path, "a topology", programs.TOPOLOGY, programs.XML)
    content = read_content(path)
    try:
        return _read(content, unit=unit, directed=directed)
    except InputError as error:
        raise prefixed(error, f"{path}: ") from None


def _read(content: bytes, *, unit: str, directed: bool) -> tuple[str, Map]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = text.lstrip()
    if not start:
        raise InputError(f"is empty; expected {FORMATS}")
    if start.startswith("<"):
        if "<graphml" in text:
            return "GraphML", graph.graphml(content, unit=unit)
        if "<gexf" in text:
            raise InputError(f"is GEXF; save it as GraphML. Supported: {FORMATS}")
        return "SNDlib XML", sndlib.xml(content, unit=unit)
    if start.startswith("{") or start.startswith("["):
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if not sndlib.is_json(data):
            raise InputError(f"is JSON, but not a network of SNDlib. Supported: {FORMATS}")
        return "SNDlib JSON", sndlib.from_json(data, unit=unit)
    if start.startswith("?SNDlib") or ("NODES (" in text and "LINKS (" in text):
        return "SNDlib native", sndlib.native(text, unit=unit)
    words = [line.split() for line in start.splitlines() if line.strip() and not line.startswith("#")]
    if any(line and line[0] in ("graph", "graph[") for line in words[:20]) and "node" in text:
        return "GML", graph.gml(text, unit=unit)
    return "table of links", _table(text, unit=unit, directed=directed)


def _table(text: str, *, unit: str, directed: bool) -> Map:
    found = link_list.read(text, unit=unit, directed=directed)
    edges = [
        Edge(row.a, row.b, row.rate_bps, delay_s=row.delay_s, both=found.both, line=row.line)
        for row in found.rows
    ]
    names = {name: name for row in found.rows for name in (row.a, row.b)}
    return Map(names, edges, [], found.notes, {})
