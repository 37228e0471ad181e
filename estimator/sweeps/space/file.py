"""Sweep files: a base scenario, axes, drawn topologies, and what to keep of each cell."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from netcarlo.errors import Faults, InputError
from netcarlo.networks import classes
from netcarlo.scenario import Scenario, check_outside, within_scenario
from netcarlo.schema import document as files
from netcarlo.schema import kinds, trusted, units
from netcarlo.schema.axes import AxisSpec
from netcarlo.schema.document import Document, Location
from netcarlo.schema.names import place_of, set_field, value_text, with_options, with_values
from netcarlo.schema.notes import Note
from netcarlo.schema.quantity import Precision, Quantity
from netcarlo.schema.record import Record
from netcarlo.simulation import cautions, measurable
from netcarlo.sweeps.space import controls
from netcarlo.sweeps.space.screening import Question
from netcarlo.sweeps.space.space import Sweep

Wrong = Annotated[float, Quantity(units.FRACTION, 1e-3, 0.2, random=False)]
Share = Annotated[float, Quantity(units.FRACTION, 1e-3, 1.0, random=False)]

OUTCOMES = ["goodput_bps", "throughput_bps", "retransmitted", "timeouts", "mean_rtt_s"]


class DrawSpec(Record):
    """Networks drawn from the distributions in the scenario; see `designs`."""

    count: int
    """How many networks."""
    method: str = "sobol"
    """How: `sobol`, `latin`, `plain`, or `saltelli`, which gives total sensitivity indices, too."""
    blocks: int | None = None
    """Independent scrambles of the design, which make its intervals; as the method has it unless given."""

    short: ClassVar = ({"type": "integer"},)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        return {"count": data} if isinstance(data, int) else data


class AutoSpec(Record):
    """What `fidelity: auto` decides, and how surely; see `screening`."""

    decide: list[Question] | None = None
    """Unless given: the goals, or where there are none the winner."""
    wrong: Wrong = 0.01
    """The share of decisions that may be wrong."""
    sample: Share = 0.1
    """The share of cells that packets answer to know the error of cheap models."""


class SweepSpec(Record):
    """A sweep as written; `scenario` is the base scenario or the name of its file."""

    name: str = "sweep"
    """What it is called in tables and reports; the name of its file unless given."""
    description: str = ""
    """A sentence for readers of reports."""
    scenario: dict[str, Any] | str
    """The scenario that is varied, or the name of its file."""
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    """What is varied, by name; the cells are all combinations."""
    derive: dict[str, str | float] = Field(default_factory=dict)
    """Fields that follow from the axes, each an expression in SI units."""
    draw: DrawSpec | None = None
    """How many networks are drawn from the distributions in the scenario; none unless given."""
    compare: str | None = None
    """The axis whose first value the others are compared with; the first of words or cases unless given."""
    replications: int | None = Field(default=None, ge=1, le=10_000_000)
    """Runs of each cell; those of the scenario unless given."""
    precision: Precision | None = None
    """Each cell is replicated until its goodput is known to this share; not unless given."""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Of all random numbers; that of the scenario unless given."""
    outcomes: list[str] = Field(default=OUTCOMES, min_length=1)
    """What is kept of each cell."""
    goals: dict[str, str] = Field(default_factory=dict)
    """Comparisons whose probability is kept, by name."""
    keep: Literal["replications"] | None = None
    """Keeps every replication, too; only statistics of each cell unless given."""
    fidelity: Literal["auto"] | None = None
    """Cheap models answer the cells that they are sure of; packets all of them unless given."""
    auto: AutoSpec | None = None
    """What cheap models decide, and how surely."""

    @classmethod
    def elsewhere(cls, key: str) -> str | None:
        """Return the remedy for a field of the scenario at the top of a sweep."""
        vary = f", or write axes: {{{key}: [...]}} to vary it" if "." in key else ""
        remedy = within_scenario(key, cls.model_fields)
        return remedy and remedy + vary


def load_sweep(path: str | Path, *, values: Mapping[str, Any] | None = None) -> Sweep:
    """Read a sweep from a YAML file, with the fields in `values` set to YAML values.

    Names are dotted, as in `draw.count` or `scenario.transport.window`; values for an axis leave it its
    field.  A scenario file is looked up in the folder of the sweep.  Raises InputError with file and line.
    """
    data, document = with_options(kinds.read(path, kinds.SWEEP), values or {}, _set)
    data.setdefault("name", files.title(path))
    found = make_sweep(data, folder=Path(path).parent, document=document)
    _note_losses(found, str(path))
    return found


def _note_losses(sweep: Sweep, source: str) -> None:
    """Warn of goals about delivered packets if no outcome that is kept says how many packets were lost."""
    asked = {goal.outcome for goal in sweep.goals.values()}
    if not any(classes.of_delivered(name) is not None for name in asked):
        return
    for each in cautions.hidden_losses(sweep.base, asked, measurable.outcomes(sweep.base)):
        if not each.repaired and not {each.loss, each.in_time} & {*asked, *sweep.outcomes}:
            text = f"{source}: goals on delays of {each.name} consider delivered packets only; write under "
            text += f"goals: `{each.word or 'udp'}_arrives: {each.goal}`"
            warnings.warn(text, Note, stacklevel=3)


def make_sweep(data: Mapping[str, Any], *, folder: Path = Path(), document: Document | None = None) -> Sweep:
    """The sweep of data as it stands in a file.  Raises InputError."""
    given = dict(data)
    if isinstance(given.get("draw"), dict):
        given["draw"] = {key: value for key, value in given["draw"].items() if value is not None}
    faults = Faults()
    spec = None
    with faults:
        spec = SweepSpec.check(given, document=document)
    if not isinstance(given.get("scenario"), str | dict):
        faults.refuse()
    with faults:
        base, texts, lines = _base(given, folder, document)
        for name in ("replications", "precision", "seed"):
            if (value := getattr(spec, name, None)) is not None:
                base[name] = value
        base.setdefault("replications", 20)
        fidelity = given.get("fidelity") or base.get("fidelity")
        if fidelity == "auto":
            base.pop("fidelity", None)  # packets answer what is in doubt
        elif given.get("auto") is not None:
            raise InputError("auto is for fidelity: auto; write that into the scenario, or remove auto")
        Scenario.check(base, document=lines)
    faults.refuse()
    assert spec is not None
    inside = {"replications", "precision", "seed"}  # the scenario
    definition = spec.model_dump(mode="json", exclude_none=True, exclude=inside)
    definition, more = controls.collect({**definition, "scenario": {}}, _place(folder, document))
    definition["scenario"] = base
    if fidelity == "auto":
        definition |= {"fidelity": "auto", "auto": (spec.auto or AutoSpec()).model_dump(exclude_none=True)}
    if texts or more:
        definition["files"] = texts | more
    for value in data, definition:
        _refuse_odd(value, (), document)
    as_written = document is not None and {**document.data, "name": spec.name} == dict(data)
    source = files.read_text(document.source) if document and as_written else _yaml(data)
    made = Sweep(definition, document=document, source=source)
    made.check_measured(made.outcomes if "outcomes" in spec.model_fields_set else ())
    return made


def _place(folder: Path, document: Document | None) -> Path:
    """Where files are looked up: the sweep's file, or a folder for data."""
    return Path(document.source) if document else folder


def _refuse_odd(value: Any, at: Location, document: Document | None) -> None:
    """Raise InputError for a value that JSON does not have: bytes of `!!binary`, a date."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list | tuple)
        else ()
    )
    for key, item in items:
        _refuse_odd(item, (*at, key), document)
    if not isinstance(value, dict | list | tuple | str | int | float | None):
        where = f"{document.where(at)}: " if document else ""
        raise InputError(
            f"{where}{'.'.join(map(str, at))} = {value!r} is no text or number; put quotes around it"
        )


def _yaml(data: Mapping[str, Any]) -> str:
    return files.yaml_text(json.loads(json.dumps(data)))


def _base(
    given: Mapping[str, Any], folder: Path, document: Document | None
) -> tuple[dict[str, Any], dict[str, str], Document | None]:
    """The data of the base scenario, the files that it names, and where its lines are."""
    scenario: Any = given.get("scenario")
    if isinstance(scenario, str):
        place = folder / scenario
        trusted.check(place, _place(folder, document))
        file = kinds.read(place, kinds.SCENARIO)
        base, lines = file.data, file
    else:
        base, lines, place = dict(scenario), None, _place(folder, document)
        if document:
            lines = document.inside("scenario")
    base = with_values(base, {})
    base.setdefault("name", str(given.get("name", "sweep")))
    return *controls.collect(base, place), lines


def _set(data: dict[str, Any], name: str, value: Any) -> tuple[dict[str, Any], list[Location]]:
    """Set a field of a sweep, of its scenario, or of an axis, whose name may have dots itself."""
    check_outside(name, value_text(value), SweepSpec.model_fields, data.get("scenario"))
    head, _, rest = name.partition(".")
    inner = data.get(head, {})
    if head == "axes" and rest and isinstance(inner, dict):
        known = [each for each in inner if rest == each or rest.startswith(f"{each}.")]
        axis = max(known, key=len, default=rest)
        part = rest.removeprefix(axis).removeprefix(".")
        written = inner.get(axis)
        if not part:
            if not isinstance(value, dict) and isinstance(written, dict) and "field" in written:
                value = {"field": written["field"], "values": value if isinstance(value, list) else [value]}
        else:
            if not isinstance(written, dict):
                written = {"values": written if isinstance(written, list) else [written]}
            value = with_values(written, {part: value})
        where: Location = ("axes", axis, *place_of(part)) if part else ("axes", axis)
        return {**data, head: {**inner, axis: value}}, [where]
    if head == "draw" and rest and isinstance(inner, int):
        data = {**data, head: {"count": inner}}
    if head in ("derive", "goals") and rest and isinstance(inner, dict):
        return {**data, head: {**inner, rest: value}}, [(head, rest)]
    return set_field(data, name, value)
