"""Exchanges of one saturated station: by hand, and as measured in ns-3 3.37."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from netcarlo.networks.wireless.aggregation import Sender, goodput_bps, opportunity
from netcarlo.networks.wireless.phy.ppdu import Mode
from netcarlo.networks.wireless.phy.rates import answer_row, table
from netcarlo.networks.wireless.phy.tables import tables

UNLIMITED = 1 << 30


def sender(mode: Mode, payload: int, behaviour: str, band: str = "5 GHz", **fields: Any) -> Sender:
    rates = table([mode], band, behaviour)
    data, window = rates[-1], fields.get("window", 64)
    values = {
        "data": data, "answer": rates[data[5]], "rts": rates[answer_row(24)], "cf_end": rates[answer_row(6)],
        "packet": payload + 28, "sifs": 16_000, "ampdu": 65_535, "amsdu": 0, "window": window,
        "block_ack": tables()["block_ack"][window], "txop": 0, "most_time": tables()["most_time"],
        "rts_threshold": UNLIMITED,
    }  # fmt: skip
    return Sender(**(values | fields))


@pytest.mark.parametrize(
    ("mode", "payload", "fields", "mpdus", "mbps"),
    [
        (Mode("802.11n", 40, 2, 7, 400), 1000, {}, 61, 250.964),
        (Mode("802.11n", 20, 2, 3, 800), 300, {"ampdu": 8191}, 22, 36.2016),
        (Mode("802.11ac", 20, 1, 1, 800), 700, {"rts_threshold": 0}, 11, 11.1544),
        (Mode("802.11ax", 80, 2, 11, 800), 1472, {"ampdu": 4_194_303, "window": 256}, 256, 1055.22),
        (Mode("802.11ax", 40, 2, 6, 1600), 1472, {"ampdu": 1_048_575, "window": 256, "rts_threshold": 0}, 128,
         263.477),
    ],
)  # fmt: skip
def test_single_stations_in_ns3(
    mode: Mode, payload: int, fields: dict[str, Any], mpdus: int, mbps: float
) -> None:
    """Goodput of ns-3 with its mean backoff of 7.5 slots; its runs are within 0.1 %."""
    cell = sender(mode, payload, "ns3", **fields)
    assert opportunity(cell).mpdus.tolist() == [mpdus]
    found = goodput_bps(cell, payload=payload, aifs=43_000, slot=9000, cw_min=15)
    assert found / 1e6 == pytest.approx(mbps, rel=1e-5)


class Cell(NamedTuple):
    """Cell with the durations of its PPDUs from the tables of the standard [us]."""

    mode: Mode
    preamble: float
    bits: int
    extra: int
    ack: int
    block_ack: int
    payload: int = 1472
    ampdu: int = 65_535
    window: int = 64
    amsdu: int = 0
    txop: int = 0
    rts: bool = False


CELLS = [
    Cell(Mode("802.11n", 20, 1, 0, 800), 36, 26, 22, 44, 68),
    Cell(Mode("802.11n", 20, 1, 7, 800), 36, 260, 22, 28, 32),
    Cell(Mode("802.11n", 20, 4, 7, 400), 48, 1040, 22, 28, 32, payload=200),
    Cell(Mode("802.11n", 40, 1, 4, 800), 36, 324, 22, 28, 32, rts=True),
    Cell(Mode("802.11n", 40, 3, 7, 400), 48, 1620, 28, 28, 32, ampdu=32_767),
    Cell(Mode("802.11n", 40, 2, 7, 800), 40, 1080, 22, 28, 32, payload=999, amsdu=7935),
    Cell(Mode("802.11n", 40, 2, 1, 800), 40, 216, 22, 32, 44, ampdu=0),
    Cell(Mode("802.11ac", 20, 1, 8, 400), 40, 312, 22, 28, 32, ampdu=0),
    Cell(Mode("802.11ac", 80, 1, 9, 400), 40, 1560, 22, 28, 32, ampdu=1_048_575),
    Cell(Mode("802.11ac", 80, 2, 5, 800), 44, 1872, 22, 28, 32, txop=4096, payload=1000),
    Cell(Mode("802.11ac", 80, 3, 9, 800), 52, 4680, 34, 28, 32, ampdu=1_048_575, amsdu=11_000),
    Cell(Mode("802.11ac", 160, 4, 7, 800), 52, 9360, 52, 28, 32, ampdu=1_048_575, rts=True),
    Cell(Mode("802.11ax", 20, 1, 9, 800), 43.2, 1560, 22, 28, 40, window=256),
    Cell(Mode("802.11ax", 20, 1, 11, 1600), 44, 1950, 16, 28, 40, window=256, ampdu=6_500_631),
    Cell(Mode("802.11ax", 80, 1, 11, 800), 43.2, 8166, 16, 28, 40, window=256, ampdu=6_500_631),
    Cell(Mode("802.11ax", 80, 2, 9, 3200), 68, 13_066, 16, 28, 40, window=256, ampdu=6_500_631, amsdu=3000),
    Cell(Mode("802.11ax", 160, 2, 11, 800), 50.4, 32_666, 16, 28, 40, window=256, ampdu=6_500_631),
    Cell(Mode("802.11ax", 40, 2, 0, 1600), 52, 468, 16, 44, 100, window=256, txop=2528),
    Cell(Mode("802.11ax", 80, 2, 11, 800), 50.4, 16_333, 16, 28, 40, payload=160, ampdu=0, txop=2080),
    Cell(Mode("802.11be", 160, 2, 13, 800), 58.4, 39_200, 16, 28, 72, window=1024, ampdu=15_523_200),
]


def by_hand(cell: Cell) -> tuple[int, int, float]:
    """Return MPDUs, MSDUs and duration [us] of a TXOP, MPDU after MPDU."""
    left = cell.txop or math.inf
    symbol = cell.mode.guard / 1000 + (3.2 if cell.mode.standard in ("802.11n", "802.11ac") else 12.8)
    mpdus = msdus = 0
    time = 0.0
    while True:
        gap = 16 if time else 0
        before = gap + (28 + 16 + 28 + 16 if cell.rts else 0)

        def duration(size: int) -> float:
            return cell.preamble + symbol * math.ceil((8 * size + cell.extra) / cell.bits)

        def fits(size: int, left: float = left - before - 16 - cell.block_ack) -> bool:
            return duration(size) <= min(5484, left) and (not cell.ampdu or size <= cell.ampdu)

        def subframes(msdus: int) -> int:
            one = 14 + 8 + cell.payload + 28
            return one * msdus + -one % 4 * (msdus - 1)

        size, count, packed = 0, 0, 0
        while count < (cell.window if cell.ampdu else 1):
            start = size + -size % 4 + 4 if cell.ampdu else 0
            end, inside = start + cell.payload + 66, 1
            if count and not fits(end):
                break
            while subframes(inside + 1) <= cell.amsdu and fits(start + 30 + subframes(inside + 1)):
                inside += 1
                end = start + 30 + subframes(inside)
            size, count, packed = end, count + 1, packed + inside
        if count == 1:
            size += (4 if cell.mode.standard != "802.11n" else 0) - (4 if cell.ampdu else 0)
        answer = cell.ack if count == 1 else cell.block_ack
        whole = before + duration(size) + 16 + answer
        if mpdus and whole > left:
            break
        mpdus, msdus, time, left = mpdus + count, msdus + packed, time + whole, left - whole
        if not cell.txop:
            return mpdus, msdus, time
    return mpdus, msdus, time + (16 + 52 if left >= 16 + 52 else 0)


def made(cell: Cell) -> Sender:
    return sender(
        cell.mode, cell.payload, "standard", ampdu=cell.ampdu, amsdu=cell.amsdu, window=cell.window,
        txop=1000 * cell.txop, rts_threshold=0 if cell.rts else UNLIMITED,
    )  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: "-".join(map(str, cell.mode)))
def test_single_stations_by_hand(cell: Cell) -> None:
    mpdus, msdus, time = by_hand(cell)
    found = opportunity(made(cell))
    assert (found.mpdus.tolist(), found.msdus.tolist()) == ([mpdus], [msdus])
    assert found.success[0] / 1000 == pytest.approx(time, abs=1e-6)
    goodput = goodput_bps(made(cell), payload=cell.payload, aifs=43_000, slot=9000, cw_min=15)
    assert goodput[0] == pytest.approx(8e6 * cell.payload * msdus / (43 + 7.5 * 9 + time), rel=1e-9)


def test_many_cells_at_once_are_the_same_as_each() -> None:
    senders = [made(cell) for cell in CELLS]
    together = opportunity(Sender(*(np.stack(parts) for parts in zip(*senders, strict=True))))
    for k, one in enumerate(senders):
        assert [part[k] for part in together] == [part[0] for part in opportunity(one)]


def test_a_collision_takes_the_first_frame() -> None:
    mode = Mode("802.11n", 20, 1, 7, 800)
    plain, announced = (opportunity(sender(mode, 1472, "ns3", rts_threshold=size)) for size in (UNLIMITED, 0))
    assert announced.collision.tolist() == [28_000]
    assert plain.collision == plain.success - 16_000 - 32_000
