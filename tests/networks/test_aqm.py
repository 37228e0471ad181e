"""Active queue management in scenarios."""

from typing import Any

import numpy as np
import pytest

from netcarlo import Scenario, simulate
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.shared.layout import (
    CODEL,
    FQ_CODEL,
    NO_AQM,
    PIE,
    RED_DROPS,
    Link,
)
from netcarlo.simulation.ensemble import build

MS = NS // 1000
CABLE = {"rate": "10 Mbit/s", "delay": "20 ms"}


def scenario(more: Any = (), flows: Any = ({},), **fields: Any) -> Scenario:
    """Return a dumbbell whose cable has these fields."""
    shared = {"dumbbell": {**CABLE, **dict(more)}, "flows": [*flows]}
    data = {"duration": "20 s", "transport": {"protocol": "sack", "window": "200 packets"}, "shared": shared}
    return Scenario.check({**data, **fields})


def links(more: Any) -> Any:
    """Return the two links [2, Link.COLUMNS]."""
    return build(scenario(more), replications=1).rows.links[0]


def test_the_short_form_has_the_numbers_of_the_rfc() -> None:
    forth, back = links({"queue": "codel"})
    named = [Link.AQM, Link.QUEUE, Link.AQM_TARGET, Link.AQM_INTERVAL, Link.AQM_MTU, Link.AQM_MARKS]
    assert forth[named].tolist() == back[named].tolist() == [CODEL, 1000, 5 * MS, 100 * MS, 1500, 0]
    forth, _ = links({"queue": "fq_codel"})
    assert forth[named].tolist() == [FQ_CODEL, 10240, 5 * MS, 100 * MS, 1500, 1]
    assert forth[Link.FQ_QUANTUM] == 1514
    forth, _ = links({"queue": "pie"})
    assert forth[named].tolist() == [PIE, 1000, 15 * MS, 15 * MS, 1500, 0]
    gains = np.rint(np.array([0.125, 1.25]) * 2**48 / NS).tolist()
    assert forth[[Link.PIE_BURST, Link.PIE_ALPHA, Link.PIE_BETA]].tolist() == [150 * MS, *gains]


@pytest.mark.parametrize("written", ["fqcodel", "FQ-CoDel", "fq codel"])
def test_other_spellings_are_told_the_name(written: str) -> None:
    with pytest.raises(InputError, match="is unknown; did you mean 'fq_codel'"):
        scenario({"queue": written})


def test_the_long_form() -> None:
    given = {"target": "10 ms", "interval": "200 ms", "mark": True}
    forth, back = links({"queue": 200, "codel": given})
    named = [Link.AQM, Link.QUEUE, Link.AQM_TARGET, Link.AQM_INTERVAL, Link.AQM_MARKS]
    assert forth[named].tolist() == back[named].tolist() == [CODEL, 200, 10 * MS, 200 * MS, 1]
    assert links({"queue": "codel", "codel": given})[0][Link.QUEUE] == 1000


def test_the_way_back_may_be_managed_otherwise() -> None:
    forth, back = links({"queue": "codel", "reverse": {"queue": "pie"}})
    assert forth[Link.AQM] == CODEL and back[Link.AQM] == PIE
    forth, back = links({"reverse": {"queue": "fq_codel"}})
    assert (forth[[Link.AQM, Link.QUEUE]] == [NO_AQM, 50]).all() and back[Link.AQM] == FQ_CODEL
    forth, back = links({"queue": "codel", "reverse": {"red": {}}})
    assert forth[Link.AQM] == CODEL and back[[Link.AQM, Link.RED]].tolist() == [NO_AQM, RED_DROPS]


def test_numbers_may_be_drawn() -> None:
    given = {"target": {"uniform": ["2 ms", "20 ms"]}}
    rows = build(scenario({"fq_codel": given}), replications=20).rows
    target = rows.links[:, 0, Link.AQM_TARGET]
    assert len(set(target.tolist())) == 20 and target.min() >= 2 * MS and target.max() <= 20 * MS


def test_nobody_else_runs_the_model_that_has_it() -> None:
    for more, flows, name in (
        ({}, [{}], "shared_sack"),
        ({"red": {}}, [{}], "shared_sack"),
        ({"queue": "codel"}, [{}], "shared_sack_aqm"),
        ({"reverse": {"queue": "pie"}}, [{"protocol": "reno"}, {}], "shared_mixed_aqm"),
        ({"queue": "pie"}, [{"protocol": "linux"}, {}], "shared_mixed_linux_aqm"),
        ({"queue": "pie"}, [{"udp": {"rate": "1 Mbit/s"}}], "shared_tahoe_aqm"),
    ):
        one = scenario(more, flows)
        assert one.network.address(one, fluid=False).name == name


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"red": {}, "codel": {}}, "red and codel are both given; keep one"),
        ({"queue": "pie", "fq_codel": {}}, "pie and fq_codel are both given; keep one"),
        ({"queue": "codl"}, "shared.dumbbell.queue = 'codl' is not a number of packets"),
        ({"codel": {"interval": "4 s"}}, "shared.dumbbell.codel.interval = '4 s' is above the limit"),
        ({"pie": {"alpha": 0}}, "shared.dumbbell.pie.alpha = 0 is below the limit"),
        ({"codel": {"quantum": "1500 B"}}, "shared.dumbbell.codel.quantum is an unknown field"),
    ],
)
def test_what_does_not_fit_is_refused(more: Any, told: str) -> None:
    with pytest.raises(InputError) as refused:
        scenario(more)
    assert told in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("fidelity", "queue"), [("fluid", "pie"), ("formula", "codel")])
def test_cheap_fidelities_do_not_know_it(fidelity: str, queue: str) -> None:
    with pytest.raises(InputError, match=f"the {fidelity} model does not support {queue}") as refused:
        simulate(scenario({"queue": queue}, fidelity=fidelity), replications=2)
    assert "\n" not in str(refused.value)


def test_the_fluid_has_codel_and_fq_codel() -> None:
    for queue, name in (("codel", "fluid_aqm"), ("fq_codel", "fluid_aqm"), (50, "fluid")):
        one = scenario({"queue": queue}, fidelity="fluid")
        assert not one.network.unknown(one, "fluid")
        assert one.network.address(one, fluid=True).name == name


@pytest.mark.full
def test_a_fair_queue_keeps_a_call_from_waiting() -> None:
    """A call at half its fair share loses datagrams in a full drop-tail queue, but none with FQ-CoDel."""
    call = {"udp": {"rate": "1 Mbit/s", "payload": "1200 B"}}
    lost = {}
    for queue in ("fq_codel", 50):
        one = scenario({"queue": queue}, [{"count": 4}, call])
        lost[queue] = simulate(one, replications=3).frame["loss_ratio"].mean()
    assert lost["fq_codel"] == 0 < 0.001 < lost[50]
