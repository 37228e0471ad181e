"""Plan files: reading a plan, and a plan of data as in a file."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.errors import Faults
from netcarlo.planning.definition import Plan
from netcarlo.planning.description import PlanSpec
from netcarlo.scenario import Scenario, check_outside
from netcarlo.schema import document as files
from netcarlo.schema import kinds, trusted
from netcarlo.schema.document import Document, Location
from netcarlo.schema.names import SCENARIO, set_field, split_options, value_text, with_options, with_values
from netcarlo.transport.congestion import NAMES, locate


def load_plan(path: str | Path, *, values: Mapping[str, Any] | None = None) -> Plan:
    """Read a plan from a YAML file, and set the fields in `values` to YAML values.

    Names are dotted, as in `confidence` or `scenario.transport.window`. The name of a scenario file is
    relative to the folder of the plan. Raises InputError with file and line.
    """
    read = kinds.read(path, kinds.PLAN)
    own, inside = split_options(read, values or {})
    data, document = with_options(read, own, set_in_plan)
    data.setdefault("name", files.title(path))
    made = make_plan(data, folder=Path(path).parent, document=document, values=inside)
    words = ["netcarlo", "plan", str(path)]
    for name, value in (values or {}).items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value, default=str)}"]
    made.command = shlex.join(words)
    return made


def set_in_plan(data: dict[str, Any], name: str, value: Any) -> tuple[dict[str, Any], list[Location]]:
    """Set a field of a plan or of its scenario. Return the new data and the locations of the changed
    fields."""
    check_outside(name, value_text(value), PlanSpec.model_fields)
    return set_field(data, name, value)


Asked = Plan | str | Path | Mapping[str, Any]
"""Plan, path of its file, or its data as in a file."""


def as_plan(asked: Asked) -> Plan:
    """Return a plan, which is read or checked if needed. Raises InputError."""
    if isinstance(asked, Mapping):
        return make_plan(asked)
    return asked if isinstance(asked, Plan) else load_plan(asked)


def make_plan(
    data: Mapping[str, Any],
    *,
    folder: Path = Path(),
    document: Document | None = None,
    values: Mapping[str, Any] | None = None,
) -> Plan:
    """Return the plan of data as it is written in a file. Raises InputError.

    `values` are set in a scenario that is in a file of its own.
    """
    faults, spec = Faults(), None
    with faults:
        spec = PlanSpec.check(dict(data), document=document)
    if isinstance(data.get("scenario"), str | dict):
        with faults:
            base, lines = _base(data if spec else {**data, "seed": None}, folder, document, values or {})
            Scenario.check(base, document=lines)
    faults.refuse()
    assert spec is not None
    return Plan(spec, base, document, files.read_text(document.source) if document else "", lines)


def _base(
    data: Mapping[str, Any], folder: Path, document: Document | None, values: Mapping[str, Any]
) -> tuple[dict[str, Any], Document | None]:
    """Return the data of the scenario of a plan, and the document with its line numbers."""
    scenario, lines = data["scenario"], None
    if isinstance(scenario, str):
        place = folder / scenario
        trusted.check(place, Path(document.source) if document else folder)
        base, lines = with_options(kinds.read(place, kinds.SCENARIO), values, above=SCENARIO)
    else:
        base, place = dict(scenario), Path(document.source) if document else folder
        if document:
            lines = document.inside("scenario")
    base = with_values(base, {} if data.get("seed") is None else {"seed": data["seed"]})
    base.setdefault("name", str(data.get("name", "plan")))
    for name in ("replications", "precision"):
        base.pop(name, None)
    transport = base.get("transport")
    control = transport.get("congestion_control") if isinstance(transport, dict) else None
    if isinstance(transport, dict) and isinstance(control, str) and control not in NAMES:
        transport["congestion_control"] = str(locate(control, place))
    return base, lines
