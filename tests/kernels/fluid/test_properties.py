"""Properties of the fluid models of paths, SCTP and mobile hosts: conservation, bounds, units, limits.

They hold for random rows with extreme values (`tests.twins.path`). The models run as plain Python.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, NEVER, Hop, Out, Rows
from netcarlo.kernels.base.loss import probabilities
from netcarlo.kernels.base.parameters import MptcpP, P, ReliableP, RowP, SctpP, TcpP
from tests.kernels.beside_twin import run_as_python
from tests.twins.path.mobility.scenarios import mobile_rows, sctp_mobile_rows
from tests.twins.path.scenarios import as_linux, linux_rows, mptcp_rows, sctp_rows, tcp_rows
from tests.twins.quic.scenarios import as_quic


def linux_mobile_rows(count: int, *, seed: int) -> Rows:
    """Return paths to mobile hosts with today's Linux."""
    return as_linux(mobile_rows(count, seed=seed), seed=seed)


def quic_rows(count: int, *, seed: int) -> Rows:
    """Return paths with QUIC."""
    return as_quic(tcp_rows(count, seed=seed), seed=seed)


def subflow_rows(count: int, *, seed: int) -> Rows:
    """Return one or two paths with MPTCP, none of which is a backup."""
    rows = mptcp_rows(count, seed=seed)
    rows.parameters[:, MptcpP.BACKUP] = 0
    return rows


TCPS = ("tahoe", "reno", "newreno", "sack", "vegas", "bic", "cubic", "westwood")
PROBING = ("probing", "new_probing")
ROWS: dict[str, Any] = {
    **{f"fluid_{tcp}": tcp_rows for tcp in (*TCPS, *PROBING)},
    **{f"fluid_{tcp}_mobile": mobile_rows for tcp in (*TCPS, "new_probing")},
    "fluid_linux_reno": linux_rows, "fluid_linux_cubic": linux_rows, "fluid_linux_bbr": linux_rows,
    **{f"fluid_linux_{control}_mobile": linux_mobile_rows for control in ("reno", "cubic", "bbr")},
    "fluid_linux_bbr3": linux_rows,
    "fluid_mptcp_reno": subflow_rows, "fluid_mptcp_cubic": subflow_rows, "fluid_mptcp_bbr": subflow_rows,
    "fluid_quic": quic_rows,
    "fluid_sctp": sctp_rows, "fluid_sctp_mobile": sctp_mobile_rows,
}  # fmt: skip
"""Functions that return random rows, by model."""
DROPS = [Out[f"DROPS_{cause}"] for cause in ("QUEUE", "RANDOM", "OUTAGE", "HANDOVER", "BUFFER")]
COUNTS = [Out[name] for name in (
    "SENT", "RETRANSMITTED", "RECEIVED", "DELIVERED", "TIMEOUTS", "FAST_RETRANSMITS", "CWND_CUTS", "SAMPLES",
    "SENT_ALTERNATE", "HANDOVERS",
)] + DROPS  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
Ints = NDArray[np.int64]


def wire(size: Any, byte_time: Any) -> Any:
    """Return the transmission time of `size` bytes [ns]."""
    return np.floor(size * (byte_time / 2.0**BYTE_TIME_BITS) + 0.5).astype(np.int64)


class Path:
    """Sizes, times and rates of the first path, from the columns of rows."""

    def __init__(self, rows: Rows, *, name: str = "") -> None:
        p, hops = rows.parameters, rows.hops[:, 0]
        sctp = p[:, SctpP.RWND] > 0
        self.chunk = p[:, RowP.DATA] + p[:, RowP.CHUNK_HEADER] * (sctp | ("quic" in name))
        self.there = hops[..., Hop.PRESENT] > 0
        data = wire((self.chunk + p[:, RowP.HEADER])[:, None], hops[..., Hop.BYTE_TIME]) * self.there
        acks = wire(p[:, ReliableP.ACK, None], hops[..., Hop.R_BYTE_TIME]) * self.there
        delays = (hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]) * self.there
        self.base = (data + acks + delays).sum(axis=1)  # round trip of a single packet [ns]
        self.forth = (data + hops[..., Hop.DELAY] * self.there).sum(axis=1)  # to the receiver [ns]
        self.slowest = data.max(axis=1)  # a packet at the slowest hop, without cross traffic [ns]
        self.window = np.where(sctp, np.maximum(p[:, SctpP.RWND] // self.chunk, 1), p[:, RowP.WINDOW])
        self.loss = (probabilities(rows.losses)[hops[..., Hop.LOSS]] * self.there).max(axis=1)


def simulate(name: str, rows: Rows) -> Ints:
    """Return the outcomes of rows under a fluid model."""
    return run_as_python(name, rows)


def without_loss(rows: Rows) -> Rows:
    """Return the rows without random loss."""
    losses = np.zeros_like(rows.losses)
    losses[:, -1] = 0xFFFFFFFF
    return rows._replace(losses=losses)


def without_trouble(rows: Rows) -> Rows:
    """Return the rows without random loss, outages and queue limits."""
    hops = rows.hops.copy()
    hops[..., [Hop.QUEUE, Hop.CROSS_EVERY]] = 0
    return without_loss(rows)._replace(hops=hops, outages=np.full_like(rows.outages, FOREVER))


def conserves_packets(name: str, rows: Rows, out: Ints) -> None:
    """Check that each packet sent has arrived, was lost, or is in flight.

    At most two windows are in flight: one queued at the slowest hop or a router, and the next one.
    """
    path = Path(rows, name=name)
    flight = out[:, Out.SENT] - out[:, Out.RECEIVED] - out[:, DROPS].sum(axis=1)
    assert (flight >= 0).all() and (flight <= 2 * path.window).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.RECEIVED]).all()
    assert (out[:, Out.DELIVERED] + out[:, Out.RETRANSMITTED] <= out[:, Out.SENT]).all()
    assert (out[:, Out.RETRANSMITTED] >= out[:, DROPS].sum(axis=1)).all()
    assert (out[:, Out.SENT_ALTERNATE] <= out[:, Out.SENT]).all()
    never = [Out.COMPLETED, Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX]
    assert (np.delete(out[:, : len(Out)], never, 1) >= 0).all() and (out[:, never] >= NEVER).all()
    assert (out[:, len(Out) :] >= NEVER).all()  # the failover time


def is_no_faster_than_its_path(name: str, rows: Rows, out: Ints) -> None:
    """Check that packets arrive at most at the rate of the slowest hop, the first after a one-way delay.

    Round trips are no shorter than without queues, and windows do not exceed the receiver's window.
    """
    p, path = rows.parameters, Path(rows, name=name)
    one_path = p[:, SctpP.N_PATHS] < 2
    last = p[:, RowP.START] + path.forth + (out[:, Out.RECEIVED] - 1) * path.slowest
    assert (last <= p[:, RowP.END])[one_path & (out[:, Out.RECEIVED] > 0)].all()
    assert (out[:, Out.SAMPLES] <= (p[:, RowP.END] + p[:, RowP.SAMPLE] // 2) // p[:, RowP.SAMPLE]).all()
    some = (out[:, Out.RTT_SAMPLES] > 0) & one_path
    assert (out[:, Out.RTT_SUM] >= 0.999 * path.base * out[:, Out.RTT_SAMPLES])[some].all()
    if "sctp" not in name:  # whose cwnd may exceed the receiver's window
        assert (out[:, Out.CWND_SUM] <= 1024 * path.window * out[:, Out.SAMPLES]).all()
    done = out[:, Out.COMPLETED] != NEVER
    assert (out[done, Out.COMPLETED] <= p[done, RowP.END]).all()
    first = done & one_path
    assert (out[first, Out.COMPLETED] >= (p[:, RowP.START] + path.slowest * p[:, RowP.LIMIT])[first]).all()


def completes_what_it_delivers(name: str, rows: Rows, out: Ints) -> None:
    """Check that a complete transfer has delivered all of its packets, and no transfer more than its own."""
    limit, done = rows.parameters[:, RowP.LIMIT], out[:, Out.COMPLETED] != NEVER
    assert (out[:, Out.DELIVERED] <= limit).all()
    assert (out[done, Out.DELIVERED] == limit[done]).all()


def reacts_to_losses_and_to_nothing_else(name: str, rows: Rows, out: Ints) -> None:
    """Check that rows with losses have retransmissions or timeouts, and rows without losses have none."""
    if "mobile" in name or "sctp" in name:
        return  # a timer may expire while packets wait at a router, or SACKs are lost
    reactions = out[:, Out.TIMEOUTS] + out[:, Out.FAST_RETRANSMITS]
    assert ((out[:, DROPS].sum(axis=1) > 0) == (reactions > 0)).all()
    assert (out[:, Out.CWND_CUTS] <= reactions).all()
    if "quic" not in name and "probing" not in name:  # these may keep their window at a timeout
        assert (out[:, Out.CWND_CUTS] >= out[:, Out.TIMEOUTS]).all()


PROPERTIES = (
    conserves_packets, is_no_faster_than_its_path, completes_what_it_delivers,
    reacts_to_losses_and_to_nothing_else,
)  # fmt: skip


@functools.cache
def simulated(name: str) -> tuple[Rows, Ints]:
    """Return sixty random rows of a model, and their outcomes."""
    rows = ROWS[name](60, seed=31)
    return rows, simulate(name, rows)


@pytest.mark.full
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
def test_property(name: str, holds: Callable[[str, Rows, Ints], None]) -> None:
    holds(name, *simulated(name))


@pytest.mark.full
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow], derandomize=True,
          phases=[Phase.explicit, Phase.generate])  # fmt: skip
@example(seed=2239079, name="fluid_sctp").via("a transfer whose last window goes out on the second path")
@given(seed=st.integers(0, 1 << 30), name=st.sampled_from(sorted(ROWS)))
def test_properties_hold_on_other_rows(seed: int, name: str) -> None:
    rows = ROWS[name](14, seed=seed)
    out = simulate(name, rows)
    for holds in PROPERTIES:
        holds(name, rows, out)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("most", [12, pytest.param(120, marks=pytest.mark.full)])
def test_a_short_transfer_delivers_each_of_its_packets_once(name: str, most: int) -> None:
    """Test short transfers; in many rows losses, outages and handovers affect the last window."""
    rows = ROWS[name](60, seed=most)
    rows.parameters[:, RowP.LIMIT] = np.random.default_rng(most).integers(1, most, len(rows.parameters))
    out = simulate(name, rows)
    completes_what_it_delivers(name, rows, out)
    reacts_to_losses_and_to_nothing_else(name, rows, out)
    conserves_packets(name, rows, out)
    assert (out[:, Out.COMPLETED] != NEVER).mean() > 0.2


@pytest.mark.full
@pytest.mark.parametrize("name", ROWS)
def test_a_longer_run_begins_as_a_shorter_one(name: str) -> None:
    rows, short = simulated(name)
    longer = rows._replace(parameters=rows.parameters.copy())
    longer.parameters[:, RowP.END] += longer.parameters[:, RowP.END] // 2
    long = simulate(name, longer)
    growing = [Out.SENT, Out.RECEIVED, Out.SAMPLES, Out.HANDOVERS]
    assert (short[:, growing] <= long[:, growing]).all()
    assert (short[:, Out.DELIVERED] <= long[:, Out.DELIVERED] + 1).all()  # fractions of packets are rounded
    done = short[:, Out.COMPLETED] != NEVER
    assert (short[done, Out.COMPLETED] == long[done, Out.COMPLETED]).all()


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in ROWS if "mobile" not in name])
def test_without_losses_nothing_is_sent_again(name: str) -> None:
    """Test unlimited queues: no retransmissions, and the window or the slowest hop limits the rate."""
    rows = without_trouble(ROWS[name](40, seed=21))
    p = rows.parameters
    p[:, RowP.LIMIT], p[:, RowP.END] = ENDLESS, p[:, RowP.END] * 10
    out, path = simulate(name, rows), Path(rows, name=name)
    assert (out[:, [Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, *DROPS]] == 0).all()
    assert (out[:, Out.RECEIVED] == out[:, Out.DELIVERED]).all()
    rounds = (p[:, RowP.END] - p[:, RowP.START]) / np.maximum(path.base, path.window * path.slowest)
    limit = np.minimum(
        path.window * rounds, (p[:, RowP.END] - p[:, RowP.START]) / np.maximum(path.slowest, 1)
    )
    long = (rounds > 300) & (path.slowest > 0)
    if not any(of in name for of in ("vegas", "sctp", "bbr", "mptcp", "quic")):
        # BBR pauses to probe the RTT, and the ACK of a single packet of QUIC may wait for the next packet
        assert long.sum() > 5
        assert out[long, Out.DELIVERED] == pytest.approx(limit[long], rel=0.02)


@pytest.mark.parametrize("name", ROWS)
def test_where_all_packets_are_lost_none_is_delivered(name: str) -> None:
    """Test certain loss, also with outages, handovers and full queues, which lose a part of a window."""
    rows = ROWS[name](60, seed=22)
    rows.losses[:] = 0  # the thresholds of a certain loss
    out = simulate(name, rows)
    assert (out[:, [Out.RECEIVED, Out.DELIVERED, Out.ACKED]] == 0).all()
    assert (out[:, Out.TIMEOUTS] > 0).mean() > 0.5


TIMES = [P[name] for name in (
    "START", "END", "TICK", "MIN_RTO", "MAX_RTO", "INITIAL_RTO", "ACK_DELAY", "SAMPLE", "CLOCK_PHASE",
    "HEARTBEAT", "FIRST_HANDOVER", "EVERY", "LEAST_STAY", "OUTAGE", "OUTAGE_JITTER", "ANTICIPATION",
    "PREPARATION", "ANNOUNCE", "DETECTION", "MAP_TO_AR", "MAP_TO_MAP", "HOME_AGENT", "SETTLE",
    "PING_PONG_STAY", "FALSE_ALARM_TIME", "MARGIN", "LATE",
)]  # fmt: skip
HOP_TIMES = [Hop[name] for name in (
    "BYTE_TIME", "DELAY", "R_BYTE_TIME", "R_DELAY", "CROSS_EVERY", "CROSS_FIRST", "TICK", "TICK_PHASE",
)]  # fmt: skip


def slower(rows: Rows) -> Rows:
    """Return the rows with all times doubled."""
    parameters, hops, outages = rows.parameters.copy(), rows.hops.copy(), rows.outages.copy()
    parameters[:, TIMES] *= 2
    hops[..., HOP_TIMES] *= 2
    outages[outages < FOREVER] *= 2
    return rows._replace(parameters=parameters, hops=hops, outages=outages)


@pytest.mark.full
@pytest.mark.parametrize("name", [f"fluid_{tcp}" for tcp in TCPS[:6]] + ["fluid_sctp"])
def test_a_path_on_which_all_takes_twice_as_long_carries_the_same_packets(name: str) -> None:
    """Check that all times scale together; CUBIC and Westwood have constants in seconds and are left out.

    The loss of a retransmission is drawn by the time, so the rows of TCP have no random loss.
    """
    rows = ROWS[name](80, seed=23)
    rows = rows if name == "fluid_sctp" else without_loss(rows)
    before, after = simulate(name, rows), simulate(name, slower(rows))
    same = (before[:, COUNTS] == after[:, COUNTS]).all(axis=1)
    assert same.mean() > 0.95, np.flatnonzero(~same)
    done = same & (before[:, Out.COMPLETED] != NEVER)
    twice = 2 * before[done, Out.COMPLETED]
    assert after[done, Out.COMPLETED] == pytest.approx(twice, rel=1e-6)
    timed = same & (before[:, Out.RTT_SAMPLES] > 0) & (before[:, Out.RTT_SUM] < 1 << 61)
    assert after[timed, Out.RTT_SUM] == pytest.approx(2 * before[timed, Out.RTT_SUM], rel=1e-4)


@pytest.mark.full
@pytest.mark.parametrize("name", [f"fluid_{tcp}{host}" for tcp in TCPS for host in ("", "_mobile")])
def test_packets_of_twice_the_size_at_twice_the_rate_are_the_same(name: str) -> None:
    rows = ROWS[name](15, seed=24)
    parameters, hops = rows.parameters.copy(), rows.hops.copy()
    hops[..., [Hop.BYTE_TIME, Hop.R_BYTE_TIME]] &= ~1
    rows = rows._replace(hops=hops.copy())
    parameters[:, [RowP.DATA, RowP.HEADER, ReliableP.ACK]] *= 2
    hops[..., [Hop.BYTE_TIME, Hop.R_BYTE_TIME]] //= 2
    hops[..., Hop.CROSS_SIZE] *= 2
    assert (simulate(name, rows) == simulate(name, rows._replace(parameters=parameters, hops=hops))).all()


def lone() -> Rows:
    """Return a minute of an endless transfer without impairments over a hop of 10 Mbit/s and 20 ms each way.

    Packets have 1,000 bytes; 51 of them fill the path, and the window is 200.
    """
    rows = without_trouble(tcp_rows(1, seed=25))
    p, hop = rows.parameters[0], rows.hops[0, 0, 0]
    rows.hops[:, :, 1:, Hop.PRESENT] = 0
    hop[[Hop.PRESENT, Hop.BYTE_TIME, Hop.R_BYTE_TIME]] = 1, 800 << BYTE_TIME_BITS, 80 << BYTE_TIME_BITS
    hop[[Hop.DELAY, Hop.R_DELAY]] = 20_000_000
    p[[RowP.START, TcpP.SEND_BUFFER, RowP.LIMIT, RowP.END, TcpP.TICK]] = (
        0,
        0,
        ENDLESS,
        60_000_000_000,
        1_000_000,
    )
    p[[RowP.DATA, RowP.HEADER, RowP.CHUNK_HEADER, ReliableP.ACK, RowP.WINDOW]] = 1000, 0, 0, 40, 200
    p[[TcpP.INITIAL_WINDOW, ReliableP.INITIAL_SSTHRESH, ReliableP.ACK_EVERY, ReliableP.DUPACKS]] = (
        2,
        200,
        1,
        3,
    )
    p[[ReliableP.MIN_RTO, ReliableP.MAX_RTO, ReliableP.INITIAL_RTO]] = (
        200_000_000,
        60_000_000_000,
        3_000_000_000,
    )
    p[[TcpP.VEGAS_ALPHA, TcpP.VEGAS_BETA, TcpP.VEGAS_GAMMA]] = 1, 3, 1
    return rows


@pytest.mark.parametrize("tcp", TCPS)
def test_a_lone_flow_fills_its_link(tcp: str) -> None:
    rows = lone()
    out = simulate(f"fluid_{tcp}", rows)[0]
    assert out[Out.DELIVERED] == pytest.approx(60 / 800e-6, rel=0.01)
    if tcp != "vegas":  # the others also fill the queue: RTT is window over rate
        assert out[Out.RTT_SUM] / out[Out.RTT_SAMPLES] == pytest.approx(200 * 800e3, rel=0.02)


@pytest.mark.full
@pytest.mark.parametrize("tcp", TCPS)
@pytest.mark.parametrize("window", [1, 7, 30])
def test_a_window_over_the_round_trip_is_the_rate(tcp: str, window: int) -> None:
    rows = lone()
    rows.parameters[:, RowP.WINDOW] = window
    out = simulate(f"fluid_{tcp}", rows)[0]
    rtt_s = 2 * 20e-3 + 800e-6 + 40 * 80e-9
    assert out[Out.DELIVERED] == pytest.approx(window * 60 / rtt_s, rel=0.02)
    assert out[Out.CWND_SUM] == pytest.approx(1024 * window * out[Out.SAMPLES], rel=0.05)


@pytest.mark.parametrize(("queue", "least", "most"), [(1, 0.73, 0.82), (51, 0.97, 1.0)])
@pytest.mark.parametrize("tcp", ["reno", "newreno", "sack"])
def test_a_reno_without_a_buffer_uses_three_quarters_of_its_link(
    tcp: str, queue: int, least: float, most: float
) -> None:
    """Test the sawtooth: no buffer gives a utilisation of 3/4, a buffer of one BDP keeps the link busy."""
    rows = lone()
    rows.parameters[:, [RowP.END, ReliableP.INITIAL_SSTHRESH]] = 300_000_000_000, 20
    rows.hops[:, 0, 0, Hop.QUEUE] = queue
    out = simulate(f"fluid_{tcp}", rows)[0]
    assert least < out[Out.DELIVERED] * 800e-6 / 300 < most
    # One loss per sawtooth: W / 2 to W in W / 2 round trips, with W = 51 + queue packets.
    peak = 51 + queue
    saws = 300 / sum(max(40.8e-3, w * 800e-6) for w in range(peak // 2, peak + 1))
    assert out[Out.FAST_RETRANSMITS] == pytest.approx(saws, rel=0.12)
    assert out[Out.TIMEOUTS] == 0
