"""Duration of an exchange (RTS, CTS, data, ACK) with noise and hidden nodes, and the probability that it
fails.

The attempts of a frame are modelled one by one, as in the packet engine. An RTS is lost, or collides with a
frame that only the receiver senses. If a CTS is lost, the receiver answers nothing for as long as the data
frame would have taken. A data frame or its ACK is lost. The contention window doubles with each failure, and
too many failures in a row make the MAC give up the link.

`m` is the scratch of the row, `g` the floats of the flow, see `state`; times are in ns.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.adhoc.state import MOST_STAGES, AirFloat, ExchangeFloat


def difs(m: Any) -> Any:
    """Return the DIFS [ns]."""
    return m[Manet.SIFS] + 2 * m[Manet.SLOT]


def unanswered(m: Any) -> Any:
    """Return the time that a sender spends on an RTS that no CTS answers [ns]."""
    return m[Manet.RTS] + m[Manet.SIFS] + m[Manet.CTS]


def on_air(m: Any, size: Any) -> Any:
    """Return the duration of an exchange with a packet of `size` bytes [ns]."""
    data = m[Manet.PREAMBLE] + (size + m[Manet.OVERHEAD]) * m[Manet.BYTE_TIME]
    return m[Manet.RTS] + m[Manet.CTS] + m[Manet.MAC_ACK] + 3 * m[Manet.SIFS] + data


def of_data(m: Any) -> Any:
    """Return the duration of an exchange with a data packet [ns]."""
    return on_air(m, m[RowP.DATA] + m[RowP.CHUNK_HEADER] + m[RowP.HEADER])


def patience(m: Any) -> Any:
    """Return the mean time of failed attempts after which a sender gives up a link [ns]."""
    total, window = np.int64(0), m[Manet.CW_MIN]
    for _ in range(m[Manet.SHORT_RETRY]):
        total += difs(m) + window * m[Manet.SLOT] // 2 + unanswered(m)
        window = min(2 * window + 1, m[Manet.CW_MAX])
    return total


def lone_trip(m: Any, hops: Any, there: Any, back: Any) -> Any:
    """Return the round trip of a lone packet whose exchanges last `there` and `back` on each hop [ns]."""
    wait = 2 * difs(m) + m[Manet.CW_MIN] * m[Manet.SLOT]
    return hops * (there + back + wait)


def _first_pause(m: Any, alone: Any) -> Any:
    """Return the mean backoff before the first attempt [slot].

    A node that is `alone` draws one backoff; otherwise the smaller of two backoffs that start together
    counts.
    """
    first = float(m[Manet.CW_MIN])
    return first / 2.0 if alone else first * (2.0 * first + 1.0) / (6.0 * (first + 1.0))


def _begin_stages(m: Any, g: Any) -> Any:
    """Initialise the probabilities of the attempts; return the number of attempts that are modelled."""
    stages = min(m[Manet.SHORT_RETRY], np.int64(MOST_STAGES))
    for k in range(stages):
        g[AirFloat.STAGES + k] = 1.0 if k == 0 else 0.0
        g[AirFloat.RUNS + k] = 1.0 if k == 0 else 0.0
    return stages


def _deaf(m: Any, length: Any, window: Any) -> Any:
    """Return the attempts that fail because the receiver, whose CTS is lost, still waits for the data frame.

    Returns their number, and the time from the end of the attempt that it answered to the end of the last of
    them [ns].
    """
    left, vain, tries, past = length - unanswered(m), unanswered(m), np.int64(0), np.int64(0)
    while left > 0:
        window = min(2 * window + 1, m[Manet.CW_MAX])
        wait = difs(m) + window * m[Manet.SLOT] // 2
        if wait < left:
            tries += 1
            past += wait + vain
            left -= wait + vain
        else:
            left = np.int64(0)
    return tries, past


@noinline
def weigh(m: Any, g: Any, x: Any, length: Any, alone: Any) -> None:
    """Compute the time until exchange `x` of the route succeeds, and the probability that it never does.

    An attempt occupies the channel for `length` ns. Its RTS collides with a hidden node with probability
    HIDDEN; the first RTS of a frame with half of it, because either of the two nodes may transmit first.
    """
    e = g[AirFloat.EXCHANGES + ExchangeFloat.SIZE * x :]
    vain, wait, slot_s = float(unanswered(m)), float(difs(m)), float(m[Manet.SLOT])
    frame, window = g[AirFloat.FRAME], m[Manet.CW_MIN]
    failed = frame + (1.0 - frame) * frame  # data or acknowledgement
    busy, idle, run = 0.0, 0.0, 0.0
    stages = _begin_stages(m, g)
    for k in range(stages):
        reached, silent = g[AirFloat.STAGES + k], g[AirFloat.RUNS + k]
        meets = e[ExchangeFloat.HIDDEN] / 2.0 if k == 0 else e[ExchangeFloat.HIDDEN]
        no_rts = 1.0 - (1.0 - meets) * (1.0 - frame)
        no_cts = (1.0 - no_rts) * frame
        answered = (1.0 - no_rts) * (1.0 - frame)
        tries, past = _deaf(m, length, window)
        spent = (no_rts + no_cts) * vain + no_cts * (float(tries) * vain) + answered * float(length)
        busy += reached * spent
        pause = _first_pause(m, alone) if k == 0 else float(window) / 2.0
        idle += reached * (wait + pause * slot_s)
        idle += reached * no_cts * (float(past) - float(tries) * vain)
        after, much_after = k + 1, k + 1 + tries
        if after < stages:
            g[AirFloat.STAGES + after] += reached * (no_rts + answered * failed)
            g[AirFloat.RUNS + after] += silent * no_rts
        else:
            run += silent * no_rts
        if much_after < stages:
            g[AirFloat.STAGES + much_after] += reached * no_cts
            g[AirFloat.RUNS + much_after] += silent * no_cts
        else:
            run += silent * no_cts
        window = min(2 * window + 1, m[Manet.CW_MAX])
    collided = 0.0 if alone else 1.0 / (float(m[Manet.CW_MIN]) + 1.0)
    e[ExchangeFloat.BUSY] = busy
    e[ExchangeFloat.AIR] = busy + idle + collided * (vain + wait)
    total, stage = 0.0, 1.0
    for _ in range(m[Manet.LONG_RETRY]):
        total += stage * run
        stage *= (1.0 - run) * failed
    e[ExchangeFloat.GIVEN_UP] = total + stage
