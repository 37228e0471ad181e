"""AQM on hops of paths: compared with their twin, a dumbbell and drop-tail, and refused scenarios."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netcarlo import Scenario, simulate
from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import (
    CODEL,
    FQ_CODEL,
    NO_AQM,
    PIE,
    RED_DROPS,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
    routes_of,
)
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.trace import per_second, trace
from tests.kernels.beside_twin import run_as_python
from tests.kernels.shared.test_shared import differences, split

MS = NS // 1000
HOP = {"rate": "10 Mbit/s", "delay": "20 ms"}
SACK = {"protocol": "sack", "window": "200 packets", "clock_phase": "0 s"}
FAR = {"target": "3 s", "interval": "3 s"}
"""Target that is never reached."""
COUNTS = (
    *("sent", "received", "delivered", "in_order", "acked", "retransmitted", "timeouts", "fast_retransmits"),
    *("cwnd_reductions", "drops_queue", "drops_random", "ack_drops", "handshakes", "in_flight"),
)

quick = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def scenario(*hops: Any, transport: Any = SACK, ecn: bool = False, **fields: Any) -> Scenario:
    """Return a path over hops with these fields."""
    given = [{**HOP, **hop} if "each" not in hop else hop for hop in hops]
    path = {"hops": [{k: v for k, v in hop.items() if v is not None} for hop in given], "ecn": ecn}
    return Scenario.check({"duration": "20 s", "transport": transport, "paths": [path], **fields})


def rows_of(one: Scenario, n: int = 1) -> SharedRows:
    rows = build(one, replications=n).rows
    assert isinstance(rows, SharedRows)
    return rows


def model_of(one: Scenario) -> str:
    return one.network.address(one, fluid=False).name


# Rows.


def test_a_hop_is_two_links() -> None:
    hops = {"queue": "codel", "loss": 0.02, "reverse": {"queue": "pie", "delay": "5 ms"}}, {"queue": 20}
    rows = rows_of(scenario(*hops))
    links, flow = rows.links[0], rows.flows[0, 0]
    assert links[:, Link.AQM].tolist() == [CODEL, PIE, NO_AQM, NO_AQM]
    assert links[:, Link.QUEUE].tolist() == [1000, 1000, 20, 20]
    assert links[:, Link.DELAY].tolist() == [20 * MS, 5 * MS, 20 * MS, 20 * MS]
    assert links[:2, Link.AQM_TARGET].tolist() == [5 * MS, 15 * MS]
    assert len(set(links[:, Link.LOSS].tolist())) == 2  # no acknowledgement is lost
    assert [routes_of(flow).tolist(), routes_of(flow, back=True).tolist()] == [[0, 2], [3, 1]]
    assert rows.parameters[0, [Shared.FLOWS, Shared.LINKS]].tolist() == [1, 4]


def test_hops_that_are_not_there_leave_no_gap() -> None:
    many = {"count": {"integers": [1, 3]}, "each": {**HOP, "rate": {"uniform": ["1 Mbit/s", "9 Mbit/s"]}}}
    rows = rows_of(scenario(many, {"fq_codel": {"target": {"uniform": ["2 ms", "20 ms"]}}}), 40)
    count = rows.flows[:, 0, Flow.HOPS]
    assert set(count.tolist()) == {2, 3, 4}
    each, last = np.arange(40), 2 * (count - 1)
    assert (rows.flows[each, 0, Flow.ROUTE + count - 1] == last).all()
    assert (routes_of(rows.flows, back=True)[:, 0, 0] == last + 1).all()
    managed = rows.links[:, :, Link.AQM] == FQ_CODEL
    assert (managed.sum(axis=1) == 2).all() and managed[each, last].all() and managed[each, last + 1].all()
    assert len(set(rows.links[each, last, Link.AQM_TARGET].tolist())) == 40
    used = np.arange(rows.links.shape[1]) < 2 * count[:, None]
    assert ((rows.links[:, :, Link.BYTE_TIME] > 0) == used).all()
    rows.links[:, :, Link.ROOM] = 0
    assert not rows.links[~used].any()


def test_who_simulates_it() -> None:
    linux = {"protocol": "linux", "congestion_control": "cubic"}
    for hop, transport, name in (
        ({"queue": 20}, SACK, "tcp_sack"),
        ({"red": {}}, SACK, "shared_sack"),
        ({"queue": "codel"}, SACK, "shared_sack_aqm"),
        ({"reverse": {"queue": "pie"}}, {"protocol": "vegas"}, "shared_vegas_aqm"),
        ({"queue": "pie"}, linux, "shared_linux_cubic_aqm"),
        ({"queue": "pie"}, {"protocol": "sctp"}, "shared_sctp_aqm"),
        ({"queue": "pie"}, {"protocol": "udp", "rate": "1 Mbit/s"}, "shared_tahoe_aqm"),
    ):
        assert model_of(scenario(hop, transport=transport)) == name
    red = rows_of(scenario({"red": {"mark": False}})).links[0]
    assert red[:, Link.RED].tolist() == [RED_DROPS, RED_DROPS]


# Comparison with the twin, a dumbbell, and drop-tail.

MANAGED = ("codel", "pie", "fq_codel", {"codel": {"mark": True, "target": "2 ms"}}, {"red": {"mark": True}})


@pytest.mark.full
@pytest.mark.parametrize("queue", MANAGED)
@pytest.mark.parametrize("protocol", ["sack", "newreno", "udp"])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy's scalars warn of what Philox intends
def test_what_is_built_runs_as_the_twin_does(queue: Any, protocol: str) -> None:
    hop = queue if isinstance(queue, dict) else {"queue": queue}
    lossy = {"rate": "3 Mbit/s", "loss": 0.002, "ack_loss": 0.01, "delay": "2 ms", **hop}
    tcp = protocol != "udp"
    transport = {**SACK, "protocol": protocol} if tcp else {"protocol": "udp", "rate": "3.5 Mbit/s"}
    one = scenario({"queue": 30}, lossy, transport=transport, ecn=tcp, duration="6 s")
    rows = rows_of(one, 2)
    out = run_as_python(model_of(one), rows)
    _, links = split(rows, out)
    assert (links["EARLY"] + links["MARKS"])[:, 2].all()
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_hop_that_is_infinitely_fast_never_queues() -> None:
    one = scenario({"rate": "unlimited", "queue": "codel"}, {"queue": "codel"}, duration="3 s")
    rows = rows_of(one, 1)
    out = run_as_python(model_of(one), rows)
    _, links = split(rows, out)
    assert links["WAIT_MAX"][0, 0] == links["DROPS"][0, 0] == 0 < links["DROPS"][0, 2]
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("queue", ["codel", "pie", "fq_codel"])
def test_a_path_is_a_dumbbell_of_one_flow(queue: str) -> None:
    """A path equals a dumbbell with one flow whose access cables have no delay."""
    path = scenario({"queue": queue}, duration="30 s")
    shared = {
        "dumbbell": {**HOP, "queue": queue},
        "flows": [{}],
        "access": {"rate": "unlimited"},
    }
    other = Scenario.check({"duration": "30 s", "transport": SACK, "shared": shared})
    one, same = (simulate(each, replications=4).frame for each in (path, other))
    assert (one["drops_queue"] > 0).all()
    for name in COUNTS:
        assert (one[name] == same[name]).all(), name
    assert np.allclose(one["mean_rtt_s"], same["mean_rtt_s"])


@pytest.mark.full
@given(
    st.floats(0.5, 50), st.floats(0.5, 80), st.integers(1, 3), st.integers(4, 150), st.integers(0, 1 << 20),
    st.sampled_from(["codel", "pie", "fq_codel"]), st.sampled_from(["newreno", "udp"]), st.booleans(),
)  # fmt: skip
@quick
def test_without_a_target_in_reach_it_is_the_path(
    rate: float, delay: float, hops: int, window: int, seed: int, queue: str, protocol: str, finite: bool
) -> None:
    """A target that is never reached gives the packets and times of the path engine, if no queue is full."""
    hop = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": "unlimited"}
    transport: Any = {"protocol": protocol, **({"packets": 200} if finite else {})}
    if protocol == "udp":
        transport["rate"] = f"{rate / 2} Mbit/s"
    else:
        transport |= {"window": f"{window} packets", "clock_phase": "0 s"}
    far = {"target": "3 s", "update": "3 s", "burst": "60 s"} if queue == "pie" else FAR
    fields = {"transport": transport, "seed": seed, "duration": "8 s"}
    tail = simulate(scenario(*[hop] * hops, **fields), replications=2).frame
    other = simulate(scenario(*[{**hop, queue: far}] * hops, **fields), replications=2).frame
    for name in COUNTS:
        assert (tail[name] == other[name]).all(), name
    for name in ("goodput_bps", "throughput_bps", "completion_s"):
        assert tail[name].equals(other[name]), name


STEPS = "time,rate\n0 s,4 Mbit/s\n300 ms,0\n400 ms,1 Mbit/s\n1 s\n"
VARYING: dict[str, dict[str, Any]] = {
    "steps": {"rate": None, "trace": STEPS, "repeat": True},
    "opportunities": {"rate": None, "trace": "0\n1\n1\n7\n12\n13\n", "repeat": True},
    "delays": {"delay": None, "trace": "time,delay\n0 s,30 ms\n200 ms,8 ms\n500 ms\n", "repeat": True},
    "jitter": {"jitter": {"uniform": ["0 s", "9 ms"]}},
    "policer": {"policer": {"rate": "1 Mbit/s", "burst": "20 kB"}},
    "trace of acknowledgements": {"reverse": {"trace": "0\n2\n9\n", "repeat": True}},
}


@pytest.mark.parametrize("varying", VARYING.values(), ids=VARYING.keys())
@pytest.mark.parametrize("protocol", ["newreno", "udp"])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy's scalars warn of what Philox intends
def test_a_hop_that_varies_is_that_of_the_path(varying: dict[str, Any], protocol: str) -> None:
    """A path whose CoDel never acts gives the packets and times of the path engine, uncompiled.

    Jitter is drawn from other random streams, so its counts are only near.
    """
    tcp = {"protocol": protocol, "window": "30 packets", "clock_phase": "0 s"}
    transport = tcp if protocol != "udp" else {"protocol": "udp", "rate": "2 Mbit/s", "payload": "1400 B"}
    hops = {"queue": "unlimited", **varying}, {"rate": "6 Mbit/s", "queue": "unlimited"}
    one = scenario(*hops, transport=transport, duration="0.8 s", seed=3)
    other = scenario({**hops[0], "codel": FAR}, hops[1], transport=transport, duration="0.8 s", seed=3)
    found, wanted = (
        each.network.named(run_as_python(model_of(each), build(each, replications=1).rows),
                           build(each, replications=1).rows)
        for each in (other, one)
    )  # fmt: skip
    assert model_of(other).startswith("shared_") and model_of(other).endswith("_varying")
    assert wanted["received"][0] > 30
    for name in (*COUNTS, "goodput_bps", "throughput_bps"):
        near = {"rel": 0.05, "abs": 3} if "jitter" in varying else {"rel": 1e-12}
        assert found[name] == pytest.approx(wanted[name], nan_ok=True, **near), name


@pytest.mark.full
def test_codel_follows_a_recorded_link() -> None:
    """The queue of a recorded link stays short with CoDel, at nearly the same goodput."""
    link = {"rate": None, "trace": STEPS, "repeat": True, "delay": "10 ms"}
    tail, codel = (
        simulate(scenario({**link, "queue": queue}, duration="30 s"), replications=1).frame
        for queue in (300, "codel")
    )
    assert tail["mean_rtt_s"][0] > 2 * codel["mean_rtt_s"][0]
    assert codel["goodput_bps"][0] > 0.7 * tail["goodput_bps"][0]


@given(st.integers(0, 1 << 30), st.sampled_from(["codel", "pie", "fq_codel"]), st.floats(0.0, 0.02))
@quick
def test_every_packet_is_in_one_place(seed: int, queue: str, loss: float) -> None:
    one = scenario({"queue": queue, "loss": loss}, {"rate": "4 Mbit/s", "queue": queue}, seed=seed)
    rows = rows_of(one, 2)
    out = launch.run(models.model(model_of(one)), rows)
    found = one.network.named(out, rows)
    flow = out[:, SharedOut.COLUMNS :][:, : FlowOut.COLUMNS]
    assert (found["in_flight"] == flow[:, FlowOut.IN_FLIGHT]).all() and (found["in_flight"] >= 0).all()
    links = out[:, SharedOut.COLUMNS + FlowOut.COLUMNS :].reshape(2, -1, LinkOut.COLUMNS)
    dropped = links[:, ::2, LinkOut.DROPS].sum(axis=1)
    assert ((found["drops_queue"] <= dropped) & (dropped <= found["drops_queue"] + found["handshakes"])).all()
    assert (found["goodput_bps"] <= 4e6).all()
    assert np.isnan(found["first_delivery_s"]).all()


# Effects.


@pytest.mark.parametrize("queue", ["codel", "pie", "fq_codel"])
def test_a_standing_queue_comes_down(queue: str) -> None:
    tail = simulate(scenario({"queue": 1000}, duration="60 s"), replications=1).frame
    other = simulate(scenario({"queue": queue}, duration="60 s"), replications=1).frame
    assert tail["mean_rtt_s"][0] > 0.2 > 0.08 > other["mean_rtt_s"][0]
    assert other["goodput_bps"][0] > 0.8 * tail["goodput_bps"][0]
    assert 0.5 < other["mean_queue"][0] < 30


def test_marks_need_a_sender_that_understands_them() -> None:
    hop = {"codel": {"mark": True}}
    deaf = simulate(scenario(hop), replications=1).frame
    heard = simulate(scenario(hop, ecn=True), replications=1).frame
    assert deaf["marked"][0] == 0 < deaf["drops_queue"][0]
    assert heard["drops_queue"][0] == 0 < heard["marked"][0]
    assert heard["retransmitted"][0] == 0 < heard["cwnd_reductions"][0]


# Refusals.


NEEDS = "needs a path whose hops have no"
LINUX = {"transport": {"protocol": "linux"}, "ecn": True}
BURSTS = {"apart": 90, "length": 9}


@pytest.mark.parametrize(
    ("hop", "fields", "told"),
    [
        ({"red": {}, "codel": {}}, {}, "red and codel are both given; keep one"),
        ({"queue": "pie", "fq_codel": {}}, {}, "pie and fq_codel are both given; keep one"),
        ({"queue": "codl"}, {}, "hops.0.queue = 'codl' is not a number of packets"),
        ({"codel": {"interval": "4 s"}}, {}, "hops.0.codel.interval = '4 s' is above the limit"),
        ({"queue": "pie", "outages": {"up": "9 s", "down": "1 s"}}, {}, f"pie {NEEDS} outages"),
        ({"queue": "pie", "jitter": {"uniform": ["0 s", "1 ms"], "reorder": True}}, {}, "keeps the order"),
        ({"queue": "pie", "rate": None, "trace": STEPS, "repeat": True}, {}, "pie needs a rate that stays"),
        ({"queue": "codel", "rate": None, "trace": STEPS}, {}, "hops.trace ends at 1 s, before duration"),
        ({"red": {}, "cross_traffic": {"rate": "1 Mbit/s"}}, {}, f"red {NEEDS} cross_traffic"),
        ({"queue": "codel", "tick": "1 ms"}, {}, f"codel {NEEDS} tick; remove it"),
        ({"reverse": {"queue": "codel"}, "bursts": BURSTS}, {}, f"codel {NEEDS} bursts"),
        ({"queue": "codel"}, LINUX, "paths.0.ecn is not supported with linux; remove it"),
        ({"queue": 20}, {"ecn": True}, "ecn needs a queue that marks"),
        ({"queue": "codel"}, {"warm_up": "1 s"}, "warm_up is supported only with"),
    ],
)
def test_what_does_not_fit_is_refused(hop: Any, fields: Any, told: str) -> None:
    with pytest.raises(InputError) as refused:
        scenario(hop, **fields)
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_two_paths_mobile_hosts_and_long_paths_are_refused() -> None:
    path = {"hops": [{**HOP, "queue": "codel"}]}
    data: Any = {"duration": "20 s", "transport": {"protocol": "sctp"}, "paths": [path, path]}
    with pytest.raises(InputError, match="codel needs one path, but there are two; remove one"):
        Scenario.check(data)
    moves = {"protocol": "mipv6", "times": ["200 ms"], "outage": "20 ms", "least_stay": "50 ms"}
    with pytest.raises(InputError, match="codel and mobility are both given; remove one"):
        scenario({"queue": "codel"}, {}, mobility=moves)
    with pytest.raises(InputError, match="hops can be up to 65; expected 1 to 64; lower a count"):
        scenario(*[{"queue": "codel"}] * 65)
    assert rows_of(scenario(*[{"queue": "codel"}] * 64)).flows[
        0, 0, [Flow.HOPS, Flow.BACK_HOPS]
    ].tolist() == [64, 64]


@pytest.mark.parametrize(
    ("fidelity", "hop", "protocol", "told"),
    [
        ("formula", {"queue": "codel"}, "sack", "the formula model does not support codel on a path"),
        ("fluid", {"queue": "pie"}, "sack", "the fluid model does not support pie on a path"),
        (
            "fluid",
            {"queue": "codel", "jitter": {"uniform": ["0 ms", "1 ms"]}},
            "sack",
            "does not support jitter",
        ),
        ("fluid", {"queue": "codel"}, "vegas", "the fluid of vegas is 12 % above packets"),
        ("fluid", {"queue": "codel"}, "sctp", "the fluid model does not support sctp"),
    ],
)
def test_cheap_fidelities_do_not_know_it(fidelity: str, hop: Any, protocol: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as refused:
        simulate(scenario(hop, transport={"protocol": protocol}, fidelity=fidelity), replications=2)
    assert "\n" not in str(refused.value)


@pytest.mark.full
def test_the_fluid_is_near_packets() -> None:
    """Compare fluid and packets on a hop that drops half of the datagrams of a stream."""
    linux = {"protocol": "linux", "congestion_control": "cubic"}
    stream = {"protocol": "udp", "rate": "20 Mbit/s"}
    for transport, near in ((linux, 0.05), (stream, 0.03)):
        of = {
            fidelity: simulate(
                scenario({"queue": "codel"}, transport=transport, fidelity=fidelity), replications=1
            )
            for fidelity in ("packet", "fluid")
        }
        goodput = {fidelity: found.frame["goodput_bps"].mean() for fidelity, found in of.items()}
        assert goodput["fluid"] == pytest.approx(goodput["packet"], rel=near)


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_the_trace_agrees_with_the_outcomes() -> None:
    one = scenario({"queue": "codel", "loss": "0.5 %"}, {"queue": 30})
    frame, outcomes = trace(one, replication=1)
    assert (outcomes.integers == simulate(one, first=1, replications=1).integers).all()
    found, data = outcomes.frame.loc[1], frame[frame["carries"] == "data"]
    assert set(frame["protocol"]) == {"sack"} and set(frame["flow"]) == {0}
    names = frame.dropna(subset=["link"]).groupby("link")["link_name"].first().tolist()
    assert names == ["hop 0", "hop 0, back", "hop 1", "hop 1, back"]
    for event, outcome in {
        "send": "sent", "receive": "received", "dropped": "drops_queue", "lost": "drops_random",
        "timeout": "timeouts", "recovery": "fast_retransmits",
    }.items():  # fmt: skip
        assert (data["event"] == event).sum() == found[outcome], event
    assert found["drops_queue"] > 0 and found["drops_random"] > 0
    arrived = data[data["event"] == "receive"]
    assert arrived["bytes"].sum() == 1460 * found["delivered"]
    assert data["again"].sum() == found["retransmitted"]
    rates = per_second(one, frame, replication=1)
    assert rates is not None and rates[0].sum() == 8 * 1460 * found["delivered"]
