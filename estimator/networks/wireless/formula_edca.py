"""Steady-state outcomes of a cell of 802.11n, ac, ax or be from its rows: Bianchi's model with EDCA."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Flow, Function, Link, Radio, Rate, WifiRows
from netcarlo.networks.formula import Found
from netcarlo.networks.wireless.aggregation import Sender
from netcarlo.networks.wireless.bianchi_edca import contenders, saturation
from netcarlo.numerics.arrays import Ints


def formula(rows: WifiRows) -> Found:
    """Return the outcomes of cells with a UDP upload of each station: for each, the minimum of Bianchi's
    model and the offered load."""
    p = rows.parameters
    count = p[:, Radio.FUNCTIONS, None]
    k = np.minimum(np.arange(int(count.max(initial=1))), count - 1)  # absent stations repeat the last one
    flow = _table(rows, Radio.FLOWS_AT, k, Flow)
    function = _table(rows, Radio.FUNCTIONS_AT, k, Function)
    agreement = _table(rows, Radio.AGREEMENTS_AT, k, Agreement)
    link = _table(rows, Radio.LINKS_AT, agreement[..., Agreement.LINK], Link)
    data = _table(rows, Radio.RATES_AT, link[..., Link.RATE], Rate)
    answer = _table(rows, Radio.RATES_AT, data[..., Rate.ANSWER], Rate)
    rts = np.where(p[:, Radio.RTS_RATE, None] == NOBODY, data[..., Rate.ANSWER], p[:, Radio.RTS_RATE, None])
    sifs, slot = p[:, Radio.SIFS, None], p[:, Radio.SLOT, None]
    sender = Sender(
        data=data, answer=answer, rts=_table(rows, Radio.RATES_AT, rts, Rate),
        cf_end=_table(rows, Radio.RATES_AT, np.broadcast_to(p[:, Radio.CF_END_RATE, None], k.shape), Rate),
        packet=flow[..., Flow.SIZE] + flow[..., Flow.HEADER], sifs=sifs,
        ampdu=np.where(agreement[..., Agreement.BLOCK_ACK] > 0, function[..., Function.AMPDU], 0),
        amsdu=function[..., Function.AMSDU], window=agreement[..., Agreement.WINDOW],
        block_ack=agreement[..., Agreement.BA_BYTES], txop=function[..., Function.TXOP],
        most_time=p[:, Radio.MOST_TIME, None], rts_threshold=p[:, Radio.RTS_THRESHOLD, None],
        mac_overhead=p[:, Radio.MAC_OVERHEAD, None],
    )  # fmt: skip
    there = np.arange(k.shape[1]) < count
    groups = contenders(
        sender, count=there.astype(np.float64), payload=flow[..., Flow.SIZE],
        cw_min=function[..., Function.CW_MIN], cw_max=function[..., Function.CW_MAX],
        requests=p[:, Radio.BAR_AFTER_MISSED, None] > 0, retry=p[:, Radio.SHORT_RETRY, None],
        limited=p[:, Radio.RETRY_PER_MPDU, None] > 0,
    )  # fmt: skip
    timeout = p[:, Radio.SIFS] + p[:, Radio.SLOT] + answer[:, 0, Rate.PREAMBLE]
    # There is no EIFS after a collision: a station that receives two frames at once locks on neither.
    full = saturation(groups, slot=slot[:, 0], aifs=function[:, 0, Function.AIFS], timeout=timeout)
    offered = np.where(there, 8.0 * flow[..., Flow.SIZE] * NS / flow[..., Flow.INTERVAL], 0.0)
    goodput = np.minimum(offered, full.goodput_bps).sum(axis=1)
    overloaded = (offered >= full.goodput_bps)[:, 0]
    return {
        "goodput_bps": goodput,
        "loss_ratio": 1 - goodput / offered.sum(axis=1),
        "failed_attempt_ratio": np.where(overloaded, full.collision_probability[:, 0], 0.0),
    }


def _table(rows: WifiRows, begin: Radio, number: Ints, columns: type[IntEnum]) -> Any:
    """Return the items of a table with these numbers [n, K]: [n, K, len(columns)]."""
    at = rows.parameters[:, begin, None] + number * len(columns)
    each = np.arange(len(at))[:, None, None]
    return rows.network[each, at[:, :, None] + np.arange(len(columns))]
