"""Coverage of 95 % confidence intervals: the tables of docs/results/interval-coverage.md.

    python -m tests.campaigns coverage [--scale 1]

It takes minutes. A truth is a distribution with parameters drawn at random, and a number of values from 5 to
2000. `--scale 0.01` uses 1 % of the truths and of the samples.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gamma, ndtr, ndtri

from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.sweeps.analysis import population
from netcarlo.sweeps.space.designs import Design
from tests.campaigns import parser
from tests.estimation.naive import until_precise

Draw = Callable[[tuple[int, ...]], NDArray[np.float64]]

SIZES = (5, 2000)
GROUPS = ["5-9", "10-19", "20-99", "100-2000"]


class Truth(NamedTuple):
    """Distribution with known `mean`, from which `draw` draws samples of `n` values."""

    law: str
    n: int
    mean: float
    draw: Draw


def normal(rng: np.random.Generator) -> tuple[float, Draw]:
    return 10.0, lambda shape: rng.normal(10.0, 3.0, shape)


def uniform(rng: np.random.Generator) -> tuple[float, Draw]:
    return 0.5, lambda shape: rng.random(shape)


def heavy_tails(rng: np.random.Generator) -> tuple[float, Draw]:
    """Student's t with 5 to 20 degrees of freedom."""
    df = rng.uniform(5, 20)
    return 0.0, lambda shape: rng.standard_t(df, shape)


def exponential(rng: np.random.Generator) -> tuple[float, Draw]:
    return 2.0, lambda shape: rng.exponential(2.0, shape)


def gammas(rng: np.random.Generator) -> tuple[float, Draw]:
    """Gamma distribution with skewness 0.4 to 2."""
    shape_parameter = math.exp(rng.uniform(0, math.log(25)))
    return shape_parameter, lambda shape: rng.gamma(shape_parameter, 1.0, shape)


def left_skewed(rng: np.random.Generator) -> tuple[float, Draw]:
    """Beta(a, 1), such as the utilisation of a link near its capacity; skewness 0 to -1.5."""
    a = rng.uniform(1, 10)
    return a / (a + 1), lambda shape: rng.beta(a, 1.0, shape)


def lognormal(rng: np.random.Generator) -> tuple[float, Draw]:
    """Lognormal distribution with skewness 0.3 to 2.3."""
    sigma = rng.uniform(0.1, 0.6)
    return math.exp(sigma**2 / 2), lambda shape: rng.lognormal(0.0, sigma, shape)


def weibull(rng: np.random.Generator) -> tuple[float, Draw]:
    """Weibull distribution with skewness 0 to 2."""
    k = rng.uniform(1, 3.6)
    return float(gamma(1 + 1 / k)), lambda shape: rng.weibull(k, shape)


def counts(rng: np.random.Generator) -> tuple[float, Draw]:
    """Poisson distribution with mean 2 to 20."""
    rate = math.exp(rng.uniform(math.log(2), math.log(20)))
    return rate, lambda shape: rng.poisson(rate, shape).astype(float)


def two_heaps(rng: np.random.Generator) -> tuple[float, Draw]:
    """Mixture of two equal normal distributions, 2 to 6 standard deviations apart."""
    gap = rng.uniform(2, 6)
    return gap / 2, lambda shape: rng.normal(0.0, 1.0, shape) + gap * (rng.random(shape) < 0.5)


def timeouts(rng: np.random.Generator) -> tuple[float, Draw]:
    """Normal distribution; 10 to 33 % of the values are higher by 2 to 4 sd and an exponential variable."""
    share, more = rng.uniform(0.1, 0.33), rng.uniform(2, 4)

    def draw(shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.normal(0.0, 1.0, shape) + (rng.random(shape) < share) * rng.exponential(more, shape)

    return share * more, draw


def yes_or_no(rng: np.random.Generator) -> tuple[float, Draw]:
    share = rng.uniform(0.1, 0.9)
    return share, lambda shape: (rng.random(shape) < share).astype(float)


def very_skewed(rng: np.random.Generator) -> tuple[float, Draw]:
    """Lognormal with skewness 3.3 to 6.2."""
    sigma = rng.uniform(0.75, 1.0)
    return math.exp(sigma**2 / 2), lambda shape: rng.lognormal(0.0, sigma, shape)


LAWS: tuple[Callable[[np.random.Generator], tuple[float, Draw]], ...] = (
    normal, uniform, heavy_tails, exponential, gammas, left_skewed, lognormal, weibull, counts, two_heaps,
    timeouts,
)  # fmt: skip
HARD = (very_skewed, yes_or_no)
"""Distributions for which no interval from a few values alone is right: all may be equal, or all small."""


def truths(count: int, *, seed: int, laws: tuple[Callable[..., tuple[float, Draw]], ...]) -> Iterator[Truth]:
    """Yield `count` truths from the laws in turn; their numbers of values are evenly spaced in logarithm."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        law = laws[i % len(laws)]
        mean, draw = law(rng)
        n = round(math.exp(rng.uniform(math.log(SIZES[0]), math.log(SIZES[1]))))
        yield Truth(law.__name__, n, mean, draw)


def measure(all_truths: Iterator[Truth], *, samples: int) -> pd.DataFrame:
    """Return the coverage for each truth: columns law, n, coverage, student (coverage of Student's t)."""
    rows = []
    for truth in all_truths:
        found = statistics.means(truth.draw((samples, truth.n)))
        half = statistics.student_t(truth.n - 1) * found.sd / math.sqrt(truth.n)
        rows.append(
            (
                truth.law,
                truth.n,
                np.mean((found.ci_low <= truth.mean) & (truth.mean <= found.ci_high)),
                np.mean(abs(found.mean - truth.mean) <= half),
            )
        )
    return pd.DataFrame(rows, columns=["law", "n", "coverage", "student"])


def measure_stopping(
    *, count: int, samples: int, seed: int, laws: tuple[Callable[..., tuple[float, Draw]], ...]
) -> pd.DataFrame:
    """Return coverage under the stopping rule: columns law, relative, used (mean number of values), coverage.

    The required precision needs 200 to 5000 values; laws are shifted so that their mean is at least 3 sd.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for truth in truths(count, seed=seed, laws=laws):
        pilot = statistics.mean(truth.draw((20_000,)))
        shift = max(0.0, 3 * pilot.sd - truth.mean)
        mean = truth.mean + shift
        wanted = math.exp(rng.uniform(math.log(200), math.log(5000)))
        relative = 1.96 * pilot.sd / math.sqrt(wanted) / mean
        covered = used = 0

        def more(_: int, n: int, draw: Draw = truth.draw, shift: float = shift) -> Floats:
            return draw((n,)) + shift

        for _ in range(samples):
            values = until_precise(statistics.StoppingRule(relative), more)
            found = statistics.no_narrower(statistics.mean(values), relative)
            covered += found.ci_low <= mean <= found.ci_high
            used += len(values)
        rows.append((truth.law, relative, used / samples, covered / samples))
    return pd.DataFrame(rows, columns=["law", "relative", "used", "coverage"])


THRESHOLDS = (-2.0, 0.0, 1.5)
"""Thresholds of a normal value, exceeded with probabilities of 0.977, 0.5 and 0.067."""


def smooth(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an outcome of networks at `points` [n, 4], whose mean is (2 sqrt(e) - 2)^4."""
    return np.asarray(np.exp(points.sum(axis=1) / 2))


def normal_value(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a normally distributed outcome of networks at `points` [n, d]."""
    return np.asarray(ndtri(np.clip(points, 1e-15, 1 - 1e-15)).sum(axis=1) / math.sqrt(points.shape[1]))


def measure_population(method: str, count: int, *, runs: int) -> dict[str, float]:
    """Return the coverage of the mean and of exceedance probabilities over networks drawn by a design.

    `width` is the average half-width of the interval of the mean, relative to the mean.
    """
    truth = (2 * math.sqrt(math.e) - 2) ** 4
    hits, width = np.zeros(1 + len(THRESHOLDS)), 0.0
    chances = ndtr(-np.array(THRESHOLDS))
    for seed in range(runs):
        design = Design(method=method, count=count, dimensions=4, seed=seed)
        draws = np.arange(design.size)
        points, blocks = design.points(draws), design.block_of(draws)
        found = population.mean(smooth(points), blocks)
        hits[0] += found.ci_low <= truth <= found.ci_high
        width += found.half_width / truth / runs
        table = population.exceedance(normal_value(points), blocks, THRESHOLDS)
        hits[1:] += (table["ci_low"] <= chances) & (chances <= table["ci_high"])
    names = ["mean", *(f"P(value >= {x})" for x in THRESHOLDS)]
    return {"width": width} | dict(zip(names, (hits / runs).tolist(), strict=True))


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("--scale", type=float, default=1.0, help="part of the truths and samples")
    scale = arguments.parse_args().scale

    def part(number: int) -> int:
        return max(2, round(scale * number))

    for name, laws, count in (("laws", LAWS, part(2200)), ("hard laws", HARD, part(400))):
        found = measure(truths(count, seed=1, laws=laws), samples=part(1000))
        found["values"] = pd.cut(found["n"], [4, 9, 19, 99, 2000], labels=GROUPS).astype(str)
        table, student = (
            found.pivot_table(index="law", columns="values", values=of, margins=True).reindex(
                columns=[*GROUPS, "All"]
            )
            for of in ("coverage", "student")
        )
        worst = found.nsmallest(1, "coverage").iloc[0]
        print(f"{name}: {count} truths, {part(1000)} samples each, coverage [%]; Student's t for comparison")
        print((100 * table).round(1), (100 * student).round(1), sep="\n")
        print(f"worst truth: {worst['law']}, n = {worst['n']}, {worst['coverage']:.1%}")
        within = found["coverage"].between(0.93, 0.97)
        print(f"within 93 to 97 %: {within.mean():.1%} of the truths\n")
    found = measure_stopping(count=part(220), samples=part(100), seed=2, laws=LAWS)
    print(f"under the stopping rule: {part(220)} truths, {part(100)} runs each, coverage [%]")
    print((100 * found.groupby("law")["coverage"].mean()).round(1))
    print(f"all: {found['coverage'].mean():.2%}, {found['used'].mean():.0f} values on average\n")
    designs = [(method, count) for method in ("plain", "latin", "sobol") for count in (200, 1000, 1024)]
    rows = {each: measure_population(*each, runs=part(1000)) for each in [*designs, ("saltelli", 256)]}
    print(f"over networks: {part(1000)} runs each, coverage [%]; width of the interval of the mean [%]")
    print((100 * pd.DataFrame(rows).T).round(3))
