"""Saturated cells of 802.11n, ac and ax: the engine beside exchange times by hand and Bianchi's model."""

from typing import Any

import pytest

from netcarlo.estimation.estimate import estimate
from netcarlo.networks.wireless.aggregation import goodput_bps
from netcarlo.scenario import Scenario
from tests.networks.test_wifi_aggregation import CELLS, Cell, made

NO_TXOP = {"edca": {"best_effort": {"txop": "0 s"}}}


def goodput(
    wireless: dict[str, Any], payload: int, fidelity: str = "packet", rate: str = "1 Gbit/s"
) -> float:
    scenario = {
        "duration": "4.1 s", "warm_up": "100 ms", "replications": 8, "fidelity": fidelity,
        "wireless": wireless, "transport": {"protocol": "udp", "rate": rate, "payload": f"{payload} B"},
    }  # fmt: skip
    return float(estimate(Scenario.check(scenario)).to_frame().loc["goodput_bps", "mean"])


@pytest.mark.full
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: "-".join(map(str, cell.mode)))
def test_one_station_of_the_engine_takes_the_time_of_the_standard(cell: Cell) -> None:
    mode = cell.mode
    udp = {"rate": "1 Mbit/s", "payload": f"{cell.payload} B"}
    wireless = {
        "standard": mode.standard, "channel": f"{mode.width} MHz", "streams": mode.streams, "mcs": mode.mcs,
        "guard": f"{mode.guard} ns", "cell": {"stations": 1},
        "rts_threshold": "0 B" if cell.rts else "unlimited",
        "aggregation": {"ampdu": f"{cell.ampdu} B", "amsdu": f"{cell.amsdu} B", "block_ack": cell.window},
        "edca": {"best_effort": {"txop": f"{cell.txop} us"}}, "flows": [{"saturated": True, "udp": udp}],
    }  # fmt: skip
    expected = goodput_bps(made(cell), payload=cell.payload, aifs=43_000, slot=9000, cw_min=15)
    assert goodput(wireless, cell.payload) == pytest.approx(expected[0], rel=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("stations", [2, 5, 15])
@pytest.mark.parametrize(
    "fields",
    [
        {"standard": "802.11ax", "behaviour": "ns3", "mcs": 7, "streams": 2},
        {"standard": "802.11n", "behaviour": "ns3", "aggregation": {"ampdu": "8191 B"}},
        {"standard": "802.11ac", "behaviour": "ns3", "mcs": 8, "rts_threshold": "0 B"},
        {"standard": "802.11ax", "mcs": 7, "streams": 2, **NO_TXOP},
        {"standard": "802.11ac", "block_ack_request": False, **NO_TXOP},
        {"standard": "802.11n", "aggregation": {"ampdu": "0 B"}, **NO_TXOP},
    ],
)
def test_bianchis_model_is_near_the_engine(fields: dict[str, Any], stations: int) -> None:
    wireless = {"cell": {"stations": stations}, **fields}
    theory = goodput(wireless, 1472, "formula")
    assert theory == pytest.approx(goodput(wireless, 1472), rel=0.025)


def test_the_formula_is_the_offered_load_below_saturation() -> None:
    wireless = {"standard": "802.11ax", "cell": {"stations": 3}, "each": [{"mcs": 0}, {"mcs": 5}, {}]}
    assert goodput(wireless, 1000, "formula", "1 Mbit/s") == pytest.approx(3e6, rel=1e-4)
    full = goodput(wireless, 1000, "formula", "500 Mbit/s")
    slow = goodput({**wireless, "each": {"mcs": 0}}, 1000, "formula", "500 Mbit/s")
    assert slow < full < 500e6


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"fidelity": "fluid", "wireless": {"scheduler": "airtime"}},
            "the fluid model of 802.11ax does not support",
        ),
        (
            {"fidelity": "formula", "wireless": {"each": [{"frame_error": "1 %"}]}},
            "supports only frame_error: 0",
        ),
    ],
)
def test_what_the_fast_models_lack_is_refused(fields: dict[str, Any], text: str) -> None:
    wireless = {"standard": "802.11ax", "cell": {"stations": 2}, **fields.get("wireless", {})}
    transport = {"protocol": "udp", "rate": "1 Mbit/s"}
    with pytest.raises(ValueError, match=text):
        estimate(Scenario.check({"duration": "1 s", "transport": transport, **fields, "wireless": wireless}))
