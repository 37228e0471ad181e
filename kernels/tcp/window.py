"""Window of an association: what an event allows the sender to send."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.tcp.recovery import LIMITED_TRANSMIT, SEND, SEND_TWO
from netcarlo.kernels.tcp.state import NONE, Clock, Phase, Row, SendState, Tcp, Window

TIMESTAMPS: Any = slot("timestamps")

kind: Any = slot("kind")
"""Functions that depend on the kind of flow (`one_kind`, `heterogeneous`)."""


def row_of(p: Any, s: Any, g: Any, constants: Any) -> Any:
    """Return the arrays of an association as a record."""
    return Row(p, constants, s, g[1:])


def clock_of(s: Any, now: Any) -> Any:
    """Return the time and the latest RTT as a record."""
    return Clock(now, s[Tcp.RTT])


def sent_of(s: Any) -> Any:
    """Return the sequence state of the sender as a record."""
    return SendState(s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT], s[Tcp.SND_MAX])


def window_of(s: Any, g: Any) -> Any:
    """Return the window as a record."""
    return Window(g[0], s[Tcp.SSTHRESH], s[Tcp.DUPACKS])


def set_window(s: Any, g: Any, window: Any) -> None:
    """Store the window."""
    g[0] = window.cwnd
    s[Tcp.SSTHRESH] = window.ssthresh
    s[Tcp.DUPACKS] = window.dupacks


def allow_all(p: Any, s: Any, g: Any) -> None:
    """Allow all packets for which the window has room."""
    if TIMESTAMPS:
        s[Tcp.RECOVERY_MAY_SEND] = 1
    else:
        s[Tcp.SEND_LIMIT] = s[Tcp.HIGHEST_ACK] + min(np.int64(g[0]) + s[Tcp.INFLATION], p[RowP.WINDOW])


def allows_limited_transmit(s: Any, cwnd: Any, highest_ack: Any, snd_nxt: Any) -> Any:
    """Return True if limited transmit allows the packet `snd_nxt` (RFC 3042)."""
    return float(snd_nxt) <= float(highest_ack) + cwnd + float(s[Tcp.DUPACKS])


def allow(p: Any, s: Any, cwnd: Any, actions: Any, forced: Any) -> None:
    """Set what the sender may send after an event with these `actions` and this cwnd.

    `forced` is a packet to send at once, or NONE.
    """
    if forced != NONE:
        s[Tcp.FORCED] = forced
    if TIMESTAMPS:
        s[Tcp.RECOVERY_MAY_SEND] = 1
    else:
        highest_ack, snd_nxt, window = s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT], p[RowP.WINDOW]
        repair = kind.sack_of(p) and actions & SEND != 0 and s[Tcp.PHASE] == Phase.RECOVERY
        s[Tcp.RECOVERY_MAY_SEND] = 1 if repair else 0
        limit = np.int64(NONE)
        if actions & (SEND | SEND_TWO) and not repair:
            limit = highest_ack + min(np.int64(cwnd) + s[Tcp.INFLATION], window)
            if actions & SEND_TWO:
                limit = min(limit, snd_nxt + 1)
        if (
            actions & LIMITED_TRANSMIT
            and snd_nxt <= highest_ack + window
            and allows_limited_transmit(s, cwnd, highest_ack, snd_nxt)
        ):
            limit = max(limit, snd_nxt)
        s[Tcp.SEND_LIMIT] = limit
