"""Hooks of UDP: a transport in radio networks, and part of the engines of paths and shared links."""

from typing import Any

from netcarlo.captures.record import Datagram, Hook, Recorder, key
from netcarlo.kernels.base.layout import EVENT_RECEIVE, EVENT_SEND
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import packet as packets
from netcarlo.kernels.shared.event_log import AT_HOST
from netcarlo.kernels.shared.layout import Flow
from netcarlo.kernels.shared.state import block_of


def prepare(recorder: Recorder, function: Any) -> Any:
    """Open a stream of datagrams."""

    def hook(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
        recorder.open(key(s), p, flow=flow, limit=limit)
        return function(p, s, g, limit, phase, flow, free)

    return hook


def next_segment(recorder: Recorder, function: Any) -> Any:
    """Record a datagram of the sender."""

    def hook(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
        number = function(p, s, g, now, blocked)
        if number >= 0:
            c = recorder.of(s)
            recorder.sent(c, now, Datagram(c.payload(int(number))), forward=True, number=number)
        return number

    return hook


def on_data(recorder: Recorder, function: Any) -> Any:
    """Record a datagram that arrives at the receiver."""

    def hook(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
        recorder.arrived(recorder.of(s), t, forward=True, number=packet)
        return function(p, s, t, packet, more)

    return hook


def note(recorder: Recorder, function: Any) -> Any:
    """Record a datagram of the engine of paths, which writes it to its trace."""

    def hook(trace: Any, n: Any, t: Any, event: Any, packet: Any) -> Any:
        p = recorder.parameters
        c = recorder.known("path") or recorder.open("path", p, flow=0, limit=p[RowP.LIMIT])
        content = Datagram(c.payload(int(packet)))
        if event == EVENT_SEND:
            recorder.sent(c, t, content, forward=True, number=packet)
        elif event == EVENT_RECEIVE:
            recorder.arrived_as(c, t, content, forward=True)
        return function(trace, n, t, event, packet)

    return hook


def log(recorder: Recorder, function: Any) -> Any:
    """Record a datagram of the engine of shared links, which writes it to its event log."""

    def hook(m: Any, t: Any, event: Any, link: Any, word: Any, size: Any, down: Any) -> None:
        i = packets.flow_of(m, word)
        p = m[block_of(m, i) :]
        if link == AT_HOST and p[Flow.KIND] == UDP and event in (EVENT_SEND, EVENT_RECEIVE):
            c = recorder.known(("shared", int(i))) or recorder.open(
                ("shared", int(i)), p, flow=i, limit=p[RowP.LIMIT]
            )
            content = Datagram(c.last if packets.is_short(word) else c.data)
            if event == EVENT_SEND:
                recorder.sent(c, t, content, forward=True, number=0)
            else:
                recorder.arrived_as(c, t, content, forward=True)
        function(m, t, event, link, word, size, down)

    return hook


HOOKS: dict[tuple[str, str], Hook] = {
    ("udp.association", "prepare"): prepare,
    ("udp.association", "next_segment"): next_segment,
    ("udp.association", "on_data"): on_data,
    ("path.engine", "note"): note,
    ("shared.event_log", "log"): log,
}
"""Hooks by the module and name of the function."""
