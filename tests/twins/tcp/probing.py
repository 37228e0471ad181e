"""TCP-Probing (Tsaoussidis and Badr 2000) on NewReno, and its recovery after a pause."""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.newreno import NewReno
from tests.twins.tcp.pausing import Pausing
from tests.twins.tcp.receiver import Ack


class Resuming(Pausing, NewReno):
    """NewReno that continues after a pause as within a recovery, or as after a timeout."""

    def note_ack_in_pause(self, ack: Ack) -> None:
        if self.last_cut != "dupack":
            return
        newly_acked = ack.number - self.highest_ack
        if newly_acked == 0:
            self.inflation += 1
        else:  # one filled the hole, the others had arrived before
            self.inflation = max(self.inflation - (newly_acked - 1), 0)

    def cut_after_pause(self) -> None:
        """Reduce the window without counting the packets that arrived after the hole."""
        arrived, self.inflation = self.inflation, 0
        self.cwnd = self.cut()
        self.inflation = arrived

    def repair(self) -> None:
        arrived = self.inflation if self.last_cut == "dupack" else self.dupacks
        outstanding = self.highest_sent - self.highest_ack
        self.last_ack = self.highest_ack
        self.recover = self.highest_sent
        self.saw_partial_ack = False
        self.restart_timer()
        if arrived < outstanding / 2 or outstanding == 0:
            self.last_cut = "timeout"
            self.inflation = 0
            self.dupacks = 0
            self.next_number = self.highest_ack + 1
        else:
            self.last_cut = "dupack"
            self.inflation = arrived
            self.dupacks = max(self.dupacks, self.parameters.DUPACKS)
            self.next_number = max(self.next_number, self.highest_ack + 2)
            self.output(self.highest_ack + 1)
        self.send_window()


class Probing(Resuming):
    resumed_at = -1  # the last acknowledged packet when a pause ended
    duplicates_since = 0

    def repair(self) -> None:
        self.resumed_at = self.highest_ack
        self.duplicates_since = 0
        super().repair()

    def on_duplicate_ack(self) -> None:
        if self.resumed_at == self.highest_ack:
            self.duplicates_since += 1
            if self.duplicates_since == self.parameters.DUPACKS:  # the retransmission was lost
                self.dupacks += 1
                self.inflation += int(self.last_cut == "dupack")
                self.outcomes.add(Out.FAST_RETRANSMITS)
                self.pause("dupack")
                return
        super().on_duplicate_ack()

    def timeout_action(self) -> str:
        return "pause"

    def fast_retransmit(self) -> None:
        if self.may_fast_retransmit():
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.pause("dupack")

    def send_after_ack(self) -> None:
        if not self.paused:
            super().send_after_ack()
