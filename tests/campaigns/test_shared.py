"""The benchmark of shared links measures the same thing on both sides."""

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
from netcarlo.networks.shared.outcomes import by_flow
from netcarlo.simulation.ensemble import build
from tests.campaigns.benchmarks import shared

pytestmark = pytest.mark.full


@pytest.mark.needs("ns")
def test_both_send_about_the_same_number_of_packets_and_the_kernel_is_faster() -> None:
    rows = build(shared.scenario("newreno"), replications=8).rows
    model = models.model("shared_newreno")
    sent = by_flow(launch.run(model, rows), rows)["sent"].sum(axis=1).mean()
    theirs, seconds, _ = shared.ns2("newreno", duration_s=shared.DURATION_S)
    assert theirs == pytest.approx(sent, rel=0.02)
    data, _, _ = shared.kernel_rates(rows, model)
    assert data > 8 * theirs / seconds  # docs/results/speed-shared.md has the ratio
