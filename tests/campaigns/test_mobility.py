"""The benchmark of handovers measures the same path on both sides."""

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import launch
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from tests.campaigns.benchmarks import mobility


@pytest.mark.needs("ns")
@pytest.mark.parametrize("tcp", mobility.TCPS)
def test_without_handovers_or_errors_the_path_is_that_of_ns2(tcp: str) -> None:
    one = mobility.scenario(tcp=tcp, protocol="hmipv6", loss=0.0, times=())
    sent = launch.run(model_of(one), build(one, replications=50).rows)[:, Out.SENT].mean()
    theirs = [mobility.ns2(tcp=tcp, loss=0.0, seed=seed, duration_s=60.0)[0] for seed in (1, 2)]
    assert sent == pytest.approx(sum(theirs) / 2, rel=0.003)  # they start within the same 0.1 s


def test_without_handovers_a_mobile_host_is_a_fixed_one() -> None:
    one = mobility.scenario(tcp="reno", protocol="himipv6", loss=0.01, times=())
    rows = build(one, replications=50).rows
    mobile = launch.run(model_of(one), rows)
    fixed = launch.run(models.model("tcp_reno"), mobility.fixed(rows))
    columns = slice(Out.SENT, Out.RTT_SAMPLES + 1)
    assert (mobile[:, columns] == fixed[:, columns]).all()
