"""Bianchi's model of saturated cells with EDCA, A-MPDUs and unequal rates, without simulation.

Sources: G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function" (IEEE JSAC
18(3), 2000); unequal stations: D. Malone, K. Duffy, D. Leith, "Modeling the 802.11 distributed coordination
function in nonsaturated heterogeneous conditions" (IEEE/ACM ToN 15(1), 2007); BlockAckReq: IEEE 802.11-2020,
10.25.2. All stations sense each other and have the same AIFS, and frames are lost only by collisions.

Time is divided into model slots: an idle slot, or a transmission with all that follows it. Contrary to DCF, a
backoff counts every model slot, also those with a transmission (10.23.2.4). An attempt collides with
probability p = 1 - prod (1 - a)^n over all other stations, which attempt with probabilities a. A station
repeats a cycle: data until an exchange succeeds, with windows that double. A share of the failures (all, or
one of seven) is followed by BlockAckReq until one is answered, which resets the window. Then a is the mean
number of attempts per cycle over the mean number of its slots. The duration of a collision is that of its
longest frame; the stations that sent it count again after a timeout, and the others before.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.aggregation import RTS_BYTES, Sender, opportunity
from netcarlo.numerics.arrays import Floats

REQUEST_BYTES = 24
"""Size of a BlockAckReq [byte]."""
SENSING = 4000
"""Time in which a station detects a transmission, aCCATime of OFDM [ns]: those that start earlier collide."""
ITERATIONS = 100
FAILURES_PER_DROP = 7
"""Missing BlockAcks after which ns-3 3.37 drops an A-MPDU, if it does not send BlockAckReq anyway."""


class Contenders(NamedTuple):
    """Groups of equal saturated stations; arrays [..., J]. Times in nanoseconds."""

    count: Any
    success: Any
    """Duration of a transmission opportunity."""
    first: Any
    """Duration of the first frame of an opportunity."""
    bits: Any
    """Payload per opportunity [bit]."""
    rest: Any
    """Rest of a TXOP in which only its holder may send."""
    request: Any
    """Duration of a BlockAckReq."""
    requested: Any
    """Duration of a BlockAckReq, SIFS, BlockAck, and the data that follow in the same TXOP."""
    requested_bits: Any
    """Payload of that data [bit]."""
    requested_rest: Any
    """Rest of that TXOP in which only its holder may send."""
    share: Any
    """Share of the failed opportunities that are followed by BlockAckReq."""
    cw_min: Any
    cw_max: Any
    attempts: Any
    """Maximum number of attempts in a row, or infinity."""


class Saturation(NamedTuple):
    """Results by group [..., J]."""

    goodput_bps: Floats
    """Payload that all stations of a group deliver."""
    collision_probability: Floats
    """Probability that an attempt collides."""
    data_per_s: Floats
    """Opportunities with data that all stations of a group begin, collided ones included."""
    requests_per_s: Floats


def contenders(
    sender: Sender, *, count: Any, payload: Any, cw_min: Any, cw_max: Any, requests: Any, retry: Any = 7,
    limited: Any = False,
) -> Contenders:  # fmt: skip
    """Return groups of stations [..., J] that send like `sender`.

    `requests` is true if a BlockAckReq follows every missing BlockAck. `retry` is the maximum number of
    attempts of an MPDU without BlockAckReq; in ns-3 3.37 (not `limited`) only if an Ack is missing.
    """
    found = opportunity(sender)
    request = dot11.time_on_air(sender.answer, REQUEST_BYTES)
    requested = request + sender.sifs + dot11.time_on_air(sender.answer, sender.block_ack)
    more = opportunity(sender, used=requested)
    announced = found.collision == dot11.time_on_air(sender.rts, RTS_BYTES)
    single = (found.mpdus == found.ppdus) & ~announced
    often = np.where(requests, 1.0, np.where(limited, 0.0, 1 / FAILURES_PER_DROP))
    gives_up = single | (limited & (announced | ~np.asarray(requests, bool)))
    return Contenders(
        count=count, success=found.success, first=found.collision, bits=8 * payload * found.msdus,
        rest=found.rest, request=request, requested=requested + more.success,
        requested_bits=8 * payload * more.msdus, requested_rest=more.rest,
        share=np.where(announced | single, 0.0, often), cw_min=cw_min, cw_max=cw_max,
        attempts=np.where(gives_up, retry, np.inf),
    )  # fmt: skip


def saturation(groups: Contenders, *, slot: Any, aifs: Any, timeout: Any) -> Saturation:
    """Return the results of cells whose stations always have packets.

    `timeout` is the time that colliding stations wait for an answer; [...], as `slot` and `aifs` [ns].
    """
    groups = Contenders(*np.broadcast_arrays(*(np.asarray(part, np.float64) for part in groups)))
    several = groups.count.sum(axis=-1, keepdims=True) > 1
    groups = groups._replace(
        rest=np.where(several, groups.rest, 0), requested_rest=np.where(several, groups.requested_rest, 0)
    )
    slot, aifs, timeout = (np.asarray(time, np.float64)[..., None] for time in (slot, aifs, timeout))
    alone, alone_after = (_slots_alone(groups, rest, slot) for rest in (groups.rest, groups.requested_rest))
    data, request = np.full(groups.count.shape, 0.05), np.zeros(groups.count.shape)
    for _ in range(ITERATIONS):
        new = _attempts(groups, data, request, timeout / slot, alone, alone_after)
        data, request = (data + new[0]) / 2, (request + new[1]) / 2
    attempt = data + request
    silent = _silent(groups, attempt)
    idle = np.prod((1 - attempt) ** groups.count, axis=-1, keepdims=True)
    sent, asked = (groups.count * rate * silent for rate in (data, request))  # alone on the medium
    collision = 1 - idle - (sent + asked).sum(axis=-1, keepdims=True)
    longest = _longest(groups, data, request) - (sent * groups.first + asked * groups.request).sum(axis=-1)
    everybody = np.where(several[..., 0], np.prod(attempt**groups.count, axis=-1), 0.0)
    # A holder of a TXOP that draws a small backoff sends again before the NAV of the others ends.
    window = groups.cw_min + 1
    again, again_after = alone / (window - alone), alone_after / (window - alone)
    each = groups.success + aifs + np.maximum(alone - 1, 0) / 2 * slot
    busy = sent * (groups.success + aifs + groups.rest + again * each)
    busy = busy + asked * (groups.requested + aifs + groups.requested_rest + again_after * each)
    bits = sent * (1 + again) * groups.bits + asked * (groups.requested_bits + again_after * groups.bits)
    time = (idle * slot + collision * aifs)[..., 0] + busy.sum(axis=-1) + longest
    per_s = NS / (time + everybody * timeout[..., 0])[..., None]  # no station counts down before the timeout
    return Saturation(
        goodput_bps=bits * per_s, collision_probability=1 - silent,
        data_per_s=(groups.count * data + sent * again + asked * again_after) * per_s,
        requests_per_s=groups.count * request * per_s,
    )  # fmt: skip


def _slots_alone(groups: Contenders, rest: Floats, slot: Floats) -> Floats:
    """Return the slots of a holder of a TXOP in which no other station can collide with it."""
    return np.asarray(np.clip(np.floor((rest - SENSING) / slot) + 1, 0, groups.cw_min))


def _silent(groups: Contenders, attempt: Floats) -> Floats:
    """Return the probability that no other station sends in a slot in which one of a group does [..., J]."""
    everybody = np.prod((1 - attempt) ** groups.count, axis=-1, keepdims=True)
    return np.asarray(everybody / (1 - attempt))


def _attempts(
    groups: Contenders, data: Floats, request: Floats, lag: Floats, alone: Floats, alone_after: Floats
) -> tuple[Floats, Floats]:
    """Return the probabilities that a station sends data, or a BlockAckReq, in a slot [..., J]."""
    p = 1 - _silent(groups, data + request)
    # Requests are short: only if they collide with requests do their senders count later than the others.
    no_data = _silent(groups, data) - (1 - p)
    missed = _missed(groups, data + request, p, lag)
    missed_request = missed * np.clip(no_data / np.maximum(p, 1e-12), 0, 1)
    again = p * (1 - groups.share)
    stages = _stages(groups)
    sent, slots = np.zeros_like(p), np.zeros_like(p)
    reached = np.ones_like(p)
    for stage in range(stages):
        slots = slots + reached * (_wait(groups, stage) + (missed if stage else 0))
        sent = sent + reached
        reached = np.where(stage + 1 < groups.attempts, reached * again, 0.0)
    slots, sent = (
        slots + reached / (1 - again) * (_wait(groups, stages) + missed),
        sent + reached / (1 - again),
    )
    asked = sent * p * groups.share  # first requests
    slots = slots - ((1 - asked) * alone + asked * alone_after) / 2  # slots that pass before the others count
    first = np.where(groups.share == 1, 1, 0)  # stage of a first request: after a drop the window is reset
    reached = asked
    for stage in range(stages):
        wait = np.where(first == 1, _wait(groups, stage + 1), _wait(groups, stage))
        slots = slots + reached * (wait + (missed_request if stage else missed))
        reached = reached * p
    slots = slots + reached / (1 - p) * (_wait(groups, stages) + missed_request)
    return sent / slots, asked / (1 - p) / slots


def _stages(groups: Contenders) -> int:
    """Return the number of attempts after which windows are constant, and no station gives up."""
    doublings = np.ceil(np.log2((groups.cw_max + 1) / (groups.cw_min + 1)).max(initial=0))
    limited = np.where(np.isfinite(groups.attempts), groups.attempts, 0).max(initial=0)
    return 1 + int(max(doublings, limited))


def _wait(groups: Contenders, stage: int) -> Floats:
    """Return the mean number of slots of an attempt, with its own."""
    window = np.minimum((groups.cw_min + 1) * 2.0**stage, groups.cw_max + 1)
    return np.asarray((window - 1) / 2 + 1)


def _missed(groups: Contenders, attempt: Floats, p: Floats, lag: Floats) -> Floats:
    """Return the slots that other stations count before colliding ones do, until one of them sends."""
    stations = groups.count.sum(axis=-1, keepdims=True)
    mean = (groups.count * attempt).sum(axis=-1, keepdims=True) / stations
    quiet = (1 - mean) ** np.maximum(stations - 2, 0)
    everybody = np.minimum(mean ** (stations - 1) / np.maximum(p, 1e-12), 1)
    whole = np.floor(lag)
    missed = (lag - whole) * quiet ** (whole + 1)
    for k in range(1, int(whole.max(initial=0)) + 1):
        missed = missed + np.where(k <= whole, quiet**k, 0.0)
    return np.asarray(np.where(stations > 1, (1 - everybody) * missed, 0.0))


def _longest(groups: Contenders, data: Floats, request: Floats) -> Floats:
    """Return the mean duration of the longest frame in a slot, 0 in an idle one [...]."""
    durations = np.sort(np.concatenate([groups.first, groups.request], axis=-1), axis=-1)
    mean = np.zeros(durations.shape[:-1])
    shorter = np.prod((1 - data - request) ** groups.count, axis=-1)
    for k in range(durations.shape[-1]):
        limit = durations[..., k, None]
        longer = data * (groups.first > limit) + request * (groups.request > limit)
        now = np.prod((1 - longer) ** groups.count, axis=-1)
        mean = mean + durations[..., k] * (now - shorter)
        shorter = now
    return np.asarray(mean)
