"""TCP with explicit loss notification: corrupted packets are retransmitted without reducing the window.

Source: Balakrishnan and Katz, "Explicit loss notification and wireless web performance" (IEEE Globecom
Internet Mini-Conference 1998), on NewReno. A third duplicate ACK with a mark means that the receiver saw the
requested packet corrupted: recovery starts and the window is kept. Timeouts are those of NewReno.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.bits import clear_bit, set_bit, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp import newreno
from netcarlo.kernels.tcp.recovery import AVOIDED, REDUCE, SEND_TWO
from netcarlo.kernels.tcp.state import Ack, Phase, Tcp, Window

BASE = newreno
LOSS_MARKS = True


class Eln(IntEnum):
    """Scratch words of explicit loss notification."""

    BITMAP = Tcp.SCHEME
    """First word of the bitmap of packets that the receiver saw corrupted."""
    RECEIVED_BELOW = Tcp.SCHEME + 1
    """All packets below this one have arrived."""


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out the bitmap."""
    m[Eln.BITMAP] = free
    m[Eln.RECEIVED_BELOW] = 0
    for _ in range(p[RowP.RING] >> 6):
        m[free] = 0
        free += 1
    return free


def corrupted(m: Any, p: Any, packet: Any, expected: Any) -> None:
    """Note a packet that the receiver sees corrupted."""
    if packet >= expected:
        set_bit(m, m[Eln.BITMAP], p[RowP.RING] - 1, packet)


@noinline
def mark(m: Any, p: Any, at: Any, expected: Any) -> None:
    """Mark the ACK at word `at` if the packet `expected`, which it requests, was seen corrupted."""
    mask = p[RowP.RING] - 1
    while m[Eln.RECEIVED_BELOW] < expected:
        clear_bit(m, m[Eln.BITMAP], mask, m[Eln.RECEIVED_BELOW])
        m[Eln.RECEIVED_BELOW] += 1
    m[at + Ack.SACK_BLOCK] = 1 if test_bit(m, m[Eln.BITMAP], mask, expected) else 0


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Retransmit and keep the window at a third duplicate ACK with a mark."""
    m, highest_ack, threshold = row.m, sent.highest_ack, row.p[ReliableP.DUPACKS]
    third = window.dupacks + 1 == threshold and (highest_ack > m[Tcp.RECOVER] or highest_ack == 0)
    if third and m[at + Ack.SACK_BLOCK] != 0:
        m[Tcp.PHASE] = Phase.RECOVERY
        m[Tcp.RECOVER] = sent.snd_max
        m[Tcp.INFLATION] = threshold
        return (
            Window(window.cwnd, window.ssthresh, window.dupacks + 1),
            SEND_TWO | REDUCE | AVOIDED,
            highest_ack + 1,
        )
    return newreno.on_dup_ack(row, clock, at, sent, window)
