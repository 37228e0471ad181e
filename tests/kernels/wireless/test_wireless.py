"""802.11 engine: bitwise comparison with its naive twin, and properties of every wireless network.

`NETCARLO_LONG=N pytest tests/kernels/wireless/test_wireless.py` compares N times as many networks.
"""

import os
from functools import partial
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import (
    ENDLESS,
    EVENT_ACK,
    EVENT_RECEIVE,
    NEVER,
    STATUS_OK,
    Trace,
)
from netcarlo.kernels.base.rows import trim
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS, LINUX_KINDS, LINUX_RENO
from netcarlo.kernels.wireless.layout import Flow, FlowOut, NodeOut, Radio, WifiOut, WifiRows
from netcarlo.networks.wireless.outcomes import Tables, named, tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins.rows import rows_of
from tests.twins.wireless.run import simulate
from tests.twins.wireless.scenarios import MS, US, Net, describe, select, stack, wifi_rows, with_own
from tests.twins.wireless.world import SACK_BASED

COMPILED = ["wifi_udp", "wifi_sack", "wifi_sctp", "wifi_linux_bbr", "wifi_mixed"]
OTHERS = ["wifi_tahoe", "wifi_reno", "wifi_newreno", "wifi_vegas", "wifi_sack_bic", "wifi_newreno_cubic"]
LONG = int(os.environ.get("NETCARLO_LONG", "1"))
LOST = [FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY, FlowOut.DROPS_LEG, FlowOut.RETRY_LOST]

seeds = st.integers(0, 1 << 30)
quick = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])

Ints = NDArray[np.int64]


def scenarios(model: str, count: int, seed: int) -> WifiRows:
    return rows_of(model, count, seed=seed)  # type: ignore[return-value]


def run(model: str, rows: WifiRows, **options: Any) -> Ints:
    return launch.run(models.model(model), rows, **options)


def split(rows: WifiRows, out: Ints) -> Tables:
    return tables(out, flows=int(rows.parameters[:, Radio.FLOWS].max()))


def name(rows: WifiRows, column: int) -> str:
    """Return the readable name of a column of the outcomes."""
    flows = int(rows.parameters[:, Radio.FLOWS].max())
    if column < WifiOut.COLUMNS:
        return WifiOut(column).name
    place = column - WifiOut.COLUMNS
    if place < flows * FlowOut.COLUMNS:
        flow, k = divmod(place, FlowOut.COLUMNS)
        delay = k - FlowOut.DELAYS
        return f"flow {flow} {FlowOut(k).name if delay < 0 else f'DELAYS + {delay}'}"
    node, k = divmod(place - flows * FlowOut.COLUMNS, NodeOut.COLUMNS)
    return f"node {node} {NodeOut(k).name}"


def differences(model: str, rows: WifiRows, out: Ints) -> list[str]:
    """Return descriptions of the first networks in which kernel and twin differ."""
    twin = partial(simulate, model, rows)
    return differing(out, lambda row: twin(row=row), partial(describe, rows), partial(name, rows))


@pytest.mark.full
@pytest.mark.parametrize("model", COMPILED)
def test_kernel_equals_twin(model: str) -> None:
    rows = scenarios(model, 60 * LONG, seed=COMPILED.index(model))
    found = differences(model, rows, run(model, rows))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("model", OTHERS)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(model: str) -> None:
    rows = scenarios(model, 6 * LONG, seed=10 + OTHERS.index(model))
    found = differences(model, rows, run_as_python(model, rows))
    assert not found, "\n\n".join(found)


RARE = {NodeOut.DUPLICATES}
OF_TCP = {
    FlowOut.RETRANSMITTED, FlowOut.IN_ORDER, FlowOut.ACKS_SENT, FlowOut.ACKS_LOST, FlowOut.TIMEOUTS,
    FlowOut.FAST_RETRANSMITS, FlowOut.CWND_CUTS,
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("model", COMPILED)
def test_scenarios_visit_the_corners(model: str) -> None:
    """Check that at least one network in twenty of the comparison above contains each event."""
    rows = scenarios(model, 400, seed=COMPILED.index(model))
    flows, nodes = split(rows, run(model, rows))
    for columns, table in ((FlowOut, flows), (NodeOut, nodes)):
        met = (table > 0).any(axis=1).mean(axis=0)
        for column in columns:
            if column.name in ("COLUMNS", "DELAYS") or (column in OF_TCP and model == "wifi_udp"):
                continue
            assert met[column] >= (0.01 if column in RARE else 0.05), column.name


@pytest.mark.full
@given(st.sampled_from(COMPILED), seeds)
@quick
def test_frames_and_packets_are_conserved(model: str, seed: int) -> None:
    rows = scenarios(model, 20, seed)
    out = run(model, rows)
    flows, nodes = split(rows, out)
    assert (out[:, WifiOut.STATUS] == STATUS_OK).all() and (out >= NEVER).all()
    n = {column: nodes[:, :, column] for column in NodeOut if column != NodeOut.COLUMNS}
    taken = n[NodeOut.QUEUED] + n[NodeOut.IN_QUEUE_BEFORE]
    assert (taken == n[NodeOut.SUCCEEDED] + n[NodeOut.RETRY_DROPS] + n[NodeOut.IN_QUEUE]).all()
    assert (n[NodeOut.FAILED] <= n[NodeOut.ATTEMPTS] + 1).all()  # an exchange may have begun in the warm-up
    assert (n[NodeOut.QUEUE_MOST] <= 50).all()
    f = {column: flows[:, :, column] for column in FlowOut if column != FlowOut.COLUMNS}
    sent = f[FlowOut.SENT] + f[FlowOut.IN_FLIGHT_BEFORE]
    assert (sent == f[FlowOut.RECEIVED] + f[FlowOut.IN_FLIGHT] + sum(f[cause] for cause in LOST)).all()
    assert (f[FlowOut.DELIVERED] <= f[FlowOut.RECEIVED]).all()
    assert (flows[:, :, FlowOut.DELAYS :].sum(axis=2) == f[FlowOut.DELIVERED]).all()
    assert (f[FlowOut.BEST] <= f[FlowOut.DELIVERED]).all()


@pytest.mark.full
@given(st.sampled_from(COMPILED), seeds)
@quick
def test_a_datagram_belongs_to_the_window_in_which_it_is_put_out(model: str, seed: int) -> None:
    """Check conservation in any window: a datagram sent in it was lost, is in flight, or has arrived."""
    rows = scenarios(model, 20, seed)
    out = run(model, rows)
    loss = np.asarray(named(trim(out, rows, rows), rows)["loss_ratio"])
    assert (np.isnan(loss) | (loss >= 0) & (loss <= 1)).all()
    flows, _ = split(rows, out)
    sent, in_flight, settled = (
        flows[:, :, FlowOut.SENT], flows[:, :, FlowOut.IN_FLIGHT],
        flows[:, :, FlowOut.ARRIVED] + flows[:, :, FlowOut.LOST],
    )  # fmt: skip
    udp = settled > 0
    assert (settled <= sent)[udp].all() and (sent - in_flight <= settled)[udp].all()


@pytest.mark.full
@given(st.sampled_from(COMPILED), seeds, st.lists(st.integers(0, 30), max_size=3), st.integers(1, 4))
@quick
def test_chunks_and_threads_change_no_bit(model: str, seed: int, cuts: list[int], threads: int) -> None:
    rows = scenarios(model, 30, seed)
    whole = split(rows, run(model, rows, threads=1))
    for first, last in pairwise([0, *sorted(cuts), 30]):
        if first < last:
            chunk = select(rows, slice(first, last))
            part = split(chunk, run(model, chunk, threads=threads))
            for mine, all_rows in zip(part, whole, strict=True):
                assert (mine == all_rows[first:last, : mine.shape[1]]).all()


SMALLEST = [("wifi_sack", 6), ("wifi_sctp", 6), ("wifi_linux_bbr", 7), ("wifi_mixed", 6)]


@pytest.mark.full
@given(st.sampled_from(SMALLEST), seeds, st.integers(0, 6))
@quick
def test_ring_size_never_matters(smallest: tuple[str, int], seed: int, more: int) -> None:
    model, bits = smallest[0], smallest[1] + more
    rows = scenarios(model, 10, seed)
    expected = run(model, rows)

    def fixed_rings(_: Any, rows: Any) -> Any:
        return np.full(len(rows.parameters), 1 << bits)

    with patch.object(launch, "_rings", fixed_rings):
        assert (run(model, rows) == expected).all()


@pytest.mark.full
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "udp"])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_flows_of_one_kind_are_those_of_its_model(kind: str) -> None:
    """Compare flows with a transport of their own, equal to that of the row, with flows without one."""
    rows = wifi_rows(6 * LONG, seed=40 + KINDS.index(kind), tcp=True)
    name = f"wifi_sack_{kind}" if kind in SACK_BASED else f"wifi_{kind}"
    alike = with_own(rows, lambda row: [KINDS.index(kind)] * int(rows.parameters[row, Radio.FLOWS]))
    assert (run("wifi_mixed", alike) == run_as_python(name, rows)).all()


@pytest.mark.full
@pytest.mark.parametrize("kind", LINUX_KINDS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_flows_of_one_linux_are_those_of_its_model(kind: str) -> None:
    rows = scenarios(f"wifi_{kind}", 6 * LONG, seed=50 + LINUX_KINDS.index(kind))
    number = LINUX_RENO + LINUX_KINDS.index(kind)
    alike = with_own(rows, lambda row: [number] * int(rows.parameters[row, Radio.FLOWS]))
    assert (run_as_python("wifi_mixed_linux", alike) == run_as_python(f"wifi_{kind}", rows)).all()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")
def test_linux_beside_other_tcps_equals_twin() -> None:
    """Compare the uncompiled kernel with the twin, because compiling it takes minutes."""
    rows = scenarios("wifi_mixed_linux", 25 * LONG, seed=60)
    found = differences("wifi_mixed_linux", rows, run_as_python("wifi_mixed_linux", rows))
    assert not found, "\n\n".join(found)


@pytest.mark.full
def test_a_mix_has_all_kinds_and_windows_of_its_own() -> None:
    """Check that the flows in the comparison with the twin above differ."""
    rows = scenarios("wifi_mixed", 400, seed=4)
    flows = rows.network[:, : rows.most_flows * len(Flow)].reshape(400, -1, len(Flow))
    tcp, kinds = flows[:, :, Flow.TCP] == 1, flows[:, :, Flow.KIND]
    for kind in range(1, len(KINDS)):
        assert (tcp & (kinds == kind)).any(axis=1).mean() > 0.1, KINDS[kind]
    several = [len(set(kinds[k][tcp[k]].tolist())) > 1 for k in range(400)]
    assert np.mean(several) > 0.4


# Networks made by hand: 802.11g, 54 Mbit/s, all nodes in range of each other.

SLOT, SIFS = 9 * US, 10 * US
DIFS = SIFS + 2 * SLOT
DATA_RATE, ANSWER_RATE = 0, 1


def on_air(size: int, rate_mbps: int) -> int:
    return (20 + 4 * -(-(22 + 8 * size) // (4 * rate_mbps)) + 6) * US


def cell(stations: int, *, end: int, every: int, size: int = 1000, seed: int = 1, **radio: int) -> WifiRows:
    """Return stations that each send a UDP packet to the last node at an interval [ns]."""
    net = Net()
    net.p = {"SEED": seed, "END": end}
    net.radio = {
        "SLOT": SLOT, "SIFS": SIFS, "EIFS": SIFS + DIFS + on_air(14, 6), "CW_MIN": 15, "CW_MAX": 1023,
        "SHORT_RETRY": 7, "LONG_RETRY": 7, "RTS_THRESHOLD": ENDLESS, "PROTECTION": -1, "BURST": 1,
        "GATEWAY_BURST": 1, "MAC_OVERHEAD": 36,
    } | radio  # fmt: skip
    for rate in (54, 24):
        net.rates.append({
            "SYMBOL": 4 * US, "SIXTH_BITS": 24 * rate, "EXTRA_BITS": 22, "PREAMBLE": 20 * US,
            "EXTENSION": 6 * US, "ANSWER": ANSWER_RATE,
        })  # fmt: skip
    everybody = (1 << stations + 1) - 1
    for node in range(stations + 1):
        others = everybody & ~(1 << node)
        masks = dict.fromkeys(("SENSE", "NEAR", "CONTROL", "DISTURB_DATA", "DISTURB_CONTROL"), others)
        net.nodes.append(masks | {"QUEUE": 10})
    for node in range(stations):
        link = net.link(node, stations, DATA_RATE)
        net.flow(forth=[link], SIZE=size, HEADER=28, INTERVAL=every, START=node * US)
    return net.row()


def exchange(size: int, *, rts: bool = False) -> int:
    """Return the time of a DIFS, a frame and its ACK, with or without RTS and CTS [ns]."""
    announced = on_air(20, 24) + SIFS + on_air(14, 24) + SIFS if rts else 0
    return DIFS + announced + on_air(size + 28 + 36, 54) + SIFS + on_air(14, 24)


@pytest.mark.parametrize(("rts_threshold", "rts"), [(ENDLESS, False), (500, True)])
@pytest.mark.parametrize("size", [100, 472, 1000, 1470])
def test_a_lone_station_reaches_the_closed_formula(size: int, rts_threshold: int, rts: bool) -> None:
    """Test a single saturated station: an exchange and CW_MIN / 2 slots per frame."""
    seconds = 20
    rows = cell(1, end=seconds * 1000 * MS, every=100 * US, size=size, RTS_THRESHOLD=rts_threshold)
    flows, nodes = split(rows, run("wifi_udp", rows))
    cycle = exchange(size, rts=rts and size + 64 > 500) + SLOT * 15 / 2
    received = flows[0, 0, FlowOut.RECEIVED]
    spread = SLOT * np.sqrt((16**2 - 1) / 12) * np.sqrt(received) / cycle  # of the number of frames
    assert abs(received - seconds * 1e9 / cycle) < 4 * spread + 1
    assert not nodes[0, :, [NodeOut.FAILED, NodeOut.COLLIDED, NodeOut.RETRY_DROPS]].any()
    sent = nodes[0, 0, NodeOut.ATTEMPTS]
    assert nodes[0, 0, NodeOut.AIR_DATA] == sent * on_air(size + 64, 54)


def test_below_capacity_everything_arrives_after_a_difs() -> None:
    rows = cell(1, end=1000 * MS, every=5 * MS)
    flows, _ = split(rows, run("wifi_udp", rows))
    one = DIFS + on_air(1064, 54)
    assert flows[0, 0, FlowOut.RECEIVED] == flows[0, 0, FlowOut.DELIVERED] == 200
    assert flows[0, 0, FlowOut.DELAY_SUM] == 200 * one // 1000


def test_every_station_of_a_full_cell_is_served_alike() -> None:
    rows = stack([cell(5, end=4000 * MS, every=200 * US, seed=seed) for seed in range(5)])
    flows, _ = split(rows, run("wifi_udp", rows))
    shares = flows[:, :, FlowOut.RECEIVED].sum(axis=0)
    assert (abs(shares / shares.mean() - 1) < 0.05).all()


@pytest.mark.parametrize("threshold", [ENDLESS, 0])
def test_sixty_four_nodes_terminate(threshold: int) -> None:
    rows = cell(63, end=1000 * MS, every=2 * MS, RTS_THRESHOLD=threshold)
    flows, nodes = split(rows, run("wifi_udp", rows))
    assert (flows[0, :, FlowOut.RECEIVED] > 0).all()
    assert nodes[0, :63, NodeOut.FAILED].sum() > 100
    assert nodes[0, 63, NodeOut.RECEIVED] == flows[0, :, FlowOut.RECEIVED].sum()


CELL = {"duration": "3 s", "warm_up": "1 s", "seed": 5, "wireless": {"cell": {"stations": 1}, "queue": 100}}
TCP_LIKE_SCTP = {
    "protocol": "sack", "payload": "1452 B", "header": "48 B", "ack": "48 B", "window": 44, "ack_every": 2,
}  # fmt: skip


@pytest.mark.full
def test_sctp_carries_what_tcp_does() -> None:
    """Compare SCTP and TCP alone in a cell, with equal windows, headers and ACKs: both saturate the channel.

    They agree within 1 %: windows grow slightly differently, so the warm-up ends at another frame.
    """
    delivered = []
    for transport in {"protocol": "sctp"}, TCP_LIKE_SCTP:
        scenario = Scenario.check({**CELL, "transport": transport})
        rows: Any = build(scenario, replications=20).rows
        flows, _ = split(rows, run(scenario.network.address(scenario, fluid=False).name, rows))
        delivered.append(flows[:, 0, FlowOut.DELIVERED].mean())
    assert 4000 < delivered[0] == pytest.approx(delivered[1], rel=0.01)


@pytest.mark.full
def test_bbr_keeps_the_queue_of_an_access_point_short() -> None:
    """Compare queue and throughput of BBR and CUBIC, which fills a queue of 300 frames.

    Both reach the capacity of the channel: two data frames with the backoffs of the access point per ACK
    frame. The station counts down at the same time; collisions use the rest.
    """
    network = {"cell": {"stations": 1}, "queue": 300, "flows": "down", "wire": {"delay": "10 ms"}}
    found = {}
    for control in "cubic", "bbr":
        transport = {"protocol": "linux", "congestion_control": control}
        scenario = Scenario.check({**CELL, "duration": "6 s", "transport": transport, "wireless": network})
        rows: Any = build(scenario, replications=4).rows
        values = named(trim(run(f"wifi_linux_{control}", rows), rows, rows), rows)
        found[control] = [np.mean(values[name]) for name in ("goodput_bps", "mean_queue", "mean_delay_s")]
    most = 2 * 8e9 * 1448 / (2 * (exchange(1472) + SLOT * 15 / 2) + exchange(24))  # plus 28 B of header
    assert 0.9 * most < found["bbr"][0] == pytest.approx(found["cubic"][0], rel=0.05)
    assert max(found["bbr"][0], found["cubic"][0]) < most
    assert (3 * np.array(found["bbr"][1:]) < 1.2 * np.array(found["cubic"][1:])).all()


@pytest.mark.full
def test_a_trace_of_sctp_has_its_chunks() -> None:
    """Check chunk numbers in a trace: from 1 on, each acknowledged once; 0 for packets without data."""
    transport = {"protocol": "sctp", "packets": 50}
    rows: Any = build(Scenario.check({**CELL, "transport": transport, "warm_up": "0 s"}), replications=1).rows
    trace, out = launch.trace(models.model("wifi_sctp"), rows, row=0)
    flows, _ = split(rows, out[None])
    received = trace[trace[:, Trace.EVENT] == EVENT_RECEIVE]
    assert received[:, Trace.SEQUENCE].tolist() == [0, 0, 0, *range(1, 51)]  # handshake, heartbeat, data
    acks = trace[(trace[:, Trace.EVENT] == EVENT_ACK) & (trace[:, Trace.ACKED] > 0)]
    assert acks[-1, Trace.ACKED] == flows[0, 0, FlowOut.IN_ORDER] == 50
    assert (np.diff(acks[:, Trace.ACKED]) >= 0).all() and (acks[:, Trace.CWND] >= 3).all()
