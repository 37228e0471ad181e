"""Outcomes are within their bounds, and relations between them hold, for any network.

The tests use a scenario with each feature in each fidelity that supports it; `python -m tests.campaigns
outcomes 1000` runs more.
"""

from typing import Any

import numpy as np
import pytest

from netcarlo.networks import classes
from netcarlo.networks.relations import RELATIONS, RUN
from netcarlo.scenario import Scenario
from netcarlo.simulation.outcomes import OUTCOMES
from tests.properties.outcomes import FIDELITIES, broken, run
from tests.properties.scenarios import FAMILIES, draw

TRIES = 12
"""Maximum scenarios with a feature that are drawn until packets are sent in one."""

NOTHING = {("path", "formula", "all lost")}
"""Features with which a cheap model sends nothing, by nature."""


@pytest.mark.full
@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_outcome_is_impossible(family: str, fidelity: str) -> None:
    features = list(FAMILIES[family][1])
    for number, feature in enumerate(features):
        sent = False
        for k in range(number, number + TRIES * len(features), len(features)):
            drawn = draw(k, family=family, fidelity=fidelity)
            if drawn is None or sent:  # the fidelity refuses what the feature is about
                break
            assert drawn[0] == feature
            result = run(drawn[1])
            assert broken(result) == [], f"{family} {k} ({feature}) by {fidelity}"
            frame = result.found.frame
            sent = bool((frame["sent" if "sent" in frame else "goodput_bps"] > 0).any())
        else:
            assert sent or (family, fidelity, feature) in NOTHING, feature
        assert fidelity != "packet" or sent, feature


def test_relations_are_between_outcomes_that_there_are() -> None:
    of_parts = {"in_flight_before", "drops", "base_rtt_s", "drops_leg", "lost_retries"}
    known = {outcome.name for outcome in (*OUTCOMES, *classes.CLASS_OUTCOMES)} | {*RUN} | of_parts
    for relation in RELATIONS:
        for left, _, right in relation.pairs:
            assert {*left, *right} <= known, relation


WIRE = {"rate": "1 Mbit/s", "delay": "10 ms", "queue": 4}
BROKE: dict[str, Any] = {
    "flows that end one after the other": {  # 11 Mbit/s over a radio of 6 Mbit/s
        "wireless": {"cell": {"stations": 12}, "rate": "6 Mbit/s"}, "duration": "2 s",
        "transport": {"protocol": "newreno", "packets": 3, "payload": "1000 B"},
    },
    "a wait that the end cuts short": {  # 4.8 s in a run of 1.6 s
        "shared": {"dumbbell": WIRE | {"queue": "unlimited"}, "flows": [{"count": 6}]}, "duration": "1 s",
        "transport": {"protocol": "newreno", "window": 64, "initial_window": 64},
    },
    "a fluid's wait that the end cuts short": {
        "shared": {"dumbbell": WIRE | {"queue": "unlimited"}, "flows": [{"count": 6}]}, "duration": "1 s",
        "transport": {"protocol": "newreno", "window": 64, "initial_window": 64}, "fidelity": "fluid",
    },
    "a fluid's window above the receiver's": {  # 37 packets of 4
        "hops": [WIRE | {"queue": 1, "delay": "6 us"}], "duration": "510 ms", "fidelity": "fluid",
        "transport": {
            "protocol": "sack", "congestion_control": "westwood", "payload": "1 B", "window": 4,
            "initial_window": 1, "initial_ssthresh": 64,
        },
    },
    "a fluid's round trip longer than the run": {  # 5.4 s in a run of 2.8 s
        "hops": [WIRE | {"rate": "27 kbit/s"}], "duration": "2.8 s", "fidelity": "fluid",
        "transport": {"protocol": "newreno", "payload": "9000 B"},
    },
    "counts of a fluid that rounding takes back": {  # 1 packet sent, 2 arrived or lost
        "shared": {"dumbbell": WIRE | {"rate": "7750000 bit/s", "delay": "0 s"}, "flows": [{"count": 20}]},
        "transport": {"protocol": "newreno", "window": 1024}, "duration": "266.5 ms", "warm_up": "106.6 ms",
        "fidelity": "fluid",
    },
    "a formula for BIC with a window of 1": {  # -602 Mbit/s
        "hops": [WIRE | {"delay": "0 s", "outages": [{"start": "179 ms", "duration": "1.135 s"}]}],
        "transport": {"protocol": "sack", "congestion_control": "bic", "window": 1, "initial_window": 1},
        "duration": "19.39 s", "fidelity": "formula",
    },
}  # fmt: skip
"""Scenarios with impossible outcomes that the check has found, and these outcomes."""


@pytest.mark.parametrize("name", BROKE)
def test_what_was_impossible_is_not_any_more(name: str) -> None:
    scenario = Scenario.check({"replications": 2, "sample_interval": "5 ms", **BROKE[name]})
    assert broken(run(scenario)) == []


def test_flows_one_after_the_other_do_not_add_up() -> None:
    scenario = Scenario.check({**BROKE["flows that end one after the other"], "replications": 2})
    frame = run(scenario).found.frame
    bits = frame["delivered"] * 8 * 1000
    assert np.allclose(frame["goodput_bps"], bits / frame["completion_s"])
