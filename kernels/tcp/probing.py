"""TCP-Probing: before the window is reduced, probe segments ask whether the network is in order.

Source: Tsaoussidis and Badr, "TCP-Probing: towards an error control schema with energy and throughput
performance gains" (ICNP 2000), on the recovery of NewReno.  A timeout and a third duplicate acknowledgement
both begin a pause; after two undisturbed round trips, none much above the smoothed RTT, the window stays.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import newreno, reno
from netcarlo.kernels.tcp.recovery import PAUSE
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, TimeoutAction, Window

BASE = newreno
PAUSES = True

REQUIRED_REPLIES = 2
"""Round trips of probes that must come back one after the other;"""
COMPARES_RTT = True
"""they are compared with the smoothed RTT, and a lost probe makes the count begin anew."""
PROBE_INTERVAL = 0
"""Between probes that are not answered: the retransmission timeout, not backed off."""
PAUSES_ON_ROUTE_FAILURE = False
"""A notice of a broken link begins no pause."""


class Probing(IntEnum):
    """Own words of scratch."""

    RESUMED = Tcp.SCHEME
    """The packet that was acknowledged last when a pause ended."""
    DUPACKS_SINCE = Tcp.SCHEME + 1
    """Duplicates since then: what was sent before has arrived or is lost, so they speak of the repair."""


def prepare(m: Any, p: Any, free: Any) -> Any:
    """No pause has ended yet."""
    m[Probing.RESUMED] = NONE
    return free


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """The third begins a pause, and so does the third after a pause that still asks for the same packet."""
    m, highest_ack, threshold = row.m, sent.highest_ack, row.p[P.DUPACKS]
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
    """Every timeout begins a pause."""
    return TimeoutAction.PAUSE


def on_ack_in_pause(m: Any, p: Any, at: Any, ack: Any, highest_ack: Any) -> None:
    """An acknowledgement in a pause: count on how many packets behind the hole have arrived."""
    if m[Tcp.PHASE] == Phase.RECOVERY:
        m[Tcp.INFLATION] = (
            m[Tcp.INFLATION] + 1 if ack == highest_ack else max(m[Tcp.INFLATION] - (ack - highest_ack - 1), 0)
        )


@noinline
def repair_after_pause(m: Any, p: Any, highest_ack: Any, snd_max: Any, dupacks: Any) -> Any:
    """Go on as NewReno in a recovery; as after a timeout if most of what is outstanding is missing."""
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
    """The window and ssthresh after a pause that found the network worse: what duplicate ACKs do without."""
    half = reno.reduced_window(row, clock, reno.usable_window(cwnd, 0, row.p[P.WINDOW]), False)
    return half, max(int(half), reno.MIN_SSTHRESH)
