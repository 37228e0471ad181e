"""SNDlib: networks with capacities and demands as XML, in the native format, and as JSON.

The capacity of a link is what is installed; if that is 0, the first module that can be added is assumed. The
unit of capacities and demands is in the meta data. Source: S. Orlowski, R. Wessäly, M. Pióro, A. Tomaszewski,
SNDlib 1.0 - Survivable Network Design Library, Networks 55 (2010); http://sndlib.zib.de.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.networks.shared.topology import places
from netcarlo.networks.shared.topology import xml as lines_of_xml
from netcarlo.networks.shared.topology.map import Demand, Edge, Map
from netcarlo.schema import units

_UNITS = {
    "BITPERSEC": 1.0, "KBITPERSEC": 1e3, "MBITPERSEC": 1e6, "GBITPERSEC": 1e9, "TBITPERSEC": 1e12,
    "STM1": 155.52e6, "STM-1": 155.52e6,
}  # fmt: skip
"""Units of the meta data [bit/s]; `BITSPERSEC` is also written."""


class _Link(NamedTuple):
    a: str
    b: str
    installed: float
    modules: list[float]
    line: int = 0


def xml(content: bytes, *, unit: str) -> Map:
    """Read SNDlib's XML. Raises InputError with the line."""
    root, lines = lines_of_xml.parse(content)
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
    nodes = root.find("networkStructure/nodes")
    if nodes is None:
        raise InputError("is XML, but not a network of SNDlib: it has no networkStructure with nodes")

    def number(element: ElementTree.Element, path: str) -> float:
        return _float(_text(element, path) or "0", lines[element])

    links = [
        _Link(
            _text(link, "source"), _text(link, "target"), number(link, "preInstalledModule/capacity"),
            [number(each, "capacity") for each in link.findall("additionalModules/addModule")],
            lines[link],
        )
        for link in root.iterfind("networkStructure/links/link")
    ]  # fmt: skip
    demands = [
        (_text(each, "source"), _text(each, "target"), number(each, "demandValue"))
        for each in root.iterfind("demands/demand")
    ]
    geographic = nodes.get("coordinatesType", "") != "pixel"
    places_of = {
        node.get("id", ""): (_text(node, "coordinates/x"), _text(node, "coordinates/y")) for node in nodes
    }
    return _map(places_of, links, demands, written=_text(root, "meta/unit"), unit=unit, geographic=geographic)


_ENDS = r"\s*(\S+)\s*\(\s*(\S+)\s+(\S+)\s*\)\s*"
_NATIVE = {
    "NODES": (re.compile(rf"{_ENDS}|\s*(\S+)\s*"), "a node such as: Bern ( 7.4 46.9 )"),
    "LINKS": (
        re.compile(rf"{_ENDS}(\S+)\s+\S+\s+\S+\s+\S+\s*\(([^)]*)\)\s*"),
        "a link such as: L1 ( Bern Oslo ) 40.0 0.0 0.0 0.0 ( 10.0 1.0 )",
    ),
    "DEMANDS": (
        re.compile(rf"{_ENDS}\S+\s+(\S+)\s*\S*\s*"),
        "a demand such as: D1 ( Bern Oslo ) 1 5.0 UNLIMITED",
    ),
}
"""Pattern of the lines of a section of the native format, and what is expected."""


def native(text: str, *, unit: str) -> Map:
    """Read SNDlib's native format. Raises InputError with the line."""
    found: dict[str, list[tuple[int, re.Match[str]]]] = {name: [] for name in _NATIVE}
    section, written = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.partition("#")[0].strip()
        if match := re.fullmatch(r"([A-Z_]+)\s*\(", line):
            section = match[1]
        elif line == ")":
            section = ""
        elif section == "META" and (match := re.fullmatch(r"unit\s*=\s*(\S+)", line)):
            written = match[1]
        elif section in _NATIVE and line:
            pattern, expected = _NATIVE[section]
            if (match := pattern.fullmatch(line)) is None:
                raise InputError(f"line {number}: {line[:40]!r} is not {expected}")
            found[section].append((number, match))
    if not found["NODES"] or not found["LINKS"]:
        raise InputError("is not a network of SNDlib: NODES ( ... ) or LINKS ( ... ) is missing")
    places_of = {match[1] or match[4]: (match[2] or "", match[3] or "") for _, match in found["NODES"]}
    links = [
        _Link(
            match[2], match[3], _float(match[4], number),
            [_float(each, number) for each in match[5].split()[::2]], number,
        )
        for number, match in found["LINKS"]
    ]  # fmt: skip
    demands = [(match[2], match[3], _float(match[4], number)) for number, match in found["DEMANDS"]]
    return _map(places_of, links, demands, written=written, unit=unit)


def is_json(data: Any) -> bool:
    """Return True if the data of a JSON file are a network of SNDlib."""
    if not isinstance(data, Mapping):
        return False
    links = data.get("links")
    return isinstance(data.get("nodes"), list) and isinstance(links, list) and bool(links)


def from_json(data: Any, *, unit: str) -> Map:
    """Return the map in JSON data of SNDlib (`nodes`, `links`, `demands`, `meta`; `is_json` is true).

    Raises InputError.
    """
    try:
        places_of = {
            str(node["id"]): (str(node.get("longitude", "")), str(node.get("latitude", "")))
            for node in data["nodes"]
        }
        links = [
            _Link(
                str(link["source"]), str(link["target"]), _float(link.get("pre_installed_capacity", 0)),
                [_float(module["module_capacity"]) for module in link.get("modules", [])],
            )
            for link in data["links"]
        ]  # fmt: skip
        demands = [
            (str(each["source"]), str(each["target"]), _float(each["demand_value"]))
            for each in data.get("demands", [])
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is not a network of SNDlib: an item has no {error}") from None
    written = str(data.get("meta", {}).get("unit", "")) if isinstance(data.get("meta", {}), Mapping) else ""
    return _map(places_of, links, demands, written=written, unit=unit)


def _map(
    places_of: Mapping[str, tuple[str, str]],
    links: Iterable[_Link],
    demands: Iterable[tuple[str, str, float]],
    *, written: str, unit: str, geographic: bool = True,
) -> Map:  # fmt: skip
    factor, notes = _factor(written, unit)
    positions = dict[str, places.Position]()
    for node, (x, y) in places_of.items():
        try:
            at = places.checked(float(y), float(x)) if geographic else None
        except ValueError:
            at = None
        if at is not None:
            positions[node] = at
    if len(positions) < len(places_of):
        positions = {}  # coordinates of a drawing
    links = list(links)
    ways = Counter((link.a, link.b) for link in links)
    paired = len(ways) > 1 and all(ways[b, a] == count for (a, b), count in ways.items())
    edges = []
    for link in links:
        module = next((each * factor for each in link.modules if each > 0), None)
        rate = link.installed * factor if link.installed > 0 else None
        edges.append(Edge(link.a, link.b, rate, module, both=not paired, line=link.line))
    if paired:
        notes.append("each link is one direction, because each has a link in the reverse direction")
    elif edges:
        notes.append("the capacity of a link applies to each direction")
    found = [Demand(a, b, value * factor) for a, b, value in demands if a != b and value > 0]
    return Map({node: node for node in places_of}, edges, found, notes, positions)


def _factor(written: str, unit: str) -> tuple[float, list[str]]:
    """Return the unit of capacities and demands [bit/s], and a note if it was assumed."""
    if unit:
        factor = units.factor(unit, units.RATE)
        return float(factor or 1), [f"capacities and demands are in {unit} (--unit)"]
    if (name := written.upper().replace("BITSPERSEC", "BITPERSEC")) in _UNITS:
        return _UNITS[name], []
    found = f"is {written}" if written else "is not stated"
    assumed = f"the unit of capacities and demands {found} and is assumed to be Mbit/s"
    return 1e6, [f"{assumed}; change it with --unit"]


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _float(value: Any, line: int = 0) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        there = f"line {line}: " if line else ""
        raise InputError(f"{there}{str(value)[:40]!r} is not a number; write one such as 2.5") from None
