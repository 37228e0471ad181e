"""Coupled congestion controls of MPTCP in the fluid: LIA, OLIA and BALIA.

Source: RFC 6356; Khalili et al. 2013; Peng, Walid, Hwang and Low, "Multipath TCP: analysis, design, and
implementation" (IEEE/ACM Transactions on Networking 24(1), 2016), whose fixed points the windows approach.
The rules are those of the packet model (`kernels/mptcp/coupled`). A subflow grows as Reno does, and then its
growth is scaled to that of the control; after a loss its window is that of the control.

The functions are those of a network (`round`). As in `window`, no product of floats is added to anything.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import MptcpP
from netcarlo.kernels.fluid import path
from netcarlo.kernels.fluid.linux import LEAST
from netcarlo.kernels.fluid.mptcp import Sub, SubFloat
from netcarlo.kernels.fluid.path import carry, complete, look_ahead, lose, next_loss, through
from netcarlo.kernels.fluid.round import Span
from netcarlo.kernels.fluid.state import PACKET, FlowFloat, FlowWord
from netcarlo.kernels.mptcp.coupled.control import Algorithm
from netcarlo.kernels.shared.layout import FlowOut

__all__ = [
    "carry", "complete", "drop", "interrupt", "look_ahead", "lose", "next_loss", "settle", "through",
]  # fmt: skip

MOST_CUT = 1.5
"""BALIA: largest alpha of a reduction."""
_UNCHANGED = 1e-12  # growth that is none [packet]


def settle(row: Any) -> None:
    """Scale the growth of the window since the latest call."""
    g = row.g
    before = g[SubFloat.BEFORE]
    growth = g[FlowFloat.CWND] - before
    g[SubFloat.BEFORE] = g[FlowFloat.CWND]
    if growth <= 0.0 or before < g[FlowFloat.SSTHRESH]:
        return
    scale = _increase(row) * float(int(before))
    if scale > _UNCHANGED:
        g[FlowFloat.CWND] = before + growth / (1.0 / scale)
    elif scale < -_UNCHANGED:
        g[FlowFloat.CWND] = max(before - growth / (-1.0 / scale), 1.0)
        g[FlowFloat.SSTHRESH] = min(g[FlowFloat.SSTHRESH], g[FlowFloat.CWND])
    else:
        g[FlowFloat.CWND] = before
    g[SubFloat.BEFORE] = g[FlowFloat.CWND]


def drop(row: Any, cause: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """Count and return the losses of a window of so many packets; see `round`."""
    settle(row)
    return path.drop(row, cause, packets, t, rtt)


def interrupt(row: Any, span: Span, t: Any) -> Any:
    """React to the losses that end a span at `t`; see `round`."""
    s, g, counts = row.s, row.g, row.s[FlowWord.COUNTS :]
    settle(row)
    cuts, recoveries = counts[FlowOut.CWND_CUTS], counts[FlowOut.FAST_RETRANSMITS]
    t = path.interrupt(row, span, t)
    if counts[FlowOut.CWND_CUTS] > cuts:
        if row.p[MptcpP.COUPLING] == Algorithm.BALIA and s[FlowWord.BACKOFF] <= 2:
            kept = g[SubFloat.BEFORE] - g[SubFloat.BEFORE] / (2.0 / min(_alpha(row), MOST_CUT))
            g[FlowFloat.SSTHRESH] = max(float(int(kept)), LEAST)
            if counts[FlowOut.FAST_RETRANSMITS] > recoveries:
                g[FlowFloat.CWND] = g[FlowFloat.SSTHRESH]
        _begin_interval(row)
    g[SubFloat.BEFORE] = g[FlowFloat.CWND]
    return t


def _rate(g: Any) -> Any:
    # Rate of a subflow [packet / ns]; 0 until it may carry data.
    return g[FlowFloat.CWND] / g[SubFloat.RTT] if g[SubFloat.RTT] > 0.0 else 0.0


def _sum_of_rates(row: Any) -> Any:
    total = 0.0
    for k in range(row.p[MptcpP.SUBFLOWS]):
        total += _rate(row.every[k * SubFloat.SIZE :])
    return total


def _alpha(row: Any) -> Any:
    # BALIA: rate of the fastest subflow over its own.
    most = 0.0
    for k in range(row.p[MptcpP.SUBFLOWS]):
        most = max(most, _rate(row.every[k * SubFloat.SIZE :]))
    return most / _rate(row.g)


def _increase(row: Any) -> Any:
    # Growth of the window per packet acknowledged [packet].
    g, algorithm = row.g, row.p[MptcpP.COUPLING]
    total = _sum_of_rates(row)
    squared = total * total
    if algorithm == Algorithm.LIA:
        return min(_fastest(row) / squared, 1.0 / float(int(g[FlowFloat.CWND])))
    linked = _rate(g) / g[SubFloat.RTT] / squared
    if algorithm == Algorithm.BALIA:
        alpha = _alpha(row)
        return linked * ((1.0 + alpha) / 2.0) * ((4.0 + alpha) / 5.0)
    return linked + _moved(row) / g[FlowFloat.CWND]


def _fastest(row: Any) -> Any:
    # LIA: largest window over the square of the round trip.
    found = 0.0
    for k in range(row.p[MptcpP.SUBFLOWS]):
        f = row.every[k * SubFloat.SIZE :]
        if f[SubFloat.RTT] > 0.0:
            found = max(found, _rate(f) / f[SubFloat.RTT])
    return found


def _moved(row: Any) -> Any:
    # OLIA: alpha, which moves window from the largest subflows to the best ones.
    g, j = row.g, row.j
    got = through(row)
    g[SubFloat.INTERVAL] = float(max(got - j[Sub.LOSS_2], j[Sub.LOSS_2] - j[Sub.LOSS_1])) * PACKET
    best, most, count = 0.0, 0.0, 0
    for k in range(row.p[MptcpP.SUBFLOWS]):
        f = row.every[k * SubFloat.SIZE :]
        if f[SubFloat.RTT] > 0.0:
            best = max(best, _quality(f))
            most = max(most, float(int(f[FlowFloat.CWND])))
            count += 1
    largest, collected = 0, 0
    for k in range(row.p[MptcpP.SUBFLOWS]):
        f = row.every[k * SubFloat.SIZE :]
        if f[SubFloat.RTT] > 0.0:
            if float(int(f[FlowFloat.CWND])) == most:
                largest += 1
            elif _quality(f) == best:
                collected += 1
    if collected == 0:
        return 0.0
    if float(int(g[FlowFloat.CWND])) == most:
        return -1.0 / float(count * largest)
    return 1.0 / float(count * collected) if _quality(g) == best else 0.0


def _quality(g: Any) -> Any:
    # OLIA: packets between losses over the square of the round trip.
    return g[SubFloat.INTERVAL] / g[SubFloat.RTT] / g[SubFloat.RTT]


def _begin_interval(row: Any) -> None:
    # OLIA: begin an interval between losses, unless nothing got through in the present one.
    j, got = row.j, through(row)
    if got > j[Sub.LOSS_2]:
        j[Sub.LOSS_1] = j[Sub.LOSS_2]
        j[Sub.LOSS_2] = np.int64(got)
