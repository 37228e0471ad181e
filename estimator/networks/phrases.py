"""Phrases that describe links and flows of a scenario, from which networks compose theirs."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from netcarlo.networks.flows import Flows
from netcarlo.schema.quantity import bounds
from netcarlo.schema.readable import FRACTION, between, counted, listed, quantity
from netcarlo.transport.kinds import sender_of

MOST_KINDS = 4
"""Maximum number of kinds of flows that are named one by one."""


def link(line: Any) -> str:
    """Return the quantities of a link or hop: `10 Mbit/s, 10 ms, 0.1 % loss`."""
    rate = rate_bounds(line)
    parts = [] if rate is None else [between(*rate, "bit/s")]
    if getattr(line, "trace", None) is not None:
        parts.append("time-varying")
    if getattr(line, "delay", None) is not None:
        parts.append(quantity(line.delay, "s"))
    return ", ".join(parts + impairments([line]))


def rate_bounds(line: Any) -> tuple[float, float] | None:
    """Return the minimum and maximum rate of a link [bit/s]; None if it is unlimited or follows a trace."""
    value = getattr(line, "rate", None)
    if value is None or getattr(line, "trace", None) is not None:
        return None
    low, high = bounds(value)
    return (low, high) if math.isfinite(high) else None


def impairments(lines: Iterable[Any]) -> list[str]:
    """Return loss, loss bursts, outages, jitter and policers of links in series, each once."""
    lines = list(lines)
    losses = [bounds(line.loss) for line in lines if getattr(line, "loss", 0.0) is not None]
    low, high = (1 - math.prod(1 - loss[k] for loss in losses) for k in (0, 1))
    found = [f"{between(low, high, FRACTION)} loss"] if high > 0 else []
    if any(getattr(line, "bursts", None) is not None for line in lines):
        found.append("loss bursts")
    if any(getattr(line, "outages", None) for line in lines):
        found.append("outages")
    for name in ("jitter", "policer"):
        if any(getattr(line, name, None) is not None for line in lines):
            found.append(name)
    return found


def flows(items: Sequence[Any], transport: Any) -> str:
    """Return a list of flows by kind of sender: `16 NewReno flows and 1 UDP flow`."""
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for item in items:
        several = isinstance(item, Flows)
        records = [item] if not several else item.each if isinstance(item.each, list) else [item.each]
        titles = [sender_of(transport, record).title for record in records]
        if several and item.count is None:
            return listed([f"one {title} flow per station" for title in titles])
        low, high = bounds(item.count) if several else (1, 1)
        length = "short " if getattr(item, "arrivals", None) is not None else ""
        for title in titles:
            least[length + title] += int(low) // len(titles)
            most[length + title] += int(high) // len(titles)
    if len(most) > MOST_KINDS:
        return f"{sum(most.values()):,} flows of {len(most)} kinds"
    return listed([_number_of(f"{name} flow", least[name], most[name]) for name in most])


def _number_of(what: str, least: int, most: int) -> str:
    if what.startswith("short "):
        return f"up to {counted(most, what)}"
    return counted(most, what) if least == most else f"{least:,} to {counted(most, what)}"
