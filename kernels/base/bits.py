"""Circular bitmaps in scratch: `mask + 1` bits from word `at` of scratch `m` on.

Runs of bits are processed 64 at a time, because on a device one lane that loops over bits delays all others.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import global_memory, noinline

_ONE = np.int64(1)


def test_bit(m: Any, at: Any, mask: Any, i: Any) -> Any:
    """Return True if bit `i` is set."""
    place = i & mask
    return (global_memory(m)[at + (place >> 6)] >> np.int64(place & 63)) & _ONE != 0


def set_bit(m: Any, at: Any, mask: Any, i: Any) -> None:
    """Set bit `i`."""
    place = i & mask
    global_memory(m)[at + (place >> 6)] |= _ONE << np.int64(place & 63)


def clear_bit(m: Any, at: Any, mask: Any, i: Any) -> None:
    """Clear bit `i`."""
    place = i & mask
    global_memory(m)[at + (place >> 6)] &= ~(_ONE << np.int64(place & 63))


def span(begin: Any, end: Any) -> Any:
    """Return a word in which the bits `begin` to `end` - 1, of one word of a bitmap, are set."""
    bits = np.int64(-1) << np.int64(begin & 63)
    if end & 63:
        bits &= ~(np.int64(-1) << np.int64(end & 63))
    return bits


@noinline
def clear_bits(m: Any, at: Any, mask: Any, begin: Any, end: Any) -> None:
    """Clear the bits `begin` to `end` - 1."""
    i = begin
    while i < end:
        stop = min(end, (i | 63) + 1)
        global_memory(m)[at + ((i & mask) >> 6)] &= ~span(i, stop)
        i = stop


def _lowest(word: Any) -> Any:
    """Return the length of the run of set bits from the lowest bit on."""
    count, width = np.int64(0), np.int64(32)
    while width > 0:
        low = (_ONE << width) - 1
        if word & low == low:
            word >>= width
            count += width
        width >>= np.int64(1)
    return count + (word & _ONE)


def _highest(word: Any) -> Any:
    """Return the length of the run of set bits from the highest bit down."""
    count, width = np.int64(0), np.int64(32)
    while width > 0:
        if word >> (np.int64(64) - width) == -1:
            word <<= width
            count += width
        width >>= np.int64(1)
    return count - (word >> np.int64(63))


@noinline
def run_end(m: Any, at: Any, mask: Any, begin: Any, end: Any) -> Any:
    """Return the first bit from `begin` on that is not set, at most `end`; at least `begin`."""
    i, going = begin, begin < end
    while going:
        left = np.int64(64 - (i & 63))
        run = min(_lowest(global_memory(m)[at + ((i & mask) >> 6)] >> np.int64(i & 63)), left)
        i += run
        going = run == left and i < end
    return max(min(i, end), begin)


@noinline
def run_begin(m: Any, at: Any, mask: Any, end: Any) -> Any:
    """Return the first bit of the run of set bits that ends at `end` - 1. Not all bits may be set."""
    i, going = end, test_bit(m, at, mask, end - 1)
    while going:
        left = np.int64(((i - 1) & 63) + 1)
        run = min(_highest(global_memory(m)[at + (((i - 1) & mask) >> 6)] << (np.int64(64) - left)), left)
        i -= run
        going = run == left
    return i
