"""Fits to runs that our own models simulated: known fields are recovered, undetermined ones are reported."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from netcarlo import estimate, fit, load_scenario
from netcarlo.calibration.fit.candidates import Simulator
from netcarlo.calibration.fit.fit import JOURNAL, Fit
from netcarlo.calibration.fit.free import free_fields
from netcarlo.calibration.fit.likelihood import Numbers, emulator, restored, transformed
from netcarlo.calibration.fit.observed import Observed, Series, Target, observed, span, targets
from netcarlo.calibration.fit.result import COVERAGE_RUNS, COVERED, Fitted
from netcarlo.calibration.fit.sampler import reflected, walk
from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.estimation.journal import Journal
from netcarlo.measurements import Measurement, read
from netcarlo.measurements.record import Curve
from netcarlo.numerics.arrays import Floats
from netcarlo.reports.fit import wording
from netcarlo.scenario import scenario_of

SCENARIO = {
    "duration": "10 s",
    "transport": {"protocol": "newreno", "window": 300},
    "hops": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": 60, "loss": "0.1 %"}],
}
FREE = ("hops.0.rate=1..50 Mbit/s", "hops.0.delay=1..100 ms", "hops.0.queue=5..500", "hops.0.loss=0..5 %")
TRUTHS = (
    {"rate": 4e6, "delay": 0.015, "queue": 20.0, "loss": 0.0},
    {"rate": 8e6, "delay": 0.03, "queue": 30.0, "loss": 0.0},
    {"rate": 3e6, "delay": 0.008, "queue": 60.0, "loss": 0.004},
    {"rate": 15e6, "delay": 0.012, "queue": 15.0, "loss": 0.0005},
    {"rate": 6e6, "delay": 0.04, "queue": 40.0, "loss": 0.0},
)
EFFORT = 0.5
EDGES = np.linspace(0, 1, 41)


def simulated(
    truth: dict[str, float], number: int, *, scenario: dict[str, Any] = SCENARIO, free: Sequence[str] = FREE
) -> Observed:
    """Return a run of the path as it would be measured: goodput, RTT and retransmissions in 40 intervals."""
    made = scenario_of(scenario).with_values({"seed": 1000})
    fields = free_fields(made, free)
    position = [float(one.positions(np.array(truth[one.name.split(".")[-1]]))) for one in fields]
    run = Observed(f"run {number}", 10.0)
    of = Simulator(made, fields, target="cpu").run(
        np.array([position]), span(run), first=number, edges=EDGES.tolist()
    )
    starts, ends = of.ends_s[:-1], of.ends_s[1:]
    seen = np.diff(of.seen_s[0])
    rtt = np.divide(np.diff(of.rtt[0]), seen, out=np.full(len(seen), np.nan), where=seen > 0)
    again = np.diff(of.retransmitted[0])
    bits = np.diff(of.bits[0])
    return run._replace(
        goodput_bps=float(bits.sum() / 10), goodput=Series(starts, ends, bits / (ends - starts)),
        rtt=Series(starts, ends, rtt), retransmitted=float(again.sum()),
        retransmissions=Series(starts, ends, again),
    )  # fmt: skip


@pytest.fixture(scope="module")
def fits() -> list[tuple[dict[str, float], Fitted]]:
    """Return the fits of one run of each path."""
    return [
        (truth, fit(SCENARIO, [simulated(truth, k)], free=FREE, effort=EFFORT, target="cpu"))
        for k, truth in enumerate(TRUTHS)
    ]


@pytest.mark.full
def test_intervals_cover_the_truth_and_rates_are_right(fits: list[tuple[dict[str, float], Fitted]]) -> None:
    """At least 16 of 20 intervals cover the truth: probability 0.997 at a coverage of 95 %, 0.05 at 60 %."""
    covered = []
    for truth, found in fits:
        for one in found.parameters:
            true = truth[one.free.name.split(".")[-1]]
            covered.append(one.low <= true <= one.high)
        rate = found.parameter("hops.0.rate")
        assert rate.value == pytest.approx(truth["rate"], rel=0.05)
    assert sum(covered) >= 16


@pytest.mark.full
def test_left_out_parts_are_predicted(fits: list[tuple[dict[str, float], Fitted]]) -> None:
    """Quarters of runs without random losses are predicted within a few per cent."""
    for truth, found in fits:
        assert found.folds == "parts of the run"
        by_kind = {one.kind: one for one in found.errors}
        assert by_kind["goodput_bps"].n == 6
        if truth["loss"] == 0:
            assert by_kind["goodput_bps"].left_out < 0.1
            assert by_kind["rtt_s"].left_out < 0.1


def test_a_run_without_loss_bounds_loss_from_above_and_the_queue_from_below() -> None:
    """With a window of 50 packets the queue never fills, so its length is undetermined."""
    scenario = SCENARIO | {"transport": {"protocol": "newreno", "window": 50}}
    truth = {"rate": 5e6, "delay": 0.02, "queue": 100.0, "loss": 0.0}
    run = simulated(truth, 0, scenario=scenario)
    assert run.retransmitted == 0
    found = fit(scenario, [run], free=FREE, effort=EFFORT, target="cpu")
    rate, delay, queue, loss = found.parameters
    assert rate.verdict == "determined"
    assert rate.low <= 5e6 <= rate.high
    assert delay.low <= 0.02 <= delay.high
    assert (queue.verdict, queue.high) == ("bounded below", 500)
    assert 20 < queue.low < 50.001  # the bound is the edge of a bin of the density: 50, rounded
    assert (loss.verdict, loss.low) == ("bounded above", 0)
    assert loss.high < 2e-3
    said = wording.answer(found)
    assert "queue at least" in said
    assert "loss at most" in said


def test_the_seed_determines_every_bit_and_threads_do_not_matter() -> None:
    """Only the curve of the measurement, the scenario and the seed count."""
    run = simulated(TRUTHS[0], 0)
    one, two, other = (
        fit(SCENARIO, [run], free=FREE[:2], effort=0.1, seed=seed, threads=threads, target="cpu").record()
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    )
    assert json.dumps(one) == json.dumps(two)
    assert one["parameters"] != other["parameters"]


def test_an_interrupted_fit_continues_with_the_same_bits(tmp_path: Path) -> None:
    """Replications before the interruption are read from the folder."""
    run = simulated(TRUTHS[0], 0)
    scenario = scenario_of(SCENARIO).with_values({"seed": 1})
    fields = free_fields(scenario, FREE[:1])

    def simulator(folder: Path, progress: Callable[[int], object] | None = None) -> Simulator:
        return Simulator(scenario, fields, target="cpu", progress=progress, journal=Journal(folder / JOURNAL))

    def stop(rows: int) -> None:
        raise KeyboardInterrupt

    positions = np.linspace(0.1, 0.9, 8)[:, None]
    first = simulator(tmp_path).run(positions, span(run), first=0)
    with pytest.raises(KeyboardInterrupt):
        simulator(tmp_path, stop).run(positions, span(run), first=8)
    counted: list[int] = []
    again = simulator(tmp_path, counted.append)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr("netcarlo.calibration.fit.candidates.launches.run")  # no run is simulated
        same = again.run(positions, span(run), first=0)
    assert all(np.array_equal(a, b) for a, b in zip(first, same, strict=True))
    assert counted == [8 * 5]  # the edges after 0
    assert (tmp_path / JOURNAL).read_text().count("key") == 1


def test_several_runs_are_fitted_together_and_left_out_one_by_one() -> None:
    """Two runs of a path have one value of each field; each run is predicted from the other."""
    runs = [simulated(TRUTHS[2], k) for k in range(2)]
    found = fit(SCENARIO, runs, free=(FREE[0],), effort=0.2, target="cpu")
    assert found.folds == "runs"
    assert {row.run for row in found.numbers if math.isfinite(row.left_out)} == {"run 0", "run 1"}
    assert found.parameters[0].value == pytest.approx(3e6, rel=0.1)


def test_progress_counts_simulated_replications() -> None:
    """The forecast is exact, except for the fitted curves."""
    seen: list[tuple[int, int]] = []
    found = fit(
        SCENARIO, [simulated(TRUTHS[0], 0)], free=FREE[:1], effort=0.1, target="cpu",
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1] == found.replications


@pytest.mark.parametrize("ends", [(0, 1e-3), (0, 1e9), (1e-3, 1.1e-3), (7, 20), (1, 4), (1e3, 1e7)])
def test_positions_and_values_are_inverse(ends: tuple[float, float]) -> None:
    """On each scale, values rise through the range, and give back their positions."""
    one = free_fields(scenario_of(SCENARIO), ["hops.0.queue=1..2"])[0]._replace(low=ends[0], high=ends[1])
    positions = np.linspace(0, 1, 101)
    values = one.values(positions)
    assert (np.diff(values) > 0).all()
    assert (values[0], values[-1]) == pytest.approx(ends)
    assert one.positions(values) == pytest.approx(positions, abs=1e-6)


def test_free_fields_have_ranges_units_and_defaults() -> None:
    """A unit may be written once; by default four fields of the slowest hop are free."""
    scenario = scenario_of(SCENARIO)
    one = free_fields(scenario, ["hops.0.rate=1..100 Mbit/s"])[0]
    assert (one.low, one.high, one.scale) == (1e6, 1e8, "log")
    assert free_fields(scenario, ["hops.0.delay = 500 us .. 4 ms"])[0].low == 5e-4
    assert [field.name for field in free_fields(scenario, [])] == [
        "hops.0.rate", "hops.0.delay", "hops.0.queue", "hops.0.loss",
    ]  # fmt: skip
    found = {field.name.split(".")[-1]: field for field in free_fields(scenario, [])}
    assert (found["loss"].low, found["loss"].high, found["loss"].scale) == (0, 0.05, "square")
    assert (found["queue"].low, found["queue"].high) == (6, 600)
    assert (found["queue"].yaml(12.4), found["rate"].yaml(4.196e6)) == (12, "4.196 Mbit/s")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hops.0.rat=1..2 Mbit/s", "did you mean 'hops.0.rate'"),
        ("hops.0.rate=5 Mbit/s", "has no range; write --free 'hops.0.rate=LOW..HIGH'"),
        ("hops.0.rate=1..2 ms", "has the wrong unit"),
        ("hops.0.rate=2..1 Mbit/s", "the range is empty; write the lower end first"),
        ("transport.protocol=1..2", "is not a number; name a field such as hops.0.rate"),
    ],
)
def test_errors_about_free_fields_say_what_to_write(text: str, said: str) -> None:
    """Each error message names the option."""
    with pytest.raises(InputError, match="--free") as error:
        free_fields(scenario_of(SCENARIO), [text])
    assert said in str(error.value)


def test_windows_of_a_series_weight_its_intervals() -> None:
    """Intervals that overlap the ends of a window count in part; a window without data has no mean."""
    series = Series(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 60.0]))
    assert series.mean(0.5, 2.0)[0] == pytest.approx((0.5 * 10 + 20) / 1.5)
    assert series.events(0.5, 3.0) == pytest.approx(5 + 20 + 60)
    assert math.isnan(series.mean(5, 6)[0])


def test_what_a_sender_wrote_is_not_fitted() -> None:
    """A curve of the data written into the socket is not fitted; a curve of the received data is."""
    curve = Curve(np.arange(10.0), np.arange(10.0) + 1, np.full(10, 1e6))
    run = Measurement("a", "iperf3", 0.0, 10.0, {"goodput_bps": 1e6}, {"goodput_bps": curve}, written=True)
    assert [(one.kind, one.window) for one in targets(observed(run))] == [("goodput_bps", None)]


def test_an_emulator_reproduces_functions_and_their_scatter() -> None:
    """A linear function is exact and a cubic one nearly exact; the variance equals that of the noise."""
    rng = np.random.default_rng(1)
    pool = rng.random((4000, 2))
    linear = 1 + pool[:, :1] - 2 * pool[:, 1:]
    cubic = pool[:, :1] ** 3 - pool[:, 1:] * pool[:, :1]
    noisy = cubic + 0.1 * rng.standard_normal((4000, 1)) * (pool[:, :1] > 0.5)
    found = emulator(pool, np.concatenate([linear, cubic, noisy], axis=1), rng.random((500, 2))).numbers(pool)
    assert np.allclose(found.mean[:, 0], linear[:, 0], atol=1e-4)
    assert np.allclose(found.mean[:, 1], cubic[:, 0], atol=0.03)
    assert np.median(found.variance[pool[:, 0] > 0.6, 2]) == pytest.approx(0.01, rel=0.15)
    assert found.variance[pool[:, 0] < 0.4, 2].max() < 1e-3


def test_numbers_share_errors_and_single_ones_may_be_far_off() -> None:
    """A common shift costs less than shifts of both signs, and the cost of a large error is bounded."""
    two = [Target("rtt_s", k, 0.1, 1e-3, 3e-3) for k in (0, 1)]

    def misfit(*shifts: float) -> float:
        mean = np.log([[0.1 * (1 + shift) for shift in shifts]])
        numbers = Numbers(mean, np.full((1, 2), 1e-9), np.eye(2))
        return float(numbers.misfit(two, np.ones(2, bool))[0][0])

    assert 2 * misfit(0.03, 0.03) < misfit(0.03, -0.03)
    assert misfit(0.0, 0.6) - misfit(0.0, 0.3) < 10


def test_runs_of_a_path_do_not_average_the_error_of_the_model() -> None:
    """The floors of four runs are twice those of one."""
    made, run = scenario_of(SCENARIO), Observed("a", 10.0, goodput_bps=1e6)
    free, options = free_fields(made, FREE), {"seed": 1, "effort": 1, "target": "cpu", "threads": 1}
    floors = [Fit(made, [run] * n, free, progress=None, **options).targets[0][0].floor for n in (1, 4)]
    assert floors[1] == pytest.approx(2 * floors[0])


def test_a_chain_that_is_stuck_moves_to_the_others() -> None:
    """No chain stays in a local minimum far above the others."""
    rng = np.random.default_rng(1)
    start = np.concatenate([0.4 + 0.02 * rng.standard_normal((95, 1)), np.full((5, 1), 0.9)])

    def misfit(at: Floats) -> Floats:
        return np.minimum((at[:, 0] - 0.4) ** 2 / 0.02**2, 100 + (at[:, 0] - 0.9) ** 2 / 1e-3**2)

    assert walk(misfit, start, steps=20, temperature=1.0, rng=rng).max() < 0.6


def test_the_coverage_that_is_printed_is_that_of_the_results() -> None:
    """The table of all runs in docs/results/fit.md has the same counts."""
    page = (Path(__file__).parents[2] / "docs" / "results" / "fit.md").read_text()
    table = page[page.index(f"| all, {COVERAGE_RUNS} runs") :].split("\n\n")[0].splitlines()[2:]
    counts = {cells[1].strip(): cells[-2].strip() for cells in (row.split("|") for row in table)}
    assert counts == {name: f"{n} of {COVERAGE_RUNS}" for name, n in COVERED.items()}
    assert f"the rate in {COVERED['rate']}" in wording.coverage()


def test_chains_sample_a_known_posterior() -> None:
    """A normal likelihood within [0, 1] gives its mean and standard deviation."""
    rng = np.random.default_rng(1)
    at = walk(
        lambda x: ((x - 0.4) ** 2 / 0.05**2).sum(axis=1),
        rng.random((600, 2)),
        steps=150,
        temperature=1.0,
        rng=rng,
    )
    assert at.mean(axis=0) == pytest.approx([0.4, 0.4], abs=0.01)
    assert at.std(axis=0) == pytest.approx([0.05, 0.05], rel=0.15)


def test_reflection_and_transformation() -> None:
    """Positions stay in [0, 1]; values come back from the scale of the emulation."""
    assert reflected(np.array([-0.2, 1.3, 0.5])) == pytest.approx([0.2, 0.7, 0.5])
    assert restored("retransmitted", transformed("retransmitted", np.array([9.0]))) == pytest.approx([9])
    assert restored("rtt_s", transformed("rtt_s", np.array([0.05]))) == pytest.approx([0.05])


def test_command_prints_the_answer_and_writes_scenario_and_page(tmp_path: Path) -> None:
    """The answer comes first, in 80 columns; the written scenario runs."""
    import yaml

    scenario = tmp_path / "link.yaml"
    scenario.write_text(yaml.safe_dump(SCENARIO))
    run = simulated(TRUTHS[0], 0)
    assert run.goodput is not None
    assert run.rtt is not None
    rows = zip(run.goodput.start_s, run.goodput.values, run.rtt.values, strict=True)
    lines = [f"{t},{bps / 1e6},{1e3 * rtt if rtt == rtt else ''}" for t, bps, rtt in rows]
    measured = tmp_path / "run.csv"
    measured.write_text("\n".join(["time_s,goodput_mbps,rtt_ms", *lines]) + "\n")
    assert read(measured)[0].curves["goodput_bps"].values[5] == pytest.approx(run.goodput.values[5])
    written, out = tmp_path / "fitted.yaml", tmp_path / "page"
    done = CliRunner().invoke(
        app,
        ["fit", str(scenario), str(measured), "--free", FREE[0], "--free", FREE[1], "--effort", "0.2",
         "--write", str(written), "--out", str(out), "--target", "cpu"],
        env={"COLUMNS": "80"},
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Rate ")
    shown = [line for line in done.stdout.splitlines() if str(tmp_path) not in line]  # paths are not broken
    assert max(map(len, shown)) <= 80
    assert "is predicted from the rest" in done.stdout.replace("\n", " ")
    fitted = load_scenario(written)
    assert fitted.paths is not None
    assert estimate(fitted, replications=2, target="cpu").table.loc["goodput_bps", "mean"] > 3e6
    assert '<h2 id="curves">' in (out / "fit.html").read_text()
    assert json.loads((out / "fit.json").read_text())["parameters"][0]["field"] == "hops.0.rate"


def test_a_run_without_numbers_is_refused() -> None:
    """The message names the run."""
    with pytest.raises(InputError, match="empty: has no number that can be fitted"):
        fit(SCENARIO, [Observed("empty", 10.0)])


def test_an_interrupted_fit_says_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a fit with exit code 130, and no file is written."""

    def leave(code: int) -> None:
        raise SystemExit(code)

    def interrupted(*_: object, progress: Callable[[int, int], object], **__: object) -> None:
        progress(1200, 4000)
        raise KeyboardInterrupt

    monkeypatch.setattr("netcarlo.cli.console.leave", leave)
    monkeypatch.setattr("netcarlo.fit", interrupted)
    scenario, measured = tmp_path / "link.yaml", tmp_path / "run.csv"
    scenario.write_text(json.dumps(SCENARIO))
    measured.write_text("time_s,goodput_mbps\n0,5\n1,5\n")
    out = tmp_path / "page"
    done = CliRunner().invoke(app, ["fit", str(scenario), str(measured), "--out", str(out)])
    assert done.exit_code == 130
    said = f"interrupted after 1,200 of 4,000 replications; they are in {out}, and the same command continues"
    assert said in done.output
    done = CliRunner().invoke(app, ["fit", str(scenario), str(measured)])
    assert "nothing was written; with --out DIR the same command continues" in done.output
