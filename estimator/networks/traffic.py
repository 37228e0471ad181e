"""Approximate number of packets that a transport sends, and the minimum time of a packet on a link.

Random numbers count with their mean; losses and queues, which reduce the number, are ignored.
"""

from typing import Any

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import Number, bounds

MAX_SENDS = 10
"""Assumed maximum number of transmissions per packet of a transfer."""

NO_TIME = "raise a delay to 1 ns or more, or write a lower rate"
"""Remedy for a path on which a packet takes no time."""


def mean(value: Number) -> float:
    """Return the approximate mean of a number."""
    return value.mean() if isinstance(value, Distribution) else value


def either(value: Number | None, otherwise: Number) -> Number:
    """Return an optional number, or `otherwise` if it is None."""
    return otherwise if value is None else value


def of_association(
    transport: Any, duration: float, rtt_s: float, rate: float, *, fluid: bool, flow: Any = None
) -> float:
    """Return the approximate packets of an association over a path with this RTT and lowest rate; for a
    fluid, steps."""
    size = mean(transport.payload) + mean(transport.header)
    rtt_s = max(rtt_s + 8 * size / rate, 1 / NS)
    if fluid:
        return 2 * duration / rtt_s
    window = 1.0
    if (size_of_buffer := transport.receiver_bytes) is not None:
        window = mean(size_of_buffer) / mean(transport.payload)
    elif (own := transport.given("window")) is not None:
        window = mean(either(getattr(flow, "window", None), own))
    found = duration * min(window / rtt_s, rate / (8 * size))
    if messages := transport.given("messages"):
        packets = mean(messages.size) / mean(transport.payload) + 1
        return min(found, packets * (duration / max(mean(messages.wait), rtt_s) + 1))
    for record in (flow, transport):
        if getattr(record, "packets", None) is not None:
            return min(found, MAX_SENDS * mean(record.packets))
        if getattr(record, "bytes", None) is not None:
            return min(found, MAX_SENDS * (mean(record.bytes) / mean(transport.payload) + 1))
    return found


def datagrams(udp: Any, duration: float) -> float:
    """Return the approximate number of packets of a UDP stream."""
    found = duration * mean(udp.rate) / (8 * mean(udp.payload))
    if udp.packets is not None:
        return min(found, mean(udp.packets))
    if udp.bytes is not None:
        return min(found, mean(udp.bytes) / mean(udp.payload) + 1)
    return found


def whole_ns(time: Number) -> int:
    """Return the minimum of a time [ns]."""
    return round(bounds(time)[0] * NS)


def wire_ns(rate: Number, size: float) -> int:
    """Return the minimum transmission time of `size` bytes at a rate [ns]."""
    byte_time = round(8 * NS * 2**BYTE_TIME_BITS / bounds(rate)[1])
    return int(int(size) * byte_time + (1 << (BYTE_TIME_BITS - 1))) >> BYTE_TIME_BITS
