"""Steady-state outcomes of a cell of 802.11n, ac, ax or be from its rows: Bianchi's model with EDCA."""

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import Agreement, Flow, Function, Radio, Rate, WifiRows
from netcarlo.networks.formula import Found
from netcarlo.networks.wireless.bianchi_edca import contenders, saturation
from netcarlo.networks.wireless.channel_time import sender, table


def formula(rows: WifiRows) -> Found:
    """Return the outcomes of cells with a UDP upload of each station: for each, the minimum of Bianchi's
    model and the offered load."""
    p = rows.parameters
    count = p[:, Radio.FUNCTIONS, None]
    k = np.minimum(np.arange(int(count.max(initial=1))), count - 1)  # absent stations repeat the last one
    flow = table(rows, Radio.FLOWS_AT, k, Flow)
    function = table(rows, Radio.FUNCTIONS_AT, k, Function)
    agreement = table(rows, Radio.AGREEMENTS_AT, k, Agreement)
    size = flow[..., Flow.SIZE] + flow[..., Flow.HEADER]
    found = sender(rows, agreement, function, packet=size)
    there = np.arange(k.shape[1]) < count
    groups = contenders(
        found, count=there.astype(np.float64), payload=flow[..., Flow.SIZE],
        cw_min=function[..., Function.CW_MIN], cw_max=function[..., Function.CW_MAX],
        requests=p[:, Radio.BAR_AFTER_MISSED, None] > 0, retry=p[:, Radio.SHORT_RETRY, None],
        limited=p[:, Radio.RETRY_PER_MPDU, None] > 0,
    )  # fmt: skip
    timeout = p[:, Radio.SIFS] + p[:, Radio.SLOT] + found.answer[:, 0, Rate.PREAMBLE]
    # There is no EIFS after a collision: a station that receives two frames at once locks on neither.
    full = saturation(groups, slot=p[:, Radio.SLOT], aifs=function[:, 0, Function.AIFS], timeout=timeout)
    offered = np.where(there, 8.0 * flow[..., Flow.SIZE] * NS / flow[..., Flow.INTERVAL], 0.0)
    goodput = np.minimum(offered, full.goodput_bps).sum(axis=1)
    overloaded = (offered >= full.goodput_bps)[:, 0]
    return {
        "goodput_bps": goodput,
        "loss_ratio": 1 - goodput / offered.sum(axis=1),
        "failed_attempt_ratio": np.where(overloaded, full.collision_probability[:, 0], 0.0),
    }
