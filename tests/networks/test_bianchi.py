"""Bianchi's model: its fixed point, its limits, and the 802.11 engine under its assumptions."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.wireless.layout import NodeOut
from netcarlo.networks.wireless.bianchi import Access, saturation, solve
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.outcomes import tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build

TOLERANCE = 0.02
STATIONS = [2, 3, 5, 10, 20, 50]


def cell(stations: int = 5, **fields: Any) -> Wireless:
    return Wireless.check({"cell": {"stations": stations}, **fields})


def frames_per_s(stations: int, seconds: float, **fields: Any) -> float:
    """Return the frame rate that the engine measures for stations with permanently full queues."""
    scenario = Scenario.check({
        "duration": f"{seconds + 0.5} s", "warm_up": "500 ms", "seed": stations, "replications": 1,
        "transport": {"protocol": "udp", "rate": f"{60 / stations + 2} Mbit/s", "payload": "1470 B"},
        "wireless": {"cell": {"stations": stations}, "queue": "5 packets", **fields},
    })  # fmt: skip
    rows = build(scenario).rows
    nodes = tables(launch.run(models.model("wifi_udp"), rows), flows=rows.most_flows).nodes[0]
    return float(nodes[:, NodeOut.SUCCEEDED].sum() / seconds)


@pytest.mark.full
@pytest.mark.parametrize("rts_threshold", ["unlimited", "500 B"])
@pytest.mark.parametrize("standard", ["802.11b", "802.11g"])
def test_saturated_cells_of_the_engine_agree(standard: str, rts_threshold: str) -> None:
    fields = {"standard": standard, "rts_threshold": rts_threshold}
    wrong = {}
    for stations in STATIONS:
        simulated = frames_per_s(stations, 40.0, **fields)
        theory = saturation(cell(**fields), stations=stations).frames_per_s
        if abs(theory / simulated - 1) > TOLERANCE:
            wrong[stations] = simulated, theory
    assert not wrong


def test_protected_frames_of_the_engine_agree() -> None:
    fields = {"protection": "1 Mbit/s"}
    simulated = frames_per_s(10, 40.0, **fields)
    assert saturation(cell(**fields), stations=10).frames_per_s == pytest.approx(simulated, rel=TOLERANCE)


def test_a_lone_station_waits_half_a_window() -> None:
    found = saturation(cell(), stations=1, payload=1000, header=28)
    data = 20 + 4 * np.ceil((22 + 8 * 1064) / 216) + 6  # [us]
    ack = 20 + 4 * np.ceil((22 + 8 * 14) / 96) + 6
    cycle = 28 + 7.5 * 9 + data + 10 + ack
    assert found.frames_per_s == pytest.approx(1e6 / cycle, rel=1e-12)
    assert found.throughput_bps == pytest.approx(8e9 / cycle, rel=1e-12)
    assert found.collision_probability == found.failed_attempt_ratio == found.drop_ratio == 0.0


costs = st.builds(
    Access, slot_s=st.just(9e-6), success_s=st.floats(1e-4, 1e-2), collision_s=st.floats(1e-4, 1e-2),
    patience_s=st.floats(9e-6, 3e-4), cw_min=st.integers(1, 255), cw_max=st.integers(255, 1023),
    attempts=st.integers(1, 12),
)  # fmt: skip


@given(costs, st.integers(1, 200))
@settings(deadline=None, max_examples=50)
def test_there_is_a_fixed_point(cost: Access, stations: int) -> None:
    found = solve(cost, stations=stations, payload=1000)
    tau, p = found.attempt_probability, found.collision_probability
    assert 0 < tau <= 1 and 0 <= p <= 1
    assert p == pytest.approx(1 - (1 - tau) ** (stations - 1))
    assert 0 < found.frames_per_s < 1 / cost.success_s * (1 + 1e-9)
    assert 0 <= found.drop_ratio <= p**cost.attempts * (1 + 1e-9)
    assert 0 <= found.failed_attempt_ratio <= p


@pytest.mark.parametrize("standard", ["802.11a", "802.11b", "802.11g"])
def test_more_stations_collide_and_lose_more(standard: str) -> None:
    found = [saturation(cell(standard=standard), stations=n) for n in range(1, 64)]
    for few, more in pairwise(found):
        assert few.collision_probability < more.collision_probability
        assert few.drop_ratio < more.drop_ratio
    frames = [each.frames_per_s for each in found]
    assert frames[62] < frames[20] < frames[5]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"rate_control": "arf"}, "rate_control"), ({"burst": 4}, "burst"), ({"frame_error": 0.1}, "noise"),
        ({"cw_min": 0}, "cw_min"), ({"rate": {"choice": ["6 Mbit/s", "54 Mbit/s"]}}, "rate is random"),
        ({"slot": {"uniform": ["9 us", "20 us"]}}, "slot is random"),
    ],
)  # fmt: skip
def test_what_the_model_does_not_know_is_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        saturation(cell(**fields), stations=5)


def test_no_stations_are_refused() -> None:
    with pytest.raises(InputError, match="stations = 0"):
        saturation(cell(), stations=0)
