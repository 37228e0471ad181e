"""Random loss of one kind of packets: how many get through until the next is lost, counted down."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.loss import gap


class Countdown(IntEnum):
    """Words of scratch of a countdown."""

    GAP = 0  # packets until the next loss
    GAPS = 1  # gaps drawn so far


def lost(p: Any, losses: Any, m: Any, at: Any, row: Any, stream: Any) -> Any:
    """Whether a packet is lost, by the countdown at word `at` of scratch.

    Gaps are drawn from a `stream` with the thresholds `losses[row]`; `p` are the parameters of the row.
    """
    left = m[at + Countdown.GAP]
    if left == 0:
        draw_gap(p, losses, m, at, row, stream)
        return True
    m[at + Countdown.GAP] = left - 1
    return False


def draw_gap(p: Any, losses: Any, m: Any, at: Any, row: Any, stream: Any) -> None:
    """Draw the next gap: before the first packet, and when one is lost."""
    number = m[at + Countdown.GAPS]
    m[at + Countdown.GAP] = gap(losses, row, p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], stream, number)
    m[at + Countdown.GAPS] = number + 1
