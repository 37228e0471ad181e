"""Quantiles of Student's t, compared with those of SciPy."""

import math

import numpy as np
import pytest
from scipy import special

from netcarlo.numerics import student


@pytest.mark.parametrize("p", [0.6, 0.9, 0.975])
def test_students_quantiles_are_those_of_scipy(p):
    df = np.array([1, 1.5, 2, 3, 4, 7, 15, 63, 255, 999, 1000, 1001, 4095, 1e6, 1e9])
    found = [student.quantile(p, float(each)) for each in df]
    np.testing.assert_allclose(found, special.stdtrit(df, p), rtol=1e-12)
    assert all(math.isnan(student.quantile(p, bad)) for bad in (0.0, -1.0, math.nan))


def test_students_quantiles_have_the_same_bits_everywhere():
    found = [student.quantile(0.975, df).hex() for df in (1.0, 15.0, 255.0, 4095.0)]
    assert " ".join(found) == (
        "0x1.96993aacc597ap+3 0x1.10d356b5a068ap+1 0x1.f824bccd2c00bp+0 0x1.f5e62d24231d8p+0"
    )
