"""Delays of the flow of an ad hoc network, from scenario to outcomes: known answers, names, refusals."""

import numpy as np
import pytest

from netcarlo import InputError, compare, simulate
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.rows import split
from netcarlo.networks import classes
from netcarlo.networks.adhoc.outcomes import states_s
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import OUTCOMES

WALKERS = {
    "nodes": 8, "area": {"side": "400 m"}, "range": "150 m",
    "mobility": {"model": "random_waypoint", "speed": "10 m/s"},
}  # fmt: skip
PLAIN = {"protocol": "newreno", "window": 20}


def asked(transport, network=WALKERS, **fields):
    data = {"duration": "20 s", "replications": 6, "transport": transport, "adhoc": network}
    return Scenario.check(data | fields)


def chain(hops):
    """Return a chain of nodes without movement, in which node 0 sends to node 1."""
    order = [0, hops, *range(1, hops)]
    nodes = [[{"time": "0 s", "x": f"{225 * place} m"}] for place in order]
    return {"range": "250 m", "routing": "ideal", "mobility": {"model": "given", "nodes": nodes}}


@pytest.mark.full
@pytest.mark.parametrize("hops", [1, 3])
def test_who_is_alone_waits_for_his_backoffs(hops):
    """One packet at a time takes on each hop a DIFS, 0 to 31 slots, RTS, CTS, data and, except for the
    last hop, ACK."""
    slot, sifs, rts, cts, ack = 20e-6, 10e-6, 352e-6, 304e-6, 304e-6
    data = 192e-6 + (1000 + 40 + 54) * 8 / 2e6
    least = hops * (sifs + 2 * slot + rts + cts + data + ack + 3 * sifs) - ack - sifs
    sums = np.ones(1)
    for _ in range(hops):
        sums = np.convolve(sums, np.full(32, 1 / 32))  # of slots
    late = 20 * hops
    transport = {
        "protocol": "newreno", "window": 1, "payload": "1000 B", "class": "call",
        "late": f"{least + (late + 0.5) * slot} s",
    }  # fmt: skip
    frame = simulate(asked(transport, chain(hops), duration="60 s"), target="cpu").frame
    assert frame.call_mean_delay_s.mean() == pytest.approx(least + 15.5 * hops * slot, rel=1e-3)
    assert frame.call_late.mean() == pytest.approx(sums[late + 1 :].sum(), rel=0.05)
    for name, q in classes.QUANTILES.items():
        exact = least + int(np.searchsorted(sums.cumsum(), q)) * slot
        assert frame[f"call_{name}"].mean() == pytest.approx(exact, rel=1 / 64), name
    apart = np.abs(np.subtract.outer(np.arange(len(sums)), np.arange(len(sums))))
    assert frame.call_jitter_s.mean() == pytest.approx(sums @ apart @ sums * slot, rel=0.02)
    assert (frame.call_loss_ratio == 0).all() and (frame.call_worst_flow_bps == frame.goodput_bps).all()


@pytest.mark.full
def test_data_that_wait_for_a_route_take_as_long():
    """Data wait for a route while the sink is out of range, from 4.05 to 9.45 s; the loss is that of all
    drops."""
    steps = [("0 s", 240), ("4 s", 240), ("4.5 s", 340), ("9 s", 340), ("9.5 s", 240)]
    nodes = [[{"time": "0 s", "x": "0 m"}], [{"time": time, "x": f"{x} m"} for time, x in steps]]
    network = {"range": "250 m", "routing": "ideal", "mobility": {"model": "given", "nodes": nodes}}
    here = asked({**PLAIN, "late": "4 s"}, network, duration="15 s")
    found = simulate(here, target="cpu")
    longest = np.flatnonzero(split(found.integers, build(here).rows)["delays"][0, 0, DelayOut.DELAYS :])[-1]
    octave = longest // 32 - 1
    assert 5.3 < (longest - 32 * octave) * 2.0 ** (octave + 7) / 1e9 < 6.3
    assert (found.frame.newreno_late > 0).all() and (found.frame.newreno_late < 0.05).all()
    drops = found.frame[["drops_queue", "drops_route", "drops_buffer", "drops_random"]].sum(axis=1)
    share = drops / (drops + found.frame.received)
    assert found.frame.newreno_loss_ratio.to_numpy() == pytest.approx(share.to_numpy())


@pytest.mark.full
def test_who_asks_and_who_does_not():
    without, with_class = (asked({**PLAIN, **more}) for more in ({}, {"class": "bulk"}))
    names = [each.network.address(each, fluid=False).name for each in (without, with_class)]
    assert names == ["manet_newreno", "manet_newreno_delays"]
    a, b = (simulate(each, target="cpu") for each in (without, with_class))
    assert (b.integers[:, : a.integers.shape[1]] == a.integers).all()
    assert b.frame[list(a.frame)].equals(a.frame)
    listed = {outcome.name for outcome in OUTCOMES}
    kinds = [f"bulk_{kind.name}" for kind in classes.CLASS_OUTCOMES if kind.name not in ("late", "in_time")]
    assert [name for name in measurable.outcomes(with_class) if name not in listed] == kinds
    for transport, word in (
        ({"protocol": "elfn"}, "elfn"), ({"protocol": "linux"}, "linux_cubic"),
        ({"protocol": "sctp"}, "sctp"), ({"protocol": "udp", "rate": "1 Mbit/s"}, "udp"),
    ):  # fmt: skip
        assert asked({**transport, "late": "1 s"}).network.word == word


@pytest.mark.full
def test_networks_of_other_sizes_are_compared_in_one_launch():
    small, large = (asked({**PLAIN, "class": "bulk"}, {**WALKERS, "nodes": n}) for n in (5, 12))
    found = compare(small, large, target="cpu")
    for here, part in ((small, found.baseline), (large, found.other)):
        alone = simulate(here, target="cpu")
        assert (alone.integers == part.integers).all() and alone.frame.equals(part.frame)
        rows = build(here).rows
        assert states_s(alone.integers, rows)["idle"].shape == (6, here.adhoc.nodes)
    both = found.baseline.frame.bulk_delay_p95_s.notna() & found.other.frame.bulk_delay_p95_s.notna()
    assert found.table.loc["bulk_delay_p95_s", "n"] == both.sum() > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fidelity": "fluid"}, "the fluid model does not support delays of ad hoc networks"),
        ({"fidelity": "formula"}, "the formulae do not support ad hoc networks"),
        ({"adhoc": None, "shared": {"dumbbell": {"rate": "1 Mbit/s", "delay": "1 ms"}, "flows": [{}]}},
         "transport.class is supported only with paths and adhoc, which have one flow; write"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(change, said):
    with pytest.raises(InputError) as error:
        simulate(asked({**PLAIN, "class": "bulk"}, **change), target="cpu")
    assert said in str(error.value) and "\n" not in str(error.value)
