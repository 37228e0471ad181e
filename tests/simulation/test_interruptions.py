"""Outages of links: those marked on the page of a trace are those that were simulated."""

from typing import Any

import pytest

from netcarlo.kernels.base.layout import Rows
from netcarlo.networks.path.interruptions import of_rows
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.twins.parameters import Parameters, outages_of
from tests.twins.path.mobility.schedule import plan
from tests.twins.random_numbers import Streams

HOP = {"rate": "1 Mbit/s", "delay": "10 ms"}


def rows_of(*hops: dict[str, Any], replication: int = 0, **fields: Any) -> Rows:
    scenario = Scenario.check(
        {"duration": "120 s", "transport": {"protocol": "newreno"}, "hops": list(hops), **fields}
    )
    rows = build(scenario, first=replication, replications=1).rows
    assert isinstance(rows, Rows)
    return rows


@pytest.mark.parametrize(
    "mobility",
    [
        {"times": ["10 s", "50 s", "30 s"]},
        {"every": "7 s", "outage_jitter": "100 ms"},
        {"cell_radius": "10 m", "speed": "2 m/s", "ping_pong": "40 %", "false_alarm": "40 %"},
    ],
)
@pytest.mark.parametrize("replication", [0, 3])
def test_handovers_are_those_of_the_twin(mobility: dict[str, Any], replication: int) -> None:
    rows = rows_of(HOP, HOP, replication=replication, mobility={"protocol": "fmipv6", **mobility})
    p = Parameters(rows, 0)
    given = [start for start, _ in outages_of(rows, 0, 0, 1)]
    expected = [
        ("false alarm", h.expected_down, h.down) if h.false_alarm
        else ("handover between MAPs" if h.inter else "handover", h.down, h.up)
        for h in plan(p, Streams(p.SEED, p.SCENARIO, p.REPLICATION), given)
    ]  # fmt: skip
    found = [(each.kind, round(each.start_s * 1e9), round(each.end_s * 1e9)) for each in of_rows(rows)]
    assert len(found) >= 3
    assert found == expected


def test_outages_of_every_hop_that_begin_before_the_end() -> None:
    outages = [{"start": "20 s", "duration": "5 s"}, {"start": "130 s", "duration": "5 s"}]
    rows = rows_of({**HOP, "outages": outages}, {**HOP, "outages": [{"start": "3 s", "duration": "1 s"}]})
    assert [tuple(each) for each in of_rows(rows)] == [("outage", 3.0, 4.0), ("outage", 20.0, 25.0)]
