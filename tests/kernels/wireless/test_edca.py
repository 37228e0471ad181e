"""EDCA with A-MPDUs and Block Ack: bitwise comparison with its naive twin, and properties.

`NETCARLO_LONG=N pytest --full tests/kernels/wireless/test_edca.py` compares N times as many networks.
"""

import os
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import EVENT_RECEIVE, STATUS_OK, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.wireless.layout import (
    CATEGORIES,
    CategoryOut,
    FlowOut,
    NodeOut,
    Radio,
    WifiOut,
    WifiRows,
)
from netcarlo.networks.wireless.outcomes import by_flow, tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build_rows
from netcarlo.simulation.simulate import simulate as outcomes_of
from tests.kernels.beside_twin import differing, run_as_python
from tests.tiers import parameters
from tests.twins.rows import rows_of
from tests.twins.wireless.edca.rates import with_rate_control
from tests.twins.wireless.run import simulate
from tests.twins.wireless.scenarios import describe

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
COMPILED = {"wifi_udp_edca": 150, "wifi_newreno_edca": 50}

UDP = {"protocol": "udp", "rate": "1 Mbit/s"}

Ints = NDArray[np.int64]


def scenarios(model: str, count: int, *, seed: int) -> WifiRows:
    return rows_of(model, count, seed=seed)  # type: ignore[return-value]


def differences(model: str, rows: WifiRows, out: Ints) -> list[str]:
    twin = partial(simulate, model, rows)
    return differing(out, lambda row: twin(row=row), partial(describe, rows), str)


@pytest.fixture(scope="module")
def measured() -> tuple[WifiRows, Ints, Ints]:
    """Return random networks of UDP flows with the outcomes of their flows and nodes."""
    rows = scenarios("wifi_udp_edca", 400, seed=9)
    out = launch.run(models.model("wifi_udp_edca"), rows)
    assert (out[:, WifiOut.STATUS] == STATUS_OK).all()
    flows, nodes = tables(out, flows=rows.most_flows, node_columns=rows.node_columns)
    return rows, flows, nodes


@pytest.mark.parametrize(
    "model",
    parameters(["wifi_udp_edca", "wifi_sack_edca", "wifi_udp_varying_edca"], full=["wifi_udp_varying_edca"]),
)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(model: str) -> None:
    rows = scenarios(model, 5 * LONG, seed=2)
    found = differences(model, rows, run_as_python(model, rows))
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("model", COMPILED)
def test_kernel_equals_twin(model: str) -> None:
    rows = scenarios(model, COMPILED[model] * LONG, seed=3)
    found = differences(model, rows, launch.run(models.model(model), rows))
    assert not found, "\n\n".join(found)


@pytest.mark.filterwarnings("ignore:overflow")
def test_uncompiled_rate_control_equals_twin() -> None:
    rows = with_rate_control(scenarios("wifi_udp_edca", 6 * LONG, seed=4), seed=4, longer=3)
    found = differences("wifi_udp_edca", rows, run_as_python("wifi_udp_edca", rows))
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("model", COMPILED)
def test_rate_control_equals_twin(model: str) -> None:
    rows = with_rate_control(scenarios(model, COMPILED[model] * LONG // 4, seed=5), seed=5, longer=5)
    found = differences(model, rows, launch.run(models.model(model), rows))
    assert not found, "\n\n".join(found)


@pytest.mark.full
def test_scenarios_visit_the_corners(measured: tuple[WifiRows, Ints, Ints]) -> None:
    """Check that at least one network in fifty of the comparison contains each event of a category."""
    _, _, nodes = measured
    categories = nodes[:, :, NodeOut.COLUMNS :].reshape(len(nodes), -1, CATEGORIES, CategoryOut.COLUMNS)
    met = (categories > 0).any(axis=(1, 2)).mean(axis=0)
    for column in CategoryOut:
        assert column == CategoryOut.COLUMNS or met[column] > 0.02, column.name
    for column in (NodeOut.DUPLICATES, NodeOut.NOISE, NodeOut.COLLIDED, NodeOut.RETRY_DROPS):
        assert (nodes[:, :, column] > 0).any(axis=1).mean() > 0.02, column.name


@pytest.mark.full
def test_packets_are_conserved(measured: tuple[WifiRows, Ints, Ints]) -> None:
    _, flows, nodes = measured
    n = {column: nodes[:, :, column] for column in NodeOut if column != NodeOut.COLUMNS}
    assert (n[NodeOut.QUEUED] + n[NodeOut.IN_QUEUE_BEFORE] >= n[NodeOut.IN_QUEUE]).all()
    f = {column: flows[:, :, column] for column in FlowOut if column.name != "COLUMNS"}
    lost = sum(
        f[column]
        for column in (FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY, FlowOut.DROPS_LEG, FlowOut.RETRY_LOST)
    )
    sent = f[FlowOut.SENT] + f[FlowOut.IN_FLIGHT_BEFORE]
    assert (sent == f[FlowOut.RECEIVED] + lost + f[FlowOut.IN_FLIGHT]).all()
    assert (f[FlowOut.DELIVERED] == f[FlowOut.RECEIVED]).all()  # Block Ack prevents duplicates


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_an_access_point_that_fails_loses_what_it_holds() -> None:
    """Check that every packet lost at an access point that fails is counted."""
    rows = scenarios("wifi_udp_varying_edca", 20, seed=6)
    out = run_as_python("wifi_udp_varying_edca", rows)
    f = tables(out, flows=rows.most_flows, node_columns=rows.node_columns).flows
    causes = [FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY, FlowOut.DROPS_LEG, FlowOut.RETRY_LOST]
    lost = f[..., causes].sum(axis=-1)
    sent = f[..., FlowOut.SENT] + f[..., FlowOut.IN_FLIGHT_BEFORE]
    assert (sent == f[..., FlowOut.RECEIVED] + lost + f[..., FlowOut.IN_FLIGHT]).all()
    assert (lost > 0).any() and (rows.parameters[:, Radio.OUTAGES] > 0).any()


@pytest.mark.full
def test_a_node_is_not_on_the_air_for_longer_than_the_run(measured: tuple[WifiRows, Ints, Ints]) -> None:
    rows, _, nodes = measured
    time = rows.parameters[:, RowP.END] - rows.parameters[:, Radio.WARM_UP]
    air = nodes[:, :, NodeOut.AIR_DATA] + nodes[:, :, NodeOut.AIR_CONTROL]
    longest = 6_000_000  # a frame in transmission at the end counts in full [ns]
    assert (air <= time[:, None] + longest).all()
    of_categories = nodes[:, :, NodeOut.COLUMNS :].reshape(*nodes.shape[:2], CATEGORIES, CategoryOut.COLUMNS)
    assert (of_categories[:, :, :, CategoryOut.AIR].sum(axis=2) == nodes[:, :, NodeOut.AIR_DATA]).all()


@pytest.mark.full
def test_a_receiver_passes_packets_up_in_order() -> None:
    rows = scenarios("wifi_udp_edca", 40, seed=12)
    seen = 0
    for row in range(40):
        trace, _ = launch.trace(models.model("wifi_udp_edca"), rows, row=row)
        received = trace[trace[:, Trace.EVENT] == EVENT_RECEIVE]
        hop = received[:, Trace.FLOW] * 1000 + received[:, Trace.PATH]
        for each in np.unique(hop):
            numbers = received[hop == each, Trace.SEQUENCE]
            seen += len(numbers)
            assert (np.diff(numbers) > 0).all(), (row, each)
    assert seen > 1000


@pytest.mark.full
def test_schedulers_share_packets_or_airtime() -> None:
    """Test the performance anomaly: a saturated access point sends to two fast stations and a slow one.

    With `fifo` packets are equal within 20 %, because an A-MPDU includes packets that arrived later than
    those of other stations. With `airtime` airtimes are equal within 1 % of the time.
    """
    station = {
        "standard": "802.11n", "channel": "20 MHz", "streams": 2, "cell": {"stations": 3},
        "each": [{}, {}, {"mcs": 0, "streams": 1}],
        "flows": [
            {"source": "gateway", "sink": k, "saturated": True, "udp": {"rate": "1 Mbit/s"}} for k in range(3)
        ],
    }  # fmt: skip
    shares = []
    for name in ("fifo", "airtime"):
        run = {"duration": "3 s", "warm_up": "500 ms", "transport": UDP}
        asked = Scenario.check(run | {"wireless": station | {"scheduler": name}})
        rows = build_rows(asked, replications=np.arange(4)).rows
        shares.append(by_flow(launch.run(models.model("wifi_udp_edca"), rows), rows))
    fifo, airtime = shares
    assert np.ptp(fifo["delivered"], axis=1).max() < 0.2 * fifo["delivered"].mean()
    assert np.ptp(airtime["air_station"], axis=1).max() < 0.01
    assert airtime["delivered"].sum() > 4 * fifo["delivered"].sum()


@pytest.mark.full
def test_fair_queues_spare_a_sparse_flow() -> None:
    """Check that FQ-CoDel reduces the delay of a sparse flow beside a saturating stream to a tenth."""
    flow = {"source": "gateway", "sink": 0}
    station = {
        "standard": "802.11n", "channel": "20 MHz", "cell": {"stations": 1},
        "flows": [flow | {"udp": {"rate": "90 Mbit/s"}}, flow | {"udp": {"rate": "100 kbit/s"}}],
    }  # fmt: skip
    delays, drops = [], []
    for queue in ({"queue": 1000}, {"fq_codel": {}}):
        asked = Scenario.check({"duration": "2 s", "transport": UDP, "wireless": station | queue})
        rows = build_rows(asked, replications=np.arange(2)).rows
        out = launch.run(models.model("wifi_udp_edca"), rows)
        flows, nodes = tables(out, flows=2, node_columns=rows.node_columns)
        delays.append(flows[:, 1, FlowOut.DELAY_SUM] / flows[:, 1, FlowOut.DELIVERED])
        of_categories = nodes[:, :, NodeOut.COLUMNS :].reshape(-1, CategoryOut.COLUMNS)
        drops.append(of_categories[:, CategoryOut.EARLY].sum())
    assert (delays[0] > 10 * delays[1]).all()
    assert drops[0] == 0 < drops[1]


@pytest.mark.full
def test_a_hole_stops_the_window() -> None:
    """Test errors with a short Block Ack window: the first missing MPDU blocks it and shortens A-MPDUs."""
    found = {}
    for window in (64, 256):
        station = {
            "standard": "802.11ax", "channel": "80 MHz", "mcs": 9, "cell": {"stations": 1},
            "frame_error": 0.1,
            "aggregation": {"block_ack": window}, "edca": {"best_effort": {"txop": "0 s"}},
            "flows": [{"saturated": True, "udp": {"rate": "1 Mbit/s", "payload": "1000 B"}}],
        }  # fmt: skip
        scenario = {"duration": "1 s", "transport": UDP, "wireless": station}
        found[window] = outcomes_of(Scenario.check(scenario), replications=4).frame
        assert (found[window]["mpdus_per_ppdu_stations"] < window).all()
    assert (found[256]["goodput_bps"].to_numpy() > 1.2 * found[64]["goodput_bps"].to_numpy()).all()
