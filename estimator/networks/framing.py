"""Bytes that a link adds to packets, as users write them, and the names of common links.

Sources of the numbers: IEEE 802.3 (38 B of preamble, header, FCS and gap, frames of 64 B at least), RFC 2516
(PPPoE, 8 B), and the keywords of tc-cake(8) for DOCSIS and ATM.
"""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import model_validator

from netcarlo.kernels.base.varying.framing import CELL, CELL_PAYLOAD
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.record import Record

Bytes = Annotated[Number, Quantity(units.SIZE, 0, 1024, whole=True)]

LINKS: dict[str, dict[str, str]] = {
    "ethernet": {"overhead": "38 B", "mpu": "84 B"},
    "vlan": {"overhead": "42 B", "mpu": "88 B"},
    "pppoe": {"overhead": "46 B", "mpu": "84 B"},
    "pppoe_vlan": {"overhead": "50 B", "mpu": "88 B"},
    "docsis": {"overhead": "18 B", "mpu": "64 B"},
    "pppoa": {"overhead": "10 B", "cells": "atm"},
    "pppoe_atm": {"overhead": "40 B", "cells": "atm"},
}
"""Values of the fields for each name that `overhead` accepts."""


class Framed(Record):
    """Framing of a link: `overhead` is added to each packet, and the sum is at least `mpu`.

    With `cells: atm` the link then carries it in cells of 53 bytes with 48 bytes of payload each.
    """

    overhead: Bytes | None = None
    """Number of bytes that the link adds to each packet; or the name of a link, which also sets `mpu` and
    `cells`. Default: none."""
    mpu: Bytes | None = None
    """Smallest size of a packet with its overhead. Default: none."""
    cells: Literal["atm"] | None = None
    """Cells in which packets are carried. Default: none."""

    names: ClassVar = tuple(LINKS)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(name := data.get("overhead"), str) and name in LINKS:
            given = {key: value for key, value in data.items() if value is not None and key != "overhead"}
            return LINKS[name] | given
        return data

    @property
    def is_framed(self) -> bool:
        """True if the link adds bytes to packets."""
        return any(value is not None for value in (self.overhead, self.mpu, self.cells))


class Framing(NamedTuple):
    """Framing of a link for the rows [n]."""

    overhead: Ints
    mpu: Ints
    cells: bool

    def on_line(self, size: Ints) -> Ints:
        """Return the bytes [n] that packets of `size` bytes take, as `kernels.base.varying.framing`."""
        size = np.maximum(size + self.overhead, self.mpu)
        return -(-size // CELL_PAYLOAD) * CELL if self.cells else size

    def share(self, size: Ints) -> Floats:
        """Return the bytes on the line per byte of a packet [n]; 1 if `size` is 0."""
        return np.where(size > 0, self.on_line(size) / np.maximum(size, 1), 1.0)


def framing(of: Framed, name: str, draws: Draws, *, otherwise: Framed | None = None) -> Framing:
    """Return the framing of the link `name`; fields that it does not have are those of `otherwise`."""

    def whole(field: str) -> Ints:
        value, at = getattr(of, field), name
        if value is None and otherwise is not None:
            value, at = getattr(otherwise, field), name.removesuffix(".reverse")
        return draws.whole(f"{at}.{field}", value if value is not None else 0.0)

    cells = of.cells or (otherwise.cells if otherwise is not None else None)
    return Framing(whole("overhead"), whole("mpu"), cells is not None)
