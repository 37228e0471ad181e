"""Time for which a packet of a flow occupies the channel: an exchange of DCF, or a part of one of EDCA."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Flow, Function, Link, Radio, Rate, WifiRows
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.aggregation import Sender, opportunity
from netcarlo.numerics.arrays import Floats, Ints


def packet_ns(rows: WifiRows, flow: Ints, hop: Ints, rate: Ints) -> Floats:
    """Return the time [ns] of a packet of flows [n, len(Flow)] in a hop [n] of their paths.

    With DCF: DIFS, the data frame at a row of the rate table `rate` [n], SIFS and ACK. With EDCA: AIFS and
    the transmission opportunity of an endless backlog, divided by its packets.
    """
    size = flow[:, Flow.SIZE] + flow[:, Flow.HEADER]
    p = rows.parameters
    if not p[:, Radio.FUNCTIONS].any():
        return _exchange_ns(rows, rate, size)
    at = p[:, Radio.PATHS_AT] + p[:, Radio.PATH_WORDS] + flow[:, Flow.FORTH_AT] + hop
    agreement = table(rows, Radio.AGREEMENTS_AT, rows.network[np.arange(len(p)), at][:, None], Agreement)
    function = table(rows, Radio.FUNCTIONS_AT, agreement[..., Agreement.FUNCTION], Function)
    found = opportunity(sender(rows, agreement, function, packet=size[:, None]))
    return np.asarray((function[..., Function.AIFS] + found.success) / found.msdus)[:, 0]


def sender(rows: WifiRows, agreement: Ints, function: Ints, *, packet: Ints) -> Sender:
    """Return the saturated senders of agreements [n, K, len(Agreement)] of functions [n, K, len(Function)]
    with packets of a size [n, K] [byte]."""
    p = rows.parameters
    link = table(rows, Radio.LINKS_AT, agreement[..., Agreement.LINK], Link)
    data = table(rows, Radio.RATES_AT, link[..., Link.RATE], Rate)
    rts = np.where(p[:, Radio.RTS_RATE, None] == NOBODY, data[..., Rate.ANSWER], p[:, Radio.RTS_RATE, None])
    cf_end = np.broadcast_to(p[:, Radio.CF_END_RATE, None], packet.shape)
    longest = np.minimum(function[..., Function.AMPDU], agreement[..., Agreement.PSDU])
    return Sender(
        data=data, answer=table(rows, Radio.RATES_AT, data[..., Rate.ANSWER], Rate),
        rts=table(rows, Radio.RATES_AT, rts, Rate), cf_end=table(rows, Radio.RATES_AT, cf_end, Rate),
        packet=packet, sifs=p[:, Radio.SIFS, None],
        ampdu=np.where(agreement[..., Agreement.BLOCK_ACK] > 0, longest, 0),
        amsdu=function[..., Function.AMSDU], window=agreement[..., Agreement.WINDOW],
        block_ack=agreement[..., Agreement.BA_BYTES], txop=function[..., Function.TXOP],
        most_time=p[:, Radio.MOST_TIME, None], rts_threshold=agreement[..., Agreement.RTS_THRESHOLD],
        mac_overhead=p[:, Radio.MAC_OVERHEAD, None],
    )  # fmt: skip


def table(rows: WifiRows, begin: Radio, number: Ints, columns: type[IntEnum]) -> Any:
    """Return the items of a table with these numbers [n, K]: [n, K, len(columns)]."""
    at = rows.parameters[:, begin, None] + number * len(columns)
    each = np.arange(len(at))[:, None, None]
    return rows.network[each, at[:, :, None] + np.arange(len(columns))]


def _exchange_ns(rows: WifiRows, rate: Ints, size: Floats | Ints) -> Floats:
    """Return the time [ns] of a DIFS, the data frame of a packet of `size` bytes [n], a SIFS and the ACK.

    `rate` is the row of the rate table at which the data frame is sent [n].
    """
    p, net = rows.parameters, rows.network
    data = p[:, Radio.RATES_AT] + rate * len(Rate)
    answer = p[:, Radio.RATES_AT] + net[np.arange(len(p)), data + Rate.ANSWER] * len(Rate)
    ack = air_ns(net, answer, np.full(len(p), float(dot11.ACK_BYTES)))
    difs = p[:, Radio.SIFS] + 2 * p[:, Radio.SLOT]
    return difs + air_ns(net, data, size + p[:, Radio.MAC_OVERHEAD]) + p[:, Radio.SIFS] + ack


def air_ns(net: Ints, rate: Ints, size: Floats | Ints) -> Floats:
    """Return the duration [ns] of frames of `size` bytes [n] at the rates whose columns begin at `rate`
    [n]."""
    value = {column: net[np.arange(len(net)), rate + column] for column in Rate}
    bits = 6 * (8 * size + value[Rate.EXTRA_BITS])
    symbols = np.ceil(bits / np.maximum(value[Rate.SIXTH_BITS], 1))
    return np.asarray(value[Rate.PREAMBLE] + value[Rate.SYMBOL] * symbols + value[Rate.EXTENSION])
