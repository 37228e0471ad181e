"""Events of a node: start and end of its frames, and timeouts of answers."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.wireless import delivery, medium
from netcarlo.kernels.wireless.dcf import exchange
from netcarlo.kernels.wireless.forwarding import drop, lose
from netcarlo.kernels.wireless.frame import head_of
from netcarlo.kernels.wireless.layout import NOBODY, FlowOut, NodeOut, Radio
from netcarlo.kernels.wireless.state import NODE_COUNTS, Mac, Phase, node_at

observer: Any = slot("observer")
ONE_WAY: Any = slot("one_way")


def on_event(m: Any, f: Any, constants: Any, losses: Any, trace: Any, node: Any, key: Any) -> None:
    """Process the event of a node that is due."""
    t = key >> 2
    phase = key & 3
    left = np.int64(NOBODY)
    if phase == Phase.START:
        medium.begin(m, node, t)
        observer.on_transmission(m, f, trace, t, node)
    elif phase == Phase.END:
        left, reached = medium.end(m, losses, node, t)
        if reached != NOBODY:
            frame = head_of(m, node_at(m, node))
            delivery.forward(m, f, constants, t, frame)
            observer.on_received(m, f, trace, t, frame, reached)
    else:
        left, frame = exchange.time_out(m, node, t)
        if frame != NOBODY:
            lose(m, frame, np.int64(FlowOut.RETRY_LOST), node)
    if left != NOBODY:
        if not ONE_WAY and m[Radio.BACK_PRESSURE] != 0:
            delivery.on_room(m, f, constants, t, left)
        exchange.conclude(m, left, t)


def lose_all(m: Any, at: Any, t: Any) -> None:
    """Lose all packets of the node at word `at`, which fails."""
    while m[at + Mac.COUNT] > 0:
        frame, received = head_of(m, at), m[at + Mac.HEAD_RECEIVED]
        exchange.leave(m, at, t)
        m[at + NODE_COUNTS + NodeOut.DROPS] += 1
        if received == 0:
            drop(m, frame)
    m[at + Mac.SHORT] = 0
    m[at + Mac.LONG] = 0
    m[at + Mac.BURST] = 0


def accept_again(m: Any, network: Any, at: Any) -> None:
    """Do nothing: the queue of a node is one of its columns."""


def on_return(m: Any, f: Any, constants: Any, t: Any, gateway: Any) -> None:
    """Do nothing: no source keeps a queue filled."""
