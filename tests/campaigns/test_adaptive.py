"""Campaign `adaptive`: which winners count as equal and as different beyond chance, and use of screening."""

import numpy as np
import pytest

from netcarlo.sweeps.space.file import make_sweep
from tests.campaigns.verification import adaptive


def test_winners_that_differ_are_apart_where_the_intervals_do_not_meet() -> None:
    theirs = np.array([[5.0, 1.0], [5.0, 4.0], [5.0, 1.0], [3.0, 3.0], [np.nan, 1.0]])
    mine = np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    found = adaptive._compared(1, mine, theirs, theirs - 1, theirs + 1)
    assert found == adaptive.Agreement(of=4, same=2, apart=1)  # a tie by packets has two winners
    less = adaptive._compared(-1, -mine, -theirs, -theirs - 1, -theirs + 1)
    assert less == found


@pytest.mark.full
@pytest.mark.parametrize("name", adaptive.READY)
def test_the_ready_sweeps_are_screened_for_goals_and_winners(name: str) -> None:
    made = adaptive.definition(name, networks=64, replications=2)
    asked = make_sweep(made).screening
    assert asked is not None and asked.goals and asked.winner and asked.known.all()
    assert make_sweep(adaptive.by_packets(made)).screening is None
