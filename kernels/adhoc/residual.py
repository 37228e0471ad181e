"""Segments that have reached their host over the radio and are lost after all."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.adhoc.layout import STREAM_RESIDUAL
from netcarlo.kernels.adhoc.state import Word
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.loss import gap


class Error(IntEnum):
    """What is lost, and where: each has losses of its own, see STREAM_RESIDUAL."""

    OF_DATA = 0
    AT_SOURCE = 1
    AT_SINK = 2


@cold
def residual_error(m: Any, losses: Any, kind: Any, row: Any) -> Any:
    """Whether a segment that has reached its host is lost after all; `row` of `losses` tells how often."""
    if m[Word.DRAWN_OF_DATA + kind] == 0:
        _draw_gap(m, losses, kind, row)
    if m[Word.GAP_OF_DATA + kind] > 0:
        m[Word.GAP_OF_DATA + kind] -= 1
        return False
    _draw_gap(m, losses, kind, row)
    return True


def _draw_gap(m: Any, losses: Any, kind: Any, row: Any) -> None:
    """Draws how many segments reach their host before the next is lost."""
    number = m[Word.DRAWN_OF_DATA + kind]
    m[Word.DRAWN_OF_DATA + kind] = number + 1
    m[Word.GAP_OF_DATA + kind] = gap(
        losses, row, m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_RESIDUAL + kind, number
    )
