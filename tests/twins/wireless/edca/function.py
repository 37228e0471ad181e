"""An EDCA function: queue and backoff of an access category at a node (IEEE 802.11-2016, 10.22.2)."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.wireless.layout import STREAM_BACKOFF, CategoryOut, NodeOut
from tests.twins.path.link import Packet
from tests.twins.wireless.edca.agreement import Agreement
from tests.twins.wireless.edca.builder import Builder
from tests.twins.wireless.edca.fq import FairQueue
from tests.twins.wireless.edca.mpdu import Mpdu, Msdu, Ppdu
from tests.twins.wireless.edca.schedulers import SCHEDULERS
from tests.twins.wireless.routes import Route

if TYPE_CHECKING:
    from tests.twins.wireless.edca.station import EdcaStation


class Function:
    def __init__(self, station: "EdcaStation", number: int, columns: Any) -> None:
        self.station = station
        self.world = station.world
        self.number = number
        self.columns = columns
        self.capacity = columns.QUEUE
        self.size = 0  # unacknowledged MSDUs
        self.agreements: list[Agreement] = []  # by number
        self.outcomes: Counter[CategoryOut] = Counter()
        self.fair_queue = FairQueue(self)
        self.scheduler = SCHEDULERS[columns.SCHEDULER](self)

        self.cw = columns.CW_MIN
        self.retries = 0  # failures in a row (behaviour of ns-3)
        self.slots = 0
        self.since = 0  # earliest start of the backoff slots
        self.draws = 0

    # Access.

    @property
    def has_something(self) -> bool:
        return any(a.has_msdus or a.bar_pending for a in self.agreements)

    def countdown_begins(self) -> int:
        return max(self.since, self.station.idle + self.columns.AIFS)

    def access(self) -> int:
        """Return the time of its next transmission if the medium stays idle."""
        if not self.has_something:
            return FOREVER
        return self.countdown_begins() + self.slots * self.world.radio.SLOT

    def count_slots(self, now: int) -> None:
        """Count the elapsed slots when the medium becomes busy; the slot at the end of the AIFS counts,
        too.
        """
        begin = self.countdown_begins()
        if now >= begin:
            self.slots -= min(self.slots, (now - begin) // self.world.radio.SLOT + 1)

    def draw(self) -> None:
        word = self.world.streams.block(STREAM_BACKOFF + self.number, self.draws)[0]
        self.draws += 1
        self.slots = word * (self.cw + 1) // 2**32
        self.since = self.station.now

    def contend(self) -> None:
        """Contend for the medium after the first MSDU has arrived."""
        now, slot = self.station.now, self.world.radio.SLOT
        if self.station.is_busy():
            if self.slots == 0:
                self.draw()
            return
        begin = self.countdown_begins()
        if now > begin:  # it is sent at the next slot boundary
            passed = -(-(now - begin) // slot)
            self.slots = max(0, self.slots - passed)
            self.since = begin + passed * slot

    def double_cw(self) -> None:
        self.cw = min(2 * self.cw + 1, self.columns.CW_MAX)

    def reset_cw(self) -> None:
        self.cw = self.columns.CW_MIN

    # Queue.

    def is_full(self) -> bool:
        return self.size >= self.capacity

    def enqueue(self, packet: Packet, route: Route, hop: int, agreement: Agreement) -> bool:
        if self.is_full() and not self.columns.FQ:
            self.outcomes[CategoryOut.DROPS] += 1
            return False
        starts = not self.has_something
        self.size += 1
        self.station.note_queue_length()
        msdu = Msdu(packet, route, hop, arrival=self.station.now)
        if self.columns.FQ:
            self.fair_queue.enqueue(agreement, msdu)
            self.station.release()
        else:
            self.hand_over(agreement, msdu)
        if starts:
            self.contend()
        return True

    def hand_over(self, agreement: Agreement, msdu: Msdu) -> None:
        """Pass an MSDU to its agreement for transmission."""
        agreement.waiting.append(msdu)
        self.scheduler.on_arrival(agreement)

    def lose(self, msdu: Msdu) -> None:
        """Drop an MSDU that has left FQ-CoDel."""
        msdu.route.lost(msdu.packet, "source" if msdu.hop == 0 else "relay")
        self.size -= 1
        self._depart(msdu)

    def remove(self, agreement: Agreement, mpdu: Mpdu) -> None:
        """Remove an MPDU that was acknowledged or given up."""
        agreement.unacknowledged.remove(mpdu)
        self._leave(mpdu.msdus)

    def _leave(self, msdus: list[Msdu]) -> None:
        self.size -= len(msdus)
        self.world.shortened = self.station
        for msdu in msdus:
            self.world.refills |= self._depart(msdu)

    def _depart(self, msdu: Msdu) -> bool:
        """Return True if the source of an MSDU that leaves is saturated."""
        if msdu.hop > 0 or msdu.packet.kind != "data":
            return False
        return self.world.flows[msdu.packet.path].departed()

    # Transmissions.

    def build(self, *, until: int | None, first: bool) -> Ppdu | None:
        """Return the PPDU to send now, or None."""
        for agreement in self.agreements:
            if agreement.bar_pending:
                return Builder(self, agreement, until=until, first=first).request()
        if not self.has_something:
            return None
        chosen = self.scheduler.choose()
        self.world.links[chosen.link].control.choose(self.station.now, first=first)
        ppdu = Builder(self, chosen, until=until, first=first).data()
        if ppdu is not None:
            self.scheduler.on_built(chosen)
        return ppdu

    # Failed attempts.

    def drop(self, agreement: Agreement, mpdu: Mpdu) -> None:
        """Give up an MPDU."""
        self.remove(agreement, mpdu)
        agreement.dropped(mpdu)
        self.station.count(NodeOut.RETRY_DROPS)
        if not mpdu.received:
            for msdu in mpdu.msdus:
                msdu.route.lost(msdu.packet, "retry")

    def count_attempts(self, agreement: Agreement, mpdus: list[Mpdu]) -> bool:
        """Count a failed attempt of each MPDU (standard); return True if one reaches its limit and is
        dropped.
        """
        for mpdu in mpdus:
            mpdu.retries += 1
        given_up = [mpdu for mpdu in mpdus if mpdu.retries >= self.world.radio.SHORT_RETRY]
        for mpdu in given_up:
            self.drop(agreement, mpdu)
        self.station.release()
        return bool(given_up)

    def count_failure(self) -> bool:
        """Count a failure of the function (ns-3); return True if it reaches its limit."""
        self.retries += 1
        return bool(self.retries >= self.world.radio.SHORT_RETRY)

    def drop_all(self, agreement: Agreement, mpdus: list[Mpdu]) -> None:
        """Give up the MPDUs at the limit (ns-3)."""
        self.retries = 0
        for mpdu in mpdus:
            self.drop(agreement, mpdu)
        self.station.release()

    def collide(self) -> None:
        """Process an internal collision: another category of the node sends at the same time."""
        self.outcomes[CategoryOut.INTERNAL] += 1
        self.update_cw(dropped=self._collision_drops())
        self.draw()

    def _collision_drops(self) -> bool:
        """Count the collision for the first MPDU of the function; return True if it is dropped."""
        agreement = self.scheduler.choose() if any(a.has_msdus for a in self.agreements) else None
        first = agreement.unacknowledged[:1] if agreement else []
        if self.world.radio.RETRY_PER_MPDU:
            return agreement is not None and self.count_attempts(agreement, first)
        if not self.count_failure() or agreement is None:
            return False
        self.drop_all(agreement, first)
        if not first:
            self._drop_unnumbered(agreement)
        return True

    def _drop_unnumbered(self, agreement: Agreement) -> None:
        """Give up the first MSDU of an agreement that has no MPDU yet."""
        msdu = agreement.waiting.pop(0)
        self._leave([msdu])
        self.station.count(NodeOut.RETRY_DROPS)
        msdu.route.lost(msdu.packet, "retry")
        self.station.release()

    def update_cw(self, *, dropped: bool) -> None:
        """Update the contention window after a failure."""
        if dropped:
            self.reset_cw()
        else:
            self.double_cw()
