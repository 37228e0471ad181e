"""Hosts outside the radio: wires, delay elements and slow receivers."""

import math
from typing import Annotated, ClassVar

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless import layout
from netcarlo.schema import units
from netcarlo.schema.quantity import Delay, Interval, Number, Quantity, Rate, Size, Time
from netcarlo.schema.record import Record


class LegSpec(Record):
    """A FIFO server before or after the radio: a wire, a delay element, a slow host.

    A packet takes the transmission time of its size plus `overhead` at `rate`, then `packet_time`, then
    `delay`. With `tick` it leaves at the next tick of a clock. `swing` is the standard deviation of the
    relative service time, drawn every `swing_every`. Packets that find `queue` others are dropped.
    """

    rate: Rate = math.inf
    """Bit rate of the wire."""
    overhead: Size = 0.0
    """Number of bytes added to each packet on the wire."""
    packet_time: Delay = 0.0
    """Service time of a packet, independent of its size."""
    delay: Delay = 0.0
    """Constant delay after the server."""
    tick: Time = 0.0
    """Period of a clock at whose ticks packets leave; 0 means no clock."""
    phase: Time | None = None
    """Phase of that clock at time 0. Default: drawn for each replication."""
    queue: Annotated[Number, Quantity(units.PACKETS, 1, 65536, whole=True)] = 1000.0
    """Queue limit: a packet that finds this many others is dropped."""
    swing: Annotated[Number, Quantity(units.FRACTION, 0.0, 0.2)] = 0.0
    """Standard deviation of the relative service time of the server."""
    swing_every: Interval = 1.0
    """Interval at which the relative service time is drawn."""

    fills: ClassVar = {
        "overhead": (layout.Leg.OVERHEAD, 1),
        "packet_time": (layout.Leg.PACKET_TIME, NS),
        "delay": (layout.Leg.DELAY, NS),
        "tick": (layout.Leg.TICK, NS),
        "queue": (layout.Leg.ROOM, 1),
        "swing": (layout.Leg.SWING, 2**20),
        "swing_every": (layout.Leg.SWING_EVERY, NS),
    }


class Receiver(LegSpec):
    """The receiving host; it takes `ack_time` to create an acknowledgement.

    With `read`, TCP acknowledges what the application has read: at most this many bytes at once, taking
    `read_time` per packet, while no packet is being served (interrupts have priority). A delayed
    acknowledgement waits until a read ends.
    """

    ack_time: Delay = 0.0
    """Time to create an acknowledgement."""
    read: Size | None = None
    """Maximum number of bytes that the application reads at once. Default: it reads all data immediately."""
    read_time: Delay = 0.0
    """Time to read a packet."""
