"""Random loss of one kind of packets: a countdown of the packets until the next loss."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP


class Countdown(IntEnum):
    """Words of scratch of a countdown."""

    GAP = 0  # packets until the next loss
    GAPS = 1  # gaps drawn


def lost(p: Any, losses: Any, m: Any, at: Any, row: Any, stream: Any) -> Any:
    """Return True if a packet is lost, by the countdown at word `at` of scratch.

    Gaps are drawn from a `stream` with the thresholds `losses[row]`; `p` are the parameters of the row.
    """
    left = m[at + Countdown.GAP]
    if left == 0:
        draw_gap(p, losses, m, at, row, stream)
        return True
    m[at + Countdown.GAP] = left - 1
    return False


def draw_gap(p: Any, losses: Any, m: Any, at: Any, row: Any, stream: Any) -> None:
    """Draw the next gap: before the first packet, and after a loss."""
    number = m[at + Countdown.GAPS]
    m[at + Countdown.GAP] = gap(
        losses, row, p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, number
    )
    m[at + Countdown.GAPS] = number + 1
