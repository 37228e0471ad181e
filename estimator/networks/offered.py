"""Offered load of constant-rate sources on each link, and the capacity of the link."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, NS, Hop, Rows
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import NOWHERE, Flow, Link, Shared, SharedRows, routes_of
from netcarlo.networks.formula import byte_s
from netcarlo.numerics.arrays import Floats, Ints


class Offered(NamedTuple):
    """Load of the links of a network by endless UDP streams and cross traffic, headers included."""

    load: Floats
    """Load [bit/s], [n, links]; silent periods of on-off sources are averaged."""
    capacity: Floats
    """Capacity [bit/s], [n, links]; infinite if the rate is unlimited or time-varying."""
    names: Sequence[str]
    """Fields of the links in the scenario."""


def of_paths(rows: Rows) -> Offered:
    """Return the load of the hops of the first path: stream of the transport and cross traffic of each
    hop."""
    p, hops = rows.parameters, rows.hops[:, 0]
    stream = np.where(
        p[:, RowP.LIMIT] >= ENDLESS, _bits(p[:, RowP.DATA] + p[:, RowP.HEADER], p[:, UdpP.INTERVAL]), 0.0
    )
    load = stream[:, None] + _bits(hops[:, :, Hop.CROSS_SIZE], hops[:, :, Hop.CROSS_EVERY])
    names = [f"hops.{k}" for k in range(hops.shape[1])]
    return Offered(load, _capacity(hops[:, :, Hop.BYTE_TIME], hops[:, :, Hop.VARIES]), names)


def of_links(rows: SharedRows, names: Sequence[str]) -> Offered:
    """Return the load of shared links with these names by all UDP flows."""
    flows, links = rows.flows, rows.links
    present = np.arange(flows.shape[1]) < rows.parameters[:, Shared.FLOWS, None]
    on, off = flows[:, :, Flow.ON], flows[:, :, Flow.OFF]
    duty = np.where(on > 0, on / np.maximum(on + off, 1), 1.0)
    rate = duty * _bits(flows[:, :, RowP.DATA] + flows[:, :, RowP.HEADER], flows[:, :, UdpP.INTERVAL])
    to_the_end = (flows[:, :, UdpP.STOP] == 0) | (
        flows[:, :, UdpP.STOP] >= rows.parameters[:, RowP.END, None]
    )
    to_the_end &= flows[:, :, RowP.LIMIT] >= ENDLESS
    rate = np.where(present & (flows[:, :, Flow.KIND] == UDP) & to_the_end, rate, 0.0)
    load = np.zeros(links.shape[:2])
    for route in np.moveaxis(routes_of(flows), 2, 0):
        i, f = np.nonzero((rate > 0) & (route != NOWHERE))
        np.add.at(load, (i, route[i, f]), rate[i, f])
    return Offered(load, _capacity(links[:, :, Link.BYTE_TIME], links[:, :, Link.VARIES]), names)


def _bits(size: Ints, interval: Ints) -> Floats:
    """Return the rate [bit/s] of packets of a size [byte] at an interval [ns]; 0 without packets."""
    return np.where(interval > 0, 8.0 * size * NS / np.maximum(interval, 1), 0.0)


def _capacity(byte_time: Ints, varies: Ints) -> Floats:
    with np.errstate(divide="ignore"):
        return np.where(varies > 0, np.inf, 8.0 / byte_s(byte_time))
