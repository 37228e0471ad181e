"""Fluid models of TCP-Probing and New TCP-Probing over paths: known results and comparison with packets."""

from typing import Any

import numpy as np
import pytest

from netcarlo import load_scenario, simulate
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import RowP
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.campaigns.benchmarks.fidelity import EXAMPLES, OUTAGES
from tests.campaigns.benchmarks.fluid_paths import walk
from tests.kernels.beside_twin import run_as_python

HOP: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": 100}
PROBING = ("probing", "new_probing")


def path(protocol: str, *, window: int = 64, seconds: float = 60, **hop: Any) -> Scenario:
    """Return a sender over one hop of 10 Mbit/s and 20 ms, whose queue has room for its window."""
    transport = {"protocol": protocol, "window": window}
    return Scenario.check({"duration": f"{seconds} s", "transport": transport, "hops": [HOP | hop]})


def outcomes(scenario: Scenario) -> Any:
    """Return the outcomes of one replication by the fluid, run as plain Python."""
    name = f"fluid_{scenario.transport.protocol}"
    return run_as_python(name, build(scenario, replications=1).rows)[0]


def test_an_outage_is_probed_and_costs_no_window() -> None:
    """Test an outage of 3 s: the timer expires, probes are sent, and the earlier window continues.

    Probes leave every 200 ms (the minimum RTO). The pause ends with the second answer, so at most 200 ms and
    two round trips of 41 ms after the outage.
    """
    outage = [{"start": "5 s", "duration": "3 s"}]
    delivered = {}
    for protocol in (*PROBING, "newreno"):
        calm, down = (
            outcomes(path(protocol, seconds=12)),
            outcomes(path(protocol, seconds=12, outages=outage)),
        )
        assert down[Out.TIMEOUTS] > 0
        assert (down[Out.CWND_CUTS] == 0) == (protocol in PROBING)
        delivered[protocol] = (calm[Out.DELIVERED] - down[Out.DELIVERED]) / calm[Out.DELIVERED] * 12
    assert all(3.0 < delivered[protocol] < 3.0 + 0.2 + 3 * 0.08 for protocol in PROBING)


def test_a_pause_costs_two_round_trips_of_probes() -> None:
    """Test losses of single packets: TCP-Probing pauses for two round trips, its variant does not.

    With a window of which half would fill the path, a loss costs New TCP-Probing nothing but the wait for the
    retransmission, a round trip of 41 ms in which the receive window is full.
    """
    found = {}
    for protocol in PROBING:
        calm, lossy = outcomes(path(protocol)), outcomes(path(protocol, loss="0.1 %"))
        assert lossy[Out.CWND_CUTS] <= 1 and lossy[Out.FAST_RETRANSMITS] > 20
        missing = calm[Out.DELIVERED] - lossy[Out.DELIVERED]
        found[protocol] = missing / calm[Out.DELIVERED] * 60 / lossy[Out.FAST_RETRANSMITS]
    assert found["new_probing"] == pytest.approx(0.041, rel=0.2)
    assert found["probing"] == pytest.approx(3 * 0.041, rel=0.2)


@pytest.mark.full
@pytest.mark.parametrize(("protocol", "most"), [("probing", 0.06), ("new_probing", 0.03)])
@pytest.mark.parametrize("loss", ["0.1 %", "1 %"])
def test_random_losses_cost_what_packets_lose(protocol: str, loss: str, most: float) -> None:
    scenario = path(protocol, loss=loss)
    packets, fluid = (
        simulate(scenario.with_values({"fidelity": fidelity}), replications=40).frame["goodput_bps"].mean()
        for fidelity in ("packet", "fluid")
    )
    assert fluid == pytest.approx(packets, rel=most)


SIZES = {"probing": 0.2, "new_probing": 0.2, "linux26": 0.1}
"""Largest median of the size of the error, by sender."""


@pytest.mark.full
@pytest.mark.parametrize(
    ("network", "protocol"),
    [
        *((network, protocol) for network in ("paths", "outages") for protocol in SIZES),
        ("mobile", "new_probing"),
        ("mobile", "linux26"),
    ],
)
def test_random_networks(network: str, protocol: str) -> None:
    """Test 100 random networks; docs/results/fluid-paths.md has the errors of 200."""
    scenario = load_scenario(EXAMPLES / "random_topology.yaml")
    if network == "outages":
        scenario = scenario.with_values({"hops.0.each.outages": OUTAGES, "duration": "120 s"})
    if network == "mobile":
        scenario = walk("himipv6", "newreno")
    scenario = scenario.with_values({"transport.protocol": protocol})
    packets, fluid = (
        simulate(scenario.with_values({"fidelity": fidelity}), replications=100).frame["goodput_bps"]
        for fidelity in ("packet", "fluid")
    )
    error = (fluid / packets - 1)[packets > 0]
    assert abs(error.median()) < 0.12 and error.abs().median() < SIZES[protocol]


@pytest.mark.full
@pytest.mark.parametrize("protocol", PROBING)
def test_more_loss_delivers_no_more(protocol: str) -> None:
    """Test the mean of 60 replications.

    If bursts overflow the queue, more loss may deliver more by the fluid of TCP-Probing, but not by packets
    (docs/results/fluid-paths.md).
    """
    lossy = [path(protocol, loss=loss) for loss in ("0.1 %", "1 %", "5 %", "20 %")]
    means = [
        simulate(one.with_values({"fidelity": "fluid"}), replications=60).frame["goodput_bps"].mean()
        for one in lossy
    ]
    assert (np.diff(means) < 0).all()


@pytest.mark.full
def test_finite_transfers_deliver_each_packet_once() -> None:
    for protocol in PROBING:
        rows = build(path(protocol, seconds=120, loss="3 %"), replications=40).rows
        rows.parameters[:, RowP.LIMIT] = np.arange(1, 41) * 7
        out = run_as_python(f"fluid_{protocol}", rows)
        assert (out[:, Out.DELIVERED] == rows.parameters[:, RowP.LIMIT]).all()
        assert (out[:, Out.COMPLETED] > 0).all()
