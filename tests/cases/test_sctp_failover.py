"""SCTP over two paths: duration of a failover (`failover_s`), and return to the primary path (`failback`)."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import InputError, Scenario, estimate, load_scenario, simulate, trace
from netcarlo.estimation.goals import parse
from netcarlo.kernels.base.parameters import SctpP
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.studies.study import load

HERE = Path(__file__).parent
HOP = {"rate": "1 Mbit/s", "delay": "10 ms", "queue": 50}
RTT_S = 0.6
"""Upper bound of the round-trip time through the full queue of `HOP` [s]."""


def failing(**values: Any) -> Scenario:
    """Return a scenario whose first path is down from 20 s to 145 s, without heartbeats."""
    return load_scenario(HERE / "sctp_failover_time.yaml").with_values(values)


def backup(**values: Any) -> Scenario:
    """Return a scenario whose primary path is down from 20 s to 120 s."""
    return load_scenario(HERE / "sctp_no_failback.yaml").with_values(values)


def two_paths(*outages: list[tuple[float, float]], duration: str = "120 s", **transport: Any) -> Scenario:
    """Return a scenario of two paths with outages, each from and to [s], and heartbeats every second."""
    paths = [
        {"hops": [HOP | {"outages": [{"start": f"{a} s", "duration": f"{b - a} s"} for a, b in times]}]}
        for times in outages
    ]
    fields = {"protocol": "sctp", "heartbeat_interval": "1 s", "path_max_retrans": 0} | transport
    return Scenario.check({"duration": duration, "transport": fields, "paths": paths})


def first_sendings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a trace in which new data are sent."""
    sent = frame[frame.event == "send"]
    return sent[~sent.sequence.duplicated()]


def paths_between(frame: pd.DataFrame, start_s: float, end_s: float) -> set[int]:
    """Return the paths that new data take between two times."""
    new = first_sendings(frame)
    return set(new.path[(new.time_s > start_s) & (new.time_s < end_s)])


@pytest.mark.parametrize(("retrans", "seconds"), [(0, 1), (1, 3), (2, 7), (5, 63)])
@pytest.mark.parametrize("fidelity", ["packet", "fluid"])
def test_a_failover_lasts_for_all_timeouts(retrans: int, seconds: int, fidelity: str) -> None:
    """A failover takes timeouts of 1, 2, 4, ... s until they exceed path_max_retrans (RFC 9260, section
    8.2)."""
    asked = failing(**{"transport.path_max_retrans": retrans, "fidelity": fidelity})
    found = simulate(asked, replications=2).frame
    assert found.failover_s.to_numpy() == pytest.approx(seconds, rel=0.09)


@pytest.mark.parametrize("retrans", [0, 1, 2, 5])
def test_failover_and_silence_are_those_of_the_trace(retrans: int) -> None:
    asked = failing(**{"transport.path_max_retrans": retrans})
    frame, outcomes = trace(asked)
    found = outcomes.frame.iloc[0]
    timeouts = frame[frame.event == "timeout"]
    assert len(timeouts) == retrans + 1
    silent = timeouts.time_s.iloc[0] - 1.0  # the first one took min_rto
    assert found.failover_s == pytest.approx(timeouts.time_s.iloc[-1] - silent, abs=1e-6)
    moved = first_sendings(frame).query("path == 1").time_s.iloc[0]
    assert 0 <= moved - (20 + found.failover_s) < 0.3  # retransmissions are sent first
    arrivals = frame[frame.event == "receive"].time_s.to_numpy()
    assert found.longest_silence_s == pytest.approx(np.diff(arrivals).max(), abs=1e-8)


def test_a_single_retransmission_is_no_failover() -> None:
    """A single retransmission gives the same `resume_rx_s` for every path_max_retrans, so goals use
    `failover_s`."""
    asked = failing(**{"transport.path_max_retrans": 5})
    goals = ["resume_rx_s <= 22 s", "failover_s <= 22 s", "failover_s <= 65 s"]
    found = estimate(asked, replications=2, goals=goals)
    met = dict(zip(found.goals.index, found.goals["probability"], strict=True))
    assert met == {goals[0]: 1.0, goals[1]: 0.0, goals[2]: 1.0}


def test_without_a_failover_there_is_no_time_of_one() -> None:
    """An outage of 5 s ends before the third timeout; a goal that needs a failover is not met."""
    frame = simulate(failing(**{"paths.0.hops.0.outages.0.duration": "5 s"}), replications=2).frame
    assert "failover_s" not in frame or frame.failover_s.isna().all()
    assert not parse("failover_s <= 100 s").held({"failover_s": np.array([np.nan])})[0]


def test_only_two_paths_have_a_failover() -> None:
    assert {"failover_s", "longest_silence_s"} <= set(measurable.outcomes(failing()))
    assert "failover_s" in measurable.outcomes(failing(fidelity="fluid"))
    alone = Scenario.check({"duration": "10 s", "transport": {"protocol": "sctp"}, "hops": [HOP]})
    assert not {"failover_s", "longest_silence_s"} & set(measurable.outcomes(alone))
    with pytest.raises(InputError, match="'failover_s' is not measured here"):
        estimate(alone, replications=2, goals=["failover_s <= 5 s"])


@pytest.mark.parametrize("given", [{}, {"transport.failback": True}])
def test_new_data_return_to_the_main_line(given: dict[str, Any]) -> None:
    """New data return when the sender's heartbeat is answered; it was backed off to 60 s (RFC 9260,
    section 6.4)."""
    frame, outcomes = trace(backup(**given))
    answers = frame[(frame.event == "heartbeat ack") & (frame.sequence == 0) & (frame.path == 0)]
    answered = answers.time_s[answers.time_s > 120].iloc[0]
    gave_up = frame[frame.event == "timeout"].time_s.iloc[-1]
    assert gave_up + 60 < answered < gave_up + 60 + RTT_S
    assert paths_between(frame, gave_up + RTT_S, answered) == {1}
    assert paths_between(frame, answered + RTT_S, 300) == {0}
    carried = outcomes.frame.sent_alternate.iloc[0]
    assert carried == pytest.approx((answered - gave_up) * 1e6 / 8 / 1500, rel=0.02)
    assert carried < 0.3 * 18_075


def test_as_in_ns2_they_stay() -> None:
    frame, outcomes = trace(backup(**{"transport.failback": False}))
    assert outcomes.frame.sent_alternate.iloc[0] == 18_075  # as ns-2 2.35 sends
    assert paths_between(frame, 130, 300) == {1}


@pytest.mark.parametrize("failback", [True, False])
def test_the_fluid_follows_the_same_rule(failback: bool) -> None:
    asked = (backup(**{"transport.failback": failback, "fidelity": name}) for name in ("packet", "fluid"))
    packets, fluid = (simulate(scenario, replications=2).frame.iloc[0] for scenario in asked)
    for name in ("sent_alternate", "failover_s", "goodput_bps", "timeouts"):
        assert fluid[name] == pytest.approx(packets[name], rel=0.02), name


@pytest.mark.full
def test_data_return_after_every_outage() -> None:
    """Data return to the primary path after every outage; without heartbeats, they stay on the second
    path."""
    outages = [(20.0, 25.0), (60.0, 65.0)]
    frame, outcomes = trace(two_paths(outages, []))
    assert paths_between(frame, 22, 25) == paths_between(frame, 62, 65) == {1}
    assert paths_between(frame, 35, 60) == paths_between(frame, 75, 120) == {0}
    assert outcomes.frame.failover_s.iloc[0] == pytest.approx(1.3, abs=0.4)
    deaf, _ = trace(two_paths(outages, [], heartbeat_interval="0 s"))
    assert paths_between(deaf, 22, 120) == {1}


@pytest.mark.parametrize("second", [(70.0, 75.0), (40.0, 50.0)])
def test_the_path_that_comes_back_first_is_used(second: tuple[float, float]) -> None:
    """The second path fails while the first one is down; the path that comes back first is used."""
    frame, _ = trace(two_paths([(20.0, 100.0)], [second]))
    assert paths_between(frame, 25, second[0]) == {1}
    assert paths_between(frame, 90, 100) == {1}  # retransmissions do not mark the first path as active
    frame, _ = trace(two_paths([(20.0, 50.0)], [(40.0, 100.0)]))
    assert paths_between(frame, 70, 120) == {0}


@settings(deadline=None, max_examples=12)
@given(st.lists(st.floats(10, 100), min_size=4, max_size=4, unique=True), st.integers(0, 1))
def test_a_live_primary_path_carries_the_data(times: list[float], retrans: int) -> None:
    """Long after all outages new data take the primary path, regardless of the order of failures."""
    a, b, c, d = (round(t, 1) for t in sorted(times))
    outages = [(a, b + 0.5)], [(c, d + 0.5)]
    frame, outcomes = trace(two_paths(*outages, duration="200 s", path_max_retrans=retrans))
    if first_sendings(frame).time_s.max() > 199:  # the association has survived
        assert paths_between(frame, 190, 200) == {0}
    found = outcomes.frame.iloc[0]
    assert np.isnan(found.failover_s) or 0 < found.failover_s < found.last_delivery_s


def test_with_one_path_there_is_nothing_to_return_to() -> None:
    alone = {"duration": "60 s", "hops": [HOP | {"outages": [{"start": "20 s", "duration": "5 s"}]}]}
    written = [{"transport": {"protocol": "sctp", "failback": given}} for given in (True, False)]
    tables = [simulate(Scenario.check(alone | fields), replications=2) for fields in written]
    assert (tables[0].integers == tables[1].integers).all()


def test_the_published_study_keeps_the_rule_of_ns2() -> None:
    study = load("sctp_linkdown")
    rows = build(load_scenario(Path(str(study.folder)) / "sctp_multi.yaml"), replications=1).rows
    assert rows.parameters[0, SctpP.FAILBACK] == 0
