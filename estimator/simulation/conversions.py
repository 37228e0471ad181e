"""Sentences about the limits of queues that were converted, for the answer of a scenario."""

from collections.abc import Iterator

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.draws import Draws, written_name
from netcarlo.schema.limit import Level, Levels
from netcarlo.schema.readable import between

MOST = 64
"""Number of replications of which the limits are shown."""


def sentences(scenario: Scenario) -> Iterator[str]:
    """Yield a sentence for each queue limit in bytes, a time or BDPs: what it is in packets or bytes."""
    if not any(isinstance(value, Level | Levels) for _, value in fields.flat(scenario)):
        return
    numbers = np.arange(min(scenario.replications, MOST), dtype=np.int64)
    draws = Draws(scenario.seed, numbers, np.full(len(numbers), scenario.topology, np.int64))
    scenario.network.rows(scenario, draws)
    names = dict.fromkeys(map(written_name, draws.converted))
    for name in names:
        of = [one for full, one in draws.converted.items() if written_name(full) == name]
        low, high = (f(f(one.found) for one in of) for f in (min, max))
        text = between(low, high, "packets" if of[0].size is not None else "B")
        if of[0].size is not None:
            sizes = sorted({int(size) for one in of for size in (one.size.min(), one.size.max())})
            text += f" of {' to '.join(f'{size:,}' for size in sizes[:: max(len(sizes) - 1, 1)])} B"
        else:
            text += ", counted in bytes"
        lowest, highest = (f(f(one.values) for one in of) for f in (min, max))
        yield f"{name}: {between(lowest, highest, of[0].dimension.unit)} is {text}"
