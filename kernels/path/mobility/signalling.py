"""Signalling messages: they take the propagation delay of their way, and may be lost on the radio link.

Source: RFC 6275, sections 6.1.7 and 11.8 (retransmission after 1 s, doubled each time) and 5.2.5 (return
routability).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, STREAM_SIGNALLING, P
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.path.mobility.timeline import HOME_TRIP, ROUTABILITY, TO_HOST, TO_MAP, TO_SENDER

# Messages of a handover.
PREPARE = np.int64(0)  # fast binding update
REGISTER = np.int64(1)  # local registration with the MAP
HOME = np.int64(2)  # binding update to the home agent
ROUTE = np.int64(3)  # return routability
BIND = np.int64(4)  # binding update to the sender
ANNOUNCE = np.int64(5)  # at the new router

ATTEMPTS = 6
RETRY = 1_000_000_000
"""First time-out of a message [ns]."""


class Signalling(NamedTuple):
    """The compiled functions; `k` is the handover, `message` one of the numbers above."""

    send: Any
    """`(parameters, k, message, t, delay) -> int`: when a message sent from `t` on arrives [ns]."""
    exchange: Any
    """`(parameters, k, message, t, round_trip) -> int`: when its answer arrives."""
    home: Any
    """`(parameters, m, legs, k, t) -> int`: when the sender knows the new address, after the home agent
    and the test of return routability."""
    abroad: Any
    """`(parameters, m, legs, k, t) -> int`: the same after registration with a new MAP."""


def make_signalling(dev: Callable[[Any], Any]) -> Signalling:
    """Compile the signalling for a target."""
    draw = make_draw(dev)

    @cold
    def deliver(parameters: Any, k: Any, message: Any, t: Any, delay: Any, reply_loss: Any) -> Any:
        if t >= FOREVER:
            return np.int64(FOREVER)
        for attempt in range(ATTEMPTS):
            w0, w1, _, _ = draw(
                parameters[P.SEED], parameters[P.SCENARIO], parameters[P.REPLICATION],
                np.int64(STREAM_SIGNALLING), (k * 8 + message) * 8 + attempt,
            )  # fmt: skip
            if np.int64(w0) >= parameters[P.SIGNAL_LOSS] and np.int64(w1) >= reply_loss:
                return t + delay
            t += np.int64(RETRY) << np.int64(attempt)
        return np.int64(FOREVER)

    deliver = dev(deliver)

    def send(parameters: Any, k: Any, message: Any, t: Any, delay: Any) -> Any:
        return deliver(parameters, k, message, t, delay, np.int64(0))

    send = dev(send)

    def exchange(parameters: Any, k: Any, message: Any, t: Any, round_trip: Any) -> Any:
        return deliver(parameters, k, message, t, round_trip, parameters[P.SIGNAL_LOSS])

    exchange = dev(exchange)

    @cold
    def home(parameters: Any, m: Any, legs: Any, k: Any, t: Any) -> Any:
        registered = exchange(parameters, k, HOME, t, m[legs + HOME_TRIP])
        routable = exchange(parameters, k, ROUTE, registered, m[legs + ROUTABILITY])
        return send(parameters, k, BIND, routable, m[legs + TO_SENDER])

    home = dev(home)

    @cold
    def abroad(parameters: Any, m: Any, legs: Any, k: Any, t: Any) -> Any:
        local = exchange(parameters, k, REGISTER, t, m[legs + TO_MAP] + m[legs + TO_HOST])
        return home(parameters, m, legs, k, local)

    return Signalling(send, exchange, home, dev(abroad))
