"""Saturation throughput of an 802.11 cell without simulation: Bianchi's model.

Stations that always have a frame to send hear each other and meet no noise.  Sources: G. Bianchi,
"Performance analysis of the IEEE 802.11 distributed coordination function" (IEEE JSAC 18(3), 2000);
retry limit: Wu, Peng, Long, Cheng, Ma, "Performance of reliable transport protocol over IEEE 802.11
wireless LAN" (INFOCOM 2002); backoff that stands still while the channel is busy: Tinnirello, Bianchi,
Xiao, "Refinements on IEEE 802.11 distributed coordination function modeling approaches" (IEEE TVT
59(3), 2010).  Equations in docs/models/bianchi.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from netcarlo import dot11
from netcarlo.errors import InputError
from netcarlo.kernels.wifi.layout import Rate
from netcarlo.quantity import Number
from netcarlo.wireless import Wireless

NS = 1e9
RTS_BYTES = 20

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Access:
    """What access to the channel costs in a cell.  Times in seconds."""

    slot_s: float
    success_s: float  # a frame exchange, DIFS included
    collision_s: float  # frames that collide, DIFS included
    patience_s: float  # those who collided find out so much later than the others
    cw_min: int  # slots
    cw_max: int
    attempts: int  # after which a frame is given up


@dataclass(frozen=True)
class Saturation:
    """A saturated cell, all stations together."""

    frames_per_s: float
    throughput_bps: float  # payload
    attempt_probability: float  # tau: a station sends in a slot in which others may send too
    collision_probability: float  # p: of such an attempt
    failed_attempt_ratio: float  # share of all attempts
    drop_ratio: float  # share of the frames that is given up


def saturation(wireless: Wireless, *, stations: int, payload: int = 1470, header: int = 28) -> Saturation:
    """Throughput of `stations` stations that always have a frame for the access point.

    `wireless` says standard, rate and access (its layout, queues and flows are not looked at), payload and
    header are bytes of a packet.  Raises InputError for fewer than one station, and where the model does
    not hold: random fields, rate control, bursts, noise, no backoff (`cw_min: 0`).
    """
    if stations < 1:
        raise InputError(f"stations = {stations}; allowed is 1 or more")
    cost = access(wireless, size=payload + header)
    return solve(cost, stations=stations, payload=payload)


def access(wireless: Wireless, *, size: int) -> Access:
    """The cost of access for packets of `size` bytes.  Raises InputError, see `saturation`."""
    if wireless.rate_control != "fixed":
        raise InputError(f"rate_control = {wireless.rate_control}; Bianchi's model has a fixed rate")
    if _number("burst", wireless.burst) != 1:
        raise InputError(f"burst = {wireless.burst:g}; Bianchi's model sends 1 frame per access")
    if _number("frame_error", wireless.frame_error) != 0:
        raise InputError(f"frame_error = {wireless.frame_error:g}; Bianchi's model knows no noise, write 0")
    if _number("cw_min", wireless.cw_min) < 1:
        raise InputError("cw_min = 0; Bianchi's model needs a backoff, write 1 or more")
    rates = wireless.rate_table()
    data_rate = rates[wireless.rate_index(_number("rate", wireless.rate))]
    answer_rate = rates[data_rate[Rate.ANSWER]]
    slot, sifs = _number("slot", wireless.slot), _number("sifs", wireless.sifs)
    difs = sifs + 2 * slot
    size += int(_number("mac_overhead", wireless.mac_overhead))
    data, ack = _time(data_rate, size), _time(answer_rate, dot11.ACK_BYTES)
    before, collision = 0.0, data
    if size > _number("rts_threshold", wireless.rts_threshold):
        rts = _time(answer_rate, RTS_BYTES)
        before, collision = rts + sifs + ack + sifs, rts  # a CTS takes as long as an ACK
    elif wireless.protection is not None and not data_rate[Rate.DSSS]:
        before = _time(rates[wireless.rate_index(wireless.protection)], dot11.ACK_BYTES) + sifs
        collision = before + data  # the data follows a CTS to self in any case
    return Access(
        slot_s=slot,
        success_s=before + data + sifs + ack + difs,
        collision_s=collision + difs,
        patience_s=sifs + slot + answer_rate[Rate.PREAMBLE] / NS,
        cw_min=int(_number("cw_min", wireless.cw_min)),
        cw_max=int(_number("cw_max", wireless.cw_max)),
        attempts=int(_number("short_retry", wireless.short_retry)),
    )


def solve(cost: Access, *, stations: int, payload: int) -> Saturation:
    """The fixed point of tau and p, and what follows from it; `payload` bytes arrive per frame."""
    tau = brentq(lambda tau: tau - _attempts(cost, tau, stations)[0], 0.0, 1.0, xtol=1e-14)
    _, failed, dropped = _attempts(cost, tau, stations)
    idle = (1 - tau) ** stations
    success = stations * tau * (1 - tau) ** (stations - 1)
    collision = 1 - idle - success
    everybody = tau**stations if stations > 1 else 0.0  # collides: nobody counts slots meanwhile
    # Who has just succeeded and draws 0 goes on alone: the others still wait for their next slot to end.
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
        collision_probability=1 - (1 - tau) ** (stations - 1),
        failed_attempt_ratio=failed,
        drop_ratio=dropped,
    )


def _attempts(cost: Access, tau: float, stations: int) -> tuple[float, float, float]:
    """What a station does whose others attempt with probability `tau`: its own probability, the share of
    its attempts that fail, and of its frames that it gives up."""
    p = 1 - (1 - tau) ** (stations - 1)
    stages = np.arange(cost.attempts)
    windows = np.minimum((cost.cw_min + 1.0) * 2.0**stages, cost.cw_max + 1.0)
    alone = 1 / windows[0]  # it draws 0 after a success: nobody can disturb that first attempt
    all_fail = float(p**cost.attempts)
    dropped = (1 - alone) * all_fail / (1 - alone * all_fail)
    contended = (1 - (1 - dropped) * alone) * p**stages
    # After a failure it counts (W - 1) / 2 slots on average, and those that it misses, until it sends.
    slots = contended * ((windows - 1) / 2 + _missed(cost, tau, p, stations))
    after_failure = dropped * slots[0] / contended[0]
    after_success = (1 - dropped) * (1 - alone) * windows[0] / 2  # it draws 1, 2, ..
    slots[0] = after_failure + after_success
    failures = p * contended.sum()
    return (
        float(contended.sum() / slots.sum()),
        float(failures / ((1 - dropped) * alone + contended.sum())),
        dropped,
    )


def _missed(cost: Access, tau: float, p: float, stations: int) -> float:
    """Slots that pass after a collision before those who collided begin to count, one at least.

    The others go on after a DIFS: their first slot stays idle, each further one if none of them sends.
    """
    if stations < 2 or tau == 0:
        return 1.0
    whole = int(cost.patience_s / cost.slot_s)
    quiet = (1 - tau) ** (stations - 2)
    missed = sum(quiet**k for k in range(1, whole))
    missed += (cost.patience_s / cost.slot_s - whole) * quiet**whole
    everybody = tau ** (stations - 1) / p
    return float(1 + (1 - everybody) * missed)


def _time(rate: NDArray[np.int64], size: int) -> float:
    return dot11.time_on_air(rate, size) / NS


def _number(field: str, value: Number) -> float:
    if not isinstance(value, float):
        raise InputError(f"{field} is random; Bianchi's model takes one number")
    return value
