"""One row of `SharedRows`, taken apart into plain Python."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.shared.layout import MAX_HOPS, Flow, Link, Shared, SharedRows
from tests.twins.random_numbers import Streams

NEVER_LOSES = 0xFFFFFFFF


def named(values: Any, *columns: Any) -> Any:
    """Values as attributes named like their columns, plain integers."""
    return SimpleNamespace(
        **{c.name: int(values[c]) for table in columns for c in table if c.name != "COLUMNS"}
    )


class Tables:
    """`p` of the row, its flows and links, and its random numbers."""

    def __init__(self, rows: SharedRows, row: int) -> None:
        self.p = named(rows.parameters[row], P, Shared)
        self.flows = [self._flow(rows.flows[row, f]) for f in range(self.p.FLOWS)]
        self.links = [named(rows.links[row, number], Link) for number in range(self.p.LINKS)]
        ends = rows.links[row, :, Link.COLUMNS :].reshape(rows.links.shape[1], -1, 2)
        self.pairs = [list(map(tuple, table)) for table in ends.tolist()]  # of what varies
        self.constants = [int(value) for value in rows.constants[row]]
        self.losses = [[int(word) for word in digits] for digits in rows.losses]
        self.streams = Streams(self.p.SEED, self.p.SCENARIO, self.p.REPLICATION)

    def _flow(self, line: Any) -> Any:
        """The columns of `P` are those of the flow, but for the ones that hold for the whole row."""
        flow = named(line, P, Flow)
        for name in ("SEED", "SCENARIO", "REPLICATION", "END"):
            setattr(flow, name, getattr(self.p, name))
        flow.route = [int(line[Flow.ROUTE + k]) for k in range(flow.HOPS)]
        flow.detours = None
        if at := flow.BACKUP:
            hops, back_hops, routes = int(line[at]), int(line[at + 1]), line[at + 2 : at + 2 + 2 * MAX_HOPS]
            flow.backup = [int(link) for link in routes[:hops]]
            flow.backup_back = [int(link) for link in routes[MAX_HOPS : MAX_HOPS + back_hops]]
            count, *times = (int(word) for word in line[at + 2 + 2 * MAX_HOPS :])
            flow.detours = [(times[2 * k], times[2 * k + 1]) for k in range(count)]
        flow.back = [int(line[Flow.BACK + k]) for k in range(flow.BACK_HOPS)]
        return flow

    def gaps(self, stream: int, row: int) -> Iterator[int] | None:
        """Packets between losses; None where nothing is ever lost."""
        thresholds = self.losses[row]
        return None if thresholds[-1] == NEVER_LOSES else self.streams.gaps(stream, thresholds)
