"""Outcomes of a path in the steady state, from its rows: PFTK, capped by the sawtooth of its bottleneck."""

import numpy as np

from netcarlo.kernels.base.layout import NS, Hop, P, Rows
from netcarlo.networks.formula import Found, byte_s, lossy, most_in_flight, probability
from netcarlo.numerics.formulas import sawtooth


def formula(rows: Rows) -> Found:
    """Outcomes of endless TCP transfers over the first path of `rows`: PFTK, capped by the sawtooth."""
    p, hops = rows.parameters, rows.hops[:, 0]
    there = hops[..., Hop.PRESENT] == 1
    wire = p[:, P.DATA] + p[:, P.HEADER]
    data_s = wire[:, None] * byte_s(hops[..., Hop.BYTE_TIME])
    ack_s = p[:, P.ACK, None] * byte_s(hops[..., Hop.R_BYTE_TIME])
    delay_s = (hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]) / NS
    rtt_s = np.where(there, data_s + ack_s + delay_s, 0.0).sum(axis=1)
    every = np.where(hops[..., Hop.CROSS_EVERY] > 0, hops[..., Hop.CROSS_EVERY] / NS, np.inf)
    taken = hops[..., Hop.CROSS_SIZE] * byte_s(hops[..., Hop.BYTE_TIME]) / every
    with np.errstate(divide="ignore"):
        rate = np.where(there, np.maximum(1 - taken, 0.0) / data_s, np.inf)
    slowest = rate.argmin(axis=1)[:, None]
    capacity = np.take_along_axis(rate, slowest, axis=1)[:, 0]
    queue = np.take_along_axis(hops[..., Hop.QUEUE], slowest, axis=1)[:, 0]
    survive = np.where(there, 1 - probability(rows.losses)[hops[..., Hop.LOSS]], 1.0).prod(axis=1)
    most = most_in_flight(p)
    alone = lossy(p, rtt_s, 1 - survive, most)
    full = sawtooth(rtt_s, capacity, queue=np.where(queue == 0, np.inf, queue - 1.0), window=most)
    sent = np.minimum(alone, full)
    # Where the queue is what limits, the window is that of the sawtooth on average.
    held = np.minimum(most, 0.75 * (capacity * rtt_s + queue))
    cwnd = np.where(alone > full, np.maximum(held, sent * rtt_s), sent * rtt_s)
    return {
        "goodput_bps": sent * survive * p[:, P.DATA] * 8.0,
        "mean_cwnd_packets": cwnd,
        "mean_rtt_s": cwnd / np.maximum(sent, 1e-12),
    }
