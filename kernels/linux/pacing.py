"""Pacing by a timer of the sender: the wait after a burst is the time that the burst takes at the pacing
rate.

Source: E. Dumazet, "TCP: internal implementation for pacing" (2017);
draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.1. A burst that left late shortens the wait after
it, by half at most. The first packets of a connection are not paced.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import rate
from netcarlo.kernels.linux.state import Rexmit, Tcp

UNPACED_PACKETS = 10
"""Packets at the beginning of a connection that are not paced."""
NS_PER_S = 1_000_000_000
"""Nanoseconds of a second."""
GSO_MAX_BYTES = 65535 - 320
"""Largest burst without headers [byte] (GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER)."""
MIN_TSO_RATE = 1_200_000 // 8
"""Pacing rate from which on bursts have at least two packets [byte/s] (bbr_min_tso_rate)."""
MIN_RTT_LOG = 9
"""Binary logarithm of the minimum RTT [us] that halves the extra 64 kB of a burst (tcp_min_rtt_log)."""


class Pacing(IntEnum):
    """State words of pacing, following those of delivery rate samples."""

    RATE = rate.FREE
    """Pacing rate [byte/s] (`sk_pacing_rate`)."""
    NEXT_SEND = auto()
    """Earliest time at which the next burst may leave [ns] (`tcp_wstamp_ns`)."""
    TIMER = auto()
    """Time at which waiting packets are tried again [ns], or FOREVER."""


FREE = int(Pacing.TIMER) + 1
"""First word after those of pacing."""


def min_tso_segs(s: Any) -> Any:
    """Return the minimum packets of a burst (`bbr_min_tso_segs`)."""
    return 1 if s[Pacing.RATE] < MIN_TSO_RATE else 2


def tso_segs_goal(p: Any, s: Any) -> Any:
    """Return the target size of a burst [packets]: what the rate sends in 1/1024 s (`bbr_tso_segs_goal`)."""
    size = min(s[Pacing.RATE] >> 10, GSO_MAX_BYTES) // max(p[RowP.DATA], 1)
    return min(max(size, min_tso_segs(s)), 127)


def tso_autosize(p: Any, s: Any) -> Any:
    """Return the size of a full burst [packets]: the target, and more if the minimum RTT is small
    (`tcp_tso_autosize`)."""
    near = s[Tcp.MIN_RTT_US] >> MIN_RTT_LOG
    room = (s[Pacing.RATE] >> 10) + (65536 >> near if near < 32 else 0)
    return max(min(room, 65536) // max(p[RowP.DATA], 1), min_tso_segs(s))


def may_send(s: Any, now: Any) -> Any:
    """Return True if a burst may leave now; otherwise start the timer."""
    if s[Pacing.NEXT_SEND] <= now:
        return True
    if s[Pacing.TIMER] == FOREVER:
        s[Pacing.TIMER] = s[Pacing.NEXT_SEND]
    return False


def time_until_send(s: Any, now: Any) -> Any:
    """Return the time until a burst may leave [ns]."""
    return max(s[Pacing.NEXT_SEND] - now, 0)


def on_send(p: Any, s: Any, now: Any, packets: Any) -> None:
    """Account for a burst that leaves: set the time of the next one (`tcp_update_skb_after_send`)."""
    late = now - s[Pacing.NEXT_SEND]
    s[Pacing.NEXT_SEND] = max(s[Pacing.NEXT_SEND], now)
    if s[Tcp.SENT] + packets >= UNPACED_PACKETS and s[Pacing.RATE] > 0:
        length = packets * p[RowP.DATA] * NS_PER_S // s[Pacing.RATE]
        s[Pacing.NEXT_SEND] += length - min(length >> 1, max(late, 0))


@noinline
def on_timer(s: Any) -> None:
    """Process the pacing timer: lost packets may leave, then new ones (`tcp_pace_kick`)."""
    s[Pacing.TIMER] = FOREVER
    s[Tcp.TRY_SEND] = 1
    if s[Tcp.LOST_OUT] > s[Tcp.RETRANS_OUT]:
        s[Tcp.REXMIT] = Rexmit.LOST
