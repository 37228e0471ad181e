"""Response function of BIC: mean window under random loss, from a Markov chain of the window at losses.

A loss at window w reduces it by the factor beta and sets the maximum M = w, or (1 + beta) w / 2 if w was
below the previous maximum (fast convergence). The window then grows by one packet after as many ACKs as
`kernels/congestion/bic.py` requires for w and M. Each packet is lost with probability p. So (w, was it below
M) is a Markov chain, stationary under random loss. There is no closed form: the chain is solved once for a
grid of p, and results are interpolated. Equations: docs/reference/formula-rules.md.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.kernels.congestion import bic as control
from netcarlo.numerics.arrays import Floats

BETA = control.BETA / control.BETA_ONE
MAX_WINDOW = 6000
"""Maximum window of the grid [packets]; larger windows count as this one."""

MAX_LOSSES = 500
"""Number of losses after which the chain is taken as stationary; a few dozen are enough."""

_EDGES = np.unique(np.concatenate([np.arange(2, 48), np.geomspace(48, MAX_WINDOW, 100).round()]))
_WINDOWS = (_EDGES[:-1] + _EDGES[1:] - 1) / 2
_LOSSES = np.geomspace(1e-7, 0.5, 40)
_LIMITS = np.concatenate([[2.0, 3.0, 4.0, 6.0], 2.0 ** np.arange(3, 12), _WINDOWS[-1:]])


class Response(NamedTuple):
    """Response of BIC to random loss: arrays that broadcast."""

    mean: Floats
    """Mean window [packets]."""
    peak: Floats
    """Mean window at the time of a loss [packets]."""


class Recovery(NamedTuple):
    """Recovery of BIC's window, from a loss to the window before it: arrays that broadcast."""

    rounds: Floats
    """Duration of the recovery [round trips]."""
    packets: Floats
    """Packets sent during the recovery."""


def response(loss: ArrayLike, ack_every: ArrayLike, most: ArrayLike = MAX_WINDOW) -> Response:
    """Return the windows if each packet is lost with probability `loss` and windows are limited to `most`."""
    p = np.clip(np.asarray(loss, np.float64), _LOSSES[0], _LOSSES[-1])
    top = np.clip(np.asarray(most, np.float64), _LIMITS[0], _LIMITS[-1])
    p, top, b = np.broadcast_arrays(p, top, np.asarray(ack_every, np.int64))
    found = np.zeros((2, *p.shape))
    row = np.interp(np.log(p), np.log(_LOSSES), np.arange(len(_LOSSES)))
    column = np.interp(np.log(top), np.log(_LIMITS), np.arange(len(_LIMITS)))
    for each in np.unique(b):
        here = b == each
        for k, table in enumerate(_solved(int(each))):
            found[k, here] = np.exp(_between(np.log(table), row[here], column[here]))
    return Response(*np.minimum(found, top))


def _between(table: Floats, row: Floats, column: Floats) -> Floats:
    """Return bilinear interpolations of a table at fractional rows and columns."""
    i = np.minimum(row.astype(np.int64), table.shape[0] - 2)
    j = np.minimum(column.astype(np.int64), table.shape[1] - 2)
    x, y = row - i, column - j
    above = (1 - y) * table[i, j] + y * table[i, j + 1]
    below = (1 - y) * table[i + 1, j] + y * table[i + 1, j + 1]
    return np.asarray((1 - x) * above + x * below)


def recovery(window: ArrayLike, ack_every: ArrayLike) -> Recovery:
    """Return the recovery of the window after a loss at this window, if that was the maximum."""
    w, b = np.broadcast_arrays(np.asarray(window, np.float64), np.asarray(ack_every, np.float64))
    peak, low = w[..., None], window_after_loss(w)[..., None]
    share = np.clip(np.minimum(_EDGES[1:], peak) - np.maximum(_EDGES[:-1], low), 0.0, None)
    packets = share * acks(_WINDOWS, peak, b[..., None]) * b[..., None]
    return Recovery((packets / _WINDOWS).sum(axis=-1), packets.sum(axis=-1))


def window_after_loss(window: Floats) -> Floats:
    """Return the window after a loss [packets]."""
    low = np.floor(window / 2)
    return np.maximum(np.where(window <= control.LOW_WINDOW, low, np.floor(window * BETA)), 2.0)


def acks(window: Floats, maximum: Floats, ack_every: ArrayLike) -> Floats:
    """Return the number of ACKs until a window has grown by one packet; each ACK covers `ack_every` packets.

    Above LOW_WINDOW the control corrects for delayed ACKs. It assumes at least 31/16 packets per ACK, because
    its average is rounded down.
    """
    below = maximum - window
    step = np.minimum(np.floor(below / control.BICTCP_B), control.MAX_INCREMENT)
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.maximum(window * (control.BICTCP_B - 1) / -below, window / control.MAX_INCREMENT)
    every = np.where(below > 0, window / np.maximum(step, 1), beyond)
    near = (below > -control.BICTCP_B) & (step <= 1)
    every = np.where(near, window * control.SMOOTH_PART / control.BICTCP_B, every)
    each = np.maximum(np.asarray(ack_every, np.float64), 31 / 16)
    every = np.maximum(np.floor(np.floor(every) / each), 1.0)
    return np.asarray(np.where(window <= control.LOW_WINDOW, window, every) + 1)


@functools.cache
def _solved(ack_every: int) -> Response:
    """Return the stationary chains for each of `_LOSSES` [L] and each limit of the window in `_LIMITS`
    [M]: [L, M]."""
    found = np.zeros((2, len(_LOSSES), len(_LIMITS)))
    for column, limit in enumerate(_LIMITS):
        n = int(np.searchsorted(_WINDOWS, limit)) + 1
        # State: window at a loss, and whether it was below the maximum.
        here = _WINDOWS[:n]
        window, below = np.tile(here, 2)[:, None], np.repeat([False, True], n)[:, None]
        maximum = np.where(below, np.floor(window * (1 + BETA) / 2), window)
        share = np.clip(_EDGES[1 : n + 1] - window_after_loss(window), 0.0, np.diff(_EDGES[: n + 1]))
        packets = share * acks(here, maximum, ack_every) * ack_every  # from each window to the next
        packets[:, -1] = np.inf  # there is no larger window
        before = packets.cumsum(axis=1) - np.where(np.isinf(packets), 0.0, packets)
        before[:, -1] = packets[:, :-1].sum(axis=1)
        lower, steady = maximum > here, np.full(2 * n, 0.5 / n)
        for row, p in enumerate(_LOSSES):
            lost = np.exp(np.log1p(-p) * before) * -np.expm1(np.log1p(-p) * packets)
            lost[lost < 1e-30] = 0.0
            moves = np.concatenate([np.where(lower, 0.0, lost), np.where(lower, lost, 0.0)], axis=1)
            for _ in range(MAX_LOSSES):
                steady, last = steady @ moves, steady
                if np.abs(steady - last).sum() < 1e-6:
                    break
            sent = steady @ lost / p  # packets sent at each window per loss
            found[:, row, column] = 1 / (p * (sent / here).sum()), steady @ window[:, 0]
    return Response(*found)
