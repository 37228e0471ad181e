"""Phrase that describes a scenario over paths: `NewReno over one hop (10 Mbit/s, 10 ms)`."""

from collections.abc import Sequence

from netcarlo.networks.path.description import AnyHop, Hops, Route
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.phrases import impairments, link, rate_bounds
from netcarlo.schema.quantity import bounds
from netcarlo.schema.readable import between
from netcarlo.transport.spelling import spelt

_WORDS = ("no", "one", "two", "three", "four")


def phrase(routes: Sequence[Route], mobility: Mobility | None) -> str:
    """Return paths and mobile host in a phrase."""
    each = [_hops(route.hops) for route in routes]
    paths = each[0] if len(each) == 1 else f"{count_of(len(each))} paths: {' and '.join(each)}"
    return paths if mobility is None else f"{paths} to a mobile host ({spelt(mobility.protocol)})"


def _hops(hops: Sequence[AnyHop]) -> str:
    counts = [bounds(hop.count) if isinstance(hop, Hops) else (1, 1) for hop in hops]
    lines = [hop.each if isinstance(hop, Hops) else hop for hop in hops]
    least, most = (int(sum(numbers)) for numbers in zip(*counts, strict=True))
    number = _number(least) if least == most else f"{least} to {most} hops"
    if len(lines) == 1:
        return f"{number} ({link(lines[0])}{'' if most == 1 else ' each'})"
    rates = [rate for line in lines if (rate := rate_bounds(line)) is not None]
    parts = []
    if len(rates) == len(lines):
        slowest = min(low for low, _ in rates), min(high for _, high in rates)
        parts.append(f"bottleneck {between(*slowest, 'bit/s')}")
    if len(lines) == most:
        delays = [bounds(line.delay) for line in lines]
        total = sum(low for low, _ in delays), sum(high for _, high in delays)
        parts.append(f"{between(*total, 's')} one way")
    parts += impairments(lines)
    return f"{number} ({', '.join(parts)})" if parts else number


def count_of(n: int) -> str:
    """Return a number of paths in a word."""
    return _WORDS[n]


def _number(n: int) -> str:
    word = _WORDS[n] if n < 3 else f"{n:,}"
    return f"{word} hop{'' if n == 1 else 's'}"
