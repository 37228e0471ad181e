"""Scenario made of a map: links between named routers, and flows by demands or between random routers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.kernels.shared.layout import MAX_HOPS, MAX_LINKS
from netcarlo.networks.shared.routers import MAX_NAME
from netcarlo.networks.shared.topology.map import Demand, Edge, Map
from netcarlo.networks.shared.topology.places import distance_km
from netcarlo.schema.document import yaml_inline, yaml_text
from netcarlo.schema.link_list import SPEED_KM_S
from netcarlo.schema.readable import counted, say

PAYLOAD, HEADER = 1472, 28
"""Payload and headers of a datagram of a demand [byte]: packets of 1,500 bytes."""
MOST_PACKETS = 3e6
"""Number of packets of a run above which demands are written with fidelity fluid."""
LEAST_UDP_BPS = 100.0
"""Minimum rate of a UDP flow [bit/s], see `transport.udp`; smaller demands are left out."""
MOST_LINK_BPS = 1e12
"""Maximum rate of a link [bit/s], see `schema.quantity.Rate`."""
MOST_UDP_BPS = 10e9
"""Maximum rate of a UDP flow [bit/s], see `transport.udp`; larger demands are several flows."""
DURATION_S = 10.0
"""Duration of a scenario with demands."""
TCP_DURATION_S = 5.0
"""Duration of a scenario with TCP downloads."""
DELAY_S = 1e-3
"""Delay of links without a delay, a length or positions."""


class Options(NamedTuple):
    """Options of the user that complete or replace what the file states."""

    rate_bps: float | None = None
    """Rate of links without one."""
    delay_s: float | None = None
    """Delay of links without one."""
    flows: int | None = None
    """Number of TCP flows between random routers, in place of demands. Default: demands, or 20 flows."""
    bundle: bool = False
    """True if parallel links are added up to one."""
    scale: float = 1.0
    """Factor of all rates and demands."""


def scenario(found: Map, name: str, options: Options) -> tuple[dict[str, Any], list[str]]:
    """Return the data of a scenario, and sentences about what was assumed. Raises InputError."""
    notes = list(found.notes)
    edges = _connected(found, _proper(found.edges, notes), notes)
    names = _names(found, edges, notes)
    edges = _with_rates(edges, names, options, notes)
    edges = _with_delays(found, edges, options, notes)
    lines = _links(edges, bundle=options.bundle, names=names, notes=notes)
    demands = [each for each in found.demands if each.source in names and each.sink in names]
    if (fastest := max(rate for _, _, rate, _ in lines) * options.scale) > MOST_LINK_BPS:
        wrong, limit = (say(each, "bit/s") for each in (fastest, MOST_LINK_BPS))
        factor = options.scale * 10 ** -math.ceil(math.log10(fastest / MOST_LINK_BPS))
        raise InputError(
            f"has a link of {wrong}; expected at most {limit}; write --scale {factor:g}, or --unit"
        )
    if options.scale != 1:
        notes.append(f"all rates and demands are multiplied by {options.scale:g} (--scale)")
    links = [
        {"ends": [names[a], names[b]], "rate": _rate(rate * options.scale), "delay": _time(delay)}
        for a, b, rate, delay in lines
    ]
    if demands and options.flows is None:
        flows, run = _by_demands(demands, names, options, notes)
    else:
        flows, run = _random([(a, b) for a, b, _, _ in lines], names, options, notes)
    return {"name": name, **run, "shared": {"links": links, "flows": flows}}, notes


def text(data: Mapping[str, Any]) -> str:
    """Return the YAML text of a scenario, with a line for each link and flow."""
    head = {name: value for name, value in data.items() if name != "shared"}
    shared = "".join(f"  {name}:\n{_items(items)}" for name, items in data["shared"].items())
    return yaml_text(head) + "shared:\n" + shared


def _items(items: Sequence[Mapping[str, Any]]) -> str:
    return "".join(f"    - {yaml_inline(item)}\n" for item in items)


def _proper(edges: Sequence[Edge], notes: list[str]) -> list[Edge]:
    """Return the edges between two different routers."""
    kept = [edge for edge in edges if edge.a != edge.b]
    if len(kept) < len(edges):
        notes.append(f"{counted(len(edges) - len(kept), 'link')} from a router to itself left out")
    if not kept:
        raise InputError("has no links between two routers; name another file")
    return kept


def _connected(found: Map, edges: list[Edge], notes: list[str]) -> list[Edge]:
    """Return the edges of the largest connected part."""
    import networkx  # the import takes 0.1 s

    graph = networkx.Graph((edge.a, edge.b) for edge in edges)
    parts = sorted(networkx.connected_components(graph), key=len, reverse=True)
    if alone := len(found.names.keys() - set(graph)):
        notes.append(f"{counted(alone, 'router')} without links left out")
    if len(parts) == 1:
        return edges
    routers = sum(map(len, parts[1:]))
    kept = [edge for edge in edges if edge.a in parts[0]]
    out = sum(1 for each in found.demands if each.source not in parts[0] or each.sink not in parts[0])
    notes.append(
        f"{len(parts)} parts are not connected: only the largest, of {len(parts[0])} routers, is used; "
        f"{counted(routers, 'router')}, {counted(len(edges) - len(kept), 'link')} and "
        f"{counted(out, 'demand')} left out"
    )
    return kept


def _names(found: Map, edges: Sequence[Edge], notes: list[str]) -> dict[str, str]:
    """Return a unique name of each router by its identifier."""
    used = dict.fromkeys(end for edge in edges for end in (edge.a, edge.b))
    labels = {node: " ".join(found.names.get(node, "").split())[: MAX_NAME - 20] or node for node in used}
    count = Counter(labels.values())
    names = {node: label if count[label] == 1 else f"{label} ({node})" for node, label in labels.items()}
    if many := sum(1 for label in labels.values() if count[label] > 1):
        example = _same(names, labels)
        notes.append(f"{many} routers share a name and have their identifier added, as in {example!r}")
    return names


def _same(names: Mapping[str, str], labels: Mapping[str, str]) -> str:
    return next(names[node] for node in names if names[node] != labels[node])


def _with_rates(
    edges: Sequence[Edge], names: Mapping[str, str], options: Options, notes: list[str]
) -> list[Edge]:
    """Return the edges with the rate of the options where they have none."""
    if options.rate_bps is None:
        if by_module := sum(1 for edge in edges if not edge.rate_bps and edge.module_bps):
            links = f"{by_module} of {counted(len(edges), 'link')} without installed capacity"
            notes.append(f"{links}: the first module that can be added (change it with --rate)")
        edges = [edge if edge.rate_bps else edge._replace(rate_bps=edge.module_bps) for edge in edges]
    missing = [edge for edge in edges if not edge.rate_bps]
    if not missing:
        return list(edges)
    first = missing[0]
    about = [f"label {first.label[:40]!r}"] if first.label else []
    about += [f"line {first.line}"] if first.line else []
    which = f"such as {names[first.a]} to {names[first.b]}" + (f" ({', '.join(about)})" if about else "")
    links = f"{len(missing)} of {counted(len(edges), 'link')}"
    if options.rate_bps is None:
        verb = "has" if len(missing) == 1 else "have"
        raise InputError(f"{links} {verb} no rate, {which}; state it, such as --rate '10 Gbit/s'")
    notes.append(f"{links} without a rate, {which}: {say(options.rate_bps, 'bit/s')} (--rate)")
    return [edge if edge.rate_bps else edge._replace(rate_bps=options.rate_bps) for edge in edges]


def _with_delays(found: Map, edges: Sequence[Edge], options: Options, notes: list[str]) -> list[Edge]:
    result, by_place, assumed = [], 0, 0
    default = DELAY_S if options.delay_s is None else options.delay_s
    for edge in edges:
        delay = edge.delay_s
        if delay is None and edge.a in found.positions and edge.b in found.positions:
            by_place += 1
            delay = distance_km(found.positions[edge.a], found.positions[edge.b]) / SPEED_KM_S
        if delay is None:
            assumed += 1
            delay = default
        result.append(edge._replace(delay_s=delay))
    total = counted(len(edges), "link")
    if by_place:
        notes.append(f"delay of {by_place} of {total}: great-circle distance at {SPEED_KM_S:,.0f} km/s")
    if assumed:
        why = "--delay" if options.delay_s is not None else "change it with --delay"
        notes.append(f"{assumed} of {total} without a delay or positions: {say(default, 's')} ({why})")
    return result


def _links(
    edges: Sequence[Edge], *, bundle: bool, names: Mapping[str, str], notes: list[str]
) -> list[tuple[str, str, float, float]]:
    """Return the links in both directions, with rate and delay."""
    ways = [(edge.a, edge.b, edge.rate_bps or 0.0, edge.delay_s or 0.0) for edge in edges]
    cables = [way for way, edge in zip(ways, edges, strict=True) if edge.both]
    single = [way for way, edge in zip(ways, edges, strict=True) if not edge.both]
    found = [link for a, b, rate, delay in cables for link in ((a, b, rate, delay), (b, a, rate, delay))]
    lacking = Counter((b, a) for a, b, _, _ in single) - Counter((a, b) for a, b, _, _ in single)
    added = []
    for a, b, rate, delay in single:
        found.append((a, b, rate, delay))
        if lacking[b, a] > 0:
            lacking[b, a] -= 1
            added.append((b, a, rate, delay))
    if len(added) == len(edges):
        notes.append(f"the file has {counted(len(added), 'directed link')}: each is used in both directions")
    elif added:
        a, b = (names[end] for end in added[0][:2])
        many = counted(len(added), "link")
        notes.append(f"{many} had no reverse link, such as {a} to {b}: added with equal rate and delay")
    count = Counter((a, b) for a, b, _, _ in found + added)
    parallel = sum(number - 1 for number in count.values() if number > 1)
    if parallel and not bundle:
        notes.append(
            f"{parallel} parallel links are kept; flows take them in turn (--bundle adds up their rates)"
        )
    if not (parallel and bundle):
        return found + added
    notes.append(f"{parallel} parallel links are added up: one link has the sum of their rates (--bundle)")
    merged: dict[tuple[str, str], tuple[float, float]] = {}
    for a, b, rate, delay in found + added:
        known, shortest = merged.get((a, b), (0.0, delay))
        merged[a, b] = (known + rate, min(shortest, delay))
    return [(a, b, *both) for (a, b), both in merged.items()]


def _by_demands(
    demands: Sequence[Demand], names: Mapping[str, str], options: Options, notes: list[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    wire = PAYLOAD + HEADER
    packets = sum(each.rate_bps for each in demands) * options.scale * DURATION_S / (8 * wire)
    fluid = packets > MOST_PACKETS
    notes.append(
        f"{counted(len(demands), 'demand')}: constant-rate UDP in packets of {wire:,} bytes, headers "
        "included in the demand, on shortest paths by number of links"
    )
    flows: list[dict[str, Any]] = []
    divided = 0
    small = [each for each in demands if each.rate_bps * options.scale * PAYLOAD / wire < LEAST_UDP_BPS]
    if small:
        share = sum(each.rate_bps for each in small) / sum(each.rate_bps for each in demands)
        limit = say(LEAST_UDP_BPS, "bit/s")
        few = f"{counted(len(small), 'demand')} below {limit} left out"
        notes.append(f"{few} ({share:.2g} of the traffic; --scale raises all)")
        demands = [each for each in demands if each not in set(small)]
    if not demands:
        raise InputError("has only demands below 100 bit/s; raise --scale, or state --unit")
    for each in demands:
        rate = each.rate_bps * options.scale * PAYLOAD / wire
        parts = math.ceil(rate / MOST_UDP_BPS)
        divided += parts > 1
        rate /= parts
        udp = {"rate": _rate(rate), "payload": f"{PAYLOAD} B", "header": f"{HEADER} B"}
        if not fluid and rate > 8 * PAYLOAD:  # gaps below 1 s
            udp["jitter"] = "10 %"
        flow = {"source": names[each.source], "sink": names[each.sink], "udp": udp}
        flows.append(flow if parts == 1 else {"count": parts, "each": flow})
    if divided:
        limit = say(MOST_UDP_BPS, "bit/s")
        notes.append(f"{counted(divided, 'demand')} above {limit}: several flows with equal rates")
    run: dict[str, Any] = {"duration": f"{DURATION_S:g} s", "warm_up": "1 s", "replications": 1}
    if fluid:
        run["fidelity"] = "fluid"
        million = packets / 1e6
        notes.append(
            f"{million:,.0f} million packets would be sent: fidelity fluid; for packets lower all rates, "
            f"such as --scale {10 ** -math.ceil(math.log10(packets / MOST_PACKETS)):g}"
        )
    return flows, run | {"transport": {"protocol": "newreno"}}


def _random(
    lines: Sequence[tuple[str, str]], names: Mapping[str, str], options: Options, notes: list[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    import networkx  # the import takes 0.1 s

    count = 20 if options.flows is None else options.flows
    run: dict[str, Any] = {
        "duration": f"{TCP_DURATION_S:g} s", "warm_up": "1 s", "replications": 10,
        "transport": {"protocol": "newreno", "window": "256 packets"},
    }  # fmt: skip
    graph = networkx.DiGraph(lines)
    hops = {a: networkx.single_source_shortest_path_length(graph, a) for a in graph}
    pairs = [(a, b) for a in graph for b in graph if a != b and hops[a][b] <= MAX_HOPS]
    what = f"{counted(count, 'TCP download')} (NewReno, window 256 packets)"
    if len(pairs) == len(graph) * (len(graph) - 1) and len(lines) <= MAX_LINKS:
        notes.append(f"{what} between random routers, drawn for every replication (--flows)")
        return [{"count": count, "each": {"between": "random"}}], run
    draw = networkx.utils.create_py_random_state(1)
    chosen = [draw.choice(pairs) for _ in range(count)]
    notes.append(f"{what} between routers drawn once, at most {MAX_HOPS} links apart (--flows)")
    if 2 * sum(hops[a][b] for a, b in chosen) > MAX_LINKS:  # both directions of each link may be used
        run["fidelity"] = "fluid"
        notes.append(f"these may use more than {MAX_LINKS:,} links: fidelity fluid")
    return [{"source": names[a], "sink": names[b]} for a, b in chosen], run


def _rate(bps: float) -> str:
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= size:
            return f"{bps / size:.10g} {unit}"
    return f"{bps:.10g} bit/s"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.6g} ms"
