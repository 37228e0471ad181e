import time
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import yaml

from netcarlo import InputError, Scenario, compare, estimate, load_scenario, simulate, trace
from netcarlo.estimation import goals as goal_texts
from netcarlo.kernels.base.layout import Out
from netcarlo.numerics import statistics
from netcarlo.simulation import launches
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import MEANING
from netcarlo.simulation.simulate import simulate_all

SMALL = {
    "name": "small",
    "duration": "5 s",
    "replications": 24,
    "transport": {"protocol": "newreno", "window": {"integers": [4, 20]}},
    "hops": [{"rate": "1 Mbit/s", "delay": {"uniform": ["5 ms", "50 ms"]}, "loss": "2 %"}],
}


@pytest.fixture(scope="module")
def small():
    return Scenario.check(SMALL)


@pytest.fixture(scope="module")
def whole(small):
    return simulate(small, target="cpu")


def test_outcomes_are_plausible(whole):
    frame = whole.frame
    assert (whole.integers[:, Out.STATUS] == 0).all()
    assert (frame["delivered"] <= frame["sent"]).all()
    assert frame["goodput_bps"].between(1e4, 1e6).all()
    assert frame["drops_random"].mean() == pytest.approx(0.02 * frame["sent"].mean(), rel=0.3)
    assert frame["paths.0.hops.0.delay"].between(0.005, 0.05).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 5, 24])
def test_a_replication_has_the_same_outcome_in_any_chunk_on_any_thread(small, whole, size, threads):
    parts = [
        simulate(small, first=lo, replications=min(size, 24 - lo), target="cpu", threads=threads)
        for lo in range(0, 24, size)
    ]
    assert np.concatenate([part.integers for part in parts]).tolist() == whole.integers.tolist()


def test_launches_of_any_size_give_the_same(small, whole, monkeypatch):
    monkeypatch.setitem(launches.MAX_LAUNCH, "cpu", 7)
    other = small.with_values({"transport.protocol": "reno"})
    seen = []
    found = simulate_all(
        [Job(small, 0, 24), Job(other, 3, 10), Job(small, 5, 4)],
        target="cpu",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert found[0].integers.tolist() == whole.integers.tolist()
    assert (
        found[1].integers.tolist()
        == simulate(other, first=3, replications=10, target="cpu").integers.tolist()
    )
    assert found[2].integers.tolist() == whole.integers[5:9].tolist()
    assert found[0].frame.equals(whole.frame)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (38, 38)


def test_an_estimate_has_every_outcome_goals_and_provenance(small, whole):
    found = estimate(small, goals=["goodput_bps >= 0.3 Mbit/s", "mean_rtt_s <= 1 us"], target="cpu")
    own = [outcome.name for outcome in small.network.outcomes if outcome.name in whole.frame]
    assert list(found.table.index) == own
    goodput = found.table.loc["goodput_bps"]
    assert goodput["n"] == 24
    assert goodput["mean"] == pytest.approx(whole.frame["goodput_bps"].mean())
    assert goodput["ci_low"] < goodput["mean"] < goodput["ci_high"]
    share = (whole.frame["goodput_bps"] >= 3e5).mean()
    assert found.goals["probability"].tolist() == [share, 0.0]
    assert found.precise
    record = found.provenance
    assert (record["seed"], record["replications"], record["target"]) == (1, 24, "cpu")
    assert Scenario.check(record["scenario"]) == small
    assert record["versions"]["numpy"] == np.__version__


def test_counts_are_not_negative_in_any_interval(small):
    found = estimate(small, replications=5, target="cpu")
    values = found.outcomes.frame["timeouts"]
    assert statistics.mean(values).ci_low < 0  # without bounds
    row = found.table.loc["timeouts"]
    assert row["ci_low"] == 0 < row["mean"] < row["ci_high"] == statistics.mean(values).ci_high
    assert not (found.table.drop(index="restart_s")["ci_low"] < 0).any()


def test_replications_and_seed_replace_those_of_the_scenario(small, whole):
    fewer = estimate(small, replications=5, target="cpu").outcomes
    assert fewer.integers.tolist() == whole.integers[:5].tolist()
    other = estimate(small, replications=5, seed=2, target="cpu").outcomes
    assert other.integers.tolist() != fewer.integers.tolist()


def test_precision_adds_replications_until_it_is_reached(small):
    found = estimate(small, precision="4 %", target="cpu")
    goodput = found.table.loc["goodput_bps"]
    assert found.precise
    assert goodput["n"] >= 64
    assert goodput["ci_high"] - goodput["ci_low"] == pytest.approx(2 * 0.04 * goodput["mean"], rel=0.1)
    assert found.outcomes.frame.index.tolist() == list(range(int(goodput["n"])))
    short = estimate(small, precision=0.001, replications=300, target="cpu")
    assert not short.precise
    assert len(short.outcomes.frame) == 300


def test_a_comparison_pairs_replications_with_common_random_numbers(small, tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text(yaml.safe_dump({**SMALL, "hops": [{**SMALL["hops"][0], "loss": "3 %"}], "seed": 9}))
    found = compare(small, path, replications=40, target="cpu")
    goodput = found.table.loc["goodput_bps"]
    assert goodput["n"] == 40
    assert goodput["difference"] == pytest.approx(goodput["other"] - goodput["baseline"])
    assert goodput["ci_high"] < 0 > goodput["relative"]
    names = [name for name in found.baseline.frame if name not in MEANING]
    assert found.baseline.frame[names].equals(found.other.frame[names])
    same = compare(small, small, replications=10, target="cpu")
    assert (same.table["difference"].dropna() == 0).all()


def test_a_trace_is_of_the_very_replication(small, whole):
    traced = trace(small, replication=7)
    assert traced.outcomes.integers[0].tolist() == whole.integers[7].tolist()
    frame = traced.frame
    assert (frame["event"] == "send").sum() == whole.integers[7, Out.SENT] + whole.integers[7, Out.HANDSHAKES]
    assert frame["time_s"].between(0, 5).all()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("goodput >= 1 Mbit/s", "not an outcome; did you mean 'goodput_bps'"),
        ("goodput_bps", "not a comparison"),
        ("goodput_bps >= 1 s", "wrong unit"),
        ("restart_s <= 5", "no unit"),
        ("utilisation >= 95", "utilisation is a share from 0 to 1, not 95; write 0.99 or 99 %"),
    ],
)
def test_bad_goals_are_refused(text, complaint):
    with pytest.raises(InputError, match=complaint):
        goal_texts.parse(text)


def test_a_goal_of_many_spaces_is_refused_soon():
    started = time.process_time()
    for text in ("goodput_bps >= 1 a" + " " * 40_000 + "\nb", "goodput_bps" + " " * 40_000 + "\nb"):
        with pytest.raises(InputError, match="goal 'goodput_bps"):
            goal_texts.parse(text)
    assert time.process_time() - started < 1


def test_bad_arguments_are_refused_before_any_work(small):
    with pytest.raises(InputError, match="target = 'gpu' is unknown"):
        simulate(small, target="gpu")
    with pytest.raises(InputError, match="precision"):
        estimate(small, precision="200 %")
    with pytest.raises(InputError, match="not an outcome"):
        estimate(small, of="speed")


def test_what_a_scenario_never_measures_is_refused(small):
    """Outcomes that a scenario never measures are refused: goals would always fail, and no precision be
    reached."""
    with pytest.raises(InputError, match=r"'delay_p95_s' is not measured here .*; measured: first_deliv"):
        estimate(small, goals=["delay_p95_s <= 50 ms"])
    with pytest.raises(InputError, match="'completion_s' is not measured"):
        estimate(small, of="completion_s", precision="1 %")
    with pytest.raises(InputError, match="not an outcome") as refused:
        estimate(small, goals=["delay <= 50 ms"])
    assert "delay_p50_s" not in str(refused.value)
    file = small.with_values({"transport.packets": 10**6})  # it may complete, but did not
    assert estimate(file, replications=5, goals=["completion_s <= 1 s"]).goals["probability"].tolist() == [0]


EXAMPLES = sorted(Path(str(resources.files("netcarlo.configs") / "examples")).glob("*.yaml"))


def test_there_are_example_scenarios():
    assert {"aimd.yaml", "lossy_hop.yaml", "random_topology.yaml"} <= {path.name for path in EXAMPLES}


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_scenario_runs(path):
    whole = load_scenario(str(path))
    seconds = 2 if whole.warm_up or whole.adhoc else 1  # ad hoc: first a route is found
    shorter = {"duration": f"{seconds} s"} | ({"warm_up": "1 s"} if whole.warm_up else {})
    scenario = whole.with_values(shorter)
    assert (simulate(scenario, replications=2, target="cpu").frame["delivered"] > 0).all()


@pytest.mark.full
def test_users_constants_reach_their_congestion_control():
    path = str(resources.files("netcarlo.configs") / "examples" / "aimd.yaml")
    gentle = simulate(load_scenario(path), replications=8, target="cpu").frame["goodput_bps"]
    values = {"transport.constants.decrease": 0.5}
    standard = simulate(load_scenario(path, values=values), replications=8, target="cpu")
    assert gentle.mean() > 1.2 * standard.frame["goodput_bps"].mean()
    values = {"transport": {"protocol": "newreno", "window": 128}}
    built_in = simulate(load_scenario(path, values=values), replications=8, target="cpu")
    assert built_in.integers.tolist() == standard.integers.tolist()


@pytest.mark.full
def test_a_path_a_mapping_and_a_scenario_are_asked_alike(tmp_path):
    data = {
        "duration": "2 s", "replications": 5,
        "transport": {"protocol": "newreno"}, "hops": [{"rate": "1 Mbit/s", "delay": "5 ms", "loss": "1 %"}],
    }  # fmt: skip
    file = tmp_path / "asked.yaml"
    file.write_text(yaml.safe_dump(data))
    scenario = load_scenario(file)
    wanted = simulate(scenario)
    for asked in (file, str(file), data):
        assert np.array_equal(simulate(asked).integers, wanted.integers)
        assert np.array_equal(estimate(asked).outcomes.integers, wanted.integers)
        assert trace(asked).frame.equals(trace(scenario).frame)
        assert compare(asked, scenario).table["difference"].loc["goodput_bps"] == 0
    with pytest.raises(InputError, match="did you mean 'duration'"):
        simulate({**data, "duratoin": "1 s"})


def test_results_show_themselves():
    hop = {"rate": "1 Mbit/s", "delay": "5 ms"}
    data = {"duration": "2 s", "transport": {"protocol": "newreno"}, "hops": [hop]}
    found = estimate({**data, "name": "<b>"}, replications=3)
    assert repr(found).startswith("Estimate of <b>, 3 replications: goodput_bps 9")
    assert "<caption>Estimate of &lt;b&gt;, 3" in found._repr_html_()
    measured = found.table[found.table["n"] > 0]
    shown = [[cell.text for cell in row] for row in ET.fromstring(found._repr_html_()).iterfind("tbody/tr")]
    assert [row[0] for row in shown] == found.to_frame().index.tolist() == measured.index.tolist()
    assert [float(row[2]) for row in shown] == pytest.approx(measured["mean"].tolist(), rel=1e-3)
    both = compare(data, {**data, "transport": {"protocol": "tahoe"}}, replications=3)
    assert repr(both).startswith("Comparison of 3 pairs: goodput_bps ")
    assert len(ET.fromstring(both._repr_html_()).findall("tbody/tr")) == len(both.to_frame())


@pytest.mark.full
def test_progress_true_is_a_line_and_a_result_is_a_dataset_and_a_figure(small, capsys):
    found = estimate(small, replications=6, progress=True, target="cpu")
    assert capsys.readouterr().err.endswith("100 %: 6 of 6 replications\n")
    data = found.to_xarray()
    assert data.sizes == {"replication": 6} and data["goodput_bps"].attrs["units"] == "bit/s"
    drawn = found.plot("mean_rtt_s")
    assert drawn.layout.shapes[1].x0 == found.table.loc["mean_rtt_s", "mean"]
    with pytest.raises(InputError, match="'udp_bps' was not measured"):
        found.plot("udp_bps")


def test_a_margin_is_that_of_the_replication_with_which_more_than_half_meet_the_goal():
    from netcarlo.estimation.goals import Goal

    goal = Goal("goodput_bps >= 2 bit/s", "goodput_bps", ">=", 2.0)
    found = goal.margins({"goodput_bps": np.array([[1.0, 2.0, 4.0, 8.0], [1.0, 1.0, 4.0, 8.0]])})
    assert found[0] == 0.0 and found[1] < 0.0


def test_replications_end_when_goals_are_decided(small):
    goals = ["goodput_bps >= 1 bit/s", "goodput_bps >= 1 Gbit/s"]
    found = estimate(small, goals=goals, probability="90 %", target="cpu")
    assert found.goals["verdict"].tolist() == ["holds", "fails"] and found.decided
    n = len(found.outcomes.frame)
    assert 32 <= n < 200 and found.goals["n"].tolist() == [n, n]
    assert found.goals["ci_low"].iloc[0] > 0.9 - 0.05 and found.goals["ci_high"].iloc[1] < 0.9
    assert found.outcomes.frame.equals(estimate(small, replications=n, target="cpu").outcomes.frame)
    short = estimate(small, goals=goals, probability=0.9, replications=10, target="cpu")
    assert not short.decided and len(short.outcomes.frame) == 10
    for options, problem in (
        ({"goals": []}, "there is none"),
        ({"precision": 0.1}, "remove one"),
        ({"probability": "100 %"}, "out of range"),
    ):
        with pytest.raises(InputError, match=problem):
            estimate(small, **({"goals": goals, "probability": 0.9} | options), target="cpu")
