"""Delays of data over paths: a compiled kernel, the engine of shared links, and an outage."""

import os

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER, Hop, Rows
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.kernels.beside_twin import differing, run_as_python
from tests.kernels.shared.test_shared import Ints
from tests.kernels.test_delays import check_one_flow, delays, scenarios
from tests.twins import simulate

LONG = int(os.environ.get("NETCARLO_LONG", "1"))


@pytest.mark.full
def test_kernel_equals_twin() -> None:
    rows = scenarios("tcp_newreno_delays", 60 * LONG, seed=41)
    out = launch.run(models.model("tcp_newreno_delays"), rows)
    found = differing(out, lambda row: simulate("tcp_newreno_delays", rows, row=row), str, str)
    assert not found, "\n\n".join(found)
    check_one_flow(rows, out, delays(rows, out)[:, 0])


def alike(transport: object, engine: str) -> tuple[str, Rows | tuple[Ints, ...]]:
    """Return model and rows of the same random paths for the engine of paths, or that of shared links.

    No queue is full, because the engines differ in which packet leaves in the nanosecond of an arrival.
    """
    drawn = {"rate": {"uniform": ["2 Mbit/s", "9 Mbit/s"]}, "delay": {"uniform": ["1 ms", "30 ms"]}}
    hops = [{**drawn, "queue": "unlimited"}, {**drawn, "queue": "unlimited"}]
    if engine == "shared":  # CoDel with a target above all queueing delays
        hops[1]["codel"] = {"target": "3 s", "interval": "3 s"}
    asked = Scenario.check({"duration": "3 s", "transport": transport, "paths": [{"hops": hops}]})
    return asked.network.address(asked, fluid=False).name, build(asked, replications=5 * LONG).rows


@pytest.mark.full
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


@pytest.mark.full
def test_an_outage_makes_data_wait_that_is_sent_again() -> None:
    """Test data lost in an outage: delay counts from the first transmission; without a bound none is late."""
    asked = Scenario.check({
        "duration": "20 s", "transport": {"protocol": "newreno", "window": 8, "class": "bulk"},
        "hops": [{"rate": "5 Mbit/s", "delay": "10 ms", "outages": [{"start": "5 s", "duration": "2 s"}]}],
    })  # fmt: skip
    rows = build(asked, replications=1).rows
    counts = delays(rows, launch.run(models.model("tcp_newreno_delays"), rows))[0, 0]
    longest = int(np.flatnonzero(counts[DelayOut.DELAYS :])[-1])
    assert rows.parameters[0, RowP.LATE] == FOREVER and counts[DelayOut.LATE] == 0
    low, high = ((octave_edge(longest + k) << 7) / 1e9 for k in (0, 1))
    assert low < 4.0 and high > 2.0  # packets of the last window, after its timeouts
    assert rows.hops[0, 0, 0, Hop.PRESENT] == 1


def octave_edge(number: int) -> int:
    """Return the smallest number in a bin, see `base.histogram`."""
    octave = max(number // 32 - 1, 0)
    return (number - 32 * octave) << octave
