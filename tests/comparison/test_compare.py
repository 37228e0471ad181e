"""Comparison of stores, scenarios, estimates and plans: differences are distinguished from noise."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import netcarlo
from netcarlo import InputError, compare
from netcarlo.cli.main import app
from netcarlo.sweeps.store.store import Store

SCENARIO = {
    "duration": "5 s", "replications": 20, "transport": {"protocol": "newreno", "window": 32},
    "hops": [{"rate": "4 Mbit/s", "delay": "10 ms", "queue": 20, "loss": "1 %"}],
}  # fmt: skip
SWEEP = {
    "name": "link", "scenario": SCENARIO,
    "axes": {"hops.0.loss": ["1 %", "3 %"], "hops.0.rate": ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]},
    "outcomes": ["goodput_bps", "timeouts", "mean_rtt_s", "fast_retransmits"],
    "goals": {"fast": "goodput_bps >= 1 Mbit/s"},
}  # fmt: skip
ROWS = 6 * 5
RANDOM = {"log_uniform": ["1 Mbit/s", "8 Mbit/s"]}


def of_timer(min_rto: str, **changes):
    """Return the sweep with another model constant: the minimum retransmission timeout."""
    return (
        SWEEP
        | {"scenario": {**SCENARIO, "transport": {**SCENARIO["transport"], "min_rto": min_rto}}}
        | changes
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder of stores that differ in their seed, and of others that also differ in a constant."""
    path = tmp_path_factory.mktemp("stores")
    for seed in range(1, 7):
        netcarlo.sweep(SWEEP, out=path / f"seed_{seed}", seed=seed, target="cpu")
    for seed in range(1, 4):
        netcarlo.sweep(of_timer("1 s"), out=path / f"slow_{seed}", seed=seed, target="cpu")
    kept = {"keep": "replications"}
    netcarlo.sweep(SWEEP | kept, out=path / "kept", seed=1, target="cpu")
    netcarlo.sweep(of_timer("0.3 s", **kept), out=path / "kept_timer", seed=1, target="cpu")
    return path


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.mark.full
def test_another_seed_is_noise_and_another_constant_is_not(folder):
    """Five pairs that differ in the seed only show no difference; three with a different constant do."""
    for one, two in ((1, 2), (3, 4), (5, 6), (2, 3), (4, 5)):
        found = compare(folder / f"seed_{one}", folder / f"seed_{two}")
        assert found.same and found.tested == ROWS
        assert found.changes.index.tolist() == ["seed"]
    for seed, other in ((1, 4), (2, 5), (3, 6)):
        found = compare(folder / f"seed_{other}", folder / f"slow_{seed}")
        assert found.changes.index.tolist() == ["seed", "transport.min_rto"]
        assert found.changes.loc["transport.min_rto"].tolist() == ["0.2 s", "1 s"]
        fewer = found.differing.xs("timeouts", level="outcome")
        assert not found.same and len(fewer) and (fewer["high"] < 0).all()


@pytest.mark.full
def test_common_seeds_are_paired_where_replications_are_kept(folder):
    found = compare(folder / "kept", folder / "kept_timer")
    rows = found.table.drop("fast", level="outcome")
    assert rows["paired"].all() and not found.table["paired"].all()
    kept = [Store.open(folder / name).replications() for name in ("kept", "kept_timer")]
    apart = kept[1]["goodput_bps"] - kept[0]["goodput_bps"]
    by_hand = apart.groupby(kept[0]["cell"]).mean().to_numpy()
    assert found.table["difference"].xs("goodput_bps", level="outcome").to_numpy() == pytest.approx(by_hand)
    apart = compare(folder / "seed_1", folder / "slow_1")  # the same seed, means only
    assert not apart.table["paired"].any()
    width, wide = (
        c.table.loc[(0.01, 2e6, "goodput_bps"), ["ci_high", "ci_low"]].diff().abs().iloc[1]
        for c in (found, apart)
    )
    assert width < wide


@pytest.mark.full
def test_the_same_again_is_equal_to_the_bit(folder):
    for name in ("kept", "seed_1"):
        found = compare(folder / name, folder / name)
        assert set(found.table["verdict"]) <= {"equal", "noise"}
        exact = found.table.drop("fast", level="outcome")
        assert (exact["verdict"] == "equal").all() and found.same


@pytest.mark.full
def test_the_command_says_so_and_exits_with_it(folder, tmp_path):
    same = run("compare", folder / "seed_1", folder / "seed_2", "--equal")
    assert same.exit_code == 0 and "No result differs by more than chance." in same.stdout
    out = tmp_path / "out"
    found = run("compare", folder / "seed_1", folder / "slow_2", "--equal", "--out", out)
    assert found.exit_code == 1 and "transport.min_rto" in found.stdout
    table = (out / "comparison.csv").read_text().splitlines()
    assert len(table) == 1 + ROWS
    assert table[0].startswith("hops.0.loss,hops.0.rate,outcome,n,paired,baseline,other,difference,ci_low")
    assert "<title>seed_1 and slow_2" in (out / "comparison.html").read_text()
    data = json.loads(
        run("compare", folder / "seed_1", folder / "slow_2", folder / "seed_3", "--json").stdout
    )
    pairs = {(row["against"], row["side"]) for row in data["rows"]}
    assert len(data["rows"]) == 3 * ROWS and data["tested"] == 3 * ROWS
    assert pairs == {("seed_1", "slow_2"), ("seed_1", "seed_3"), ("slow_2", "seed_3")}


@pytest.mark.full
def test_stores_of_other_axes_share_their_common_cells(folder, tmp_path):
    axes = {"hops.0.loss": ["1 %"], "hops.0.rate": ["2 Mbit/s", "8 Mbit/s"]}
    netcarlo.sweep(SWEEP | {"axes": axes}, out=tmp_path / "other", target="cpu")
    found = compare(folder / "seed_1", tmp_path / "other")
    assert len(found.table) == 5
    assert found.notes == ("5 cells of seed_1 are not in other", "1 cells of other are not in seed_1")
    netcarlo.sweep(SWEEP | {"axes": {"hops.0.delay": ["1 ms"]}}, out=tmp_path / "delay", target="cpu")
    with pytest.raises(InputError, match=r"seed_1 and delay do not both have the axis hops\.0\.delay"):
        compare(folder / "seed_1", tmp_path / "delay")


def test_a_store_of_another_version_is_read(folder, tmp_path):
    copy = tmp_path / "older"
    (copy / "chunks").mkdir(parents=True)
    manifest = json.loads((folder / "seed_1" / "manifest.json").read_text())
    manifest["definition"]["scenario"]["transport"]["forgotten"] = 1  # a field that is gone
    (copy / "manifest.json").write_text(json.dumps(manifest))
    for file in (folder / "seed_1" / "chunks").iterdir():
        (copy / "chunks" / file.name).write_bytes(file.read_bytes())
    found = compare(folder / "seed_1", copy)
    assert found.same and "transport.forgotten" in found.changes.index


@pytest.mark.full
def test_drawn_networks_are_paired_by_network_and_populations_are_independent(tmp_path):
    data = {
        "name": "drawn", "draw": {"count": 32, "blocks": 8}, "replications": 3,
        "scenario": {**SCENARIO, "hops": [{**SCENARIO["hops"][0], "rate": RANDOM}]},
        "axes": {"transport.window": [8, 32]},
    }  # fmt: skip
    slow = {
        **data,
        "scenario": {**data["scenario"], "transport": {**SCENARIO["transport"], "min_rto": "1 s"}},
    }
    for name, what, seed in (("a", data, 1), ("b", data, 2), ("slow", slow, 1)):
        netcarlo.sweep(what, out=tmp_path / name, seed=seed, target="cpu")
    noise, changed = (compare(tmp_path / "a", tmp_path / name) for name in ("b", "slow"))
    assert noise.same and not noise.table["paired"].any()
    row, other = (each.table.loc[(32.0, "goodput_bps")] for each in (changed, noise))
    assert changed.table["paired"].all() and row["n"] == 32 and row["verdict"] == "differs"
    assert row["ci_high"] - row["ci_low"] < other["ci_high"] - other["ci_low"]


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("scenarios") / "link.yaml"
    file.write_text(yaml.safe_dump(SCENARIO))
    return file


@pytest.mark.full
def test_an_estimate_of_before_is_compared_with_one_of_now(scenario, tmp_path):
    before = tmp_path / "before.json"
    before.write_text(run("estimate", scenario, "--json", "--goal", "goodput_bps >= 1 Mbit/s").stdout)
    now = compare(scenario, {**SCENARIO, "transport": {"protocol": "newreno", "window": 4}}, seed=5)
    assert now.table.loc["goodput_bps", ["n", "paired", "verdict"]].tolist() == [20, True, "differs"]
    again = compare(before, scenario)
    assert again.same and not again.table["paired"].any()
    assert (again.table["verdict"] == "equal").all()  # the same seed, the same models
    other = compare(before, netcarlo.estimate(scenario, seed=2))
    assert other.same and (other.table["verdict"] == "noise").any()
    assert run("compare", before, tmp_path / "none.json").exit_code == 2


def plan(tmp_path: Path, name: str, rate: str) -> Path:
    data = {
        "scenario": {**SCENARIO, "duration": "1 s", "hops": [{**SCENARIO["hops"][0], "rate": rate}]},
        "quantity": {"field": "hops.0.delay", "values": ["5 ms", "20 ms", "80 ms", "320 ms"]},
        "requirements": {"fast": {"goal": "goodput_bps >= 0.5 Mbit/s", "probability": "80 %"}},
        "replications": 100,
    }  # fmt: skip
    file = tmp_path / f"{name}.yaml"
    file.write_text(yaml.safe_dump(data))
    assert run("plan", file, "--out", tmp_path / name, "--quiet").exit_code == 0
    return tmp_path / name


@pytest.mark.full
def test_plans_differ_where_their_bands_lie_apart(tmp_path):
    narrow, wide = plan(tmp_path, "narrow", "0.4 Mbit/s"), plan(tmp_path, "wide", "4 Mbit/s")
    found = compare(narrow, wide)
    limit = found.table.loc[("", "limit")]
    assert limit["verdict"] == "differs" and limit["low"] > 0
    assert found.changes.loc["paths.0.hops.0.rate"].tolist() == ["400000 bit/s", "4000000 bit/s"]
    assert compare(narrow, narrow / "result.json").same


def test_what_cannot_be_compared_is_refused_on_one_line(folder, scenario, tmp_path):
    for asked, complaint in {
        (folder / "seed_1",): "needs at least two results",
        (folder / "seed_1", scenario): "seed_1 is a result of kind store, link of kind estimate",
        (scenario, tmp_path): "contains no results; compare takes scenarios, stores and results",
        (scenario, "nowhere.yaml"): "nowhere.yaml: no such file",
    }.items():
        with pytest.raises(InputError, match=complaint):
            compare(*asked)
    with pytest.raises(InputError, match="replications and seed apply to scenarios"):
        compare(folder / "seed_1", folder / "seed_2", seed=3)
    (tmp_path / "sweep.yaml").write_text(yaml.safe_dump(SWEEP))
    with pytest.raises(InputError, match=r"this is a sweep; compare takes .*; first netcarlo sweep"):
        compare(scenario, tmp_path / "sweep.yaml")
    (tmp_path / "odd.json").write_text('{"outcomes": {"goodput_bps": {"n": "many"}}}')
    with pytest.raises(InputError, match=r"odd\.json: is not a result of netcarlo estimate --json"):
        compare(scenario, tmp_path / "odd.json")


def test_one_replication_is_no_evidence(tmp_path):
    for seed in (1, 2):
        netcarlo.sweep(SWEEP, out=tmp_path / f"{seed}", seed=seed, replications=1, target="cpu")
    found = compare(tmp_path / "1", tmp_path / "2")
    rows = found.table.drop("fast", level="outcome")
    assert (rows["verdict"] == "unknown").all() and np.isnan(rows["low"]).all()


NAMED = {**SCENARIO, "name": "Link with NewReno"}


@pytest.fixture
def two(tmp_path) -> tuple[Path, Path]:
    """Return two scenarios in files whose names are less informative than their titles."""
    files = tmp_path / "a_1.yaml", tmp_path / "a_2.yaml"
    files[0].write_text(yaml.safe_dump(NAMED))
    slow = {**NAMED["transport"], "min_rto": "1 s"}
    files[1].write_text(yaml.safe_dump({**NAMED, "name": "Slow timer", "transport": slow}))
    return files


def test_sides_have_the_names_of_their_scenarios(two):
    found = compare(*two)
    assert [side.label for side in found.sides] == ["Link with NewReno", "Slow timer"]
    same = [side.label for side in compare(two[0], two[0]).sides]
    assert same == ["Link with NewReno (A)", "Link with NewReno (B)"]
    words = compare(two[0], two[0], values={"B:transport.protocol": "sack"}).sides
    assert [side.label for side in words] == ["newreno", "sack"]
    numbers = compare(two[0], two[0], values={"B:transport.window": 4}).sides
    assert [side.label for side in numbers] == same
    two[1].write_text(yaml.safe_dump(NAMED))
    labels = [side.label for side in compare(*two).sides]
    assert labels == ["Link with NewReno (a_1)", "Link with NewReno (a_2)"]


def test_fields_are_set_for_all_or_for_one_side(two):
    for side in ("B", "a_2", "Slow timer"):
        found = compare(*two, values={f"{side}:transport.window": 4, "hops.0.queue": 10})
        window = found.changes.loc["transport.window"]
        assert window.tolist() == ["32 packets", "4 packets"] or window.tolist() == ["32", "4"]
        assert "paths.0.hops.0.queue" not in found.changes.index
        assert {side.setting["paths.0.hops.0.queue"] for side in found.sides} == {"10"}


def test_the_command_compares_one_file_with_itself_changed(two):
    found = run(
        "compare", two[0], two[0], two[0], "--set", "B:transport.window=4",
        "--set", "C:transport.protocol=sack", "--of", "timeouts", "--json",
    )  # fmt: skip
    data = json.loads(found.stdout)
    assert found.exit_code == 0 and data["leading"] == ["timeouts"]
    assert list(data["changes"]) == ["transport.protocol", "transport.window"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"D:transport.window": 4}, r"no side has the name 'D'; the sides are A \(Link with NewReno\), B"),
        ({"transport.windw": 4}, "transport.windw"),
    ],
)
def test_fields_that_cannot_be_set_are_refused(two, values, says):
    with pytest.raises(InputError, match=says):
        compare(*two, values=values)


def test_fields_of_what_is_read_cannot_be_set(folder):
    with pytest.raises(InputError, match="seed_1 is a result, not a scenario"):
        compare(folder / "seed_1", folder / "seed_2", values={"A:transport.window": 4})


def test_an_outcome_that_was_not_measured_cannot_lead(two):
    with pytest.raises(
        InputError, match="of: 'goodput' was not measured on both sides; did you mean 'goodput_bps'"
    ):
        compare(*two, of="goodput")


@pytest.mark.full
def test_every_pair_of_scenarios_is_compared_and_judged_in_one_family(two):
    found = compare(two[0], two[1], two[0], values={"C:transport.window": 4}, of=["goodput_bps"])
    labels = [side.label for side in found.sides]
    assert found.pairs == [(labels[0], labels[1]), (labels[0], labels[2]), (labels[1], labels[2])]
    goodput = found.table.xs("goodput_bps", level="outcome")
    a, b, c = (side.estimates["goodput_bps"]["mean"].iloc[0] for side in found.sides)
    assert goodput["difference"].tolist() == pytest.approx([b - a, c - a, c - b])
    interval = ["equal", "unknown"]
    assert found.tested == len(found.table) - found.table["verdict"].isin(interval).sum()
    assert found.tested > compare(*two, of=["goodput_bps"]).tested


def test_what_leads_comes_first_and_no_row_is_left_out(two):
    for found in (compare(*two), compare(*two, of="mean_rtt_s")):
        shown = found.of_pair(found.pairs[0])
        assert sorted(shown.index) == sorted(found.table.index)
        leads = [name in found.leading for name in shown.index]
        assert leads == sorted(leads, reverse=True)
        directed = [name for name in shown.index if name in found.leading]
        order = [
            ["differs", "noise", "equal", "unknown"].index(shown.loc[name, "verdict"]) for name in directed
        ]
        assert order == sorted(order)
    assert found.leading == ("mean_rtt_s",) and shown.index[0] == "mean_rtt_s"


def test_the_terminal_prints_every_row(two):
    said = run("compare", *two).stdout
    table = compare(*two).table
    assert len(table) > 15 and (table["verdict"] == "equal").any()
    rows, _, equal = said.partition("\nEqual: ")
    lines = sum(table["verdict"] != "equal") + sum(table["verdict"] == "differs")  # these have two
    assert sum(line.rstrip().endswith("]") for line in rows.splitlines()) == lines
    assert equal.partition(".\n")[0].count(",") + 1 == sum(table["verdict"] == "equal")
    assert max(map(len, said.splitlines())) <= 80


def test_each_side_has_the_interval_that_an_estimate_has(two):
    table = compare(*two).table
    for side, file in zip(("baseline", "other"), two, strict=True):
        alone = netcarlo.estimate(file).to_frame()
        for name in ("goodput_bps", "timeouts", "mean_rtt_s"):
            row = table.loc[name]
            found = row[side], row[f"{side}_low"], row[f"{side}_high"]
            assert found == pytest.approx(tuple(alone.loc[name, ["mean", "ci_low", "ci_high"]]))


def test_the_terminal_shows_the_absolute_difference_below_the_relative_one(two):
    values = ["--set", "B:hops.0.rate=2 Mbit/s"]
    said = run("compare", *two, *values).stdout.splitlines()
    above = next(k for k, line in enumerate(said) if line.startswith(" goodput "))
    row = compare(*two, values={"B:hops.0.rate": "2 Mbit/s"}).table.loc["goodput_bps"]
    assert f"{100 * row['relative']:+.3g} % [".replace("-", "−") in said[above]
    below = said[above + 1]
    assert below.count("[") == 3 and "bit/s [" in below
    assert max(map(len, said)) <= 80
