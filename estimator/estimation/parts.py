"""Mean outcomes of each link and each flow of an estimate, for networks whose links and flows have names."""

from typing import Any

import numpy as np
import pandas as pd

from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import Outcomes

SHOWN = {
    "links": ("utilisation", "drop_ratio", "mean_queue", "longest_wait_s"),
    "flows": ("goodput_bps", "mean_rtt_s", "sent", "retransmitted", "drops_queue", "completion_s"),
}
"""Outcomes of links and flows in tables."""

_AT_ONCE = 1 << 25
"""Size of the output of the replications that are evaluated at a time [numbers]."""


def tables(scenario: Scenario, outcomes: Outcomes) -> dict[str, pd.DataFrame]:
    """Return the means over all replications, with a row per link (busiest first) and a row per flow.

    Empty for networks whose links have no names (random topologies, paths, wireless networks), and for
    formulae.
    Links have their `rate_bps`, which is infinite if it varies. Flows are missing if their number is random.
    """
    network, n = scenario.network, len(outcomes.frame)
    width = outcomes.integers.shape[1] if outcomes.integers.ndim > 1 else 0
    if not width or not n:
        return {}
    size, sums, counts = max(1, _AT_ONCE // width), dict[str, Any](), dict[str, Any]()
    names: dict[str, list[str]] = {}
    for first in range(0, n, size):
        integers = outcomes.integers[first : first + size]
        rows = build(scenario, first=first, replications=len(integers)).rows
        names = names or network.part_names(rows)
        for part in names:
            found = network.by_part(part, integers, rows)
            values = {name: found[name] for name in SHOWN[part] if name in found}
            if part == "links" and (load := network.offered(rows)) is not None:
                values = {"rate_bps": load.capacity, **values}
            for name, each in values.items():
                there = ~np.isnan(np.asarray(each, np.float64))
                key = f"{part}.{name}"
                sums[key] = sums.get(key, 0.0) + np.where(there, each, 0.0).sum(axis=0)
                counts[key] = counts.get(key, 0) + there.sum(axis=0)
    return {part: _table(part, labels, sums, counts) for part, labels in names.items()}


def _table(part: str, names: list[str], sums: dict[str, Floats], counts: dict[str, Floats]) -> pd.DataFrame:
    size, columns = len(names), {}
    for key, total in sums.items():
        of, _, name = key.partition(".")
        if of == part:
            count = counts[key][:size]
            columns[name] = np.where(count > 0, total[:size] / np.maximum(count, 1), np.nan)
    table = pd.DataFrame(columns, index=pd.Index(names, name=part.removesuffix("s")))
    return table.sort_values("utilisation", ascending=False, kind="stable") if part == "links" else table
