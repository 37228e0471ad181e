"""TCP Vegas (ns-2.35 `tcp-vegas.cc`): the window follows the difference of expected and actual rate.

There is no SYN: packet 0 is data. Times are relative to the first packet, in whole nanoseconds.
"""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.tcp import TcpSender

SECOND = 1_000_000_000
NOT_SENT = -SECOND


class Vegas(TcpSender):
    first_data = 0

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.first_sent = 0
        self.clear_tables()
        self.heard = False  # True after the first acknowledgement
        self.window_changed_at = 0
        self.slow_window = 0.0  # cwnd before it was inflated
        self.base_rtt = SECOND**2
        self.rtt_sum = 0
        self.rtt_count = 0
        self.round_start = 0  # number of the packet that closes the round
        self.round_began_at = 0
        self.increment = 0.0  # per acknowledgement
        self.grow_this_round = True
        self.worried = 0
        self.srtt_8_ns = 0
        self.rttvar_4_ns = 0
        self.fine_rto = 1000 * SECOND

    def clear_tables(self) -> None:
        self.sent_at = [NOT_SENT] * self.window
        self.transmits = [0] * self.window

    def time(self) -> int:
        return self.simulation.now - self.first_sent

    def packet_size(self, number: int) -> int:
        return self.parameters.DATA - self.missing(number)

    def output(self, number: int) -> None:
        if number == 0:
            self.first_sent = self.simulation.now
            self.clear_tables()
        self.sent_at[number % self.window] = self.time()
        self.transmits[number % self.window] += 1
        super().output(number)

    def on_ack(self, ack: Ack) -> None:
        if not self.heard:
            self.heard = True
            self.base_rtt = self.time()
            self.srtt_8_ns = 8 * self.time()
            self.rttvar_4_ns = self.time()
            self.fine_rto = ((self.srtt_8_ns >> 2) + self.rttvar_4_ns) >> 1
        if ack.number > self.last_ack:
            self.on_new_ack(ack.number)
        elif ack.number == self.last_ack:
            self.on_duplicate_ack()
        if self.dupacks == 0 or self.dupacks >= self.parameters.DUPACKS:
            self.send_window()

    def on_new_ack(self, number: int) -> None:
        if self.last_ack == 0:
            self.cwnd = self.initial_window
        if self.dupacks > self.parameters.DUPACKS and self.cwnd > self.slow_window:
            self.cwnd = self.slow_window
            self.ssthresh = 2
        previous = self.last_ack
        self.new_ack(number)
        if number >= self.round_start:
            self.end_of_round()
        if self.increment == 1.0 and self.cwnd >= self.ssthresh:
            self.increment = 0.0
        if self.increment > 0.0 and self.cwnd - (self.next_number - self.last_ack) <= 2.0:
            self.cwnd += self.increment
        self.update_fine_timeout(previous, number)
        if self.worried > 0:
            self.worried -= 1
            if self.is_overdue(number + 1):
                self.dupacks = self.parameters.DUPACKS
                self.output(number + 1)
            else:
                self.worried = 0

    def end_of_round(self) -> None:
        rtt = self.rtt_sum // self.rtt_count if self.rtt_count else self.time() - self.round_began_at
        self.rtt_sum = 0
        self.rtt_count = 0
        if rtt > 0:
            in_round = self.next_number - self.round_start
            in_flight = self.next_number - self.last_ack
            if rtt < self.base_rtt or in_round <= 1:
                self.base_rtt = rtt
            self.adapt(rtt, in_round, in_flight)
        self.round_start = self.next_number
        self.round_began_at = self.time()

    def adapt(self, rtt: int, in_round: int, in_flight: int) -> None:
        """Compare the rates: packets in flight per base RTT, and packets of the round per RTT."""
        p = self.parameters
        # trunc(in_flight - in_round * base_rtt / rtt + 1/2), the packets that wait in queues
        numerator = 2 * in_flight * rtt - 2 * in_round * self.base_rtt + rtt
        excess = abs(numerator) // (2 * rtt)
        if numerator < 0:
            excess = -excess
        if self.cwnd < self.ssthresh:
            self.grow_this_round = not self.grow_this_round
            if not self.grow_this_round:
                self.increment = 0.0
            elif excess > p.VEGAS_GAMMA:
                self.ssthresh = 2
                self.cwnd = max(2.0, self.cwnd - self.cwnd / 8.0)
                self.increment = 0.0
            else:
                self.increment = 1.0
        elif excess > p.VEGAS_BETA:
            self.cwnd = max(2.0, self.cwnd - 1.0)
            self.increment = 0.0
        elif excess < p.VEGAS_ALPHA:
            self.increment = 1.0 / self.cwnd
        else:
            self.increment = 0.0

    def update_fine_timeout(self, previous: int, number: int) -> None:
        index = number % self.window
        sent_at, transmits = self.sent_at[index], self.transmits[index]
        # ns-2 stops clearing where the table wraps around
        k = (previous + 1) % self.window
        left = number - previous
        while k <= index and left > 0:
            self.sent_at[k] = NOT_SENT
            self.transmits[k] = 0
            k = (k + 1) % self.window
            left -= 1
        if sent_at == 0 or transmits != 1:
            return
        rtt = self.time() - sent_at
        self.rtt_sum += rtt
        self.rtt_count += 1
        if rtt > 0:
            self.base_rtt = min(self.base_rtt, rtt)
            error = rtt - (self.srtt_8_ns >> 3)
            self.srtt_8_ns += error
            self.rttvar_4_ns += abs(error) - (self.rttvar_4_ns >> 2)
            self.fine_rto = ((self.srtt_8_ns >> 2) + self.rttvar_4_ns) >> 1
            self.fine_rto += self.fine_rto >> 4

    def is_overdue(self, number: int) -> bool:
        if number >= self.limit:
            return False
        return self.time() - self.sent_at[number % self.window] >= self.fine_rto

    def on_duplicate_ack(self) -> None:
        p = self.parameters
        first = self.last_ack + 1
        self.dupacks += 1
        if self.is_overdue(first) or self.dupacks == p.DUPACKS:
            if self.highest_ack > self.recover or self.last_cut != "timeout":
                self.resend(first)
        elif self.dupacks > p.DUPACKS:
            self.cwnd += 1.0

    def resend(self, number: int) -> None:
        sent_at = self.sent_at[number % self.window]
        transmits = self.transmits[number % self.window]
        window = self.usable_window()
        self.outcomes.add(Out.FAST_RETRANSMITS)
        self.last_cut = "dupack"
        self.recover = self.highest_sent
        self.worried = min(2, self.next_number - self.last_ack)
        if transmits > 1:
            self.fine_rto *= 2
        else:
            self.fine_rto += self.fine_rto >> 3
        if self.window_changed_at < sent_at:  # no reduction since this packet was sent
            if window <= 3:
                window = 2
            elif transmits > 1:
                window //= 2
            else:
                window -= window // 4
            self.slow_window = float(window)
            self.cwnd = self.slow_window + self.dupacks
            self.window_changed_at = self.time()
        self.back_off()
        self.restart_timer()
        self.output(number)
        if transmits == 1:
            self.dupacks = self.parameters.DUPACKS

    def on_timeout(self) -> None:
        self.dupacks = 0
        self.recover = self.highest_sent
        self.last_cut = "timeout"
        self.back_off()
        self.go_back()
        self.cut(timeout=True)
        self.cwnd = 2.0
        self.slow_window = 0.0
        self.window_changed_at = self.time()
        self.send_window()
