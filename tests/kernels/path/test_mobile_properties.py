"""Properties of every transport to a mobile host, with every handover protocol."""

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
    BYTE_TIME_BITS,
    ENDLESS,
    FHMIPV6,
    FMIPV6,
    FOREVER,
    HIMIPV6,
    HMIPV6,
    MIPV6,
    NEVER,
    S_BINDING,
    S_MIP,
    SCHEDULE_PERIODIC,
    STATUS_OK,
    Hop,
    Out,
    Rows,
)
from netcarlo.kernels.base.parameters import MobileP, ReliableP, RowP
from netcarlo.kernels.runtime import launch
from tests.twins.path.scenarios import MS, SECOND, empty_row, fill, select, stack
from tests.twins.rows import rows_of

TCPS = ["tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_sack", "tcp_vegas"]
HANDOVERS = [MIPV6, HMIPV6, FMIPV6, S_BINDING, S_MIP, FHMIPV6, HIMIPV6]
DROPS = [
    Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED, Out.DROPS_HANDOVER, Out.DROPS_BUFFER,
]  # fmt: skip

tcps = st.sampled_from(TCPS)
senders = st.sampled_from([*TCPS, "sctp"])
seeds = st.integers(0, 1 << 30)
quick = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


def run(sender: str, rows: Rows, *, mobile: bool = True, **options: Any) -> NDArray[np.int64]:
    return launch.run(models.model(f"{sender}_mobile" if mobile else sender), rows, **options)


def drawn(sender: str, count: int, *, seed: int) -> Any:
    return rows_of(f"{sender}_mobile", count, seed=seed)


def in_flight(out: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of packets in flight if every packet and copy is accounted for."""
    gone = out[:, [Out.RECEIVED, Out.DISCARDED, *DROPS]].sum(axis=1)
    return out[:, Out.SENT] + out[:, Out.COPIES] - gone


def walk(protocol: int, **changes: int) -> Rows:
    """Return a saturated 1 Mbit/s path without loss to a host that changes its router every 10 s.

    Every handover is prepared long before, and no buffer is ever full.
    """
    row = empty_row()
    rate = 8000 << BYTE_TIME_BITS
    row.hops[0, 0, 0, : Hop.PRESENT + 1] = [rate, 31 * MS, 0, 0, 0, 31 * MS, 0, 0, 1]
    row.hops[0, 0, 1, : Hop.PRESENT + 1] = [rate // 20, 3 * MS, 0, 0, 0, 3 * MS, 0, 0, 1]
    fill(row, {
        "SEED": 1, "END": 65 * SECOND, "LIMIT": ENDLESS, "WINDOW": 20, "INITIAL_WINDOW": 2,
        "INITIAL_SSTHRESH": 20, "DATA": 960, "HEADER": 40, "HANDSHAKE": 40, "ACK": 40, "TICK": 10 * MS,
        "MIN_RTO": 200 * MS, "MAX_RTO": 60 * SECOND, "INITIAL_RTO": 3 * SECOND, "DUPACKS": 3, "ACK_EVERY": 1,
        "ACK_DELAY": 100 * MS, "SAMPLE": 100 * MS, "VEGAS_ALPHA": 1, "VEGAS_BETA": 3, "VEGAS_GAMMA": 1,
        "HANDOVER": protocol, "SCHEDULE": SCHEDULE_PERIODIC, "HANDOVERS": 4096,
        "FIRST_HANDOVER": 10 * SECOND, "EVERY": 10 * SECOND, "OUTAGE": 150 * MS, "ANTICIPATION": 2 * SECOND,
        "MARGIN": 50 * MS, "PREPARATION": 100 * MS, "ANNOUNCE": 10 * MS, "DETECTION": 100 * MS,
        "MAP_TO_AR": 10 * MS, "MAP_TO_MAP": 20 * MS, "HOME_AGENT": 50 * MS, "BUFFER": 1000,
        "SETTLE": 10 * MS, "DOMAIN_SIZE": 2,
    } | changes)  # fmt: skip
    return row


@pytest.mark.full
@given(senders, seeds)
@quick
def test_packets_and_copies_are_conserved(sender: str, seed: int) -> None:
    rows = drawn(sender, 21, seed=seed)
    out = run(sender, rows)
    assert (out >= NEVER).all() and (out[:, Out.STATUS] == STATUS_OK).all()
    assert (out[:, Out.IN_FLIGHT] == in_flight(out)).all()
    assert (out[:, Out.IN_FLIGHT] >= 0).all()
    assert (out[:, Out.DISCARDED] <= out[:, Out.COPIES]).all()
    assert (out[:, Out.ACKED] <= out[:, Out.IN_ORDER]).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.RECEIVED]).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.SENT] - out[:, Out.RETRANSMITTED]).all()
    assert (out[:, Out.REORDERED] <= np.maximum(out[:, Out.RECEIVED] - 1, 0)).all()
    assert (out[:, Out.SILENCE] <= out[:, Out.LAST_RX] - out[:, Out.FIRST_RX]).all()
    assert (out[:, Out.PREPARED] <= out[:, Out.HANDOVERS]).all()
    assert (out[:, Out.HANDOVERS] + out[:, Out.FALSE_ALARMS] <= rows.parameters[:, MobileP.HANDOVERS]).all()


@pytest.mark.full
@given(senders, seeds)
@quick
def test_a_host_that_never_moves_is_a_fixed_host(sender: str, seed: int) -> None:
    rows = drawn(sender, 21, seed=seed)
    rows.parameters[:, MobileP.SCHEDULE] = SCHEDULE_PERIODIC
    rows.parameters[:, MobileP.FIRST_HANDOVER] = rows.parameters[:, RowP.END] + 1
    rows.parameters[:, MobileP.MAP_TO_AR] = 0
    # Avoid ties of SCTP (see its page): a SACK timer below the radio delay, and a timeout equal to the RTT.
    rows.parameters[:, ReliableP.ACK_DELAY] = 200 * MS
    rows.parameters[:, ReliableP.MIN_RTO] = 200 * MS
    for row, radio in enumerate(rows.hops[:, 0, :, Hop.PRESENT].sum(axis=1) - 1):
        rows.outages[row, 0, radio] = FOREVER
    moving, fixed = run(sender, rows), run(sender, rows, mobile=False)
    assert (moving[:, : Out.IN_FLIGHT] == fixed[:, : Out.IN_FLIGHT]).all()
    assert not moving[:, Out.DROPS_HANDOVER : Out.REORDERED + 1].any()
    handovers = slice(Out.HANDOVERS, Out.FALSE_ALARMS + 1)
    assert not moving[:, handovers].any()
    assert not fixed[:, Out.IN_FLIGHT : Out.SILENCE].any() and not fixed[:, handovers].any()


@pytest.mark.full
@given(senders, seeds, st.lists(st.integers(0, 42), max_size=3), st.integers(1, 4))
@quick
def test_chunks_and_threads_change_no_bit(sender: str, seed: int, cuts: list[int], threads: int) -> None:
    rows = drawn(sender, 42, seed=seed)
    whole = run(sender, rows, threads=1)
    chunks = [select(rows, slice(a, b)) for a, b in pairwise([0, *sorted(cuts), 42])]
    assert (np.concatenate([run(sender, chunk, threads=threads) for chunk in chunks]) == whole).all()
    order = np.random.default_rng(seed).permutation(42)
    assert (run(sender, select(rows, order), threads=threads) == whole[order]).all()


@pytest.mark.full
@given(senders, seeds, st.integers(6, 12))
@quick
def test_ring_size_never_matters(sender: str, seed: int, bits: int) -> None:
    rows = drawn(sender, 21, seed=seed)
    expected = run(sender, rows)

    def fixed_rings(_: Any, rows: Any) -> Any:
        return np.full(len(rows.parameters), 1 << bits)

    with patch.object(launch, "_rings", fixed_rings):
        assert (run(sender, rows) == expected).all()


@pytest.mark.full
@given(senders, seeds)
@quick
def test_outages_of_the_radio_hop_are_nothing_but_a_schedule(sender: str, seed: int) -> None:
    rows = drawn(sender, 21, seed=seed)
    rows.parameters[:, MobileP.SCHEDULE] = SCHEDULE_PERIODIC
    expected = run(sender, rows)
    for row, radio in enumerate(rows.hops[:, 0, :, Hop.PRESENT].sum(axis=1) - 1):
        rows.outages[row, 0, radio] = FOREVER
    assert (run(sender, rows) == expected).all()


walks = st.fixed_dictionaries({
    "OUTAGE": st.integers(1 * MS, 400 * MS), "ANNOUNCE": st.integers(0, 50 * MS),
    "DETECTION": st.integers(0, 200 * MS), "PREPARATION": st.integers(0, 1000 * MS),
    "MAP_TO_AR": st.integers(0, 30 * MS), "MAP_TO_MAP": st.integers(0, 50 * MS),
    "HOME_AGENT": st.integers(0, 100 * MS), "DOMAIN_SIZE": st.integers(0, 3), "WINDOW": st.integers(2, 40),
})  # fmt: skip


@pytest.mark.full
@given(tcps, st.sampled_from([FMIPV6, S_BINDING, S_MIP, FHMIPV6, HIMIPV6]), walks)
@quick
def test_nothing_is_lost_in_a_prepared_handover(tcp: str, protocol: int, chosen: dict[str, int]) -> None:
    out = run(tcp, walk(protocol, **chosen))[0]
    assert out[Out.HANDOVERS] == out[Out.PREPARED] == 6
    assert not out[DROPS].any()
    if chosen["OUTAGE"] >= 200 * MS:  # an RTT of the smallest window: a shorter outage may see no packet
        assert out[Out.BUFFERED] > 0 or out[Out.TIMEOUTS] > 0


@pytest.mark.full
@given(tcps, st.sampled_from([MIPV6, HMIPV6]), walks)
@quick
def test_without_a_buffer_every_handover_costs_packets(
    tcp: str, protocol: int, chosen: dict[str, int]
) -> None:
    out = run(tcp, walk(protocol, **chosen | {"OUTAGE": 150 * MS, "WINDOW": 20}))[0]
    assert out[Out.HANDOVERS] == 6 and out[Out.PREPARED] == 0
    assert out[Out.DROPS_HANDOVER] >= 6
    assert not out[[Out.BUFFERED, Out.TUNNELLED, Out.COPIES, Out.REORDERED]].any()


@pytest.mark.parametrize("protocol", [S_BINDING, S_MIP])
def test_copies_without_numbers_reach_the_host_twice(protocol: int) -> None:
    out = run("tcp_newreno", walk(protocol))[0]
    assert out[Out.COPIES] > out[Out.DISCARDED] > 0
    assert out[Out.RECEIVED] - out[Out.DELIVERED] >= out[Out.COPIES] - out[Out.DISCARDED] > 100


@pytest.mark.full
@pytest.mark.parametrize("tcp", TCPS)
def test_himipv6_repeats_reorders_and_resends_nothing_within_a_domain(tcp: str) -> None:
    out = run(tcp, walk(HIMIPV6, DOMAIN_SIZE=0))[0]
    assert out[Out.RECEIVED] == out[Out.DELIVERED] == out[Out.IN_ORDER]
    assert not out[[*DROPS, Out.REORDERED, Out.RETRANSMITTED, Out.TIMEOUTS, Out.TUNNELLED]].any()
    assert out[Out.COPIES] == out[Out.DISCARDED] > 0


@pytest.mark.full
@pytest.mark.parametrize("tcp", ["tcp_newreno", "tcp_vegas"])
def test_4096_handovers_in_a_run(tcp: str) -> None:
    hasty = {
        "FIRST_HANDOVER": 20 * MS, "EVERY": 20 * MS, "OUTAGE": MS, "END": 90 * SECOND, "MAX_RTO": 2 * SECOND,
    }  # fmt: skip
    rows = stack([walk(protocol, **hasty) for protocol in HANDOVERS])
    out = run(tcp, rows)
    assert (out[:, Out.HANDOVERS] == 4096).all()
    assert (out[:, Out.IN_FLIGHT] == in_flight(out)).all()
    assert (out[:, Out.LAST_RX] > 89 * SECOND).all()  # the host no longer moves after 82 s
