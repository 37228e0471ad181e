"""The benchmark measures the same scenario on both sides; docs/results/speed-paths.md has the speeds."""

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import launch
from tests.campaigns.benchmarks import lossy_hop, newreno


@pytest.mark.needs("ns")
@pytest.mark.parametrize(("window", "loss"), [(16, 0.001), (64, 0.01)])
def test_both_send_about_the_same_number_of_packets(window: int, loss: float) -> None:
    rows = lossy_hop.rows(20, window=window, loss=loss, duration_s=200.0)
    ours = launch.run(models.model("tcp_newreno"), rows)[:, Out.SENT].mean()
    theirs, _ = lossy_hop.ns2(window=window, loss=loss, duration_s=200.0)
    assert theirs == pytest.approx(ours, rel=0.05)  # one run of ns-2 is compared with our mean


@pytest.mark.needs("ns")
def test_the_kernel_is_faster_than_ns2() -> None:
    ours = newreno.kernel_rate(window=64, loss=0.001, duration_s=200.0, repeats=2)
    assert ours > 10 * newreno.ns2_rate(window=64, loss=0.001, duration_s=50.0)
