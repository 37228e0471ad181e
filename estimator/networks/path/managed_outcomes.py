"""Outcomes of a path with active queue management, which the engine of shared links simulates."""

from enum import IntEnum
from functools import cached_property

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NEVER, NS, PATHS, Hop, Out, Rows
from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.shared.layout import FlowOut, LinkOut, SharedRows
from netcarlo.networks.outcome import Otherwise, Outcome, same
from netcarlo.networks.output import Seconds
from netcarlo.networks.path import outcomes
from netcarlo.networks.path.output import PathOutput
from netcarlo.numerics.arrays import Bools, Floats, Ints


class ManagedOutput(PathOutput):
    """Output of the engine of shared links for paths [n], in the columns of paths."""

    parts = {FlowOut: "flows", LinkOut: "links"}

    def __init__(self, found: SharedRows, integers: Ints | None = None) -> None:
        n = len(found.parameters)
        hops = np.zeros((n, PATHS, 0, len(Hop)), np.int64)
        outages = np.full((n, PATHS, 1, 1, 2), FOREVER, np.int64)
        parameters = found.flows[:, 0, : len(P)]
        super().__init__(Rows(parameters, found.constants, hops, outages, found.losses), integers, of=found)

    def table(self, columns: type[IntEnum]) -> Ints:
        """Return these columns [n, k, columns]; those of a path are copied from its flow, others are 0 or
        NEVER."""
        return self._path if columns is Out else super().table(columns)

    @cached_property
    def _path(self) -> Ints:
        found = np.zeros((len(self.p), 1, len(Out)), np.int64)
        found[:, :, [Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX]] = NEVER
        for column in filter(_known, Out):
            found[:, :, column] = self.table(FlowOut)[:, :, FlowOut[column.name]]
        return found

    def mean_queue(self) -> Floats:
        """Return the mean length of the longest queue in the data direction [packets]."""
        forth = self.table(LinkOut)[:, ::2]
        held: Floats = forth[:, :, LinkOut.QUEUE_SUM] + forth[:, :, LinkOut.QUEUE_SUM_HIGH] * 2.0**63
        return np.asarray(held.max(axis=1) / self.observed)

    def longest_wait_s(self) -> Floats:
        """Return the longest time that a packet waited in a queue [s]."""
        return np.asarray(self.table(LinkOut)[:, :, LinkOut.WAIT_MAX].max(axis=1) / NS)

    def no_row(self) -> Bools:
        """Condition of an outcome that is not measured."""
        return np.zeros(len(self.p), bool)


def _known(column: IntEnum) -> bool:
    """Return True if the engine of shared links has this column of a path."""
    return column.name in FlowOut.__members__


def _managed(outcome: Outcome) -> Outcome:
    """Return the declaration of an outcome of a path for paths with queue management."""
    column = outcome.column.column if isinstance(outcome.column, Seconds) else outcome.column
    if isinstance(column, Out) and not _known(column) and outcome.when is None:
        return outcome._replace(when=ManagedOutput.no_row, otherwise=Otherwise.COMPUTED)
    return outcome


OUTCOMES = (
    *(_managed(outcome) for outcome in outcomes.OUTCOMES if outcome.name != "mean_queue"),
    same("mean_queue", ManagedOutput.mean_queue),
    same("longest_wait_s", ManagedOutput.longest_wait_s),
    same("marked", FlowOut.MARKED),
)
"""Outcomes of a path with queue management. First and last delivery, and effects of outages, are not
measured."""
