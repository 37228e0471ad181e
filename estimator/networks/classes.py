"""Outcomes of each class of flows: delays, jitter, loss, goodput.

The name of such an outcome is the class followed by its own name: `video_delay_p95_s`. `flows` determines the
classes.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.delays import SHIFT, DelayOut
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.networks.outcome import LESS, MORE, SHARE, Outcome, measured
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors
from netcarlo.numerics.histogram import quantiles
from netcarlo.schema.readable import FRACTION

QUANTILES = {"delay_p50_s": 0.5, "delay_p95_s": 0.95, "delay_p99_s": 0.99}

_DELAY = "time from first transmission to arrival, of distinct data packets"


class Class(NamedTuple):
    """A class of flows in the rows of a network."""

    word: str
    """Name of the class."""
    bounded: bool = True
    """True if one of its flows has a delay limit `late`."""
    lasting: bool = True
    """True if it has flows that last for the whole run, unlike arriving flows."""


class Counted(NamedTuple):
    """Packet counts of the flows of rows, [n, F] each, for the outcomes of classes."""

    number: Ints
    """Number of the class of a flow, from 1; 0 for flows without a class."""
    bounded: Any
    """True if the flow has a delay limit."""
    lost: Ints
    """Number of packets that were lost."""
    settled: Ints
    """Number of packets that were lost or received."""
    never: Ints
    """Number of lost packets that are not retransmitted (UDP)."""
    goodput: Any
    """Goodput [bit/s]; NaN for arriving flows."""


class ClassOutput:
    """Output of a kernel for classes of flows, and derived quantities [n, classes]."""

    def __init__(self, table: Ints, flows: Counted) -> None:
        """Create from `table` with the columns of `DelayOut` [n, classes, columns]."""
        self.table, self.flows = table, flows

    def __getitem__(self, column: DelayOut) -> Ints:
        """Return a column of each class."""
        return self.table[..., column]

    @cached_property
    def mine(self) -> Bools:
        """Mask of the flows of each class [n, classes, F]."""
        return members(self.flows.number, self.table.shape[1])

    def total(self, of_flows: Any) -> Any:
        """Return the sum of an array [n, F] over the flows of each class."""
        return (self.mine * of_flows[:, None]).sum(axis=2)

    @property
    def packets(self) -> Floats:
        """Number of packets that arrived; NaN instead of 0."""
        return divisors(self[DelayOut.PACKETS])

    @property
    def ended(self) -> Ints:
        """Number of packets that arrived, or were lost and are not retransmitted."""
        found: Ints = self[DelayOut.PACKETS] + self.total(self.flows.never)
        return found

    @cached_property
    def goodput(self) -> Floats:
        """Goodput of the flows of each class [n, classes, F] [bit/s]; NaN for other flows."""
        return np.where(self.mine, self.flows.goodput[:, None], np.nan)

    def loss_ratio(self) -> Floats:
        """Return the share of packets that were lost."""
        return np.asarray(self.total(self.flows.lost) / divisors(self.total(self.flows.settled)))


def members(number: Ints, count: int) -> Bools:
    """Return the mask of flows [n, F] by class [n, classes, F], given the class `number` of each flow."""
    return np.asarray(number[:, None, :] == np.arange(1, count + 1)[:, None])


def _quantile(out: ClassOutput, q: float) -> Floats:
    return quantiles(out.table[..., DelayOut.DELAYS :], q) * 2.0**SHIFT / NS


def _jitter_s(out: ClassOutput) -> Floats:
    jitter = out[DelayOut.JITTER]  # NEVER in fluid models
    return np.where(jitter < 0, np.nan, jitter / out.packets / NS)


def _over(function: Any, values: Floats) -> Floats:
    """Return a statistic along the last axis of the values that are not NaN; NaN if all are."""
    found = np.full(values.shape[:-1], np.nan)
    some = ~np.isnan(values).all(axis=-1)
    if some.any():
        found[some] = function(values[some], axis=-1)
    return found


_QUANTILE_LABELS = ("median {} delay", "95 % quantile of the {} delay", "99 % quantile of the {} delay")

CLASS_OUTCOMES = (
    Outcome(
        "mean_delay_s",
        lambda out: (out[DelayOut.SUM] + out[DelayOut.SUM_HIGH] * 2.0**63) / out.packets / NS,
        LESS, f"mean {_DELAY}", label="mean {} delay",
    ),
    *(
        Outcome(
            name, partial(_quantile, q=q), LESS, f"{100 * q:.0f} % quantile of the {_DELAY}, to 1.6 % of it",
            label=words,
        )
        for (name, q), words in zip(
            QUANTILES.items(), _QUANTILE_LABELS, strict=True
        )
    ),
    Outcome("jitter_s", _jitter_s, LESS, "mean jitter (RFC 3550)", label="{} jitter", fluid=False),
    Outcome(
        "late", lambda out: out[DelayOut.LATE] / out.packets, LESS,
        "share of the packets that arrived late", SHARE, "late {} packets", FRACTION,
        when=attrgetter("bounded"),
    ),
    Outcome(
        "in_time",
        lambda out: (out[DelayOut.PACKETS] - out[DelayOut.LATE]) / divisors(out.ended), MORE,
        "share of the distinct data packets sent, lost ones included, that arrived within `late`; "
        "packets in flight at the end do not count", SHARE, "{} packets on time", FRACTION,
        when=attrgetter("bounded"),
    ),
    Outcome(
        "loss_ratio", ClassOutput.loss_ratio, LESS, "share of the data packets sent that were lost", SHARE,
        "{} loss", FRACTION,
    ),
    Outcome(
        "mean_flow_bps", lambda out: _over(np.nanmean, out.goodput), MORE, "mean goodput of a flow",
        label="goodput of a {} flow", when=attrgetter("lasting"),
    ),
    Outcome(
        "worst_flow_bps", lambda out: _over(np.nanmin, out.goodput), MORE,
        "lowest goodput of a flow", label="worst goodput of a {} flow", when=attrgetter("lasting"),
    ),
)  # fmt: skip
"""Outcomes of each class: those of class `video` are named `video_mean_delay_s` and so on, with the class in
their labels."""

OF_DELIVERED = ("mean_delay_s", *QUANTILES, "jitter_s", "late")
"""Outcomes that consider delivered packets only, so that losses do not make them worse."""


def of_delivered(name: str) -> str | None:
    """Return the class of an outcome that considers delivered packets only; empty for all flows, None for
    other outcomes."""
    if name in OF_DELIVERED:
        return ""
    found = (name.removesuffix(f"_{kind}") for kind in OF_DELIVERED if name.endswith(f"_{kind}"))
    return next(found, None)


@functools.cache
def outcome(name: str) -> Outcome | None:
    """Return the outcome of a class with this name; None if no such outcome exists."""
    for kind in CLASS_OUTCOMES:
        if found := re.fullmatch(rf"([a-z][a-z0-9_]*)_{kind.name}", name):
            meaning = f"{kind.meaning}, of {found[1]}"
            return kind._replace(name=name, meaning=meaning, label=kind.label.format(found[1]))
    return None


def named(names: Mapping[int, str], table: Ints, flows: Counted) -> dict[str, Any]:
    """Return the outcomes of classes by name, [n] each.

    `names` are the names of the classes by index in `table` [n, classes, DelayOut.COLUMNS].
    """
    output = ClassOutput(table, flows)
    values = [(kind, kind.column(output)) for kind in CLASS_OUTCOMES if callable(kind.column)]
    found = {}
    for k, one in of_flows(names, flows.number, flows.bounded).items():
        for kind, of_all in values:
            there = kind.when is None or kind.when(one)
            found[f"{one.word}_{kind.name}"] = of_all[:, k] if there else np.full(len(table), np.nan)
    return found


def named_of_one(
    word: str, table: Ints, rows: Ints, *, lost: Ints, settled: Ints, missing: Ints, goodput: Floats
) -> dict[str, Any]:
    """Return the outcomes of the class `word` of a network with one flow; the arguments are of rows [n, ...].

    `rows` are the parameters of the flow [n, len(P)]. `missing` is the number of distinct packets that were
    sent, have not arrived and are not in flight at the end.
    """
    never = np.where(rows[:, UdpP.INTERVAL] > 0, np.maximum(missing, 0), 0)
    each = np.ones_like(lost), rows[:, RowP.LATE] < FOREVER, lost, settled, never, goodput
    counted = Counted._make(values[:, None] for values in each)
    return named({0: word}, table.reshape(-1, 1, DelayOut.COLUMNS), counted)


def of_flows(names: Mapping[int, str], number: Ints, bounded: Any, lasting: Any = True) -> dict[int, Class]:
    """Return the classes by index, of flows [n, F] with these class numbers; `lasting` is false for
    arriving flows."""
    mine = members(number, max(names, default=-1) + 1)
    bounds, lasts = (
        np.any(mine & np.broadcast_to(each, number.shape)[:, None], axis=(0, 2)).tolist()
        for each in (bounded, lasting)
    )
    return {k: Class(word, bounds[k], lasts[k]) for k, word in names.items()}


def of_one(word: str, rows: Ints) -> list[Class]:
    """Return the class of a network with one flow with these parameters [n, len(P)]; none if it is not
    measured."""
    return [Class(word, bounded=bool((rows[:, RowP.LATE] < FOREVER).any()))] if word else []


def measured_of(found: Iterable[Class], *, fluid: bool) -> Iterator[str]:
    """Yield the names of the outcomes of these classes that packet or `fluid` models measure."""
    for one in found:
        yield from (f"{one.word}_{name}" for name in measured(CLASS_OUTCOMES, one, fluid=fluid))
