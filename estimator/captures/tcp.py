"""Hooks of the TCPs of ns-2 (`kernels.tcp`): packets are numbered, and the SYN is packet 0."""

from typing import Any

from netcarlo.captures.record import Block, Hook, Recorder, Segment, key
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.tcp.state import Ack, Tcp


def prepare(recorder: Recorder, function: Any) -> Any:
    """Open a connection."""

    def hook(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
        found = function(p, s, g, limit, phase, flow, free)
        bound = function.__globals__
        recorder.open(
            key(s), p, flow=flow, limit=limit, first=int(bound["kind"].first_of(p)),
            window=int(p[RowP.WINDOW] * p[RowP.DATA]), timestamps=bool(bound["TIMESTAMPS"]),
        )  # fmt: skip
        return found

    return hook


def next_segment(recorder: Recorder, function: Any) -> Any:
    """Record a SYN or a data segment of the sender."""

    def hook(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
        packet = function(p, s, g, now, blocked)
        if packet >= 0:
            c, number = recorder.of(s), int(packet)
            stamps = (int(now // MS), c.recent) if c.timestamps else None
            if number < c.first:
                c.handshake = True
                content = Segment(0, 0, 0, "S", c.window, timestamps=stamps)
            else:
                flags = "FPA" if number == s[Tcp.LAST_PACKET] else "A"
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
        content = c.contents[False, int(ack_id)]
        assert isinstance(content, Segment)
        if c.handshake and c.first == 1 and content.acknowledgement == 1:  # an implicit ACK has no own number
            content = content._replace(flags="SA" if s[Tcp.HIGHEST_ACK] < 0 else "A")
            content = content._replace(sequence=0 if content.flags == "SA" else 1)
        if content.timestamps:
            c.recent = max(c.recent, content.timestamps[0])
        recorder.arrived_as(c, now, content, forward=False)
        function(p, s, g, constants, now, ack_id)

    return hook


def on_data(recorder: Recorder, function: Any) -> Any:
    """Record a segment that arrives at the receiver."""

    def hook(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
        c = recorder.of(s)
        c.now, c.syn = int(t), int(packet) < c.first
        recorder.arrived(c, t, forward=True, number=packet)
        return function(p, s, t, packet, more)

    return hook


def on_delay(recorder: Recorder, function: Any) -> Any:
    """Record the time at which the timer of the receiver expires."""

    def hook(p: Any, s: Any) -> Any:
        c = recorder.of(s)
        c.now, c.syn = int(s[Tcp.DELACK_EXPIRY]), False
        return function(p, s)

    return hook


def acknowledge(recorder: Recorder, function: Any) -> Any:
    """Record an ACK of the receiver."""

    def hook(p: Any, s: Any, packet: Any) -> Any:
        ack_id = function(p, s, packet)
        if ack_id < 0:
            return ack_id
        c, bound = recorder.of(s), function.__globals__
        blocks: tuple[Block, ...] = ()
        stamps = None
        if bound["ACKS_ARE_IMPLICIT"]:
            missing = int(ack_id)
        else:
            at = bound["ack_at"](p, s, ack_id)
            missing = int(s[at + Ack.CUMULATIVE]) + 1
            c.sack = bool(bound["kind"].sack_of(p))
            blocks = c.blocks(s[at + Ack.SACK_BLOCK :], s[at + Ack.SACK_COUNT])
            if c.timestamps:
                stamps = c.now // MS, int(s[at + Ack.TIMESTAMP]) // MS
        content = Segment(
            0 if c.syn else 1, 0, c.sequence(missing), "SA" if c.syn else "A", c.window, blocks, stamps
        )
        recorder.sent(c, c.now, content, forward=False, number=ack_id)
        return ack_id

    return hook


HOOKS: dict[tuple[str, str], Hook] = {
    ("tcp.sender", "prepare"): prepare,
    ("tcp.sender", "next_segment"): next_segment,
    ("tcp.sender", "on_ack"): on_ack,
    ("tcp.acks", "on_data"): on_data,
    ("tcp.acks", "on_delay"): on_delay,
    ("tcp.acks", "acknowledge"): acknowledge,
}
"""Hooks by the module and name of the function."""
