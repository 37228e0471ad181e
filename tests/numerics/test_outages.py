"""Throughput of a transfer during outages: a twin with small time steps, limits, mean silences."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.numerics.outages import Outages, Transfer, mean_silence, packets_sent


def transfer(**values: float) -> Transfer:
    how = {
        "rate": 200.0, "base_s": 0.1, "window": 30.0, "beta": 0.5, "growth": 1.0,
        "slow_start_factor": 2.0,
        "repairs": np.inf, "rto_s": 0.3, "max_rto_s": 60.0,
    }  # fmt: skip
    return Transfer(**{name: np.array([value]) for name, value in (how | values).items()})


def outages(*spans: tuple[float, float], heard: float = 0.02, share: float = 2.0) -> Outages:
    start, stop = (np.array([[span[k] for span in spans]]) for k in (0, 1))
    return Outages(start, stop, start + heard, np.full_like(start, share))


def twin(spans: list[tuple[float, float]], t: Transfer, end: float, *, heard: float, share: float) -> float:
    """Return the packets sent that are not lost in an outage, by small time steps."""
    rate, base, most, beta, growth, slow_start_factor, repairs, rto, most_rto = (float(x[0]) for x in t)
    pipe, dt = rate * base, 2e-4
    now = sent = since = lost = 0.0
    window = threshold = most
    timer = rto
    for start, stop in spans:
        if stop <= now or start >= end:
            continue
        if start > now:
            since = 0.0
            while now < start:
                sent, since = sent + min(window / base, rate) * dt, since + min(window / base, rate) * dt
                if window < min(threshold, pipe):
                    window *= slow_start_factor ** (dt / base)
                else:
                    window = min(window + growth * dt / (base if window < pipe else most / rate), most)
                now += dt
            if window * (1 - share) >= 3 and window * share < repairs + 1:
                window = threshold = beta * window
                now, lost = stop, 0.0
                continue
            timer = rto if since >= lost else timer
            lost = max(lost - since, window)
            threshold, now = max(window / 2, 2.0), start + heard + timer
        while now < stop:
            timer = min(2 * timer, most_rto)
            now, threshold = now + timer, 2.0
        window = 1.0
    while now < end:
        sent += min(window / base, rate) * dt
        if window < min(threshold, pipe):
            window *= slow_start_factor ** (dt / base)
        else:
            window = min(window + growth * dt / (base if window < pipe else most / rate), most)
        now += dt
    return sent


@pytest.mark.full
@given(
    st.lists(st.tuples(st.floats(0.05, 8), st.floats(0.01, 3)), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.4, 2.0]),
    st.sampled_from([(200.0, 30.0), (200.0, 20.0), (40.0, 4.0), (2000.0, 250.0)]),
    st.sampled_from([1.5, 2.0]),
    st.sampled_from([1.0, 4.0, np.inf]),
)
@settings(deadline=None, max_examples=40)
def test_carried_equals_its_twin(
    spans: list[tuple[float, float]],
    share: float,
    speed: tuple[float, float],
    slow_start_factor: float,
    repairs: float,
) -> None:
    edges = np.cumsum(np.round(np.array(spans), 3).ravel()).tolist()
    given_ = list(zip(edges[::2], edges[1::2], strict=True))
    t = transfer(rate=speed[0], window=speed[1], slow_start_factor=slow_start_factor, repairs=repairs)
    end = edges[-1] + 5.0
    found = packets_sent(outages(*given_, share=share), t, begin=np.zeros(1), end=np.array([end]))
    expected = twin(given_, t, end, heard=0.02, share=share)
    assert found[0] == pytest.approx(expected, rel=0.01, abs=2)


def test_carried_at_its_limits() -> None:
    t, end = transfer(), np.array([60.0])
    none = Outages(*(np.full((1, 2), np.inf) for _ in range(4)))
    assert packets_sent(none, t, begin=np.array([10.0]), end=end) == pytest.approx(50 * 200)
    assert packets_sent(outages((0.0, 100.0)), t, begin=np.zeros(1), end=end) == 0
    late = packets_sent(outages((59.0, 100.0)), t, begin=np.zeros(1), end=end)
    assert late == pytest.approx(59 * 200)
    # A longer outage costs more, and at least its duration.
    lasts = np.array([0.2, 0.5, 1.0, 3.0, 9.0])
    sent = [packets_sent(outages((20.0, 20.0 + x)), t, begin=np.zeros(1), end=end)[0] for x in lasts]
    lost = [60 * 200 - each for each in sent]
    assert (np.diff(lost) >= 0).all() and (np.array(lost) >= 200 * lasts).all()


@pytest.mark.parametrize(("up_s", "down_s"), [(20.0, 1.0), (5.0, 2.0), (2.0, 0.1), (3.0, 9.0)])
def test_mean_silence_of_a_two_state_chain(up_s: float, down_s: float) -> None:
    """A cycle of a sender that recovers immediately is `up_s` on average plus the silence.

    The tolerance is 4 standard errors of 100 cycles of 200 senders, 2 to 6 %.
    """
    silence = mean_silence(up_s, down_s, rtt_s=0.05, rto_s=0.3)
    rng, n, horizon = np.random.default_rng(3), 200, float(100 * (up_s + silence))
    times = np.stack([rng.exponential(mean, (n, 1200)) for mean in (up_s, down_s)], axis=2)
    assert (times.sum(axis=(1, 2)) > horizon).all()
    edges = times.reshape(n, -1).cumsum(axis=1).reshape(n, -1, 2)
    start, stop = edges.transpose(2, 0, 1)
    one: Any = np.ones(n)
    # A window of one packet has no slow start, and only the timer detects a loss.
    t = Transfer(1e4 * one, 1e-4 * one, one, one / 2, one, 2 * one, np.inf * one, 0.3 * one, 60.0 * one)
    met = Outages(start, stop, start + 0.05, np.full_like(start, 2.0))
    up = packets_sent(met, t, begin=0 * one, end=horizon * one) / 1e4 / horizon
    error = 4 * up.std() / np.sqrt(n)
    assert error < 0.06 * up.mean()
    assert up.mean() == pytest.approx(up_s / (up_s + silence), abs=error)


def test_mean_silence_at_its_limits() -> None:
    # Outages that end before the first retransmission cost one RTO; back-off adds 50 % to long ones.
    assert mean_silence(100.0, 1e-3, rtt_s=0.1, rto_s=1.0) == pytest.approx(1.1, rel=1e-3)
    assert 1.2 < mean_silence(1e5, 100.0, rtt_s=0.1, rto_s=0.2, max_rto_s=1e9) / 100 < 1.7
    assert mean_silence(1e5, 100.0, rtt_s=0.1, rto_s=0.2, max_rto_s=0.2) == pytest.approx(100.1, rel=0.01)
    assert mean_silence([10.0, 20.0], 1.0, rtt_s=0.1, rto_s=0.2).shape == (2,)
