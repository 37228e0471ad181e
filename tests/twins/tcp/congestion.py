"""Congestion controls: growth of the window, and reduction after a loss.

BIC (Xu, Harfoush, Rhee, INFOCOM 2004) and CUBIC (Ha, Rhee, Xu, OSR 2008; RFC 8312) in whole packets and whole
milliseconds, as in Linux 2.6.
"""

import math
from fractions import Fraction

MS = 1_000_000  # [ns]
BETA = Fraction(819, 1024)
HZ = 1024  # CUBIC counts time in units of 1/HZ s


class Standard:
    """Slow start, then one packet per round trip; half the window after a loss."""

    def grow(self, cwnd: float, ssthresh: int, now: int, rtt: int, acked: int) -> float:
        """Return the window after an ACK of `acked` packets."""
        return cwnd + (1.0 if cwnd < ssthresh else 1.0 / cwnd)

    def reduce(self, window: float, *, timeout: bool) -> float:
        """Return the window after a loss at this window."""
        return window / 2.0

    def on_ack(self, packets: int, now: int, rtt: int) -> None:
        """Process an ACK of any kind; `rtt` is the measurement before it."""


class Counting(Standard):
    """Windows of whole packets that grow by one per number of ACKs; the state is reset at a timeout."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.packets_per_ack_16 = 32  # moving average in sixteenths; delayed ACKs give 2
        self.interval = 0  # ACKs between two steps
        self.acks = 0  # since the last step
        self.judged = (0, 0)  # window and time [ms] at which the interval was found
        self.last_max = 0  # window at the last loss, lowered by fast convergence
        self.has_lost = False

    def grow(self, cwnd: float, ssthresh: int, now: int, rtt: int, acked: int) -> float:
        self.average(acked)
        return self.step(cwnd, ssthresh, now, rtt)

    def average(self, acked: int) -> None:
        self.packets_per_ack_16 += acked - self.packets_per_ack_16 // 16

    def step(self, cwnd: float, ssthresh: int, now: int, rtt: int) -> float:
        window = int(cwnd)
        self.observe(self.milliseconds(now), rtt)
        if window <= ssthresh:
            return cwnd + 1.0
        self.count_ack()
        time = self.milliseconds(now)
        old_window, old_time = self.judged
        if window != old_window or time - old_time > 31:
            self.judged = window, time
            self.interval = self.judge(window, time)
        if self.acks < self.interval:
            self.acks += 1
            return cwnd
        self.acks = 0
        return cwnd + 1.0

    def for_delayed_acks(self, interval: int) -> int:
        return max(1, 16 * interval // self.packets_per_ack_16)

    def remember(self, window: int) -> None:
        """Update the maximum: a loss below the old maximum releases capacity (fast convergence)."""
        if window < self.last_max:
            self.last_max = int(window * (1 + BETA) / 2)
        else:
            self.last_max = window
        self.has_lost = True
        self.acks = 0

    # Hooks of the controls.

    def milliseconds(self, now: int) -> int:
        return now // MS

    def observe(self, time: int, rtt: int) -> None:
        pass

    def count_ack(self) -> None:
        pass

    def judge(self, window: int, time: int) -> int:
        raise NotImplementedError


class Bic(Counting):
    def judge(self, window: int, time: int) -> int:
        if window <= 14:
            return window
        if window < self.last_max:
            distance = (self.last_max - window) // 4
            if distance > 16:
                interval = window // 16
            elif distance > 1:
                interval = window // distance
            else:
                interval = 20 * window // 4
        elif window < self.last_max + 4:
            interval = 20 * window // 4
        elif window < self.last_max + 48:
            interval = 3 * window // (window - self.last_max)
        else:
            interval = window // 16
        if not self.has_lost:
            interval = min(interval, 20)
        return self.for_delayed_acks(interval)

    def reduce(self, window: float, *, timeout: bool) -> float:
        packets = int(window)
        self.remember(packets)
        if timeout:
            self.forget()
        return float(max(2, packets // 2 if packets <= 14 else int(packets * BETA)))


class Cubic(Counting):
    def forget(self) -> None:
        super().forget()
        self.epoch = 0  # start of the growth after a loss [ms]; 0: not started
        self.origin = 0  # window at the inflection point
        self.flat_after = 0  # K [1 / HZ]
        self.min_rtt_8 = 0  # [1/8 ms]
        self.friendly_acks = 0
        self.friendly_window = 0

    def milliseconds(self, now: int) -> int:
        return now // MS + 1  # 0 means never

    def observe(self, time: int, rtt: int) -> None:
        if rtt == 0 or 0 < self.epoch > time - 1000:
            return
        sample = 8 * (rtt // MS) or 1
        if self.min_rtt_8 == 0 or sample < self.min_rtt_8:
            self.min_rtt_8 = sample

    def count_ack(self) -> None:
        self.friendly_acks += 1

    def begin(self, window: int, time: int) -> None:
        self.epoch = time
        self.friendly_acks = 1
        self.friendly_window = window
        self.origin = max(window, self.last_max)
        below = self.origin - window
        self.flat_after = cube_root(2**40 // 410 * below)

    def judge(self, window: int, time: int) -> int:
        if self.epoch == 0:
            self.begin(window, time)
        since = (time + self.min_rtt_8 // 8 - self.epoch) * HZ // 1000
        away = abs(since - self.flat_after)
        change = 410 * min(away, 2**18) ** 3 // 2**40
        convex = since >= self.flat_after
        target = self.origin + change if convex else self.origin - change
        interval = window // (target - window) if target > window else 100 * window
        if convex and self.min_rtt_8 > 0:
            interval = max(interval, window * 8 * 1000 // (160 * self.min_rtt_8))
        if not self.has_lost:
            interval = 50
        return self.for_delayed_acks(self.be_friendly(window, interval))

    def be_friendly(self, window: int, interval: int) -> int:
        """Grow at least as fast as a standard TCP with the same BETA."""
        acks_per_packet = 23 * window // 8
        while self.friendly_acks > acks_per_packet:
            self.friendly_acks -= acks_per_packet
            self.friendly_window += 1
        if self.friendly_window > window:
            interval = min(interval, window // (self.friendly_window - window))
        return interval

    def reduce(self, window: float, *, timeout: bool) -> float:
        packets = int(window)
        self.remember(packets)
        self.epoch = 0
        if timeout:
            self.forget()
        return float(max(2, int(packets * BETA)))


def cube_root(value: int) -> int:
    """Return the largest integer below 2**18 whose cube is at most `value`."""
    root = math.floor(value ** (1 / 3))
    while root**3 > value:
        root -= 1
    while (root + 1) ** 3 <= value:
        root += 1
    return min(root, 2**18 - 1)


class Westwood(Standard):
    """Westwood+ of Linux 2.6: a bandwidth sample per round trip, filtered twice; a packet is 1460 bytes."""

    MSS = 1460

    def __init__(self) -> None:
        self.window_start: int | None = None  # [ms]
        self.bytes = 0
        self.once = self.twice = 0  # smoothed bandwidth [byte / ms]
        self.rtt_min: int | None = None  # [ms]
        self.accounted = 0  # bytes counted for duplicate ACKs
        self.credit = 0  # packets acknowledged since the window last opened

    def grow(self, cwnd: float, ssthresh: int, now: int, rtt: int, acked: int) -> float:
        self.credit += acked
        if cwnd <= ssthresh:
            return cwnd + 1
        if self.credit >= int(cwnd):
            self.credit -= int(cwnd)
            return cwnd + 1
        return cwnd

    def on_ack(self, packets: int, now: int, rtt: int) -> None:
        time = now // MS
        if self.window_start is None:
            self.window_start = time
        self.sample(time, rtt)
        self.bytes += self.fresh_bytes(packets)
        if rtt > 0:
            rtt_ms = rtt // MS or 1
            self.rtt_min = rtt_ms if self.rtt_min is None else min(self.rtt_min, rtt_ms)

    def sample(self, time: int, rtt: int) -> None:
        assert self.window_start is not None
        length = time - self.window_start
        if rtt == 0 or length <= 50 or length <= rtt // MS:
            return
        rate = self.bytes // length
        if (self.once, self.twice) == (0, 0):
            self.once = self.twice = rate
        else:
            self.once = (7 * self.once + rate) // 8
            self.twice = (7 * self.twice + self.once) // 8
        self.window_start = time
        self.bytes = 0

    def fresh_bytes(self, packets: int) -> int:
        """Return the bytes that have left the network and are not yet counted."""
        acknowledged = packets * self.MSS
        if packets == 0:
            self.accounted += self.MSS
            return self.MSS
        if packets == 1:
            return self.MSS
        if self.accounted >= acknowledged:
            self.accounted -= acknowledged
            return self.MSS
        acknowledged -= self.accounted
        self.accounted = 0
        return acknowledged

    def reduce(self, window: float, *, timeout: bool) -> float:
        self.credit = 0
        fits = self.twice * (self.rtt_min or 0) // self.MSS
        if timeout:
            self.rtt_min = None
        return float(max(fits, 2))


CONTROLS: dict[str, type[Standard]] = {"": Standard, "bic": Bic, "cubic": Cubic, "westwood": Westwood}
