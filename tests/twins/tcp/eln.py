"""TCP with explicit loss notification (Balakrishnan and Katz 1998), on NewReno."""

from tests.twins.tcp.newreno import NewReno
from tests.twins.tcp.receiver import Ack


class Eln(NewReno):
    marked = False  # the acknowledgement in process

    def on_ack(self, ack: Ack) -> None:
        self.marked = ack.marked
        super().on_ack(ack)

    def cut_window(self) -> None:
        if self.marked:
            self.spared += 1
        else:
            super().cut_window()
