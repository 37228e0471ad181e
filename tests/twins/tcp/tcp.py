"""Common parts of the TCP senders (ns-2.35 `tcp.cc`, one-way agent, default settings)."""

from collections.abc import Callable

from netcarlo.kernels.base.layout import Out
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet
from tests.twins.tcp.congestion import Standard
from tests.twins.tcp.receiver import Ack


class TcpSender:
    """Window, retransmission timer and RTT estimator; subclasses define the reaction to acknowledgements.

    Sequence numbers count packets; number 0 is the SYN.
    """

    first_data = 1
    sack = False  # requires ACKs with SACK blocks
    probes = pauses = spared = 0  # probe segments, pauses begun, losses without a cut

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters,
        send: Callable[[Packet], None], control: Standard | None = None,
    ) -> None:
        self.control = control or Standard()
        self.simulation = simulation
        self.outcomes = outcomes
        self.parameters = parameters
        self.send_packet = send
        self.timer = Timer(simulation, Rank.RETRANSMISSION, self.on_timer)
        self.may_send: Callable[[], bool] = lambda: True  # called before packets of the window are sent
        self.send_probe: Callable[[int], None]  # sends a probe segment; for senders that pause

        self.window = parameters.WINDOW
        self.initial_window = float(parameters.INITIAL_WINDOW)
        self.cwnd = 1.0  # until the SYN is acknowledged
        self.ssthresh = parameters.INITIAL_SSTHRESH
        self.next_number = 0  # the next to send
        self.highest_sent = -1
        self.highest_ack = -1
        self.last_ack = -1  # lower than highest_ack in the fast recovery of SACK
        self.limit = parameters.LIMIT + self.first_data  # the application has data below this number,
        self.written = self.first_data  # and has written it to the socket buffer below this one
        self.finished = False
        self.dupacks = 0
        self.recover = 0  # no second fast retransmit for losses up to here
        self.last_cut = ""  # why cwnd was cut: "dupack", "timeout", "" or "exited"

        # RTT estimator: whole ticks, srtt with 3 and rttvar with 2 fraction bits.
        self.phase = parameters.CLOCK_PHASE
        self.rtt_ticks = 0
        self.srtt_8 = 0
        self.rttvar_4 = 0
        self.rto_base = parameters.INITIAL_RTO
        self.backoff = 1
        self.timed_number = -1
        self.timed_at = 0
        self.timing = False

        if parameters.HANDSHAKE == 0 and self.first_data == 1:  # as if the SYN had been acknowledged
            self.cwnd = self.initial_window
            self.next_number = 1
            self.highest_sent = self.highest_ack = self.last_ack = 0
        self.write()

    # Hooks of the subclasses.

    def on_ack(self, ack: Ack) -> None:
        raise NotImplementedError

    # Packets and events from the network.

    def start(self) -> None:
        self.send_window()

    def receive(self, packet: Packet) -> None:
        if not self.finished:
            news = packet.content.number - self.highest_ack
            if news >= 0:
                self.control.on_ack(news, self.simulation.now, self.rtt)
            self.on_ack(packet.content)
            self.outcomes.values[Out.ACKED] = max(0, self.highest_ack + 1 - self.first_data)

    def on_probe_reply(self, number: int) -> None:
        """Process the reply to a probe segment."""

    def on_notice(self) -> None:
        """Process the notice that a link of the route is broken."""

    def paused_until(self, now: int) -> int:
        """Return the total duration of pauses [ns]."""
        return 0

    @property
    def rtt(self) -> int:
        """Return the latest RTT measurement [ns]."""
        return self.rtt_ticks * self.parameters.TICK

    # Sending.

    def usable_window(self) -> int:
        return int(min(self.cwnd, self.window))

    def exact_window(self) -> float:
        return min(self.cwnd, float(self.window))

    def write(self) -> None:
        """Fill the socket buffer as soon as few enough packets wait there for their ACK."""
        p = self.parameters
        acknowledged = max(self.highest_ack + 1, self.first_data)
        if p.SEND_BUFFER == 0:
            self.written = self.limit
        elif self.written - acknowledged <= p.SEND_WAKE:
            self.written = min(acknowledged + p.SEND_BUFFER, self.limit)

    def packet_size(self, number: int) -> int:
        p = self.parameters
        return p.HANDSHAKE if number == 0 else p.DATA + p.HEADER - self.missing(number)

    def missing(self, number: int) -> int:
        """Return the bytes by which the last packet is shorter than the others."""
        return int(self.parameters.SHORT) if number == self.limit - 1 else 0

    def output(self, number: int) -> None:
        """Send packet `number`, for the first time or again."""
        nothing_is_out = self.highest_sent == self.highest_ack
        if number >= self.first_data:
            kind = "data"
            self.outcomes.add(Out.SENT)
            self.outcomes.add(Out.RETRANSMITTED, int(number <= self.highest_sent))
        else:
            kind = "syn"
            self.outcomes.add(Out.HANDSHAKES)
        self.send_packet(Packet(kind, self.packet_size(number), number))
        if number > self.highest_sent:
            self.highest_sent = number
            if not self.timing:  # one packet at a time is timed, and only first transmissions
                self.timing = True
                self.timed_number = number
                self.timed_at = self.simulation.now
        if not self.timer.pending or nothing_is_out:
            self.set_timer()

    def send_window(self, burst: int | None = None) -> None:
        """Send what the window allows, at most `burst` packets."""
        sent = 0
        while (
            not self.finished
            and self.next_number <= self.highest_ack + self.usable_window()
            and self.next_number < self.written
            and sent != burst
            and self.may_send()
        ):
            self.output(self.next_number)
            self.next_number += 1
            sent += 1

    def resume(self) -> None:
        """Send what the window allows after the sender was blocked."""
        self.send_window()

    def limited_transmit(self) -> None:
        """Send a new packet for a duplicate acknowledgement below the threshold (limited transmit)."""
        number = self.next_number
        if (
            number < self.written
            and number <= self.highest_ack + self.window
            and number <= self.highest_ack + self.cwnd + self.dupacks
            and self.may_send()
        ):
            self.output(number)
            self.next_number += 1

    # Acknowledgements.

    def new_ack(self, number: int) -> None:
        """Process an acknowledgement of new data up to `number`."""
        self.dupacks = 0
        self.last_ack = self.highest_ack = number
        self.write()
        self.next_number = max(self.next_number, number + 1)
        if self.timing and number >= self.timed_number:
            self.backoff = 1
            self.timing = False
            self.measure(self.simulation.now - self.timed_at)
        if self.highest_ack >= self.limit - 1:
            self.finished = True
            self.timer.stop()
        else:
            self.set_timer()

    def new_ack_and_grow(self, number: int) -> None:
        acked = number - self.highest_ack
        self.new_ack(number)
        self.open_window(acked)
        if self.last_ack == 0:  # the SYN's
            self.cwnd = self.initial_window

    def open_window(self, acked: int) -> None:
        self.cwnd = self.control.grow(self.cwnd, self.ssthresh, self.simulation.now, self.rtt, acked)

    # Losses.

    def cut(self, *, timeout: bool = False) -> float:
        """Reduce ssthresh; return the new window, not rounded."""
        left = self.control.reduce(self.exact_window(), timeout=timeout)
        self.ssthresh = max(2, int(left))
        self.outcomes.add(Out.CWND_CUTS)
        return left

    def cut_window(self) -> None:
        """Reduce the window for duplicate acknowledgements."""
        self.cwnd = self.cut()

    def may_fast_retransmit(self) -> bool:
        """Return False for a loss in a window that was already reduced, except for the first packet."""
        return self.highest_ack > self.recover or self.highest_ack == 0

    def on_timer(self) -> None:
        """Process the expiry of the timer."""
        self.outcomes.add(Out.TIMEOUTS)
        self.on_timeout()

    def on_timeout(self) -> None:
        self.cwnd = max(self.cwnd, 1.0)
        self.recover = self.highest_sent
        if self.highest_ack == -1:
            self.initial_window = 1.0
        self.cut(timeout=True)
        self.cwnd = 1.0
        self.back_off()
        self.go_back()
        self.last_cut = "timeout"
        self.send_window()

    def go_back(self) -> None:
        """Continue from the first unacknowledged packet."""
        self.next_number = self.highest_ack + 1
        self.restart_timer()

    def restart_timer(self) -> None:
        self.set_timer()
        self.timing = False

    # The retransmission timer.

    def rto(self) -> int:
        p = self.parameters
        timeout = max(self.rto_base, p.MIN_RTO) * self.backoff
        return max(min(timeout, p.MAX_RTO), 2 * p.TICK)

    def set_timer(self) -> None:
        self.timer.start(self.rto())

    def back_off(self) -> None:
        if self.backoff < 64 or self.rto() < self.parameters.MAX_RTO:
            self.backoff *= 2
        if self.backoff > 8:  # after so many timeouts the estimate is useless
            self.rttvar_4 += self.srtt_8 >> 3
            self.srtt_8 = 0

    def measure(self, rtt: int) -> None:
        """Measure the RTT of a packet sent `rtt` ns ago with the coarse clock."""
        tick = self.parameters.TICK
        since_tick = (self.simulation.now - rtt + self.phase) % tick  # send time
        self.rtt_ticks = max(1, (rtt + since_tick) // tick)
        if self.srtt_8 == 0:
            self.srtt_8 = self.rtt_ticks << 3
            self.rttvar_4 = self.rtt_ticks << 1
        else:
            error = self.rtt_ticks - (self.srtt_8 >> 3)
            self.srtt_8 = max(1, self.srtt_8 + error)
            self.rttvar_4 = max(1, self.rttvar_4 + abs(error) - (self.rttvar_4 >> 2))
        self.rto_base = (((self.rttvar_4 << 3) + self.srtt_8) >> 3) * tick
