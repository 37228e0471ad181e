"""FQ-CoDel of mac80211 (Linux 6.4, `fq_impl.h`), and its airtime queue limits (`tx.c`)."""

from types import SimpleNamespace
from typing import TYPE_CHECKING

from netcarlo.kernels.wireless.layout import CategoryOut, NodeOut
from tests.twins.shared.aqm import CoDel, Fates, Waiting
from tests.twins.wireless.edca.agreement import Agreement
from tests.twins.wireless.edca.mpdu import Msdu

if TYPE_CHECKING:
    from tests.twins.wireless.edca.function import Function

VOICE = 0
AVG_PKT_SIZE = 1024  # [byte]
AGG_SHIFT = (400_000, 1), (250_000, 2), (150_000, 3), (70_000, 4), (20_000, 5)
"""Pairs: a packet with a duration above first [ns] shares its preamble with 2 ** second packets."""


class Tin:
    """Flows of a station in an access category (`struct fq_tin`)."""

    def __init__(self, queue: "FairQueue", agreement: Agreement) -> None:
        self.queue = queue
        columns = queue.function.world.tables.agreements[agreement.number]
        self.codel = SimpleNamespace(AQM_TARGET=columns.TARGET, AQM_INTERVAL=columns.INTERVAL, AQM_MTU=0)
        self.flows: dict[tuple[int, bool, int], CoDel] = {}
        self.deficit: dict[tuple[int, bool, int], int] = {}
        self.new_flows: list[tuple[int, bool, int]] = []
        self.old_flows: list[tuple[int, bool, int]] = []

    def enqueue(self, msdu: Msdu) -> None:
        flow = self.queue.function.world.flows[msdu.packet.path]
        key = (msdu.packet.path, msdu.route is not flow.forth, msdu.hop)
        if key not in self.flows:
            fates = Fates(drop=self.queue.drop_early, mark=lambda _: False)
            self.flows[key] = CoDel(self.codel, fates)
        self.flows[key].enqueue(Waiting(msdu.arrival, msdu.packet.size, msdu))
        if key not in self.new_flows + self.old_flows:
            self.new_flows.append(key)
            self.deficit[key] = self.queue.function.world.radio.FQ_QUANTUM

    def dequeue(self, now: int) -> Msdu | None:
        while self.new_flows or self.old_flows:
            head = self.new_flows or self.old_flows
            key = head[0]
            if self.deficit[key] <= 0:
                self.deficit[key] += self.queue.function.world.radio.FQ_QUANTUM
                self.old_flows.append(head.pop(0))
                continue
            packet = self.flows[key].dequeue(now)
            if packet is not None:
                self.deficit[key] -= packet.size
                assert isinstance(packet.what, Msdu)
                return packet.what
            head.pop(0)
            if head is self.new_flows:  # RFC 8290, section 4.2; Linux: only if there are old flows
                self.old_flows.append(key)
        return None


class FairQueue:
    """FQ-CoDel queue of an EDCA function."""

    def __init__(self, function: "Function") -> None:
        self.function = function
        self.tins: dict[int, Tin] = {}  # by agreement

    @property
    def msdus(self) -> list[Msdu]:
        flows = [flow for tin in self.tins.values() for flow in tin.flows.values()]
        return [packet.what for flow in flows for packet in flow.packets]

    def enqueue(self, agreement: Agreement, msdu: Msdu) -> None:
        """Accept an MSDU that the function has already counted."""
        if agreement.number not in self.tins:
            self.tins[agreement.number] = Tin(self, agreement)
        self.tins[agreement.number].enqueue(msdu)
        while self.function.size > self.function.capacity and self.msdus:
            self._drop_from_fattest()

    def _drop_from_fattest(self) -> None:
        flows = {key: flow for tin in self.tins.values() for key, flow in tin.flows.items() if flow.packets}
        fattest = flows[max(sorted(flows), key=lambda key: flows[key].bytes())]
        for _ in range(max(min(32, len(fattest.packets) // 2), 1)):
            self.function.outcomes[CategoryOut.DROPS] += 1
            self.function.station.count(NodeOut.DROPS)
            self.function.lose(fattest.packets.pop(0).what)

    def drop_early(self, packet: Waiting) -> None:
        self.function.outcomes[CategoryOut.EARLY] += 1
        self.function.lose(packet.what)

    def release(self) -> None:
        """Pass MSDUs to the hardware while the airtime queue limits permit."""
        if not self.msdus:
            return
        for agreement in self.function.agreements:
            tin = self.tins.get(agreement.number)
            while tin and (tin.new_flows or tin.old_flows) and self._airtime_check(agreement):
                msdu = tin.dequeue(self.function.station.now)
                if msdu is not None:
                    msdu.airtime = self._expected_airtime(agreement, msdu.packet.size)
                    self.function.hand_over(agreement, msdu)

    def _airtime_check(self, agreement: Agreement) -> bool:
        radio = self.function.world.radio
        others = [a for function in self.function.station.functions for a in function.agreements]
        pending, total = agreement.pending_airtime, sum(a.pending_airtime for a in others)
        return pending < radio.AQL_LOW or (total < radio.AQL_TOTAL and pending < radio.AQL_HIGH)

    def _expected_airtime(self, agreement: Agreement, size: int) -> int:
        world = self.function.world
        rate = world.tables.rates[world.links[agreement.link].control.rate]

        def duration(size: int) -> int:
            return int(rate.SYMBOL * 6 * 8 * size // rate.SIXTH_BITS)

        agg_shift = next((shift for most, shift in AGG_SHIFT if duration(AVG_PKT_SIZE) > most), 6)
        if self.function.columns.CATEGORY == VOICE:
            agg_shift = 0
        return max(duration(size + world.radio.MAC_OVERHEAD) + rate.PREAMBLE // 2**agg_shift, 1)
