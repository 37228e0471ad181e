"""Rows of many flows and links: comparison with the twin, devices, and memory in proportion to content."""

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, STATUS_NO_NUMBER, STATUS_OK, Trace
from netcarlo.kernels.base.rows import concatenate, take
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS, UDP
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.layout import (
    MAX_FLOWS,
    MAX_HOPS,
    MAX_LINKS,
    Flow,
    Link,
    Shared,
    SharedOut,
    SharedRows,
)
from netcarlo.kernels.shared.state import Fifo, FlowWord, Word
from tests.kernels.beside_twin import run_as_python
from tests.kernels.shared.test_shared import (
    DATAGRAMS,
    LINK_BYTE,
    TCP,
    differences,
    dumbbell,
    run,
    split,
)
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.shared.scenarios import Net, backed_rows

NEWRENO = KINDS.index("newreno")


def ring(flows: int, links: int, *, end: int, kinds: Sequence[int] = range(9), hops: int = 16) -> SharedRows:
    """Return a ring of links, with routes of as many hops each way.

    Flows that start at the same link start in the same nanosecond.
    """
    net = Net(SEED=3, END=end, WARM_UP=end // 2, SAMPLE=100 * MS)
    for _ in range(links):
        net.link(BYTE_TIME=LINK_BYTE << BYTE_TIME_BITS, DELAY=MS, QUEUE=20)
    for k in range(flows):
        kind = kinds[k % len(kinds)]
        columns = DATAGRAMS | {"INTERVAL": 20 * MS} if kind == UDP else TCP | {"KIND": kind}
        route, back = ([(k + hop) % links for hop in way] for way in (range(hops), range(hops, 2 * hops)))
        net.flow(route=route, back=back, **columns | {"START": k % links * 1001})
    return net.row()


@pytest.mark.full
@pytest.mark.parametrize(
    ("flows", "links", "end"),
    [(64, 64, 2 * SECOND), (65, 100, SECOND), (200, 100, SECOND), (MAX_FLOWS, MAX_LINKS, 300 * MS)],
)
def test_kernel_equals_twin(flows: int, links: int, end: int) -> None:
    rows = ring(flows, links, end=end)
    out = run(rows)
    found = differences(rows, out)
    assert not found, "\n\n".join(found)
    f, _ = split(rows, out)
    gone = f["DROPS_QUEUE"] + f["DROPS_RANDOM"] + f["IN_FLIGHT"]
    assert (f["SENT"] + f["IN_FLIGHT_BEFORE"] == f["RECEIVED"] + gone).all()
    rows.parameters[:, Shared.WARM_UP] = 0  # queues are empty when counting begins
    out = run(rows)
    f, k = split(rows, out)
    assert out[0, SharedOut.STATUS] == STATUS_OK and (f["DELIVERED"] > 0).mean() > 0.9
    assert (k["ARRIVALS"] > 0).mean() > 0.9 and k["DROPS"].sum() > 0
    assert (k["ARRIVALS"] == k["DROPS"] + k["SENT"] + k["WAITING"]).all()


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_the_longest_routes_and_detours_equal_the_twin() -> None:
    rows = ring(5, 130, end=500 * MS, kinds=[UDP, NEWRENO], hops=MAX_HOPS)
    assert not differences(rows, run_as_python("shared_newreno", rows))
    rows = backed_rows(rows, seed=4)
    assert (rows.flows[:, :, Flow.BACKUP] > 0).any()
    out = run_as_python("shared_newreno_varying", rows)
    assert not differences(rows, out)
    assert split(rows, out)[0]["DELIVERED"].sum() > 0


@pytest.mark.full
def test_flows_of_a_crowd_are_treated_alike() -> None:
    """Check fairness of 1,024 equal flows that start in the same nanosecond: ties favour no flow."""
    rows = dumbbell([TCP | {"KIND": NEWRENO}] * MAX_FLOWS, seconds=20, QUEUE=2000)
    rows.links[0, :, Link.BYTE_TIME] //= 100  # 100 times as fast
    f, _ = split(rows, launch.run(models.model("shared_newreno"), rows))
    got = f["DELIVERED"][0].reshape(16, -1).mean(axis=1)
    assert got.min() > 50
    assert abs(got / got.mean() - 1).max() < 0.15, got


def test_who_is_beside_whom_changes_no_bit() -> None:
    """Compare a small row alone with the same row in a launch with a large one."""
    small = ring(3, 40, end=SECOND)
    joint = concatenate([ring(70, 128, end=100 * MS), small])
    out = run(joint)
    f, k = split(joint, out)
    alone_f, alone_k = split(small, run(small))
    for name, values in alone_f.items():
        assert (f[name][1, :3] == values[0]).all(), name
    for name, values in alone_k.items():
        assert (k[name][1, :40] == values[0]).all(), name


# Memory.


def words(rows: SharedRows) -> int:
    """Return the words of scratch of a thread."""
    model = models.model("shared_newreno")
    return model.scratch(launch._with_rings(rows, launch._rings(model, rows)))[0]


def test_scratch_is_as_large_as_what_a_row_has() -> None:
    """Check that scratch depends only on the flows and links of the largest row, and at most linearly."""
    small, large = ring(3, 40, end=SECOND), ring(MAX_FLOWS, MAX_LINKS, end=SECOND)
    joint = concatenate([small, large])
    assert words(take(joint, [0])) == words(small)
    assert words(joint) == words(large)
    parts = [words(ring(1, 40, end=SECOND)), words(ring(2, 40, end=SECOND))]
    flow = parts[1] - parts[0]
    assert words(ring(MAX_FLOWS, 40, end=SECOND)) < parts[0] + MAX_FLOWS * (flow + 16)
    assert words(ring(2, MAX_LINKS, end=SECOND)) - parts[1] < (MAX_LINKS - 40) * 300


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_all_of_it_is_laid_out() -> None:
    """Check that no word beyond the scratch is accessed: in Python such an index is an error."""
    rows, model = ring(70, 40, end=30 * MS, kinds=[UDP, NEWRENO]), models.model("shared_newreno")
    given = launch._with_rings(rows, launch._rings(model, rows))
    m, f = launch._scratch(model, given)
    out = np.zeros(model.outcomes(rows), np.int64)
    arrays = (*(field[0] for field in list(given)[:-1]), given.losses)
    model.make(compilers.plain)(*arrays, m, f, out, np.zeros((0, len(Trace))))
    assert (out == launch.run(model, rows)[0]).all()
    queue = m[m[Word.BLOCKS] + 69] + FlowWord.TO_SOURCE  # the last queue
    laid = m[queue + Fifo.BEGIN] + 2 * (m[queue + Fifo.MASK] + 1)
    assert 0.65 * len(m) < laid <= len(m)  # every flow has room for the state of SACK


# Numbers.


@pytest.mark.parametrize("hops", [1, 2, 16, 17, MAX_HOPS])
@pytest.mark.parametrize("flows", [1, 2, 3, 64, 65, MAX_FLOWS])
def test_a_packet_says_whose_it_is_and_which(flows: int, hops: int) -> None:
    m = np.zeros(Word.SIZE, np.int64)
    packet.divide(m, flows, hops)
    most = (1 << int(packet.number_bits(m))) - 1
    if hops <= 16:
        assert most >= (1 << 25) - 1 and (flows > 64 or most >= (1 << 29) - 1)
    for flow in {0, flows // 2, flows - 1}:
        for number in 0, 1, most:
            word = packet.pack(m, flow, number, np.int64(12345)) | packet.BACKWARD | packet.ON_BACKUP_ROUTE
            word += (hops - 1) * packet.ONE_HOP
            assert word >= 0
            assert (packet.flow_of(m, word), packet.number_of(m, word)) == (flow, number)
            assert packet.transmission_id(word) == 12345 and packet.hop_of(m, word) == hops - 1


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_a_row_ends_where_numbers_do() -> None:
    rows = dumbbell([TCP | {"KIND": NEWRENO}] * 2, seconds=1)
    with patch.object(packet, "WORD_BITS", 41):
        assert run_as_python("shared_newreno", rows)[0, SharedOut.STATUS] == STATUS_NO_NUMBER
    with patch.object(packet, "WORD_BITS", 42):
        assert run_as_python("shared_newreno", rows)[0, SharedOut.STATUS] == STATUS_OK
