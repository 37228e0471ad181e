"""States of the year: what a run at a random moment of it observes of hops and cables that fail rarely.

Each hop or cable is up, fails, is down, or is repaired during the run (`networks.rare.PARTS`), independently
of the others. Strata are: all up; one of them in each of the other parts; and several at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcarlo.networks.rare import PARTS, Rare
from netcarlo.scenario import Scenario
from netcarlo.schema.quantity import bounds

UP = PARTS[0]
ALL_UP, SEVERAL = "all up", "several at once"
_WORDS = {"failure": "fails", "down": "down", "repair": "repaired"}


@dataclass(frozen=True)
class State:
    """Stratum of the year."""

    name: str
    """Name in tables: `cable 0 (A to B) down`."""
    share: float
    """Share of the year."""
    parts: tuple[str, ...] | None
    """Part of each hop or cable; None if several are not up, so that their parts are drawn."""


class Year:
    """Partition of the year by the parts of some hops or cables."""

    def __init__(self, rare: Sequence[Rare], duration_s: float) -> None:
        """Divide the year for runs that observe a time `duration_s`."""
        self.rare, self.duration_s = rare, duration_s
        self._shares = [each.outages.shares(duration_s) for each in rare]
        self._others = _more(np.array([sum(shares[part] for part in _WORDS) for shares in self._shares]))
        self.states = [*self._singles()]
        if len(rare) > 1:
            self.states.append(State(SEVERAL, float(self._others[0][2]), None))

    @classmethod
    def of(cls, scenario: Scenario) -> "Year":
        """Return the year of a scenario whose cables that fail on their own have records of their own
        (`Network.one_by_one`)."""
        network = scenario.network
        return cls(network.rare_outages(), bounds(scenario.duration)[1] + network.before_s)

    def scenario(self, scenario: Scenario, parts: Sequence[str]) -> Scenario:
        """Return the scenario in which each hop or cable is in one part of the year."""
        fields = {f"{each.field}.during": part for each, part in zip(self.rare, parts, strict=True)}
        return scenario.with_values(fields)

    def _singles(self) -> list[State]:
        up = np.array([shares[UP] for shares in self._shares])
        found = [State(ALL_UP, float(np.prod(up)), (UP,) * len(up))]
        for i, (each, shares) in enumerate(zip(self.rare, self._shares, strict=True)):
            others = float(np.prod(np.delete(up, i)))
            for part, word in _WORDS.items():
                parts = tuple(part if k == i else UP for k in range(len(up)))
                found.append(State(f"{each.name} {word}", others * shares[part], parts))
        return found

    def drawn(self, count: int, seed: int) -> list[tuple[str, ...]]:
        """Return the parts of the first `count` runs in which several are not up, drawn by their shares."""
        rng = np.random.Generator(np.random.Philox(seed))
        return [self._draw(rng.random((len(self.rare), 2))) for _ in range(count)]

    def _draw(self, u: Any) -> tuple[str, ...]:
        # Go through the hops; each is not up with its probability, given that enough of the rest are not up.
        found, missing = [], 2
        for i, shares in enumerate(self._shares):
            off = (
                sum(shares[part] for part in _WORDS)
                * self._others[i + 1][max(missing - 1, 0)]
                / self._others[i][missing]
            )
            part = UP
            if u[i, 0] < off:
                edges = np.cumsum([shares[part] for part in _WORDS])
                part = list(_WORDS)[min(int(np.searchsorted(edges, u[i, 1] * edges[-1], "right")), 2)]
                missing = max(missing - 1, 0)
            found.append(part)
        return tuple(found)


def _more(off: Any) -> Any:
    """Return the probability [K + 1, 3] that of the hops from each on at least 0, 1 or 2 are not up; `off`
    [K] are those of each hop."""
    found = np.zeros((len(off) + 1, 3))
    found[:, 0] = 1.0
    for i in range(len(off) - 1, -1, -1):
        found[i, 1:] = off[i] * found[i + 1, :-1] + (1 - off[i]) * found[i + 1, 1:]
    return found
