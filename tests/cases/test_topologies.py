"""Users' topologies on the command line: maps, demands, names of routers, parallel links."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo.cli.main import app

FILES = Path(__file__).parent / "topologies"


def run(*arguments) -> tuple[int, str]:
    found = CliRunner().invoke(app, [*map(str, arguments)])
    return found.exit_code, " ".join(found.output.split())


def answer(file) -> dict:
    """Return the JSON of an estimate."""
    found = CliRunner().invoke(app, ["estimate", str(file), "--json", "-q"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_a_map_keeps_names_rates_parallel_links_and_says_what_is_assumed(tmp_path) -> None:
    out = tmp_path / "map.yaml"
    code, said = run("import", "topology", FILES / "map.graphml", "--out", out)
    assert code == 2 and "1 of 3 links has no rate, such as Bravo to Charlie (line 13)" in said
    code, said = run("import", "topology", FILES / "map.graphml", "--rate", "20 Mbit/s", "--out", out)
    assert code == 0, said
    for text in (
        "3 routers, 6 links (3 in the file)",
        "1 of 3 links without a rate, such as Bravo to Charlie (line 13): 20 Mbit/s (--rate)",
        "Delay of 3 of 3 links: great-circle distance at 200,000 km/s",
        "2 parallel links are kept",
        "20 TCP downloads",
    ):
        assert text in said
    links = netcarlo.load_scenario(out).shared.links
    assert [link.ends for link in links[::2]] == [("Saint Älpha", "Bravo")] * 2 + [("Bravo", "Charlie")]
    assert [link.rate for link in links[::2]] == [10e6, 10e6, 20e6]
    assert all(link.delay == pytest.approx(111.2 / 200e3, rel=1e-3) for link in links)
    assert answer(out)["busiest_link"] is not None


def test_demands_of_sndlib_give_the_utilisations_by_hand(tmp_path) -> None:
    out = tmp_path / "net.yaml"
    assert run("import", "topology", FILES / "net.xml", "--out", out)[0] == 0
    found = answer(out)
    used = {row["link"]: row["utilisation"] for row in found["links"]}
    assert found["busiest_link"] == "A-B"
    assert used["A-B"] == pytest.approx((2 + 3) / 10, rel=0.005)
    assert used["B-C"] == pytest.approx(2 / 5, rel=0.005)
    code, said = run("estimate", out)
    assert code == 0 and "Busiest link: A-B, 50" in said and "of 10 Mbit/s used" in said


def test_the_busiest_link_is_named() -> None:
    found = answer(FILES / "busiest.yaml")
    used = {row["link"]: row["utilisation"] for row in found["links"]}
    assert found["busiest_link"] == max(used, key=lambda link: used[link])
    assert min(used["0-1"], used["2-3"]) > 0.95 and used["1-2"] < 0.1
    assert {row["flow"] for row in found["flows"]} == {"flows.0 (0-3)", "flows.1 (0-1)"}
    code, said = run("estimate", FILES / "busiest.yaml")
    assert code == 0 and "Busiest link: 0-1, 98.53 % of 50 Mbit/s used" in said


def test_routers_have_names() -> None:
    code, said = run("estimate", FILES / "names.yaml")
    assert code == 0, said
    frame = netcarlo.trace(netcarlo.load_scenario(FILES / "names.yaml")).frame
    assert "Zürich-St. Gallen" in set(frame["link_name"].dropna())


def test_both_of_two_parallel_links_carry_flows() -> None:
    found = answer(FILES / "parallel.yaml")
    used = {row["link"]: row["utilisation"] for row in found["links"]}
    assert min(used["0-1"], used["0-1 (2)"]) > 0.9
    assert found["outcomes"]["goodput_bps"]["mean"] > 18e6


def test_a_topology_is_not_taken_for_a_scenario(tmp_path) -> None:
    shutil.copy(FILES / "map.graphml", tmp_path)
    code, said = run("estimate", tmp_path / "map.graphml")
    assert code == 2 and "netcarlo import topology" in said
