"""State of a page as the query of its URL: `?hops.0.loss=1 %25&of=completion_s&if.transport.protocol=sack`.

Fields with the value of the file are omitted. The prefix `if.` marks fields of the second variant; its other
fields have the values of the first variant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from netcarlo.errors import InputError, suggest
from netcarlo.live.controls import RUN_FIELDS, Control, control_named

VARIANT = "if"
KEYWORDS = ("of", "against", VARIANT)
"""Parameters of the query that are not fields: outcome, field of the horizontal axis, second variant."""
MAX_QUERY = 4000
"""Maximum length of a query [characters]."""


@dataclass(frozen=True)
class State:
    """Selections that determine the contents of a page."""

    controls: tuple[Control, ...]
    """Controls of the page; values of the URL that were not yet on a slider are added to it."""
    places: Mapping[str, int]
    """Position on the slider or menu of each field that differs from the file."""
    variant: Mapping[str, int] | None
    """Positions of the fields in which the second variant differs from the first; None without a variant."""
    of: str
    """Name of the outcome on the page."""
    against: str
    """Field on the horizontal axis of the first figure."""

    @property
    def variants(self) -> tuple[bool, ...]:
        """One entry for each variant on the page: False for the first, True for the second."""
        return (False,) if self.variant is None else (False, True)

    def control(self, field: str) -> Control:
        """Return the control of a field. Raises InputError."""
        return control_named(self.controls, field)

    def place(self, field: str, *, variant: bool = False) -> int:
        """Return the position of a control in the first or the second variant."""
        own = self.places.get(field, self.control(field).start)
        return (self.variant or {}).get(field, own) if variant else own

    def values(self, *, variant: bool = False, moved: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Return the fields that differ from the file, with their YAML values; `moved` overrides
        positions."""
        every = {**self.places, **((self.variant or {}) if variant else {}), **(moved or {})}
        found = {name: self.control(name).yaml[place] for name, place in every.items()}
        return {name: v for name, v in found.items() if every[name] != self.control(name).start}

    def query(self) -> str:
        """Return the query of the URL, without the question mark."""
        pairs = [(name, self.control(name).texts[place]) for name, place in self.places.items()]
        pairs += [("of", self.of), ("against", self.against)]
        if self.variant is not None:
            pairs.append((VARIANT, "1"))
            pairs += [(f"{VARIANT}.{n}", self.control(n).texts[p]) for n, p in self.variant.items()]
        return urlencode(pairs, quote_via=quote)


def read(query: str, controls: Sequence[Control], *, of: str) -> tuple[State, str]:
    """Return the state of a query, and a line about the first rejected parameter (empty if there is none).

    Rejected parameters are ignored. `of` is the outcome if the query names none.
    """
    known = {control.field: control for control in controls}
    words, refused = {"of": of, "against": controls[0].field if controls else ""}, ""
    given: dict[tuple[str, str], str] = {}
    if len(query) > MAX_QUERY:
        refused = (
            f"the query of the URL has {len(query)} characters; expected 0 to {MAX_QUERY}; remove parameters"
        )
        query = ""
    for name, text in parse_qsl(query.lstrip("?"), keep_blank_values=True):
        try:
            if name in KEYWORDS:
                words[name] = text
                continue
            side, field = (VARIANT, name[3:]) if name.startswith(f"{VARIANT}.") else ("", name)
            if side and field in RUN_FIELDS:
                raise InputError(f"'{name}' cannot differ between variants; write {field}")
            known[field], _ = control_named(list(known.values()), field).place(text)
            given[side, field] = text
        except InputError as error:
            refused = refused or str(error)
    if words["against"] not in known:
        near = suggest(words["against"], [*known])
        refused = refused or f"against = '{words['against']}' has no control on this page; {near}"
        words["against"] = controls[0].field if controls else ""
    sides: dict[str, dict[str, int]] = {"": {}, VARIANT: {}}
    for (side, field), text in given.items():  # after all new values have been added to the sliders
        sides[side][field] = known[field].place(text)[1]
    state = State(
        tuple(known.values()), sides[""], sides[VARIANT] if VARIANT in words or sides[VARIANT] else None,
        words["of"], words["against"],
    )  # fmt: skip
    return state, refused
