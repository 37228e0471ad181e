"""Movement files of ad hoc networks."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import netcarlo
from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.schema import movement
from netcarlo.schema.notes import Note

SCENARIO = """\
duration: 100 s
replications: 2
transport: {protocol: newreno, window: 20}
adhoc:
  range: 250 m
  mobility: {model: given, %s}
"""
SETDEST = """\
# nodes: 2
$node_(0) set X_ 100.0
$node_(0) set Y_ 100.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 100.0
$node_(1) set Y_ 1e2
# $ns_ at 0.0 "$node_(1) setdest 100.0 100.0 0.0"
$god_ set-dist 0 1 1
$ns_ at 10.0 "$node_(1) setdest 100.0 600.0 5.0"
$ns_ at 10.0 "$god_ set-dist 0 1 2"
"""
BONNMOTION = "0.0 100.0 100.0\n0.0 100.0 100.0 10.0 100.0 100.0 110.0 100.0 600.0\n"
WALK = [[(0, 100, 100)], [(0, 100, 100), (10, 100, 100), (110, 100, 600)]]


def test_both_formats_are_the_same_walk() -> None:
    high = "\ufeff#3D\n0 100 100 0\n0 100 100 0 10 100 100 5 110 100 600 5 \n"
    for text in (SETDEST, BONNMOTION, high):
        found = movement.parse(text)
        assert found.nodes == WALK
        assert "2 nodes, last position at 110 s, area 0 m x 500 m" in found.summary()
        assert "mean speed 5 m/s while moving (45.5 % of the time)" in found.summary()
    assert movement.parse(SETDEST).notes == ["2 other lines left out"]
    shifted = movement.parse("0 500100 5200100\n0 500100 5200100 10 500100 5200100 110 500100 5200600\n")
    assert shifted.nodes == [[(t, x - 100, y - 350) for t, x, y in stops] for stops in WALK]
    assert "coordinates shifted by -500100 m and -5200350 m" in shifted.notes[0]


def test_setdest_turns_stops_and_waits() -> None:
    head = "$node_(3) set X_ 0\n$node_(3) set Y_ 0\n"
    commands = ((1, "0 100 10"), (6, "100 50 20"), (20, "100 0 1"), (30, "100 0 0"))
    lines = [f'$ns_ at {at} "$node_(3) setdest {to}"\n' for at, to in reversed(commands)]
    found = movement.parse(head + "".join(lines))
    assert found.nodes == [[(0, 0, 0), (1, 0, 0), (6, 0, 50), (11, 100, 50), (20, 100, 50), (30, 100, 40)]]
    assert found.notes == ["nodes 3 to 3 are numbered from 0 in this order"]


@pytest.mark.parametrize("key", ["file", "nodes"])
@pytest.mark.parametrize(
    ("name", "text"), [("walk.movements.gz", BONNMOTION), ("walk.ns_movements", SETDEST)]
)
def test_a_scenario_names_a_file(tmp_path, key: str, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    (tmp_path / "case.yaml").write_text(SCENARIO % f"{key}: {name}")
    with pytest.warns(Note, match=f"{name}: .*2 nodes"):
        scenario = netcarlo.load_scenario(tmp_path / "case.yaml")
    found = [[(stop.time, stop.x, stop.y) for stop in stops] for stops in scenario.adhoc.mobility.nodes]
    assert found == WALK
    (tmp_path / name).unlink()
    assert type(scenario).check(scenario.model_dump()) == scenario
    with pytest.raises(InputError, match=r"case.yaml:6: adhoc.mobility.\w+: .*no such file"):
        netcarlo.load_scenario(tmp_path / "case.yaml")


def test_the_share_of_time_in_reach(tmp_path) -> None:
    (tmp_path / "walk.ns_movements").write_text(SETDEST)
    (tmp_path / "case.yaml").write_text(SCENARIO % "file: walk.ns_movements")
    with pytest.warns(Note):
        scenario = netcarlo.load_scenario(tmp_path / "case.yaml")
    assert netcarlo.simulate(scenario).frame.connected_share.to_list() == pytest.approx([0.6, 0.6], abs=1e-3)


def test_faults_name_the_line(tmp_path) -> None:
    for text, complaint in (
        ("0 1\n", "line 1 has no waypoints"), ("0 1 2\nx\n", "line 2 has no waypoints"), ("", "has no nodes"),
        ("5 1 1 4 2 2\n", "decreasing time in line 1"),
        ("$node_(0) set X_ 1\n", "no initial position of node 0"),
        (SETDEST + '$ns_ at 9 "$node_(0) set X_ 5"\n', "in line 11 a jump at 9 s"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=complaint):
            movement.parse(text)
    (tmp_path / "many.movements").write_text("0 1 1\n" * 257)
    (tmp_path / "case.yaml").write_text(SCENARIO % "file: many.movements")
    with pytest.raises(InputError, match=r"many\.movements has 257 nodes; expected at most 256 nodes; keep"):
        netcarlo.load_scenario(tmp_path / "case.yaml")


def test_import_says_what_is_in_a_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walk.ns_movements").write_text(SETDEST)
    found = CliRunner().invoke(app, ["import", "movement", "walk.ns_movements", "--out", "walk.movements"])
    assert found.exit_code == 0, found.output
    assert "walk.ns_movements: ns-2 setdest, 2 nodes, last position at 110 s" in found.stdout
    assert "mobility: {model: given, nodes: walk.movements}" in found.stdout
    assert movement.parse((tmp_path / "walk.movements").read_text()).nodes == WALK


LEG = st.tuples(st.integers(1, 99), st.integers(-9000, 9000), st.integers(-9000, 9000))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(LEG, min_size=1, max_size=6), min_size=1, max_size=5))
def test_setdest_of_a_walk_is_the_walk(nodes: list) -> None:
    """Commands that are written leg by leg are read back to the waypoints of the same walk in BonnMotion."""
    setdest, bonnmotion = [], []
    for i, legs in enumerate(nodes):
        (_, x, y), at = legs[0], 0
        setdest += [f"$node_({i}) set X_ {x}", f"$node_({i}) set Y_ {y}"]
        row = [f"0 {x} {y}"]
        for lasts, u, v in legs[1:]:
            if (u, v) == (x, y):
                continue
            speed = ((u - x) ** 2 + (v - y) ** 2) ** 0.5 / lasts
            setdest.append(f'$ns_ at {at} "$node_({i}) setdest {u} {v} {speed!r}"')
            at, x, y = at + lasts, u, v
            row.append(f"{at} {x} {y}")
        bonnmotion.append(" ".join(row))
    found = movement.parse("\n".join(setdest)).nodes
    expected = movement.parse("\n".join(bonnmotion)).nodes
    assert [len(stops) for stops in found] == [len(stops) for stops in expected]
    for stops, others in zip(found, expected, strict=True):
        for one, other in zip(stops, others, strict=True):
            assert one == pytest.approx(other, abs=1e-6)
