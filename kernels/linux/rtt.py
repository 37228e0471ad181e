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

    srtt_us: Any
    mdev_us: Any
    mdev_max_us: Any
    rttvar_us: Any
    rtt_seq: Any
    rto: Any


def load_estimate(s: Any) -> Any:
    """As it is."""
    return Estimate(
        s[Tcp.SRTT_US], s[Tcp.MDEV_US], s[Tcp.MDEV_MAX_US], s[Tcp.RTTVAR_US], s[Tcp.RTT_SEQ], s[Tcp.RTO]
    )


def store_estimate(s: Any, known: Any) -> None:
    """As it is now."""
    s[Tcp.SRTT_US], s[Tcp.MDEV_US], s[Tcp.MDEV_MAX_US] = known.srtt_us, known.mdev_us, known.mdev_max_us
    s[Tcp.RTTVAR_US], s[Tcp.RTT_SEQ], s[Tcp.RTO] = known.rttvar_us, known.rtt_seq, known.rto
    s[Tcp.SRTT_NS] = srtt_ns(known)


def srtt_ns(known: Any) -> Any:
    """The smoothed round trip [ns]."""
    return known.srtt_us * (US // 8)


def on_sample(p: Any, s: Any, known: Any, sample: Any, una: Any, nxt: Any) -> Any:
    """The estimate after a round trip [us], and the timeout that follows, which ends the back-off."""
    if known.srtt_us == 0:
        mdev = sample << np.int64(1)
        most = max(mdev, clocks.us_of(p[P.MIN_RTO]))
        known = Estimate(max(sample << np.int64(3), 1), mdev, most, most, nxt, known.rto)
    else:
        known = update(p, s, known, sample, una, nxt)
    return known if is_rto_unchanged(s, known, known.rto * s[Tcp.JIFFY_US]) else with_rto(s, known)


def update(p: Any, s: Any, known: Any, sample: Any, una: Any, nxt: Any) -> Any:
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


def is_rto_unchanged(s: Any, known: Any, timeout: Any) -> Any:
    """Whether RTO, which is `timeout` [us], is still what follows: then there is no need to divide."""
    rto_us = (known.srtt_us >> np.int64(3)) + known.rttvar_us
    return timeout - s[Tcp.JIFFY_US] < rto_us <= timeout


def with_rto(s: Any, known: Any) -> Any:
    """The estimate, with the timeout that follows from it."""
    jiffies = clocks.to_jiffies(s, (known.srtt_us >> np.int64(3)) + known.rttvar_us)
    rto = min(jiffies, s[Tcp.MAX_RTO_JIFFIES])
    return Estimate(known.srtt_us, known.mdev_us, known.mdev_max_us, known.rttvar_us, known.rtt_seq, rto)


def ack_update_rtt(p: Any, s: Any, now: Any, echo: Any, advances: Any, first: Any, last: Any) -> Any:
    """An ACK has come; returns the round trip of the last packet that it tells of [us], or NONE.

    `first` and `last`: when the first and the last of the packets were put out [us] that were sent only once,
    or NONE.  Where there is none the timestamp `echo` [ns] serves, in whole ms, if the ACK `advances` UNA.
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
