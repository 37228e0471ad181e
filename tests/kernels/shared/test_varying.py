"""Time-varying shared links and outages: twin, properties, and tables that change nothing."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.varying import HEAD
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import CODEL, FQ_CODEL, TABLE, Flow, Link, SharedOut, SharedRows
from tests.kernels.beside_twin import differing, run_as_python
from tests.kernels.shared.test_outages import rows_that_fail
from tests.kernels.shared.test_shared import DATAGRAMS, LINK_BYTE, SIZE, TCP, differences, dumbbell, split
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.rows import rows_of
from tests.twins.shared.run import simulate
from tests.twins.shared.scenarios import byte_limited_rows, sold_rows

LONG = int(os.environ.get("NETCARLO_LONG", "1"))


def rows_that_vary(model: str, count: int, seed: int) -> SharedRows:
    rows = rows_of(model, count, seed=seed)
    assert isinstance(rows, SharedRows)
    return rows


def varying(rows: SharedRows, pairs: list[tuple[int, int]]) -> SharedRows:
    """Return the rows with this table at link 0: policer, trace, period and entries."""
    pairs = [*pairs[:3], *[(0, 0)] * (HEAD - 3), *pairs[3:]]
    links = np.pad(rows.links, [(0, 0), (0, 0), (0, 2 * len(pairs))])
    links[:, 0, Link.VARIES] = TABLE
    links[:, 0, Link.COLUMNS :] = (np.array(pairs) + np.array([FOREVER, 0])).ravel()
    return rows._replace(links=links)


def run(rows: SharedRows) -> Any:
    return launch.run(models.model("shared_mixed_varying"), rows)


class Rows(NamedTuple):
    """Random rows of links whose state is in a table after their columns."""

    drawn: Callable[..., SharedRows]
    column: Link
    """Column that is greater than 0 for such a link."""
    count: int
    kinds: tuple[str, ...]
    """Senders of the models that run as plain Python."""


ROWS = {
    "varies": Rows(rows_that_vary, Link.VARIES, 80, (
        "newreno", "linux_bbr", "sctp", "cubic_aqm", "mixed_arrivals", "mixed_linux",
    )),
    "fails": Rows(rows_that_fail, Link.OUTAGES, 300, ("newreno", "sctp", "mixed_arrivals", "mixed_linux")),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("what", ROWS)
def test_kernel_equals_twin(what: str) -> None:
    rows = ROWS[what].drawn("shared_mixed_varying", ROWS[what].count * LONG, seed=1)
    out = run(rows)
    _, links = split(rows, out)
    some = rows.links[:, :, ROWS[what].column] > 0
    for column in ("DROPS", "LOST", "WAITING", "EARLY", "MARKS"):
        assert links[column][some].any(), column
    assert (rows.flows[:, :, Flow.BACKUP] > 0).any() == (what == "fails")
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize(("what", "kind"), [(what, kind) for what in ROWS for kind in ROWS[what].kinds])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(what: str, kind: str) -> None:
    model = f"shared_{kind}_varying"
    rows = ROWS[what].drawn(model, 6 * LONG, seed=len(kind))
    out = run_as_python(model, rows)
    assert (rows.links[:, :, ROWS[what].column] > 0).any()
    alone = kind if kind == "sctp" else ""
    out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    found = differing(out, lambda row: simulate(rows, row=row, alone=alone), str, str)
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize(
    "model", ["shared_newreno_aqm", "shared_linux_cubic_aqm_varying", "shared_sctp_varying"]
)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_links_as_they_are_sold_equal_their_twin(model: str) -> None:
    """Compare queue limits in bytes, framing, shapers and correlated loss."""
    rows = rows_of(model.replace("_aqm", "").replace("_varying", ""), 8 * LONG, seed=4)
    assert isinstance(rows, SharedRows)
    rows = byte_limited_rows(rows, seed=4) if "aqm" in model else rows
    rows = sold_rows(rows, seed=4) if "varying" in model else rows
    out = run_as_python(model, rows)
    _, links = split(rows, out)
    assert links["DROPS"].any() and links["LOST"].any()
    out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    alone = "sctp" if "sctp" in model else ""
    found = differing(out, lambda row: simulate(rows, row=row, alone=alone), str, str)
    assert not found, "\n\n".join(found)


@pytest.mark.full
def test_a_trace_that_says_what_the_link_is_changes_nothing() -> None:
    """Compare a trace of one step, with the rate and delay of the link, with a constant link."""
    flows = [TCP | {"KIND": kind, "START": kind * 1001, "CLOCK_PHASE": kind} for kind in range(1, 6)]
    plain = dumbbell([*flows, DATAGRAMS | {"INTERVAL": 7 * MS}], seconds=10, QUEUE=12)
    link = plain.links[0, 0]
    step = [(0, int(link[Link.BYTE_TIME])), (int(link[Link.DELAY]), 0)]
    rows = varying(plain, [(0, 0), (1, 1), (0, 0), *step])
    out, expected = run(rows), launch.run(models.model("shared_mixed"), plain)
    assert split(plain, expected)[1]["DROPS"].any()
    assert (out == expected).all()


@pytest.mark.full
def test_an_overloaded_link_is_busy_with_what_its_trace_allows() -> None:
    """Test a periodic trace: full rate for a second, no rate for one, half the rate for one."""
    byte_time = LINK_BYTE << 20
    steps = [(0, byte_time), (MS, 0), (SECOND, 0), (MS, 0), (2 * SECOND, 2 * byte_time), (MS, 0)]
    rows = dumbbell([DATAGRAMS | {"INTERVAL": SIZE * LINK_BYTE // 2}], seconds=30, QUEUE=5)
    rows = varying(rows, [(0, 0), (1, 3), (3 * SECOND, 0), *steps])
    f, k = split(rows, run(rows))
    carried = 10 * (1 + 0.5) * SECOND / (SIZE * LINK_BYTE)
    assert abs(f["RECEIVED"][0, 0] - carried) < 5
    assert k["BUSY"][0, 0] > 29.9 * SECOND  # packets are queued all the time
    assert 960 * (carried - 5) < f["USEFUL"][0, 0] <= 960 * carried + 1
    assert SECOND < k["WAIT_MAX"][0, 0] < 1.2 * SECOND


@pytest.mark.full
def test_what_never_leaves_is_under_way_at_the_end() -> None:
    """Test a trace whose last step has no rate: queued packets are in flight at the end."""
    byte_time = LINK_BYTE << 20
    steps = [(0, byte_time), (MS, 0), (SECOND, 0), (MS, 0)]
    rows = dumbbell([DATAGRAMS | {"INTERVAL": SIZE * LINK_BYTE // 2}], seconds=5, QUEUE=0)
    rows = varying(rows, [(0, 0), (1, 2), (0, 0), *steps])
    f, k = split(rows, run(rows))
    assert f["SENT"][0, 0] == f["RECEIVED"][0, 0] + f["IN_FLIGHT"][0, 0]
    assert abs(f["RECEIVED"][0, 0] - SECOND // (SIZE * LINK_BYTE)) < 4 and k["WAITING"][0, 0] > 100
    assert k["WAIT_MAX"][0, 0] <= 5 * SECOND + 1


STEPS = [(0, 0), (1, 3), (SECOND, 0), (0, LINK_BYTE << 20), (MS, 0), (400 * MS, 0), (5 * MS, 1 << 26)]
STEPS += [(700 * MS, LINK_BYTE << 19), (MS, 0)]
OPPORTUNITIES = [(0, 0), (2, 4), (9 * MS, 0), (MS, 1500), (2 * MS, 12_000), (4 * MS, 3000), (8 * MS, 4500)]


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("table", [STEPS, OPPORTUNITIES])
@pytest.mark.parametrize("aqm", [CODEL, FQ_CODEL])
def test_without_a_target_in_reach_aqm_is_drop_tail(table: list[tuple[int, int]], aqm: int) -> None:
    """Compare AQM without drops with drop-tail, over traces of rates and of delivery opportunities.

    FQ-CoDel has one flow of datagrams.
    """
    flows = [DATAGRAMS | {"INTERVAL": 7 * MS // 10}] if aqm == FQ_CODEL else [
        TCP | {"KIND": kind, "START": kind * 1001, "CLOCK_PHASE": kind} for kind in range(1, 6)
    ]  # fmt: skip
    managed = {"AQM": aqm, "AQM_TARGET": 100 * SECOND, "AQM_INTERVAL": SECOND, "FQ_QUANTUM": 1514}
    queue = 0 if aqm == FQ_CODEL else 12  # FQ-CoDel drops at the head of the queue
    tail, other = (varying(dumbbell(flows, seconds=5, QUEUE=queue, **more), table) for more in ({}, managed))
    (f, k), (f_aqm, k_aqm) = split(tail, run(tail)), split(other, managed_run(other))
    assert k["SENT"][0, 0] > 1000
    for column in ("SENT", "RECEIVED", "DELIVERED", "DROPS_QUEUE", "DROPS_RANDOM", "ACKED"):
        assert (f[column] == f_aqm[column]).all(), column
    for column in ("ARRIVALS", "DROPS", "SENT", "QUEUE_SUM", "BUSY"):
        assert (k[column] == k_aqm[column]).all(), column


def managed_run(rows: SharedRows) -> Any:
    return launch.run(models.model("shared_mixed_aqm_varying"), rows)
