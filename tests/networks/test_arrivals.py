"""Flows that arrive and depart, from a scenario to its outcomes: known answers, and refused scenarios."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from netcarlo import InputError, simulate
from netcarlo.kernels.base.classes import SLOWDOWN_BITS, TIME_SHIFT, ClassOut, SizeOut
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.shared.layout import Flow
from netcarlo.networks import completions
from netcarlo.networks.completions import OF_SIZE, by_class
from netcarlo.networks.shared.output import SharedOutput
from netcarlo.numerics.histogram import edges
from netcarlo.scenario import Scenario
from netcarlo.schema import distributions, units
from netcarlo.schema.points import inverse
from netcarlo.simulation.ensemble import build

LINK = {"rate": "10 Mbit/s", "delay": "1 ms", "queue": 50}


def scenario(*flows, link=LINK, **fields):
    data = {
        "duration": "200 s", "warm_up": "20 s", "replications": 16,
        "transport": {"protocol": "sack", "payload": "1000 B", "window": 32},
        "shared": {"dumbbell": link, "flows": list(flows)},
    }  # fmt: skip
    return Scenario.check({**data, **fields})


def web(rate, size, count=56, **fields):
    return {"count": count, "arrivals": {"poisson": f"{rate} /s"}, "size": size, **fields}


@pytest.mark.full
def test_a_flow_of_one_packet_alone_is_ideal():
    asked = scenario(web(1, "1000 B", count=4))
    frame = simulate(asked, target="cpu").frame
    rows, _ = build(asked, replications=1)
    flow = rows.flows[0, 0]
    data, small = 1040 * 8 / 10e6, 40 * 8 / 10e6
    hosts = 2 * 8e-9 * (1040 + 40 + 40)
    expected = 2 * small + data + hosts + 3 * 1e-3
    assert flow[Flow.LATENCY] / NS == pytest.approx(expected, rel=1e-6)
    assert flow[Flow.PACKET_TIME] / NS == pytest.approx(data, rel=1e-6)
    # One of two simultaneous packets may wait.
    assert (frame.slowdown_p50 - 1).abs().max() <= 1 / 64
    assert frame.slowdown_mean.min() >= 1.0 and frame.slowdown_mean.max() < 1.02
    assert frame.completion_p50_10kB_s.to_numpy() == pytest.approx(expected, rel=1 / 64)
    assert frame[[f"slowdown_p95_{name}" for name in OF_SIZE if name != "10kB"]].isna().all().all()


@pytest.mark.full
@pytest.mark.parametrize("load", [0.5, 0.7])
def test_long_flows_share_the_processor(load):
    """Long flows take 1 / (1 - load) times as long as alone: M/G/1 with processor sharing.

    TCP over a few milliseconds is close to it: flows of many seconds share evenly, and a busy link is
    full.
    """
    mean, rate = 6e6, 10e6
    link = {"rate": "10 Mbit/s", "delay": "2 ms", "queue": 20}
    asked = scenario(
        web(load * rate / (8 * mean * 1.04), f"{mean:.0f} B"), link=link, duration="4000 s",
        warm_up="400 s", replications=8,
    )  # fmt: skip
    frame = simulate(asked, target="cpu").frame
    assert (frame.blocked_share == 0).all()
    slowdown = float((frame.slowdown_mean * frame.arrivals).sum() / frame.arrivals.sum())
    assert slowdown == pytest.approx(1 / (1 - load), rel=0.05)


@pytest.mark.full
def test_users_think_and_download():
    """The numbers of thinking and downloading users of a closed network obey Little's law."""
    user = {"count": 8, "arrivals": {"think": {"exponential": {"mean": "2 s"}}}, "size": "100 kB"}
    frame = simulate(scenario(user), target="cpu").frame
    expected = 180 * 8 / (2.0 + frame.completion_mean_s)
    assert frame.arrivals.mean() == pytest.approx(expected.mean(), rel=0.02)
    # A user whose think time is shorter than the travel time of the last ACK finds the slot occupied.
    assert frame.blocked_share.mean() < 0.002


@pytest.mark.full
def test_offered_carried_and_blocked():
    """Traffic that is not blocked is carried, because nothing is lost; Erlang's loss formula does not
    hold."""
    frame = simulate(scenario(web(5, "250 kB", count=3)), target="cpu").frame
    assert frame.offered_bps.mean() == pytest.approx(5 * 250e3 * 8, rel=0.03)
    assert (frame.blocked_share > 0.05).all()
    through = frame.offered_bps * (1 - frame.blocked_share)
    assert frame.carried_bps.mean() == pytest.approx(through.mean(), rel=0.01)


@pytest.mark.full
def test_classes_are_apart_and_those_that_stay_are_not_among_them():
    asked = scenario({}, web(4, "20 kB"), {"udp": {"rate": "100 kbit/s"}}, web(0.5, "500 kB", count=4))
    found = simulate(asked, target="cpu")
    rows, _ = build(asked)
    each = by_class(SharedOutput(rows, found.integers))
    assert each["arrivals"].shape == (16, 2)
    assert (each["arrivals"].sum(axis=1) == found.frame.arrivals).all()
    assert np.isnan(each["completion_mean_1MB_s"][:, 0]).all()
    assert (each["completion_p50_1MB_s"][:, 1] > each["completion_p50_100kB_s"][:, 0]).all()
    assert (found.frame.fairness == 1).all()
    assert (found.frame.sack_bps == found.frame.mean_flow_bps).all()
    total = found.frame.carried_bps + found.frame.mean_flow_bps
    assert found.frame.tcp_goodput_bps.to_numpy() == pytest.approx(total.to_numpy())


def test_sizes_are_those_of_the_distribution():
    q = np.array([0.001, 0.1, 0.5, 0.9, 0.999])
    for text in (
        {"lognormal": {"median": 1e4, "sigma": 1.5}}, {"pareto": {"scale": 1000, "shape": 1.2}},
        {"weibull": {"scale": 1e4, "shape": 0.5}}, {"uniform": [10, 20]}, {"choice": [10, 1000, 50]},
        {"empirical": [[5, 0.2], [10, 0.9], [40, 1]]}, {"log_uniform": [10, 1e6]},
    ):  # fmt: skip
        one = distributions.parse(text, float, low=1, high=1e12)
        places, values = inverse(one)
        assert places[0] == 0 and places[-1] == 2**32 and (np.diff(places) >= 0).all()
        for p in q:
            k = np.searchsorted(places, p * 2**32, side="right") - 1
            share = (p * 2**32 - places[k]) / (places[k + 1] - places[k])
            assert values[k] + share * (values[k + 1] - values[k]) == pytest.approx(
                float(one.quantile(np.array([p]))[0]), rel=0.004
            ), (text, p)


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"count": 4, "size": "1 kB"}, "size needs arrivals; add arrivals, or write each.bytes"),
        ({"count": 4, "arrivals": {"poisson": "1 /s"}}, "arrivals need a size; add one such as"),
        ({"count": 4, "arrivals": {}, "size": "1 kB"}, "poisson and think are both missing; write one"),
        ({"count": 4, "arrivals": {"poisson": "1 /s", "think": "1 s"}, "size": "1 kB"}, "are both given"),
        ({"arrivals": {"poisson": "1 /s"}, "size": "1 kB"}, "count is missing; add it"),
        (web("0", "1 kB"), "is below the limit; expected 0.0001 to 1000000 /s"),
        ({"count": 4, "arrivals": {"poisson": "1 s"}, "size": "1 kB"}, "has the wrong unit 's'"),
        ({"count": 4, "arrivals": {"think": "0 s"}, "size": "1 kB"}, "is below the limit"),
        (web(1, "0 B"), "is below the limit"),
        (web(1, "1 kB", each={"packets": 3}), "arrivals and each.packets are both given; remove it"),
        (web(1, "1 kB", each={"udp": {"rate": "1 Mbit/s"}}), "write each.protocol"),
        (web(1, "1 kB", count=1025), "shared.flows can be up to 1025; expected 1 to 1024"),
        (web(1, "1 kB", slots=4), "is an unknown field"),
    ],
)  # fmt: skip
def test_what_is_refused(flow, message):
    with pytest.raises(InputError) as error:
        scenario(flow)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_what_does_not_come_and_go():
    for protocol in ("sctp", "linux26", "probing"):
        with pytest.raises(InputError, match="with arrivals; expected one of tahoe"):
            scenario(web(1, "1 kB"), transport={"protocol": protocol})
    with pytest.raises(InputError, match=r"flows.0.arrivals need TCP; write transport.protocol"):
        scenario(web(1, "1 kB"), transport={"protocol": "udp", "rate": "1 Mbit/s"})
    for fidelity in ("fluid", "formula"):
        with pytest.raises(InputError, match=r"arrivals; write packet"):
            simulate(scenario(web(1, "1 kB"), fidelity=fidelity), target="cpu")


def test_a_rate_per_time_is_a_quantity():
    assert units.parse("20 /s", units.FREQUENCY) == 20
    assert units.parse("30 /min", units.FREQUENCY) == 0.5
    assert units.parse(units.show(0.25, units.FREQUENCY), units.FREQUENCY) == 0.25
    assert math.isclose(units.parse("1 /h", units.FREQUENCY), 1 / 3600)


def test_each_quantile_of_completion_times_is_that_of_its_level():
    """Quantiles equal a naive twin: the flow at the share of the level, in order of completion time."""
    rng = np.random.default_rng(9)
    made = np.zeros((1, 1, ClassOut.COLUMNS), np.int64)
    out = made[0, :, ClassOut.SIZE : ClassOut.SIZE + SizeOut.COLUMNS]
    times, slowdowns = (
        out[0, at:end]
        for at, end in ((SizeOut.TIMES, SizeOut.SLOWDOWNS), (SizeOut.SLOWDOWNS, SizeOut.COLUMNS))
    )
    for counts in (times, slowdowns):
        counts += rng.integers(1, 40, len(counts))
    out[0, SizeOut.FLOWS] = times.sum()
    output = SimpleNamespace(table=lambda columns: made, window_s=np.ones(1))
    of_all = {outcome.name: outcome.column for outcome in (*completions.OUTCOMES, completions.P95)}
    for name, counts, unit in (
        ("completion_{}_s", times, 2.0**TIME_SHIFT / NS),
        ("slowdown_{}", slowdowns, 2.0**-SLOWDOWN_BITS),
    ):
        ends = edges(len(counts) + 1)
        flows = np.repeat((ends[:-1] + ends[1:]) / 2, counts)
        for level, share in (("p50", 0.50), ("p95", 0.95), ("p99", 0.99)):
            expected = flows[int(share * len(flows))] * unit
            value = of_all[name.format(level)](output)[0]
            assert value == pytest.approx(expected), (name, level)
