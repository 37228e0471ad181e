"""Values of a scenario's fields over the rows of an ensemble, drawn by field name and replication number."""

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


@dataclass
class Draws:
    """Values of fields over the rows [n]; remembers those that are random.

    `given` fields have the values given; `paths.0.hops.0.each.rate` is that of all of its hops.
    """

    seed: int
    replications: Ints
    topology: Ints
    given: Mapping[str, Floats] = field(default_factory=dict)
    drawn: dict[str, Floats] = field(default_factory=dict)

    def floats(self, name: str, value: Number | None) -> Floats:
        """The values of a field in SI units, float64[n]."""
        known = self._known(name)
        if known is not None:
            return known
        if not isinstance(value, Distribution):
            return np.full(len(self.replications), value)
        self.drawn[name] = value.quantile(self.uniform(name))
        return self.drawn[name]

    def either(self, name: str, value: Number | None, otherwise: Floats) -> Floats:
        """The values of a field that may be left out, float64[n]; `otherwise` then."""
        return otherwise if value is None and self._known(name) is None else self.floats(name, value)

    def _known(self, name: str) -> Floats | None:
        known = self.given.get(name)
        return self.given.get(_EACH.sub(".each", name)) if known is None and self.given else known

    def uniform(self, name: str) -> Floats:
        """The random numbers of a field, float64[n] in [0, 1)."""
        stream = STREAM_HOST | (zlib.crc32(name.encode()) >> 1)
        return uniforms(self.seed, self.topology, self.replications, stream)

    def whole(self, name: str, value: Number | None, factor: float = 1) -> Ints:
        """The values of a field times `factor`, rounded, int64[n]."""
        values = np.rint(self.floats(name, value) * factor)
        if factor == 1 and name in self.drawn:
            self.drawn[name] = values
        return values.astype(np.int64)

    def columns(self, record: Any, at: str) -> dict[Any, Ints]:
        """The columns [n] that a record fills by itself, see `record.Record.fills`; `at`: its own field."""
        before = f"{at}." if at else ""
        return {
            column: self.whole(f"{before}{name}", getattr(record, name), factor)
            for name, (column, factor) in record.fills.items()
        }

    def fill(self, table: Ints, record: Any, at: str) -> None:
        """Fill these columns of a table [n, ...] in."""
        for column, values in self.columns(record, at).items():
            table[:, column] = values

    def limit(self, name: str, record: Any, size: Ints) -> Ints:
        """Packets of a transfer, int64[n], that `packets` or `bytes` may end; `size` [n] is their payload."""
        if record.packets is not None:
            return self.whole(f"{name}.packets", record.packets)
        if record.bytes is not None:
            return -(-self.whole(f"{name}.bytes", record.bytes) // size)
        return np.full(len(size), ENDLESS)

    def short(self, name: str, record: Any, size: Ints) -> Ints:
        """Return the bytes by which the last packet of a transfer falls short of a payload of `size`,
        int64[n]."""
        if record.packets is None and record.bytes is not None:
            return -self.whole(f"{name}.bytes", record.bytes) % size
        return np.zeros(len(size), np.int64)

    def room(self, name: str, value: Number | None, *, unlimited: int) -> Ints:
        """The values of a field that counts something, int64[n]; `unlimited` stands for no limit."""
        values = np.rint(self.floats(name, value))
        return np.where(np.isinf(values), unlimited, values).astype(np.int64)
