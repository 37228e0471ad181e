"""Fluid model of SCTP: known results and comparison with the packet model."""

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import FOREVER, NEVER, Out, Rows
from netcarlo.kernels.runtime import launch
from netcarlo.networks.path.switched import switched
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.simulate import simulate
from tests.campaigns.benchmarks.fluid_paths import associations, both

FLUID = Address("path", "sctp", fluid=True)


def run(rows: Rows) -> np.ndarray:
    return launch.run(models.at(FLUID), rows)


def one(**values: object) -> Scenario:
    data = {
        "duration": "60 s",
        "transport": {"protocol": "sctp", "receiver_window": "30 kB"},
        "hops": [{"rate": "10 Mbit/s", "delay": "50 ms", "queue": 100}],
    }
    return Scenario.check(data).with_values(values)


def delivered(scenario: Scenario) -> float:
    return float(run(build(scenario, replications=1).rows)[0, Out.DELIVERED])


def test_the_receivers_window_limits_the_rate() -> None:
    scenario = one()
    rows = build(scenario, replications=1).rows
    packets = 30_000 // 1468
    sent = 8 * 1500 / 10e6  # a SACK answers two packets: the first waits for the second
    rtt_s = 0.1 + 2 * sent + 8 * 48 / 10e6
    assert run(rows)[0, Out.DELIVERED] == pytest.approx(packets * 60 / rtt_s, rel=0.02)


def test_a_long_outage_of_a_single_path_lasts_until_a_timer_after_it() -> None:
    """Test timeouts 1, 2, 4 s, ... apart: after an outage of 4 s data resume 7 s after the last SACK."""
    calm = delivered(one())
    cut = delivered(one(**{"hops.0.outages": [{"start": "20 s", "duration": "4 s"}]}))
    assert 6.5 < (calm - cut) / calm * 60 < 8.5


def test_a_second_path_hides_an_outage_at_the_first_timeout() -> None:
    """Test path_max_retrans 0: new data use the second path one timeout after the outage begins."""
    two = {"paths": [{"hops": [{"rate": "10 Mbit/s", "delay": "50 ms", "queue": 100}]}] * 2}
    transport = {"protocol": "sctp", "receiver_window": "30 kB", "path_max_retrans": 0}
    rows = build(Scenario.check({"duration": "60 s", "transport": transport} | two), replications=1).rows
    outages = np.full((*rows.outages.shape[:3], 1, 2), FOREVER)
    outages[0, 0, 0, 0] = 20_000_000_000, 50_000_000_000
    calm, cut = run(rows)[0], run(rows._replace(outages=outages))[0]
    assert 0.8 < (calm[Out.DELIVERED] - cut[Out.DELIVERED]) / calm[Out.DELIVERED] * 60 < 2.5
    assert cut[Out.TIMEOUTS] == 1 and cut[Out.SENT_ALTERNATE] > 0.5 * cut[Out.SENT]


@pytest.mark.parametrize(("paths", "switch", "most"), [(1, None, 4.0), (2, None, 4.0), (2, (20.0, 1.0), 6.0)])
def test_it_is_close_to_packets(paths: int, switch: tuple[float, float] | None, most: float) -> None:
    """Check the median and the 90 % quantile of the error over 120 networks (docs/results/fluid-sctp.md)."""
    rows = associations("ns2-2.35", paths, 120)
    if switch:
        rows = switched(rows, up_s=switch[0], down_s=switch[1])
    fluid, packets, _ = both("sctp", rows)
    error = np.abs(fluid[:, Out.DELIVERED] / np.maximum(packets[:, Out.IN_ORDER], 1) - 1)
    assert np.median(error) < most / 100
    assert np.quantile(error, 0.9) < 0.2


def test_random_losses_are_those_of_the_packets() -> None:
    """Compare the first lost packet on a single lossy hop with that of the packet model."""
    scenario = one(**{"hops.0.loss": "0.5 %", "transport.packets": 150})
    rows = build(scenario, replications=200).rows
    fluid, packets, _ = both("sctp", rows)
    clean = packets[:, Out.DROPS_RANDOM] == 0
    assert 0.3 < clean.mean() < 0.7
    assert (fluid[clean, Out.DROPS_RANDOM] == 0).mean() > 0.97
    assert (fluid[~clean, Out.DROPS_RANDOM] > 0).mean() > 0.97


def test_a_transfer_ends() -> None:
    scenario = one(**{"transport.packets": 1000, "fidelity": "fluid"})
    frame = simulate(scenario, replications=2).frame
    exact = simulate(one(**{"transport.packets": 1000}), replications=2).frame
    assert frame["completion_s"].to_numpy() == pytest.approx(exact["completion_s"].to_numpy(), rel=0.03)
    assert (run(build(one(), replications=1).rows)[:, Out.COMPLETED] == NEVER).all()
