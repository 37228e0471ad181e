"""What came of flows that come and go: how many, how much, how long they took, by size."""

import numpy as np

from netcarlo.kernels.base.layout import NS, P
from netcarlo.kernels.shared.classes import MEAN_BITS, SIZES, SLOWDOWN_BITS, TIME_SHIFT, ClassOut, SizeOut
from netcarlo.kernels.shared.layout import Flow, FlowOut, LinkOut, Shared, SharedOut, SharedRows, classes
from netcarlo.networks.outcome import FRACTION, LESS, MORE, NEITHER, SHARE, Outcome
from netcarlo.numerics.arrays import Floats, Ints, divisors
from netcarlo.numerics.histogram import quantiles

OF_SIZE = {
    "10kB": "flows of up to 10 kB",
    "100kB": "flows of 10 to 100 kB",
    "1MB": "flows of 100 kB to 1 MB",
    "larger": "flows of more than 1 MB",
}
"""The sizes by which flows are told apart, in the order of `ClassOut.SIZE`."""

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

_OF = "flows that started after the warm-up and arrived in full"


def _of_size(size: str, flows: str) -> list[Outcome]:
    of = f", {flows.removeprefix('flows of ')}" if size else ""
    time, slow = "completion time", "slowdown (completion time over that of an ideal transfer alone)"
    found = [
        Outcome(f"completion_mean{size}_s", LESS, f"mean {time} of {flows}", label=f"mean {time}{of}"),
        Outcome(f"slowdown_mean{size}", LESS, f"mean {slow} of {flows}", label=f"mean slowdown{of}"),
    ]
    for name, q in QUANTILES.items():
        part = f"{100 * q:.0f} % quantile"
        found += [
            Outcome(
                f"completion_{name}{size}_s", LESS, f"{part} of the {time} of {flows}, to 1.6 % of it",
                label=f"{name} of completion times{of}",
            ),
            Outcome(
                f"slowdown_{name}{size}", LESS, f"{part} of the {slow} of {flows}, to 1.6 % of it",
                label=f"{name} of slowdowns{of}",
            ),
        ]  # fmt: skip
    return found


OUTCOMES = (
    Outcome(
        "arrivals", NEITHER, "flows that started after the warm-up, or were refused then",
        label="flows that came",
    ),
    Outcome(
        "blocked_share", LESS, "share of the flows that came and found no free slot", SHARE,
        label="flows refused", unit=FRACTION,
    ),
    Outcome(
        "offered_bps", NEITHER, "payload of flows that came from warm-up to end, over that time",
        label="offered load",
    ),
    Outcome(
        "carried_bps", MORE, "their payload that arrived from warm-up to end, over that time",
        label="carried load",
    ),
    *(
        outcome
        for outcome in _of_size("", _OF)
        if outcome.name not in ("completion_mean_s", "completion_p95_s")  # which finite flows have, too
    ),
    *(outcome for name, flows in OF_SIZE.items() for outcome in _of_size(f"_{name}", flows)),
)  # fmt: skip
"""The outcomes that only networks with such flows have."""


def table(integers: Ints, rows: SharedRows) -> Ints:
    """The outcomes of the classes [n, C, ClassOut.COLUMNS]."""
    at = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS
    end = at + classes(rows) * ClassOut.COLUMNS
    return integers[:, at:end].reshape(len(integers), classes(rows), ClassOut.COLUMNS)


def by_class(integers: Ints, rows: SharedRows) -> dict[str, Ints | Floats]:
    """Outcomes of the classes [n, C] by name, as in `OUTCOMES`; and `arrived` and `active`.

    `arrived` counts the flows that arrived in full after the warm-up, also those that started before, and
    `active` those in progress at the end.
    """
    out = table(integers, rows)
    found = _all(out, _window_s(rows)[:, None])
    found["arrived"], found["active"] = out[:, :, ClassOut.COMPLETED], out[:, :, ClassOut.ACTIVE]
    return found


def named(integers: Ints, rows: SharedRows, useful_bits: Floats) -> dict[str, Ints | Floats]:
    """The outcomes of all classes together by name, [n] each; `useful_bits` [n, F] are those of flows.

    Without classes there are none.
    """
    if classes(rows) == 0:
        return {}
    slots, window_s = rows.flows[:, :, Flow.CLASS] > 0, _window_s(rows)
    found = _all(table(integers, rows).sum(axis=1), window_s)
    found["carried_bps"] = np.where(slots, useful_bits, 0.0).sum(axis=1) / window_s
    return found


def short(integers: Ints, rows: SharedRows) -> Ints:
    """Bytes [n] that acknowledged last packets of flows of classes fall short of whole ones."""
    return np.asarray(table(integers, rows)[:, :, ClassOut.SHORT].sum(axis=1))


def _window_s(rows: SharedRows) -> Floats:
    return divisors(rows.parameters[:, P.END] - rows.parameters[:, Shared.WARM_UP]) / NS


def _all(out: Ints, window_s: Floats) -> dict[str, Ints | Floats]:
    """Of outcomes [..., ClassOut.COLUMNS], of one class or the sums of some."""
    came = out[..., ClassOut.ARRIVALS]
    found: dict[str, Ints | Floats] = {
        "arrivals": came,
        "blocked_share": out[..., ClassOut.BLOCKED] / divisors(came),
        "offered_bps": 8.0 * out[..., ClassOut.OFFERED] / window_s,
    }
    sizes = out[..., ClassOut.SIZE :].reshape(*out.shape[:-1], SIZES, SizeOut.COLUMNS)
    found |= _times("", sizes.sum(axis=-2))
    for k, name in enumerate(OF_SIZE):
        found |= _times(f"_{name}", sizes[..., k, :])
    return found


def _times(size: str, out: Ints) -> dict[str, Ints | Floats]:
    """Of outcomes [..., SizeOut.COLUMNS]."""
    flows = divisors(out[..., SizeOut.FLOWS])
    times, slowdowns = out[..., SizeOut.TIMES : SizeOut.SLOWDOWNS], out[..., SizeOut.SLOWDOWNS :]
    found: dict[str, Ints | Floats] = {
        f"completion_mean{size}_s": out[..., SizeOut.TIME] / flows / NS,
        f"slowdown_mean{size}": out[..., SizeOut.SLOWDOWN] / flows / 2.0**MEAN_BITS,
    }
    for name, q in QUANTILES.items():
        found[f"completion_{name}{size}_s"] = quantiles(times, q) * 2.0**TIME_SHIFT / NS
        found[f"slowdown_{name}{size}"] = quantiles(slowdowns, q) / 2.0**SLOWDOWN_BITS
    return found
