"""Arriving and departing flows over 802.11: comparison with the twin."""

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.classes import ClassOut, SizeOut
from netcarlo.kernels.base.rows import split
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.wireless.layout import WifiRows
from tests.kernels.beside_twin import differing, run_as_python
from tests.tiers import parameters
from tests.twins.rows import rows_of
from tests.twins.wireless.run import simulate
from tests.twins.wireless.scenarios import describe

MODELS = ["wifi_linux_cubic_arrivals_edca", "wifi_mixed_arrivals", "wifi_mixed_linux_arrivals_delays_edca"]


def classes(rows: WifiRows, out: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the outcomes of the classes of each row."""
    return np.asarray(split(out, rows)["arrivals"])


def differences(name: str, rows: WifiRows, out: NDArray[np.int64]) -> list[str]:
    return differing(out, lambda row: simulate(name, rows, row=row), partial(describe, rows), str)


@pytest.mark.parametrize("name", parameters(MODELS, full=MODELS[1:]))
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(name: str) -> None:
    rows: WifiRows = rows_of(name, 15, seed=1)  # type: ignore[assignment]
    out = run_as_python(name, rows)
    found = differences(name, rows, out)
    assert not found, "\n\n".join(found)
    met = classes(rows, out).sum(axis=(0, 1))
    for column in (ClassOut.BLOCKED, ClassOut.COMPLETED, ClassOut.ACTIVE, ClassOut.SHORT):
        assert met[column] > 0, column.name


@pytest.mark.full
def test_flows_are_conserved() -> None:
    """Check that each arrival is blocked, completes, or is in progress at the end."""
    name = MODELS[0]
    rows: WifiRows = rows_of(name, 150, seed=3)  # type: ignore[assignment]
    out = launch.run(models.model(name), rows)
    of = classes(rows, out)
    ends = of[..., [ClassOut.BLOCKED, ClassOut.COMPLETED, ClassOut.ACTIVE]].sum(axis=-1)
    assert (of[..., ClassOut.ARRIVALS] + of[..., ClassOut.ACTIVE_BEFORE] == ends).all()
    assert (of[..., ClassOut.ACTIVE_BEFORE] >= 0).all() and of[..., ClassOut.ACTIVE_BEFORE].any()
    sizes = of[..., ClassOut.SIZE :].reshape(*of.shape[:-1], -1, SizeOut.COLUMNS)
    flows = sizes[..., SizeOut.FLOWS]
    assert (flows.sum(axis=-1) <= of[..., ClassOut.COMPLETED]).all()
    assert (sizes[..., SizeOut.TIMES : SizeOut.SLOWDOWNS].sum(axis=-1) == flows).all()
    assert not sizes[..., SizeOut.SLOWDOWNS :].any()  # not measured
