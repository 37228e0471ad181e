"""Rate control Minstrel-HT of a link, after net/mac80211/rc80211_minstrel_ht.c of Linux.

A rate is known by its row in the rate table; a group is the rates with a number of streams, slowest first.
"""

from collections.abc import Callable
from typing import Any

MS = 1_000_000
FULL = 1 << 12  # probability 1
INC, JUMP, SLOW = "inc", "jump", "slow"
SEQUENCE = INC, JUMP, INC, JUMP, INC, SLOW


class Rate:
    def __init__(self, row: int, columns: Any) -> None:
        self.row = row
        self.streams = columns.STREAMS
        self.duration = columns.SYMBOL * 6 * 8 * 1200 // columns.SIXTH_BITS  # of a packet of 1200 bytes [ns]
        self.attempts = self.successes = 0
        self.probability = 0
        self.tried = False

    def average(self) -> None:
        if self.attempts:
            now = self.successes * FULL // self.attempts
            self.probability = (3 * self.probability + now) // 4 if self.tried else now
            self.tried = True
        self.attempts = self.successes = 0


class Minstrel:
    def __init__(self, link: Any, rates: list[Any], draw: Callable[[int], int]) -> None:
        """`draw` returns the k-th random word of 32 bits."""
        self.rates = [Rate(row, rates[row]) for row in range(link.LOWEST, link.HIGHEST + 1)]
        streams = sorted({rate.streams for rate in self.rates})
        self.groups = [[rate for rate in self.rates if rate.streams == count] for count in streams]
        self.draw = draw
        self.draws = 0
        self.length = FULL  # mean number of MPDUs
        self.seen: list[int] = []  # numbers of MPDUs since the update
        self.failures = 0  # in a row
        self.samples: dict[str, list[Rate]] = {}
        self.last_group = {INC: 0, JUMP: 0}
        self.place = 0
        self.current = self.rates[0]
        self.sampling = False  # of `current`, for a PPDU with one MPDU
        self.update(0)

    @property
    def rate(self) -> int:
        return self.current.row

    # Choice of rates.

    def choose(self, now: int, *, first: bool) -> None:
        """Choose the rate of the PPDU that is built now; a sample is the `first` PPDU of a TXOP."""
        self.sampling = False
        self.current = self.best if self.failures < 2 else self.second if self.failures < 4 else self.robust
        if first and self.failures == 0 and now >= self.next_sample:
            self.next_sample = now + 20 * MS
            kind = SEQUENCE[self.place]
            self.place = (self.place + 1) % len(SEQUENCE)
            if self.samples[kind]:
                self.current = self.samples[kind].pop(0)
                self.sampling = True

    def finish(self, now: int, mpdus: int, good: int, *, answered: bool) -> None:
        self.current.attempts += mpdus
        self.current.successes += good
        self.seen.append(mpdus)
        self.failures = 0 if answered else self.failures + 1
        if now - self.updated > 50 * MS:
            self.update(now)

    # Statistics.

    def throughput(self, rate: Rate) -> int:
        if rate.probability < 10 * FULL // 100:
            return 0
        time = 108_000 // (self.length // FULL or 1) + rate.duration
        return 100 * (min(rate.probability, 90 * FULL // 100) * 1_000_000 // time) // FULL

    def update(self, now: int) -> None:
        if self.seen:
            self.length = (3 * self.length + sum(self.seen) * FULL // len(self.seen)) // 4
            self.seen = []
        self._find_best()
        self._find_robust()
        self._find_samples()
        self.updated = self.next_sample = now

    def _find_best(self) -> None:
        ranking = [self.rates[0]] * 4
        for group in self.groups:
            known = 0
            for rate in reversed(group):
                rate.average()
                known = max(known, rate.probability)
                if not rate.tried:
                    rate.probability = known
                if self.throughput(rate) == 0:
                    continue
                place = 4
                while place > 0 and self._merit(rate) > self._merit(ranking[place - 1]):
                    place -= 1
                ranking.insert(place, rate)
                ranking.pop()
        self.best, self.second = ranking[:2]

    def _merit(self, rate: Rate) -> tuple[int, int]:
        return self.throughput(rate), rate.probability

    def _find_robust(self) -> None:
        overall, fewer, most = self.rates[0], None, 0
        for group in self.groups:
            own = group[0]
            for rate in group:
                if rate.duration < self.best.duration and rate.probability < self.best.probability:
                    continue
                overall = self._more_robust(rate, overall)
                own = self._more_robust(rate, own)
            if own.streams < self.best.streams and self.throughput(own) > most:
                fewer, most = own, self.throughput(own)
        self.robust = fewer or overall

    def _more_robust(self, rate: Rate, other: Rate) -> Rate:
        if rate.probability > 75 * FULL // 100:
            return rate if self.throughput(rate) > self.throughput(other) else other
        return rate if rate.probability > other.probability else other

    def _find_samples(self) -> None:
        used = [rate.duration for rate in (self.best, self.second, self.robust)]
        self.samples = {INC: [], JUMP: [], SLOW: []}
        for kind, find in ((INC, self._next_inc), (JUMP, self._next_jump)):
            while len(self.samples[kind]) < 5:
                found = find(min(used), max(used))
                if found is None:
                    break
                self.samples[kind].append(found)

    def _turn(self, kind: str) -> list[Rate]:
        """Return the next group."""
        self.last_group[kind] = (self.last_group[kind] + 1) % len(self.groups)
        return self.groups[self.last_group[kind]]

    def _next_inc(self, _fast: int, _slow: int) -> Rate | None:
        for _ in self.groups:
            faster = [rate for rate in self._turn(INC) if rate.duration < self.best.duration]
            if faster and faster[0] not in self.samples[INC]:
                return faster[0]
        return None

    def _next_jump(self, fast: int, slow: int) -> Rate | None:
        slower = self.samples[SLOW]
        for _ in self.groups:
            limit = slow if len(slower) < 5 else fast
            group = self._turn(JUMP)
            first = next((k for k, rate in enumerate(group) if rate.duration < limit), None)
            if first is None:
                continue
            some = group[first:]
            rate = some[self.draw(self.draws) * len(some) // 2**32]
            self.draws += 1
            if rate.duration < fast:
                if rate not in self.samples[JUMP]:
                    return rate
                continue
            doubtful = rate.probability <= 95 * FULL // 100
            if len(slower) < 5 and rate.duration < slow and doubtful and rate not in slower:
                slower.append(rate)
        return None
