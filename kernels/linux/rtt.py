"""Round trips: how they are measured and smoothed, and the timeout that follows.

Source: RFC 6298 in the form of Linux (Sarolahti and Kuznetsov, "Congestion control in Linux TCP", USENIX
2002, section 3.3): the deviation that counts is the largest of a round trip, at least the minimum timeout,
and decays by a quarter of the difference; a sample far below the mean raises it by an eighth only.  Karn's
rule and timestamps (RFC 7323).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.clocks import US
from netcarlo.kernels.linux.state import NONE, Tcp

MS_US = 1000


def smooth(p: Any, s: Any, sample: Any) -> None:
    """Take in a round trip [us]."""
    least = p[P.MIN_RTO] // US
    if s[Tcp.SRTT] == 0:
        s[Tcp.SRTT] = max(sample << np.int64(3), 1)
        s[Tcp.MDEV] = sample << np.int64(1)
        s[Tcp.RTTVAR] = max(s[Tcp.MDEV], least)
        s[Tcp.MDEV_MAX] = s[Tcp.RTTVAR]
        s[Tcp.RTT_END] = s[Tcp.NXT]
        return
    error = sample - (s[Tcp.SRTT] >> np.int64(3))
    s[Tcp.SRTT] = max(s[Tcp.SRTT] + error, 1)
    more = abs(error) - (s[Tcp.MDEV] >> np.int64(2))
    if error < 0 and more > 0:
        more >>= np.int64(3)
    s[Tcp.MDEV] += more
    if s[Tcp.MDEV] > s[Tcp.MDEV_MAX]:
        s[Tcp.MDEV_MAX] = s[Tcp.MDEV]
        s[Tcp.RTTVAR] = max(s[Tcp.RTTVAR], s[Tcp.MDEV])
    if s[Tcp.UNA] > s[Tcp.RTT_END]:
        if s[Tcp.MDEV_MAX] < s[Tcp.RTTVAR]:
            s[Tcp.RTTVAR] -= (s[Tcp.RTTVAR] - s[Tcp.MDEV_MAX]) >> np.int64(2)
        s[Tcp.RTT_END] = s[Tcp.NXT]
        s[Tcp.MDEV_MAX] = least


def set_timeout(p: Any, s: Any) -> None:
    """The length of the retransmission timer from the present estimates; ends the back-off."""
    rto_us = (s[Tcp.SRTT] >> np.int64(3)) + s[Tcp.RTTVAR]
    present = s[Tcp.RTO] * s[Tcp.TICK_US]
    if not present - s[Tcp.TICK_US] < rto_us <= present:  # else it is what it was: no need to divide
        s[Tcp.RTO] = min(clocks.to_jiffies(s, rto_us), s[Tcp.MOST_JIFFIES])


def measure(p: Any, s: Any, now: Any, echo: Any, advances: Any, first: Any, last: Any) -> Any:
    """An ACK has come; returns the round trip of the last packet that it tells of [us], or NONE.

    `first` and `last`: when the first and the last of the packets were put out [us] that were sent only once,
    or NONE.  Where there is none the timestamp `echo` [ns] serves, in whole ms, if the ACK `advances` UNA.
    """
    now_us = clocks.us_of(now)
    sample, latest = np.int64(NONE), np.int64(NONE)
    if first != NONE:
        sample, latest = now_us - first, now_us - last
    elif advances:
        sample = max(clocks.stamp_of(s, now) - clocks.stamp_of(s, echo), 1) * MS_US
        latest = sample
    if sample != NONE:
        s[Tcp.LEAST_RTT] = min(s[Tcp.LEAST_RTT], max(latest, 1))
        smooth(p, s, sample)
        set_timeout(p, s)
        s[Tcp.RTT] = s[Tcp.SRTT] * (US // 8)
    return latest
