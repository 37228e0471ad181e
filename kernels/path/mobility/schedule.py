"""The schedule of handovers: given, periodic, or of a host that crosses round cells in straight lines.

A host may soon return to the cell it came from (ping-pong), and an anticipated handover may not come
(false alarm).  The chord of a round cell at a uniformly distributed distance from its centre is
sqrt(1 - v**2) of the diameter, on average pi / 4 of it.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, SCHEDULE_GIVEN, SCHEDULE_PERIODIC, STREAM_MOBILITY, P
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.path.mobility.timeline import DOWN, INTER, UP

# State of the journey, words of scratch.
HERE = 0  # attached to the present place since
REGULAR = 1  # handovers so far that were no returns
CELL = 2  # position
BACK = 3  # 1 if the next handover is a return
FALSE = 4  # 1 if this one is a false alarm
TRIGGER = 5  # from when on the host may signal
RETURN = 6  # 1 if this one is a return
JOURNEY = 7


def make_schedule(dev: Callable[[Any], Any]) -> Any:
    """Compile `depart(parameters, outages, m, journey, at, k, radio) -> down`.

    It fills DOWN, UP and INTER of handover `k` in the words `at` of scratch as if it were real,
    moves the `journey` on, and returns when the link goes down, FOREVER if no handover comes.  `radio`
    is the hop whose outages hold a given schedule.
    """
    draw = make_draw(dev)

    @cold
    def depart(parameters: Any, outages: Any, m: Any, journey: Any, at: Any, k: Any, radio: Any) -> Any:
        w0, w1, w2, w3 = draw(
            parameters[P.SEED], parameters[P.SCENARIO], parameters[P.REPLICATION], STREAM_MOBILITY, k
        )
        here = m[journey + HERE]
        m[journey + FALSE] = 0
        m[journey + RETURN] = m[journey + BACK]
        if m[journey + BACK] == 1:
            down = here + parameters[P.PING_PONG_STAY]
            m[journey + CELL] -= 1
            inter = crosses(parameters, m[journey + CELL])
        else:
            regular = m[journey + REGULAR]
            down = np.int64(FOREVER)
            if parameters[P.SCHEDULE] == SCHEDULE_GIVEN:
                if regular < outages.shape[2]:
                    down = outages[0, radio, regular, 0]
            elif parameters[P.SCHEDULE] == SCHEDULE_PERIODIC:
                down = parameters[P.FIRST_HANDOVER] + regular * parameters[P.EVERY]
            else:
                v = np.int64(w0) >> np.int64(1)
                rest = (np.int64(1) << np.int64(62)) - v * v
                down = here + np.int64(math.sqrt(float(rest)) * 2.0**-31 * float(parameters[P.EVERY]))
            m[journey + REGULAR] += 1
            down = max(down, here + parameters[P.LEAST_STAY])
            inter = crosses(parameters, m[journey + CELL])
            if np.int64(w3) < parameters[P.FALSE_ALARM]:
                m[journey + FALSE] = 1
            else:
                m[journey + CELL] += 1
        jitter = parameters[P.OUTAGE_JITTER]
        spread = (np.int64(w1) >> np.int64(8)) * (2 * jitter) >> np.int64(24)
        up = down + max(np.int64(1), parameters[P.OUTAGE] - jitter + spread)
        m[journey + TRIGGER] = max(down - parameters[P.ANTICIPATION], here + parameters[P.ANNOUNCE])
        m[at + DOWN] = down
        m[at + UP] = up
        m[at + INTER] = inter
        if m[journey + FALSE] == 1:
            m[journey + HERE] = down + parameters[P.FALSE_ALARM_TIME]
        else:
            m[journey + HERE] = up
        m[journey + BACK] = 0
        if m[journey + FALSE] == 0 and m[journey + RETURN] == 0 and np.int64(w2) < parameters[P.PING_PONG]:
            m[journey + BACK] = 1
        return down

    def crosses(parameters: Any, cell: Any) -> Any:
        # Whether the border behind a cell is one between two MAPs.
        size = parameters[P.DOMAIN_SIZE]
        if size > 0 and (cell + 1) % size == 0:
            return np.int64(1)
        return np.int64(0)

    crosses = dev(crosses)
    return dev(depart)
