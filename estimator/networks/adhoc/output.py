"""Output of the engine of ad hoc networks, from which outcomes are computed."""

from enum import IntEnum
from functools import cached_property

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet, ManetOut, ManetRows, NodeOut
from netcarlo.kernels.base.layout import ENDLESS, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import split
from netcarlo.networks.output import Output
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors


class Power(IntEnum):
    """Columns of `ManetRows.parameters` after those of the engine, which does not read them."""

    TRANSMIT = Manet.COLUMNS  # [uW]
    RECEIVE = Manet.COLUMNS + 1
    OVERHEAR = Manet.COLUMNS + 2
    IDLE = Manet.COLUMNS + 3
    BATTERY = Manet.COLUMNS + 4  # [uJ]; 0: none


LOST = ManetOut.DROPS_QUEUE, ManetOut.DROPS_ROUTE, ManetOut.DROPS_BUFFER, ManetOut.DROPS_RANDOM
"""Columns that count lost data packets."""


class AdhocOutput(Output):
    """Rows [n] of ad hoc networks and the engine's output for their N nodes."""

    parts = {NodeOut: "nodes"}
    rows: ManetRows

    @property
    def nodes(self) -> Ints:
        """Number of nodes [n]."""
        return self.p[:, Manet.NODES]

    @cached_property
    def completed(self) -> Bools:
        """True where all packets of a finite transfer have arrived [n]."""
        return self[ManetOut.COMPLETED] >= 0

    @property
    def finished(self) -> Bools:
        """True where all packets of a finite transfer are acknowledged [n]."""
        return self[ManetOut.FINISHED] >= 0

    @cached_property
    def active_s(self) -> Floats:
        """Time from the start of the flow to its completion, or to the end [n] [s]."""
        end = np.where(self.completed, self[ManetOut.COMPLETED], self[ManetOut.ELAPSED])
        return divisors(end - self.p[:, RowP.START]) / NS

    @property
    def short_bits(self) -> Floats:
        """Payload by which the last packet of a complete transfer is short [n] [bit]."""
        return np.where(self.completed, 8.0 * self.p[:, RowP.SHORT], 0.0)

    def transfer_s(self) -> Floats:
        """Return the time from the start of the flow to the last acknowledgement [n] [s]; NaN without it."""
        return np.where(self.finished, (self[ManetOut.FINISHED] - self.p[:, RowP.START]) / NS, np.nan)

    @property
    def time_us(self) -> Floats:
        """Length of the run [n] [us]."""
        return divisors(self[ManetOut.ELAPSED] // 1000)

    @property
    def connected_us(self) -> Floats:
        """Time with a path between source and sink [n] [us]."""
        return divisors(self[ManetOut.CONNECTED])

    @cached_property
    def joules(self) -> Floats:
        """Energy that each node drew [n, N] [J]."""
        return energy_J(self.integers, self.rows)

    def of_node(self, values: Floats, column: Manet) -> Floats:
        """Return the values [n, N] of the node whose number is this parameter [n]."""
        return np.asarray(values[np.arange(len(values)), self.p[:, column]])

    # Conditions [n].

    def finite(self) -> Bools:
        """Return True where the transfer is finite."""
        return self.p[:, RowP.LIMIT] < ENDLESS

    def powered(self) -> Bools:
        """Return True where a radio consumes power."""
        powers = [Power.TRANSMIT, Power.RECEIVE, Power.OVERHEAR, Power.IDLE]
        return np.asarray((self.p[:, powers] > 0).any(axis=1))

    def has_battery(self) -> Bools:
        """Return True where nodes have a battery."""
        return self.p[:, Power.BATTERY] > 0


def tables(integers: Ints, rows: ManetRows) -> Ints:
    """Return the outcomes by node, [n, N, NodeOut.COLUMNS], in the integers [n, ...] of `rows`.

    Those of nodes that a row does not have are zero.
    """
    return split(integers, rows)["nodes"]


def states_s(integers: Ints, rows: ManetRows) -> dict[str, Floats]:
    """Return the time of each node in each state of its radio, [n, N] each [s]; zero for absent nodes.

    Frames on the air at the end count completely. The result is NaN if it is not known (fluid models).
    """
    nodes = tables(integers, rows)
    found = {
        "transmit": nodes[:, :, NodeOut.TRANSMIT],
        "receive": nodes[:, :, NodeOut.RECEIVE],
        "overhear": nodes[:, :, NodeOut.OVERHEAR],
    }
    elapsed = np.where(_present(rows), integers[:, ManetOut.ELAPSED, None], 0)
    found["idle"] = np.maximum(elapsed - sum(found.values()), 0)
    known = found["transmit"] >= 0
    return {state: np.where(known, time / NS, np.nan) for state, time in found.items()}


def energy_J(integers: Ints, rows: ManetRows) -> Floats:  # noqa: N802
    """Return the energy that each node consumed, [n, N] [J]; zero for absent nodes."""
    watts = {power.name.lower(): rows.parameters[:, power, None] / 1e6 for power in Power}
    return np.asarray(sum(time * watts[state] for state, time in states_s(integers, rows).items()))


def _present(rows: ManetRows) -> Bools:
    """Return the mask of nodes [n, N] that exist."""
    return np.asarray(np.arange(rows.times.shape[1]) < rows.parameters[:, Manet.NODES, None])
