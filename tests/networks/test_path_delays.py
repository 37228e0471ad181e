"""Delays of the flow of a path, from scenario to outcomes: known answers, names, and refused scenarios."""

import numpy as np
import pytest

from netcarlo import InputError, estimate, simulate
from netcarlo.kernels.base.delays import SHIFT, DelayOut
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, Hop
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.base.rows import split
from netcarlo.networks import classes
from netcarlo.numerics.histogram import edges
from netcarlo.planning import make_plan, plan
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import OUTCOMES

CALL = {"protocol": "udp", "rate": "4 Mbit/s", "payload": "972 B", "class": "call", "late": "3.5 ms"}
HOP = {"rate": "8 Mbit/s", "delay": "2 ms", "queue": "unlimited"}


def data(transport, *hops, **fields):
    return {
        "duration": "20 s", "replications": 4, "transport": transport, "paths": [{"hops": [*hops]}],
    } | fields  # fmt: skip


@pytest.mark.full
def test_datagrams_wait_as_lindley_says():
    """Delays behind cross traffic equal Lindley's recursion for each datagram, so all statistics do, to
    the bit."""
    asked = Scenario.check(data(CALL, {**HOP, "cross_traffic": {"rate": "3.1 Mbit/s", "packet": "700 B"}}))
    found, rows = simulate(asked, target="cpu"), build(asked).rows
    bins = edges(DelayOut.COLUMNS - DelayOut.DELAYS + 1)
    for row, counts in enumerate(split(found.integers, rows)["delays"][:, 0]):
        p, hop = rows.parameters[row], rows.hops[row, 0, 0]
        every, first = hop[Hop.CROSS_EVERY], hop[Hop.CROSS_FIRST]
        events = [(t, 0) for t in range(first, p[RowP.END], every)]
        events += [(t, 1) for t in range(p[RowP.START], p[RowP.END], p[UdpP.INTERVAL])]
        service = [
            (int(size) * int(hop[Hop.BYTE_TIME]) + (1 << BYTE_TIME_BITS - 1)) >> BYTE_TIME_BITS
            for size in (hop[Hop.CROSS_SIZE], p[RowP.DATA] + p[RowP.HEADER])
        ]
        delays, free = [], 0
        for t, ours in sorted(events):
            free = max(t, free) + service[ours]
            if ours and free + hop[Hop.DELAY] <= p[RowP.END]:
                delays.append(int(free + hop[Hop.DELAY] - t))
        assert counts[DelayOut.PACKETS] == len(delays) and counts[DelayOut.SUM] == sum(delays)
        assert counts[DelayOut.LATE] == sum(delay > 3_500_000 for delay in delays) > 0
        expected = np.histogram(np.array(delays) >> SHIFT, bins)[0]
        assert (counts[DelayOut.DELAYS :] == expected).all()
        for name, q in classes.QUANTILES.items():
            exact = np.quantile(delays, q, method="inverted_cdf") / 1e9
            assert found.frame[f"call_{name}"].iloc[row] == pytest.approx(exact, rel=1 / 64)


@pytest.mark.full
def test_an_exponential_jitter_is_told_as_it_is():
    """Outcomes show an exponential jitter: its quantiles, and its mean as the mean difference of two
    delays."""
    jitter = {"exponential": {"mean": "0.1 ms"}, "reorder": True}  # datagrams are 2 ms apart
    hop = {"rate": "unlimited", "delay": "0.1 ms", "jitter": jitter, "loss": 0.1}
    asked = Scenario.check(data({**CALL, "late": "0.3 ms"}, hop, duration="60 s"))
    frame = simulate(asked, target="cpu").frame
    for name, q in classes.QUANTILES.items():
        exact = 1e-4 * (1 - np.log(1 - q))
        assert frame[f"call_{name}"].mean() == pytest.approx(exact, rel=1 / 64 + 0.01), name
    assert frame.call_mean_delay_s.mean() == pytest.approx(2e-4, rel=0.005)
    assert frame.call_late.mean() == pytest.approx(np.exp(-2), rel=0.02)
    assert frame.call_loss_ratio.mean() == pytest.approx(0.1, abs=0.003)
    assert frame.call_jitter_s.mean() == pytest.approx(1e-4, rel=0.01)


@pytest.mark.full
def test_who_asks_and_who_does_not():
    plain = {"protocol": "newreno", "window": 30}
    without, asked = (Scenario.check(data({**plain, **more}, HOP)) for more in ({}, {"class": "bulk"}))
    names = [each.network.address(each, fluid=False).name for each in (without, asked)]
    assert names == ["tcp_newreno", "tcp_newreno_delays"]
    a, b = (simulate(each, target="cpu") for each in (without, asked))
    assert (b.integers[:, : a.integers.shape[1]] == a.integers).all()
    listed = {outcome.name for outcome in OUTCOMES}
    kinds = [f"bulk_{kind.name}" for kind in classes.CLASS_OUTCOMES if kind.name not in ("late", "in_time")]
    assert [name for name in measurable.outcomes(asked) if name not in listed] == kinds
    assert (b.frame.bulk_mean_flow_bps == b.frame.goodput_bps).all()
    for transport, word in (
        ({"protocol": "cubic"}, "cubic"), ({"protocol": "linux"}, "linux_cubic"),
        ({"protocol": "sctp"}, "sctp"),
        ({"protocol": "linux26", "congestion_control": "bic"}, "linux26"),
    ):  # fmt: skip
        late = Scenario.check(data({**transport, "late": "1 s"}, HOP))
        assert late.network.word == word


@pytest.mark.full
def test_a_plan_of_a_delay_finds_the_window_that_makes_it():
    """The plan finds the window whose packets take the required delay in a full queue."""
    transport = {"protocol": "newreno", "class": "bulk", "payload": "960 B", "clock_phase": "0 s"}
    packet, ack, way = 1e-3, 40e-6, 2e-3
    bound = 20.5 * packet - ack - way  # so at most 20 packets fit
    found = plan(make_plan({
        "name": "window", "scenario": data(transport, HOP, duration="10 s") | {"replications": 1000},
        "quantity": {"name": "window", "field": "transport.window", "linear": [5, 40]},
        "requirements": {
            "wait": {"goal": f"bulk_delay_p95_s <= {bound:.6f} s", "probability": "90 %"},
            "jitter": {"goal": "bulk_jitter_s <= 1 ms", "probability": "90 %"},
        },
        "replications": 400,
    }), target="cpu")  # fmt: skip
    assert (found.holds, found.fails) == (20, 21)
    goals = ["bulk_delay_p95_s <= 19 ms", "bulk_mean_delay_s >= 1 ms"]
    asked = Scenario.check(data(transport | {"window": 20}, HOP))
    assert estimate(asked, goals=goals, target="cpu").goals.probability.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"transport": {**CALL, "class": "Call"}}, "transport.class = 'Call' is not a word"),
        ({"transport": {**CALL, "late": "0 s"}}, "expected 1 us to 3600 s"),
        ({"fidelity": "formula"}, "does not support delays of udp (transport.class); write packet"),
        (
            {"fidelity": "formula", "transport": {"protocol": "newreno", "class": "bulk"}},
            "does not support delays of classes (transport.class); write fluid or packet",
        ),
        ({"fidelity": "fluid", "transport": {"protocol": "sctp", "late": "1 s"}}, "sctp (transport.late)"),
        ({"paths": [], "shared": {"dumbbell": HOP, "flows": [{}]}}, "class is supported only with paths"),
    ],
)
def test_what_cannot_be_measured_is_refused(change, said):
    with pytest.raises(InputError) as error:
        estimate(Scenario.check(data(CALL, HOP) | change), target="cpu")
    assert said in str(error.value) and "\n" not in str(error.value)
