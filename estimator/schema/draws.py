"""Values of the fields of a scenario for each row, drawn by field name and replication number."""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, STREAM_HOST
from netcarlo.kernels.base.philox import uniforms
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import Number

_EACH = re.compile(r"\.each\.\d+")


def written_name(name: str) -> str:
    """Return the field that a user writes for a drawn field: `hops.0.each.rate` for `hops.0.each.3.rate`."""
    return _EACH.sub(".each", name)


@dataclass
class Draws:
    """Values of fields for the rows [n] of an ensemble, with a record of those that were drawn.

    Fields in `given` have these values instead of those of the scenario; `paths.0.hops.0.each.rate` stands
    for all hops of that item.
    """

    seed: int
    replications: Ints
    topology: Ints
    given: Mapping[str, Floats] = field(default_factory=dict)
    drawn: dict[str, Floats] = field(default_factory=dict)
    converted: dict[str, Any] = field(default_factory=dict)
    """Limits of queues that were converted, by field (`networks.queue_limits.Converted`)."""

    def floats(self, name: str, value: Number | None) -> Floats:
        """Return the values of a field in SI units, float64[n]."""
        known = self._known(name)
        if known is not None:
            return known
        if not isinstance(value, Distribution):
            return np.full(len(self.replications), value)
        self.drawn[name] = value.quantile(self.uniform(name))
        return self.drawn[name]

    def either(self, name: str, value: Number | None, otherwise: Floats) -> Floats:
        """Return the values of an optional field, float64[n]; `otherwise` where it is not given."""
        return otherwise if value is None and self._known(name) is None else self.floats(name, value)

    def _known(self, name: str) -> Floats | None:
        known = self.given.get(name)
        return self.given.get(written_name(name)) if known is None and self.given else known

    def uniform(self, name: str) -> Floats:
        """Return the uniform random numbers of a field, float64[n] in [0, 1)."""
        stream = STREAM_HOST | (zlib.crc32(name.encode()) >> 1)
        return uniforms(self.seed, self.topology, self.replications, stream)

    def whole(self, name: str, value: Number | None, factor: float = 1) -> Ints:
        """Return the values of a field times `factor`, rounded to integers, int64[n]."""
        values = np.rint(self.floats(name, value) * factor)
        if factor == 1 and name in self.drawn:
            self.drawn[name] = values
        return values.astype(np.int64)

    def columns(self, record: Any, at: str) -> dict[Any, Ints]:
        """Return the kernel columns [n] that the fields of a record fill (`record.Record.fills`); `at` is
        the name of the record's field."""
        before = f"{at}." if at else ""
        return {
            column: self.whole(f"{before}{name}", getattr(record, name), factor)
            for name, (column, factor) in record.fills.items()
        }

    def fill(self, table: Ints, record: Any, at: str) -> None:
        """Write the columns of `columns` to a table [n, ...]."""
        for column, values in self.columns(record, at).items():
            table[:, column] = values

    def limit(self, name: str, record: Any, size: Ints) -> Ints:
        """Return the size of a transfer [packets], int64[n], from `packets` or `bytes`; ENDLESS if neither
        is given. `size` [n] is the payload of a packet [byte]."""
        if record.packets is not None:
            return self.whole(f"{name}.packets", record.packets)
        if record.bytes is not None:
            return -(-self.whole(f"{name}.bytes", record.bytes) // size)
        return np.full(len(size), ENDLESS)

    def short(self, name: str, record: Any, size: Ints) -> Ints:
        """Return by how many bytes the last packet of a transfer is shorter than the payload `size`,
        int64[n]."""
        if record.packets is None and record.bytes is not None:
            return -self.whole(f"{name}.bytes", record.bytes) % size
        return np.zeros(len(size), np.int64)

    def room(self, name: str, value: Number | None, *, unlimited: int) -> Ints:
        """Return the values of a counting field, int64[n]; `unlimited` is the value that stands for no
        limit."""
        values = np.rint(self.floats(name, value))
        return np.where(np.isinf(values), unlimited, values).astype(np.int64)
