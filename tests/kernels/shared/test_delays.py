"""Delays of classes of flows: bitwise comparison with the twin, and properties."""

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netcarlo.kernels import models
from netcarlo.kernels.base.delays import SHIFT, DelayOut
from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, Shared, SharedOut, SharedRows
from netcarlo.networks.shared.delays import table
from netcarlo.networks.shared.outcomes import tables
from netcarlo.numerics.histogram import edges, quantiles
from tests.kernels.beside_twin import differing
from tests.kernels.shared.test_shared import Ints
from tests.twins.rows import rows_of
from tests.twins.shared.run import simulate

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
MODEL = "shared_mixed_delays"

quick = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])


def run(rows: SharedRows, **options: int) -> Ints:
    return launch.run(models.model(MODEL), rows, **options)


def differences(rows: SharedRows, out: Ints) -> list[str]:
    """Return descriptions of the first networks in which kernel and twin differ."""
    out = out.copy()
    out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    return differing(out, lambda row: simulate(rows, row=row), str, str)


@pytest.mark.full
def test_kernel_equals_twin() -> None:
    rows = rows_of(MODEL, 80 * LONG, seed=31)
    out = run(rows)
    assert not (found := differences(rows, out)), "\n\n".join(found)
    total = table(out, rows).sum(axis=0)
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM, DelayOut.JITTER:  # each column is tested
        assert (total[:, column] > 0).all(), column


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@quick
def test_every_packet_that_is_delivered_is_counted(seed: int) -> None:
    """Check counts with and without a warm-up, and that measuring delays does not change the outcomes."""
    rows = rows_of(MODEL, 20, seed=seed)
    whole = rows._replace(parameters=rows.parameters.copy())
    whole.parameters[:, Shared.WARM_UP] = 0
    counts, all_counts = (table(run(each), each) for each in (rows, whole))
    delivered = tables(run(whole), whole).flows[:, :, FlowOut.DELIVERED]
    for number in range(all_counts.shape[1]):
        mine = np.where(rows.flows[:, :, Flow.DELAY_CLASS] == number + 1, delivered, 0).sum(axis=1)
        assert (all_counts[:, number, DelayOut.PACKETS] == mine).all()
    for found in counts, all_counts:
        assert (found[:, :, DelayOut.DELAYS :].sum(axis=2) == found[:, :, DelayOut.PACKETS]).all()
        assert (found[:, :, DelayOut.LATE] <= found[:, :, DelayOut.PACKETS]).all()
    assert (counts[:, :, DelayOut.DELAYS :] <= all_counts[:, :, DelayOut.DELAYS :]).all()
    asked = run(rows)[:, : SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS]
    plain = rows._replace(parameters=rows.parameters.copy())
    plain.parameters[:, Shared.DELAY_CLASSES] = 0
    others = launch.run(models.model("shared_mixed"), plain)[:, : asked.shape[1]]
    assert (asked == others).all()


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@quick
def test_no_packet_is_faster_than_its_way(seed: int) -> None:
    rows = rows_of(MODEL, 20, seed=seed)
    found = table(run(rows), rows)[:, :, DelayOut.DELAYS :]
    above = edges(found.shape[2] + 1)[1:] << SHIFT  # of each bin [ns]
    for row, number in zip(*np.nonzero(found.sum(axis=2)), strict=True):
        least = above[np.flatnonzero(found[row, number])[0]]
        flows = rows.flows[row, rows.flows[row, :, Flow.DELAY_CLASS] == number + 1]
        assert least > min(_alone_ns(flow, rows.links[row]) for flow in flows)


def _alone_ns(flow: Ints, links: Ints) -> int:
    """Return the delay of a flow's data without queueing, rounded down [ns]."""
    size = int(flow[RowP.DATA] + flow[RowP.HEADER])
    way = links[flow[Flow.ROUTE : Flow.ROUTE + flow[Flow.HOPS]]]
    byte = int(flow[Flow.ACCESS] + flow[Flow.SINK] + way[:, Link.BYTE_TIME].sum())
    delay = int(flow[Flow.SOURCE_DELAY] + flow[Flow.SINK_DELAY] + way[:, Link.DELAY].sum())
    return (size * byte >> BYTE_TIME_BITS) - len(way) - 2 + delay


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@quick
def test_sums_of_histograms_are_those_of_all(seed: int) -> None:
    """Check that chunks give the same bits, and that quantiles of a sum lie between those of its parts."""
    rows = rows_of(MODEL, 20, seed=seed)
    whole = table(run(rows), rows)
    for a, b in pairwise((0, 7, 20)):
        part = SharedRows(*(array[a:b] for array in rows[:4]), losses=rows.losses)  # type: ignore[misc]
        found = table(run(part, threads=1), part)
        assert (found == whole[a:b, : found.shape[1]]).all()
    counts = whole[:, :, DelayOut.DELAYS :]
    for q in 0.5, 0.95, 0.99:
        first, second = (quantiles(counts[k::2], q) for k in (0, 1))
        both = quantiles(counts[::2] + counts[1::2], q)
        some = ~np.isnan(first) & ~np.isnan(second)
        assert (np.minimum(first, second)[some] <= both[some]).all()
        assert (both[some] <= np.maximum(first, second)[some]).all()
    levels = [quantiles(counts, q) for q in (0.01, 0.5, 0.95, 0.99)]
    for low, high in pairwise(levels):
        assert (low <= high)[~np.isnan(low)].all()
