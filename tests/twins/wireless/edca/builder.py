"""Construction of the next PPDU of a function: a BlockAckReq, or MPDUs as size, time and window allow."""

from typing import TYPE_CHECKING

from tests.twins.wireless.edca.agreement import Agreement
from tests.twins.wireless.edca.mpdu import Mpdu, Ppdu, amsdu_size, mpdu_size, psdu_size

if TYPE_CHECKING:
    from tests.twins.wireless.edca.function import Function


class Builder:
    """Builds a PPDU for an agreement at the present time."""

    def __init__(self, function: "Function", agreement: Agreement, *, until: int | None, first: bool) -> None:
        """Create a builder.

        PPDU and response must end before `until` (end of the TXOP); the `first` one may be longer.
        """
        self.world = function.world
        self.radio = function.world.radio
        self.function = function
        self.agreement = agreement
        self.until = until
        self.first = first
        control = self.world.links[agreement.link].control
        self.rate = control.rate
        self.delimited = bool(self.world.tables.rates[self.rate].DELIMITED)
        self.aggregates = function.columns.AMPDU > 0 and agreement.block_ack and not control.sampling
        self.longest = min(function.columns.AMPDU, agreement.longest)
        self.mpdus: list[Mpdu] = []

    def request(self) -> Ppdu | None:
        """Return a BlockAckReq, or None if it does not fit."""
        ppdu = self._ppdu(self.world.air.request(self.rate), self._block_ack())
        ppdu.start = self.agreement.first_unacknowledged
        return ppdu if self.first or self._ends_in_time(ppdu) else None

    def data(self) -> Ppdu | None:
        """Return a PPDU with the first MPDUs that are not acknowledged and new ones, or None."""
        for mpdu in list(self.agreement.unacknowledged):
            if not self._has_place_for(mpdu.number) or not self._fits([mpdu.size], first_msdu=True):
                return self._finished()
            self.mpdus.append(mpdu)
        while self.agreement.waiting and self._has_place_for(self.agreement.next_number):
            msdus = self._msdus_of_next()
            if msdus == 0:
                break
            self.mpdus.append(self.agreement.form(msdus, self._size(msdus)))
        return self._finished()

    def _has_place_for(self, number: int) -> bool:
        return (self.aggregates or not self.mpdus) and number < self.agreement.end_of_window

    def _msdus_of_next(self) -> int:
        """Return the number of MSDUs that the next new MPDU holds; 0 if it does not fit."""
        if not self._fits([self._size(1)], first_msdu=True):
            return 0
        count = 1
        while count < len(self.agreement.waiting) and self._takes(count + 1):
            count += 1
        return count

    def _takes(self, msdus: int) -> bool:
        """Return True if the next MPDU can be an A-MSDU of `msdus` MSDUs."""
        packets = [msdu.packet.size for msdu in self.agreement.waiting[:msdus]]
        within = amsdu_size(packets) <= self.function.columns.AMSDU
        return within and self._fits([self._size(msdus)], first_msdu=False)

    def _size(self, msdus: int) -> int:
        packets = [msdu.packet.size for msdu in self.agreement.waiting[:msdus]]
        return mpdu_size(packets, self.radio.MAC_OVERHEAD)

    def _fits(self, more: list[int], *, first_msdu: bool) -> bool:
        """Return True if MPDUs of these sizes can be added.

        The first MSDU can always be sent at the start of a TXOP."""
        sizes = [mpdu.size for mpdu in self.mpdus] + more
        ppdu = self._of(sizes)
        if first_msdu and len(sizes) == 1:
            return self.first or self._ends_in_time(ppdu)
        small = not self.aggregates or self._psdu(sizes) <= self.longest
        return small and ppdu.time <= self.radio.MOST_TIME and self._ends_in_time(ppdu)

    def _ends_in_time(self, ppdu: Ppdu) -> bool:
        if self.until is None:
            return True
        sifs, air = self.radio.SIFS, self.world.air
        before = air.rts(self.rate) + air.cts(self.rate) + 2 * sifs if ppdu.announced_by_rts else 0
        now = self.world.simulation.now
        return now + before + ppdu.time + sifs + ppdu.answer_time <= self.until

    def _psdu(self, sizes: list[int]) -> int:
        return psdu_size(sizes, delimited=self.delimited)

    def _block_ack(self) -> int:
        return self.world.air.block_ack(self.agreement.ba_bytes, self.rate)

    def _of(self, sizes: list[int]) -> Ppdu:
        size = self._psdu(sizes)
        answer = self._block_ack() if len(sizes) > 1 else self.world.air.ack(self.rate)
        ppdu = self._ppdu(self.world.air.of(size, self.rate), answer)
        ppdu.announced_by_rts = size > self.agreement.rts_threshold
        return ppdu

    def _ppdu(self, time: int, answer_time: int) -> Ppdu:
        to = self.world.tables.links[self.agreement.link].TO
        return Ppdu(self.agreement.number, self.agreement.link, to, self.rate, time, answer_time)

    def _finished(self) -> Ppdu | None:
        if not self.mpdus:
            return None
        ppdu = self._of([mpdu.size for mpdu in self.mpdus])
        ppdu.mpdus = self.mpdus
        return ppdu
