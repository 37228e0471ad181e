"""Time-varying cables of shared networks: traces, jitter and policers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import Scenario, simulate
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.varying import HEAD, Head
from netcarlo.kernels.shared.layout import TABLE, FlowOut, Link
from netcarlo.networks.shared.outcomes import tables
from netcarlo.scenario import load_scenario
from netcarlo.simulation.ensemble import build
from tests.networks.test_varying import STEPS

MS = NS // 1000
CABLE = {"rate": "10 Mbit/s", "delay": "20 ms"}
UDP = {"udp": {"rate": "6 Mbit/s", "payload": "972 B", "header": "28 B"}}
JITTER = {"uniform": ["0 ms", "9 ms"]}


def scenario(cable: Any = CABLE, flows: Any = ({},), **fields: Any) -> Scenario:
    """Return a dumbbell with this cable."""
    shared = {"dumbbell": dict(cable), "flows": [*flows]}
    shared["access"] = {"rate": "1 Gbit/s", "sink_delay": "1 ms"}
    data = {"duration": "3 s", "transport": {"protocol": "sack", "window": "200 packets"}, "shared": shared}
    return Scenario.check({**data, **fields})


def links(cable: Any) -> Any:
    """Return the two links [2, columns], and the number of varying rows of each."""
    return build(scenario(cable), replications=1).rows.links[0]


def outcomes(of: Scenario, replications: int = 1) -> tuple[Any, Any]:
    """Return outcomes of flows [n, F, ...] and links [n, L, ...]."""
    ensemble = build(of, replications=replications)
    found = tables(simulate(of, replications=replications).integers, ensemble.rows)
    return found.flows, found.links


def test_both_directions_have_rate_and_delay_of_a_trace() -> None:
    policer = {"rate": "5 Mbit/s", "burst": "9 kB"}
    cable = {"trace": STEPS, "repeat": True, "jitter": JITTER, "policer": policer}
    forth, back = links(cable)
    assert forth[Link.VARIES] == back[Link.VARIES] == TABLE
    ahead = forth[Link.COLUMNS :].reshape(-1, 2)
    behind = back[Link.COLUMNS :].reshape(-1, 2)
    assert ahead[Head.POLICER, 1] > 0 and behind[Head.POLICER, 1] == 0  # one way: the policer,
    assert ahead[Head.PERIOD, 1] == 256 and behind[Head.PERIOD, 1] == 0  # jitter,
    rates, losses = slice(HEAD, HEAD + 6, 2), slice(HEAD + 1, HEAD + 6, 2)
    assert ahead[rates, 1].tolist() == behind[rates, 1].tolist()
    assert ahead[losses, 1].any() and not behind[losses, 1].any()  # and the loss
    assert forth[Link.BYTE_TIME] == back[Link.BYTE_TIME] and forth[Link.DELAY] == back[Link.DELAY]


def test_the_other_direction_has_what_is_given_for_it() -> None:
    policer = {"rate": "1 Mbit/s", "burst": "9 kB"}
    forth, back = links({**CABLE, "reverse": {"jitter": JITTER, "policer": policer}})
    assert forth[Link.VARIES] == 0 and back[Link.VARIES] == TABLE
    forth, back = links({"trace": STEPS, "repeat": True, "reverse": {"rate": "1 Mbit/s", "delay": "3 ms"}})
    assert forth[Link.VARIES] == TABLE and back[Link.VARIES] == 0 and back[Link.DELAY] == 3 * MS
    forth, back = links({**CABLE, "reverse": {"trace": STEPS, "repeat": True}})
    assert forth[Link.VARIES] == 0 and forth[Link.DELAY] == 20 * MS and back[Link.VARIES] == TABLE


def test_nobody_else_runs_the_model_that_has_it() -> None:
    arrivals = {"count": 4, "arrivals": {"poisson": "2 /s"}, "size": "20 kB", "each": {"protocol": "sack"}}
    for cable, flows, name in (
        (CABLE, [{}], "shared_sack"),
        ({**CABLE, "jitter": JITTER}, [{}], "shared_sack_varying"),
        ({**CABLE, "reverse": {"jitter": JITTER}}, [{"protocol": "reno"}, {}], "shared_mixed_varying"),
        ({**CABLE, "jitter": JITTER, "queue": "codel"}, [{}], "shared_sack_aqm_varying"),
        ({**CABLE, "jitter": JITTER}, [arrivals], "shared_mixed_arrivals_varying"),
    ):
        of = scenario(cable, flows)
        assert of.network.address(of, fluid=False).name == name


@pytest.mark.full
@given(st.lists(st.tuples(st.integers(1, 400), st.sampled_from([0, 0.2, 1, 3, 20])), min_size=1, max_size=6),
       st.integers(2, 60), st.integers(0, 99))  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_two_flows_never_exceed_the_rate_and_nothing_gets_lost(steps: list, queue: int, seed: int) -> None:
    """Two flows over a repeated trace receive what its rates carry, to a packet, and every packet sent is
    accounted for."""
    if not any(rate for _, rate in steps):
        steps = [*steps, (10, 5)]
    starts = np.cumsum([0, *(length for length, _ in steps)]) / 1000
    text = "".join(f"{at:.3f} s,{rate} Mbit/s\n" for at, (_, rate) in zip(starts, steps, strict=False))
    text = f"time,rate\n{text}{starts[-1]:.3f} s,\n"
    cable = {"trace": text, "repeat": True, "delay": "5 ms", "queue": queue}
    flows, _ = outcomes(scenario(cable, [UDP, UDP], seed=seed))
    carried = np.concatenate([[0], np.cumsum(np.diff(starts) * [rate * 1e6 for _, rate in steps])])
    rounds = np.floor(3.0 / starts[-1])
    allowed = rounds * carried[-1] + np.interp(3.0 - rounds * starts[-1], starts, carried)
    received, sent = (flows[0, :, column] for column in (FlowOut.RECEIVED, FlowOut.SENT))
    assert 8000 * received.sum() <= allowed + 50
    dropped = flows[0, :, [FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM, FlowOut.IN_FLIGHT]].sum(axis=0)
    assert (sent == received + dropped).all()


@pytest.mark.full
@given(st.lists(st.integers(0, 400), min_size=2, max_size=100), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_a_trace_of_mahimahi_is_replayed_exactly(times: list[int], seed: int) -> None:
    """A backlog of two flows uses every opportunity, and no other time."""
    times = sorted(times)
    times[-1] = max(times[-1], 1)
    udp = {"udp": {"rate": "200 Mbit/s", "payload": "1472 B", "header": "28 B"}}
    cable = {"trace": "\n".join(map(str, times)) + "\n", "repeat": True, "delay": "7 ms", "queue": 2000}
    of = scenario(cable, [udp, udp], duration="0.5 s", seed=seed)
    flows, _ = outcomes(of)
    every = np.concatenate([np.array(times) + k * times[-1] for k in range(600 // times[-1] + 1)])
    begun = 1  # by then both have a backlog [ms]
    used = ((every > begun) & (every + 7 + 1 < 500)).sum()
    first = (every <= begun).sum()
    last = ((every + 8 >= 500) & (every + 7 <= 500)).sum()
    assert used <= flows[0, :, FlowOut.RECEIVED].sum() <= used + first + last


@pytest.mark.full
@given(st.floats(0.5, 5), st.integers(1000, 30_000), st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_a_policer_lets_no_more_through_than_its_bucket(rate: float, burst: int, seed: int) -> None:
    cable = {"rate": "1 Gbit/s", "delay": "0 ms", "queue": "unlimited",
             "policer": {"rate": f"{rate} Mbit/s", "burst": f"{burst} B"}}  # fmt: skip
    flows, _ = outcomes(scenario(cable, [UDP, UDP], seed=seed))
    received = flows[0, :, FlowOut.RECEIVED].sum()
    assert 8000 * received <= 8 * burst + rate * 1e6 * 3.0
    if burst >= 2000:  # all tokens are used
        assert 8000 * received > 8 * burst + rate * 1e6 * 3.0 - 40_000


@pytest.mark.full
def test_tcps_share_what_a_trace_carries() -> None:
    """Four flows with a deep queue share a trace of 8 Mbit/s, nothing, 2 Mbit/s."""
    cable = {"trace": STEPS.replace("1 %", "0"), "repeat": True, "queue": 400}
    cable["reverse"] = {"rate": "1 Gbit/s"}
    flows, _ = outcomes(scenario(cable, [{"count": 4, "each": {"protocol": "newreno"}}], duration="120 s"), 2)
    mean = (8.0 * 1 + 2.0 * 1.5) / 3 * 1e6
    found = 8 * 1500 * flows[:, :, FlowOut.RECEIVED].sum(axis=1) / 120
    assert found == pytest.approx(mean, rel=0.08) and (found < mean * 1.01).all()


def test_a_trace_may_be_replaced_and_its_means_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(STEPS)
    file = tmp_path / "scenario.yaml"
    file.write_text("""duration: 9 s
transport: {protocol: sack}
shared: {dumbbell: {trace: steps.csv, repeat: true}, flows: [{}, {}]}
""")
    loaded = load_scenario(file)
    written = loaded.model_dump(mode="json", exclude_none=True)["shared"]["dumbbell"]
    assert written["trace"] == STEPS and not {"rate", "delay"} & set(written)
    other = {"trace": "time,rate\n0 s,3 Mbit/s\n1 s,\n", "delay": "9 ms"}
    again = loaded.with_values({f"shared.dumbbell.{name}": value for name, value in other.items()})
    assert again.shared.dumbbell.rate == 3e6


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"delay": "1 ms", "trace": "time,rate\n0 s,1 Mbit/s\n2 s,\n"},
     "shared.dumbbell.trace ends at 2 s, before duration; write repeat: "),
    ({"rate": "1 Mbit/s", "trace": STEPS},
     "shared.dumbbell.rate is also a column of the trace; remove one of them"),
    ({**CABLE, "reverse": {"delay": "1 ms", "trace": STEPS}},
     "reverse.delay is also a column of the trace; remove one"),
    ({**CABLE, "repeat": True}, "repeat needs a trace"),
    ({**CABLE, "jitter": "5 ms"}, "jitter = '5 ms' is not a distribution; "),
    ({**CABLE, "ack_jitter": JITTER}, "ack_jitter is an unknown field; "),
    ({"trace": STEPS, "repeat": True, "queue": "pie"}, "shared.dumbbell.pie needs a constant rate"),
]  # fmt: skip


@pytest.mark.parametrize(("cable", "message"), REFUSED)
def test_what_is_refused_and_why(cable: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        scenario(cable)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("fidelity", ["fluid", "formula"])
def test_cheap_models_refuse(fidelity: str) -> None:
    of = scenario({**CABLE, "jitter": JITTER}, fidelity=fidelity)
    with pytest.raises(InputError, match=f"the {fidelity} model does not support jitter of a link"):
        simulate(of, replications=2)
