"""Fluid model of MPTCP, which runs the fluid model of today's Linux on each path."""


import numpy as np
import pytest

from netcarlo.kernels.base.layout import MPTCP_PATHS, NEVER, Out
from netcarlo.kernels.base.parameters import MptcpP, RowP
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.kernels.beside_twin import run_as_python
from tests.twins.path.scenarios import mptcp_rows

ALIKE = [Out[name] for name in (
    "SENT", "RECEIVED", "DELIVERED", "TIMEOUTS", "FAST_RETRANSMITS", "CWND_CUTS", "DROPS_QUEUE",
    "DROPS_RANDOM", "DROPS_OUTAGE", "CWND_SUM", "RTT_SUM", "SAMPLES", "RTT_SAMPLES", "RETRANSMITTED",
)]  # fmt: skip


@pytest.mark.parametrize("control", ["reno", "cubic", "bbr"])
def test_one_subflow_is_the_tcp_of_linux(control: str) -> None:
    """Compare each outcome, including the completion time, with those of TCP."""
    rows = mptcp_rows(40, seed=4)
    rows.parameters[:, MptcpP.SUBFLOWS], rows.parameters[:, MptcpP.BACKUP] = 1, 0
    own = run_as_python(f"fluid_mptcp_{control}", rows)
    tcp = run_as_python(f"fluid_linux_{control}", rows)
    assert np.array_equal(own[:, ALIKE], tcp[:, ALIKE])
    done = tcp[:, Out.COMPLETED] != NEVER
    assert np.array_equal(own[done, Out.COMPLETED], tcp[done, Out.COMPLETED])
    assert done.any() and (tcp[:, Out.DROPS_OUTAGE] > 0).any()


def test_subflows_share_a_transfer_and_the_window() -> None:
    """Check that each packet is delivered once, over one of up to four paths."""
    hop = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": 100}
    data = {
        "duration": "60 s", "fidelity": "fluid",
        "transport": {"protocol": "mptcp", "packets": 20_000}, "paths": [{"hops": [hop]}] * MPTCP_PATHS,
    }  # fmt: skip
    frame = simulate(Scenario.check(data), replications=1).frame.iloc[0]
    assert frame["delivered"] == 20_000
    assert frame["completion_s"] == pytest.approx(20_000 * 12_000 / 40e6, rel=0.1)
    small = Scenario.check(data).with_values({"transport.window": 60, "transport.packets": None})
    rtt_s = 0.04 + 1500 * 8 / 10e6
    found = simulate(small, replications=1).frame.iloc[0]
    assert found["goodput_bps"] == pytest.approx(60 * 1424 * 8 / rtt_s, rel=0.1)


def test_the_limit_of_a_transfer_is_never_exceeded() -> None:
    rows = mptcp_rows(30, seed=9)
    rows.parameters[:, MptcpP.BACKUP], rows.parameters[:, RowP.LIMIT] = 0, 300
    out = run_as_python("fluid_mptcp_cubic", rows)
    assert (out[:, Out.DELIVERED] <= 300).all()
    assert (out[out[:, Out.COMPLETED] != NEVER, Out.DELIVERED] == 300).all()
