"""TCP receiver: in-order prefix, bitmap of out-of-order packets, SACK blocks.

Source: RFC 2018 and RFC 9293. Choice and order of SACK blocks follow ns-2's `Sacker`: the block of the newest
packet first, then the most recent others, three in all.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bits import clear_bits, run_begin, run_end, set_bit, test_bit
from netcarlo.kernels.base.inline import global_memory, noinline

BLOCKS = 3
"""Maximum number of SACK blocks in an ACK."""

SACK_STACK_WORDS = 1 + 2 * BLOCKS
"""Words of the list of recent SACK blocks: their number, then pairs (left, right), newest first."""


@noinline
def _out_of_order(m: Any, counts: Any, bits: Any, mask: Any, packet: Any, expected: Any, highest: Any) -> Any:
    """Process a packet that is not simply the next: set its bit, or count a duplicate."""
    if packet < expected or (packet <= highest and test_bit(m, bits, mask, packet)):
        m[counts + 1] += 1
        return expected, highest
    highest = max(highest, packet)
    if packet != expected:
        set_bit(m, bits, mask, packet)
        m[counts] += 1
        return expected, highest
    end = run_end(m, bits, mask, expected + 1, highest + 1)
    clear_bits(m, bits, mask, expected + 1, end)
    m[counts] -= end - (expected + 1)
    return end, highest


def arrive(m: Any, counts: Any, bits: Any, mask: Any, packet: Any, expected: Any, highest: Any) -> Any:
    """Process the arrival of a packet; return the new (expected, highest).

    `expected` is the first missing packet and `highest` the highest received. `m[counts]` counts the packets
    held out of order, `m[counts + 1]` duplicates.
    """
    if packet == expected and highest < expected:
        return expected + 1, packet
    return _out_of_order(m, counts, bits, mask, packet, expected, highest)


def write_sack_blocks(
    m: Any, stack: Any, bits: Any, mask: Any, packet: Any, expected: Any, highest: Any, at: Any
) -> Any:  # fmt: skip
    """Write the SACK blocks of the ACK for `packet` to `m[at:]`; return their number.

    A block is a pair [left, right). The SACK_STACK_WORDS words from `stack` on hold the most recent blocks.
    """
    count, memory = 0, global_memory(m)
    if expected > highest:
        m[stack] = 0
        return count
    fresh = packet >= expected
    left = np.int64(0)
    right = expected
    if fresh:
        right = run_end(m, bits, mask, packet + 1, highest + 1)
        left = packet
        if m[stack] > 0 and memory[stack + 2] == packet:  # the newest block grows
            left = memory[stack + 1]
            if right == packet + 1:  # the most frequent case
                memory[stack + 2] = right
                for word in range(2 * m[stack]):
                    memory[at + word] = memory[stack + 1 + word]
                return m[stack]
        left = run_begin(m, bits, mask, left)
        memory[at] = left
        memory[at + 1] = right
        count = 1
    k = 0
    while count < BLOCKS and k < m[stack]:
        entry = stack + 1 + 2 * k
        if left <= memory[entry] and right >= memory[entry + 1]:  # covered by the newest block
            m[stack] -= 1
            for j in range(2 * k, 2 * m[stack]):
                memory[stack + 1 + j] = memory[stack + 3 + j]
            continue
        memory[at + 2 * count] = memory[entry]
        memory[at + 2 * count + 1] = memory[entry + 1]
        count += 1
        k += 1
    if fresh:
        m[stack] = min(m[stack], BLOCKS - 1) + 1
        for j in range(2 * m[stack] - 1, 1, -1):
            memory[stack + 1 + j] = memory[stack - 1 + j]
        memory[stack + 1] = left
        memory[stack + 2] = right
    return count
