"""Rates and losses of the two directions of a link."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.loss import probabilities
from netcarlo.kernels.wireless.layout import Link, Radio, WifiRows
from netcarlo.networks.wireless.description import Wireless
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build


def rows_of(wireless: dict[str, Any], count: int = 4) -> tuple[Wireless, WifiRows]:
    transport = {"protocol": "udp", "rate": "1 Mbit/s"}
    scenario = Scenario.check({"duration": "1 s", "transport": transport, "wireless": wireless})
    return scenario.wireless, build(scenario, replications=count).rows  # type: ignore[return-value]


def links(rows: WifiRows, column: Link) -> Any:
    """Return a column of the links [n, 2 * stations]: to the next hop, to the station, and so on."""
    first, count = int(rows.parameters[0, Radio.LINKS_AT]), int(rows.parameters[0, Radio.LINKS])
    return rows.network[:, first + column : first + count * len(Link) + column : len(Link)]


def test_the_directions_of_a_link_have_own_modes_and_losses() -> None:
    each = [{"mcs": 3, "downlink": {"mcs": 9, "frame_error": 0.2}}, {"downlink": {"streams": 2}}, {}]
    net, rows = rows_of({"standard": "802.11ac", "cell": {"stations": 3}, "mcs": 5, "each": each})
    modes = [(1, 3), (1, 9), (1, 5), (2, 5), (1, 5), (1, 5)]
    assert links(rows, Link.RATE)[0].tolist() == [net.mode_row(*mode) for mode in modes]
    errors = probabilities(rows.losses)[links(rows, Link.LOSS)[0]]
    assert errors == pytest.approx([0, 0.2, 0, 0, 0, 0])


def test_a_direction_is_drawn_for_each_link() -> None:
    each = {"mcs": 2, "downlink": {"mcs": {"choice": [7, 8]}}}
    net, rows = rows_of({"standard": "802.11ax", "cell": {"stations": 3}, "each": each}, 50)
    found = links(rows, Link.RATE)
    assert np.all(found[:, ::2] == net.mode_row(1, 2))
    assert {*found[:, 1::2].flat} == {net.mode_row(1, 7), net.mode_row(1, 8)}
    assert not np.array_equal(found[:, 1], found[:, 3])


def test_rates_of_older_standards_differ_by_direction_too() -> None:
    each = {"rate": "6 Mbit/s", "downlink": {"rate": "54 Mbit/s"}}
    net, rows = rows_of({"cell": {"stations": 1}, "each": each})
    assert links(rows, Link.RATE)[0].tolist() == [net.rate_index(6e6), net.rate_index(54e6)]


def test_faults_of_a_direction_have_its_name() -> None:
    with pytest.raises(InputError, match=r"each\.0\.downlink\.mcs = 12 is out of range for 802\.11ax"):
        rows_of({"standard": "802.11ax", "cell": {"stations": 1}, "each": [{"downlink": {"mcs": 12}}]})
