"""Socket buffers of the send queue of a subflow.

The kernel appends data to the last socket buffer if that is unsent, ends with the data before, and has room
(`mptcp_sendmsg_frag`). A burst ends with its socket buffer. The last packet of one may leave alone, and the
next burst may be deferred (`tcp_tso_should_defer`), so that less than the window is in flight.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import FIRST, Flag, Packet, Tcp, packet_at
from netcarlo.kernels.mptcp.state import Sub, dsn_at

association: Any = slot("association")
"""Functions of the association of a subflow."""
GSO_MAX_SIZE = 65_215
"""Largest socket buffer [bytes] (`sk_gso_max_size`)."""


def length_at(p: Any, s: Any, packet: Any) -> Any:
    """Return the word that holds the packets of the socket buffer that begins with `packet`."""
    return s[Sub.SKB_LENGTHS] + (packet & (p[RowP.RING] - 1))


def append(p: Any, s: Any, packet: Any, dsn: Any) -> None:
    """Append a data packet to the last socket buffer of subflow `s`, or to a new one."""
    tail, most = s[Sub.TAIL_SKB], max(quotient(GSO_MAX_SIZE, max(p[RowP.DATA], 1)), 1)
    unsent = tail >= max(s[Tcp.SND_NXT], FIRST)
    if unsent and s[dsn_at(p, s, packet - 1)] == dsn - 1 and s[length_at(p, s, tail)] < most:
        s[length_at(p, s, tail)] += 1
    else:
        s[Sub.TAIL_SKB] = packet
        s[length_at(p, s, packet)] = np.int64(1)


@noinline
def next_segment(p: Any, s: Any, g: Any, now: Any) -> Any:
    """Return the next packet of subflow `s` to send, NONE or FULL; a burst is within a socket buffer."""
    nxt, last = s[Tcp.SND_NXT], s[Tcp.LAST]
    if nxt < FIRST or nxt > last:
        return association.next_segment(p, s, g, now, False)
    if nxt >= s[Sub.SKB_END] or nxt == s[Sub.SKB_FIRST]:
        s[Sub.SKB_FIRST] = nxt
        s[Sub.SKB_END] = nxt + s[length_at(p, s, nxt)]
    s[Tcp.LAST] = s[Sub.SKB_END] - 1
    packet = association.next_segment(p, s, g, now, False)
    if packet == nxt and packet == s[Tcp.LAST]:
        s[packet_at(p, s, packet) + Packet.FLAGS] |= Flag.PSH
    s[Tcp.LAST] = last
    return packet
