"""Time-varying links in scenarios: traces, jitter and policers."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import estimate
from netcarlo.errors import InputError
from netcarlo.networks.traces import parse
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.trace import trace

STEPS = "time,rate,delay,loss\n0 s,8 Mbit/s,10 ms,0\n1 s,0,20 ms,0\n1.5 s,2 Mbit/s,5 ms,1 %\n3 s,,,\n"


def scenario(hop: dict, **of: object) -> Scenario:
    """Return datagrams at 12 Mbit/s, 1000 B on the wire, over one hop."""
    transport = {"protocol": "udp", "rate": "12 Mbit/s", "payload": "972 B", "header": "28 B"}
    data = {"transport": transport, "duration": "3 s", "hops": [hop], **of}
    return Scenario.check(data)


def journeys(of: Scenario, replication: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the sending and arrival times of datagrams [s], NaN if lost."""
    events = trace(of, replication=replication).frame
    sent, received = (events[events.event == name].set_index("sequence") for name in ("send", "receive"))
    return sent.time_s.to_numpy(), received.time_s.reindex(sent.index).to_numpy()


@pytest.mark.full
@given(
    st.lists(st.tuples(st.integers(1, 400), st.sampled_from([0, 0.2, 1, 3, 20])), min_size=1, max_size=6),
    st.booleans(),
    st.integers(2, 60),
)
@settings(max_examples=15, deadline=None)
def test_a_rate_is_never_exceeded(steps: list, repeat: bool, queue: int) -> None:
    """Packets between any two departures do not exceed the integral of the rate, up to rounding by a few
    bits."""
    if not any(rate for _, rate in steps):
        steps = [*steps, (10, 5)]
    lengths = np.array([length for length, _ in steps])
    starts = np.cumsum([0, *lengths]) / 1000
    text = "".join(f"{at:.3f} s,{rate} Mbit/s\n" for at, (_, rate) in zip(starts, steps, strict=False))
    text = f"time,rate\n{text}{starts[-1] if repeat else 3 + starts[-1]:.3f} s,\n"
    hop = {"trace": text, "delay": "5 ms", "queue": queue} | ({"repeat": True} if repeat else {})
    _, received = journeys(scenario(hop))
    left = np.sort(received[~np.isnan(received)]) - 0.005
    at = np.array([0.0, *starts[1:-1], parse(text).end_s])
    carried = np.concatenate([[0], np.cumsum(np.diff(at) * [rate * 1e6 for _, rate in steps])])
    rounds = np.floor(left / at[-1])
    allowed = rounds * carried[-1] + np.interp(left - rounds * at[-1], at, carried)
    excess = np.append(0, 8000 * np.arange(1, len(left) + 1) - allowed)
    assert (excess - np.minimum.accumulate(excess) <= 50).all()


@pytest.mark.full
@given(st.lists(st.integers(0, 400), min_size=2, max_size=200), st.integers(1, 40))
@settings(max_examples=15, deadline=None)
def test_a_trace_of_mahimahi_is_replayed_exactly(times: list[int], queue: int) -> None:
    """Every datagram of 1500 B leaves at an opportunity of its own; a backlog uses all of them."""
    times = sorted(times)
    times[-1] = max(times[-1], 1)
    transport = {"protocol": "udp", "rate": "400 Mbit/s", "payload": "1472 B", "header": "28 B"}
    hop = {"trace": "\n".join(map(str, times)) + "\n", "repeat": True, "delay": "7 ms", "queue": queue + 256}
    sent, received = journeys(scenario(hop, transport=transport, duration="0.5 s"))
    left = np.rint((received[~np.isnan(received)] - 0.007) * 1e3).astype(int)
    assert received[~np.isnan(received)] == pytest.approx((left + 7) / 1e3, abs=2e-9)
    every = np.concatenate([np.array(times) + k * times[-1] for k in range(600 // times[-1] + 1)])
    backlogged = every[every / 1e3 > sent[0]]
    most = np.unique(backlogged, return_counts=True)[1].max()
    if most <= queue:  # the queue is longer than the opportunities of a millisecond
        assert left.tolist() == backlogged[backlogged + 7 <= 500].tolist()


@pytest.mark.full
@given(st.floats(0.5, 20), st.integers(1000, 30_000), st.sampled_from([0.0, 0.3]), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_a_policer_lets_no_more_through_than_its_bucket(
    rate: float, burst: int, loss: float, seed: int
) -> None:
    """Consecutive packets never exceed the policed rate in their time plus a burst; losses come later."""
    hop = {"rate": "1 Gbit/s", "delay": "0 ms", "queue": "unlimited", "loss": loss,
           "policer": {"rate": f"{rate} Mbit/s", "burst": f"{burst} B"}}  # fmt: skip
    of = scenario(hop, seed=seed)
    sent, received = journeys(of)
    through = sent[~np.isnan(received)]
    level = 8000 * np.arange(1, len(through) + 1) - rate * 1e6 * through
    assert (level - np.minimum.accumulate(level - 8000) <= 8 * burst + 1).all()
    result = estimate(of, replications=1).outcomes.frame.iloc[0]
    arrived = result.received + result.drops_queue + result.drops_random
    assert result.sent - arrived in (0, 1)  # the last one may be in flight
    if loss == 0 and rate < 11 and burst >= 2000:  # all tokens are used
        assert 8000 * len(through) > 8 * burst + rate * 1e6 * sent[-1] - 24_000


@pytest.mark.full
@pytest.mark.parametrize("kind", [{"uniform": ["0 ms", "30 ms"]}, {"exponential": {"mean": "4 ms"}}])
def test_jitter_is_between_its_bounds_and_nothing_overtakes(kind: dict) -> None:
    hop = {"rate": "unlimited", "delay": "10 ms", "jitter": kind}
    transport = {"protocol": "udp", "rate": "50 kbit/s", "payload": "972 B", "header": "28 B"}  # every 155 ms
    of = scenario(hop, transport=transport, duration="300 s")
    sent, received = journeys(of)
    extra = (received - sent - 0.010)[~np.isnan(received)]
    mean = 0.015 if "uniform" in kind else 0.004
    assert extra.min() >= 0 and extra.mean() == pytest.approx(mean, rel=0.1)
    assert extra.max() <= (0.030 if "uniform" in kind else 0.004 * np.log(1025) + 1e-3)
    crowded = {**transport, "rate": "8 Mbit/s"}
    _, received = journeys(scenario(hop, transport=crowded))
    assert (np.diff(received[~np.isnan(received)]) >= 0).all()


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["udp", "newreno", "linux"])
def test_mean_goodput_is_the_mean_rate(protocol: str) -> None:
    """A permanent backlog uses the whole capacity of a trace: 8 Mbit/s, nothing, 2 Mbit/s."""
    hop = {"trace": STEPS.replace("1 %", "0"), "repeat": True, "queue": "unlimited"}
    hop["reverse"] = {"rate": "1 Gbit/s"}
    transport = {"protocol": protocol, "payload": "960 B"}
    transport |= {"rate": "12 Mbit/s"} if protocol == "udp" else {"window": 2000}
    mean = (8.0 * 1 + 2.0 * 1.5) / 3
    assert parse(hop["trace"]).mean("rate") == pytest.approx(mean * 1e6)
    of = scenario(hop, transport=transport, duration="120 s")
    found = estimate(of, replications=2).outcomes.frame.throughput_bps.mean()
    assert found == pytest.approx(mean * 1e6, rel=0.06) and found < mean * 1e6


@pytest.mark.full
def test_loss_of_a_trace_is_its_mean() -> None:
    text = "time,loss\n0 s,0\n1 s,40 %\n2 s,\n"
    hop = {"rate": "100 Mbit/s", "delay": "1 ms", "trace": text, "repeat": True}
    found = estimate(scenario(hop, duration="60 s"), replications=4).outcomes.frame
    assert (found.drops_random / found.sent).mean() == pytest.approx(0.2, abs=0.005)


@pytest.mark.full
def test_a_file_beside_the_scenario_and_its_text_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(STEPS)
    file = tmp_path / "scenario.yaml"
    file.write_text("""duration: 9 s
transport: {protocol: newreno}
hops: [{trace: steps.csv, repeat: true}]
""")
    loaded = load_scenario(file)
    inline = scenario({"trace": STEPS, "repeat": True}, transport={"protocol": "newreno"}, duration="9 s")
    one, other = (estimate(each, replications=3).outcomes.frame for each in (loaded, inline))
    np.testing.assert_array_equal(one.to_numpy(), other.to_numpy())
    again = loaded.with_values({"hops.0.queue": 7})
    assert again.paths[0].hops[0].trace.text == STEPS
    file.write_text(file.read_text().replace("steps.csv", "missing.csv"))
    with pytest.raises(InputError, match=r"scenario.yaml:3: .*missing.csv: no such file"):
        load_scenario(file)


def lines(*of: str) -> dict:
    return {"delay": "1 ms", "trace": "\n".join(of) + "\n"}


REFUSED = [
    (lines("time,rate", "0 s,1 Mbit/s", "2 s,"), "hops.trace ends at 2 s, before duration; write repeat: "),
    (lines("5", "3"), "has a decreasing time in line 2; sort the lines"),
    (lines("5", "x"), "has 'x' in line 2; expected milliseconds from 0 to"),
    (lines("0", "0"), "ends at 0 ms"),
    (lines("time,rate", "0 s,1 Mbit/s", "2 s,2 Mbit/s", "1 s,"), "has a decreasing time in line 4; sort"),
    (lines("time,rate", "0 s,1 Mbit/s", "0 s,"), "is a trace that ends before 1 ms"),
    (lines("time,rate", "0 s,1 Mbit/s"), "is a trace of one row; write a second one"),
    (lines("time,rate", "0 s,0", "4 s,"), "rate is always 0; raise one"),
    (lines("time,rate", "0 s,50 bit/s", "4 s,"), "rate is always 0; raise one"),
    (lines("time,rate", "0 s,5", "4 s,"), "has in line 2 the value '5', which has no unit; write a rate"),
    (lines("time,rate", "0 s", "4 s,"), "is a trace without values; write a rate"),
    (lines("time,loss", "0 s,2", "4 s,"), "has in line 2 the loss 2; expected 0 to 1"),
    (lines("time,speed", "0 s,2", "4 s,"), "has no column of rates, delays or losses among 'time, speed'"),
    ({"rate": "1 Mbit/s", "delay": "1 ms", "trace": "nowhere.csv"}, "nowhere.csv: no such file"),
    ({"rate": "1 Mbit/s", "delay": "1 ms", "trace": 5}, "trace = 5 is not a trace; name a file"),
    ({"rate": "1 Mbit/s", "delay": "1 ms", "repeat": True}, "repeat needs a trace"),
    ({"delay": "1 ms"}, "rate is missing; add it"),
    ({"rate": "1 Mbit/s", "trace": STEPS}, "rate is also a column of the trace; remove one of them"),
    ({"delay": "1 ms", "trace": STEPS}, "delay is also a column of the trace; remove one of them"),
    (lines("3", "5") | {"rate": "1 Mbit/s"}, "rate is also a column of the trace; remove one of them"),
    ({"trace": STEPS, "reverse": {"trace": STEPS, "rate": "1 Mbit/s"}},
     "reverse.rate is also a column of the trace; remove one of them"),
    ({"rate": "1 Mbit/s", "delay": "1 ms", "jitter": "5 ms"}, "jitter = '5 ms' is not a distribution; "),
    ({"rate": "1 Mbit/s", "delay": "1 ms", "policer": {"rate": "0 Mbit/s", "burst": "9 kB"}},
     "policer.rate = '0 Mbit/s' is below the limit"),
]  # fmt: skip


@pytest.mark.parametrize(("hop", "message"), REFUSED)
def test_what_is_refused_and_why(hop: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        estimate(scenario(hop), replications=2)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("fidelity", ["fluid", "formula"])
@pytest.mark.parametrize("hop", [{"trace": STEPS, "repeat": True}, {"jitter": {"uniform": ["0 s", "1 ms"]}}])
def test_cheap_models_refuse(hop: dict, fidelity: str) -> None:
    hop = hop if "trace" in hop else {"rate": "1 Mbit/s", "delay": "1 ms"} | hop
    of = scenario(hop, transport={"protocol": "sack"}, fidelity=fidelity)
    with pytest.raises(InputError, match=f"the {fidelity} model does not support (trace|jitter) of a hop"):
        estimate(of, replications=2)


def test_the_mean_of_a_trace_weights_steps_with_their_length() -> None:
    """Means of a step trace by hand, and of four packets in 5 ms of Mahimahi."""
    steps = parse(STEPS)
    assert steps.mean("rate") == pytest.approx((1 * 8e6 + 0.5 * 0 + 1.5 * 2e6) / 3)
    assert steps.mean("delay") == pytest.approx((1 * 0.010 + 0.5 * 0.020 + 1.5 * 0.005) / 3)
    assert steps.mean("loss") == pytest.approx(1.5 * 0.01 / 3)
    assert parse("time,rate\n0 s,1 Mbit/s\n2 s,\n").mean("delay") is None
    packets = parse("1\n3\n3\n5\n")
    assert packets.mean("rate") == pytest.approx(4 * 1500 * 8 / 0.005)
    assert packets.mean("delay") is None


def test_the_traces_of_the_examples_are_what_their_script_makes() -> None:
    folder = Path(__file__).parents[2] / "configs" / "examples"
    made = runpy.run_path(str(folder / "make_traces.py"))["FILES"]
    for name, make in made.items():
        assert (folder / name).read_text() == make()
        assert parse(make()).end_s == (60 if name == "leo.csv" else 4)
