"""Delays of data over paths: the kernels beside their twins and the engine of shared links, bit for bit."""

import os

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER, Failover, Hop, Out, P, Rows
from netcarlo.kernels.base.rows import split
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.kernels.beside_twin import differing, run_as_python
from tests.kernels.shared.test_shared import Ints
from tests.twins import simulate
from tests.twins.path.scenarios import as_datagrams
from tests.twins.rows import rows_of

LONG = int(os.environ.get("NETCARLO_LONG", "1"))


def scenarios(name: str, count: int, *, seed: int) -> Rows:
    rows = rows_of(name, count, seed=seed)
    assert isinstance(rows, Rows)
    return as_datagrams(rows, seed=seed) if "udp" in name else rows


def table(out: Ints, rows: Rows) -> Ints:
    """What came of the delays [n, DelayOut.COLUMNS]."""
    return split(out, rows)["delays"][:, 0]


def check(name: str, rows: Rows, out: Ints) -> None:
    found = differing(out, lambda row: simulate(name, rows, row=row), str, str)
    assert not found, "\n\n".join(found)
    counts = table(out, rows)
    assert (counts[:, DelayOut.PACKETS] == out[:, Out.DELIVERED]).all()
    assert (counts[:, DelayOut.DELAYS :].sum(axis=1) == counts[:, DelayOut.PACKETS]).all()
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM, DelayOut.JITTER:  # so it is worth something
        assert (counts[:, column] > 0).any(), column


def test_kernel_equals_twin() -> None:
    rows = scenarios("tcp_newreno_delays", 60 * LONG, seed=41)
    check("tcp_newreno_delays", rows, launch.run(models.model("tcp_newreno_delays"), rows))


@pytest.mark.parametrize("name", [
    "tcp_sack_varying_delays", "tcp_reno_delays_reordering", "tcp_linux26_mobile_delays", "tcp_vegas_delays",
    "tcp_linux_cubic_messages_tuned_delays", "tcp_linux_bbr_mobile_delays", "tcp_linux_reno_delays",
    "sctp_delays", "sctp_mobile_delays", "sctp_delays_reordering", "udp_delays", "udp_mobile_delays",
    "udp_delays_reordering",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy's scalars warn of what Philox intends
def test_uncompiled_kernels_equal_their_twins(name: str) -> None:
    rows = scenarios(name, 12 * LONG, seed=42)
    check(name, rows, run_as_python(name, rows))


@pytest.mark.parametrize("name", ["tcp_newreno", "tcp_linux_cubic", "sctp", "udp_mobile"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_measuring_changes_nothing_else(name: str) -> None:
    asked = scenarios(f"{name}_delays", 12 * LONG, seed=43)
    rows = asked._replace(parameters=asked.parameters.copy())
    rows.parameters[:, P.LATE] = 0
    out, with_delays = run_as_python(name, rows), run_as_python(f"{name}_delays", asked)
    behind = out.shape[1] - (Failover.COLUMNS if name == "sctp" else 0)  # the failover of SCTP comes last
    assert (with_delays[:, :behind] == out[:, :behind]).all()
    assert (with_delays[:, behind + DelayOut.COLUMNS :] == out[:, behind:]).all()
    assert with_delays.shape[1] == out.shape[1] + DelayOut.COLUMNS


def alike(transport: object, engine: str) -> tuple[str, Rows | tuple[Ints, ...]]:
    """Model and rows of the same random paths for the engine of paths, or that of shared links.

    No queue is full: which packet leaves in the nanosecond in which another comes is not the same.
    """
    drawn = {"rate": {"uniform": ["2 Mbit/s", "9 Mbit/s"]}, "delay": {"uniform": ["1 ms", "30 ms"]}}
    hops = [{**drawn, "queue": "unlimited"}, {**drawn, "queue": "unlimited"}]
    if engine == "shared":  # a queue that is managed, with a target that nothing reaches
        hops[1]["codel"] = {"target": "3 s", "interval": "3 s"}
    asked = Scenario.check({"duration": "3 s", "transport": transport, "paths": [{"hops": hops}]})
    return asked.network.address(asked, fluid=False).name, build(asked, replications=5 * LONG).rows


@pytest.mark.parametrize("transport", [
    {"protocol": "newreno", "window": 40}, {"protocol": "sack", "ack_every": 2, "window": 60},
    {"protocol": "sctp", "rules": "ns2-2.29"}, {"protocol": "udp", "rate": "5 Mbit/s"},
    {"protocol": "linux", "window": 200},
], ids=lambda transport: transport["protocol"])  # fmt: skip
def test_they_are_those_of_a_network_of_one_flow(transport: dict[str, object]) -> None:
    transport |= {"class": "video", "late": "30 ms"}
    found = []
    for engine in "path", "shared":
        name, rows = alike(transport, engine)
        found.append(run_as_python(name, rows)[:, -DelayOut.COLUMNS :])
        assert name.startswith("shared") == (engine == "shared")
    assert (found[0] == found[1]).all() and (found[0][:, DelayOut.PACKETS] > 300).all()
    assert (found[0][:, DelayOut.LATE] > 0).any()


def test_an_outage_makes_data_wait_that_is_sent_again() -> None:
    """What a hop destroys counts from when it was first put out; nothing is late without a bound."""
    asked = Scenario.check({
        "duration": "20 s", "transport": {"protocol": "newreno", "window": 8, "class": "bulk"},
        "hops": [{"rate": "5 Mbit/s", "delay": "10 ms", "outages": [{"start": "5 s", "duration": "2 s"}]}],
    })  # fmt: skip
    rows = build(asked, replications=1).rows
    counts = table(launch.run(models.model("tcp_newreno_delays"), rows), rows)[0]
    longest = int(np.flatnonzero(counts[DelayOut.DELAYS :])[-1])
    assert rows.parameters[0, P.LATE] == FOREVER and counts[DelayOut.LATE] == 0
    low, high = ((octave_edge(longest + k) << 7) / 1e9 for k in (0, 1))
    assert low < 4.0 and high > 2.0  # those of the last window, by its timeouts
    assert rows.hops[0, 0, 0, Hop.PRESENT] == 1


def octave_edge(number: int) -> int:
    """The least number in a bin, see `base.histogram`."""
    octave = max(number // 32 - 1, 0)
    return (number - 32 * octave) << octave
