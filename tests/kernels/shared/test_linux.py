"""Today's Linux over shared links: twin, single flow, other TCPs, and comparison with a path."""

import os
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, Out
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.linux import clocks, transmission_ids
from netcarlo.kernels.linux.state import FIRST, Packet, Tcp, packet_at
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS, LINUX_KINDS, LINUX_RENO
from netcarlo.kernels.shared.layout import Flow, Link
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_linux import row_of, scratch
from tests.kernels.shared.test_shared import ACCESS, COUNTS, differences, dumbbell, lay_between, split
from tests.twins import simulate as simulate_path
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.rows import rows_of

LONG = int(os.environ.get("NETCARLO_LONG", "1"))


@pytest.mark.full
@pytest.mark.parametrize("kind", LINUX_KINDS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_uncompiled_kernel_equals_twin(kind: str) -> None:
    rows = rows_of(f"shared_{kind}", 5 * LONG, seed=len(kind))
    out = run_as_python(f"shared_{kind}", rows)
    flows, _ = split(rows, out)
    assert flows["RETRANSMITTED"].any() and flows["ACK_DROPS"].any()
    assert not (found := differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
def test_kernel_of_all_kinds_equals_twin() -> None:
    rows = rows_of("shared_mixed_linux", 60 * LONG, seed=5)
    out = launch.run(models.model("shared_mixed_linux"), rows)
    assert not (found := differences(rows, out)), "\n\n".join(found)
    kinds = rows.flows[:, :, Flow.KIND]
    busy = split(rows, out)[0]["SENT"] > 0
    for number in (*range(len(KINDS)), *range(LINUX_RENO, LINUX_RENO + len(LINUX_KINDS))):
        assert (busy & (kinds == number)).any(), number


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_rings_that_are_too_small_are_made_larger_and_change_nothing() -> None:
    rows = rows_of("shared_linux_reno", 8, seed=3)
    flows = rows.flows.copy()
    flows[:, :, RowP.RING] = 64
    model = models.model("shared_linux_reno")
    assert (launch.run(model, rows) == launch.run(model, rows._replace(flows=flows))).all()


@pytest.mark.full
@pytest.mark.parametrize("control", ["reno", "cubic", "bbr"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_lone_flow_is_a_path(control: str) -> None:
    """Compare a single flow over a link with the path twin over three hops (cable, link, cable)."""
    rng = np.random.default_rng(len(control))
    repeated = 0
    for _ in range(3):
        own, of_row = row_of().parameters[0], (RowP.SEED, RowP.END, RowP.SAMPLE, RowP.QUEUES)
        flow = {c.name: int(own[c]) for c in P if c not in of_row} | ACCESS | {
            "KIND": LINUX_RENO + LINUX_KINDS.index(f"linux_{control}"), "START": 12345,
            "CLOCK_PHASE": int(rng.integers(0, 1 << 37)), "LIMIT": int(rng.choice([ENDLESS, 400])),
            "DATA": 960, "HEADER": 40,
        }  # fmt: skip
        flow["SOURCE_DELAY"], flow["SINK_DELAY"] = int(rng.integers(MS, 20 * MS)), 2 * MS
        queue, forth = int(rng.integers(5, 20)), int(rng.integers(2000, 6000) << BYTE_TIME_BITS)
        back = int(forth * rng.uniform(1.1, 1.8))
        rows = dumbbell([flow], seconds=8, QUEUE=queue, BYTE_TIME=forth)
        rows.links[0, 1, [Link.BYTE_TIME, Link.QUEUE]] = back, 0
        f, _ = split(rows, run_as_python(f"shared_linux_{control}", rows))

        path = row_of(**{name: value for name, value in flow.items() if name in P.__members__})
        path.parameters[0, [RowP.END, RowP.SAMPLE, RowP.QUEUES]] = 8 * SECOND, SECOND, 0
        lay_between(path, [flow["SOURCE_DELAY"], flow["SINK_DELAY"]], queue=queue, forth=forth, back=back)
        expected = simulate_path(f"tcp_linux_{control}", path)
        assert {c: f[c][0, 0] for c in COUNTS} == {c: expected[Out[c]] for c in COUNTS}
        repeated += f["RETRANSMITTED"][0, 0]
    assert repeated > 10


def test_a_copy_is_known_by_the_last_bits_of_its_timestamp() -> None:
    """Check that a transmission is identified after four minutes and after a retransmission."""
    p, s = scratch()
    s[Tcp.CLOCK_PHASE] = 123_456_789
    for first in (0, 5 * MS, 700 * SECOND + 999_999):
        copy = transmission_ids.transmission_id(s, first)
        for again in (first, first + 400, first + 250 * SECOND):
            s[packet_at(p, s, FIRST) + Packet.SENT] = again // clocks.US
            transmission_ids.note_transmission(p, s, FIRST, copy)
            assert clocks.timestamp_of(s, s[Tcp.RCV_TSVAL]) == clocks.timestamp_of(s, first)


def share_of_bbr(queue: int, beside: dict[str, Any]) -> float:
    """Return the share of BBR in the goodput beside another flow over 10 Mbit/s and 40 ms."""
    network = {
        "dumbbell": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue},
        "flows": [{"congestion_control": "bbr"}, beside],
    }
    given = {"duration": "40 s", "warm_up": "10 s", "replications": 4, "transport": {"protocol": "linux"}}
    scenario = Scenario.check({**given, "shared": network})
    frame = simulate(scenario, target="cpu").frame
    return float((frame.linux_bbr_bps / frame.tcp_goodput_bps).mean())


@pytest.mark.full
def test_bbr_takes_what_shallow_queues_have_and_yields_in_deep_ones() -> None:
    """Test shallow and deep queues: BBR queues about one bandwidth-delay product (33 packets here)."""
    shallow = share_of_bbr(12, {"congestion_control": "cubic"})
    deep = share_of_bbr(300, {"congestion_control": "cubic"})
    assert shallow > 0.75 > 0.45 > deep
    assert share_of_bbr(300, {"protocol": "newreno", "payload": "1448 B", "window": 1000}) < 0.6
