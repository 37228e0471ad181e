"""One row of `SharedRows` as plain Python objects."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from netcarlo.kernels.base.parameters import P, QuicP, Rfc9260P
from netcarlo.kernels.shared.layout import Flow, Link, Shared, SharedRows
from tests.twins.random_numbers import Streams

NEVER_LOSES = 0xFFFFFFFF


def named(values: Any, *columns: Any) -> Any:
    """Return values as attributes named like their columns, as plain integers."""
    return SimpleNamespace(
        **{c.name: int(values[c]) for table in columns for c in table if c.name != "COLUMNS"}
    )


def _parts(words: list[int], first: int, second: int) -> tuple[list[int], list[int], list[int]]:
    """Return the first words, the next words, and the rest."""
    return words[:first], words[first : first + second], words[first + second :]


class Tables:
    """Tables of a row: `p`, its flows and links, and its random numbers."""

    def __init__(self, rows: SharedRows, row: int) -> None:
        self.p = named(rows.parameters[row], P, Shared)
        self.flows = [self._flow(rows.flows[row, f]) for f in range(self.p.FLOWS)]
        self.links = [named(rows.links[row, number], Link) for number in range(self.p.LINKS)]
        ends = rows.links[row, :, Link.COLUMNS :].reshape(rows.links.shape[1], -1, 2)
        self.pairs = [list(map(tuple, table)) for table in ends.tolist()]  # of time-varying links
        self.constants = [int(value) for value in rows.constants[row]]
        self.losses = [[int(word) for word in digits] for digits in rows.losses]
        self.streams = Streams(self.p.SEED, self.p.SCENARIO, self.p.REPLICATION)

    def _flow(self, line: Any) -> Any:
        """Return the columns of a flow; those of `P` that apply to the whole row come from the row."""
        flow = named(line, P, QuicP, Rfc9260P, Flow)
        for name in ("SEED", "SCENARIO", "REPLICATION", "END"):
            setattr(flow, name, getattr(self.p, name))
        words = [int(word) for word in line]
        flow.route, flow.back, _ = _parts(words[Flow.COLUMNS :], flow.HOPS, flow.BACK_HOPS)
        flow.detours = None
        if at := flow.BACKUP:
            hops, back_hops, count = words[at : at + 3]
            flow.backup, flow.backup_back, times = _parts(words[at + 3 :], hops, back_hops)
            flow.detours = [(times[2 * k], times[2 * k + 1]) for k in range(count)]
        return flow

    def gaps(self, stream: int, row: int) -> Iterator[int] | None:
        """Return the numbers of packets between losses; None without losses."""
        thresholds = self.losses[row]
        return None if thresholds[-1] == NEVER_LOSES else self.streams.gaps(stream, thresholds)
