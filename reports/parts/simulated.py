"""A scenario in one phrase: the protocol, the network and the duration."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from netcarlo.networks.outcome import FRACTION
from netcarlo.reports.parts import scales
from netcarlo.scenario import Scenario
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import bounds
from netcarlo.transport.kinds import sender_of

PROTOCOLS = {
    "tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas", "bic": "BIC",
    "cubic": "CUBIC", "westwood": "Westwood", "linux": "Linux", "linux26": "Linux 2.6", "bbr": "BBR",
    "bbr3": "BBRv3", "probing": "TCP Probing", "new_probing": "TCP New Probing", "elfn": "TCP-ELFN",
    "eln": "TCP with ELN", "sctp": "SCTP", "udp": "UDP", "fmipv6": "FMIPv6", "hmipv6": "HMIPv6",
    "mipv6": "MIPv6",
}  # fmt: skip
"""Protocols and congestion controls as the literature spells them."""
_WORDS = ("no", "one", "two")
WIDEST = 1e4
"""Ratio of the ends of a distribution from which on its mean says more."""
_MANY = 4
"""Kinds of flows that are named one by one."""


def simulated(scenario: Scenario, replications: int | None = None) -> str:
    """Return what a scenario simulates: `NewReno over one hop (10 Mbit/s, 10 ms), 30 s, 200 replications`."""
    parts = [_traffic_and_network(scenario), quantity(scenario.duration, "s")]
    if scenario.fidelity != "packet":
        parts.append(f"{scenario.fidelity} model")
    if replications is not None:
        parts.append(count(replications, "replication"))
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def protocol(sender: Any) -> str:
    """Return the name of a sender: `NewReno`, `Linux CUBIC`, `SCTP`."""
    name = str(sender.protocol if hasattr(sender, "protocol") else "udp")
    control = getattr(sender, "congestion_control", None)
    if control is None or name == "sack":
        return spelt(str(control)) if control is not None else spelt(name)
    return (
        f"{spelt(name)} {spelt(str(control))}" if name == "linux" else f"{spelt(name)} with {spelt(control)}"
    )


def spelt(name: str | Path) -> str:
    """Return a protocol or congestion control as the literature spells it; of a file its name."""
    return PROTOCOLS.get(str(name), Path(str(name)).name)


def count(n: int, what: str) -> str:
    """Return a number of things: `1 replication`, `2,000 replications`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def quantity(value: Any, unit: str) -> str:
    """Return a number or the range of a distribution with its unit: `10 ms`, `1 to 40 ms`."""
    low, high = bounds(value)
    if low == high or not isinstance(value, Distribution):
        return plain(scales.say(low, unit))
    if high > WIDEST * max(low, 0.0):
        return f"{plain(scales.say(value.mean(), unit))} on average"
    return _range(low, high, unit)


def plain(text: str) -> str:
    """Return a text of `scales` with commas between thousands, which can be copied from a terminal."""
    return text.replace("\N{NARROW NO-BREAK SPACE}", ",")


def _traffic_and_network(scenario: Scenario) -> str:
    if scenario.paths:
        host = ""
        if scenario.mobility is not None:
            host = f" to a mobile host ({spelt(scenario.mobility.protocol)})"
        return f"{_flow(scenario.transport)} over {_paths(scenario.paths)}{host}"
    network: Any = scenario.network
    if scenario.adhoc is not None:
        return f"{_flow(scenario.transport)} between two of {_adhoc(network)}"
    if scenario.shared is not None:
        return f"{_flows(scenario, network.flows)} over {_shared(network)}"
    return f"{_wireless_flows(scenario, network)} in {_wireless(network)}"


def _flow(transport: Any, name: str = "") -> str:
    """Return a sender with its load: `UDP at 1 Mbit/s`, `NewReno transfer of 1 MB`."""
    text = name or protocol(transport)
    size = _size(transport)
    if size:
        text += f" transfer of {size}"
    if getattr(transport, "rate", None) is not None:
        text += f" at {quantity(transport.rate, 'bit/s')}"
    if getattr(transport, "messages", None) is not None:
        text += f" with messages of {quantity(transport.messages.size, 'B')}"
    return text


def _size(sender: Any) -> str:
    if getattr(sender, "bytes", None) is not None:
        return quantity(sender.bytes, "B")
    if getattr(sender, "packets", None) is not None:
        return quantity(sender.packets, "packets")
    return ""


# Paths.


def _paths(paths: Sequence[Any]) -> str:
    if len(paths) == 1:
        return _hops(paths[0].hops)
    return "two paths: " + " and ".join(_hops(path.hops) for path in paths)


def _hops(hops: Sequence[Any]) -> str:
    counts = [bounds(hop.count) if hasattr(hop, "count") else (1, 1) for hop in hops]
    lines = [hop.each if hasattr(hop, "count") else hop for hop in hops]
    least, most = (int(sum(numbers)) for numbers in zip(*counts, strict=True))
    number = _number(least, "hop") if least == most else f"{least} to {most} hops"
    if len(lines) == 1:
        return f"{number} ({_link(lines[0])}{'' if most == 1 else ' each'})"
    rates = [rate for line in lines if (rate := _rate(line)) is not None]
    parts = []
    if len(rates) == len(lines):
        parts.append(f"bottleneck {_range(min(r[0] for r in rates), min(r[1] for r in rates), 'bit/s')}")
    delays = [bounds(line.delay) for line in lines if getattr(line, "delay", None) is not None]
    if len(delays) == len(lines) == most:
        parts.append(f"{_range(sum(d[0] for d in delays), sum(d[1] for d in delays), 's')} one way")
    parts += _troubles(lines)
    return f"{number} ({', '.join(parts)})" if parts else number


def _link(line: Any) -> str:
    """Return the quantities of one link: `10 Mbit/s, 10 ms, 0.1 % loss`."""
    traced = getattr(line, "trace", None)
    rate = _rate(line)
    parts = [] if rate is None else [_range(*rate, "bit/s")]
    if traced is not None:
        parts.append("time-varying")
    if getattr(line, "delay", None) is not None:
        parts.append(quantity(line.delay, "s"))
    return ", ".join(parts + _troubles([line]))


def _rate(line: Any) -> tuple[float, float] | None:
    value = getattr(line, "rate", None)
    if value is None or getattr(line, "trace", None) is not None:
        return None
    low, high = bounds(value)
    return (low, high) if math.isfinite(high) else None


def _troubles(lines: Iterable[Any]) -> list[str]:
    """Return loss, bursts and outages of links, each once."""
    lines = list(lines)
    losses = [bounds(line.loss) for line in lines if getattr(line, "loss", 0.0) is not None]
    low, high = (1 - math.prod(1 - loss[k] for loss in losses) for k in (0, 1))
    found = [f"{_range(low, high, FRACTION)} loss"] if high > 0 else []
    if any(getattr(line, "bursts", None) is not None for line in lines):
        found.append("loss bursts")
    if any(getattr(line, "outages", None) for line in lines):
        found.append("outages")
    for name in ("jitter", "policer"):
        if any(getattr(line, name, None) is not None for line in lines):
            found.append(name)
    return found


def _range(low: float, high: float, unit: str) -> str:
    if math.isclose(low, high, rel_tol=1e-9):
        return plain(scales.say(low, unit))
    first, last = (plain(scales.say(end, unit)) for end in (low, high))
    number, _, of_first = first.partition(" ")
    return f"{number if last.endswith(f' {of_first}') else first} to {last}"


def _number(n: int, what: str) -> str:
    word = _WORDS[n] if n < len(_WORDS) else f"{n:,}"
    return f"{word} {what}{'' if n == 1 else 's'}"


# Networks with many flows.


def _flows(scenario: Scenario, items: Sequence[Any]) -> str:
    """Return the flows by kind: `16 NewReno flows and 1 UDP flow`."""
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for item in items:
        each = item.each if hasattr(item, "each") else item
        records = each if isinstance(each, list) else [each]
        if hasattr(item, "each") and item.count is None:  # 802.11
            return _listed(
                [
                    f"one {protocol(sender_of(scenario.transport, record))} flow per station"
                    for record in records
                ]
            )
        low, high = bounds(item.count) if hasattr(item, "each") else (1, 1)
        comes = "short " if getattr(item, "arrivals", None) is not None else ""
        for record in records:
            name = comes + protocol(sender_of(scenario.transport, record))
            share = len(records)
            least[name] += int(low) // share
            most[name] += int(high) // share
    names = list(most)
    if len(names) > _MANY:
        return f"{sum(most.values()):,} flows of {len(names)} kinds"
    texts = []
    for name in names:
        if name.startswith("short "):
            texts.append(f"up to {count(most[name], f'{name} flow')}")
        elif least[name] == most[name]:
            texts.append(count(most[name], f"{name} flow"))
        else:
            texts.append(f"{least[name]:,} to {count(most[name], f'{name} flow')}")
    return _listed(texts)


def _listed(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def _shared(network: Any) -> str:
    if network.dumbbell is not None:
        return f"one shared link ({_link(network.dumbbell)})"
    if network.parking_lot is not None:
        return _cables("a parking lot of", network.parking_lot.links, "links", network.parking_lot.each)
    if network.tree is not None:
        return _cables("a random tree of", network.tree.routers, "routers", network.tree.each)
    if network.graph is not None:
        return _cables("a random graph of", network.graph.routers, "routers", network.graph.each)
    routers = {end for link in network.links for end in link.ends}
    return f"{len(network.links)} links between {len(routers)} routers"


def _cables(words: str, number: Any, what: str, each: Any) -> str:
    text = f"{words} {quantity(number, '')} {what}"
    return text if isinstance(each, list) else f"{text} ({_link(each)} each)"


def _wireless_flows(scenario: Scenario, network: Any) -> str:
    if not isinstance(network.flows, str):
        return _flows(scenario, network.flows)
    ways = {"up": "from every station", "down": "to every station", "both": "from and to every station"}
    return f"{_flow(scenario.transport)} {ways[network.flows]}"


def _wireless(network: Any) -> str:
    standard = network.standard
    rate = quantity(network.rate, "bit/s")
    if network.cell is not None:
        where = f"cell of {quantity(network.cell.stations, '')} stations"
    elif network.chain is not None:
        where = f"chain of {quantity(network.chain.hops, '')} hops"
    elif network.tree is not None:
        where = f"tree of {quantity(network.tree.stations, '')} stations"
    elif network.area is not None:
        where = f"mesh of {quantity(network.area.stations, '')} stations at random places"
    else:
        where = f"network of {len(network.places or network.nodes or ())} nodes"
    return f"an {standard} {where} ({rate})"


def _adhoc(network: Any) -> str:
    number = quantity(network.all_nodes, "")
    moves = {"static": "fixed"}.get(network.mobility.model, "moving")
    width, height = network.sides
    low, high = bounds(width)[0], bounds(height)[0]
    area = (
        "" if math.isnan(low) or math.isnan(high) else f"{quantity(width, 'm')} x {quantity(height, 'm')}, "
    )
    return f"{number} {moves} nodes ({area}range {quantity(network.range, 'm')}, {network.routing.upper()})"
