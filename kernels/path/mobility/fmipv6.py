"""Fast Handovers for Mobile IPv6: the old router tunnels packets to the new one, which buffers them.

Source: RFC 4068. The handover is predictive if the fast binding update, the address check of the new router
and the reply complete, with a margin, while the host is attached to the old router. Otherwise it is reactive:
the host sends the update from its new place, and the old router buffers packets until then.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.path.mobility.signalling import Message, exchange, home, send
from netcarlo.kernels.path.mobility.timeline import Delay, Handover


@noinline
def plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline of a handover, see `handovers`."""
    consent = prepare(parameters, m, delays, at, k, trigger, parameters[MobileP.PREPARATION])
    m[at + Handover.FORWARD] = consent
    return complete(parameters, m, delays, at, k, consent)


@noinline
def prepare(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, check: Any) -> Any:
    """Return the time at which the old router has the new one's consent [ns], which takes `check` [ns] there.

    FOREVER if the reply does not reach the host in time.
    """
    _set_tunnel(parameters, m, at)
    answer_delay = m[delays + Delay.RADIO_DOWN]
    trip = m[delays + Delay.RADIO_UP] + 2 * m[at + Handover.TUNNEL] + check + answer_delay
    answer = exchange(parameters, k, Message.PREPARE, trigger, trip)
    if answer > m[at + Handover.DOWN] - parameters[MobileP.MARGIN]:
        return np.int64(FOREVER)
    return answer - answer_delay


@noinline
def complete(parameters: Any, m: Any, delays: Any, at: Any, k: Any, consent: Any) -> Any:
    """Complete the timeline after the old router's `consent`, or as a reactive handover if it is FOREVER."""
    if consent < FOREVER:
        start = m[at + Handover.UP] + parameters[MobileP.ANNOUNCE]
        m[at + Handover.RELEASE] = send(parameters, k, Message.ANNOUNCE, start, m[delays + Delay.RADIO_UP])
        m[at + Handover.AT_CN] = home(parameters, m, delays, k, start)
        return 1
    react(parameters, m, delays, at, k)
    m[at + Handover.AT_CN] = home(
        parameters, m, delays, k, m[at + Handover.UP] + parameters[MobileP.DETECTION]
    )
    return 0


@noinline
def react(parameters: Any, m: Any, delays: Any, at: Any, k: Any) -> None:
    """Let the old router buffer packets until the host requests them from its new place."""
    _set_tunnel(parameters, m, at)
    start = m[at + Handover.UP] + parameters[MobileP.DETECTION]
    delay = m[delays + Delay.RADIO_UP] + m[at + Handover.TUNNEL]
    m[at + Handover.KEPT] = send(parameters, k, Message.ANNOUNCE, start, delay)
    m[at + Handover.RELEASE] = m[at + Handover.UP]


def _set_tunnel(parameters: Any, m: Any, at: Any) -> None:
    m[at + Handover.TUNNEL] = 2 * parameters[MobileP.MAP_TO_AR] + m[at + Handover.DETOUR]
