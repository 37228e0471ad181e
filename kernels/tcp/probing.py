"""TCP-Probing: probe segments check the network before the window is reduced.

Source: Tsaoussidis and Badr, "TCP-Probing: towards an error control schema with energy and throughput
performance gains" (ICNP 2000), on the recovery of NewReno. A timeout and a third duplicate ACK both start a
pause. After two probe round trips without loss, neither much above the smoothed RTT, the window is kept.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp import newreno, reno
from netcarlo.kernels.tcp.recovery import PAUSE
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, TimeoutAction, Window

BASE = newreno
PAUSES = True

REQUIRED_REPLIES = 2
"""Number of consecutive replies to probes that end a pause."""
COMPARES_RTT = True
"""True if probe round trips are compared with the smoothed RTT, and a lost probe restarts the count."""
PROBE_INTERVAL = 0
"""Time between unanswered probes [ns]; 0: the retransmission timeout without back-off."""
PAUSES_ON_ROUTE_FAILURE = False
"""True if the notice of a broken route starts a pause."""


class Probing(IntEnum):
    """Scratch words of TCP-Probing."""

    RESUMED = Tcp.SCHEME
    """Highest packet acknowledged when the latest pause ended."""
    DUPACKS_SINCE = Tcp.SCHEME + 1
    """Duplicate ACKs since then, which are caused by packets sent after the pause."""


def prepare(m: Any, p: Any, free: Any) -> Any:
    """Initialise the state: no pause has ended."""
    m[Probing.RESUMED] = NONE
    return free


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Start a pause at the third duplicate ACK, also at the third after a pause for the same packet."""
    m, highest_ack, threshold = row.m, sent.highest_ack, row.p[ReliableP.DUPACKS]
    third = window.dupacks + 1 == threshold and (highest_ack > m[Tcp.RECOVER] or highest_ack == 0)
    if m[Probing.RESUMED] == highest_ack:
        m[Probing.DUPACKS_SINCE] += 1
        third = third or m[Probing.DUPACKS_SINCE] == threshold
    if third:
        if m[Tcp.PHASE] == Phase.RECOVERY:
            m[Tcp.INFLATION] += 1
        return Window(window.cwnd, window.ssthresh, window.dupacks + 1), PAUSE, NONE
    return newreno.on_dup_ack(row, clock, at, sent, window)


def timeout_action(estimate: Any, previous: Any, backoff: Any) -> Any:
    """Return PAUSE: every timeout starts a pause."""
    return TimeoutAction.PAUSE


def on_ack_in_pause(m: Any, p: Any, at: Any, ack: Any, highest_ack: Any) -> None:
    """Update the number of packets after the hole that have arrived."""
    if m[Tcp.PHASE] == Phase.RECOVERY:
        m[Tcp.INFLATION] = (
            m[Tcp.INFLATION] + 1 if ack == highest_ack else max(m[Tcp.INFLATION] - (ack - highest_ack - 1), 0)
        )


@noinline
def repair_after_pause(m: Any, p: Any, highest_ack: Any, snd_max: Any, dupacks: Any) -> Any:
    """Continue as NewReno in a recovery, or as after a timeout if most packets in flight are missing.

    Returns the packet to retransmit or NONE, and True to continue from the first unacknowledged packet.
    """
    arrived = m[Tcp.INFLATION] if m[Tcp.PHASE] == Phase.RECOVERY else dupacks
    m[Probing.RESUMED] = highest_ack
    m[Probing.DUPACKS_SINCE] = 0
    m[Tcp.SEEN_PARTIAL] = 0
    if snd_max - highest_ack > 2 * arrived or highest_ack == snd_max:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Tcp.INFLATION] = 0
        m[Tcp.RECOVER] = snd_max
        return NONE, True
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = snd_max
    m[Tcp.INFLATION] = arrived
    return highest_ack + 1, False


def reduced_after_pause(row: Any, clock: Any, cwnd: Any) -> Any:
    """Return the window and ssthresh that duplicate ACKs would set without a pause."""
    half = reno.reduced_window(row, clock, reno.usable_window(cwnd, 0, row.p[RowP.WINDOW]), False)
    return half, max(int(half), reno.MIN_SSTHRESH)
