"""Outcomes that each class of flows has: delays, jitter, loss, goodput.

The name of such an outcome is that of the class and its own: `video_delay_p95_s`. `flows` says which classes
there are.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.delays import SHIFT, DelayOut
from netcarlo.kernels.base.layout import FOREVER, NS, P
from netcarlo.networks.outcome import FRACTION, LESS, MORE, SHARE, Outcome
from netcarlo.numerics.arrays import Floats, Ints, divisors
from netcarlo.numerics.histogram import quantiles

QUANTILES = {"delay_p50_s": 0.5, "delay_p95_s": 0.95, "delay_p99_s": 0.99}

_DELAY = "time from first being put out to arrival, of distinct data packets"

KINDS = (
    Outcome("mean_delay_s", LESS, f"mean {_DELAY}", label="mean delay"),
    *(
        Outcome(name, LESS, f"{100 * q:.0f} % quantile of the {_DELAY}, to 1.6 % of it", label=words)
        for (name, q), words in zip(
            QUANTILES.items(), ("median delay", "95 % delay", "99 % delay"), strict=True
        )
    ),
    Outcome("jitter_s", LESS, "mean jitter (RFC 3550)", label="jitter"),
    Outcome("late", LESS, "share of what arrived that was late", SHARE, "late packets", FRACTION),
    Outcome(
        "in_time",
        MORE,
        "share of the distinct data packets sent, lost ones included, that arrived within `late`; packets "
        "still on their way at the end do not count",
        SHARE,
        "packets in time",
        FRACTION,
    ),
    Outcome("loss_ratio", LESS, "share of the data packets put out that were lost", SHARE, "loss", FRACTION),
    Outcome("mean_flow_bps", MORE, "mean goodput of a flow", label="goodput of a flow"),
    Outcome("worst_flow_bps", MORE, "goodput of the flow that gets least", label="worst goodput of a flow"),
)
"""The outcomes that each class has: of class `video` these are `video_mean_delay_s` and so on."""

OF_DELIVERED = ("mean_delay_s", *QUANTILES, "jitter_s", "late")
"""Outcomes that consider delivered packets only, so that losses do not make them worse."""

BOUNDED = ("late", "in_time")
"""Outcomes of classes whose flows have a bound, `late`."""


def of_delivered(name: str) -> str | None:
    """Return the class of an outcome that considers delivered packets only: empty for all flows, None for
    other outcomes."""
    if name in OF_DELIVERED:
        return ""
    found = (name.removesuffix(f"_{kind}") for kind in OF_DELIVERED if name.endswith(f"_{kind}"))
    return next(found, None)


@functools.cache
def outcome(name: str) -> Outcome | None:
    """The outcome of a class that has this name; None if it is the name of none."""
    for kind in KINDS:
        if found := re.fullmatch(rf"([a-z][a-z0-9_]*)_{kind.name}", name):
            meaning, label = f"{kind.meaning}, of {found[1]}", f"{kind.label} of {found[1]}"
            return kind._replace(name=name, meaning=meaning, label=label)
    return None


class Counted(NamedTuple):
    """What flows of rows sent, [n, F] each, as far as outcomes of classes consider it."""

    number: Ints
    """Class of a flow, from 1 on; 0 where it has none."""
    bounded: Any
    """True if packets of the flow can be late."""
    lost: Ints
    """Packets that were lost."""
    settled: Ints
    """Packets that were lost or received."""
    never: Ints
    """Lost packets that are not retransmitted (UDP)."""
    goodput: Any
    """Goodput [bit/s]; NaN for flows that come and go."""


def named(names: Mapping[int, str], table: Ints, flows: Counted) -> dict[str, Any]:
    """Return the outcomes of classes by name, [n] each.

    `names` are those of the classes by place in `table` [n, classes, DelayOut.COLUMNS].
    """
    mine = flows.number[:, None, :] == np.arange(1, table.shape[1] + 1)[:, None]  # [n, classes, F]

    def total(of_flows: Any) -> Any:
        return (mine * of_flows[:, None]).sum(axis=2)

    bounded = (mine & flows.bounded[:, None]).any(axis=(0, 2))
    goodput = np.where(mine, flows.goodput[:, None], np.nan)
    packets, jitter = divisors(table[..., DelayOut.PACKETS]), table[..., DelayOut.JITTER]
    found = {
        "mean_delay_s": (table[..., DelayOut.SUM] + table[..., DelayOut.SUM_HIGH] * 2.0**63) / packets / NS,
        **{
            name: quantiles(table[..., DelayOut.DELAYS :], q) * 2.0**SHIFT / NS
            for name, q in QUANTILES.items()
        },
        "jitter_s": np.where(jitter < 0, np.nan, jitter / packets / NS),  # a fluid has none
        "late": table[..., DelayOut.LATE] / packets,
        "in_time": (table[..., DelayOut.PACKETS] - table[..., DelayOut.LATE])
        / divisors(table[..., DelayOut.PACKETS] + total(flows.never)),
        "loss_ratio": total(flows.lost) / divisors(total(flows.settled)),
        "mean_flow_bps": _over(np.nanmean, goodput),
        "worst_flow_bps": _over(np.nanmin, goodput),
    }
    for name in BOUNDED:
        found[name][:, ~bounded] = np.nan
    return {f"{word}_{name}": values[:, k] for k, word in names.items() for name, values in found.items()}


def named_of_one(
    word: str, table: Ints, rows: Ints, *, lost: Ints, settled: Ints, missing: Ints, goodput: Floats
) -> dict[str, Any]:
    """Return the same of a network with one flow, of class `word`; the other arguments are of rows [n, ...].

    `rows` are the parameters of the flow [n, len(P)]. `missing` is how many distinct packets were sent, have
    not arrived and are not on their way at the end.
    """
    never = np.where(rows[:, P.INTERVAL] > 0, np.maximum(missing, 0), 0)
    each = np.ones_like(lost), rows[:, P.LATE] < FOREVER, lost, settled, never, goodput
    counted = Counted._make(values[:, None] for values in each)
    return named({0: word}, table.reshape(-1, 1, DelayOut.COLUMNS), counted)


def _over(function: Any, values: Floats) -> Floats:
    """A statistic along the last axis of what is not NaN; NaN where all is."""
    found = np.full(values.shape[:-1], np.nan)
    some = ~np.isnan(values).all(axis=-1)
    if some.any():
        found[some] = function(values[some], axis=-1)
    return found
