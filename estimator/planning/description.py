"""Plans as they are written in files."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.planning.values import QuantitySpec
from netcarlo.scenario import within_scenario
from netcarlo.schema import expressions
from netcarlo.schema.record import Record


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
