"""Delay `detection` of mobile hosts, which excludes duplicate address detection (RFC 4862); `preparation`
includes it.

The default favours MIPv6 and HMIPv6; the documentation and a note say so.
"""

import inspect
import warnings
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from netcarlo import Scenario, load_scenario, simulate
from netcarlo.networks.path.mobility import Mobility
from netcarlo.schema import kinds
from netcarlo.schema.notes import Note

WALK: dict[str, Any] = {
    "duration": "60 s",
    "transport": {"protocol": "reno", "window": "26 packets"},
    "mobility": {"protocol": "mipv6", "times": ["10 s", "30 s", "50 s"], "outage": "150 ms"},
    "hops": [{"rate": "1 Mbit/s", "delay": "50 ms"}, {"rate": "11 Mbit/s", "delay": "10 ms"}],
}


def noted(folder: Path, data: Any, kind: str) -> list[str]:
    """Return the notes on a file of these data."""
    file = folder / "file.yaml"
    file.write_text(yaml.safe_dump(data))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kinds.read(file, kind)
    return [str(warning.message) for warning in found if issubclass(warning.category, Note)]


def test_a_file_without_detection_is_noted(tmp_path: Path) -> None:
    (text,) = noted(tmp_path, WALK, kinds.SCENARIO)
    assert "file.yaml: mobility.detection is 0.1 s" in text and "duplicate address detection" in text
    assert "\n" not in text
    axes = {"protocol": {"field": "mobility.protocol", "values": ["mipv6", "fmipv6"]}}
    assert len(noted(tmp_path, {"scenario": WALK, "axes": axes}, kinds.SWEEP)) == 1


@pytest.mark.parametrize("value", ["0.1 s", "1.1 s"])
def test_both_remedies_end_the_note(tmp_path: Path, value: str) -> None:
    given = WALK | {"mobility": WALK["mobility"] | {"detection": value}}
    assert noted(tmp_path, given, kinds.SCENARIO) == []
    load_scenario(tmp_path / "file.yaml")
    axes = {"wait": {"field": "mobility.detection", "values": ["0.1 s", "1.1 s"]}}
    assert noted(tmp_path, {"scenario": WALK, "axes": axes}, kinds.SWEEP) == []


def test_others_are_not_noted(tmp_path: Path) -> None:
    fixed = {key: value for key, value in WALK.items() if key != "mobility"}
    assert noted(tmp_path, fixed, kinds.SCENARIO) == []


def test_shipped_files_say_what_they_take() -> None:
    folder = Path(str(resources.files("netcarlo.configs")))
    for name in ("handover_map.yaml", "mobility_planning.yaml", "examples/handover.yaml"):
        data = yaml.safe_load((folder / name).read_text())
        assert "detection" in (data.get("scenario") or data)["mobility"], name


def test_the_field_says_what_it_leaves_out() -> None:
    text = inspect.getsource(Mobility).split("    detection: Delay")[1].split('"""')[1]
    assert "RFC 4862" in text and "1.1 s" in text and "`preparation`" in text


@pytest.mark.full
def test_address_detection_costs_those_that_do_not_prepare() -> None:
    """One second more of detection lengthens each interruption by a second, unless the router is
    prepared."""
    found = {}
    for protocol in ("mipv6", "hmipv6", "fmipv6"):
        for value in ("0.1 s", "1.1 s"):
            values = {"mobility.protocol": protocol, "mobility.detection": value}
            scenario = Scenario.check(WALK).with_values(values)
            found[protocol, value] = simulate(scenario, replications=4).frame.mean()
    for protocol in ("mipv6", "hmipv6"):
        alike, longer = found[protocol, "0.1 s"], found[protocol, "1.1 s"]
        assert longer["longest_silence_s"] > alike["longest_silence_s"] + 0.9
        assert longer["goodput_bps"] < 0.95 * alike["goodput_bps"]
    prepared = [found["fmipv6", value] for value in ("0.1 s", "1.1 s")]
    assert prepared[0]["prepared"] == 3
    assert prepared[0]["goodput_bps"] == prepared[1]["goodput_bps"]
