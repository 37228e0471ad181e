import math
import time

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.schema.expressions import evaluate, fill, numbers

VALUES = {"a": 3, "b": 0.5, "tcp": "Sack1", "none": math.nan, "x": np.array([1.0, 2.0])}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a + 2 * b - 1", 3.0),
        ("-a // 2 % 3", 1),
        ("'sack' if tcp == 'Sack1' else lower(tcp)", "sack"),
        ("lower(tcp) if a < 0 or b > 1 else 7", 7),
        ("a > 1 and not missing(b)", True),
        ("missing(none)", True),
        ("max(a, 10) + min(a, b)", 10.5),
        ("sqrt(16) + round(2.6)", 7.0),
        ("min(50, b, a)", 0.5),
        ("max(1, a, b, 2)", 3),
        ("min(a)", 3),
        ("9223372036854775807 + 1", 2.0**63),
        ("8 * a ** 2", 72.0),
        ("9 ** 9 ** 9 ** 9", math.inf),
    ],
)
def test_expressions(text, value):
    assert evaluate(text, VALUES) == value


def test_expressions_work_on_arrays():
    assert evaluate("max(x - 1, 0) * a / b", VALUES).tolist() == [0.0, 6.0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tpc", "'tpc' is not a column; did you mean 'tcp'"),
        ("a +", "not an expression"),
        ("().__class__", "not supported"),
        ("__import__('os')", "not supported"),
        ("[a for a in x]", "not supported"),
        ("lower(x=1)", "not supported"),
        ("tcp * b", "no value"),
        ("a / 0", "no value"),
        ("lower(a)", "no value"),
        ("'a' * 9999999999", "a text is not a number"),
        ("9999999999 * tcp", "a text is not a number"),
        ("'%c' % 99999999999", "a text is not a number"),
        ("tcp - 1", "a text is not a number"),
        ("min()", "'min' has 0 values; it takes one value or more"),
        ("round(a, 2)", "'round' has 2 values; it takes one value"),
        ("sqrt(x, x)", "'sqrt' has 2 values"),
        ("missing()", "'missing' has 0 values"),
        ("x and 1", "no value"),
        ("1 if x else 2", "no value"),
    ],
)
def test_nothing_else_is_evaluated(text, complaint):
    with pytest.raises(InputError, match=complaint):
        evaluate(text, VALUES)


def test_long_and_deep_expressions_are_refused():
    for text, complaint in (
        ("1+" * 20_000 + "1", "has 40001 characters; expected 1 to 1000"),
        ("-" * 5000 + "1", "has 5001 characters"),
        ("-" * 990 + "1", "too deep|no expression"),
        ("(" * 300 + ")" * 300, "not an expression"),
        ("9" * 400, "no value"),
    ):
        with pytest.raises(InputError, match=complaint):
            evaluate(text, {})


def test_templates_are_filled_at_any_depth():
    template = {"rate": "{a * 2} Mbit/s", "hops": [{"loss": "{b}"}, 4, None], "n": "{a}"}
    assert fill(template, VALUES) == {"rate": "6 Mbit/s", "hops": [{"loss": 0.5}, 4, None], "n": 3}


def test_the_least_of_three_leaves_the_third_alone():
    values = {"share": np.array([5.0, 10.0, 40.0]), "n_hops": np.array([1.0, 1.0, 1.0])}
    assert evaluate("min(50, share, n_hops)", values).tolist() == [1, 1, 1]
    assert evaluate("max(7, share, n_hops)", values).tolist() == [7, 10, 40]
    assert values["n_hops"].tolist() == [1, 1, 1] and values["share"].tolist() == [5, 10, 40]


def test_products_of_long_numbers_end_soon():
    started = time.process_time()
    with pytest.raises(InputError):
        evaluate(" * ".join(["9" * 4000] * 400), {})
    assert math.isinf(evaluate(" * ".join(["9" * 150] * 6), {}))
    assert time.process_time() - started < 1


def test_numbers_are_floats_and_nothing_else(recwarn):
    assert numbers("x / 0", VALUES).tolist() == [math.inf, math.inf]
    assert numbers("x > 1", VALUES).tolist() == [0, 1]
    for text in ("tcp", "'12'", "lower(tcp)"):
        with pytest.raises(InputError, match="a text is not a number"):
            numbers(text, VALUES)
    assert not recwarn.list
