"""What came of each replication: the kernel's integers, and named quantities with units.

Names end in their unit; those without one are numbers of data packets or of events, or shares.  A time
that did not happen is NaN, and so is what only mobile hosts, or other kinds of networks, have.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.networks.family import Network
from netcarlo.networks.registry import KINDS
from netcarlo.scenario import Scenario

OUTCOMES = tuple(outcome for kind in KINDS for outcome in kind.outcomes)
"""The outcomes of a replication, in the order of `Outcomes.frame`."""

BY_NAME = {outcome.name: outcome for outcome in OUTCOMES}
MEANING = {outcome.name: outcome.meaning for outcome in OUTCOMES}


class Outcomes(NamedTuple):
    """Outcomes of `n` replications."""

    integers: NDArray[np.int64]
    """What the kernel wrote, int64[n, ...], as `kernels.base.rows` and the layout of its network say; of
    formulae nothing."""
    frame: pd.DataFrame
    """A row per replication: the columns of `MEANING`, then the drawn quantities by field name."""


def outcomes(network: Network, integers: NDArray[np.int64], rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """Name the outcomes `integers` of `rows`; `drawn` (indexed by replication) is set beside them."""
    return Outcomes(integers, _frame(network.named(integers, rows), drawn))


def by_formula(scenario: Scenario, rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """The same by formulae that know the network, without integers; what they do not know is NaN."""
    return Outcomes(
        np.zeros((len(drawn), 0), np.int64), _frame(scenario.network.formula(scenario, rows), drawn)
    )


def _frame(found: dict[str, Any], drawn: pd.DataFrame) -> pd.DataFrame:
    frame = pd.DataFrame({name: found.get(name, np.nan) for name in MEANING}, index=drawn.index)
    return pd.concat([frame, drawn], axis=1)
