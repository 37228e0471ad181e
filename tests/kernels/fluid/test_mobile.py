"""Fluid model of mobile hosts: known results and comparison with the packet model."""

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import SCHEDULE_PERIODIC, Out, Rows
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.campaigns.benchmarks.fluid_paths import of_mobile, walks


def run(kind: str, rows: Rows) -> NDArray[np.int64]:
    return launch.run(models.at(Address("path", kind, mobile=True, fluid=True)), rows)


@pytest.mark.full
def test_a_small_window_gets_over_a_handover_in_which_nothing_else_is_out() -> None:
    """Test a window of two packets of Vegas: the second packet reports the loss of the first (network 24).

    The detection takes a round trip; otherwise the fluid would process the same handover endlessly.
    """
    out = run("vegas", walks("fmipv6", "vegas", 26))
    assert (out[:, Out.DELIVERED] > 0).all()


@pytest.mark.full
def test_a_host_that_never_moves_is_like_a_fixed_one() -> None:
    """Compare without random loss, because only the mobile fluid draws the losses of the packet model."""
    rows = walks("hmipv6", "newreno", 40)
    p = rows.parameters
    p[:, MobileP.SCHEDULE], p[:, MobileP.MAP_TO_AR] = SCHEDULE_PERIODIC, 0
    p[:, MobileP.FIRST_HANDOVER] = p[:, RowP.END] + 1
    rows.losses[:] = 0
    rows.losses[:, -1] = 0xFFFFFFFF
    fixed = launch.run(models.at(Address("path", "newreno", fluid=True)), rows)
    assert (run("newreno", rows) == fixed).all()


def one(protocol: str, **mobility: object) -> Scenario:
    """Return a scenario with a window of half the path's capacity, and one handover in the middle."""
    return Scenario.check({
        "duration": "60 s",
        "fidelity": "fluid",
        "transport": {"protocol": "newreno", "window": 40},
        "mobility": {"protocol": protocol, "times": ["30 s"], "outage": "150 ms", **mobility},
        "hops": [{"rate": "10 Mbit/s", "delay": "40 ms"}, {"rate": "11 Mbit/s", "delay": "10 ms"}],
    })  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["fmipv6", "himipv6", "fhmipv6", "s_mip"])
def test_what_a_prepared_handover_keeps_is_not_lost(protocol: str) -> None:
    frame = simulate(one(protocol, buffer=2000), replications=1).frame
    assert frame["prepared"][0] == 1
    assert frame["lost_in_handover"][0] == frame["lost_in_buffer"][0] == 0


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["mipv6", "hmipv6"])
def test_an_unprepared_one_loses_a_window(protocol: str) -> None:
    frame = simulate(one(protocol), replications=1).frame
    assert frame["prepared"][0] == 0 and 20 <= frame["lost_in_handover"][0] <= 60
    assert frame["timeouts"][0] >= 1


@pytest.mark.full
def test_a_small_buffer_loses_the_rest_of_the_window() -> None:
    frames = [simulate(one("fmipv6", buffer=room), replications=1).frame for room in (5, 20, 100)]
    few, some, none = (frame["lost_in_buffer"][0] for frame in frames)
    assert few > some > none == 0


@pytest.mark.full
def test_copies_that_nobody_needs_fill_a_buffer() -> None:
    """Test S-MIP: the new router buffers copies of delivered packets for 1.5 s at 400 packets/s."""
    frame = simulate(one("s_mip", buffer=50), replications=1).frame
    assert frame["lost_in_buffer"][0] > 0 and frame["lost_in_handover"][0] == 0


@pytest.mark.full
@pytest.mark.parametrize(("protocol", "kind", "most"), [
    ("hmipv6", "newreno", 6), ("fmipv6", "newreno", 7), ("himipv6", "sack", 6), ("s_mip", "reno", 7),
    ("mipv6", "sctp", 5), ("fhmipv6", "sctp", 4), ("hmipv6", "linux_reno", 6), ("fmipv6", "linux_cubic", 4),
    ("fhmipv6", "linux_bbr", 5),
])  # fmt: skip
def test_it_is_close_to_packets(protocol: str, kind: str, most: float) -> None:
    """Check the median error over 120 networks (docs/results/fluid-mobile.md), and the handovers."""
    fluid, packets, _ = of_mobile(protocol, kind, 120)
    error = np.abs(fluid[:, Out.DELIVERED] / np.maximum(packets[:, Out.IN_ORDER], 1) - 1)
    assert np.median(error) < most / 100
    assert (fluid[:, Out.HANDOVERS] == packets[:, Out.HANDOVERS]).all()
    assert (fluid[:, Out.PREPARED] == packets[:, Out.PREPARED]).all()


@pytest.mark.full
@pytest.mark.parametrize("every", ["2 s", "3 s", "5 s"])
def test_timers_of_sctp_stay_backed_off_from_handover_to_handover(every: str) -> None:
    """Check back-off: retransmissions give no RTT sample (Karn's algorithm), so timers stay backed off.

    The timeouts are those of the packet model, which has 6, 6 and 46 in two minutes of handovers that each
    lose all packets in flight.
    """
    data = one("mipv6").model_dump(mode="json", exclude_none=True)
    data["mobility"] = {"protocol": "mipv6", "every": every, "outage": "400 ms"}
    data |= {"transport": {"protocol": "sctp", "receiver_window": "60 kB"}, "duration": "120 s"}
    fluid, packets = (simulate(Scenario.check(data | {"fidelity": f}), replications=1).frame
                      for f in ("fluid", "packet"))  # fmt: skip
    assert fluid["timeouts"][0] == packets["timeouts"][0]
    assert fluid["goodput_bps"][0] == pytest.approx(packets["goodput_bps"][0], rel=0.15)


LINUX = pytest.mark.parametrize("control", ["reno", "cubic", "bbr"])


def prepared(control: str, *, outage: str, buffer: int = 2000, **values: str) -> Scenario:
    """Return a scenario of today's Linux with a handover at 30 s that buffers packets."""
    scenario = one("fmipv6", outage=outage, buffer=buffer)
    linux = {"protocol": "linux", "congestion_control": control}
    return scenario.with_values({"transport": linux, **values})


def cwnd(control: str, *, outage: str, buffer: int, since: float, until: float) -> float:
    """Return the mean window of the fluid between two times [packet]."""
    runs = [
        simulate(prepared(control, outage=outage, buffer=buffer, duration=f"{end} s"), replications=1)
        for end in (since, until)
    ]
    total, samples = (
        int(runs[1].integers[0, column] - runs[0].integers[0, column])
        for column in (Out.CWND_SUM, Out.SAMPLES)
    )
    assert samples >= 4
    return total / 1024 / samples


@pytest.mark.full
@LINUX
@pytest.mark.parametrize("outage", ["300 ms", "500 ms", "1 s"])
def test_timeouts_of_linux_during_a_handover_are_those_of_packets(control: str, outage: str) -> None:
    runs = [
        simulate(prepared(control, outage=outage, fidelity=fidelity), replications=1).frame
        for fidelity in ("fluid", "packet")
    ]
    fluid, packets = ([frame[name][0] for name in ("timeouts", "lost_in_buffer")] for frame in runs)
    assert fluid == packets == [2 if outage == "1 s" else 1, 0]
    assert runs[0]["goodput_bps"][0] == pytest.approx(runs[1]["goodput_bps"][0], rel=0.05)


@pytest.mark.full
@LINUX
@pytest.mark.parametrize(("outage", "end"), [("300 ms", 30.3), ("500 ms", 30.5), ("1 s", 31.0)])
def test_a_spurious_timeout_of_linux_leaves_the_window(control: str, outage: str, end: float) -> None:
    """Check the undo: the delayed ACKs show that the timeout was spurious (Eifel detection, RFC 3522).

    If the buffer is too small, the losses cause a recovery, which reduces the window of Reno and CUBIC once.
    """
    before = cwnd(control, outage=outage, buffer=2000, since=29.0, until=29.5)
    late, lossy = (
        cwnd(control, outage=outage, buffer=buffer, since=end + 0.4, until=end + 0.9) for buffer in (2000, 20)
    )
    assert late == pytest.approx(before, rel=0.1)
    kept = {"reno": 0.5, "cubic": 0.7, "bbr": 1.0}[control]
    assert lossy == pytest.approx(kept * before, rel=0.2)
