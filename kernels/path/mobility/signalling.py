"""Signalling messages: propagation delay, and random loss on the radio link with retransmission.

Source: RFC 6275, sections 6.1.7 and 11.8 (retransmission after 1 s, doubled each time) and 5.2.5 (return
routability).
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_SIGNALLING
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.path.mobility.timeline import Delay


class Message(IntEnum):
    """Messages of a handover."""

    PREPARE = 0  # fast binding update
    REGISTER = 1  # local registration with the MAP
    HOME = 2  # binding update to the home agent
    ROUTE = 3  # return routability
    BIND = 4  # binding update to the sender
    ANNOUNCE = 5  # announcement at the new router


ATTEMPTS = 6
"""Maximum number of transmissions of a message."""
RETRY = 1_000_000_000
"""First retransmission timeout of a message [ns]."""


def send(parameters: Any, k: Any, message: Any, t: Any, delay: Any) -> Any:
    """Return the arrival time of a message of handover `k` that is sent at `t` [ns]; FOREVER if it never
    arrives."""
    return _deliver(parameters, k, message, t, delay, np.int64(0))


def exchange(parameters: Any, k: Any, message: Any, t: Any, round_trip: Any) -> Any:
    """Return the arrival time of the reply to a message of handover `k` that is sent at `t` [ns]."""
    return _deliver(parameters, k, message, t, round_trip, parameters[MobileP.SIGNAL_LOSS])


@noinline
def home(parameters: Any, m: Any, delays: Any, k: Any, t: Any) -> Any:
    """Return the time at which the sender knows the new address, by way of the home agent [ns].

    It includes the test of return routability.
    """
    registered = exchange(parameters, k, Message.HOME, t, m[delays + Delay.HOME_TRIP])
    routable = exchange(parameters, k, Message.ROUTE, registered, m[delays + Delay.ROUTABILITY])
    return send(parameters, k, Message.BIND, routable, m[delays + Delay.TO_SENDER])


@noinline
def abroad(parameters: Any, m: Any, delays: Any, k: Any, t: Any) -> Any:
    """Return the time at which the sender knows the new address after registration with a new MAP [ns]."""
    trip = m[delays + Delay.TO_MAP] + m[delays + Delay.TO_HOST]
    return home(parameters, m, delays, k, exchange(parameters, k, Message.REGISTER, t, trip))


@noinline
def _deliver(parameters: Any, k: Any, message: Any, t: Any, delay: Any, reply_loss: Any) -> Any:
    if t >= FOREVER:
        return np.int64(FOREVER)
    for attempt in range(ATTEMPTS):
        w0, w1, _, _ = draw(
            parameters[RowP.SEED], parameters[RowP.SCENARIO], parameters[RowP.REPLICATION],
            np.int64(STREAM_SIGNALLING), (k * 8 + message) * 8 + attempt,
        )  # fmt: skip
        if np.int64(w0) >= parameters[MobileP.SIGNAL_LOSS] and np.int64(w1) >= reply_loss:
            return t + delay
        t += np.int64(RETRY) << np.int64(attempt)
    return np.int64(FOREVER)
