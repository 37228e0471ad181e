"""Station: its queue and the distributed coordination function (IEEE 802.11, DCF)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.wireless.layout import STREAM_BACKOFF, NodeOut
from tests.twins.path.link import Packet
from tests.twins.wireless.frames import NOBODY, RTS_BYTES, Frame, Kind, Transmission
from tests.twins.wireless.node import Node
from tests.twins.wireless.routes import Route

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Station(Node):
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        self.capacity = columns.QUEUE
        self.queue: list[Frame] = []  # the first one stays until it is acknowledged or given up

        # Backoff.
        self.cw = self.radio.CW_MIN
        self.slots = 0
        self.since = 0  # earliest start of the backoff slots
        self.draws = 0

        # Its own exchange.
        self.announced_by_rts = False  # its data frame
        self.short = self.long = 0  # failures of the first frame in the queue
        self.burst = 0  # frames acknowledged since the access
        gateway = number == world.radio.NODES - 1
        self.burst_length = world.radio.GATEWAY_BURST if gateway else world.radio.BURST

    # Access to the channel.

    def next_start(self) -> int:
        if self.planned is not None:
            return self.planned[0]
        if self.queue and not self.on_air and self.waiting is None and not self.senses:
            return self.countdown_begins() + self.slots * self.radio.SLOT
        return FOREVER

    def countdown_begins(self) -> int:
        base = max(self.rx, max(self.tx, self.quiet, self.nav, self.late) + self.radio.SIFS)
        return max(self.since, base + 2 * self.radio.SLOT)

    def freeze(self, now: int) -> None:
        """Count the elapsed backoff slots."""
        begin = self.countdown_begins()
        if now > begin:
            passed = min(self.slots, (now - begin) // self.radio.SLOT)
            self.slots -= passed
            self.since = begin + passed * self.radio.SLOT

    def draw_backoff(self) -> None:
        word = self.world.streams.block(STREAM_BACKOFF + self.number, self.draws)[0]
        self.draws += 1
        self.slots = word * (self.cw + 1) // 2**32
        self.since = self.now

    # The queue.

    def in_queue(self) -> int:
        return len(self.queue)

    def not_received(self) -> list[Packet]:
        return [frame.packet for frame in self.queue if not frame.received]

    def kept(self) -> list[Packet]:
        return [frame.packet for frame in self.queue]

    def entrance(self, route: Route, hop: int) -> "Station":
        return self

    def is_full(self) -> bool:
        return len(self.queue) >= self.capacity

    def enqueue(self, packet: Packet, route: Route, hop: int) -> bool:
        if self.is_full():
            self.count(NodeOut.DROPS)
            return False
        self.queue.append(Frame(packet, route, hop))
        self.count(NodeOut.QUEUED)
        most = max(self.outcomes.values[NodeOut.QUEUE_MOST], len(self.queue))
        self.outcomes.values[NodeOut.QUEUE_MOST] = most
        if len(self.queue) == 1 and self.waiting is None:
            self._contend()
        return True

    def _contend(self) -> None:
        """Contend for the medium when the queue is no longer empty."""
        if not self.senses and not self.on_air:
            self.freeze(self.now)
        if self.slots == 0:
            if self.senses or self.on_air or self.nav > self.now:
                self.draw_backoff()
            else:
                self.since = max(self.since, self.now + self.radio.SIFS + 2 * self.radio.SLOT)

    def _pop(self) -> None:
        """Remove the first frame of the queue; senders that waited for space continue."""
        del self.queue[0]
        for transmit_pending in self.on_room.values():
            transmit_pending()

    # Failures.

    def go_down(self) -> None:
        for frame in self.queue:
            self.count(NodeOut.DROPS)
            if not frame.received:
                frame.route.lost(frame.packet, "source" if frame.hop == 0 else "relay")
        self.queue.clear()
        self.capacity = 0
        self.cw, self.slots, self.since = self.radio.CW_MIN, 0, 0
        self.short = self.long = self.burst = 0
        super().go_down()

    def come_back(self) -> None:
        super().come_back()
        self.capacity = self.columns.QUEUE
        for transmit_pending in self.on_room.values():
            transmit_pending()

    # Sending.

    def transmit(self) -> Transmission:
        make = self.planned[1] if self.planned is not None else self._first_of_exchange()
        self.planned = None
        transmission = make()
        duration = transmission.end - transmission.began
        self.count(NodeOut.AIR_CONTROL if transmission.is_control else NodeOut.AIR_DATA, duration)
        return transmission

    def _first_of_exchange(self) -> Callable[[], Transmission]:
        size = self.world.air.size_of_data(self.queue[0])
        self.announced_by_rts = size > self.radio.RTS_THRESHOLD
        if self.announced_by_rts:
            return self._rts
        if self.radio.PROTECTION >= 0 and not self.world.tables.rates[self._data_rate()].DSSS:
            return self._cts_to_self
        return self._data

    def _data_rate(self) -> int:
        return self.world.links[self.queue[0].link].control.rate

    def _receiver(self) -> int:
        return int(self.world.tables.links[self.queue[0].link].TO)

    def _on_air(
        self, kind: Kind, to: int, rate: int, data_rate: int, time: int, announced: int,
        frame: Frame | None = None,
    ) -> Transmission:  # fmt: skip
        return Transmission(
            kind, self.number, to, rate, data_rate, self.now, self.now + time, announced, frame
        )

    def _data(self) -> Transmission:
        frame, rate = self.queue[0], self._data_rate()
        if not self.announced_by_rts:
            self.count(NodeOut.ATTEMPTS)
        announced = self.radio.SIFS + self.world.air.answer(rate)
        time = self.world.air.data(frame, rate)
        return self._on_air(Kind.DATA, self._receiver(), rate, rate, time, announced, frame)

    def _next_of_burst(self) -> Transmission:
        self.announced_by_rts = False
        return self._data()

    def _rts(self) -> Transmission:
        self.count(NodeOut.ATTEMPTS)
        air, frame, rate = self.world.air, self.queue[0], self._data_rate()
        announced = 3 * self.radio.SIFS + 2 * air.answer(rate) + air.data(frame, rate)
        own = self.world.tables.rates[rate].ANSWER
        return self._on_air(Kind.RTS, self._receiver(), own, rate, air.of(RTS_BYTES, own), announced)

    def _cts_to_self(self) -> Transmission:
        air, frame, rate = self.world.air, self.queue[0], self._data_rate()
        announced = 2 * self.radio.SIFS + air.data(frame, rate) + air.answer(rate)
        own = self.radio.PROTECTION
        return self._on_air(Kind.SELF, NOBODY, own, rate, air.of(14, own), announced)

    def _ack(self, data: Transmission) -> Transmission:
        own, time = self.world.tables.rates[data.rate].ANSWER, self.world.air.answer(data.rate)
        return self._on_air(Kind.ACK, data.sender, own, data.rate, time, 0)

    def _cts(self, rts: Transmission) -> Transmission:
        own, time = self.world.tables.rates[rts.data_rate].ANSWER, self.world.air.answer(rts.data_rate)
        announced = rts.announced - self.radio.SIFS - time
        return self._on_air(Kind.CTS, rts.sender, own, rts.data_rate, time, announced)

    def sent(self, transmission: Transmission) -> None:
        self.tx = self.now
        if transmission.kind in (Kind.DATA, Kind.RTS):
            self.wait_for_answer(transmission, self.world.tables.rates[transmission.data_rate].ANSWER)
        elif transmission.kind == Kind.SELF:
            self.plan(self._data)

    # Receiving.

    def survives_noise(self, transmission: Transmission) -> bool:
        assert isinstance(transmission.frame, Frame)
        lost = self.world.links[transmission.frame.link].noise_destroys()
        self.count(NodeOut.NOISE, int(lost))
        return not lost

    def end_reception(self, *, good: bool) -> None:
        self.rx = self.now + (self.radio.SIFS if good else self.radio.EIFS - 2 * self.radio.SLOT)

    def forget_reception(self) -> None:
        self.rx = min(self.rx, self.now + self.radio.SIFS)

    def receive(self, transmission: Transmission) -> None:
        if transmission.to != self.number:
            self.listen(transmission)
        elif transmission.kind == Kind.DATA:
            self._take(transmission)
        elif transmission.kind == Kind.RTS:
            if self.nav <= self.now and self.planned is None:
                self.plan(lambda: self._cts(transmission))
        elif transmission.kind == Kind.CTS:
            if self.is_answered_by(Kind.RTS, transmission):
                self.plan(self._data)
        elif self.is_answered_by(Kind.DATA, transmission):
            self._success()

    def _take(self, data: Transmission) -> None:
        if self.planned is None:
            self.plan(lambda: self._ack(data))
        frame = data.frame
        assert isinstance(frame, Frame)
        if frame.received:
            self.count(NodeOut.DUPLICATES)
        else:
            frame.received = True
            self.count(NodeOut.RECEIVED)
            frame.route.cross(frame)

    # The outcome of an exchange.

    def _success(self) -> None:
        assert self.waiting is not None
        self.count(NodeOut.SUCCEEDED)
        link = self.world.links[self.queue[0].link]
        self._pop()
        self.short = self.long = 0
        self.cw = self.radio.CW_MIN
        link.control.ok()
        self.waiting = None
        self.burst += 1
        if self.burst < self.burst_length and self.queue:
            self.plan(self._next_of_burst)
        else:
            self.burst = 0
            self.draw_backoff()

    def _failure(self) -> None:
        failed = self.waiting
        assert failed is not None
        frame = self.queue[0]
        self.count(NodeOut.FAILED)
        if failed.kind == Kind.DATA:
            self.count(NodeOut.AIR_FAILED, failed.end - failed.began)
            self.world.links[frame.link].control.failed()
        if failed.kind == Kind.DATA and self.announced_by_rts:
            self.long += 1
        else:
            self.short += 1
        if self.short >= self.radio.SHORT_RETRY or self.long >= self.radio.LONG_RETRY:
            self.count(NodeOut.RETRY_DROPS)
            if not frame.received:
                frame.route.lost(frame.packet, "retry")
            self.short = self.long = 0
            self.cw = self.radio.CW_MIN
            self._pop()
        else:
            self.cw = min(2 * self.cw + 1, self.radio.CW_MAX)
        self.burst = 0
        self.draw_backoff()
        self.waiting = None
