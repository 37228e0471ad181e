"""Outcomes of arriving flows: number, load, completion times and slowdowns, by size."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from netcarlo.kernels.base.classes import MEAN_BITS, SIZES, SLOWDOWN_BITS, TIME_SHIFT, ClassOut, SizeOut
from netcarlo.kernels.base.layout import NS
from netcarlo.networks.outcome import LESS, MORE, NEITHER, SHARE, By, Otherwise, Outcome, same
from netcarlo.networks.output import Output, by_part
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors
from netcarlo.numerics.histogram import quantiles
from netcarlo.schema.readable import FRACTION

OF_SIZE = {
    "10kB": "flows of up to 10 kB",
    "100kB": "flows of 10 to 100 kB",
    "1MB": "flows of 100 kB to 1 MB",
    "larger": "flows of more than 1 MB",
}
"""Size classes of flows, in the order of `ClassOut.SIZE`."""

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

_OF = "flows that started after the warm-up and arrived in full"

class ArrivalsOutput(Output):
    """Output of a network with arriving flows."""

    @property
    def window_s(self) -> Floats:
        """Time from the end of the warm-up to the end of the run [n] [s]."""
        raise NotImplementedError

    @property
    def carried_bits(self) -> Floats:
        """Payload of arriving flows delivered after the warm-up [n] [bit]."""
        raise NotImplementedError

    def has_arrivals(self) -> Bools:
        """Return True where there are arriving flows [n]."""
        raise NotImplementedError


Function = Callable[[Ints, Floats], Ints | Floats]
"""Function that computes an outcome from columns [..., ClassOut.COLUMNS] of a class, or sums of them, and
the window [s]."""


def _of_all(out: ArrivalsOutput, function: Function) -> Ints | Floats:
    return function(out.table(ClassOut).sum(axis=1), out.window_s)


def _of_each(out: ArrivalsOutput, function: Function) -> Ints | Floats:
    return function(out.table(ClassOut), out.window_s[:, None])


def _outcome(name: str, function: Function, *what: Any, **fields: Any) -> Outcome:
    """Return an outcome of all classes together and of each; `what` are the next fields of `Outcome`."""
    by = By("classes", partial(_of_each, function=function))
    return Outcome(name, partial(_of_all, function=function), *what, **fields)._replace(by=(by,))


def _sizes(out: Ints, size: int | None) -> Ints:
    """Return the columns [..., SizeOut.COLUMNS] of flows of one size, or the sums over all sizes."""
    sizes = out[..., ClassOut.SIZE :].reshape(*out.shape[:-1], SIZES, SizeOut.COLUMNS)
    return np.asarray(sizes.sum(axis=-2) if size is None else sizes[..., size, :])


def _mean(out: Ints, window_s: Floats, *, size: int | None, column: int, unit: float) -> Floats:
    of = _sizes(out, size)
    return np.asarray(of[..., column] / divisors(of[..., SizeOut.FLOWS]) / unit)


def _time(out: Ints, window_s: Floats, *, size: int | None, q: float) -> Floats:
    times = _sizes(out, size)[..., SizeOut.TIMES : SizeOut.SLOWDOWNS]
    return quantiles(times, q) * 2.0**TIME_SHIFT / NS


def _slowdown(out: Ints, window_s: Floats, *, size: int | None, q: float) -> Floats:
    return quantiles(_sizes(out, size)[..., SizeOut.SLOWDOWNS :], q) / 2.0**SLOWDOWN_BITS


def _of_size(size: int | None, end: str, flows: str) -> list[Outcome]:
    """Return the outcomes of flows of one size, or of all sizes, whose names have the suffix `end`."""
    of = f", {flows.removeprefix('flows of ')}" if end else ""
    time, slow = "completion time", "slowdown (completion time over that of an ideal transfer alone)"
    found = [
        _outcome(
            f"completion_mean{end}_s", partial(_mean, size=size, column=SizeOut.TIME, unit=NS), LESS,
            f"mean {time} of {flows}", label=f"mean {time}{of}",
        ),
        _outcome(
            f"slowdown_mean{end}", partial(_mean, size=size, column=SizeOut.SLOWDOWN, unit=2.0**MEAN_BITS),
            LESS, f"mean {slow} of {flows}", label=f"mean slowdown{of}",
        ),
    ]  # fmt: skip
    for name, q in QUANTILES.items():
        part = f"{100 * q:.0f} % quantile"
        found += [
            _outcome(
                f"completion_{name}{end}_s", partial(_time, size=size, q=q), LESS,
                f"{part} of the {time} of {flows}, to 1.6 % of it", label=f"{name} of completion times{of}",
            ),
            _outcome(
                f"slowdown_{name}{end}", partial(_slowdown, size=size, q=q), LESS,
                f"{part} of the {slow} of {flows}, to 1.6 % of it", label=f"{name} of slowdowns{of}",
            ),
        ]  # fmt: skip
    return found


_OF_ALL = {outcome.name: outcome for outcome in _of_size(None, "", _OF)}

MEAN, P95 = _OF_ALL.pop("completion_mean_s"), _OF_ALL.pop("completion_p95_s")
"""Outcomes that finite flows have as well."""

_OUTCOMES = (
    _outcome(
        "arrivals", lambda out, window_s: out[..., ClassOut.ARRIVALS], NEITHER,
        "flows that started or were blocked after the warm-up", label="arrived flows",
    ),
    _outcome(
        "blocked_share",
        lambda out, window_s: out[..., ClassOut.BLOCKED] / divisors(out[..., ClassOut.ARRIVALS]), LESS,
        "share of arriving flows that found no free slot", SHARE, label="blocked flows", unit=FRACTION,
    ),
    _outcome(
        "offered_bps", lambda out, window_s: 8.0 * out[..., ClassOut.OFFERED] / window_s, NEITHER,
        "payload of flows that arrived between warm-up and end, over that time", label="offered load",
    ),
    Outcome(
        "carried_bps",
        lambda out: out.carried_bits / out.window_s, MORE,
        "payload of arriving flows delivered between warm-up and end, over that time", label="carried load",
    ),
    *_OF_ALL.values(),
    *(each for k, (name, flows) in enumerate(OF_SIZE.items()) for each in _of_size(k, f"_{name}", flows)),
    same("arrived", None, by=(By("classes", lambda out: out.table(ClassOut)[:, :, ClassOut.COMPLETED]),)),
    same("active", None, by=(By("classes", lambda out: out.table(ClassOut)[:, :, ClassOut.ACTIVE]),)),
)  # fmt: skip

OUTCOMES = tuple(
    each._replace(when=lambda out: out.has_arrivals(), otherwise=Otherwise.ABSENT) for each in _OUTCOMES
)
"""Outcomes of networks with arriving flows."""


def short(out: ArrivalsOutput) -> Ints:
    """Return by how many bytes the acknowledged last packets of flows of classes are short [n]."""
    return out[ClassOut.SHORT]


def elsewhere() -> tuple[Outcome, ...]:
    """Return the outcomes of networks without ideal transfers, which follow the declarations here."""
    return tuple(
        same(each.name, each.column, by=each.by, when=OUTCOMES[0].when, otherwise=Otherwise.ABSENT)
        for each in (*OUTCOMES, MEAN, P95)
        if "slowdown" not in each.name
    )


def by_class(output: ArrivalsOutput) -> dict[str, Ints | Floats]:
    """Return the outcomes of the classes [n, C] by name.

    `arrived` counts the flows that arrived completely after the warm-up, including those that started before,
    and `active` those in progress at the end.
    """
    return by_part((*OUTCOMES, MEAN, P95), "classes", output)
