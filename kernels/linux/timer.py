"""Single timer of the sender: retransmission, tail loss probe or reordering timeout (RFC 6298, RFC 8985)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, TcpP
from netcarlo.kernels.linux import clocks, pacing
from netcarlo.kernels.linux.state import PACED, CaState, Packet, Tcp, Timer, packet_at

TIMER_SLACK_US = 2000
"""Time added to waits that are only accurate to a jiffy [us] (TCP_TIMEOUT_MIN)."""
INITIAL_PROBE_US = 1_000_000
"""Delay of a tail loss probe before any RTT is known [us] (TCP_TIMEOUT_INIT)."""


def set_timer(p: Any, s: Any, now: Any, what: Any, jiffies: Any) -> None:
    """Set the timer for this purpose to expire after so many jiffies."""
    s[Tcp.TIMER] = what
    s[Tcp.DEADLINE] = clocks.timer_expiry(p, s, now, min(jiffies, s[Tcp.MAX_RTO_JIFFIES]))


def stop(s: Any) -> None:
    """Stop the timer."""
    s[Tcp.TIMER] = Timer.OFF
    s[Tcp.DEADLINE] = FOREVER


def _pacing_jiffies(p: Any, s: Any, now: Any) -> Any:
    """Return the jiffies until pacing permits a transmission (`tcp_pacing_delay`)."""
    return pacing.time_until_send(s, now) // p[TcpP.TICK] if PACED else np.int64(0)


def set_retransmission(p: Any, s: Any, now: Any, jiffies: Any) -> None:
    """Set the retransmission timer to so many jiffies after pacing permits a transmission."""
    set_timer(p, s, now, Timer.RETRANSMISSION, jiffies + _pacing_jiffies(p, s, now))


def time_until_rto(p: Any, s: Any, now: Any) -> Any:
    """Return the time until the retransmission timer of the first packet would expire [us]
    (`tcp_rto_delta_us`)."""
    sent = s[packet_at(p, s, s[Tcp.SND_UNA]) + Packet.SENT]
    return sent + s[Tcp.RTO] * s[Tcp.JIFFY_US] - clocks.us_of(now)


def rearm_rto(p: Any, s: Any, now: Any) -> None:
    """Start the retransmission timer; after another timer it keeps its original expiry (`tcp_rearm_rto`)."""
    if s[Tcp.SND_UNA] == s[Tcp.SND_NXT]:
        stop(s)
    else:
        jiffies = s[Tcp.RTO]
        if s[Tcp.TIMER] == Timer.REO_TIMEOUT or s[Tcp.TIMER] == Timer.LOSS_PROBE:
            jiffies = clocks.to_jiffies(s, max(time_until_rto(p, s, now), 1))
        set_retransmission(p, s, now, jiffies)


def schedule_loss_probe(p: Any, s: Any, now: Any, advancing: Any) -> Any:
    """Schedule a tail loss probe unless packets are missing, and return whether it was scheduled (RFC
    8985, section 7.2).

    If `advancing`, the retransmission timer would be restarted.
    """
    out = s[Tcp.SND_NXT] - s[Tcp.SND_UNA]
    if out == 0 or (s[Tcp.CA_STATE] != CaState.OPEN and s[Tcp.CA_STATE] != CaState.CWR):
        return False
    wait = probe_timeout(p, s, now, advancing)
    set_timer(p, s, now, Timer.LOSS_PROBE, clocks.to_jiffies(s, wait) + _pacing_jiffies(p, s, now))
    return True


def probe_timeout(p: Any, s: Any, now: Any, advancing: Any) -> Any:
    """Return the time [us] after which `schedule_loss_probe` sends the probe (PTO)."""
    wait = np.int64(INITIAL_PROBE_US)
    if s[Tcp.SRTT_US] > 0:
        wait = s[Tcp.SRTT_US] >> np.int64(2)
        wait += clocks.us_of(p[ReliableP.MIN_RTO]) if s[Tcp.SND_NXT] - s[Tcp.SND_UNA] == 1 else TIMER_SLACK_US
    left = s[Tcp.RTO] * s[Tcp.JIFFY_US] if advancing else time_until_rto(p, s, now)
    return min(wait, left) if left > 0 else wait


def restart(p: Any, s: Any, now: Any) -> None:
    """Restart the timer after new data was acknowledged: the loss probe, or else the retransmission
    timer."""
    if not schedule_loss_probe(p, s, now, True):
        rearm_rto(p, s, now)
