"""Outcomes computed from the integers of the 802.11 engine, and a cell from end to end."""

import numpy as np
import pytest

from netcarlo import estimate, simulate
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.base.rows import concatenate, trim
from netcarlo.kernels.wireless.layout import DELAY_LOW, FlowOut, NodeOut, WifiOut
from netcarlo.networks.outcome import declared
from netcarlo.networks.wireless import edca_outcomes
from netcarlo.networks.wireless.network import WirelessNetwork
from netcarlo.networks.wireless.outcomes import tables
from netcarlo.networks.wireless.output import quantile_s
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import outcomes
from netcarlo.simulation.simulate import simulate_all

EDCA = {outcome.name for outcome in edca_outcomes.OUTCOMES}
OWN = {outcome.name for outcome in declared(WirelessNetwork.outcomes)} - EDCA


def scenario(wireless, transport=None, **fields):
    data = {
        "duration": "3 s",
        "warm_up": "1 s",
        "replications": 4,
        "transport": transport or {"protocol": "udp", "rate": "20 Mbit/s", "payload": "1000 B"},
        "wireless": wireless,
    }
    return Scenario.check({**data, **fields})


def integers(flows, nodes):
    """Return a row of the engine with these columns, zero elsewhere, and times that did not happen."""
    found = np.zeros(WifiOut.COLUMNS + len(flows) * FlowOut.COLUMNS + len(nodes) * NodeOut.COLUMNS, np.int64)
    by_flow, by_node = tables(found[None], flows=len(flows))
    for column in (FlowOut.FIRST_RX, FlowOut.LAST_RX, FlowOut.COMPLETED, FlowOut.SOURCE_DONE):
        by_flow[:, :, column] = NEVER
    for table, given in ((by_flow, flows), (by_node, nodes)):
        for k, entry in enumerate(given):
            for column, value in entry.items():
                table[0, k, column] = value
    return found[None]


def named(flows, nodes, **fields):
    asked = scenario(**fields)
    return outcomes(asked.network, integers(flows, nodes), *build(asked, replications=1)).frame.iloc[0]


def test_flows_are_summed_up():
    flows = [
        {"source": 0, "udp": {"rate": "8 Mbit/s", "payload": "500 B", "header": "100 B"}},
        {"source": 1},
    ]
    found = named(
        [
            {FlowOut.SENT: 1000, FlowOut.DELIVERED: 800, FlowOut.RECEIVED: 810, FlowOut.DROPS_SOURCE: 120,
             FlowOut.DROPS_RELAY: 30, FlowOut.RETRY_LOST: 45, FlowOut.IN_FLIGHT: 5,
             FlowOut.FIRST_RX: 2 * 10**9, FlowOut.ARRIVED: 790, FlowOut.LOST: 200},
            {FlowOut.SENT: 250, FlowOut.DELIVERED: 230, FlowOut.RECEIVED: 240, FlowOut.IN_ORDER: 200,
             FlowOut.RETRANSMITTED: 10, FlowOut.TIMEOUTS: 2, FlowOut.ACKS_LOST: 3, FlowOut.FIRST_RX: 10**9},
        ],
        [{}] * 3,
        wireless={"cell": {"stations": 2}, "flows": flows},
        transport={"protocol": "sack", "payload": "1000 B", "header": "40 B"},
    )  # fmt: skip
    goodput = 800 * 500 * 8 / 2, 200 * 1000 * 8 / 2  # TCP's counts in order, over the 2 s after the warm-up
    assert found["goodput_bps"] == sum(goodput)
    assert found["throughput_bps"] == 810 * 600 * 8 / 2 + 240 * 1040 * 8 / 2
    assert found["fairness"] == pytest.approx(sum(goodput) ** 2 / 2 / (goodput[0] ** 2 + goodput[1] ** 2))
    assert found["loss_ratio"] == pytest.approx(0.2)  # of UDP only
    assert found["loss_source"] == pytest.approx(120 / 1250)
    assert (found["loss_relay"], found["loss_retries"]) == (30 / 1250, 45 / 1250)
    assert (found["sent"], found["delivered"], found["in_flight"]) == (1250, 1030, 5)
    assert (found["retransmitted"], found["timeouts"], found["ack_drops"]) == (10, 2, 3)
    assert found["first_delivery_s"] == 1
    assert np.isnan(found["completion_s"])
    assert np.isnan(found["best_bps"])


def test_nodes_are_summed_up():
    nodes = [
        {NodeOut.ATTEMPTS: 300, NodeOut.FAILED: 60, NodeOut.AIR_DATA: 10**9, NodeOut.QUEUE_SUM: 4 * 10**6},
        {NodeOut.ATTEMPTS: 100, NodeOut.RETRY_DROPS: 2, NodeOut.COLLIDED: 7, NodeOut.AIR_FAILED: 2 * 10**8},
        {NodeOut.NOISE: 9, NodeOut.AIR_CONTROL: 10**8},
    ]
    found = named([{}] * 2, nodes, wireless={"cell": {"stations": 2}})
    assert (found["attempts"], found["attempts_station"], found["failed_attempt_ratio"]) == (400, 300, 0.15)
    assert (found["retry_drops"], found["collisions"], found["noise_losses"]) == (2, 7, 9)
    assert (found["air_data"], found["air_failed"], found["air_control"]) == (0.5, 0.1, 0.05)
    assert found["mean_queue"] == 2  # 4e6 frame us in 2 s


def test_a_finite_transfer_counts_until_it_is_complete():
    flows = [{FlowOut.COMPLETED: 2 * 10**9, FlowOut.SOURCE_DONE: 19 * 10**8, FlowOut.IN_ORDER: 50,
              FlowOut.BEST: 30, FlowOut.DELIVERED: 50, FlowOut.DELAY_SUM: 10**6}]  # fmt: skip
    found = named(
        flows, [{}] * 2, wireless={"cell": {"stations": 1}, "best_interval": "0.5 s"}, warm_up="0 s",
        transport={"protocol": "sack", "payload": "1000 B", "start": "0.5 s", "packets": 50},
    )  # fmt: skip
    assert found["completion_s"] == 1.5
    assert found["source_done_s"] == pytest.approx(1.4)
    assert found["goodput_bps"] == 50 * 8000 / 1.5
    assert found["best_bps"] == 30 * 8000 / 0.5
    assert found["mean_delay_s"] == 0.02


def test_what_did_not_happen_has_no_time():
    found = named([{}] * 2, [{}] * 2, wireless={"cell": {"stations": 1}, "flows": [{}, {}]})
    times = ["first_delivery_s", "last_delivery_s", "completion_s", "source_done_s"]
    assert found[[*times, "mean_delay_s", "loss_ratio"]].isna().all()


def test_delays_of_days_outgrow_no_word():
    """Sums of delays fit: twice the capacity of the wire fills a queue of 65,536 packets of 0.8 s."""
    wire = {"rate": "1 kbit/s", "queue": 65536}
    transport = {"protocol": "udp", "rate": "2 kbit/s", "payload": "100 B", "header": "0 B"}
    days = scenario({"cell": {"stations": 1}, "wire": wire}, transport, duration="400000 s", warm_up="0 s")
    full_s = 65536 * 0.8
    found = simulate(days, replications=1, target="cpu").frame
    assert found["mean_delay_s"][0] == pytest.approx(full_s * (1 - full_s / 400000), rel=1e-3)


def test_quantiles_of_the_delay_lie_in_their_bins():
    bin_of = FlowOut.DELAYS + 4 * (20 - DELAY_LOW)  # from 2**20 ns on, a quarter octave wide
    found = named([{bin_of: 90, bin_of + 8: 10}], [{}] * 2, wireless={"cell": {"stations": 1}})
    assert found["delay_p50_s"] == pytest.approx(2**20 * (1 + 50 / 90 / 4) / 1e9)
    assert found["delay_p95_s"] == pytest.approx(2**22 * (1 + 0.5 / 4) / 1e9)
    assert np.isnan(named([{}], [{}] * 2, wireless={"cell": {"stations": 1}})["delay_p50_s"])


def test_a_frame_has_the_outcomes_of_its_own_network():
    path = Scenario.check(
        {
            "duration": "1 s", "transport": {"protocol": "sack"}, "replications": 1,
            "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}],
        }
    )  # fmt: skip
    assert not OWN & {*simulate(path, target="cpu").frame}
    wifi = named([{}], [{}] * 2, wireless={"cell": {"stations": 1}})
    assert not {"acked", "mean_cwnd_packets", "mean_rtt_s", "handovers"} & {*wifi}


def test_a_launch_of_several_sizes_is_cut_to_each():
    parts = [build(scenario({"cell": {"stations": n}}), replications=1).rows for n in (1, 3)]
    launched = concatenate(parts)
    width = WifiOut.COLUMNS + 3 * FlowOut.COLUMNS + 4 * NodeOut.COLUMNS
    wide = np.arange(2 * width).reshape(2, width)
    small, large = (trim(wide[[k]], launched, part) for k, part in enumerate(parts))
    assert (large == wide[1]).all()
    flows, nodes = tables(small, flows=1)
    everything = tables(wide, flows=3)
    assert (flows[0] == everything.flows[0, :1]).all()
    assert (nodes[0] == everything.nodes[0, :2]).all()


def test_a_cell_from_end_to_end():
    cell = scenario({"cell": {"stations": 3}})
    found = simulate(cell, target="cpu").frame
    # 54 Mbit/s: with 1064 bytes in 160 us, 10 us, 34 us, 28 us and some slots, about 27 Mbit/s.
    assert found["goodput_bps"].between(24e6, 30e6).all()
    assert found["fairness"].between(0.9, 1).all()
    assert found["failed_attempt_ratio"].between(0.1, 0.25).all()  # Bianchi: 0.18
    sent = found[["loss_source", "loss_retries"]].sum(axis=1)
    assert (found["loss_ratio"] - sent).abs().max() < 0.02  # queues changed since the warm-up
    alone = simulate(cell, first=2, replications=1, target="cpu").frame
    assert (alone.loc[2, list(OWN)].dropna() == found.loc[2, list(OWN)].dropna()).all()
    table = estimate(cell, target="cpu", goals=["fairness >= 0.5"]).table
    assert table.loc["goodput_bps", "n"] == 4
    assert "acked" not in table.index


def test_networks_of_many_sizes_run_in_one_launch():
    jobs = [Job(scenario({"chain": {"hops": hops}, "wire": {}}), 0, 2) for hops in (1, 3)]
    together = simulate_all(jobs, target="cpu")
    for job, found in zip(jobs, together, strict=True):
        alone = simulate(job.scenario, replications=2, target="cpu")
        assert (alone.integers == found.integers).all()


def test_a_goal_of_baseline_is_for_sweeps():
    with pytest.raises(InputError, match="baseline is supported only in sweeps"):
        estimate(scenario({"cell": {"stations": 1}}), goals=["goodput_bps >= 95 % of baseline"])


@pytest.mark.parametrize(("flows", "own"), [("up", "burst"), ("down", "gateway_burst")])
def test_the_gateway_may_have_bursts_of_its_own(flows, own):
    """Only the burst length of the sending node counts if one of two nodes sends data."""

    def frames(**bursts):
        network = {"cell": {"stations": 1}, "flows": flows, **bursts}
        transport = {"protocol": "udp", "rate": "50 Mbit/s", "payload": "1000 B"}
        return simulate(scenario(network, transport), replications=2, target="cpu").integers

    other = {"burst": "gateway_burst", "gateway_burst": "burst"}[own]
    assert (frames(**{own: 4, other: 1}) == frames(burst=4)).all()
    assert (frames(**{own: 1, other: 4}) == frames(burst=1)).all()
    assert frames(burst=4).tolist() != frames(burst=1).tolist()


def segments_an_ack(**receiver):
    """Return segments per ACK of a bulk transfer of 1448-byte segments to an application that reads 8 KiB
    at once."""
    transport = {"protocol": "sack", "payload": "1448 B", "window": 36, "initial_window": 36, "ack_every": 2}
    network = {"cell": {"stations": 1}, "queue": 100, "receiver": {"read": "8 KiB", **receiver}}
    (outcomes_,) = simulate_all([Job(scenario(network, transport), 0, 1)], target="cpu")
    flows, _ = tables(outcomes_.integers, flows=1)
    return flows[0, 0, FlowOut.RECEIVED] / flows[0, 0, FlowOut.ACKS_SENT]


def test_acks_follow_the_reads_of_a_receiver_that_lags():
    """With 0.3 ms of airtime per segment, a fast host acknowledges every second one, a slow one 8 KiB at
    once."""
    assert segments_an_ack(read_time="0.1 ms") == pytest.approx(2, abs=0.05)
    assert segments_an_ack(read_time="1 ms") == pytest.approx(8192 / 1448, abs=0.05)
    # Interrupts have priority: of each 0.5 ms about 0.25 ms remain, too little to read all data.
    assert segments_an_ack(read_time="0.4 ms", packet_time="0.2 ms") > 4


def test_reading_keeps_the_processor_busy():
    """A segment takes 0.4 + 0.6 ms, which is 1448 bytes per millisecond, and every ACK of 8192 bytes takes
    0.5 ms.
    """
    transport = {"protocol": "sack", "payload": "1448 B", "window": 36, "ack_every": 2}
    times = {"packet_time": "0.4 ms", "read_time": "0.6 ms", "ack_time": "0.5 ms"}
    network = {"cell": {"stations": 1}, "receiver": {"read": "8 KiB", **times}}
    found = simulate(scenario(network, transport, duration="5 s"), replications=1, target="cpu").frame
    a_read = 8192 / 1448 * 1e-3 + 0.5e-3
    assert found["goodput_bps"].iloc[0] == pytest.approx(8 * 8192 / a_read, rel=0.005)


def test_each_quantile_of_the_delay_is_that_of_its_level():
    """With 50, 45, 4 and 1 of 100 packets in four bins, a level is reached at the end of its bin."""
    flows = np.zeros((1, 1, FlowOut.COLUMNS), np.int64)
    for place, count in ((10, 50), (20, 45), (30, 4), (40, 1)):
        flows[..., FlowOut.DELAYS + place] = count
    for share, level in ((0.5, 11), (0.95, 21), (0.99, 31)):
        edge = 2.0 ** (DELAY_LOW + level // 4) * (1 + level % 4 / 4) * 1e-9
        assert quantile_s(flows, share)[0] == pytest.approx(edge), share
