"""Outcomes computed from the integers of the ad hoc engine, and a network from end to end."""

import numpy as np
import pytest

from netcarlo import estimate, simulate
from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import ManetOut, NodeOut
from netcarlo.kernels.base.layout import NEVER, STATUS_NO_START
from netcarlo.kernels.base.rows import concatenate, trim
from netcarlo.networks.adhoc.outcomes import OUTCOMES, energy_J, states_s, tables
from netcarlo.networks.outcome import declared, dimension
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import outcomes
from netcarlo.simulation.simulate import simulate_all

OWN = {outcome.name for outcome in declared(OUTCOMES)}
COUNTS = {outcome.name: outcome.column for outcome in OUTCOMES if isinstance(outcome.column, ManetOut)}

S = 10**9
MS = 10**6
ADHOC = {
    "nodes": 3,
    "area": {"side": "200 m"},
    "range": "250 m",
    "mobility": {"model": "random_waypoint", "speed": "5 m/s"},
}


def scenario(transport=None, duration="100 s", **given):
    transport = {"payload": "1000 B", "packets": 50, "start": "1 s", **(transport or {})}
    return Scenario.check(
        {
            "duration": duration, "replications": 6, "transport": {"protocol": "newreno", **transport},
            "adhoc": {**ADHOC, **given},
        }
    )  # fmt: skip


def named(given, nodes=(), **fields):
    """Return the outcomes of a row of the engine with these integers, zero elsewhere, and times that did
    not happen."""
    asked = scenario(**fields)
    rows, drawn = build(asked, replications=1)
    found = np.zeros((1, ManetOut.COLUMNS + rows.times.shape[1] * NodeOut.COLUMNS), np.int64)
    found[0, [ManetOut.FIRST_RX, ManetOut.LAST_RX, ManetOut.COMPLETED, ManetOut.FINISHED]] = NEVER
    for column, value in {ManetOut.ELAPSED: 100 * S, **given}.items():
        found[0, column] = value
    by_node = tables(found, rows)
    for k, entry in enumerate(nodes):
        for column, value in entry.items():
            by_node[0, k, column] = value
    return outcomes(asked.network, found, rows, drawn).frame.iloc[0]


def test_counts_are_the_columns_of_their_names():
    values = {column: 100 + k for k, column in enumerate(COUNTS.values())}
    found = named(values)
    assert {name: found[name] for name in COUNTS} == {name: values[column] for name, column in COUNTS.items()}
    named_so = {name: column.name.lower() for name, column in COUNTS.items()}
    assert {name for name, column in named_so.items() if name != column} == {"cwnd_reductions", "attempts"}


def test_a_start_that_no_draw_has_is_refused():
    with pytest.raises(InputError, match="holds in none of 32768 draws of row 0; raise max"):
        named({ManetOut.STATUS: STATUS_NO_START})


def test_a_transfer_ends_with_its_last_acknowledgement():
    done = {
        ManetOut.COMPLETED: 4 * S, ManetOut.FINISHED: 5 * S, ManetOut.ELAPSED: 5 * S, ManetOut.IN_ORDER: 50,
        ManetOut.ACKED: 50, ManetOut.RECEIVED: 60, ManetOut.FIRST_RX: 1_100 * MS, ManetOut.LAST_RX: 4 * S,
    }  # fmt: skip
    found = named(done)
    assert (found["completion_s"], found["transfer_s"], found["elapsed_s"], found["finished"]) == (3, 4, 5, 1)
    assert found["transfer_bps"] == 50 * 8000 / 4
    assert found["goodput_bps"] == 50 * 8000 / 3
    assert found["throughput_bps"] == 60 * 8 * 1040 / 3
    assert (found["first_delivery_s"], found["last_delivery_s"]) == (1.1, 4)


def test_one_that_does_not_end_counts_to_the_end():
    found = named({ManetOut.IN_ORDER: 22, ManetOut.ACKED: 20, ManetOut.PROBE_TIME: 3 * S, ManetOut.WAITED: S})
    assert found["goodput_bps"] == 22 * 8000 / 99
    assert found["finished"] == 0
    assert found[["transfer_s", "transfer_bps", "completion_s", "first_delivery_s"]].isna().all()
    assert (found["probe_time_s"], found["waited_s"]) == (3, 1)


def test_links_and_paths_are_shares_and_rates():
    us = {
        ManetOut.CONNECTED: 80 * MS, ManetOut.SPLIT: 25 * MS, ManetOut.HOPS_1: 40 * MS,
        ManetOut.HOPS_2: 30 * MS, ManetOut.HOPS_5: 10 * MS, ManetOut.HOPS_SHORTEST: 160 * MS,
        ManetOut.HOPS_KEPT: 200 * MS, ManetOut.KEPT_LIFE: 60 * MS, ManetOut.OUTAGE_TIME: 15 * MS,
        ManetOut.LINK_TIME: 240 * MS,
    }  # fmt: skip
    counts = {ManetOut.KEPT_BREAKS: 4, ManetOut.OUTAGES: 5, ManetOut.LINK_CHANGES: 30, ManetOut.HOPS: 90,
              ManetOut.ARRIVED: 60}  # fmt: skip
    found = named({**us, **counts})
    expected = {
        "connected_share": 0.8, "split_share": 0.25, "share_hops_1": 0.5, "share_hops_2": 0.375,
        "share_hops_3": 0, "share_hops_5": 0.125, "mean_shortest_hops": 2, "mean_kept_hops": 2.5,
        "breaks_per_connected_s": 0.05, "mean_route_life_s": 15, "outages_per_s": 0.05, "mean_outage_s": 3,
        "link_changes_per_pair_s": 0.1, "mean_degree": 1.6, "mean_route_hops": 1.5,
        "connected_s": 80, "kept_life_s": 60, "outage_time_s": 15,
    }  # fmt: skip
    assert found[list(expected)].to_dict() == pytest.approx(expected)
    nothing = named({})
    assert nothing[["mean_route_life_s", "mean_outage_s", "share_hops_1", "mean_route_hops"]].isna().all()
    assert (nothing["connected_share"], nothing["outages_per_s"]) == (0, 0)


def test_energy_is_power_times_time_in_each_state():
    nodes = [
        {NodeOut.TRANSMIT: 10 * S, NodeOut.RECEIVE: 5 * S, NodeOut.SENT: 30, NodeOut.FAILED: 3},
        {NodeOut.RECEIVE: 20 * S, NodeOut.SENT: 10, NodeOut.FAILED: 2},
        {NodeOut.OVERHEAR: 50 * S},
    ]
    power = {"transmit": "2 W", "receive": "1 W", "overhear": "0.5 W", "idle": "0.1 W", "battery": "360 J"}
    found = named({ManetOut.DELIVERED: 50}, nodes, energy=power)
    each = [10 * 2 + 5 * 1 + 85 * 0.1, 20 * 1 + 80 * 0.1, 50 * 0.5 + 50 * 0.1]
    assert (found["energy_source_J"], found["energy_sink_J"]) == pytest.approx(each[:2])
    assert (found["energy_J"], found["energy_most_J"]) == pytest.approx((sum(each), each[0]))
    assert found["joules_per_MB"] == pytest.approx(sum(each) / 0.05)
    assert found["network_life_s"] == pytest.approx(360 / (each[0] / 100))
    assert found["failed_attempt_ratio"] == 5 / 40
    assert np.isnan(named({}, nodes)["network_life_s"])
    assert np.isnan(named({}, nodes)["joules_per_MB"])


def test_overhearing_draws_what_receiving_does_unless_given():
    nodes = [{NodeOut.OVERHEAR: 50 * S}]
    power = {"receive": "3 W", "idle": "0 W"}
    assert named({}, nodes, energy=power)["energy_J"] == 150
    assert named({}, nodes, energy={**power, "overhear": "1 W"})["energy_J"] == 50


def test_nodes_that_are_not_there_draw_nothing():
    one, other = (build(scenario(nodes=n), replications=1).rows for n in (2, 5))
    launched = concatenate([one, other])
    width = ManetOut.COLUMNS + 5 * NodeOut.COLUMNS
    wide = np.zeros((2, width), np.int64)
    wide[:, ManetOut.ELAPSED] = 100 * S
    joules = energy_J(wide, launched)
    assert joules[0].tolist() == pytest.approx([84.3, 84.3, 0, 0, 0])
    assert joules[1] == pytest.approx([84.3] * 5)
    small = trim(wide[:1], launched, one)
    assert small.shape == (1, ManetOut.COLUMNS + 2 * NodeOut.COLUMNS)
    assert states_s(small, one)["idle"].tolist() == [[100, 100]]


def test_per_second_is_a_number_and_an_energy_has_its_unit():
    names = ("energy_J", "transfer_s", "outages_per_s", "joules_per_MB")
    assert [dimension(name).unit for name in names] == ["J", "s", "", ""]


def test_a_path_has_none_of_them():
    path = Scenario.check(
        {
            "duration": "1 s", "transport": {"protocol": "sack"}, "replications": 1,
            "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}],
        }
    )  # fmt: skip
    assert not OWN & {*simulate(path, target="cpu").frame}


@pytest.mark.full
def test_a_network_from_end_to_end():
    network = scenario(energy={"battery": "1 kJ"})
    found = simulate(network, target="cpu").frame
    # Everybody is in range: a segment and its acknowledgement take about 7.5 ms.
    assert (found["finished"] == 1).all()
    assert found["transfer_bps"].between(0.85e6, 1.15e6).all()
    assert (found["connected_share"] == 1).all()
    assert found["mean_degree"].tolist() == pytest.approx([2] * 6)
    assert (found["mean_route_hops"] == 1).all()
    assert np.allclose(found["elapsed_s"], 1 + found["transfer_s"], rtol=1e-12)
    assert (found["energy_source_J"] > found["energy_sink_J"]).all()
    idle = 3 * 0.843 * found["elapsed_s"]
    assert found["energy_J"].between(idle, 1.3 * idle).all()
    alone = simulate(network, first=2, replications=1, target="cpu").frame
    assert (alone.loc[2, list(OWN)].dropna() == found.loc[2, list(OWN)].dropna()).all()
    table = estimate(network, target="cpu", goals=["transfer_s <= 10 s", "energy_J <= 1 kJ"])
    assert table.goals["probability"].tolist() == [1, 1]
    assert table.table.loc["finished", "mean"] == 1 and "mean_cwnd_packets" not in table.table.index


@pytest.mark.full
def test_networks_of_many_sizes_run_in_one_launch():
    given = {
        "model": "given", "nodes": [[{"time": "0 s", "x": f"{100 * k} m"}] for k in range(5)]
    }  # fmt: skip
    jobs = [
        Job(scenario(nodes=2), 0, 2),
        Job(scenario(nodes=None, area=None, mobility=given, range="110 m", sink=4), 0, 2),
        Job(scenario(nodes=9, residual_error=0.1), 0, 2),
    ]
    together = simulate_all(jobs, target="cpu")
    for job, found in zip(jobs, together, strict=True):
        alone = simulate(job.scenario, replications=2, target="cpu")
        assert (alone.integers == found.integers).all()
    assert (together[1].frame["mean_route_hops"] == 4).all()
    assert (together[1].frame["link_changes_per_pair_s"] == 0).all()
    assert (together[2].frame["drops_random"] > 0).any()


def test_observation_may_go_on_after_the_transfer():
    found = simulate(scenario(observe="end", duration="20 s"), target="cpu").frame
    assert (found["elapsed_s"] == 20).all()
    assert (found["transfer_s"] < 5).all()
