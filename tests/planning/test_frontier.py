"""Plans of two quantities: each row is a plan of one; costs, shared errors, and the command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.planning import Frontier, Stopped, frontier, make_plan, plan
from netcarlo.planning.designs import Design, cheapest
from netcarlo.planning.runner import JOURNAL
from netcarlo.reports.frontier import wording
from tests.planning.test_planning import data

RATE = {"name": "rate", "field": "hops.0.rate", "values": ["1 Mbit/s", "2 Mbit/s", "8 Mbit/s"]}
COST = "10 * rate / 1e6 + 1 / delay"
"""Cost in EUR, high for fast links and for short distances."""


@pytest.fixture(scope="module")
def found() -> Frontier:
    return frontier(make_plan(data(across=RATE, cost=COST, currency="EUR")), target="cpu")


@pytest.mark.full
def test_each_row_is_a_plan_of_one_quantity_at_a_stricter_confidence(found: Frontier) -> None:
    """Each of three rows has a third of the error, so it equals a plan of that rate alone at 98.33 %."""
    for rate, answer in zip(RATE["values"], found.answers, strict=True):
        alone = data(confidence=1 - 0.05 / 3)
        alone["scenario"]["hops"][0]["rate"] = rate
        same = plan(make_plan(alone), target="cpu")
        assert (same.holds, same.fails, same.likely) == (answer.holds, answer.fails, answer.likely)
        assert same.curve == answer.curve


@pytest.mark.full
def test_a_faster_link_is_further(found: Frontier) -> None:
    limits = [answer.likely for answer in found.answers]
    assert limits == sorted(limits, key=lambda limit: limit or 0.0)
    assert found.to_frame()["rate"].tolist() == [1e6, 2e6, 8e6]
    assert found.to_frame()["holds"].tolist() == [answer.holds for answer in found.answers]


@pytest.mark.full
def test_the_cheapest_is_that_of_all_designs(found: Frontier) -> None:
    """The cheapest design equals that by hand, from the cost of each value that holds or is not known to
    fail."""
    sure, open_ = [], []
    for rate, answer in zip((1e6, 2e6, 8e6), found.answers, strict=True):
        assert answer.holds is not None and answer.fails is not None
        for value in answer.plan.values:
            design = Design(rate, value, 10 * rate / 1e6 + 1 / value)
            sure += [design] if value <= answer.holds else []
            open_ += [design] if value < answer.fails else []
        assert cheapest(answer) == min((d for d in sure if d.beside == rate), key=lambda d: d.cost)
    assert found.cheapest == min(sure, key=lambda d: d.cost)
    assert found.least == min(open_, key=lambda d: d.cost)
    assert found.least.cost <= found.cheapest.cost


@pytest.mark.full
def test_words(found: Frontier) -> None:
    best = found.cheapest
    assert best is not None
    assert found.provisional  # a cheaper design is undecided
    assert wording.headline(found).startswith("Cheapest so far: delay ")
    assert found.least is not None
    assert f"No design costs less than {wording.price(found, found.least.cost)}" in wording.explanation(found)
    assert "EUR." in wording.headline(found)
    assert "at all 3 values of rate together" in wording.explanation(found)
    without = frontier(make_plan(data(across=RATE)), target="cpu")
    assert without.cheapest is None
    assert without.least is None
    head = r"Delay: .* at rate 1 Mbit/s, 13 ms \(about 1[3-6]\S* ms\) at rate 2 Mbit/s, .* at rate 8 Mbit/s\."
    assert re.fullmatch(head, wording.headline(without))  # the limit at every value
    assert "cost" not in wording.explanation(without)
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert [answer["across"] for answer in record["answers"]] == [1e6, 2e6, 8e6]
    assert record["cheapest"]["cost"] == best.cost


@pytest.mark.full
def test_nothing_holds() -> None:
    asked = data(across=RATE, cost=COST, requirements={"goodput": "goodput_bps >= 60 Mbit/s"})
    none = frontier(make_plan(asked), target="cpu")
    assert none.cheapest is None
    assert wording.headline(none) == "Delay: no value is known to meet the requirements, at any rate."


def test_derived_fields_know_both() -> None:
    asked = data(across=RATE, derive={"hops.1.rate": "rate * 2 + 0 * delay"})
    designs = make_plan(asked).designs
    assert [d.scenario(d.values[0]).paths[0].hops[1].rate for d in designs] == [2e6, 4e6, 16e6]  # type: ignore[union-attr]


@pytest.mark.full
def test_stopped_and_gone_on(found: Frontier, tmp_path: Path) -> None:
    """A stopped plan reports what is known; the same plan resumes from the journal and gives the same
    answer."""
    asked = make_plan(data(across=RATE, cost=COST, currency="EUR"))

    def stop(state: Any) -> None:
        if state.design == 1:
            raise Stopped("after 1 s")

    part = frontier(asked, target="cpu", folder=tmp_path, progress=stop)
    assert len(part.answers) < 3
    assert part.answers[0].curve == found.answers[0].curve
    assert part.least is not None and part.least.beside == 2e6  # of those that were not evaluated
    assert part.provisional and wording.headline(part).startswith("Cheapest so far: ")
    text = wording.explanation(part)
    assert "stopped (after 1 s)" in text
    assert f"No design costs less than {wording.price(part, part.least.cost)} (" in text
    assert "Designs with rate 2 Mbit/s and 8 Mbit/s were not evaluated." in text
    assert [row["active constraint"] for row in wording.rows(part)][1:] == ["not evaluated"] * 2
    assert part.record()["not_evaluated"] == [one.beside.value for one in part.missing if one.beside]
    assert "cheapest so far" in repr(part) and "stopped" in repr(part)
    lines = (tmp_path / JOURNAL).read_text().count("key")
    whole = frontier(asked, target="cpu", folder=tmp_path)
    assert [a.curve for a in whole.answers] == [a.curve for a in found.answers]
    assert whole.cost["simulated"] < whole.cost["replications"]
    assert (tmp_path / JOURNAL).read_text().count("key") > lines


def test_each_function_names_the_other() -> None:
    with pytest.raises(InputError, match=r"call netcarlo\.frontier"):
        plan(make_plan(data(across=RATE)))
    with pytest.raises(InputError, match=r"call netcarlo\.plan"):
        frontier(make_plan(data()))


@pytest.mark.full
def test_command(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(json.dumps(data(across=RATE, cost=COST, currency="EUR")))
    out, run = tmp_path / "out", CliRunner()
    done = run.invoke(app, ["plan", str(file), "--out", str(out), "--target", "cpu"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Cheapest so far: ")
    assert "Designs that hold, over rate and delay" in (out / "report.html").read_text()
    told = json.loads(run.invoke(app, ["plan", str(file), "--out", str(out), "--json"]).output)
    assert told["cost"]["simulated"] == 0
    assert told["cheapest"] == json.loads((out / "result.json").read_text())["cheapest"]
