"""TCP-Probing (Tsaoussidis and Badr 2000) on NewReno, and its recovery after a pause."""

from netcarlo.kernels.layout import Out
from tests.naive.newreno import NewReno
from tests.naive.pausing import Pausing


class Resuming(Pausing, NewReno):
    """NewReno that goes on after a pause as in the middle of a recovery."""

    def repair(self) -> None:
        self.last_ack = self.highest_ack
        self.saw_partial_ack = False
        self.restart_timer()
        missing = self.highest_ack < self.highest_sent
        self.last_cut = "dupack" if missing else "exited"
        self.inflation = self.dupacks if missing else 0
        if missing:
            self.recover = self.highest_sent
            self.dupacks = max(self.dupacks, self.parameters.DUPACKS)
            self.next_number = max(self.next_number, self.highest_ack + 2)
            self.output(self.highest_ack + 1)
        else:
            self.dupacks = 0
        self.send_much()


class Probing(Resuming):
    def choose(self) -> str:
        return "pause"

    def fast_retransmit(self) -> None:
        if self.may_fast_retransmit():
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.pause("dupack")

    def send_after_ack(self) -> None:
        if not self.paused:
            super().send_after_ack()
