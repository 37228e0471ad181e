"""PHY of 802.11n, ac, ax and be against published tables of rates and against PPDUs of ns-3 3.37."""

import contextlib
import csv
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import Rate
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.phy.ppdu import Mode, Ppdu, ppdu
from netcarlo.networks.wireless.phy.rates import row, table
from netcarlo.networks.wireless.phy.tables import sensitivity_dbm, tables

RATES = Path(__file__).parent / "wifi_rates.csv"
"""Rates of IEEE 802.11-2020 (Tables 19-27 to 19-34 and 21-29 to 21-60), 802.11ax-2021 (Tables 27-79 ff.) and
802.11be-2024 (Tables 36-76 ff.), as published in tables of vendors."""
CASES = Path(__file__).parent / "ns3_ppdus.csv"
"""PPDUs and BlockAcks seen in ns-3 3.37."""


def mode_of(line: dict[str, str]) -> Mode:
    return Mode(line["standard"], *(int(line[key]) for key in ("width_mhz", "streams", "mcs", "guard_ns")))


def test_rates_are_those_of_the_standards() -> None:
    wrong, compared = {}, 0
    for line in csv.DictReader(RATES.read_text().splitlines()):
        for mcs in range(14):
            if published := line[f"mcs_{mcs}_mbps"]:
                mode = mode_of({**line, "mcs": str(mcs)})
                compared += 1
                try:
                    found = ppdu(mode, "6 GHz" if mode.width == 320 else "5 GHz").rate_mbps
                except InputError as error:
                    if published != "excluded" or f"write mcs: {mcs - 1}" not in str(error):
                        wrong[mode] = error, published
                else:
                    if published == "excluded" or abs(found - float(published)) > 0.05 + 1e-9:
                        wrong[mode] = found, published
    assert compared > 250
    assert not wrong


def test_ppdus_and_answers_are_those_of_ns3() -> None:
    wrong = {}
    lines = list(csv.DictReader(CASES.read_text().splitlines()))
    for line in lines:
        mode = mode_of(line)
        found = ppdu(mode, behaviour="ns3")
        numbers = [found.preamble / 1e3, found.symbol / 1e3, float(found.bits), found.rate_mbps]
        names = ["preamble_us", "symbol_us", "bits_per_symbol", "rate_mbps"]
        if line["window"]:
            rates = table([mode], behaviour="ns3")
            answer = rates[rates[-1, Rate.ANSWER]]
            numbers.append(dot11.time_on_air(answer, tables()["block_ack"][int(line["window"])]) / 1e3)
            names.append("block_ack_us")
        seen = [float(line[name]) for name in names]
        if seen != pytest.approx(numbers, rel=1e-5, abs=5e-4):
            wrong[mode] = numbers, seen
    assert len(lines) > 60
    assert not wrong


@pytest.mark.parametrize(
    ("mode", "band", "preamble_us", "symbol_us", "bits", "extra_bits"),
    [
        (Mode("802.11n", 40, 3, 5, 400), "2.4 GHz", 32 + 4 * 4, 3.6, 1296, 16 + 2 * 6),  # 324 Mbit/s: N_ES 2
        (Mode("802.11n", 20, 1, 7, 800), "5 GHz", 36, 4, 260, 16 + 6),
        (Mode("802.11ac", 80, 3, 9, 800), "5 GHz", 36 + 4 * 4, 4, 4680, 16 + 3 * 6),
        (Mode("802.11ac", 160, 4, 7, 800), "5 GHz", 36 + 4 * 4, 4, 9360, 16 + 6 * 6),  # exception: not 5
        (Mode("802.11ax", 20, 4, 9, 1600), "5 GHz", 36 + 4 * 8, 14.4, 6240, 16 + 6),  # BCC
        (Mode("802.11ax", 20, 1, 10, 800), "6 GHz", 36 + 7.2, 13.6, 1755, 16),  # LDPC
        (Mode("802.11ax", 80, 5, 9, 3200), "5 GHz", 36 + 6 * 16, 16, 32666, 16),
        (Mode("802.11be", 320, 2, 13, 800), "6 GHz", 44 + 2 * 7.2, 13.6, 78400, 16),
    ],
)
def test_ppdus_of_the_standards(
    mode: Mode, band: str, preamble_us: float, symbol_us: float, bits: int, extra_bits: int
) -> None:
    found = ppdu(mode, band)
    assert (found.preamble, found.symbol) == (round(1e3 * preamble_us), round(1e3 * symbol_us))
    assert (found.bits, found.extra_bits) == (bits, extra_bits)
    assert found.extension == (6000 if band == "2.4 GHz" else 0)


def test_encoders_of_vht() -> None:
    """IEEE 802.11-2020, Tables 21-29 to 21-60: combinations with more encoders than one per 540 Mbit/s."""
    more = {}
    for width, streams, mcs in itertools.product((20, 40, 80, 160), range(1, 9), range(10)):
        with contextlib.suppress(InputError):
            found = ppdu(Mode("802.11ac", width, streams, mcs, 800))
            encoders = (found.extra_bits - 16) // 6
            if encoders != math.ceil(found.bits / 2160):
                more[width, streams, mcs] = encoders
    assert more == {
        (80, 7, 2): 3, (80, 7, 7): 6, (80, 7, 8): 6, (80, 8, 7): 6, (160, 4, 7): 6, (160, 5, 8): 8,
        (160, 6, 7): 8, (160, 7, 4): 6, (160, 7, 7): 9, (160, 7, 8): 12, (160, 7, 9): 12, (160, 8, 5): 8,
        (160, 8, 8): 12,
    }  # fmt: skip


def test_a_rate_table_has_the_rates_of_responses_first() -> None:
    modes = [Mode("802.11ac", 20, 1, mcs, 400) for mcs in (0, 2, 3)] + [Mode("802.11n", 20, 1, 7, 800)]
    rates = table(modes, "5 GHz")
    assert rates[:, Rate.ANSWER].tolist() == [0, 1, 2, 0, 1, 2, 2]
    assert rates[:, Rate.DELIMITED].tolist() == [0, 0, 0, 1, 1, 1, 0]
    assert [dot11.time_on_air(rate, 14) for rate in rates[:3]] == [44_000, 32_000, 28_000]
    assert dot11.time_on_air(table([], "2.4 GHz")[2], 14) == 34_000


@pytest.mark.parametrize("behaviour", ["standard", "ns3"])
def test_a_row_has_the_durations_of_its_ppdu(behaviour: str) -> None:
    for mode in (
        Mode("802.11n", 20, 1, 3, 400),
        Mode("802.11ac", 80, 2, 9, 800),
        Mode("802.11ax", 80, 1, 9, 800),
    ):
        found = ppdu(mode, "5 GHz", behaviour)
        for size in (1, 1500, 65535):
            assert dot11.time_on_air(row(mode, "5 GHz", behaviour), size) == found.duration(size)


def test_durations_by_hand() -> None:
    """Symbols: ceil(8 (1538) + 22) / 260) = 48 of 802.11n; ceil((8 (1538) + 16) / 16333) = 1 of 802.11ax."""
    assert ppdu(Mode("802.11n", 20, 1, 7, 800), "2.4 GHz").duration(1538) == 36_000 + 48 * 4000 + 6000
    assert ppdu(Mode("802.11ax", 160, 1, 11, 800)).duration(1538) == 36_000 + 7200 + 13_600
    assert Ppdu(20_000, 4000, Fraction(24), 22, 0, 6).duration(14) == 44_000


def test_minimum_sensitivities() -> None:
    """IEEE 802.11ax-2021, Table 27-51; 802.11be-2024, 36.3.20.2."""
    assert [sensitivity_dbm(mcs, 20) for mcs in (0, 4, 7, 9, 11)] == [-82, -70, -64, -57, -52]
    assert [sensitivity_dbm(mcs, 80) for mcs in (0, 5, 11)] == [-76, -60, -46]
    assert sensitivity_dbm(13, 320) == -34
    assert np.all(np.diff([sensitivity_dbm(mcs, 160) for mcs in range(14)]) > 0)


@pytest.mark.parametrize(
    ("mode", "band", "text"),
    [
        (Mode("802.11ac", 20, 1, 0, 800), "2.4 GHz", "2.4 GHz is no band of 802.11ac; expected 5 GHz"),
        (Mode("802.11ax", 80, 1, 0, 800), "2.4 GHz", "channel = 80 MHz .* expected 20 MHz or 40 MHz"),
        (Mode("802.11ax", 80, 1, 0, 400), "5 GHz", "guard = 400 ns .* expected 800 ns, 1600 ns or 3200 ns"),
        (Mode("802.11n", 20, 5, 0, 400), "5 GHz", "streams = 5 is out of range for 802.11n; expected 1 to 4"),
        (Mode("802.11n", 20, 1, 15, 400), "5 GHz", "MCS 15 of 802.11n is mcs: 7, streams: 2"),
        (Mode("802.11ax", 20, 1, 12, 800), "5 GHz", "mcs = 12 is out of range for .* expected 0 to 11$"),
    ],
)
def test_modes_that_do_not_exist(mode: Mode, band: str, text: str) -> None:
    with pytest.raises(InputError, match=text):
        ppdu(mode, band)
