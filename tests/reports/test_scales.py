"""Quantities in words, with readable units."""

import math
from pathlib import Path

import pytest

from netcarlo.numerics.statistics import Mean, mean
from netcarlo.reports.parts import scales, wording
from netcarlo.reports.parts.intervals import bars
from netcarlo.scenario import load_scenario
from netcarlo.studies.comparison import Compared
from netcarlo.studies.published import Published

EXAMPLE = Path(__file__).parents[2] / "configs" / "examples" / "random_topology.yaml"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5e6, "bit/s", "1.5 Mbit/s"),
        (999_999.99, "bit/s", "1 Mbit/s"),
        (0.2, "s", "200 ms"),
        (7200.0, "s", "7,200 s"),
        (-0.0125, "s", "−12.5 ms"),
        (0.001, scales.FRACTION, "0.1 %"),
        (1e-7, "", "1.00e−07"),
        (44.0, "packets", "44 packets"),
        (0.0, "bit/s", "0 bit/s"),
        (math.inf, "packets", "unlimited"),
    ],
)  # fmt: skip
def test_values_are_said_as_people_write_them(value: float, unit: str, text: str) -> None:
    assert scales.say(value, unit) == text


def test_one_scale_serves_all_values() -> None:
    shown = scales.scale([64e3, 1e7, math.nan], "bit/s")
    assert shown == (1e6, "Mbit/s")
    assert shown.label("goodput") == "goodput [Mbit/s]"


def test_an_interval_shows_two_digits() -> None:
    assert scales.digits_for(1234.567, 1234.0, 1235.0) == 6
    assert scales.digits_for(1.0, 0.5, 1.5) == 3
    assert scales.digits_for(5.0, math.nan, 6.0) == 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("goodput_bps", "goodput"),
        ("base_rtt_s", "base RTT"),
        ("paths.0.hops.0.each.2.rate", "hops.0.each.2 rate"),
        ("paths.1.hops.0.delay", "paths.1.hops.0 delay"),
        ("paths.0.hops.0.count", "number of hops"),
        ("paths.0.hops.0.each.rate", "rate of a hop"),
        ("shared.flows.0.count", "shared.flows.0 number of flows"),
        ("shared.flows.1.each.2.window", "shared.flows.1.each.2 window"),
        ("shared.tree.each.3.rate", "shared.tree.each.3 rate"),
        ("shared.graph.each.queue", "graph queue"),
        ("transport.window", "window"),
        ("drops_queue", "queue drops"),
        ("adhoc.mobility.speed", "mobility speed"),
        ("energy_J", "energy"),
        ("breaks_per_connected_s", "route breaks while connected"),
        ("share_hops_1", "connected time with 1 hop"),
    ],
)
def test_names_are_words(name: str, said: str) -> None:
    assert scales.name_of(name) == said


def test_units_and_distributions_are_those_of_the_scenario() -> None:
    base = load_scenario(EXAMPLE)
    assert scales.field_unit(base, "hops.*.each.loss") == scales.FRACTION
    assert scales.field_unit(base, "paths.0.hops.0.each.4.rate") == "bit/s"
    assert scales.field_unit(base, "no.such.field") == scales.field_unit(None, "transport.window") == ""
    said = scales.distribution(base, "paths.0.hops.0.each.4.rate")
    assert said == "log-uniform, 500 kbit/s … 50 Mbit/s"
    assert scales.distribution(base, "transport.protocol") == ""


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("transfer_s", "s"),
        ("transfer_bps", "bit/s"),
        ("energy_J", "J"),
        ("joules_per_MB", "J/MB"),
        ("outages_per_s", "1/s"),
        ("connected_share", scales.FRACTION),
        ("timeouts", ""),
    ],
)
def test_outcomes_have_their_unit(name: str, unit: str) -> None:
    assert scales.unit_of(name) == unit
    assert scales.scale([12_000.0], "J") == (1e3, "kJ")


def published(text: str) -> Published:
    return Published(
        place={}, conditions={}, metric="m", unit="s", text=text, step=0.1, kind="printed"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "estimate", "said"),
    [
        ("10.0", Mean(20, 10.1, 0.1, 10.08, 10.15), ("+1.00 %", "[+0.80, +1.50]")),
        ("10.0", Mean(20, 10.0, 0.1, 9.9, 10.3), ("0.00 %", "[−1.00, +3.00]")),
        ("-10.0", Mean(20, -10.1, 0.1, -10.15, -10.08), ("+1.00 %", "[+0.80, +1.50]")),
        ("10.0", Mean(1, 9.9, math.nan, math.nan, math.nan), ("−1.00 %", "")),
        ("0", Mean(20, 0.1, 0.1, 0.0, 0.2), ("", "")),
    ],
)
def test_an_error_has_the_interval_of_its_estimate(text: str, estimate: Mean, said: tuple[str, str]) -> None:
    row = Compared(published(text), estimate, fitted="", note="", left_out=False)
    assert (wording.error(row), wording.interval(row)) == said


def test_bars_of_a_figure_end_where_the_interval_does() -> None:
    found = mean([1.0, 1.1, 1.2, 1.3, 5.0])
    drawn = bars([found])
    assert not drawn["symmetric"]
    ends = (found.mean - drawn["arrayminus"][0], found.mean + drawn["array"][0])
    assert ends == pytest.approx((found.ci_low, found.ci_high), rel=1e-6)
    assert drawn["array"][0] > 1.5 * drawn["arrayminus"][0]
