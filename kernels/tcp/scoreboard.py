"""What a Linux-like sender knows of the packets it has out: reported, lost, sent again.

Source: Mathis and Mahdavi, "Forward acknowledgement: refining TCP congestion control" (SIGCOMM 1996), with
the detection of lost retransmissions of Linux 2.6, in the form of ns-2 (`Agent/TCP/Linux`).

A packet is lost once one `P.DUPACKS` or more above it has been reported.  Retransmissions are logged in the
order of sending: one is lost when data first sent after it has arrived, or a retransmission more than
`P.DUPACKS` later.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp.receiver import BLOCKS, make_bits
from netcarlo.kernels.tcp.recovery import NONE, OWN

_LOST_OUT = OWN  # packets that are lost and not sent again
_REPORTED_OUT = OWN + 1  # packets above the cumulative acknowledgement that have been reported
_HIGHEST = OWN + 2  # highest packet reported
_JUDGED = OWN + 3  # every packet up to this one that was not reported is lost or has been sent again
_NEXT_LOST = OWN + 4  # no packet below is lost
_ARRIVED = OWN + 5  # number of the latest retransmission known to have arrived
_FIRST, _END = OWN + 6, OWN + 7  # retransmissions in the log: numbers of the first and behind the last
_REPORTED, _LOST = OWN + 8, OWN + 9  # where things begin in scratch: bitmaps,
_NUMBER = OWN + 10  # by packet, the number of its latest retransmission,
_RESENT, _AFTER = OWN + 11, OWN + 12  # by number, the packet and the first new packet sent later
FREE = OWN + 13
"""First state word that the scoreboard leaves to others."""


def scratch_words(ring: int) -> int:
    """Words of scratch, behind those of the state, for rings of `ring` packets."""
    return 2 * (ring // 64) + 3 * ring


class Scoreboard(NamedTuple):
    """The compiled functions; `una` is the highest packet acknowledged, `seq` the next new one."""

    prepare: Any
    """`(m, parameters, free) -> free`: lay out scratch from word `free` on."""
    flight: Any
    """`(m, una, seq) -> int`: packets in flight, those lost left out."""
    acknowledge: Any
    """`(m, parameters, ack, una)`: packets up to `ack` have arrived."""
    report: Any
    """`(m, parameters, at, ack) -> (reported, lost)`: take in the blocks of the ACK at `at`, which
    acknowledges `ack`; did it report packets, are more lost?"""
    next_lost: Any
    """`(m, parameters, una) -> int`: the first lost packet, or NONE."""
    resend: Any
    """`(m, parameters, packet, seq)`: it is sent again."""
    lose: Any
    """`(m, parameters, una, seq)`: everything that was not reported is lost."""
    clear: Any
    """`(m, parameters, ack)`: forget everything but that packets up to `ack` have arrived."""


def make(dev: Callable[[Any], Any]) -> Scoreboard:
    """Compile the scoreboard for a target."""
    test, put, drop = make_bits(dev)

    @cold
    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        ring = parameters[P.RING]
        m[_HIGHEST] = NONE
        m[_JUDGED] = NONE
        m[_ARRIVED] = NONE
        m[_REPORTED] = free
        m[_LOST] = free + (ring >> 6)
        m[_NUMBER] = free + 2 * (ring >> 6)
        m[_RESENT] = m[_NUMBER] + ring
        m[_AFTER] = m[_RESENT] + ring
        for word in range(free, m[_NUMBER]):
            m[word] = 0
        return m[_AFTER] + ring

    def flight(m: Any, una: Any, seq: Any) -> Any:
        return seq - 1 - una - m[_LOST_OUT] - m[_REPORTED_OUT]

    @cold
    def remove(m: Any, parameters: Any, ack: Any, una: Any) -> None:
        mask = parameters[P.RING] - 1
        for packet in range(una + 1, min(ack, max(m[_HIGHEST], m[_JUDGED])) + 1):
            if test(m, m[_REPORTED], mask, packet):
                drop(m, m[_REPORTED], mask, packet)
                m[_REPORTED_OUT] -= 1
            elif packet <= m[_JUDGED]:
                if test(m, m[_LOST], mask, packet):
                    drop(m, m[_LOST], mask, packet)
                    m[_LOST_OUT] -= 1
                else:
                    m[_ARRIVED] = max(m[_ARRIVED], m[m[_NUMBER] + (packet & mask)])

    remove = dev(remove)

    def acknowledge(m: Any, parameters: Any, ack: Any, una: Any) -> None:
        if una < m[_HIGHEST] or una < m[_JUDGED]:
            remove(m, parameters, ack, una)

    def enter(m: Any, mask: Any, packet: Any) -> None:
        put(m, m[_REPORTED], mask, packet)
        m[_REPORTED_OUT] += 1
        if packet <= m[_JUDGED]:
            if test(m, m[_LOST], mask, packet):
                drop(m, m[_LOST], mask, packet)
                m[_LOST_OUT] -= 1
            else:
                m[_ARRIVED] = max(m[_ARRIVED], m[m[_NUMBER] + (packet & mask)])

    enter = dev(enter)

    def mark_lost(m: Any, mask: Any, packet: Any) -> None:
        put(m, m[_LOST], mask, packet)
        m[_LOST_OUT] += 1
        m[_NEXT_LOST] = min(m[_NEXT_LOST], packet)

    mark_lost = dev(mark_lost)

    @cold
    def update(m: Any, parameters: Any, at: Any, ack: Any) -> Any:
        mask = parameters[P.RING] - 1
        distance = parameters[P.DUPACKS]
        arrived = m[_ARRIVED]  # a retransmission that this ACK reports proves nothing before the next one
        reported = False
        for block in range(BLOCKS):
            left = m[at + 2 + 2 * block]
            if left < 0:
                break
            right = m[at + 3 + 2 * block]
            left = max(left, ack + 1)
            m[_HIGHEST] = max(m[_HIGHEST], right - 1)
            while left < right:  # a word of 64 packets at a time
                stop = min(right, (left | 63) + 1)
                run = np.int64(-1) << np.int64(left & 63)
                if stop & 63:
                    run &= ~(np.int64(-1) << np.int64(stop & 63))
                if m[m[_REPORTED] + ((left & mask) >> 6)] & run != run:
                    reported = True
                    for packet in range(left, stop):
                        if not test(m, m[_REPORTED], mask, packet):
                            enter(m, mask, packet)
                left = stop
        lost = False
        for packet in range(max(m[_JUDGED], ack) + 1, m[_HIGHEST] - distance + 1):
            if not test(m, m[_REPORTED], mask, packet):
                lost = True
                mark_lost(m, mask, packet)
        m[_JUDGED] = max(m[_JUDGED], m[_HIGHEST] - distance)
        while m[_FIRST] < m[_END]:
            number = m[_FIRST]
            if m[m[_AFTER] + (number & mask)] > m[_HIGHEST] and number + distance >= arrived:
                break
            packet = m[m[_RESENT] + (number & mask)]
            if packet > ack and not test(m, m[_REPORTED], mask, packet):
                lost = True
                mark_lost(m, mask, packet)
            m[_FIRST] += 1
        return reported, lost

    update = dev(update)

    def report(m: Any, parameters: Any, at: Any, ack: Any) -> Any:
        if m[at + 2] >= 0 or ack < m[_HIGHEST] or ack < m[_JUDGED]:
            return update(m, parameters, at, ack)
        return False, False

    @cold
    def next_lost(m: Any, parameters: Any, una: Any) -> Any:
        if m[_LOST_OUT] == 0:
            return NONE
        mask = parameters[P.RING] - 1
        packet = max(m[_NEXT_LOST], una + 1)
        while not test(m, m[_LOST], mask, packet):
            packet += 1
        m[_NEXT_LOST] = packet
        return packet

    @cold
    def resend(m: Any, parameters: Any, packet: Any, seq: Any) -> None:
        mask = parameters[P.RING] - 1
        drop(m, m[_LOST], mask, packet)
        m[_LOST_OUT] -= 1
        m[m[_NUMBER] + (packet & mask)] = m[_END]
        m[m[_RESENT] + (m[_END] & mask)] = packet
        m[m[_AFTER] + (m[_END] & mask)] = seq
        m[_END] += 1

    @cold
    def lose(m: Any, parameters: Any, una: Any, seq: Any) -> None:
        mask = parameters[P.RING] - 1
        for packet in range(una + 1, seq):
            lost = packet <= m[_JUDGED] and test(m, m[_LOST], mask, packet)
            if not lost and not test(m, m[_REPORTED], mask, packet):
                mark_lost(m, mask, packet)
        m[_JUDGED] = seq - 1
        m[_FIRST] = m[_END]
        m[_ARRIVED] = m[_END] - 1

    @cold
    def clear(m: Any, parameters: Any, ack: Any) -> None:
        for word in range(m[_REPORTED], m[_NUMBER]):
            m[word] = 0
        m[_LOST_OUT] = 0
        m[_REPORTED_OUT] = 0
        m[_HIGHEST] = NONE
        m[_JUDGED] = ack
        m[_NEXT_LOST] = ack + 1
        m[_FIRST] = m[_END]
        m[_ARRIVED] = m[_END] - 1

    return Scoreboard(
        dev(prepare), dev(flight), dev(acknowledge), dev(report), dev(next_lost), dev(resend), dev(lose),
        dev(clear),
    )  # fmt: skip
