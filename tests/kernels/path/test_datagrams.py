"""UDP streams over paths to fixed and mobile hosts: comparison with the twin, and known cases."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import estimate
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import STATUS_OK, Out, Rows
from netcarlo.kernels.runtime import launch
from netcarlo.networks.path.output import ENDS
from netcarlo.scenario import Scenario
from netcarlo.simulation.trace import trace
from tests.kernels.beside_twin import differing
from tests.twins import simulate
from tests.twins.path.mobility.scenarios import mobile_rows
from tests.twins.path.scenarios import as_datagrams, describe, tcp_rows

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
MEETS = [
    Out.SENT, Out.RECEIVED, Out.DELIVERED, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE,
    Out.DESTROYED, Out.RESUME_RX, Out.COMPLETED,
]  # fmt: skip
MOBILE_MEETS = [
    Out.DROPS_HANDOVER, Out.DROPS_BUFFER, Out.BUFFERED, Out.TUNNELLED, Out.COPIES, Out.DISCARDED,
    Out.REORDERED, Out.SILENCE, Out.IN_FLIGHT,
]  # fmt: skip


def scenarios(model: str, count: int, *, seed: int) -> Rows:
    rows = mobile_rows(count, seed=seed) if model == "udp_mobile" else tcp_rows(count, seed=seed)
    return as_datagrams(rows, seed=seed)


@pytest.mark.full
@pytest.mark.parametrize("model", ["udp", "udp_mobile"])
def test_kernel_equals_twin(model: str) -> None:
    rows = scenarios(model, (35 if model == "udp_mobile" else 150) * LONG, seed=3)
    out = launch.run(models.model(model), rows)
    found = differing(
        out,
        lambda row: simulate(model, rows, row=row),
        lambda row: describe(rows, row),
        lambda c: Out(c).name,
    )
    assert not found, "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("model", ["udp", "udp_mobile"])
def test_scenarios_visit_the_corners(model: str) -> None:
    out = launch.run(models.model(model), scenarios(model, 300, seed=3))
    met = (out > 0).mean(axis=0)
    meets = MEETS if model == "udp" else [*MOBILE_MEETS, Out.RECEIVED, Out.DROPS_RANDOM, Out.COMPLETED]
    assert {column.name: met[column] for column in meets if met[column] < 0.05} == {}


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@settings(deadline=None, max_examples=10)
def test_datagrams_are_conserved(seed: int) -> None:
    out = launch.run(models.model("udp_mobile"), scenarios("udp_mobile", 40, seed=seed))
    assert (out[:, Out.STATUS] == STATUS_OK).all()
    ended = out[:, ENDS].sum(axis=1) + out[:, Out.IN_FLIGHT]
    np.testing.assert_array_equal(out[:, [Out.SENT, Out.COPIES]].sum(axis=1), ended)


def stream(**given: object) -> Scenario:
    """Return a stream of 1 Mbit/s with 1000-byte payloads over two hops of 10 Mbit/s."""
    hop = {"rate": "10 Mbit/s", "delay": "5 ms"}
    udp = {"protocol": "udp", "rate": "1 Mbit/s", "payload": "1000 B"}
    return Scenario.check(
        {"duration": "10 s", "replications": 20, "transport": udp, "paths": [{"hops": [hop, hop]}], **given}
    )


def test_goodput_is_what_is_offered_less_what_is_lost() -> None:
    table = estimate(stream(), target="cpu").table
    assert table.loc["goodput_bps", "mean"] == pytest.approx(1e6, rel=2e-3)
    hop = {"rate": "10 Mbit/s", "delay": "5 ms"}
    lossy = stream(paths=[{"hops": [hop, {**hop, "loss": "10 %"}]}], replications=200)
    assert estimate(lossy, target="cpu").table.loc["goodput_bps", "mean"] == pytest.approx(0.9e6, rel=5e-3)


def test_a_narrow_hop_passes_what_it_can() -> None:
    slow = {"rate": "0.5 Mbit/s", "delay": "5 ms", "queue": "10 packets"}
    table = estimate(stream(paths=[{"hops": [slow]}]), target="cpu").table
    assert table.loc["throughput_bps", "mean"] == pytest.approx(0.5e6, rel=0.01)
    assert table.loc["drops_queue", "mean"] == pytest.approx(1250 - 0.5e6 * 10 / 8224 - 10, abs=5)


@pytest.mark.full
def test_a_handover_costs_what_comes_meanwhile() -> None:
    mobility = {"protocol": "mipv6", "times": ["5 s"], "outage": "400 ms", "outage_jitter": "0 ms"}
    table = estimate(stream(mobility=mobility), target="cpu").table
    assert table.loc["lost_in_handover", "mean"] >= 125 * 0.4
    assert table.loc["longest_silence_s", "mean"] >= 0.4


def test_a_finite_stream_ends_and_its_trace_tells_of_every_datagram() -> None:
    scenario = stream(transport={"protocol": "udp", "rate": "1 Mbit/s", "payload": "1000 B", "packets": 50})
    events = trace(scenario, replication=3).frame
    for event in ("send", "receive"):
        assert events.loc[events["event"] == event, "sequence"].tolist() == list(range(50))
    assert estimate(scenario, target="cpu").table.loc["completion_s", "mean"] == pytest.approx(0.4, abs=0.03)
