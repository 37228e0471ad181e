"""Sliders and menus for the fields of a scenario, each with a list of values.

By default a slider has round values (1, 1.2, 1.5, 2, ... times powers of ten) around the value in the
scenario, and that value itself. `live:` in the file replaces the defaults.
"""

import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcarlo.errors import InputError, suggest
from netcarlo.reports.parts import scales
from netcarlo.scenario import Scenario, scenario_in
from netcarlo.schema import fields, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.document import Document
from netcarlo.schema.movable import Movable
from netcarlo.schema.names import expanded, full_names
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.readable import FRACTION
from netcarlo.schema.record import Record
from netcarlo.transport.capabilities import allowed
from netcarlo.transport.congestion import NAMES

MANTISSAS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
"""Mantissas of round numbers."""
DECADES = 10.0
"""Default range of a slider: from the value divided by this factor to the value times this factor."""
MAX_VISIBLE = 6
"""Number of controls outside the section "More", if the file has no `live:`."""
MAX_INTEGER_STEPS = 100
"""Largest upper end of a slider for integers that has every integer."""
POINTS = 41
"""Default number of values of a linear slider."""
DRAWN = "drawn"
"""Text of the position at which a field has the distribution of the file."""

RUN_FIELDS = ("seed", "replications")
"""Fields that have the same value in both variants."""
FIXED_FIELDS = (  # without a control
    "name",
    "description",
    "topology",
    "precision",
    "sample_interval",
    "fidelity",
    "live",
)


@dataclass(frozen=True)
class Control:
    """Slider or menu of a field."""

    field: str
    """Dotted name of the field, as users write it."""
    label: str
    """Name of the field on the page."""
    places: tuple[Any, ...]
    """Values: numbers in SI units in increasing order, after a distribution if the field has one; or
    words."""
    texts: tuple[str, ...]
    """Text of each value on the page."""
    yaml: tuple[Any, ...]
    """Each value as it is written in a file."""
    start: int
    """Position of the value in the file."""
    menu: bool = False
    """True for a menu, False for a slider."""
    visible: bool = False
    """True if the control is outside the section "More"."""
    quantity: Quantity | None = None
    """Dimension and limits of a number; None for words."""

    def place(self, text: str) -> "tuple[Control, int]":
        """Return the control with the value `text` (as in YAML), and the position of this value.

        A value between the ends of the slider is added to the control. Raises InputError for other values.
        """
        for known in (self.texts, tuple(map(str, self.yaml))):
            if text in known:
                return self, known.index(text)
        if self.menu or self.quantity is None:
            allowed = ", ".join(self.texts)
            raise InputError(f"{self.field} = '{text}' is not allowed; expected one of {allowed}")
        try:
            value = self.quantity.validate(text)
        except InputError as error:
            raise InputError(f"{self.field} = '{text}' {error}") from None
        if value in self.places:
            return self, self.places.index(value)
        first = 1 if isinstance(self.places[0], Distribution) else 0
        numbers = self.places[first:]
        if not isinstance(value, float) or not numbers[0] <= value <= numbers[-1]:
            raise InputError(
                f"{self.field} = '{text}' is outside the range of its slider, {self.texts[first]} to "
                f"{self.texts[-1]}; set another range in the section live: of the file"
            )
        grown = [*self.places[:first], *sorted([*numbers, value])]
        made = slider(self.field, self.label, grown, self.places[self.start], self.quantity)
        return replace(made, visible=self.visible), grown.index(value)


def controls(document: Document, base: Scenario) -> list[Control]:
    """Return the controls of a scenario: those in the section `live`, or of all fields with a default range.

    Controls outside the section "More" come first. Raises InputError.
    """
    if base.live:
        return [_configured_control(document, base, name, spec) for name, spec in base.live.items()]
    data = expanded(document.data)
    found: list[tuple[int, Control]] = []
    for full, value in fields.flat(base):
        if full in FIXED_FIELDS or full.startswith("live."):
            continue
        made = _field_control(document, base, full, value)
        if made is None or len(made.places) < 2:
            continue
        rank = _rank(data, full)
        # A field that the file does not set may follow from others and then cannot be set.
        if rank <= LAST or _is_valid(document, made.field, made.yaml[made.start]):
            found.append((rank, made))
    ordered = sorted(found, key=lambda item: item[0])  # stable: keeps the order of the record
    return [replace(made, visible=rank < LAST and i < MAX_VISIBLE) for i, (rank, made) in enumerate(ordered)]


LAST = 3
"""Rank of fields of the scenario itself, such as `duration`."""


def _rank(data: Mapping[str, Any], full: str) -> int:
    """Return the rank of a field: 0 network, 1 transport, `LAST` scenario; larger if the file does not set
    it."""
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


def _field_control(document: Document, base: Scenario, full: str, value: Any) -> Control | None:
    name, label = (
        short_name(base, full),
        scales.name_of(full, base) if "." in full else full.replace("_", " "),
    )
    limit = fields.quantity(base, full)
    if full in RUN_FIELDS:
        return _run_control(full, value)
    if limit is None:
        words = _choices(base, full)
        return _menu(document, name, label, words, value) if value in words else None
    if isinstance(value, Distribution):
        low, high = value.bounds()
        if not 0 <= low < high < math.inf:
            return None
        between = round_numbers(max(low, high / 1000), high)
        if limit.whole:
            between = (
                [float(v) for v in range(int(low), int(high) + 1)] if high <= MAX_INTEGER_STEPS else between
            )
        numbers = [value, *dict.fromkeys(float(round(v)) if limit.whole else v for v in between)]
        return slider(name, label, numbers, value, limit)
    if not isinstance(value, float):
        return None
    numbers = _around(value, limit, full)
    return slider(name, label, numbers, value, limit) if numbers else None


def _run_control(name: str, value: int) -> Control:
    some = [*range(1, 21)] if name == "seed" else [round(v) for v in round_numbers(10, 100_000)]
    numbers = sorted({*some, value})
    texts = tuple(map(str, numbers))
    whole = Quantity(units.PLAIN, 0 if name == "seed" else 1, 1e7, whole=True, random=False)
    return Control(name, name, tuple(map(float, numbers)), texts, tuple(numbers), numbers.index(value),
                   quantity=whole)  # fmt: skip


def short_name(base: Scenario, full: str) -> str:
    """Return a dotted name as users write it: `hops.0.rate` if the network has one path."""
    return full.removeprefix("paths.0.") if len(base.paths) == 1 else full


def round_numbers(low: float, high: float) -> list[float]:
    """Return the round numbers from `low` to `high`, both above 0."""
    ends = math.floor(math.log10(low)), math.ceil(math.log10(high))
    numbers = [float(f"{m}e{e}") for e in range(ends[0], ends[1] + 1) for m in MANTISSAS]
    return [v for v in numbers if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def _around(value: float, limit: Quantity, full: str) -> list[Any]:
    """Return the default values of a slider around `value`, within its limits; empty if there is no
    default."""
    least, most = limit.low, limit.high
    zero = least == 0
    if math.isinf(value):
        if limit.dimension is not units.PACKETS:
            return []
        return [*round_numbers(10, 10_000), math.inf]
    if value == 0:
        ends = {units.FRACTION: (1e-4, 0.1), units.TIME: (1e-3, 1.0), units.RATE: (1e5, 1e8)}
        if limit.dimension not in ends:
            return []
        found = round_numbers(*ends[limit.dimension])
    elif value < 0:
        return []
    elif limit.dimension is units.FRACTION:
        found = round_numbers(max(value / 100, 1e-7), min(max(10 * value, 0.05), 1.0))
    elif limit.whole and 4 * value <= MAX_INTEGER_STEPS and limit.dimension is not units.SIZE:
        found = [float(v) for v in range(1, max(round(4 * value), 8) + 1)]
    else:
        span = 4.0 if full in ("duration", "warm_up") else DECADES
        found = round_numbers(value / span, value * span)
    if limit.whole:
        found = [float(round(v)) for v in found]
    inside = {v for v in found if max(least, 1e-12) <= v <= most}
    return sorted({*inside, value, *([0.0] if zero and "duration" not in full else [])})


def slider(name: str, label: str, numbers: Sequence[Any], own: Any, limit: Quantity) -> Control:
    """Return a slider with increasing `numbers`, whose value in the file is `own`."""
    written = [written_as(v, limit) for v in numbers]
    texts = tuple(DRAWN if isinstance(v, dict) else str(v) for v in written)
    return Control(
        name, label, tuple(numbers), texts, tuple(written), list(numbers).index(own), quantity=limit
    )


def written_as(value: Any, limit: Quantity) -> Any:
    """Return the YAML text of a value, such as `10 Mbit/s`, that is parsed to exactly the same number."""
    if isinstance(value, Distribution):
        return limit.show(value)
    unit = FRACTION if limit.dimension is units.FRACTION else limit.dimension.unit
    text = scales.say(value, unit, 6).replace(",", "")
    try:
        if math.isfinite(value) and units.parse(text, limit.dimension) == value:
            return text
    except InputError:
        pass
    return limit.show(value)


def _choices(base: Scenario, full: str) -> list[Any]:
    """Return the allowed values of a field that is not a number."""
    above, _, last = full.rpartition(".")
    owner = fields.value(base, above) if above else base
    if last == "protocol":
        return list(allowed(base.network))
    if last == "congestion_control":
        return list(NAMES)
    if not isinstance(owner, Record) or last not in type(owner).model_fields:
        return []
    return _literal_values(type(owner).model_fields[last].annotation)


def _literal_values(annotation: Any) -> list[Any]:
    if annotation is bool:
        return [True, False]
    if typing.get_origin(annotation) is typing.Literal:
        return list(typing.get_args(annotation))
    return [word for part in typing.get_args(annotation) for word in _literal_values(part)]


def _menu(document: Document, name: str, label: str, words: Sequence[Any], own: Any) -> Control | None:
    fits = [word for word in words if word == own or _is_valid(document, name, word)]
    texts = tuple(("no", "yes")[word] if isinstance(word, bool) else str(word) for word in fits)
    return Control(name, label, tuple(fits), texts, tuple(fits), fits.index(own), menu=True)


def _is_valid(document: Document, name: str, word: Any) -> bool:
    try:
        scenario_in(document, values={name: word})
    except InputError:
        return False
    return True


def _configured_control(document: Document, base: Scenario, name: str, spec: Movable) -> Control:
    """Return the control of a field in the section `live`. Raises InputError with the line."""
    try:
        return _spec_control(document, base, name, spec)
    except InputError as error:
        raise InputError(f"{document.where(('live', name))}: live.{name}: {error}") from None


def _spec_control(document: Document, base: Scenario, name: str, spec: Movable) -> Control:
    full = full_names(expanded(document.data), name)[0]
    own, limit = fields.value(base, full), fields.quantity(base, full)
    label = scales.name_of(full, base) if "." in full else full.replace("_", " ")
    if limit is None or spec.values is not None:
        words = list(spec.values or _choices(base, full))
        if limit is None:
            made = _menu(document, name, label, [*dict.fromkeys([own, *words])], own)
            if made is None or set(map(str, words)) - set(map(str, made.places)):
                known = ", ".join(map(str, made.places if made else ()))
                raise InputError(f"has a value that is not allowed here; expected {known}")
            return replace(made, visible=True)
        given = [limit.validate(value) for value in words]
        numbers = [value for value in given if isinstance(value, float)]
        if len(numbers) < len(given):
            raise InputError("values contains a distribution; write numbers")
    else:
        numbers = _between([limit.validate(end) for end in (spec.linear or spec.log or [])], spec, limit)
    every: list[Any] = sorted({*numbers})
    if isinstance(own, Distribution):
        every = [own, *every]
    elif own is not None:
        every = sorted({*every, own})
    else:
        raise InputError("the scenario does not set this field; set it there, too")
    return replace(slider(name, label, every, own, limit), visible=True)


def _between(ends: Sequence[Any], spec: Movable, limit: Quantity) -> list[float]:
    low, high = ends
    if not isinstance(low, float) or not isinstance(high, float) or not low < high:
        raise InputError("values do not increase; write [lowest, highest]")
    if spec.log is not None:
        if low <= 0:
            raise InputError("a logarithmic range cannot start at 0; write a lower end above 0")
        numbers = (
            np.geomspace(low, high, spec.points).tolist()
            if spec.points
            else [low, *round_numbers(low, high), high]
        )
    else:
        numbers = np.linspace(low, high, spec.points or POINTS).tolist()
    if limit.whole:
        numbers = [float(round(v)) for v in numbers]
    return [float(f"{v:.6g}") for v in numbers]


def control_named(known: Sequence[Control], field: str) -> Control:
    """Return the control of a field. Raises InputError."""
    for control in known:
        if control.field == field:
            return control
    raise InputError(f"'{field}' has no control on this page; {suggest(field, [c.field for c in known])}")
