"""Node on the channel: carrier sense, reception, NAV, and responses after a SIFS."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.twins.path.engine import Timer
from tests.twins.path.link import Packet
from tests.twins.wireless.channel import members
from tests.twins.wireless.clock import ANSWER_MISSING, NAV_RESET, Clock, Phase
from tests.twins.wireless.counters import NodeOutcomes
from tests.twins.wireless.frames import Kind, Transmission

if TYPE_CHECKING:
    from netcarlo.kernels.wireless.layout import NodeOut
    from tests.twins.wireless.routes import Route
    from tests.twins.wireless.world import World


class Node:
    """Common parts of the stations of DCF and EDCA."""

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        self.world = world
        self.radio = world.radio
        self.number = number
        self.columns = columns
        self.sense = members(columns.SENSE)
        self.near = members(columns.NEAR)
        self.control = members(columns.CONTROL)
        self.disturb_data = members(columns.DISTURB_DATA)
        self.disturb_control = members(columns.DISTURB_CONTROL)
        self.outcomes = NodeOutcomes()
        self.on_room: dict[int, Callable[[], None]] = {}  # senders held back by a full queue, by flow

        # End times of what keeps it from sending: own reception and transmission, sensed frames, NAV,
        # and waiting for a response.
        self.rx = self.tx = self.quiet = self.nav = self.late = 0

        # Reception.
        self.lock: Transmission | None = None
        self.corrupt = False
        self.disturbed = 0  # duration of the disturbance [ns]
        clock = Clock(world.simulation, Phase.TIMEOUT, number)
        self.nav_of_rts = -1
        self.nav_reset = Timer(clock, NAV_RESET, self._reset_nav)

        # Its own exchange.
        self.planned: tuple[int, Callable[[], Transmission]] | None = None  # start time, and frame
        self.waiting: Transmission | None = None  # the frame to which a response is expected
        self.answer_missing = Timer(clock, ANSWER_MISSING, self._on_timeout)

    def count(self, column: "NodeOut", amount: int = 1) -> None:
        self.outcomes.add(column, amount)

    def disturbs(self, transmission: Transmission) -> set[int]:
        return self.disturb_control if transmission.is_control else self.disturb_data

    def pass_time(self, duration: int) -> None:
        """Account for `duration` [ns] without an event."""
        self.outcomes.pass_time(duration, in_queue=self.in_queue(), senses=self.senses)
        if self.lock is not None:
            others = self.world.channel.sensed(self) - {self.lock.sender}
            if others & self.disturbs(self.lock):
                self.disturbed += duration

    def reset_outcomes(self) -> None:
        """Reset the counters at the end of the warm-up."""
        self.outcomes.reset(in_queue=self.in_queue())

    def columns_out(self) -> list[int]:
        """Return the outcome columns of the node."""
        return self.outcomes.columns(in_queue=self.in_queue())

    @property
    def now(self) -> int:
        return self.world.simulation.now

    @property
    def on_air(self) -> bool:
        return self.number in self.world.channel.on_air

    @property
    def senses(self) -> bool:
        return bool(self.world.channel.sensed(self))

    # Hooks of the stations of DCF and EDCA.

    def in_queue(self) -> int:
        """Return the number of packets in its queues."""
        raise NotImplementedError

    def not_received(self) -> list[Packet]:
        """Return the packets sent by or waiting at this node that no other node has passed on."""
        raise NotImplementedError

    def kept(self) -> list[Packet]:
        """Return the packets in its queues, and those that sender or receiver may still need."""
        raise NotImplementedError

    def entrance(self, route: "Route", hop: int) -> Any:
        """Return the queue, with `is_full`, of the packets that cross hop `hop` of a route."""
        raise NotImplementedError

    def enqueue(self, packet: Packet, route: "Route", hop: int) -> bool:
        """Accept a packet; return False if the queue is full."""
        raise NotImplementedError

    def next_start(self) -> int:
        """Return the time of the next transmission if nothing intervenes."""
        raise NotImplementedError

    def freeze(self, now: int) -> None:
        """Count the elapsed backoff slots when the medium becomes busy."""
        raise NotImplementedError

    def sense_first(self, now: int) -> None:
        """Process the start of transmissions of others on an idle medium."""
        self.freeze(now)

    def transmit(self) -> Transmission:
        """Start a transmission now."""
        raise NotImplementedError

    def sent(self, transmission: Transmission) -> None:
        """Process the end of a transmission."""
        raise NotImplementedError

    def survives_noise(self, transmission: Transmission) -> bool:
        """Return True if at least a part of a data frame to this node survives noise."""
        raise NotImplementedError

    def receive(self, transmission: Transmission) -> None:
        """Process a decoded frame."""
        raise NotImplementedError

    def end_reception(self, *, good: bool) -> None:
        """Set the time from which a frame that it locked on keeps it from sending."""
        raise NotImplementedError

    def forget_reception(self) -> None:
        """Forget failed receptions at the start of a transmission."""
        raise NotImplementedError

    def _failure(self) -> None:
        """Process a missing response."""
        raise NotImplementedError

    def go_down(self) -> None:
        """Discard all packets; receive nothing, and accept none."""
        self.sense = set()
        self.rx = self.tx = self.quiet = self.nav = self.late = 0
        self.lock = self.planned = self.waiting = None
        self.nav_reset.stop()
        self.answer_missing.stop()

    def come_back(self) -> None:
        """Return to the initial state."""
        self.sense = members(self.columns.SENSE)

    # Common parts.

    def plan(self, make: Callable[[], Transmission]) -> None:
        """Plan a transmission after a SIFS."""
        self.planned = self.now + self.radio.SIFS, make

    def wait_for_answer(self, to: Transmission, rate: int) -> None:
        """Wait for the response to a frame, which must start within the timeout at this rate."""
        patience = self.radio.SIFS + self.radio.SLOT + self.world.tables.rates[rate].PREAMBLE
        self.waiting = to
        self.answer_missing.start(patience)
        self.late = self.now + patience

    def listen(self, transmission: Transmission) -> None:
        """Update the NAV from a frame for another node."""
        until = self.now + transmission.announced
        if until <= self.nav:
            return
        self.nav = until
        self.nav_reset.stop()
        if transmission.kind == Kind.RTS:  # the NAV is reset if no frame follows
            self.nav_of_rts = until
            cts = self.world.air.cts(transmission.data_rate)
            self.nav_reset.start(2 * self.radio.SIFS + cts + 2 * self.radio.SLOT)

    def _reset_nav(self) -> None:
        if self.nav == self.nav_of_rts:
            self.nav = self.now

    def is_answered_by(self, kind: Kind, answer: Transmission) -> bool:
        """Return True, and stop waiting, if the station waits for this frame."""
        waiting = self.waiting
        if waiting is None or waiting.kind != kind or waiting.to != answer.sender:
            return False
        self.answer_missing.stop()
        self.late = self.now
        if kind == Kind.RTS:
            self.waiting = None
        return True

    def _on_timeout(self) -> None:
        if self.lock is not None:
            preamble = self.world.tables.rates[self.lock.rate].PREAMBLE
            if self.lock.began <= self.now - preamble:  # this may be the response
                self.answer_missing.start(self.lock.end - self.now)
                return
        self._failure()
