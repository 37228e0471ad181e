"""Stations of several Wi-Fi generations, and rate control of 802.11n and later."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import estimate
from netcarlo.kernels.wireless.layout import Agreement, Link, Radio, Rate
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.aggregation import goodput_bps
from netcarlo.networks.wireless.phy.ppdu import Mode
from netcarlo.networks.wireless.phy.rates import row
from netcarlo.scenario import Scenario
from tests.networks.test_wifi_aggregation import sender
from tests.networks.test_wifi_directions import links, rows_of


def modes(wireless: dict[str, Any], count: int = 1) -> list[Mode]:
    """Return the modes of the links to the gateway of the first row."""
    net, rows = rows_of(wireless, count)
    return [net.modes[row - 3] for row in links(rows, Link.RATE)[0, ::2]]


def agreements(wireless: dict[str, Any], *columns: Agreement) -> Any:
    """Return columns of the agreements of the first row."""
    _, rows = rows_of(wireless, 1)
    first, count = int(rows.parameters[0, Radio.AGREEMENTS_AT]), int(rows.parameters[0, Radio.AGREEMENTS])
    found = rows.network[0, first : first + count * len(Agreement)].reshape(count, -1)
    return found[:, list(columns)].tolist()


@pytest.mark.parametrize(
    ("band", "channel", "expected"),
    [
        ("2.4 GHz", "20 MHz", [("802.11n", 20, 7), ("802.11n", 20, 7), *2 * [("802.11ax", 20, 11)]]),
        ("5 GHz", "160 MHz", [("802.11n", 40, 7), ("802.11ac", 160, 9), *2 * [("802.11ax", 160, 11)]]),
    ],
)  # fmt: skip
def test_a_link_has_the_older_standard_of_both_ends(band: str, channel: str, expected: Any) -> None:
    each = [{"generation": number} for number in (4, 5, 6, 7)]
    wireless = {"standard": "802.11ax", "band": band, "channel": channel, "guard": "1600 ns"}
    found = modes({**wireless, "cell": {"stations": 4}, "each": each})
    assert [(mode.standard, mode.width, mode.mcs) for mode in found] == expected
    assert [mode.guard for mode in found] == [1600 if m.standard == "802.11ax" else 800 for m in found]


def test_agreements_have_the_limits_of_the_older_standard() -> None:
    each = [{"generation": 4}, {"generation": 5}, {}]
    wireless = {"standard": "802.11be", "cell": {"stations": 3}, "each": each}
    found = agreements(wireless, Agreement.WINDOW, Agreement.BA_BYTES, Agreement.PSDU)
    assert found == [[64, 32, 65535], [64, 32, 1048575], [1024, 152, 15523200]]


def test_generations_are_drawn() -> None:
    each = {"generation": {"choice": [4, 5, 6]}, "streams": {"integers": [1, 2]}}
    net, rows = rows_of({"standard": "802.11ax", "cell": {"stations": 4}, "each": each}, 50)
    found = {net.modes[row - 3][:3] for row in links(rows, Link.RATE).flat}
    standards = ("802.11n", 40), ("802.11ac", 80), ("802.11ax", 80)
    assert found == {(*each, streams) for each in standards for streams in (1, 2)}


def test_old_stations_do_not_use_6_ghz() -> None:
    wireless = {"standard": "802.11ax", "band": "6 GHz", "cell": {"stations": 1}, "each": {"generation": 5}}
    with pytest.raises(InputError, match=r"each\.generation can be 5, which does not use 6 GHz; write gen"):
        rows_of(wireless)


def test_stations_of_802_11a_and_g_use_their_own_bands() -> None:
    wireless = {"standard": "802.11ax", "cell": {"stations": 1}, "each": {"generation": 3}}
    with pytest.raises(InputError, match=r"can be 3, which does not use 5 GHz; write generation: 2"):
        rows_of(wireless)
    assert modes({**wireless, "each": {"generation": 2}})[0].standard == "802.11a"


@pytest.mark.parametrize("mcs", range(7))
def test_frames_of_802_11g_last_as_long_as_in_a_network_of_802_11g(mcs: int) -> None:
    mode = Mode("802.11g", 20, 1, mcs, 800)
    rate = (6, 12, 18, 24, 36, 48, 54)[mcs]
    expected = dot11.row(rate * 1e6, "802.11g", short_preamble=False)
    columns = [Rate.SYMBOL, Rate.SIXTH_BITS, Rate.EXTRA_BITS, Rate.PREAMBLE, Rate.EXTENSION]
    assert row(mode, "2.4 GHz")[columns].tolist() == expected[columns].tolist()


MIXED: dict[str, Any] = {
    "standard": "802.11ax", "band": "2.4 GHz", "streams": 2, "cell": {"stations": 3},
    "each": [{"generation": 3}, {}, {"generation": 3, "mcs": 2}],
}  # fmt: skip


def test_only_newer_stations_aggregate_and_protect_their_frames() -> None:
    found = [(mode.standard, mode.streams, mode.mcs) for mode in modes(MIXED)]
    assert found == [("802.11g", 1, 6), ("802.11ax", 2, 11), ("802.11g", 1, 2)]
    columns = Agreement.BLOCK_ACK, Agreement.RTS_THRESHOLD
    assert agreements(MIXED, *columns) == [[0, 1 << 30], [1, 0], [0, 1 << 30]]
    assert agreements({**MIXED, "each": {}}, *columns) == 3 * [[1, 1 << 30]]


@pytest.mark.full
def test_a_protected_exchange_takes_the_time_of_the_standard() -> None:
    """Beside an idle 802.11g station, an 802.11ax station must protect each PPDU; the 802.11g station need
    not.
    """
    saturated = {"saturated": True, "udp": {"rate": "1 Mbit/s", "payload": "1472 B"}}
    for source, (old, mode) in enumerate(
        [(True, Mode("802.11g", 20, 1, 6, 800)), (False, Mode("802.11ax", 20, 2, 11, 800))]
    ):
        cell = sender(
            mode, 1472, "standard", "2.4 GHz", sifs=10_000, window=256, ampdu=0 if old else 6_500_631,
            rts_threshold=1 << 30 if old else 0,
        )  # fmt: skip
        expected = goodput_bps(cell, payload=1472, aifs=37_000, slot=9000, cw_min=15)
        wireless = {
            **MIXED, "edca": {"best_effort": {"txop": "0 s"}}, "flows": [{"source": source, **saturated}],
        }  # fmt: skip
        scenario = {
            "duration": "4 s", "replications": 4, "wireless": wireless,
            "transport": {"protocol": "udp", "rate": "1 Mbit/s"},
        }  # fmt: skip
        found = estimate(Scenario.check(scenario)).to_frame().loc["goodput_bps", "mean"]
        assert found == pytest.approx(expected[0], rel=2e-3)


def test_rate_control_has_the_losses_of_each_rate() -> None:
    wireless = {
        "standard": "802.11ax", "streams": 2, "rate_control": "minstrel", "frame_error": 0.1,
        "places": [{"x": "20 m"}, {"x": "0 m"}], "path_loss": {"exponent": 3.5},
    }  # fmt: skip
    net, rows = rows_of(wireless, 1)
    at, count = int(rows.parameters[0, Radio.ERRORS_AT]), int(rows.parameters[0, Radio.RATES])
    errors = rows.network[0, at + 3 : at + count] / 2**32
    assert [mode.streams for mode in net.modes] == [1] * 12 + [2] * 12
    assert np.all(np.diff(errors[:12]) >= 0)
    assert np.all(errors[12:] >= errors[:12])
    assert errors[0] == pytest.approx(0.1)
    assert errors[-1] == 1
    assert links(rows, Link.LOWEST)[0].tolist() == [3, 3]
    assert links(rows, Link.HIGHEST)[0].tolist() == [26, 26]


def test_minstrel_is_refused_with_older_standards() -> None:
    with pytest.raises(InputError, match=r"minstrel is not supported with 802\.11g; write aarf"):
        rows_of({"cell": {"stations": 1}, "rate_control": "minstrel"})


@pytest.mark.full
@pytest.mark.parametrize("distance", [8, 25])
def test_minstrel_comes_near_the_best_mode(distance: int) -> None:
    def goodput(control: str) -> float:
        wireless = {
            "standard": "802.11ax", "streams": 2, "rate_control": control,
            "places": [{"x": f"{distance} m"}, {"x": "0 m"}], "path_loss": {"power_dbm": 15, "exponent": 3.5},
            "flows": [{"saturated": True, "udp": {"rate": "1 Mbit/s", "payload": "1472 B"}}],
        }  # fmt: skip
        scenario = {
            "duration": "2 s", "warm_up": "1 s", "replications": 4, "wireless": wireless,
            "transport": {"protocol": "udp", "rate": "1 Mbit/s"},
        }  # fmt: skip
        return float(estimate(Scenario.check(scenario)).to_frame().loc["goodput_bps", "mean"])

    best = goodput("fixed")
    assert 0.94 * best < goodput("minstrel") < 1.01 * best
    assert goodput("aarf") < 0.9 * best  # a BlockAck counts as success, even if MPDUs were lost
