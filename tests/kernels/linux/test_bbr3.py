"""BBR v3: comparison with its twin, and behaviour alone and beside CUBIC."""

from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out, Queues
from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux import state as linux_state
from netcarlo.kernels.linux.bbr3 import model, state
from netcarlo.kernels.linux.bbr3.state import UNBOUNDED, Mode, State
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate as simulate_scenario
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_linux import row_of
from tests.twins.path.scenarios import SECOND, linux_rows
from tests.twins.run import simulate


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")
def test_kernel_equals_twin() -> None:
    rows = linux_rows(30, seed=21)
    out = run_as_python("tcp_linux_bbr3", rows)
    assert out[:, Out.TIMEOUTS].sum() > 10 and out[:, Out.FAST_RETRANSMITS].sum() > 50
    for row in range(len(out)):
        assert (out[row] == simulate("tcp_linux_bbr3", rows, row=row)).all(), row


def test_the_words_have_room() -> None:
    assert state.END <= linux_state.END and min(State) == pacing.FREE


def test_losses_bound_bandwidth_and_volume_for_a_round() -> None:
    s = np.zeros(linux_state.END, np.int64)
    s[State.MODE], s[State.MAX_BW], s[State.LOSS_IN_ROUND], s[State.LOSS_ROUND_START] = (
        Mode.PROBE_BW_CRUISE,
        1000,
        1,
        1,
    )
    s[linux_state.Tcp.CWND] = 100
    model.reset_short_term_model(s)
    s[State.BW_LATEST], s[State.INFLIGHT_LATEST] = 900, 20
    model.update_congestion_signals(s)
    assert (s[State.BW_SHORTTERM], s[State.INFLIGHT_SHORTTERM]) == (900, 70)
    s[State.MODE], s[State.LOSS_IN_ROUND] = Mode.PROBE_BW_UP, 1
    model.reset_short_term_model(s)
    model.update_congestion_signals(s)
    assert s[State.BW_SHORTTERM] == UNBOUNDED  # not while probing


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_alone_it_fills_the_path_with_a_short_queue() -> None:
    row = row_of(END=30 * SECOND)
    row.hops[0, 0, 0, 2] = 100
    out = launch.run(models.model("tcp_linux_bbr3"), row)[0]
    assert out[Out.DELIVERED] > 0.9 * 30e6 / 8000
    assert out[len(Out) + Queues.HELD] / (30 * SECOND) < 10


def share(control: str) -> Any:
    """Return the share of goodput beside CUBIC over 10 Mbit/s, 40 ms and a queue of one BDP."""
    network = {
        "dumbbell": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": 34},
        "flows": [{"congestion_control": control}, {"congestion_control": "cubic"}],
    }
    given = {"duration": "40 s", "warm_up": "10 s", "replications": 4, "transport": {"protocol": "linux"}}
    frame = simulate_scenario(Scenario.check({**given, "shared": network}), target="cpu").frame
    return float((frame[f"linux_{control}_bps"] / frame.tcp_goodput_bps).mean())


@pytest.mark.full
def test_beside_cubic_its_share_is_less_unfair_than_that_of_version_1() -> None:
    assert abs(share("bbr3") - 0.5) < abs(share("bbr") - 0.5)
