"""The retransmission timer of a fluid sender: RFC 6298 in whole ticks, as ns-2 has it."""

from collections.abc import Sequence

from netcarlo.kernels.base.layout import P


class TwinTimer:
    def __init__(self, p: Sequence[int]) -> None:
        self.raw_tick, self.tick, self.phase = p[P.TICK], max(p[P.TICK], 1), p[P.CLOCK_PHASE]
        self.least, self.most = p[P.MIN_RTO], p[P.MAX_RTO]
        self.estimate = self.before = p[P.INITIAL_RTO]
        self.srtt_8 = self.rttvar_4 = 0
        self.backoff = 1
        self.timed = 0.0

    @property
    def length(self) -> int:
        return max(min(max(self.estimate, self.least) * self.backoff, self.most), 2 * self.raw_tick)

    def ticks(self, sent: int, now: int) -> int:
        return max((now + self.phase) // self.tick - (sent + self.phase) // self.tick, 1)

    def measure(self, sent: int, now: int) -> None:
        ticks = self.ticks(sent, now)
        if self.srtt_8 == 0:
            self.srtt_8, self.rttvar_4 = 8 * ticks, 2 * ticks
        else:
            error = ticks - self.srtt_8 // 8
            self.srtt_8 = max(self.srtt_8 + error, 1)
            self.rttvar_4 = max(self.rttvar_4 + abs(error) - self.rttvar_4 // 4, 1)
        self.before, self.estimate = self.estimate, (self.rttvar_4 + self.srtt_8 // 8) * self.tick
        self.backoff = 1

    def pass_rounds(self, t: int, rtt: float, rounds: float, guarded: int) -> None:
        self.timed += rounds
        if guarded > 0:
            self.timed = 0.0
        elif self.timed >= 1.0:
            self.timed = 0.0
            self.measure(t, t + int(rtt))

    def back_off(self) -> None:
        if self.backoff < 64 or self.length < self.most:
            self.backoff *= 2
        if self.backoff > 8:
            self.rttvar_4 += self.srtt_8 // 8
            self.srtt_8 = 0
