"""Steady-state outcomes of a datagram flow over a path, by conservation of packets hop by hop.

Datagrams do not react to the network. A hop forwards what arrives, up to its rate. A full queue admits
packets of the flow and of cross traffic in proportion to their rates. An outage leaves a gap in the output of
the hop, of which the full queue of a later hop fills a part.
"""

from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NS, Hop, Rows
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.networks.formula import Found, byte_s, probability
from netcarlo.numerics.arrays import Bools, Floats, Ints


class Stream(NamedTuple):
    """Stream of packets at one place: a constant rate from `begin` to `end` except in gaps, [n] each."""

    begin: Floats
    """Time of the first packet [s]."""
    end: Floats
    """Time of the last packet plus one interval [s]."""
    rate: Floats
    """Packets per second outside the gaps."""
    falls: Floats
    """Time at which each gap begins, in any order [n, k] [s]; infinite for no gap."""
    rises: Floats
    """Time at which each gap ends [n, k] [s]."""


def formula(rows: Rows) -> Found:
    """Return the goodput of the datagram flow of each row over its first path."""
    p, hops = rows.parameters, rows.hops[:, 0]
    stream = _sent(p)
    wire = p[:, RowP.DATA] + p[:, RowP.HEADER]
    loss = probability(rows.losses)[hops[..., Hop.LOSS]]
    for k in range(hops.shape[1]):
        passed = _over_hop(stream, hops[:, k], wire, rows.outages[:, 0, k])
        passed = passed._replace(rate=passed.rate * (1 - loss[:, k]))
        there = hops[:, k, Hop.PRESENT] == 1
        stream = _where(there, passed, stream)
    ends = p[:, RowP.END] / NS
    lasts = np.maximum(np.minimum(stream.end, ends) - stream.begin, 0.0) - _length(stream, ends)
    return {"goodput_bps": stream.rate * lasts * p[:, RowP.DATA] * 8.0 / (ends - p[:, RowP.START] / NS)}


def _sent(p: Ints) -> Stream:
    """Return the stream that the source sends."""
    begin, interval = p[:, RowP.START] / NS, p[:, UdpP.INTERVAL] / NS
    stop = np.minimum(p[:, UdpP.STOP], p[:, RowP.END]) / NS
    count = np.ceil(np.maximum(stop - begin, 0.0) / interval)
    none = np.empty((len(p), 0))
    return Stream(begin, begin + count * interval, 1 / interval, none, none)


def _over_hop(stream: Stream, hop: Ints, wire: Ints, outages: Ints) -> Stream:
    """Return the output of a hop [n, columns] with outages [n, k, 2], for packets of `wire` bytes."""
    service = wire * byte_s(hop[:, Hop.BYTE_TIME])
    every = np.where(hop[:, Hop.CROSS_EVERY] > 0, hop[:, Hop.CROSS_EVERY] / NS, np.inf)
    load = stream.rate * service + hop[:, Hop.CROSS_SIZE] * byte_s(hop[:, Hop.BYTE_TIME]) / every
    carried = stream.rate / np.maximum(load, 1.0)
    room = np.where(hop[:, Hop.QUEUE] > 0, hop[:, Hop.QUEUE] - 1.0, np.inf)
    held = np.where(load > 1, room * stream.rate / (stream.rate + 1 / every), 0.0)
    sent = stream.rate * (stream.end - stream.begin)
    accepted = np.minimum(sent, carried * (stream.end - stream.begin) + held)
    waits, departs = (
        np.divide(count, carried, out=np.zeros(len(count)), where=carried > 0)
        for count in (np.minimum(held, sent), accepted)
    )
    transit = service + hop[:, Hop.DELAY] / NS
    down, up = (np.where(outages[..., 0] < FOREVER, outages[..., k] / NS, np.inf) for k in (0, 1))
    return Stream(
        stream.begin + transit, stream.begin + transit + departs, carried,
        np.concatenate([stream.falls + (transit + waits)[:, None], down], axis=1),
        np.concatenate([stream.rises, up], axis=1) + transit[:, None],
    )  # fmt: skip


def _where(condition: Bools, new: Stream, old: Stream) -> Stream:
    """Return the streams `new` where the condition [n] holds, else `old`, which may have fewer gaps."""
    more = new.falls.shape[1] - old.falls.shape[1]
    wide = [np.pad(gaps, ((0, 0), (0, more)), constant_values=np.inf) for gaps in (old.falls, old.rises)]
    found = (
        np.where(condition if x.ndim == 1 else condition[:, None], x, y)
        for x, y in zip(new, old._replace(falls=wide[0], rises=wide[1]), strict=True)
    )
    return Stream(*found)


def _length(stream: Stream, ends: Floats) -> Floats:
    """Return the total duration of the gaps, from the first packet to the last or to `ends` [n] [s]."""
    begin, end = stream.begin[:, None], np.maximum(np.minimum(stream.end, ends), stream.begin)[:, None]
    order = np.argsort(stream.falls, axis=1)
    falls, rises = (
        np.clip(np.take_along_axis(x, order, axis=1), begin, end) for x in (stream.falls, stream.rises)
    )
    covered = np.maximum.accumulate(np.concatenate([begin, rises], axis=1), axis=1)[:, :-1]
    return np.asarray(np.maximum(rises - np.maximum(falls, covered), 0.0).sum(axis=1))
