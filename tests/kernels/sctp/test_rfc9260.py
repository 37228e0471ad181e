"""SCTP with the rules of RFC 9260 and RFC 7829: comparison with the twin, and properties."""

from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import Rfc9260P, RowP, SctpP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.sctp import paths, sender
from netcarlo.kernels.sctp.state import Word
from tests.kernels.beside_twin import run_as_python
from tests.tiers import parameters
from tests.twins import any_model
from tests.twins.sctp.scenarios import with_rfc9260

NS = 10**9
ONE_PATH = {"sctp_mobile": 12, "sctp_reordering": 12, "manet_sctp": 2, "wifi_sctp": 4, "shared_sctp": 4}
"""Models with one path per association, and scenarios of each."""


def scenarios(name: str, count: int, seed: int) -> Any:
    """Return random scenarios of a model with these rules."""
    return with_rfc9260(any_model.scenarios(name, count, seed=seed), seed=seed)


def differing(name: str, rows: Any, out: Any) -> list[int]:
    """Return the rows in which the outcomes of the kernel are not those of the twin."""
    found = []
    for row in range(len(out)):
        with np.errstate(over="ignore"):
            expected = any_model.simulate(name, rows, row=row)
        if (out[row, : len(expected)] != expected)[np.arange(len(expected)) != Out.STATUS].any():
            found.append(row)
    return found


def plain(name: str, rows: Any) -> Any:
    """Return the outcomes of the uncompiled kernel."""
    with np.errstate(over="ignore"):
        return run_as_python(name, rows)


@pytest.mark.parametrize("name", parameters(["sctp"], full=list(ONE_PATH)))
def test_uncompiled_kernel_equals_twin(name: str) -> None:
    rows = scenarios(name, ONE_PATH.get(name, 20), seed=5)
    out = plain(name, rows)
    if name == "shared_sctp":  # `any_model` does not count events
        out[:, 1] = [any_model.simulate(name, rows, row=row)[1] for row in range(len(out))]
    assert differing(name, rows, out) == []


@pytest.mark.full
def test_kernel_equals_twin() -> None:
    rows = scenarios("sctp", 300, seed=1)
    out = launch.run(models.model("sctp"), rows)
    assert differing("sctp", rows, out) == []
    met = out[:, [Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.DESTROYED, Out.ACK_DROPS, Out.COMPLETED]] > 0
    assert (met.mean(axis=0) > 0.05).all()
    without = launch.run(models.model("sctp"), any_model.scenarios("sctp", 300, seed=1))
    assert ((out != without).any(axis=1)).mean() > 0.7


@pytest.fixture
def new_data(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the suitability (`paths.rank`) of the path of each new chunk, and that of the other path."""
    found: list[tuple[int, int]] = []
    of_kernel = sender.new_chunk

    def new_chunk(p: Any, s: Any, now: Any, way: Any) -> None:
        if s[Word.PATHS] == 2:
            found.append((paths.rank(s, way), paths.rank(s, way ^ 1)))
        of_kernel(p, s, now, way)

    monkeypatch.setattr(sender, "new_chunk", new_chunk)
    return found


def test_no_new_data_take_a_path_that_is_not_active_while_the_other_is(
    new_data: list[tuple[int, int]],
) -> None:
    rows = scenarios("sctp", 30, seed=7)
    rows.parameters[:, Rfc9260P.PF_ERRORS] = np.maximum(rows.parameters[:, Rfc9260P.PF_ERRORS], 1)
    rows.parameters[:, SctpP.PATH_MAX_RETRANS] += 2
    plain("sctp", rows)
    assert {(0, 1), (0, 2), (0, 3)} <= set(new_data)
    assert not {found for found in new_data if found[0] > 0 == found[1]}
    assert all(mine != 3 for mine, _ in new_data)  # an unconfirmed path carries no data


def test_every_chunk_is_delivered_once_and_in_order() -> None:
    rows = scenarios("sctp", 20, seed=3)
    rows.parameters[:, [RowP.LIMIT, RowP.END]] = 60, 60 * NS
    rows.parameters[:, SctpP.MAX_BURST] = 4
    out = plain("sctp", rows)
    assert (out[:, Out.DELIVERED] <= 60).all() and (out[:, Out.ACKED] <= out[:, Out.IN_ORDER]).all()
    assert (out[:, Out.IN_ORDER] <= out[:, Out.DELIVERED]).all()
    done = out[:, Out.COMPLETED] >= 0
    assert done.mean() > 0.5  # the other associations were aborted
    assert (out[done][:, [Out.DELIVERED, Out.IN_ORDER]] == 60).all()
    lost = out[:, [Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED]].sum(axis=1)
    acked = out[:, Out.ACKED] == 60
    assert (out[:, Out.SENT] == out[:, Out.RECEIVED] + lost)[acked].all()
