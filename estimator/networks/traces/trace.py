"""Trace of a hop: its rate, delay and loss over time, or the times at which packets may leave."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Ints
from netcarlo.schema import units

MAX_LINES = 1 << 18
"""Maximum number of steps of a trace; in Mahimahi's format, of different milliseconds."""

PACKET = 1500
"""Size of a delivery opportunity in a Mahimahi trace [byte]."""


UNITS = {"time": units.TIME, "rate": units.RATE, "delay": units.TIME, "loss": units.FRACTION}
"""Columns of a trace and their dimensions."""


@dataclass(frozen=True)
class Trace:
    """Parsed content of a trace, and its text."""

    source: str
    """Text that was read, or empty if the trace is an import, whose text is that of `text_of`."""
    times_s: tuple[float, ...] = field(repr=False)
    """Times at which steps begin, or packets may leave [s]."""
    end_s: float = field(repr=False)
    columns: Mapping[str, tuple[float, ...]] = field(repr=False, hash=False)
    """Values of each step in SI units, by column."""
    packets: Ints | None = field(default=None, repr=False, compare=False)
    """Number of packets that may leave at each time; None without Mahimahi's format."""
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Parts of a sentence on how rows of the file were interpreted, such as missing values."""

    @functools.cached_property
    def text(self) -> str:
        """Text from which `read.parse` makes an equal trace."""
        return self.source or text_of(self.times_s, self.columns, self.end_s)

    @property
    def members(self) -> tuple["Trace", ...]:
        """Tuple of this trace alone, as `Traces.members`."""
        return (self,)

    def mean(self, column: str) -> float | None:
        """Return the time average of a column in SI units; None if the trace does not have it."""
        if self.packets is not None:
            return float(8 * PACKET * self.packets.sum() / self.end_s) if column == "rate" else None
        if column not in self.columns:
            return None
        lengths = np.diff([*self.times_s, self.end_s])
        return float((lengths * self.columns[column]).sum() / self.end_s)

    def summary(self) -> str:
        """Return a summary of the trace: steps, span, mean and maximum of its columns, and time at rate 0."""
        span, rate = f"over {self.end_s:.6g} s", _rate(self.mean("rate") or 0)
        if self.packets is not None:
            most = f", {8e-6 * PACKET * self.packets_in_a_second():.4g} Mbit/s at most in a second"
            text = f"{int(self.packets.sum())} packets of {PACKET} B {span}; rate {rate} on average"
            return text + most * (self.end_s > 1)
        parts = [f"{len(self.times_s)} steps {span}"]
        lengths = np.diff([*self.times_s, self.end_s])
        if "rate" in self.columns:
            rates = np.array(self.columns["rate"])
            silent = lengths[rates == 0].sum() / self.end_s
            parts.append(
                f"rate {rate} on average, {_rate(rates.max())} at most, 0 in {100 * silent:.3g} % of the time"
            )
        if "delay" in self.columns:
            delays = self.columns["delay"]
            parts.append(f"delay {1e3 * min(delays):.4g} to {1e3 * max(delays):.4g} ms")
        if "loss" in self.columns:
            parts.append(f"loss {100 * (self.mean('loss') or 0):.3g} % on average")
        return "; ".join(parts)

    def packets_in_a_second(self) -> int:
        """Return the maximum number of packets that may leave from one of the times within a second."""
        if self.packets is None:
            return 0
        at = np.array(self.times_s)
        total = np.concatenate([[0], np.cumsum(self.packets)])
        return int((total[np.searchsorted(at, at + 1.0)] - total[:-1]).max())

    def written(self) -> Any:
        """Return the trace as YAML data."""
        return self.text


@dataclass(frozen=True)
class Traces:
    """Several traces with the same columns; each replication draws one, all equally likely."""

    members: tuple[Trace, ...]
    """The traces."""

    @property
    def end_s(self) -> float:
        """End of the shortest trace [s]."""
        return min(one.end_s for one in self.members)

    def mean(self, column: str) -> float | None:
        """Return the mean of the time averages of a column in SI units; None if the traces do not have it."""
        means = [one.mean(column) for one in self.members]
        return None if None in means else float(np.mean([mean or 0.0 for mean in means]))

    def written(self) -> Any:
        """Return the traces as YAML data."""
        return {"choice": [one.text for one in self.members]}


def text_of(times: Sequence[float], columns: Mapping[str, Sequence[float]], end: float) -> str:
    """Return the text of a trace in SI units, which is read back to the same numbers."""
    names = ["time", *columns]
    texts = [
        [units.show(value, UNITS[name]) for value in of]
        for name, of in zip(names, (times, *columns.values()), strict=True)
    ]
    rows = [",".join(row) for row in zip(*texts, strict=True)]
    return "\n".join([",".join(names), *rows, units.show(end, units.TIME), ""])


def check_end(given: Trace | Traces | None, repeat: bool | None, name: str, duration_s: float) -> None:
    """Raise InputError if a run lasts longer than its trace, which does not repeat."""
    if given is not None and not repeat and given.end_s < duration_s:
        ends = f"ends at {units.show(given.end_s, units.TIME)}, before duration"
        raise InputError(f"{name} {ends}; write repeat: true, or shorten duration")


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.4g} Mbit/s" if rate >= 1e5 else f"{rate / 1e3:.4g} kbit/s"
