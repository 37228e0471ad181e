"""Sweep files: a base scenario, axes, drawn networks, and the outcomes to store for each cell."""

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
from netcarlo.schema.names import (
    SCENARIO,
    place_of,
    set_field,
    split_options,
    value_text,
    with_options,
    with_values,
)
from netcarlo.schema.notes import Note
from netcarlo.schema.quantity import Precision, Quantity
from netcarlo.schema.record import Record
from netcarlo.simulation import cautions, measurable
from netcarlo.sweeps.space import congestion_files
from netcarlo.sweeps.space.designs import MIN_POINTS, Design
from netcarlo.sweeps.space.screening import Question
from netcarlo.sweeps.space.space import Sweep

Wrong = Annotated[float, Quantity(units.FRACTION, 1e-3, 0.2, random=False)]
Share = Annotated[float, Quantity(units.FRACTION, 1e-3, 1.0, random=False)]

OUTCOMES = ["goodput_bps", "throughput_bps", "retransmitted", "timeouts", "mean_rtt_s"]


class DrawSpec(Record):
    """Networks drawn from the distributions in the scenario; see `designs`."""

    count: int
    """Number of networks; for `saltelli` number of base points."""
    method: str = "sobol"
    """Sampling design: `sobol`, `latin`, `plain`, or `saltelli`, which also gives total sensitivity
    indices."""
    blocks: int | None = None
    """Number of independent randomisations of the design, from which intervals are computed; by default
    16."""

    short: ClassVar = ({"type": "integer"},)

    @model_validator(mode="before")
    @classmethod
    def _from_count(cls, data: Any) -> Any:
        return {"count": data} if isinstance(data, int) else data


class AutoSpec(Record):
    """Decisions of cheap models with `fidelity: auto`, and their error probability; see `screening`."""

    decide: list[Question] | None = None
    """Questions that cheap models decide; by default the goals or, without goals, the winner."""
    wrong: Wrong = 0.01
    """Allowed fraction of wrong decisions."""
    sample: Share = 0.1
    """Fraction of cells that are also simulated by packets, to measure the error of cheap models."""


class SweepSpec(Record):
    """Sweep as it is written in a file."""

    name: str = "sweep"
    """Name in tables and reports; by default that of the file."""
    description: str = ""
    """Sentence for readers of reports."""
    scenario: dict[str, Any] | str
    """Base scenario, or the name of its file."""
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    """Axes by name. The cells are all combinations of their values."""
    derive: dict[str, str | float] = Field(default_factory=dict)
    """Fields of the scenario that follow from the axes: by name, an expression in SI units."""
    draw: DrawSpec | None = None
    """Number of networks to draw from the distributions in the scenario; by default none are drawn."""
    compare: str | None = None
    """Axis whose first value is the baseline of the comparison; by default the first axis of words or
    cases."""
    replications: int | None = Field(default=None, ge=1, le=10_000_000)
    """Number of replications of each cell; by default that of the scenario."""
    precision: Precision | None = None
    """Relative half-width of the interval of the goodput at which the replication of a cell stops; by default
    the number of replications is fixed."""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of all random numbers; by default that of the scenario."""
    outcomes: list[str] = Field(default=OUTCOMES, min_length=1)
    """Outcomes to store for each cell."""
    goals: dict[str, str] = Field(default_factory=dict)
    """Goals by name: comparisons whose probability is stored for each cell."""
    keep: Literal["replications"] | None = None
    """Store every replication too; by default only the statistics of each cell are stored."""
    fidelity: Literal["auto"] | None = None
    """With `auto`, cheap models answer the cells that they can decide; by default packets are simulated in
    all cells."""
    auto: AutoSpec | None = None
    """Decisions of cheap models with `fidelity: auto`."""

    @classmethod
    def elsewhere(cls, key: str) -> str | None:
        """Return the remedy for a field of the scenario at the top of a sweep."""
        vary = f", or write axes: {{{key}: [...]}} to vary it" if "." in key else ""
        remedy = within_scenario(key, cls.model_fields)
        return remedy and remedy + vary


def load_sweep(path: str | Path, *, values: Mapping[str, Any] | None = None) -> Sweep:
    """Read a sweep from a YAML file, and set the fields in `values` to YAML values.

    Names are dotted, as in `draw.count` or `scenario.transport.window`. New values of an axis do not change
    its field. The name of a scenario file is relative to the folder of the sweep. Raises InputError with file
    and line.
    """
    read = kinds.read(path, kinds.SWEEP)
    own, inside = split_options(read, values or {})
    data, document = with_options(read, own, _set)
    data.setdefault("name", files.title(path))
    found = make_sweep(data, folder=Path(path).parent, document=document, values=inside)
    _note_losses(found, str(path))
    _note_base_points(found, str(path))
    return found


def _note_base_points(sweep: Sweep, source: str) -> None:
    """Warn about a saltelli design that has too few base points for sensitivity indices."""
    design = sweep.design
    if design is None or design.method != "saltelli" or design.count >= MIN_POINTS:
        return
    enough = Design(
        method="saltelli", count=MIN_POINTS, dimensions=design.dimensions, groups=design.groups, seed=0
    )  # fmt: skip
    text = f"{source}: draw.count = {design.count} is too small for netcarlo sensitivity; expected at least "
    text += f"{MIN_POINTS} base points ({enough.size} networks); write draw: {{count: {MIN_POINTS}, "
    warnings.warn(text + "method: saltelli}", Note, stacklevel=3)


def _note_losses(sweep: Sweep, source: str) -> None:
    """Warn about goals on delivered packets if no stored outcome includes the lost packets."""
    asked = {goal.outcome for goal in sweep.goals.values()}
    if not any(classes.of_delivered(name) is not None for name in asked):
        return
    for each in cautions.hidden_losses(sweep.base, asked, measurable.outcomes(sweep.base)):
        if not each.repaired and not {each.loss, each.in_time} & {*asked, *sweep.outcomes}:
            text = f"{source}: goals on delays of {each.name} consider delivered packets only; write under "
            text += f"goals: `{each.word or 'udp'}_arrives: {each.goal}`"
            warnings.warn(text, Note, stacklevel=3)


def make_sweep(
    data: Mapping[str, Any],
    *,
    folder: Path = Path(),
    document: Document | None = None,
    values: Mapping[str, Any] | None = None,
) -> Sweep:
    """Return the sweep of data as it is written in a file. Raises InputError.

    `values` are set in a scenario that is in a file of its own.
    """
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
        base, texts, lines = _base(given, folder, document, values or {})
        for name in ("replications", "precision", "seed"):
            if (value := getattr(spec, name, None)) is not None:
                base[name] = value
        base.setdefault("replications", 20)
        fidelity = given.get("fidelity") or base.get("fidelity")
        if fidelity == "auto":
            base.pop("fidelity", None)  # packets are simulated in cells that cheap models cannot decide
        elif given.get("auto") is not None:
            raise InputError(
                "auto needs fidelity: auto; write fidelity: auto in the scenario, or remove auto"
            )
        Scenario.check(base, document=lines)
    faults.refuse()
    assert spec is not None
    inside = {"replications", "precision", "seed"}  # the scenario
    definition = spec.model_dump(mode="json", exclude_none=True, exclude=inside)
    definition, more = congestion_files.collect({**definition, "scenario": {}}, _place(folder, document))
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
    """Return the path that file names are relative to: the sweep's file, or the folder for data."""
    return Path(document.source) if document else folder


def _refuse_odd(value: Any, at: Location, document: Document | None) -> None:
    """Raise InputError for a value that JSON cannot represent: bytes of `!!binary`, a date."""
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
            f"{where}{'.'.join(map(str, at))} = {value!r} is not a text or a number; put quotes around it"
        )


def _yaml(data: Mapping[str, Any]) -> str:
    return files.yaml_text(json.loads(json.dumps(data)))


def _base(
    given: Mapping[str, Any], folder: Path, document: Document | None, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str], Document | None]:
    """Return the data of the base scenario, the texts of its files, and the document with its line
    numbers."""
    scenario: Any = given.get("scenario")
    if isinstance(scenario, str):
        place = folder / scenario
        trusted.check(place, _place(folder, document))
        base, lines = with_options(kinds.read(place, kinds.SCENARIO), values, above=SCENARIO)
    else:
        base, lines, place = dict(scenario), None, _place(folder, document)
        if document:
            lines = document.inside("scenario")
    base = with_values(base, {})
    base.setdefault("name", str(given.get("name", "sweep")))
    return *congestion_files.collect(base, place), lines


def _set(data: dict[str, Any], name: str, value: Any) -> tuple[dict[str, Any], list[Location]]:
    """Set a field of a sweep, of its scenario, or of an axis. The name of an axis may contain dots.

    Return the new data and the locations of the changed fields.
    """
    check_outside(name, value_text(value), SweepSpec.model_fields)
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
