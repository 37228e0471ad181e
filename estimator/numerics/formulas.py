"""Closed-form models from the literature: steady-state throughput of TCP, and shares of flows on links.

All functions take and return arrays that broadcast; rates are data packets per second. `formula.py` of each
kind of network applies them; docs/models/formulas.md and docs/reference/formula-rules.md have the equations.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.kernels.congestion import cubic as control
from netcarlo.kernels.linux import cubic as linux
from netcarlo.numerics import bic as response_of_bic
from netcarlo.numerics.arrays import Floats, divisors


class Cubic(NamedTuple):
    """Parameters of CUBIC (RFC 9438, sections 4.3, 4.6 and 5)."""

    beta: float
    """Share of the window that is left after a loss."""
    scale: float
    """Constant C [packets / s^3]."""
    friendly: float
    """Growth of standard TCP with this decrease [packets per round trip]."""
    factors: tuple[float, float]
    """Ratios of the mean window under random loss to that under periodic loss, see `RANDOM_LOSS_FACTORS`."""


CUBIC_BETA = control.BETA / control.BETA_ONE
CUBIC_SCALE = control.CUBE_RTT_SCALE / control.BETA_ONE  # [packet / s^3]
CUBIC_FRIENDLY = 8 / control.BETA_SCALE  # growth of standard TCP with CUBIC_BETA [packets per round trip]
RANDOM_LOSS_FACTORS = 1.174, 1.024
"""Ratios of CUBIC's mean window under random loss to that under periodic loss, in the cubic and in the
Reno-friendly region.

They follow from the stationary distribution of the window when the numbers of packets between losses are
exponential, fast convergence included (`tests/numerics/test_formulas.py` computes them).
"""
OF_NS2 = Cubic(CUBIC_BETA, CUBIC_SCALE, CUBIC_FRIENDLY, RANDOM_LOSS_FACTORS)
OF_LINUX = Cubic(linux.BETA / linux.ONE, linux.SCALE / linux.ONE, 8 / linux.BETA_SCALE, (1.137, 1.037))
"""CUBIC of ns-2 and of today's Linux (`kernels.linux.cubic`)."""


def window_limited(rtt_s: ArrayLike, window: ArrayLike) -> Floats:
    """Return one window per round trip [packets/s]."""
    return np.asarray(window, np.float64) / np.asarray(rtt_s, np.float64)


def mathis(rtt_s: ArrayLike, loss: ArrayLike, *, ack_every: ArrayLike = 1) -> Floats:
    """Return the packets sent per second by a TCP that halves its window at each loss; infinite without loss.

    There are no timeouts and no limit of the window. Source: Mathis, Semke, Mahdavi, Ott, "The macroscopic
    behavior of the TCP congestion avoidance algorithm" (ACM CCR 27(3), 1997).
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
    """Return the packets sent per second by TCP Reno with timeouts and at most `window` packets in flight.

    `loss` in [0, 1) is the probability that a packet is lost if no earlier packet of its window is; `rto_s`
    is the first timeout, which doubles up to six times. Source: Padhye, Firoiu, Towsley, Kurose, "Modeling
    TCP throughput: a simple model and its empirical validation" (SIGCOMM 1998), the full model.
    """
    most, b, p = np.asarray(window, np.float64), np.asarray(ack_every, np.float64), _inside(loss)
    third = (2 + b) / (3 * b)
    free = third + np.sqrt(8 * (1 - p) / (3 * b * p) + third * third)
    w = np.minimum(free, most)
    # A loss causes a timeout unless three later packets arrive.
    alive = 1 - p
    hit = [-np.expm1(k * np.log1p(-p)) for k in (3, w - 3, w)]  # probability that one of k packets is lost
    timeout = np.clip(np.where(w <= 3, 1.0, hit[0] * (1 + alive**3 * hit[1]) / hit[2]), 0.0, 1.0)
    period = _Period(w, b * w / 2, 3 * b * w * w / 8)
    return _per_second(rtt_s, p, period, limited=free >= most, timeout=timeout, rto_s=rto_s)


def sctp(
    rtt_s: ArrayLike,
    loss: ArrayLike,
    *,
    window: ArrayLike = np.inf,
    rto_s: ArrayLike = 1.0,
    floor: ArrayLike = 4,
    again: ArrayLike | None = None,
) -> Floats:
    """Return the packets sent per second by an SCTP association: PFTK with the window and loss recovery of
    SCTP.

    The window grows by acknowledged bytes, so delayed SACKs do not slow it down, and a loss leaves a window
    of at least `floor` packets (RFC 4960, sections 7.2.1 to 7.2.3). Gap ack blocks report all losses of a
    window at once. A timeout occurs only if a retransmission is lost (each with probability `again`; default:
    `loss`; it may take another path) or if nothing sent after the loss arrives.
    """
    most, least, p = np.asarray(window, np.float64), np.asarray(floor, np.float64), _inside(loss)
    free = 1 + np.sqrt(8 * (1 - p) / (3 * p) + 1)
    free = np.where(free < 2 * least, 1 + np.sqrt(1 + 2 * (1 - p) / p + least * (least - 1)), free)
    w = np.minimum(free, most)
    low = np.minimum(np.maximum(w / 2, least), w)
    period = _Period(w, w - low, (w * w - low * low) / 2)
    timeout = _unrepaired(p, w, p if again is None else _inside(again))
    return _per_second(rtt_s, p, period, limited=free >= most, timeout=timeout, rto_s=rto_s)


def cubic(
    rtt_s: ArrayLike,
    loss: ArrayLike,
    *,
    window: ArrayLike = np.inf,
    rto_s: ArrayLike = 1.0,
    ack_every: ArrayLike = 1,
    of: Cubic = OF_NS2,
    again: ArrayLike | None = None,
) -> Floats:
    """Return the packets sent per second by a TCP with CUBIC and SACK loss recovery; arguments as for `pftk`.

    The window is the larger of the cubic and the Reno-friendly one (RFC 9438, sections 5.1 and 4.3), with the
    parameters `of` an implementation and random loss. Retransmissions that are lost with probability `again`
    (default: `loss`) need the timer.
    """
    rtt, most, p = np.asarray(rtt_s, np.float64), np.asarray(window, np.float64), _inside(loss)
    friendly = of.friendly / np.asarray(ack_every, np.float64)
    # Ratio of mean to peak for a cubic that ends at its plateau, and for a line.
    concave, straight = (3 + of.beta) / 4, (1 + of.beta) / 2
    means = (
        of.factors[0] * (of.scale * concave / (1 - of.beta)) ** 0.25 * (rtt / p) ** 0.75,
        of.factors[1] * np.sqrt(friendly * straight / ((1 - of.beta) * p)),
    )
    mean = np.maximum(*means)
    free = mean / np.where(means[0] > means[1], concave, straight)
    w = np.minimum(free, most)
    rounds, of_peak = cubic_recovery(rtt, w, friendly, of)
    rounds = np.where(free >= most, rounds, 1 / (p * mean))
    period = _Period(w, rounds, rounds * w * of_peak)
    timeout = _unrepaired(p, w, p if again is None else np.asarray(again, np.float64))
    return _per_second(rtt, p, period, limited=free >= most, timeout=timeout, rto_s=rto_s)


def bic(
    rtt_s: ArrayLike,
    loss: ArrayLike,
    *,
    window: ArrayLike = np.inf,
    rto_s: ArrayLike = 1.0,
    ack_every: ArrayLike = 1,
) -> Floats:
    """Return the packets sent per second by a TCP with BIC and SACK loss recovery; arguments as for `pftk`.

    BIC's growth has no closed form under random loss; `numerics.bic` computes its response function.
    """
    p = _inside(loss)
    found = response_of_bic.response(p, ack_every, window)
    period = _Period(found.peak, 1 / (p * found.mean), 1 / p)
    timeout = _unrepaired(p, found.peak, p)
    return _per_second(rtt_s, p, period, limited=False, timeout=timeout, rto_s=rto_s)


def cubic_recovery(
    rtt_s: Floats, window: Floats, friendly: ArrayLike, of: Cubic = OF_NS2
) -> tuple[Floats, Floats]:
    """Return the round trips in which CUBIC's window recovers after a loss, and its mean as a share of the
    window.

    `friendly` is the growth of standard TCP [packets per round trip].
    """
    cubic = np.cbrt(window * (1 - of.beta) / of.scale) / rtt_s
    line = (1 - of.beta) * window / np.asarray(friendly)
    return np.minimum(cubic, line), np.where(cubic < line, (3 + of.beta) / 4, (1 + of.beta) / 2)


def bbr(
    rtt_s: ArrayLike, loss: ArrayLike, *, window: ArrayLike = np.inf, capacity: ArrayLike = np.inf
) -> Floats:
    """Return the packets sent per second by BBR v1 alone at a bottleneck of `capacity` [packets/s].

    It does not respond to losses. Every ten seconds a window of four packets probes the RTT for 200 ms and a
    round trip (Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14(5), 2016). While a
    loss is repaired, a round trip, the receive window forbids packets more than `window` behind it.
    """
    rtt, most, p = np.asarray(rtt_s, np.float64), np.asarray(window, np.float64), _inside(loss)
    pipe = np.asarray(capacity, np.float64) * rtt
    flight = np.minimum(most, pipe)
    with np.errstate(invalid="ignore"):
        stalled = np.where(most < np.inf, np.clip(2 - most / np.maximum(flight, 1e-9), 0.0, 1.0), 0.0)
    hit = -np.expm1(np.minimum(flight, 1e9) * np.log1p(-p))
    probing = (0.2 + rtt) / (10.2 + rtt) * np.clip(1 - 4 / np.maximum(flight, 4.0), 0.0, 1.0)
    return np.asarray(flight / (rtt * (1 + hit * stalled)) * (1 - probing))


class _Period(NamedTuple):
    """Period from one loss to the next."""

    window: Floats  # at the loss
    rounds: Floats  # growth from the reduced window to this one [round trips]
    packets: Floats  # sent in these rounds


def _per_second(
    rtt_s: ArrayLike, p: Floats, period: _Period, *, limited: Any, timeout: Floats, rto_s: ArrayLike
) -> Floats:
    """Return PFTK's packets per second; where the window is `limited`, it is constant after its recovery."""
    alive = 1 - p
    w = period.window
    backoff = 1 + p * (1 + p * (2 + p * (4 + p * (8 + p * (16 + p * 32)))))
    with np.errstate(invalid="ignore"):
        stays = np.where(limited, (alive / p - period.packets) / w + 1, 0.0)
    time = np.asarray(rtt_s) * (period.rounds + stays + 1) + timeout * np.asarray(rto_s) * backoff / alive
    return np.asarray((alive / p + w + timeout / alive) / time)


def _unrepaired(p: Floats, window: Floats, again: Floats) -> Floats:
    """Return the probability that loss recovery by SACK needs a timeout.

    It does if a retransmission is lost (probability `again`), or if nothing sent after the loss arrives.
    """
    behind = np.maximum(window - 1, 0.0)
    arrive = np.exp((1 + behind * p) * np.log1p(-again))
    return np.asarray(1 + arrive * np.expm1(behind * np.log(p)))


def _inside(loss: ArrayLike) -> Floats:
    """Return loss probabilities clipped to (0, 1); without loss the window is the limit."""
    return np.clip(np.asarray(loss, np.float64), 1e-12, 1 - 1e-12)


def sawtooth(
    rtt_s: ArrayLike, capacity: ArrayLike, *, queue: ArrayLike, window: ArrayLike, kept: float = 0.5
) -> Floats:
    """Return the packets per second of a single TCP through a drop-tail queue whose overflow is the only
    loss.

    `capacity` [packets/s]; `queue` is the maximum number of waiting packets. The window grows until pipe and
    queue are full, and is then reduced to the share `kept`. A smaller `window` stays constant.
    """
    rtt, rate, most = (np.asarray(x, np.float64) for x in (rtt_s, capacity, window))
    pipe = rate * rtt
    peak = pipe + np.asarray(queue)
    with np.errstate(invalid="ignore", divide="ignore"):  # links without capacity give 0 below
        low, high = np.minimum(peak * kept, pipe), np.minimum(peak, pipe / kept)
        below, above = (pipe * pipe - low * low) / 2, (peak * peak - pipe * pipe) / 2
        cycle = (pipe - low) * rtt + above / divisors(rate)
        climbing = np.where(high < pipe / kept, (below + above) / divisors(cycle), rate)
    return np.where(rate > 0, np.where(most <= peak, np.minimum(most / rtt, rate), climbing), 0.0)


def max_min(passes: ArrayLike, capacity: ArrayLike, *, most: ArrayLike, weight: ArrayLike = 1.0) -> Floats:
    """Return weighted max-min fair rates [n, F] of flows over links, by water filling.

    `passes` [n, F, L] is the load of a flow on each link, `capacity` [n, L] the capacity of the links, `most`
    [n, F] the demand of a flow; `weight` [n, F] are the relative shares of competing flows. Source: Bertsekas
    and Gallager, Data Networks (1992), section 6.5.2.
    """
    uses = np.asarray(passes, np.float64)
    n, flows, _ = uses.shape
    asked = np.broadcast_to(np.asarray(most, np.float64), (n, flows))
    w = np.broadcast_to(np.asarray(weight, np.float64), (n, flows))
    left = np.array(capacity, np.float64)
    rate, active = np.zeros((n, flows)), asked > 0
    while active.any():
        # Raise all rates together until a link is full or a flow has its demand.
        load = np.einsum("nfl,nf->nl", uses, np.where(active, w, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(load > 0, left / load, np.inf)
        share = np.where(uses > 0, level[:, None, :], np.inf).min(axis=2, initial=np.inf) * w
        # The flows at the lowest level are final.
        lowest = np.where(active, np.minimum(share, asked) / w, np.inf).min(axis=1, keepdims=True)
        done = active & (np.minimum(share, asked) / w <= lowest * (1 + 1e-12))
        rate = np.where(done, np.minimum(share, asked), rate)
        left = np.maximum(left - np.einsum("nfl,nf->nl", uses, np.where(done, rate, 0.0)), 0.0)
        active &= ~done
    return rate
