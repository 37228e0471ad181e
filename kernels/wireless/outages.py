"""Outages of an access point, the gateway.

While it is down, it sends and receives nothing, and accepts nothing from its wire. It loses all packets that
it holds, as if it were switched off, but completes a transmission in progress. Stations do not know that it
is down and continue to transmit. After the outage its state is the initial one. Start and end of its outages
[ns], in order and without overlap, are in `network`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import NOBODY, Node, NodeOut, Radio
from netcarlo.kernels.wireless.state import (
    NO_EVENT,
    NODE_COUNTS,
    START_OF_KEYS,
    Mac,
    Phase,
    Wait,
    Word,
    node_at,
)

access: Any = slot("access")
node: Any = slot("node")


@noinline
def lay(m: Any, network: Any) -> None:
    """Schedule the first outage, before the start."""
    m[Word.OUTAGE] = 0
    _look_out(m, network, np.int64(0))


@noinline
def change(m: Any, nodes: Any, network: Any, t: Any) -> Any:
    """Start or end an outage of the gateway. Return the gateway if it has room again, else NOBODY."""
    gateway = m[Radio.NODES] - 1
    at = node_at(m, gateway)
    if m[at + Mac.END] != NO_EVENT:
        _set_key(m, m[at + Mac.END])
        return np.int64(NOBODY)
    down = m[Word.OUTAGE] & 1 == 0
    m[Word.OUTAGE] += 1
    _look_out(m, network, t)
    if down:
        _go_down(m, at, t)
    else:
        node.accept_again(m, network, at)
        m[at + Node.QUEUE] = nodes[gateway, Node.QUEUE]
        m[at + Node.SENSE] = nodes[gateway, Node.SENSE]
        m[at + Mac.BUSY_SINCE] = t
    access.schedule(m, gateway, at)
    return np.int64(NOBODY) if down else gateway


def _look_out(m: Any, network: Any, t: Any) -> None:
    k = m[Word.OUTAGE]
    if k < 2 * m[Radio.OUTAGES]:
        _set_key(m, max(network[m[Radio.OUTAGES_AT] + k], t))
    else:
        _set_key(m, np.int64(NO_EVENT))


def _set_key(m: Any, t: Any) -> None:
    m[START_OF_KEYS + m[Radio.NODES] + m[Radio.LEGS] + m[Radio.FLOWS]] = t << 2 | Phase.FLOW


def _go_down(m: Any, at: Any, t: Any) -> None:
    if m[Word.ON_AIR] & m[at + Node.SENSE] != 0:
        m[at + NODE_COUNTS + NodeOut.BUSY] += t - m[at + Mac.BUSY_SINCE]
    node.lose_all(m, at, t)
    m[at + Node.QUEUE] = 0
    m[at + Node.SENSE] = 0
    m[at + Mac.WAITING] = Wait.NOTHING
    m[at + Mac.TIMEOUT] = NO_EVENT
    m[at + Mac.RESET] = NO_EVENT
    m[at + Mac.START] = NO_EVENT
    m[at + Mac.LOCK] = NOBODY
    m[at + Mac.DATA_RATE] = NOBODY
    m[at + Mac.NEXT] = NOBODY
    m[at + Mac.CW] = m[Radio.CW_MIN]
    for word in range(Mac.SINCE, Mac.CW):
        m[at + word] = 0
    for word in range(Mac.RX, Mac.BUSY_SINCE):
        m[at + word] = 0
