"""Sums stored in two 64-bit words."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from netcarlo.kernels.base.sums import add, add_times

WORD = 2**63
amounts = st.integers(0, WORD - 1)


@given(st.lists(amounts, max_size=20))
def test_a_sum_of_two_words_is_exact(terms: list[int]) -> None:
    m = np.zeros(2, np.int64)
    for term in terms:
        add(m, 0, 1, np.int64(term))
    assert int(m[0]) + WORD * int(m[1]) == sum(terms) and m[0] >= 0


@pytest.mark.full
@given(amounts, st.integers(1, 2**50), st.integers(0, 2**60))
@example(WORD - 1, 1, 2**60)
def test_so_many_at_once_are_as_many_one_by_one(before: int, amount: int, most: int) -> None:
    count = min(most // amount * 20, 2**62)
    m = np.array([before, 0])
    add_times(m, 0, 1, np.int64(count), np.int64(amount))
    assert int(m[0]) + WORD * int(m[1]) == before + count * amount
