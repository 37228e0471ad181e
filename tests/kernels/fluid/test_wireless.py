"""Fluid model of 802.11 networks: conservation, known results, comparison with the packet model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo import Scenario, configs, load_scenario, simulate
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut, WifiRows
from netcarlo.networks.wireless import bianchi
from netcarlo.networks.wireless.outcomes import tables
from netcarlo.simulation.ensemble import build
from tests.campaigns.benchmarks.fidelity import EXAMPLES
from tests.twins.wireless.scenarios import select, wifi_rows

CELLS = load_scenario(EXAMPLES / "wifi_cells.yaml")
MESH = load_scenario(EXAMPLES / "wifi_mesh.yaml")
NEWRENO = {"transport": {"protocol": "newreno", "payload": "1000 B"}}


def run(rows: WifiRows, **options: int) -> NDArray[np.int64]:
    return launch.run(models.model("fluid_wifi"), rows, **options)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 30), tcp=st.booleans())
def test_no_more_comes_out_than_goes_in(seed: int, tcp: bool) -> None:
    rows = wifi_rows(8, seed=seed, tcp=tcp)
    flows, nodes = tables(run(rows), flows=rows.most_flows)
    assert (flows[..., FlowOut.DELIVERED] <= flows[..., FlowOut.SENT]).all()
    assert (flows[..., FlowOut.ARRIVED] + flows[..., FlowOut.LOST] <= flows[..., FlowOut.SENT]).all()
    assert (nodes >= 0).all() and (flows >= -1).all()  # NEVER
    assert (nodes[..., NodeOut.FAILED] <= nodes[..., NodeOut.ATTEMPTS]).all()


def test_rows_do_not_depend_on_their_neighbours() -> None:
    rows = wifi_rows(12, seed=3, tcp=True)
    together = run(rows, threads=2)
    assert (run(rows, threads=1) == together).all()
    some = select(rows, slice(4, 6))
    assert (run(some)[:, :2] == together[4:6, :2]).all()


@pytest.mark.parametrize("stations", [1, 2, 5, 20])
@pytest.mark.parametrize("rts", ["0 B", "unlimited"])
def test_a_saturated_cell_is_bianchis(stations: int, rts: str) -> None:
    values = {
        "transport.rate": "50 Mbit/s", "transport.payload": "1470 B", "wireless.cell.stations": stations,
        "wireless.rate": "54 Mbit/s", "wireless.rts_threshold": rts, "fidelity": "fluid", "duration": "10 s",
    }  # fmt: skip
    scenario = CELLS.with_values(values)
    expected = bianchi.saturation(scenario.wireless, stations=stations, payload=1470)
    found = simulate(scenario, replications=1).frame.iloc[0]
    assert found["goodput_bps"] == pytest.approx(expected.throughput_bps, rel=2e-3)
    assert found["failed_attempt_ratio"] == pytest.approx(expected.failed_attempt_ratio, abs=2e-3)


def error(scenario: Scenario, values: dict[str, Any], *, replications: int) -> NDArray[np.float64]:
    """Return the error of the goodput, relative to the packet model."""
    packets = scenario.with_values(values)
    fluid = packets.with_values({"fidelity": "fluid"})
    truth, cheap = (
        simulate(each, replications=replications).frame["goodput_bps"] for each in (packets, fluid)
    )
    return (cheap / truth - 1).to_numpy(np.float64)


def test_udp_cells_are_those_of_packets() -> None:
    assert np.median(np.abs(error(CELLS, {}, replications=30))) < 0.01
    assert np.abs(error(CELLS, {}, replications=30)).max() < 0.04


@pytest.mark.full
@pytest.mark.parametrize("flows", ["up", "down", "both"])
def test_tcp_cells_are_those_of_packets(flows: str) -> None:
    off = error(CELLS, NEWRENO | {"wireless.flows": flows}, replications=30)
    assert np.median(np.abs(off)) < 0.05 and np.abs(off).max() < 0.15


@pytest.mark.parametrize(("hops", "rate", "most"), [(1, "20 Mbit/s", 0.01), (3, "10 Mbit/s", 0.06),
                                                    (4, "20 Mbit/s", 0.06)])  # fmt: skip
def test_datagrams_over_a_chain_with_arf(hops: int, rate: str, most: float) -> None:
    """Test four hops: throughput falls to a twentieth in both models, as in the study `wds`."""
    folder = Path(str(configs.__file__)).parent / "studies" / "wds"
    values = {"wireless.chain.hops": hops, "transport.rate": rate}
    off = error(load_scenario(folder / "wireless_udp_10.yaml"), values, replications=2)
    assert np.abs(off).max() < most


def test_what_a_wire_limits_is_limited() -> None:
    wire = {"wireless.wire": {"rate": "1 Mbit/s", "delay": "5 ms", "overhead": "0 B"}}
    values = NEWRENO | wire | {"wireless.cell.stations": 3, "wireless.rate": "54 Mbit/s", "fidelity": "fluid"}
    found = simulate(CELLS.with_values(values), replications=1).frame["goodput_bps"].to_numpy()
    assert found == pytest.approx(1e6 * 1000 / 1040, rel=0.01)


@pytest.mark.full
def test_a_file_is_done_when_its_last_packet_is_through() -> None:
    values = NEWRENO | {
        "transport.bytes": "2 MB",
        "duration": "60 s",
        "warm_up": "0 s",
        "wireless.rate": "24 Mbit/s",
    }
    scenario = CELLS.with_values(values | {"wireless.cell.stations": 1})
    truth, cheap = (
        simulate(scenario.with_values({"fidelity": each}), replications=2).frame["completion_s"].mean()
        for each in ("packet", "fluid")
    )
    assert cheap == pytest.approx(truth, rel=0.05)
    # Until completion the transfer sends at the rate of an endless flow.
    endless = scenario.with_values({"fidelity": "fluid", "transport.bytes": None, "duration": "10 s"})
    rate = simulate(endless, replications=2).frame["goodput_bps"].mean()
    assert cheap == pytest.approx(8 * 2e6 / rate, rel=2e-3)


def test_a_slow_endless_flow_does_not_end() -> None:
    """Test a packet every 13 s: the send time of the last packet overflows a 64-bit word."""
    data = {
        "duration": "30 s", "transport": {"protocol": "udp", "rate": "615.3846 bit/s", "payload": "1000 B"},
        "wireless": {"cell": {"stations": 1}, "rate": "24 Mbit/s"}, "fidelity": "fluid",
    }  # fmt: skip
    rows = build(Scenario.check(data), replications=1).rows
    flow = tables(run(rows), flows=rows.most_flows).flows[0, 0]
    assert flow[FlowOut.COMPLETED] == NEVER and 1 <= flow[FlowOut.RECEIVED] <= 3
