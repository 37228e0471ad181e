"""Reading of outcomes from arrays."""

import numpy as np

from netcarlo.kernels.base.layout import NEVER
from netcarlo.numerics.arrays import divisors, seconds


def test_nothing_is_divided_by_nothing() -> None:
    np.testing.assert_array_equal(6 / divisors(np.array([2, 0, -1])), [3, np.nan, np.nan])
    np.testing.assert_array_equal(divisors(np.array([0.5, np.nan])), [0.5, np.nan])


def test_what_did_not_happen_has_no_time() -> None:
    np.testing.assert_array_equal(seconds(np.array([1_500_000_000, 0, NEVER])), [1.5, 0, np.nan])
