"""Order of events in the same nanosecond."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tests.twins.path.engine import Rank, Simulation


class Phase(IntEnum):
    """Ranks of the 802.11 twin; the starts of transmissions come after all of these."""

    WARM_UP = 0
    END = 1  # of a transmission; by node
    LEG = 2  # by number
    FLOW = 3  # by number
    OUTAGE = 4
    TIMEOUT = 5  # by node


class Turn(IntEnum):
    """Order among the events of one leg, flow or node."""

    ARRIVAL = -1  # of a flow at its source
    FIRST = 0
    SECOND = 1
    THIRD = 2
    FOURTH = 3


NAV_RESET, ANSWER_MISSING = Turn.FIRST, Turn.SECOND
_OF_TCP = {
    Rank.HOP: Turn.FIRST, Rank.RETRANSMISSION: Turn.SECOND, Rank.PACING: Turn.THIRD,
    Rank.DELAYED_ACK: Turn.FOURTH,
}  # fmt: skip


class Clock(Simulation):
    """View of the simulation for leg, flow or node `number`, whose events have one phase."""

    def __init__(self, simulation: Simulation, phase: Phase, number: int) -> None:
        self._simulation = simulation
        self._phase = phase
        self._number = number

    @property
    def now(self) -> int:  # type: ignore[override]
        return self._simulation.now

    def at(
        self, time: int, rank: int, action: Callable[..., None], *arguments: Any, order: Any = None
    ) -> None:
        """Schedule `action(*arguments)` at `time`; `rank` is a turn, or a rank of the TCPs."""
        place = (self._number, self.turn(rank), self._simulation.next_order())
        self._simulation.at(time, self._phase, action, *arguments, order=place)  # type: ignore[arg-type]

    def turn(self, rank: int) -> int:
        return _OF_TCP[rank] if isinstance(rank, Rank) else Turn(rank)


class SenderClock(Clock):
    """Simulation for the sender of SCTP: its timers in the order of their ranks."""

    def turn(self, rank: int) -> int:
        return Turn.SECOND + rank


class ReceiverClock(Clock):
    """Simulation for the receiver of SCTP, whose timers follow those of the sender."""

    def turn(self, rank: int) -> int:
        return 2 * max(Rank) + rank
