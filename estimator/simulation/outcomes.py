"""What came of each replication: the kernel's integers, and named quantities with units.

Names end in their unit; those without one are numbers of data packets or of events, or shares.  A time
that did not happen is NaN, and so is what only mobile hosts, or other kinds of networks, have.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.networks import classes
from netcarlo.networks.family import Network
from netcarlo.networks.outcome import Outcome, declared
from netcarlo.networks.registry import KINDS
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario

T = TypeVar("T")

OUTCOMES = tuple(outcome for kind in KINDS for outcome in declared(kind.outcomes))
"""The outcomes of a replication, in the order of `Outcomes.frame`."""


class _ByName(Mapping[str, T]):
    """Something of each outcome by its name: of `OUTCOMES`, which it lists, and of any class of flows."""

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


def of_classes(names: Iterable[str]) -> list[str]:
    """Those of the names that are outcomes of classes of flows."""
    return [name for name in names if name not in _LISTED and name in MEANING]


def ordered(names: Collection[str]) -> list[str]:
    """Return those of the names that are outcomes, in the order of a frame."""
    return [*(name for name in MEANING if name in names), *of_classes(names)]


def listed(frame: pd.DataFrame) -> list[str]:
    """Return the outcomes that a frame of them has, in order."""
    return ordered([str(name) for name in frame])


def values_of(frame: pd.DataFrame, name: str) -> Floats:
    """An outcome, [n]; NaN where the networks of a frame do not have it."""
    return frame[name].to_numpy(np.float64) if name in frame else np.full(len(frame), np.nan)


class Outcomes(NamedTuple):
    """Outcomes of `n` replications."""

    integers: NDArray[np.int64]
    """What the kernel wrote, int64[n, ...], as `kernels.base.rows` and the layout of its network say; of
    formulae nothing."""
    frame: pd.DataFrame
    """A row per replication: the outcomes of its network, those of classes of flows, then the drawn
    quantities by field name."""


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of consecutive replications as one.

    Numbers of hops may differ between parts, and with them the drawn quantities.
    """
    if len(parts) == 1:
        return parts[0]
    frame = pd.concat([part.frame for part in parts])
    return Outcomes(np.concatenate([part.integers for part in parts]), frame)


def outcomes(network: Network, integers: NDArray[np.int64], rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """Name the outcomes `integers` of `rows`; `drawn` (indexed by replication) is set beside them."""
    return Outcomes(integers, _frame(network.named(integers, rows), drawn))


def by_formula(scenario: Scenario, rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """The same by formulae that know the network, without integers; what they do not know is NaN."""
    return Outcomes(
        np.zeros((len(drawn), 0), np.int64), _frame(scenario.network.formula(scenario, rows), drawn)
    )


def _frame(found: dict[str, Any], drawn: pd.DataFrame) -> pd.DataFrame:
    frame = pd.DataFrame({name: found[name] for name in ordered(found)}, index=drawn.index)
    return pd.concat([frame, drawn], axis=1)
