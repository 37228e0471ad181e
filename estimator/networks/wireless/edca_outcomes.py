"""Outcomes of 802.11n, ac, ax and be: aggregation, retries, Block Ack and airtime by access category."""

from functools import partial
from typing import Any

import numpy as np

from netcarlo.kernels.wireless.layout import CategoryOut
from netcarlo.networks.causes import Fields
from netcarlo.networks.outcome import LESS, MORE, NEITHER, SHARE, By, Otherwise, Outcome
from netcarlo.networks.wireless.output import WifiOutput
from netcarlo.networks.wireless.phy.tables import CATEGORIES
from netcarlo.numerics.arrays import Bools, Floats, divisors


def _outcome(name: str, column: Any, better: Any, meaning: str, *more: Any, **fields: Any) -> Outcome:
    asked = {"when": WifiOutput.has_edca, **fields}
    outcome = Outcome(name, column, better, meaning, *more, **asked)
    return outcome._replace(otherwise=Otherwise.ABSENT, fluid=False)


def _sum(out: WifiOutput, column: CategoryOut) -> Floats:
    return np.asarray(out.categories[:, :, :, column].sum(axis=(1, 2)))


def _per_ppdu(out: WifiOutput, *, gateway: bool) -> Floats:
    of_gateway = np.arange(out.categories.shape[1]) == out.gateway[:, None]
    chosen = (of_gateway == gateway)[:, :, None]
    mpdus, ppdus = (
        np.where(chosen, out.categories[:, :, :, column], 0).sum(axis=(1, 2))
        for column in (CategoryOut.MPDUS, CategoryOut.PPDUS)
    )
    return np.where(ppdus > 0, mpdus / divisors(ppdus), np.nan)


def _retried(out: WifiOutput) -> Floats:
    return np.asarray(_sum(out, CategoryOut.RETRIED) / divisors(_sum(out, CategoryOut.MPDUS)))


def _air(out: WifiOutput, category: int) -> Floats:
    air = out.categories[:, :, category, CategoryOut.AIR].sum(axis=1)
    return np.asarray(air / out.time_ns)


def _uses(out: WifiOutput, category: int) -> Bools:
    return out.has_category(category)


def _air_of_stations(out: WifiOutput) -> Floats:
    air = np.take_along_axis(out.station_air, out.station, axis=1)
    return np.where(out.there, air, np.nan)


def _airtime_fairness(out: WifiOutput) -> Floats:
    row, flow = np.nonzero(out.there)
    counts = np.zeros(out.station_air.shape)
    counts[row, out.station[row, flow]] = 1.0
    air = out.station_air * counts
    return np.asarray(air.sum(axis=1) ** 2 / divisors(counts.sum(axis=1) * (air**2).sum(axis=1)))


OUTCOMES = (
    _outcome(
        "ppdus", partial(_sum, column=CategoryOut.PPDUS), NEITHER, "PPDUs with data sent, all nodes",
        label="PPDUs",
    ),
    _outcome(
        "mpdus_per_ppdu_gateway", partial(_per_ppdu, gateway=True), NEITHER, "MPDUs in a PPDU with data of "
        "the gateway", label="MPDUs per PPDU of the gateway",
    ),
    _outcome(
        "mpdus_per_ppdu_stations", partial(_per_ppdu, gateway=False), NEITHER, "MPDUs in a PPDU with data of "
        "the stations", label="MPDUs per PPDU of the stations",
    ),
    _outcome(
        "retried_mpdu_ratio", _retried, LESS, "share of the MPDUs sent that had been sent before", SHARE,
    ),
    _outcome(
        "block_ack_requests", partial(_sum, column=CategoryOut.REQUESTS), LESS, "BlockAckReq frames sent",
        cause=Fields("block_ack_request"),
    ),
    _outcome(
        "internal_collisions", partial(_sum, column=CategoryOut.INTERNAL), LESS, "collisions between access "
        "categories of a node",
    ),
    _outcome(
        "drops_codel", partial(_sum, column=CategoryOut.EARLY), LESS, "packets that CoDel dropped",
        cause=Fields("fq_codel"), label="drops by CoDel",
    ),
    _outcome(
        "airtime_fairness", _airtime_fairness, MORE, "Jain's index of the airtimes of the stations of the "
        "flows, PPDUs with data from and to each: 1 if they are equal", SHARE,
    ),
    _outcome(
        "air_station", lambda out: np.nanmax(_air_of_stations(out), axis=1), NEITHER,
        "share of the time that PPDUs with data from and to the station that uses most take", SHARE,
        by=(By("flows", _air_of_stations),), label="airtime of one station",
    ),
    *(
        _outcome(
            f"air_{name}", partial(_air, category=number), NEITHER, "share of the time that PPDUs with data "
            f"of {name.replace('_', ' ')} take, summed over the nodes", when=partial(_uses, category=number),
            label=f"airtime of {name.replace('_', ' ')}",
        )
        for number, name in enumerate(CATEGORIES)
    ),
)  # fmt: skip
"""Outcomes that networks with EDCA have."""
