"""TCP with explicit loss notification: a packet that the receiver saw destroyed is sent again, without a cut.

Source: Balakrishnan and Katz, "Explicit loss notification and wireless web performance" (IEEE Globecom
Internet Mini-Conference 1998), on NewReno: a third duplicate acknowledgement with the mark, which means that
the packet it asks for was seen destroyed, starts a recovery with the window as it is.  Timeouts are as ever.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.bits import clear_bit, set_bit, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import newreno
from netcarlo.kernels.tcp.recovery import AVOIDED, REDUCE, SEND_TWO
from netcarlo.kernels.tcp.state import Ack, Phase, Tcp, Window

BASE = newreno
MARKS = True


class Eln(IntEnum):
    """Own words of scratch."""

    BITS = Tcp.OWN
    """Where the bitmap of the packets begins that the receiver saw destroyed."""
    PASSED = Tcp.OWN + 1
    """Packets below have arrived."""


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the bitmap."""
    m[Eln.BITS] = free
    m[Eln.PASSED] = 0
    for _ in range(p[P.RING] >> 6):
        m[free] = 0
        free += 1
    return free


def corrupted(m: Any, p: Any, packet: Any, expected: Any) -> None:
    """The receiver sees that a packet was destroyed by an error."""
    if packet >= expected:
        set_bit(m, m[Eln.BITS], p[P.RING] - 1, packet)


@noinline
def mark(m: Any, p: Any, at: Any, expected: Any) -> None:
    """The receiver asks for `expected` with the ACK at `at`: was that packet destroyed?"""
    mask = p[P.RING] - 1
    while m[Eln.PASSED] < expected:
        clear_bit(m, m[Eln.BITS], mask, m[Eln.PASSED])
        m[Eln.PASSED] += 1
    m[at + Ack.BLOCK] = 1 if test_bit(m, m[Eln.BITS], mask, expected) else 0


def dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """A third with the mark resends the packet, and leaves the window as it is."""
    m, acked, threshold = row.m, sent.acked, row.p[P.DUPACKS]
    third = window.dupacks + 1 == threshold and (acked > m[Tcp.RECOVER] or acked == 0)
    if third and m[at + Ack.BLOCK] != 0:
        m[Tcp.PHASE] = Phase.RECOVERY
        m[Tcp.RECOVER] = sent.snd_max
        m[Tcp.INFLATION] = threshold
        return (
            Window(window.cwnd, window.ssthresh, window.dupacks + 1),
            SEND_TWO | REDUCE | AVOIDED,
            acked + 1,
        )
    return newreno.dup_ack(row, clock, at, sent, window)
