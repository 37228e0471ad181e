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
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, Then, Window

BASE = newreno
PAUSES = True

REPLIES = 2
"""Round trips of probes that must come back one after the other;"""
JUDGED = True
"""they are compared with the smoothed RTT, and a lost probe makes the count begin anew."""
INTERVAL = 0
"""Between probes that are not answered: the retransmission timeout, not backed off."""
NOTICED = False
"""A notice of a broken link begins no pause."""


class Probing(IntEnum):
    """Own words of scratch."""

    RESUMED = Tcp.OWN
    """The packet that was acknowledged last when a pause ended."""
    AGAIN = Tcp.OWN + 1
    """Duplicates since then: what was sent before has arrived or is lost, so they speak of the repair."""


def prepare(m: Any, p: Any, free: Any) -> Any:
    """No pause has ended yet."""
    m[Probing.RESUMED] = NONE
    return free


def dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """The third begins a pause, and so does the third after a pause that still asks for the same packet."""
    m, acked, threshold = row.m, sent.acked, row.p[P.DUPACKS]
    third = window.dupacks + 1 == threshold and (acked > m[Tcp.RECOVER] or acked == 0)
    if m[Probing.RESUMED] == acked:
        m[Probing.AGAIN] += 1
        third = third or m[Probing.AGAIN] == threshold
    if third:
        if m[Tcp.PHASE] == Phase.RECOVERY:
            m[Tcp.INFLATION] += 1
        return Window(window.cwnd, window.ssthresh, window.dupacks + 1), PAUSE, NONE
    return newreno.dup_ack(row, clock, at, sent, window)


def decide(current: Any, before: Any, backoff: Any) -> Any:
    """Every timeout begins a pause."""
    return Then.PAUSE


def on_paused_ack(m: Any, p: Any, at: Any, ack: Any, acked: Any) -> None:
    """An acknowledgement in a pause: count on how many packets behind the hole have arrived."""
    if m[Tcp.PHASE] == Phase.RECOVERY:
        m[Tcp.INFLATION] = (
            m[Tcp.INFLATION] + 1 if ack == acked else max(m[Tcp.INFLATION] - (ack - acked - 1), 0)
        )


@noinline
def repair(m: Any, p: Any, acked: Any, snd_max: Any, dupacks: Any) -> Any:
    """Go on as NewReno in a recovery; as after a timeout if most of what is outstanding is missing."""
    arrived = m[Tcp.INFLATION] if m[Tcp.PHASE] == Phase.RECOVERY else dupacks
    m[Probing.RESUMED] = acked
    m[Probing.AGAIN] = 0
    m[Tcp.SEEN_PARTIAL] = 0
    if snd_max - acked > 2 * arrived or acked == snd_max:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Tcp.INFLATION] = 0
        m[Tcp.RECOVER] = snd_max
        return NONE, True
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = snd_max
    m[Tcp.INFLATION] = arrived
    return acked + 1, False


def lowered(row: Any, clock: Any, cwnd: Any) -> Any:
    """The window and ssthresh after a pause that found the network worse: what duplicate ACKs do without."""
    half = reno.reduced(row, clock, reno.usable(cwnd, 0, row.p[P.WINDOW]), False)
    return half, max(int(half), reno.FLOOR)
