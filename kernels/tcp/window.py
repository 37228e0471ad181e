"""The window of an association: what an event allows to send."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp.recovery import LIMITED_TRANSMIT, SEND, SEND_TWO
from netcarlo.kernels.tcp.state import NONE, Clock, Phase, Row, SendState, Tcp, Window

TIMESTAMPS: Any = slot("timestamps")

kind: Any = slot("kind")
"""What depends on the kind of a flow where there are several (`one`, `heterogeneous`)."""


def row_of(p: Any, s: Any, g: Any, constants: Any) -> Any:
    """The arrays of an association as a record."""
    return Row(p, constants, s, g[1:])


def clock_of(s: Any, now: Any) -> Any:
    """The time, and the latest RTT."""
    return Clock(now, s[Tcp.RTT])


def sent_of(s: Any) -> Any:
    """How far the sender is."""
    return SendState(s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT], s[Tcp.SND_MAX])


def window_of(s: Any, g: Any) -> Any:
    """The window as it is."""
    return Window(g[0], s[Tcp.SSTHRESH], s[Tcp.DUPACKS])


def set_window(s: Any, g: Any, window: Any) -> None:
    """The window changes."""
    g[0] = window.cwnd
    s[Tcp.SSTHRESH] = window.ssthresh
    s[Tcp.DUPACKS] = window.dupacks


def allow_all(p: Any, s: Any, g: Any) -> None:
    """All that the window has room for may go out."""
    if TIMESTAMPS:
        s[Tcp.RECOVERY_MAY_SEND] = 1
    else:
        s[Tcp.SEND_LIMIT] = s[Tcp.HIGHEST_ACK] + min(np.int64(g[0]) + s[Tcp.INFLATION], p[P.WINDOW])


def allows_limited_transmit(s: Any, cwnd: Any, highest_ack: Any, snd_nxt: Any) -> Any:
    """Whether limited transmit lets the packet `snd_nxt` out."""
    return float(snd_nxt) <= float(highest_ack) + cwnd + float(s[Tcp.DUPACKS])


def allow(p: Any, s: Any, cwnd: Any, actions: Any, forced: Any) -> None:
    """What an event allows to send: by its actions, with this cwnd; and `forced`, a packet or NONE."""
    if forced != NONE:
        s[Tcp.FORCED] = forced
    if TIMESTAMPS:
        s[Tcp.RECOVERY_MAY_SEND] = 1
    else:
        highest_ack, snd_nxt, window = s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT], p[P.WINDOW]
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
