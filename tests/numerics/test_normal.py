"""Normal distribution, compared with SciPy's."""

import math
import zlib

import numpy as np
import pytest
import scipy.special

from netcarlo.numerics import evidence, normal, statistics
from netcarlo.schema.distributions import Distribution

MIDDLE = np.arange(1, 20_000) / 20_000
TAILS = 10.0 ** np.linspace(-300, -1, 2000)


@pytest.mark.parametrize("p", [MIDDLE, TAILS, 1 - TAILS[TAILS > 1e-15]], ids=["middle", "low", "high"])
def test_quantiles_are_those_of_scipy(p):
    np.testing.assert_allclose(normal.quantile(p), scipy.special.ndtri(p), rtol=1e-12, atol=1e-15)


def test_quantiles_have_the_same_bits_everywhere():
    ends = normal.quantile(np.array([0.0, 0.5, 1.0, np.nan, -0.1, 1.1]))
    assert ends[:3].tolist() == [-math.inf, 0.0, math.inf] and np.isnan(ends[3:]).all()
    found = normal.quantile(np.concatenate([MIDDLE, np.ldexp(1.0, -np.arange(1, 1000))]))
    assert zlib.crc32(found.tobytes()) == 2686227564
    assert float(normal.quantile(np.float64(0.975))).hex() == "0x1.f5c0331eeff82p+0"


def test_probabilities_are_those_of_scipy():
    x = np.concatenate([np.linspace(-37, 37, 201), np.linspace(-6, 6, 201)])
    below = [normal.below(float(each)) for each in x]
    np.testing.assert_allclose(below, scipy.special.ndtr(x), rtol=1e-12, atol=0)
    assert (normal.below(-math.inf), normal.below(0.0), normal.below(math.inf)) == (0.0, 0.5, 1.0)


def test_no_draw_and_no_statistic_depends_on_the_version_of_scipy(monkeypatch):
    for name in ("ndtr", "ndtri", "stdtrit", "betaincc", "betaln"):
        monkeypatch.setattr(scipy.special, name, None)
    assert statistics.mean([1.0, 2.0, 4.0]).ci_high > 4
    assert statistics.proportion([True, False]).ci_high < 1
    assert Distribution("normal", (1.0, 2.0, 0.0, 3.0)).quantile(np.array([0.5])) > 1
    assert evidence.above(9, 10, 0.5) > 0
