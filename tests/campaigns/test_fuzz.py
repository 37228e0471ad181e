import pytest

from tests.campaigns.fuzz import drive
from tests.campaigns.fuzz.run import MOST_S, run
from tests.campaigns.fuzz.seeds import seeds, write


@pytest.mark.parametrize("seed", seeds(), ids=lambda seed: str(seed.place))
def test_a_seed_that_nobody_changed_is_taken(tmp_path, seed):
    drive.drive(seed, write(seed.tree), drive.playground(tmp_path))


def test_two_thousand_cases_are_taken_or_refused_on_one_line():
    found = run(range(2000), seed=1)
    assert not found.wrong
    assert found.longest_s < MOST_S
    refused = sum(n for what, n in found.counts.items() if "refused" in what)
    assert refused > 1000
    assert len(found.unnamed) < 0.03 * refused, found.unnamed
