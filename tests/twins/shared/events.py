"""Events of one row as a list, recorded by wrappers of the twin's methods."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_BEGIN,
    EVENT_DROP,
    EVENT_ENTER,
    EVENT_LEAVE,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_RECOVERY,
    EVENT_SEND,
    EVENT_TIMEOUT,
    Out,
)
from netcarlo.kernels.shared.layout import SharedRows
from tests.twins.outcomes import Outcomes
from tests.twins.path.link import Packet
from tests.twins.shared.arrivals import Slot
from tests.twins.shared.flows import Association, Flow
from tests.twins.shared.links import Link, Segment
from tests.twins.shared.managed import ManagedLink
from tests.twins.shared.world import World

CARRIES = {"data": 0, "ack": 1}
OF_SENDER = {Out.TIMEOUTS: EVENT_TIMEOUT, Out.FAST_RETRANSMITS: EVENT_RECOVERY}

Event = tuple[int, int, int, int, int, int]
"""Time [ns], event, flow, content of the packet, link, bytes; -1 for unknown ones."""


def events(rows: SharedRows, *, row: int = 0, alone: str = "") -> "Counter[Event]":
    """Return the events of one row.

    The times of random losses and the departures from queues are not recorded.
    """
    found: list[Event] = []
    sender: list[tuple[int, Outcomes]] = []

    def now() -> int:
        return world.agenda.now

    def carried(packet: Packet) -> int:
        return CARRIES.get(packet.kind, 2)

    def wrap(owner: type, name: str, write: Callable[..., None]) -> Any:
        original = getattr(owner, name)

        def wrapped(self: Any, *arguments: Any, **options: Any) -> Any:
            write(self, *arguments)
            return original(self, *arguments, **options)

        return patch.object(owner, name, wrapped)

    def enters(link: Link, segment: Segment) -> None:
        flow, packet = segment.flow.number, segment.packet
        found.append((now(), EVENT_ENTER, flow, carried(packet), link.number, packet.size))

    def sends(flow: Flow, packet: Packet, **_: Any) -> None:
        found.append((now(), EVENT_SEND, flow.number, carried(packet), -1, packet.size))

    def is_lost(flow: Flow, segment: Segment, cause: str) -> None:
        packet, link = segment.packet, segment.route[segment.hop].number
        dropped = cause == "queue"
        event, time = (EVENT_DROP, now()) if dropped else (EVENT_LOST, -1)
        found.append((time, event, flow.number, carried(packet), link, packet.size))

    def arrives(flow: Flow, segment: Segment) -> None:
        if segment.packet.kind == "data":
            found.append((now(), EVENT_RECEIVE, flow.number, 0, -1, -1))

    def is_heard(flow: Association, segment: Segment) -> None:
        if segment.packet.kind == "ack":
            found.append((now(), EVENT_ACK, flow.number, 1, -1, 0))

    def begins(slot: Slot, size: int, think: int) -> None:
        found.append((now(), EVENT_BEGIN, slot.number, 0, -1, size))

    def counts(outcomes: Outcomes, column: Out, amount: int = 1) -> None:
        if column in OF_SENDER and amount:
            sender.append((len(found), outcomes))
            found.append((now(), OF_SENDER[column], -1, 0, -1, 0))

    with ExitStack() as stack:
        for one in (
            wrap(Link, "enter", enters), wrap(ManagedLink, "enter", enters), wrap(Flow, "transmit", sends),
            wrap(Flow, "lost", is_lost), wrap(Flow, "_arrive", arrives), wrap(Outcomes, "add", counts),
            wrap(Association, "_arrive_back", is_heard), wrap(Slot, "begin", begins),
        ):  # fmt: skip
            stack.enter_context(one)
        world = World(rows, row, alone=alone)
        world.run()
    for place, outcomes in sender:
        found[place] = (*found[place][:2], _owner(world, outcomes), *found[place][3:])
    end = world.tables.p.END
    left = [
        (service.ends, EVENT_LEAVE, -1, -1, link.number, -1)
        for link in world.links
        for service in link.services
        if service.ends <= end
    ]
    return Counter([*found, *left])


def _owner(world: World, outcomes: Outcomes) -> int:
    for flow in world.flows:
        for one in flow.flows if isinstance(flow, Slot) else [flow]:
            if one.outcomes is outcomes:
                return flow.number
    raise LookupError("outcomes of no flow")
