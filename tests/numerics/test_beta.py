"""Incomplete beta function, compared with SciPy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from netcarlo.numerics import beta


@given(st.floats(0.2, 3000), st.floats(0.2, 3000), st.floats(-6, 6))
def test_the_integral_above_is_that_of_scipy(a, b, z):
    sd = math.sqrt(a * b / (a + b + 1)) / (a + b)
    x = min(max(a / (a + b) + z * sd, 1e-6), 1 - 1e-6)
    above, whole = beta.log_above(*np.array([[a, a], [b, b], [x, 1e-300]]))
    share = math.exp(above - whole)
    assert share == pytest.approx(special.betaincc(a, b, x), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 8), (20, 30), (1, 1000), (500, 700)])
def test_the_whole_integral_is_that_of_whole_numbers(a, b):
    exact = -math.log((a + b - 1) * math.comb(a + b - 2, a - 1))
    assert float(beta.log_beta(np.float64(a), np.float64(b))) == pytest.approx(exact, rel=1e-13, abs=1e-14)


def test_a_value_does_not_depend_on_those_beside_it():
    a, b, x = np.array([0.3, 20, 5000, 1]), np.array([7, 0.01, 300, 1]), np.array([0.5, 0.9, 0.94, 1e-9])
    together = beta.log_above(a, b, x)
    alone = [float(beta.log_above(*each)[0]) for each in np.stack([a, b, x], axis=1)[:, :, None]]
    assert together.tolist() == alone
