"""TCP NewReno (ns-2.35 `tcp-newreno.cc`): a partial acknowledgement retransmits the next hole at once."""

from tests.twins.tcp.reno import Reno


class NewReno(Reno):
    saw_partial_ack = False

    def on_new_ack(self, number: int) -> None:
        if number >= self.recover or self.last_cut != "dupack":
            if self.inflation > 0:
                self.inflation = 0
                if self.last_cut == "dupack":
                    self.last_cut = "exited"
            self.saw_partial_ack = False
            self.new_ack_and_grow(number)
        else:
            self.on_partial_ack(number)

    def on_partial_ack(self, number: int) -> None:
        if not self.saw_partial_ack:  # only the first partial ACK restarts the timer ("impatient")
            self.saw_partial_ack = True
            self.set_timer()
        newly_acked = number - self.last_ack
        if self.inflation > newly_acked:
            self.inflation -= newly_acked - 1
        else:
            self.cwnd -= newly_acked - self.inflation
            self.inflation = 1
        self.cwnd = max(self.cwnd, 1.0)
        self.last_ack = self.highest_ack = number
        self.write()
        self.next_number = max(self.next_number, number + 1)
        if self.timing and number >= self.timed_number:
            self.timing = False
            self.backoff = 1
        self.output(number + 1)

    def send_after_ack(self) -> None:
        if self.dupacks == 0:
            self.send_window()
        elif self.dupacks >= self.parameters.DUPACKS:
            self.send_window(burst=2)
