"""Comparison of measured runs with a scenario: two cases, verdicts, windows of time, and the command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo import InputError, compare_measured
from netcarlo.cli.main import app
from netcarlo.comparison.measured import _binned, _improbable
from netcarlo.estimation import windows
from netcarlo.estimation.windows import Window
from netcarlo.measurements import Curve, Measurement
from netcarlo.numerics.prediction import prediction
from netcarlo.scenario import scenario_of

CASES = Path(__file__).parent.parent / "cases"
DATA = Path(__file__).parent / "data"
PATH = {
    "duration": "4 s", "replications": 40, "seed": 3, "transport": {"protocol": "newreno", "window": 32},
    "hops": [{"rate": "2 Mbit/s", "delay": "10 ms", "queue": 20, "loss": "1 %"}],
}  # fmt: skip
NAMES = ["goodput_bps", "mean_rtt_s", "retransmitted", "loss_ratio"]


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def measured(values: dict[str, float], start_s: float = 0.0, end_s: float = 4.0, **more: Any) -> Measurement:
    return Measurement("run", "iperf3", start_s, end_s, values, **more)


# The shared cases


def test_iperf3_beside_a_scenario(uncompiled: None) -> None:
    found = compare_measured(CASES / "measured_iperf3.yaml", CASES / "measured_iperf3.json")
    assert set(found.table.index) == {"goodput_bps", "mean_rtt_s", "retransmitted"}
    table = found.table
    assert table["measured"].tolist() == pytest.approx([9e6, 0.045, 2])
    assert found.window == Window(1.0, 3.0)  # without the omitted second
    assert table.loc["goodput_bps", "simulated"] == pytest.approx(9.64e6, rel=0.01)
    assert found.missing == {
        "loss_ratio": "iperf3 counts losses of UDP only", "mean_delay_s": "iperf3 measures no one-way delay"
    }  # fmt: skip
    assert any("1 s to 3 s" in note for note in found.notes)


def test_flow_monitor_beside_a_scenario(uncompiled: None) -> None:
    found = compare_measured(CASES / "measured_flowmon.yaml", CASES / "measured_flowmon.xml")
    delay = found.table.loc["mean_delay_s"]
    assert delay["measured"] == pytest.approx(0.00208432, rel=1e-6)
    assert delay["simulated"] == pytest.approx(delay["measured"], rel=1e-6)
    assert delay["verdict"] == "equal"
    assert found.table.loc["loss_ratio", "measured"] == 0
    assert found.window == Window(2.0, pytest.approx(4.00208))
    assert "RTT" not in found.table.index


def test_other_json_is_not_called_a_result(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"nodes": [{"id": "A"}], "links": []}')
    for arguments in (["estimate", path], ["compare", path, path]):
        done = run(*arguments)
        assert done.exit_code == 2
        assert "JSON of another program" in done.output or "is not a result of netcarlo" in done.output
        assert "this is a result" not in done.output


# Verdicts


@pytest.mark.parametrize("n", [39, 40, 79, 200])
def test_range_of_95_percent_has_its_coverage_for_any_distribution(n: int) -> None:
    rng = np.random.default_rng(n)
    draws = rng.lognormal(sigma=1.5, size=(4000, n + 1))
    ranges = [prediction(row[:-1]) for row in draws]
    assert all(one.exact for one in ranges)
    inside = np.mean([one.low <= row[-1] <= one.high for one, row in zip(ranges, draws, strict=True)])
    assert 0.94 < inside < 0.985


def test_range_of_few_values_assumes_a_normal_distribution() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(5, 2, size=(4000, 11))
    ranges = [prediction(row[:-1]) for row in draws]
    assert not ranges[0].exact
    inside = np.mean([one.low <= row[-1] <= one.high for one, row in zip(ranges, draws, strict=True)])
    assert inside == pytest.approx(0.95, abs=0.012)
    assert np.isnan(prediction([1.0]).low)


def test_a_simulated_run_agrees_and_a_shifted_one_does_not(uncompiled: None) -> None:
    fresh = netcarlo.simulate(PATH, first=1000, replications=9).frame
    typical = {name: float(fresh[name].median()) for name in ("goodput_bps", "mean_rtt_s", "retransmitted")}
    found = compare_measured(PATH, measured(typical))
    assert found.exact
    assert found.same, found.table
    shifted = typical | {"goodput_bps": 0.5 * typical["goodput_bps"], "mean_rtt_s": 2 * typical["mean_rtt_s"]}
    found = compare_measured(PATH, measured(shifted))
    assert found.table["verdict"].tolist() == ["below", "above", "inside"]
    assert found.table.loc["goodput_bps", "relative"] < -0.3
    assert not found.same


def test_several_runs_are_judged_together(uncompiled: None) -> None:
    frame = netcarlo.simulate(PATH, first=1000, replications=6).frame
    runs = [measured({"goodput_bps": float(value)}) for value in frame["goodput_bps"]]
    row = compare_measured(PATH, *runs).table.loc["goodput_bps"]
    assert row["runs"] == 6
    assert row["measured"] == pytest.approx(frame["goodput_bps"].mean())
    assert row["measured_low"] < row["measured"] < row["measured_high"]
    assert row["inside"] >= 5


def test_probability_of_runs_outside() -> None:
    assert _improbable(1, 1)  # 5 %
    assert not _improbable(1, 5)  # 23 %
    assert _improbable(2, 5)  # 2.3 %
    assert not _improbable(0, 1)


# Windows of time


def test_windows_of_a_path_add_up(uncompiled: None) -> None:
    scenario = scenario_of(PATH)
    parts = windows.quantities(scenario, [Window(0, 1.5), Window(1.5, 4)], NAMES, replications=3)
    (whole,) = windows.quantities(scenario, [None], NAMES, replications=3)
    goodput = (1.5 * parts[0]["goodput_bps"] + 2.5 * parts[1]["goodput_bps"]) / 4
    np.testing.assert_allclose(goodput, whole["goodput_bps"])
    counts = parts[0]["retransmitted"] + parts[1]["retransmitted"]
    np.testing.assert_array_equal(counts, whole["retransmitted"])
    lows, highs = (np.sort([part["mean_rtt_s"] for part in parts], axis=0)[k] for k in (0, 1))
    assert ((lows <= whole["mean_rtt_s"]) & (whole["mean_rtt_s"] <= highs)).all()


def test_windows_of_a_shared_link_are_its_warm_up(uncompiled: None) -> None:
    shared = {
        "duration": "3 s", "replications": 2, "transport": {"protocol": "newreno"},
        "shared": {"dumbbell": {"rate": "2 Mbit/s", "delay": "5 ms", "queue": 20}, "flows": [{}, {}]},
    }  # fmt: skip
    (part,) = windows.quantities(scenario_of(shared), [Window(1, 2)], ["goodput_bps"], replications=2)
    own = netcarlo.simulate({**shared, "duration": "2 s", "warm_up": "1 s"}).frame["goodput_bps"]
    np.testing.assert_array_equal(part["goodput_bps"], own)


def test_what_does_not_match_is_said(uncompiled: None) -> None:
    run_ = measured(
        {"goodput_bps": 1e6}, 1, 9, setting={"protocol": "UDP", "flows": "2", "congestion control": "bbr"}
    )
    notes = " / ".join(compare_measured({**PATH, "replications": 2}, run_).notes)
    assert "The run measured from 1 s to 9 s after its start; the scenario ends 4 s after it" in notes
    assert "write duration: 9 s" in notes
    assert "The run used UDP, the scenario NewReno (not UDP)" in notes
    assert "The run had 2 flows, the scenario has 1" in notes
    one = measured({"goodput_bps": 1e6}, setting={"flows": "1"})
    pair = {
        "duration": "4 s", "replications": 2, "transport": {"protocol": "newreno"},
        "shared": {"dumbbell": {"rate": "2 Mbit/s", "delay": "5 ms", "queue": 20}, "flows": [{}, {}]},
    }  # fmt: skip
    assert "The run had 1 flow, the scenario has 2" in compare_measured(pair, one).notes
    longer = compare_measured({**PATH, "replications": 2}, measured({"goodput_bps": 1e6}, 0, 2))
    assert longer.window == Window(0, 2)
    assert any("lasts longer (4 s), which is not counted" in note for note in longer.notes)


def test_curves_are_binned_by_their_middles() -> None:
    curve = Curve(np.array([0.0, 1, 2, 3]), np.array([1.0, 2, 3, 4]), np.array([1.0, 3, np.nan, 8]))
    assert _binned(curve, np.array([0.0, 2, 4]), "goodput_bps").tolist() == [2, 8]
    assert _binned(curve, np.array([0.0, 2, 4]), "retransmitted").tolist() == [4, 8]
    assert np.isnan(_binned(None, np.array([0.0, 2, 4]), "goodput_bps")).all()


# The command


def test_the_command_answers_first_and_fits_the_terminal(uncompiled: None, tmp_path: Path) -> None:
    scenario, file = CASES / "measured_iperf3.yaml", CASES / "measured_iperf3.json"
    done = run("compare", scenario, file)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].startswith("The measured run")
    assert max(map(len, lines)) <= 80
    assert "Goodput [Mbit/s]" in done.output
    assert "Not measured. Loss: iperf3 counts losses of UDP only" in " ".join(done.output.split())
    out = tmp_path / "page"
    done = run("compare", file, scenario, "--out", out, "--json", "--replications", 3)  # in any order
    record = json.loads(done.stdout)
    assert record["quantities"][0]["outcome"] == "goodput_bps"
    assert record["runs"][0]["curves"]["goodput_bps"]["values"] == [8.8e6, 9.4e6]
    page = (out / "comparison.html").read_text()
    assert "9 of 10 simulated runs" in page
    assert (out / "comparison.csv").read_text().startswith("outcome,runs,measured")
    assert run("compare", scenario, file, "--equal").exit_code == 1


def test_arguments_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    scenario, file = CASES / "measured_iperf3.yaml", CASES / "measured_iperf3.json"
    for arguments in ([scenario, scenario, file], [file, file]):
        done = run("compare", *arguments)
        assert done.exit_code == 2
        assert "compared with one scenario" in done.output
    bad = tmp_path / "bad.json"
    bad.write_text('{"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}')
    (tmp_path / "bad.csv").write_text("time_s,rssi\n0,1\n")
    done = run("compare", scenario, bad, tmp_path / "bad.csv")
    assert done.exit_code == 2
    assert done.output.count("error:") == 2  # all files at once


def test_quantities_that_the_scenario_lacks_are_refused(uncompiled: None) -> None:
    udp = {**PATH, "transport": {"protocol": "udp", "rate": "1 Mbit/s"}, "replications": 2}
    with pytest.raises(InputError, match="this scenario does not measure"):
        compare_measured(udp, measured({"mean_rtt_s": 0.1}))


def test_real_runs_of_iperf3(uncompiled: None) -> None:
    """Two runs of Linux 6.18 (CUBIC) over 10 Mbit/s, 20 ms each way, 50 packets of queue."""
    transport = {"protocol": "linux", "start": {"uniform": ["0 s", "0.3 s"]}}
    path = {
        "duration": "12 s", "replications": 2, "transport": transport,
        "hops": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": 50}],
    }  # fmt: skip
    found = compare_measured(path, DATA / "iperf3_tcp.json", DATA / "iperf3_tcp_again.json")
    goodput, rtt = found.table.loc["goodput_bps"], found.table.loc["mean_rtt_s"]
    assert abs(goodput["relative"]) < 0.01
    assert abs(rtt["relative"]) < 0.15
