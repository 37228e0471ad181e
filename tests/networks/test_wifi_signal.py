"""Losses, streams and MCS of links by received power."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.loss import probabilities
from netcarlo.kernels.wireless.layout import Link, Node, WifiRows
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.phy.errors import frame_error, required_db
from netcarlo.networks.wireless.phy.tables import sensitivity_dbm
from tests.networks.test_wifi_directions import links, rows_of

NS3 = {
    0: {2.5: 2.04e-10, 3: 0.020, 4: 0.885, 5: 0.997},
    1: {6: 0.0174, 7: 0.881, 8: 0.997, 9: 0.999},
    2: {8.5: 2.85e-6, 9.5: 0.623, 10.5: 0.985},
    3: {12: 2.22e-7, 13: 0.495, 14: 0.974, 15: 0.999},
    4: {15.5: 0.012, 16.5: 0.818, 17.5: 0.993},
}
"""Success probabilities of frames of 2000 bytes by MCS and signal-to-noise ratio [dB], in the tests of ns-3
(`src/wifi/test/wifi-error-rate-models-test.cc`, NIST)."""


def pair(distance: float, power: float = 16, **fields: Any) -> tuple[Wireless, WifiRows]:
    """Return one station at a distance [m] with path loss exponent 2 and 60 dB over the first metre."""
    loss = {"power_dbm": power, "reference_db": 60, "exponent": 2, **fields.pop("path_loss", {})}
    places = [{"x": f"{distance} m"}, {"x": "0 m"}]
    return rows_of({"standard": "802.11ax", "places": places, "path_loss": loss, **fields}, 1)


def modes(net: Wireless, rows: WifiRows) -> list[tuple[int, int]]:
    """Return streams and MCS of the first link in both directions."""
    found = [net.modes[row - 3] for row in links(rows, Link.RATE)[0]]
    return [(mode.streams, mode.mcs) for mode in found]


def losses(rows: WifiRows) -> Any:
    return probabilities(rows.losses)[links(rows, Link.LOSS)[0]]


def test_frame_errors_are_those_of_ns3() -> None:
    for mcs, values in NS3.items():
        found = 1 - frame_error(mcs, np.array(list(values)), 2000)
        assert found == pytest.approx(list(values.values()), abs=1e-3)


def test_frame_errors_fall_with_the_signal_and_rise_with_size_and_mcs() -> None:
    snr = np.linspace(-10, 60, 71)
    errors = np.array([[frame_error(mcs, snr, size) for size in (100, 1500, 4096)] for mcs in range(14)])
    assert np.all(np.diff(errors, axis=2) <= 0)
    assert np.all(np.diff(errors, axis=1) >= 0)
    assert np.all(np.diff(errors, axis=0) >= 0)
    assert errors[:, :, 0].min() == 1
    assert errors[:, :, -1].max() == 0


def test_the_sensitivities_of_the_standard_are_those_of_a_noisy_receiver() -> None:
    """IEEE 802.11-2020, 17.3.10.2: noise figure of 10 dB and implementation margin of 5 dB."""
    noise = -174 + 10 * np.log10(20e6) + 10 + 5
    gaps = [sensitivity_dbm(mcs, 20) - (noise + required_db(mcs)) for mcs in range(14)]
    assert -4 < min(gaps) <= max(gaps) < 0


@pytest.mark.parametrize("mcs", [0, 5, 11])
@pytest.mark.parametrize("width", [20, 80])
def test_a_minimum_receiver_loses_a_tenth_at_the_sensitivity(mcs: int, width: int) -> None:
    loss = {"receiver": "minimum", "decode_dbm": -100}
    power = 60 + 20 + sensitivity_dbm(mcs, width)  # 10 m
    net, rows = pair(10, power, mcs=mcs, channel=f"{width} MHz", path_loss=loss, mac_overhead="2596 B")
    assert modes(net, rows) == [(1, mcs), (1, mcs)]
    assert losses(rows) == pytest.approx([0.1, 0.1], abs=0.03)


def test_the_signal_chooses_streams_and_mcs() -> None:
    found = {power: modes(*pair(10, power, streams=2))[0] for power in range(-10, 60, 10)}
    rates = [streams * (mcs + 1) for streams, mcs in found.values()]
    assert rates == sorted(rates)
    assert found[-10] == (1, 0)
    assert found[50] == (2, 11)
    assert {streams for streams, _ in found.values()} == {1, 2}


def test_the_mode_has_the_greatest_goodput() -> None:
    for power in (0, 10, 20):
        net, rows = pair(10, power)
        chosen = modes(net, rows)[0][1]
        goodput = [1 - losses(pair(10, power, mcs=mcs)[1])[0] for mcs in range(12)]
        goodput = [rate * good for rate, good in zip(net.mode_rates[3:], goodput, strict=True)]
        assert chosen == int(np.argmax(goodput))


def test_noise_grows_with_the_width_and_the_noise_figure() -> None:
    def lost(power: float, figure: float, channel: str) -> float:
        loss = {"noise_figure_db": figure, "decode_dbm": -120}
        return float(losses(pair(10, power, mcs=6, channel=channel, path_loss=loss)[1])[0])

    some = lost(4.1, 3, "20 MHz")
    assert 0.01 < some < 0.99
    assert lost(13.1, 12, "20 MHz") == some
    assert lost(4.1 + 9, 3, "160 MHz") == some  # 10 log 8


def test_a_gateway_with_more_power_reaches_stations_at_a_higher_rate() -> None:
    net, rows = pair(30, 10, path_loss={"gateway_power_dbm": 20})
    (_, up), (_, down) = modes(net, rows)
    assert up < down
    assert modes(*pair(30, 20)) == [(1, down), (1, down)]


def test_walls_attenuate() -> None:
    """Two walls of 10 dB weaken the signal as ten times the distance with exponent 2."""
    net, rows = pair(9, path_loss={"rooms": "4 m", "wall_db": 10})
    far, there = pair(90)
    assert modes(net, rows) == modes(far, there)
    assert losses(rows) == pytest.approx(losses(there))


def test_a_station_senses_what_it_can_decode() -> None:
    """The sensitivity is -89.7 dBm: -174 dBm/Hz, 20 MHz, noise figure 7 dB, and 4.3 dB for MCS 0.

    With 60 dB over the first metre and exponent 2, 0 dBm reach this at 30.5 m.
    """
    for distance, hears in ((30, True), (31, False)):
        loss = {"power_dbm": 0, "reference_db": 60, "exponent": 2}
        places = [{"x": f"{distance} m"}, {"x": "0 m"}]
        _, rows = rows_of({"standard": "802.11n", "places": places, "path_loss": loss, "mcs": 0}, 1)
        assert bool(rows.nodes[0, 0, Node.SENSE]) == hears
        assert bool(rows.nodes[0, 0, Node.NEAR]) == hears


def test_signals_have_no_meaning_with_older_standards() -> None:
    loss = {"noise_figure_db": 5, "receiver": "minimum"}
    with pytest.raises(InputError, match=r"path_loss.receiver has no meaning with 802.11g") as caught:
        rows_of({"places": [{"x": "1 m"}, {"x": "0 m"}], "path_loss": loss})
    assert len(caught.value.lines) == 2


def cells(*channels: int, apart: float = 30) -> WifiRows:
    """Return the row of two stations with an access point each; the second one is the gateway."""
    places = [
        {"x": "2 m", "next": 1, "channel": channels[0]}, {"x": "0 m", "channel": channels[0]},
        {"x": f"{apart + 2} m", "channel": channels[1]}, {"x": f"{apart} m", "channel": channels[1]},
    ]  # fmt: skip
    loss = {"power_dbm": 20, "exponent": 3}
    flows = [{"source": 0, "sink": 1}, {"source": 2, "sink": "gateway"}]
    wireless = {"standard": "802.11ax", "places": places, "path_loss": loss, "flows": flows}
    return rows_of(wireless, 1)[1]


@pytest.mark.parametrize(("channels", "hears"), [((36, 36), True), ((36, 37), True), ((36, 40), False)])
def test_cells_share_a_channel_or_hear_neighbouring_ones(channels: tuple[int, int], hears: bool) -> None:
    """The access points receive each other with 20 dBm - 46.9 dB - 30 log 30 dB = -71.2 dBm; they sense -83.7
    dBm.
    """
    apart = 30 if channels[0] == channels[1] else 10  # 14.3 dB nearer
    rows = cells(*channels, apart=apart)
    assert links(rows, Link.TO)[0].tolist()[::2] == [1, 3, 3]
    node = rows.nodes[0, 1]
    assert bool(node[Node.SENSE] >> 3 & 1) == hears
    assert bool(node[Node.NEAR] >> 3 & 1) == (channels[0] == channels[1])


def test_routes_of_places_end_at_the_gateway() -> None:
    places = [{"x": "0 m", "next": 1}, {"x": "1 m", "next": 0}, {"x": "2 m"}]
    with pytest.raises(InputError, match=r"places\.0\.next forms a loop; routes must end at the last node"):
        rows_of({"places": places, "ranges": {"decode": "9 m"}})


def test_stations_relay_only_if_asked() -> None:
    places = [{"x": "24 m"}, {"x": "12 m"}, {"x": "0 m"}]
    wireless = {"standard": "802.11ax", "places": places, "path_loss": {"power_dbm": 0, "exponent": 3}}
    assert links(rows_of(wireless, 1)[1], Link.TO)[0, 0] == 2
    assert links(rows_of({**wireless, "relays": True}, 1)[1], Link.TO)[0, 0] == 1
