"""Metrics of the study of TCP-Probing in a mobile ad hoc network, and statistics of paired runs.

Run k of every protocol at a speed has the same movement, and the same random numbers for the loss of the k-th
segment that arrives at a host, so protocols are compared run by run.
"""

from collections.abc import Callable, Sequence

import numpy as np

from netcarlo.studies.cells import Cell, Samples


def named(name: str, *, scale: float = 1.0) -> Callable[[Cell], Samples]:
    """Return a metric that is an outcome of `netcarlo.simulation.outcomes`, multiplied by `scale`."""
    return lambda cell: cell.outcome(name) * scale


def fixed(value: object) -> float:
    """Return a number of the scenario, which must not be random."""
    assert isinstance(value, float | int)
    return float(value)


def size_bits(cell: Cell) -> float:
    """Return the size of the transfer [bit]."""
    return 8.0 * fixed(cell.scenario.transport.bytes)


def finished(cell: Cell) -> Samples:
    """Return True for each run that finishes its transfer."""
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
"""Metrics by name: functions that return the values in a cell, one per replication."""


def ratio(a: Samples, b: Samples) -> Samples:
    """Return the ratio of the means of `a` and `b` as samples with its mean and its standard deviation.

    `a` and `b` are paired. Each sample is the ratio plus its linearised change by one pair (delta method).
    """
    found = a.mean() / b.mean()
    return np.asarray(found + (a - found * b) / b.mean())


def gain_of_means(a: Samples, b: Samples) -> Samples:
    """Return by how much the mean of `a` exceeds that of `b` [%], as samples of paired runs."""
    return 100 * (ratio(a, b) - 1)


def slope(values: Sequence[Samples], at: Sequence[float]) -> Samples:
    """Return the slope of the least-squares line through values at positions `at`, for each run."""
    x = np.asarray(at, float)
    x = x - x.mean()
    return np.asarray(x @ np.asarray(values) / (x @ x))
