"""Construction of the rows that kernels read: one row of numbers per replication.

Random quantities are drawn by field name and replication number, so that a row depends neither on the chunk
that contains it nor on other fields that are drawn.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.scenario import Scenario
from netcarlo.schema.draws import Draws

MAX_REPLICATIONS = 2**32
"""Number of replications with independent random numbers."""


class Ensemble(NamedTuple):
    """Replications of a scenario that are ready to run."""

    rows: Any
    """Input of the kernels of the network, see `kernels.base.rows`."""
    drawn: pd.DataFrame
    """Drawn quantities in SI units, one column per dotted field name, indexed by replication."""


def build(scenario: Scenario, *, first: int = 0, replications: int | None = None) -> Ensemble:
    """Build the rows of `replications` (default: those of the scenario), numbered from `first`.

    Raises InputError.
    """
    count = scenario.replications if replications is None else replications
    if not 0 <= first <= MAX_REPLICATIONS - count:
        allowed = f"expected 0 to {MAX_REPLICATIONS - 1}"
        raise InputError(
            f"replication {first if first < 0 else first + count - 1} is out of range; {allowed}"
        )
    return build_rows(scenario, replications=np.arange(first, first + count, dtype=np.int64))


def build_rows(
    scenario: Scenario, *, replications: Ints, given: Mapping[str, Floats] | None = None
) -> Ensemble:
    """Build a row for each of the numbers `replications` [n], which may repeat.

    `given` has values in SI units, float64[n], of fields by dotted name (including `topology`), which replace
    those of the scenario. Rows of many scenarios that differ only in numbers are thus built at once.
    """
    given = given or {}
    numbers = np.asarray(replications, np.int64)
    topology = given.get("topology", np.full(len(numbers), scenario.topology)).astype(np.int64)
    draws = Draws(scenario.seed, numbers, topology, given)
    rows = scenario.network.rows(scenario, draws)
    return Ensemble(rows, pd.DataFrame(draws.drawn, index=pd.Index(numbers, name="replication")))


def features(scenario: Scenario, *, given: Mapping[str, Floats], rows: int) -> dict[str, Floats]:
    """Return features of the first path, float64[rows] each, for fields `given` as in `build_rows`.

    `n_hops`; `bottleneck_bps`, the lowest rate; `base_rtt_s`, from sending a single data packet to the
    arrival of its acknowledgement; `path_loss`, the probability that a data packet is lost at random;
    `bdp_packets`, the bandwidth-delay product. In an 802.11 network they describe the route of the first
    flow; `path_loss` is the frame error probability, and `bottleneck_bps` accounts for interframe spaces and
    acknowledgements. In an ad hoc network they describe one hop, and `path_loss` is the residual one. In a
    network of shared links they describe the first flow.
    """
    draws = Draws(scenario.seed, np.zeros(rows, np.int64), np.zeros(rows, np.int64), given)

    def rows_of() -> Any:
        every = {"topology": np.full(rows, float(scenario.topology)), **given}
        return build_rows(scenario, replications=draws.replications, given=every).rows

    return scenario.network.features(scenario, draws, rows_of)


FEATURES = ("n_hops", "bottleneck_bps", "base_rtt_s", "path_loss", "bdp_packets")
