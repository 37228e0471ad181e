"""Trace of shared links: events of the naive twin to the nanosecond, and unchanged outcomes."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import (
    EVENT_LEAVE,
    EVENT_LOST,
    EVENT_RECEIVE,
    STATUS_OK,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
    Trace,
)
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import LINUX_RENO
from netcarlo.kernels.shared import event_log
from netcarlo.kernels.shared.layout import SharedOut, SharedRows
from tests.twins.shared.arrival_scenarios import arrivals_rows
from tests.twins.shared.events import Event, events
from tests.twins.shared.scenarios import (
    backed_rows,
    describe,
    failing_rows,
    linux_shared_rows,
    managed_rows,
    select,
    shared_rows,
    varying_rows,
)

Rows = NDArray[np.float64]


def traced(name: str) -> Any:
    model = models.model(name).traced
    assert model is not None
    return model


def as_python(name: str, rows: SharedRows, row: int) -> tuple[Rows, NDArray[np.int64]]:
    """Return the result of `launch.trace` from the uncompiled kernel.

    It is slow, but compiling some models takes a minute.
    """
    model = traced(name)
    one = select(rows, [row])
    one = launch._with_rings(one, launch._rings(model, one))
    simulate, out, length = model.make(compilers.plain), np.zeros(model.outcomes(one), np.int64), 1 << 12
    while True:
        *of_rows, losses = one
        trace = np.zeros((length, len(Trace)))
        arrays = (*(field[0] for field in of_rows), losses)
        count = simulate(*arrays, *launch._scratch(model, one), out, trace)
        if out[SharedOut.STATUS] == STATUS_TRACE_FULL:
            length *= 4
        elif out[SharedOut.STATUS] == STATUS_RING_FULL:
            one.parameters[:, RowP.RING] *= 2
        else:
            return trace[:count], out


def of_kernel(trace: Rows) -> "Counter[Event]":
    """Return the events of a trace, reduced to the fields that the twin reports."""
    found = Counter()
    for row in trace:
        event, (flow, carries) = int(row[Trace.EVENT]), divmod(int(row[Trace.FLOW]), 4)
        time, link, size = round(row[Trace.TIME] * 1e9), int(row[Trace.PATH]), int(row[Trace.BYTES])
        if event == EVENT_LEAVE:
            flow, carries, size = -1, -1, -1
        elif event == EVENT_LOST:
            time = -1
        elif event == EVENT_RECEIVE:
            size = -1
        found[time, event, flow, carries, link, size] += 1
    return found


def compare(trace: Rows, rows: SharedRows, row: int) -> None:
    found, expected = of_kernel(trace), events(rows, row=row)
    too_many, missing = sorted((found - expected).items()), sorted((expected - found).items())
    which = f"only of the kernel {too_many[:9]}, of the twin {missing[:9]}\n{describe(rows, row)}"
    assert found == expected, which


@pytest.mark.full
@pytest.mark.parametrize("name", ["shared_mixed", "shared_newreno"])
def test_a_trace_has_the_events_of_the_twin(name: str) -> None:
    kinds = {"shared_newreno": {"kinds": [0, 3, 3]}}.get(name, {})
    rows = shared_rows(25, seed=31, **kinds)
    expected = launch.run(models.model(name), rows)
    for row in range(len(expected)):
        trace, out = launch.trace(traced(name), rows, row=row)
        assert (out == expected[row]).all()
        compare(trace, rows, row)


OTHERS = {
    "shared_mixed_aqm": lambda: managed_rows(shared_rows(4, seed=32), seed=32),
    "shared_mixed_varying": lambda: varying_rows(shared_rows(3, seed=33), seed=33),
    "shared_mixed_arrivals": lambda: arrivals_rows(3, seed=34),
    "shared_linux_cubic": lambda: linux_shared_rows(2, seed=35, kinds=[0, LINUX_RENO + 1, LINUX_RENO + 1]),
}
FAILING = {
    "failures": partial(failing_rows, seed=36),
    "detours": lambda rows: backed_rows(failing_rows(rows, seed=37), seed=37),
}


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_an_uncompiled_trace_has_the_events_of_the_twin(name: str) -> None:
    rows = OTHERS[name]()
    for row in range(len(rows.parameters)):
        trace, out = as_python(name, rows, row)
        assert out[SharedOut.STATUS] == STATUS_OK
        compare(trace, rows, row)


@pytest.mark.full
@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_trace_of_links_that_fail_has_the_events_of_the_twin(kind: str) -> None:
    rows = FAILING[kind](shared_rows(4, seed=38))
    for row in range(len(rows.parameters)):
        compare(as_python("shared_mixed_varying", rows, row)[0], rows, row)


def test_notes_that_find_no_room_ask_for_more() -> None:
    """Check that a full log reports full rings: the run repeats with larger rings, which enlarge the log."""
    m = np.zeros(event_log.SCRATCH_FACTOR * 100, np.int64)
    event_log.prepare(m)
    room = (len(m) - 2 - 100) // 6
    for k in range(room):
        event_log.log(m, k, 1, 0, 0, 0, False)
        assert m[0] == 0
    event_log.log(m, room, 1, 0, 0, 0, False)
    assert m[0] == 1 and m[1:100].sum() == 0


def test_models_without_a_trace_are_apart() -> None:
    """Check that only models of shared links have a traced variant, which is not in the list of models."""
    for model in models.MODELS.values():
        has_own = model.address.family == "shared" and not model.address.fluid
        assert (model.traced is not None) == has_own
    assert not any(name.endswith("_traced") for name in models.MODELS)
