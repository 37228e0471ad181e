"""Leading differences: those of requested outcomes, but not large multiples of a tiny value."""

import pandas as pd
import pytest

from netcarlo.comparison.comparison import Comparison
from netcarlo.comparison.leading import ordered, sizes
from netcarlo.comparison.pairs import compared
from netcarlo.comparison.side import Side, cells, from_sd
from netcarlo.reports.comparison import wording
from netcarlo.reports.comparison.page import comparison_page
from netcarlo.reports.parts.scales import Scale
from netcarlo.simulation.outcomes import BY_NAME

BEFORE = {
    "goodput_bps": 16e6, "mean_rtt_s": 0.05, "drop_ratio": 8e-6, "timeouts": 1.0, "cwnd_packets": 20.0,
    "queue_packets": 5.0,
}  # fmt: skip
AFTER = {
    **BEFORE,
    "goodput_bps": 19.1e6,
    "mean_rtt_s": 0.06,
    "drop_ratio": 1.8e-4,
    "timeouts": 12.0,
    "cwnd_packets": 60.0,
}


def side(label: str, means: dict[str, float], asked: tuple[str, ...] = ()) -> Side:
    known = {name: mean for name, mean in means.items() if name in BY_NAME}
    tables = {name: from_sd(cells([()]), [100], [mean], [0.01 * mean]) for name, mean in known.items()}
    quantities = {name: BY_NAME[name] for name in known}
    return Side(label, "estimate", {"seed": label}, {}, quantities, tables, stream=label, requested=asked)


def outcomes(found: Comparison) -> list[str]:
    return [str(name) for name in found.of_pair(found.pairs[0]).index]


def test_a_multiple_of_next_to_nothing_does_not_lead() -> None:
    """Drops grow by 2,150 % of eight in a million, goodput by 19 % of 16 Mbit/s, which leads."""
    found = compared([side("a", BEFORE), side("b", AFTER)])
    assert outcomes(found)[:4] == ["goodput_bps", "mean_rtt_s", "drop_ratio", "timeouts"]
    head = wording.headline(found)
    assert head.startswith(
        "b against a: goodput +19.4 % [19.1, 19.7], mean RTT +20 % [19.7, 20.3], drops at the busiest link "
        "+0.0172 points [0.0172, 0.0172] and 1 more main outcome."
    )
    assert "2 1" not in head and "differ by more than chance." in head


def test_what_is_asked_for_leads() -> None:
    found = compared([side("a", BEFORE), side("b", AFTER)], of=["timeouts", "mean_rtt_s"])
    assert outcomes(found)[:2] == ["mean_rtt_s", "timeouts"]
    assert wording.headline(found).startswith(
        "b against a: mean RTT +20 % [19.7, 20.3], timeouts +1,100 % [1,100 to 1,100]."
    )
    found = compared([side("a", BEFORE, ("timeouts",)), side("b", AFTER)])
    assert found.leading == ("timeouts",) and outcomes(found)[0] == "timeouts"
    found = compared([side("a", BEFORE), side("b", {**AFTER, "timeouts": 1.0})], of=["timeouts"])
    assert wording.headline(found).startswith("Timeouts: no difference by more than chance. ")


def test_nothing_falls_by_more_than_all_of_it() -> None:
    """The interval of a relative difference ends at -100 %, as that of an amount ends at 0."""
    row = {"difference": -8.0, "low": -13.0, "high": -3.0}
    assert wording._changed(row, Scale(0.01, "%"), 0.1, -1.0) == "−80 % [−100, −30.0]"
    assert wording._changed(row, Scale(1.0, "ms")) == "−8 ms [−13.0, −3.00]"


def test_sizes_are_on_one_scale() -> None:
    sides = [side("a", BEFORE), side("b", AFTER)]
    found = pd.Series(sizes(compared(sides).table, sides), compared(sides).table.index)
    assert found["goodput_bps"] == pytest.approx(3.1 / 19.1)
    assert found["drop_ratio"] == pytest.approx(1.72e-4)
    assert found["timeouts"] == pytest.approx(11 / 12)
    nothing = [side("a", {"timeouts": 0.0}), side("b", {"timeouts": 3.0})]
    assert sizes(compared(nothing).table, nothing).tolist() == [1.0]


def test_every_pair_has_its_rows_and_its_sentence() -> None:
    found = compared([side("a", BEFORE), side("b", AFTER), side("c", {**AFTER, "goodput_bps": 30e6})])
    assert found.pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    assert sum(len(found.of_pair(pair)) for pair in found.pairs) == len(found.table)
    lines = wording.headline(found).splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["b against a", "c against a", "c against b"]
    assert "goodput +57.1 %" in lines[2] and "mean RTT" not in lines[2]
    assert len(ordered(found.table, found.sides, found.leading)) == len(found.table)
    html = comparison_page(found)
    assert html.count("<h3>b against a</h3>") == html.count("<h3>c against b</h3>") == 1
    assert html.count('class="badge ') >= len(found.table)


def test_a_difference_is_not_red() -> None:
    html = comparison_page(compared([side("a", BEFORE), side("b", AFTER)]))
    assert '<div class="verdict plain"' in html and "badge bad" not in html
    same = comparison_page(compared([side("a", BEFORE), side("b", BEFORE)]))
    assert '<div class="verdict good"' in same
