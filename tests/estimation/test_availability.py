"""The share of the year in which goals are met: states of the year, their shares, intervals, and wording."""

import json
import re
from collections import Counter
from itertools import product
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.estimation.availability import availability, check
from netcarlo.estimation.states import ALL_UP, SEVERAL, Year
from netcarlo.estimation.strata import Strata
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.networks import rare
from netcarlo.networks.rare import PARTS, Rare, RareOutages
from netcarlo.numerics.statistics import Proportion, clopper_pearson
from netcarlo.reports.availability import wording
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema.draws import Draws
from netcarlo.simulation.interruptions import interruptions

BRANCH = Path(__file__).parents[2] / "configs" / "examples" / "branch_year.yaml"
N, END_S, BEFORE_S = 20_000, 10.0, 4.0


def drawn(**fields: Any) -> tuple[Any, Any]:
    """Return start and end [n, K] [s] of outages of runs of 10 s, 4 s of which may be before them."""
    outages = RareOutages.model_validate({"mtbf": "30 s", "mttr": "8 s", **fields})
    draws = Draws(1, np.arange(N), np.zeros(N, np.int64))
    table = rare.times(outages, "hop", draws, np.full(N, int(END_S * NS)), before_s=BEFORE_S)
    found = np.where(table < FOREVER, table / NS, np.inf)
    return found[..., 0], found[..., 1]


def parts(start: Any, end: Any) -> Any:
    """Return the part of the year [n] of runs, by the definition."""
    down = ((start <= -BEFORE_S) & (end > -BEFORE_S)).any(axis=1)
    changes = (((start > -BEFORE_S) & (start < END_S)) | ((end > -BEFORE_S) & (end < END_S))).any(axis=1)
    return np.select([~down & ~changes, ~down, down & ~changes], PARTS[:3], PARTS[3])


def test_a_random_moment_is_in_each_part_as_often_as_its_share_says() -> None:
    shares = RareOutages.model_validate({"mtbf": "30 s", "mttr": "8 s"}).shares(END_S + BEFORE_S)
    assert sum(shares.values()) == pytest.approx(1)
    start, end = drawn()
    count = Counter(parts(start, end).tolist())
    for part, share in shares.items():
        assert count[part] / N == pytest.approx(share, abs=4 * (share / N) ** 0.5)
    down = ((start <= END_S / 2) & (end > END_S / 2)).any(axis=1)
    assert down.mean() == pytest.approx(8 / 38, abs=0.012)


def test_the_parts_together_are_the_year() -> None:
    """At any time of a run, the weighted share of runs with an outage equals its share of the year."""
    shares = RareOutages.model_validate({"mtbf": "30 s", "mttr": "8 s"}).shares(END_S + BEFORE_S)
    at = np.array([-BEFORE_S, 0.0, 3.0, END_S - 1e-6])
    found = np.zeros(len(at))
    for part, share in shares.items():
        start, end = drawn(during=part)
        assert (parts(start, end) == part).all()
        found += share * ((start[..., None] <= at) & (end[..., None] > at)).any(axis=1).mean(axis=0)
    assert found == pytest.approx(8 / 38, abs=0.012)


@pytest.mark.parametrize(("fields", "up_s", "share"), [
    ({"down": "4 h a year"}, 8756 * 3600, 4 / 8760),
    ({"down": "52 min per year", "mttr": "26 min"}, (8760 * 60 / 2 - 26) * 60, 52 / (8760 * 60)),
    ({"availability": "99.95 %", "mttr": "1 h"}, 1999 * 3600, 0.0005),
    ({"mtbf": "90 days", "mttr": "4 h"}, 90 * 86400, 4 / (90 * 24 + 4)),
])  # fmt: skip
def test_ways_to_write_how_often(fields: dict[str, str], up_s: float, share: float) -> None:
    found = RareOutages.model_validate(fields)
    assert (found.up_s, found.share_down) == (pytest.approx(up_s), pytest.approx(share))
    assert RareOutages.model_validate(found.model_dump(mode="json", exclude_none=True)) == found


def three(seed: int = 1) -> tuple[Year, list[dict[str, float]]]:
    means = ((30, 8), (60, 20), (15, 2))
    found = [RareOutages(mtbf=f"{up} s", mttr=f"{down} s") for up, down in means]  # type: ignore[arg-type]
    year = Year([Rare(f"f{k}", f"cable {k}", each) for k, each in enumerate(found)], END_S)
    return year, [each.shares(END_S) for each in found]


def test_states_are_the_whole_year_and_several_are_drawn_by_their_shares() -> None:
    year, shares = three()
    assert [state.name for state in year.states][:3] == [ALL_UP, "cable 0 fails", "cable 0 down"]
    assert sum(state.share for state in year.states) == pytest.approx(1)
    assert year.states[0].share == pytest.approx(prod(each["up"] for each in shares))
    every = {
        found: prod(each[part] for each, part in zip(shares, found, strict=True))
        for found in product(PARTS, repeat=3)
        if found.count("up") < 2
    }
    several = year.states[-1]
    assert several.name == SEVERAL and several.share == pytest.approx(sum(every.values()))
    count = Counter(year.drawn(N, seed=1))
    for found, probability in every.items():
        expected = probability / several.share
        assert count[found] / N == pytest.approx(expected, abs=4.5 * (expected / N) ** 0.5 + 1e-4)
    assert set(count) <= set(every) and year.drawn(3, seed=1) == year.drawn(9, seed=1)[:3]


def test_the_exact_interval_is_that_of_the_beta_distribution() -> None:
    x, n = np.array([0, 1, 7, 49, 50, 999_990]), np.array([50, 50, 20, 50, 50, 1_000_000])
    low, high = clopper_pearson(x, n)
    with np.errstate(all="ignore"):
        assert low == pytest.approx(np.where(x > 0, stats.beta.ppf(0.025, x, n - x + 1), 0), abs=1e-12)
        assert high == pytest.approx(np.where(x < n, stats.beta.ppf(0.975, x + 1, n - x), 1), abs=1e-12)


def strata(*counts: tuple[float, int, int]) -> Strata:
    """Return strata from (share, successes, replications)."""
    found = Strata([share for share, _, _ in counts])
    for k, (_, met, n) in enumerate(counts):
        found.add(k, np.arange(n) < met)
    return found


def test_the_interval_is_exact_for_one_stratum_and_near_the_stratified_variance_for_many_values() -> None:
    alone = strata((1.0, 45, 50))
    low, high = clopper_pearson(45, 50)
    found = alone.missed(True, alone.ends())
    assert (found.probability, 1 - found.ci_high, 1 - found.ci_low) == pytest.approx((0.1, low, high))
    two = strata((0.7, 9000, 10_000), (0.3, 4000, 10_000))
    found = two.missed(True, two.ends())
    half = 1.96 * np.sqrt(0.49 * 0.09 / 1e4 + 0.09 * 0.24 / 1e4)
    assert found.probability == pytest.approx(0.25) and found.ci_high - found.ci_low == pytest.approx(
        2 * half, rel=0.02
    )
    assert two.missed([False, True], two.ends()).probability == pytest.approx(0.18)


def test_replications_go_where_the_interval_is_wide() -> None:
    found = strata((0.9, 50, 50), (0.05, 25, 50), (0.05, 50, 50))
    more = found.wanted(600, least=50)
    assert more.sum() == pytest.approx(450, abs=3) and more[0] > more[1] > more[2]
    assert found.wanted(10, least=60).tolist() == [10, 10, 10]


def test_packets_take_the_backup_from_the_start_if_the_line_was_down_before_it() -> None:
    scenario = load_scenario(BRANCH, values={"shared.failures.0.outages.mttr": "20 s"})
    for part, kinds in (("up", set()), ("down", {("outage", 0.0), ("detour", 0.0)})):
        given = scenario.with_values({"shared.failures.0.outages.during": part})
        assert {(each.kind, each.start_s) for each in interruptions(given)} == kinds
    after = scenario.with_values({"shared.failures.0.outages.during": "repair"})
    spans = [interruptions(after, replication=k) for k in range(40)]
    late = [found for found in spans if found and found[0].kind == "detour"]
    assert late and all(found[0].start_s == 0 and found[0].end_s <= 30 for found in late)


@pytest.mark.parametrize(("values", "goals", "says"), [
    ({}, [], "availability needs a goal; write --goal 'video_in_time >= 95 %'"),
    ({}, ["video_in_time >= 95 % of baseline"], "supported only in sweeps"),
    ({"shared.failures.0.outages": {"up": "1 h", "down": "1 s"}}, ["loss_ratio <= 0"],
     "rarer than a run; write {cables: 0, outages: {down: 4 h a year}} in shared.failures"),
    ({"shared.failures.0.outages.during": "down"}, ["loss_ratio <= 0"], "remove during"),
    ({"duration": {"uniform": ["5 s", "9 s"]}}, ["loss_ratio <= 0"], "needs a fixed duration"),
])  # fmt: skip
def test_what_cannot_be_weighted_is_refused(values: dict[str, Any], goals: list[str], says: str) -> None:
    with pytest.raises(InputError) as refused:
        availability(load_scenario(BRANCH, values=values), goals=goals)
    assert says in str(refused.value)


def test_other_networks_and_associations_of_two_paths_are_refused() -> None:
    hop = {"rate": "1 Mbit/s", "delay": "5 ms", "outages": "4 h a year"}
    data = {"duration": "9 s", "transport": {"protocol": "sctp"}, "paths": [{"hops": [hop]}] * 2}
    with pytest.raises(InputError, match="new association, which has not yet left a path that is down"):
        check(Scenario.check(data))
    counted = {"count": 2, "each": hop}
    with pytest.raises(InputError, match="write each of them as a hop"):
        check(Scenario.check({**data, "paths": [{"hops": [counted]}]}))
    with pytest.raises(InputError, match="not supported with wireless"):
        check(Scenario.check({"duration": "9 s", "transport": {"protocol": "newreno"},
                              "wireless": {"cell": {"stations": 2}}}))  # fmt: skip


def test_each_cable_is_a_state_of_its_own() -> None:
    scenario = load_scenario(BRANCH, values={"shared.failures.0.cables": "each"})
    apart = scenario.with_values(scenario.network.one_by_one())
    found = apart.network.rare_outages()
    assert [(each.name, each.where) for each in found] == [
        ("cable 0", "centre to branch"), ("cable 1", "centre to provider"), ("cable 2", "provider to branch"),
    ]  # fmt: skip


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_stream_that_needs_a_hop_works_while_it_is_up() -> None:
    hop = {"rate": "1 Mbit/s", "delay": "1 ms", "outages": {"mtbf": "30 days", "mttr": "12 h"}}
    data = {"duration": "2 s", "transport": {"protocol": "udp", "rate": "4 kbit/s", "payload": "100 B"}}
    found = availability({**data, "hops": [hop]}, goals=["drops_outage <= 0"], replications=8, target="cpu")
    assert found.states["probability"].iloc[[0, 2]].tolist() == [1, 0]
    up = 30 / 30.5
    assert found.share.probability == pytest.approx(up, abs=1e-5)
    assert found.share.ci_low < up < found.share.ci_high and found.replications >= 64
    text = wording.sentence(found)
    assert text.startswith("98.4 % of the year (95 % CI") and "5.98 days of bad service a year" in text
    assert "hop 0 12 times a year, 12 h each on average" in wording.meaning(found)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("ignore:overflow")
def test_the_command_begins_with_the_answer_(tmp_path: Path) -> None:
    file = tmp_path / "path.yaml"
    file.write_text(
        "duration: 1 s\ntransport: {protocol: udp, rate: 8 kbit/s, payload: 100 B}\n"
        "hops: [{rate: 1 Mbit/s, delay: 1 ms, outages: {availability: 99 %}}]\nreplications: 4\n"
    )
    given = ["availability", str(file), "--goal", "drops_outage <= 0", "--target", "cpu"]
    said = CliRunner().invoke(app, given)
    assert said.exit_code == 0 and "hop 0 down" in said.stdout
    assert re.match(
        r"99\.0+ % of the year \(95 % CI [\d.]+ to [\d.]+ %\), that is 3.65 days of bad", said.stdout
    )
    found = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert found["share"]["probability"] == pytest.approx(0.99, abs=1e-4)
    assert found["states"][0]["state"] == "all up"


def test_nines_are_met_missed_or_undecided() -> None:
    def said(low: float, high: float) -> str:
        share = Proportion(1, (low + high) / 2, low, high)
        return wording.nines(SimpleNamespace(share=share))  # type: ignore[arg-type]

    assert said(0.9994, 0.9996) == "Three nines (8.76 h a year) are met, four nines (52.6 min a year) are not"
    assert said(0.995, 0.99995) == (
        "Two nines (3.65 days a year) are met, three nines and four nines are not decided, "
        "five nines (5.26 min a year) are not"
    )
    assert said(0.3, 0.4) == "One nine (36.5 days a year) is not" and said(0.9999999, 1).startswith(
        "Six nines"
    )


@pytest.mark.parametrize(("share", "text"), [
    (0.99952, "99.952"), (0.5, "50"), (1.0, "100"), (0.999999, "99.99990"), (0.123, "12.3"), (0.0, "0"),
])  # fmt: skip
def test_a_share_has_two_digits_of_what_is_missing(share: float, text: str) -> None:
    assert wording.percent(share) == text


@pytest.mark.parametrize(("seconds", "text"), [
    (4.2 * 3600, "4.2 h"), (53 * 60, "53 min"), (0.0, "0 s"), (8760 * 3600, "365 days"),
])  # fmt: skip
def test_times_of_a_year(seconds: float, text: str) -> None:
    assert wording.time(seconds) == text
