"""Rate control Minstrel-HT of a link with A-MPDUs.

Source: Linux, net/mac80211/rc80211_minstrel_ht.c: statistics of MPDUs by rate, updated every 50 ms; the rates
with the most throughput and the most robust one; samples of faster and of random rates every 20 ms. A group
is the rates with a number of streams. Success probabilities are averaged with a weight of 75 %, as in older
versions (a second-order filter today). Left out: numbers of retries by time (2 at each of the rates here),
and the immediate change to fewer streams. `n` is the number of a link, `c` the word of its `Control`.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.wireless.layout import MINSTREL, NOBODY, STREAM_RATES, Link, Radio, Rate
from netcarlo.kernels.wireless.state import Word, link_at, rate_at

ONE_BITS = 12
"""Fraction bits of probabilities and lengths."""
UPDATE = 50_000_000
"""Interval of the statistics [ns]."""
SAMPLE = 20_000_000
"""Least interval of samples [ns]."""
PACKET_BYTES = 1200
"""Size of a packet, for the throughput of a rate."""
OVERHEAD = 108_000
"""Time of a PPDU besides its packets, for the throughput of a rate [ns]."""
TRIES = 2
"""Attempts in a row at the best rate and at the second one."""

INC, JUMP, SLOW = range(3)
"""Samples: the slowest rates that are faster than the best one, random faster ones, random slower ones."""
_ROOM = 5  # samples of each kind
_NO_RATE = 0  # that of a response
_RANKED = 4  # max_tp_rate

_TENTH, _THREE_QUARTERS, _NINE_TENTHS, _MOST = 409, 3072, 3686, 3891  # 10, 75, 90 and 95 %


class Control(IntEnum):
    """Rate control of a link."""

    UPDATED = 0
    """Time of the last update [ns]."""
    SAMPLED = 1
    """Time from which on the next sample may be sent [ns]."""
    LENGTH = 2
    """Mean number of MPDUs of a PPDU, with `ONE_BITS` fraction bits."""
    PPDUS = 3
    """PPDUs since the last update."""
    MPDUS = 4
    """MPDUs of these."""
    BEST = 5
    """Rate with the most throughput."""
    SECOND = 6
    """Rate with the second most throughput; the third and fourth follow."""
    ROBUST = 9
    """Rate for further attempts."""
    FAILURES = 10
    """Consecutive PPDUs without an answer."""
    SEQUENCE = 11
    """Place in the sequence of the kinds of samples."""
    DRAWS = 12
    """Random rates drawn."""
    GROUP_INC = 13
    """Group of the last sample of kind INC."""
    GROUP_JUMP = 14
    """Group of the last sample of kind JUMP."""
    SAMPLING = 15
    """1 if the present PPDU is a sample."""
    SAMPLES = 16
    """Rates to sample, `_ROOM` of each kind; 0 for none."""


CONTROL_WORDS = Control.SAMPLES + 3 * _ROOM


class Statistics(IntEnum):
    """A rate of a link."""

    ATTEMPTS = 0
    """MPDUs sent since the last update."""
    SUCCESSES = 1
    """MPDUs acknowledged of these."""
    PROBABILITY = 2
    """Mean success probability, with `ONE_BITS` fraction bits."""
    TRIED = 3
    """1 if an MPDU was sent at this rate before the last update."""


_STATISTICS = len(Statistics)


def words(parameters: Any) -> Any:
    """Return the words of scratch of the rate control of each row [n]."""
    each = CONTROL_WORDS + parameters[:, Radio.RATES] * _STATISTICS
    return np.where(parameters[:, Radio.RATE_CONTROL] == MINSTREL, parameters[:, Radio.LINKS] * each, 0)


@noinline
def set_up(m: Any, free: Any) -> Any:
    """Lay out the rate control of the links from word `free` on; return the next free word."""
    m[Word.MINSTREL] = free
    if m[Radio.RATE_CONTROL] != MINSTREL:
        return free
    end = _control_at(m, m[Radio.LINKS])
    for word in range(free, end):
        m[word] = 0
    for n in range(m[Radio.LINKS]):
        at = link_at(m, n)
        m[_control_at(m, n) + Control.LENGTH] = 1 << ONE_BITS
        m[at + Link.RATE] = m[at + Link.LOWEST]
        _update(m, n, np.int64(0))
    return end


def _control_at(m: Any, n: Any) -> Any:
    """Return the word where the rate control of a link begins; the statistics of its rates follow."""
    return m[Word.MINSTREL] + n * (CONTROL_WORDS + m[Radio.RATES] * _STATISTICS)


@noinline
def choose(m: Any, n: Any, begins: Any, t: Any) -> None:
    """Choose the rate of the PPDU that is built at time t; one that begins a TXOP may be a sample."""
    c = _control_at(m, n)
    sampling = np.int64(0)
    rate = m[c + Control.BEST]
    if m[c + Control.FAILURES] >= 2 * TRIES:
        rate = m[c + Control.ROBUST]
    elif m[c + Control.FAILURES] >= TRIES:
        rate = m[c + Control.SECOND]
    elif begins and m[c + Control.FAILURES] == 0 and t >= m[c + Control.SAMPLED]:
        m[c + Control.SAMPLED] = t + SAMPLE
        place = m[c + Control.SEQUENCE]
        m[c + Control.SEQUENCE] = (place + 1) % 6
        kind = INC if place % 2 == 0 else JUMP if place < 5 else SLOW
        at = c + Control.SAMPLES + kind * _ROOM
        k = np.int64(0)
        while k < _ROOM and m[at + k] == _NO_RATE:
            k += 1
        if k < _ROOM:
            rate = m[at + k]
            m[at + k] = _NO_RATE
            sampling = np.int64(1)
    m[link_at(m, n) + Link.RATE] = rate
    m[c + Control.SAMPLING] = sampling


def samples(m: Any, n: Any) -> Any:
    """Return whether the present PPDU is a sample, which has one MPDU as with drivers of Linux (ath9k)."""
    return m[_control_at(m, n) + Control.SAMPLING] != 0


@noinline
def finish(m: Any, n: Any, mpdus: Any, good: Any, answered: Any, t: Any) -> None:
    """Count the end of an exchange: `good` of its MPDUs were acknowledged, none if it was not answered."""
    c = _control_at(m, n)
    s = _statistics_at(m, c, m[link_at(m, n) + Link.RATE])
    m[s + Statistics.ATTEMPTS] += mpdus
    m[s + Statistics.SUCCESSES] += good
    m[c + Control.PPDUS] += 1
    m[c + Control.MPDUS] += mpdus
    m[c + Control.FAILURES] = 0 if answered else m[c + Control.FAILURES] + 1
    if t - m[c + Control.UPDATED] > UPDATE:
        _update(m, n, t)


def _statistics_at(m: Any, c: Any, rate: Any) -> Any:
    return c + CONTROL_WORDS + rate * _STATISTICS


def _probability(m: Any, c: Any, rate: Any) -> Any:
    return m[_statistics_at(m, c, rate) + Statistics.PROBABILITY]


def _average(old: Any, new: Any) -> Any:
    """Return a moving average in which the old value has a weight of 75 %."""
    return (3 * old + new) >> 2


def _duration(m: Any, rate: Any) -> Any:
    """Return the time of a packet [ns], without a preamble."""
    at = rate_at(m, rate)
    return m[at + Rate.SYMBOL] * (6 * 8 * PACKET_BYTES) // m[at + Rate.SIXTH_BITS]


@noinline
def _throughput(m: Any, c: Any, rate: Any) -> Any:
    """Return the throughput of a rate, in hundredths of packets per millisecond; 0 below 10 %."""
    probability = _probability(m, c, rate)
    if probability < _TENTH:
        return np.int64(0)
    length = max(m[c + Control.LENGTH] >> ONE_BITS, 1)
    time = OVERHEAD // length + _duration(m, rate)
    return 100 * (min(probability, _NINE_TENTHS) * 1_000_000 // time) >> ONE_BITS


def _last_of_group(m: Any, at: Any, first: Any) -> Any:
    """Return the last rate of the link at word `at` with the number of streams of its rate `first`."""
    last = first
    while last < m[at + Link.HIGHEST] and _streams(m, last + 1) == _streams(m, first):
        last += 1
    return last


def _streams(m: Any, rate: Any) -> Any:
    return m[rate_at(m, rate) + Rate.STREAMS]


@noinline
def _update(m: Any, n: Any, t: Any) -> None:
    """Average the statistics, and choose the rates and the samples."""
    at, c = link_at(m, n), _control_at(m, n)
    if m[c + Control.PPDUS] > 0:
        length = (m[c + Control.MPDUS] << ONE_BITS) // m[c + Control.PPDUS]
        m[c + Control.LENGTH] = _average(m[c + Control.LENGTH], length)
        m[c + Control.PPDUS] = 0
        m[c + Control.MPDUS] = 0
    _choose_best(m, at, c)
    _choose_robust(m, at, c)
    _choose_samples(m, n, at, c)
    m[c + Control.UPDATED] = t
    m[c + Control.SAMPLED] = t


@noinline
def _choose_best(m: Any, at: Any, c: Any) -> None:
    """Average the probabilities, and choose the rates with the most throughput."""
    first = m[at + Link.LOWEST]
    for k in range(_RANKED):
        m[c + Control.BEST + k] = first
    while first <= m[at + Link.HIGHEST]:
        last = _last_of_group(m, at, first)
        least = np.int64(0)  # an untried rate is at least as good as a faster one
        rate = last
        while rate >= first:
            s = _statistics_at(m, c, rate)
            attempts = m[s + Statistics.ATTEMPTS]
            if attempts > 0:
                share = (m[s + Statistics.SUCCESSES] << ONE_BITS) // attempts
                if m[s + Statistics.TRIED] != 0:
                    share = _average(m[s + Statistics.PROBABILITY], share)
                m[s + Statistics.PROBABILITY] = share
                m[s + Statistics.TRIED] = 1
                m[s + Statistics.ATTEMPTS] = 0
                m[s + Statistics.SUCCESSES] = 0
            least = max(least, m[s + Statistics.PROBABILITY])
            if m[s + Statistics.TRIED] == 0:
                m[s + Statistics.PROBABILITY] = least
            if _throughput(m, c, rate) > 0:
                place = c + Control.BEST + _RANKED
                while place > c + Control.BEST and _is_better(m, c, rate, m[place - 1]):
                    if place < c + Control.BEST + _RANKED:
                        m[place] = m[place - 1]
                    place -= 1
                if place < c + Control.BEST + _RANKED:
                    m[place] = rate
            rate -= 1
        first = last + 1


def _is_better(m: Any, c: Any, rate: Any, other: Any) -> Any:
    """Return whether a rate has more throughput than another, or the same with a higher probability."""
    mine, its = _throughput(m, c, rate), _throughput(m, c, other)
    return mine > its or (mine == its and _probability(m, c, rate) > _probability(m, c, other))


@noinline
def _choose_robust(m: Any, at: Any, c: Any) -> None:
    """Choose the rate for further attempts: the most probable one, or that of those above 75 % with the most
    throughput; with fewer streams than the best rate if there is one."""
    best = m[c + Control.BEST]
    found = m[at + Link.LOWEST]
    fewer = np.int64(NOBODY)
    most = np.int64(0)
    first = found
    while first <= m[at + Link.HIGHEST]:
        last = _last_of_group(m, at, first)
        of_group = first
        for rate in range(first, last + 1):
            probability = _probability(m, c, rate)
            faster = _duration(m, rate) < _duration(m, best)
            if not faster or probability >= _probability(m, c, best):
                if _is_more_robust(m, c, rate, found):
                    found = rate
                if _is_more_robust(m, c, rate, of_group):
                    of_group = rate
        if _streams(m, first) < _streams(m, best) and _throughput(m, c, of_group) > most:
            fewer, most = of_group, _throughput(m, c, of_group)
        first = last + 1
    m[c + Control.ROBUST] = found if fewer == NOBODY else fewer


def _is_more_robust(m: Any, c: Any, rate: Any, other: Any) -> Any:
    probability = _probability(m, c, rate)
    if probability > _THREE_QUARTERS:
        return _throughput(m, c, rate) > _throughput(m, c, other)
    return probability > _probability(m, c, other)


@noinline
def _choose_samples(m: Any, n: Any, at: Any, c: Any) -> None:
    """Fill the lists of rates to sample."""
    best, second = _duration(m, m[c + Control.BEST]), _duration(m, m[c + Control.SECOND])
    robust = _duration(m, m[c + Control.ROBUST])
    fast, slow = min(best, second, robust), max(best, second, robust)
    for place in range(3 * _ROOM):
        m[c + Control.SAMPLES + place] = _NO_RATE
    inc = c + Control.SAMPLES + INC * _ROOM
    k = np.int64(0)
    while k < _ROOM:
        m[inc + k] = _next_inc(m, at, c, inc, best)
        k = k + 1 if m[inc + k] != _NO_RATE else np.int64(_ROOM)
    jump = c + Control.SAMPLES + JUMP * _ROOM
    k = np.int64(0)
    while k < _ROOM:
        m[jump + k] = _next_jump(m, n, at, c, fast, slow)
        k = k + 1 if m[jump + k] != _NO_RATE else np.int64(_ROOM)


def _has_sample(m: Any, samples: Any, rate: Any) -> Any:
    k = np.int64(0)
    while k < _ROOM and m[samples + k] != rate:
        k += 1
    return k < _ROOM


def _groups(m: Any, at: Any) -> Any:
    """Return the number of groups of a link."""
    return _streams(m, m[at + Link.HIGHEST]) - _streams(m, m[at + Link.LOWEST]) + 1


def _first_of_group(m: Any, at: Any, group: Any) -> Any:
    """Return the first rate of a group by number."""
    first = m[at + Link.LOWEST]
    for _ in range(group):
        first = _last_of_group(m, at, first) + 1
    return first


def _slowest_below(m: Any, first: Any, last: Any, time: Any) -> Any:
    """Return the first of the rates from `first` to `last` whose packet takes less than `time` [ns], or
    NOBODY."""
    for rate in range(first, last + 1):
        if _duration(m, rate) < time:
            return rate
    return np.int64(NOBODY)


@noinline
def _next_inc(m: Any, at: Any, c: Any, samples: Any, time: Any) -> Any:
    """Return the slowest rate of the next group that is faster than the best one, or 0."""
    groups = _groups(m, at)
    group = m[c + Control.GROUP_INC]
    found = np.int64(_NO_RATE)
    k = np.int64(0)
    while k < groups and found == _NO_RATE:
        group = (group + 1) % groups
        first = _first_of_group(m, at, group)
        rate = _slowest_below(m, first, _last_of_group(m, at, first), time)
        if rate != NOBODY and not _has_sample(m, samples, rate):
            found = rate
        k += 1
    m[c + Control.GROUP_INC] = group
    return found


@noinline
def _next_jump(m: Any, n: Any, at: Any, c: Any, fast: Any, slow: Any) -> Any:
    """Return a random rate of the next group that is faster than the rates in use, or 0.

    Random rates between these become samples of kind SLOW unless their probability is above 95 %.
    """
    jump, of_slow = c + Control.SAMPLES + JUMP * _ROOM, c + Control.SAMPLES + SLOW * _ROOM
    slows = np.int64(0)
    while slows < _ROOM and m[of_slow + slows] != _NO_RATE:
        slows += 1
    groups = _groups(m, at)
    group = m[c + Control.GROUP_JUMP]
    found = np.int64(_NO_RATE)
    k = np.int64(0)
    while k < groups and found == _NO_RATE:
        k += 1
        group = (group + 1) % groups
        first = _first_of_group(m, at, group)
        last = _last_of_group(m, at, first)
        first = _slowest_below(m, first, last, slow if slows < _ROOM else fast)
        if first != NOBODY:
            rate = first + _random(m, n, c, last - first + 1)
            time = _duration(m, rate)
            if time < fast:
                if not _has_sample(m, jump, rate):
                    found = rate
            elif slows < _ROOM and time < slow and _is_slow_sample(m, c, of_slow, rate):
                m[of_slow + slows] = rate
                slows += 1
    m[c + Control.GROUP_JUMP] = group
    return found


def _is_slow_sample(m: Any, c: Any, of_slow: Any, rate: Any) -> Any:
    """Return whether a rate can be a further sample of kind SLOW."""
    return _probability(m, c, rate) <= _MOST and not _has_sample(m, of_slow, rate)


def _random(m: Any, n: Any, c: Any, count: Any) -> Any:
    """Draw a number below `count`."""
    word, _, _, _ = draw(
        m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_RATES + n, m[c + Control.DRAWS]
    )
    m[c + Control.DRAWS] += 1
    return np.int64(word) * count >> 32
