"""Finite transfers over a path by formula: handshake, slow start, the first loss, then the steady state.

Source: Cardwell, Savage and Anderson, "Modeling TCP latency" (INFOCOM 2000), adapted to the senders of
today's Linux: slow start doubles the window in each round trip even with delayed ACKs, a recovery by RACK
takes a round trip without a timeout, and the rate after it is that of `formula`. Quantiles of the number of
packets before the first loss replace its mean, and slow start ends when the window fills the path.
"""

import numpy as np

from netcarlo.kernels.base.layout import NS, Hop, Rows
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.networks.formula import Found, byte_s
from netcarlo.networks.path.formula import Steady, steady
from netcarlo.numerics.arrays import Floats

KINDS = ("linux_cubic", "linux_reno")
"""Senders whose finite transfers have a formula."""

QUANTILES = 16
"""Number of equally probable positions of the first loss."""

ROUNDS = 40
"""Maximum number of round trips of slow start: a window cannot double more often."""


def formula(rows: Rows, *, kind: int) -> Found:
    """Return the outcomes of finite transfers by a sender `kind`, that of CUBIC or Reno of today's Linux.

    The completion is NaN if the transfer lasts longer than the run.
    """
    p, of = rows.parameters, steady(rows, kind=kind)
    packets = p[:, RowP.LIMIT].astype(np.float64)
    initial = p[:, TcpP.INITIAL_WINDOW].astype(np.float64)
    took_s = completion_s(packets, of, initial=initial, connect_s=_connect_s(rows))
    bits = (packets * p[:, RowP.DATA] - p[:, RowP.SHORT]) * 8.0
    inside = took_s <= (p[:, RowP.END] - p[:, RowP.START]) / NS
    return {"goodput_bps": bits / took_s, "completion_s": np.where(inside, took_s, np.nan)}


def completion_s(packets: Floats, of: Steady, *, initial: Floats, connect_s: Floats) -> Floats:
    """Return the mean time until the last of `packets` arrives [s], [n].

    `initial` is the window at the start [packets], `connect_s` the duration of the handshake [s].
    """
    loss = 1 - of.survive[:, None]
    each = (np.arange(QUANTILES) + 0.5) / QUANTILES
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(loss > 0, np.log1p(-each) / np.log1p(-np.minimum(loss, 0.999)), np.inf)
    total = packets[:, None]
    first = np.minimum(before, total)
    sent_s, window = _slow_start(first, of, initial)
    capacity, sent, rtt_s = of.capacity[:, None], of.sent[:, None], of.rtt_s[:, None]
    left = np.maximum(total - first - window, 0.0)  # a window is sent before the loss is detected
    repaired_s = np.where(before < total, rtt_s + left / np.minimum(sent, capacity), 0.0)
    return np.asarray(connect_s + (sent_s + repaired_s).mean(axis=1) + of.forth_s)


def _slow_start(first: Floats, of: Steady, initial: Floats) -> tuple[Floats, Floats]:
    """Return the duration of the first `first` packets at the slowest hop, and the window at its end.

    The time [s] is from the first to the last of them; the window is in packets; [n, QUANTILES] each.
    """
    capacity, rtt_s, most = (part[:, None] for part in (of.capacity, of.rtt_s, of.most))
    pipe = np.maximum(capacity * rtt_s, 1.0)
    window = np.minimum(initial[:, None], most) + 0.0 * first
    left, begin, end = first.copy(), np.zeros_like(first), np.full_like(first, np.nan)
    for _ in range(ROUNDS):
        rounds = np.where(window >= most, np.floor(left / window), 0.0)  # rounds with the largest window
        rounds = np.where(window >= pipe, 0.0, rounds)
        done = (left <= window) | (window >= np.minimum(pipe, most))
        rest = np.maximum(left - rounds * window - 1, 0.0)
        end = np.where(np.isnan(end) & done, begin + rounds * rtt_s + rest / capacity, end)
        if not np.isnan(end).any():
            break
        left, begin = np.where(done, left, left - window), np.where(done, begin, begin + rtt_s)
        window = np.where(done, window, np.minimum(2 * window, most))
    return end, np.minimum(window, pipe)


def _connect_s(rows: Rows) -> Floats:
    """Return the duration of the handshake [s]; 0 without one."""
    p, hops = rows.parameters, rows.hops[:, 0]
    both_s = byte_s(hops[..., Hop.BYTE_TIME]) + byte_s(hops[..., Hop.R_BYTE_TIME])
    delay_s = (hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]) / NS
    there = hops[..., Hop.PRESENT] == 1
    once_s = np.where(there, p[:, TcpP.HANDSHAKE, None] * both_s + delay_s, 0.0).sum(axis=1)
    return np.where(p[:, TcpP.HANDSHAKE] > 0, once_s, 0.0)
