"""Schedule of handovers: given, periodic, or of a host that crosses round cells in straight lines.

A host may soon return to the previous cell (ping-pong), and an anticipated handover may not take place (false
alarm). The chord of a round cell at a uniformly distributed distance from its centre is sqrt(1 - v**2) of the
diameter, on average pi / 4 of it.
"""

import math
from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, SCHEDULE_GIVEN, SCHEDULE_PERIODIC, STREAM_MOBILITY
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.path.mobility.timeline import Handover


class Journey(IntEnum):
    """Words of scratch of a host's journey."""

    HERE = 0  # time of attachment to the present place [ns]
    REGULAR = 1  # handovers so far that were not returns
    CELL = 2  # number of the present cell
    BACK = 3  # 1 if the next handover is a return
    FALSE = 4  # 1 if this handover is a false alarm
    TRIGGER = 5  # time from which the host may signal [ns]
    RETURN = 6  # 1 if this handover is a return


JOURNEY = len(Journey)


@noinline
def depart(parameters: Any, outages: Any, m: Any, journey: Any, at: Any, k: Any, radio: Any) -> Any:
    """Write DOWN, UP and INTER of handover `k` to the words `at` of scratch as for a real handover.

    Advances the `journey` and returns the time at which the link goes down [ns], FOREVER if there is no
    handover. `radio` is the hop whose outages hold a given schedule.
    """
    w0, w1, w2, w3 = draw(
        parameters[RowP.SEED], parameters[RowP.SCENARIO], parameters[RowP.REPLICATION], STREAM_MOBILITY, k
    )
    here = m[journey + Journey.HERE]
    m[journey + Journey.FALSE] = 0
    m[journey + Journey.RETURN] = m[journey + Journey.BACK]
    if m[journey + Journey.BACK] == 1:
        down = here + parameters[MobileP.PING_PONG_STAY]
        m[journey + Journey.CELL] -= 1
        inter = _crosses(parameters, m[journey + Journey.CELL])
    else:
        down = max(
            _planned(parameters, outages, m, journey, w0, radio), here + parameters[MobileP.LEAST_STAY]
        )
        m[journey + Journey.REGULAR] += 1
        inter = _crosses(parameters, m[journey + Journey.CELL])
        if np.int64(w3) < parameters[MobileP.FALSE_ALARM]:
            m[journey + Journey.FALSE] = 1
        else:
            m[journey + Journey.CELL] += 1
    jitter = parameters[MobileP.OUTAGE_JITTER]
    spread = (np.int64(w1) >> np.int64(8)) * (2 * jitter) >> np.int64(24)
    up = down + max(np.int64(1), parameters[MobileP.OUTAGE] - jitter + spread)
    m[journey + Journey.TRIGGER] = max(
        down - parameters[MobileP.ANTICIPATION], here + parameters[MobileP.ANNOUNCE]
    )
    m[at + Handover.DOWN] = down
    m[at + Handover.UP] = up
    m[at + Handover.INTER] = inter
    m[journey + Journey.HERE] = up
    m[journey + Journey.BACK] = 0
    if m[journey + Journey.FALSE] == 1:
        m[journey + Journey.HERE] = down + parameters[MobileP.FALSE_ALARM_TIME]
    elif m[journey + Journey.RETURN] == 0 and np.int64(w2) < parameters[MobileP.PING_PONG]:
        m[journey + Journey.BACK] = 1
    return down


def _planned(parameters: Any, outages: Any, m: Any, journey: Any, word: Any, radio: Any) -> Any:
    """Return the time of the next handover that is not a return [ns]; `word` has 32 random bits."""
    regular = m[journey + Journey.REGULAR]
    down = np.int64(FOREVER)
    if parameters[MobileP.SCHEDULE] == SCHEDULE_GIVEN:
        if regular < outages.shape[2]:
            down = outages[0, radio, regular, 0]
    elif parameters[MobileP.SCHEDULE] == SCHEDULE_PERIODIC:
        down = parameters[MobileP.FIRST_HANDOVER] + regular * parameters[MobileP.EVERY]
    else:
        v = np.int64(word) >> np.int64(1)
        rest = (np.int64(1) << np.int64(62)) - v * v
        crossing = np.int64(math.sqrt(float(rest)) * 2.0**-31 * float(parameters[MobileP.EVERY]))
        down = m[journey + Journey.HERE] + crossing
    return down


def _crosses(parameters: Any, cell: Any) -> Any:
    """Return 1 if the border after a cell separates two MAP domains, else 0."""
    size = parameters[MobileP.DOMAIN_SIZE]
    if size > 0 and (cell + 1) % size == 0:
        return np.int64(1)
    return np.int64(0)
