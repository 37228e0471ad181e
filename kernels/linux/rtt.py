"""Round-trip times: measurement, smoothing, and the retransmission timeout.

Source: RFC 6298 in the form of Linux (`tcp_rtt_estimator`; Sarolahti and Kuznetsov, "Congestion control in
Linux TCP", USENIX 2002, section 3.3): the variance is the largest deviation of a round trip, at least the
minimum timeout, and decays by a quarter of the difference. A sample far below the mean raises the deviation
by an eighth only. Karn's rule and timestamps follow RFC 7323.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.clocks import US
from netcarlo.kernels.linux.state import NONE, Tcp

MS_US = 1000
"""Microseconds of a millisecond."""


class Estimate(NamedTuple):
    """RTT estimate; the words SRTT_US, MDEV_US, MDEV_MAX_US, RTTVAR_US, RTT_SEQ and RTO of `s`."""

    srtt_us: Any
    """Smoothed RTT [us / 8]; 0 if unknown."""
    mdev_us: Any
    """Smoothed mean deviation [us / 4]."""
    mdev_max_us: Any
    """Largest mean deviation of the current round trip [us / 4]."""
    rttvar_us: Any
    """RTT variance that the timeout uses [us / 4]."""
    rtt_seq: Any
    """SND_NXT when the current round trip began."""
    rto: Any
    """Retransmission timeout [jiffies]."""


def load_estimate(s: Any) -> Any:
    """Return the estimate, read from scratch."""
    return Estimate(
        s[Tcp.SRTT_US], s[Tcp.MDEV_US], s[Tcp.MDEV_MAX_US], s[Tcp.RTTVAR_US], s[Tcp.RTT_SEQ], s[Tcp.RTO]
    )


def store_estimate(s: Any, estimate: Any) -> None:
    """Write the estimate to scratch."""
    s[Tcp.SRTT_US], s[Tcp.MDEV_US], s[Tcp.MDEV_MAX_US] = (
        estimate.srtt_us,
        estimate.mdev_us,
        estimate.mdev_max_us,
    )
    s[Tcp.RTTVAR_US], s[Tcp.RTT_SEQ], s[Tcp.RTO] = estimate.rttvar_us, estimate.rtt_seq, estimate.rto
    s[Tcp.SRTT_NS] = srtt_ns(estimate)


def srtt_ns(estimate: Any) -> Any:
    """Return the smoothed RTT [ns]."""
    return estimate.srtt_us * (US // 8)


def on_sample(p: Any, s: Any, estimate: Any, sample: Any, una: Any, nxt: Any) -> Any:
    """Return the estimate after an RTT sample [us], with a timeout without back-off."""
    if estimate.srtt_us == 0:
        mdev = sample << np.int64(1)
        mdev_max = max(mdev, clocks.us_of(p[ReliableP.MIN_RTO]))
        estimate = Estimate(max(sample << np.int64(3), 1), mdev, mdev_max, mdev_max, nxt, estimate.rto)
    else:
        estimate = update(p, s, estimate, sample, una, nxt)
    return (
        estimate if is_rto_unchanged(s, estimate, estimate.rto * s[Tcp.JIFFY_US]) else with_rto(s, estimate)
    )


def update(p: Any, s: Any, estimate: Any, sample: Any, una: Any, nxt: Any) -> Any:
    """Return the estimate after a further RTT sample [us], with the previous timeout."""
    srtt, mdev, mdev_max, rttvar, end, rto = estimate
    error = sample - (srtt >> np.int64(3))
    srtt = max(srtt + error, 1)
    more = abs(error) - (mdev >> np.int64(2))
    if error < 0 and more > 0:
        more >>= np.int64(3)
    mdev += more
    mdev_max = max(mdev_max, mdev)
    rttvar = max(rttvar, mdev_max)
    if una > end:
        if mdev_max < rttvar:
            rttvar -= (rttvar - mdev_max) >> np.int64(2)
        end = nxt
        mdev_max = clocks.us_of(p[ReliableP.MIN_RTO])
    return Estimate(srtt, mdev, mdev_max, rttvar, end, rto)


def is_rto_unchanged(s: Any, estimate: Any, timeout: Any) -> Any:
    """Return True if the timeout still follows from the estimate, so that no division is needed; it is
    `timeout` [us]."""
    rto_us = (estimate.srtt_us >> np.int64(3)) + estimate.rttvar_us
    return timeout - s[Tcp.JIFFY_US] < rto_us <= timeout


def with_rto(s: Any, estimate: Any) -> Any:
    """Return the estimate with the timeout that follows from it (`tcp_set_rto`)."""
    jiffies = clocks.to_jiffies(s, (estimate.srtt_us >> np.int64(3)) + estimate.rttvar_us)
    rto = min(jiffies, s[Tcp.MAX_RTO_JIFFIES])
    return Estimate(
        estimate.srtt_us, estimate.mdev_us, estimate.mdev_max_us, estimate.rttvar_us, estimate.rtt_seq, rto
    )


def ack_update_rtt(p: Any, s: Any, now: Any, echo: Any, advances: Any, first: Any, last: Any) -> Any:
    """Process the RTT of an ACK, and return that of the most recent packet it delivers [us], or NONE.

    `first` and `last` are the sending times [us] of the first and last packets delivered that were sent
    only once, or NONE. Without them the timestamp `echo` [ns] is used, in whole ms, if the ACK `advances`
    SND_UNA.
    """
    now_us = clocks.us_of(now)
    sample, latest = np.int64(NONE), np.int64(NONE)
    if first != NONE:
        sample, latest = now_us - first, now_us - last
    elif advances:
        sample = max(clocks.timestamp_of(s, now) - clocks.timestamp_of(s, echo), 1) * MS_US
        latest = sample
    if sample != NONE:
        s[Tcp.MIN_RTT_US] = min(s[Tcp.MIN_RTT_US], max(latest, 1))
        store_estimate(s, on_sample(p, s, load_estimate(s), sample, s[Tcp.SND_UNA], s[Tcp.SND_NXT]))
    return latest
