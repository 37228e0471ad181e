"""Validated range of each model, and the quantities of a scenario outside it.

`configs/references/validated_ranges.csv` has the lowest and highest value of each quantity over which a model
was compared with a reference: packet models with other simulators and a kernel, fluid models and formulae
with packet models. `python -m tests.campaigns ranges` creates it from the reference files
(docs/validation.md).
"""

import csv
import functools
import importlib.resources
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from netcarlo.networks.extent import Extent, Extents, merged
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.simulation import cautions
from netcarlo.simulation.fidelity import measured

PROTOCOL = "protocol"

RANGE, EDGE = "range", "edge"
"""Use of a row: the validated range, or the errors of short transfers beyond it."""

ANY = "any"
"""Protocol of a row that applies to all protocols without a row of their own for a quantity."""

SLACK = 0.1
"""Tolerance: a value counts as inside up to this share beyond the ends of a range.

Scenarios of references are drawn at random, so the ends are not sharp limits.
"""

NAN = float("nan")

START = "Outside the validated range: "


class Quantity(NamedTuple):
    """A quantity of a scenario: its name in a sentence, its dimension, and which side of a range counts."""

    word: str
    dimension: units.Dimension
    low: bool = True
    """True if values below the range are outside it."""
    high: bool = True
    """True if values above the range are outside it."""
    flag: bool = False
    """True for a feature: 1 in a scenario that has the feature, else 0."""


QUANTITIES = {
    "queue": Quantity("queue", units.PACKETS),
    "loss": Quantity("loss", units.FRACTION, low=False),
    "ack_loss": Quantity("ACK loss", units.FRACTION, low=False),
    "rate": Quantity("rate", units.RATE),
    "rtt": Quantity("propagation RTT", units.TIME),
    "delay": Quantity("delay of a link", units.TIME),
    "hops": Quantity("hops", units.PLAIN, low=False),
    "outage": Quantity("outage", units.TIME, low=False),
    "window": Quantity("packets in flight", units.PLAIN),
    "payload": Quantity("payload", units.SIZE),
    "transfer": Quantity("transfer", units.PACKETS, high=False),
    "flows": Quantity("flows", units.PLAIN, low=False),
    "cables": Quantity("cables", units.PLAIN, low=False),
    "stations": Quantity("stations", units.PLAIN, low=False),
    "phy_rate": Quantity("802.11 rate", units.RATE),
    "frame_error": Quantity("frame error", units.FRACTION, low=False),
    "residual_error": Quantity("residual error", units.FRACTION, low=False),
    "nodes": Quantity("nodes", units.PLAIN),
    "range": Quantity("radio range", units.LENGTH),
    "side": Quantity("side of the area", units.LENGTH),
    "speed": Quantity("node speed", units.SPEED),
    "trace": Quantity("a trace", units.PLAIN, low=False, flag=True),
    "jitter": Quantity("jitter", units.PLAIN, low=False, flag=True),
    "policer": Quantity("a policer", units.PLAIN, low=False, flag=True),
    "overhead": Quantity("overhead", units.SIZE, low=False),
    "mpu": Quantity("mpu", units.SIZE, low=False),
    "cells": Quantity("cells", units.PLAIN, low=False, flag=True),
    "shaper_rate": Quantity("rate of a shaper", units.RATE),
    "shaper_burst": Quantity("burst of a shaper", units.SIZE),
    "shaper_peak": Quantity("peak rate of a shaper", units.RATE),
    "loss_correlation": Quantity("correlation of losses", units.FRACTION, low=False),
    "bursts": Quantity("loss in bursts", units.PLAIN, low=False, flag=True),
    "cross_traffic": Quantity("cross traffic", units.PLAIN, low=False, flag=True),
}
"""Quantities that `Network.compared` may name."""


class Row(NamedTuple):
    """Row of the file: range of a quantity over which a model was compared with a reference."""

    fidelity: str
    network: str
    protocol: str
    quantity: str
    low: float
    high: float
    use: str
    """RANGE or EDGE."""
    source: str
    """Description of the comparison of the model with its reference."""
    reference: str
    """The mapping in `configs/references`, or `known_bias` for fluids and formulae, or a page of
    `docs/results`."""
    scenarios: int
    metric: str
    """Measured quantity to which the errors refer: absolute relative errors over these scenarios."""
    median: float
    p90: float
    worst: float


METRICS = {
    "goodput": "goodput", "throughput": "goodput", "completion": "completion times",
    "delivered": "delivered packets", "capacity": "capacity", "loss_share": "lost packets",
}  # fmt: skip
"""Words for a metric of a reference, by a part of its name."""


class Error(NamedTuple):
    """Absolute relative errors of a metric inside the validated range."""

    metric: str
    """A word of METRICS."""
    median: float
    worst: float

    @property
    def text(self) -> str:
        """Metric with its median and its worst error."""
        return f"{self.metric} {_percent(self.median)} and {_percent(self.worst)}"


class Outside(NamedTuple):
    """A quantity of a scenario that leaves the validated range, or a model without one."""

    quantity: str
    """Name in QUANTITIES, or PROTOCOL if the model was not compared with any recorded reference."""
    low: float
    high: float
    """Highest value of the scenario; `low` is the lowest [SI units]."""
    validated_low: float
    validated_high: float
    """Highest value of the validated range; `validated_low` is the lowest [SI units]."""
    source: str
    """References of the model; for PROTOCOL, the protocols without a reference."""
    edges: tuple[str, ...] = ()
    """Errors of short transfers at values of the scenario, as text."""
    network: str = ""
    """Kind of network; for PROTOCOL only."""
    protocols: tuple[str, ...] = ()
    """Protocols that were compared with these references."""
    named: bool = False
    """True if other protocols were compared with other references, so that the text names them."""
    errors: tuple[Error, ...] = ()
    """Errors of these protocols inside the range, one for each metric."""

    @property
    def text(self) -> str:
        """Quantity, its values and the comparison as text."""
        if self.quantity == PROTOCOL:
            return f"no recorded reference of {self.source} over {self.network}"
        limits = span(self.quantity, self.validated_low, self.validated_high)
        value = "" if QUANTITIES[self.quantity].flag else f" {between(self.quantity, self.low, self.high)}"
        who = f"{' and '.join(self.protocols)} " if self.named else ""
        known = "; ".join([f"{who}compared with {self.source} {limits}", *self.edges])
        return f"{QUANTITIES[self.quantity].word}{value} ({known})"

    def record(self) -> dict[str, Any]:
        """Return the quantity, its values and the comparison as data for JSON."""
        numbers = {name: None if value != value else value for name, value in self._asdict().items()}
        lists = {"edges": list(self.edges), "protocols": list(self.protocols)}
        return {**numbers, **lists, "errors": [one._asdict() for one in self.errors], "text": self.text}


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return the rows of the file."""
    file = importlib.resources.files("netcarlo.configs") / "references" / "validated_ranges.csv"
    found = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return tuple(Row(**{name: _read(name, text) for name, text in row.items()}) for row in found)


def outside(scenario: Scenario) -> list[Outside]:
    """Return the quantities of a scenario outside the validated range of its model, each once."""
    network = scenario.network
    compared = network.compared(scenario)
    if scenario.fidelity == "packet":
        name, protocols = compared.network, compared.protocols
    else:
        name, protocol = network.population(scenario)
        protocols = {protocol: merged(compared.protocols.values())}
    return combined(
        [one]
        for protocol, extents in protocols.items()
        for one in _of_protocol(scenario.fidelity, name, protocol, extents)
    )


def combined(scenarios: Iterable[Iterable[Outside]]) -> list[Outside]:
    """Return the quantities outside the range in any of several scenarios, each once for each reference.

    The values are those of all scenarios, the validated range is the intersection of their ranges.
    """
    found: dict[tuple[str, str, str], Outside] = {}
    for one in (one for each in scenarios for one in each):
        key = one.quantity, one.network, "" if one.quantity == PROTOCOL else one.source
        found[key] = _joined(found[key], one) if key in found else one
    several = Counter(one.quantity for one in found.values() if one.quantity != PROTOCOL)
    return [one._replace(named=several[one.quantity] > 1) for one in found.values()]


def _joined(a: Outside, b: Outside) -> Outside:
    if a.quantity == PROTOCOL:
        return a._replace(source=", ".join(dict.fromkeys([*a.source.split(", "), b.source])))
    both = a._replace(
        low=min(a.low, b.low), high=max(a.high, b.high),
        protocols=tuple(dict.fromkeys((*a.protocols, *b.protocols))), errors=_largest((*a.errors, *b.errors)),
    )  # fmt: skip
    low, high = max(a.validated_low, b.validated_low), min(a.validated_high, b.validated_high)
    if low > high:  # the ranges do not overlap
        return both
    edges = tuple(dict.fromkeys((*a.edges, *b.edges)))
    return both._replace(validated_low=low, validated_high=high, edges=edges)


def sentence(scenario: Scenario) -> str:
    """Return one line that names the quantities outside the validated range; empty if there are none."""
    return one_line(outside(scenario))


def one_line(found: Iterable[Outside]) -> str:
    """Return these quantities and the errors inside the range in one line; empty if there are none."""
    return _line([(one.text, one.source, one.errors) for one in found])


def _line(found: Sequence[tuple[str, str, tuple[Error, ...]]]) -> str:
    """Return the line for quantities: the text, the reference and the errors of each."""
    if not found:
        return ""
    errors: dict[str, tuple[Error, ...]] = {}
    for _, source, some in found:
        if some:
            errors[source] = _largest((*errors.get(source, ()), *some))
    quantities = START + ", ".join(dict.fromkeys(text for text, *_ in found))
    if not errors:
        return quantities
    sizes = [f"{', '.join(one.text for one in some)} ({source})" for source, some in errors.items()]
    return f"{quantities}. Deviations inside the range, median and worst: {'; '.join(sizes)}"


def _largest(errors: Iterable[Error]) -> tuple[Error, ...]:
    """Return the largest median and worst error of each metric."""
    found: dict[str, Error] = {}
    for one in errors:
        known = found.get(one.metric, one)
        found[one.metric] = Error(one.metric, max(known.median, one.median), max(known.worst, one.worst))
    return tuple(found.values())


def record(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the quantities outside the validated range as data for JSON, in SI units."""
    return [one.record() for one in outside(scenario)]


def of_record(found: Iterable[dict[str, Any]] | None) -> str:
    """Return the line for data made by `record`, each text once; empty if there are none."""
    return _line([(str(one["text"]), str(one.get("source")), _read_errors(one)) for one in found or []])


def _read_errors(record: dict[str, Any]) -> tuple[Error, ...]:
    """Return the errors in a record; none in records of earlier versions."""
    return tuple(
        Error(str(e["metric"]), float(e["median"]), float(e["worst"])) for e in record.get("errors", [])
    )


def _of_protocol(fidelity: str, network: str, protocol: str, extents: Extents) -> list[Outside]:
    mine = _rows(fidelity, network, protocol)
    if not mine:
        if fidelity != "packet":  # `fidelity.sentence` reports unknown bias
            return []
        called = "your own congestion control" if protocol == "own" else protocol.replace("_", " ")
        return [Outside(PROTOCOL, NAN, NAN, NAN, NAN, called, network=network)]
    found = []
    for name, extent in extents.items():
        about = [row for row in mine if row.quantity == name]
        within = [row for row in about if row.use == RANGE]
        if within and _leaves(name, extent, limits := limits_of(within)):
            sources = " and ".join(dict.fromkeys(row.source for row in within))
            edges = [row for row in about if row.use == EDGE and _towards(row, extent, limits)]
            of = Outside(name, *extent, *limits, sources, tuple(map(errors_outside, edges)))
            found.append(of._replace(protocols=(protocol.replace("_", " "),), errors=_errors(within)))
    return found


def _errors(within: Iterable[Row]) -> tuple[Error, ...]:
    """Return the errors inside a range by metric: the median of the largest reference, the worst of all."""
    found: dict[str, Error] = {}
    for row in sorted(within, key=lambda row: -row.scenarios):
        word = next((word for part, word in METRICS.items() if part in row.metric), row.metric)
        if row.worst == row.worst:  # no number for fluids and formulae, whose bias is said elsewhere
            known = found.get(word, Error(word, row.median, row.worst))
            found[word] = known._replace(worst=max(known.worst, row.worst))
    return tuple(found.values())


@functools.cache
def _rows(fidelity: str, network: str, protocol: str) -> tuple[Row, ...]:
    of = [row for row in rows() if (row.fidelity, row.network) == (fidelity, network)]
    own = [row for row in of if row.protocol == protocol]
    if not own and (fidelity, network, protocol) not in measured():
        return ()
    named = {row.quantity for row in own}
    return (*own, *(row for row in of if row.protocol == ANY and row.quantity not in named))


def limits_of(some: Iterable[Row]) -> Extent:
    """Return the validated range of a quantity from its rows."""
    within = [row for row in some if row.use == RANGE]
    return Extent(min(row.low for row in within), max(row.high for row in within))


def _leaves(name: str, extent: Extent, limits: Extent) -> bool:
    below = QUANTITIES[name].low and extent.low < limits.low * (1 - SLACK)
    above = QUANTITIES[name].high and extent.high > limits.high * (1 + SLACK)
    return below or above


def _towards(row: Row, extent: Extent, limits: Extent) -> bool:
    """Return True if an edge lies at the values of a scenario, or between them and the range."""
    below = extent.low < limits.low and row.low < limits.low and extent.low <= row.high
    above = extent.high > limits.high and row.high > limits.high and row.low <= extent.high
    return below or above


def errors_outside(row: Row) -> str:
    """Return the errors of short transfers beyond a range as text."""
    where = between(row.quantity, row.low, row.high)
    off = f"{_percent(row.median)} in the median, {_percent(row.worst)} at worst"
    return f"short transfers at {where}: off by {off}"


def span(name: str, low: float, high: float) -> str:
    """Return a validated range as text: `from 5 to 590 packets`, `up to 3 %`, `only at 0`."""
    side = QUANTITIES[name]
    if not side.low:
        none = "only without it" if side.flag else "only at 0"
        return f"up to {_number(name, high)}" if high > 0 else none
    if not side.high:
        return f"from {_number(name, low)} on"
    return f"from {between(name, low, high)}" if low < high else f"only at {_number(name, low)}"


def between(name: str, low: float, high: float) -> str:
    """Return the values of a quantity as text: `1 packet`, `1 to 30 packets`."""
    first, last = _number(name, low), _number(name, high)
    if first == last:
        return first
    unit = last.rpartition(" ")[2]
    return f"{first.removesuffix(f' {unit}').removesuffix(' packet')} to {last}"


def _number(name: str, value: float) -> str:
    """Return a value with its unit, at most four digits."""
    dimension = QUANTITIES[name].dimension
    if dimension is units.RATE:
        return cautions.rate(value)
    if dimension is units.FRACTION:
        return _percent(value)
    if dimension is units.TIME:
        return f"{1e3 * value:.4g} ms" if value < 1 else f"{value:.4g} s"
    text = f"{round(value):,}" if value >= 1e4 or value == int(value) else f"{value:.4g}"
    unit = "packet" if dimension is units.PACKETS and text == "1" else dimension.unit
    return f"{text} {unit}".strip()


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.3g} %"


def _read(name: str, text: str) -> Any:
    kind = Row.__annotations__[name]
    if kind is float:
        return float(text or "nan")
    return int(text) if kind is int else text
