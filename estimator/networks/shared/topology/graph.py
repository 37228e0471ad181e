"""GraphML and GML, read by NetworkX: maps of the Topology Zoo, yEd, and other programs."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

from netcarlo.errors import InputError
from netcarlo.networks.shared.topology import places, xml
from netcarlo.networks.shared.topology.map import Edge, Map, edge

_LABELS = ("label", "name", "nodelabel", "title")
"""Attributes with the name of a router."""

_LINE = "netcarloLine"
"""Attribute of an edge of GML that is added with the number of its line."""


def graphml(content: bytes, *, unit: str) -> Map:
    """Read GraphML, with the labels of yEd. Edges may be directed and undirected. Raises InputError."""
    import networkx  # the import takes 0.1 s

    root, lines = xml.parse(content)
    for number, (each, line) in enumerate(lines.items()):
        if each.tag.endswith("}edge"):
            each.set("id", f"{line} {number}")  # networkx has the identifiers of edges as their keys
    try:
        _directed(root)
        found = networkx.parse_graphml(ElementTree.tostring(root, "unicode"), str, force_multigraph=True)
    except (networkx.NetworkXError, KeyError, ValueError, TypeError) as error:
        raise InputError(f"is not GraphML that can be read ({error}); save it again as GraphML") from None
    return _map(found, unit=unit)


def _directed(root: ElementTree.Element) -> None:
    """Replace edges with a direction that differs from the graph's by edges of a directed graph."""
    space = root.tag.rpartition("graphml")[0]
    for graph in root.iter(f"{space}graph"):
        default = graph.get("edgedefault", "undirected")
        edges = [each for each in graph if each.tag == f"{space}edge"]
        ways = [each.get("directed", str(default == "directed").lower()) == "true" for each in edges]
        if not any(each.get("directed") for each in edges):
            continue
        for each, way in zip(edges, ways, strict=True):
            each.attrib.pop("directed", None)
            if any(ways) and not way:
                back = ElementTree.SubElement(graph, each.tag, dict(each.attrib))
                back.set("source", each.get("target", ""))
                back.set("target", each.get("source", ""))
                back.set("id", f"{each.get('id')} back")
                back.extend(each)
        graph.set("edgedefault", "directed" if any(ways) else "undirected")


def gml(text: str, *, unit: str) -> Map:
    """Read GML; parallel edges need no `multigraph 1`. Raises InputError."""
    import networkx  # the import takes 0.1 s

    lines = [
        re.sub(r"\bedge\s*\[", rf"\g<0> {_LINE} {number} ", line)
        if '"' not in line.partition("edge")[0]
        else line
        for number, line in enumerate(text.split("\n"), 1)
    ]
    text = "\n".join(lines)
    text = re.sub(r"(?m)^\s*multigraph\s+\d\s*$", "", text)
    text = re.sub(r"(?m)^(\s*)graph(\s*)\[", r"\1graph\2[ multigraph 1", text, count=1)
    try:
        found = networkx.parse_gml(text, label=None)
    except (networkx.NetworkXError, KeyError, ValueError, TypeError) as error:
        raise InputError(f"is not GML that can be read ({error}); save it again as GML") from None
    return _map(found, unit=unit)


def _map(graph: Any, *, unit: str) -> Map:
    names, positions = dict[str, str](), dict[str, places.Position]()
    for node, data in graph.nodes(data=True):
        names[str(node)] = _label(data)
        if (at := places.position(data)) is not None:
            positions[str(node)] = at
    both = not graph.is_directed()
    edges: list[Edge] = []
    for a, b, key, data in graph.edges(keys=True, data=True):
        line = int(data.pop(_LINE, 0) or str(key).split()[0])
        try:
            edges.append(edge(str(a), str(b), data, unit=unit, both=both, line=line))
        except InputError as error:
            there = f"line {line}: " if line else ""
            raise InputError(f"{there}{names[str(a)] or a} to {names[str(b)] or b}: {error}") from None
    return Map(names, edges, [], [], positions)


def _label(data: Mapping[str, Any]) -> str:
    plain = {key.lower(): value for key, value in data.items()}
    return next((str(plain[key]) for key in _LABELS if str(plain.get(key, "")).strip()), "")
