"""Pacing by the sender's own timer: after a burst the next one waits as long as the burst takes at the rate.

Source: E. Dumazet, "TCP: internal implementation for pacing" (2017), and S. Ha and V. Jacobson's fq pacing
as draft-cardwell-iccrg-bbr-congestion-control-00 (4.2.1) has it.  A burst that left late shortens the wait
after it, by half at most.  The first packets of a connection are not paced.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.linux import rate
from netcarlo.kernels.linux.state import Rexmit, Tcp

UNPACED_PACKETS = 10
"""Packets of a connection that are not paced."""
NS_PER_S = 1_000_000_000
GSO_MAX_BYTES = 65535 - 320
"""Most of a burst, less headers."""
MIN_TSO_RATE = 1_200_000 // 8
"""Below this rate [byte/s] packets leave one by one, above it in pairs at least."""
MIN_RTT_LOG = 9
"""A least round trip of n times 512 us halves n times the 64 kB that a burst is larger."""


class Pacing(IntEnum):
    """Own words, behind those of the samples."""

    RATE = rate.FREE
    """[byte / s]"""
    NEXT_SEND = auto()
    """When the next burst may leave [ns]."""
    TIMER = auto()
    """When packets that wait are tried again [ns], or FOREVER."""


FREE = int(Pacing.TIMER) + 1
"""First word that is left to others."""


def min_tso_segs(s: Any) -> Any:
    """[packet]"""
    return 1 if s[Pacing.RATE] < MIN_TSO_RATE else 2


def tso_segs_goal(p: Any, s: Any) -> Any:
    """Of a burst [packet]: what the rate sends in 1/1024 s."""
    size = min(s[Pacing.RATE] >> 10, GSO_MAX_BYTES) // max(p[P.DATA], 1)
    return min(max(size, min_tso_segs(s)), 127)


def tso_autosize(p: Any, s: Any) -> Any:
    """Of a full burst [packet]: the goal, and more where the other end is near."""
    near = s[Tcp.MIN_RTT_US] >> MIN_RTT_LOG
    room = (s[Pacing.RATE] >> 10) + (65536 >> near if near < 32 else 0)
    return max(min(room, 65536) // max(p[P.DATA], 1), min_tso_segs(s))


def may_send(s: Any, now: Any) -> Any:
    """Whether a burst may leave now; if not, the timer runs until one may."""
    if s[Pacing.NEXT_SEND] <= now:
        return True
    if s[Pacing.TIMER] == FOREVER:
        s[Pacing.TIMER] = s[Pacing.NEXT_SEND]
    return False


def time_until_send(s: Any, now: Any) -> Any:
    """Until a burst may leave [ns]."""
    return max(s[Pacing.NEXT_SEND] - now, 0)


def on_send(p: Any, s: Any, now: Any, packets: Any) -> None:
    """A burst leaves."""
    late = now - s[Pacing.NEXT_SEND]
    s[Pacing.NEXT_SEND] = max(s[Pacing.NEXT_SEND], now)
    if s[Tcp.SENT] + packets >= UNPACED_PACKETS and s[Pacing.RATE] > 0:
        length = packets * p[P.DATA] * NS_PER_S // s[Pacing.RATE]
        s[Pacing.NEXT_SEND] += length - min(length >> 1, max(late, 0))


@noinline
def on_timer(s: Any) -> None:
    """The timer goes off: lost packets may leave, then new ones."""
    s[Pacing.TIMER] = FOREVER
    s[Tcp.TRY_SEND] = 1
    if s[Tcp.LOST_OUT] > s[Tcp.RETRANS_OUT]:
        s[Tcp.REXMIT] = Rexmit.LOST
