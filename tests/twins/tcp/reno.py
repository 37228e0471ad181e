"""TCP Reno (ns-2.35 `tcp-reno.cc`): duplicate acknowledgements inflate the window in fast recovery."""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.tcp import TcpSender


class Reno(TcpSender):
    inflation = 0  # packets by which the window is inflated

    def usable_window(self) -> int:
        return min(int(self.cwnd) + self.inflation, self.window)

    def exact_window(self) -> float:
        return min(self.cwnd + self.inflation, float(self.window))

    def on_ack(self, ack: Ack) -> None:
        if ack.number > self.last_ack:
            self.on_new_ack(ack.number)
        elif ack.number == self.last_ack:
            self.on_duplicate_ack()
        self.send_after_ack()

    def on_new_ack(self, number: int) -> None:
        if self.last_cut == "dupack":
            self.last_cut = "exited"
        self.inflation = 0
        self.new_ack_and_grow(number)

    def on_duplicate_ack(self) -> None:
        self.dupacks += 1
        if self.dupacks == self.parameters.DUPACKS:
            self.fast_retransmit()
        elif self.dupacks < self.parameters.DUPACKS:
            self.limited_transmit()
        elif self.last_cut == "dupack":
            self.inflation += 1

    def send_after_ack(self) -> None:
        if self.dupacks == 0 or self.dupacks >= self.parameters.DUPACKS:
            self.send_window()

    def fast_retransmit(self) -> None:
        if self.may_fast_retransmit():
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.recover = self.highest_sent
            self.last_cut = "dupack"
            self.cut_window()
            self.restart_timer()
            self.output(self.last_ack + 1)
            self.inflation = self.parameters.DUPACKS

    def on_timeout(self) -> None:
        self.inflation = 0
        self.dupacks = 0
        super().on_timeout()
