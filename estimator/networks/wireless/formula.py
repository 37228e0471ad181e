"""Steady-state outcomes of an 802.11 cell from its rows: Bianchi's model."""

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import NOBODY, Flow, Link, Radio, Rate, WifiRows
from netcarlo.networks.formula import Found
from netcarlo.networks.wireless import bianchi, dot11
from netcarlo.networks.wireless.channel_time import air_ns


def formula(rows: WifiRows) -> Found:
    """Return the outcomes of 802.11 cells with UDP uploads: the minimum of Bianchi's model and the offered
    load."""
    p, net = rows.parameters, rows.network
    each = np.arange(len(p))
    flow = net[:, : len(Flow)]  # flow of the first station; all are equal
    packet = flow[:, Flow.SIZE] + flow[:, Flow.HEADER]
    frame = packet + p[:, Radio.MAC_OVERHEAD]
    row = net[each, p[:, Radio.LINKS_AT] + Link.RATE]
    data, answer, protection = (
        p[:, Radio.RATES_AT] + number * len(Rate)
        for number in (
            row,
            net[each, p[:, Radio.RATES_AT] + row * len(Rate) + Rate.ANSWER],
            np.maximum(p[:, Radio.PROTECTION], 0),
        )
    )
    protected = (p[:, Radio.PROTECTION] != NOBODY) & (net[each, data + Rate.DSSS] == 0)
    ack, rts = np.full(len(p), dot11.ACK_BYTES), np.full(len(p), bianchi.RTS_BYTES)
    announced = frame > p[:, Radio.RTS_THRESHOLD]
    access = bianchi.cost(
        slot_s=p[:, Radio.SLOT] / NS,
        sifs_s=p[:, Radio.SIFS] / NS,
        data_s=air_ns(net, data, frame) / NS,
        ack_s=air_ns(net, answer, ack) / NS,
        rts_s=np.where(announced, air_ns(net, answer, rts) / NS, 0.0),
        cts_to_self_s=np.where(protected, air_ns(net, protection, ack) / NS, 0.0),
        answer_preamble_s=net[each, answer + Rate.PREAMBLE] / NS,
        cw_min=p[:, Radio.CW_MIN],
        cw_max=p[:, Radio.CW_MAX],
        attempts=p[:, Radio.SHORT_RETRY],
    )
    stations = p[:, Radio.FLOWS]
    full = bianchi.solve_all(access, stations=stations, payload=flow[:, Flow.SIZE])
    offered = stations * 8.0 * flow[:, Flow.SIZE] * NS / flow[:, Flow.INTERVAL]
    saturated = offered >= full.throughput_bps
    return {
        "goodput_bps": np.minimum(offered, full.throughput_bps),
        "loss_ratio": np.maximum(1 - full.throughput_bps / offered, 0.0),
        "failed_attempt_ratio": np.where(saturated, full.failed_attempt_ratio, 0.0),
    }
