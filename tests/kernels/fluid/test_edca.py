"""Fluid model of EDCA cells: conservation, saturation formula, comparison with the packet model."""

from typing import Any

import numpy as np
import pytest

from netcarlo import Scenario, simulate
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut, Radio
from netcarlo.networks.wireless.formula_edca import formula
from netcarlo.networks.wireless.outcomes import tables
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.fidelity import check
from tests.campaigns.benchmarks.fidelity import EDCA
from tests.kernels.beside_twin import run_as_python
from tests.twins.rows import rows_of

CELL = Scenario.check(EDCA)
NAME = "fluid_wifi_edca"


def test_no_more_arrives_than_is_sent_and_the_air_is_shared() -> None:
    rows = rows_of(NAME, 6, seed=7)
    flows, nodes = tables(
        run_as_python(NAME, rows), flows=rows.most_flows, node_columns=rows.node_columns
    )[:2]  # fmt: skip
    assert (flows[..., FlowOut.DELIVERED] <= flows[..., FlowOut.SENT]).all()
    assert (flows[..., FlowOut.ARRIVED] + flows[..., FlowOut.LOST] <= flows[..., FlowOut.SENT]).all()
    assert (nodes >= 0).all() and (flows >= -1).all()  # NEVER
    time = rows.parameters[:, RowP.END] - rows.parameters[:, Radio.WARM_UP]
    assert flows[..., FlowOut.DELIVERED].any()
    assert (nodes[..., NodeOut.AIR_DATA] <= time[:, None]).all()


@pytest.mark.parametrize("stations", [1, 4])
@pytest.mark.parametrize("txop", ["0 s", "2.528 ms"])
def test_a_saturated_cell_is_that_of_the_formula(stations: int, txop: str, uncompiled: None) -> None:
    values = {
        "transport.rate": "400 Mbit/s", "transport.payload": "1400 B", "duration": "2 s",
        "wireless.cell.stations": stations, "wireless.each.mcs": 7, "wireless.streams": 1,
        "wireless.aggregation.ampdu": "16000 B", "wireless.edca": {"best_effort": {"txop": txop}},
    }  # fmt: skip
    saturated = CELL.with_values(values)
    rows = build(saturated, replications=1).rows
    expected = formula(rows)["goodput_bps"][0]
    found = simulate(saturated.with_values({"fidelity": "fluid"}), replications=1).frame["goodput_bps"][0]
    assert found == pytest.approx(expected, rel=0.06)


@pytest.mark.full
@pytest.mark.parametrize(
    ("transport", "flows", "most"),
    [
        ({"protocol": "udp", "rate": "20 Mbit/s"}, "up", 0.05),
        ({"protocol": "newreno"}, "down", 0.13),  # 11.5 % over 200 cells; 0.08 before 6325595b
        ({"protocol": "linux"}, "down", 0.08),
    ],
)
def test_cells_are_those_of_packets(transport: dict[str, Any], flows: str, most: float) -> None:
    wireless = EDCA["wireless"] | {"flows": flows, "cell": {"stations": {"integers": [4, 12]}}}
    data = EDCA | {"transport": transport | {"payload": "1400 B"}, "wireless": wireless, "duration": "3 s"}
    packets = Scenario.check(data)
    truth, cheap = (
        simulate(each, replications=12).frame["goodput_bps"]
        for each in (packets, packets.with_values({"fidelity": "fluid"}))
    )
    assert np.median(np.abs(cheap / truth - 1)) < most


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"wireless.cell": None, "wireless.chain": {"hops": 2}}, "only a cell"),
        ({"wireless.scheduler": "airtime"}, "order of arrival"),
        ({"wireless.fq_codel": {}}, "limits the windows"),
        ({"wireless.rate_control": "minstrel"}, "fixed rates"),
    ],
)
def test_what_it_lacks_is_refused_with_the_reason(values: dict[str, Any], why: str) -> None:
    with pytest.raises(Exception, match=why):
        check(CELL.with_values(values), "fluid")
