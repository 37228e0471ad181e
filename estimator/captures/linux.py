"""Hooks of current Linux (`kernels.linux`): packet 0 is the SYN, 1 the last ACK of the handshake."""

from typing import Any

from netcarlo.captures.record import Hook, Recorder, Segment, key
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux.clocks import timestamp_of
from netcarlo.kernels.linux.state import (
    ACK_OF_SYN,
    FIRST,
    NONE,
    SYN,
    Ack,
    Flag,
    Packet,
    Tcp,
    ack_at,
    packet_at,
)


def prepare(recorder: Recorder, function: Any) -> Any:
    """Open a connection."""

    def hook(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
        recorder.open(
            key(s), p, flow=flow, limit=limit, first=int(FIRST),
            window=int(p[RowP.WINDOW] * p[RowP.DATA]), timestamps=True, sack=True,
        )  # fmt: skip
        return function(p, s, g, limit, phase, flow, free)

    return hook


def next_segment(recorder: Recorder, function: Any) -> Any:
    """Record a packet of the sender."""

    def hook(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
        packet = function(p, s, g, now, blocked)
        if packet >= 0:
            c, number = recorder.of(s), int(packet)
            stamps = int(timestamp_of(s, now)), c.recent
            if number == SYN:
                c.handshake = True
                content = Segment(0, 0, 0, "S", c.window, timestamps=stamps)
            elif number == ACK_OF_SYN:
                content = Segment(1, 0, 1, "A", c.window, timestamps=stamps)
            else:
                pushed = s[packet_at(p, s, packet) + Packet.FLAGS] & Flag.PSH
                flags = "FPA" if number - c.first == c.limit - 1 else "PA" if pushed else "A"
                content = Segment(
                    c.sequence(number), c.payload(number), 1, flags, c.window, timestamps=stamps
                )
            recorder.sent(c, now, content, forward=True, number=number)
        return packet

    return hook


def on_ack(recorder: Recorder, function: Any) -> Any:
    """Record an ACK that arrives at the sender."""

    def hook(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
        c = recorder.of(s)
        content = recorder.arrived(c, now, forward=False, number=ack_id)
        assert isinstance(content, Segment) and content.timestamps
        c.recent = max(c.recent, content.timestamps[0])
        function(p, s, g, constants, now, ack_id)

    return hook


def on_data(recorder: Recorder, function: Any) -> Any:
    """Record a packet that arrives at the receiver, with the timestamp of this copy."""

    def hook(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
        c = recorder.of(s)
        c.now = int(t)
        content = c.contents[True, int(packet)]
        assert isinstance(content, Segment) and content.timestamps
        stamps = int(timestamp_of(s, s[Tcp.RCV_TSVAL])), content.timestamps[1]
        recorder.arrived_as(c, t, content._replace(timestamps=stamps), forward=True)
        return function(p, s, t, packet, more)

    return hook


def on_delay(recorder: Recorder, function: Any) -> Any:
    """Record the time at which the timer of the receiver expires."""

    def hook(p: Any, s: Any) -> Any:
        recorder.of(s).now = int(min(s[Tcp.ACK_DEADLINE], s[Tcp.COMPRESSED_ACK_DEADLINE]))
        return function(p, s)

    return hook


def make_ack(recorder: Recorder, function: Any) -> Any:
    """Record an ACK of the receiver."""

    def hook(p: Any, s: Any) -> Any:
        ack_id = function(p, s)
        if ack_id >= 0:
            c, at = recorder.of(s), ack_at(p, s, ack_id)
            missing, duplicate = int(s[at + Ack.CUMULATIVE]), int(s[at + Ack.DSACK])
            blocks = c.blocks(s[at + Ack.SACK_BLOCKS :], s[at + Ack.NUM_SACKS])
            if duplicate != NONE:
                blocks = (c.sequence(duplicate), c.sequence(duplicate + 1)), *blocks
            syn = missing <= FIRST and not blocks
            stamps = int(timestamp_of(s, c.now)), int(timestamp_of(s, s[at + Ack.TSECR]))
            content = Segment(
                0 if syn else 1, 0, c.sequence(missing), "SA" if syn else "A", c.window, blocks, stamps
            )
            recorder.sent(c, c.now, content, forward=False, number=ack_id)
        return ack_id

    return hook


HOOKS: dict[tuple[str, str], Hook] = {
    ("linux.sender", "prepare"): prepare,
    ("linux.sender", "next_segment"): next_segment,
    ("linux.sender", "on_ack"): on_ack,
    ("linux.receiver", "on_data"): on_data,
    ("linux.receiver", "on_delay"): on_delay,
    ("linux.receiver", "make_ack"): make_ack,
}
"""Hooks by the module and name of the function."""
