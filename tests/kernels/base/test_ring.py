"""Rings: comparison with queues of Python."""

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.ring import Ring


@given(st.integers(1, 5), st.integers(1, 3), st.lists(st.booleans(), max_size=40))
def test_what_comes_first_leaves_first(room: int, words: int, coming: list[bool]) -> None:
    at, begin = 3, 10
    m = np.full(begin + room * words + 1, -1)
    ring.init(m, at, begin, room)
    queue: deque[int] = deque()
    for number, comes in enumerate(coming):
        if comes and len(queue) < room:
            m[ring.push(m, at, words)] = number
            queue.append(number)
        elif not comes and queue:
            assert m[ring.first(m, at, words)] == queue.popleft()
            ring.pop(m, at)
        assert m[at + Ring.COUNT] == len(queue)
        assert [m[ring.entry(m, at, words, i)] for i in range(len(queue))] == list(queue)
    assert m[-1] == -1


@given(st.integers(0, 4), st.integers(1, 3), st.integers(0, 2**40))
def test_numbered_entries_do_not_meet(bits: int, words: int, first: int) -> None:
    room = 1 << bits
    found = [ring.numbered(100, room - 1, words, number) for number in range(first, first + room)]
    assert sorted(found) == list(range(100, 100 + room * words, words))
    assert ring.numbered(100, room - 1, words, first + room) == found[0]
