"""Frame exchanges of Block Ack agreements: MPDUs of a PPDU, its duration, and the contents of an access.

Sources: IEEE 802.11-2020, 9.3.2.2 (A-MSDU), 9.7 (A-MPDU), 10.12 (limits), 10.23.2 (EDCA, TXOP). Rates are per
nanosecond, times in nanoseconds.
"""

import math
from typing import Any

from netcarlo.kernels.fluid.wireless import routes
from netcarlo.kernels.fluid.wireless.state import (
    AgreementFloat,
    ServerFloat,
    VisitFloat,
    VisitWord,
    agreement,
    floats_of_visit,
    server,
    words_of_visit,
)
from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Function, Link, Radio, Rate

REQUEST_BYTES = 24
"""Size of a BlockAckReq [byte]."""
_CF_END_BYTES = 20
_SUBFRAME_BYTES = 14
_LLC_BYTES = 8
_DELIMITER_BYTES = 4
_RATE, _LINK, _FUNCTION, _AGREEMENT = len(Rate), len(Link), len(Function), len(Agreement)


def function_at(p: Any, function: Any) -> Any:
    """Return the index at which the columns of a function begin in a row of `network`."""
    return p[Radio.FUNCTIONS_AT] + function * _FUNCTION


def agreement_at(p: Any, number: Any) -> Any:
    """Return the index at which the columns of an agreement begin in a row of `network`."""
    return p[Radio.AGREEMENTS_AT] + number * _AGREEMENT


def combine(p: Any, network: Any, m: Any, f: Any, visits: Any) -> None:
    """Compute the PPDUs of each agreement from its waiting packets."""
    for a in range(p[Radio.AGREEMENTS]):
        g = f[agreement(p, visits, a) :]
        for column in range(AgreementFloat.SIZE):
            g[column] = 0.0
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if w[VisitWord.AGREEMENT] != NOBODY and v[VisitFloat.RATE] > 0.0:
            _add(p, network, w, v, f[agreement(p, visits, w[VisitWord.AGREEMENT]) :])
    for a in range(p[Radio.AGREEMENTS]):
        g = f[agreement(p, visits, a) :]
        if g[AgreementFloat.MPDUS] > 0.0:
            number = network[agreement_at(p, a) + Agreement.FUNCTION]
            _limit(p, network, g, a, f[server(number) :])
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if w[VisitWord.AGREEMENT] != NOBODY and v[VisitFloat.RATE] > 0.0:
            g = f[agreement(p, visits, w[VisitWord.AGREEMENT]) :]
            several = f[server(w[VisitWord.SERVER]) + ServerFloat.SEVERAL]
            batch = v[VisitFloat.RATE] / g[AgreementFloat.PPDUS] * max(several, 1.0)
            v[VisitFloat.BATCH] = max(min(batch, v[VisitFloat.WANT]), 1.0)


def _add(p: Any, network: Any, w: Any, v: Any, g: Any) -> None:
    """Add the packets of a visit to those of its agreement with floats `g`."""
    at = agreement_at(p, w[VisitWord.AGREEMENT])
    amsdu = network[function_at(p, w[VisitWord.SERVER]) + Function.AMSDU]
    packet = w[VisitWord.FRAME] - p[Radio.MAC_OVERHEAD]
    most = 1.0
    if amsdu > 0 and network[at + Agreement.BLOCK_ACK] != 0:
        most = float(max(amsdu // _padded(_SUBFRAME_BYTES + _LLC_BYTES + packet), 1))
    together = min(most, v[VisitFloat.WANT])
    size = float(_padded(_DELIMITER_BYTES + w[VisitWord.FRAME]))
    if together > 1.0:
        header = float(_DELIMITER_BYTES + p[Radio.MAC_OVERHEAD] - _LLC_BYTES)
        size = header / together + float(_padded(_SUBFRAME_BYTES + _LLC_BYTES + packet))
    sent = v[VisitFloat.RATE] / (1.0 - min(v[VisitFloat.NOISE], 0.99))
    often = sent / v[VisitFloat.WANT]
    g[AgreementFloat.PACKETS] += v[VisitFloat.RATE]
    g[AgreementFloat.BYTES] += sent * size
    g[AgreementFloat.MPDUS] += sent / together
    g[AgreementFloat.MOST] = max(g[AgreementFloat.MOST], often)
    g[AgreementFloat.SUM] += often
    g[AgreementFloat.WANTED] += v[VisitFloat.WANT]


def _limit(p: Any, network: Any, g: Any, a: Any, o: Any) -> None:
    """Compute the PPDU rate of an agreement: as few PPDUs as its packets allow, within the limits of an
    A-MPDU.

    If its function, with floats `o`, is always busy, packets of different flows share PPDUs; otherwise each
    flow has its own PPDUs.
    """
    at = agreement_at(p, a)
    function = function_at(p, network[at + Agreement.FUNCTION])
    link = p[Radio.LINKS_AT] + network[at + Agreement.LINK] * _LINK
    rate = p[Radio.RATES_AT] + network[link + Link.RATE] * _RATE
    own = network[rate:]
    answers = network[p[Radio.RATES_AT] + own[Rate.ANSWER] * _RATE :]
    sifs, txop = float(p[Radio.SIFS]), network[function + Function.TXOP]
    block_ack = routes.time_on_air(answers, network[at + Agreement.BA_BYTES])
    control = p[Radio.RTS_RATE] if p[Radio.RTS_RATE] != NOBODY else own[Rate.ANSWER]
    control_rate = network[p[Radio.RATES_AT] + control * _RATE :]
    size = g[AgreementFloat.BYTES] / g[AgreementFloat.MPDUS]
    most = 1.0
    if network[at + Agreement.BLOCK_ACK] != 0 and network[function + Function.AMPDU] > 0:
        time = float(p[Radio.MOST_TIME])
        if txop > 0:
            time = min(time, float(txop) - sifs - block_ack)
        fitting = min(float(network[function + Function.AMPDU]), float(network[at + Agreement.PSDU]))
        fitting = min(fitting, _bytes_within(own, time))
        whole = float(int((fitting + 3.0) / size))  # the last subframe has no padding
        most = max(min(whole, float(network[at + Agreement.WINDOW])), 1.0)
    fewest = g[AgreementFloat.MOST] + (1.0 - o[ServerFloat.BUSY]) * (
        g[AgreementFloat.SUM] - g[AgreementFloat.MOST]
    )
    ppdus = max(fewest, g[AgreementFloat.MPDUS] / most) * (1.0 + o[ServerFloat.SPLIT])
    ppdus = min(ppdus, g[AgreementFloat.MPDUS])
    count = g[AgreementFloat.MPDUS] / ppdus
    single = min(max(2.0 - count, 0.0), 1.0)  # share of PPDUs with one MPDU
    length = count * size
    if own[Rate.DELIMITED] == 0:
        length -= single * float(_DELIMITER_BYTES)
    air = _air(own, length, count)
    exchange = (
        air + sifs + block_ack + single * (routes.time_on_air(answers, routes.ANSWER_BYTES) - block_ack)
    )
    first = air
    if length > float(network[at + Agreement.RTS_THRESHOLD]):
        first = routes.time_on_air(control_rate, routes.RTS_BYTES)
        exchange += first + routes.time_on_air(control_rate, routes.ANSWER_BYTES) + 2.0 * sifs
        single = 1.0  # a collision costs no data, and no BlockAckReq follows
    data = 48.0 * length / float(own[Rate.SIXTH_BITS]) * float(own[Rate.SYMBOL])
    g[AgreementFloat.FIXED] = exchange - data
    g[AgreementFloat.PPDUS] = ppdus
    g[AgreementFloat.COUNT] = count
    g[AgreementFloat.AIR] = air
    g[AgreementFloat.EXCHANGE] = exchange
    g[AgreementFloat.FIRST] = first
    g[AgreementFloat.SINGLE] = single
    g[AgreementFloat.REQUEST] = routes.time_on_air(answers, REQUEST_BYTES)
    g[AgreementFloat.BLOCK_ACK] = block_ack


def cf_end(p: Any, network: Any) -> Any:
    """Return the duration of a CF-End [ns]."""
    return routes.time_on_air(network[p[Radio.RATES_AT] + p[Radio.CF_END_RATE] * _RATE :], _CF_END_BYTES)


def _bytes_within(rate: Any, time: Any) -> Any:
    """Return the size of the longest PSDU whose PPDU takes at most `time` ns [byte]."""
    symbols = float(
        int((time - float(rate[Rate.PREAMBLE] + rate[Rate.EXTENSION])) / float(rate[Rate.SYMBOL]))
    )
    return (symbols * float(rate[Rate.SIXTH_BITS]) / 6.0 - float(rate[Rate.EXTRA_BITS])) / 8.0


def _air(rate: Any, size: Any, count: Any) -> Any:
    """Return the mean duration of a PPDU with `count` MPDUs of `size` bytes in total [ns]."""
    symbols = 6.0 * (8.0 * size + float(rate[Rate.EXTRA_BITS])) / float(rate[Rate.SIXTH_BITS])
    symbols = math.ceil(symbols) if count < 1.01 else symbols + 0.5
    return float(rate[Rate.PREAMBLE] + rate[Rate.EXTENSION]) + float(rate[Rate.SYMBOL]) * symbols


def _padded(size: Any) -> Any:
    """Return a size rounded up to a multiple of four bytes."""
    return (size + 3) & ~3
