"""The fluid models: a naive twin, what is conserved, known answers, and packets beside them."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo import Scenario
from netcarlo.kernels import models
from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out, P, Rows
from netcarlo.kernels.fluid import chance
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import FlowOut, LinkOut, Shared, SharedOut, SharedRows
from netcarlo.networks.shared.delays import table
from netcarlo.networks.shared.outcomes import Tables, tables
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns.benchmarks.fluid import LAYOUTS, shared
from tests.kernels.beside_twin import differing
from tests.twins.fluid import path as fluid_path
from tests.twins.fluid.shared import simulate
from tests.twins.path.scenarios import tcp_rows, with_delays
from tests.twins.shared.scenarios import describe, gauged_rows, shared_rows

quick = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def run(rows: SharedRows, model: str = "fluid", **options: int) -> NDArray[np.int64]:
    return launch.run(models.model(model), rows, **options)  # type: ignore[arg-type]


def name(rows: SharedRows, column: int) -> str:
    place = column - SharedOut.COLUMNS
    if place < 0:
        return SharedOut(column).name
    flow, k = divmod(place, FlowOut.COLUMNS)
    if flow < rows.flows.shape[1]:
        return f"flow {flow} {FlowOut(k).name}"
    link, k = divmod(place - rows.flows.shape[1] * FlowOut.COLUMNS, LinkOut.COLUMNS)
    return f"link {link} {LinkOut(k).name}"


def twin_differs(rows: SharedRows, model: str = "fluid") -> list[str]:
    return differing(
        run(rows, model), lambda row: simulate(rows, row=row), partial(describe, rows), partial(name, rows)
    )


def test_kernel_equals_twin_in_the_corners() -> None:
    found = twin_differs(shared_rows(40, seed=1, kinds=range(9)))
    assert not found, "\n\n".join(found)


def test_delays_are_those_of_the_twin_and_change_nothing_else() -> None:
    rows = gauged_rows(shared_rows(40, seed=2, kinds=range(9)), seed=2)
    found = twin_differs(rows, "fluid_delays")
    assert not found, "\n\n".join(found)
    plain = rows._replace(parameters=rows.parameters.copy())
    plain.parameters[:, Shared.GAUGES] = 0
    out, alone = run(rows, "fluid_delays"), run(plain)
    assert (out[:, : alone.shape[1]] == alone).all()
    counts = table(out, rows)
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM:
        assert (counts[:, :, column] > 0).any(), column


@pytest.mark.parametrize("layout", LAYOUTS)
def test_kernel_equals_twin_on_drawn_networks(layout: str) -> None:
    scenario = shared(layout).with_values({"duration": "6 s", "warm_up": "2 s"})
    found = twin_differs(build(scenario, replications=2).rows)
    assert not found, "\n\n".join(found)


@quick
@given(seed=st.integers(0, 1 << 30))
@example(seed=99).via("several round trips in a step of the fluid")
@example(seed=1332).via("a full link drops all ACKs, and some at random")
def test_what_goes_in_comes_out(seed: int) -> None:
    rows = shared_rows(6, seed=seed, kinds=range(9))
    both: Tables = tables(run(rows), rows)
    flows, links = both.flows, both.links
    fates = (FlowOut.RECEIVED, FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM, FlowOut.IN_FLIGHT)
    sent = flows[..., FlowOut.SENT] + flows[..., FlowOut.IN_FLIGHT_BEFORE]
    assert (sent == sum(flows[..., fate] for fate in fates)).all()
    assert (
        flows[..., FlowOut.DELIVERED] <= flows[..., FlowOut.RECEIVED] + flows[..., FlowOut.IN_FLIGHT_BEFORE]
    ).all()
    out = (LinkOut.DROPS, LinkOut.SENT, LinkOut.WAITING)
    all_of_it = rows.parameters[:, Shared.WARM_UP] == 0  # nothing waits when counting begins
    assert (links[..., LinkOut.ARRIVALS] == sum(links[..., way] for way in out))[all_of_it].all()
    assert (links >= 0).all() and (np.delete(flows, [FlowOut.COMPLETED, FlowOut.FINISHED], -1) >= 0).all()


def test_rows_do_not_depend_on_their_neighbours() -> None:
    rows = shared_rows(24, seed=3, kinds=range(9))
    together = run(rows, threads=2)
    assert (run(rows, threads=1) == together).all()
    some = rows._replace(parameters=rows.parameters[7:9], constants=rows.constants[7:9],
                         flows=rows.flows[7:9], links=rows.links[7:9])  # fmt: skip
    assert (run(some) == together[7:9]).all()


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


def test_flows_that_fill_a_link_share_it_evenly() -> None:
    values = {"transport.window": 40, "shared.flows.0.count": 50, "shared.dumbbell.queue": "1000 packets"}
    scenario = one_link(**values)
    ensemble = build(scenario, replications=2)
    frame = outcomes(scenario.network, run(ensemble.rows), *ensemble).frame
    assert frame["goodput_bps"].to_numpy() == pytest.approx(100e6 * 1000 / 1040, rel=1e-3)
    assert (frame["utilisation"] <= 1 + 1e-6).all() and (frame["fairness"] > 0.999).all()


@pytest.mark.parametrize(("tcp", "factor"), [("newreno", 1.31), ("sack", 1.31), ("reno", 1.31)])
def test_random_loss_gives_the_inverse_square_root(tcp: str, factor: float) -> None:
    """The mean of a window that grows by one and halves at random is 1.31 / sqrt(p), without timeouts."""
    loss = 1e-3
    values: dict[str, object] = {"transport.window": 500, "shared.flows.0.count": 8}
    values |= {"shared.dumbbell.rate": "1 Gbit/s", "shared.dumbbell.loss": loss, "transport.protocol": tcp}
    per_flow = goodput(one_link(**values, **{"shared.dumbbell.reverse.loss": 0}), 16).mean() / 8
    assert per_flow == pytest.approx(factor / math.sqrt(loss) * 8000 / 0.1, rel=0.08)


def test_a_finite_flow_ends() -> None:
    scenario = one_link(warm_up="0 s", **{"transport.packets": 100})
    rows = build(scenario).rows
    flow = tables(run(rows), rows).flows[0, 0]
    packets = tables(run(rows, "shared_mixed"), rows).flows[0, 0]
    assert flow[FlowOut.DELIVERED] == 100
    assert flow[FlowOut.COMPLETED] == pytest.approx(packets[FlowOut.COMPLETED], rel=0.15)
    assert run(build(one_link()).rows)[0, SharedOut.COLUMNS + FlowOut.COMPLETED] == NEVER


def test_losses_of_days_outgrow_no_word() -> None:
    """In a day a stream of ten times what the link carries loses some 95 million packets."""
    stream = {"udp": {"rate": "10 Mbit/s", "payload": "1000 B", "header": "0 B"}}
    values = {"shared.flows": [stream], "shared.dumbbell.rate": "1 Mbit/s", "duration": "86400 s"}
    scenario = one_link(**values)
    ensemble = build(scenario, replications=1)
    frame = outcomes(scenario.network, run(ensemble.rows), *ensemble).frame
    assert frame["drops_queue"][0] == pytest.approx(0.9 * 1250 * 86400, rel=0.01)
    assert frame["loss_ratio"][0] == pytest.approx(0.9, abs=0.01) and frame["utilisation"][0] <= 1


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


def test_exponential_numbers() -> None:
    exponential = bind(chance.exponential, compilers.plain)
    p = np.zeros(len(P), np.int64)
    p[[P.SEED, P.SCENARIO, P.REPLICATION]] = 1, 2, 3
    with np.errstate(over="ignore"):
        drawn = np.array([exponential(p, 4, k) for k in range(2000)]) / 2.0**chance.FRACTION_BITS
    assert drawn.min() >= 0 and drawn.mean() == pytest.approx(1, abs=0.1)
    assert drawn.std() == pytest.approx(1, abs=0.1)
    assert (drawn > 1).mean() == pytest.approx(math.exp(-1), abs=0.04)


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


@pytest.mark.parametrize(("tcp", "of"), [("newreno", ""), ("reno", ""), ("newreno", "_delays")])
def test_path_equals_twin(tcp: str, of: str) -> None:
    rows = with_delays(tcp_rows(120, seed=5), seed=5) if of else tcp_rows(120, seed=5)
    out = launch.run(models.model(f"fluid_{tcp}{of}"), rows)
    found = differing(out, lambda row: fluid_path.simulate(tcp, rows, row=row), str, str)
    assert not found, "\n\n".join(found)
    if of:
        counts = out[:, len(Out) :]
        distinct = np.minimum(out[:, Out.DELIVERED], rows.parameters[:, P.LIMIT])
        assert (abs(counts[:, DelayOut.PACKETS] - distinct) <= 1).all()  # of parts of a packet
        assert (counts[:, DelayOut.LATE] > 0).any()


def test_a_path_that_is_down_carries_nothing() -> None:
    rows = build(path(**{"hops.0.outages": [{"start": "0 s", "duration": "1000 s"}]})).rows
    assert launch.run(models.model("fluid_newreno"), rows)[0, Out.DELIVERED] == 0
    rows = build(path()).rows
    assert rows.parameters[0, P.LIMIT] == ENDLESS
    out = launch.run(models.model("fluid_newreno"), rows)[0]
    fates = (Out.RECEIVED, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE)
    assert 0 <= out[Out.SENT] - sum(out[fate] for fate in fates) <= 60  # in flight
    assert out[Out.ACKED] == pytest.approx(10e6 * 120 / 8 / 1500, rel=0.02)


@pytest.mark.parametrize(
    ("transport", "problem"),
    [
        ({"protocol": "linux26"}, "no fluid model of linux26"),
        ({"protocol": "newreno", "congestion_control": "bic"}, "of sack only, and not bic"),
        ({"protocol": "newreno", "send_buffer": {"size": "100 kB"}}, "no send_buffer"),
    ],
)
def test_what_the_fluid_model_does_not_know(transport: dict[str, object], problem: str) -> None:
    data = {**path().model_dump(mode="json", exclude_none=True), "transport": transport}
    assert problem in unknown(Scenario.check(data))
    assert unknown(path()) == "" and unknown(one_link()) == ""


def unknown(scenario: Scenario) -> str:
    return scenario.network.unknown(scenario, "fluid")
