"""Medium of a cell with EDCA: service and attempts of each function; all functions sense each other.

Sources: G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function" (IEEE JSAC
18(3), 2000); unequal and unsaturated stations: D. Malone, K. Duffy, D. Leith (IEEE/ACM ToN 15(1), 2007); IEEE
802.11-2020, 10.23.2 (EDCA), 10.25.2 (BlockAckReq). As in the formula (`bianchi_edca`), a backoff counts every
model slot: an idle slot, or a transmission with what follows it.
"""

import math
from typing import Any

import numpy as np

from netcarlo.kernels.fluid.wireless.edca import frames
from netcarlo.kernels.fluid.wireless.medium import missed_slots, sort
from netcarlo.kernels.fluid.wireless.state import (
    LEG,
    AgreementFloat,
    FlowFloat,
    FlowWord,
    ServerFloat,
    VisitFloat,
    VisitWord,
    agreement,
    apart,
    floats_of_flow,
    floats_of_visit,
    order,
    server,
    words_of_flow,
    words_of_visit,
)
from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Flow, Function, Radio, Rate

_MOST = 0.9  # largest probability of an attempt in a slot
_LEAST_ACCEPTED = 1e-6  # smallest share of packets that the queue accepts; a divisor of the dropped ones
_DAMPING = 0.2
_FLOW, _RATE = len(Flow), len(Rate)


def share(p: Any, nodes: Any, network: Any, m: Any, f: Any, visits: Any) -> None:
    """Update the service of each backlogged function, given the current attempt probabilities of all
    functions."""
    for i in range(p[Radio.FLOWS]):
        if m[words_of_flow(i) + FlowWord.ACTIVE] != 0:
            _gather(p, network, m, f, visits, i)
    frames.combine(p, network, m, f, visits)
    _separate(p, m, f, visits)
    for k in range(p[Radio.FUNCTIONS]):
        if f[server(k) + ServerFloat.LOAD] > 0.0:
            _mean(p, network, f, visits, k)
    sort(p, m, f, visits)
    for k in range(p[Radio.FUNCTIONS]):
        if f[server(k) + ServerFloat.LOAD] > 0.0:
            _serve(p, network, m, f, visits, k)
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if w[VisitWord.AGREEMENT] != NOBODY and v[VisitFloat.RATE] > 0.0:
            g = f[agreement(p, visits, w[VisitWord.AGREEMENT]) :]
            o = f[server(w[VisitWord.SERVER]) :]
            air = g[AgreementFloat.AIR] * g[AgreementFloat.PPDUS] / g[AgreementFloat.PACKETS]
            v[VisitFloat.AIR] = air * o[ServerFloat.BATCH]


def _gather(p: Any, network: Any, m: Any, f: Any, visits: Any, i: Any) -> None:
    """Compute how many packets of a flow wait when one of its servers gains access.

    A window is sent at once and its ACKs arrive at once, so packets that form one PPDU stay together. If a
    function is overloaded, packets accumulate between two of its services.
    """
    g = f[floats_of_flow(p, i) :]
    tcp = network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.TCP] != 0
    first = m[words_of_flow(i) + FlowWord.FIRST]
    last = m[words_of_flow(i + 1) + FlowWord.FIRST] if i + 1 < p[Radio.FLOWS] else visits
    outside, together, back = g[FlowFloat.TRIP], 1.0, False
    for visit in range(first, last):
        if m[words_of_visit(p, visit) + VisitWord.KIND] == LEG:
            outside += f[floats_of_visit(p, visit) + VisitFloat.STAY]
    if tcp:
        together = max(g[FlowFloat.WINDOW] - g[FlowFloat.RATE] * outside, 1.0)
    for visit in range(first, last):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if w[VisitWord.KIND] != LEG:
            if w[VisitWord.BACK] != 0 and not back:
                back = True
                together = max(together / g[FlowFloat.PER_ACK], 1.0)
            o = f[server(w[VisitWord.SERVER]) :]
            v[VisitFloat.WANT] = max(together, v[VisitFloat.RATE] * o[ServerFloat.CYCLE])
            v[VisitFloat.CUSTOMERS] = 1e9
            if tcp:
                v[VisitFloat.CUSTOMERS] = max(g[FlowFloat.WINDOW] / max(v[VisitFloat.BATCH], 1.0), 1.0)
                if w[VisitWord.BACK] != 0:
                    v[VisitFloat.CUSTOMERS] = max(v[VisitFloat.CUSTOMERS] / g[FlowFloat.PER_ACK], 1.0)
            if tcp:
                together = min(together, max(v[VisitFloat.BATCH], 1.0))


def _separate(p: Any, m: Any, f: Any, visits: Any) -> None:
    """Compute how often two functions contend at once, relative to independent ones.

    The packets of a window that form one PPDU are at one server at a time, so its data and its ACKs never
    contend. Stations that one access of the gateway serves start to contend at the same time: half of the
    time the other one still contends.
    """
    count = p[Radio.FUNCTIONS]
    for k in range(count * count):
        f[apart(p, visits) + k] = 1.0
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if w[VisitWord.AGREEMENT] != NOBODY and v[VisitFloat.RATE] > 0.0:
            k = w[VisitWord.SERVER]
            mine = v[VisitFloat.RATE] / f[server(k) + ServerFloat.LOAD]
            other = m[words_of_flow(w[VisitWord.FLOW]) + FlowWord.FIRST]
            while other < visits and m[words_of_visit(p, other) + VisitWord.FLOW] == w[VisitWord.FLOW]:
                j = m[words_of_visit(p, other) + VisitWord.SERVER]
                if m[words_of_visit(p, other) + VisitWord.AGREEMENT] != NOBODY and j != k:
                    o = f[floats_of_visit(p, other) :]
                    part = o[VisitFloat.RATE] / f[server(j) + ServerFloat.LOAD]
                    f[apart(p, visits) + k * count + j] -= mine * part / o[VisitFloat.CUSTOMERS]
                other += 1
            if w[VisitWord.FEEDS] != NOBODY:
                f[server(w[VisitWord.FEEDS]) + ServerFloat.PARENT] = float(k + 1)
    for k in range(count):
        parent = int(f[server(k) + ServerFloat.PARENT])
        if parent > 0 and f[server(k) + ServerFloat.LOAD] > 0.0:
            o = f[server(parent - 1) :]
            together = (o[ServerFloat.RELEASED] - 1.0) / max(o[ServerFloat.RECEIVERS] - 1.0, 1.0) / 2.0
            for j in range(count):
                if j != k and int(f[server(j) + ServerFloat.PARENT]) == parent:
                    busy = max(f[server(j) + ServerFloat.BUSY], 0.01)
                    f[apart(p, visits) + k * count + j] *= 1.0 + (1.0 / busy - 1.0) * together


def _mean(p: Any, network: Any, f: Any, visits: Any, k: Any) -> None:
    """Compute the mean PPDU and the mean access of function `k`."""
    g = f[server(k) :]
    ppdus, exchange, first, single, most = 0.0, 0.0, 0.0, 0.0, 0.0
    request, answer, fixed, mpdus, receivers = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(p[Radio.AGREEMENTS]):
        o = f[agreement(p, visits, a) :]
        if network[frames.agreement_at(p, a) + Agreement.FUNCTION] == k and o[AgreementFloat.PPDUS] > 0.0:
            often = o[AgreementFloat.PPDUS]
            ppdus += often
            exchange += often * o[AgreementFloat.EXCHANGE]
            first += often * o[AgreementFloat.FIRST]
            single += often * o[AgreementFloat.SINGLE]
            request += often * o[AgreementFloat.REQUEST]
            answer += often * o[AgreementFloat.BLOCK_ACK]
            fixed += often * o[AgreementFloat.FIXED]
            mpdus += o[AgreementFloat.MPDUS]
            receivers += 1.0
            most += often * max(o[AgreementFloat.WANTED] * often / o[AgreementFloat.PACKETS], 1.0)
    function = network[frames.function_at(p, k) :]
    sifs, txop = float(p[Radio.SIFS]), float(function[Function.TXOP])
    exchange, batch = exchange / ppdus, g[ServerFloat.LOAD] / ppdus
    several, split = 1.0, 0.0
    time = exchange
    if txop > 0.0:
        waiting = max(g[ServerFloat.QUEUE], g[ServerFloat.LOAD] * g[ServerFloat.CYCLE]) / batch
        waiting = max(most / ppdus, waiting)
        limit = (txop + sifs) / (exchange + sifs)
        several = max(min(waiting, limit), 1.0)
        time = several * (exchange + sifs) - sifs
        if waiting < limit and g[ServerFloat.QUEUE] == 0.0:  # a partial PPDU, and later arrivals
            more = min(g[ServerFloat.LOAD] * (fixed / ppdus + sifs), _MOST)
            more = min(more / (1.0 - more) + min(waiting - 1.0, 0.5), limit - several)
            time += max(more, 0.0) * (fixed / ppdus + sifs)
        if waiting > limit and g[ServerFloat.QUEUE] > 0.0:
            split = min(waiting / limit - 1.0, 1.0) / max(limit - 1.0, 1.0)
        elif waiting > limit:  # the last PPDU also has a whole preamble
            whole, part = float(int(several)), (fixed / ppdus + sifs) / (exchange + sifs)
            each = (1.0 - part) / (mpdus / ppdus)
            more = float(int(max(several - whole - part, 0.0) / each))
            several = whole + more * each / (1.0 - part)
            time = (whole + (part + more * each if more > 0.0 else 0.0)) * (exchange + sifs) - sifs
        end = sifs + frames.cf_end(p, network)
        if txop >= time + end:
            time += end
    g[ServerFloat.SPLIT] += 0.2 * (split - g[ServerFloat.SPLIT])
    g[ServerFloat.RECEIVERS] = receivers
    g[ServerFloat.RELEASED] = min(max(several / max(most / ppdus, 1.0), 1.0), receivers)
    g[ServerFloat.BATCH] = batch
    g[ServerFloat.SEVERAL] = several
    g[ServerFloat.EXCHANGE] = time
    g[ServerFloat.VAIN] = first / ppdus
    g[ServerFloat.REQUEST] = request / ppdus
    g[ServerFloat.ANSWERED] = (request + answer) / ppdus + sifs
    g[ServerFloat.REQUESTED] = 0.0 if p[Radio.BAR_AFTER_MISSED] == 0 else 1.0 - single / ppdus


def _serve(p: Any, network: Any, m: Any, f: Any, visits: Any, k: Any) -> None:
    """Compute the access time of function `k` and its attempts in a slot."""
    g, function = f[server(k) :], network[frames.function_at(p, k) :]
    slot, count, at = float(p[Radio.SLOT]), p[Radio.FUNCTIONS], order(p, visits)
    aifs = float(function[Function.AIFS])
    least = aifs
    for j in range(count):
        if f[server(j) + ServerFloat.LOAD] > 0.0:
            least = min(least, float(network[frames.function_at(p, j) + Function.AIFS]))
    quiet, silent, sooner, engaged, idle, taken = 1.0, 1.0, 1.0, 1.0, 1.0, 0.0
    for j in range(count):  # quiet: no transmission; silent: none that collides; sooner: none of less AIFS
        o, other = f[server(j) :], network[frames.function_at(p, j) :]
        if j != k and o[ServerFloat.LOAD] > 0.0:
            tau = _tau(p, f, visits, k, j)
            quiet *= 1.0 - tau
            before = function[Function.AIFS] - other[Function.AIFS]
            if before > 0:
                for _ in range(int(float(before) / slot + 0.5)):  # AIFS differ by whole slots
                    sooner *= 1.0 - tau
            if other[Function.NODE] != function[Function.NODE] or j < k:
                silent *= 1.0 - tau
            busy = o[ServerFloat.BUSY]
            engaged *= 1.0 - busy + min(tau, busy)
            idle *= 1.0 - busy
    own, request = g[ServerFloat.VAIN], g[ServerFloat.REQUEST]
    longest, clash, clash_of_request, longer, none = 0.0, 0.0, 0.0, 1.0, 1.0
    alone = 0.0
    for place in range(count):
        j = m[at + place]
        o = f[server(j) :]
        if j != k and o[ServerFloat.LOAD] > 0.0:
            tau = _tau(p, f, visits, k, j)
            data = tau * o[ServerFloat.DATA]
            single = tau * quiet / (1.0 - tau)
            alone += single
            taken += single * o[ServerFloat.TRAIN]
            # A data frame that is alone is not a collision, so it is subtracted.
            longest += (data * longer - single * o[ServerFloat.DATA]) * o[ServerFloat.VAIN]
            longest -= single * (1.0 - o[ServerFloat.DATA]) * o[ServerFloat.REQUEST]
            clash += data * longer * max(o[ServerFloat.VAIN], own)
            clash_of_request += data * longer * max(o[ServerFloat.VAIN], request)
            longer *= 1.0 - data
            none *= 1.0 - tau
    rest = max(longer - none, 0.0)  # collisions of BlockAckReq only
    some = 1.0 - quiet
    longest = max(longest + rest * request, 0.0) + max(some - alone, 0.0) * least
    gone = taken + alone * least + longest
    others = quiet * slot + gone
    if aifs > least:
        again = (1.0 - sooner) / max(sooner, 1e-3)
        wait = again * (gone / some if some > 1e-12 else 0.0) + (aifs - least)
        others += some * wait
    collision = min(1.0 - silent, 0.95)
    lag = _patience(p, network, f, visits, k) / slot
    everybody, away = 0.0, 0.0
    if some > 1e-12:
        clash = (clash + rest * own) / some
        clash_of_request = (clash_of_request + rest * request) / some
        everybody = min((engaged - idle) / some, 1.0)
        away = (1.0 - everybody) * missed_slots(lag, quiet)
    lost = least + everybody * lag * slot
    calm = (1.0 - g[ServerFloat.BUSY]) * quiet * slot / others  # a packet arrives while the channel is idle
    _contend(p, g, function, others, collision, away, calm, clash + lost, clash_of_request + lost)
    mean = others + g[ServerFloat.TAU] * (g[ServerFloat.OCCUPIED] - others)
    g[ServerFloat.ATTEMPT] = min(g[ServerFloat.ATTEMPT] * mean, _MOST)
    g[ServerFloat.COLLISION] = collision
    access = g[ServerFloat.SERVICE] * g[ServerFloat.BATCH] * g[ServerFloat.SEVERAL]
    cycle = access * max(g[ServerFloat.RECEIVERS] / g[ServerFloat.SEVERAL], 1.0)
    g[ServerFloat.CYCLE] += _DAMPING * (cycle - g[ServerFloat.CYCLE])
    # The time between services varies, so the queue drops packets although the mean number would fit.
    longer_slot = gone / some - slot if some > 1e-12 else 0.0
    varies = some * quiet * (longer_slot / others) * (longer_slot / others)
    varies = g[ServerFloat.VARIATION] + varies / g[ServerFloat.SLOTS]
    room = g[ServerFloat.ROOM] / (g[ServerFloat.LOAD] / g[ServerFloat.ACCEPTED] * g[ServerFloat.CYCLE])
    accepted = g[ServerFloat.ACCEPTED] + _DAMPING * (_taken(room, varies) - g[ServerFloat.ACCEPTED])
    g[ServerFloat.ACCEPTED] = max(accepted, _LEAST_ACCEPTED)


def _tau(p: Any, f: Any, visits: Any, k: Any, j: Any) -> Any:
    """Return the probability that function `j` sends in a slot in which function `k` contends."""
    together = f[apart(p, visits) + k * p[Radio.FUNCTIONS] + j]
    return min(f[server(j) + ServerFloat.TAU] * max(together, 0.0), _MOST)


def _patience(p: Any, network: Any, f: Any, visits: Any, k: Any) -> Any:
    """Return the time for which a function waits for an answer [ns]."""
    rate = network[p[Radio.RATES_AT] + network[p[Radio.RATES_AT] + Rate.ANSWER] * _RATE :]
    return float(p[Radio.SIFS] + p[Radio.SLOT] + rate[Rate.PREAMBLE])


def _contend(
    p: Any, g: Any, function: Any, others: Any, fails: Any, away: Any, calm: Any, clash: Any,
    clash_of_request: Any,
) -> None:  # fmt: skip
    """Compute the access time of the function with the floats `g`.

    A slot in which it does not send lasts `others` on average [ns]. Its attempts fail with probability
    `fails` and then take `clash`, those of a BlockAckReq `clash_of_request` [ns]. After a failure `away`
    slots pass before it counts down again. A share `calm` of its first attempts needs no backoff.
    """
    first = float(function[Function.CW_MIN] + 1)
    most = float(function[Function.CW_MAX] + 1)
    aifs = float(function[Function.AIFS])
    asks = g[ServerFloat.REQUESTED]
    again = fails * (1.0 - asks)  # probability that data are sent again without a BlockAckReq
    data, slots, reached, window = 0.0, -calm * (first - 1.0) / 2.0, 1.0, first
    stages = p[Radio.SHORT_RETRY]
    for stage in range(stages):
        slots += reached * ((window + 1.0) / 2.0 + (away if stage > 0 else 0.0))
        data += reached
        reached *= again
        window = min(2.0 * window, most)
    g[ServerFloat.VARIATION] = _variation(first, most, fails, stages)
    answered = data * fails * asks  # BlockAckReq that are answered
    requests = 0.0
    reached, window = answered, min(2.0 * first, most)
    for _ in range(stages):
        slots += reached * ((window + 1.0) / 2.0 + away)
        requests += reached
        reached *= fails
        window = min(2.0 * window, most)
    # Without a TXOP the data that follow a BlockAckReq contend again.
    good = data * (1.0 - fails) + (answered if function[Function.TXOP] > 0 else 0.0)
    good = max(good, 1e-6)
    request = g[ServerFloat.ANSWERED] + (float(p[Radio.SIFS]) if function[Function.TXOP] > 0 else aifs)
    own = good * g[ServerFloat.EXCHANGE] + answered * request
    lost = data * fails * clash + (requests - answered) * clash_of_request
    attempts = data + requests
    access = max(slots - attempts, 0.0) * others + own + lost
    access += (data * (1.0 - fails) + answered) * aifs
    packets = good * g[ServerFloat.SEVERAL] * g[ServerFloat.BATCH]
    g[ServerFloat.SERVICE] = access / packets
    g[ServerFloat.SLOTS] = slots
    g[ServerFloat.OCCUPIED] = (access - max(slots - attempts, 0.0) * others) / attempts
    g[ServerFloat.ATTEMPT] = attempts / access
    g[ServerFloat.DATA] = data / attempts
    g[ServerFloat.TRAIN] = own / max(data * (1.0 - fails) + answered, 1e-6)
    g[ServerFloat.TRIES] = (good * g[ServerFloat.SEVERAL] + data * fails) / packets
    g[ServerFloat.FAILED] = attempts * fails / packets
    drop = 1.0
    for _ in range(stages):
        drop *= 1.0 - (1.0 - again) * (1.0 - g[ServerFloat.NOISE])
    g[ServerFloat.DROP] = drop


def _variation(first: Any, most: Any, fails: Any, stages: Any) -> Any:
    """Return the squared coefficient of variation of the number of slots until an attempt succeeds."""
    mean, square = 0.0, 0.0
    for stage in range(stages - 1, -1, -1):
        window = min(first * float(np.int64(1) << stage), most)
        draw = (window + 1.0) / 2.0
        square = (window + 1.0) * (2.0 * window + 1.0) / 6.0 + fails * (2.0 * draw * mean + square)
        mean = draw + fails * mean
    return square / (mean * mean) - 1.0


def _taken(room: Any, varies: Any) -> Any:
    """Return the share of the packets that the queue accepts between two services.

    In `room` mean service intervals as many packets arrive as fill the queue. `varies` is the squared
    coefficient of variation of the interval: 1 for an exponential one; above, a hyperexponential one with
    balanced means.
    """
    if varies <= 1.0:
        return (1.0 - varies) * min(room, 1.0) + varies * (1.0 - _decay(room))
    often = (1.0 + math.sqrt((varies - 1.0) / (varies + 1.0))) / 2.0
    return 1.0 - (_decay(2.0 * often * room) + _decay(2.0 * (1.0 - often) * room)) / 2.0


def _decay(x: Any) -> Any:
    """Return exp(-x) for x >= 0, to 2e-12.

    Uses only sums and products, which round alike on CPU and GPU: the Taylor series of exp(x / 2**n),
    inverted and squared n times.
    """
    rest, squarings = min(x, 700.0), 0
    while rest > 0.5:
        rest *= 0.5
        squarings += 1
    series = 1.0
    for k in range(12, 0, -1):
        series = 1.0 + rest / float(k) * series
    found = 1.0 / series
    for _ in range(squarings):
        found *= found
    return found
