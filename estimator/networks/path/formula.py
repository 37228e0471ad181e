"""Steady-state outcomes of a path from its rows: PFTK or its counterparts, limited by the sawtooth of the
bottleneck and reduced by outages."""

from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NS, Hop, Rows
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP, TcpP
from netcarlo.kernels.senders import (
    BIC,
    CUBIC,
    LINUX,
    LINUX_BBR,
    LINUX_CUBIC,
    NEWRENO,
    RENO,
    SACK,
    TAHOE,
)
from netcarlo.networks.formula import Found, byte_s, first_rto_s, loss_limited, max_in_flight, probability
from netcarlo.numerics import bic, formulas
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.numerics.formulas import sawtooth
from netcarlo.numerics.outages import Outages, Transfer, packets_sent


class Steady(NamedTuple):
    """Steady state of endless transfers over a path, [n] each."""

    rtt_s: Floats
    """Round trip without queues [s]."""
    forth_s: Floats
    """Time of a data packet to the receiver, without queues [s]."""
    capacity: Floats
    """Rate of the slowest hop [packets/s]."""
    queue: Ints
    """Queue limit of that hop [packets]; 0: unlimited."""
    survive: Floats
    """Probability that a packet is not lost at random."""
    most: Floats
    """Maximum number of packets in flight by windows and buffers."""
    alone: Floats
    """Packets sent per second if only random losses and windows limit them."""
    full: Floats
    """Packets sent per second by the sawtooth of the bottleneck."""

    @property
    def sent(self) -> Floats:
        """Packets sent per second."""
        return np.minimum(self.alone, self.full)


def steady(rows: Rows, *, kind: int) -> Steady:
    """Return the steady state of transfers by a sender `kind` over the first path of `rows`."""
    p, hops = rows.parameters, rows.hops[:, 0]
    there = hops[..., Hop.PRESENT] == 1
    wire = p[:, RowP.DATA] + p[:, RowP.CHUNK_HEADER] + p[:, RowP.HEADER]
    data_s = wire[:, None] * byte_s(hops[..., Hop.BYTE_TIME])
    ack_s = p[:, ReliableP.ACK, None] * byte_s(hops[..., Hop.R_BYTE_TIME])
    delay_s = (hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]) / NS
    rtt_s = np.where(there, data_s + ack_s + delay_s, 0.0).sum(axis=1)
    every = np.where(hops[..., Hop.CROSS_EVERY] > 0, hops[..., Hop.CROSS_EVERY] / NS, np.inf)
    taken = hops[..., Hop.CROSS_SIZE] * byte_s(hops[..., Hop.BYTE_TIME]) / every
    with np.errstate(divide="ignore"):
        rate = np.where(there, np.maximum(1 - taken, 0.0) / data_s, np.inf)
    slowest = rate.argmin(axis=1)[:, None]
    capacity = np.take_along_axis(rate, slowest, axis=1)[:, 0]
    queue = np.take_along_axis(hops[..., Hop.QUEUE], slowest, axis=1)[:, 0]
    survive = _survive(rows, 0)
    again = np.where(p[:, SctpP.N_PATHS] > 1, 1 - _survive(rows, 1), 1 - survive)
    most = max_in_flight(p)
    alone = loss_limited(p, rtt_s, 1 - survive, most, kind=kind, again=again)
    kept = formulas.OF_LINUX.beta if kind == LINUX_CUBIC else 0.5
    room = np.where(queue == 0, np.inf, queue - 1.0)
    full = sawtooth(rtt_s, capacity, queue=room, window=most, kept=kept)
    if kind == LINUX_BBR:  # it does not fill the queue
        alone = full = formulas.bbr(rtt_s, 1 - survive, window=most, capacity=capacity)
    forth_s = np.where(there, data_s + hops[..., Hop.DELAY] / NS, 0.0).sum(axis=1)
    return Steady(rtt_s, forth_s, capacity, queue, survive, most, alone, full)


def formula(rows: Rows, *, kind: int = SACK) -> Found:
    """Return the outcomes of endless transfers over the first path of `rows`; the second carries SCTP's
    retransmissions.

    `kind` is the number of a TCP, see `kernels.senders`; SCTP recovers losses like SACK.
    """
    p, of = rows.parameters, steady(rows, kind=kind)
    sent, rtt_s, capacity = of.sent, of.rtt_s, of.capacity
    # Where the queue is the limit, use the mean window of the sawtooth.
    held = np.minimum(of.most, 0.75 * (capacity * rtt_s + of.queue))
    cwnd = np.where(of.alone > of.full, np.maximum(held, sent * rtt_s), sent * rtt_s)
    up = _share_carried(rows, sent, rtt_s, cwnd, kind)
    arriving = up * np.minimum(sent * of.survive, capacity * _share_of_time(p, rtt_s, of.forth_s))
    return {
        "goodput_bps": arriving * p[:, RowP.DATA] * 8.0,
        "mean_cwnd_packets": up * cwnd,
        "mean_rtt_s": cwnd / np.maximum(sent, 1e-12),
    }


def _survive(rows: Rows, path: int) -> Floats:
    """Return the probability that a packet is not lost at random on its path."""
    hops = rows.hops[:, path]
    spared = np.where(hops[..., Hop.PRESENT] == 1, 1 - probability(rows.losses)[hops[..., Hop.LOSS]], 1.0)
    return np.asarray(spared.prod(axis=1))


def _share_of_time(p: Ints, rtt_s: Floats, forth_s: Floats) -> Floats:
    """Return the share of the run in which data can arrive: not before the handshake and the first
    packet's delay."""
    observed_s = (p[:, RowP.END] - p[:, RowP.START]) / NS
    first_s = forth_s + np.where(p[:, TcpP.HANDSHAKE] > 0, rtt_s, 0.0)
    return np.asarray(np.maximum(observed_s - first_s, 0.0) / observed_s)


def _share_carried(rows: Rows, sent: Floats, base_s: Floats, cwnd: Floats, kind: int) -> Floats:
    """Return the share of the packets per second that outages leave; 1 without outages."""
    share = np.ones(len(sent))
    who = np.flatnonzero((rows.outages[:, 0, :, :, 0] < FOREVER).any(axis=(1, 2)) & (sent > 0))
    if len(who):
        p, rate = rows.parameters[who], sent[who]
        transfer = _transfer(p, rate, base_s[who], np.maximum(cwnd[who], 1.0), kind)
        met = _met(p, rows.hops[who, 0], rows.outages[who, 0], transfer)
        begin, end = p[:, RowP.START] / NS, p[:, RowP.END] / NS
        share[who] = packets_sent(met, transfer, begin=begin, end=end) / (rate * (end - begin))
    return share


def _transfer(p: Ints, rate: Floats, base_s: Floats, window: Floats, kind: int) -> Transfer:
    rtt_s = window / rate
    by_bytes = (p[:, SctpP.RWND] > 0) | (kind in LINUX)
    every = np.where(by_bytes, 1, np.maximum(p[:, ReliableP.ACK_EVERY], 1))
    beta, growth = np.full(len(p), 0.5), 1.0 / every
    if kind in (CUBIC, LINUX_CUBIC):
        of = formulas.OF_NS2 if kind == CUBIC else formulas.OF_LINUX
        beta = np.full(len(p), of.beta)
        rounds, _ = formulas.cubic_recovery(rtt_s, window, of.friendly / every, of)
        growth = (1 - beta) * window / _at_least_some(rounds)
    elif kind == BIC:
        beta = np.minimum(bic.window_after_loss(window) / window, 1.0)  # a window of 1 is not reduced
        growth = (1 - beta) * window / _at_least_some(bic.recovery(window, every).rounds)
    elif kind == LINUX_BBR:  # the window returns in slow start
        beta, growth = np.ones(len(p)), window
    slow_start_factor = 1 + 1.0 / (every if kind in LINUX else np.maximum(p[:, ReliableP.ACK_EVERY], 1))
    rto_s = first_rto_s(p, rtt_s)
    max_rto_s = np.maximum(p[:, ReliableP.MAX_RTO] / NS, rto_s)
    repairs = np.full(len(p), 1.0 if kind in (TAHOE, RENO) else np.inf)
    if kind == NEWRENO:  # repairs one loss per round trip
        repairs = np.maximum(rto_s / rtt_s, 1.0)
    return Transfer(rate, base_s, window, beta, growth, slow_start_factor, repairs, rto_s, max_rto_s)


def _at_least_some(rounds: Floats) -> Floats:
    """Return the round trips in which a window recovers, at least 1: a window of one packet recovers at
    once."""
    return np.where(rounds > 0, rounds, 1.0)


def _met(p: Ints, hops: Ints, outages: Ints, transfer: Transfer) -> Outages:
    """Return the outages of the hops [n, H, ...] of a path at the times at which the sender observes them."""
    there = hops[..., Hop.PRESENT] == 1
    wire = p[:, [RowP.DATA, RowP.CHUNK_HEADER, RowP.HEADER]].sum(axis=1)
    data_s = wire[:, None] * byte_s(hops[..., Hop.BYTE_TIME])
    queue_s = np.maximum(transfer.rtt_s - transfer.base_s, 0.0)[:, None]  # at the slowest hop
    queue_s = np.where(np.arange(hops.shape[1]) == data_s.argmax(axis=1)[:, None], queue_s, 0.0)
    forth = np.where(there, data_s + hops[..., Hop.DELAY] / NS + queue_s, 0.0)[..., None]
    ack_s = p[:, ReliableP.ACK, None] * byte_s(hops[..., Hop.R_BYTE_TIME])
    back = np.where(there, ack_s + hops[..., Hop.R_DELAY] / NS, 0.0)[..., None]
    comes = outages[..., 0] < FOREVER
    down, up = (np.where(comes, outages[..., k] / NS, np.inf) for k in (0, 1))
    lasts = np.where(comes, (outages[..., 1] - outages[..., 0]) / NS, 0.0)
    left, entered = forth.cumsum(axis=1), forth.cumsum(axis=1) - forth
    share = (lasts + forth + back) / transfer.rtt_s[:, None, None]
    met = Outages(down - left, up - entered, down + (back.cumsum(axis=1) - back), share)
    flat = Outages(*(column.reshape(len(p), -1) for column in met))
    order = np.argsort(flat.start, axis=1, kind="stable")
    return Outages(*(np.take_along_axis(column, order, axis=1) for column in flat))
