"""Bianchi's model with EDCA and A-MPDUs: limits, invariance, and saturated cells of ns-3 3.37."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from netcarlo.networks.wireless.aggregation import Sender, goodput_bps
from netcarlo.networks.wireless.bianchi_edca import Contenders, Saturation, contenders, saturation
from netcarlo.networks.wireless.phy.ppdu import Mode
from netcarlo.networks.wireless.phy.rates import answer_row, table
from netcarlo.networks.wireless.phy.tables import tables

TIMES = {"slot": 9000, "aifs": 43_000, "timeout": 45_000}
TOLERANCE = 0.02


class Cell(NamedTuple):
    """Saturated cell of ns-3: MCS by station, and the goodput of all of them [Mbit/s]."""

    standard: str
    width: int
    streams: int
    guard: int
    mcs: list[int]
    payload: int
    mbps: float
    collided: float
    """Share of the data PPDUs that collided; 0 with RTS."""
    ampdu: int = 65_535
    amsdu: int = 0
    window: int = 64
    rts: bool = False
    requests: bool = True


CELLS = [
    Cell("802.11ax", 20, 1, 1600, [4] * 3, 1472, 42.1175, 0, ampdu=16_383, rts=True),
    Cell("802.11ax", 40, 2, 800, [0] * 2, 294, 24.3496, 0.118, ampdu=16_383),
    Cell("802.11ax", 40, 2, 800, [10] * 5, 1472, 212.858, 0.270, ampdu=16_383, amsdu=7935, window=256),
    Cell("802.11ax", 80, 2, 1600, [5] * 2, 1001, 489.609, 0, ampdu=1_048_575, amsdu=7935, rts=True),
    Cell("802.11ax", 40, 2, 3200, [5, 1, 10, 7], 959, 128.325, 0.234, ampdu=4_194_303),
    Cell("802.11ax", 40, 2, 3200, [5] * 10, 253, 109.166, 0.424, ampdu=1_048_575, requests=False),
    Cell("802.11n", 40, 1, 400, [6, 1, 4, 6, 0, 4, 7, 5, 4, 5, 3, 3, 0, 4], 712, 24.2542, 0.426, ampdu=8191),
    Cell("802.11ac", 40, 1, 800, [1] * 4, 1472, 21.13, 0.224, ampdu=262_143),
    Cell("802.11n", 20, 2, 800, [1] * 7, 1472, 17.5269, 0.324, ampdu=8191),
    Cell("802.11n", 40, 2, 800, [1] * 5, 792, 39.4791, 0.256),
]


def sender(cell: Cell, mcs: int) -> Sender:
    rates = table([Mode(cell.standard, cell.width, cell.streams, mcs, cell.guard)], behaviour="ns3")
    return Sender(
        rates[-1], rates[rates[-1, 5]], rates[answer_row(24)], rates[answer_row(6)], cell.payload + 28,
        16_000, cell.ampdu, cell.amsdu, cell.window, tables()["block_ack"][cell.window], 0,
        tables()["most_time"], 0 if cell.rts else 1 << 30,
    )  # fmt: skip


def groups(cell: Cell) -> Contenders:
    kinds = sorted(set(cell.mcs))
    senders = [sender(cell, mcs) for mcs in kinds]
    return contenders(
        Sender(*(np.stack([np.asarray(part) for part in parts]) for parts in zip(*senders, strict=True))),
        count=[cell.mcs.count(mcs) for mcs in kinds], payload=cell.payload, cw_min=15, cw_max=1023,
        requests=cell.requests,
    )  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.standard}-{len(cell.mcs)}")
def test_saturated_cells_of_ns3(cell: Cell) -> None:
    found = saturation(groups(cell), **TIMES)
    assert found.goodput_bps.sum() == pytest.approx(1e6 * cell.mbps, rel=TOLERANCE)
    if not cell.rts:
        collided = (found.data_per_s * found.collision_probability).sum() / found.data_per_s.sum()
        assert collided == pytest.approx(cell.collided, abs=0.02)


def test_a_lone_station_never_collides() -> None:
    cell = CELLS[-1]._replace(mcs=[7])
    found = saturation(groups(cell), **TIMES)
    expected = goodput_bps(sender(cell, 7), payload=cell.payload, aifs=43_000, slot=9000, cw_min=15)
    assert found.goodput_bps == pytest.approx(expected, rel=1e-12)
    assert found.collision_probability == pytest.approx([0])


def parted(whole: Contenders, parts: list[float]) -> Saturation:
    """Return the results of a single group divided into several."""
    fields: dict[str, Any] = {name: np.repeat(value, len(parts)) for name, value in whole._asdict().items()}
    return saturation(Contenders(**{**fields, "count": np.array(parts)}), **TIMES)


def test_equal_groups_are_one_group() -> None:
    whole = groups(CELLS[-1])
    found, divided = saturation(whole, **TIMES), parted(whole, [1.0, 4.0])
    assert divided.goodput_bps == pytest.approx(found.goodput_bps * [0.2, 0.8], rel=1e-9)
    assert divided.collision_probability == pytest.approx(np.repeat(found.collision_probability, 2), rel=1e-9)


def test_many_cells_at_once_are_the_same_as_each() -> None:
    some = [groups(CELLS[k]) for k in (0, 1, 5, 9)]
    stacked = (np.stack(np.broadcast_arrays(*map(np.atleast_1d, parts))) for parts in zip(*some, strict=True))
    together = saturation(Contenders(*stacked), **TIMES)
    for k, one in enumerate(some):
        assert together.goodput_bps[k] == pytest.approx(saturation(one, **TIMES).goodput_bps, rel=1e-12)


def test_more_stations_collide_more_often() -> None:
    whole = groups(CELLS[-1])
    p = [parted(whole, [float(n)]).collision_probability[0] for n in (2, 3, 5, 10, 20, 60)]
    assert p == sorted(p)
    assert 0.05 < p[0] < p[-1] < 0.9


def test_a_small_window_gets_a_larger_share() -> None:
    whole = groups(CELLS[-1])
    fields = {name: np.repeat(value, 2) for name, value in whole._asdict().items()}
    found = saturation(
        Contenders(**{**fields, "count": np.array([2, 2]), "cw_min": np.array([7, 15])}), **TIMES
    )
    assert 1.5 < found.goodput_bps[0] / found.goodput_bps[1] < 3
