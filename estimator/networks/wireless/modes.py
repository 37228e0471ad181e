"""Modes of the links of rows with 802.11n, ac, ax and be: given, or determined by the signal."""

from typing import Any

import numpy as np

from netcarlo.kernels.wireless.layout import Link
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.phy.ppdu import ANSWER_RATES
from netcarlo.networks.wireless.signal import Budget
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws


def own(wireless: Wireless, draws: Draws, k: int, field: str, usual: Any) -> tuple[Any, Any]:
    """Return the values [n] of a field of the link of station `k`, to the next hop and to the station.

    `usual` are those of all links, or None.
    """
    link, name = wireless.link(k), f"wireless.each.{k}"
    up = draws.either(f"{name}.{field}", getattr(link, field), usual)
    return up, draws.either(f"{name}.downlink.{field}", getattr(link.downlink, field), up)


def fill(wireless: Wireless, draws: Draws, links: Ints, received_dbm: Floats | None, packet: Ints) -> Floats:
    """Fill in the rates of links [n, 2 * stations, len(Link)] and return the losses by noise
    [n, 2 * stations].

    `received_dbm` [n, N, N] is the power at the first node of a transmission of the second one, `packet` the
    size of a data packet [n] [byte].
    """
    streams = draws.floats("wireless.streams", 1.0 if wireless.streams is None else wireless.streams)
    mcs = None if wireless.mcs is None else draws.floats("wireless.mcs", wireless.mcs)
    noise = np.zeros(links.shape[:2])
    budget = None
    if received_dbm is not None:
        overhead = draws.whole("wireless.mac_overhead", wireless.mac_overhead)
        budget = Budget(wireless, draws, packet + overhead)
    row = np.arange(len(links))
    for k in range(links.shape[1] // 2):
        each = zip(
            own(wireless, draws, k, "streams", streams), own(wireless, draws, k, "mcs", mcs), strict=True
        )
        for link, (antennas, given) in enumerate(each, 2 * k):
            if budget is None:
                links[:, link, Link.RATE] = _rows(wireless, antennas, given)
                continue
            assert received_dbm is not None
            power = received_dbm[row, links[:, link, Link.TO], links[:, link, Link.FROM]]
            if given is None:
                mode = budget.best(power, antennas)
            else:
                mode = _rows(wireless, antennas, given) - len(ANSWER_RATES)
            links[:, link, Link.RATE] = len(ANSWER_RATES) + mode
            noise[:, link] = budget.of(mode, power, antennas)
    return noise


def _rows(wireless: Wireless, streams: Floats, mcs: Floats | None) -> Ints:
    """Return the rows of modes [n] in the rate table; without `mcs` those of the highest one."""
    if mcs is None:
        mcs = np.array([wireless.best_mcs(round(count)) for count in streams.tolist()])
    pairs = np.rint(np.stack([streams, mcs], axis=1)).astype(np.int64)
    modes, number = np.unique(pairs, axis=0, return_inverse=True)
    rows = np.array([wireless.mode_row(int(s), int(m)) for s, m in modes])
    return rows[number.reshape(-1)]
