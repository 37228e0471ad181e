"""Hooks of SCTP (`kernels.sctp`), over one path or two.

A packet is identified by its number in the association (`Packet.ORDER`), which stays with it when its place
in a ring changes.
"""

from typing import Any

from netcarlo.captures.record import Block, Chunk, Connection, Hook, Recorder, key
from netcarlo.kernels.base.layout import PATHS
from netcarlo.kernels.base.parameters import ReliableP, SctpP
from netcarlo.kernels.sctp.association import _timer_at_sink
from netcarlo.kernels.sctp.state import Chunk as Sent
from netcarlo.kernels.sctp.state import Kind, Packet, Way, Word, chunk_at, packet_at, way_at

_RECEIVER = PATHS
"""First way of the receiver."""


def prepare(recorder: Recorder, function: Any) -> Any:
    """Open an association."""

    def hook(p: Any, s: Any, paths: Any, limit: Any, flow: Any) -> None:
        recorder.open(
            key(s), p, flow=flow, limit=limit, first=1, window=int(p[SctpP.RWND]), paths=int(paths), sack=True
        )
        function(p, s, paths, limit, flow)

    return hook


def chunk_of(p: Any, s: Any, connection: Connection, at: Any, path: int) -> Chunk:
    """Return the content of the packet at word `at`, which is about to be sent."""
    kind, number = int(s[at + Packet.KIND]), int(s[at + Packet.NUMBER])
    if kind == Kind.DATA:
        return Chunk(kind, path, number, connection.payload(number))
    if kind in (Kind.INIT, Kind.INIT_ACK):
        return Chunk(kind, path, window=connection.window)
    if kind != Kind.SACK:
        return Chunk(kind, path, number)
    blocks = gap_blocks(p, s, number, int(s[at + Packet.SEEN]))
    reported = int(s[at + Packet.SIZE] - p[ReliableP.ACK]) // max(int(p[ReliableP.SACK_BLOCK]), 1)
    duplicates = (int(s[at + Packet.LATEST]),) * (reported - len(blocks))
    return Chunk(kind, path, number, 0, int(s[at + Packet.ROOM]), blocks, duplicates)


def gap_blocks(p: Any, s: Any, cumulative: int, seen: int) -> tuple[Block, ...]:
    """Return the gap ack blocks of a SACK: chunks above `cumulative` among the first `seen` accepted."""
    if seen == 0:
        return ()
    there = {
        tsn
        for tsn in range(cumulative + 1, int(s[Word.LAST_TSN]) + 1)
        if 0 < s[chunk_at(p, s, tsn) + Sent.ACCEPT_NUMBER] <= seen
    }
    begins = sorted(tsn for tsn in there if tsn - 1 not in there)
    ends = sorted(tsn for tsn in there if tsn + 1 not in there)
    return tuple(zip(begins, ends, strict=True))


def _sent(recorder: Recorder, p: Any, s: Any, time: Any, at: Any, path: int, *, forward: bool) -> None:
    c = recorder.of(s)
    c.handshake = c.handshake or s[at + Packet.KIND] == Kind.INIT
    content = chunk_of(p, s, c, at, path)
    recorder.sent(c, time, content, forward=forward, number=s[at + Packet.ORDER])


def next_segment(recorder: Recorder, function: Any) -> Any:
    """Record a packet of the sender."""

    def hook(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
        number = function(p, s, g, now, blocked)
        if number >= 0:
            _sent(recorder, p, s, now, packet_at(p, s, 0, number), 0, forward=True)
        return number

    return hook


def on_data(recorder: Recorder, function: Any) -> Any:
    """Record the answer of the receiver to a packet."""

    def hook(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
        number, fresh = function(p, s, t, packet, more)
        if number >= 0:
            _sent(recorder, p, s, t, packet_at(p, s, _RECEIVER, number), 0, forward=False)
        return number, fresh

    return hook


def on_delay(recorder: Recorder, function: Any) -> Any:
    """Record a packet that a timer of the receiver sends."""

    def hook(p: Any, s: Any) -> Any:
        t = s[_timer_at_sink(s)]
        number = function(p, s)
        if number >= 0:
            _sent(recorder, p, s, t, packet_at(p, s, _RECEIVER, number), 0, forward=False)
        return number

    return hook


def send_waiting(recorder: Recorder, function: Any) -> Any:
    """Record the packets that an endpoint with several paths sends on one of them."""

    def hook(p: Any, s: Any, outages: Any, losses: Any, rows: Any, now: Any, way: Any) -> None:
        w = way_at(way)
        first = int(s[w + Way.OLDEST] + s[w + Way.FLYING])
        for index in range(first, first + int(s[w + Way.WAITING])):
            at = packet_at(p, s, way, index)
            _sent(recorder, p, s, now, at, int(way) % PATHS, forward=way < _RECEIVER)
        function(p, s, outages, losses, rows, now, way)

    return hook


def at_sender(recorder: Recorder, function: Any) -> Any:
    """Record a packet that arrives at the sender."""
    return _arriving(recorder, function, forward=False)


def at_receiver(recorder: Recorder, function: Any) -> Any:
    """Record a packet that arrives at the receiver."""
    return _arriving(recorder, function, forward=True)


def _arriving(recorder: Recorder, function: Any, *, forward: bool) -> Any:
    def hook(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
        recorder.arrived(recorder.of(s), now, forward=forward, number=s[at + Packet.ORDER])
        function(p, s, now, way, at)

    return hook


HOOKS: dict[tuple[str, str], Hook] = {
    ("sctp.handshake", "prepare"): prepare,
    ("sctp.association", "next_segment"): next_segment,
    ("sctp.association", "on_data"): on_data,
    ("sctp.association", "on_delay"): on_delay,
    ("sctp.ends", "at_sender"): at_sender,
    ("sctp.ends", "at_receiver"): at_receiver,
    ("path.multihomed.engine", "send_waiting"): send_waiting,
}
"""Hooks by the module and name of the function."""
