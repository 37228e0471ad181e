"""The formulae of the literature: values worked out by hand, limits, and what makes shares max-min fair."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.numerics.formulas import mathis, max_min, pftk, sawtooth, window_limited


def test_window_and_mathis() -> None:
    assert window_limited(0.1, 20) == pytest.approx(200)
    assert mathis([0.1, 0.2], 0.01) == pytest.approx([math.sqrt(150) / 0.1, math.sqrt(150) / 0.2])
    assert mathis(0.1, 0.01, ack_every=2) == pytest.approx(math.sqrt(75) / 0.1)
    assert mathis(0.1, 0.0) == math.inf


def by_hand(rtt: float, p: float, most: float, rto: float, b: int) -> float:
    """Equation 32 of the paper, as it is printed there."""
    free = (2 + b) / (3 * b) + math.sqrt(8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2)

    def q(w: float) -> float:
        return min(
            1.0, (1 - (1 - p) ** 3) * (1 + (1 - p) ** 3 * (1 - (1 - p) ** (w - 3))) / (1 - (1 - p) ** w)
        )

    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    if free < most:
        packets = (1 - p) / p + free + q(free) / (1 - p)
        return packets / (rtt * (b / 2 * free + 1) + q(free) * rto * f / (1 - p))
    packets = (1 - p) / p + most + q(most) / (1 - p)
    return packets / (rtt * (b / 8 * most + (1 - p) / (p * most) + 2) + q(most) * rto * f / (1 - p))


@pytest.mark.parametrize("p", [1e-4, 0.003, 0.02, 0.2])
@pytest.mark.parametrize("most", [8, 64, 1000])
@pytest.mark.parametrize("b", [1, 2])
def test_pftk_is_the_equation_of_the_paper(p: float, most: int, b: int) -> None:
    found = pftk(0.08, p, window=most, rto_s=0.5, ack_every=b)
    assert found == pytest.approx(by_hand(0.08, p, most, 0.5, b), rel=1e-9)


def test_pftk_at_its_limits() -> None:
    assert pftk(0.1, 0.0, window=30) == pytest.approx(300, rel=1e-6)
    assert pftk(0.1, 1e-6, rto_s=0.0) == pytest.approx(float(mathis(0.1, 1e-6)), rel=0.002)
    assert pftk(0.1, 0.01, window=[5, 20, np.inf]).tolist() == sorted(pftk(0.1, 0.01, window=[5, 20, np.inf]))
    assert np.isfinite(pftk(0.1, [0.5, 0.9, 1.0], window=20)).all()


def test_sawtooth() -> None:
    how = {"rtt_s": 0.1, "capacity": 1000.0}  # a pipe of 100 packets
    assert sawtooth(**how, queue=50, window=60) == pytest.approx(600)
    assert sawtooth(**how, queue=50, window=120) == pytest.approx(1000)
    assert sawtooth(**how, queue=100, window=1e9) == pytest.approx(1000)
    # Without a queue the window goes from 50 to 100: three quarters of the pipe on average.
    assert sawtooth(**how, queue=0, window=1e9) == pytest.approx(750)
    some = sawtooth(**how, queue=np.arange(0, 110, 10), window=1e9)
    assert (np.diff(some) >= 0).all()
    assert sawtooth(0.1, np.inf, queue=50, window=60) == pytest.approx(600)


def test_max_min_by_hand() -> None:
    # Flow 0 passes both links, flow 1 the first, flow 2 the second.
    passes = [[[1, 1], [1, 0], [0, 1]]]
    assert max_min(passes, [[10.0, 4.0]], most=[[99, 99, 99]]) == pytest.approx(np.array([[2, 8, 2]]))
    assert max_min(passes, [[10.0, 4.0]], most=[[1, 99, 99]]) == pytest.approx(np.array([[1, 9, 3]]))
    weighted = max_min(passes, [[10.0, 4.0]], most=[[99, 99, 99]], weight=[[3, 1, 1]])
    assert weighted == pytest.approx(np.array([[3, 7, 1]]))


@st.composite
def networks(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    flows, links = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    passes = rng.integers(0, 2, (3, flows, links)) * rng.choice([1.0, 0.03], (3, flows, links))
    capacity = rng.uniform(0.5, 10, (3, links))
    most = np.where(rng.random((3, flows)) < 0.4, rng.uniform(0, 5, (3, flows)), 1e6)
    return passes, capacity, most, rng.uniform(0.2, 5, (3, flows))


@given(networks())
@settings(deadline=None, max_examples=150)
def test_every_flow_has_what_it_asks_for_or_a_full_link_on_which_none_is_ahead(
    network: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    passes, capacity, most, weight = network
    rate = max_min(passes, capacity, most=most, weight=weight)
    load = np.einsum("nfl,nf->nl", passes, rate)
    assert (load <= capacity * (1 + 1e-9)).all()
    assert (rate <= most * (1 + 1e-12)).all()
    full = load >= capacity * (1 - 1e-9)
    level = rate / weight
    for row, flow in np.argwhere(rate < most * (1 - 1e-9)):
        ahead = [
            level[row, passes[row, :, link] > 0].max() <= level[row, flow] * (1 + 1e-6)
            for link in np.flatnonzero((passes[row, flow] > 0) & full[row])
        ]
        assert any(ahead)
