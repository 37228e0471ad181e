"""Failing cables in scenarios: which ones, when, and which flows take another route."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.shared.detours import Backup
from netcarlo.kernels.shared.layout import Flow, Link
from netcarlo.networks.shared.backups import detours
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.simulate import simulate

ROW = {"links": 3, "each": {"rate": "5 Mbit/s", "delay": "10 ms"}}
GIVEN = [{"start": "8 s", "duration": "3 s"}]
TRIANGLE = [
    {"ends": list(ends), "rate": "5 Mbit/s", "delay": "10 ms"}
    for ends in ((0, 1), (1, 0), (0, 2), (2, 0), (2, 1), (1, 2))
]


def scenario(**shared: Any) -> Scenario:
    given = {"parking_lot": ROW, "flows": [{"between": "ends"}], **shared}
    if "links" in given:
        given.pop("parking_lot")
    return Scenario.check({"duration": "20 s", "transport": {"protocol": "newreno"}, "shared": given})


def down(rows: Any) -> Any:
    """Return the number of outages of each link of each row."""
    return rows.links[:, :, Link.OUTAGES_END] - rows.links[:, :, Link.OUTAGES]


def test_one_cable_fails_in_each_replication_and_each_as_often() -> None:
    rows = build(scenario(failures=[{"cables": "one", "outages": GIVEN}]), first=0, replications=900).rows
    fails = down(rows)
    assert (fails.sum(axis=1) == 2).all() and (fails[:, 0::2] == fails[:, 1::2]).all()
    assert (abs(fails[:, 0::2].mean(axis=0) - 1 / 3) < 0.06).all()


def test_cables_of_a_group_fail_together_and_others_on_their_own() -> None:
    random = {"up": "5 s", "down": "1 s"}
    together = build(scenario(failures=[{"cables": "0 2", "outages": random}]), first=0, replications=50).rows
    behind = slice(2 * int(together.links[:, :, Link.OUTAGES].max()), None)
    assert (together.links[:, 0, behind] == together.links[:, 4, behind]).all()
    assert down(together)[:, 0].any() and not down(together)[:, 2].any()
    alone = build(scenario(failures=[{"cables": "each", "outages": random}]), first=0, replications=50).rows
    assert (alone.links[:, 0, behind] == alone.links[:, 1, behind]).all()
    assert (alone.links[:, 0, behind] != alone.links[:, 4, behind]).any()


def test_outages_that_overlap_are_one() -> None:
    more = [{"start": "10 s", "duration": "4 s"}, {"start": "16 s", "duration": "1 s"}]
    failures = [{"cables": "0", "outages": GIVEN}, {"cables": "0 1", "outages": more}]
    found = interruptions(scenario(failures=failures))
    assert [(each.start_s, each.end_s) for each in found] == [(8.0, 14.0), (10.0, 14.0), (16.0, 17.0)]


def test_a_detour_begins_and_ends_with_the_detection() -> None:
    spans = np.array([[[10, 20], [23, 40], [50, 54], [60, 70], [FOREVER, FOREVER]]])
    found = detours(spans, np.array([5]))
    assert found[0, :2].tolist() == [[15, 45], [65, 75]] and (found[0, 2:, 0] == FOREVER).all()


def test_each_slot_of_arriving_flows_has_the_backup_and_its_detours() -> None:
    """`test_varying` compares such rows with their twin."""
    each = {"route": "0", "backup": "2 4", "detection": "1 s"}
    flows = {"count": 3, "size": "20 kB", "arrivals": {"poisson": "5 /s"}, "each": each}
    given = scenario(links=TRIANGLE, failures=[{"cables": 0, "outages": GIVEN}], flows=[flows])
    slots = build(given, first=0, replications=1).rows.flows[0]
    for slot in slots:
        found = slot[slot[Flow.BACKUP] :]
        assert found[: Backup.ROUTE + 4].tolist() == [2, 2, 1, 2, 4, 5, 3]
        assert found[Backup.ROUTE + 4 :][:2].tolist() == [9 * NS, 12 * NS]


@pytest.mark.full
def test_who_has_a_backup_loses_no_more_than_detection_takes() -> None:
    flow = {"udp": {"rate": "1 Mbit/s", "payload": "972 B"}, "route": 0}
    failures = [{"cables": 0, "outages": [{"start": "5 s", "duration": "10 s"}]}]
    lost = {}
    for name, more in (("none", {}), ("backup", {"backup": "2 4", "detection": "200 ms"})):
        given = scenario(links=TRIANGLE, failures=failures, flows=[flow | more])
        found = simulate(given, replications=4).frame
        lost[name] = found["drops_queue"] + found["drops_random"]
    per_s = 1e6 / (8 * 972)
    assert (abs(lost["none"] - 10 * per_s) < 5).all()
    assert (abs(lost["backup"] - 0.21 * per_s) < 5).all()


@pytest.mark.parametrize(
    ("shared", "message"),
    [
        ({"failures": [{"cables": "7", "outages": GIVEN}]}, "failures.0.cables has 7, which is not a cable"),
        ({"failures": [{"cables": "each", "outages": GIVEN}]}, "must be random; write"),
        ({"failures": [{"cables": "0", "outages": {"up": "1 ms", "down": "1 ms"}}]}, "on average; expected"),
        ({"flows": [{"route": 0, "detection": "1 s"}]}, "detection needs a backup"),
        ({"flows": [{"route": 0, "backup": "2 4", "detection": "1 s"}]}, "add failures"),
        ({"flows": [{"route": 0, "backup": "0", "detection": "1 s"}]}, "uses link 0, a cable of the route"),
        ({"flows": [{"route": 0, "backup": "2", "detection": "1 s"}]}, "leads from router 0 to 2"),
        ({"flows": [{"route": 0, "backup": "2 1", "detection": "1 s"}]}, "is interrupted after link 2"),
        ({"flows": [{"route": 0, "backup": "9", "detection": "1 s"}]}, "which is not a link"),
    ],
)
def test_what_cannot_be_is_refused(shared: dict[str, Any], message: str) -> None:
    network = {"links": TRIANGLE} if "flows" in shared else {}
    with pytest.raises(InputError, match=message) as error:
        scenario(**network, **shared)
    assert "\n" not in str(error.value)


def test_managed_queues_and_what_varies_are_refused() -> None:
    for more in ({"codel": {}}, {"jitter": {"uniform": ["0 ms", "1 ms"]}}):
        row = {"links": 3, "each": ROW["each"] | more}  # type: ignore[operator]
        with pytest.raises(InputError, match="both given"):
            scenario(parking_lot=row, failures=[{"cables": "one", "outages": GIVEN}])


@pytest.mark.full
def test_the_plan_finds_how_soon_a_failure_must_be_noticed() -> None:
    """The detection time is 1 % of 30 s minus the time of the packets in flight: 290 ms for any cable."""
    import netcarlo.planning

    plan = Path(__file__).parents[2] / "configs" / "plans" / "single_failures.yaml"
    answer = netcarlo.planning.plan(plan)
    assert answer.holds == pytest.approx(0.25) and answer.fails == pytest.approx(0.3)
