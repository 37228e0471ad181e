"""Hops that go up and down as a Markov chain: statistics, addresses, and transports that support it."""

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from netcarlo import InputError, Scenario, load_scenario, simulate
from netcarlo.cli.main import app
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.networks.path.switched import switched
from netcarlo.simulation.ensemble import build, build_rows

HOP = {"rate": "5 Mbit/s", "delay": "10 ms"}


def path(outages: Any, **values: Any) -> Scenario:
    hops = [HOP, HOP | {"outages": outages}]
    data = {"duration": "60 s", "replications": 8, "transport": {"protocol": "newreno"}, "hops": hops}
    return Scenario.check(data).with_values(values)


def test_times_up_and_down_are_exponential() -> None:
    """40,000 up and down times agree with exponential ones within 4 standard errors.

    A mean that is off by 4 % or a distribution function off by 0.02 would be found with a probability
    above 0.99.
    """
    outages = build(path({"up": "1 s", "down": "0.25 s"}), replications=4000).rows.outages[:, 0, 1]
    first = outages[:, :10]
    assert (first < FOREVER).all()  # 48 on average: the end truncates none
    up = np.diff(np.concatenate([np.zeros((4000, 1)), first.reshape(4000, -1)], axis=1), axis=1)[:, ::2]
    down = first[..., 1] - first[..., 0]
    for times, mean in ((up, 1e9), (down, 0.25e9)):
        assert times.mean() == pytest.approx(mean, rel=4 / 200)
        for share in (0.1, 0.5, 0.9):
            below = (times < -mean * np.log1p(-share)).mean()
            assert below == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / times.size))
        lagged = np.corrcoef(times[:, :-1].ravel(), times[:, 1:].ravel())[0, 1]
        assert abs(lagged) < 4 / 190


@pytest.mark.full
def test_it_is_a_two_state_chain() -> None:
    """The share of 20,000 chains that are down at t is p (1 - exp(-(1/up + 1/down) t)), with the time
    share p.

    The tolerance is 4 standard errors, at most 0.011.
    """
    rows = build(path({"up": "3 s", "down": "1 s"}), replications=20_000).rows
    starts, ends = rows.outages[:, 0, 1].transpose(2, 0, 1)
    for t in (0.1, 0.5, 1.0, 3.0, 20.0, 50.0):
        down = ((starts <= t * 1e9) & (t * 1e9 < ends)).any(axis=1).mean()
        expected = 0.25 * (1 - np.exp(-(1 / 3 + 1) * t))
        assert down == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000))


def test_outages_lie_in_order_and_begin_before_the_end() -> None:
    rows = build(path({"up": "0.2 s", "down": "0.3 s"}), replications=50).rows
    starts, ends = rows.outages[:, 0, 1].transpose(2, 0, 1)
    there = starts < FOREVER
    assert there.sum(axis=1).min() > 80
    assert (there[:, :-1] >= there[:, 1:]).all()
    assert (starts[there] < rows.parameters[0, RowP.END]).all()
    assert (ends[there] >= starts[there]).all()
    assert (starts[:, 1:][there[:, 1:]] >= ends[:, :-1][there[:, 1:]]).all()
    assert (rows.outages[:, 0, 0] == FOREVER).all()


@pytest.mark.full
def test_a_replication_has_the_same_outages_in_any_chunk_and_beside_any_others() -> None:
    scenario = path({"up": {"uniform": ["1 s", "9 s"]}, "down": {"log_uniform": ["10 ms", "2 s"]}})
    whole = simulate(scenario, replications=8).frame
    assert whole["drops_outage"].gt(0).any()
    assert simulate(scenario, first=5, replications=1).frame.equals(whole[5:6])
    # Cells of a sweep that share a launch have the same outages as alone.
    at = "paths.0.hops.1.outages"
    means = {f"{at}.up": np.array([2.0, 0.1, 50.0]), f"{at}.down": np.array([1.0, 0.3, 0.0])}
    joint = build_rows(scenario, replications=np.array([3, 3, 3]), given=means).rows.outages
    for k, (up, down) in enumerate(zip(*means.values(), strict=True)):
        alone = path({"up": f"{up} s", "down": f"{down} s"})
        outages = build(alone, first=3, replications=1).rows.outages[0, 0, 1]
        there = outages[outages[:, 0] < FOREVER]
        assert len(there) > 0 or down == 0
        np.testing.assert_array_equal(joint[k, 0, 1, : len(there)], there)
        assert (joint[k, 0, 1, len(there) :] == FOREVER).all()


@pytest.mark.full
def test_hops_have_chains_of_their_own_and_others_keep_their_draws() -> None:
    means = {"up": "1 s", "down": "1 s"}
    random = path([], **{"hops.0.rate": {"uniform": ["1 Mbit/s", "9 Mbit/s"]}, "hops.0.loss": "1 %"})
    both = random.with_values({"hops.0.outages": means, "hops.1.outages": means})
    assert build(both).drawn.equals(build(random).drawn)
    outages = build(both, replications=2000).rows.outages[:, 0]
    first = outages[:, :, 0, 0]
    assert abs(np.corrcoef(first[:, 0], first[:, 1])[0, 1]) < 4 / np.sqrt(2000)
    alone = build(path(means), replications=2000).rows.outages[:, 0, 1]
    least = min(alone.shape[1], outages.shape[2])
    np.testing.assert_array_equal(outages[:, 1, :least], alone[:, :least])
    never = path({"up": "1 s", "down": "0 s"})
    assert simulate(never).frame.equals(simulate(path([])).frame)


def test_the_field_is_what_switched_makes_of_rows() -> None:
    """The field gives the same rows as the older function `switched`, with the same random numbers."""
    field = build(path({"up": "3 s", "down": "0.7 s"}), replications=40).rows.outages
    made = switched(build(path([]), replications=40).rows, up_s=3.0, down_s=0.7, hop=1).outages
    np.testing.assert_array_equal(field, made)
    assert field[0, 0, 1, :2].tolist() == [[2_252_929_687, 2_869_531_249], [5_096_093_749, 5_163_085_936]]


def test_sctp_goes_on_over_the_path_that_is_up() -> None:
    hops = [HOP | {"outages": {"up": "6 s", "down": "3 s"}}]
    sctp = {"protocol": "sctp", "path_max_retrans": 0}  # one timeout is enough to change the path
    data = {"duration": "120 s", "replications": 20, "transport": sctp}
    one = Scenario.check(data | {"paths": [{"hops": hops}]})
    two = Scenario.check(data | {"paths": [{"hops": hops}, {"hops": hops}]})
    outages = build(two).rows.outages
    assert (outages[:, 0, 0, 0, 0] != outages[:, 1, 0, 0, 0]).all()
    alone = build(one).rows.outages[:, 0]
    np.testing.assert_array_equal(outages[:, 0, :, : alone.shape[2]], alone)
    single, multi = (simulate(each).frame for each in (one, two))
    assert multi["goodput_bps"].mean() > 1.1 * single["goodput_bps"].mean()
    assert (multi["sent_alternate"] > 0).all()


def test_fluid_and_packets_meet_the_same_outages() -> None:
    scenario = path({"up": "5 s", "down": "1 s"}, duration="120 s")
    packets = simulate(scenario, replications=60).frame["goodput_bps"]
    fluid = simulate(scenario.with_values({"fidelity": "fluid"}), replications=60).frame["goodput_bps"]
    assert np.corrcoef(packets, fluid)[0, 1] > 0.8


@pytest.mark.full
def test_a_mobile_host_has_no_chain_on_its_radio_link() -> None:
    mobility = {"protocol": "mipv6", "every": "20 s"}
    with pytest.raises(InputError, match="mobility needs a last hop without outages"):
        path({"up": "20 s", "down": "1 s"}, mobility=mobility)
    elsewhere = path([], mobility=mobility, **{"hops.0.outages": {"up": "5 s", "down": "1 s"}})
    assert simulate(elsewhere, replications=2).frame["drops_outage"].gt(0).any()


def test_the_command_line_refuses_nonsense(tmp_path: Any) -> None:
    file = tmp_path / "path.yaml"
    file.write_text(
        "duration: 30 s\ntransport: {protocol: sack}\nhops:\n"
        "  - rate: 1 Mbit/s\n    delay: 1 ms\n    outages: {up: 20 s, down: -1 s}\n"
    )
    shown = CliRunner().invoke(app, ["estimate", str(file)])
    assert shown.exit_code == 2
    refused = "path.yaml:6: hops.0.outages.down = '-1 s' is below the limit; expected 0 to"
    assert refused in shown.stderr
    how = ["--set", "hops.0.outages.down=1s", "--replications", "3"]
    shown = CliRunner().invoke(app, ["estimate", str(file), *how])
    assert shown.exit_code == 0
    scenario = load_scenario(file, values={"hops.0.outages.down": "1 s"})
    empty = scenario.with_values({"hops.0.outages": []})
    with pytest.raises(InputError, match="'outages' is an empty list; set it as a whole"):
        empty.with_values({"hops.0.outages.up": "1 s"})
    assert Scenario.check(scenario.model_dump(mode="json", exclude_none=True)) == scenario
