"""JSON Schemas of input files: they accept everything that netcarlo accepts, and refuse unknown names."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.cli.schema import Kind, made
from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import document, kinds
from netcarlo.transport.capabilities import PROTOCOLS
from tests.networks.matrix import FIDELITIES, NETWORKS, TRANSPORTS

ROOT = Path(__file__).parents[2]
KINDS = {
    kinds.SCENARIO: "scenario", kinds.SWEEP: "sweep", kinds.PLAN: "plan", kinds.STUDY: "study",
    kinds.MAPPING: "mapping",
}  # fmt: skip
SHIPPED = sorted((ROOT / "configs").rglob("*.yaml"))
SHOWN = [
    block
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    if {"transport:", "duration:"} <= set(block.split())  # not a part of a file
]


@functools.cache
def validator(kind: Kind) -> Any:
    """Return the validator of a kind of file; its schema takes half a second to make."""
    return jsonschema.Draft202012Validator(made(kind))


def faults(kind: Any, data: Any) -> list[str]:
    """Return the errors that the schema of a kind reports for a document."""
    found = validator(kind).iter_errors(data)
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}"[:300] for error in found]


def records(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all mappings in some data."""
    if isinstance(value, dict):
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from records(inside, (*at, key))


def refused(data: dict[str, Any]) -> bool:
    """Return True if netcarlo rejects the document as a scenario."""
    try:
        Scenario.check(data)
    except InputError:
        return True
    return False


@pytest.mark.full
@pytest.mark.parametrize("kind", get_args(Kind))
def test_it_is_a_schema(kind: Kind) -> None:
    done = CliRunner().invoke(app, ["schema", kind])
    assert done.exit_code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(done.output))
    assert json.loads(done.output) == made(kind)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.relative_to(ROOT / "configs").as_posix())
def test_shipped_files_name_a_schema_that_they_fit(file: Path) -> None:
    first = file.read_text().partition("\n")[0]
    named = file.parent / first.removeprefix("# yaml-language-server: $schema=")
    kind = KINDS[kinds.kind_of(file)]
    assert named.resolve() == ROOT / "configs" / "schemas" / f"{kind}.json", first
    assert faults(kind, document.read_yaml(file).data) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_transport_fits_every_network_that_takes_it(protocol: str) -> None:
    for network in NETWORKS.values():
        for fidelity in FIDELITIES:
            data = {
                "duration": "1 s", "fidelity": fidelity,
                "transport": {"protocol": protocol, **TRANSPORTS.get(protocol, {})}, **network,
            }  # fmt: skip
            assert refused(data) or faults("scenario", data) == []


@pytest.mark.parametrize("text", SHOWN, ids=range(len(SHOWN)))
def test_what_the_pages_show_fits(text: str, tmp_path: Path) -> None:
    (tmp_path / "shown.yaml").write_text(text)
    data = document.read_yaml(tmp_path / "shown.yaml").data
    assert faults(KINDS[kinds.of_data(data)], data) == []


@pytest.mark.parametrize(
    "file", [file for file in SHIPPED if file.parent.name == "examples"], ids=lambda file: file.stem
)
def test_unknown_names_are_refused_everywhere(file: Path) -> None:
    data = document.read_yaml(file).data
    for place in records(data):
        wrong = json.loads(json.dumps(data))
        at = wrong
        for key in place:
            at = at[key]
        at["unknwon"] = 1
        if "constants" not in place:  # names of a user's own
            assert faults("scenario", wrong), place


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("duration", 30), ("duration", "long"), ("replications", 0), ("seed", "one"), ("fidelity", "guess"),
        ("hops", []), ("hops", {}), ("transport", {"protocol": "tcp"}), ("transport", {}),
        ("duration", {"uniform": ["1 s"]}), ("duration", {"normal": {"mean": "1 s"}}),
        ("duration", {"uniform": ["1 s", "2 s"], "choice": ["1 s"]}),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(name: str, value: Any) -> None:
    data = document.read_yaml(ROOT / "configs" / "examples" / "lossy_hop.yaml").data
    assert faults("scenario", data) == []
    wrong = {**data, name: value}
    assert refused(wrong)
    assert faults("scenario", wrong)


def test_defaults_are_written_as_users_write_them() -> None:
    tcp = made("scenario")["$defs"]["Tcp"]["properties"]
    assert tcp["min_rto"]["default"] == "0.2 s"
    assert tcp["window"]["default"] == 20
    assert "1 to 4096 packets" in tcp["window"]["description"]
