"""Links with varying service: traces step by step, buckets token by token."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

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
    line: Pair = (0, 0)  # time per byte / 2**20, and whether it is this one
    framing: Pair = (0, 0)  # overhead and least size [byte]
    cells: Pair = (0, 0)  # whether ATM cells carry the packet
    shaper: Pair = (0, 0)  # time per byte / 2**20 and burst [ns]
    peak: Pair = (0, 0)  # the same of the peak rate
    loss: Pair = (0, 0)  # threshold and correlation, as netem has them
    steps: list[tuple[int, int, int, int]] = field(default_factory=list)  # since, byte time, delay, loss
    opportunities: list[Pair] = field(default_factory=list)  # time, bytes
    jitter: list[Pair] = field(default_factory=list)
    reorders: bool = False


def read(pairs: list[Pair]) -> Description:
    """Return the description that begins with the first of these pairs."""
    plain = [(one - FOREVER, other) for one, other in pairs]
    (kind, count), (period, jitters) = plain[1], plain[2]
    found = Description(plain[0], kind, period, *plain[3:9], reorders=jitters < 0)
    entries = plain[9 : 9 + count * (2 if kind == 1 else 1)]
    if kind == 1:
        found.steps = [(*entries[2 * k], *entries[2 * k + 1]) for k in range(count)]
    else:
        found.opportunities = entries
    found.jitter = plain[9 + len(entries) : 9 + len(entries) + abs(jitters)]
    return found


class Tokens:
    """A bucket of `tbf_dequeue` (Linux): tokens are nanoseconds at its rate."""

    def __init__(self, byte_time: int, burst: int) -> None:
        self.byte_time = byte_time
        self.burst = burst
        self.checked, self.tokens = 0, burst

    def cost(self, size: int) -> int:
        return floor(Fraction(size * self.byte_time, 2**20) + Fraction(1, 2))

    def at(self, time: int) -> int:
        return min(self.tokens + time - self.checked, self.burst)

    def ready(self, now: int, size: int) -> int:
        """Return the time at which the packet at the head may be sent."""
        return now + max(self.cost(size) - self.at(now), 0)

    def take(self, now: int, size: int) -> None:
        self.checked, self.tokens = now, self.at(now) - self.cost(size)


class Varying:
    """Hop with varying service, in one direction."""

    def __init__(self, description: Description, streams: Streams, stream: int) -> None:
        self.of = description
        self.streams = streams
        self.stream = stream
        self.bucket_full = 0
        self.packets = 0
        self.last_number = -1
        self.empty(0)

    def empty(self, now: int) -> None:
        """Discard the packets in transit, and the transmissions planned for them."""
        self.last = 0
        self.buckets = [Tokens(*of) for of in (self.of.shaper, self.of.peak) if of[0]]
        used = getattr(self, "used", {})
        self.used = {k: taken for k, taken in used.items() if self.opportunity(k)[0] <= now}

    def is_policed(self, now: int, size: int) -> bool:
        """Return True if the policer drops a packet; otherwise take its tokens."""
        size = self.on_line(size)
        if any(bucket.cost(size) > bucket.burst for bucket in self.buckets):
            return True
        byte_time, burst = self.of.policer
        if byte_time == 0:
            return False
        cost = -(-size * byte_time // 2**20)
        if max(self.bucket_full, now) + cost - now > burst:
            return True
        self.bucket_full = max(self.bucket_full, now) + cost
        return False

    def on_line(self, size: int) -> int:
        """Return the size of a packet with its framing."""
        overhead, least = self.of.framing
        size = max(size + overhead, least)
        return 53 * ceil(Fraction(size, 48)) if self.of.cells[0] else size

    def released(self, now: int, size: int) -> int:
        """Return the time at which all buckets have the tokens of the packet at the head."""
        then = max([now, *(bucket.ready(now, size) for bucket in self.buckets)])
        for bucket in self.buckets:
            bucket.take(then, size)
        return then

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

    def transmission(self, now: int, free: int, size: int, duration: int) -> tuple[int, int]:
        """Return start and end of the transmission of a packet that arrives now.

        It takes `duration` without a trace, unless the line has a rate of its own.
        """
        size = self.on_line(size)
        if self.of.kind == 2:
            ready = self.released(now, size)
            return max(ready, free), self.end_by_opportunities(ready, size)
        begin = self.released(max(now, free), size)
        if self.of.kind == 1:
            return begin, self.end_by_steps(begin, size)
        byte_time, given = self.of.line
        if given:
            duration = floor(Fraction(size * byte_time, 2**20) + Fraction(1, 2))
        return begin, begin + duration

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
        words = self.streams.block(STREAM_VARYING + self.stream, self.packets)
        jitter_word, loss_word, uniform, initial = words
        doomed = loss_word < loss
        if self.of.loss[0]:
            doomed |= self.correlated(uniform, initial) <= self.of.loss[0]
        self.packets += 1
        if self.of.jitter:
            place, rest = divmod(jitter_word, 2**32 // len(self.of.jitter))
            low, high = self.of.jitter[place]
            delay += low + (high - low) * rest * len(self.of.jitter) // 2**32
        if self.of.reorders:
            return end + delay, doomed
        self.last = max(self.last, end + delay)
        return self.last, doomed

    def correlated(self, uniform: int, initial: int) -> int:
        """Return the next number of netem's `get_crandom`; `initial` is that of `init_crandom`."""
        if self.of.loss[1] == 0:
            return uniform
        before, rho = (initial if self.packets == 0 else self.last_number), self.of.loss[1] + 1
        self.last_number = (uniform * (2**32 - rho) + before * rho) >> 32
        return self.last_number
