"""Link outages: properties, and rows without outages. `test_varying` compares them with their twin."""

from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import Link, SharedOut, SharedRows
from tests.kernels.shared.test_shared import DATAGRAMS, LINK_BYTE, SIZE, dumbbell, split
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.rows import rows_of
from tests.twins.shared.scenarios import backed_rows, failing_rows


def rows_that_fail(model: str, count: int, seed: int) -> SharedRows:
    rows = rows_of(model.replace("_varying", ""), count, seed=seed)
    assert isinstance(rows, SharedRows)
    return backed_rows(failing_rows(rows, seed=seed), seed=seed)


def failing(rows: SharedRows, *spans: tuple[int, int]) -> SharedRows:
    """Return the rows with these outages of link 0 [ns]."""
    behind = rows.links.shape[2]
    links = np.pad(rows.links, [(0, 0), (0, 0), (0, 2 * len(spans))])
    links[:, 0, Link.OUTAGES], links[:, 0, Link.OUTAGES_END] = behind // 2, behind // 2 + len(spans)
    links[:, 0, behind:] = np.array(spans).ravel()
    return rows._replace(links=links)


def run(rows: SharedRows, model: str = "shared_mixed_varying") -> Any:
    return launch.run(models.model(model), rows)


@pytest.mark.full
def test_without_outages_it_is_the_plain_model() -> None:
    plain = rows_of("shared_mixed", 60, seed=3)
    assert isinstance(plain, SharedRows)
    late = failing_rows(plain, seed=3)
    spans = late.links[:, :, plain.links.shape[2] :]
    spans += (late.links[:, :, [Link.OUTAGES]] > 0) * (np.int64(1) << 55)  # far beyond the end of the run
    expected = run(plain, "shared_mixed")
    assert (run(late)[:, SharedOut.EVENTS + 1 :] == expected[:, SharedOut.EVENTS + 1 :]).all()


@pytest.mark.full
def test_nothing_is_delivered_over_a_link_that_is_down() -> None:
    """Test datagrams at the link rate: the link delivers as many as it can transmit while it is up."""
    rows = dumbbell([DATAGRAMS | {"INTERVAL": SIZE * LINK_BYTE}], seconds=10, QUEUE=5)
    out = run(failing(rows, (2 * SECOND, 3 * SECOND), (5 * SECOND, 5 * SECOND + 500 * MS)))
    f, k = split(rows, out)
    up, wire = 10 * SECOND - 1500 * MS, int(rows.links[0, 0, Link.DELAY])
    carried = (up - 3 * wire) // (SIZE * LINK_BYTE)  # lost in two outages, in flight at the end
    assert abs(f["RECEIVED"][0, 0] - carried) < 12
    assert f["DROPS_RANDOM"][0, 0] >= 2 * wire // (SIZE * LINK_BYTE)
    assert abs(k["BUSY"][0, 0] - up) < 20 * SIZE * LINK_BYTE
    assert k["DROPS"][0, 0] >= 1500 * MS // (SIZE * LINK_BYTE) - 2
    down = run(failing(rows, (0, 11 * SECOND)))
    f, k = split(rows, down)
    assert f["RECEIVED"][0, 0] == 0 and k["SENT"][0, 0] == 0 and f["SENT"][0, 0] > 100


@pytest.mark.full
def test_every_packet_is_somewhere() -> None:
    rows = rows_that_fail("shared_mixed_varying", 200, seed=5)
    f, _ = split(rows, run(rows))
    gone = f["DROPS_QUEUE"] + f["DROPS_RANDOM"]
    assert gone.any() and (rows.parameters[:, RowP.END] > 0).all()
    assert (f["SENT"] + f["IN_FLIGHT_BEFORE"] == f["RECEIVED"] + gone + f["IN_FLIGHT"]).all()
