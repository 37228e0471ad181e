"""Bianchi's model: saturation throughput of an 802.11 cell without simulation.

All stations always have a frame to send, sense each other, and there is no noise. Sources: G. Bianchi,
"Performance analysis of the IEEE 802.11 distributed coordination function" (IEEE JSAC 18(3), 2000); retry
limit: Wu, Peng, Long, Cheng, Ma, "Performance of reliable transport protocol over IEEE 802.11 wireless LAN"
(INFOCOM 2002); backoff that freezes while the channel is busy: Tinnirello, Bianchi, Xiao, "Refinements on
IEEE 802.11 distributed coordination function modeling approaches" (IEEE TVT 59(3), 2010). Equations in
docs/models/bianchi.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import Rate
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.description import Wireless
from netcarlo.numerics.arrays import Floats
from netcarlo.schema.quantity import Number

RTS_BYTES = 20
BISECTIONS = 50


@dataclass(frozen=True)
class Access:
    """Times of channel access in a cell, or in many (arrays) [s]."""

    slot_s: Any
    success_s: Any  # frame exchange, DIFS included
    collision_s: Any  # collision, DIFS included
    patience_s: Any  # additional time until colliding stations detect the failure
    cw_min: Any  # slots
    cw_max: Any
    attempts: Any  # maximum number per frame


@dataclass(frozen=True)
class Saturation:
    """Results for a saturated cell with all stations, or for many cells (arrays)."""

    frames_per_s: Any
    throughput_bps: Any  # payload
    attempt_probability: Any  # tau: probability that a station sends in a contended slot
    collision_probability: Any  # p: probability that such an attempt collides
    failed_attempt_ratio: Any  # share of all attempts
    drop_ratio: Any  # share of frames that are dropped


def saturation(wireless: Wireless, *, stations: int, payload: int = 1470, header: int = 28) -> Saturation:
    """Return the throughput of `stations` stations that always have a frame for the access point.

    `wireless` provides standard, rate and access (its layout, queues and flows are ignored); payload and
    header are bytes of a packet. Raises InputError for fewer than one station, and if the model does not
    apply: random fields, rate control, bursts, noise, no backoff (`cw_min: 0`).
    """
    if stations < 1:
        raise InputError(f"stations = {stations} is out of range; expected 1 or more")
    return solve(access(wireless, size=payload + header), stations=stations, payload=payload)


def access(wireless: Wireless, *, size: int) -> Access:
    """Return the times of channel access for packets of `size` bytes. Raises InputError, see `saturation`."""
    if wireless.rate is None:
        raise InputError(f"standard = {wireless.standard}; Bianchi's model needs 802.11a, b or g")
    if wireless.rate_control != "fixed":
        raise InputError(f"rate_control = {wireless.rate_control}; Bianchi's model needs fixed, write fixed")
    if _number("burst", wireless.burst) != 1:
        raise InputError(f"burst = {wireless.burst:g}; Bianchi's model sends 1 frame per access, write 1")
    if _number("frame_error", wireless.frame_error) != 0:
        raise InputError(f"frame_error = {wireless.frame_error:g}; Bianchi's model has no noise, write 0")
    if _number("cw_min", wireless.cw_min) < 1:
        raise InputError("cw_min = 0; Bianchi's model needs a backoff, write 1 or more")
    rates = wireless.rate_table()
    data_rate = rates[wireless.rate_index(_number("rate", wireless.rate))]
    answer_rate = rates[data_rate[Rate.ANSWER]]
    size += int(_number("mac_overhead", wireless.mac_overhead))
    rts = announcement = 0.0
    if size > _number("rts_threshold", wireless.rts_threshold):
        rts = _time(answer_rate, RTS_BYTES)
    if wireless.protection is not None and not data_rate[Rate.DSSS]:
        announcement = _time(rates[wireless.rate_index(wireless.protection)], dot11.ACK_BYTES)
    return cost(
        slot_s=_number("slot", wireless.slot),
        sifs_s=_number("sifs", wireless.sifs),
        data_s=_time(data_rate, size),
        ack_s=_time(answer_rate, dot11.ACK_BYTES),
        rts_s=rts,
        cts_to_self_s=announcement,
        answer_preamble_s=answer_rate[Rate.PREAMBLE] / NS,
        cw_min=int(_number("cw_min", wireless.cw_min)),
        cw_max=int(_number("cw_max", wireless.cw_max)),
        attempts=int(_number("short_retry", wireless.short_retry)),
    )


def cost(
    *,
    slot_s: Any,
    sifs_s: Any,
    data_s: Any,
    ack_s: Any,
    rts_s: Any,
    cts_to_self_s: Any,
    answer_preamble_s: Any,
    cw_min: Any,
    cw_max: Any,
    attempts: Any,
) -> Access:
    """Return the times of channel access from parameters of one or many cells; `rts_s` and `cts_to_self_s`
    are 0 if unused."""
    announced = np.asarray(rts_s) > 0  # a CTS is as long as an ACK
    to_self = np.where(np.asarray(cts_to_self_s) > 0, cts_to_self_s + sifs_s, 0.0)
    before = np.where(announced, rts_s + ack_s + 2 * sifs_s, to_self)
    # After a CTS-to-self the data frame is always sent.
    collision = np.where(announced, rts_s, to_self + data_s)
    difs = sifs_s + 2 * slot_s
    return Access(
        slot_s=slot_s,
        success_s=before + data_s + sifs_s + ack_s + difs,
        collision_s=collision + difs,
        patience_s=sifs_s + slot_s + answer_preamble_s,
        cw_min=cw_min,
        cw_max=cw_max,
        attempts=attempts,
    )


def solve(cost: Access, *, stations: int, payload: int) -> Saturation:
    """Return the fixed point of tau and p, and the results; `payload` is the payload per frame [byte]."""
    found = solve_all(cost, stations=stations, payload=payload)
    return Saturation(**{name: float(value[0]) for name, value in vars(found).items()})


def solve_all(cost: Access, *, stations: ArrayLike, payload: ArrayLike) -> Saturation:
    """Return the results of `solve` for many cells at once: arrays [n] of numbers, or single ones."""
    parts = np.broadcast_arrays(np.atleast_1d(stations), payload, *vars(cost).values())
    n, payload, *costs = (np.asarray(part, np.float64) for part in parts)
    cost = Access(*costs)
    # The root of tau - attempts(tau), which is below 0 at 0 and above it at 1.
    low, high = np.zeros(len(n)), np.ones(len(n))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = middle < _attempts(cost, middle, n)[0]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    tau = (low + high) / 2
    _, failed, dropped = _attempts(cost, tau, n)
    idle = (1 - tau) ** n
    success = n * tau * (1 - tau) ** (n - 1)
    collision = 1 - idle - success
    everybody = np.where(n > 1, tau**n, 0.0)  # all stations collide: no station counts slots
    # A station that succeeds and draws backoff 0 sends again before the others finish their next slot.
    train = (cost.cw_min + 1) / cost.cw_min
    time = (
        idle * cost.slot_s
        + success * (train * cost.success_s + cost.slot_s)
        + collision * (cost.collision_s + cost.slot_s)
        + everybody * (cost.patience_s - cost.slot_s)
    )
    frames = success * train / time
    return Saturation(
        frames_per_s=frames,
        throughput_bps=8 * payload * frames,
        attempt_probability=tau,
        collision_probability=1 - (1 - tau) ** (n - 1),
        failed_attempt_ratio=failed,
        drop_ratio=dropped,
    )


def _attempts(cost: Access, tau: Floats, stations: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the attempt probability of a station, its share of failed attempts, and its share of dropped
    frames; [n] each.

    The other stations attempt with probability `tau`.
    """
    p = 1 - (1 - tau) ** (stations - 1)
    first = cost.cw_min + 1.0
    alone = 1 / first  # backoff 0 after a success: this attempt cannot collide
    all_fail = p**cost.attempts
    dropped = (1 - alone) * all_fail / (1 - alone * all_fail)
    missed = _missed(cost, tau, p, stations)
    attempts, slots = np.zeros_like(p), np.zeros_like(p)
    reached = 1 - (1 - dropped) * alone  # the first contended attempt of a frame, or the next one
    for stage in range(int(cost.attempts.max())):
        window = np.minimum(first * 2.0**stage, cost.cw_max + 1.0)
        contended = np.where(stage < cost.attempts, reached, 0.0)
        # After a failure it waits (W - 1) / 2 slots on average, and those that it misses;
        # after a success it draws 1, 2, ...
        after_failure = dropped if stage == 0 else contended
        slots = slots + after_failure * ((window - 1) / 2 + missed)
        if stage == 0:
            slots = slots + (1 - dropped) * (1 - alone) * window / 2
        attempts = attempts + contended
        reached = reached * p
    return attempts / slots, p * attempts / ((1 - dropped) * alone + attempts), dropped


def _missed(cost: Access, tau: Floats, p: Floats, stations: Floats) -> Floats:
    """Return the slots after a collision before the colliding stations resume counting, at least one.

    The others resume after a DIFS: their first slot is always idle, each further one only if none of them
    sends.
    """
    ratio = cost.patience_s / cost.slot_s
    whole = np.floor(ratio)
    quiet = (1 - tau) ** np.maximum(stations - 2, 0)
    missed = (ratio - whole) * quiet**whole
    for k in range(1, int(whole.max())):
        missed = missed + np.where(k < whole, quiet**k, 0.0)
    alone = (stations < 2) | (p == 0)
    everybody = tau ** (stations - 1) / np.where(alone, 1.0, p)
    return np.where(alone, 1.0, 1 + (1 - everybody) * missed)


def _time(rate: NDArray[np.int64], size: int) -> float:
    return float(dot11.time_on_air(rate, size)) / NS


def _number(field: str, value: Number) -> float:
    if not isinstance(value, float):
        raise InputError(f"{field} is random; Bianchi's model needs a fixed number, write one")
    return value
