"""TCP with explicit link failure notification (Holland and Vaidya 1999), on NewReno."""

from tests.twins.tcp.probing import Resuming


class Elfn(Resuming):
    enough = 1

    def on_notice(self) -> None:
        if not (self.paused or self.finished or self.highest_ack < 0):
            self.pause("notice")

    def timeout_action(self) -> str:
        return "lose"

    def probe_timeout(self) -> int:
        return 2_000_000_000

    def ask(self) -> None:
        self.transmit_probe()  # the reply to any probe of this pause is accepted

    def rtt_has_grown(self, rtt: int) -> bool:
        return False
