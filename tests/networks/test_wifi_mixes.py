"""Stations of several Wi-Fi generations, and rate control of 802.11n and later."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import estimate
from netcarlo.kernels.wireless.layout import Agreement, Link, Radio
from netcarlo.networks.wireless.phy.ppdu import Mode
from netcarlo.scenario import Scenario
from tests.networks.test_wifi_directions import links, rows_of


def modes(wireless: dict[str, Any], count: int = 1) -> list[Mode]:
    """Return the modes of the links to the gateway of the first row."""
    net, rows = rows_of(wireless, count)
    return [net.modes[row - 3] for row in links(rows, Link.RATE)[0, ::2]]


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
    _, rows = rows_of({"standard": "802.11be", "cell": {"stations": 3}, "each": each}, 1)
    first, count = int(rows.parameters[0, Radio.AGREEMENTS_AT]), int(rows.parameters[0, Radio.AGREEMENTS])
    found = rows.network[0, first : first + count * len(Agreement)].reshape(count, -1)
    columns = found[:, [Agreement.WINDOW, Agreement.BA_BYTES, Agreement.PSDU]]
    assert columns.tolist() == [[64, 32, 65535], [64, 32, 1048575], [1024, 152, 15523200]]


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
    assert goodput("aarf") < 0.9 * best  # a BlockAck is a success, whatever was lost
