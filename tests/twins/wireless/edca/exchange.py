"""Frame exchanges of a TXOP, from the access of a function to its next backoff draw."""

from typing import TYPE_CHECKING

from netcarlo.kernels.wireless.layout import CategoryOut, NodeOut
from tests.twins.wireless.edca.mpdu import Mpdu, Ppdu
from tests.twins.wireless.frames import NOBODY, Kind, Transmission

if TYPE_CHECKING:
    from tests.twins.wireless.edca.agreement import Agreement
    from tests.twins.wireless.edca.function import Function
    from tests.twins.wireless.edca.station import EdcaStation


class Exchange:
    def __init__(self, station: "EdcaStation", function: "Function") -> None:
        """Start a TXOP now."""
        self.station = station
        self.function = function
        self.world = station.world
        self.radio = station.radio
        limit = function.columns.TXOP
        self.until: int | None = station.now + limit if limit > 0 else None
        self.first = True  # no exchange has ended yet
        self.ppdu: Ppdu | None = None

    @property
    def agreement(self) -> "Agreement":
        assert self.ppdu is not None
        return self.world.agreements[self.ppdu.agreement]

    # Frames.

    def next_frame(self) -> Transmission:
        """Return the next frame: a BlockAckReq, an RTS, data, or a CF-End."""
        self.ppdu = self.function.build(until=self.until, first=self.first)
        if self.ppdu is None:
            return self._cf_end()
        if self.ppdu.is_request:
            return self._request()
        self.station.count(NodeOut.ATTEMPTS)
        return self._rts() if self.ppdu.announced_by_rts else self.data()

    def _announced(self, time: int, without_txop: int) -> int:
        """Return the NAV duration that a frame of this duration announces [ns]."""
        if self.until is None:
            return without_txop
        return max(self.until - (self.station.now + time), without_txop)

    def _rts(self) -> Transmission:
        ppdu, air, sifs = self.ppdu, self.world.air, self.radio.SIFS
        assert ppdu is not None
        time = air.rts(ppdu.rate)
        announced = self._announced(time, 3 * sifs + air.cts(ppdu.rate) + ppdu.time + ppdu.answer_time)
        rate = air.rts_rate(ppdu.rate)
        return self.station.on_air_for(Kind.RTS, ppdu.to, rate, ppdu.rate, time, announced)

    def data(self) -> Transmission:
        """Return the PPDU that was built."""
        ppdu, counts = self.ppdu, self.function.outcomes
        assert ppdu is not None
        counts[CategoryOut.PPDUS] += 1
        counts[CategoryOut.MPDUS] += len(ppdu.mpdus)
        counts[CategoryOut.RETRIED] += sum(mpdu.sent for mpdu in ppdu.mpdus)
        counts[CategoryOut.AIR] += ppdu.time
        self.agreement.airtime += ppdu.time
        self.function.scheduler.register_airtime(self.agreement, ppdu.time)
        for mpdu in ppdu.mpdus:
            mpdu.sent = True
        return self._send(Kind.DATA, ppdu, ppdu.rate)

    def _request(self) -> Transmission:
        assert self.ppdu is not None
        self.function.outcomes[CategoryOut.REQUESTS] += 1
        return self._send(Kind.BAR, self.ppdu, self.world.tables.rates[self.ppdu.rate].ANSWER)

    def _send(self, kind: Kind, ppdu: Ppdu, rate: int) -> Transmission:
        announced = self._announced(ppdu.time, self.radio.SIFS + ppdu.answer_time)
        return self.station.on_air_for(kind, ppdu.to, rate, ppdu.rate, ppdu.time, announced, ppdu)

    def _cf_end(self) -> Transmission:
        rate, time = self.radio.CF_END_RATE, self.world.air.cf_end()
        return self.station.on_air_for(Kind.CF_END, NOBODY, rate, rate, time, 0)

    # Outcomes.

    def end(self) -> None:
        """End the TXOP."""
        self.station.exchange = None
        self.function.draw()

    def _time_for_cf_end(self, wait: int) -> bool:
        """Return True if a CF-End can be sent in the TXOP after `wait` ns."""
        if self.until is None:
            return False
        return self.until - (self.station.now + wait) >= self.world.air.cf_end()

    def answered(self, kind: Kind) -> None:
        """Process an Ack or a BlockAck."""
        ppdu, function, agreement = self.ppdu, self.function, self.agreement
        assert ppdu is not None
        if ppdu.is_request:
            agreement.bar_pending = False
        else:
            good = sum(mpdu.received for mpdu in ppdu.mpdus)
            control = self.world.links[ppdu.link].control
            control.finish(self.station.now, len(ppdu.mpdus), good, answered=True)
        candidates = ppdu.mpdus if kind == Kind.ACK else list(agreement.unacknowledged)
        acknowledged = [mpdu for mpdu in candidates if mpdu.received]
        for mpdu in acknowledged:
            function.remove(agreement, mpdu)
        self.station.release()
        self.station.count(NodeOut.SUCCEEDED, len(acknowledged))
        function.reset_cw()
        if kind == Kind.ACK or self.radio.RETRY_PER_MPDU:
            function.retries = 0
        if self.radio.RETRY_PER_MPDU:
            function.count_attempts(agreement, [mpdu for mpdu in ppdu.mpdus if not mpdu.received])
        self.station.waiting = None
        self.first = False
        if self.station.planned is None and self._time_for_cf_end(self.radio.SIFS):
            self.station.plan(self.next_frame)
        else:
            self.end()

    def failed(self, kind: Kind) -> None:
        """Process a missing CTS, Ack or BlockAck."""
        ppdu, function = self.ppdu, self.function
        assert ppdu is not None
        if kind == Kind.DATA:
            control = self.world.links[ppdu.link].control
            control.finish(self.station.now, len(ppdu.mpdus), 0, answered=False)
        function.update_cw(dropped=self._give_up(kind, ppdu.mpdus))
        first, self.first = self.first, False
        prevented = self.station.senses or self.station.planned is not None
        if first or prevented or not self._time_for_cf_end(self.radio.SIFS + self.radio.SLOT):
            self.end()
        else:
            self.station.plan_retry()

    def _give_up(self, kind: Kind, mpdus: list[Mpdu]) -> bool:
        """Count a failure; return True if MPDUs are dropped."""
        function, agreement = self.function, self.agreement
        asks = kind == Kind.DATA and len(mpdus) > 1 and bool(self.radio.BAR_AFTER_MISSED)
        if asks:
            agreement.bar_pending = True
        if self.radio.RETRY_PER_MPDU:
            return function.count_attempts(agreement, mpdus)
        if kind == Kind.BAR:
            only_moves = not any(mpdu.sent for mpdu in agreement.unacknowledged)
            self.station.count_request_failure(forgets=only_moves)
            return only_moves
        if kind != Kind.DATA or not function.count_failure() or asks:
            return False
        function.drop_all(agreement, mpdus)
        return True
