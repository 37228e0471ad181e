import pytest

from netcarlo.errors import InputError
from netcarlo.schema.axes import AxisSpec, points


def of(spec, name="x"):
    return points(name, AxisSpec.check(spec))


def test_values_have_units_and_the_name_may_be_the_field():
    found = of(["10 ms", "0.2 s"], "hops.0.delay")
    assert found.labels == (0.01, 0.2) and found.unit == "s" and found.numeric
    assert found.settings == ({"hops.0.delay": "10 ms"}, {"hops.0.delay": "0.2 s"})


def test_linear_and_log_meet_their_ends_and_round_values_stay_round():
    linear = of({"field": "hops.0.delay", "linear": ["10 ms", "50 ms"], "points": 5})
    assert linear.labels == (0.01, 0.02, 0.03, 0.04, 0.05) and not linear.log
    log = of({"field": "hops.0.rate", "log": ["1 Mbit/s", "100 Mbit/s"], "points": 3})
    assert log.labels == (1e6, 1e7, 1e8) and log.unit == "bit/s" and log.log


def test_a_zip_moves_fields_together_and_cases_have_labels():
    zipped = of({"zip": {"hops.0.rate": ["1 Mbit/s", "2 Mbit/s"], "hops.0.delay": ["3 ms", "4 ms"]}})
    assert zipped.labels == (1e6, 2e6) and zipped.numeric
    assert zipped.settings[1] == {"hops.0.rate": "2 Mbit/s", "hops.0.delay": "4 ms"}
    cases = of({"cases": {"a": {"transport.protocol": "reno"}, "b": {"transport.window": 8}}})
    assert cases.labels == ("a", "b") and not cases.numeric


def test_equal_first_values_of_a_zip_get_distinct_labels():
    zipped = of({"zip": {"hops.0.rate": ["1 Mbit/s", "1 Mbit/s"], "hops.0.delay": ["3 ms", "4 ms"]}})
    assert zipped.labels == ("1: 1 Mbit/s, 3 ms", "2: 1 Mbit/s, 4 ms")


def test_words_are_labels():
    assert of({"field": "transport.protocol", "values": ["reno", "sack"]}).labels == ("reno", "sack")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "needs exactly one of"),
        ({"values": [1], "log": [1, 2], "points": 3}, "values and log"),
        ({"linear": [1, 2]}, "points: 10"),
        ({"values": [1], "points": 3}, "only with these"),
        ({"log": [0, 2], "points": 3}, "raise the lower end"),
        ({"log": [2, 1], "points": 3}, "descending order"),
        ({"linear": ["1 ms", "2 Mbit/s"], "points": 3}, "in one unit"),
        ({"linear": ["a", 2], "points": 3}, "is not a number"),
        ({"zip": {"a": [1], "b": [1, 2]}}, "different numbers of values"),
        ({"field": "a", "zip": {"a": [1]}}, "remove field"),
        ({"values": ["10 ms", "0.01 s"]}, "twice"),
        ({"valus": [1]}, "did you mean 'values'?"),
    ],
)
def test_mistakes_are_refused(spec, words):
    with pytest.raises(InputError, match=words):
        of(spec)
