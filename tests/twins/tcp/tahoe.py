"""TCP Tahoe: after three duplicate acknowledgements, slow start from the first hole."""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.tcp import TcpSender


class Tahoe(TcpSender):
    def on_ack(self, ack: Ack) -> None:
        if ack.number > self.last_ack:
            self.new_ack_and_grow(ack.number)
        elif ack.number == self.last_ack:
            self.dupacks += 1
            if self.dupacks == self.parameters.DUPACKS:
                self.fast_retransmit()
            elif self.dupacks < self.parameters.DUPACKS:
                self.limited_transmit()
        self.send_window()

    def fast_retransmit(self) -> None:
        if self.may_fast_retransmit():
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.recover = self.highest_sent
            self.last_cut = "dupack"
            self.cut()
            self.cwnd = 1.0
            self.go_back()
