"""Outcomes computed from the integers of the shared engine, small networks from end to end, and their
references."""

import numpy as np
import pytest

from netcarlo import InputError, estimate, simulate, trace, validate
from netcarlo.estimation.reference import load_mapping, read_rows
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.base.rows import concatenate, trim
from netcarlo.kernels.shared.layout import FlowOut, LinkOut, SharedOut
from netcarlo.networks.outcome import declared
from netcarlo.networks.shared.outcomes import OUTCOMES, by_flow, by_link, tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import outcomes
from netcarlo.simulation.simulate import simulate_all
from netcarlo.studies.cells import Cell

S = 10**9


def scenario(flows, layout=None, **fields):
    data = {
        "duration": "12 s",
        "warm_up": "2 s",
        "replications": 3,
        "transport": {"protocol": "newreno", "payload": "1000 B", "window": 32},
        "shared": {**(layout or {"dumbbell": {"rate": "8 Mbit/s", "delay": "10 ms"}}), "flows": flows},
    }
    return Scenario.check({**data, **fields})


def integers(rows, flows, links):
    """Return a row of the engine with these columns, zero elsewhere, and times that did not happen."""
    f, k = rows.flows.shape[1], rows.links.shape[1]
    found = np.zeros((1, SharedOut.COLUMNS + f * FlowOut.COLUMNS + k * LinkOut.COLUMNS), np.int64)
    by_number = tables(found, rows)
    by_number.flows[:, :, [FlowOut.COMPLETED, FlowOut.FINISHED]] = NEVER
    for table, given in zip(by_number, (flows, links), strict=True):
        for i, entry in enumerate(given):
            for column, value in entry.items():
                table[0, i, column] = value
    return found


def test_flows_and_links_are_summed_up():
    flows = [{}, {"packets": 500, "start": "4 s"}, {"udp": {"rate": "1 Mbit/s", "payload": "500 B"}}]
    asked = scenario(flows)
    rows, drawn = build(asked, replications=1)
    made = integers(
        rows,
        [
            {FlowOut.SENT: 2100, FlowOut.ACKED: 1630, FlowOut.USEFUL: 1600 * 1000,
             FlowOut.TIMEOUTS: 3, FlowOut.RECEIVED: 2050, FlowOut.IN_ORDER: 2010,
             FlowOut.CWND_SUM: 10 * 1024 * 50, FlowOut.SAMPLES: 50,
             FlowOut.RTT_SUM: 3 * S, FlowOut.RTT_SAMPLES: 20},
            {FlowOut.SENT: 510, FlowOut.ACKED: 500, FlowOut.USEFUL: 500 * 1000, FlowOut.TIMEOUTS: 1,
             FlowOut.COMPLETED: 6 * S},
            {FlowOut.SENT: 1010, FlowOut.RECEIVED: 900, FlowOut.DROPS_QUEUE: 60, FlowOut.DROPS_RANDOM: 40,
             FlowOut.USEFUL: 750 * 500, FlowOut.IN_FLIGHT: 10},
        ],
        [
            {LinkOut.BUSY: 8 * S, LinkOut.ARRIVALS: 4000, LinkOut.ARRIVALS_BEFORE: 1000,
             LinkOut.DROPS: 130, LinkOut.DROPS_BEFORE: 30, LinkOut.SENT: 4800, LinkOut.QUEUE_SUM: 70 * S,
             LinkOut.WAIT_MAX: S // 5},
            {LinkOut.BUSY: S, LinkOut.SENT: 2600},
        ],
    )  # fmt: skip
    found = outcomes(asked.network, made, rows, drawn).frame.iloc[0]
    endless, download, stream = 1600 * 8000 / 10, 500 * 8000 / 2, 750 * 4000 / 10
    assert found["goodput_bps"] == pytest.approx((1600 * 8000 + 500 * 8000 + 750 * 4000) / 10)
    assert found["tcp_goodput_bps"] == pytest.approx(2100 * 8000 / 10)
    assert found["acked_bps"] == pytest.approx((1630 + 500) * 8000 / 10)
    assert found["worst_flow_bps"] == pytest.approx(min(endless, download))
    assert found["best_flow_bps"] == pytest.approx(max(endless, download))
    assert found["mean_flow_bps"] == found["newreno_bps"] == pytest.approx((endless + download) / 2)
    assert found["udp_bps"] == pytest.approx(stream)
    assert np.isnan(found["vegas_bps"])
    squares = endless**2 + download**2
    assert found["fairness"] == pytest.approx((endless + download) ** 2 / (2 * squares))
    assert found["loss_ratio"] == pytest.approx(0.1)
    assert (found["sent"], found["timeouts"], found["acked"], found["in_order"]) == (3620, 4, 2130, 2010)
    made[:, SharedOut.EVENTS] = 10**6
    assert Cell({}, scenario(flows), made).packets == 3620
    assert found["utilisation"] == pytest.approx(0.8)
    assert found["drop_ratio"] == pytest.approx(100 / 4000)
    assert found["mean_queue"] == pytest.approx(7)
    assert (found["transmissions"], found["longest_wait_s"]) == (7400, 0.2)
    assert (found["mean_cwnd_packets"], found["mean_rtt_s"]) == (10, 0.15)
    times = found[["completion_mean_s", "completion_p95_s", "completion_s", "completed_share"]]
    assert times.tolist() == [2, 2, 2, 1]
    each = by_flow(made, rows)
    np.testing.assert_allclose(each["goodput_bps"][0], [endless, download, stream])
    np.testing.assert_allclose(each["base_rtt_s"][0], 0.02)
    np.testing.assert_allclose(by_link(made, rows)["utilisation"][0], [0.8, 0.1])


def test_the_quantile_of_completion_times_is_that_of_its_name():
    asked = scenario([{"count": 21, "each": {"packets": 10}}])
    rows, drawn = build(asked, replications=1)
    made = integers(rows, [{FlowOut.COMPLETED: k * S} for k in range(1, 22)], [])
    found = outcomes(asked.network, made, rows, drawn).frame.iloc[0]
    assert found["completion_p95_s"] == pytest.approx(20)  # of 1, 2, ... 21 s
    assert (found["completion_mean_s"], found["completion_s"], found["completed_share"]) == (11, 21, 1)


def test_transfers_that_do_not_arrive_are_no_times():
    flows = [{"packets": 10}, {"packets": 20}, {}]
    asked = scenario(flows)
    rows, drawn = build(asked, replications=1)
    made = integers(rows, [{FlowOut.COMPLETED: 3 * S, FlowOut.ACKED: 10}, {FlowOut.ACKED: 5}], [])
    found = outcomes(asked.network, made, rows, drawn).frame.iloc[0]
    assert found["completed_share"] == 0.5
    assert found["completion_mean_s"] == 3
    assert np.isnan(found["completion_s"])


@pytest.mark.full
@pytest.mark.parametrize("fidelity", ["packet", "fluid"])
def test_the_queue_of_ten_days_outgrows_a_word(fidelity):
    """The integral of the queue exceeds one word: twice the capacity arrives, and 1.08 million packets
    wait at last."""
    found = simulate(
        scenario(
            [{"udp": {"rate": "2 kbit/s", "payload": "100 B", "header": "0 B"}}],
            {"dumbbell": {"rate": "1 kbit/s", "delay": "10 ms", "queue": "unlimited"}},
            duration="864000 s", warm_up="0 s", sample_interval="86400 s", fidelity=fidelity,
        ),
        replications=1, target="cpu",
    )  # fmt: skip
    assert found.frame["mean_queue"][0] == pytest.approx(1.08e6 / 2, rel=1e-3)


def test_a_dumbbell_from_end_to_end():
    flows = [{"count": 4, "each": {"start": {"uniform": ["0 s", "1 s"]}}}, {"udp": {"rate": "1 Mbit/s"}}]
    found = estimate(scenario(flows), target="cpu")
    mean = found.table["mean"]
    # The link carries 1,040 B for each 1,000 B of payload, and the stream's datagrams.
    assert mean["utilisation"] == pytest.approx(1, abs=0.01)
    assert mean["udp_bps"] == pytest.approx(1e6, rel=0.03)
    assert mean["tcp_goodput_bps"] == pytest.approx((8e6 - 1e6 * 1498 / 1470) / 1.04, rel=0.02)
    assert mean["goodput_bps"] == pytest.approx(mean["tcp_goodput_bps"] + mean["udp_bps"], rel=1e-3)
    assert mean["worst_flow_bps"] < mean["mean_flow_bps"] < mean["best_flow_bps"]
    own = [outcome.name for outcome in declared(OUTCOMES) if outcome.name in found.table.index]
    assert found.table["n"][own].max() == 3
    rows = build(found.scenario).rows
    each = by_flow(found.outcomes.integers, rows)
    assert np.nansum(each["goodput_bps"][:, :4], axis=1) == pytest.approx(
        found.outcomes.frame["tcp_goodput_bps"].to_numpy()
    )


def test_a_scenario_is_the_same_alone_and_beside_others():
    tree = {"tree": {"routers": {"integers": [3, 6]}, "each": {"rate": "2 Mbit/s", "delay": "5 ms"}}}
    small = scenario([{"count": 2}], duration="4 s", warm_up="1 s")
    large = scenario([{"count": {"integers": [1, 6]}}], tree, duration="4 s", warm_up="1 s")
    jobs = [Job(small, 0, 2), Job(large, 0, 4), Job(large, 2, 1)]
    beside = simulate_all(jobs, target="cpu")
    for job, found in zip(jobs, beside, strict=True):
        alone = simulate(job.scenario, first=job.first, replications=job.replications, target="cpu")
        np.testing.assert_array_equal(found.frame.to_numpy(), alone.frame.to_numpy())
        np.testing.assert_array_equal(found.integers, alone.integers)
    np.testing.assert_array_equal(beside[1].frame["goodput_bps"][2:3], beside[2].frame["goodput_bps"])
    parts = [build(job.scenario, first=job.first, replications=job.replications).rows for job in jobs]
    joint = concatenate(parts)
    wide = np.arange(2 + joint.flows.shape[1] * FlowOut.COLUMNS + joint.links.shape[1] * LinkOut.COLUMNS)
    mine = trim(np.tile(wide, (2, 1)), joint, parts[0])
    assert mine.shape[1] == 2 + 2 * FlowOut.COLUMNS + 2 * LinkOut.COLUMNS
    assert mine[0, 2 + 2 * FlowOut.COLUMNS] == 2 + joint.flows.shape[1] * FlowOut.COLUMNS


SCENARIOS = """\
id,kind,duration_s,warmup_s,start_jitter_s,n_seeds,total_tcp_goodput_Bps_mean,total_tcp_goodput_Bps_sd,\
jain_index_mean,jain_index_sd,data_packets_mean,data_packets_sd,link_transmissions_mean,link_transmissions_sd
7,dumbbell,12,2,1.0,4,900000,1000,0.9,0.01,12000,100,20000,100
"""
FLOWS = """\
id,flow,proto,access_rate_bps,access_src_delay_ms,access_dst_delay_ms,packet_bytes,window_packets,cbr_bps,start_s,\
route,base_rtt_ms,goodput_Bps_mean,goodput_Bps_sd,acked_packets_mean,sent_packets_mean,rexmit_packets_mean,\
timeouts_mean,cwnd_reductions_mean,mean_cwnd_packets_mean,mean_rtt_s_mean
7,0,Newreno,1000000000,1.0,2.5,1000,32,,0.5,0,27,450000,5000,5000,5000,10,0,10,20,0.04
7,1,UDP,1000000000,1.0,2.5,500,,800000,0.1,0,27,100000,10,2000,2000,,,,,
7,2,Newreno,1000000000,30.0,2.5,1000,32,,0.5,0,85,450000,5000,5000,5000,10,0,10,20,0.04
"""
LINKS = """\
id,link,from_router,to_router,rate_bps,delay_ms,queue_packets,packet_error_rate,utilisation_mean,utilisation_sd,\
drop_ratio_mean,mean_queue_packets_mean,arrivals_mean,queue_drops_mean
7,0,0,1,8000000,10,20,0.0,0.99,0.01,0.002,10,12000,30
7,1,1,0,8000000,10,10000,0.0,0.04,0.001,0,0,10000,0
"""


@pytest.fixture
def reference(tmp_path):
    for name, text in (("", SCENARIOS), ("_flows", FLOWS), ("_links", LINKS)):
        (tmp_path / f"ns2_shared{name}.csv").write_text(text)
    return tmp_path / "ns2_shared.csv"


def test_three_files_are_one_reference(reference):
    row = read_rows(reference, load_mapping("ns2_shared"))[0]
    shared = row.scenario.shared
    assert [link.ends for link in shared.links] == [(0, 1), (1, 0)]
    assert [flow.route for flow in shared.flows] == [[0]] * 3
    assert shared.flows[1].udp.rate == 800000 and shared.flows[0].start.values == (0.5, 1.5)
    assert [part.classes[0] for part in row.parts["links"]] == ["bottleneck, dumbbell", "others"]
    found = validate(reference, target="cpu").rows.set_index(["id", "metric", "class"]).sort_index()
    total = found.loc[("7", "total_tcp_goodput_Bps", "dumbbell"), "estimate"]
    each = [found.loc[(f"7/{k}", "goodput_Bps", "Newreno"), "estimate"] for k in (0, 2)]
    assert total == pytest.approx(sum(each))
    stream = found.loc[("7/1", "goodput_Bps", "UDP")]
    assert stream["estimate"] == pytest.approx(100000, rel=0.03)
    assert stream["rel_error"] == pytest.approx(stream["estimate"] / 100000 - 1)
    assert found.loc[("7/0", "utilisation", "bottleneck, dumbbell"), "estimate"] == pytest.approx(
        0.95, abs=0.05
    )
    # A row of a flow is in one class of every kind.
    assert len(found.loc[("7/0", "goodput_Bps")]) == 3


def test_a_scenario_without_its_flows_is_no_reference(reference):
    (reference.parent / "ns2_shared_flows.csv").write_text(FLOWS.replace("\n7,", "\n8,"))
    with pytest.raises(InputError, match="row 7 has no rows in the file of flows"):
        read_rows(reference, load_mapping("ns2_shared"))


def test_there_is_no_trace_of_a_fluid():
    allowed = "supported: packets over paths, wireless, adhoc and shared"
    with pytest.raises(InputError, match=f"traces of fidelity fluid are not supported; {allowed}"):
        trace(scenario([{}], fidelity="fluid"))
