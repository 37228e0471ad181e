"""The benchmark of handovers measures the same path on both sides."""

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import launch
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from tests.campaigns.benchmarks import mobility


@pytest.mark.full
@pytest.mark.needs("ns")
def test_without_handovers_or_errors_the_path_is_that_of_ns2() -> None:
    ours, theirs = mobility.without_handovers("reno")
    assert ours == pytest.approx(theirs, rel=mobility.SAME)


@pytest.mark.full
def test_without_handovers_a_mobile_host_is_a_fixed_one() -> None:
    one = mobility.scenario(tcp="reno", protocol="himipv6", loss=0.01, times=())
    rows = build(one, replications=50).rows
    mobile = launch.run(model_of(one), rows)
    fixed = launch.run(models.model("tcp_reno"), mobility.fixed(rows))
    columns = slice(Out.SENT, Out.RTT_SAMPLES + 1)
    assert (mobile[:, columns] == fixed[:, columns]).all()
