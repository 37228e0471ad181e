"""Checked plans: the values of the quantity, the requirements, and the scenario at each value."""

import copy
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from netcarlo.errors import Faults, InputError, prefixed
from netcarlo.numerics import evidence
from netcarlo.planning.description import PlanSpec, RequirementSpec, ResourceSpec
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.requirements import parse as parse_requirement
from netcarlo.planning.states import States
from netcarlo.planning.values import MAX_VALUES, Values, limits, shown
from netcarlo.scenario import Scenario
from netcarlo.schema import expressions, fields, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.document import Document
from netcarlo.schema.names import full_names, with_values
from netcarlo.simulation import cautions, fidelity, measurable


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
