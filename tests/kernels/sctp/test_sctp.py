"""SCTP: handshake, steady state, timeouts, failover, conservation, and independence of the rings."""

from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base import loss
from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    ENDLESS,
    EVENT_ACK,
    EVENT_HEARTBEAT,
    EVENT_HEARTBEAT_ACK,
    EVENT_HEARTBEAT_RECEIVE,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_TIMEOUT,
    FOREVER,
    NEVER,
    PATHS,
    STATUS_RING_FULL,
    Hop,
    Out,
    Rows,
    Trace,
)
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.path.multihomed import engine as multihomed
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from tests.twins import simulate
from tests.twins.sctp.endpoint import Endpoint

NS = 10**9
CHUNK = 1468
RULES = {
    "ns2-2.29": {
        "INITIAL_CWND": 2936,
        "SSTHRESH_FLOOR": 2936,
        "PROBE_FIRST": 0,
        "SACK_FIRST": 0,
        "DUPACKS": 4,
    },
    "ns2-2.35": {
        "INITIAL_CWND": 4380,
        "SSTHRESH_FLOOR": 5872,
        "PROBE_FIRST": 1,
        "SACK_FIRST": 1,
        "DUPACKS": 3,
    },
}
DEFAULTS = {
    "SEED": 1, "START": NS // 2, "END": 100 * NS, "LIMIT": ENDLESS, "DATA": 1452, "HEADER": 32,
    "CHUNK_HEADER": 16, "ACK": 48, "SACK_BLOCK": 4, "INITIAL_SSTHRESH": 65340, "MIN_RTO": NS,
    "MAX_RTO": 60 * NS, "INITIAL_RTO": 3 * NS, "ACK_EVERY": 2, "ACK_DELAY": NS // 5, "SAMPLE": NS // 10,
    "RWND": 65536, "PATH_MAX_RETRANS": 5, "HEARTBEAT": 30 * NS, "MAX_BURST": 4, "RESPONSE_ALTERNATE": 1,
}  # fmt: skip


def rows(
    *cases: dict[str, Any], paths: int = 1, rate: float = 0.5e6, delay: float = 0.2, queue: int = 50,
    probability: float = 0.0,
) -> Rows:  # fmt: skip
    """Return a row per case: parameters by name, and `down`, the outage of path 0 from 50 s on [s]."""
    n = len(cases)
    parameters = np.zeros((n, len(P)), np.int64)
    hops = np.zeros((n, PATHS, 1, len(Hop)), np.int64)
    outages = np.full((n, PATHS, 1, 1, 2), FOREVER, np.int64)
    for i, given in enumerate(cases):
        case = {"down": 0, "rules": "ns2-2.35", "N_PATHS": paths, "REPLICATION": i, **given}
        for name, value in {**DEFAULTS, **RULES[case.pop("rules")]}.items():
            parameters[i, P[name]] = value
        if down := case.pop("down"):
            outages[i, 0, 0, 0] = 50 * NS, round((50 + down) * NS)
        for name, value in case.items():
            parameters[i, P[name]] = value
    for way in (Hop.BYTE_TIME, Hop.R_BYTE_TIME):
        hops[:, :paths, 0, way] = round(8e9 * 2**BYTE_TIME_BITS / rate)
        hops[:, :paths, 0, way + Hop.DELAY] = round(delay * NS)
        hops[:, :paths, 0, way + Hop.QUEUE] = queue
    hops[:, :paths, 0, Hop.PRESENT] = 1
    return Rows(parameters, np.zeros((n, 0)), hops, outages, loss.thresholds([probability]))


def run(table: Rows) -> Any:
    return launch.run(models.model("sctp"), table)


def trace(table: Rows, event: int) -> tuple[Any, Any]:
    """Return the events of one kind from the trace of the first row, and its outcomes."""
    events, out = launch.trace(models.model("sctp"), table, row=0)
    return events[events[:, Trace.EVENT] == event], out


def plain(table: Rows, ring: int) -> Any:
    table.parameters[:, RowP.RING] = ring
    out = np.zeros((len(table.parameters), models.model("sctp").outcomes(table)), np.int64)
    flow = models.model("sctp").make(compilers.plain)
    for i in range(len(out)):
        scratch = np.empty(multihomed.scratch_words(table)[0], np.int64)
        with np.errstate(over="ignore"):  # the words of Philox wrap
            flow(
                *(field[i] for field in table[:4]),
                table.losses,
                scratch,
                np.empty(0),
                out[i],
                np.empty((0, 8)),
            )
    return out


@pytest.mark.parametrize(("rules", "extra"), [("ns2-2.29", 0), ("ns2-2.35", 2 * (200_000_000 + 56 * 16_000))])
def test_first_data_follows_four_way_handshake_and_probe(rules: str, extra: int) -> None:
    one_way = 200_000_000
    handshake = 4 * one_way + (56 + 56 + 36 + 36) * 16_000  # 16 us a byte
    out = run(rows({"rules": rules}))[0]
    assert out[Out.FIRST_RX] == NS // 2 + handshake + extra + 1500 * 16_000 + one_way
    assert out[Out.HANDSHAKES] == 2


def test_lost_init_is_repeated_after_the_initial_timeout() -> None:
    table = rows({}, {})
    table.outages[1, 0, 0, 0] = 0, NS
    on_time, late = run(table)
    assert late[Out.FIRST_RX] - on_time[Out.FIRST_RX] == 3 * NS
    assert late[Out.HANDSHAKES] == 3


def test_no_answer_ends_the_attempt() -> None:
    table = rows({"END": 2000 * NS})
    table.outages[0, 0, 0, 0] = 0, 2000 * NS
    out = run(table)[0]
    assert out[Out.HANDSHAKES] == 1 + 8
    assert out[Out.SENT] == 0 and out[Out.FIRST_RX] == NEVER


def test_first_packet_is_acknowledged_at_once_or_after_the_delay() -> None:
    one = {"INITIAL_CWND": CHUNK}
    at_once, _ = trace(rows({**one}), EVENT_ACK)
    held, _ = trace(rows({**one, "SACK_FIRST": 0}), EVENT_ACK)
    assert held[0, Trace.TIME] - at_once[0, Trace.TIME] == pytest.approx(0.2, abs=1e-12)


def test_saturated_link_carries_its_capacity() -> None:
    received, _ = trace(rows({"HEARTBEAT": 0}), EVENT_RECEIVE)
    last = received[received[:, Trace.TIME] > 20, Trace.TIME]
    assert np.allclose(np.diff(last), 1500 * 8 / 0.5e6, rtol=0, atol=1e-12)


def test_window_bounds_the_packets_in_flight() -> None:
    sent, out = trace(rows({"RWND": 10 * CHUNK + 60}, rate=100e6), EVENT_SEND)
    assert (sent[:, Trace.SEQUENCE] - sent[:, Trace.ACKED]).max() == 10
    assert out[Out.DELIVERED] == pytest.approx(10 * 98 / 0.4, rel=0.1)


def test_timeouts_double_and_ssthresh_stays_at_half_the_old_window() -> None:
    timeouts, out = trace(rows({"down": 20}), EVENT_TIMEOUT)
    assert len(timeouts) == out[Out.TIMEOUTS] == 5
    assert np.allclose(np.diff(timeouts[:, Trace.TIME]), timeouts[:-1, Trace.RTO], rtol=0, atol=1e-6)
    assert np.allclose(timeouts[1:, Trace.RTO], 2 * timeouts[:-1, Trace.RTO])
    assert (timeouts[:, Trace.CWND] == 1).all()
    assert len(set(timeouts[:, Trace.SSTHRESH])) == 1 and timeouts[0, Trace.SSTHRESH] > 20


def test_failover_costs_one_timeout_whatever_the_outage() -> None:
    cases = [{"down": down, "PATH_MAX_RETRANS": 0, "HEARTBEAT": 0} for down in (5, 10, 20)]
    out = run(rows(*cases, paths=2))
    assert (out[:, Out.TIMEOUTS] == 1).all()
    assert len(set(out[:, Out.DELIVERED])) == 1
    assert (out[:, Out.RESUME_TX] < 52 * NS).all()


def test_eleven_errors_in_a_row_end_the_association() -> None:
    """Test Association.Max.Retrans = 10 (RFC 2960, section 15): an aborted association does not restart."""
    patient = {"PATH_MAX_RETRANS": 100, "MAX_RTO": NS, "END": 90 * NS, "HEARTBEAT": 0}
    beating = {**patient, "HEARTBEAT": NS}  # unanswered heartbeats of both endpoints count as errors
    table = rows({**patient, "down": 30}, {**patient, "down": 9}, {**beating, "down": 30})
    out = run(table)
    assert out[:, Out.TIMEOUTS].tolist() == [11, 10, 8]
    assert (out[:, Out.LAST_RX] < 50 * NS).tolist() == [True, False, True]
    for row in range(len(out)):
        assert (out[row] == simulate("sctp", table, row=row)).all()


def test_new_data_stays_on_the_second_path_after_failover() -> None:
    sent, _ = trace(rows({"down": 5, "PATH_MAX_RETRANS": 0}, paths=2), EVENT_SEND)
    assert set(sent[sent[:, Trace.TIME] < 50, Trace.PATH]) == {0}
    assert set(sent[sent[:, Trace.TIME] > 52, Trace.PATH]) == {1}


def test_patient_association_keeps_new_data_on_the_dead_path() -> None:
    case = {"down": 10, "PATH_MAX_RETRANS": 5}
    single, double = run(rows(case)), run(rows(case, paths=2))
    assert double[0, Out.DELIVERED] < single[0, Out.DELIVERED]
    assert 0 < double[0, Out.SENT_ALTERNATE] < 100


def test_retransmission_on_the_same_path_if_so_told() -> None:
    table = rows({"RESPONSE_ALTERNATE": 0, "HEARTBEAT": 0}, paths=2, probability=0.01)
    out = run(table)[0]
    assert out[Out.RETRANSMITTED] > 0 and out[Out.SENT_ALTERNATE] == 0


def test_heartbeats_find_out_that_an_idle_path_is_dead() -> None:
    # Only heartbeats use path 1; once it is inactive, retransmissions stay on path 0.
    table = rows({"PATH_MAX_RETRANS": 0}, paths=2, probability=0.02)
    table.outages[0, 1, 0, 0] = 10 * NS, 100 * NS
    sent, _ = trace(table, EVENT_SEND)
    assert (sent[:, Trace.PATH] == 1).any()
    assert sent[sent[:, Trace.PATH] == 1, Trace.TIME].max() < 50


@pytest.mark.parametrize("rules", ["ns2-2.29", "ns2-2.35"])
def test_trace_has_the_heartbeats_of_the_twin(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows({"rules": rules, "down": 10, "PATH_MAX_RETRANS": 0, "RWND": 8 * CHUNK}, paths=2)
    heartbeats, answered = [], []
    send, on_ack = Endpoint.send_heartbeat, Endpoint.on_heartbeat_ack

    def send_heartbeat(end: Any, destination: Any) -> None:
        heartbeats.append((end.simulation.now / NS, end.end, destination.number))
        send(end, destination)

    def on_heartbeat_ack(end: Any, packet: Any) -> None:
        answered.append((end.simulation.now / NS, end.end, packet.path))
        on_ack(end, packet)

    monkeypatch.setattr(Endpoint, "send_heartbeat", send_heartbeat)
    monkeypatch.setattr(Endpoint, "on_heartbeat_ack", on_heartbeat_ack)
    simulate("sctp", table)
    columns = [Trace.TIME, Trace.SEQUENCE, Trace.PATH]
    assert len(heartbeats) > len(answered) > 3  # heartbeats on the failed path are not answered
    assert {end for _, end, _ in answered} == {0, 1}
    np.testing.assert_array_equal(trace(table, EVENT_HEARTBEAT)[0][:, columns], heartbeats)
    np.testing.assert_array_equal(trace(table, EVENT_HEARTBEAT_ACK)[0][:, columns], answered)
    received, out = trace(table, EVENT_HEARTBEAT_RECEIVE)
    assert len(received) == len(answered)  # nothing is in flight at the end
    assert (received[:, Trace.TIME] < np.array(answered)[:, 0]).all()
    np.testing.assert_array_equal(out, run(table)[0])  # a trace does not change outcomes


def test_paper_start_up() -> None:
    out = run(rows({"rules": "ns2-2.29", "END": 5 * NS}))[0]
    assert out[Out.DELIVERED] * 1500 / 3.5 == 33_000
    acks, _ = trace(rows({"rules": "ns2-2.29"}), EVENT_ACK)
    reached = acks[acks[:, Trace.CWND] >= acks[:, Trace.SSTHRESH]][0]
    assert round(reached[Trace.TIME], 2) == 5.36


@pytest.mark.parametrize("paths", [1, 2])
def test_every_packet_of_a_finished_transfer_is_accounted_for(paths: int) -> None:
    cases = [{"LIMIT": 300, "END": 3000 * NS, "down": down, "PATH_MAX_RETRANS": 2} for down in (0, 5, 30)]
    out = run(rows(*cases * 20, paths=paths, rate=0.05e6, queue=20, probability=0.03))
    lost = out[:, [Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED]].sum(axis=1)
    assert (out[:, Out.SENT] == out[:, Out.RECEIVED] + lost).all()
    assert (out[:, Out.SENT] == 300 + out[:, Out.RETRANSMITTED]).all()
    assert (out[:, [Out.DELIVERED, Out.IN_ORDER, Out.ACKED]] == 300).all()
    assert (out[:, Out.COMPLETED] <= out[:, Out.LAST_RX]).all() and (out[:, Out.COMPLETED] > 0).all()
    assert out[:, Out.FAST_RETRANSMITS].min() > 0


def test_plain_python_with_large_rings_gives_the_same_bits() -> None:
    cases = [{"END": 60 * NS, "PATH_MAX_RETRANS": k, "down": 3, "rules": r} for k in (0, 5) for r in RULES]
    table = rows(*cases, paths=2, probability=0.02)
    assert (plain(table, 1024) == run(table)).all()


def test_full_rings_are_reported() -> None:
    assert plain(rows({}), 4)[0, Out.STATUS] == STATUS_RING_FULL
