"""Access to the fields of JSON by their dotted names. Faults are collected and raised together."""

import json
import math
from typing import Any

from netcarlo.errors import InputError

_ABSENT = object()


class Fields:
    """Mapping of JSON with the dotted name of its place. Reading a field of the wrong type is a fault."""

    def __init__(self, data: Any, place: str = "", faults: list[str] | None = None) -> None:
        """Wrap `data`, a mapping; anything else is a fault, and has no fields."""
        self.place = place
        self.faults: list[str] = [] if faults is None else faults
        self.data: dict[str, Any] = data if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            self._fault("", data, "a mapping")

    def has(self, name: str) -> bool:
        """Return whether a field is present and not null."""
        return self.data.get(name) is not None

    def inside(self, name: str) -> "Fields":
        """Return the fields of the mapping `name`; without fields if it is absent."""
        return Fields(self.data.get(name) or {}, self._at(name), self.faults)

    def every(self, name: str) -> list["Fields"]:
        """Return the mappings in the list `name`; none if it is absent."""
        found = self.data.get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            self._fault(name, found, "a list")
            return []
        return [Fields(one, f"{self._at(name)}.{k}", self.faults) for k, one in enumerate(found)]

    def number(self, name: str, default: float | None = None) -> float:
        """Return a finite number; `default` if it is absent, and a fault without a default."""
        found = self.data.get(name, _ABSENT)
        if found is None or found is _ABSENT:
            if default is None:
                self.faults.append(f"has no number {self._at(name)}")
            return math.nan if default is None else default
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            self._fault(name, found, "a number")
            return math.nan
        return float(found)

    def whole(self, name: str, default: int = 0) -> int:
        """Return a number rounded down; `default` if it is absent or no number."""
        found = self.number(name, float(default))
        return int(found) if math.isfinite(found) else default

    def text(self, name: str) -> str:
        """Return a text; empty if it is absent."""
        found = self.data.get(name)
        if found is None or isinstance(found, str):
            return found or ""
        self._fault(name, found, "a text")
        return ""

    def series(self, name: str) -> list[float]:
        """Return a list of numbers; null becomes NaN."""
        found = self.data.get(name)
        if not isinstance(found, list):
            self._fault(name, found, "a list of numbers")
            return []
        values = list[float]()
        for k, one in enumerate(found):
            if one is not None and (isinstance(one, bool) or not isinstance(one, int | float)):
                self._fault(f"{name}.{k}", one, "a number or null")
                return []
            values.append(math.nan if one is None else float(one))
        return values

    def refuse(self) -> None:
        """Raise InputError if there was a fault, with a line for each."""
        if self.faults:
            raise InputError(*self.faults)

    def _at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place and name else self.place or name

    def _fault(self, name: str, found: Any, expected: str) -> None:
        at = self._at(name)
        shown = "" if found is None else f" = {json.dumps(found)[:40]}"
        said = f"is not {expected}" if found is not None else f"is missing; expected {expected}"
        self.faults.append(f"{at}{shown} {said}".strip())
