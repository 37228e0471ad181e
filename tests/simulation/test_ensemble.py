import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, LOSSES, Hop
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP, TcpP
from netcarlo.kernels.base.rows import concatenate
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build

HOP = {"rate": "1 Mbit/s", "delay": "10 ms"}
RANDOM = {
    "rate": {"log_uniform": ["0.1 Mbit/s", "20 Mbit/s"]},
    "delay": {"uniform": ["1 ms", "50 ms"]},
    "queue": {"integers": [2, 40]},
    "loss": {"choice": [0, 0.01, 0.1]},
    "outages": [{"start": {"uniform": ["0 s", "9 s"]}, "duration": {"choice": ["0 s", "1 s"]}}],
}


def scenario(hops=(HOP,), **values):
    data = {"duration": "10 s", "transport": {"protocol": "newreno"}, "hops": list(hops)}
    return Scenario.check(data).with_values(values)


def test_units_become_the_integers_of_the_kernel():
    hop = {"rate": "0.5 Mbit/s", "delay": "200 ms", "queue": 7, "reverse": {"rate": "unlimited"}}
    s = scenario([hop], **{"transport.start": "0.5 s", "transport.bytes": "3000 B", "transport.window": 45})
    rows = build(s, first=3, replications=2).rows
    p = rows.parameters
    assert p[:, RowP.REPLICATION].tolist() == [3, 4]
    expected = {
        RowP.START: 5e8,
        RowP.END: 1e10,
        TcpP.TICK: 1e7,
        ReliableP.MIN_RTO: 2e8,
        RowP.LIMIT: 3,
        RowP.WINDOW: 45,
    }
    assert {column: p[0, column] for column in expected} == expected
    assert p[0, ReliableP.INITIAL_SSTHRESH] == 45
    h = rows.hops[0, 0, 0]
    assert (1500 * h[Hop.BYTE_TIME] + 2**19) >> 20 == 24_000_000
    assert (h[Hop.DELAY], h[Hop.QUEUE], h[Hop.R_BYTE_TIME], h[Hop.R_DELAY], h[Hop.R_QUEUE]) == (
        2e8,
        7,
        0,
        2e8,
        7,
    )
    assert h[Hop.PRESENT] == 1
    assert rows.hops[:, 1].sum() == 0
    assert build(scenario(), replications=1).rows.parameters[0, RowP.LIMIT] == ENDLESS


def test_each_direction_of_a_hop_has_its_own_columns():
    back = {"rate": "2 Mbit/s", "delay": "3 ms", "queue": 9}
    h = build(scenario([{**HOP, "queue": 7, "reverse": back}]), replications=1).rows.hops[0, 0, 0]
    assert h[[Hop.DELAY, Hop.QUEUE]].tolist() == [10_000_000, 7]
    assert h[[Hop.R_DELAY, Hop.R_QUEUE]].tolist() == [3_000_000, 9]
    assert h[Hop.BYTE_TIME] == 2 * h[Hop.R_BYTE_TIME] == 8000 << BYTE_TIME_BITS


def test_sctp_fills_its_own_columns():
    transport = {"protocol": "sctp", "rules": "ns2-2.29", "receiver_window": "64 KiB"}
    rows = build(scenario(transport=transport, paths=[{"hops": [HOP]}] * 2), replications=1).rows
    p = rows.parameters[0]
    expected = {
        SctpP.N_PATHS: 2,
        SctpP.RWND: 65536,
        SctpP.INITIAL_CWND: 2936,
        SctpP.PROBE_FIRST: 0,
        ReliableP.DUPACKS: 4,
        RowP.WINDOW: 44,
    }
    assert {column: p[column] for column in expected} == expected
    assert (p[RowP.DATA], p[RowP.CHUNK_HEADER], p[RowP.HEADER], p[SctpP.HEARTBEAT]) == (1452, 16, 32, 30e9)
    assert rows.hops[0, :, 0, Hop.PRESENT].tolist() == [1, 1]


def as_drawn(rows):
    """Return the rows as kernels read them: numbers of loss rows replaced by their thresholds."""
    losses = rows.losses[rows.hops[..., LOSSES]]
    hops = np.delete(rows.hops, LOSSES, axis=-1)
    used = rows.hops[..., Hop.PRESENT] == 1
    outages = np.sort(rows.outages.reshape(*rows.outages.shape[:3], -1), axis=-1)
    return [rows.parameters.tolist()] + [
        [array[i][used[i]].tolist() for i in range(len(used))] for array in (hops, losses, outages)
    ]


@pytest.mark.parametrize("sizes", [(20,), (1,) * 20, (7, 13), (19, 1)])
def test_a_replication_is_the_same_in_any_chunk(sizes):
    s = scenario(
        [{"count": {"integers": [0 + 1, 5]}, "each": RANDOM}, HOP],
        **{"transport.window": {"integers": [2, 99]}},
    )
    whole = build(s, replications=20)
    starts = np.cumsum([0, *sizes])
    parts = [build(s, first=int(lo), replications=n) for lo, n in zip(starts, sizes, strict=False)]
    assert as_drawn(concatenate([part.rows for part in parts])) == as_drawn(whole.rows)
    for part, lo in zip(parts, starts, strict=False):
        for name in part.drawn:
            assert part.drawn[name].tolist() == whole.drawn[name].loc[lo : lo + len(part.drawn) - 1].tolist()


def test_a_replication_without_random_numbers_of_its_own_is_refused():
    for first in (-1, 2**32, 10**30):
        with pytest.raises(InputError, match=f"replication {first} is out of range; expected 0 to 4294967"):
            build(scenario(), first=first, replications=1)


def test_fields_are_drawn_independently_and_by_name():
    s = scenario([RANDOM, RANDOM], seed=5)
    drawn = build(s, replications=4000).drawn
    delays = drawn[["paths.0.hops.0.delay", "paths.0.hops.1.delay"]]
    assert abs(delays.corr().iloc[0, 1]) < 5 / np.sqrt(4000)
    alone = build(scenario([HOP, RANDOM], seed=5), replications=4000).drawn
    assert alone["paths.0.hops.1.delay"].tolist() == drawn["paths.0.hops.1.delay"].tolist()
    other = build(scenario([HOP, RANDOM], seed=6), replications=4000).drawn
    assert other["paths.0.hops.1.delay"].tolist() != drawn["paths.0.hops.1.delay"].tolist()


def test_a_random_number_of_hops_leaves_no_gap():
    s = scenario([{"count": {"integers": [1, 4]}, "each": HOP}, {**HOP, "queue": 9}])
    rows, drawn = build(s, replications=200)
    count = drawn["paths.0.hops.0.count"].to_numpy().astype(int)
    assert set(count) == {1, 2, 3, 4}
    present = rows.hops[:, 0, :, Hop.PRESENT]
    assert (present.sum(axis=1) == count + 1).all()
    assert (np.diff(present, axis=1) <= 0).all()
    assert (rows.hops[np.arange(200), 0, count, Hop.QUEUE] == 9).all()


def test_losses_are_a_table_of_the_distinct_probabilities():
    s = scenario([{**HOP, "loss": {"choice": [0, 0.5]}, "ack_loss": 0.25}])
    rows, drawn = build(s, replications=50)
    assert rows.losses.tolist() == thresholds([0, 0.25, 0.5]).tolist()
    mine = rows.losses[rows.hops[:, 0, 0, Hop.LOSS]]
    assert mine.tolist() == thresholds(drawn["paths.0.hops.0.loss"]).tolist()
    assert (rows.hops[:, 0, 0, Hop.R_LOSS] == 1).all()


@pytest.mark.parametrize(
    ("outages", "expected"),
    [
        ([], []),
        ([(5, 0)], []),
        ([(5, 2), (1, 3)], [(1, 4), (5, 7)]),
        ([(1, 10), (2, 1), (5, 1)], [(1, 11)]),
        ([(1, 3), (4, 2)], [(1, 6)]),
        ([(9, 3), (5, 2), (1, 10), (20, 0), (30, 1)], [(1, 12), (30, 31)]),
    ],
)
def test_outages_are_disjoint_and_in_order(outages, expected):
    given = [{"start": f"{start} s", "duration": f"{length} s"} for start, length in outages]
    table = build(scenario([{**HOP, "outages": given}]), replications=1).rows.outages[0, 0, 0]
    wanted = [(start * 10**9, end * 10**9) for start, end in expected]
    assert [tuple(row) for row in table.tolist() if row[0] < FOREVER] == wanted
    assert [tuple(row) for row in table.tolist()][: len(wanted)] == wanted


def test_whole_numbers_drawn_from_a_continuous_distribution_are_rounded():
    rows, drawn = build(scenario(**{"transport.window": {"log_uniform": [8, 200]}}), replications=100)
    assert drawn["transport.window"].tolist() == rows.parameters[:, RowP.WINDOW].tolist()
    assert (rows.parameters[:, ReliableP.INITIAL_SSTHRESH] == rows.parameters[:, RowP.WINDOW]).all()
