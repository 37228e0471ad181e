"""Reno and CUBIC with HyStart or HyStart++, in the integer arithmetic of Linux."""

import math
from dataclasses import dataclass
from typing import Protocol

from tests.twins.parameters import Parameters

INFINITE = 0x7FFFFFFF


class Sender(Protocol):
    """State of the sender that a congestion control may read."""

    cwnd: int
    ssthresh: int
    una: int
    nxt: int
    p: Parameters


class Standard:
    """Standard slow start, which ends when packets are lost; base of HyStart and HyStart++."""

    def begin(self, sender: Sender, now_us: int) -> None:
        pass

    def growth(self, acked: int) -> int:
        return acked

    def look(self, sender: Sender, now_us: int, rtt: int, least: int) -> None:
        pass


@dataclass
class Round:
    """Round of HyStart."""

    start: int
    end: int
    last_ack: int
    least: int = INFINITE
    samples: int = 0


class Hystart(Standard):
    """HyStart of Linux."""

    def __init__(self) -> None:
        self.found = False
        self.round = Round(0, 0, 0)

    def begin(self, sender: Sender, now_us: int) -> None:
        self.found = False
        self.round = Round(now_us, sender.nxt, now_us)

    def look(self, sender: Sender, now_us: int, rtt: int, least: int) -> None:
        if self.found:
            return
        if sender.una > self.round.end:
            self.round = Round(now_us, sender.nxt, now_us)
        if sender.cwnd < 16:
            return
        r = self.round
        if now_us - r.last_ack <= 2000:
            r.last_ack = now_us
            self.found = now_us - r.start > (least + 1000) // 2
        r.least = min(r.least, rtt)
        if r.samples < 8:
            r.samples += 1
        elif r.least > least + min(max(least // 8, 4000), 16_000):
            self.found = True
        if self.found:
            sender.ssthresh = sender.cwnd


class HystartPlusPlus(Standard):
    """HyStart++ (RFC 9406, section 4.2), with the names of the RFC."""

    def __init__(self) -> None:
        self.restart(0)

    def restart(self, window_end: int) -> None:
        self.window_end = window_end
        self.last_round_min_rtt = self.current_round_min_rtt = math.inf
        self.rtt_sample_count = 0
        self.css_rounds: int | None = None  # None: not in conservative slow start
        self.css_baseline_min_rtt = math.inf
        self.css_acked = 0

    def begin(self, sender: Sender, now_us: int) -> None:
        self.restart(sender.nxt)

    def growth(self, acked: int) -> int:
        acked = min(acked, 8)
        if self.css_rounds is None:
            return acked
        before = self.css_acked // 4
        self.css_acked += acked
        return self.css_acked // 4 - before

    def look(self, sender: Sender, now_us: int, rtt: int, least: int) -> None:
        if sender.ssthresh != INFINITE:  # only in the initial slow start
            return
        if sender.una > self.window_end:
            self.window_end = sender.nxt
            self.last_round_min_rtt, self.current_round_min_rtt = self.current_round_min_rtt, math.inf
            self.rtt_sample_count = 0
            if self.css_rounds is not None:
                self.css_rounds += 1
                if self.css_rounds == 5:
                    sender.ssthresh = sender.cwnd
        self.current_round_min_rtt = min(self.current_round_min_rtt, rtt)
        self.rtt_sample_count += 1
        if self.rtt_sample_count < 8:
            return
        if self.css_rounds is not None:
            if self.current_round_min_rtt < self.css_baseline_min_rtt:
                self.css_rounds = None
        elif self.last_round_min_rtt != math.inf:
            thresh = max(4000, min(self.last_round_min_rtt // 8, 16_000))
            if self.current_round_min_rtt >= self.last_round_min_rtt + thresh:
                self.css_baseline_min_rtt = self.current_round_min_rtt
                self.css_rounds = self.css_acked = 0


class Reno:
    """Reno (RFC 5681)."""

    own: type[Standard] = Standard
    least_rtt = 0  # minimum RTT [us], 0: unknown

    def slow_start(self, p: Parameters) -> Standard:
        """Return the mode of slow start, as in `LinuxP.SLOW_START`."""
        if not hasattr(self, "_slow_start"):
            self._slow_start = (self.own, Standard, Hystart, HystartPlusPlus)[p.SLOW_START]()
        return self._slow_start

    def after_loss(self, cwnd: int) -> int:
        return max(cwnd // 2, 2)

    def every(self, sender: Sender, jiffies: int, second: int, acked: int, in_jiffies: int) -> int:
        return sender.cwnd

    def timeout(self, sender: Sender, now_us: int) -> None:
        self.slow_start(sender.p).begin(sender, now_us)
        self.least_rtt = 0

    def idle(self, jiffies: int, idle: int) -> None:
        """Process the end of an idle period of this duration."""

    def least_jiffies(self) -> int:
        """Return the minimum RTT [us]."""
        return 0

    def measured(self, sender: Sender, now_us: int, jiffies: int, second: int, rtt_us: int) -> None:
        if rtt_us >= 0:
            self.heed(sender, now_us, rtt_us)

    def heed(self, sender: Sender, now_us: int, rtt_us: int) -> None:
        rtt = max(rtt_us, 1)
        self.least_rtt = min(self.least_rtt or rtt, rtt)
        if sender.cwnd < sender.ssthresh:
            self.slow_start(sender.p).look(sender, now_us, rtt, self.least_rtt)


class Cubic(Reno):
    """CUBIC (RFC 9438); times in jiffies and 1/1024 s."""

    own = Hystart

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.cnt = 0
        self.last_max = 0
        self.at_window = 0
        self.at_time = 0
        self.origin = 0
        self.k = 0
        self.acked = 0
        self.standard = 0
        self.epoch: int | None = None

    def timeout(self, sender: Sender, now_us: int) -> None:
        super().timeout(sender, now_us)
        self.forget()

    def after_loss(self, cwnd: int) -> int:
        self.epoch = None
        self.last_max = cwnd * (1024 + 717) // 2048 if cwnd < self.last_max else cwnd
        return max(cwnd * 717 // 1024, 2)

    def idle(self, jiffies: int, idle: int) -> None:
        if self.epoch is not None:
            self.epoch = min(self.epoch + idle, jiffies)

    def least_jiffies(self) -> int:
        return self.least_rtt

    def every(self, sender: Sender, jiffies: int, second: int, acked: int, in_jiffies: int) -> int:
        cwnd = sender.cwnd
        self.acked += acked
        if cwnd == self.at_window and jiffies - self.at_time <= second // 32:
            return max(self.cnt, 1)
        if self.epoch is None or jiffies != self.at_time:
            self.at_window, self.at_time = cwnd, jiffies
            if self.epoch is None:
                self.epoch, self.acked, self.standard = jiffies, acked, cwnd
                below = max(self.last_max - cwnd, 0)
                self.k = min(cube_root(below * (2**40 // 410)), 2**18 - 1)
                self.origin = max(self.last_max, cwnd)
            t = (jiffies - self.epoch + in_jiffies) * 1024 // second
            rise = 410 * min(abs(t - self.k), 2**18) ** 3 // 2**40
            target = self.origin + rise if t >= self.k else self.origin - rise
            self.cnt = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
            if self.last_max == 0:
                self.cnt = min(self.cnt, 20)
        share = cwnd * 15 // 8
        while self.acked > share:
            self.acked -= share
            self.standard += 1
        if self.standard > cwnd:
            self.cnt = min(self.cnt, cwnd // (self.standard - cwnd))
        self.cnt = max(self.cnt, 2)
        return self.cnt

    def measured(self, sender: Sender, now_us: int, jiffies: int, second: int, rtt_us: int) -> None:
        if self.epoch is not None and jiffies - self.epoch < second:
            return
        self.heed(sender, now_us, rtt_us)


def cube_root(value: int) -> int:
    """Return the cube root, rounded down."""
    root = round(value ** (1 / 3))
    while root**3 > value:
        root -= 1
    while (root + 1) ** 3 <= value:
        root += 1
    return root


assert cube_root(27) == 3 and math.isclose(cube_root(10**15), 10**5)

CONTROLS: dict[str, type[Reno]] = {"reno": Reno, "cubic": Cubic}
