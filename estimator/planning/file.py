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
from netcarlo.numerics import evidence
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.requirements import parse as parse_requirement
from netcarlo.planning.states import States
from netcarlo.planning.values import MAX_VALUES, QuantitySpec, Values, limits, shown
from netcarlo.scenario import Scenario, check_outside, within_scenario
from netcarlo.schema import document as files
from netcarlo.schema import expressions, fields, kinds, trusted, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.document import Document, Location
from netcarlo.schema.names import (
    SCENARIO,
    full_names,
    set_field,
    split_options,
    value_text,
    with_options,
    with_values,
)
from netcarlo.schema.record import Record
from netcarlo.simulation import cautions, fidelity, measurable
from netcarlo.transport.congestion import NAMES, locate


class RequirementSpec(Record):
    """Requirement on the outcomes of a replication, and the probability with which it must hold."""

    goal: str = Field(max_length=expressions.MAX_LENGTH)
    """Comparison of outcomes with a bound, as in `video_in_time >= 95 %`."""
    probability: str | float = "95 %"
    """Probability with which the goal must hold in a replication; between 0 and 1."""

    short: ClassVar = ({"type": "string"},)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        return {"goal": data} if isinstance(data, str) else data


class ResourceSpec(Record):
    """Resource that could be increased: a field of the scenario, with either `add` or `to`."""

    field: str
    """Field of the scenario that more of the resource changes."""
    add: Any = None
    """Amount that is added to the number in the field."""
    to: Any = None
    """New value of the field, instead of `add`; also a word, as in `wireless.band`."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.add is None) == (self.to is None):
            raise InputError("needs exactly one of add and to; write add: 1 Mbit/s")
        return self


class PlanSpec(Record):
    """Plan as it is written in a file."""

    name: str = "plan"
    """Name in tables and reports; by default that of the file."""
    description: str = ""
    """Sentence for readers of reports."""
    scenario: dict[str, Any] | str
    """Scenario to plan, or the name of its file."""
    quantity: QuantitySpec
    """Quantity to plan, and its possible values."""
    derive: dict[str, str | float] = Field(default_factory=dict)
    """Fields of the scenario that follow from the quantity: by name, an expression in SI units."""
    find: Literal["largest", "smallest"] = "largest"
    """Answer to look for: the largest or the smallest value for which all requirements hold."""
    requirements: dict[str, RequirementSpec] = Field(min_length=1)
    """Requirements by name."""
    confidence: str | float = "95 %"
    """Confidence of the whole answer: the probability that it is correct; between 0 and 1."""
    replications: int = Field(default=4000, ge=1, le=10_000_000)
    """Maximum number of replications at each value."""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of all random numbers; by default that of the scenario."""
    resources: dict[str, ResourceSpec] = Field(default_factory=dict)
    """Resources by name. The answer includes the effect of more of each resource."""
    across: QuantitySpec | None = None
    """Second quantity; the plan is answered at each of its values."""
    cost: str | None = Field(default=None, max_length=expressions.MAX_LENGTH)
    """Cost of a design: an expression of both quantities, in SI units."""
    currency: str = Field(default="", max_length=40)
    """Unit of the cost in tables and reports."""

    @classmethod
    def elsewhere(cls, key: str) -> str | None:
        """Return the remedy for a field of the scenario at the top of a plan."""
        return within_scenario(key, cls.model_fields)

    @model_validator(mode="after")
    def _check_across(self) -> Self:
        if self.across is None and self.cost is not None:
            raise InputError("cost needs a second quantity; write across:, or remove cost")
        if self.across is not None and self.across.name == self.quantity.name:
            raise InputError(
                f"across and quantity have the same name '{self.quantity.name}'; write name: queue in across"
            )
        if self.across is not None and self.resources:
            raise InputError("resources cannot be combined with across; remove one of them")
        return self


class Beside(NamedTuple):
    """Value of the second quantity at which a plan of the first is answered."""

    name: str
    """Name of the second quantity."""
    value: float
    """Value of the second quantity, in SI units."""
    of: int
    """Number of values of the second quantity. The error probability is divided among them."""


@dataclass(frozen=True, eq=False)
class Resource:
    """Resource of a plan."""

    name: str
    """Name of the resource."""
    field: str
    """Field of the scenario that it changes."""
    before: Any
    """YAML value of the field in the scenario."""
    after: Any
    """YAML value of the field with more of the resource."""


class Plan:
    """Checked plan.

    `values` has the values of the quantity in the order in which the requirements first hold and then fail:
    increasing if the plan looks for the largest value, decreasing if it looks for the smallest.
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
        """Check everything that can be checked before a simulation.

        `base` is the data of the scenario and `lines` the document with its line numbers. A plan with a
        second quantity uses the first value of it; `designs` has a plan for each value. Raises InputError.
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
        self.max_replications = spec.replications
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
        if self.of_year and spec.resources:
            with faults, self._at("resources"):
                remedy = "remove resources, or make one of them the quantity across"
                raise InputError(f"not supported with outages of years, which divide the year; {remedy}")
        resources = []
        for item in spec.resources.items():
            with faults, self._at("resources"):
                resources.append(self._resource(*item))
        faults.refuse()
        self.resources = tuple(resources)
        self.designs = self._designs(lines)

    def _designs(self, lines: Document | None) -> tuple["Plan", ...]:
        """Return the plan at each value of the second quantity; empty without a second quantity."""
        if self.across is None:
            return ()
        across, found = self.across, []
        if len(across.numbers) * len(self.values) > MAX_VALUES:
            count = f"{len(across.numbers)} values times {len(self.values)} of {self.quantity}"
            raise self._error(
                ("across",), f"across: {count} are more than {MAX_VALUES} designs; write fewer points"
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
        """Return the cost of a value of the quantity together with that of the second quantity.

        None in a plan without `cost`. Raises InputError.
        """
        if self.spec.cost is None or self.beside is None:
            return None
        expressions.check(self.spec.cost, self._names())
        return self._evaluated(self.spec.cost, value)

    def _check_fields(self) -> None:
        """Raise InputError if a field would be set twice."""
        beside = self.spec.across.fields if self.spec.across else []
        for name in (*beside, *self.spec.derive):
            others = [*self.row.fields, *(beside if name in self.spec.derive else ())]
            if name in others:
                place = "derive" if name in self.spec.derive else "across"
                raise self._error(
                    (place,), f"{place}: {name} is set by a quantity already; remove one of them"
                )

    def _names(self, value: float = math.nan) -> dict[str, float]:
        """Return the quantities by name: the planned one with `value`, and the second one."""
        beside = {} if self.beside is None else {self.beside.name: self.beside.value}
        return {self.quantity: value, **beside}

    def _evaluated(self, text: str, value: float) -> float:
        """Evaluate an expression of the quantities. Raises InputError if it has no finite value."""
        try:
            found = float(expressions.evaluate(text, self._names(value)))
        except expressions.NoValueError as error:
            found, why = math.nan, error.reason
        except InputError:
            raise
        except Exception as error:  # an expression may raise any error
            found, why = math.nan, str(error)
        else:
            why = f"{found}"
        if not math.isfinite(found):
            where = f"'{text}' has no value at {self.quantity} = {value:g} ({why})"
            raise InputError(f"{where}; write one such as {self.quantity} / 2")
        return found

    @cached_property
    def outcomes(self) -> list[str]:
        """Outcomes that the requirements use."""
        return sorted({name for requirement in self.requirements for name in requirement.outcomes})

    @cached_property
    def of_year(self) -> bool:
        """True if probabilities are shares of the year, because outages are rarer than a run; see `year`."""
        network = self.base.network
        rare = network.rare_outages()
        at_random = bool(rare) and all(each.outages.during is None for each in rare)
        fixed = not isinstance(self.base.duration, Distribution)
        return at_random and fixed and not network.no_availability

    @cached_property
    def left_out(self) -> list[cautions.HiddenLoss]:
        """Losses of the classes whose delays the requirements bound; delays do not include lost packets."""
        return cautions.hidden_losses(self.base, self.outcomes, self._have)

    @cached_property
    def recorded(self) -> list[str]:
        """Outcomes that are stored for each replication: those of the requirements, and losses."""
        return sorted({*self.outcomes, *(each.loss for each in self.left_out)})

    def scenario(self, value: float, resource: Resource | None = None) -> Scenario:
        """Return the scenario at a value of the quantity in SI units. Raises InputError."""
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
        """Return the numbers of the derived fields at a value of the quantity, in SI units."""
        found = {}
        for name, text in self.spec.derive.items():
            with self._at("derive", name):
                expressions.check(str(text), self._names())
                found[name] = self._evaluated(str(text), value)
        return found

    @property
    def level(self) -> float:
        """Error probability of the verdict "holds" at each value; see `ledger`."""
        return (1 - self.confidence) / len(self.values) / (1 if self.beside is None else self.beside.of)

    @cached_property
    def states(self) -> States | None:
        """States of the year at the first value; None for a plan that is not about the year."""
        return States.of(self.scenario(self.values[0])) if self.of_year else None

    @cached_property
    def least_replications(self) -> int:
        """Replications that a value needs if the requirements hold in all of them. If a year needs more than
        the maximum, it is the maximum."""
        if self.states is None:
            return max(evidence.needed(r.probability, self.level) for r in self.requirements)
        asked = max(r.probability for r in self.requirements)
        return self.states.needed(asked, self.level, self.max_replications) or self.max_replications

    def _check_replications(self) -> None:
        if self.states is not None:
            self._check_states(self.states)
        elif self.max_replications < self.least_replications:
            raise self._too_few(self.least_replications)

    def _check_states(self, states: States) -> None:
        """Check that the requirements can be decided from the simulated states of the year."""
        asked, known = max(r.probability for r in self.requirements), float(states.shares.sum())
        if known <= asked:
            most = 100 * math.floor(1e6 * known) / 1e6
            text = f"requirements: a probability of {100 * asked:g} % cannot be shown, because several "
            text += f"outages at once take {100 * (1 - known):.2g} % of the year and are not simulated"
            raise self._error(("requirements",), f"{text}; expected at most {most:.6g} %")
        if states.needed(asked, self.level, self.max_replications) is None:
            raise self._too_few(states.needed(asked, self.level) or 0)

    def _too_few(self, least: int) -> InputError:
        message = f"replications = {self.max_replications} is too small to decide the requirements"
        remedy = "raise it, or lower a probability or the confidence"
        return self._error(("replications",), f"{message}; expected {least} or more; {remedy}")

    def with_requirements(self, changes: Mapping[str, Any]) -> "Plan":
        """Return the plan with other requirements; `changes` are fields of `requirements`, as in `loss.goal`.

        Both plans use the same replications. Raises InputError.
        """
        data = self.spec.model_dump(include={"requirements"})["requirements"]
        for name, value in changes.items():
            place, _, part = name.rpartition(".")
            data[place][part] = value
        found = copy.copy(self)
        found.spec = PlanSpec.check({**self.spec.model_dump(exclude_none=True), "requirements": data})
        found.requirements = found._required(found.spec)
        for name in ("outcomes", "left_out", "kept", "least_replications"):
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
        """Return a checked requirement; `have` are the outcomes that exist at some value of the quantity."""
        probability = self._share(f"requirements.{name}.probability", spec.probability)
        found = parse_requirement(name, spec.goal, probability, self.quantity, values=self.values, known=have)
        for outcome in found.outcomes:
            if outcome not in have:
                measurable.refuse(outcome, self.base, have)
        fidelity.check_known(self.base, found.outcomes)
        return found

    def _resource(self, name: str, spec: ResourceSpec) -> Resource:
        if spec.field in self.row.fields or spec.field in self.spec.derive:
            raise InputError(f"{name}: {spec.field} is set by the quantity; name another field")
        before = fields.value(self.base, full_names(self._base, spec.field)[0])
        if before is None:
            raise InputError(f"{name}: {spec.field} is not set; set it in the scenario")
        if spec.to is not None and isinstance(before, str | bool):  # a word or a switch
            resource = Resource(name, spec.field, before, spec.to)
            self.scenario(self.values[0], resource)
            return resource
        limit = limits(self.base, self._base, spec.field)
        after = spec.to
        if spec.to is None:
            if not isinstance(before, float):
                raise InputError(f"{name}: {spec.field} is not a single number; write to: with a new value")
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
            remedy = "write 95 %" if share < 1 else _NO_CERTAINTY
            if 1 < share < 100:
                remedy = f"without a unit, {share:g} is {100 * share:g} %; write {share:g} %"
                remedy = "write 95 %" if "%" in str(text) else remedy
            what = f"{name} = {text} is out of range; expected more than 0 and less than 1"
            raise self._error(tuple(name.split(".")), f"{what}; {remedy}")
        return share

    def _at(self, *place: str) -> "_Place":
        return _Place(self, place)

    def _error(self, at: tuple[str, ...], message: str, error: InputError | None = None) -> InputError:
        """Return an error with its place, and the message before each line of `error`."""
        where = f"{self._document.where(at)}: " if self._document else ""
        return InputError(where + message) if error is None else prefixed(error, where + message)


_NO_CERTAINTY = (
    "replications cannot prove certainty; write 99.9 % with replications: 100000, or 99 % with fewer"
)


class _Place:
    """Context manager that adds the place in the file to an InputError."""

    def __init__(self, plan: Plan, place: tuple[str, ...]) -> None:
        self.plan, self.place = plan, place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            raise self.plan._error(self.place, f"{'.'.join(self.place)}: ", error) from None


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


__all__ = ["Asked", "Plan", "Resource", "as_plan", "load_plan", "make_plan", "set_in_plan"]
