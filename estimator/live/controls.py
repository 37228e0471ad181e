"""What may move: the fields of a scenario as sliders and menus, each with a list of places.

A slider steps over numbers that read well, 1, 1.2, 1.5, 2, ... times powers of ten, around the scenario's own
value, which is one of them.  `live:` in the file says otherwise.
"""

import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcarlo.errors import InputError, suggest
from netcarlo.networks.outcome import FRACTION
from netcarlo.reports.parts import scales
from netcarlo.scenario import Scenario, scenario_in
from netcarlo.schema import fields, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.document import Document
from netcarlo.schema.movable import Movable
from netcarlo.schema.names import expanded, full_names
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.record import Record
from netcarlo.transport.capabilities import allowed
from netcarlo.transport.congestion import NAMES

MANTISSAS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
DECADES = 10.0
"""A slider goes from its value divided by this to its value times this."""
MOST_SEEN = 6
"""Controls that are seen first, where the file does not say which."""
MOST_WHOLE = 100
"""Whole numbers up to this are stepped through one by one."""
POINTS = 41
DRAWN = "drawn"
"""The place of a field that is random in the file."""

OF_RUN = ("seed", "replications")
"""Fields of a run, the same for a variant."""
NEVER = ("name", "description", "topology", "precision", "sample_interval", "fidelity", "live")


@dataclass(frozen=True)
class Control:
    """A field that moves.  `places` are what it can be: numbers in SI units, or words; `texts` say them, and
    `yaml` is what is written in a file."""

    field: str
    label: str
    places: tuple[Any, ...]
    texts: tuple[str, ...]
    yaml: tuple[Any, ...]
    start: int
    menu: bool = False
    seen: bool = False
    quantity: Quantity | None = None

    def place(self, text: str) -> "tuple[Control, int]":
        """The control and its place at a value as it is written, which is added between its ends.

        Raises InputError.
        """
        for known in (self.texts, tuple(map(str, self.yaml))):
            if text in known:
                return self, known.index(text)
        if self.menu or self.quantity is None:
            allowed = ", ".join(self.texts)
            raise InputError(f"{self.field} = '{text}' is not allowed; allowed is {allowed}")
        try:
            value = self.quantity.validate(text)
        except InputError as error:
            raise InputError(f"{self.field} = '{text}' {error}") from None
        if value in self.places:
            return self, self.places.index(value)
        first = 1 if isinstance(self.places[0], Distribution) else 0
        numbers = self.places[first:]
        if not isinstance(value, float) or not numbers[0] <= value <= numbers[-1]:
            side = f"allowed here is {self.texts[first]} to {self.texts[-1]}"
            raise InputError(f"{self.field} = '{text}' is not on its slider; {side}; write live: in the file")
        grown = [*self.places[:first], *sorted([*numbers, value])]
        made = slider(self.field, self.label, grown, self.places[self.start], self.quantity)
        return replace(made, seen=self.seen), grown.index(value)


def controls(document: Document, base: Scenario) -> list[Control]:
    """What may move in a scenario of a file: what `live` names, or all that has sensible places.

    Those that are seen first stand first.  Raises InputError.
    """
    if base.live:
        return [_asked(document, base, name, spec) for name, spec in base.live.items()]
    data = expanded(document.data)
    found: list[tuple[int, Control]] = []
    for full, value in fields.flat(base):
        if full in NEVER or full.startswith("live."):
            continue
        made = _of_field(document, base, full, value)
        if made is None or len(made.places) < 2:
            continue
        rank = _rank(data, full)
        if rank <= LAST or _fits(
            document, made.field, made.yaml[made.start]
        ):  # what others say cannot be set
            found.append((rank, made))
    ordered = sorted(found, key=lambda item: item[0])  # stable: as they stand in the record
    return [replace(made, seen=rank < LAST and i < MOST_SEEN) for i, (rank, made) in enumerate(ordered)]


LAST = 3


def _rank(data: Mapping[str, Any], full: str) -> int:
    """First the network's fields that are written, then those of the transport, then what is not written."""
    at: Any = data
    for part in full.split("."):
        if isinstance(at, dict) and part in at:
            at = at[part]
        elif isinstance(at, list) and part.isdecimal() and int(part) < len(at):
            at = at[int(part)]
        else:
            return LAST + 1
    if "." not in full:
        return LAST
    return 1 if full.startswith("transport.") else 0


def _of_field(document: Document, base: Scenario, full: str, value: Any) -> Control | None:
    name, label = short(base, full), scales.name_of(full, base) if "." in full else full.replace("_", " ")
    limit = fields.quantity(base, full)
    if full in OF_RUN:
        return _of_run(full, value)
    if limit is None:
        words = _words(base, full)
        return _menu(document, name, label, words, value) if value in words else None
    if isinstance(value, Distribution):
        low, high = value.bounds()
        if not 0 <= low < high < math.inf:
            return None
        between = nice(max(low, high / 1000), high)
        if limit.whole:
            between = [float(v) for v in range(int(low), int(high) + 1)] if high <= MOST_WHOLE else between
        numbers = [value, *dict.fromkeys(float(round(v)) if limit.whole else v for v in between)]
        return slider(name, label, numbers, value, limit)
    if not isinstance(value, float):
        return None
    numbers = _around(value, limit, full)
    return slider(name, label, numbers, value, limit) if numbers else None


def _of_run(name: str, value: int) -> Control:
    some = [*range(1, 21)] if name == "seed" else [round(v) for v in nice(10, 100_000)]
    numbers = sorted({*some, value})
    texts = tuple(map(str, numbers))
    whole = Quantity(units.PLAIN, 0 if name == "seed" else 1, 1e7, whole=True, random=False)
    return Control(name, name, tuple(map(float, numbers)), texts, tuple(numbers), numbers.index(value),
                   quantity=whole)  # fmt: skip


def short(base: Scenario, full: str) -> str:
    """A dotted name as users write it: `hops.0.rate` where there is one path."""
    return full.removeprefix("paths.0.") if len(base.paths) == 1 else full


def nice(low: float, high: float) -> list[float]:
    """The numbers that read well from `low` to `high`, both above 0."""
    ends = math.floor(math.log10(low)), math.ceil(math.log10(high))
    numbers = [float(f"{m}e{e}") for e in range(ends[0], ends[1] + 1) for m in MANTISSAS]
    return [v for v in numbers if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def _around(value: float, limit: Quantity, full: str) -> list[Any]:
    """Places around a value inside its limits; none where there is no sensible range."""
    least, most = limit.low, limit.high
    zero = least == 0
    if math.isinf(value):
        if limit.dimension is not units.PACKETS:
            return []
        return [*nice(10, 10_000), math.inf]
    if value == 0:
        ends = {units.FRACTION: (1e-4, 0.1), units.TIME: (1e-3, 1.0), units.RATE: (1e5, 1e8)}
        if limit.dimension not in ends:
            return []
        found = nice(*ends[limit.dimension])
    elif value < 0:
        return []
    elif limit.dimension is units.FRACTION:
        found = nice(max(value / 100, 1e-7), min(max(10 * value, 0.05), 1.0))
    elif limit.whole and 4 * value <= MOST_WHOLE and limit.dimension is not units.SIZE:
        found = [float(v) for v in range(1, max(round(4 * value), 8) + 1)]
    else:
        span = 4.0 if full in ("duration", "warm_up") else DECADES
        found = nice(value / span, value * span)
    if limit.whole:
        found = [float(round(v)) for v in found]
    inside = {v for v in found if max(least, 1e-12) <= v <= most}
    return sorted({*inside, value, *([0.0] if zero and "duration" not in full else [])})


def slider(name: str, label: str, numbers: Sequence[Any], own: Any, limit: Quantity) -> Control:
    """A slider over numbers in rising order, which stands at its own."""
    written = [written_as(v, limit) for v in numbers]
    texts = tuple(DRAWN if isinstance(v, dict) else str(v) for v in written)
    return Control(
        name, label, tuple(numbers), texts, tuple(written), list(numbers).index(own), quantity=limit
    )


def written_as(value: Any, limit: Quantity) -> Any:
    """A value as one would write it, `10 Mbit/s`, that reads back to the same number."""
    if isinstance(value, Distribution):
        return limit.show(value)
    unit = FRACTION if limit.dimension is units.FRACTION else limit.dimension.unit
    text = scales.say(value, unit, 6).replace("\N{NARROW NO-BREAK SPACE}", "")
    try:
        if math.isfinite(value) and units.parse(text, limit.dimension) == value:
            return text
    except InputError:
        pass
    return limit.show(value)


def _words(base: Scenario, full: str) -> list[Any]:
    """What may stand in a field that is no number."""
    above, _, last = full.rpartition(".")
    owner = fields.value(base, above) if above else base
    if last == "protocol":
        return list(allowed(base.network))
    if last == "congestion_control":
        return list(NAMES)
    if not isinstance(owner, Record) or last not in type(owner).model_fields:
        return []
    return _literals(type(owner).model_fields[last].annotation)


def _literals(annotation: Any) -> list[Any]:
    if annotation is bool:
        return [True, False]
    if typing.get_origin(annotation) is typing.Literal:
        return list(typing.get_args(annotation))
    return [word for part in typing.get_args(annotation) for word in _literals(part)]


def _menu(document: Document, name: str, label: str, words: Sequence[Any], own: Any) -> Control | None:
    fits = [word for word in words if word == own or _fits(document, name, word)]
    texts = tuple(("no", "yes")[word] if isinstance(word, bool) else str(word) for word in fits)
    return Control(name, label, tuple(fits), texts, tuple(fits), fits.index(own), menu=True)


def _fits(document: Document, name: str, word: Any) -> bool:
    try:
        scenario_in(document, values={name: word})
    except InputError:
        return False
    return True


def _asked(document: Document, base: Scenario, name: str, spec: Movable) -> Control:
    """A control that `live` names.  Raises InputError with the line."""
    try:
        return _of_spec(document, base, name, spec)
    except InputError as error:
        raise InputError(f"{document.where(('live', name))}: live.{name}: {error}") from None


def _of_spec(document: Document, base: Scenario, name: str, spec: Movable) -> Control:
    full = full_names(expanded(document.data), name)[0]
    own, limit = fields.value(base, full), fields.quantity(base, full)
    label = scales.name_of(full, base) if "." in full else full.replace("_", " ")
    if limit is None or spec.values is not None:
        words = list(spec.values or _words(base, full))
        if limit is None:
            made = _menu(document, name, label, [*dict.fromkeys([own, *words])], own)
            if made is None or set(map(str, words)) - set(map(str, made.places)):
                known = ", ".join(map(str, made.places if made else ()))
                raise InputError(f"has a value that does not fit; those that do are {known}")
            return replace(made, seen=True)
        given = [limit.validate(value) for value in words]
        numbers = [value for value in given if isinstance(value, float)]
        if len(numbers) < len(given):
            raise InputError("has a distribution among its values; write numbers")
    else:
        numbers = _between([limit.validate(end) for end in (spec.linear or spec.log or [])], spec, limit)
    every: list[Any] = sorted({*numbers})
    if isinstance(own, Distribution):
        every = [own, *every]
    elif own is not None:
        every = sorted({*every, own})
    else:
        raise InputError("is not set in the scenario; write it there, too")
    return replace(slider(name, label, every, own, limit), seen=True)


def _between(ends: Sequence[Any], spec: Movable, limit: Quantity) -> list[float]:
    low, high = ends
    if not isinstance(low, float) or not isinstance(high, float) or not low < high:
        raise InputError("has its ends in falling order; write [lowest, highest]")
    if spec.log is not None:
        if low <= 0:
            raise InputError("starts at 0, where a logarithm has no value; raise the lower end")
        numbers = (
            np.geomspace(low, high, spec.points).tolist() if spec.points else [low, *nice(low, high), high]
        )
    else:
        numbers = np.linspace(low, high, spec.points or POINTS).tolist()
    if limit.whole:
        numbers = [float(round(v)) for v in numbers]
    return [float(f"{v:.6g}") for v in numbers]


def named(known: Sequence[Control], field: str) -> Control:
    """The control of a field.  Raises InputError."""
    for control in known:
        if control.field == field:
            return control
    raise InputError(f"'{field}' does not move on this page; {suggest(field, [c.field for c in known])}")
