"""Conversion of queue limits in bytes, times or bandwidth-delay products for the rows of a network.

A limit counts the packet in transmission, too, as `tbf` of Linux counts the packet that waits for its tokens.
A packet is dropped if the limit would be exceeded with it (`bfifo_enqueue` of Linux). If all packets are
equally large, a limit in bytes is therefore one of as many packets as fit into it.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.limit import dimension_of
from netcarlo.schema.quantity import Number, bounds
from netcarlo.schema.units import Dimension

MOST = 65536
"""Maximum number of packets that a queue holds."""
MOST_FRAMES = 4096
"""Maximum number of packets in the queue of a node of an 802.11 network."""
_ROUNDING = 2e-6
"""Relative error of byte times: a limit of exactly ten packets holds ten."""


def check(queues: Iterable[tuple[str, Number]], transport: Any) -> None:
    """Raise InputError with a line for each limit in bytes that can be below a packet of a transport.

    `queues` are names and limits. What depends on rates and round-trip times is checked for the rows.
    """
    parts = (getattr(transport, name, 0.0) for name in ("payload", "header", "chunk_header"))
    packet = sum(bounds(part)[1] for part in parts)
    below = [name for name, limit in queues
             if dimension_of(limit) is units.SIZE and bounds(limit)[0] < packet]  # fmt: skip
    if below:
        raise InputError(*(_too_small(name, int(packet)) for name in below))


class Limit(NamedTuple):
    """Limit of a queue for the rows [n], in the SI unit of a dimension."""

    name: str
    """Field of the limit."""
    values: Floats
    dimension: Dimension
    burst: Any = 0.0
    """Bytes that leave the link at once, from the bucket of a shaper."""

    @property
    def counts_packets(self) -> bool:
        """True if the limit is a number of packets."""
        return self.dimension is units.PACKETS

    def bytes(self, byte_time: Ints, bdp: Floats) -> Floats:
        """Return the limit [byte]; `byte_time` [ns] has BYTE_TIME_BITS fraction bits, `bdp` is in bytes.

        A time is the longest wait at the rate of the link, after the burst, as `latency` of `tbf`.
        """
        if self.dimension is units.TIME:
            time = self.values * NS * 2**BYTE_TIME_BITS
            return np.where(byte_time > 0, self.burst + time / np.maximum(byte_time, 1), 0.0)
        return self.values * bdp if self.dimension is units.BDP else self.values


def drawn(draws: Draws, name: str, value: Number) -> Limit:
    """Return the limit of the field `name`."""
    return Limit(name, draws.floats(name, value), dimension_of(value))


def counted(
    limit: Limit, held: Floats, size: Ints, draws: Draws, *, back: bool = False, most: int = MOST
) -> Ints:  # fmt: skip
    """Return a limit in packets of `size` bytes [n], at least one, from the bytes `held` [n]; 0 is no limit.

    `back` marks the direction of acknowledgements, where limits that are never reached are cut. Raises
    InputError for a limit in bytes that is below a packet, and for one of too many packets.
    """
    if limit.counts_packets:
        values = np.rint(limit.values)
        return np.where(np.isinf(values), 0, values).astype(np.int64)
    if (size == 0).all():
        return np.zeros(len(size), np.int64)
    found = np.floor(held / np.maximum(size, 1) * (1 + _ROUNDING))
    if limit.dimension is units.SIZE and not back and (found < 1).any():
        k = int(np.flatnonzero(found < 1)[0])
        raise _below(limit, int(size[k]))
    if not back and (found > most).any():
        allowed = f"expected 1 to {most} packets"
        raise InputError(f"{limit.name} can be {found.max():.0f} packets; {allowed}; write less")
    found = np.where(size > 0, np.clip(found, 1, most), 0)
    if not back:
        draws.converted[limit.name] = Converted(limit.values, limit.dimension, found, size)
    return found.astype(np.int64)


def of_frames(limit: Limit, size: Ints, draws: Draws) -> Ints:
    """Return the limit of a queue that counts packets [n]; a limit in bytes is one of packets of `size` bytes
    [n]."""
    found = counted(limit, limit.values, size, draws, most=MOST_FRAMES)
    if limit.counts_packets and limit.name in draws.drawn:
        draws.drawn[limit.name] = found.astype(np.float64)
    return found


def byte_limit(limit: Limit, held: Floats, size: Ints, draws: Draws) -> Ints:
    """Return a limit of the bytes `held` [n], which is at least the largest packet, of `size` bytes [n].

    Raises InputError for a limit in bytes that is below a packet.
    """
    if limit.dimension is units.SIZE and (held < size).any():
        k = int(np.flatnonzero(held < size)[0])
        raise _below(limit, int(size[k]))
    found = np.maximum(np.floor(held * (1 + _ROUNDING)), size)
    draws.converted[limit.name] = Converted(limit.values, limit.dimension, found, None)
    return found.astype(np.int64)


def _below(limit: Limit, size: int) -> InputError:
    """Return the error for a limit that drops every packet of `size` bytes."""
    return InputError(_too_small(limit.name, size))


def _too_small(name: str, size: int) -> str:
    return f"{name} can be below a packet of {size} B, which is then dropped; write {size} B or more"


class Converted(NamedTuple):
    """Limit and the packets, or bytes, that it became, for the rows [n]."""

    values: Floats
    dimension: Dimension
    found: Floats
    size: Ints | None
    """Size of a packet [byte]; None if the limit is one of bytes."""
