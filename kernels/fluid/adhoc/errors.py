"""Random losses in ad hoc networks: segments lost at the receiving host, and existing links that the MAC
gives up.

Segments are lost as in the packet engine, with the same gaps from the same random stream. Links are given up
in a Poisson process whose rate follows from the route.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import JITTER, REQUEST_PERIOD
from netcarlo.kernels.adhoc.layout import STREAM_RESIDUAL, Manet
from netcarlo.kernels.base.exponential import FRACTION_BITS, exponential
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.fluid.adhoc.exchange import patience
from netcarlo.kernels.fluid.adhoc.state import STREAM_GIVEN_UP, AirFloat, AirWord
from netcarlo.kernels.fluid.chance import survival
from netcarlo.kernels.fluid.state import ONE, ONE_BITS

_LONGEST = FOREVER >> ONE_BITS


def prepare(m: Any, s: Any, g: Any, losses: Any) -> None:
    """Initialise the loss probabilities and draw the first losses."""
    g[AirFloat.FRAME] = 1.0 - survival(losses, m[Manet.FRAME_LOSS])
    both = survival(losses, m[Manet.ACK_RESIDUAL]) * survival(losses, m[Manet.ACK_RESIDUAL])
    g[AirFloat.PROBES] = 1.0 - both * both
    _draw_gap(m, s, losses)
    _draw_break(m, s, g)


def _draw_gap(m: Any, s: Any, losses: Any) -> None:
    """Draw the number of packets until the next loss at the receiving host (`base.loss.gap`)."""
    row, number = m[Manet.RESIDUAL], s[AirWord.GAPS]
    left = gap(losses, row, m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_RESIDUAL, number)
    s[AirWord.GAP] = min(left, np.int64(_LONGEST)) << ONE_BITS
    s[AirWord.GAPS] += 1


def lose(m: Any, s: Any, losses: Any, flow: Any) -> Any:
    """Send `flow` [packet, ONE_BITS]; return how many of its packets are lost at the receiving host."""
    lost = np.int64(0)
    while flow > s[AirWord.GAP]:
        flow = max(flow - s[AirWord.GAP] - ONE, np.int64(0))
        lost += 1
        _draw_gap(m, s, losses)
    s[AirWord.GAP] -= flow
    return lost


def _draw_break(m: Any, s: Any, g: Any) -> None:
    """Draw the expected number of link failures (unit exponential) until the next one."""
    number = s[AirWord.GIVEN_UP]
    g[AirFloat.HAZARD] = float(exponential(m, STREAM_GIVEN_UP, 2 * number)) * 2.0**-FRACTION_BITS
    s[AirWord.GIVEN_UP] = number + 1


@noinline
def give_up(m: Any, s: Any, g: Any, t: Any) -> Any:
    """Process that the MAC gives up an existing link at `t`; return when a route is known again [ns].

    If hidden nodes also destroy the first two route requests, the third request finds the route.
    """
    number = 2 * s[AirWord.GIVEN_UP] + 1
    word, _, _, _ = draw(m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_GIVEN_UP, number)
    each = g[AirFloat.WORST] / 2.0  # as for the first attempt of any frame
    chance = g[AirFloat.HIDDEN] / (g[AirFloat.NOISE] + g[AirFloat.HIDDEN]) * (each * each)
    _draw_break(m, s, g)
    if float(word) < chance * 2.0**32:
        return t + 4 * REQUEST_PERIOD
    return t + patience(m) + JITTER
