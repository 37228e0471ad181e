"""Random early detection (Floyd and Jacobson 1993), which depends on the mean queue."""

from enum import Enum
from typing import Any

from tests.twins.random_numbers import Streams


class Verdict(Enum):
    PASS = 0
    HIT = 1  # random: dropped or marked
    DROP = 2


class Red:
    def __init__(self, columns: Any, streams: Streams, stream: int) -> None:
        self.columns = columns
        self.streams = streams
        self.stream = stream
        self.draws = 0
        self.mean = 0.0  # queue
        self.count = -1  # packets since the last hit; -1: the mean is below the threshold

    def judge(self, held: int, idle: int | None) -> Verdict:
        """Return the verdict on a packet that finds `held` others; `idle` is the time since the queue became
        empty [ns].
        """
        c = self.columns
        self._follow(held, idle)
        if self.mean < c.RED_MIN_TH:
            self.count = -1
            return Verdict.PASS
        if self.mean >= (2 * c.RED_MAX_TH if c.RED_GENTLE else c.RED_MAX_TH):
            self.count = 0
            return Verdict.DROP
        self.count += 1
        if self._strikes(self._probability()):
            self.count = 0
            return Verdict.HIT
        return Verdict.PASS

    def _follow(self, held: int, idle: int | None) -> None:
        weight = 2.0**-self.columns.RED_WEIGHT
        if idle is not None and self.columns.RED_PACKET_TIME > 0:
            missed = idle // self.columns.RED_PACKET_TIME  # packets that would have found the queue empty
            power = 1.0 - weight
            for digit in reversed(f"{missed:b}"):
                if digit == "1":
                    self.mean *= power
                power *= power
        self.mean += (held - self.mean) * weight

    def _probability(self) -> float:
        c = self.columns
        top = float(c.RED_MAX_P / 65536.0)
        if self.mean >= c.RED_MAX_TH:
            return float((self.mean - c.RED_MAX_TH) * (1.0 - top) / c.RED_MAX_TH + top)
        return float(top * (self.mean - c.RED_MIN_TH) / (c.RED_MAX_TH - c.RED_MIN_TH))

    def _strikes(self, probability: float) -> bool:
        """Return True for a hit. Gaps between hits are uniform, at most twice 1 / probability."""
        if probability == 0.0:
            return False
        still = 1.0 / probability - self.count
        if still <= 1.0:
            return True
        word = self.streams.block(self.stream, self.draws)[0]
        self.draws += 1
        return word / 2.0**32 < 1.0 / still
