"""Station with EDCA: it serves its functions, sends frames and responds to those of others."""

from functools import partial
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.wireless.layout import CATEGORIES, CategoryOut, NodeOut
from tests.twins.path.link import Packet
from tests.twins.wireless.edca.exchange import Exchange
from tests.twins.wireless.edca.function import Function
from tests.twins.wireless.edca.mpdu import Mpdu, Ppdu
from tests.twins.wireless.frames import NOBODY, Kind, Transmission
from tests.twins.wireless.node import Node
from tests.twins.wireless.routes import Route

BEST_EFFORT = 2
CCA = 4000  # [ns]

if TYPE_CHECKING:
    from tests.twins.wireless.edca.agreement import Agreement
    from tests.twins.wireless.world import World


class EdcaStation(Node):
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        numbers = range(columns.FIRST_FUNCTION, columns.FIRST_FUNCTION + columns.FUNCTIONS)
        self.functions = [Function(self, n, world.tables.functions[n]) for n in numbers]  # by priority
        self.due: list[Function] = []  # functions whose backoff ends when the medium becomes busy
        self.committed: int | None = None  # time at which it sends, even if the medium is busy
        self.exchange: Exchange | None = None  # own TXOP, from the access to the next backoff draw
        self.holder = NOBODY  # holder of the TXOP that the NAV protects
        self.retry_planned = False  # `planned` is a retry, which another transmission prevents

    # Access.

    @property
    def idle(self) -> int:
        return max(self.rx, self.tx, self.quiet, self.nav, self.late)

    def is_busy(self) -> bool:
        """Return True if an MSDU that arrives now must not be sent at once."""
        own = self.on_air or self.waiting is not None or self.planned is not None
        return own or self.senses or self.nav > self.now

    def next_start(self) -> int:
        if self.planned is not None:
            return self.planned[0]
        if self.committed is not None:
            return self.committed
        if self.on_air or self.waiting is not None or self.senses:
            return FOREVER
        return self.first_access()

    def first_access(self) -> int:
        return min((function.access() for function in self.functions), default=FOREVER)

    def sense_first(self, now: int) -> None:
        """Process the start of a busy medium, which is detected after the time CCA.

        A function whose backoff ends before still sends. A retry is given up even then, but if its function
        draws no slots, it may start within CCA.
        """
        if self.retry_planned and self.planned is not None and self.planned[0] > now:
            assert self.exchange is not None
            self.planned, self.retry_planned = None, False
            self.exchange.end()
        access = self.first_access()
        if now < access < now + CCA and self.waiting is None and self.planned is None:
            self.committed = access
            self.freeze(access)
        else:
            self.freeze(now)

    def freeze(self, now: int) -> None:
        self.due = [function for function in self.functions if function.access() == now]
        for function in self.functions:
            function.count_slots(now)

    def plan_retry(self) -> None:
        """Plan a retry after a PIFS if the medium stays idle."""
        self.planned = self.now + self.radio.SIFS + self.radio.SLOT, self._next_frame
        self.retry_planned = True

    # Queues.

    def in_queue(self) -> int:
        return sum(function.size for function in self.functions)

    def not_received(self) -> list[Packet]:
        agreements = [a for function in self.functions for a in function.agreements]
        waiting = [msdu.packet for function in self.functions for msdu in function.fair_queue.msdus]
        return waiting + [packet for agreement in agreements for packet in agreement.in_flight()]

    def kept(self) -> list[Packet]:
        return [packet for f in self.functions for agreement in f.agreements for packet in agreement.kept()]

    def entrance(self, route: Route, hop: int) -> Function:
        return self._agreement_and_function(route, hop)[1]

    def _agreement_and_function(self, route: Route, hop: int) -> "tuple[Agreement, Function]":
        agreement = self.world.agreements[route.agreements[hop]]
        function = self.world.tables.agreements[agreement.number].FUNCTION
        return agreement, self.functions[function - self.columns.FIRST_FUNCTION]

    def enqueue(self, packet: Packet, route: Route, hop: int) -> bool:
        agreement, function = self._agreement_and_function(route, hop)
        if not function.enqueue(packet, route, hop, agreement):
            self.count(NodeOut.DROPS)
            return False
        self.count(NodeOut.QUEUED)
        return True

    def note_queue_length(self) -> None:
        """Record a new maximum of the queue length."""
        most = max(self.outcomes.values[NodeOut.QUEUE_MOST], self.in_queue())
        self.outcomes.values[NodeOut.QUEUE_MOST] = most

    def release(self) -> None:
        """Release MSDUs from FQ-CoDel."""
        for function in self.functions:
            function.fair_queue.release()

    def reset_outcomes(self) -> None:
        super().reset_outcomes()
        for function in self.functions:
            function.outcomes.clear()
            for agreement in function.agreements:
                agreement.airtime = 0

    def columns_out(self) -> list[int]:
        """Return the columns of the node, then those of each category."""
        by_category = {function.columns.CATEGORY: function.outcomes for function in self.functions}
        of_categories = [
            by_category[category][column] if category in by_category else 0
            for category in range(CATEGORIES) for column in CategoryOut if column != CategoryOut.COLUMNS
        ]  # fmt: skip
        for agreement in self.world.agreements:
            if self.number == self.world.tables.links[agreement.link].TO:
                category = self._function_of(agreement).columns.CATEGORY
                place = category * CategoryOut.COLUMNS + CategoryOut.AIR_TO
                of_categories[place] += agreement.airtime
        return super().columns_out() + of_categories

    def _function_of(self, agreement: "Agreement") -> Function:
        """Return the function that sends to an agreement's receiver."""
        functions = [f for s in self.world.stations if isinstance(s, EdcaStation) for f in s.functions]
        return functions[self.world.tables.agreements[agreement.number].FUNCTION]

    # Failures of the node.

    def go_down(self) -> None:
        for function in self.functions:
            for msdu in [msdu for agreement in function.agreements for msdu in agreement.end()]:
                msdu.route.lost(msdu.packet, "source" if msdu.hop == 0 else "relay")
            self.count(NodeOut.DROPS, function.size)
            function.capacity = function.size = 0
            function.slots = function.since = function.retries = 0
            function.reset_cw()
        self.exchange, self.retry_planned, self.committed, self.holder = None, False, None, NOBODY
        super().go_down()

    def come_back(self) -> None:
        super().come_back()
        for function in self.functions:
            function.capacity = function.columns.QUEUE
        self.world.shortened = self
        for flow in self.world.flows:
            flow.returned(self.number)

    # Sending.

    def transmit(self) -> Transmission:
        if self.planned is not None:
            make = self.planned[1]
            self.planned, self.retry_planned = None, False
        else:
            self.committed = None
            winner, *losers = self.due
            for loser in losers:
                loser.collide()
            make = partial(self._access, winner)
        transmission = make()
        duration = transmission.end - transmission.began
        self.count(NodeOut.AIR_CONTROL if transmission.is_control else NodeOut.AIR_DATA, duration)
        return transmission

    def on_air_for(
        self, kind: Kind, to: int, rate: int, data_rate: int, time: int, announced: int,
        ppdu: Ppdu | None = None,
    ) -> Transmission:  # fmt: skip
        end = self.now + time
        return Transmission(kind, self.number, to, rate, data_rate, self.now, end, announced, ppdu)

    def _access(self, function: Function) -> Transmission:
        """Start a TXOP."""
        self.exchange = Exchange(self, function)
        return self._next_frame()

    def _next_frame(self) -> Transmission:
        assert self.exchange is not None
        return self.exchange.next_frame()

    def sent(self, transmission: Transmission) -> None:
        self.tx = self.now
        air, rates = self.world.air, self.world.tables.rates
        if transmission.kind == Kind.RTS:
            self.wait_for_answer(transmission, air.rts_rate(transmission.data_rate))
        elif transmission.kind in (Kind.DATA, Kind.BAR):
            self.wait_for_answer(transmission, rates[transmission.data_rate].ANSWER)
        elif transmission.kind == Kind.CF_END:
            assert self.exchange is not None
            self.exchange.end()

    # Receiving.

    def survives_noise(self, transmission: Transmission) -> bool:
        """Return True if noise leaves at least one MPDU; `receive` passes those on."""
        ppdu = transmission.frame
        assert isinstance(ppdu, Ppdu)
        link = self.world.links[ppdu.link]
        self.good: list[Mpdu] = [mpdu for mpdu in ppdu.mpdus if not link.noise_destroys(ppdu.rate)]
        self.count(NodeOut.NOISE, len(ppdu.mpdus) - len(self.good))
        return bool(self.good)

    def end_reception(self, *, good: bool) -> None:
        self.rx = self.now + (0 if good else self.radio.EIFS)

    def forget_reception(self) -> None:
        self.rx = min(self.rx, self.now)

    def receive(self, transmission: Transmission) -> None:
        kind = transmission.kind
        if kind == Kind.CF_END:
            self.nav, self.holder = self.now, NOBODY
            self.nav_reset.stop()
        elif transmission.to != self.number:
            self._listen(transmission)
        elif kind == Kind.DATA:
            self._take(transmission)
        elif kind == Kind.RTS:
            free = self.nav <= self.now or self.holder == transmission.sender
            if free and self.planned is None:
                self.plan(lambda: self._cts(transmission))
        elif kind == Kind.BAR:
            self._take_request(transmission)
        elif kind == Kind.CTS:
            if self.is_answered_by(Kind.RTS, transmission):
                assert self.exchange is not None
                self.plan(self.exchange.data)
        elif any(self.is_answered_by(waited, transmission) for waited in (Kind.DATA, Kind.BAR)):
            assert self.exchange is not None
            self.exchange.answered(kind)

    def _listen(self, transmission: Transmission) -> None:
        before = self.nav
        self.listen(transmission)
        if self.nav != before:
            answers = Kind.CTS, Kind.ACK, Kind.BLOCK_ACK
            self.holder = transmission.to if transmission.kind in answers else transmission.sender

    def _take(self, data: Transmission) -> None:
        ppdu = data.frame
        assert isinstance(ppdu, Ppdu)
        if self.planned is None:
            self.plan(lambda: self._acknowledgement(data))
        agreement = self.world.agreements[ppdu.agreement]
        if agreement.reverse != NOBODY:
            opposite = self.world.agreements[agreement.reverse]
            self._function_of(opposite).scheduler.register_airtime(opposite, ppdu.time)
        for mpdu in self.good:
            if mpdu.received:
                self.count(NodeOut.DUPLICATES)
            else:
                mpdu.received = True
                self.count(NodeOut.RECEIVED)
                self.world.early = ppdu.early(mpdu, self.world.tables.rates[ppdu.rate].PREAMBLE)
                agreement.recipient.take(mpdu)
        self.world.early = 0

    def _take_request(self, request: Transmission) -> None:
        ppdu = request.frame
        assert isinstance(ppdu, Ppdu)
        if self.planned is None:
            self.plan(lambda: self._acknowledgement(request))
        self.world.agreements[ppdu.agreement].recipient.give_up_before(ppdu.start)

    def _acknowledgement(self, asked: Transmission) -> Transmission:
        """Return an Ack for a single MPDU, else a BlockAck."""
        ppdu = asked.frame
        assert isinstance(ppdu, Ppdu)
        kind = Kind.ACK if len(ppdu.mpdus) == 1 else Kind.BLOCK_ACK
        own = self.world.tables.rates[asked.data_rate].ANSWER
        announced = max(asked.announced - self.radio.SIFS - ppdu.answer_time, 0)
        return self.on_air_for(kind, asked.sender, own, asked.data_rate, ppdu.answer_time, announced)

    def _cts(self, rts: Transmission) -> Transmission:
        air = self.world.air
        time, own = air.cts(rts.data_rate), air.rts_rate(rts.data_rate)
        announced = max(rts.announced - self.radio.SIFS - time, 0)
        return self.on_air_for(Kind.CTS, rts.sender, own, rts.data_rate, time, announced)

    # The end of an exchange.

    def count_request_failure(self, *, forgets: bool) -> None:
        """Count for best effort, as ns-3 does for a BlockAckReq, which has no TID.

        It `forgets` the failures if the request only moves the window.
        """
        for function in self.functions:
            if function.columns.CATEGORY == BEST_EFFORT:
                function.count_failure()
                if forgets:
                    function.retries = 0

    def _failure(self) -> None:
        assert self.waiting is not None and self.exchange is not None
        failed = self.waiting
        self.count(NodeOut.FAILED)
        self.exchange.function.outcomes[CategoryOut.UNANSWERED] += 1
        if failed.kind == Kind.DATA:
            self.count(NodeOut.AIR_FAILED, failed.end - failed.began)
        self.waiting = None
        self.exchange.failed(failed.kind)
