"""Residual errors: segments that reach their host over the radio, but are lost there."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.adhoc.layout import STREAM_RESIDUAL
from netcarlo.kernels.adhoc.state import Word
from netcarlo.kernels.base.countdown import Countdown, draw_gap, lost
from netcarlo.kernels.base.inline import noinline

_WORDS = len(Countdown)


class Error(IntEnum):
    """Kind and place of a residual error; each has a random stream of its own, see STREAM_RESIDUAL."""

    OF_DATA = 0
    AT_SOURCE = 1
    AT_SINK = 2


@noinline
def residual_error(m: Any, losses: Any, kind: Any, row: Any) -> Any:
    """Return whether a segment is lost at its host; `row` of `losses` has the distribution of losses."""
    at = Word.GAP_OF_DATA + _WORDS * kind
    stream = STREAM_RESIDUAL + kind
    if m[at + Countdown.GAPS] == 0:
        draw_gap(m, losses, m, at, row, stream)
    return lost(m, losses, m, at, row, stream)
