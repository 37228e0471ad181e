"""What an exchange (RTS, CTS, data, ACK) costs with noise and hidden nodes, and how often it never succeeds.

The attempts of a frame are followed one by one, as the engine makes them: an RTS that is lost, or meets a
node which only the receiver senses; a CTS that is lost, after which the receiver is deaf as long as the frame
would have taken; a frame or an acknowledgement that is lost.  The window doubles, and too many in a row give
the link up.

`m` is scratch, `g` the floats of the flow, see `state`; times are in ns.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.fluid.adhoc.state import MOST_STAGES, AirFloat, ExchangeFloat


def difs(m: Any) -> Any:
    """DIFS [ns]."""
    return m[Manet.SIFS] + 2 * m[Manet.SLOT]


def unanswered(m: Any) -> Any:
    """How long a sender is busy with an RTS to which no CTS comes [ns]."""
    return m[Manet.RTS] + m[Manet.SIFS] + m[Manet.CTS]


def on_air(m: Any, size: Any) -> Any:
    """An exchange with a packet of `size` bytes [ns]."""
    data = m[Manet.PREAMBLE] + (size + m[Manet.OVERHEAD]) * m[Manet.BYTE_TIME]
    return m[Manet.RTS] + m[Manet.CTS] + m[Manet.MAC_ACK] + 3 * m[Manet.SIFS] + data


def of_data(m: Any) -> Any:
    """An exchange with a data packet [ns]."""
    return on_air(m, m[P.DATA] + m[P.CHUNK_HEADER] + m[P.HEADER])


def patience(m: Any) -> Any:
    """How long a sender tries in vain until it gives the link up, on average [ns]."""
    total, window = np.int64(0), m[Manet.CW_MIN]
    for _ in range(m[Manet.SHORT_RETRY]):
        total += difs(m) + window * m[Manet.SLOT] // 2 + unanswered(m)
        window = min(2 * window + 1, m[Manet.CW_MAX])
    return total


def lone_trip(m: Any, hops: Any, there: Any, back: Any) -> Any:
    """The round trip of a packet that nothing else is in the way of, of exchanges of such lengths [ns]."""
    wait = 2 * difs(m) + m[Manet.CW_MIN] * m[Manet.SLOT]
    return hops * (there + back + wait)


def _first_pause(m: Any, alone: Any) -> Any:
    # Slots before the first attempt: of a node alone, or the smaller of two backoffs that began together.
    first = float(m[Manet.CW_MIN])
    return first / 2.0 if alone else first * (2.0 * first + 1.0) / (6.0 * (first + 1.0))


def _begin_stages(m: Any, g: Any) -> Any:
    # Nothing has been attempted; returns how many attempts are followed.
    stages = min(m[Manet.SHORT_RETRY], np.int64(MOST_STAGES))
    for k in range(stages):
        g[AirFloat.STAGES + k] = 1.0 if k == 0 else 0.0
        g[AirFloat.RUNS + k] = 1.0 if k == 0 else 0.0
    return stages


def _deaf(m: Any, length: Any, window: Any) -> Any:
    # A receiver whose CTS is lost waits for the frame: attempts that find it so, and the time from the end
    # of the one that it answered to the end of the last of them [ns].
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
    """What exchange `x` of the route, so long on the air, takes until it succeeds; how often it never does.

    Its RTS meets a hidden node with probability HIDDEN, the first of a frame half as often: the two race.
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
