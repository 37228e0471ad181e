"""Flows that arrive and depart over 802.11, from a scenario to its outcomes."""

from typing import Any

import pytest

from netcarlo import simulate
from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import Flow
from netcarlo.networks.wireless.output import WifiOutput
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build

USERS = {"think": {"exponential": {"mean": "1 s"}}}
DOWN = {"source": "gateway", "sink": "station"}


def cell(*flows: dict[str, Any], stations: int = 3, **fields: Any) -> dict[str, Any]:
    return {
        "duration": "12 s", "warm_up": "2 s", "replications": 4,
        "transport": {"protocol": "linux", "congestion_control": "cubic"},
        "wireless": {"standard": "802.11ax", "mcs": 7, "cell": {"stations": stations}, "flows": list(flows)},
    } | fields  # fmt: skip


def arriving(count: int, arrivals: dict[str, Any], size: Any = "30 kB", **each: Any) -> dict[str, Any]:
    return {"count": count, "arrivals": arrivals, "size": size, "each": DOWN | each}


def test_poisson_arrivals_are_spread_over_the_stations() -> None:
    """Each station has its share of the rate and of the slots; users have a slot each."""
    asked = cell(arriving(7, {"poisson": "30 /s"}), {"source": 0}, arriving(4, USERS))
    rows = build(Scenario.check(asked), replications=1).rows
    flows = WifiOutput(rows).flows[0]
    assert flows[:, Flow.CLASS].tolist() == [1] * 7 + [0] + [2] * 4
    assert flows[:, Flow.SLOTS].tolist() == [3, 0, 0, 2, 0, 2, 0] + [0] + [1] * 4
    assert flows[:7, Flow.GAP].tolist() == [10**8] * 7  # 30 /s over three stations
    assert not flows[7:, Flow.GAP].any()


@pytest.mark.full
def test_what_is_offered_is_carried() -> None:
    """At light load nothing is blocked, all that is offered arrives, and a flow takes a few round trips."""
    wire = {"rate": "1 Gbit/s", "delay": "10 ms"}
    asked = cell(arriving(30, {"poisson": "40 /s"}, {"uniform": ["1 kB", "59 kB"]}), replications=16)
    asked["wireless"]["wire"] = wire
    frame = simulate(Scenario.check(asked), target="cpu").frame
    assert frame.offered_bps.mean() == pytest.approx(40 * 30_000 * 8, rel=0.05)
    assert frame.carried_bps.to_numpy() == pytest.approx(frame.offered_bps, rel=0.01)
    assert frame.goodput_bps.to_numpy() == pytest.approx(frame.carried_bps)
    assert (frame.blocked_share == 0).all() and not any("slowdown" in name for name in frame)
    # A handshake, and one to three rounds of slow start from ten packets: 20 ms each.
    assert frame.completion_p50_s.between(0.03, 0.08).all()
    assert (frame.completion_p50_10kB_s < frame.completion_p50_100kB_s).all()


@pytest.mark.parametrize(
    ("flows", "change", "said"),
    [
        ({**arriving(3, USERS), "size": None}, {}, "arrivals need a size"),
        (arriving(3, USERS, bytes="1 MB"), {}, "arrivals and each.bytes are both given"),
        (arriving(3, USERS, udp={"rate": "1 Mbit/s"}), {}, "write each.protocol"),
        (arriving(3, USERS), {"transport": {"protocol": "sctp"}}, "sctp with arrivals"),
        (arriving(3, USERS), {"transport": {"protocol": "udp", "rate": "1 Mbit/s"}}, "arrivals need TCP"),
        (arriving(3, {"poisson": "1 /s", **USERS}), {}, "poisson and think are both given"),
    ],
)  # fmt: skip
def test_what_there_cannot_be_is_refused(flows: Any, change: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        simulate(Scenario.check(cell({k: v for k, v in flows.items() if v is not None}, **change)))


def test_fast_models_refuse_arrivals() -> None:
    asked = cell(arriving(3, USERS), fidelity="fluid", transport={"protocol": "sack"})
    asked["wireless"] |= {"standard": "802.11g"}
    del asked["wireless"]["mcs"]
    with pytest.raises(InputError, match=r"does not support wireless\.flows\.0\.arrivals"):
        simulate(Scenario.check(asked))
