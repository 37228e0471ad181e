import math

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.expressions import evaluate, fill

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
    ],
)
def test_expressions(text, value):
    assert evaluate(text, VALUES) == value


def test_expressions_work_on_arrays():
    assert evaluate("max(x - 1, 0) * a / b", VALUES).tolist() == [0.0, 6.0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tpc", "'tpc' is no column; did you mean 'tcp'"),
        ("a +", "no expression"),
        ("().__class__", "not allowed"),
        ("__import__('os')", "not allowed"),
        ("[a for a in x]", "not allowed"),
        ("a ** 9", "not allowed"),
        ("lower(x=1)", "not allowed"),
        ("tcp * b", "no value"),
        ("a / 0", "no value"),
        ("lower(a)", "no value"),
    ],
)
def test_nothing_else_is_evaluated(text, complaint):
    with pytest.raises(InputError, match=complaint):
        evaluate(text, VALUES)


def test_templates_are_filled_at_any_depth():
    template = {"rate": "{a * 2} Mbit/s", "hops": [{"loss": "{b}"}, 4, None], "n": "{a}"}
    assert fill(template, VALUES) == {"rate": "6 Mbit/s", "hops": [{"loss": 0.5}, 4, None], "n": 3}
