"""Controls of a live page, and their representation in its address."""

from pathlib import Path
from typing import Any

import pytest

from netcarlo.errors import InputError
from netcarlo.live.controls import Control, control_named, controls, round_numbers
from netcarlo.live.url_state import read
from netcarlo.scenario import load_scenario, scenario_in
from netcarlo.schema import kinds
from netcarlo.sweeps.space.identity import key
from tests.test_docs import blocks

EXAMPLES = Path(__file__).parents[2] / "configs" / "examples"


def of(file: Path) -> list[Control]:
    document = kinds.read(file, kinds.SCENARIO)
    return controls(document, scenario_in(document))


@pytest.mark.parametrize("name", ["lossy_hop", "random_topology", "shared", "wifi_mesh", "adhoc", "leo"])
def test_controls_stand_at_the_files_values_and_every_place_reads_back(name: str) -> None:
    document = kinds.read(EXAMPLES / f"{name}.yaml", kinds.SCENARIO)
    base = scenario_in(document)
    found = controls(document, base)
    assert 3 <= sum(control.visible for control in found) <= 6
    for control in found:
        same = scenario_in(document, values={control.field: control.yaml[control.start]})
        assert same == base, control.field
        for text, place in zip(control.texts, control.places, strict=True):
            assert control.place(text)[0].places[control.place(text)[1]] == place


def test_numbers_that_read_well() -> None:
    assert round_numbers(0.9, 3) == [1, 1.2, 1.5, 2, 2.5, 3]


def test_a_value_between_two_places_is_added(lossy: Path) -> None:
    loss = control_named(of(lossy), "hops.0.loss")
    grown, place = loss.place("1.07 %")
    assert (grown.texts[place], grown.places[place]) == ("1.07 %", 0.0107)
    assert grown.texts[grown.start] == "1 %"


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("hops.0.loss=lots", "hops.0.loss = 'lots' is not a fraction"),
        ("hops.0.loss=150%25", "hops.0.loss = '150%' is above the limit"),
        ("hops.0.rate=1 Gbit/s", "hops.0.rate = '1 Gbit/s' is outside the range of its slider, "),
        ("transport.protocol=newrenoo", "transport.protocol = 'newrenoo' is not allowed; expected one of"),
        ("transport.congestion_control=/tmp/a.py", "'transport.congestion_control' has no control"),
        ("if.seed=2", "'if.seed' cannot differ between variants"),
        ("against=nothing", "against = 'nothing' has no control"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_name_and_the_rest_is_taken(
    lossy: Path, query: str, complaint: str
) -> None:
    state, refused = read(f"?transport.window=8 packets&{query}", of(lossy), of="goodput_bps")
    assert refused.startswith(complaint)
    assert state.values() == {"transport.window": "8 packets"}


def test_an_address_says_the_same_again(lossy: Path) -> None:
    query = "hops.0.loss=1.07%20%25&of=sent&against=seed&if=1&if.hops.0.loss=1.03%20%25&if.seed"
    state, _ = read(query, of(lossy), of="goodput_bps")
    again, refused = read(state.query(), of(lossy), of="goodput_bps")
    assert again == state and refused == ""
    assert state.values(variant=True) == {"hops.0.loss": "1.03 %"}
    assert state.variants == (False, True)


def write(folder: Path, live: str) -> Path:
    text = f"duration: 1 s\ntransport: {{protocol: newreno}}\nhops: [{{rate: 1 Mbit/s, delay: 1 ms}}]\n{live}"
    file = folder / "some.yaml"
    file.write_text(text)
    return file


def test_the_file_says_what_moves(tmp_path: Path) -> None:
    live = (
        "live: {hops.0.rate: {linear: [1 Mbit/s, 3 Mbit/s], points: 3}, transport.protocol: [reno, sack]}\n"
    )
    file = write(tmp_path, live)
    rate, protocol = of(file)
    assert rate.texts == ("1 Mbit/s", "2 Mbit/s", "3 Mbit/s") and rate.visible
    assert protocol.texts == ("newreno", "reno", "sack") and protocol.menu
    assert key(load_scenario(file)) == key(
        load_scenario(write(tmp_path, "")).model_copy(update={"name": "some"})
    )


@pytest.mark.parametrize(
    ("live", "complaint"),
    [
        ("{hops.0.rate: {linear: [3 Mbit/s, 1 Mbit/s]}}", "do not increase"),
        ("{hops.0.loss: {log: [0, 1 %]}}", "cannot start at 0"),
        ("{hops.0.delays: [1 ms]}", "did you mean"),
        ("{transport.protocol: [udpp]}", "not allowed here"),
        ("{hops.0.rate: {from: 1}}", "unknown field"),
        ("{hops.0.rate: {}}", "needs one of linear, log and values"),
    ],
)
def test_what_cannot_move_is_refused_with_its_line(tmp_path: Path, live: str, complaint: str) -> None:
    with pytest.raises(InputError, match=r"some.yaml:\d: .*live.*") as caught:
        of(write(tmp_path, f"live: {live}\n"))
    assert complaint in str(caught.value)


def test_the_documented_section(tmp_path: Path) -> None:
    [block] = blocks("yaml", [EXAMPLES.parents[1] / "docs" / "howto" / "explore-a-scenario.md"])
    (tmp_path / "some.yaml").write_text(block)
    assert [control.field for control in of(tmp_path / "some.yaml")] == list(
        load_scenario(tmp_path / "some.yaml").live or ()
    )


def test_what_moves_decides_nothing(lossy: Path) -> None:
    """The controls of a page do not change the key of a scenario, so it keeps its place in stores."""
    base: Any = load_scenario(lossy)
    moved = base.model_copy(update={"live": {}})
    assert key(moved) == key(base)
