"""Sequential decision which scenario is best: verdicts, their errors, refusals and the command."""

from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from netcarlo import InputError, compare
from netcarlo.cli.main import app
from netcarlo.comparison.winner import decide
from netcarlo.scenario import Scenario

SCENARIO = {
    "name": "hop", "duration": "5 s", "transport": {"protocol": "newreno", "window": 32},
    "hops": [{"rate": "4 Mbit/s", "delay": "10 ms", "queue": 20, "loss": "1 %"}],
}  # fmt: skip


def known(values: np.ndarray):
    """Return replications whose outcome has these values, whichever it is."""
    return SimpleNamespace(
        scenario=Scenario.check(SCENARIO), fidelity="packet", values=lambda of: values,
        extend=lambda step, progress=None: None,
    )  # fmt: skip


def drawn(*means: float, noise: float = 1.0, common: float = 0.0, seed: int = 0, n: int = 1000):
    """Return replications with normal noise, and a common part that is the same for all of them."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, common, n)
    return [known(mean + shared + rng.normal(0, noise, n)) for mean in means]


def test_the_largest_goodput_and_the_smallest_round_trip_are_best():
    assert decide(drawn(5, 9, 7), "goodput_bps", most=1000) == ("goodput_bps", 1, 32)
    assert decide(drawn(5, 9, 7), "mean_rtt_s", most=1000) == ("mean_rtt_s", 0, 32)


def test_what_pairs_have_in_common_does_not_delay_the_decision():
    assert decide(drawn(5, 6, noise=0.1, common=100), "goodput_bps", most=1000).replications == 32
    assert decide(drawn(5, 5.1, noise=1, common=0), "goodput_bps", most=1000).replications > 32


def test_it_stays_open_between_equal_sides_and_for_the_best_two_of_three():
    assert decide([known(np.ones(1000))] * 2, "goodput_bps", most=300) == ("goodput_bps", None, 300)
    assert decide(drawn(5, 9, 9, noise=0.1, seed=3), "goodput_bps", most=200).side is None


def test_pairs_without_a_value_are_left_out():
    some = np.where(np.arange(1000) % 2, 9.0, np.nan)
    assert decide([known(np.arange(1000) % 7 + 0.0), known(some)], "goodput_bps", most=1000).side == 1
    never = known(np.full(1000, np.nan))
    assert decide([never, known(np.ones(1000))], "goodput_bps", most=100).side is None


def test_at_most_one_in_twenty_decisions_between_equal_means_is_wrong():
    wrong = [
        decide(drawn(5, 5, 5, common=1, seed=seed), "goodput_bps", most=1000).side is not None
        for seed in range(200)
    ]
    assert np.mean(wrong) <= 0.05


def test_an_outcome_without_a_better_direction_is_refused():
    with pytest.raises(InputError, match="neither more nor less of sent is better"):
        decide(drawn(1, 2), "sent", most=100)


@pytest.mark.full
def test_the_command_names_the_winner_or_exits_with_1(tmp_path):
    run = CliRunner().invoke
    file = tmp_path / "hop.yaml"
    file.write_text(str(SCENARIO))
    two = ["compare", str(file), str(file), "--until-decided", "--set", "B:hops.0.loss=4 %", "--quiet"]
    assert run(app, two).exit_code == 0
    shown = run(app, two[:-1]).output
    assert "has the better goodput, decided after 32 replications" in " ".join(shown.split())
    same = run(app, ["compare", str(file), str(file), "--until-decided", "--replications", "40"])
    assert same.exit_code == 1 and "is open after 40 replications" in " ".join(same.output.split())
    found = compare(SCENARIO, SCENARIO, values={"B:hops.0.loss": "4 %"}, of="timeouts", until_decided=True)
    assert found.winner == ("timeouts", 0, 32) and (found.table["n"] == 32).all()
