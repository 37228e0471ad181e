"""Schedulers: the station that a function serves next.

Airtime is the deficit round robin of mac80211 (Linux 6.4): `ieee80211_next_txq`, `ieee80211_return_txq`,
`ieee80211_sta_register_airtime`.
"""

from collections import deque
from typing import TYPE_CHECKING

from tests.twins.wireless.edca.agreement import Agreement

if TYPE_CHECKING:
    from tests.twins.wireless.edca.function import Function

WEIGHT = 256_000  # [ns]
ACTIVE = 100_000_000  # [ns]


class Fifo:
    """Scheduler that serves the station with the oldest MSDU."""

    def __init__(self, function: "Function") -> None:
        self.function = function

    @property
    def now(self) -> int:
        return self.function.station.now

    def on_arrival(self, agreement: Agreement) -> None:
        """Note that an agreement has got an MSDU."""

    def on_built(self, agreement: Agreement) -> None:
        """Note that a PPDU of the agreement is about to be sent."""

    def register_airtime(self, agreement: Agreement, airtime: int) -> None:
        """Note the duration of a PPDU to or from the station of an agreement [ns]."""

    def choose(self) -> Agreement:
        some = [a for a in self.function.agreements if a.has_msdus]
        return min(some, key=lambda a: (a.oldest_arrival, a.number))


class RoundRobin(Fifo):
    """Scheduler that serves the stations with MSDUs in turn, with one PPDU each."""

    def __init__(self, function: "Function") -> None:
        super().__init__(function)
        self.turns: deque[Agreement] = deque()

    def on_arrival(self, agreement: Agreement) -> None:
        if agreement not in self.turns:
            self.turns.append(agreement)

    def choose(self) -> Agreement:
        while not self.turns[0].has_msdus:
            self.turns.popleft()
        return self.turns[0]

    def on_built(self, agreement: Agreement) -> None:
        self.turns.remove(agreement)
        self.turns.append(agreement)


class Airtime(Fifo):
    def __init__(self, function: "Function") -> None:
        super().__init__(function)
        self.active_txqs: list[Agreement] = []
        self.deficit: dict[int, int] = {}
        self.last_active: dict[int, int] = {}

    def on_arrival(self, agreement: Agreement) -> None:
        if agreement not in self.active_txqs:
            self.active_txqs.insert(0, agreement)
            self.last_active[agreement.number] = self.now

    def register_airtime(self, agreement: Agreement, airtime: int) -> None:
        if self._was_active(agreement):
            self.deficit[agreement.number] = self.deficit.get(agreement.number, WEIGHT) - airtime

    def _was_active(self, agreement: Agreement) -> bool:
        return self.now - self.last_active.get(agreement.number, -ACTIVE - 1) <= ACTIVE

    def choose(self) -> Agreement:
        while True:
            first, *others = self.active_txqs
            number, deficit = first.number, self.deficit.get(first.number, WEIGHT)
            if first.has_msdus and deficit >= 0:
                self.last_active[number] = self.now
                return first
            if deficit < 0 and (first.has_msdus or self._was_active(first)):  # keep_active
                self.deficit[number] = deficit + WEIGHT
                self.active_txqs = [*others, first]
            else:
                self.active_txqs = others


SCHEDULERS = Fifo, RoundRobin, Airtime
