"""Portable functions, compared with those of NumPy and of decimal arithmetic."""

import math
from decimal import Decimal

import numpy as np
import pytest

from netcarlo.numerics import portable

ULP = 2.0**-52


def test_exp2_is_exact_to_two_units():
    x = np.concatenate([np.linspace(-40, 40, 20001), [0.0, 1.0, 10.0, -3.0, np.nextafter(1, 0)]])
    exact = np.array([math.pow(2.0, value) for value in x])
    assert np.abs(portable.exp2(x) / exact - 1).max() <= 2 * ULP
    assert portable.exp2(np.array([0.0, 1.0, 10.0, -3.0])).tolist() == [1.0, 2.0, 1024.0, 0.125]


def test_cbrt_is_exact_to_two_units():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 1001), np.linspace(0.01, 64, 1000)])
    for sign in (1, -1):
        found = portable.cbrt(sign * x)  # that of the C library is off by more
        errors = [
            (Decimal(root) ** 3 / Decimal(sign * value) - 1) / 3 for root, value in zip(found, x, strict=True)
        ]
        assert max(map(abs, errors)) <= 2 * ULP
    special = portable.cbrt(np.array([0.0, -0.0, np.inf, -np.inf, np.nan]))
    assert special[:4].tolist() == [0.0, -0.0, math.inf, -math.inf] and math.isnan(special[4])


@pytest.mark.parametrize("x", [1.0, 2.0, 1e-9, 12345.678, 1e12])
def test_logarithms_and_powers_of_single_numbers(x):
    assert portable.log2(x) == pytest.approx(math.log2(x), rel=2 * ULP, abs=0)
    assert portable.power(x, 0.3) == pytest.approx(x**0.3, rel=2 * ULP)


def test_logarithms_are_exact_to_two_units():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 5001), np.linspace(0.5, 2, 5001), [5e-324]])
    exact = np.array([float(Decimal(value).ln()) for value in x])
    np.testing.assert_allclose(portable.log(x), exact, rtol=2 * ULP, atol=0)
    special = portable.log(np.array([0.0, -1.0, np.nan]))
    assert np.array_equal(special, [-np.inf, np.nan, np.nan], equal_nan=True)


def test_exp_is_as_exact_as_its_argument():
    x = np.linspace(-700, 700, 20001)
    exact = np.array([float(Decimal(value).exp()) for value in x])
    assert (np.abs(portable.exp(x) / exact - 1) <= (2 + np.abs(x)) * ULP).all()
    assert portable.exp(np.array([0.0, -1e6])).tolist() == [1.0, 0.0]
