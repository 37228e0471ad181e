"""Scenario of a sweep before axes set its fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.names import full_names, with_values
from netcarlo.sweeps.space.places import Places


@dataclass(frozen=True)
class Base:
    """Base scenario, of which the cells of a sweep set fields."""

    data: Any
    """Scenario as written in the file: YAML values."""
    scenario: Scenario
    """Checked scenario."""
    places: Places
    """Lines of the file."""

    def with_fields(self, settings: Mapping[str, Any], words: str, *axis: str, of: str = "") -> Scenario:
        """Return the base scenario with fields set; defaults follow from the new values, such as the
        protocol.

        An InputError begins with `words` and has the place of the `axis`; its lines end with `of`.
        """
        try:
            return Scenario.check(with_values(self.data, settings))
        except InputError as error:
            error = InputError(*(line + of for line in error.lines))
            raise self.places.error(("axes", *axis), f"{words}{': ' if words else ''}", error) from None


def full_name(scenario: Scenario, name: str) -> str:
    """Return the full name of a field from its short form, such as `hops.0.rate`."""
    return full_names(scenario.model_dump(mode="json"), name)[0]


def quantity(scenario: Scenario, name: str) -> Any:
    """Return the limits of a numeric field, None for other fields."""
    return fields.quantity(scenario, full_name(scenario, name))


def shown(scenario: Scenario, name: str, value: float) -> Any:
    """Return a number in SI units as it is written in YAML."""
    limits = quantity(scenario, name)
    return value if limits is None else limits.show(value)
