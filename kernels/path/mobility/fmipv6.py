"""Fast Handovers for Mobile IPv6: the old router tunnels to the new one, which holds the packets.

Source: RFC 4068.  The handover is predictive if the fast binding update, the address check of the new
router and the answer are through, by a margin, while the host is still attached to the old router.
Otherwise it is reactive: the host sends the update from its new place, and the old router keeps the
packets until then.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.path.mobility.signalling import ANNOUNCE, PREPARE, Signalling
from netcarlo.kernels.path.mobility.timeline import (
    AT_CN,
    DETOUR,
    DOWN,
    FORWARD,
    KEPT,
    RADIO_DOWN,
    RADIO_UP,
    RELEASE,
    TUNNEL,
    UP,
)


@functools.cache  # one compiled function for all that use it
def make_prepare(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile `prepare(parameters, m, legs, at, k, trigger, check)`: when the old router has the new one's
    consent, which takes `check` [ns] there; FOREVER if the host does not hear of it in time."""
    exchange = signalling.exchange

    @cold
    def prepare(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, check: Any) -> Any:
        m[at + TUNNEL] = 2 * parameters[P.MAP_TO_AR] + m[at + DETOUR]
        trip = m[legs + RADIO_UP] + 2 * m[at + TUNNEL] + check + m[legs + RADIO_DOWN]
        answer = exchange(parameters, k, PREPARE, trigger, trip)
        if answer > m[at + DOWN] - parameters[P.MARGIN]:
            return np.int64(FOREVER)
        return answer - m[legs + RADIO_DOWN]

    return dev(prepare)


@functools.cache  # one compiled function for all that use it
def make_react(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile `react(parameters, m, legs, at, k)`: the reactive part of a timeline."""
    send = signalling.send

    @cold
    def react(parameters: Any, m: Any, legs: Any, at: Any, k: Any) -> None:
        m[at + TUNNEL] = 2 * parameters[P.MAP_TO_AR] + m[at + DETOUR]
        start = m[at + UP] + parameters[P.DETECTION]
        m[at + KEPT] = send(parameters, k, ANNOUNCE, start, m[legs + RADIO_UP] + m[at + TUNNEL])
        m[at + RELEASE] = m[at + UP]

    return dev(react)


def make_plan(dev: Callable[[Any], Any], signalling: Signalling, *, then: int, addresses: int) -> Any:
    """Compile the timeline of a protocol whose old router acts on the new one's consent.

    `then` is the word that this sets: FORWARD (tunnels) or COPY (sends to both).  Of two `addresses` a
    host that returns still has the old one, so that nothing is left to check; of one it has not.
    """
    send, home = signalling.send, signalling.home
    prepare, react = make_prepare(dev, signalling), make_react(dev, signalling)

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        check = parameters[P.PREPARATION]
        if addresses == 2 and back == 1:
            check = np.int64(0)
        m[at + then] = prepare(parameters, m, legs, at, k, trigger, check)
        if m[at + then] < FOREVER:
            start = m[at + UP] + parameters[P.ANNOUNCE]
            m[at + RELEASE] = send(parameters, k, ANNOUNCE, start, m[legs + RADIO_UP])
            m[at + AT_CN] = home(parameters, m, legs, k, start)
            return 1
        react(parameters, m, legs, at, k)
        m[at + AT_CN] = home(parameters, m, legs, k, m[at + UP] + parameters[P.DETECTION])
        return 0

    return dev(plan)


def make(dev: Callable[[Any], Any], signalling: Signalling) -> Any:
    """Compile the timeline, see `handovers`."""
    return make_plan(dev, signalling, then=FORWARD, addresses=1)
