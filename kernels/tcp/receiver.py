"""The receiver: in-order prefix, out-of-order packets as a bitmap, SACK blocks.

Source: RFC 2018 and RFC 793; the choice and order of SACK blocks follow ns-2's `Sacker` (the block
of the newest packet first, then the most recent others, three in all).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold

BLOCKS = 3
"""SACK blocks an ACK carries at most."""

STACK_WORDS = 1 + 2 * BLOCKS
"""Words that `blocks` keeps between packets: how many, then (left, right) pairs, newest first."""

_ONE = np.int64(1)


def make_bits(dev: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """Compile `(test, put, drop)` of a circular bitmap of `mask + 1` bits at word `at` of scratch."""

    def test(m: Any, at: Any, mask: Any, i: Any) -> Any:
        place = i & mask
        return (m[at + (place >> 6)] >> np.int64(place & 63)) & _ONE != 0

    def put(m: Any, at: Any, mask: Any, i: Any) -> None:
        place = i & mask
        m[at + (place >> 6)] |= _ONE << np.int64(place & 63)

    def drop(m: Any, at: Any, mask: Any, i: Any) -> None:
        place = i & mask
        m[at + (place >> 6)] &= ~(_ONE << np.int64(place & 63))

    return dev(test), dev(put), dev(drop)


def make_receiver(dev: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Compile `(arrive, blocks)` for a target.

    `arrive(m, counts, bits, mask, packet, expected, highest) -> (expected, highest)` takes a packet
    in and counts in `m[counts]` the packets held out of order, in `m[counts + 1]` the duplicates.
    `blocks(m, stack, bits, mask, packet, expected,
    highest, at) -> int` writes the SACK blocks of the ACK for `packet` to `m[at:]`, a pair (left,
    right) each and -1 behind the last, and returns their number.
    """
    test, put, drop = make_bits(dev)

    @cold
    def out_of_order(
        m: Any, counts: Any, bits: Any, mask: Any, packet: Any, expected: Any, highest: Any
    ) -> Any:
        if packet < expected or (packet <= highest and test(m, bits, mask, packet)):
            m[counts + 1] += 1
            return expected, highest
        highest = max(highest, packet)
        if packet != expected:
            put(m, bits, mask, packet)
            m[counts] += 1
            return expected, highest
        expected += 1
        while expected <= highest and test(m, bits, mask, expected):
            drop(m, bits, mask, expected)
            m[counts] -= 1
            expected += 1
        return expected, highest

    out_of_order = dev(out_of_order)

    def arrive(m: Any, counts: Any, bits: Any, mask: Any, packet: Any, expected: Any, highest: Any) -> Any:
        if packet == expected and highest < expected:
            return expected + 1, packet
        return out_of_order(m, counts, bits, mask, packet, expected, highest)

    def blocks(
        m: Any, stack: Any, bits: Any, mask: Any, packet: Any, expected: Any, highest: Any, at: Any
    ) -> Any:  # fmt: skip
        m[at] = -1
        if expected > highest:
            m[stack] = 0
            return 0
        count = 0
        fresh = packet >= expected
        left = np.int64(0)
        right = expected
        if fresh:
            right = packet + 1
            while right <= highest and test(m, bits, mask, right):
                right += 1
            left = packet
            if m[stack] > 0 and m[stack + 2] == packet:  # the newest block grows
                left = m[stack + 1]
            while test(m, bits, mask, left - 1):
                left -= 1
            m[at] = left
            m[at + 1] = right
            count = 1
        k = 0
        while count < BLOCKS and k < m[stack]:
            entry = stack + 1 + 2 * k
            if left <= m[entry] and right >= m[entry + 1]:  # covered by the newest block
                m[stack] -= 1
                for j in range(2 * k, 2 * m[stack]):
                    m[stack + 1 + j] = m[stack + 3 + j]
                continue
            m[at + 2 * count] = m[entry]
            m[at + 2 * count + 1] = m[entry + 1]
            count += 1
            k += 1
        if count < BLOCKS:
            m[at + 2 * count] = -1
        if fresh:
            m[stack] = min(m[stack], BLOCKS - 1) + 1
            for j in range(2 * m[stack] - 1, 1, -1):
                m[stack + 1 + j] = m[stack - 1 + j]
            m[stack + 1] = left
            m[stack + 2] = right
        return count

    return dev(arrive), dev(blocks)
