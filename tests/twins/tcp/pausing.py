"""Senders that may pause and probe the network before they go on."""

from netcarlo.kernels.base.layout import Out
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.tcp import TcpSender


class Pausing(TcpSender):
    """Mixin for the pause of a TCP, which defines how missing packets are repaired.

    `self.cause` is "timeout", "dupack" or "notice".
    """

    enough = 2  # replies, one after the other
    paused = False
    cause = ""
    began = 0
    total = 0  # duration of the completed pauses [ns]
    oldest = 0  # replies to earlier probes are ignored
    asked_at = 0
    slow: list[bool]  # of the replies so far: later than expected from the RTT
    rto_before = 0  # previous timeout of the estimator, without back-off

    # Hooks of the variants.

    def timeout_action(self) -> str:
        """Return the action at a timeout: "lose", "spare" or "pause"."""
        raise NotImplementedError

    def note_ack_in_pause(self, ack: Ack) -> None:
        """Process an ACK in a pause, before anything else does."""

    def repair(self) -> None:
        """Retransmit missing packets and keep the window."""
        raise NotImplementedError

    def cut_after_pause(self) -> None:
        """Reduce the window: the network has got worse."""
        raise NotImplementedError

    def probe_timeout(self) -> int:
        """Return the timeout for a reply [ns]."""
        p = self.parameters
        return max(min(max(self.rto_base, p.MIN_RTO), p.MAX_RTO), 2 * p.TICK)

    def repeat(self) -> None:
        """Process the timeout of a probe."""
        self.slow = []
        self.ask()

    # The pause.

    def pause(self, cause: str) -> None:
        self.paused = True
        self.pauses += 1
        self.cause = cause
        self.began = self.simulation.now
        self.timing = False
        self.oldest = self.probes
        self.repeat()

    def ask(self) -> None:
        self.oldest = self.probes
        self.transmit_probe()

    def transmit_probe(self) -> None:
        self.asked_at = self.simulation.now
        self.timer.start(self.probe_timeout())
        self.probes += 1
        self.send_probe(self.probes - 1)

    def on_probe_reply(self, number: int) -> None:
        if not self.paused or number < self.oldest:
            return
        self.slow.append(self.rtt_has_grown(self.simulation.now - self.asked_at))
        if len(self.slow) < self.enough:
            self.ask()
        else:
            self.end_pause()
            self.decide()

    def rtt_has_grown(self, rtt: int) -> bool:
        """Return True if a round trip exceeds 5/4 of the smoothed RTT, by the coarse clock."""
        tick = self.parameters.TICK
        into_tick = (self.asked_at + self.parameters.CLOCK_PHASE) % tick
        ticks = max(1, (rtt + into_tick) // tick)
        return ticks > self.srtt_8 / 8 * 5 / 4

    def end_pause(self) -> None:
        self.paused = False
        self.last_ack = self.highest_ack
        self.total += self.simulation.now - self.began

    def decide(self) -> None:
        if not any(self.slow):
            self.spared += 1
            self.repair()
        elif self.cause == "timeout":
            self.on_timeout()
        else:
            self.cut_after_pause()
            self.repair()

    def paused_until(self, now: int) -> int:
        return self.total + (now - self.began if self.paused else 0)

    # Methods of a TCP.

    def on_timer(self) -> None:
        if self.paused:
            self.repeat()
            return
        self.outcomes.add(Out.TIMEOUTS)
        choice = self.timeout_action() if self.highest_ack >= 0 else "lose"
        if choice == "lose":
            self.on_timeout()
        elif choice == "pause":
            self.pause("timeout")
        else:
            self.spared += 1
            self.back_off()
            self.repair()

    def on_ack(self, ack: Ack) -> None:
        if not self.paused:
            super().on_ack(ack)
        elif ack.number >= self.highest_ack:
            self.on_ack_in_pause(ack)

    def on_ack_in_pause(self, ack: Ack) -> None:
        self.note_ack_in_pause(ack)
        if ack.number > self.highest_ack:
            self.dupacks = 0
            self.highest_ack = ack.number
            self.write()
            self.next_number = max(self.next_number, ack.number + 1)
        else:
            self.dupacks += 1
        if self.highest_ack >= self.limit - 1:
            self.finished = True
            self.timer.stop()
            self.end_pause()

    def measure(self, rtt: int) -> None:
        self.rto_before = self.rto_base
        super().measure(rtt)
