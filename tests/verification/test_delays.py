"""Delays by class beside packet traces of ns-2: two of the scenarios of `delays`."""

import pytest

from tests.verification.delays import Case, cases, errors


@pytest.mark.needs("ns")
@pytest.mark.parametrize("case", cases(3)[1:], ids=str)
def test_quantiles_are_those_of_ns2(case: Case) -> None:
    found = errors(case)
    assert {word for word, _ in found} == {"video", "download"}
    for (word, name), error in found.items():
        assert abs(error) < (0.05 if name == "jitter_s" else 0.02), (word, name, error)
