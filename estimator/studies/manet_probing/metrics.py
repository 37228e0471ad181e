"""Metrics of the study of TCP-Probing in a mobile ad hoc network, and what follows from paired runs.

Run k of every protocol at a speed has the same movement and the same fate of the k-th segment that
reaches a host, so protocols are compared run by run.
"""

from collections.abc import Callable, Sequence

import numpy as np

from netcarlo.studies.cells import Cell, Samples


def named(name: str, *, scale: float = 1.0) -> Callable[[Cell], Samples]:
    """An outcome of `netcarlo.simulation.outcomes`, in another unit."""
    return lambda cell: cell.outcome(name) * scale


def fixed(value: object) -> float:
    """A number of the scenario that is not drawn."""
    assert isinstance(value, float | int)
    return float(value)


def size_bits(cell: Cell) -> float:
    """What is transferred [bit]."""
    return 8.0 * fixed(cell.scenario.transport.bytes)


def finished(cell: Cell) -> Samples:
    """Runs in which all arrives."""
    return np.asarray(cell.outcome("finished") > 0)


METRICS: dict[str, Callable[[Cell], Samples]] = {
    "throughput": named("transfer_bps", scale=1e-3),
    "transfer_time": named("transfer_s"),
    "energy": named("energy_J"),
    "joules_per_mb": named("joules_per_MB"),
    "timeouts": named("timeouts"),
    "probe_time": named("probe_time_s"),
    "resent": named("retransmitted"),
    "breaks": named("breaks"),
    "shortened": named("shortened"),
    "finished": finished,
}
"""Metric of a cell -> its values, one per replication."""


def ratio(a: Samples, b: Samples) -> Samples:
    """Mean of `a` over mean of `b`, as samples whose mean is that and whose spread is its own.

    `a` and `b` are paired.  Each sample is the ratio and its linearised change by one pair (delta method).
    """
    found = a.mean() / b.mean()
    return np.asarray(found + (a - found * b) / b.mean())


def gain_of_means(a: Samples, b: Samples) -> Samples:
    """By how much the mean of `a` exceeds that of `b` [%]; paired."""
    return 100 * (ratio(a, b) - 1)


def slope(values: Sequence[Samples], at: Sequence[float]) -> Samples:
    """Slope of the line through the values at these places, by least squares, run by run."""
    x = np.asarray(at, float)
    x = x - x.mean()
    return np.asarray(x @ np.asarray(values) / (x @ x))
