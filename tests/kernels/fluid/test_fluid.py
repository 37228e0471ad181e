"""Fluid models: conservation, known results, and comparison with the packet models."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out, Rows
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP, UdpP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS
from netcarlo.kernels.shared.layout import (
    CODEL,
    PIE,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
)
from netcarlo.networks.shared.delays import table
from netcarlo.networks.shared.outcomes import Tables, tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns.benchmarks.fluid import LAYOUTS, shared
from tests.campaigns.benchmarks.fluid_paths import walk
from tests.kernels.beside_twin import run_as_python
from tests.tiers import parameters
from tests.twins.path.scenarios import tcp_rows, with_delays
from tests.twins.shared.scenarios import all_sctp, gauged_rows, managed_rows, shared_rows, stack

quick = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def run(rows: SharedRows, model: str = "fluid", **options: int) -> NDArray[np.int64]:
    return launch.run(models.model(model), rows, **options)  # type: ignore[arg-type]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_measuring_delays_changes_nothing_else() -> None:
    rows = gauged_rows(shared_rows(12, seed=2, kinds=range(9)), seed=2)
    plain = rows._replace(parameters=rows.parameters.copy())
    plain.parameters[:, Shared.DELAY_CLASSES] = 0
    out, alone = run_as_python("fluid_delays", rows), run(plain)
    assert (out[:, : alone.shape[1]] == alone).all()
    counts = table(out, rows)
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM:
        assert (counts[:, :, column] > 0).any(), column


def networks(model: str, seed: int) -> SharedRows:
    """Return random networks of a fluid model; the last two have SCTP. Links have AQM if the model has it."""
    rows = stack([shared_rows(6, seed=seed, kinds=range(9)), all_sctp(2, seed=seed)])
    if model == "fluid_aqm":
        rows = managed_rows(rows, seed=seed)
        rows.links[rows.links[..., Link.AQM] == PIE, Link.AQM] = CODEL
    return rows


MODELS = parameters(["fluid", "fluid_aqm"], full=["fluid_aqm"])


@pytest.mark.parametrize("model", MODELS)
@quick
@given(seed=st.integers(0, 1 << 30))
@example(seed=99).via("several round trips in a step of the fluid")
@example(seed=1332).via("a full link drops all ACKs, and some at random")
def test_what_goes_in_comes_out(model: str, seed: int) -> None:
    rows = networks(model, seed)
    both: Tables = tables(run(rows, model), rows)
    flows, links = both.flows, both.links
    fates = (FlowOut.RECEIVED, FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM, FlowOut.IN_FLIGHT)
    sent = flows[..., FlowOut.SENT] + flows[..., FlowOut.IN_FLIGHT_BEFORE]
    assert (sent == sum(flows[..., fate] for fate in fates)).all()
    assert (
        flows[..., FlowOut.DELIVERED] <= flows[..., FlowOut.RECEIVED] + flows[..., FlowOut.IN_FLIGHT_BEFORE]
    ).all()
    out = (LinkOut.DROPS, LinkOut.SENT, LinkOut.WAITING)
    all_of_it = rows.parameters[:, Shared.WARM_UP] == 0  # without a warm-up, queues are empty at first
    assert (links[..., LinkOut.ARRIVALS] == sum(links[..., way] for way in out))[all_of_it].all()
    assert (links >= 0).all() and (np.delete(flows, [FlowOut.COMPLETED, FlowOut.FINISHED], -1) >= 0).all()


def test_rows_do_not_depend_on_their_neighbours() -> None:
    rows = shared_rows(24, seed=3, kinds=range(9))
    together = run(rows, threads=2)
    assert (run(rows, threads=1) == together).all()
    some = rows._replace(parameters=rows.parameters[7:9], constants=rows.constants[7:9],
                         flows=rows.flows[7:9], links=rows.links[7:9])  # fmt: skip
    assert (run(some) == together[7:9]).all()


@pytest.mark.parametrize("model", MODELS)
@quick
@given(seed=st.integers(0, 1 << 30))
def test_no_link_carries_more_than_its_rate(model: str, seed: int) -> None:
    """Test that deliveries do not exceed the link rate, and queues do not exceed their capacity."""
    rows = networks(model, seed)
    p, flows, links = rows.parameters, *tables(run(rows, model), rows)
    span = (p[:, RowP.END] - p[:, Shared.WARM_UP])[:, None]
    assert (links[..., LinkOut.BUSY] <= span).all()
    room, waiting = rows.links[..., Link.QUEUE], links[..., LinkOut.WAITING]
    assert ((waiting <= room) | (room == 0)).all()
    sizes = rows.flows[..., [RowP.DATA, RowP.HEADER, RowP.CHUNK_HEADER]].sum(axis=-1)
    for hop in range(rows.links.shape[1]):
        last = rows.flows[..., Flow.ROUTE] == hop
        last &= (rows.flows[..., Flow.HOPS] > 0) & (np.arange(flows.shape[1]) < p[:, Shared.FLOWS, None])
        received = (flows[..., FlowOut.RECEIVED] * sizes * last).sum(axis=1)
        needs = received * (rows.links[:, hop, Link.BYTE_TIME] / 2.0**20)
        # Tolerance: packets in flight when counting began, the rounding of a step, and drops of a full queue,
        # which are counted a step later.
        before = (flows[..., FlowOut.IN_FLIGHT_BEFORE] * sizes * last).sum(axis=1)
        charged = 2 * sizes.max(axis=1) if model == "fluid_aqm" else 0
        slack = (before + charged) * (rows.links[:, hop, Link.BYTE_TIME] / 2.0**20) + 25e6
        assert (needs <= p[:, RowP.END] - p[:, Shared.WARM_UP] + slack).all()


def one_link(**values: object) -> Scenario:
    data = {
        "duration": "60 s",
        "warm_up": "20 s",
        "transport": {"protocol": "newreno", "window": "20 packets", "payload": "1000 B", "header": "40 B"},
        "shared": {
            "dumbbell": {"rate": "100 Mbit/s", "delay": "40 ms", "queue": "100 packets"},
            "access": {"source_delay": "9 ms", "sink_delay": "1 ms"},
            "flows": [{"count": 1}],
        },
    }
    return Scenario.check(data).with_values(values)


def goodput(scenario: Scenario, replications: int = 1) -> NDArray[np.float64]:
    ensemble = build(scenario, replications=replications)
    return outcomes(scenario.network, run(ensemble.rows), *ensemble).frame["goodput_bps"].to_numpy()


def test_a_window_limits_the_rate() -> None:
    rtt_s = 0.1 + 8 * 1080 / 100e6 + 4 * 8 * 540 / 1e9
    assert goodput(one_link())[0] == pytest.approx(20 * 8000 / rtt_s, rel=2e-4)


@pytest.mark.parametrize("access", ["1 Gbit/s", "2 Mbit/s"])
def test_what_is_in_flight_at_the_end_has_not_arrived(access: str) -> None:
    """Test a window of 20 packets: the share in flight to the receiver is one-way delay over round trip."""
    rows = build(
        one_link(**{"shared.access.source_rate": access, "shared.access.sink_rate": access}), replications=1
    ).rows
    flow = tables(run(rows), rows).flows[0, 0]
    back_s = 0.05 + 8 * 40 / 100e6
    forth_s = 0.05 + 8 * 1040 / 100e6 + 2 * 8 * 1040 / (2e6 if access == "2 Mbit/s" else 1e9)
    expected = 20 * forth_s / (forth_s + back_s)
    assert flow[FlowOut.IN_FLIGHT] == pytest.approx(expected, abs=1.01)


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_packets_on_an_idle_network_take_the_time_of_its_links() -> None:
    """Test 1,000-byte datagrams over cables of 2 Mbit/s, 9 and 1 ms, and a link of 100 Mbit/s and 40 ms."""
    stream = {"udp": {"rate": "100 kbit/s", "payload": "1000 B", "header": "0 B"}, "class": "video"}
    access = {"shared.access.source_rate": "2 Mbit/s", "shared.access.sink_rate": "2 Mbit/s"}
    rows = build(one_link(**access, **{"shared.flows": [stream], "duration": "30 s"}), replications=1).rows
    video = table(run_as_python("fluid_delays", rows), rows)[0, 0]
    mean_s = video[DelayOut.SUM] / video[DelayOut.PACKETS] * 1e-9
    assert mean_s == pytest.approx(0.05 + 2 * 8000 / 2e6 + 8000 / 100e6, rel=1e-4)
    assert video[DelayOut.PACKETS] == pytest.approx(12.5 * 10, abs=1.01)


def test_flows_alike_get_the_same() -> None:
    """Compare equal flows to the packet, without any loss; Vegas avoids loss by keeping the queue short."""
    for tcp, window in (("newreno", 20), ("cubic", 30), ("vegas", 300)):
        values = {"shared.dumbbell.queue": "3000 packets", "shared.flows.0.count": 5}
        rows = build(one_link(**values, **{"transport.window": window}), replications=1).rows
        rows.flows[..., Flow.KIND] = KINDS.index(tcp)
        flows = tables(run(rows), rows).flows[0]
        assert (flows == flows[0]).all() and flows[0, FlowOut.DELIVERED] > 1000


def test_a_network_on_which_all_takes_twice_as_long_carries_the_same_packets() -> None:
    """Compare networks with round trips of 20 and 40 ms, to detect times in a wrong unit."""
    values = {"shared.dumbbell.rate": "8 Mbit/s", "shared.dumbbell.delay": "8 ms", "transport.window": 60}
    access = {"shared.access.source_delay": "1 ms", "shared.access.sink_delay": "1 ms"}
    flows = [{"count": 3}, {"udp": {"rate": "1 Mbit/s", "payload": "500 B"}}]
    rows = build(
        one_link(**values, **access, **{"shared.flows": flows, "transport.min_rto": "0.2 s"}), replications=1
    ).rows
    slow = rows._replace(parameters=rows.parameters.copy(), flows=rows.flows.copy(), links=rows.links.copy())
    slow.parameters[:, [RowP.END, RowP.SAMPLE, Shared.WARM_UP]] *= 2
    slow.links[..., [Link.BYTE_TIME, Link.DELAY]] *= 2
    cables = [Flow.ACCESS, Flow.ACCESS_BACK, Flow.SOURCE_DELAY, Flow.SINK, Flow.SINK_BACK, Flow.SINK_DELAY]
    slow.flows[..., [RowP.START, ReliableP.MIN_RTO, UdpP.INTERVAL, TcpP.TICK, *cables]] *= 2
    before, after = tables(run(rows), rows), tables(run(slow), slow)
    counts = [FlowOut.SENT, FlowOut.DELIVERED, FlowOut.DROPS_QUEUE, FlowOut.FAST_RETRANSMITS]
    assert before.flows[..., FlowOut.DROPS_QUEUE].sum() > 20
    assert (before.flows[..., counts] == after.flows[..., counts]).all()
    assert after.links[..., LinkOut.BUSY] == pytest.approx(2 * before.links[..., LinkOut.BUSY], rel=1e-6)


def test_flows_that_fill_a_link_share_it_evenly() -> None:
    values = {"transport.window": 40, "shared.flows.0.count": 50, "shared.dumbbell.queue": "1000 packets"}
    scenario = one_link(**values)
    ensemble = build(scenario, replications=2)
    frame = outcomes(scenario.network, run(ensemble.rows), *ensemble).frame
    assert frame["goodput_bps"].to_numpy() == pytest.approx(100e6 * 1000 / 1040, rel=1e-3)
    assert (frame["utilisation"] <= 1 + 1e-6).all() and (frame["fairness"] > 0.999).all()


@pytest.mark.parametrize(("tcp", "factor"), [("newreno", 1.31), ("sack", 1.31), ("reno", 1.31)])
def test_random_loss_gives_the_inverse_square_root(tcp: str, factor: float) -> None:
    """Test the mean window under random loss without timeouts: 1.31 / sqrt(p)."""
    loss = 1e-3
    values: dict[str, object] = {"transport.window": 500, "shared.flows.0.count": 8}
    values |= {"shared.dumbbell.rate": "1 Gbit/s", "shared.dumbbell.loss": loss, "transport.protocol": tcp}
    per_flow = goodput(one_link(**values, **{"shared.dumbbell.reverse.loss": 0}), 16).mean() / 8
    assert per_flow == pytest.approx(factor / math.sqrt(loss) * 8000 / 0.1, rel=0.08)


@pytest.mark.full
def test_a_finite_flow_ends() -> None:
    scenario = one_link(warm_up="0 s", **{"transport.packets": 100})
    rows = build(scenario, replications=1).rows
    flow = tables(run(rows), rows).flows[0, 0]
    packets = tables(run(rows, "shared_mixed"), rows).flows[0, 0]
    assert flow[FlowOut.DELIVERED] == 100
    assert flow[FlowOut.COMPLETED] == pytest.approx(packets[FlowOut.COMPLETED], rel=0.15)
    assert run(build(one_link(), replications=1).rows)[0, SharedOut.COLUMNS + FlowOut.COMPLETED] == NEVER


def test_losses_of_days_outgrow_no_word() -> None:
    """Test a day of a stream of ten times the link rate, which loses about 95 million packets."""
    stream = {"udp": {"rate": "10 Mbit/s", "payload": "1000 B", "header": "0 B"}}
    values = {"shared.flows": [stream], "shared.dumbbell.rate": "1 Mbit/s", "duration": "86400 s"}
    scenario = one_link(**values)
    ensemble = build(scenario, replications=1)
    frame = outcomes(scenario.network, run(ensemble.rows), *ensemble).frame
    assert frame["drops_queue"][0] == pytest.approx(0.9 * 1250 * 86400, rel=0.01)
    assert frame["loss_ratio"][0] == pytest.approx(0.9, abs=0.01) and frame["utilisation"][0] <= 1


@pytest.mark.full
def test_goodput_is_near_that_of_packets() -> None:
    errors = []
    for layout in LAYOUTS:
        scenario = shared(layout)
        ensemble = build(scenario, replications=8)
        both = [
            outcomes(scenario.network, run(ensemble.rows, model), *ensemble).frame
            for model in ("fluid", "shared_mixed")
        ]
        errors.append(both[0]["tcp_goodput_bps"] / both[1]["tcp_goodput_bps"] - 1)
    assert np.median(np.abs(np.concatenate(errors))) < 0.05


def path(**values: object) -> Scenario:
    hop = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets"}
    data = {"duration": "120 s", "transport": {"protocol": "newreno", "window": 60}, "hops": [hop]}
    return Scenario.check(data).with_values(values)


def acked(model: str, rows: Rows) -> NDArray[np.int64]:
    return launch.run(models.model(model), rows)[:, Out.ACKED]


@pytest.mark.parametrize("down_s", [0.1, 1.0, 5.0])
def test_path_with_outages_is_near_packets(down_s: float) -> None:
    scenario = path(**{"hops.0.outages": {"up": "15 s", "down": f"{down_s} s"}})
    rows = build(scenario, replications=100).rows
    model = scenario.network.address(scenario, fluid=True).name
    cheap, exact = acked(model, rows), acked("tcp_newreno", rows)
    assert cheap.sum() == pytest.approx(exact.sum(), rel=0.06)
    assert np.corrcoef(cheap, exact)[0, 1] > 0.85


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_every_packet_that_a_path_delivers_has_a_delay() -> None:
    rows = with_delays(tcp_rows(60, seed=5), seed=5)
    out = run_as_python("fluid_newreno_delays", rows)
    assert (out[:, : len(Out)] == run_as_python("fluid_newreno", rows)).all()
    counts = out[:, len(Out) :]
    distinct = np.minimum(out[:, Out.DELIVERED], rows.parameters[:, RowP.LIMIT])
    assert (abs(counts[:, DelayOut.PACKETS] - distinct) <= 1).all()  # fractions of a packet are rounded
    assert (counts[:, DelayOut.LATE] > 0).any()


def test_a_path_that_is_down_carries_nothing() -> None:
    rows = build(path(**{"hops.0.outages": [{"start": "0 s", "duration": "1000 s"}]}), replications=1).rows
    assert launch.run(models.model("fluid_newreno"), rows)[0, Out.DELIVERED] == 0
    rows = build(path(), replications=1).rows
    assert rows.parameters[0, RowP.LIMIT] == ENDLESS
    out = launch.run(models.model("fluid_newreno"), rows)[0]
    fates = (Out.RECEIVED, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE)
    assert 0 <= out[Out.SENT] - sum(out[fate] for fate in fates) <= 60  # in flight
    assert out[Out.ACKED] == pytest.approx(10e6 * 120 / 8 / 1500, rel=0.02)


@pytest.mark.parametrize(
    ("transport", "problem"),
    [
        ({"protocol": "linux26", "congestion_control": "westwood"}, "westwood is 10 % below packets"),
        ({"protocol": "probing", "class": "video"}, "of probing, whose packets wait in pauses"),
        ({"protocol": "newreno", "congestion_control": "bic"}, "of sack and linux26 only, not bic"),
        ({"protocol": "newreno", "send_buffer": {"size": "100 kB"}}, "does not support send_buffer"),
    ],
)
def test_what_the_fluid_model_does_not_know(transport: dict[str, object], problem: str) -> None:
    data = {**path().model_dump(mode="json", exclude_none=True), "transport": transport}
    assert problem in unknown(Scenario.check(data))
    assert unknown(path()) == "" and unknown(one_link()) == ""


def test_the_fluid_of_probing_to_mobile_hosts_is_refused() -> None:
    assert "21 to 36 % above packets" in unknown(walk("fmipv6", "probing"))
    assert unknown(walk("fmipv6", "new_probing")) == ""


def unknown(scenario: Scenario) -> str:
    return scenario.network.unknown(scenario, "fluid")
