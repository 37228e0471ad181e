"""Order of events in the same nanosecond.

Events are ordered by phase, then by number. Bits 11 to 20 of the time flip ten bits of the number, so that no
flow or link is always first.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tests.twins.path.engine import Rank, Simulation


class Phase(IntEnum):
    """Kind of an event."""

    CLOCK = 0  # the end of the warm-up, samples
    SINK = 1  # data reaches the receiver
    SOURCE = 2  # data reaches its first link
    BACK = 3  # an acknowledgement reaches its first link
    HOST = 4  # the hosts of a flow act
    LINK = 5  # a packet reaches the far end of a link
    ARRIVAL = 6  # a flow arrives


class Turn(IntEnum):
    """Order among the actions of a flow's hosts."""

    START = 0  # or a datagram
    ACK = 1
    TIMEOUT = 2
    PACING = 3
    DELAYED_ACK = 4


_OF_TCP = {
    Rank.RETRANSMISSION: Turn.TIMEOUT, Rank.PACING: Turn.PACING, Rank.DELAYED_ACK: Turn.DELAYED_ACK
}  # fmt: skip


class Agenda(Simulation):
    """The simulation with events in the order of phase, number and turn."""

    def plan(
        self,
        time: int,
        phase: Phase,
        number: int,
        action: Callable[..., None],
        *arguments: Any,
        turn: int = 0,
    ) -> None:
        place: Any = (number ^ (time >> 11 & 1023), turn, self.next_order())
        self.at(time, phase, action, *arguments, order=place)


class HostClock(Simulation):
    """View of the agenda for the TCP of flow `number`."""

    def __init__(self, agenda: Agenda, number: int) -> None:
        self.agenda = agenda
        self.number = number

    @property
    def now(self) -> int:  # type: ignore[override]
        return self.agenda.now

    def at(
        self, time: int, rank: int, action: Callable[..., None], *arguments: Any, order: Any = None
    ) -> None:
        self.agenda.plan(time, Phase.HOST, self.number, action, *arguments, turn=self.turn(rank))

    def turn(self, rank: int) -> int:
        return _OF_TCP[Rank(rank)]


class SenderClock(HostClock):
    """Agenda for the sender of SCTP: its timers in the order of their ranks."""

    def turn(self, rank: int) -> int:
        return Turn.TIMEOUT + rank


class ReceiverClock(HostClock):
    """Agenda for the receiver of SCTP, whose timers follow those of the sender."""

    def turn(self, rank: int) -> int:
        return 2 * max(Rank) + rank
