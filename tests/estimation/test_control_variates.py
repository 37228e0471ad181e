"""Control variates: the estimate, its interval, and its saving."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from netcarlo import InputError, estimate, load_scenario
from netcarlo.cli.main import app
from netcarlo.estimation.control_variates import controlled, draws_needed
from netcarlo.estimation.replications import AUTO, Replications
from netcarlo.estimation.sample import Step
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.simulation.outcomes import Outcomes
from tests.campaigns.benchmarks.fidelity import EXAMPLES, Pool, cover


def pairs(n: int, m: int, *, noise: float, seed: int, skewed: bool = False) -> tuple[Floats, Floats]:
    """Return `n` outcomes around 3 + 2 x, and `m` controls x of mean 1."""
    rng = np.random.default_rng(seed)
    x = rng.exponential(1.0, m) if skewed else rng.normal(1.0, 1.0, m)
    error = rng.exponential(1.0, n) - 1 if skewed else rng.normal(0.0, 1.0, n)
    return 3 + 2 * x[:n] + noise * error, x


def test_the_coefficient_of_a_pair_is_that_of_the_others() -> None:
    y, x = pairs(12, 40, noise=1.0, seed=1)
    found = controlled(y, x)
    assert found is not None
    corrected = []
    for k in range(12):
        others = np.arange(12) != k
        slope = np.cov(x[:12][others], y[others])[0, 1] / x[:12][others].var(ddof=1)
        corrected.append(y[k] - slope * (x[k] - x.mean()))
    assert found.mean.mean == pytest.approx(np.mean(corrected), rel=1e-12)
    inner = statistics.mean(corrected)
    far = abs(found.coefficient) * statistics.mean(x).half_width
    assert found.mean.ci_high - found.mean.mean == pytest.approx(
        math.hypot(inner.ci_high - inner.mean, far), rel=1e-9
    )
    assert found.mean.sd == statistics.mean(y).sd
    assert found.mean.n == 12


def test_a_control_that_says_all_leaves_the_error_of_its_own_mean() -> None:
    y, x = pairs(50, 500, noise=1e-7, seed=2)
    found = controlled(y, x)
    assert found is not None
    assert found.mean.mean == pytest.approx(3 + 2 * x.mean())
    assert found.mean.half_width == pytest.approx(2 * statistics.mean(x).half_width, rel=1e-3)
    assert found.variance_ratio == pytest.approx(10, rel=0.2)
    assert found.runs_saved == round(50 * (found.variance_ratio - 1))


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_the_variance_falls_as_reported(noise: float) -> None:
    sharp, plain, ratios = [], [], []
    for seed in range(200):
        y, x = pairs(60, 600, noise=noise, seed=seed)
        found = controlled(y, x)
        assert found is not None
        sharp.append(found.mean.mean)
        plain.append(y.mean())
        ratios.append(found.variance_ratio)
    fall = np.var(plain) / np.var(sharp)
    assert np.median(ratios) == pytest.approx(fall, rel=0.3)
    rho2 = 4 / (4 + noise**2)
    assert fall == pytest.approx(1 / (1 - rho2 + rho2 / 10), rel=0.3)
    assert np.mean(sharp) == pytest.approx(5, abs=4 * np.std(sharp) / math.sqrt(200))


@pytest.mark.full
def test_intervals_cover() -> None:
    covered = []
    for n, noise, skewed in ((30, 0.5, False), (60, 2.0, False), (100, 1.0, True)):
        y, x = pairs(20_000, 20_000, noise=noise, seed=9, skewed=skewed)
        covered.append(cover(Pool(y, x), runs=n, samples=250, seed=4)["coverage"])
    assert 0.93 <= np.mean(covered) <= 0.97


def test_several_controls_are_those_of_a_regression_without_the_run() -> None:
    """The correction of run k is that of least squares over the other runs."""
    rng = np.random.default_rng(5)
    known, x = rng.normal(size=(200, 2)), rng.exponential(1.0, 200)
    x = x + known[:, 0]
    y = 3 + 2 * x[:30] - known[:30, 1] + 0.1 * rng.normal(size=30)
    found, of_x = controlled(y, x, known), controlled(x, known=known)
    assert found is not None and of_x is not None
    every = np.column_stack([x[:30] - of_x.mean.mean, known[:30]])
    corrected = []
    for k in range(30):
        others = np.arange(30) != k
        table = np.column_stack([np.ones(29), every[others]])
        corrected.append(y[k] - every[k] @ np.linalg.lstsq(table, y[others], rcond=None)[0][1:])
    assert found.mean.mean == pytest.approx(np.mean(corrected), rel=1e-9)
    assert found.variance_ratio > 5


def test_controls_of_known_mean_need_no_draws() -> None:
    """If half of the variance of the fast model is known, fewer draws are needed."""
    rng = np.random.default_rng(6)
    known = rng.normal(size=(500, 1))
    x = known[:, 0] + rng.normal(size=500)
    y = x[:100] + 0.3 * rng.normal(size=100)
    assert draws_needed(y, x, known, most=64) < 0.7 * draws_needed(y, x, most=64)
    assert controlled(y, known=known[:100]).mean.half_width < statistics.mean(y).half_width


def test_without_a_useful_control_there_is_none() -> None:
    y, x = pairs(20, 40, noise=1.0, seed=3)
    assert controlled(y[:9], x) is None and controlled(y[:10], x) is not None
    assert controlled(y, np.ones(40)) is None
    assert controlled(y, 1e6 * (1 + 1e-12 * x)) is None
    assert controlled(np.ones(20), x) is None
    assert controlled(np.where(y > y.mean(), y, np.nan), x) is None
    assert controlled(y, np.where(x > x.mean(), x, np.nan)) is None
    one_of_them = np.zeros(40)
    one_of_them[4] = 1.0
    assert controlled(y, one_of_them) is None
    unrelated = np.random.default_rng(8).normal(size=(400, 2))
    found = controlled(unrelated[:, 0], unrelated[:, 1])
    assert found is not None
    assert found.variance_ratio == pytest.approx(1, abs=0.02)


def test_draws_follow_what_the_control_knows() -> None:
    sizes = []
    for noise in (100.0, 2.0, 0.5, 0.1):
        y, x = pairs(2000, 2000, noise=noise, seed=5)
        sizes.append(draws_needed(y, x, most=64))
    assert sizes == sorted(sizes)
    assert 2000 < sizes[0] < 2100
    assert sizes[1] == pytest.approx(2000 * (1 + 3), rel=0.15)
    assert sizes[3] == 65 * 2000
    assert draws_needed(np.ones(20), np.ones(20), most=64) == 20


class Fluid(Replications):
    """Replications of an ad hoc network with artificial outcomes.

    The fluid varies by `spread`, packets additionally by `noise`."""

    def __init__(self, noise: float, spread: float) -> None:
        super().__init__(load_scenario(EXAMPLES / "adhoc.yaml", values={"precision": "1 %"}))
        rng = np.random.default_rng(1)
        fluid = 1e6 * (1 + spread * rng.normal(size=50_000))
        self.made = {"packet": fluid * 1.1 + 1e6 * noise * rng.normal(size=50_000), "fluid": fluid}

    def extend(self, step: Step, *, progress: object = None) -> None:
        """Make the outcomes of a step."""
        new = pd.DataFrame({"goodput_bps": self.made[step.fidelity][self.done(step.fidelity) : step.until]})
        self._parts.setdefault(step.fidelity, []).append(Outcomes(np.zeros((len(new), 0), np.int64), new))

    def compile(self, *fidelities: str) -> None:
        """Compile nothing."""


@pytest.mark.parametrize(
    ("noise", "spread", "runs", "used"),
    [(0.02, 0.5, 1600, True), (0.5, 0.5, 30_000, False), (0.0, 0.05, 256, False)],
    ids=["explains", "explains too little", "not needed"],
)
def test_a_fluid_is_added_where_256_replications_are_too_few(
    noise: float, spread: float, runs: int, used: bool
) -> None:
    sample = Fluid(noise, spread)
    aim = sample.complete(sample.aim("goodput_bps", AUTO), AUTO)
    assert ("fluid" in aim.controls) == used and sample.precise(aim)
    assert sample.done() <= runs and (sample.done("fluid") > 0) == (sample.done() >= 256)
    assert abs(sample.mean(aim).mean / sample.made["packet"].mean() - 1) < 0.02


@pytest.fixture(scope="module")
def paths():
    return load_scenario(EXAMPLES / "random_topology.yaml")


@pytest.mark.full
def test_estimates_of_random_paths_are_sharper_and_right(paths) -> None:
    sharp = estimate(paths, control="formula", replications=200, target="cpu")
    plain = estimate(paths, replications=200, target="cpu")
    many = estimate(paths, replications=5000, seed=77, target="cpu")
    assert sharp.saving is not None
    saved = sharp.saving.table.loc["goodput_bps"]
    assert saved["variance_ratio"] >= 4
    assert saved["runs_saved"] == round(200 * (saved["variance_ratio"] - 1))
    assert sharp.saving.packet_runs == 200 < sharp.saving.draws <= 65 * 200
    row, other = sharp.table.loc["goodput_bps"], plain.table.loc["goodput_bps"]
    width = (row["ci_high"] - row["ci_low"]) / (other["ci_high"] - other["ci_low"])
    assert width == pytest.approx(1 / math.sqrt(saved["variance_ratio"]), rel=0.25)
    truth = many.table.loc["goodput_bps"]
    apart = abs(row["mean"] - truth["mean"])
    assert apart <= 1.5 * math.hypot(row["ci_high"] - row["ci_low"], truth["ci_high"] - truth["ci_low"]) / 2
    # Outcomes that the formula lacks equal those without it.
    assert sharp.table.loc["timeouts"].equals(plain.table.loc["timeouts"])
    assert sharp.outcomes.frame.equals(plain.outcomes.frame)


def test_a_sharp_estimate_is_the_same_again(paths) -> None:
    one, two = (
        estimate(paths, control="formula", replications=40, target="cpu", threads=threads)
        for threads in (1, 2)
    )
    assert one.table.equals(two.table)
    assert one.saving.table.equals(two.saving.table)


@pytest.mark.full
def test_a_precision_costs_fewer_runs(paths) -> None:
    sharp = estimate(paths, control="formula", precision="3 %", target="cpu")
    plain = estimate(paths, control="none", precision="3 %", target="cpu")
    assert sharp.precise and plain.precise
    row = sharp.table.loc["goodput_bps"]
    assert (row["ci_high"] - row["ci_low"]) / 2 <= 0.03 * row["mean"] * (1 + 1e-12)  # as wide as requested
    assert 4 * len(sharp.outcomes.frame) <= len(plain.outcomes.frame)


def test_what_cannot_be_controlled_is_refused(paths) -> None:
    with pytest.raises(InputError, match="is not a fast model"):
        estimate(paths, control="guess", replications=2)
    with pytest.raises(InputError, match="endless"):
        estimate(paths.with_values({"transport.bytes": "1 MB"}), control="formula", replications=2)
    with pytest.raises(InputError, match="needs packet runs"):
        estimate(paths.with_values({"fidelity": "formula"}), control="formula", replications=2)


def test_the_command_line_tells_what_was_saved() -> None:
    scenario = str(EXAMPLES / "random_topology.yaml")
    shown = CliRunner().invoke(app, ["estimate", scenario, "--control", "formula", "--replications", "40"])
    assert shown.exit_code == 0, shown.output
    assert "Control variate: formula" in shown.stdout
    assert re.search(r"goodput_bps: 40 packet runs are as precise as \d+ without the control", shown.stderr)
    bad = CliRunner().invoke(app, ["estimate", scenario, "--control", "exact"])
    assert bad.exit_code == 2
