"""Arriving and departing flows: bitwise comparison with the twin, and properties."""

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netcarlo.kernels import models
from netcarlo.kernels.base import arrivals
from netcarlo.kernels.base.arrivals import SlotState
from netcarlo.kernels.base.classes import ClassOut, SizeOut
from netcarlo.kernels.base.layout import NEVER, STATUS_OK
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import Flow, FlowOut, LinkOut, Shared, SharedOut, SharedRows
from tests.kernels.beside_twin import run_as_python
from tests.kernels.shared.test_shared import Ints, differences
from tests.twins.rows import rows_of

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
MODEL = "shared_mixed_arrivals"

quick = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])


def run(rows: SharedRows, **options: int) -> Ints:
    return launch.run(models.model(MODEL), rows, **options)


def classes(rows: SharedRows, out: Ints) -> Ints:
    """Return the outcomes of the classes [n, C, ClassOut.COLUMNS]."""
    at = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS
    return out[:, at:].reshape(len(out), -1, ClassOut.COLUMNS)


def flows(rows: SharedRows, out: Ints) -> Ints:
    """Return the outcomes of the flows [n, F, FlowOut.COLUMNS]."""
    end = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS
    return out[:, SharedOut.COLUMNS : end].reshape(len(out), -1, FlowOut.COLUMNS)


@pytest.mark.full
def test_kernel_equals_twin() -> None:
    rows = rows_of(MODEL, 100 * LONG, seed=1)
    out = run(rows)
    assert not (found := differences(rows, out)), "\n\n".join(found)
    total = classes(rows, out).sum(axis=(0, 1))
    for column in range(ClassOut.SIZE):  # the scenarios contain each event
        assert total[column] > 0, ClassOut(column)
    for kind in range(3):  # larger flows take too long here
        assert total[ClassOut.SIZE + kind * SizeOut.COLUMNS + SizeOut.FLOWS] > 0, kind
    assert (flows(rows, out)[rows.flows[:, :, Flow.CLASS] > 0][:, FlowOut.RETRANSMITTED] > 0).any()


@pytest.mark.parametrize(("size", "of_size"), [
    (1, 0), (10_000, 0), (10_001, 1), (100_000, 1), (100_001, 2), (1_000_000, 2), (1_000_001, 3), (10**9, 3),
])  # fmt: skip
def test_sizes_of_flows_are_told_apart_at_powers_of_ten(size: int, of_size: int) -> None:
    """Check that a flow of exactly 10 kB is in the size bin up to 10 kB."""
    at = len(SlotState)  # the outcomes of the class follow the words of the slot
    m = np.zeros(at + int(ClassOut.COLUMNS), np.int64)
    m[SlotState.FLOW_SIZE] = size
    arrivals.count_completion(m, np.int64(at), 0, np.int64(1), 0, 1, np.int64(1))
    counted = m[at + ClassOut.SIZE :].reshape(-1, SizeOut.COLUMNS)[:, SizeOut.FLOWS]
    assert counted.tolist() == [k == of_size for k in range(4)]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_with_linux_equals_twin() -> None:
    name = "shared_mixed_linux_arrivals"
    rows = rows_of(name, 12 * LONG, seed=4)
    out = run_as_python(name, rows)
    assert not (found := differences(rows, out)), "\n\n".join(found)
    assert classes(rows, out)[:, :, ClassOut.COMPLETED].sum() > 10


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_the_model_of_one_linux_sender_equals_that_of_a_mixture() -> None:
    """Compare the model of one sender with the mixed model, which takes four times as long to compile."""
    rows = rows_of("shared_linux_cubic_arrivals", 4, seed=8)
    mixed = run_as_python("shared_mixed_linux_arrivals", rows)
    assert classes(rows, mixed)[:, :, ClassOut.COMPLETED].any()
    assert (run_as_python("shared_linux_cubic_arrivals", rows) == mixed).all()


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@quick
def test_flows_are_conserved_and_have_their_sizes(seed: int) -> None:
    rows = rows_of(MODEL, 20, seed=seed)
    out = run(rows)
    assert (out[:, SharedOut.STATUS] == STATUS_OK).all()
    found, of_flow = classes(rows, out), flows(rows, out)
    parts = found[:, :, [ClassOut.COMPLETED, ClassOut.ACTIVE, ClassOut.BLOCKED]]
    assert (found[:, :, [ClassOut.ARRIVALS, ClassOut.ACTIVE_BEFORE]].sum(axis=2) == parts.sum(axis=2)).all()
    all_of_it = rows.parameters[:, Shared.WARM_UP] == 0
    assert (found[all_of_it, :, ClassOut.ACTIVE_BEFORE] == 0).all()
    counted = sum(found[:, :, ClassOut.SIZE + k * SizeOut.COLUMNS + SizeOut.FLOWS] for k in range(4))
    assert (counted <= found[:, :, ClassOut.COMPLETED]).all()
    for start, end, sums in (
        (SizeOut.TIMES, SizeOut.SLOWDOWNS, SizeOut.FLOWS), (SizeOut.SLOWDOWNS, SizeOut.COLUMNS, SizeOut.FLOWS)
    ):  # fmt: skip
        for k in range(4):
            at = ClassOut.SIZE + k * SizeOut.COLUMNS
            assert (found[:, :, at + start : at + end].sum(axis=2) == found[:, :, at + sums]).all()
    for number in range(found.shape[1]):
        slots = rows.flows[:, :, Flow.CLASS] == number + 1
        delivered = np.where(slots, of_flow[:, :, FlowOut.DELIVERED], 0).sum(axis=1)
        rest = (delivered - found[:, number, ClassOut.PACKETS])[all_of_it]
        assert (rest >= 0).all()
        # Completed flows deliver no further packets; the rest belongs to flows in progress.
        assert (rest[found[all_of_it, number, ClassOut.ACTIVE] == 0] == 0).all()
        active = np.where(slots, of_flow[:, :, FlowOut.COMPLETED] == NEVER, False).sum(axis=1)
        assert (found[:, number, ClassOut.ACTIVE] <= active).all()


@pytest.mark.full
@given(st.integers(0, 1 << 30), st.lists(st.integers(1, 19), max_size=3))
@quick
def test_chunks_and_threads_change_no_bit(seed: int, cuts: list[int]) -> None:
    rows = rows_of(MODEL, 20, seed=seed)
    whole = run(rows)
    edges = [0, *sorted(set(cuts)), 20]
    for a, b in pairwise(edges):
        part = SharedRows(*(array[a:b] for array in rows[:4]), losses=rows.losses)  # type: ignore[misc]
        found = run(part, threads=1)
        wide = classes(rows, whole)[a:b, : classes(part, found).shape[1]]
        assert (classes(part, found) == wide).all()


@pytest.mark.full
def test_ring_size_never_matters() -> None:
    rows = rows_of(MODEL, 30, seed=9)
    small = rows.flows.copy()
    small[:, :, RowP.RING] = 64
    assert (run(rows) == run(rows._replace(flows=small))).all()
