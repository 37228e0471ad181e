"""Samples request the same replications for any batches, and agree with naive loops."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.estimation.control_variates import INPUTS, MAX_DRAWS
from netcarlo.estimation.sample import Aim, Sample, Step
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import StoppingRule
from netcarlo.simulation.outcomes import BY_NAME
from tests.estimation.naive import until_precise, until_sharp

N = 4000
OUTCOMES = ("goodput_bps", "timeouts")
RULES = (StoppingRule(0.05, first=20, most=N), StoppingRule(0.001, first=20, most=90), StoppingRule.fixed(37))


class Made(Sample):
    """Outcomes that are numbers drawn in advance, some of which are known.

    They are not negative, like those of packet models.
    """

    def __init__(self, seed: int, noise: float) -> None:
        super().__init__("packet")
        rng = np.random.default_rng(seed)
        x = rng.normal(5.0, 1.0, 65 * N)
        draws = {of: x * (k + 1) for k, of in enumerate(OUTCOMES)}
        self.made = {
            "formula": draws,
            "packet": {of: np.abs(v[:N] + noise * rng.normal(0.0, 1.0, N)) for of, v in draws.items()},
        }
        self.known = {"packet": 0, "formula": 0}
        self.drawn = np.stack([x - 5.0, (x - 5.0) ** 2 - 1], axis=1)

    def done(self, fidelity: str | None = None) -> int:
        return self.known[fidelity or "packet"]

    def values(self, of: str, fidelity: str | None = None) -> Floats:
        return self.made[fidelity or "packet"][of][: self.done(fidelity)]

    def inputs(self, n: int) -> Floats:
        return self.drawn[:n]

    def extend(self, step: Step) -> None:
        assert self.done(step.fidelity) < step.until <= len(self.made[step.fidelity][OUTCOMES[0]])
        self.known[step.fidelity] = step.until


@dataclass
class Batches:
    """Sizes of batches, which are repeated [replications]."""

    sizes: list[int]
    steps: list[Step] = field(default_factory=list)

    def run(self, sample: Made, aim: Aim) -> None:
        while step := sample.wanted(aim):
            size = self.sizes[len(self.steps) % len(self.sizes)]
            self.steps.append(step)
            sample.extend(step._replace(until=min(step.until, sample.done(step.fidelity) + size)))


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 99),
    noise=st.sampled_from([0.1, 1.0, 20.0]),
    rule=st.sampled_from(RULES),
    controls=st.sampled_from([(), ("formula",), ("formula", INPUTS)]),
    sizes=st.lists(st.integers(7, 900), min_size=1, max_size=5),
    other_first=st.booleans(),
)
def test_any_batches_give_what_a_plain_loop_gives(
    seed: int,
    noise: float,
    rule: StoppingRule,
    controls: tuple[str, ...],
    sizes: list[int],
    other_first: bool,
) -> None:
    sample, aim = Made(seed, noise), Aim("goodput_bps", rule, controls)
    if other_first:  # replications that another outcome needed are not used by this estimate
        Batches(sizes).run(sample, Aim("timeouts", StoppingRule(0.02, first=64, most=N), controls))
    Batches(sizes).run(sample, aim)
    y, x = sample.made["packet"]["goodput_bps"], sample.made["formula"]["goodput_bps"]
    if not controls:
        values = until_precise(rule, lambda first, count: y[first : first + count])
        expected = len(values), 0, statistics.mean(values)
    else:
        known = sample.inputs(len(x)) if INPUTS in controls else None
        expected = until_sharp(rule, y, x, known, most=MAX_DRAWS["formula"])
    mean = statistics.no_narrower(BY_NAME["goodput_bps"].inside(expected[2]), rule.relative)
    assert sample.used(aim) == expected[:2]
    assert sample.mean(aim) == statistics.bounded(mean, 0, math.inf)
    assert sample.precise(aim) == rule.reached(expected[2])


@pytest.mark.parametrize("rule", RULES)
def test_the_estimate_so_far_is_that_of_as_many_replications(rule: StoppingRule) -> None:
    sample, aim = Made(3, 1.0), Aim("goodput_bps", rule, ("formula",))
    looked = 0
    while (step := sample.wanted(aim)) is not None:
        until = min(step.until, sample.done(step.fidelity) + 13) if step.fidelity == "packet" else step.until
        sample.extend(step._replace(until=until))
        now = aim.at_most(sample.done())
        while (missing := sample.wanted(now)) is not None:
            assert missing.fidelity == "formula"
            sample.extend(missing)
        alone = Made(3, 1.0)
        Batches([N]).run(alone, now)
        assert sample.mean(now) == alone.mean(now) and sample.mean(now).n == sample.done()
        looked += 1
    assert looked > 1 and sample.mean(aim).n == sample.done()


def test_an_incomplete_sample_says_what_all_of_it_says() -> None:
    sample, aim = Made(1, 1.0), Aim("goodput_bps", StoppingRule.fixed(100), ("formula",))
    assert sample.wanted(aim) == Step("packet", 100) and sample.used(aim) == (0, 0)
    sample.extend(Step("packet", 40))
    plain = statistics.mean(sample.values("goodput_bps"))
    assert sample.used(aim) == (40, 0) and sample.mean(aim) == plain and not sample.sharpened(aim, OUTCOMES)
    sample.extend(Step("formula", 60))
    assert sample.used(aim) == (40, 60) and sample.mean(aim).half_width < plain.half_width
    assert set(sample.sharpened(aim, OUTCOMES)) == set(OUTCOMES)
