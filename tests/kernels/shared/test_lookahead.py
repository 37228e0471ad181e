"""Lookahead: same outcomes as in event order, with a third of the iterations in a dumbbell."""

import functools
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.senders import KINDS, UDP
from netcarlo.kernels.shared import agenda
from netcarlo.kernels.shared.layout import SharedOut, SharedRows
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.kernels.beside_twin import run_as_python
from tests.kernels.shared.test_shared import differences
from tests.twins.shared.scenarios import shared_rows

pytestmark = pytest.mark.full

class_of = agenda.class_of
TURNS = [0]


def counted(key: Any) -> Any:
    """Count the calls of `agenda.class_of`, one per iteration of the event loop."""
    TURNS[0] += 1
    return class_of(key)


def turns(name: str, rows: SharedRows, *, monkeypatch: pytest.MonkeyPatch, ahead: bool) -> tuple[Any, int]:
    """Return the outcomes and the number of iterations."""
    step = functools.partial(compilers.plain)
    step.lockstep = not ahead  # type: ignore[attr-defined]
    monkeypatch.setattr(compilers, "plain", step)
    monkeypatch.setattr(agenda, "class_of", counted)
    TURNS[0] = 0
    return run_as_python(name, rows), TURNS[0]


@pytest.mark.parametrize("kind", ["newreno", "sack", "vegas"])
@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_outcomes_are_those_in_order(kind: str, one_way: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    number = KINDS.index(kind)
    rows = shared_rows(8, seed=100 + number, kinds=[UDP, number, number], one_way=one_way)
    out, fewer = turns(f"shared_{kind}", rows, monkeypatch=monkeypatch, ahead=True)
    same, most = turns(f"shared_{kind}", rows, monkeypatch=monkeypatch, ahead=False)
    np.testing.assert_array_equal(out, same)  # includes the number of events
    assert fewer < 0.97 * most


def test_kernel_equals_twin_where_data_go_one_way() -> None:
    rows = shared_rows(60, seed=3, one_way=True)
    found = differences(rows, launch.run(models.model("shared_mixed"), rows))
    assert not found, "\n\n".join(found)


def dumbbell(mbps: int) -> SharedRows:
    """Return flows with different start times over a bottleneck of this rate, with hosts at 1 Gbit/s."""
    flows = [{"start": f"{start} s"} for start in (0, 0.02, 0.05, 0.3, 0.6)]
    links = {"rate": f"{mbps} Mbit/s", "delay": "20 ms", "queue": 60}
    return build(
        Scenario.check({
            "duration": "6 s", "warm_up": "3 s", "seed": 7,
            "transport": {"protocol": "newreno", "window": 32},
            "shared": {"dumbbell": links, "flows": flows},
        }),
        replications=1,
    ).rows  # fmt: skip


@pytest.mark.parametrize("mbps", [10, 40, 200])  # a SYN on the link takes longer than data to a host, or less
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_dumbbell_takes_a_turn_for_a_packet(mbps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = dumbbell(mbps)
    out, taken = turns("shared_newreno", rows, monkeypatch=monkeypatch, ahead=True)
    same, _ = turns("shared_newreno", rows, monkeypatch=monkeypatch, ahead=False)
    np.testing.assert_array_equal(out, same)
    assert taken < 0.4 * out[0, SharedOut.EVENTS]
