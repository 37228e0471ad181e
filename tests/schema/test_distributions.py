import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import netcarlo
from netcarlo.errors import InputError
from netcarlo.schema import distributions, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantiles import empirical
from netcarlo.schema.quantity import Quantity

SCENARIO = """\
transport: {protocol: newreno}
duration: 10 s
hops: [{rate: 1 Mbit/s, delay: {empirical: delays.csv}}]
"""

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
        (Distribution("triangular", (1.0, 2.0, 7.0)), stats.triang(1 / 6, 1, 6)),
        (Distribution("triangular", (1.0, 7.0, 7.0)), stats.triang(1, 1, 6)),
        (Distribution("lognormal", (20.0, 0.7, 0.0, 1e6)), stats.lognorm(0.7, scale=20)),
        (Distribution("exponential", (3.0, 0.0, 1e9)), stats.expon(scale=3)),
        (Distribution("exponential", (3.0, 1.0, 4.0)), stats.truncexpon(1, loc=1, scale=3)),
        (Distribution("weibull", (3.0, 0.6, 0.0, 1e9)), stats.weibull_min(0.6, scale=3)),
        (Distribution("weibull", (3.0, 2.0, 1.0, 5.0)), stats.truncweibull_min(2, 1 / 3, 5 / 3, scale=3)),
        (Distribution("pareto", (1e3, 1.2, 1e3, 1e15)), stats.pareto(1.2, scale=1e3)),
        (Distribution("pareto", (1.0, 1.2, 1.0, 50.0)), stats.truncpareto(1.2, 50)),
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


def test_an_empirical_distribution_is_linear_between_its_points():
    points = [["10", 0.25], [20, 0.75], [20, "0.8"], [40, 1]]
    found = distributions.parse({"empirical": points}, float, low=0.0, high=99.0)
    u = np.array([0.0, 0.2, 0.25, 0.5, 0.75, 0.799, 0.9, 1.0 - 2.0**-53])
    np.testing.assert_allclose(found.quantile(u), [10, 10, 10, 15, 20, 20, 30, 40])
    assert found.bounds() == (10.0, 40.0)


def test_values_of_a_file_are_equally_likely(tmp_path):
    (tmp_path / "delays.csv").write_text("value\n12 ms\n\n9.5 ms\n")
    (tmp_path / "path.yaml").write_text(SCENARIO)
    scenario = netcarlo.load_scenario(tmp_path / "path.yaml")
    assert scenario.paths[0].hops[0].delay == Distribution("choice", (0.012, 0.0095))
    (tmp_path / "delays.csv").unlink()
    again = type(scenario).check(scenario.model_dump())
    assert again == scenario


def test_a_file_that_is_missing_is_named_with_its_line(tmp_path):
    (tmp_path / "path.yaml").write_text(SCENARIO)
    with pytest.raises(InputError, match=r"path.yaml:3: hops.0.delay: .*delays.csv: no such file"):
        netcarlo.load_scenario(tmp_path / "path.yaml")


@pytest.mark.parametrize("kind", ["normal", "lognormal", "exponential", "weibull", "pareto", "triangular"])
def test_what_is_written_reads_back(kind):
    field = Quantity(units.TIME, 0.0, 3600.0)
    given = {
        "normal": {"mean": "10 ms", "sd": "3 ms"},
        "lognormal": {"median": "10 ms", "sigma": 0.5, "max": "1 s"},
        "exponential": {"mean": "1 s", "min": "10 ms"},
        "weibull": {"scale": "1 s", "shape": 1.5},
        "pareto": {"scale": "1 s", "shape": 1.5, "min": "0.5 s"},
        "triangular": ["1 ms", "2 ms", "9 ms"],
    }[kind]
    found = field.validate({kind: given})
    assert field.validate(field.show(found)) == found


@settings(max_examples=200)
@given(
    st.sampled_from(["lognormal", "weibull", "pareto"]),
    st.floats(1e-6, 1e6), st.floats(0.01, 100), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9),
)  # fmt: skip
def test_no_value_leaves_its_bounds_or_falls(kind, first, shape, one, other):
    names = distributions.NAMED[kind]
    low, high = sorted((one, other))
    try:
        found = distributions.parse(
            {kind: {names[0]: first, names[1]: shape, "min": low, "max": high}}, float, low=0.0, high=1e12
        )
    except InputError:  # nothing between the bounds
        return
    values = found.quantile(np.concatenate([[0.0], U, [1.0 - 2.0**-53]]))
    assert (np.diff(values) >= -1e-12 * values[1:]).all()
    assert low <= values[0] and values[-1] <= high


def test_a_normal_without_bounds_is_truncated_at_the_limits_of_its_field():
    found = distributions.parse({"normal": {"mean": 1, "sd": 2}}, float, low=0.0, high=10.0)
    assert found.bounds() == (0.0, 10.0)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"uniforn": [1, 2]}, "did you mean 'uniform'"),
        ({"uniform": [1, 2], "choice": [1]}, "is not a distribution"),
        ({"uniform": [2, 1]}, "descending order"),
        ({"uniform": [1]}, "wrong (parameters|form)"),
        ({"uniform": 1}, "wrong (parameters|form)"),
        ({"choice": []}, "wrong (parameters|form)"),
        ({"log_uniform": [0, 1]}, "positive values"),
        ({"integers": [1.5, 3]}, "not a whole number"),
        ({"normal": {"mean": 1}}, "wrong (parameters|form)"),
        ({"normal": {"mean": 1, "sd": 0}}, "above 0"),
        ({"normal": {"mean": 1, "sd": 1, "min": 3, "max": 2}}, "min not below max"),
        ({"normal": {"mean": 1, "sd": 1, "min": 50, "max": 60}}, "8 sd outside"),
        ({"lognormal": {"median": 1, "sigma": 0.1, "min": 50, "max": 60}}, "8 sigma outside"),
        ({"lognormal": {"median": 0, "sigma": 0.1}}, "median above 0"),
        ({"weibull": {"scale": 1, "shape": 0}}, "shape of 0; expected 0.01 to 100"),
        ({"exponential": {"mean": 0}}, "mean above 0"),
        ({"exponential": {"median": 1}}, "wrong parameters; write {exponential: {mean: m, "),
        ({"triangular": [1, 5, 2]}, "descending order"),
        ({"triangular": [1, 5]}, "lowest, most likely, highest"),
        ({"empirical": [[1, 0.5], [2, 0.9]]}, "do not end at 1"),
        ({"empirical": [[2, 0.5], [1, 1]]}, "points that decrease"),
        ({"empirical": [[2, "half"], [3, 1]]}, "not a number"),
        ({"empirical": []}, "0 points"),
        ({"empirical": [[1, 0.5], [2]]}, "wrong (parameters|form)"),
        ({"empirical": 5}, "wrong (parameters|form)"),
        ({}, "is not a distribution"),
    ],
)
def test_bad_distributions_are_refused(given, complaint):
    with pytest.raises(InputError, match=complaint):
        distributions.parse(given, float, low=0.0, high=100.0)


def test_a_measured_distribution_has_no_value_where_it_jumps() -> None:
    """The function continues at the later of two points with the same probability."""
    flat = (10.0, 20.0, 30.0, 40.0, 0.25, 0.5, 0.5, 1.0)  # nothing between 20 and 30
    at = np.array([0.0, 0.25, 0.375, np.nextafter(0.5, 0), 0.5, 0.75])
    assert empirical(at, flat) == pytest.approx([10, 10, 15, 20, 30, 35])
