"""Limits of fluid models and formulae: the capacity of the links, and zero if all packets are lost."""

import warnings
from pathlib import Path

import pytest

from netcarlo import simulate
from netcarlo.scenario import load_scenario
from tests.properties.capacity import broken
from tests.tiers import parameters

HERE = Path(__file__).parent / "fluid_over_the_line"
RATES = {"shared": 2e6, "path": 5e6, "vegas": 23e3, "loss_one": 5e6}


@pytest.mark.parametrize("name", parameters(RATES, full=["vegas"]))
@pytest.mark.parametrize("duration", ["500 ms", "2 s", "20 s"])
def test_a_fluid_stays_below_the_line(name: str, duration: str) -> None:
    scenario = load_scenario(HERE / f"{name}.yaml", values={"duration": duration})
    found = simulate(scenario, target="cpu")
    assert (found.frame["goodput_bps"] < RATES[name]).all()
    assert (found.frame["delivered"] <= found.frame["sent"]).all()
    assert not broken(scenario, found)
    if name == "loss_one":
        assert (found.frame["delivered"] == 0).all() and (found.frame["sent"] > 0).all()


def test_a_small_queue_on_a_short_path_is_as_good_as_the_formula() -> None:
    goodput = simulate(HERE / "path.yaml", target="cpu").frame["goodput_bps"].iloc[0]
    assert goodput == pytest.approx(4.87e6, rel=0.01)  # 5 Mbit/s less headers; packets: 4.84


def test_a_formula_counts_nothing_before_the_first_packet_can_arrive() -> None:
    """The first packet arrives after 300 ms: 200 ms of the handshake and 100 ms of the data."""
    data = {
        "fidelity": "formula", "transport": {"protocol": "newreno", "window": 4096}, "replications": 1,
        "hops": [{"rate": "10 Mbit/s", "delay": "100 ms", "queue": "unlimited"}],
    }  # fmt: skip
    most = 10e6 * 1460 / 1500
    for duration_s in (0.25, 0.4, 1.0, 60.0):
        goodput = simulate({**data, "duration": f"{duration_s} s"}).frame["goodput_bps"].iloc[0]
        assert goodput <= most * max(duration_s - 0.3, 0) / duration_s
    assert goodput == pytest.approx(most, rel=0.01)


def test_a_formula_of_a_link_that_others_fill_divides_by_nothing() -> None:
    hop = {
        "rate": "1 Mbit/s",
        "delay": "0 s",
        "queue": 5,
        "cross_traffic": {"rate": "4 Mbit/s", "packet": "1000 B"},
    }
    hop["outages"] = [{"start": "1 s", "duration": "1 s"}]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for protocol in ("newreno", "cubic", "bic"):
            data = {
                "duration": "5 s",
                "fidelity": "formula",
                "transport": {"protocol": protocol},
                "hops": [hop],
            }
            assert (simulate(data, replications=2).frame["goodput_bps"] == 0).all()
