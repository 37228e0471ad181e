"""Round trips: how they are measured and smoothed, and the timeout that follows.

Source: RFC 6298 in the form of Linux (Sarolahti and Kuznetsov, "Congestion control in Linux TCP", USENIX
2002, section 3.3): the deviation that counts is the largest of a round trip, at least the minimum timeout,
and decays by a quarter of the difference; a sample far below the mean raises it by an eighth only.  Karn's
rule and timestamps (RFC 7323).
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.clocks import US
from netcarlo.kernels.linux.state import NONE, Tcp

MS_US = 1000


class Estimate(NamedTuple):
    """What is known of round trips [us]; as words of `s`, SRTT, MDEV, MDEV_MAX, RTTVAR, RTT_END, RTO."""

    srtt: Any
    mdev: Any
    most: Any
    rttvar: Any
    end: Any
    rto: Any


def estimate_of(s: Any) -> Any:
    """As it is."""
    return Estimate(s[Tcp.SRTT], s[Tcp.MDEV], s[Tcp.MDEV_MAX], s[Tcp.RTTVAR], s[Tcp.RTT_END], s[Tcp.RTO])


def keep(s: Any, known: Any) -> None:
    """As it is now."""
    s[Tcp.SRTT], s[Tcp.MDEV], s[Tcp.MDEV_MAX] = known.srtt, known.mdev, known.most
    s[Tcp.RTTVAR], s[Tcp.RTT_END], s[Tcp.RTO] = known.rttvar, known.end, known.rto
    s[Tcp.RTT] = told(known)


def told(known: Any) -> Any:
    """The smoothed round trip [ns]."""
    return known.srtt * (US // 8)


def smoothed(p: Any, s: Any, known: Any, sample: Any, una: Any, nxt: Any) -> Any:
    """The estimate after a round trip [us], and the timeout that follows, which ends the back-off."""
    if known.srtt == 0:
        mdev = sample << np.int64(1)
        most = max(mdev, clocks.us_of(p[P.MIN_RTO]))
        known = Estimate(max(sample << np.int64(3), 1), mdev, most, most, nxt, known.rto)
    else:
        known = further(p, s, known, sample, una, nxt)
    return known if holds(s, known, known.rto * s[Tcp.TICK_US]) else with_timeout(s, known)


def further(p: Any, s: Any, known: Any, sample: Any, una: Any, nxt: Any) -> Any:
    """The estimate after a further round trip [us], with the timeout that was."""
    srtt, mdev, most, rttvar, end, rto = known
    error = sample - (srtt >> np.int64(3))
    srtt = max(srtt + error, 1)
    more = abs(error) - (mdev >> np.int64(2))
    if error < 0 and more > 0:
        more >>= np.int64(3)
    mdev += more
    most = max(most, mdev)
    rttvar = max(rttvar, most)
    if una > end:
        if most < rttvar:
            rttvar -= (rttvar - most) >> np.int64(2)
        end = nxt
        most = clocks.us_of(p[P.MIN_RTO])
    return Estimate(srtt, mdev, most, rttvar, end, rto)


def holds(s: Any, known: Any, timeout: Any) -> Any:
    """Whether RTO, which is `timeout` [us], is still what follows: then there is no need to divide."""
    rto_us = (known.srtt >> np.int64(3)) + known.rttvar
    return timeout - s[Tcp.TICK_US] < rto_us <= timeout


def with_timeout(s: Any, known: Any) -> Any:
    """The estimate, with the timeout that follows from it."""
    jiffies = clocks.to_jiffies(s, (known.srtt >> np.int64(3)) + known.rttvar)
    rto = min(jiffies, s[Tcp.MOST_JIFFIES])
    return Estimate(known.srtt, known.mdev, known.most, known.rttvar, known.end, rto)


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
        keep(s, smoothed(p, s, estimate_of(s), sample, s[Tcp.UNA], s[Tcp.NXT]))
    return latest
