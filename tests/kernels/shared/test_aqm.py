"""CoDel, PIE and FQ-CoDel: comparison with their twin, and properties stated in the RFCs."""

import os
from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from netcarlo.kernels import models
from netcarlo.kernels.base.aqm import codel
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS
from netcarlo.kernels.shared.aqm import pie
from netcarlo.kernels.shared.aqm.state import Discipline
from netcarlo.kernels.shared.layout import CODEL, FQ_CODEL, PIE, Flow, Link, Shared, SharedRows
from tests.kernels.beside_twin import run_as_python
from tests.kernels.shared.test_shared import (
    DATAGRAMS,
    LINK_BYTE,
    SIZE,
    TCP,
    differences,
    dumbbell,
    split,
)
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.rows import rows_of
from tests.twins.shared.scenarios import stack

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
AQMS = {"codel": CODEL, "pie": PIE, "fq_codel": FQ_CODEL}
DEFAULTS = {
    "QUEUE": 1000, "AQM_TARGET": 5 * MS, "AQM_INTERVAL": 100 * MS, "AQM_MTU": 1500, "FQ_QUANTUM": 1514,
}  # fmt: skip
"""Defaults of CoDel, FQ-CoDel and PIE, as in `networks.shared.aqm`."""
OF_PIE = DEFAULTS | {
    "AQM_TARGET": 15 * MS, "AQM_INTERVAL": 15 * MS, "PIE_BURST": 150 * MS, "PIE_ALPHA": 35184,
    "PIE_BETA": 351844,
}  # fmt: skip
PACKET = SIZE * LINK_BYTE
"""Transmission time of a packet on the link [ns]."""

quick = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def run(rows: SharedRows) -> Any:
    return launch.run(models.model("shared_mixed_aqm"), rows)


def managed(aqm: int, **columns: int) -> dict[str, int]:
    """Return the columns of a link with AQM."""
    return (OF_PIE if aqm == PIE else DEFAULTS) | {"AQM": aqm} | columns


def greedy(count: int, **columns: int) -> list[dict[str, int]]:
    """Return flows of SACK with unlimited windows and different round trips."""
    tcp = TCP | {"KIND": KINDS.index("sack"), "WINDOW": 400, "INITIAL_SSTHRESH": 400}
    return [
        tcp | {"START": k * 10_001_001, "SOURCE_DELAY": (k + 1) * MS, "CLOCK_PHASE": k * MS} | columns
        for k in range(count)
    ]


def queue_delay_ms(links: Any) -> Any:
    """Return the mean queueing delay of the packets of the first link, by row [ms]."""
    return links["QUEUE_SUM"][:, 0] / links["ARRIVALS"][:, 0] / MS


# Comparison with the twin.


@pytest.mark.full
def test_kernel_equals_twin() -> None:
    rows = rows_of("shared_mixed_aqm", 80 * LONG, seed=1)
    assert isinstance(rows, SharedRows)
    out = run(rows)
    _, links = split(rows, out)
    for aqm in AQMS.values():
        for column in ("EARLY", "MARKS", "WAITING", "LOST"):
            assert links[column][rows.links[:, :, Link.AQM] == aqm].any(), column
    assert (links["DROPS"] - links["EARLY"])[rows.links[:, :, Link.AQM] == FQ_CODEL].any()
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["newreno", "linux_reno", "linux_cubic", "linux_bbr"])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(kind: str) -> None:
    rows = rows_of(f"shared_{kind}_aqm", 5 * LONG, seed=len(kind))
    assert isinstance(rows, SharedRows)
    out = run_as_python(f"shared_{kind}_aqm", rows)
    _, links = split(rows, out)
    assert links["EARLY"].any()
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.parametrize("aqm", [CODEL, FQ_CODEL])
@pytest.mark.parametrize(("target", "packets"), [(3, 0), (2, 3)])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_codel_at_exactly_its_limits_equals_its_twin(aqm: int, target: int, packets: int) -> None:
    """Compare datagrams at 1.25 times the link rate: all times are multiples of 1/5 transmission time.

    Some packets wait exactly the target, and some leave exactly AQM_MTU bytes (RFC 8289, section 5.3).
    """
    limits = {"AQM_TARGET": target * PACKET, "AQM_MTU": packets * SIZE, "AQM_INTERVAL": 10 * PACKET}
    flow = DATAGRAMS | {"INTERVAL": PACKET * 4 // 5}
    rows = dumbbell([flow], seconds=1, **managed(aqm, QUEUE=0, **limits))
    out = run_as_python("shared_mixed_aqm", rows)
    _, links = split(rows, out)
    assert links["EARLY"][0, 0] > 10
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("aqm", [CODEL, PIE])
def test_without_a_target_in_reach_it_is_drop_tail(aqm: int) -> None:
    """Check that a target above all delays gives the bits of drop-tail; FQ-CoDel has a single flow."""
    flows = [TCP | {"KIND": kind, "START": kind * 1001, "CLOCK_PHASE": kind} for kind in range(1, 6)]
    flows.append(DATAGRAMS | {"INTERVAL": 7 * MS})
    tail = dumbbell(flows, seconds=10, QUEUE=12)
    other = dumbbell(flows, seconds=10, **managed(aqm, QUEUE=12, AQM_TARGET=100 * SECOND))
    (f, k), (f_aqm, k_aqm) = split(tail, run(tail)), split(other, run(other))
    assert k["DROPS"][0, 0] > 20
    for one, same in ((f, f_aqm), (k, k_aqm)):
        for column in one:
            if column not in ("WAIT_MAX", "WAITING", "IN_FLIGHT", "USEFUL", "QUEUE_SUM", "BUSY"):
                assert (one[column] == same[column]).all(), column
    assert (k["WAIT_MAX"] >= k_aqm["WAIT_MAX"]).all()  # AQM does not count packets queued at the end
    assert k["QUEUE_SUM"][0].tolist() == k_aqm["QUEUE_SUM"][0].tolist()
    assert k["BUSY"][0].tolist() == k_aqm["BUSY"][0].tolist()


# Properties.


@given(st.integers(1, 10**9), st.integers(1, 1 << 30), st.integers(0, 1 << 40))
@quick
def test_the_control_law_is_the_exact_root(interval: int, count: int, t: int) -> None:
    assert codel.control_law(t, np.int64(interval), np.int64(count)) == t + isqrt(interval**2 // count)


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@quick
def test_nothing_is_lost_but_what_is_counted(seed: int) -> None:
    rows = rows_of("shared_mixed_aqm", 20, seed=seed)
    assert isinstance(rows, SharedRows)
    f, k = split(rows, run(rows))
    gone = f["DROPS_QUEUE"] + f["DROPS_RANDOM"] + f["IN_FLIGHT"]
    assert (f["SENT"] + f["IN_FLIGHT_BEFORE"] == f["RECEIVED"] + gone).all()
    whole = rows.parameters[:, Shared.WARM_UP] == 0
    assert (k["ARRIVALS"] == k["DROPS"] + k["SENT"] + k["WAITING"])[whole].all()
    assert (k["EARLY"] <= k["DROPS"]).all() and (k["DROPS_BEFORE"] <= k["ARRIVALS_BEFORE"]).all()
    assert (k["DROPS"] - k["DROPS_BEFORE"] <= k["ARRIVALS"]).all()
    window = rows.parameters[:, RowP.END] - rows.parameters[:, Shared.WARM_UP]
    assert (k["BUSY"] <= window[:, None]).all()


@pytest.mark.full
@given(st.integers(0, 1 << 30), st.sampled_from([CODEL, FQ_CODEL]), st.integers(1, 80))
@quick
def test_codel_drops_nothing_below_its_target(seed: int, aqm: int, packets: int) -> None:
    """Test windows below and above the BDP of 34 packets: CoDel drops only with a standing queue."""
    window = TCP | {"KIND": KINDS.index("newreno"), "WINDOW": packets, "INITIAL_SSTHRESH": packets}
    free = dumbbell([window], seconds=5, seed=seed, QUEUE=0)
    _, links = split(free, run(free))
    longest = int(links["WAIT_MAX"][0, 0])
    assume(longest > 0)
    rows = dumbbell([window], seconds=5, seed=seed, **managed(aqm, QUEUE=0, AQM_TARGET=longest + 1))
    _, links = split(rows, run(rows))
    assert links["DROPS"][0, 0] == links["EARLY"][0, 0] == 0
    if packets >= 50:
        rows = dumbbell([window], seconds=5, seed=seed, **managed(aqm))
        _, links = split(rows, run(rows))
        assert links["EARLY"][0, 0] > 0


@pytest.mark.full
@pytest.mark.parametrize(("aqm", "target_ms"), [(CODEL, 5), (CODEL, 20), (FQ_CODEL, 5), (PIE, 15), (PIE, 40)])
def test_a_standing_queue_comes_to_the_target(aqm: int, target_ms: int) -> None:
    """Test the mean queueing delay; without AQM a window of 400 packets causes 300 ms."""
    rows = dumbbell(greedy(1), seconds=100, **managed(aqm, AQM_TARGET=target_ms * MS))
    rows.parameters[0, Shared.WARM_UP] = 20 * SECOND
    _, k = split(rows, run(rows))
    assert target_ms / 3 < queue_delay_ms(k)[0] < 1.5 * target_ms  # below the target after a halving
    # A sawtooth without a queue has a utilisation of 3/4; 5 ms are a fifth of a round trip.
    assert k["BUSY"][0, 0] > (0.75 if target_ms == 5 else 0.95) * 80 * SECOND
    tail = dumbbell(greedy(1), seconds=100, QUEUE=1000)
    assert queue_delay_ms(split(tail, run(tail))[1])[0] > 250


@pytest.mark.full
def test_codel_brings_a_load_that_does_not_react_to_the_limit_of_its_law() -> None:
    """Test datagrams at 1.25 times the rate: the drop rate grows until a fifth of them is dropped."""
    rows = dumbbell([DATAGRAMS | {"INTERVAL": PACKET * 4 // 5}], seconds=60, **managed(CODEL, QUEUE=0))
    half = dumbbell([DATAGRAMS | {"INTERVAL": PACKET * 4 // 5}], seconds=30, **managed(CODEL, QUEUE=0))
    (_, late), (_, early) = split(rows, run(rows)), split(half, run(half))
    first, second = early["EARLY"][0, 0], late["EARLY"][0, 0] - early["EARLY"][0, 0]
    arrivals = late["ARRIVALS"][0, 0] / 2
    assert first < second <= 1.01 * arrivals / 5 + 1000
    # The n-th drop occurs at interval * (1 + 1 / sqrt(2) + ...): (t / 2 interval)**2 drops until t.
    assert first == pytest.approx((30 / 0.2) ** 2, rel=0.15) or first == pytest.approx(arrivals / 5, rel=0.1)


@pytest.mark.full
@given(
    st.integers(0, 1 << 40), st.lists(st.integers(0, 1 << 42), min_size=1, max_size=300),
    st.integers(352, 2_814_750), st.integers(352, 2_814_750),
)  # fmt: skip
@quick
def test_pies_probability_is_one(start: int, delays: list[int], alpha: int, beta: int) -> None:
    """Test that PIE's value is a probability for all queueing delays [ns] and gains, and 0 after idle."""
    m = np.zeros(200, np.int64)
    b, s = 0, 150
    m[[Link.AQM_TARGET, Link.AQM_INTERVAL, Link.PIE_ALPHA, Link.PIE_BETA]] = 15 * MS, 15 * MS, alpha, beta
    m[s + Discipline.DROP_PROB] = start
    for k, delay in enumerate(delays):
        m[s + Discipline.QDELAY] = delay
        pie.run_updates(m, b, s, k * 15 * MS)
        assert 0 <= m[s + Discipline.DROP_PROB] <= 1 << pie.PROBABILITY_BITS
    m[s + Discipline.QDELAY] = 0
    pie.run_updates(m, b, s, (len(delays) + 20_000) * 15 * MS)
    assert m[s + Discipline.DROP_PROB] == 0


@pytest.mark.full
def test_fq_shares_are_equal_among_greedy_flows() -> None:
    """Check that shares are equal within about a packet for all offered loads and packet sizes."""
    sizes, loads = (200, 500, 1000, 1460), (1.0, 0.5, 2.0, 0.3)  # offered loads, relative to the link rate
    flows = [
        DATAGRAMS | {"DATA": size - 40, "INTERVAL": round(size * LINK_BYTE / load), "START": 1001 * k}
        for k, (size, load) in enumerate(zip(sizes, loads, strict=True))
    ]
    rows = dumbbell(flows, seconds=40, **managed(FQ_CODEL))
    rows.parameters[0, Shared.WARM_UP] = 20 * SECOND
    f, k = split(rows, run(rows))
    wire = f["USEFUL"][0] / (np.array(sizes) - 40) * sizes
    assert abs(wire - wire.mean()).max() < 3 * 1514
    assert wire.sum() == pytest.approx(20 * SECOND / LINK_BYTE, rel=1e-3)
    assert k["EARLY"][0, 0] > 1000


@pytest.mark.full
def test_a_sparse_flow_does_not_wait() -> None:
    """Test a sparse flow beside four greedy flows: it waits at most two packet transmission times."""
    flows = greedy(4)
    sparse = DATAGRAMS | {"DATA": 160, "INTERVAL": 20 * MS, "START": 5 * SECOND}
    rows = dumbbell([*flows, sparse], seconds=60, **managed(FQ_CODEL))
    f, _ = split(rows, run(rows))
    useful = f["USEFUL"][0, :4]
    assert abs(useful / useful.mean() - 1).max() < 0.05
    assert f["DROPS_QUEUE"][0, 4] == 0 and f["DELIVERED"][0, 4] >= f["SENT"][0, 4] - 2
    last = [sparse | {"LIMIT": limit} for limit in range(1, 200, 7)]  # ends with the last datagram
    alone = [dumbbell([one], seconds=60, **managed(FQ_CODEL)) for one in last]
    beside = [dumbbell([*flows, one], seconds=60, **managed(FQ_CODEL)) for one in last]
    (free, _), (busy, _) = (split(stack(some), run(stack(some))) for some in (alone, beside))
    waited = busy["COMPLETED"][:, 4] - free["COMPLETED"][:, 0]
    assert waited.min() >= 0 and waited.max() <= 2 * PACKET
    fifo = [dumbbell([*flows, one], seconds=60, QUEUE=1000) for one in last]
    full, _ = split(stack(fifo), run(stack(fifo)))
    assert (full["COMPLETED"][:, 4] - free["COMPLETED"][:, 0]).mean() > 20 * waited.mean()


@pytest.mark.full
@pytest.mark.parametrize("aqm", AQMS.values())
def test_marks_replace_losses(aqm: int) -> None:
    rows = dumbbell(greedy(4, ECN=1), seconds=20, **managed(aqm, AQM_MARKS=1))
    rows.parameters[0, Shared.WARM_UP] = 5 * SECOND  # after the drops of PIE in slow start
    f, k = split(rows, run(rows))
    assert k["MARKS"][0, 0] > 50 and k["DROPS"][0, 0] == 0
    assert (f["CWND_CUTS"][0] > 5).all() and f["MARKED"][0].sum() == k["MARKS"][0, 0]
    deaf = rows._replace(flows=rows.flows.copy())
    deaf.flows[:, :, Flow.ECN] = 0
    f, k = split(deaf, run(deaf))
    assert k["MARKS"].sum() == 0 and k["EARLY"][0, 0] > 20


@pytest.mark.full
def test_the_fattest_queue_pays_when_all_is_full() -> None:
    """Test a flow at twice the link rate beside one at a tenth of it, which loses no datagram."""
    load = DATAGRAMS | {"INTERVAL": PACKET // 2}
    light = DATAGRAMS | {"INTERVAL": 10 * PACKET, "START": 1001}
    rows = dumbbell([load, light], seconds=20, **managed(FQ_CODEL, QUEUE=20, AQM_TARGET=SECOND))
    f, k = split(rows, run(rows))
    assert f["DROPS_QUEUE"][0, 1] == 0 and f["DROPS_QUEUE"][0, 0] == k["DROPS"][0, 0] > 10_000
    assert k["EARLY"][0, 0] == 0


@pytest.mark.full
def test_places_that_are_too_few_are_made_more_and_change_nothing() -> None:
    rows = dumbbell(greedy(2), seconds=5, **managed(CODEL, ROOM=256))
    few = rows._replace(links=rows.links.copy())
    few.links[:, :, Link.ROOM] = 1
    assert (run(rows) == run(few)).all()
