"""Time-varying links, step by step and opportunity by opportunity."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from netcarlo.kernels.base.layout import FOREVER, STREAM_VARYING
from tests.twins.random_numbers import Streams

NEVER_LEAVES = 1 << 61
Pair = tuple[int, int]


@dataclass
class Description:
    """Description of a time-varying link, as in the rows."""

    policer: Pair  # time per byte / 2**20 and burst [ns]
    kind: int  # 0: no trace, 1: steps, 2: opportunities
    period: int  # [ns]; 0: it ends
    steps: list[tuple[int, int, int, int]] = field(default_factory=list)  # since, byte time, delay, loss
    opportunities: list[Pair] = field(default_factory=list)  # time, bytes
    jitter: list[Pair] = field(default_factory=list)
    reorders: bool = False


def read(pairs: list[Pair]) -> Description:
    """Return the description that begins with the first of these pairs."""
    plain = [(one - FOREVER, other) for one, other in pairs]
    (kind, count), (period, jitters) = plain[1], plain[2]
    found = Description(plain[0], kind, period, reorders=jitters < 0)
    entries = plain[3 : 3 + count * (2 if kind == 1 else 1)]
    if kind == 1:
        found.steps = [(*entries[2 * k], *entries[2 * k + 1]) for k in range(count)]
    else:
        found.opportunities = entries
    found.jitter = plain[3 + len(entries) : 3 + len(entries) + abs(jitters)]
    return found


class Varying:
    """Time-varying hop in one direction."""

    def __init__(self, description: Description, streams: Streams, stream: int) -> None:
        self.of = description
        self.streams = streams
        self.stream = stream
        self.bucket_full = 0
        self.packets = 0
        self.empty(0)

    def empty(self, now: int) -> None:
        """Discard the packets in transit, and the transmissions planned for them."""
        self.last = 0
        used = getattr(self, "used", {})
        self.used = {k: taken for k, taken in used.items() if self.opportunity(k)[0] <= now}

    def is_policed(self, now: int, size: int) -> bool:
        """Return True if the policer drops a packet; otherwise take its tokens."""
        byte_time, burst = self.of.policer
        if byte_time == 0:
            return False
        cost = -(-size * byte_time // 2**20)
        if max(self.bucket_full, now) + cost - now > burst:
            return True
        self.bucket_full = max(self.bucket_full, now) + cost
        return False

    def step(self, now: int) -> tuple[int, int, int, int]:
        """Return the end of the current step, its byte time, delay and loss."""
        since = now - now % self.of.period if self.of.period else 0
        for k, (start, *values) in enumerate(self.of.steps):
            ends = [start for start, *_ in self.of.steps[k + 1 :]]
            end = since + ends[0] if ends else since + self.of.period if self.of.period else FOREVER
            if since + start <= now < end:
                return (end, *values)
        raise AssertionError("there is always a step")

    def opportunity(self, k: int) -> Pair:
        """Return the time of opportunity k and its bytes; FOREVER after the last one."""
        rounds, place = divmod(k, len(self.of.opportunities))
        if rounds and not self.of.period:
            return FOREVER, 0
        time, room = self.of.opportunities[place]
        return rounds * self.of.period + time, room

    def end(self, now: int, free: int, size: int) -> int | None:
        """Return the end of the transmission of a packet that arrives now; None without a trace."""
        if self.of.kind == 1:
            return self.end_by_steps(max(now, free), size)
        return self.end_by_opportunities(now, size) if self.of.kind == 2 else None

    def end_by_steps(self, now: int, size: int) -> int:
        left = Fraction(size)
        while True:
            until, byte_time, _, _ = self.step(now)
            if byte_time:
                per_byte = Fraction(byte_time, 2**20)
                end = now + floor((floor(left * byte_time) + 2**19) * Fraction(1, 2**20))
                if end <= until:
                    return end
                left -= Fraction(floor((until - now) / per_byte * 2**16), 2**16)
            if until == FOREVER:
                return NEVER_LEAVES
            now = until

    def end_by_opportunities(self, now: int, size: int) -> int:
        k = max(self.used, default=0)
        while True:
            time, room = self.opportunity(k)
            if time == FOREVER:
                return NEVER_LEAVES
            if time > now:
                taken = min(size, room - self.used.get(k, 0))
                self.used[k] = self.used.get(k, 0) + taken
                size -= taken
                if size == 0:
                    return time
            k += 1

    def arrival(self, end: int, delay: int) -> tuple[int, bool]:
        """Return the arrival at the far end of a packet transmitted by `end`, and whether it is lost."""
        loss = 0
        if self.of.kind == 1:
            _, _, delay, loss = self.step(end)
        jitter_word, loss_word = self.streams.block(STREAM_VARYING + self.stream, self.packets)[:2]
        self.packets += 1
        if self.of.jitter:
            place, rest = divmod(jitter_word, 2**32 // len(self.of.jitter))
            low, high = self.of.jitter[place]
            delay += low + (high - low) * rest * len(self.of.jitter) // 2**32
        if self.of.reorders:
            return end + delay, loss_word < loss
        self.last = max(self.last, end + delay)
        return self.last, loss_word < loss
