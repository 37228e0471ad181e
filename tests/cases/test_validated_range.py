"""Notes on answers outside the validated range of their model, in one line."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from netcarlo import InputError, compare, configs, estimate, load_scenario
from netcarlo.cli.main import app
from netcarlo.estimation.reference import load_mapping, mapping_names, read_rows
from netcarlo.estimation.validate import validate
from netcarlo.live import wording
from netcarlo.live.cache import ReplicationCache
from netcarlo.networks.extent import merged
from netcarlo.scenario import Scenario
from netcarlo.schema.document import yaml_text
from netcarlo.simulation import fidelity, validated
from netcarlo.simulation.validated import EDGE, QUANTITIES, RANGE, START
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.store.store import Store
from tests.campaigns.verification.ranges import LINKS_PAGE, of_links, of_populations, of_reference, table
from tests.networks.references import LINKDOWN

FOLDER = Path(str(configs.__file__)).parent
DOCS = Path(__file__).parents[2] / "docs" / "results" / "validated-ranges.md"

PATH = load_scenario(FOLDER / "examples" / "lossy_hop.yaml")
LINUX = Scenario.check(
    {
        "duration": "5 s",
        "replications": 4,
        "transport": {"protocol": "linux", "congestion_control": "bbr"},
        "hops": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": 20}],
    }
)
SHARED = load_scenario(FOLDER / "examples" / "random_dumbbells.yaml")
CELL = load_scenario(FOLDER / "examples" / "wifi_cell.yaml")
CHAIN = Scenario.check(
    {
        "duration": "5 s",
        "transport": {"protocol": "udp", "rate": "5 Mbit/s"},
        "wireless": {"chain": {"hops": 3}, "rate": "18 Mbit/s"},
    }
)
ADHOC = Scenario.check(
    {
        "duration": "100 s",
        "transport": {"protocol": "newreno", "packets": 5000, "payload": "1000 B"},
        "adhoc": {
            "nodes": 10,
            "area": {"side": "400 m"},
            "range": "200 m",
            "mobility": {"model": "random_waypoint", "speed": "5 m/s"},
        },
    }
)
INSIDE = {"path": PATH, "linux": LINUX, "shared": SHARED, "cell": CELL, "chain": CHAIN, "adhoc": ADHOC}

STEPS = "time,rate,delay\n0 s,10 Mbit/s,10 ms\n5 s,8 Mbit/s,10 ms\n10 s,8 Mbit/s,10 ms\n"

OUTSIDE: list[tuple[str, Scenario, dict[str, Any]]] = [
    ("queue", LINUX, {"hops.0.queue": 1}),
    ("queue", LINUX, {"hops.0.queue": 5000}),
    ("queue", SHARED, {"shared.dumbbell.queue": 3}),
    ("loss", LINUX, {"hops.0.loss": "20 %"}),
    ("ack_loss", LINUX, {"hops.0.ack_loss": "40 %"}),
    ("ack_loss", PATH, {"hops.0.ack_loss": "1 %"}),
    ("rate", LINUX, {"hops.0.rate": "1 Gbit/s"}),
    ("rate", PATH, {"hops.0.rate": "10 kbit/s"}),
    ("rtt", LINUX, {"hops.0.delay": "300 ms"}),
    ("rtt", PATH, {"hops.0.delay": "0.1 ms"}),
    ("hops", LINUX, {"paths.0.hops": [{"rate": "10 Mbit/s", "delay": "5 ms", "queue": 20}] * 3}),
    ("outage", LINUX, {"hops.0.outages": [{"start": "1 s", "duration": "20 s"}]}),
    ("outage", LINUX, {"hops.0.outages": {"up": "100 s", "down": "60 s"}}),
    ("jitter", PATH, {"hops.0.jitter": {"uniform": ["0 ms", "1 ms"]}}),
    ("trace", SHARED, {"shared.dumbbell": {"trace": STEPS, "repeat": True}}),
    ("policer", PATH, {"hops.0.policer": {"rate": "1 Mbit/s", "burst": "10 kB"}}),
    ("bursts", LINUX, {"hops.0.bursts": {"apart": 1000, "length": 5}}),
    ("cross_traffic", LINUX, {"hops.0.cross_traffic": {"rate": "1 Mbit/s"}}),
    ("overhead", LINUX, {"hops.0.overhead": "100 B"}),
    ("shaper_rate", LINUX, {"hops.0.shaper": {"rate": "2 Mbit/s", "burst": "10 kB"}}),
    ("shaper_burst", LINUX, {"hops.0.shaper": {"rate": "10 Mbit/s", "burst": "32 kB"}}),
    (
        "shaper_peak",
        LINUX,
        {"hops.0.shaper": {"rate": "9.9 Mbit/s", "burst": "10 kB", "peak_rate": "1 Gbit/s"}},
    ),
    ("loss_correlation", LINUX, {"hops.0.loss": "1 %", "hops.0.loss_correlation": "75 %"}),
    ("window", LINUX, {"transport.window": 2}),
    ("window", PATH, {"transport.window": 2}),
    ("payload", LINUX, {"transport.payload": "200 B"}),
    ("transfer", LINUX, {"transport.packets": 2}),
    ("transfer", LINUX, {"transport.bytes": "1 kB"}),
    ("flows", SHARED, {"shared.flows.0.count": 60}),
    ("delay", SHARED, {"shared.dumbbell.delay": "200 ms"}),
    ("stations", CELL, {"wireless.cell.stations": 40}),
    ("phy_rate", CHAIN, {"wireless.rate": "6 Mbit/s"}),
    ("frame_error", CELL, {"wireless.frame_error": "10 %"}),
    ("hops", CHAIN, {"wireless.chain.hops": 12}),
    ("nodes", ADHOC, {"adhoc.nodes": 40}),
    ("range", ADHOC, {"adhoc.range": "50 m"}),
    ("side", ADHOC, {"adhoc.area.side": "2000 m"}),
    ("speed", ADHOC, {"adhoc.mobility.speed": "30 m/s"}),
    ("speed", ADHOC, {"adhoc.mobility.speed": {"min": "1 m/s", "max": "40 m/s"}}),
    ("residual_error", ADHOC, {"adhoc.residual_error": "20 %"}),
    ("queue", PATH, {"fidelity": "fluid", "hops.0.queue": 1000}),
]


def names(scenario: Scenario) -> set[str]:
    """Return the quantities that are out of range."""
    return {one.quantity for one in validated.outside(scenario)}


def test_rows_refer_to_references_that_exist() -> None:
    known, mappings = fidelity.measured(), {name: load_mapping(name) for name in mapping_names()}
    assert {row.fidelity for row in validated.rows()} == {"packet", "fluid", "formula"}
    for row in validated.rows():
        assert row.quantity in QUANTITIES
        assert row.low <= row.high
        assert row.use in (RANGE, EDGE)
        if row.reference == LINKS_PAGE:
            assert (DOCS.parent / f"{LINKS_PAGE}.md").exists()
        elif row.fidelity == "packet":
            mapping = mappings[row.reference]
            assert row.source == mapping.description.partition(",")[0]
            assert row.metric == next(iter(mapping.metrics))
            assert 0 <= row.median <= row.p90 <= row.worst
        else:
            assert row.reference == "known_bias"
            assert any((row.fidelity, row.network) == key[:2] for key in known)


def test_ranges_of_cheap_models_are_those_of_the_networks_that_were_measured() -> None:
    made = {row[:4]: row for row in of_populations()}
    kept = {row[:4]: row for row in validated.rows() if row.fidelity != "packet"}
    assert made.keys() == kept.keys()
    for key, row in made.items():
        assert kept[key].low == pytest.approx(row.low, rel=1e-5)
        assert kept[key].high == pytest.approx(row.high, rel=1e-5)


@pytest.mark.full
def test_ranges_of_packets_are_those_of_the_rows_of_references(tmp_path: Path) -> None:
    file = tmp_path / "ns2_linkdown.csv"
    file.write_text(LINKDOWN)
    found = list(of_reference(file, validate(file, target="cpu").rows))
    scenarios = [row.scenario for row in read_rows(file, load_mapping("ns2_linkdown"))]
    for network, protocol in {(row.network, row.protocol) for row in found}:
        compared = [scenario.network.compared(scenario) for scenario in scenarios]
        mine = [each.protocols[protocol] for each in compared
                if each.network == network and protocol in each.protocols]  # fmt: skip
        ours = {row.quantity: (row.low, row.high) for row in found if row[1:3] == (network, protocol)}
        assert ours == merged(mine)
    sack = {row.quantity: row for row in found if row.protocol == "sack"}
    assert sack["queue"].source == "ns-2 2.35"


@pytest.mark.parametrize("name", INSIDE)
def test_nothing_is_said_inside(name: str) -> None:
    assert validated.outside(INSIDE[name]) == []
    assert validated.sentence(INSIDE[name]) == ""


@pytest.mark.parametrize(("quantity", "scenario", "values"), OUTSIDE)
def test_each_quantity_is_said_outside(quantity: str, scenario: Scenario, values: dict[str, Any]) -> None:
    if "paths.0.hops" in values:
        data = scenario.model_dump(mode="json", exclude_none=True)
        data["paths"][0]["hops"] = values["paths.0.hops"]
        other = Scenario.check(data)
    else:
        other = scenario.with_values(values)
    assert quantity in names(other)
    line = validated.sentence(other)
    assert line.startswith(START)
    assert "\n" not in line
    assert f"{QUANTITIES[quantity].word} " in line


def test_every_quantity_has_a_case() -> None:
    recorded = {row.quantity for row in validated.rows()}
    assert recorded - {quantity for quantity, *_ in OUTSIDE} <= {"cables", "cells", "mpu"}  # never outside


def test_the_line_says_where_it_was_compared_and_how_large_errors_are_there() -> None:
    line = validated.sentence(LINUX.with_values({"hops.0.queue": 1}))
    assert "queue 1 packet (compared with Linux 6.18 from 5 to 386 packets; short transfers at 1 to 4" in line
    assert "58.1 % at worst" in line
    assert "ns-2 2.35 only at 0" in validated.sentence(PATH.with_values({"hops.0.ack_loss": "1 %"}))


def test_each_reference_has_its_range_and_its_errors() -> None:
    """TCP and UDP over shared links were compared with different references."""
    flows = [{"count": 1}, {"count": 1, "each": {"udp": {"rate": "1 Mbit/s", "payload": "500 B"}}}]
    data = {
        **LINUX.model_dump(mode="json", exclude={"paths"}, exclude_none=True),
        "shared": {
            "dumbbell": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": 50, "loss": "5 %"},
            "flows": flows,
        },
    }
    scenario = Scenario.check(data)
    line = validated.sentence(scenario)
    assert "loss 5 % (linux bbr compared with Linux 6.18 up to 0.1 %)" in line
    assert "loss 5 % (udp compared with ns-2 2.35 up to 1.6 %)" in line
    errors = "goodput 0.058 % and 0.2 % (Linux 6.18); goodput 0.092 % and 2.1 % (ns-2 2.35)"
    assert line.endswith(f". Deviations inside the range, median and worst: {errors}")
    assert validated.of_record(json.loads(json.dumps(validated.record(scenario)))) == line


def test_links_as_sold_have_the_ranges_that_were_checked() -> None:
    assert [row for row in validated.rows() if row.reference == LINKS_PAGE] == [*of_links()]
    framed = {"hops.0.overhead": "38 B", "hops.0.mpu": "84 B", "hops.0.cells": "atm"}
    shaper = {"rate": "10 Mbit/s", "burst": "10 kB"}
    inside = LINUX.with_values(framed | {"hops.0.shaper": shaper, "hops.0.loss_correlation": "25 %"})
    assert validated.sentence(inside) == ""
    said = validated.sentence(LINUX.with_values({"hops.0.overhead": "100 B"}))
    assert "overhead 100 B (compared with computed capacities up to 46 B)" in said


def test_drawn_values_count_with_their_bounds() -> None:
    inside = {"hops.0.queue": {"uniform": [20, 100]}, "hops.0.loss": {"uniform": [0, "2 %"]}}
    assert names(LINUX.with_values(inside)) == set()
    outside = LINUX.with_values({"hops.0.queue": {"uniform": [2, 100]}})
    assert "queue 2 to 100 packets" in validated.sentence(outside)


def test_ends_of_a_range_are_not_sharp() -> None:
    row = next(r for r in validated.rows() if (r.protocol, r.quantity, r.use) == ("linux_bbr", "rtt", RANGE))
    assert names(LINUX.with_values({"hops.0.delay": f"{0.95 * row.low / 2} s"})) == set()
    assert "rtt" in names(LINUX.with_values({"hops.0.delay": f"{0.5 * row.low / 2} s"}))


def test_a_window_that_never_fills_does_not_count() -> None:
    assert names(LINUX.with_values({"transport.window": 60_000})) == set()


@pytest.mark.parametrize(
    ("scenario", "values", "words"),
    [
        (LINUX, {"transport.congestion_control": "bbr3"}, "linux bbr3 over paths"),
        (PATH, {"transport": {"protocol": "westwood"}}, "westwood over paths"),
        (CELL, {"wireless.rate_control": "aarf"}, "udp over 802.11 cells with aarf"),
        (ADHOC, {"adhoc.mobility": {"model": "static"}}, "newreno over ad hoc networks (static)"),
    ],
)
def test_models_without_a_reference_say_so(scenario: Scenario, values: dict[str, Any], words: str) -> None:
    assert validated.sentence(scenario.with_values(values)) == f"{START}no recorded reference of {words}"


@pytest.mark.full
def test_an_estimate_says_it_once(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    scenario = LINUX.with_values({"hops.0.queue": 1, "hops.0.reverse.queue": 50})
    file.write_text(yaml_text(scenario.model_dump(mode="json", exclude_none=True)))
    found = CliRunner().invoke(app, ["estimate", str(file)])
    assert found.output.count(START) == 1
    assert validated.sentence(scenario) in found.output
    record = json.loads(CliRunner().invoke(app, ["estimate", str(file), "--json"]).stdout)
    assert [one["quantity"] for one in record["outside_validated_range"]] == ["queue"]
    assert record["outside_validated_range"][0]["low"] == 1
    assert validated.sentence(scenario) in estimate(scenario)._repr_html_()
    inside = CliRunner().invoke(app, ["estimate", str(file), "--set", "hops.0.queue=20", "--json"])
    assert json.loads(inside.stdout)["outside_validated_range"] == []
    quiet = CliRunner().invoke(app, ["estimate", str(file), "--set", "hops.0.queue=20"])
    assert START not in quiet.output


@pytest.mark.full
def test_a_comparison_says_it_of_each_side(tmp_path: Path) -> None:
    first = LINUX.with_values({"name": "deep"})
    second = LINUX.with_values({"name": "shallow", "hops.0.queue": 1, "hops.0.reverse.queue": 50})
    found = compare(first, second)
    assert found.outside == [f"shallow: {validated.sentence(second)}"]
    assert compare(second, second.with_values({"name": "again"})).outside == [
        f"shallow, again: {validated.sentence(second)}"
    ]


SWEEP = {
    "name": "queues",
    "scenario": LINUX.model_dump(mode="json", exclude_none=True),
    "axes": {"queue": {"field": "hops.0.queue", "values": [1, 2, 20, 40]}},
}


@pytest.mark.full
def test_a_sweep_counts_its_cells(tmp_path: Path) -> None:
    file, store = tmp_path / "s.yaml", tmp_path / "store"
    file.write_text(yaml_text(SWEEP))
    found = CliRunner().invoke(app, ["sweep", str(file), "--out", str(store)])
    line = f"{START}2 of 4 cells: queue 1 to 2 packets (compared with Linux 6.18"
    assert found.output.count(START) == 1
    assert line in found.output
    assert line in CliRunner().invoke(app, ["status", str(store)]).output
    again = json.loads(CliRunner().invoke(app, ["sweep", str(file), "--out", str(store), "--json"]).stdout)
    assert again["outside_validated_range"]["cells"] == 2
    page = tmp_path / "r.html"
    CliRunner().invoke(app, ["report", str(store), "--out", str(page)])
    assert line in page.read_text()


@pytest.mark.parametrize("odd", [[], "none", {"text": 5}, {"cells": 1}])
def test_a_store_with_an_odd_entry_is_refused(tmp_path: Path, odd: Any) -> None:
    store = Store.create(tmp_path, make_sweep(SWEEP).manifest())
    assert store.outside.startswith(f"{START}2 of 4 cells")
    file = tmp_path / "manifest.json"
    data = json.loads(file.read_text())
    file.write_text(json.dumps(data | {"outside_validated_range": odd}))
    with pytest.raises(InputError, match="outside_validated_range"):
        Store.open(tmp_path)
    del data["outside_validated_range"]  # as earlier versions wrote it
    file.write_text(json.dumps(data))
    assert Store.open(tmp_path).outside == ""


def test_of_a_large_sweep_some_cells_are_looked_at() -> None:
    values = [*range(1, 501)]
    axes = {
        "queue": {"field": "hops.0.queue", "values": values},
        "delay": {"field": "hops.0.delay", "values": ["10 ms", "20 ms"]},
    }
    found = make_sweep(SWEEP | {"axes": axes}).outside_range
    assert (found.looked_at, found.of) == (100, 1000)
    assert 0 < found.cells < 30
    assert "of a sample of 100 of the 1,000 cells: queue" in found.text


@pytest.mark.full
def test_a_plan_says_it_at_its_answer(tmp_path: Path) -> None:
    plan = {
        "name": "buffer",
        "scenario": LINUX.model_dump(mode="json", exclude_none=True),
        "quantity": {"name": "buffer", "field": "hops.0.queue", "values": [1, 2, 3]},
        "find": "smallest",
        "requirements": {"some": {"goal": "goodput_bps >= 1 kbit/s", "probability": "50 %"}},
        "replications": 200,
    }
    file = tmp_path / "p.yaml"
    file.write_text(yaml_text(plan))
    found = CliRunner().invoke(app, ["plan", str(file), "--out", str(tmp_path / "out")])
    assert found.output.replace("\n", " ").count(START) == 1
    record = json.loads((tmp_path / "out" / "result.json").read_text())
    assert [one["quantity"] for one in record["outside_validated_range"]] == ["queue"]
    assert "Outside the validated range" in (tmp_path / "out" / "report.html").read_text()


def test_the_documented_table_is_that_of_the_data() -> None:
    assert table() in DOCS.read_text()


def test_numbers_of_json_are_finite_or_null() -> None:
    records = validated.record(LINUX.with_values({"transport.congestion_control": "bbr3"}))
    assert records[0]["low"] is None
    assert all(not (isinstance(v, float) and math.isnan(v)) for v in records[0].values())


def test_the_live_page_says_it_below_its_number() -> None:
    for queue, said in ((1, True), (30, False)):
        known = ReplicationCache()
        runs = known.runs(PATH.with_values({"hops.0.queue": queue}))
        look = known.preview(runs, "goodput_bps")
        assert look is not None
        by = wording.number_tile("goodput", runs, look, "goodput_bps", "").by
        assert (START in by) == said


def test_protocols_without_a_reference_are_listed_once() -> None:
    data = SHARED.model_dump(mode="json", exclude_none=True)
    data["shared"]["flows"] = [{"count": 1, "each": {"protocol": name}} for name in ("bic", "cubic")]
    line = f"{START}no recorded reference of bic, cubic over shared links"
    assert validated.sentence(Scenario.check(data)) == line
