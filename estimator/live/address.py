"""The address of a page is its state: `?hops.0.loss=1 %25&of=completion_s&if.transport.protocol=sack`.

What is as in the file is left out.  `if.` begins the fields of a second variant, which are as in the first
unless given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from netcarlo.errors import InputError
from netcarlo.live.controls import OF_RUN, Control, named

VARIANT = "if"
WORDS = ("of", "against", VARIANT)
"""What stands in an address beside fields."""
LONGEST = 4000


@dataclass(frozen=True)
class State:
    """What a page shows."""

    controls: tuple[Control, ...]
    """With places for the values of the address."""
    places: Mapping[str, int]
    """The place of each field that is not as in the file."""
    variant: Mapping[str, int] | None
    """The same of the fields in which a second variant differs; None without one."""
    of: str
    against: str

    @property
    def variants(self) -> tuple[bool, ...]:
        """Whether each of what is shown is the second variant."""
        return (False,) if self.variant is None else (False, True)

    def control(self, field: str) -> Control:
        """The control of a field.  Raises InputError."""
        return named(self.controls, field)

    def place(self, field: str, *, variant: bool = False) -> int:
        """Where a control stands."""
        own = self.places.get(field, self.control(field).start)
        return (self.variant or {}).get(field, own) if variant else own

    def values(self, *, variant: bool = False, moved: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Fields and YAML values that make its scenario of the file's; `moved` are set beside it."""
        every = {**self.places, **((self.variant or {}) if variant else {}), **(moved or {})}
        found = {name: self.control(name).yaml[place] for name, place in every.items()}
        return {name: v for name, v in found.items() if every[name] != self.control(name).start}

    def query(self) -> str:
        """The address of it, without the question mark."""
        pairs = [(name, self.control(name).texts[place]) for name, place in self.places.items()]
        pairs += [("of", self.of), ("against", self.against)]
        if self.variant is not None:
            pairs.append((VARIANT, "1"))
            pairs += [(f"{VARIANT}.{n}", self.control(n).texts[p]) for n, p in self.variant.items()]
        return urlencode(pairs, quote_via=quote)


def read(query: str, controls: Sequence[Control], *, of: str) -> tuple[State, str]:
    """The state of an address, and in a line what of it is refused, without which it is taken.

    `of` is the outcome that is shown unless the address says one.
    """
    known = {control.field: control for control in controls}
    words, refused = {"of": of, "against": controls[0].field if controls else ""}, ""
    given: dict[tuple[str, str], str] = {}
    if len(query) > LONGEST:
        query, refused = "", f"the address has {len(query)} characters; allowed is 0 to {LONGEST}; shorten it"
    for name, text in parse_qsl(query.lstrip("?"), keep_blank_values=True):
        try:
            if name in WORDS:
                words[name] = text
                continue
            side, field = (VARIANT, name[3:]) if name.startswith(f"{VARIANT}.") else ("", name)
            if side and field in OF_RUN:
                raise InputError(f"'{name}' is the same for both variants; write {field}")
            known[field], _ = named(list(known.values()), field).place(text)
            given[side, field] = text
        except InputError as error:
            refused = refused or str(error)
    if words["against"] not in known:
        refused = refused or f"against = '{words['against']}' does not move on this page"
        words["against"] = controls[0].field if controls else ""
    sides: dict[str, dict[str, int]] = {"": {}, VARIANT: {}}
    for (side, field), text in given.items():  # when all places are known
        sides[side][field] = known[field].place(text)[1]
    state = State(
        tuple(known.values()), sides[""], sides[VARIANT] if VARIANT in words or sides[VARIANT] else None,
        words["of"], words["against"],
    )  # fmt: skip
    return state, refused
