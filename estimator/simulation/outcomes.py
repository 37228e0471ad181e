"""Outcomes of replications: the integers of a kernel, and named quantities with units.

Names end in their unit; those without a unit are numbers of data packets or events, or shares. A time of an
event that did not occur is NaN, as is an outcome that a kind of network does not have.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.networks import classes
from netcarlo.networks.family import Network
from netcarlo.networks.outcome import Outcome, declared
from netcarlo.networks.registry import NETWORKS
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario

T = TypeVar("T")

OUTCOMES = tuple(outcome for network in NETWORKS for outcome in declared(network.outcomes))
"""Outcomes of a replication, in the order of `Outcomes.frame`."""


class _ByName(Mapping[str, T]):
    """A property of each outcome by name, including outcomes of classes of flows, which are not listed."""

    def __init__(self, of: Callable[[Outcome], T]) -> None:
        self._of = of
        self._known = {outcome.name: of(outcome) for outcome in OUTCOMES}

    def __getitem__(self, name: str) -> T:
        if name in self._known:
            return self._known[name]
        if (found := classes.outcome(name)) is None:
            raise KeyError(name)
        return self._of(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


BY_NAME = _ByName(lambda outcome: outcome)
MEANING = _ByName(lambda outcome: outcome.meaning)
_LISTED = frozenset(MEANING)


def declarations(network: Network) -> dict[str, Outcome]:
    """Return the outcomes of a network by name, in the order of a frame.

    An outcome without a cause or a place of losses of its own has that of the kind of network that declares
    it.
    """
    own = {outcome.name: outcome for outcome in network.outcomes}
    return {
        name: first._replace(cause=own[name].cause or first.cause, lost=own[name].lost or first.lost)
        for name, first in BY_NAME.items()
        if name in own
    }


def of_classes(names: Iterable[str]) -> list[str]:
    """Return the names that are outcomes of classes of flows."""
    return [name for name in names if name not in _LISTED and name in MEANING]


def check_threshold(name: str, value: float) -> None:
    """Raise InputError if `value` is no share, and the outcome of this name is one."""
    if BY_NAME[name].values.most == 1.0 and not 0.0 <= value <= 1.0:
        raise InputError(f"{name} is a share from 0 to 1, not {value:g}; write 0.99 or 99 %")


def ordered(names: Collection[str]) -> list[str]:
    """Return the names that are outcomes, in the order of a frame."""
    return [*(name for name in MEANING if name in names), *of_classes(names)]


def listed(frame: pd.DataFrame) -> list[str]:
    """Return the outcomes in a frame, in order."""
    return ordered([str(name) for name in frame])


def values_of(frame: pd.DataFrame, name: str) -> Floats:
    """Return an outcome [n]; NaN if the network of the frame does not have it."""
    return frame[name].to_numpy(np.float64) if name in frame else np.full(len(frame), np.nan)


class Outcomes(NamedTuple):
    """Outcomes of the replications of a scenario: a table, and the output of the kernel."""

    integers: NDArray[np.int64]
    """Output of the kernel, int64[n, ...], see `kernels.base.rows` and the layout of the network; empty
    for formulae."""
    frame: pd.DataFrame
    """One row per replication: outcomes of the network, outcomes of classes of flows, then drawn
    quantities by field."""


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of consecutive replications as one.

    Numbers of hops, and thus the drawn quantities, may differ between parts.
    """
    if len(parts) == 1:
        return parts[0]
    frame = pd.concat([part.frame for part in parts])
    return Outcomes(np.concatenate([part.integers for part in parts]), frame)


def outcomes(network: Network, integers: NDArray[np.int64], rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """Return the named outcomes of `integers` of `rows`, with the quantities `drawn` (indexed by
    replication)."""
    return Outcomes(integers, _frame(network.named(integers, rows), drawn))


def by_formula(scenario: Scenario, rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """Return the outcomes by formulae, without integers; outcomes that the formulae do not have are NaN."""
    return Outcomes(
        np.zeros((len(drawn), 0), np.int64), _frame(scenario.network.formula(scenario, rows), drawn)
    )


def _frame(found: dict[str, Any], drawn: pd.DataFrame) -> pd.DataFrame:
    frame = pd.DataFrame({name: found[name] for name in ordered(found)}, index=drawn.index)
    return pd.concat([frame, drawn], axis=1)
