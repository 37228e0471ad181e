"""Connection: scheduling of data to subflows, reinjection, and received data."""

from collections.abc import Sequence
from math import ceil

from netcarlo.kernels.base.layout import ENDLESS, NEVER, FurtherSubflows, Out, Subflows
from tests.twins.linux.clocks import MS
from tests.twins.linux.receiver import FIRST, Ack
from tests.twins.mptcp.subflow import Subflow
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet, Path

BURST = 65428
"""Data that one decision assigns [byte]."""
FRAGMENT = 32728
"""Data that the application writes together [byte]."""


class Connection:
    """Both endpoints of a connection over one to four paths."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, paths: Sequence[Path],
        control: str,
    ) -> None:
        self.simulation, self.outcomes, self.p = simulation, outcomes, parameters
        self.subflows = [Subflow(self, path, control) for path in paths]
        # Data packets: the application has written all below `written`; `next` is scheduled next.
        self.acknowledged = self.written = self.given = self.next = 0
        self.timer = Timer(simulation, 10, self.on_timer)
        self.jiffies = 200 * MS // parameters.TICK
        self.joining = False
        self.size = (4 + 16) * 1024  # of a new socket
        self.reinjected = self.stales = self.reordered = 0
        self.in_order: list[int] = []
        self.later: set[int] = set()
        simulation.at(parameters.START, Rank.HOP, self.start)

    def start(self) -> None:
        first = self.subflows[0]
        if first.sender.connected:
            first.sender.begin()
            first.sender.waiting = "new"
            self.begin()
        else:
            first.starts = True
        first.flush()
        self.finish(None, advances=False)

    def begin(self) -> None:
        """The application writes what a new socket has room for."""
        self.subflows[0].usable = True
        self.write()
        self.push()
        self.add_up()

    # The scheduler.

    def limit(self) -> int:
        """Return the end of the data that are written and within the window [packets]."""
        return min(self.written, self.acknowledged + self.p.WINDOW)

    def may_write(self) -> bool:
        """Return whether the application may write: at most two thirds of the send buffer are in use."""
        return self.written < self.p.LIMIT and self.size - self.unacknowledged() >= self.unacknowledged() // 2

    def write(self) -> None:
        """Fill the send buffer."""
        while self.written < self.p.LIMIT and self.unacknowledged() < self.size:
            self.written = min(self.end_of_fragment(self.written), self.p.LIMIT)

    def unacknowledged(self) -> int:
        """Return the data that are written and not acknowledged [byte]."""
        return (self.written - self.acknowledged) * self.p.DATA

    def add_up(self) -> None:
        """Add up the send buffers of the subflows; one without an answer to its SYN has the default size."""
        self.size = 4096 + self.subflows[0].buffer
        for one in self.subflows[1:] if self.joining else ():
            self.size += one.buffer if one.sender.connected else 16 * 1024

    def active(self) -> list[Subflow]:
        for one in self.subflows:
            if one.stale and one.silent_since != one.heard:
                one.stale = False
        return [one for one in self.subflows if one.usable and not one.stale]

    def choose(self) -> Subflow | None:
        """Return the subflow whose queue drains first; a backup only if there is no other one."""
        active = self.active()
        for one in active:
            one.rate = one.rate or one.pacing_rate()
        first = [one for one in active if not one.backup] or active
        ready = [one for one in first if one.rate > 0]
        if not ready:
            return None
        best = min(ready, key=lambda one: (one.queued() * 2**32 // one.rate, one.number))
        return None if best.is_full() else best

    def push(self) -> None:
        """Assign waiting data to subflows."""
        end, given = self.limit(), False
        while self.next < end:
            one = self.choose()
            if one is None:
                break
            burst = min(ceil(BURST / self.p.DATA), self.acknowledged + self.p.WINDOW - self.given)
            if burst > 0:
                sent, queued = burst * self.p.DATA, one.queued()
                one.rate = (one.rate * queued + one.pacing_rate() * sent) // (sent + queued)
            self.give(one, end, burst)
            given = True
        if given and not self.timer.pending:
            self.start_timer()

    def give(self, one: Subflow, end: int, burst: int) -> None:
        """Assign whole fragments to a subflow until the burst is used up or its queue is full."""
        left = burst
        while self.next < end:
            for number in range(self.next, min(self.end_of_fragment(self.next), end)):
                self.append(one, number)
                self.next += 1
                left -= 1
            self.given = max(self.given, self.next)
            if left <= 0 or one.is_full():
                return

    def append(self, one: Subflow, number: int) -> None:
        self.reinjected += number < self.given
        one.append(number)

    def end_of_fragment(self, number: int) -> int:
        size = max((2 * FRAGMENT + self.p.DATA) // (2 * self.p.DATA), 1)
        return (number // size + 1) * size

    # Reinjection.

    def start_timer(self) -> None:
        now = self.simulation.now
        self.timer.start(self.subflows[0].sender.clocks.expiry(now, self.jiffies) - now)

    def on_timer(self) -> None:
        one = self.idle()
        if self.acknowledged < self.given:
            if one is not None:
                end = min(self.end_of_fragment(self.acknowledged), self.given)
                if self.next < self.given:
                    end = min(end, self.next)
                for number in range(self.acknowledged, end):
                    self.append(one, number)
        elif self.next >= self.written:
            self.after(self.subflows[0])
            return
        if not self.timer.pending:
            self.start_timer()
        self.push()
        self.after(self.subflows[0])

    def idle(self) -> Subflow | None:
        """Return an idle subflow; check the others for progress."""
        idle, periods = [], []
        for one in self.subflows:
            if one.usable and one.sender.una < one.sender.end:
                self.ask(one)
                periods.append(one.silent_periods)
            elif one.usable:
                idle.append(one)
        for one in idle:
            if not one.backup:
                return one
        return idle[0] if idle and min(periods, default=2) > 1 else None

    def ask(self, one: Subflow) -> None:
        if one.silent_periods == 0:
            one.silent_since, one.silent_periods = one.heard, 1
        elif one.silent_since != one.heard:
            one.silent_periods, one.stale = 0, False
        else:
            one.silent_periods = min(one.silent_periods + 1, 255)
            if self.p.STALE_LOSS_CNT and one.silent_periods > self.p.STALE_LOSS_CNT and not one.stale:
                self.leave(one)

    def leave(self, one: Subflow) -> None:
        """Reinject all unacknowledged data if another subflow is better."""
        good = max(self.p.STALE_LOSS_CNT - 1, 1)
        if any(other is not one and other.silent_periods < good for other in self.active()):
            one.stale = True
            self.stales += 1
            self.next = self.acknowledged
            self.push()

    # Events at the sender.

    def on_ack(self, one: Subflow, ack: Ack, *, connected: bool) -> None:
        if not connected:
            if one.number > 0:
                one.time_third()
                self.add_up()
                self.push()
            self.after(one, acked=one)
            return
        one.heard = one.sender.jiffies
        data = ack.expected > FIRST or ack.blocks or ack.duplicate is not None
        if one.number == 0 and data and not self.joining:
            self.join()
        if one.number > 0 and not one.usable:
            one.usable = True
            one.third.stop()
        advances = ack.data > self.acknowledged  # type: ignore[attr-defined]
        self.acknowledged = max(self.acknowledged, ack.data)  # type: ignore[attr-defined]
        self.next = max(self.next, self.acknowledged)
        self.push()
        self.after(one, acked=one, advances=advances)

    def join(self) -> None:
        self.joining = True
        for one in self.subflows[1:]:
            if one.sender.connected:
                one.sender.begin()
                one.sender.waiting = "new"
                one.usable = True
                self.add_up()
            else:
                one.starts = True

    def after_timer(self, one: Subflow, *, wakes: bool) -> None:
        if wakes and one.number == 0:
            self.begin()
        self.after(one)

    def after(self, one: Subflow, *, acked: Subflow | None = None, advances: bool = False) -> None:
        """Send what an event on a path permits, first on that path."""
        self.flush(one)
        self.finish(acked, advances=advances, at=one)

    def flush(self, one: Subflow) -> None:
        """Send the held packets of all subflows, first of this one."""
        for each in (one, *(other for other in self.subflows if other is not one)):
            each.flush()

    def finish(self, acked: Subflow | None, *, advances: bool, at: Subflow | None = None) -> None:
        """Adapt the buffers, then let the application write, which an ACK has woken up."""
        writes = self.may_write()
        waits = self.written < self.p.LIMIT  # the application waits for room
        if waits and acked is not None and acked.sender.in_flight() < acked.sender.cwnd:
            before = acked.buffer
            acked.grow_buffer()
            if acked.buffer != before:
                self.add_up()
        self.look_at_timers()
        if advances:
            self.timer.stop()
            if self.acknowledged < self.p.LIMIT:
                self.start_timer()
        if writes:
            self.write()
            self.push()
            self.flush(at or self.subflows[0])
            self.look_at_timers()

    def look_at_timers(self) -> None:
        left = max(one.left(self.simulation.now) for one in self.subflows)
        self.jiffies = left if left > 0 else 200 * MS // self.p.TICK

    # The receiver.

    def count(self, packet: Packet) -> None:
        """Count a data packet that arrives."""
        values, now = self.outcomes.values, self.simulation.now
        if values[Out.LAST_RX] != NEVER:
            values[Out.SILENCE] = max(values[Out.SILENCE], now - values[Out.LAST_RX])
        self.outcomes.arrived(packet, None, now)

    def receive(self, number: int) -> bool:
        """Receive a data packet of a subflow; return whether it is new."""
        if number < len(self.in_order) or number in self.later:
            return False
        self.later.add(number)
        if number > len(self.in_order):
            self.reordered += 1
        while len(self.in_order) in self.later:
            self.later.remove(len(self.in_order))
            self.in_order.append(len(self.in_order))
        if self.p.LIMIT != ENDLESS and len(self.in_order) >= self.p.LIMIT:
            values = self.outcomes.values
            if values[Out.COMPLETED] == NEVER:
                values[Out.COMPLETED] = self.simulation.now
        return True

    def report(self, *, further: bool) -> list[int]:
        """Fill in the outcomes; return those of the subflows, if `further` with columns for four of them."""
        values = self.outcomes.values
        values[Out.IN_ORDER] = len(self.in_order)
        values[Out.DELIVERED] = len(self.in_order) + len(self.later)
        values[Out.ACKED] = self.acknowledged
        found = [0] * (Subflows.COLUMNS + (FurtherSubflows.COLUMNS if further else 0))
        found[Subflows.REINJECTED] = self.reinjected
        found[Subflows.REORDERED] = self.reordered
        found[Subflows.STALE] = self.stales
        for one in self.subflows:
            found[Subflows.DELIVERED + one.number] = one.first_to_bring
        return found
