"""New TCP-Probing (Kong, Choi, Rhee and Chung) on SACK."""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.pausing import Pausing
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.sack import Sack, Scoreboard


class Memory(Scoreboard):
    """Scoreboard on which packets up to `gone` are lost unless they were reported."""

    gone = -1

    def clear(self) -> None:
        super().clear()
        self.gone = -1

    def mark_holes(self, first: int, last: int) -> None:
        """Turn all unreported packets from `first` to `last` into holes again."""
        self.lowest = self.next_hole = first
        self.gone = last

    def hole(self) -> int | None:
        number = max(self.next_hole, self.lowest)
        while number in self.sacked:
            number += 1
        last = max([self.gone, *self.sacked])
        if last < 0 or number > last:
            return None
        self.next_hole = number
        return number


class NewProbing(Pausing, Sack):
    scoreboard: Memory
    watched = -1  # the hole after this packet was retransmitted before packets from `noted` on
    noted = 0

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.scoreboard = Memory()

    def timeout_action(self) -> str:
        return "spare" if self.backoff == 1 and self.rto_base <= self.rto_before else "pause"

    def cut_window(self) -> None:
        self.scoreboard.gone = -1
        self.spared += 1

    def note_ack_in_pause(self, ack: Ack) -> None:
        self.scoreboard.update(ack.number, ack.blocks)

    def repair(self) -> None:
        self.last_ack = self.highest_ack
        self.restart_timer()
        self.after_timeout = False
        self.recovering = self.highest_ack < self.highest_sent
        if self.recovering:
            self.recover = self.highest_sent
            self.pipe = 0
            self.scoreboard.mark_holes(self.highest_ack + 1, self.highest_sent)
            self.dupacks = max(self.dupacks, self.parameters.DUPACKS)
        else:
            self.scoreboard.clear()
            self.dupacks = 0
        self.send_window()

    def note(self) -> None:
        self.watched = self.highest_ack
        self.noted = self.next_number

    def output(self, number: int) -> None:
        if self.recovering and number == self.highest_ack + 1:
            self.note()
        super().output(number)

    def send_window(self, burst: int | None = None) -> None:
        if self.recovering and self.watched != self.highest_ack:
            self.note()
        super().send_window(burst)

    def is_lost_again(self) -> bool:
        """Return True if the first hole was retransmitted and packets sent later have arrived."""
        resent = self.scoreboard.next_hole > self.highest_ack + 1
        later = max(self.scoreboard.sacked, default=-1) - self.noted + 1
        return self.watched == self.highest_ack and resent and later >= self.parameters.DUPACKS

    def on_ack_in_recovery(self, ack: Ack) -> None:
        if self.highest_ack < self.scoreboard.gone and self.highest_ack < ack.number < self.recover:
            self.pipe += 1  # the packet after the hole was not in the pipe
        old = self.highest_ack
        super().on_ack_in_recovery(ack)
        if self.recovering and self.highest_ack == old and self.is_lost_again():
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.spared += 1
            self.restart_timer()
            self.output(self.highest_ack + 1)
