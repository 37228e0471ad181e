"""Receiver of a connection: data of the subflows in order, and data ACKs (RFC 8684, section 3.3.2)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bits import clear_bits, run_end, set_bit, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import MptcpP, RowP
from netcarlo.kernels.linux import state
from netcarlo.kernels.linux.state import FIRST, NONE, Tcp
from netcarlo.kernels.mptcp.state import SACK_BLOCKS, Conn, Sub, data_ack_at, dsn_at


def grow_window(p: Any, s: Any, packet: Any) -> None:
    """Acknowledge a packet at once while the receive window of subflow `s` grows (`tcp_grow_window`)."""
    if packet >= max(s[Tcp.RCV_NXT], FIRST) and s[Sub.GROWN] < p[MptcpP.WINDOW_GROWTH]:
        s[Sub.GROWN] += 1
        s[Tcp.QUICK_ACKS] |= 1


@noinline
def pass_up(p: Any, m: Any, s: Any) -> None:
    """Pass the packets that subflow `s` has received in order to the connection (`__mptcp_move_skb`)."""
    while s[Sub.PASSED] < s[Tcp.RCV_NXT]:
        dsn = s[dsn_at(p, s, s[Sub.PASSED])]
        s[Sub.PASSED] += 1
        mask = p[RowP.RING] - 1
        if dsn == m[Conn.RCV_NXT]:
            s[Sub.IN_ORDER] += 1
            m[Conn.RCV_HIGHEST] = max(m[Conn.RCV_HIGHEST], dsn)
            end = run_end(m, m[Conn.BITS], mask, dsn + 1, m[Conn.RCV_HIGHEST] + 1)
            clear_bits(m, m[Conn.BITS], mask, dsn + 1, end)
            m[Conn.OUT_OF_ORDER] -= end - dsn - 1
            m[Conn.RCV_NXT] = end
        elif dsn > m[Conn.RCV_NXT]:
            if dsn - m[Conn.RCV_NXT] > mask:
                m[Conn.OVERFULL] = 1
            elif not test_bit(m, m[Conn.BITS], mask, dsn):
                set_bit(m, m[Conn.BITS], mask, dsn)
                s[Sub.IN_ORDER] += 1
                m[Conn.RCV_HIGHEST] = max(m[Conn.RCV_HIGHEST], dsn)
                m[Conn.OUT_OF_ORDER] += 1
                m[Conn.REORDERED] += 1


@noinline
def note_data_ack(p: Any, m: Any, s: Any, ack_id: Any) -> None:
    """Add the data ACK to an ACK of subflow `s`, and omit the SACK blocks for which no room is left."""
    s[data_ack_at(p, s, ack_id)] = m[Conn.RCV_NXT]
    at = state.ack_at(p, s, ack_id)
    room = np.int64(SACK_BLOCKS) if s[at + state.Ack.DSACK] == NONE else np.int64(SACK_BLOCKS - 1)
    s[at + state.Ack.NUM_SACKS] = min(s[at + state.Ack.NUM_SACKS], room)


def complete(p: Any, m: Any) -> Any:
    """Return True if all data have arrived."""
    return m[Conn.RCV_NXT] >= p[RowP.LIMIT]
