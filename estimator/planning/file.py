"""Plan files: a scenario, the quantity to plan, and the requirements that must hold."""

import copy
import json
import math
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from netcarlo.errors import Faults, InputError, prefixed
from netcarlo.planning import evidence
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.requirements import parse as parse_requirement
from netcarlo.planning.values import MOST_VALUES, QuantitySpec, Values, limits, shown
from netcarlo.scenario import Scenario, check_outside, within_scenario
from netcarlo.schema import document as files
from netcarlo.schema import expressions, fields, kinds, trusted, units
from netcarlo.schema.document import Document, Location
from netcarlo.schema.names import full_names, set_field, value_text, with_options, with_values
from netcarlo.schema.record import Record
from netcarlo.simulation import cautions, fidelity, measurable
from netcarlo.transport.congestion import NAMES, locate


class RequirementSpec(Record):
    """What must hold in a replication, and with which probability."""

    goal: str = Field(max_length=expressions.MAX_LENGTH)
    """Comparison of outcomes with a bound, as in `video_in_time >= 95 %`."""
    probability: str | float = "95 %"
    """With which it must hold in a replication."""

    short: ClassVar = ({"type": "string"},)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        return {"goal": data} if isinstance(data, str) else data


class ResourceSpec(Record):
    """A field of which one could buy more: `add` to its number, or another value, `to`."""

    field: str
    """The field that more of it changes."""
    add: Any = None
    """What is added to its number."""
    to: Any = None
    """Its other value, in place of `add`."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.add is None) == (self.to is None):
            raise InputError("needs one of add and to; write add: 1 Mbit/s")
        return self


class PlanSpec(Record):
    """A plan as written; `scenario` is a scenario or the name of its file."""

    name: str = "plan"
    """What it is called in tables and reports; the name of its file unless given."""
    description: str = ""
    """A sentence for readers of reports."""
    scenario: dict[str, Any] | str
    """The scenario that is planned, or the name of its file."""
    quantity: QuantitySpec
    """What is sought, and which values it may have."""
    derive: dict[str, str | float] = Field(default_factory=dict)
    """Fields that follow from the quantity, each an expression in SI units."""
    find: Literal["largest", "smallest"] = "largest"
    """Whether the largest value is sought for which the requirements hold, or the smallest."""
    requirements: dict[str, RequirementSpec] = Field(min_length=1)
    """What must hold, by name."""
    confidence: str | float = "95 %"
    """How sure the whole answer is."""
    replications: int = Field(default=4000, ge=1, le=10_000_000)
    """Runs of one value, at most."""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Of all random numbers; that of the scenario unless given."""
    resources: dict[str, ResourceSpec] = Field(default_factory=dict)
    """Of what one could buy more, by name: what it would change is said, too."""
    across: QuantitySpec | None = None
    """A second quantity: the plan is answered at each of its values."""
    cost: str | None = Field(default=None, max_length=expressions.MAX_LENGTH)
    """What a design costs: an expression of both quantities, in SI units."""
    currency: str = Field(default="", max_length=40)
    """What the cost is in."""

    @classmethod
    def elsewhere(cls, key: str) -> str | None:
        """Return the remedy for a field of the scenario at the top of a plan."""
        return within_scenario(key, cls.model_fields)

    @model_validator(mode="after")
    def _of_two(self) -> Self:
        if self.across is None and self.cost is not None:
            raise InputError("cost compares designs; write across: with a second quantity, or remove it")
        if self.across is not None and self.across.name == self.quantity.name:
            raise InputError("across has the name of quantity; give it another, as in name: queue")
        if self.across is not None and self.resources:
            raise InputError("resources are of plans with one quantity; remove them, or across")
        return self


class Beside(NamedTuple):
    """The value of a second quantity at which a plan looks at the first."""

    name: str
    value: float
    of: int
    """How many values of it are looked at, which share the error."""


@dataclass(frozen=True, eq=False)
class Resource:
    """One resource with more of it: the field's value before and after, as YAML values."""

    name: str
    field: str
    before: Any
    after: Any


class Plan:
    """A checked plan.

    Its values are in an order in which the requirements first hold and then fail: rising where the largest
    is looked for, falling where the smallest is.
    """

    def __init__(
        self,
        spec: PlanSpec,
        base: dict[str, Any],
        document: Document | None,
        source: str,
        lines: Document | None,
        beside: Beside | None = None,
    ) -> None:
        """Check everything that can be checked before a simulation; `lines` are those of the scenario `base`.

        A plan across a second quantity stands for its first value, and has a plan for each in `designs`.
        Raises InputError.
        """
        self.spec, self.source, self._base, self._document = spec, source, base, document
        self.across: Values | None = None
        if spec.across is not None and beside is None:
            with self._at("across"):
                self.across = Values(
                    spec.across, Scenario.check(base, document=lines), base, derives=bool(spec.derive)
                )
            of = len(self.across.numbers)
            beside = Beside(self.across.name, self.across.numbers[0], of)
            self._base = base = with_values(base, self.across.settings(beside.value))
        self.beside = beside
        self.name, self.description = spec.name, spec.description
        self.command = ""
        self.quantity = spec.quantity.name
        faults = Faults()
        with faults:
            self.confidence = self._share("confidence", spec.confidence)
        for name, each in spec.requirements.items():
            with faults:
                self._share(f"requirements.{name}.probability", each.probability)
        self.most = spec.replications
        self._scenarios: dict[tuple[float, Resource | None], Scenario] = {}
        self.base = Scenario.check(base, document=lines)
        with faults, self._at("quantity"):
            self.row = Values(spec.quantity, self.base, base, derives=bool(spec.derive))
        faults.refuse()
        self._check_fields()
        self.dimension, self.log = self.row.dimension, self.row.log
        self.values = self.row.numbers if spec.find == "largest" else self.row.numbers[::-1]
        ends = [self.scenario(value) for value in (self.values[0], self.values[-1])]
        for value in self.values:
            self._derived(value)
        self._have = set().union(*map(measurable.outcomes, ends))
        with faults:
            self.requirements = self._required(spec)
            self._check_replications()
        resources = []
        for item in spec.resources.items():
            with faults, self._at("resources"):
                resources.append(self._resource(*item))
        faults.refuse()
        self.resources = tuple(resources)
        self.designs = self._designs(lines)

    def _designs(self, lines: Document | None) -> tuple["Plan", ...]:
        """The plan at each value of the second quantity; none without one."""
        if self.across is None:
            return ()
        across, found = self.across, []
        if len(across.numbers) * len(self.values) > MOST_VALUES:
            asked = f"{len(across.numbers)} values beside {len(self.values)} of {self.quantity}"
            raise self._error(
                ("across",), f"across: {asked} are over {MOST_VALUES} designs; write fewer points"
            )
        for value in across.numbers:
            base = with_values(self._base, across.settings(value))
            with self._at("across"):
                Scenario.check(base)
            beside = Beside(across.name, value, len(across.numbers))
            try:
                found.append(Plan(self.spec, base, self._document, self.source, None, beside))
            except InputError as error:
                said = f" (at {across.name} = {units.show(value, across.dimension)})"
                raise InputError(*(line + said for line in error.lines)) from None
        with self._at("cost"):
            for design in found:
                for number in design.values:
                    design.price(number)
        return tuple(found)

    def price(self, value: float) -> float | None:
        """What a value of the quantity costs, beside that of the second one; None in a plan without `cost`.

        Raises InputError.
        """
        if self.spec.cost is None or self.beside is None:
            return None
        expressions.check(self.spec.cost, self._names())
        return self._evaluated(self.spec.cost, value)

    def _check_fields(self) -> None:
        """Raise InputError where a field would be set twice."""
        beside = self.spec.across.fields if self.spec.across else []
        for name in (*beside, *self.spec.derive):
            others = [*self.row.fields, *(beside if name in self.spec.derive else ())]
            if name in others:
                place = "derive" if name in self.spec.derive else "across"
                raise self._error((place,), f"{place}: {name} is set by a quantity, too; name it once")

    def _names(self, value: float = math.nan) -> dict[str, float]:
        """The quantities by name: the planned one with a value, and that beside it."""
        beside = {} if self.beside is None else {self.beside.name: self.beside.value}
        return {self.quantity: value, **beside}

    def _evaluated(self, text: str, value: float) -> float:
        """An expression of the quantities.  Raises InputError where it has no value."""
        try:
            found = float(expressions.evaluate(text, self._names(value)))
        except expressions.NoValueError as error:
            found, why = math.nan, error.reason
        except InputError:
            raise
        except Exception as error:  # whatever an expression raises
            found, why = math.nan, str(error)
        else:
            why = f"{found}"
        if not math.isfinite(found):
            where = f"'{text}' has no value at {self.quantity} = {value:g} ({why})"
            raise InputError(f"{where}; write one such as {self.quantity} / 2")
        return found

    @cached_property
    def outcomes(self) -> list[str]:
        """The outcomes that the requirements look at."""
        return sorted({name for requirement in self.requirements for name in requirement.outcomes})

    @cached_property
    def left_out(self) -> list[cautions.HiddenLoss]:
        """Losses of the classes whose delays the requirements bound."""
        return cautions.hidden_losses(self.base, self.outcomes, self._have)

    @cached_property
    def kept(self) -> list[str]:
        """Outcomes of a replication that the runs keep: those of the requirements, and losses."""
        return sorted({*self.outcomes, *(each.loss for each in self.left_out)})

    def scenario(self, value: float, resource: Resource | None = None) -> Scenario:
        """The scenario at a value of the quantity in SI units.  Raises InputError."""
        if (value, resource) not in self._scenarios:
            self._scenarios[value, resource] = self._scenario(value, resource)
        return self._scenarios[value, resource]

    def _scenario(self, value: float, resource: Resource | None) -> Scenario:
        changes = {} if resource is None else {resource.field: resource.after}
        base = with_values(self._base, changes)
        settings = self.row.settings(value)
        for name, found in self._derived(value).items():
            with self._at("derive", name):
                settings[name] = shown(limits(self.base, self._base, name), found)
        try:
            return Scenario.check(with_values(base, settings))
        except InputError as error:
            said = units.show(value, self.dimension)
            raise self._error(("quantity",), f"{self.quantity} = {said}: ", error) from None

    def _derived(self, value: float) -> dict[str, float]:
        """The numbers of the fields that follow from a value of the quantity."""
        found = {}
        for name, text in self.spec.derive.items():
            with self._at("derive", name):
                expressions.check(str(text), self._names())
                found[name] = self._evaluated(str(text), value)
        return found

    @property
    def level(self) -> float:
        """The error that each value may have in being called to hold; see `ledger`."""
        return (1 - self.confidence) / len(self.values) / (1 if self.beside is None else self.beside.of)

    def _check_replications(self) -> None:
        least = max(evidence.needed(r.probability, self.level) for r in self.requirements)
        if self.most < least:
            message = f"replications = {self.most} cannot show what is asked; allowed is {least} or more"
            remedy = "raise them, or lower a probability or the confidence"
            raise self._error(("replications",), f"{message}; {remedy}")

    def asking(self, changes: Mapping[str, Any]) -> "Plan":
        """The same with other requirements: `changes` are fields in `requirements`, as in `loss.goal`.

        Replications of the one serve the other.  Raises InputError.
        """
        data = self.spec.model_dump(include={"requirements"})["requirements"]
        for name, value in changes.items():
            place, _, part = name.rpartition(".")
            data[place][part] = value
        found = copy.copy(self)
        found.spec = PlanSpec.check({**self.spec.model_dump(exclude_none=True), "requirements": data})
        found.requirements = found._required(found.spec)
        for name in ("outcomes", "left_out", "kept"):
            found.__dict__.pop(name, None)
        found._check_replications()
        return found

    def _required(self, spec: PlanSpec) -> tuple[Requirement, ...]:
        faults, found = Faults(), []
        for name, each in spec.requirements.items():
            try:
                found.append(self._requirement(name, each, self._have))
            except InputError as error:
                lines = (line if line.startswith(f"{name}: ") else f"{name}: {line}" for line in error.lines)
                text = self._error(("requirements", name), "requirements: ", InputError(*lines))
                faults.lines += text.lines
        faults.refuse()
        return tuple(found)

    def _requirement(self, name: str, spec: RequirementSpec, have: Collection[str]) -> Requirement:
        """A requirement about outcomes that there are at some value of the quantity."""
        probability = self._share(f"requirements.{name}.probability", spec.probability)
        found = parse_requirement(name, spec.goal, probability, self.quantity, values=self.values, known=have)
        for outcome in found.outcomes:
            if outcome not in have:
                measurable.refuse(outcome, self.base, have)
        fidelity.check_known(self.base, found.outcomes)
        return found

    def _resource(self, name: str, spec: ResourceSpec) -> Resource:
        if spec.field in self.row.fields or spec.field in self.spec.derive:
            raise InputError(f"{name}: {spec.field} is what is planned; name another field")
        limit = limits(self.base, self._base, spec.field)
        before = fields.value(self.base, full_names(self._base, spec.field)[0])
        if before is None:
            raise InputError(f"{name}: {spec.field} is not set; give it in the scenario")
        after = spec.to
        if spec.to is None:
            if not isinstance(before, float):
                raise InputError(f"{name}: {spec.field} is no single number; write to: with a new value")
            more = units.parse(spec.add, limit.dimension)
            after = limit.show(float(f"{before + more:.12g}"))
        resource = Resource(name, spec.field, limit.show(before), after)
        self.scenario(self.values[0], resource)
        return resource

    def _share(self, name: str, text: str | float) -> float:
        try:
            share = units.parse(text, units.FRACTION)
        except InputError as error:
            raise self._error(tuple(name.split(".")), f"{name} = {text} {error}") from None
        if not 0 < share < 1:
            remedy = _NO_CERTAINTY if share >= 1 else "write 95 %"
            raise self._error(
                tuple(name.split(".")), f"{name} = {text}; allowed is between 0 and 1; {remedy}"
            )
        return share

    def _at(self, *place: str) -> "_Place":
        return _Place(self, place)

    def _error(self, at: tuple[str, ...], message: str, error: InputError | None = None) -> InputError:
        """Return an error with its place, and the message before each line of `error`."""
        where = f"{self._document.where(at)}: " if self._document else ""
        return InputError(where + message) if error is None else prefixed(error, where + message)


_NO_CERTAINTY = (
    "no number of replications shows more; write 99.9 % with replications: 100000, or 99 % with fewer"
)


class _Place:
    """Says where in the file an InputError is about."""

    def __init__(self, plan: Plan, place: tuple[str, ...]) -> None:
        self.plan, self.place = plan, place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            raise self.plan._error(self.place, f"{'.'.join(self.place)}: ", error) from None


def load_plan(path: str | Path, *, values: Mapping[str, Any] | None = None) -> Plan:
    """Read a plan from a YAML file, with the fields in `values` set to YAML values.

    Names are dotted, as in `confidence` or `scenario.transport.window`.  A scenario file is looked up in the
    folder of the plan.  Raises InputError with file and line.
    """
    data, document = with_options(kinds.read(path, kinds.PLAN), values or {}, set_in_plan)
    data.setdefault("name", files.title(path))
    made = make_plan(data, folder=Path(path).parent, document=document)
    words = ["netcarlo", "plan", str(path)]
    for name, value in (values or {}).items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value, default=str)}"]
    made.command = shlex.join(words)
    return made


def set_in_plan(data: dict[str, Any], name: str, value: Any) -> tuple[dict[str, Any], list[Location]]:
    """Set a field of a plan or of its scenario; return the data and the places that are set."""
    check_outside(name, value_text(value), PlanSpec.model_fields, data.get("scenario"))
    return set_field(data, name, value)


Asked = Plan | str | Path | Mapping[str, Any]
"""A plan, the path of its file, or data as in one."""


def plan_of(asked: Asked) -> Plan:
    """The plan that is asked for.  Raises InputError."""
    if isinstance(asked, Mapping):
        return make_plan(asked)
    return asked if isinstance(asked, Plan) else load_plan(asked)


def make_plan(data: Mapping[str, Any], *, folder: Path = Path(), document: Document | None = None) -> Plan:
    """The plan of data as it stands in a file.  Raises InputError."""
    faults, spec = Faults(), None
    with faults:
        spec = PlanSpec.check(dict(data), document=document)
    if isinstance(data.get("scenario"), str | dict):
        with faults:
            base, lines = _base(data if spec else {**data, "seed": None}, folder, document)
            Scenario.check(base, document=lines)
    faults.refuse()
    assert spec is not None
    return Plan(spec, base, document, files.read_text(document.source) if document else "", lines)


def _base(
    data: Mapping[str, Any], folder: Path, document: Document | None
) -> tuple[dict[str, Any], Document | None]:
    """Return the data of the scenario of a plan, and where its lines are."""
    scenario, lines = data["scenario"], None
    if isinstance(scenario, str):
        place = folder / scenario
        trusted.check(place, Path(document.source) if document else folder)
        lines = kinds.read(place, kinds.SCENARIO)
        base = lines.data
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


__all__ = ["Asked", "Plan", "Resource", "load_plan", "make_plan", "plan_of", "set_in_plan"]
