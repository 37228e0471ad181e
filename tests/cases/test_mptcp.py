"""MPTCP in scenarios: fields, refusals with a remedy, outcomes and the trace."""

from typing import Any

import pytest

from netcarlo import InputError, Scenario, estimate, simulate, trace
from netcarlo.kernels.base.parameters import MptcpP
from netcarlo.kernels.mptcp.coupled.control import Algorithm
from netcarlo.simulation.ensemble import build

HOP = {"rate": "1 Mbit/s", "delay": "10 ms", "queue": 20}
TWO: dict[str, Any] = {
    "duration": "3 s", "replications": 2, "transport": {"protocol": "mptcp", "congestion_control": "reno"},
    "paths": [{"hops": [HOP]}, {"hops": [HOP | {"rate": "500 kbit/s"}]}],
}  # fmt: skip


def with_transport(**fields: Any) -> dict[str, Any]:
    return {**TWO, "transport": TWO["transport"] | fields}


def with_second(**fields: Any) -> dict[str, Any]:
    return {**TWO, "paths": [TWO["paths"][0], TWO["paths"][1] | fields]}


def test_paths_are_subflows_and_may_be_backups() -> None:
    rows = build(Scenario.check(with_second(backup=True)), replications=1).rows
    columns = MptcpP.SUBFLOWS, MptcpP.BACKUP, MptcpP.STALE_LOSS_CNT
    assert rows.parameters[0, list(columns)].tolist() == [2, 2, 4]


def test_four_paths_and_a_coupled_control_are_columns_of_one_model(uncompiled: None) -> None:
    scenario = {**with_transport(congestion_control="olia"), "paths": 2 * TWO["paths"], "duration": "2 s"}
    built = build(Scenario.check(scenario), replications=1)
    columns = [MptcpP.SUBFLOWS, MptcpP.COUPLING]
    assert built.rows.parameters[0, columns].tolist() == [4, Algorithm.OLIA]
    frame = simulate({**scenario, "replications": 1}, target="cpu").frame
    each = frame[[f"subflow_{k}_bps" for k in range(1, 5)]].iloc[0]
    assert (each > 1e5).all() and frame["goodput_bps"].iloc[0] <= each.sum() + 1


def test_it_measures_the_goodput_of_its_subflows(uncompiled: None) -> None:
    frame = simulate({**TWO, "replications": 1}, target="cpu").frame
    both = frame["subflow_1_bps"] + frame["subflow_2_bps"]
    assert (frame["goodput_bps"] <= both + 1).all() and (both < 1.5e6).all()
    assert (frame["subflow_1_bps"] > frame["subflow_2_bps"]).all() and (frame["subflow_2_bps"] > 2e5).all()
    assert (frame["goodput_bps"] > 1e6).all()  # more than either path carries


def test_a_trace_names_the_path_of_each_packet(uncompiled: None) -> None:
    frame = trace(TWO).frame
    sent = frame[frame.event == "send"]
    assert set(sent.path) == {0, 1} and sent.sequence.min() == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (with_transport(messages={"size": "1 kB", "pause": "1 s"}), "messages does not apply to mptcp"),
        (with_transport(autotuning=True), "autotuning does not apply to mptcp; remove it, or write protocol"),
        (with_transport(late="1 s"), "late does not apply to mptcp; remove it, or write protocol: linux"),
        (with_transport(congestion_control="bbr3"), "'reno', 'cubic', 'bbr', 'lia', 'olia' or 'balia'"),
        (with_transport(congestion_control="lia", slow_start="hystart"), "slow_start does not apply to lia"),
        ({**TWO, "transport": {"protocol": "sctp"}} | {"paths": with_second(backup=True)["paths"]},
         "backup of a path needs protocol: mptcp; write it, or remove backup"),
        (with_second(hops=[HOP | {"jitter": {"uniform": ["0 s", "5 ms"]}}]),
         "jitter of a hop is not supported with mptcp; remove it, or write protocol: sctp"),
        (with_second(hops=[HOP | {"queue": "codel"}]), "codel needs one path, but there are two; remove one"),
        ({**TWO, "paths": 5 * TWO["paths"][:1]}, "paths"),
        ({**TWO, "paths": 4 * TWO["paths"][:1], "transport": {"protocol": "sctp"}},
         "there are four paths, but only mptcp uses more than two; remove two, or write protocol: mptcp"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused_with_a_remedy(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as no:
        Scenario.check(data)
    assert message in str(no.value)


@pytest.mark.parametrize(
    ("fidelity", "control", "message"),
    [
        ("formula", "reno", "the formulae do not support mptcp; write fluid or packet"),
        ("formula", "lia", "the formulae do not support mptcp; write packet"),
        ("fluid", "lia", "lia it would deliver 22 to 25 % more than packets in the median; write packet"),
    ],
)
def test_a_model_that_is_missing_is_refused(fidelity: str, control: str, message: str) -> None:
    with pytest.raises(InputError) as no:
        estimate({**with_transport(congestion_control=control), "fidelity": fidelity})
    assert message in str(no.value)
