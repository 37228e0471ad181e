"""Import topologies of the Topology Zoo and of SNDlib, run them, and compare utilisations with sums by hand.

    python -m tests.campaigns topologies FOLDER ... [--rate RATE] [--packets MOST]

The folders have files of the Topology Zoo (GraphML, such as `sources` of github.com/sk2/topologyzoo) and of
SNDlib (such as `xml` of github.com/sikorski-as/sndlib). Each file is imported, run for a second with fidelity
fluid, and run by packets if it may send at most MOST of them. In networks with demands, the utilisation of
each link is compared with the sum of the demands over its capacity, computed by NetworkX from the XML alone:
shortest paths by number of links, then by delay, then by the order of the routers. Where a link would be
overloaded, one factor is applied first: it multiplies all capacities, or divides all demands.
"""

import math
import sys
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import networkx
import numpy as np

import netcarlo
from netcarlo.errors import InputError
from netcarlo.networks.shared.topology import scenario as topology
from netcarlo.networks.shared.topology.read import read
from netcarlo.networks.shared.used import numbers
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from tests.campaigns import parser

SUFFIXES = (".graphml", ".gml", ".xml", ".txt", ".json", ".csv")
FLUID_S = 1.0
"""Duration of a run with fidelity fluid [s]; twice that with a warm-up."""
PACKETS_S = 10.0
"""Duration of a run by packets with demands."""
ROOM = 0.8
"""Utilisation of the busiest link after the factor was applied."""

LEAST = 1e-6
"""Utilisation below which a link is not compared: its time in use is counted in nanoseconds."""


class Row(NamedTuple):
    """Result of a file."""

    name: str
    routers: int = 0
    links: int = 0
    flows: int = 0
    without_rate: int = 0
    """Links that needed the default rate."""
    fluid: str = ""
    """Empty if it ran, otherwise why not."""
    packets: str = ""
    error: float | None = None
    """Largest relative difference of a utilisation from the sum by hand; None without demands."""
    packet_error: float | None = None
    """Largest difference when simulated by packets, of links with at least 1,000 packets."""
    factor: float = 1.0
    seconds: float = 0.0


def demands_of(path: Path) -> tuple[dict[tuple[str, str], list[float]], list[tuple[str, str, float]]]:
    """Return the capacities of the links and the demands in the XML of SNDlib, read independently."""
    text = path.read_text("latin-1").split("?>", 1)[-1]
    root = ElementTree.fromstring(text.replace('xmlns="http://sndlib.zib.de/network"', ""))
    capacity: dict[tuple[str, str], list[float]] = {}
    for link in root.iterfind("networkStructure/links/link"):
        found = float(link.findtext("preInstalledModule/capacity") or 0)
        found = found or float(link.findtext("additionalModules/addModule/capacity") or 0)
        capacity.setdefault((link.findtext("source") or "", link.findtext("target") or ""), []).append(found)
    demands = [
        (
            each.findtext("source") or "",
            each.findtext("target") or "",
            float(each.findtext("demandValue") or 0),
        )
        for each in root.iterfind("demands/demand")
    ]
    return capacity, [each for each in demands if each[0] != each[1] and each[2] > 0]


def by_hand(scenario: Scenario, path: Path) -> dict[tuple[str, str], float]:
    """Return the sum of the demands over the capacity of each pair of routers with a link."""
    assert scenario.shared is not None and scenario.shared.links is not None
    capacity, demands = demands_of(path)
    order = {str(name): k for k, name in enumerate(scenario.shared.routers)}
    graph = networkx.DiGraph()
    for link in scenario.shared.links:
        a, b = map(str, link.ends)
        cost = 10**12 + round(float(link.delay) * 1e9)
        graph.add_edge(a, b, weight=min(cost, graph.get_edge_data(a, b, {"weight": cost})["weight"]))
    back, load = graph.reverse(), Counter[tuple[str, str]]()
    for sink in {b for _, b, _ in demands}:
        left = networkx.single_source_dijkstra_path_length(back, sink)
        for source, _, value in (each for each in demands if each[1] == sink):
            at = source
            while at != sink:
                costs = {b: data["weight"] + left[b] for b, data in graph[at].items()}
                least = min(costs.values())
                after = min((b for b in costs if costs[b] == least), key=lambda b: order[b])
                load[at, after] += value
                at = after
    directed = all((b, a) in capacity for a, b in capacity)
    total = {
        way: sum(capacity.get(way, []) + ([] if directed else capacity.get(way[::-1], [])))
        for way in map(tuple, graph.edges)
    }
    return {way: load[way] / total[way] for way in total}


def used(found: netcarlo.Estimate, scenario: Scenario) -> dict[tuple[str, str], float]:
    """Return the mean utilisation of the links of each pair of routers, weighted by rate."""
    table = found.by_link()
    sums: dict[tuple[str, str], list[float]] = {}
    assert scenario.shared is not None and scenario.shared.links is not None
    ends = [tuple(map(str, link.ends)) for link in scenario.shared.links]
    kept = [ends[link] for link in numbers(scenario.shared)]
    ends_of = dict(zip(scenario.network.link_names(), kept, strict=True))
    for name, row in table.iterrows():
        both = sums.setdefault(ends_of[str(name)], [0.0, 0.0])
        both[0] += row["utilisation"] * row["rate_bps"]
        both[1] += row["rate_bps"]
    return {way: a / b for way, (a, b) in sums.items()}


def largest_error(
    found: netcarlo.Estimate,
    scenario: Scenario,
    hand: dict[tuple[str, str], float],
    factor: float,
    *,
    least: float,
) -> float:
    """Return the largest difference from the sums by hand, as a share of them; only sums above `least`."""
    mine = used(found, scenario)
    errors = [abs(mine.get(way, 0.0) * factor / value - 1) for way, value in hand.items() if value > least]
    unused = [mine.get(way, 0.0) for way, value in hand.items() if value == 0]
    return float(max([*errors, *unused], default=0.0))


def data_of(path: Path, rate: float) -> tuple[dict[str, Any], int]:
    """Return the scenario of a file, and the number of links that needed the default rate."""
    _, found = read(path)
    missing = sum(1 for each in found.edges if not (each.rate_bps or each.module_bps) and each.a != each.b)
    fastest = max((each.rate_bps or each.module_bps or 0.0 for each in found.edges), default=0.0)
    room = 10.0 ** math.floor(math.log10(topology.MOST_LINK_BPS / max(fastest, 1.0)))
    small = any(each.rate_bps < 2 * topology.LEAST_UDP_BPS for each in found.demands)
    scale = room if room < 1 or small else 1.0
    options = topology.Options(rate_bps=rate if missing else None, scale=scale)
    return topology.scenario(found, path.stem, options)[0], missing


def changed(data: dict[str, Any], *, factor: float = 1.0, scale: float = 1.0, **run: Any) -> dict[str, Any]:
    """Return a scenario with other fields of the run, capacities times `factor`, and all rates times
    `scale`."""

    def times(text: str, by: float) -> str:
        return f"{units.parse(text, units.RATE) * by!r} bit/s"

    links = [{**link, "rate": times(link["rate"], factor * scale)} for link in data["shared"]["links"]]

    def slower(flow: dict[str, Any]) -> dict[str, Any]:
        if "each" in flow:
            return {**flow, "each": slower(flow["each"])}
        udp = flow.get("udp")
        return {**flow, "udp": {**udp, "rate": times(udp["rate"], scale)}} if udp else flow

    flows = [slower(flow) for flow in data["shared"]["flows"]]
    return {**data, "shared": {**data["shared"], "links": links, "flows": flows}, **run}


def _first(error: InputError) -> str:
    """Return the first line of an error, and the number of the others."""
    first, *others = error.lines
    return f"{first} (and {len(others)} more)" if others else first


def examined(path: Path, *, rate: float, most: float) -> Row:
    """Import a file, run it, and compare it."""
    began, row = time.process_time(), Row(path.stem)
    try:
        data, missing = data_of(path, rate)
        scenario = Scenario.check(data)
    except InputError as error:
        return row._replace(fluid=f"import: {_first(error)}", seconds=time.process_time() - began)
    assert scenario.shared is not None and scenario.shared.links is not None
    count = len(scenario.shared.links)
    row = row._replace(
        routers=len(scenario.shared.routers), links=count, flows=scenario.shared.flow_bounds[1],
        without_rate=missing,
    )  # fmt: skip
    rates = [
        units.parse(one["udp"]["rate"], units.RATE) * flow.get("count", 1)
        for flow in data["shared"]["flows"]
        if "udp" in (one := flow.get("each", flow))
    ]
    offered = sum(rates)
    hand = by_hand(scenario, path) if path.suffix == ".xml" and rates else {}
    busiest = max(hand.values(), default=0.0)
    factor = busiest / ROOM if busiest > 0.95 else 1.0
    run = {"duration": f"{2 * FLUID_S} s", "warm_up": f"{FLUID_S} s", "replications": 1, "fidelity": "fluid"}
    try:
        fits = max(float(link.rate) for link in scenario.shared.links) * factor <= topology.MOST_LINK_BPS
        fluid = Scenario.check(changed(data, factor=factor, scale=1.0 if fits else 1 / factor, **run))
        found = netcarlo.estimate(fluid)
        if hand:
            row = row._replace(error=largest_error(found, fluid, hand, factor, least=LEAST), factor=factor)
    except InputError as error:
        row = row._replace(fluid=_first(error))
    duration = PACKETS_S if offered else 0.2
    scale = min(1.0, most * 12000 / (offered * duration)) if offered else 1.0
    fields = {
        "duration": f"{duration} s",
        "warm_up": f"{duration / 10} s",
        "replications": 1,
        "fidelity": "packet",
    }
    try:
        by_packets = Scenario.check(changed(data, factor=factor, scale=scale, **fields))
        found = netcarlo.estimate(by_packets)
        if hand:
            slowest = min(float(link.rate) for link in by_packets.shared.links)  # type: ignore
            least = 1000 * 12000 / (slowest * duration)
            row = row._replace(
                packet_error=largest_error(found, by_packets, hand, factor, least=max(least, LEAST) * factor)
            )
    except InputError as error:
        row = row._replace(packets=_first(error))
    return row._replace(seconds=time.process_time() - began)


def summary(rows: list[Row]) -> Iterator[str]:
    """Yield the counts, and the reasons why files do not run."""
    imported = [row for row in rows if not row.fluid.startswith("import: ")]
    yield f"{len(rows)} files: {len(imported)} are imported; " + ", ".join(
        f"{sum(1 for row in imported if not getattr(row, field))} run {how}"
        for field, how in (("fluid", "as fluids"), ("packets", "by packets"))
    )
    rates = Counter("none" if not row.without_rate else "all" for row in imported)
    yield f"{rates['none']} state the rates of all links"
    for row in rows:
        for how, why in (("fluid", row.fluid), ("packets", row.packets)):
            if why:
                yield f"  {row.name}, {how}: {why}"
    errors = [row.error for row in rows if row.error is not None]
    if errors:
        within = sum(1 for error in errors if error <= 0.005)
        yield f"utilisations: {within} of {len(errors)} networks within 0.5 % of the sums by hand as fluids"
        found = [row.packet_error for row in rows if row.packet_error is not None]
        within = sum(1 for error in found if error <= 0.005)
        yield f"  {within} of {len(found)} by packets, for links with at least 1,000 packets"


def main() -> int:
    """Run all files and print a row for each."""
    arguments = parser(__doc__)
    arguments.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    arguments.add_argument("--rate", default="100 Mbit/s", help="rate of links without one (%(default)s)")
    arguments.add_argument("--packets", type=float, default=2e6, help="most packets of demands (%(default)g)")
    given = arguments.parse_args()
    rate = units.parse(given.rate, units.RATE)
    files = [
        path for folder in given.folders for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES
    ]
    if not files:
        print("no files with topologies in these folders", file=sys.stderr)
        return 1
    print(
        "| network | routers | links | flows | no rate | fluid | packets | error | its error | factor | CPU |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in files:
            row = examined(path, rate=rate, most=given.packets)
            rows.append(row)
            errors = (row.error, row.packet_error)
            shown = [f"{100 * each:.3f} %" if each is not None else "" for each in errors]
            runs = " | ".join("no" if why else "yes" for why in (row.fluid, row.packets))
            print(
                f"| {row.name} | {row.routers} | {row.links} | {row.flows} | {row.without_rate} | "
                f"{runs} | {shown[0]} | {shown[1]} | "
                f"{row.factor:.3g} | {row.seconds:.1f} s |",
                flush=True,
            )
    print()
    print("\n".join(summary(rows)))
    print(f"mean CPU time {np.mean([row.seconds for row in rows]):.1f} s a file")
    return 0
