"""Forecast of the workload of a run; too large runs are refused unless they are confirmed."""

import math
from pathlib import Path
from typing import Any

import pytest

from netcarlo import estimate, load_scenario, simulate, trace
from netcarlo.errors import InputError
from netcarlo.planning import load_plan
from netcarlo.scenario import Scenario
from netcarlo.schema import document as files
from netcarlo.simulation import workload
from netcarlo.studies import study as studies
from netcarlo.studies.cells import planned
from netcarlo.sweeps.execution.forecast import check as check_sweep
from netcarlo.sweeps.space.file import load_sweep, make_sweep
from tests.tiers import parameters

CONFIGS = Path(__file__).parents[2] / "configs"

ENDLESS = {
    "duration": "864000 s",
    "transport": {"protocol": "newreno", "window": 4096, "payload": "1 B"},
    "hops": [{"rate": "1 Tbit/s", "delay": "1 us"}],
}
DUMBBELL = {"rate": "1 Gbit/s", "delay": "10 ms"}
LARGE = [
    ENDLESS,
    ENDLESS | {"transport": {"protocol": "sctp"}},
    ENDLESS | {"fidelity": "fluid", "hops": [{"rate": "1 Tbit/s", "delay": "1 ns"}]},
    ENDLESS | {"transport": {"protocol": "newreno"}, "sample_interval": "1 us", "replications": 100},
    {"duration": "10000 s", "transport": {"protocol": "newreno"},
     "shared": {"dumbbell": DUMBBELL, "flows": [{"udp": {"rate": "10 Gbit/s", "payload": "1 B"}}]}},
    {"duration": "864000 s", "transport": {"protocol": "udp", "rate": "1 Mbit/s"},
     "wireless": {"cell": {"stations": 1}}},
    {"duration": "864000 s", "transport": {"protocol": "newreno"}, "replications": 10000,
     "adhoc": {"nodes": 64, "area": {"side": "1 km"}, "range": "250 m", "mobility": {"model": "static"}}},
]  # fmt: skip


@pytest.mark.parametrize("data", LARGE)
def test_what_would_take_days_is_refused_unasked(data) -> None:
    scenario = Scenario.check(data)
    for ask in (simulate, estimate):
        with pytest.raises(InputError, match=r"about .* packets, .* on one core; .* confirm with --yes"):
            ask(scenario, target="cpu")


def test_a_large_table_or_trace_is_refused_unasked() -> None:
    scenario = Scenario.check(ENDLESS | {"duration": "10 ms", "replications": 10_000_000})
    with pytest.raises(InputError, match="GiB of memory; the limit without confirmation is 8 GiB"):
        simulate(scenario.with_values({"transport.packets": 1}))
    with pytest.raises(InputError, match="GiB of memory"):
        trace(scenario.with_values({"duration": "10 s"}))
    with pytest.raises(InputError, match="about"):
        trace(Scenario.check(ENDLESS))


def test_packets_in_flight_that_need_much_memory_are_refused_unasked() -> None:
    flows = [{"udp": {"rate": "1 Gbit/s", "payload": "1 B"}}, {"count": 63, "each": {}}]
    data = {"duration": "0.1 s", "transport": {"protocol": "newreno"}, "replications": 1}
    scenario = Scenario.check(data | {"shared": {"dumbbell": DUMBBELL, "flows": flows}})
    with pytest.raises(InputError, match=r"one replication needs .* GiB of memory; .* --yes"):
        simulate(scenario, target="cpu")


def test_a_sweep_with_a_large_cell_is_refused_unasked() -> None:
    axes = {"hops.0.rate": ["1 Mbit/s", "1 Tbit/s"]}
    sweep = make_sweep({"name": "s", "scenario": ENDLESS | {"replications": 10}, "axes": axes})
    with pytest.raises(InputError, match=r"cell 1 of the sweep is about .* packets"):
        check_sweep(sweep)


STUDIES = sorted(path.parent for path in CONFIGS.rglob("study.yaml"))
SLOW = (
    "handover_map", "link_and_buffer", "link_planning", "mesh_planning", "mobility_planning", "modern",
    "multihoming_planning", "multipath_planning", "shared_planning",
)  # fmt: skip
"""Files whose workload takes more than 0.2 s to estimate."""


def shipped() -> list[Any]:
    """Return scenarios, sweeps and plans that are run by themselves: no mappings, no files of studies."""
    found = [
        path
        for path in sorted(CONFIGS.rglob("*.yaml"))
        if path.stem != "mapping" and path.parent.name != "references" and path.parent not in STUDIES
    ]
    return parameters(found, full=[path for path in found if path.stem in SLOW])


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_all_that_is_shipped_starts_unasked(path) -> None:
    data = files.read_yaml(path).data
    if "requirements" in data:
        base = load_plan(path).base
        workload.check([workload.forecast(base, base.replications)])
    elif "transport" in data:
        scenario = load_scenario(path)
        workload.check([workload.forecast(scenario, scenario.replications)])
        workload.check([workload.forecast(scenario, 1, traced=True)])
    else:
        check_sweep(load_sweep(path))


@pytest.mark.full
@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_all_studies_start_unasked(folder) -> None:
    study = studies.load(folder)
    n = study.description.replications
    cells = planned(study, 1)
    workload.check(workload.forecast(cell.make(), min(n, cell.most or n)) for cell in cells)


def test_the_forecast_of_a_simple_path_is_its_rate_and_its_window() -> None:
    hop = {"rate": "1 Mbit/s", "delay": "10 ms"}
    data = {"duration": "100 s", "transport": {"protocol": "newreno", "window": 4096}, "hops": [hop]}
    full = workload.forecast(Scenario.check(data), 3).packets
    assert math.isclose(full, 3 * (100 * 1e6 / 8 / 1500 + 100), rel_tol=1e-9)
    data["transport"]["window"] = 1
    one = workload.forecast(Scenario.check(data), 1).packets
    assert math.isclose(one, 100 / 0.032 + 100, rel_tol=1e-9)
    data["transport"]["packets"] = 5
    assert workload.forecast(Scenario.check(data), 1).packets == 50 + 100
