"""Block Ack agreement: unacknowledged MPDUs of the sender, and the reordering buffer of the receiver."""

from typing import Any

from tests.twins.path.link import Packet
from tests.twins.wireless.edca.mpdu import Mpdu, Msdu


class Recipient:
    """Recipient, which passes MSDUs on in the order of sequence numbers (IEEE 802.11-2016, 10.24.7)."""

    def __init__(self, *, in_order: bool) -> None:
        self.in_order = in_order
        self.awaited = 0  # sequence number
        self.held: dict[int, Mpdu] = {}  # above a missing MPDU

    def take(self, mpdu: Mpdu) -> None:
        """Pass on an MPDU received for the first time, and those that waited for it."""
        if not self.in_order:
            self.awaited = mpdu.number + 1
            self._up(mpdu)
            return
        self.held[mpdu.number] = mpdu
        self._advance()

    def give_up_before(self, start: int) -> None:
        """Process that the sender has given up all MPDUs before `start`."""
        for number in sorted(n for n in self.held if n < start):
            self._up(self.held.pop(number))
        self.awaited = max(self.awaited, start)
        self._advance()

    def _advance(self) -> None:
        while self.awaited in self.held:
            mpdu = self.held.pop(self.awaited)
            self.awaited += 1
            self._up(mpdu)

    def _up(self, mpdu: Mpdu) -> None:
        for msdu in mpdu.msdus:
            msdu.route.cross(msdu)


class Agreement:
    """Traffic of an EDCA function to one receiver."""

    def __init__(self, number: int, columns: Any) -> None:
        self.number = number
        self.link = columns.LINK
        self.window = columns.WINDOW
        self.ba_bytes = columns.BA_BYTES
        self.block_ack = bool(columns.BLOCK_ACK)
        self.longest = columns.PSDU  # A-MPDU [byte]
        self.rts_threshold = columns.RTS_THRESHOLD  # [byte]
        self.waiting: list[Msdu] = []  # not yet in an MPDU
        self.unacknowledged: list[Mpdu] = []  # by sequence number
        self.formed: list[Mpdu] = []  # that sender or receiver may need again
        self.next_number = 0
        self.airtime = 0  # of its PPDUs since the end of the warm-up [ns]
        self.reverse = columns.REVERSE
        self.bar_pending = False
        self.recipient = Recipient(in_order=self.block_ack)

    @property
    def has_msdus(self) -> bool:
        return bool(self.waiting or self.unacknowledged)

    @property
    def pending_airtime(self) -> int:
        """Return the expected airtime of the MSDUs that FQ-CoDel has handed over [ns]."""
        formed = [msdu for mpdu in self.unacknowledged for msdu in mpdu.msdus]
        return sum(msdu.airtime for msdu in self.waiting + formed)

    @property
    def oldest_arrival(self) -> int:
        """Return the arrival of the oldest MSDU not acknowledged."""
        if self.unacknowledged:
            return self.unacknowledged[0].msdus[0].arrival
        return self.waiting[0].arrival

    @property
    def first_unacknowledged(self) -> int:
        return self.unacknowledged[0].number if self.unacknowledged else self.next_number

    @property
    def end_of_window(self) -> int:
        """Return the first sequence number that must not be sent yet."""
        return min(self.first_unacknowledged, self.recipient.awaited) + self.window

    def form(self, msdus: int, size: int) -> Mpdu:
        """Make an MPDU of the next MSDUs."""
        mpdu = Mpdu(self.next_number, self.waiting[:msdus], size)
        del self.waiting[:msdus]
        self.next_number += 1
        self.unacknowledged.append(mpdu)
        self.formed.append(mpdu)
        return mpdu

    def dropped(self, mpdu: Mpdu) -> None:
        """Record that an MPDU was dropped; the receiver must not wait for it."""
        if self.block_ack:
            self.bar_pending = True
        else:
            self.recipient.awaited = mpdu.number + 1

    def end(self) -> list[Msdu]:
        """Reset the agreement when the sender fails; return the MSDUs that were not passed on."""
        lost = [m for m in self.unacknowledged if not m.received] + [*self.recipient.held.values()]
        found = [msdu for mpdu in sorted(lost, key=lambda m: m.number) for msdu in mpdu.msdus] + self.waiting
        self.recipient.held.clear()
        self.recipient.awaited = self.next_number
        self.unacknowledged, self.waiting, self.bar_pending = [], [], False
        return found

    def kept(self) -> list[Packet]:
        """Return the packets from the first MPDU on that is not acknowledged or not passed on."""
        first = min(self.first_unacknowledged, self.recipient.awaited)
        self.formed = [mpdu for mpdu in self.formed if mpdu.number >= first]
        return [msdu.packet for msdu in self.waiting] + [p for mpdu in self.formed for p in mpdu.packets]

    def in_flight(self) -> list[Packet]:
        """Return the packets that the receiver has not passed on."""
        on_their_way = [m for m in self.unacknowledged if not m.received] + [*self.recipient.held.values()]
        return [msdu.packet for msdu in self.waiting] + [p for m in on_their_way for p in m.packets]
