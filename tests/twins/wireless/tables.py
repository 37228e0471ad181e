"""One row of `WifiRows` as plain Python objects."""

from collections.abc import Sequence
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.wireless.layout import (
    Agreement,
    Flow,
    Function,
    Leg,
    Link,
    Node,
    Radio,
    Rate,
    WifiRows,
)
from tests.twins.parameters import Parameters


def named(columns: type[IntEnum], values: Sequence[Any]) -> Any:
    """Return values as attributes named like their columns, as plain integers."""
    return SimpleNamespace(**{c.name: int(values[c]) for c in columns if c.name != "COLUMNS"})


class Tables:
    """Tables of a row: `p` of the transport, `radio` of the channel, and the others."""

    def __init__(self, rows: WifiRows, row: int) -> None:
        line = rows.parameters[row]
        self.p = named(P, line)
        self.radio = named(Radio, line)
        self._network = rows.network[row]
        self.nodes = [named(Node, rows.nodes[row, n]) for n in range(self.radio.NODES)]
        self.flows = self._table(Flow, self.radio.FLOWS_AT, self.radio.FLOWS)
        self.links = self._table(Link, self.radio.LINKS_AT, self.radio.LINKS)
        self.legs = self._table(Leg, self.radio.LEGS_AT, self.radio.LEGS)
        self.rates = self._table(Rate, self.radio.RATES_AT, self.radio.RATES)
        self.functions = self._table(Function, self.radio.FUNCTIONS_AT, self.radio.FUNCTIONS)
        self.agreements = self._table(Agreement, self.radio.AGREEMENTS_AT, self.radio.AGREEMENTS)
        at = self.radio.TRANSPORTS_AT
        self.transports = [
            self._network[at + k * len(P) : at + (k + 1) * len(P)] for k in range(len(self.flows))
        ]
        at = self.radio.OUTAGES_AT
        times = self._network[at : at + 2 * self.radio.OUTAGES].reshape(-1, 2)
        self.outages = [(int(start), int(end)) for start, end in times]
        self.constants = [int(value) for value in rows.constants[row]]
        self.losses = [[int(word) for word in digits] for digits in rows.losses]

    def path(self, first: int, count: int) -> list[int]:
        """Return link numbers: `count` entries of the paths from `first` on."""
        at = self.radio.PATHS_AT + first
        return [int(link) for link in self._network[at : at + count]]

    def errors(self, link: int) -> list[int]:
        """Return the probabilities that noise destroys an MPDU of a link, by rate [2**-32]."""
        at = self.radio.ERRORS_AT + link * self.radio.RATES
        return [int(chance) for chance in self._network[at : at + self.radio.RATES]]

    def path_agreements(self, first: int, count: int) -> list[int]:
        """Return the agreements of these entries of the paths; none without EDCA."""
        return self.path(self.radio.PATH_WORDS + first, count) if self.agreements else []

    def _table(self, columns: type[IntEnum], at: int, count: int) -> list[Any]:
        width = len(columns)
        return [named(columns, self._network[at + k * width : at + (k + 1) * width]) for k in range(count)]


class FlowParameters(Parameters):
    """Columns of `P` for one of the flows."""

    def __init__(self, rows: WifiRows, row: int, flow: Any, number: int, own: Any = None) -> None:
        """Create the columns; `own` are those of the flow's own transport."""
        super().__init__(rows, row)
        if own is not None:
            self._values |= vars(named(P, own))
        self._values |= {
            "START": flow.START, "LIMIT": flow.LIMIT, "DATA": flow.SIZE, "SHORT": flow.SHORT,
            "HEADER": flow.HEADER - self.CHUNK_HEADER,
            "CLOCK_PHASE": self.CLOCK_PHASE + 7919 * number,
        }  # fmt: skip
