"""The page of an estimate: in a browser, on a screen and on a phone, and where little was measured."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from netcarlo import estimate
from netcarlo.reports.estimate.page import histogram, page_of
from tests.reports.browser import Page
from tests.reports.first_look import first_look

SCENARIO = {
    "name": "lossy",
    "duration": "3 s",
    "replications": 20,
    "transport": {"protocol": "newreno", "window": 10},
    "hops": [{"rate": "1 Mbit/s", "delay": "10 ms", "loss": "1 %"}],
}
LOST = {**SCENARIO, "hops": [{"rate": "1 Mbit/s", "delay": "10 ms", "loss": 1.0}]}
COMMAND = "netcarlo estimate lossy.yaml --out answer"


@pytest.mark.needs("chromium")
def test_first_look_at_estimate_of_a_scenario(glance: Page, tmp_path: Path) -> None:
    file = tmp_path / "estimate.html"
    file.write_text(page_of(estimate(SCENARIO, target="cpu"), command=COMMAND), encoding="utf-8")
    says = "NewReno over one hop (1 Mbit/s, 10 ms, 1 % loss), 3 s, 20 replications."
    first_look(glance, file, says=says, figure="figure-0")


def test_the_histogram_counts_every_replication() -> None:
    found = estimate(SCENARIO, target="cpu")
    bars, mean = histogram(found, "goodput_bps")["data"]
    seen, row = found.outcomes.frame["goodput_bps"] / 1e3, found.table.loc["goodput_bps"] / 1e3
    assert sum(bars["y"]) == 20
    for middle, count in zip(bars["x"], bars["y"], strict=True):
        inside = (seen > middle - 0.5001 * bars["width"]) & (seen < middle + 0.5001 * bars["width"])
        assert inside.sum() >= count
    assert mean["x"] == pytest.approx([row["mean"]], rel=1e-3)
    assert mean["meta"]["low"] == pytest.approx([row["ci_low"]], rel=1e-3)


@pytest.mark.parametrize("scenario", [LOST, {**SCENARIO, "replications": 1}], ids=["all lost", "one"])
def test_a_page_of_little_has_numbers_that_json_knows(scenario: dict[str, object]) -> None:
    found = estimate(scenario, target="cpu")
    text = page_of(found, command=COMMAND)
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, flags=re.DOTALL):
        json.loads(data, parse_constant=pytest.fail)
    assert ">nan" not in text
    assert (found.outcomes.frame["goodput_bps"] == 0).all() == ("nothing was delivered" in text)
    assert np.isnan(found.table.loc["goodput_bps", "ci_low"]) == (scenario["replications"] == 1)


def test_a_page_of_the_fluid_states_its_bias() -> None:
    """Check the caveat of a cheap answer, which packets do not have."""
    for fidelity, stated in (("fluid", True), ("packet", False)):
        found = estimate({**SCENARIO, "fidelity": fidelity}, target="cpu", replications=4)
        assert ("an approximation without simulated packets" in page_of(found, command=COMMAND)) is stated
