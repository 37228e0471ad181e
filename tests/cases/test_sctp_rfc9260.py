"""SCTP with `rules: rfc9260`: quick failover, return to the primary path, bursts, and refused scenarios."""

from pathlib import Path
from typing import Any

import pytest

from netcarlo import InputError, Scenario, load_scenario, simulate, trace
from netcarlo.kernels.base.parameters import Rfc9260P, SctpP
from netcarlo.simulation import validated
from netcarlo.simulation.ensemble import build

HERE = Path(__file__).parent
TODAY = {"transport.rules": "rfc9260", "transport.heartbeat_interval": "30 s"}


def failing(**values: Any) -> Scenario:
    """Return a scenario of these rules whose first path is down from 20 s to 145 s."""
    return load_scenario(HERE / "sctp_failover_time.yaml").with_values(
        TODAY | {f"transport.{name}": value for name, value in values.items()}
    )


def new_data(scenario: Scenario) -> Any:
    """Return the rows of the trace in which new data are sent."""
    frame, _ = trace(scenario)
    sent = frame[frame.event == "send"]
    return sent[~sent.sequence.duplicated()]


@pytest.mark.parametrize(("pf", "seconds"), [(None, 63), (0, 1), (1, 3), (2, 7), (5, 63)])
def test_a_potentially_failed_path_is_left_early(pf: int | None, seconds: int) -> None:
    """New data leave a path after PotentiallyFailed.Max.Retrans + 1 timeouts of 1, 2, 4, ... s (RFC 7829,
    section 3.2); values from path_max_retrans = 5 on have no effect."""
    found = simulate(failing(pf_max_retrans=pf), replications=2).frame
    assert found.failover_s.to_numpy() == pytest.approx(seconds, rel=0.09)


def test_new_data_return_with_the_first_answered_heartbeat() -> None:
    """A potentially failed path is probed after each timeout: 1, 2, 4, 8, ... s after it was left."""
    scenario = failing(pf_max_retrans=0).with_values({"paths.0.hops.0.outages.0.duration": "10 s"})
    new = new_data(scenario)
    paths = {(a, b): set(new.path[(new.time_s > a) & (new.time_s < b)]) for a, b in ((22, 30), (37, 60))}
    assert paths == {(22, 30): {1}, (37, 60): {0}}
    returned = new.time_s[(new.path == 0) & (new.time_s > 30)].min()
    assert returned == pytest.approx(21 + 2 + 4 + 8, abs=0.3)


def test_concurrent_multipath_transfer_uses_both_paths() -> None:
    """Both paths carry 10 Mbit/s; the receive window is larger than both queues and paths together."""
    whole = {"paths.0.hops.0.outages.0.start": "200 s", "transport.receiver_window": "400 kB"}
    one, both = (
        simulate(failing(cmt=cmt).with_values(whole), replications=1).frame.iloc[0] for cmt in (False, True)
    )
    assert both.goodput_bps > 1.8 * one.goodput_bps
    assert both.sent_alternate / both.sent == pytest.approx(0.5, abs=0.05)


def test_one_event_sends_at_most_max_burst_packets() -> None:
    frame, _ = trace(failing(max_burst=2))
    assert frame[frame.event == "send"].groupby("time_s").size().max() == 2


def test_rules_set_defaults_and_columns() -> None:
    p = build(failing(pf_max_retrans=0, abc_limit=2), replications=1).rows.parameters[0]
    assert p[[Rfc9260P.RFC9260, Rfc9260P.PF_ERRORS, Rfc9260P.ABC_LIMIT, SctpP.INITIAL_CWND]].tolist() == [
        1, 1, 2, 4404,
    ]  # fmt: skip
    ns2 = build(load_scenario(HERE / "sctp_failover_time.yaml"), replications=1).rows.parameters[0]
    assert ns2[[Rfc9260P.RFC9260, Rfc9260P.PF_ERRORS]].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            {"pf_max_retrans": 0},
            "pf_max_retrans applies only with rules: rfc9260; write these rules or remove",
        ),
        ({"t3_restart": False}, "t3_restart applies only with rules: rfc9260"),
        ({"cmt": True}, "cmt applies only with rules: rfc9260"),
        ({"abc_limit": 2, "rules": "ns2-2.29"}, "abc_limit applies only with rules: rfc9260"),
        ({"probe_first": True, "rules": "rfc9260"}, "probe_first does not apply with rules: rfc9260; remove"),
    ],
)
def test_fields_of_other_rules_are_refused(written: dict[str, Any], message: str) -> None:
    hops = [{"rate": "1 Mbit/s", "delay": "10 ms", "queue": 50}]
    with pytest.raises(InputError, match=message):
        Scenario.check({"duration": "5 s", "transport": {"protocol": "sctp"} | written, "hops": hops})


def test_fast_models_and_validated_ranges_are_of_ns2() -> None:
    scenario = failing()
    for fidelity, message in (
        ("fluid", "the fluid model of a path supports the rules of ns-2 only, not rfc9260; write packet"),
        ("formula", "supports? the rules of ns-2 only"),
    ):
        with pytest.raises(InputError, match=message):
            simulate(scenario.with_values({"fidelity": fidelity}), replications=1)
    assert "no recorded reference of sctp rfc9260" in validated.sentence(scenario)
