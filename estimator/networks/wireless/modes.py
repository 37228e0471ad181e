"""Modes of the links of rows with 802.11n, ac, ax and be: given, or determined by the signal."""

from typing import Any

import numpy as np

from netcarlo.kernels.wireless.layout import Link
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.phy.ppdu import ANSWER_RATES, Mode
from netcarlo.networks.wireless.phy.tables import FIRST_GENERATION, GENERATIONS
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


def fill(
    wireless: Wireless, draws: Draws, links: Ints, received_dbm: Floats | None, packet: Ints
) -> tuple[Floats, Floats]:
    """Fill in the rates of links [n, 2 * stations, len(Link)].

    Returns their losses by noise [n, 2 * stations], and those at each rate [n, 2 * stations, rates], without
    any if rates are fixed. `received_dbm` [n, N, N] is the power at the first node of a transmission of the
    second one, `packet` the size of a data packet [n] [byte].
    """
    n, row = len(links), np.arange(len(links))
    number_of = {mode: number for number, mode in enumerate(wireless.modes)}
    streams = draws.floats("wireless.streams", 1.0 if wireless.streams is None else wireless.streams)
    mcs = None if wireless.mcs is None else draws.floats("wireless.mcs", wireless.mcs)
    budget = None
    if received_dbm is not None:
        overhead = draws.whole("wireless.mac_overhead", wireless.mac_overhead)
        budget = Budget(wireless, draws, packet + overhead)
    noise = np.zeros(links.shape[:2])
    controlled = wireless.rate_control != "fixed"
    by_rate = np.zeros((*links.shape[:2], len(wireless.known_rates) if controlled else 0))
    for k in range(links.shape[1] // 2):
        standard = _standards(wireless, draws, k)
        each = zip(
            own(wireless, draws, k, "streams", streams), own(wireless, draws, k, "mcs", mcs), strict=True
        )
        for link, (antennas, given) in enumerate(each, 2 * k):
            antennas = np.broadcast_to(np.rint(antennas).astype(np.int64), n)
            power = None
            if received_dbm is not None:
                power = received_dbm[row, links[:, link, Link.TO], links[:, link, Link.FROM]]
            if budget is not None and power is not None and given is None:
                mode = budget.best(power, antennas, standard)
            else:
                mode = _numbers(wireless, number_of, standard, antennas, given)
            links[:, link, Link.RATE] = len(ANSWER_RATES) + mode
            lowest, highest = _range(wireless, number_of, standard, antennas)
            links[:, link, Link.LOWEST], links[:, link, Link.HIGHEST] = lowest, highest
            if budget is not None and power is not None:
                noise[:, link] = budget.of(mode, power, antennas)
                if controlled:
                    by_rate[:, link, len(ANSWER_RATES) :] = budget.every(power, antennas)
    return noise, by_rate


def _standards(wireless: Wireless, draws: Draws, k: int) -> Ints:
    """Return the standard of the link of station `k` [n], as a place in `GENERATIONS`."""
    usual = float(GENERATIONS.index(wireless.standard) + FIRST_GENERATION)
    name = f"wireless.each.{k}.generation"
    found = draws.either(name, wireless.link(k).generation, np.full(len(draws.replications), usual))
    generation = np.rint(found).astype(np.int64)
    each = {int(g): GENERATIONS.index(wireless.standard_of(int(g))) for g in np.unique(generation)}
    return np.array([each[g] for g in generation.tolist()])


def _numbers(
    wireless: Wireless, number_of: dict[Mode, int], standard: Ints, streams: Ints, mcs: Floats | None
) -> Ints:
    """Return the numbers of modes [n]; without `mcs` those of the highest one."""
    best = np.full(len(streams), -1) if mcs is None else np.broadcast_to(np.rint(mcs), len(streams))
    each = np.stack([standard, streams, best], axis=1).astype(np.int64)
    distinct, number = np.unique(each, axis=0, return_inverse=True)
    found = []
    for k, s, m in distinct.tolist():
        highest = wireless.best_mcs(s, GENERATIONS[k]) if m < 0 else m
        found.append(number_of[wireless.mode(s, highest, GENERATIONS[k])])
    return np.array(found)[number.reshape(-1)]


def _range(
    wireless: Wireless, number_of: dict[Mode, int], standard: Ints, streams: Ints
) -> tuple[Ints, Ints]:
    """Return the first and the last row of the rate table [n] that rate control may use."""
    fewest = np.ones_like(streams) if wireless.varies_streams else streams
    first = _numbers(wireless, number_of, standard, fewest, np.zeros(len(streams)))
    last = _numbers(wireless, number_of, standard, streams, None)
    return len(ANSWER_RATES) + first, len(ANSWER_RATES) + last
