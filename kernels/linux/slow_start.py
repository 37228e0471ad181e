"""How slow start may end before packets are lost, and how fast it is: as `P.SLOW_START` says."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import hystart, hystartpp
from netcarlo.kernels.linux.state import Tcp


class SlowStart(IntEnum):
    """Values of `P.SLOW_START`."""

    OF_CONTROL = 0
    """As the control has it."""
    STANDARD = 1
    """Until packets are lost."""
    HYSTART = 2
    HYSTARTPP = 3


def reset(s: Any, now_us: Any) -> None:
    """When the connection is there, and after a timeout."""
    hystart.reset(s)
    hystart.start_round(s, now_us)
    hystartpp.reset(s)


def on_rtt_sample(p: Any, s: Any, now: Any, rtt: Any, own: Any) -> None:
    """An ACK of something new with a round trip [us]; `own` is the control's."""
    hystart.update_delay_min(s, rtt)
    if s[Tcp.CWND] < s[Tcp.SSTHRESH]:
        way = own if p[P.SLOW_START] == SlowStart.OF_CONTROL else p[P.SLOW_START]
        if way == SlowStart.HYSTART:
            hystart.update(s, now, rtt)
        elif way == SlowStart.HYSTARTPP:
            hystartpp.on_rtt_sample(s, rtt)


def growth(p: Any, s: Any, packets: Any) -> Any:
    """By how much the window grows in slow start for so many packets acknowledged by one ACK."""
    if p[P.SLOW_START] == SlowStart.HYSTARTPP:
        return hystartpp.growth(s, packets)
    return packets
