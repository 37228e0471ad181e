"""Formulae of the literature: values by hand, limits, and max-min fairness of shares."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.kernels.congestion import bic as bic_control
from netcarlo.numerics import bic as response_of_bic
from netcarlo.numerics import formulas
from netcarlo.numerics.formulas import bic, cubic, mathis, max_min, pftk, sawtooth, sctp, window_limited


def test_window_and_mathis() -> None:
    assert window_limited(0.1, 20) == pytest.approx(200)
    assert mathis([0.1, 0.2], 0.01) == pytest.approx([math.sqrt(150) / 0.1, math.sqrt(150) / 0.2])
    assert mathis(0.1, 0.01, ack_every=2) == pytest.approx(math.sqrt(75) / 0.1)
    assert mathis(0.1, 0.0) == math.inf


def by_hand(rtt: float, p: float, most: float, rto: float, b: int) -> float:
    """Return equation 32 of the paper, as printed there."""
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


def sctp_by_hand(rtt: float, p: float, most: int, floor: int, again: float) -> float:
    """Return packets per second by simulation of periods: one packet more per round until about 1/p have
    arrived.
    """
    low = w = float(floor)
    for _ in range(200):  # until periods repeat
        rounds, packets, w = 0.0, 0.0, low
        while packets + w < 1 / p:
            packets, rounds, w = packets + w, rounds + 1, min(w + 1, most)
        rounds += (1 / p - packets) / w
        low = min(max(w / 2, floor), w)
    hits = 1 + (w - 1) * p
    timeout = 1 - (1 - again) ** hits * (1 - p ** (w - 1))
    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    return (1 / p + w + timeout) / ((rounds + 1) * rtt + timeout * f / (1 - p))


@pytest.mark.parametrize("p", [2e-4, 0.003, 0.02, 0.1])
@pytest.mark.parametrize("most", [8, 64, 1000])
@pytest.mark.parametrize("floor", [2, 4])
@pytest.mark.parametrize("again", [None, 0.0])
def test_sctp_is_its_periods(p: float, most: int, floor: int, again: float | None) -> None:
    """The formula agrees within 5 to 15 % with integer windows, which differ by half a packet."""
    found = sctp(0.08, p, window=most, rto_s=1.0, floor=floor, again=again)
    expected = sctp_by_hand(0.08, p, most, floor, p if again is None else again)
    assert found == pytest.approx(expected, rel=0.05 if p < 0.01 else 0.15)


def test_sctp_at_its_limits() -> None:
    assert sctp(0.1, 0.0, window=30) == pytest.approx(300, rel=1e-6)
    # Without timeouts and a floor it is a TCP whose ACKs are not delayed.
    how = {"window": 1000, "rto_s": 0.0}
    assert sctp(0.1, 1e-4, floor=1, **how) == pytest.approx(float(pftk(0.1, 1e-4, **how)), rel=1e-5)
    # A floor and a second path without losses help more if more is lost.
    lossy = np.array([0.001, 0.01, 0.05, 0.1])
    for better in ({"floor": 8}, {"again": 0.0}):
        gain = sctp(0.1, lossy, **better) / sctp(0.1, lossy)
        assert (gain >= 1).all() and gain[-1] > 1.1
    assert np.isfinite(sctp(0.1, [0.5, 0.9, 1.0], window=20)).all()


def test_cubic_is_the_response_function_of_the_rfc() -> None:
    """The formula is that of RFC 9438, 5.1 and 4.3, except for random losses and the round trip that
    detects a loss."""
    beta, c = 819 / 1024, 410 / 1024
    for rtt, p in ((0.3, 1e-5), (0.1, 1e-6)):
        concave = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25
        window = formulas.RANDOM_LOSS_FACTORS[0] * concave * (rtt / p) ** 0.75
        assert cubic(rtt, p, rto_s=0.0) * rtt == pytest.approx(window, rel=0.03)
    alpha = 8 / 23  # 3 (1 - beta) / (1 + beta) is 0.333
    window = formulas.RANDOM_LOSS_FACTORS[1] * math.sqrt(alpha * (1 + beta) / (2 * (1 - beta) * 1e-5))
    assert cubic(0.001, 1e-5, rto_s=0.0) * 0.001 == pytest.approx(window, rel=0.03)
    halved = cubic(0.001, 1e-5, rto_s=0.0, ack_every=2) / cubic(0.001, 1e-5, rto_s=0.0)
    assert halved == pytest.approx(math.sqrt(0.5), rel=0.01)
    assert cubic(0.1, 0.0, window=30) == pytest.approx(300, rel=1e-6)
    some = cubic(0.1, 1e-3, window=np.array([5, 20, 40, 80, np.inf]))
    assert (np.diff(some) >= 0).all() and some[0] < 50
    assert np.isfinite(cubic(0.1, [0.5, 0.9, 1.0], window=20)).all()


@pytest.mark.full
@pytest.mark.parametrize(("curved", "known"), [(1e4, 0), (1e-3, 1)])
@pytest.mark.parametrize("of", [formulas.OF_NS2, formulas.OF_LINUX], ids=["ns-2", "Linux"])
def test_windows_at_random_losses(of: formulas.Cubic, curved: float, known: int) -> None:
    """Mean windows agree within 3 % with 400 chains of 80 losses that are exponentially distributed in
    packets.

    Units are such that the friendly window grows by 1 per round; `curved` is C in these units.
    """
    kept, rng, scale = of.beta, np.random.default_rng(1), max(1.0, curved**0.25)
    window = most = np.full(400, 1.5 * scale)
    packets = time = 0.0
    for loss in range(120):
        low = kept * window
        most = np.where(window < most, window * (1 + kept) / 2, window)  # fast convergence
        plateau = np.cbrt((most - low) / curved)
        left, t, step = rng.exponential(size=400), np.zeros(400), 0.02 / scale
        while (left > 0).any():
            now = np.maximum(low + t, most + curved * (t - plateau) ** 3)
            part = np.clip(left / (now * step), 0.0, 1.0)
            if loss >= 40:
                packets, time = packets + float((now * part).sum()) * step, time + float(part.sum()) * step
            t, left = t + part * step, np.where(part < 1, 0.0, left - now * step)
        window = np.maximum(low + t, most + curved * (t - plateau) ** 3)
    cubic_region = (curved * (3 + kept) / (4 * (1 - kept))) ** 0.25
    straight = math.sqrt((1 + kept) / (2 * (1 - kept)))
    equal = (cubic_region, straight)[known]
    assert packets / time / equal == pytest.approx(of.factors[known], rel=0.03)


def test_the_constants_of_cubic_are_those_of_rfc_9438() -> None:
    """Sections 4.1, 4.3 and 4.6; the kernel rounds them."""
    of = formulas.OF_LINUX
    assert (of.beta, of.scale) == pytest.approx((0.7, 0.4), rel=2e-3)
    assert of.friendly == pytest.approx(3 * (1 - 0.7) / (1 + 0.7), rel=0.01)


def test_bbr_fills_its_path_and_ignores_losses_unless_the_window_is_full() -> None:
    bbr = formulas.bbr
    full = bbr(0.05, [0.0, 0.02], window=1e6, capacity=1000.0)
    assert full == pytest.approx([1000 * (1 - 0.92 * 0.25 / 10.25)] * 2, rel=1e-9)
    assert bbr(0.1, 0.0, window=20, capacity=1000.0) == pytest.approx(200 * (1 - 0.8 * 0.3 / 10.3))
    assert bbr(0.1, 0.99, window=20, capacity=1000.0) == pytest.approx(100 * (1 - 0.8 * 0.3 / 10.3))


def test_a_sawtooth_that_keeps_more_needs_a_smaller_queue() -> None:
    """A queue of 3/7 of the BDP suffices if 0.7 of the window are kept, one BDP if it is halved."""
    known = {"queue": np.array([42.0, 43.0, 100.0]), "window": np.inf}
    assert (formulas.sawtooth(0.1, 1000.0, **known, kept=0.7) < 1000).tolist() == [True, False, False]
    assert (formulas.sawtooth(0.1, 1000.0, **known) < 1000).tolist() == [True, True, False]


def bic_by_its_control(p: float, ack_every: int, losses: int, most: float = math.inf) -> float:
    """Return the mean window of the functions of `kernels/congestion/bic.py`, ACK by ACK."""
    rng, memory = np.random.default_rng(1), np.zeros(bic_control._WORDS)
    window, now, packets, rounds = 20.0, 0, 0, 0.0
    memory[bic_control._LOSS_SEEN], memory[bic_control._LAST_MAX_CWND] = 1, 20
    for loss in range(losses):
        left = int(rng.geometric(p))
        while left > 0:
            now += int(1e9 / window)
            bic_control.acked(ack_every, memory)
            window = min(bic_control.grow(window, 0.0, now, 0, None, memory), most)
            left -= ack_every
            if loss >= 50:
                packets, rounds = packets + ack_every, rounds + ack_every / window
        window = bic_control.reduce(window, False, now, 0, None, memory)
    return packets / rounds


@pytest.mark.parametrize("p", [pytest.param(0.001, marks=pytest.mark.full), 0.01, 0.1])
@pytest.mark.parametrize("ack_every", [1, 2])
@pytest.mark.parametrize("most", [30.0, math.inf])
def test_the_response_function_of_bic_is_that_of_its_control(p: float, ack_every: int, most: float) -> None:
    """The interpolated table agrees within 9 % with 1,000 losses of the congestion control."""
    expected = bic_by_its_control(p, ack_every, 1000, most)
    assert response_of_bic.response(p, ack_every, min(most, 5000.0)).mean == pytest.approx(expected, rel=0.09)


def test_bic_at_its_limits() -> None:
    assert bic(0.1, 0.0, window=32) == pytest.approx(320, rel=0.01)
    assert bic(0.1, 1e-9, window=[8, 100, 1000]) == pytest.approx(np.array([80, 1000, 10000]), rel=0.03)
    # Its lead over Reno grows as losses become rarer.
    gain = bic(0.1, [0.0001, 0.001, 0.01], rto_s=0.0) / pftk(0.1, [0.0001, 0.001, 0.01], rto_s=0.0)
    assert (np.diff(gain) < 0).all() and gain[0] > 3.5 and 1.2 < gain[2] < 2
    climb = response_of_bic.recovery(100.0, 1)
    assert climb.packets / climb.rounds == pytest.approx(92, abs=6)  # between 80 and 100, mostly near 100
    assert np.isfinite(bic(0.1, [0.5, 0.9, 1.0], window=20)).all()


def test_sawtooth() -> None:
    how = {"rtt_s": 0.1, "capacity": 1000.0}  # a BDP of 100 packets
    assert sawtooth(**how, queue=50, window=60) == pytest.approx(600)
    assert sawtooth(**how, queue=50, window=120) == pytest.approx(1000)
    assert sawtooth(**how, queue=100, window=1e9) == pytest.approx(1000)
    # Without a queue the window grows from 50 to 100: three quarters of the BDP on average.
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
