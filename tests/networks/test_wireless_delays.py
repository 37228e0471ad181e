"""Delays of classes of flows over 802.11, from a scenario to its outcomes: known answers, names, refusals."""

import pytest

from netcarlo import InputError, compare, simulate
from netcarlo.networks import classes
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import OUTCOMES

CALL = {"source": "gateway", "sink": "station", "udp": {"rate": "1 Mbit/s", "payload": "1000 B"}}


def cell(*flows, **fields):
    return {
        "duration": "1 s", "replications": 4, "transport": {"protocol": "sack", "window": 10},
        "wireless": {"cell": {"stations": 2}, "rate": "54 Mbit/s", "flows": [*flows]} | fields,
    }  # fmt: skip


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_a_lone_stream_takes_a_difs_and_its_time_on_the_air():
    call = {**CALL, "class": "call", "late": "100 us", "udp": {**CALL["udp"], "header": "28 B"}}
    frame = simulate(Scenario.check(cell({"each": call, "count": 1})), target="cpu").frame
    symbols = -(-(8 * (1000 + 28 + 36) + 22) // 216)
    alone = (10 + 2 * 9 + 20 + 4 * symbols + 6) * 1e-6
    assert frame.call_mean_delay_s.to_numpy() == pytest.approx(alone, abs=2e-9)
    for name in classes.QUANTILES:
        assert frame[f"call_{name}"].to_numpy() == pytest.approx(alone, rel=1 / 64)
    assert (frame.call_jitter_s < 2e-9).all() and (frame.call_late == 1).all()
    assert (frame.call_loss_ratio == 0).all()
    assert frame.call_worst_flow_bps.to_numpy() == pytest.approx(1e6, rel=0.01)


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_means_are_those_of_all_packets_and_quantiles_those_of_finer_bins():
    """A class of all flows has the delays that are always measured."""
    flows = [{"each": {**CALL, "class": "all"}}, {"each": {"source": "station", "class": "all"}}]
    frame = simulate(Scenario.check(cell(*flows)), target="cpu").frame
    assert frame.all_mean_delay_s.to_numpy() == pytest.approx(frame.mean_delay_s.to_numpy(), rel=1e-4)
    for name in classes.QUANTILES:
        assert frame[f"all_{name}"].to_numpy() == pytest.approx(frame[name].to_numpy(), rel=0.1)
    assert (frame.all_delay_p50_s < frame.all_delay_p95_s).all()


def test_flows_that_name_no_class_are_of_their_protocol():
    flows = [{"each": {**CALL, "class": "call", "late": "10 ms"}}, {"each": {**CALL}}, {},
             {"source": 1, "protocol": "linux"}]  # fmt: skip
    asked = Scenario.check(cell(*flows))
    have = measurable.outcomes(asked)
    found = [name for name in have if name not in {outcome.name for outcome in OUTCOMES}]
    every = [
        f"{word}_{kind.name}"
        for word in ("call", "udp", "sack", "linux_cubic")
        for kind in classes.CLASS_OUTCOMES
    ]
    bounded = {"call_late", "call_in_time"}
    assert found == [name for name in every if not name.endswith(("_late", "_in_time")) or name in bounded]
    assert asked.network.address(asked, fluid=False).name == "wifi_mixed_linux_delays"
    plain = Scenario.check(cell({"each": CALL}, {}))
    assert plain.network.address(plain, fluid=False).name == "wifi_sack"


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_cells_with_other_classes_are_compared_in_one_launch():
    short = {"duration": "0.4 s", "replications": 2}
    call = {"each": {**CALL, "class": "call"}}
    first, second = (
        Scenario.check(cell(call, *flows) | short)
        for flows in ([{}], [{"class": "up"}, {"source": 1, "class": "more"}])
    )
    found = compare(first, second, target="cpu")
    for asked, part in ((first, found.baseline), (second, found.other)):
        alone = simulate(asked, target="cpu")
        assert (alone.integers == part.integers).all() and alone.frame.equals(part.frame)
    assert found.table.loc["call_delay_p95_s", "n"] == 2 and "up_delay_p95_s" not in found.table.index


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flows": [{"class": "Call"}]}, "wireless.flows.0.class = 'Call' is not a word"),
        ({"flows": [{"class": f"c{k}"} for k in range(8)] + [{}]}, "wireless.flows have 9 classes"),
        ({"flows": [{"count": 2, "class": "a"}]}, "class belongs to each flow; write each: {class: a}"),
        ({"flows": [{"class": "a"}], "fidelity": "fluid"}, "does not support delays of classes "),
    ],
)
def test_what_cannot_be_measured_is_refused(change, said):
    fidelity = {"fidelity": change.get("fidelity", "packet")}
    with pytest.raises(InputError) as error:
        simulate(Scenario.check(cell(*change["flows"]) | fidelity), target="cpu")
    assert said in str(error.value) and "\n" not in str(error.value)
