"""Receive window autotuning: comparison with the twin, the limit, and growth with slow start."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import EVENT_ACK, EVENT_RECEIVE, EVENT_SEND, Out, Rows, Trace
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import OF_LINUX
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_linux import row_of
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.rows import rows_of
from tests.twins.run import simulate as simulate_twin

NAMES = (
    *(f"tcp_linux_{control}_tuned" for control in OF_LINUX),
    *("tcp_linux_reno_messages_tuned", "tcp_linux_cubic_varying_tuned"),
)
MODEL = models.model("tcp_linux_reno_tuned")
HOPS = [{"rate": "50 Mbit/s", "delay": "40 ms", "queue": 400}]
FAST = 100
"""Byte time of 80 Mbit/s [ns / byte]."""


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_kernel_equals_twin(name: str) -> None:
    rows = rows_of(name, 40, seed=9 + len(name))
    out = run_as_python(name, rows)
    constant = name.removesuffix("_tuned")
    others = 0
    for row in range(len(out)):
        twin = simulate_twin(name, rows, row=row)
        assert (out[row] == twin).all(), row
        others += (twin != simulate_twin(constant, rows, row=row)).any()
    assert others > 3 and out[:, Out.TIMEOUTS].sum() > 5


def over(delay: int, window: int, **values: int) -> Rows:
    """Return a path of 80 Mbit/s and this one-way delay [ns], without losses."""
    rows = row_of(WINDOW=window, **values)
    rows.hops[0, 0, 0, :3] = FAST << 20, delay, 0
    rows.hops[0, 0, 0, 5] = delay
    return rows


@pytest.mark.full
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(
    window=st.integers(10, 1000), data=st.integers(500, 40_000), delay=st.integers(1, 100),
    losses=st.integers(0, 4),
)  # fmt: skip
def test_no_more_is_out_than_the_limit_and_at_first_than_64_kib(
    window: int, data: int, delay: int, losses: int
) -> None:
    rows = over(delay * MS, window, DATA=data, END=4 * SECOND)
    rows.hops[0, 0, 0, 3] = losses
    events, out = launch.trace(MODEL, rows, row=0)
    first = min(max(65536 // data, 1), window)
    sends = events[events[:, Trace.EVENT] == EVENT_SEND]
    packets = sends[:, Trace.SEQUENCE] - sends[:, Trace.ACKED]
    assert packets.max(initial=0) <= window
    acks = events[events[:, Trace.EVENT] == EVENT_ACK, Trace.TIME]
    early = sends[:, Trace.TIME] < acks.min(initial=4.0)
    assert packets[early].max(initial=0) <= first
    assert out[Out.RECEIVED] <= out[Out.SENT]


@pytest.mark.full
def test_the_window_follows_slow_start() -> None:
    """Check that a growing window delays 6000 packets in slow start by less than 2 %."""
    tuned = launch.run(MODEL, over(50 * MS, 4000, LIMIT=6000))[0]
    constant = launch.run(models.model("tcp_linux_reno"), over(50 * MS, 4000, LIMIT=6000))[0]
    assert tuned[Out.COMPLETED] == pytest.approx(constant[Out.COMPLETED], rel=0.02)
    assert constant[Out.COMPLETED] > SECOND


@pytest.mark.full
def test_each_packet_is_acknowledged_while_it_grows() -> None:
    """Test ACKs per packet: one while the window grows, one for two packets once it is constant."""

    def acks_per_packet(window: int) -> float:
        events, _ = launch.trace(MODEL, over(50 * MS, window, END=900 * MS), row=0)
        late = events[events[:, Trace.TIME] > 0.4]  # the first 18 packets have one ACK each in any case
        acks, data = (np.count_nonzero(late[:, Trace.EVENT] == kind) for kind in (EVENT_ACK, EVENT_RECEIVE))
        return acks / data

    assert acks_per_packet(4000) > 0.7
    assert acks_per_packet(69) < 0.6


def scenario(**transport: Any) -> Scenario:
    data = {"duration": "10 s", "replications": 4, "hops": HOPS}
    return Scenario.check({**data, "transport": {"protocol": "linux", **transport}})


@pytest.mark.full
def test_scenarios_have_it() -> None:
    """Test scenarios: completion is at most 20 % later, and packets in flight stay below the limit."""
    reno = {"congestion_control": "reno", "bytes": "20 MB"}  # other tests compile these two models
    tuned, constant = (simulate(scenario(autotuning=on, **reno)).frame for on in (True, False))
    assert (tuned.completion_s >= constant.completion_s - 0.05).all()
    assert tuned.completion_s.mean() < 1.2 * constant.completion_s.mean()
    small = simulate(scenario(autotuning=True, congestion_control="reno", window=100)).frame
    assert small.goodput_bps.mean() < 100 * 1448 * 8 / 0.08


def test_it_is_refused_for_mobile_hosts() -> None:
    data = scenario(autotuning=True).model_dump(mode="json", exclude_none=True)
    data["paths"][0]["hops"] *= 2
    moving = {"protocol": "mipv6", "every": "20 s"}
    with pytest.raises(InputError, match=r"mobility and transport\.autotuning are both given; remove one"):
        Scenario.check({**data, "mobility": moving})
