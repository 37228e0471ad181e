"""Remedies that messages suggest: each is accepted and changes nothing else; rows are in remedies.yaml."""

import ast
import copy
import inspect
import re
import sys
from pathlib import Path

import pytest
import yaml

import netcarlo
from netcarlo import InputError, Scenario
from netcarlo.networks.shared.topology.read import read as read_topology
from netcarlo.networks.shared.topology.scenario import Options
from netcarlo.networks.shared.topology.scenario import scenario as scenario_of_map
from netcarlo.planning.file import load_plan
from netcarlo.scenario import load_scenario
from netcarlo.schema.problems import Wrong
from netcarlo.sweeps.space.file import load_sweep

FILE = Path(__file__).with_name("remedies.yaml")
TABLE = yaml.load(FILE.read_text(encoding="utf-8"), yaml.CSafeLoader)
BASES = TABLE.pop("bases")
REMEDIES = [row for rows in TABLE.values() for row in rows]


def edited(data, changes):
    """Return data with fields set or removed."""
    data = copy.deepcopy(data)
    for name, value in changes.items():
        *above, last = ("axes", name[5:]) if name.startswith("axes.hops") else name.split(".")
        at = data
        for part in above:
            at = at[int(part)] if isinstance(at, list) else at[part]
        if isinstance(at, list):
            at[int(last) : int(last) + 1] = [] if value is None else [value]
        elif value is None:
            del at[last]
        else:
            at[last] = value
    return data


def load_topology(file):
    """Check a map of routers (`text`), imported with the other fields as options."""
    given = yaml.safe_load(file.read_text())
    (map_ := file.with_name("map")).write_text(given["text"])
    found = read_topology(map_, unit=given["unit"])[1]
    Scenario.check(scenario_of_map(found, "map", Options(1e6, 0.001, scale=given["scale"]))[0])


LOAD = {"sweep": load_sweep, "plan": load_plan, "topology": load_topology}


def check(base, data, folder, files=None):
    """Check a scenario, sweep or plan, and return the lines of its error; none if it is accepted.

    `files` are texts of files beside it, by name.
    """
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    try:
        if base in LOAD or files:
            file = folder / "own.yaml"
            file.write_text(yaml.safe_dump(data))
            LOAD.get(base, load_scenario)(file)
        else:
            Scenario.check(data)
    except InputError as error:
        return error.lines
    return ()


@pytest.mark.parametrize("base", BASES)
def test_bases_are_accepted(base, tmp_path):
    assert check(base, BASES[base], tmp_path) == ()


@pytest.mark.filterwarnings("ignore::netcarlo.schema.notes.Note")
@pytest.mark.parametrize("row", REMEDIES, ids=lambda row: f"{row['base']}-{row['says'][:40]}")
def test_what_a_message_suggests_is_accepted(row, tmp_path):
    broken = edited(BASES[row["base"]], row["broken"])
    said = check(row["base"], broken, tmp_path, row.get("files"))
    assert any(row["says"] in line for line in said), said
    for fix in row["fixes"]:
        assert check(row["base"], edited(broken, fix), tmp_path, row.get("files")) == (), fix


# Share of the messages with a suggestion that the rows above reach.

SUGGESTS = re.compile(
    r"\b(write|set|use|remove|raise|lower|did you mean|give|keep|add|name|choose|take|let|put|correct|check|"
    r"shorten|save|simulate|known are|allowed)\b"
)
OF_FILES = ("networks", "planning", "scenario.py", "schema", "sweeps/space", "transport")
"""Parts of the package that report errors in files."""


def texts(node):
    return " ".join(str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))


def names(*nodes):
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def suggestions(path):
    """Yield the lines of each call in a file that raises an error with a suggestion."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        if getattr(call.func, "id", getattr(call.func, "attr", "")) not in ("InputError", "Wrong", "_error"):
            continue
        around = [node for node in functions if node.lineno <= call.lineno <= node.end_lineno]
        assigned = [
            texts(node.value)
            for node in (ast.walk(max(around, key=lambda each: each.lineno)) if around else ())
            if isinstance(node, ast.Assign) and names(call) & names(*node.targets)
        ]
        if SUGGESTS.search(" ".join([texts(call), *assigned])):
            yield range(call.lineno, call.end_lineno + 1)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::netcarlo.schema.notes.Note")
def test_most_suggestions_are_tried(tmp_path, monkeypatch):
    """The table covers four in five messages about files; the others need files, drawn rows or a kernel."""
    root = Path(inspect.getfile(netcarlo)).resolve().parent
    made = set()

    def recorded(kind):
        first = kind.__init__

        def init(self, *args, **more):
            frame = sys._getframe(1)
            while frame.f_code.co_name == "_error":
                frame = frame.f_back
            made.add((frame.f_code.co_filename, frame.f_lineno))
            first(self, *args, **more)

        monkeypatch.setattr(kind, "__init__", init)

    recorded(InputError)
    recorded(Wrong)
    for row in REMEDIES:
        check(row["base"], edited(BASES[row["base"]], row["broken"]), tmp_path, row.get("files"))
    files = {name: Path(name).resolve() for name, _ in made}
    made = {(files[name], line) for name, line in made}
    found = [
        (path, lines)
        for part in OF_FILES
        for path in (sorted((root / part).rglob("*.py")) if (root / part).is_dir() else [root / part])
        for lines in suggestions(path)
    ]
    missed = [(path.name, lines[0]) for path, lines in found if not {(path, n) for n in lines} & made]
    assert len(missed) <= 0.2 * len(found), (len(found), missed)
