"""Packets in flight over the route in use of an ad hoc network, and their round trip.

An SCTP receiver buffers the chunks beyond a missing one, which leaves little of its window for new chunks.

`m` and `s` are the scratch of the row and the words of the flow, `g` its floats, see `state`; `t` is in ns.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, SctpP
from netcarlo.kernels.fluid import round as rounds
from netcarlo.kernels.fluid.adhoc import chain
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord
from netcarlo.kernels.fluid.state import FlowFloat, FlowWord, State
from netcarlo.kernels.senders import ALONE

KIND: Any = slot("kind")  # number of the TCP, see `senders`; ALONE is SCTP


def in_flight(m: Any, s: Any, g: Any, t: Any) -> Any:
    """Return the number of packets sent in a round trip from `t` on."""
    packets = rounds.in_flight(g)
    if KIND == ALONE and t < s[AirWord.REFILLED_AT]:
        burst = m[SctpP.MAX_BURST] if t >= s[FlowWord.UNTIL] else np.int64(0)
        packets = min(packets, s[AirWord.ROOM] + burst)
    return packets


def round_trip(m: Any, s: Any, g: Any, t: Any) -> Any:
    """Return the round trip from `t` on [ns].

    The receiver of SCTP delays the SACK of a single packet, and of the retransmission that closes a gap if no
    packet follows it.
    """
    packets = min(in_flight(m, s, g, t), m[Manet.QUEUE] + 1 + chain.hops_of(m))
    length = max(g[AirFloat.TRIP], float(packets) * g[AirFloat.SERVICE])
    if KIND == ALONE and m[ReliableP.ACK_EVERY] > 1:
        repairs = s[FlowWord.STATE] == State.RECOVERY and t < s[FlowWord.UNTIL]
        if packets == 1 or (repairs and s[AirWord.ROOM] <= m[ReliableP.DUPACKS]):
            length += float(m[ReliableP.ACK_DELAY])
    return length


def recover(m: Any, s: Any, g: Any, buffered: Any, t: Any) -> None:
    """Begin a fast recovery of SCTP at `t`.

    The receiver has buffered `buffered` packets beyond the last missing one. A round trip later the missing
    packets have arrived, and the next round trip begins with a burst of `SctpP.MAX_BURST` packets.
    """
    s[AirWord.ROOM] = max(np.int64(g[FlowFloat.RECEIVE_WINDOW]) - buffered, np.int64(1))
    s[FlowWord.UNTIL], s[AirWord.REFILLED_AT] = FOREVER, FOREVER
    s[FlowWord.UNTIL] = t + np.int64(round_trip(m, s, g, t))
    s[AirWord.REFILLED_AT] = s[FlowWord.UNTIL] + np.int64(round_trip(m, s, g, s[FlowWord.UNTIL]))
