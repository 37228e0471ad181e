"""Fluid models in a study: results for the cells that they support, marked as fluid."""

import csv
import io
import math

import pytest

from netcarlo.reports.parts.tables import comparison_csv
from netcarlo.reports.study.page import study_page
from netcarlo.studies import study
from netcarlo.studies.evaluation import Evaluation, evaluate
from netcarlo.studies.manet_probing.claims import METRICS, summaries
from netcarlo.studies.screening import screened
from netcarlo.studies.wds import claims as wds


@pytest.fixture(scope="module")
def linkdown() -> Evaluation:
    return evaluate(study.load("sctp_linkdown"), replications=1)


@pytest.mark.full
def test_every_utilisation_has_one_near_the_packets(linkdown: Evaluation) -> None:
    rows = [row for row in linkdown.rows if row.published.metric == "utilisation"]
    assert len(rows) > 80 and all(row.screening for row in rows)
    both = [(row.screening, row.estimate) for row in rows if row.screening and row.estimate]
    errors = sorted(abs(fluid.mean / packets.mean - 1) for fluid, packets in both)
    assert errors[len(errors) // 2] < 0.01 and errors[len(errors) * 9 // 10] < 0.06


@pytest.mark.full
def test_what_is_not_asked_of_them_is_empty(linkdown: Evaluation) -> None:
    others = [row for row in linkdown.rows if row.published.metric not in ("utilisation", "throughput")]
    assert others and all(row.screening is None for row in others)


@pytest.mark.full
def test_it_is_in_the_file_and_on_the_page(linkdown: Evaluation) -> None:
    lines = list(csv.DictReader(io.StringIO(comparison_csv(linkdown))))
    assert {bool(line["fluid"]) for line in lines if line["metric"] == "utilisation"} == {True}
    page = study_page(linkdown, provenance={})
    assert page.count('class="error screening">fluid') > 80 and "for screening" in page


@pytest.mark.full
def test_a_summary_is_that_of_all_cells() -> None:
    """The fluid summary is the gain of New TCP-Probing over seven speeds, from fourteen cells."""
    description = study.load("manet_probing")
    found = screened(description, METRICS, summaries, replications=20, seed=1, target="cpu")
    said = [mean for mean, number in zip(found, description.published, strict=True) if mean is not None]
    assert len(said) == 1 and math.isfinite(said[0].mean)
    others = [number.metric for number in description.published if number.metric != "throughput_improvement"]
    assert others and found.count(None) == len(others)


def test_the_chain_with_rate_control_has_its_column() -> None:
    """The table shows the loss of UDP over four hops of the testbed's chain, with ARF, and over one hop
    and cables."""
    description = study.load("wds")
    found = screened(description, wds.METRICS, wds.summaries, replications=1, seed=1, target="cpu")
    said = {
        (number.conditions["medium"], number.conditions["protocol"], number.conditions["hops"]): mean.mean
        for mean, number in zip(found, description.published, strict=True) if mean is not None
    }  # fmt: skip
    assert said == {
        ("wireless", "udp_10", 1): pytest.approx(0, abs=0.5),
        ("wired", "udp_10", 4): pytest.approx(0, abs=0.5),
        ("wireless", "udp_10", 4): pytest.approx(79.5, abs=1.5),  # packets: 79.5 and 89.6
        ("wireless", "udp_20", 4): pytest.approx(89.6, abs=1.0),
    }  # fmt: skip


def test_what_no_fluid_knows_has_none() -> None:
    """A rate control without a fluid model is reported as such."""
    description = study.load("wds")
    scenario = description.scenario(description.published[4].conditions, seed=1)
    adaptive = scenario.with_values({"wireless.rate_control": "aarf"})
    assert not scenario.network.unknown(scenario, "fluid") and adaptive.network.unknown(adaptive, "fluid")
