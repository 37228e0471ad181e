"""Kinds of files, recognised by their content. A command that gets another kind of file names the right
command."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError
from netcarlo.schema import document as files
from netcarlo.schema import empirical, notes, programs
from netcarlo.schema.document import Document

SCENARIO, SWEEP, PLAN, MAPPING, STUDY = "a scenario", "a sweep", "a plan", "a mapping", "a study"
STORE, PLANNED, REFERENCE, CONTROL = "a store", "the folder of a plan", "a reference", "a congestion control"
PAGE, RECORD, REPRODUCED = "a report", "a result", "the folder of a reproduced study"
JSON = "JSON of another program"
MEASURED = "a measurement"
"""Start of the names of kinds that are measured runs."""

REMEDIES = {
    SCENARIO: "netcarlo estimate {}",
    SWEEP: "netcarlo sweep {} --out STORE",
    PLAN: "netcarlo plan {}",
    MAPPING: "netcarlo validate REFERENCE.csv --mapping {}",
    STUDY: "netcarlo reproduce {}",
    STORE: "netcarlo status {}, query, export, report",
    PLANNED: "netcarlo plan PLAN.yaml --out {}",
    REFERENCE: "netcarlo validate {}",
    CONTROL: "name it in a scenario as transport.congestion_control",
    PAGE: "open it in a browser",
    RECORD: "netcarlo compare {} OTHER",
    JSON: "write a YAML file; except for measured runs, netcarlo reads only JSON that its own commands write",
    REPRODUCED: "netcarlo compare {} OTHER",
    **{program.name: program.remedy for program in programs.PROGRAMS},
}

OF_PROGRAMS = frozenset(program.name for program in programs.PROGRAMS)
"""Kinds of files of other programs."""

_SUFFIXES = {".csv": REFERENCE, ".py": CONTROL, ".html": PAGE, ".json": RECORD}


def kind_of(path: str | Path) -> str:
    """Return the kind of a file or folder; empty if it does not exist or is of no known kind."""
    path = Path(path)
    if os.path.isdir(path):  # os.path: no error for names that are too long
        inside = {
            "manifest.json": STORE, "runs.jsonl": PLANNED, "study.yaml": STUDY, "comparison.csv": REPRODUCED
        }  # fmt: skip
        return next((kind for name, kind in inside.items() if (path / name).is_file()), "")
    if not os.path.isfile(path):
        return ""
    if path.suffix not in (".yaml", ".yml"):
        known = None if path.suffix == ".html" else programs.recognised(path)
        if known is not None and (path.suffix != ".py" or known is programs.MININET):
            return known.name
        if path.suffix == ".json" and not _ours(path):
            return JSON
        return _SUFFIXES.get(path.suffix, "")
    return of_data(files.read_yaml(path).data)


RESULTS = frozenset(("outcomes", "curve", "answers"))
"""Keys of results as JSON; each result has one of them."""


def _ours(path: Path) -> bool:
    """Return True if a JSON file is a result of netcarlo, or is too large or damaged to tell."""
    try:
        data = json.loads(files.read_text(path))
    except (InputError, ValueError, RecursionError):
        return True  # the reader of the file reports the fault
    return isinstance(data, dict) and bool(RESULTS & data.keys())


def of_data(data: Mapping[str, Any]) -> str:
    """Return the kind of a YAML file by its data; empty if it is of no known kind."""
    keys = {key for key, value in data.items() if value is not None}
    if {"requirements", "quantity"} & keys:
        return PLAN
    if {"source", "question", "title"} & keys and "scenario" in keys:
        return STUDY
    if {"metrics", "variants", "classes"} & keys:
        return MAPPING
    if "scenario" in keys or {"axes", "draw", "derive"} & keys:
        return SWEEP
    return SCENARIO if {"transport", "duration"} & keys else ""


def read(path: str | Path, wanted: str) -> Document:
    """Read a YAML file of the `wanted` kind. Raises InputError; for another kind, with the command that
    accepts it."""
    path = Path(path)
    if os.path.isdir(path) or path.suffix not in (".yaml", ".yml"):
        refuse(path, wanted)
    document = files.read_yaml(path)
    if (found := of_data(document.data)) and found != wanted:
        raise _other(path, found, wanted)
    if wanted in (SCENARIO, SWEEP, PLAN):
        notes.note_bare(document.data, document.source)
        notes.note_detection(document.data, document.source)
        empirical.inline(document)
    return document


def refuse(path: str | Path, wanted: str) -> None:
    """Raise InputError if a file or folder is known to be of another kind than `wanted`."""
    if (found := kind_of(path)) and found != wanted:
        raise _other(path, found, wanted)


def refuse_own(path: str | Path, wanted: str) -> None:
    """Raise InputError if a file is YAML of netcarlo, where `wanted` is a file of another program."""
    if Path(path).suffix in (".yaml", ".yml"):
        refuse(path, wanted)


def _other(path: str | Path, found: str, wanted: str) -> InputError:
    return InputError(f"{path}: this is {found}, not {wanted}; {programs.advice(REMEDIES[found], path)}")
