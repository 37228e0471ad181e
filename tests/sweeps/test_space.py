import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.notes import Note
from netcarlo.simulation.provenance import resolved
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.designs import grouped
from netcarlo.sweeps.space.file import load_sweep, make_sweep
from tests.sweeps.examples import DRAWN, GRID, HOP, all_keys, sweep


@pytest.mark.parametrize("data", [GRID, DRAWN], ids=["grid", "drawn"])
def test_keys_are_those_of_the_resolved_scenarios(data):
    space = sweep(data)
    keys = all_keys(space)
    assert len(set(keys)) == space.n_cells
    for cell in range(space.n_cells):
        assert identity.key(identity.scenario(space, cell)) == keys[cell]


def test_every_point_of_the_axes_is_one_cell_and_the_compared_axis_is_fastest():
    space = sweep(GRID, compare="hops.0.loss")
    place = space.indices(np.arange(space.n_cells))
    assert len(set(zip(*place.values(), strict=True))) == space.n_cells == 2 * 2 * 3 * 2 * 2
    assert place["hops.0.loss"][:4].tolist() == [0, 1, 0, 1]
    assert space.group == 2 and space.baseline(np.array([0, 1, 5])).tolist() == [0, 0, 4]


def test_a_cell_has_the_values_of_its_point():
    space = sweep(GRID)
    for cell in (0, 17, space.n_cells - 1):
        at = {name: index[0] for name, index in space.indices(np.array([cell])).items()}
        scenario = identity.scenario(space, cell)
        assert scenario.transport.protocol == ("reno", "sctp")[at["setup"]]
        rates = [hop.rate for hop in scenario.paths[0].hops]
        assert rates == [(1e6, 2e6, 4e6)[at["both"]]] * 2
        hop = scenario.paths[0].hops[1]
        assert (hop.outages[0].duration, hop.delay) == [(0, 0.005), (0.5, 0.05)][at["cut"]]
        batch = next(iter(space.batches(np.array([cell]))))
        share, packets = (0.5, 2)[at["share"]], batch.features["bdp_packets"][0]
        assert scenario.paths[0].hops[0].queue == max(2, round(share * packets))


def test_features_of_a_path():
    hops = [
        {"rate": "1 Mbit/s", "delay": "20 ms", "loss": "10 %"},
        {"rate": "2 Mbit/s", "delay": "5 ms", "loss": "50 %"},
    ]
    scenario = {"duration": "1 s", "transport": {"protocol": "reno"}, "hops": hops}
    look = next(iter(sweep({"scenario": scenario}).batches(np.array([0])))).features
    assert look["n_hops"][0] == 2 and look["bottleneck_bps"][0] == pytest.approx(1e6)
    assert look["path_loss"][0] == pytest.approx(1 - 0.9 * 0.5)
    wire_s = (1500 + 40) * 8 * (1e-6 + 0.5e-6)
    assert look["base_rtt_s"][0] == pytest.approx(2 * 0.025 + wire_s)
    assert look["bdp_packets"][0] == pytest.approx(1e6 * (0.05 + wire_s) / 12000)


def test_a_case_may_change_nothing():
    cases = {"as it is": {}, "vegas": {"transport.protocol": "vegas"}}
    space = sweep({"scenario": GRID["scenario"], "axes": {"setup": {"cases": cases}}})
    found = [identity.scenario(space, cell).transport.protocol for cell in range(space.n_cells)]
    assert found == ["newreno", "vegas"] and space.compare.name == "setup"


def test_drawn_networks_are_the_same_for_every_protocol():
    space = sweep(DRAWN)
    for draw in range(4):
        three = [identity.scenario(space, 3 * draw + i) for i in range(3)]
        assert [s.transport.protocol for s in three] == ["newreno", "vegas", "sack"]
        paths = [[value for name, value in fields.flat(s) if name.startswith("paths")] for s in three]
        assert paths[0] == paths[1] == paths[2] and {s.topology for s in three} == {draw}
    hops = {len(identity.scenario(space, 3 * draw).paths[0].hops) for draw in range(8)}
    assert hops == {2, 3, 4}


def test_the_same_scenario_has_the_same_key_however_it_was_written():
    base = {"scenario": GRID["scenario"], "name": "other words"}
    one = sweep({**base, "axes": {"hops.0.loss": ["1 %", "2 %"]}})
    two = sweep({**base, "axes": {"loss": {"field": "hops.0.loss", "linear": [0.01, 0.03], "points": 3}}})
    assert list(all_keys(one)) == list(all_keys(two))[:2]
    fixed = {**GRID["scenario"], "hops": [{**HOP, "loss": "1 %"}, GRID["scenario"]["hops"][1]]}
    assert list(all_keys(sweep({"scenario": fixed}))) == list(all_keys(one))[:1]
    assert one.digest != two.digest


@pytest.mark.parametrize("field", ["queue", "rate", "delay", "loss"])
def test_a_scenario_with_a_normal_that_is_written_out_keeps_its_key(field):
    spread = {"rate": {"mean": "2 Mbit/s", "sd": "1 Mbit/s"}, "delay": {"mean": "20 ms", "sd": "5 ms"},
              "queue": {"mean": 20, "sd": 5}, "loss": {"mean": 0.01, "sd": 0.001}}  # fmt: skip
    hop = {"rate": "1 Mbit/s", "delay": "1 ms", field: {"normal": spread[field]}}
    scenario = {"duration": "1 s", "transport": {"protocol": "reno"}, "hops": [hop]}
    read = Scenario.check(scenario)
    again = Scenario.check(resolved(read))
    assert again == read and identity.key(again) == identity.key(read)


@pytest.mark.parametrize(
    "change",
    [{"name": b"x"}, {"scenario": GRID["scenario"] | {"name": b"x"}}, {"axes": {"hops.0.loss": [b"1 %", 0]}}],
)
def test_data_that_no_file_can_hold_are_refused(change):
    with pytest.raises(InputError, match="is not a text or a number; put quotes around it"):
        sweep({**GRID, **change})


@pytest.mark.parametrize("files", [5, [1], {"a": 5}, {"a": "b"}, None])
def test_files_are_no_field_of_a_scenario(files):
    with pytest.raises(InputError, match="files is an unknown field"):
        make_sweep({"scenario": {**GRID["scenario"], "files": files}})


def test_words_decide_nothing_and_numbers_do():
    assert sweep(GRID, name="a", description="b").digest == sweep(GRID).digest
    assert sweep(GRID, seed=2).digest != sweep(GRID).digest
    assert not set(all_keys(sweep(GRID, seed=2))) & set(all_keys(sweep(GRID)))


def test_changed_models_change_every_key(monkeypatch):
    before = all_keys(sweep(DRAWN))
    monkeypatch.setattr(identity, "model_version", lambda: "another")
    assert not set(before) & set(all_keys(sweep(DRAWN)))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_choice_of_cells_gives_the_same_numbers(data):
    space = SPACES[data.draw(st.sampled_from(["grid", "drawn"]))]
    cells = np.array(
        data.draw(st.lists(st.integers(0, space.n_cells - 1), min_size=1, max_size=9, unique=True))
    )
    assert list(all_keys(space, cells)) == list(ALL_KEYS[space.name][cells])


SPACES = {"grid": sweep(GRID), "drawn": sweep(DRAWN)}
ALL_KEYS = {name: all_keys(space) for name, space in SPACES.items()}


def test_a_definition_makes_the_same_sweep_again():
    for space in SPACES.values():
        again = type(space).from_definition(space.manifest()["definition"])
        assert again.digest == space.digest and list(all_keys(again)) == list(ALL_KEYS[space.name])


FILE = """\
scenario:
  duration: 3 s
  transport: {protocol: newreno, window: 32}
  hops:
    - {rate: 2 Mbit/s, delay: 10 ms}
axes:
  loss: {field: hops.0.loss, values: [0, 1 %]}
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("loss, values", "loss, valus", "file.yaml:7: axes.loss.*did you mean 'values'"),
        (
            "hops.0.loss",
            "hops.0.los",
            "file.yaml:7: axes.loss: 'hops.0.los' is not a field; did you mean 'hops.0.loss'",
        ),
        (
            "loss: {field: hops.0.loss, values: [0, 1 %]}",
            "control: {field: transport.congestion_control, values: [cubic, sctp]}",
            "file.yaml:7: axes.control.*congestion_control = 'sctp' is not .*write standard, bic, cubic",
        ),
        (
            "hops.0.loss", "hops.3.loss",
            "'hops.3.loss' is not a field; 'hops' has one item; write hops.0.loss",
        ),
        ("[0, 1 %]", "[0, 2]", "file.yaml:7: axes.loss: hops.0.loss = 2 is above the limit"),
        ("window: 32", "window: 0", "file.yaml:3: transport.window = 0 is below the limit"),
        ("duration: 3 s", "duration: 3", "file.yaml:2: duration = 3 has no unit"),
        ("axes:\n", "compare: los\naxes:\n", "file.yaml:6: compare = 'los' is not an axis; did you mean"),
        ("axes:\n", "draw: 5\naxes:\n", "file.yaml:6: draw needs a random field"),
        ("axes:\n", "outcomes: [goodput]\naxes:\n", "file.yaml:6: outcomes: 'goodput' is not an outcome"),
        ("axes:\n", "outcomes: [delay_p95_s]\naxes:\n", "outcomes: 'delay_p95_s' .*; measured: first_del"),
        ("axes:\n", "goals: {g: fairness > 0.9}\naxes:\n", "6: goals.g: 'fairness' is not measured here"),
        ("axes:\n", "goals: {g: delay < 1 s}\naxes:\n", "6: goals.g: 'delay' is not an outcome; known: ack"),
        ("axes:\n", "goals: {g: goodput_bps > 1 s}\naxes:\n", "file.yaml:6: goals.g: .* wrong unit"),
        (
            "axes:\n",
            "derive: {hops.0.queue: bpd_packets}\naxes:\n",
            "file.yaml:6: derive.hops.0.queue: .*bdp_packets",
        ),
        (
            "axes:\n",
            "derive: {hops.0.queue: 0 * loss}\naxes:\n",
            "derive.hops.0.queue = 0 in cell 0 is out of range; expected 1 ",
        ),
        ("axes:\n", "derive: {hops.0.loss: 0.1}\naxes:\n", "is set by an axis already"),
        ("axes:\n", "axes:\n  hops.0.loss: [0, 1 %]\n", "is set by axes.hops.0.loss and axes.loss|keep one"),
        ("field: hops.0.loss, values: ", "values: ", "file.yaml:7: axes.loss sets no field; write field:"),
        ("  loss:", "  key:", "file.yaml:7: axes.key has the name of a column"),
        (
            "  loss:",
            "  p: {field: transport.protocol, values: [reno, renoo]}\n  loss:",
            "p = renoo: .*did you mean 'reno'",
        ),
        (
            "axes:\n",
            "axes:\n  s: {field: seed, values: [1, 2]}\n",
            "file.yaml:7: seed cannot be an axis",
        ),
        (
            "loss: {field: hops.0.loss, values: [0, 1 %]}",
            "x: {zip: {hops.0.loss: []}}",
            "file.yaml:7: axes.x.* has a column of zip without values",
        ),
        ("[0, 1 %]", "[0, .nan]", "file.yaml:7: axes.loss.* has the value nan, which is not a number"),
        (
            "axes:\n",
            "derive: {hops.0.queue: \"'9'\"}\naxes:\n",
            "file.yaml:6: derive.hops.0.queue: .*a text is not a number",
        ),
        ("axes:\n", "replications: 0\naxes:\n", "file.yaml:6: replications = 0"),
        ("scenario:\n", "name: !!binary aGVsbG8=\nscenario:\n", "file.yaml:1: is not YAML .the tag !!binary"),
        ("duration: 3 s", "duration: 3 s\n  name: !!binary aGVsbG8=", ":3: is not YAML .the tag !!binary"),
        ("duration: 3 s", "duration: 3 s\n  files: 5", "file.yaml:3: files is an unknown field"),
        ("duration: 3 s", "duration: 3 s\n  files: {a: b}", "file.yaml:3: files is an unknown field"),
        ("axes:\n", "axis: 3\naxes:\n", "file.yaml:6: axis is an unknown field; did you mean 'axes'"),
    ],
)
def test_mistakes_are_refused_with_their_line(tmp_path, old, new, words):
    assert old in FILE
    file = tmp_path / "file.yaml"
    file.write_text(FILE.replace(old, new, 1))
    with pytest.raises(InputError, match=words) as caught:
        load_sweep(file)
    assert "\n" not in str(caught.value)


def test_an_outcome_need_not_be_there_in_every_cell_but_that_of_a_goal():
    """A cell may lack an outcome, except that of a goal with confidence, which would fail there."""
    data = {**GRID, "outcomes": ["goodput_bps", "restart_s"], "replications": 2}
    cases = {"cut": {"hops.1.outages.0.duration": "1 s"}, "whole": {"hops.1.outages": []}}
    case = {"setup": {"cases": cases}}
    assert sweep({**data, "axes": case, "derive": {}}).outcomes == ("goodput_bps", "restart_s")
    with pytest.raises(InputError, match=r"goals.soon: 'restart_s' is not measured here"):
        sweep({**data, "axes": case, "derive": {}, "goals": {"soon": "restart_s <= 1 s"}})
    with pytest.raises(InputError, match="compare = 'x' is not an axis; the sweep has no axes"):
        sweep({**data, "axes": {}, "derive": {}, "compare": "x"})


def test_values_can_be_set_from_outside(tmp_path):
    file = tmp_path / "file.yaml"
    file.write_text(FILE)
    space = load_sweep(file, values={"axes.loss": ["1 %"], "scenario.transport.window": 8, "replications": 3})
    assert space.axes[0].columns["hops.0.loss"].tolist() == [0.01]
    assert space.n_cells == 1 and space.base.replications == 3 and space.name == "file"
    assert space.base.transport.window == 8
    assert load_sweep(file).source == FILE
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "file.yaml").write_text(space.source)  # the stored text contains the set values
    assert load_sweep(tmp_path / "again" / "file.yaml").digest == space.digest != load_sweep(file).digest


def test_a_scenario_file_is_looked_up_beside_the_sweep(tmp_path):
    (tmp_path / "base.yaml").write_text(
        "duration: 3 s\ntransport: {protocol: reno}\nhops: [{rate: 1 Mbit/s, delay: 1 s}]\n"
    )
    file = tmp_path / "file.yaml"
    file.write_text("scenario: base.yaml\naxes: {hops.0.loss: [0, 1 %]}\n")
    assert load_sweep(file).n_cells == 2


LIST = """\
scenario:
  duration: 1 s
  transport: {protocol: newreno, window: {integers: [10, 20]}}
  hops:
    - count: {integers: [1, 4]}
      each: {rate: {uniform: [1 Mbit/s, 2 Mbit/s]}, delay: {uniform: [1 ms, 9 ms]}}
    - {rate: 9 Mbit/s, delay: {uniform: [1 ms, 2 ms]}}
draw: {count: 64, method: saltelli}
"""


def test_the_numbers_of_a_list_are_one_input_of_a_saltelli_design(tmp_path):
    (tmp_path / "list.yaml").write_text(LIST)
    space = load_sweep(tmp_path / "list.yaml")
    assert len(space.inputs) == 3 + 2 * 4
    names, groups = grouped([each.name for each in space.inputs])
    assert sorted(names) == [
        "paths.0.hops.0.count", "paths.0.hops.0.each.delay", "paths.0.hops.0.each.rate",
        "paths.0.hops.1.delay", "transport.window",
    ]  # fmt: skip
    assert sorted(groups.count(k) for k in range(5)) == [1, 1, 1, 4, 4]
    assert space.n_cells == space.design.size == 64 * (5 + 2)


def test_too_few_base_points_are_noted_with_what_to_write(tmp_path, recwarn):
    (tmp_path / "list.yaml").write_text(LIST)
    load_sweep(tmp_path / "list.yaml")
    load_sweep(tmp_path / "list.yaml", values={"draw": {"count": 8, "method": "sobol"}})
    assert not [each for each in recwarn if "sensitivity" in str(each.message)]
    with pytest.warns(Note, match="draw.count = 63 is too small for netcarlo sensitivity") as noted:
        load_sweep(tmp_path / "list.yaml", values={"draw.count": 63})
    remedy = "expected at least 64 base points (448 networks); write draw: {count: 64, method: saltelli}"
    assert remedy in str(noted[0].message)
