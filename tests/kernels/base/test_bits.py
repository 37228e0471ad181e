"""Circular bitmaps: comparison with sets of numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels.base import bits

AT = 3
"""First word of the bitmap; the words around it must not change."""
WORDS = 2
ROOM = 64 * WORDS


def bitmap(members: set[int]) -> np.ndarray:  # type: ignore[type-arg]
    """Return scratch with a bitmap of these numbers."""
    m = np.full(AT + WORDS + 1, 77, np.int64)
    m[AT : AT + WORDS] = 0
    for i in members:
        bits.set_bit(m, AT, ROOM - 1, np.int64(i))
    return m


firsts = st.integers(0, 10 * ROOM)


@st.composite
def runs(draw: st.DrawFn) -> tuple[int, set[int]]:
    """Return the first number that a bitmap may hold, and the numbers it holds, in a few long runs."""
    first = draw(firsts)
    ends = sorted(draw(st.sets(st.integers(first, first + ROOM - 1), max_size=8)))
    return first, {i for left, right in zip(ends[::2], ends[1::2], strict=False) for i in range(left, right)}


@given(runs())
def test_membership(held: tuple[int, set[int]]) -> None:
    first, members = held
    m = bitmap(members)
    found = {i for i in range(first, first + ROOM) if bits.test_bit(m, AT, ROOM - 1, np.int64(i))}
    assert found == members
    for i in members:
        bits.clear_bit(m, AT, ROOM - 1, np.int64(i))
    assert m.tolist() == bitmap(set()).tolist()


@given(runs(), st.integers(0, ROOM), st.integers(0, ROOM))
def test_clear(held: tuple[int, set[int]], begin: int, length: int) -> None:
    first, members = held
    begin += first
    end = min(begin + length, first + ROOM)
    m = bitmap(members)
    bits.clear_bits(m, AT, ROOM - 1, np.int64(begin), np.int64(end))
    assert m.tolist() == bitmap({i for i in members if not begin <= i < end}).tolist()


@given(runs(), st.integers(0, ROOM - 1), st.integers(-3, ROOM))
def test_the_end_of_a_run(held: tuple[int, set[int]], begin: int, length: int) -> None:
    first, members = held
    begin += first
    end = min(begin + length, first + ROOM)
    expected = begin
    while expected < end and expected in members:
        expected += 1
    assert bits.run_end(bitmap(members), AT, ROOM - 1, np.int64(begin), np.int64(end)) == expected


@given(runs(), st.integers(0, ROOM))
def test_the_beginning_of_a_run(held: tuple[int, set[int]], end: int) -> None:
    first, members = held
    end += first + 1
    members.discard(first)  # not all bits are set: the numbers below `first` use the same bits
    members = {i for i in members if i < first + ROOM}
    expected = end
    while expected - 1 in members:
        expected -= 1
    if end - 1 < first + ROOM:
        assert bits.run_begin(bitmap(members), AT, ROOM - 1, np.int64(end)) == expected


@given(st.integers(0, 1000), st.data())
def test_a_span_of_a_word(begin: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(begin + 1, (begin | 63) + 1))
    word = int(bits.span(np.int64(begin), np.int64(end)))
    assert [i for i in range(64) if word >> i & 1] == [i & 63 for i in range(begin, end)]
