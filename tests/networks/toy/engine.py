"""Rows and kernel of datagrams over one lossy line."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import STATUS_OK
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import Table


class Line(IntEnum):
    """Line: last axis of `ToyRows.lines`."""

    INTERVAL = 0  # from one datagram to the next [ns]
    DELAY = 1  # [ns]
    LOSS = 2  # row of `losses`
    COLUMNS = 3


class ToyOut(IntEnum):
    """Outcomes of a row."""

    STATUS = 0
    SENT = 1
    ARRIVED = 2
    LOST = 3
    COLUMNS = 4


STREAM_LINE = 1 << 20  # draw k: gap to its next lost datagram


class ToyRows(NamedTuple):
    """One row per replication, `n` in all."""

    parameters: NDArray[np.int64]  # [n, len(P)]
    constants: NDArray[np.float64]  # [n, 0]
    lines: NDArray[np.int64]  # [n, 1, Line.COLUMNS]
    nothing: NDArray[np.int64]  # [n, 1]
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """Return the filling values, see `rows`."""
        return 0, 0, 0, 0

    def renumbered(self, line: NDArray[np.int64]) -> "ToyRows":
        """Return rows with renumbered lines of `losses`, see `rows`."""
        lines = self.lines.copy()
        lines[:, :, Line.LOSS] = line[lines[:, :, Line.LOSS]]
        return self._replace(lines=lines)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """Return no tables, see `rows`."""
        return ToyOut.COLUMNS, ()


def outcomes(rows: ToyRows) -> int:
    """Return the number of outcome columns of `rows`."""
    return int(ToyOut.COLUMNS)


def scratch_words(rows: ToyRows) -> tuple[int, int]:
    """Return no words: the engine has no state."""
    return 1, 1


def simulate(
    p: Any, constants: Any, lines: Any, nothing: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    line, lost, now = lines[0], np.int64(0), p[RowP.START]
    seed, scenario, replication = p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION]
    left = gap(losses, line[Line.LOSS], seed, scenario, replication, STREAM_LINE, lost)
    while now < p[RowP.END] and out[ToyOut.SENT] < p[RowP.LIMIT]:
        out[ToyOut.SENT] += 1
        if left == 0:
            lost += 1
            left = gap(losses, line[Line.LOSS], seed, scenario, replication, STREAM_LINE, lost)
        else:
            left -= 1
            if now + line[Line.DELAY] <= p[RowP.END]:
                out[ToyOut.ARRIVED] += 1
        now += line[Line.INTERVAL]
    out[ToyOut.LOST] = lost
    out[ToyOut.STATUS] = STATUS_OK
    return 0
