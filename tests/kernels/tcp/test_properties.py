"""Properties of every transport on every network: conservation, limits, and independence."""

from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, NEVER, STATUS_OK, Hop, Out, Rows
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.twins.path.scenarios import MS, SECOND, empty_row, fill, sctp_rows, select, stack, tcp_rows

TCPS = ["tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_sack", "tcp_vegas"]
PROTOCOLS = [*TCPS, "sctp"]
DROPS = [Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED]

protocols = st.sampled_from(PROTOCOLS)
seeds = st.integers(0, 1 << 30)
quick = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def run(protocol: str, rows: Rows, **options: Any) -> NDArray[np.int64]:
    return launch.run(models.model(protocol), rows, **options)


def scenarios(protocol: str, count: int, seed: int) -> Rows:
    return sctp_rows(count, seed=seed) if protocol == "sctp" else tcp_rows(count, seed=seed)


def clean_row(protocol: str, *, rate_bps: float, delay: int, window: int, end: int) -> Rows:
    """Return a row with one hop without loss or queue limit, ordinary parameters, and an ACK per packet."""
    row = empty_row()
    byte_time = round(8e9 * 2**BYTE_TIME_BITS / rate_bps)
    row.hops[0, :, 0, : Hop.PRESENT + 1] = [byte_time, delay, 0, 0, byte_time, delay, 0, 0, 1]
    fill(row, {
        "SEED": 1, "END": end, "LIMIT": ENDLESS, "WINDOW": window, "INITIAL_SSTHRESH": window,
        "DATA": 960, "HEADER": 40, "ACK": 40, "HANDSHAKE": 40, "INITIAL_WINDOW": 2, "TICK": 10 * MS,
        "MIN_RTO": SECOND, "MAX_RTO": 60 * SECOND, "INITIAL_RTO": 3 * SECOND, "DUPACKS": 3, "ACK_EVERY": 1,
        "ACK_DELAY": 100 * MS, "SAMPLE": 100 * MS, "VEGAS_ALPHA": 1, "VEGAS_BETA": 3, "VEGAS_GAMMA": 1,
        "N_PATHS": 1, "SSTHRESH_FLOOR": 4000, "MAX_BURST": 4, "PATH_MAX_RETRANS": 5,
    })  # fmt: skip
    if protocol == "sctp":  # 960 bytes of chunk, window and ssthresh in bytes
        fill(row, {"DATA": 944, "CHUNK_HEADER": 16, "RWND": 960 * window, "INITIAL_CWND": 2880,
                   "INITIAL_SSTHRESH": 960 * window})  # fmt: skip
    return row


def wire_size(protocol: str) -> int:
    return 960 if protocol == "tcp_vegas" else 1000  # Vegas adds no header


def round_trip(row: Rows, protocol: str) -> float:
    """Return the time [ns] from the sending of a packet to the arrival of its ACK on an empty clean row."""
    byte_time = row.hops[0, 0, 0, Hop.BYTE_TIME] / 2**BYTE_TIME_BITS
    return float(2 * row.hops[0, 0, 0, Hop.DELAY] + byte_time * (wire_size(protocol) + 40))


@pytest.mark.full
@given(protocols, seeds)
@quick
def test_packets_are_conserved(protocol: str, seed: int) -> None:
    rows = scenarios(protocol, 20, seed)
    out = run(protocol, rows)
    in_flight = out[:, Out.SENT] - out[:, Out.RECEIVED] - out[:, DROPS].sum(axis=1)
    assert (out >= NEVER).all() and (out[:, Out.STATUS] == STATUS_OK).all()
    assert (in_flight >= 0).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.RECEIVED]).all()
    assert (out[:, Out.IN_ORDER] <= out[:, Out.DELIVERED]).all()
    assert (out[:, Out.ACKED] <= out[:, Out.IN_ORDER]).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.SENT] - out[:, Out.RETRANSMITTED]).all()
    assert (out[:, Out.SENT] - out[:, Out.RETRANSMITTED] <= rows.parameters[:, RowP.LIMIT]).all()
    assert (out[:, Out.SENT_ALTERNATE] <= out[:, Out.SENT]).all()
    completed = out[:, Out.COMPLETED] != NEVER
    assert (completed == (out[:, Out.DELIVERED] == rows.parameters[:, RowP.LIMIT])).all()


@pytest.mark.full
@given(protocols, seeds)
@quick
def test_times_are_in_order(protocol: str, seed: int) -> None:
    rows = scenarios(protocol, 20, seed)
    out, p = run(protocol, rows), rows.parameters
    assert (out[:, Out.SAMPLES] == (p[:, RowP.END] - p[:, RowP.SAMPLE] // 2) // p[:, RowP.SAMPLE] + 1).all()
    got = out[:, Out.RECEIVED] > 0
    assert ((out[:, Out.FIRST_RX] != NEVER) == got).all() and ((out[:, Out.LAST_RX] != NEVER) == got).all()
    assert (p[got, RowP.START] <= out[got, Out.FIRST_RX]).all()
    assert (out[got, Out.FIRST_RX] <= out[got, Out.LAST_RX]).all()
    assert (out[got, Out.LAST_RX] <= p[got, RowP.END]).all()
    resumed = out[:, Out.RESUME_RX] != NEVER
    first_outage = rows.outages[:, 0, :, 0, 0].min(axis=1)
    assert (first_outage[resumed] < out[resumed, Out.RESUME_RX]).all()
    assert (out[resumed, Out.RESUME_TX] <= out[resumed, Out.RESUME_RX]).all()
    assert (out[first_outage == FOREVER, Out.RESUME_RX] == NEVER).all()


@pytest.mark.full
@given(protocols, st.floats(1e5, 1e7), st.integers(0, 200), st.integers(4, 64))
@quick
def test_without_loss_capacity_or_window_limits(
    protocol: str, rate_bps: float, delay_ms: int, window: int
) -> None:
    """Check the rate without loss once cwnd has grown: the smaller of capacity and window / RTT."""
    row = clean_row(protocol, rate_bps=rate_bps, delay=delay_ms * MS, window=window, end=0)
    packet_time, rtt = 8e9 * wire_size(protocol) / rate_bps, round_trip(row, protocol)
    limited_by_window = window * packet_time < rtt
    span, expected = (10 * rtt, 10 * window) if limited_by_window else (100 * packet_time, 100)
    settled = round(150 * max(rtt, window * packet_time)) + 5 * SECOND
    rows = stack([row, row])
    rows.parameters[:, RowP.END] = [settled, settled + round(span)]
    out = run(protocol, rows)
    assert not out[:, [*DROPS, Out.TIMEOUTS, Out.RETRANSMITTED, Out.ACK_DROPS]].any()
    delivered = int(out[1, Out.DELIVERED] - out[0, Out.DELIVERED])
    assert abs(delivered - expected) <= 2


@pytest.mark.full
@given(protocols, st.integers(1, 300), st.integers(1, 64), st.integers(0, 100))
@quick
def test_a_finite_transfer_without_loss_sends_every_packet_once(
    protocol: str, packets: int, window: int, delay_ms: int
) -> None:
    row = clean_row(protocol, rate_bps=1e6, delay=delay_ms * MS, window=window, end=600 * SECOND)
    row.parameters[0, RowP.LIMIT] = packets
    out = run(protocol, row)[0]
    for column in (Out.SENT, Out.RECEIVED, Out.DELIVERED, Out.IN_ORDER, Out.ACKED):
        assert out[column] == packets
    assert out[Out.RETRANSMITTED] == out[Out.TIMEOUTS] == out[Out.CWND_CUTS] == 0
    assert out[Out.COMPLETED] == out[Out.LAST_RX]


@pytest.mark.full
@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(seed=seeds)
@settings(deadline=None, max_examples=5)
def test_certain_loss_delivers_nothing_and_ends(protocol: str, seed: int) -> None:
    rows = scenarios(protocol, 20, seed)
    table = np.concatenate([rows.losses, thresholds(1.0)])
    last_hop = rows.hops[..., Hop.PRESENT].cumsum(axis=2).argmax(axis=2)
    hops = rows.hops.copy()
    for row, path in np.ndindex(last_hop.shape):
        hops[row, path, last_hop[row, path], Hop.LOSS] = len(table) - 1
    out = run(protocol, rows._replace(hops=hops, losses=table))
    # No SYN arrives; without a handshake, no data packet arrives.
    silent = [Out.RECEIVED, Out.DELIVERED, Out.IN_ORDER, Out.ACKED, Out.ACK_DROPS]
    assert (out[:, Out.STATUS] == STATUS_OK).all()
    assert not out[:, silent].any()
    assert (out[:, [Out.FIRST_RX, Out.COMPLETED, Out.RESUME_RX]] == NEVER).all()
    assert (out[:, Out.SENT] + out[:, Out.HANDSHAKES] > 0).all()


@pytest.mark.full
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_lost_acknowledgements_stall_the_sender(protocol: str) -> None:
    row = clean_row(protocol, rate_bps=1e6, delay=10 * MS, window=20, end=100 * SECOND)
    table = np.concatenate([row.losses, thresholds(1.0)])
    row.hops[0, 0, 0, Hop.R_LOSS] = len(table) - 1
    out = run(protocol, row._replace(losses=table))[0]
    assert out[Out.ACKED] == 0
    assert out[Out.DELIVERED] <= 2  # Vegas has no handshake: it retransmits its first window repeatedly


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["tahoe", "reno", "newreno", "sack", "vegas", "sctp"])
@given(starts=st.lists(st.floats(0.0, 10.0), min_size=1, max_size=3))
@settings(deadline=None, max_examples=10)
def test_an_outage_of_length_zero_changes_nothing(protocol: str, starts: list[float]) -> None:
    hop = {"rate": "1 Mbit/s", "delay": "20 ms", "queue": 10, "loss": 0.01}
    network = {"duration": "10 s", "replications": 5, "transport": {"protocol": protocol}, "hops": [hop]}
    quiet = build(Scenario.check(network)).rows
    cuts = [{"start": f"{start:.9f} s", "duration": "0 s"} for start in sorted(starts)]
    cut = build(Scenario.check(network | {"hops": [hop | {"outages": cuts}]})).rows
    name = protocol if protocol == "sctp" else f"tcp_{protocol}"
    out = run(name, quiet)
    assert (out == run(name, cut)).all()
    assert (out[:, Out.RECEIVED] > 0).all()


@pytest.mark.full
@given(protocols, seeds, st.lists(st.integers(0, 40), max_size=4), st.integers(1, 5))
@quick
def test_chunks_and_threads_change_no_bit(protocol: str, seed: int, cuts: list[int], threads: int) -> None:
    rows = scenarios(protocol, 40, seed)
    whole = run(protocol, rows, threads=1)
    edges = [0, *sorted(cuts), 40]
    parts = [run(protocol, select(rows, slice(a, b)), threads=threads) for a, b in pairwise(edges)]
    # A launch without rows of two paths leaves out the column of failovers, which is 0 in rows of one path.
    wide = [np.pad(part, ((0, 0), (0, whole.shape[1] - part.shape[1]))) for part in parts]
    assert (np.concatenate(wide) == whole).all()
    order = np.random.default_rng(seed).permutation(40)
    assert (run(protocol, select(rows, order), threads=threads) == whole[order]).all()


@pytest.mark.full
@given(protocols, seeds, st.integers(6, 14))
@quick
def test_ring_size_never_matters(protocol: str, seed: int, bits: int) -> None:
    """Check that the initial ring size does not affect outcomes; a ring that is too small is enlarged."""
    rows = scenarios(protocol, 20, seed)
    expected = run(protocol, rows)

    def fixed_rings(_: Any, rows: Any) -> Any:
        return np.full(len(rows.parameters), 1 << bits)

    with patch.object(launch, "_rings", fixed_rings):
        assert (run(protocol, rows) == expected).all()


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["newreno", "vegas", "sctp"])
@given(few=st.integers(1, 10), more=st.integers(1, 30))
@settings(deadline=None, max_examples=10)
def test_more_replications_extend_but_never_change(protocol: str, few: int, more: int) -> None:
    scenario = Scenario.check({
        "duration": "5 s", "transport": {"protocol": protocol},
        "hops": [{
            "rate": {"log_uniform": ["0.1 Mbit/s", "2 Mbit/s"]}, "delay": {"uniform": ["1 ms", "50 ms"]},
            "queue": {"integers": [2, 20]}, "loss": {"choice": [0, 0.01, 0.1]},
        }],
    })  # fmt: skip
    name = protocol if protocol == "sctp" else f"tcp_{protocol}"
    some = run(name, build(scenario, replications=few).rows)
    assert (run(name, build(scenario, replications=few + more).rows)[:few] == some).all()
    tail = run(name, build(scenario, first=few, replications=more).rows)
    assert (run(name, build(scenario, replications=few + more).rows)[few:] == tail).all()
    assert len(np.unique(tail[:, Out.SENT])) > 1 or more < 5
