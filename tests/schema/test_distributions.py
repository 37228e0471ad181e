import numpy as np
import pytest
from scipy import stats

from netcarlo.errors import InputError
from netcarlo.schema import distributions
from netcarlo.schema.distributions import Distribution

U = (np.arange(20_000) + 0.5) / 20_000


@pytest.mark.parametrize(
    ("distribution", "truth"),
    [
        (Distribution("uniform", (2.0, 5.0)), stats.uniform(2, 3)),
        (Distribution("log_uniform", (0.1, 20.0)), stats.loguniform(0.1, 20)),
        (Distribution("integers", (3.0, 9.0)), stats.randint(3, 10)),
        (Distribution("normal", (1.0, 2.0, 0.0, 3.0)), stats.truncnorm(-0.5, 1, 1, 2)),
        (Distribution("normal", (0.0, 1.0, 4.0, 9.0)), stats.truncnorm(4, 9)),
        (Distribution("normal", (0.0, 1.0, -9.0, -4.0)), stats.truncnorm(-9, -4)),
    ],
)
def test_quantiles_are_those_of_scipy(distribution, truth):
    values = distribution.quantile(U)
    np.testing.assert_allclose(values, truth.ppf(U), rtol=1e-9, atol=1e-12)
    low, high = distribution.bounds()
    ends = distribution.quantile(np.array([0.0, 1.0 - 2.0**-53]))
    assert low <= ends[0] <= ends[1] <= high


def test_a_choice_takes_each_value_equally_often():
    values, counts = np.unique(Distribution("choice", (5.0, 1.0, 7.0, 2.0)).quantile(U), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 5.0, 7.0]
    assert counts.tolist() == [5000] * 4


def test_a_normal_without_bounds_is_truncated_at_the_limits_of_its_field():
    found = distributions.parse({"normal": {"mean": 1, "sd": 2}}, float, low=0.0, high=10.0)
    assert found.bounds() == (0.0, 10.0)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"uniforn": [1, 2]}, "did you mean 'uniform'"),
        ({"uniform": [1, 2], "choice": [1]}, "is not a distribution"),
        ({"uniform": [2, 1]}, "falling order"),
        ({"uniform": [1]}, "wrong shape"),
        ({"uniform": 1}, "wrong shape"),
        ({"choice": []}, "wrong shape"),
        ({"log_uniform": [0, 1]}, "logarithm"),
        ({"integers": [1.5, 3]}, "no whole number"),
        ({"normal": {"mean": 1}}, "wrong shape"),
        ({"normal": {"mean": 1, "sd": 0}}, "above 0"),
        ({"normal": {"mean": 1, "sd": 1, "min": 3, "max": 2}}, "min not below max"),
        ({"normal": {"mean": 1, "sd": 1, "min": 50, "max": 60}}, "8 sd outside"),
        ({}, "is not a distribution"),
    ],
)
def test_bad_distributions_are_refused(given, complaint):
    with pytest.raises(InputError, match=complaint):
        distributions.parse(given, float, low=0.0, high=100.0)
