"""Agenda: comparison of the earliest event with a sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels.base.agenda import earliest


@pytest.mark.full
@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(0, 3))
def test_the_first_of_the_least_is_next(keys: list[int], begin: int) -> None:
    m = np.array([-1] * begin + keys + [-1])
    who, key = earliest(m, begin, len(keys))
    assert (who, key) == (keys.index(min(keys)), min(keys))
