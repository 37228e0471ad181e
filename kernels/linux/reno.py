"""Reno of Linux (tcp_cong.c): congestion avoidance and multiplicative decrease of RFC 5681.

The functions of a congestion control, beside the names of `tcp_congestion_ops` in the kernel:

* `prepare` clears its state before the simulation starts.
* `acked_per_increase` returns the number of packets that must be acknowledged in congestion avoidance for the
  window to grow by one packet (`cong_avoid`).
* `ssthresh` returns the threshold after a loss (`ssthresh`).
* `on_rto` resets it after a retransmission timeout (`set_state` with TCP_CA_Loss).
* `on_idle_restart` is called when packets leave after a pause of the application (`cwnd_event` with
  CA_EVENT_TX_START).
* `pkts_acked` is called for every ACK of new data or new SACK blocks, with the round-trip time of the newest
  packet [us] or NONE (`pkts_acked`).
"""

from typing import Any

from netcarlo.kernels.linux import clocks, slow_start
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.linux.state import Tcp


def prepare(s: Any) -> None:
    """Do nothing: Reno has no state."""


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Return the window: it grows by one packet per window of packets acknowledged."""
    return s[Tcp.CWND]


def ssthresh(s: Any) -> Any:
    """Return half the window, at least 2 packets."""
    return max(s[Tcp.CWND] >> 1, 2)


def on_idle_restart(p: Any, s: Any, now: Any, idle: Any) -> None:
    """Do nothing: the window is reduced by the application's restart after idle."""


def on_rto(p: Any, s: Any, now: Any) -> None:
    """Restart slow start."""
    slow_start.reset(s, clocks.us_of(now))


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Process an RTT sample [us], which may end slow start."""
    if rtt >= 0:
        slow_start.on_rtt_sample(p, s, now, max(rtt, 1), SlowStart.STANDARD)
