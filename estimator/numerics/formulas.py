"""What TCP carries in the steady state, in closed form, and how flows share links: the literature's formulae.

All take and give arrays that broadcast; rates are data packets per second.
`formula.py` of each kind of network applies them; docs/models/formulas.md has the equations.
"""

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics.arrays import Floats


def window_limited(rtt_s: ArrayLike, window: ArrayLike) -> Floats:
    """A window per round trip [packet/s]."""
    return np.asarray(window, np.float64) / np.asarray(rtt_s, np.float64)


def mathis(rtt_s: ArrayLike, loss: ArrayLike, *, ack_every: ArrayLike = 1) -> Floats:
    """Packets sent per second by a TCP that halves its window at each loss; without loss infinite.

    No timeouts, no limit to the window.  Source: Mathis, Semke, Mahdavi, Ott, "The macroscopic behavior of
    the TCP congestion avoidance algorithm" (ACM CCR 27(3), 1997).
    """
    with np.errstate(divide="ignore"):
        per_trip = np.sqrt(1.5 / (np.asarray(ack_every) * np.asarray(loss, np.float64)))
        return np.asarray(per_trip / np.asarray(rtt_s, np.float64))


def pftk(
    rtt_s: ArrayLike,
    loss: ArrayLike,
    *,
    window: ArrayLike = np.inf,
    rto_s: ArrayLike = 1.0,
    ack_every: ArrayLike = 1,
) -> Floats:
    """Packets sent per second by a TCP Reno with timeouts and at most `window` packets in flight.

    `loss` in [0, 1) is the probability that a packet is lost when none before it in its window is; `rto_s`
    the first timeout, which doubles six times.  Source: Padhye, Firoiu, Towsley, Kurose, "Modeling TCP
    throughput: a simple model and its empirical validation" (SIGCOMM 1998), the full model.
    """
    rtt, most, b = (np.asarray(x, np.float64) for x in (rtt_s, window, ack_every))
    p = np.clip(loss, 1e-12, 1 - 1e-12)  # without loss the window is what limits
    third = (2 + b) / (3 * b)
    free = third + np.sqrt(8 * (1 - p) / (3 * b * p) + third * third)
    limited = free >= most
    w = np.where(limited, most, free)
    with np.errstate(invalid="ignore"):
        growth = np.where(limited, b * w / 8 + (1 - p) / (p * w) + 2, b * w / 2 + 1)
    # A loss is found out by a timeout unless three packets behind it arrive.
    alive = 1 - p
    hit = [-np.expm1(k * np.log1p(-p)) for k in (3, w - 3, w)]  # one of so many is lost
    timeout = np.clip(np.where(w <= 3, 1.0, hit[0] * (1 + alive**3 * hit[1]) / hit[2]), 0.0, 1.0)
    backoff = 1 + p * (1 + p * (2 + p * (4 + p * (8 + p * (16 + p * 32)))))
    packets = alive / p + w + timeout / alive
    return np.asarray(packets / (rtt * growth + timeout * np.asarray(rto_s) * backoff / alive))


def sawtooth(rtt_s: ArrayLike, capacity: ArrayLike, *, queue: ArrayLike, window: ArrayLike) -> Floats:
    """Packets per second of a lone TCP through a drop-tail queue whose overflow is the only loss.

    `capacity` [packet/s], `queue` the packets that wait at most.  The window climbs to pipe and queue full,
    and falls to half of that; one that is smaller stays.
    """
    rtt, rate, most = (np.asarray(x, np.float64) for x in (rtt_s, capacity, window))
    pipe = rate * rtt
    peak = pipe + np.asarray(queue)
    with np.errstate(invalid="ignore"):
        low, high = np.minimum(peak / 2, pipe), np.minimum(peak, 2 * pipe)
        below, above = (pipe * pipe - low * low) / 2, (peak * peak - pipe * pipe) / 2
        cycle = (pipe - low) * rtt + above / rate
        climbing = np.where(high < 2 * pipe, (below + above) / cycle, rate)
    return np.where(most <= peak, np.minimum(most / rtt, rate), climbing)


def max_min(passes: ArrayLike, capacity: ArrayLike, *, most: ArrayLike, weight: ArrayLike = 1.0) -> Floats:
    """Weighted max-min fair rates [n, F] of flows over links, by water filling.

    `passes` [n, F, L] says which links a flow loads, `capacity` [n, L] what these carry, `most` [n, F] what a
    flow asks for; `weight` [n, F] the shares of flows that compete, in any unit.  Source: Bertsekas and
    Gallager, Data Networks (1992), 6.5.2.
    """
    uses = np.asarray(passes, np.float64)
    n, flows, _ = uses.shape
    asked = np.broadcast_to(np.asarray(most, np.float64), (n, flows))
    w = np.broadcast_to(np.asarray(weight, np.float64), (n, flows))
    left = np.array(capacity, np.float64)
    rate, active = np.zeros((n, flows)), asked > 0
    while active.any():
        # Water rises in all at once, until a link is full or a flow has what it asks for.
        load = np.einsum("nfl,nf->nl", uses, np.where(active, w, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(load > 0, left / load, np.inf)
        share = np.where(uses > 0, level[:, None, :], np.inf).min(axis=2, initial=np.inf) * w
        # A link with the lowest level among those of its flows is full for good, whatever the others do.
        lowest = np.where(active, np.minimum(share, asked) / w, np.inf).min(axis=1, keepdims=True)
        done = active & (np.minimum(share, asked) / w <= lowest * (1 + 1e-12))
        rate = np.where(done, np.minimum(share, asked), rate)
        left = np.maximum(left - np.einsum("nfl,nf->nl", uses, np.where(done, rate, 0.0)), 0.0)
        active &= ~done
    return rate
