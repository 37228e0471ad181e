"""Slow start: its growth, and the algorithm that ends it before packets are lost, by `LinuxP.SLOW_START`."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.parameters import LinuxP
from netcarlo.kernels.linux import hystart, hystartpp
from netcarlo.kernels.linux.state import Tcp


class SlowStart(IntEnum):
    """Values of `LinuxP.SLOW_START`."""

    OF_CONTROL = 0
    """Algorithm of the congestion control."""
    STANDARD = 1
    """Slow start until packets are lost (RFC 5681)."""
    HYSTART = 2
    """HyStart."""
    HYSTARTPP = 3
    """HyStart++ (RFC 9406)."""


def reset(s: Any, now_us: Any) -> None:
    """Reset slow start when the connection is established and after a timeout."""
    hystart.reset(s)
    hystart.start_round(s, now_us)
    hystartpp.reset(s)


def on_rtt_sample(p: Any, s: Any, now: Any, rtt: Any, own: Any) -> None:
    """Process an RTT sample [us] of an ACK of new data; `own` is the algorithm of the congestion control."""
    hystart.update_delay_min(s, rtt)
    if s[Tcp.CWND] < s[Tcp.SSTHRESH]:
        method = own if p[LinuxP.SLOW_START] == SlowStart.OF_CONTROL else p[LinuxP.SLOW_START]
        if method == SlowStart.HYSTART:
            hystart.update(s, now, rtt)
        elif method == SlowStart.HYSTARTPP:
            hystartpp.on_rtt_sample(s, rtt)


def growth(p: Any, s: Any, packets: Any) -> Any:
    """Return the increase of the window in slow start for so many packets acknowledged by one ACK."""
    if p[LinuxP.SLOW_START] == SlowStart.HYSTARTPP:
        return hystartpp.growth(s, packets)
    return packets
