"""TCP SACK (ns-2.35 `tcp-sack1.cc`, `scoreboard-rq.cc`): the sender estimates the packets in the pipe."""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.tcp import TcpSender


class Scoreboard:
    """Packets reported by the receiver, and holes that have been retransmitted."""

    def __init__(self) -> None:
        self.sacked: set[int] = set()
        self.lowest = -1  # first packet not cumulatively acknowledged
        self.next_hole = -1  # holes below have been retransmitted
        self.news = False  # the latest update reported new packets

    def clear(self) -> None:
        self.sacked = set()
        self.next_hole = -1

    def update(self, cumulative: int, blocks: list[tuple[int, int]]) -> None:
        known = len(self.sacked)
        self.news = False
        if self.lowest <= cumulative:
            self.lowest = cumulative + 1
            self.news = known > 0
            self.sacked = {number for number in self.sacked if number >= self.lowest}
        for left, right in blocks:
            self.sacked |= set(range(left, right))
        self.news = self.news or len(self.sacked) != known

    def hole(self) -> int | None:
        """Return the first hole that was not retransmitted and has a reported packet above it."""
        number = max(self.next_hole, self.lowest)
        while number in self.sacked:
            number += 1
        if not self.sacked or number > max(self.sacked):
            return None
        self.next_hole = number
        return number

    def resent(self, number: int) -> None:
        self.next_hole = max(self.next_hole, number + 1)


class Sack(TcpSender):
    sack = True
    recovering = False  # in fast recovery
    after_timeout = False  # no new acknowledgement since the timeout
    pipe = -1

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.scoreboard = Scoreboard()

    def on_ack(self, ack: Ack) -> None:
        if self.recovering:
            if ack.number >= self.highest_ack:  # otherwise later packets have overtaken it
                self.on_ack_in_recovery(ack)
            self.send_window()
            return
        if ack.number > self.last_ack:
            self.new_ack_and_grow(ack.number)
            self.after_timeout = False
            self.scoreboard.clear()
        elif ack.number == self.last_ack and not self.after_timeout:
            self.scoreboard.update(self.highest_ack, ack.blocks)
            if self.scoreboard.news:
                self.dupacks += 1
                if self.dupacks == self.parameters.DUPACKS:
                    self.fast_retransmit()
                elif self.dupacks < self.parameters.DUPACKS:
                    self.limited_transmit()
        if self.dupacks == 0:
            self.send_window()

    def on_ack_in_recovery(self, ack: Ack) -> None:
        self.pipe -= 1
        if ack.number >= self.recover:
            self.recover = 0
            self.recovering = False
            self.new_ack(ack.number)
            self.after_timeout = False
            self.scoreboard.clear()
        elif ack.number > self.highest_ack:
            self.highest_ack = ack.number
            self.write()
            self.scoreboard.update(self.highest_ack, ack.blocks)
            self.pipe -= 1  # the retransmitted packet and the one that triggered this ACK
            self.set_timer()
            self.backoff = 1
        elif not self.after_timeout:
            self.scoreboard.update(self.highest_ack, ack.blocks)
            if self.scoreboard.news and self.dupacks > 0:
                self.dupacks += 1

    def fast_retransmit(self) -> None:
        if self.may_fast_retransmit():
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.recover = self.highest_sent
            self.pipe = self.highest_sent - self.highest_ack - self.parameters.DUPACKS
            self.restart_timer()
            self.recovering = True
            self.scoreboard.resent(self.highest_ack + 1)
            self.last_cut = "dupack"
            self.cut_window()
            self.output(self.last_ack + 1)

    def on_timeout(self) -> None:
        self.dupacks = 0
        self.recovering = False
        self.after_timeout = True
        self.last_ack = max(self.last_ack, self.highest_ack)
        self.scoreboard.clear()
        super().on_timeout()

    def send_window(self, burst: int | None = None) -> None:
        assert burst is None
        while self.room() and not self.finished and self.last_ack + 1 < self.limit:
            hole = self.scoreboard.hole()
            if hole is None:
                number = self.next_number
                allowed = self.window if self.recovering else self.usable_window()
                if number > self.highest_ack + allowed or number >= self.written:
                    break
            else:
                number = hole
                if self.recover <= 0 or number > self.highest_ack + self.window:
                    break
            if not self.may_send():
                break
            if hole is not None:
                self.scoreboard.resent(number)
            self.next_number = max(self.next_number, number + 1)
            self.output(number)
            self.pipe += 1

    def resume(self) -> None:
        if self.recovering:
            self.send_window()
        else:  # new packets, regardless of holes
            super().send_window()

    def room(self) -> bool:
        if self.recovering:
            return self.pipe < int(self.cwnd)
        return self.next_number <= self.last_ack + self.usable_window()
