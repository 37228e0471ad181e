"""SNDlib: networks with capacities and demands as XML, in the native format, and as JSON.

The capacity of a link is what is installed; if that is 0, the first module that can be added. The unit of
capacities and demands is in the meta data. Source: S. Orlowski, R. Wessäly, M. Pióro, A. Tomaszewski, SNDlib
1.0 - Survivable Network Design Library, Networks 55 (2010); http://sndlib.zib.de.
"""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.networks.shared.topology import places
from netcarlo.networks.shared.topology.map import Demand, Edge, Map
from netcarlo.schema import units

_UNITS = {
    "BITPERSEC": 1.0, "KBITPERSEC": 1e3, "MBITPERSEC": 1e6, "GBITPERSEC": 1e9, "TBITPERSEC": 1e12,
    "STM1": 155.52e6, "STM-1": 155.52e6,
}  # fmt: skip
"""Units of the meta data [bit/s]."""


class _Link(NamedTuple):
    a: str
    b: str
    installed: float
    modules: list[float]


def xml(content: bytes, *, unit: str) -> Map:
    """Read SNDlib's XML. Raises InputError."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise InputError(f"is not XML ({error}); save it again") from None
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
    nodes = root.find("networkStructure/nodes")
    if nodes is None:
        raise InputError("is XML, but no network of SNDlib: it has no networkStructure with nodes")
    links = [
        _Link(
            _text(link, "source"), _text(link, "target"),
            _float(_text(link, "preInstalledModule/capacity") or "0"),
            [_float(each.text or "0") for each in link.findall("additionalModules/addModule/capacity")],
        )
        for link in root.iterfind("networkStructure/links/link")
    ]  # fmt: skip
    demands = [
        (_text(each, "source"), _text(each, "target"), _float(_text(each, "demandValue") or "0"))
        for each in root.iterfind("demands/demand")
    ]
    geographic = nodes.get("coordinatesType", "") != "pixel"
    places_of = {
        node.get("id", ""): (_text(node, "coordinates/x"), _text(node, "coordinates/y")) for node in nodes
    }
    return _map(places_of, links, demands, written=_text(root, "meta/unit"), unit=unit, geographic=geographic)


def native(text: str, *, unit: str) -> Map:
    """Read SNDlib's native format. Raises InputError."""
    text = re.sub(r"(?m)#.*$", "", text)
    sections = dict(re.findall(r"(?ms)^\s*([A-Z_]+)\s*\((.*?)^\)", text))
    if "NODES" not in sections or "LINKS" not in sections:
        raise InputError("is no network in SNDlib's native format: NODES ( ... ) or LINKS ( ... ) is missing")
    pattern = r"(?m)^\s*(\S+)\s*\(\s*(\S+)\s+(\S+)\s*\)"
    places_of = {name: (x, y) for name, x, y in re.findall(pattern, sections["NODES"])}
    pattern = r"(?m)^\s*\S+\s*\(\s*(\S+)\s+(\S+)\s*\)\s+(\S+)\s+\S+\s+\S+\s+\S+\s*\((.*?)\)"
    links = [
        _Link(a, b, _float(installed), [_float(each) for each in modules.split()[::2]])
        for a, b, installed, modules in re.findall(pattern, sections["LINKS"])
    ]
    pattern = r"(?m)^\s*\S+\s*\(\s*(\S+)\s+(\S+)\s*\)\s+\S+\s+(\S+)"
    demands = [(a, b, _float(value)) for a, b, value in re.findall(pattern, sections.get("DEMANDS", ""))]
    match = re.search(r"(?m)^\s*unit\s*=\s*(\S+)", sections.get("META", ""))
    return _map(places_of, links, demands, written=match[1] if match else "", unit=unit)


def is_json(data: Any) -> bool:
    """Return True if the data of a JSON file are a network of SNDlib."""
    if not isinstance(data, Mapping):
        return False
    links = data.get("links")
    return isinstance(data.get("nodes"), list) and isinstance(links, list) and bool(links)


def from_json(text: str, *, unit: str) -> Map:
    """Read SNDlib as JSON (`nodes`, `links`, `demands`, `meta`). Raises InputError."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputError(f"is not JSON ({error}); save it again") from None
    if not is_json(data):
        raise InputError("is JSON, but no network of SNDlib: write the lists nodes, links and demands")
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
        raise InputError(f"is no network of SNDlib: an item has no {error}") from None
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
    edges, added = [], 0
    for link in links:
        rate = link.installed or next((each for each in link.modules if each > 0), 0.0)
        added += not link.installed and rate > 0
        edges.append(Edge(link.a, link.b, rate * factor if rate > 0 else None))
    if added:
        many = f"{added} links have no installed capacity"
        notes.append(f"{many}: the first module that can be added is their rate")
    if edges:
        notes.append("the capacity of a link is that of each direction")
    found = [Demand(a, b, value * factor) for a, b, value in demands if a != b and value > 0]
    return Map({node: node for node in places_of}, edges, found, notes, positions)


def _factor(written: str, unit: str) -> tuple[float, list[str]]:
    """Return the unit of capacities and demands [bit/s], and a note if it was assumed."""
    if unit:
        factor = units.factor(unit, units.RATE)
        return float(factor or 1), [f"capacities and demands are in {unit} (--unit)"]
    if written.upper() in _UNITS:
        return _UNITS[written.upper()], []
    found = f"is {written}" if written else "is not stated"
    assumed = f"the unit of capacities and demands {found} and is assumed to be Mbit/s"
    return 1e6, [f"{assumed}; change it with --unit"]


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"has the value {str(value)[:40]!r} where a number is expected") from None
